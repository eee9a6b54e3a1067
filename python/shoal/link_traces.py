"""Files that a link follows: of rates and delays (``schedule.trace``), of packet opportunities (``opportunities``)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

from shoal._toml import read_toml
from shoal.errors import OutputError, ScenarioError, refused_line

# A resolved scenario holds what was read, and has to stay a file of at most a megabyte.
_most_rows = 10_000
_example = "a head `time_s,rate_mbit_s,delay_ms` (one of the last two may be missing), and a row for each time"
# What each column holds in units of scenarios, and the finest step that is told apart: 1 ns and 1 bit/s.
_columns = {
    "time_s": ("s", Decimal("1e-9")),
    "rate_mbit_s": ("Mbit/s", Decimal("1e-6")),
    "delay_ms": ("ms", Decimal("1e-6")),
}
_keys = {"rate_mbit_s": "rates", "delay_ms": "delays"}
_down = "down"
# A resolved scenario holds a word for each instant, and the schema takes no more of them.
_most_instants = 200_000
_most_ms = 1_000_000_000
_opportunities_example = "a line for each opportunity, with its time in whole milliseconds, as mahimahi's traces have"


def traces_in(text: str, file: Path) -> list[tuple[str, object]]:
    """Read the traces that a scenario file names: dotted keys, and what stands there when the files have been read.

    Parameters
    ----------
    text
        The scenario file; what is no TOML names none, and is refused elsewhere.
    file
        Where it is; the files are relative to its folder.

    Raises
    ------
    ScenarioError
        A file cannot be read, or is no trace; the message names the line.
    """
    try:
        tables = read_toml(text, file)
    except tomllib.TOMLDecodeError:
        return []
    entries: list[tuple[str, object]] = []
    for prefix, schedule in _schedules(tables):
        # A resolved scenario keeps the name of the file beside what was read.
        if isinstance(name := schedule.get("trace"), str) and not {"rates", "delays"} & set(schedule):
            entries += [(f"{prefix}.{key}", points) for key, points in read_trace(file.parent / name).items()]
        if isinstance(name := schedule.get("opportunities"), str) and "opportunity_gaps" not in schedule:
            entries.append((f"{prefix}.opportunity_gaps", read_opportunities(file.parent / name)))
    return entries


def _schedules(tables: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every table that may name a trace, with its dotted key."""
    topology = tables.get("topology")
    links = topology.get("links") if isinstance(topology, dict) else None
    candidates = [(table, tables.get(table)) for table in ("bottleneck", "reverse")]
    candidates += [
        (f"topology.links[{number}]", link) for number, link in enumerate(links if isinstance(links, list) else [])
    ]
    for key, table in candidates:
        if isinstance(table, dict) and isinstance(schedule := table.get("schedule"), dict):
            yield f"{key}.schedule", schedule


def read_trace(path: str | Path) -> dict[str, list[list[str]]]:
    """Read a CSV file with the columns ``time_s`` and ``rate_mbit_s``, ``delay_ms`` or both.

    Every row holds from its time on. ``down`` instead of a rate is an outage until the next row. Times and delays are
    rounded to nanoseconds, rates to bit/s.

    Returns
    -------
    dict
        Values of ``rates`` and ``delays`` of a schedule in a scenario file.

    Raises
    ------
    ScenarioError
        It cannot be read, or is no trace; the message names the line.
    """
    text = _text(path, "trace", _example)
    rows = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not rows:
        raise ScenarioError(f"error: the trace is empty\n --> {path}\nhint: write {_example}\n")
    columns = _head(path, *rows[0])
    if len(rows) == 1:
        raise refused_line(path, *rows[0], "the trace has a head and no rows", f"write {_example}")
    if len(rows) - 1 > _most_rows:
        raise refused_line(
            path, *rows[_most_rows + 1], f"the trace has more than {_most_rows} rows",
            "average it over longer times: the resolved scenario holds every row",
        )  # fmt: skip
    points: dict[str, list[list[str]]] = {_keys[column]: [] for column in columns[1:]}
    before: Decimal | None = None
    for number, line in rows[1:]:
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(columns):
            message = f"the row has {len(cells)} values, the head {len(columns)} columns"
            raise refused_line(path, number, line, message, f"write a value for each of {', '.join(columns)}")
        time_s = _number(path, number, line, columns[0], cells[0])
        if before is not None and time_s <= before:
            raise refused_line(
                path, number, line, f"the time {cells[0]} s is not later than the one before it",
                "sort the rows by time, and give each time once",
            )  # fmt: skip
        before = time_s
        for column, cell in zip(columns[1:], cells[1:], strict=True):
            points[_keys[column]].append([f"{time_s:f} s", _value(path, number, line, column, cell)])
    if points.get("rates") and points["rates"][-1][1] == _down:
        raise refused_line(path, *rows[-1], "the link stays down after the last row", "end the trace with a rate")
    return points


def read_opportunities(path: str | Path) -> str:
    """Read a trace of packet opportunities in the form of mahimahi: whole milliseconds that never decrease, one a line.

    Returns
    -------
    str
        Value of ``opportunity_gaps`` of a schedule in a scenario file.

    Raises
    ------
    ScenarioError
        It cannot be read, or is no such trace; the message names the line.
    """
    lines = _text(path, "opportunities", _opportunities_example).splitlines()
    if not lines:
        raise ScenarioError(f"error: there are no opportunities\n --> {path}\nhint: write {_opportunities_example}\n")
    gaps: list[list[int]] = []
    before = 0
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if not (word.isascii() and word.isdecimal()):
            what = f"`{word}` is no time in whole milliseconds" if word else "the line is empty"
            raise refused_line(path, number, line, what, f"write {_opportunities_example}; convert other units")
        # A longer number is beyond the limit, and is not converted.
        at_ms = int(word) if len(word.lstrip("0")) <= len(str(_most_ms)) else _most_ms + 1
        if at_ms > _most_ms:
            raise refused_line(path, number, line, f"the time is later than {_most_ms} ms", "are these microseconds?")
        if at_ms < before:
            hint = "sort the lines by time: opportunities at the same time are lines with the same number"
            raise refused_line(path, number, line, f"the time {at_ms} ms is before the one above it", hint)
        if gaps and at_ms == before:
            gaps[-1][1] += 1
        else:
            gaps.append([at_ms - before, 1])
        before = at_ms
        if len(gaps) > _most_instants:
            hint = "take a shorter part of it, which is repeated: the resolved scenario holds every one"
            raise refused_line(path, number, line, f"the trace has more than {_most_instants} different times", hint)
    if before == 0:
        hint = "end the trace with the time after which it is to be repeated"
        raise refused_line(path, len(lines), lines[-1], "all opportunities are at 0 ms: the trace has no length", hint)
    return " ".join(str(gap) if count == 1 else f"{gap}x{count}" for gap, count in gaps)


def _text(path: str | Path, key: str, example: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        hint = f"schedule.{key} names a file relative to the scenario file"
        raise OutputError(f"cannot read the trace `{path}`: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError:
        raise ScenarioError(f"error: the trace is no text\n --> {path}\nhint: write {example}\n") from None


def _head(path: str | Path, number: int, line: str) -> list[str]:
    columns = [cell.strip() for cell in line.split(",")]
    if len(columns) == 1 and columns[0].isdecimal():
        what = "a list of numbers is no trace of rates; is it one of packet opportunities, as mahimahi's?"
        hint = "name a trace of opportunities in schedule.opportunities instead of schedule.trace"
        raise refused_line(path, number, line, what, hint)
    for column in columns:
        if column not in _columns:
            what = f"the column `{column}` is not known"
            if re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", column, re.IGNORECASE):
                what = "the first row has numbers instead of names of columns"
            hint = (
                "names of columns say their units, and there are time_s, rate_mbit_s and delay_ms: convert other units"
            )
            raise refused_line(path, number, line, what, hint)
    if columns[0] != "time_s" or len(columns) < 2 or len(set(columns)) < len(columns):
        raise refused_line(path, number, line, "the head is not that of a trace", f"write {_example}")
    return columns


def _value(path: str | Path, number: int, line: str, column: str, cell: str) -> str:
    if column == "rate_mbit_s" and cell == _down:
        return cell
    value = _number(path, number, line, column, cell)
    if column == "rate_mbit_s" and value == 0:
        hint = f"write `{_down}` for a time without a link"
        raise refused_line(path, number, line, "the rate is 0: no packet would ever leave", hint)
    return f"{value:f} {_columns[column][0]}"


def _number(path: str | Path, number: int, line: str, column: str, cell: str) -> Decimal:
    if not cell:
        hint = "repeat the value before it" + (f", or write `{_down}`" if column == "rate_mbit_s" else "")
        raise refused_line(path, number, line, f"there is no value in the column `{column}`", hint)
    if not re.fullmatch(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,2})?", cell, re.IGNORECASE):
        what = f"`{cell}` is not a value of the column `{column}`"
        raise refused_line(path, number, line, what, "write a number without a unit that is not negative, as in 12.5")
    return Decimal(cell).quantize(_columns[column][1], rounding=ROUND_HALF_EVEN).normalize()
