"""What notebooks show: small tables in HTML, with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def heading(title: str, *facts: str) -> str:
    """A title in bold, and what else stands in its line."""
    return f"<b>{escape(title)}</b>" + "".join(f", {escape(fact)}" for fact in facts)


def table(rows: Iterable[Sequence[str]], *, heads: Sequence[str] = (), words: int = 1) -> str:
    """A table; all but the first ``words`` columns are numbers."""

    def line(cells: Sequence[str], tag: str) -> str:
        styled = (
            f"<{tag} style='text-align:{'left' if column < words else 'right'}'>{escape(cell)}</{tag}>"
            for column, cell in enumerate(cells)
        )
        return f"<tr>{''.join(styled)}</tr>"

    head = f"<thead>{line(heads, 'th')}</thead>" if heads else ""
    return f"<table>{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def note(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def folded(title: str, text: str) -> str:
    """A text that shows when it is asked for."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
