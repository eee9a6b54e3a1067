"""Tables of documentation that a recipe of the Makefile measures: what stands between two lines of a page."""

from __future__ import annotations

from pathlib import Path


def record(page: Path, recipe: str, text: str) -> None:
    """Replace what stands between the two lines of a page that name a recipe.

    Raises
    ------
    ValueError
        If the page does not have both lines, in this order.
    """
    begin, end = (f"<!-- make {recipe}: {which} -->" for which in ("begin", "end"))
    content = page.read_text(encoding="utf-8")
    head, found, rest = content.partition(begin)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{page.name} lacks the lines `{begin}` and `{end}`")
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{tail}", encoding="utf-8")
