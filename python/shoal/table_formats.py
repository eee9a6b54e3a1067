"""Tables as files for papers and programs: LaTeX, Markdown, CSV and Parquet, with units in the heads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.files import write_text
from shoal.table import Table
from shoal.words import Quantity

if TYPE_CHECKING:
    import polars as pl

#: The folder of these files, beside the figures.
FOLDER = "summaries"

# Units of one kind, which a column can be converted between.
_kinds = (
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0},
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6},
)
_number = r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"
_written = re.compile(rf"({_number})(?: ± ({_number}))?(?: ([A-Za-zµ%][A-Za-z/%]*(?: per [A-Za-z]+)?))?")
# Cells that say that there is no number.
_missing = ("", "-")


def save_tables(tables: Iterable[Table], folder: Path) -> None:
    """Write each table as LaTeX, Markdown, CSV and Parquet, under a name from its title, into a new or existing folder.

    Raises
    ------
    OutputError
        A file cannot be written (raised by the caller's :func:`shoal.files.writing`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    for stem, table in _stems(tables):
        write_text(folder / f"{stem}.tex", latex(table))
        write_text(folder / f"{stem}.md", markdown(table))
        rows = frame(table)
        rows.write_csv(folder / f"{stem}.csv")
        rows.write_parquet(folder / f"{stem}.parquet")


def _stems(tables: Iterable[Table]) -> Iterator[tuple[str, Table]]:
    """Names of files: the title up to its remarks, in small letters."""
    taken: Counter[str] = Counter()
    for table in tables:
        words = re.split(r"[;,]", table.title)[0].casefold()
        stem = re.sub(r"[^0-9a-z]+", "-", words).strip("-") or "table"
        taken[stem] += 1
        yield (stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"), table


def latex(table: Table) -> str:
    """A ``tabular`` for LaTeX with the rules of the package booktabs, which a paper takes in by its ``input``."""
    laid = _Laid.out(table)
    spec = "".join("l" if column < table.words else "r" for column in range(len(laid.heads)))
    lines = [
        f"% {' '.join(table.title.split()) or 'A table'}.",
        "% Written by shoal; needs \\usepackage{booktabs}.",
        f"\\begin{{tabular}}{{{spec}}}",
        "\\toprule",
        f"{' & '.join(_escaped(head) for head in laid.heads)} \\\\",
        "\\midrule",
        *(f"{' & '.join(_in_latex(cell) for cell in row)} \\\\" for row in laid.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def markdown(table: Table) -> str:
    """A table in Markdown."""
    laid = _Laid.out(table)
    rules = tuple("---" if column < table.words else "--:" for column in range(len(laid.heads)))
    texts = [laid.heads, rules, *(tuple(_in_words(cell) for cell in row) for row in laid.rows)]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in texts]
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped)


def frame(table: Table) -> pl.DataFrame:
    """A table as a frame: numbers as they were measured, with the half-width of their intervals in ``NAME ci95``.

    Where the rows have units of their own, the column ``unit`` has them. What a cell says instead of a number stands in
    ``NAME note``.
    """
    import polars as pl

    laid = _Laid.out(table)
    columns: dict[str, pl.Series] = {}

    def add(name: str, values: Sequence[object], kind: type[pl.DataType] | pl.DataType) -> None:
        count, unique = 1, name
        while unique in columns:
            count += 1
            unique = f"{name} {count}"
        columns[unique] = pl.Series(unique, values, kind, strict=False)

    for index, head in enumerate(laid.names):
        cells = [row[index] for row in laid.cells]
        unit = laid.units[index]
        name = (head or ("name" if index == 0 else "note")) + (f" [{unit}]" if unit else "")
        if not laid.is_number(index):
            add(name, [_in_words(cell) for cell in cells], pl.String())
        else:
            numbers = [cell if isinstance(cell, _Number) else None for cell in cells]
            whole = all(number is None or number.is_count for number in numbers)
            means = [number and (int(number.mean) if whole else number.mean) for number in numbers]
            add(name, means, pl.Int64() if whole else pl.Float64())
            if any(number and number.half_width is not None for number in numbers):
                suffix = f" [{unit}]" if unit else ""
                widths = [number and number.half_width for number in numbers]
                add(f"{head or 'note'} ci95{suffix}", widths, pl.Float64())
            words = [None if isinstance(cell, _Number) or cell in _missing else str(cell) for cell in cells]
            if any(words):
                add(f"{head or 'note'} note", words, pl.String())
        if index == laid.words - 1 and any(laid.row_units):
            add("unit", laid.row_units, pl.String())
    return pl.DataFrame(list(columns.values()))


@dataclass(frozen=True)
class _Number:
    """A number of a table.

    Attributes
    ----------
    mean
        In its unit.
    half_width
        Half of its confidence interval, if it has one.
    text
        The mean as it is shown.
    width_text
        The half-width as it is shown, if it is.
    unit
        Empty if there is none.
    """

    mean: float
    half_width: float | None
    text: str
    width_text: str
    unit: str

    @classmethod
    def read(cls, cell: str) -> _Number | None:
        """The number in a cell; none if there are other words."""
        match = _written.fullmatch(cell)
        if match is None:
            return None
        mean, width = (None if part is None else float(part.replace(",", "")) for part in match.group(1, 2))
        assert mean is not None  # noqa: S101  (the pattern has it)
        if isinstance(cell, Quantity):
            mean, width = cell.estimate.mean, cell.estimate.half_width
        return cls(mean, width, match[1], match[2] or "", match[3] or "")

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number, shown as such, without an interval."""
        return self.half_width is None and not self.unit and re.search(r"[.e]", self.text) is None

    @property
    def kind(self) -> str:
        """What units it can be written in, by one of them."""
        return next((next(iter(kind)) for kind in _kinds if self.unit in kind), self.unit)

    def in_unit(self, unit: str) -> _Number:
        """Convert it to another unit of its kind, shown to the same digit."""
        if unit == self.unit:
            return self
        kind = next(kind for kind in _kinds if unit in kind)
        # A power of ten.
        digits = round(-_decade(kind[self.unit] / kind[unit]))
        factor = 10.0**-digits
        width = None if self.half_width is None else self.half_width * factor
        text = _shifted(self.text, self.mean * factor, digits)
        width_text = _shifted(self.width_text, width, digits) if self.width_text and width is not None else ""
        return _Number(self.mean * factor, width, text, width_text, unit)


def _decade(factor: float) -> int:
    return int(f"{factor:.0e}".partition("e")[2])


def _shifted(text: str, value: float, digits: int) -> str:
    """A value with so many more digits behind the point than a text has."""
    after = len(text.partition(".")[2]) + digits
    return f"{value:,.{max(after, 0)}f}"


_Cell = str | _Number


@dataclass(frozen=True)
class _Laid:
    """A table whose units have gone to the heads of its columns, or to those of its rows.

    Attributes
    ----------
    names
        Heads of the columns without units.
    units
        Unit of each column, or empty.
    row_units
        Unit of each row, or nothing.
    cells
        What is in the rows; none has a unit that stands in a head.
    words
        How many columns are words.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    row_units: tuple[str | None, ...]
    cells: tuple[tuple[_Cell, ...], ...]
    words: int

    @classmethod
    def out(cls, table: Table) -> _Laid:
        """Lay a table out."""
        cells = [
            tuple(_read(cell, is_word=index < table.words) for index, cell in enumerate(row)) for row in table.rows
        ]
        columns = [[row[index] for row in cells] for index in range(len(table.columns))]
        for index in range(table.words):
            # A column of words is one of numbers only if all of them have one unit.
            if not all(isinstance(cell, _Number) for cell in columns[index]) or _unit(columns[index]) is None:
                columns[index] = [row[index] for row in table.rows]
        units = [_unit(column) for column in columns]
        if all(unit is not None for unit in units) or not table.words:
            shown = [[_converted(cell, unit) for cell in column] for column, unit in zip(columns, units, strict=True)]
            none = tuple(None for _ in table.rows)
            return cls(table.columns, tuple(unit or "" for unit in units), none, _rows(shown, table), table.words)
        lines = [list(row) for row in _rows(columns, table)]
        row_units = [_unit(line[table.words :]) for line in lines]
        for line, unit in zip(lines, row_units, strict=True):
            line[table.words :] = [_converted(cell, unit) for cell in line[table.words :]]
        heads = tuple("" for _ in table.columns)
        rows = tuple(tuple(line) for line in lines)
        return cls(table.columns, heads, tuple(unit or None for unit in row_units), rows, table.words)

    @property
    def heads(self) -> tuple[str, ...]:
        """Heads of the columns with their units."""
        return tuple(
            f"{name} [{unit}]".strip() if unit else name for name, unit in zip(self.names, self.units, strict=True)
        )

    @property
    def rows(self) -> list[tuple[_Cell, ...]]:
        """The cells; units of rows stand behind their first words."""
        return [
            (f"{_in_words(row[0])} [{unit}]", *row[1:]) if unit else row
            for row, unit in zip(self.cells, self.row_units, strict=True)
        ]

    def is_number(self, index: int) -> bool:
        """Whether a column has numbers, or nothing where numbers would be."""
        column = [row[index] for row in self.cells]
        if index < self.words:
            return bool(column) and all(isinstance(cell, _Number) for cell in column)
        return any(isinstance(cell, _Number) for cell in column) or all(cell in _missing for cell in column)


def _read(cell: str, *, is_word: bool) -> _Cell:
    number = _Number.read(cell)
    # A name may be a number; a quantity has a unit.
    return cell if number is None or (is_word and not number.unit) else number


def _rows(columns: Sequence[Sequence[_Cell]], table: Table) -> tuple[tuple[_Cell, ...], ...]:
    return tuple(zip(*columns, strict=True)) if table.rows else ()


def _unit(cells: Sequence[_Cell]) -> str | None:
    """The unit that most numbers have; empty if none has one, nothing if they are of different kinds."""
    numbers = [cell for cell in cells if isinstance(cell, _Number)]
    if len({number.kind for number in numbers}) > 1:
        return None
    return Counter(number.unit for number in numbers).most_common(1)[0][0] if numbers else ""


def _converted(cell: _Cell, unit: str | None) -> _Cell:
    """A cell of a column or row that has a unit; one of different units is left as it is written."""
    if not isinstance(cell, _Number):
        return cell
    return _in_words(cell) + f" {cell.unit}" * bool(cell.unit) if unit is None else cell.in_unit(unit)


def _in_words(cell: _Cell) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell.text} ± {cell.width_text}" if cell.width_text else cell.text


# What LaTeX reads as a command, or has no letter for in its usual fonts.
_escapes = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "±": r"$\pm$", "\u00d7": r"$\times$",
    "µ": r"$\mu$", "\u2212": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "…": r"\ldots{}", "\n": " ",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_escapes.get(letter, letter) for letter in text)


def _in_latex(cell: _Cell) -> str:
    if isinstance(cell, str):
        return "--" if cell == "-" else _escaped(cell)
    width = rf" \pm {_in_math(cell.width_text)}" if cell.width_text else ""
    return f"${_in_math(cell.text)}{width}$"


def _in_math(text: str) -> str:
    """A number in formulas: no room behind the commas of thousands, and powers of ten."""
    mantissa, _, exponent = text.partition("e")
    number = mantissa.replace(",", "{,}")
    return rf"{number} \times 10^{{{int(exponent)}}}" if exponent else number
