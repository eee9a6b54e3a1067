"""Tables in files that people bring: columns of text, CSV, JSON and Parquet, each row with its place."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from shoal._toml import refuse_deep
from shoal.errors import OutputError, ScenarioError, refused_line

# Longer tables than any that a scenario may hold; reading a device by accident must end.
_most_bytes = 32 << 20
_parquet_magic = b"PAR1"


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a table, which is shown where it is refused.

    Attributes
    ----------
    path
        The file.
    number
        Its line; in JSON and Parquet, which have no lines for rows, the row from 1 on, or 0 for names of columns.
    text
        The line as it stands; ``None`` where there are no lines.
    cells
        Its values; empty where there is none.
    """

    path: str | Path
    number: int
    text: str | None
    cells: tuple[str, ...]

    def refused(self, what: str, hint: str) -> ScenarioError:
        """The error that names this row."""
        if self.text is not None:
            return refused_line(self.path, self.number, self.text, what, hint)
        where = f"row {self.number}: " if self.number else ""
        return ScenarioError(f"error: {where}{what}\n --> {self.path}\nhint: {hint}\n")


def read_content(path: str | Path, hint: str) -> bytes:
    """Read the bytes of a file that may be a table, or a trace as long as one.

    Parameters
    ----------
    path
        The file.
    hint
        What to do where it cannot be read.

    Raises
    ------
    OutputError
        It cannot be read.
    ScenarioError
        It has more than 32 MiB.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(_most_bytes + 1)
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}", hint=hint) from error
    if len(content) > _most_bytes:
        raise _no_table(path, f"the file has more than {_most_bytes >> 20} MiB", "is this the right file?")
    return content


def decoded(path: str | Path, content: bytes, example: str) -> str:
    """The text of a file; what is none is refused with an example of what would be right."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_table(path, f"the file is not UTF-8 text (byte {error.start})", f"write {example}") from None


def read_records(path: str | Path, example: str, hint: str = "name a file that you may read") -> list[Record]:
    """Read the rows of a table, names of columns among them; which form the file has is seen from its content.

    A text has a row in each line, with commas, semicolons, tabs or blanks between values; ``#`` begins a comment. JSON
    has an array of rows, an object for each row (in an array, or one a line), or an object with an array for each
    column; names of its columns come first, as those of Parquet do.

    Parameters
    ----------
    path
        The file.
    example
        What to write, for hints.
    hint
        What to do where the file cannot be read.

    Raises
    ------
    OutputError
        It cannot be read.
    ScenarioError
        It is no table, or has more than 32 MiB.
    """
    content = read_content(path, hint)
    if content.startswith(_parquet_magic):
        return _named_rows(path, *_parquet(path, content))
    text = decoded(path, content, example)
    if text.lstrip()[:1] in ("[", "{"):
        refuse_deep(text, path)
        return _json_rows(path, text, example)
    return list(_lines(path, text))


def _no_table(path: str | Path, what: str, hint: str) -> ScenarioError:
    return ScenarioError(f"error: {what}\n --> {path}\nhint: {hint}\n")


def _lines(path: str | Path, text: str) -> Iterator[Record]:
    for number, line in enumerate(text.splitlines(), start=1):
        if values := line.partition("#")[0].strip():
            yield Record(path, number, line, tuple(_cells(values)))


def _cells(values: str) -> Sequence[str]:
    if '"' in values:
        mark = next((mark for mark in ";\t," if mark in values), " ")
        return [cell.strip() for cell in next(csv.reader(io.StringIO(values), delimiter=mark, skipinitialspace=True))]
    if not re.search("[,;\t]", values):
        return values.split()
    # Where semicolons separate, a comma may stand in a number.
    return re.split(r"\s*[;\t]\s*" if ";" in values else r"\s*[,\t]\s*", values)


def _parquet(path: str | Path, content: bytes) -> tuple[list[str], list[tuple[Any, ...]]]:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _no_table(path, "the file begins as Parquet and cannot be read", "is it damaged or cut off?") from error
    return frame.columns, frame.rows()


def _json_rows(path: str | Path, text: str, example: str) -> list[Record]:
    hint = f"write an object for each row, or {example}"

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > len(dict(pairs)):
            raise _no_table(path, "a name stands twice in one object", hint)
        return dict(pairs)

    # Numbers stay as they are written.
    decoder = json.JSONDecoder(parse_float=Decimal, object_pairs_hook=unique)
    try:
        lines = [line for line in text.splitlines() if line.strip()]
        is_by_line = len(lines) > 1 and all(line.strip()[0] + line.strip()[-1] == "{}" for line in lines)
        rows: Any = [decoder.decode(line) for line in lines] if is_by_line else decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _no_table(
            path, f"the file begins as JSON and is none from its {error.pos + 1}. letter on", hint
        ) from None
    if isinstance(rows, dict) and rows and all(isinstance(column, list) for column in rows.values()):
        if len({len(column) for column in rows.values()}) > 1:
            raise _no_table(path, "the columns have different numbers of rows", hint)
        return _named_rows(path, list(rows), list(zip(*rows.values(), strict=True)))
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _named_rows(path, names, [tuple(row.get(name) for name in names) for row in rows])
    if isinstance(rows, list) and rows and all(isinstance(row, list) for row in rows):
        return [Record(path, number, None, tuple(map(_cell, row))) for number, row in enumerate(rows, start=1)]
    raise _no_table(path, "the file is JSON, but no table", hint)


def _named_rows(path: str | Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[Record]:
    head = Record(path, 0, None, tuple(names))
    return [head, *(Record(path, number, None, tuple(map(_cell, row))) for number, row in enumerate(rows, start=1))]


def _cell(value: object) -> str:
    return "" if value is None else str(value)
