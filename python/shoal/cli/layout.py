"""Tables as lines of a given width. No word or number is broken: heads and prose wrap, wide tables are split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from shoal.table import Table

_gap = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table, and whether it belongs to the heads."""

    text: str
    is_head: bool = False


def lines(table: Table, width: int | None) -> list[Line]:
    """Lay a table out.

    A table that is too wide gets heads of several lines; then its prose wraps; then it is split into several tables
    below each other, each with the columns that name its rows. Only a word that is wider than the whole width goes
    beyond it.

    Parameters
    ----------
    table
        The first ``words`` columns are words, to the left; if all columns are, they are prose, which wraps at spaces.
    width
        Columns of the terminal; ``None`` if nothing limits them.
    """
    columns = [
        _Column(head, [row[index] for row in table.rows], is_word=index < table.words)
        for index, head in enumerate(table.columns)
    ]
    if width is None or _total([column.natural for column in columns]) <= width:
        return _block(columns, [column.natural for column in columns])
    least = [column.least for column in columns]
    if table.words >= len(columns):
        if _total(least) > width:
            return _records(columns, width)
        return _block(columns, _shrunk([column.natural for column in columns], least, width))
    if _total([column.unbroken for column in columns]) <= width:
        return _block(columns, [column.unbroken for column in columns])
    keys = max(1, table.words)
    first = _shrunk([column.unbroken for column in columns[:keys]], least[:keys], width // 2)
    return [
        line
        for number, block in enumerate(_blocks(columns[keys:], width - _total(first) - _gap))
        for line in (
            *([Line("")] if number else []),
            *_block([*columns[:keys], *block], _widths(first, block, width)),
        )
    ]


def wrapped(text: str, width: int | None) -> list[str]:
    """Lines of a text for people, broken at spaces."""
    return [line for part in text.split("\n") for line in (_wrapped(part, width) if width else [part])]


class _Column:
    def __init__(self, head: str, cells: Sequence[str], *, is_word: bool) -> None:
        self.head = head
        self.cells = cells
        self.is_word = is_word

    @property
    def natural(self) -> int:
        """Width with everything on one line."""
        return max(map(cell_len, (self.head, *self.cells)), default=0)

    @property
    def unbroken(self) -> int:
        """Width with cells on one line and the head on as many as it takes."""
        return max(map(cell_len, (*_pieces(self.head), *self.cells)), default=0)

    @property
    def least(self) -> int:
        """Width without a broken word."""
        words = [word for text in (self.head, *self.cells) for word in _pieces(text)]
        return max(map(cell_len, words), default=0)


def _pieces(text: str) -> list[str]:
    """What is never broken: words; parts of compound names, which keep the mark that joins them."""
    return [piece for word in text.split() for piece in re.findall(r"[^/_-]*[/_-]+|[^/_-]+", word)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _gap * (len(widths) - 1)


def _shrunk(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Take from the widest column until all fit, or no word could be kept whole."""
    shrunk = list(widths)
    while (over := _total(shrunk) - width) > 0:
        room = [index for index in range(len(shrunk)) if shrunk[index] > least[index]]
        if not room:
            break
        widest = max(room, key=lambda index: shrunk[index])
        others = [shrunk[index] for index in room if shrunk[index] < shrunk[widest]]
        shrunk[widest] = max(least[widest], shrunk[widest] - over, max(others, default=1) - 1)
    return shrunk


def _blocks(columns: Sequence[_Column], width: int) -> Iterator[list[_Column]]:
    block: list[_Column] = []
    for column in columns:
        if block and _total([member.unbroken for member in (*block, column)]) > width:
            yield block
            block = []
        block.append(column)
    if block:
        yield block


def _widths(keys: Sequence[int], block: Sequence[_Column], width: int) -> list[int]:
    """With heads on one line if there is room for them."""
    natural = [*keys, *(column.natural for column in block)]
    return natural if _total(natural) <= width else [*keys, *(column.unbroken for column in block)]


def _records(columns: Sequence[_Column], width: int) -> list[Line]:
    """Each row as a paragraph, where its words leave no room for columns."""
    record_lines = []
    for row in zip(*(column.cells for column in columns), strict=True):
        record_lines += [Line(part, is_head=True) for part in _wrapped(row[0], width)]
        for column, cell in zip(columns[1:], row[1:], strict=True):
            text = f"{column.head}: {cell}" if column.head else cell
            record_lines += [Line(f"  {part}") for part in _wrapped(text, width - 2)] if cell else []
    return record_lines


def _block(columns: Sequence[_Column], widths: Sequence[int]) -> list[Line]:
    heads = [_wrapped(column.head, width) for column, width in zip(columns, widths, strict=True)]
    block_lines = []
    if any(column.head for column in columns):
        height = max(map(len, heads))
        # Heads stand on the line above the numbers.
        padded = [[""] * (height - len(head)) + head for head in heads]
        block_lines = [Line(_joined(columns, widths, parts), is_head=True) for parts in zip(*padded, strict=True)]
    for row in zip(*(column.cells for column in columns), strict=True):
        cells = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        height = max(map(len, cells))
        padded = [cell + [""] * (height - len(cell)) for cell in cells]
        block_lines += [Line(_joined(columns, widths, parts)) for parts in zip(*padded, strict=True)]
    return block_lines


def _joined(columns: Sequence[_Column], widths: Sequence[int], parts: Sequence[str]) -> str:
    cells = []
    for column, width, part in zip(columns, widths, parts, strict=True):
        space = " " * (width - cell_len(part))
        cells.append(part + space if column.is_word else space + part)
    return (" " * _gap).join(cells).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most a width, broken at spaces, or else after the marks that join a name."""
    if cell_len(text) <= width:
        return [text]
    full_lines, line = [], ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            full_lines.append(line)
        line = ""
        for piece in _pieces(word):
            if line and cell_len(line + piece) > width:
                full_lines.append(line)
                line = ""
            line += piece
    return [*full_lines, line]
