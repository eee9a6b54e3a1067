"""A table of words, which the command line and reports lay out in their own ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column heads, and rows; all but the first ``words`` columns are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    words: int = 1
