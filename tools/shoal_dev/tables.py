"""The one printer of Markdown tables, and the one reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


def table(heads: Sequence[str], rows: Iterable[Iterable[object]], align: str = "l", *, spaced: bool = False) -> str:
    """A table in Markdown, without a line break at its end.

    Parameters
    ----------
    heads
        Titles of the columns.
    rows
        Cells; bars inside of them are escaped, and line breaks become spaces.
    align
        A letter a column, ``l`` or ``r``; the last letter is that of all further columns.
    spaced
        Whether the line below the titles has spaces, as the pages of papers have it.
    """
    letters = align + align[-1] * (len(heads) - len(align))
    rule = {"l": " --- ", "r": " --: "} if spaced else {"l": "---", "r": "--:"}
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in (heads, *rows)]
    first, *others = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([first, f"|{'|'.join(rule[letter] for letter in letters)}|", *others])


@dataclass(frozen=True)
class ReadTable:
    """A table of a page with the heading of its section, which is empty above the first one."""

    section: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(page: str) -> Iterator[ReadTable]:
    """The tables of a page in Markdown."""
    section, lines = "", []
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            lines.append(tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]))
            continue
        if lines:
            yield ReadTable(section, lines[0], tuple(lines[2:]))
            lines = []
        if line.startswith("## "):
            section = line.removeprefix("## ")
