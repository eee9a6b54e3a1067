"""Traces of rates and delays of a link, in the tables in which measurements and emulators write them.

Two columns without names are those of Pensieve's traces (https://github.com/hongzimao/pensieve, ``sim/load_trace.py``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

from shoal.errors import ScenarioError
from shoal.table_files import Record, read_records

# A resolved scenario holds what was read, and has to stay a file of at most a megabyte.
_most_rows = 10_000
_example = "a head `time_s,rate_mbit_s,delay_ms` (one of the last two may be missing), and a row for each time"
_time, _rate, _delay = "time", "rate", "delay"
# Words for what a column holds, in lower case.
_words = {
    **dict.fromkeys(("time", "t", "ts", "timestamp", "elapsed", "elapsed_time", "datetime", "date_time"), _time),
    **dict.fromkeys(("rate", "link_rate", "data_rate", "bit_rate", "bitrate", "capacity"), _rate),
    **dict.fromkeys(("throughput", "bandwidth", "bw"), _rate),
    **dict.fromkeys(("delay", "latency", "one_way_delay", "owd"), _delay),
}
# KB and its like are 1000 B to some and 1024 B to others, and are not taken.
_rate_unit = re.compile(r"(?P<bits>[kKmMgG]?)(?:bps|bits?[/_]s|b/s)|(?P<bytes>[kMG]?)(?:Bps|bytes?[/_]s|B/s)")
_span_units = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), Decimal(1)),
    "ms": Decimal("1e-3"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ns": Decimal("1e-9"),
}
_prefixes = {"": Decimal("1e-6"), "k": Decimal("1e-3"), "m": Decimal(1), "g": Decimal(1000)}
_unit_of = {_time: "s", _rate: "Mbit/s", _delay: "ms"}
_canonical = {_time: "time_s", _rate: "rate_mbit_s", _delay: "delay_ms"}
# The finest step that is told apart: 1 ns and 1 bit/s.
_finest = {_time: Decimal("1e-9"), _rate: Decimal("1e-6"), _delay: Decimal("1e-6")}
_keys = {_rate: "rates", _delay: "delays"}
_name_of_column = re.compile(
    r"(?P<word>[A-Za-z][A-Za-z _-]*?)"
    rf"(?:[\s_]*[(\[]?\s*(?<![A-Za-z])(?P<unit>{'|'.join(_span_units)}|{re.sub('P<.*?>', ':', _rate_unit.pattern)})"
    r"\s*[)\]]?)?"
)
_number = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,2})?", re.IGNORECASE)
_clock = re.compile(
    r"(?:(?P<date>[0-9]{4}[-/][0-9]{2}[-/][0-9]{2})[T ])?(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?P<fraction>[.,][0-9]+)?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?"
)
# 1973 in seconds since 1970: no run is as long.
_since_1970_s = Decimal(100_000_000)
# The year 5138 in seconds, 1973 in milliseconds.
_too_late_s = Decimal(100_000_000_000)
# The longest time that a scenario can hold.
_most_s = 1_000_000
_down = "down"


@dataclass(frozen=True, slots=True)
class Trace:
    """What a file of rates and delays holds.

    Attributes
    ----------
    points
        Values of ``rates`` and ``delays`` of a schedule in a scenario file.
    notes
        How the file was understood where its form leaves that open.
    """

    points: Mapping[str, list[list[str]]]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a trace: its name in the file, what it holds, and its unit in that of scenarios, if it says one."""

    name: str
    quantity: str
    scale: Decimal | None


_without_head = (_Column("time_s", _time, Decimal(1)), _Column("rate_mbit_s", _rate, Decimal(1)))


def read_trace(path: str | Path) -> Trace:
    """Read a table of times, and of rates, delays or both.

    Every row holds from its time on. ``down`` instead of a rate is an outage until the next row. Times and delays are
    rounded to nanoseconds, rates to bit/s. Names of columns say what they hold and in which unit (``time_s``,
    ``Timestamp (ms)``, ``throughput_kbps``); two columns of numbers without names are seconds and Mbit/s. Times of day
    and dates count from the first row on.

    Raises
    ------
    OutputError
        It cannot be read.
    ScenarioError
        It is no trace; the message names the line.
    """
    records = read_records(path, _example, "schedule.trace names a file relative to the scenario file")
    if not records:
        raise ScenarioError(f"error: the trace is empty\n --> {path}\nhint: write {_example}\n")
    columns, notes = _columns_of(records[0])
    rows = records if columns is _without_head else records[1:]
    if not rows:
        raise records[0].refused("the trace has a head and no rows", f"write {_example}")
    if len(rows) > _most_rows:
        raise rows[_most_rows].refused(
            f"the trace has more than {_most_rows} rows",
            "average it over longer times: the resolved scenario holds every row",
        )
    for row in rows:
        if len(row.cells) != len(columns):
            message = f"the row has {len(row.cells)} values, the head {len(columns)} columns"
            names = ", ".join(column.name for column in columns)
            raise row.refused(message, f"write a value for each of {names}")
    times = _times(rows, columns, notes)
    points: dict[str, list[list[str]]] = {}
    for index, column in enumerate(columns):
        if column.quantity != _time:
            values = (_value(row, column, row.cells[index]) for row in rows)
            points[_keys[column.quantity]] = [[at, value] for at, value in zip(times, values, strict=True)]
    if points.get("rates") and points["rates"][-1][1] == _down:
        raise rows[-1].refused("the link stays down after the last row", "end the trace with a rate")
    return Trace(points, tuple(notes))


def _columns_of(head: Record) -> tuple[Sequence[_Column], list[str]]:
    """What the columns of a trace hold, by their names or, where there are none, by the form of Pensieve's traces."""
    cells = head.cells
    if len(cells) == 1 and cells[0].isdecimal():
        what = "a list of numbers is no trace of rates; is it one of packet opportunities, as mahimahi's?"
        hint = "name a trace of opportunities in schedule.opportunities instead of schedule.trace"
        raise head.refused(what, hint)
    if all(_number.fullmatch(cell) or _clock.fullmatch(cell) or cell == _down for cell in cells):
        if len(cells) != len(_without_head):
            what = "the first row has numbers instead of names of columns"
            raise head.refused(what, f"write {_example}: two columns alone are taken as seconds and Mbit/s")
        return _without_head, ["there are no names of columns: the two are taken as seconds and Mbit/s"]
    columns = [_column(head, cell) for cell in cells]
    quantities = [column.quantity for column in columns]
    if quantities.count(_time) != 1 or len(quantities) < 2 or len(set(quantities)) < len(quantities):
        raise head.refused("the head is not that of a trace", f"write {_example}")
    return columns, []


def _column(head: Record, cell: str) -> _Column:
    """What a column holds, by the word for it and the unit in its name."""
    match = _name_of_column.fullmatch(cell)
    quantity = _words.get(re.sub(r"[\s-]+", "_", match["word"].strip(" _-").lower())) if match else None
    if match is None or quantity is None:
        what = f"the column `{cell}` is not known"
        raise head.refused(what, f"write {_example}, and remove columns that are none of these")
    unit = match["unit"] or ""
    scale = _rate_scale(unit) if quantity == _rate else _span_units.get(unit)
    if scale is None and quantity != _time:
        what = f"the column `{cell}` says no unit" if not unit else f"`{unit}` in `{cell}` is no unit of a {quantity}"
        raise head.refused(what, f"write the unit into the name, as in {_canonical[quantity]}")
    return _Column(cell, quantity, scale)


def _rate_scale(unit: str) -> Decimal | None:
    """What one of a unit is in Mbit/s."""
    match = _rate_unit.fullmatch(unit)
    if match is None:
        return None
    return _prefixes[match["bits"].lower()] if match["bits"] is not None else 8 * _prefixes[match["bytes"].lower()]


def _times(rows: Sequence[Record], columns: Sequence[_Column], notes: list[str]) -> list[str]:
    """The times of all rows in seconds; times of day and dates from the first on."""
    index, column = next((index, column) for index, column in enumerate(columns) if column.quantity == _time)
    cells = [row.cells[index] for row in rows]
    clock = _clock.fullmatch(cells[0])
    if clock is not None:
        times = [_clock_s(row, cell, has_date=clock["date"] is not None) for row, cell in zip(rows, cells, strict=True)]
    else:
        times = [_time_s(row, column, cell) for row, cell in zip(rows, cells, strict=True)]
    if clock is not None or times[0] >= _since_1970_s:
        if clock is None and times[0] >= _too_late_s:
            what = f"the time {cells[0]} s is thousands of years after 1970"
            raise rows[0].refused(what, "are these milliseconds? write `time_ms` above them")
        notes.append(f"the times count from the first row on, `{cells[0]}`")
        if clock is not None and clock["date"] is None:
            times = _over_midnight(times)
        times = [time - times[0] for time in times]
    for row, before, time in zip(rows[1:], times, times[1:], strict=False):
        if time <= before:
            what = f"the time {row.cells[index]}{'' if clock else ' s'} is not later than the one before it"
            raise row.refused(what, "sort the rows by time, and give each time once")
    if (late := next((row for row, time in zip(rows, times, strict=True) if time > _most_s), None)) is not None:
        raise late.refused(
            f"the time is later than {_most_s} s", "count times from the start of the run; is the unit right?"
        )
    return [f"{time.normalize():f} s" for time in times]


def _over_midnight(times: Sequence[Decimal]) -> list[Decimal]:
    """Times of day that begin again at midnight, each day after the one before."""
    day_s = Decimal(86_400)
    days = itertools.accumulate(
        (1 if time < before - day_s / 2 else 0 for before, time in itertools.pairwise(times)), initial=0
    )
    return [time + day * day_s for time, day in zip(times, days, strict=True)]


def _time_s(row: Record, column: _Column, cell: str) -> Decimal:
    if column.scale is None and cell:
        raise row.refused(
            f"the column `{column.name}` says no unit", f"write the unit into the name, as in {_canonical[_time]}"
        )
    return _scaled(row, column, cell)


def _clock_s(row: Record, cell: str, *, has_date: bool) -> Decimal:
    """A time of day, or a date with one, in seconds since midnight or since 1970."""
    match = _clock.fullmatch(cell)
    if match is None or (match["date"] is not None) != has_date:
        raise row.refused(f"`{cell}` is not a time like those above it", "write all times in the same way")
    fraction = Decimal(f"0{match['fraction'].replace(',', '.')}") if match["fraction"] else Decimal(0)
    text = f"{match['date'] or '1970-01-01'}T{match['clock']}{(match['zone'] or '+00:00').replace('Z', '+00:00')}"
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        raise row.refused(f"`{cell}` is no time", "as in 15:33:20.5 or 2018-02-05 15:33:20.5") from None
    return Decimal(int(moment.timestamp())) + fraction.quantize(_finest[_time], rounding=ROUND_HALF_EVEN)


def _value(row: Record, column: _Column, cell: str) -> str:
    if column.quantity == _rate and cell.lower() == _down:
        return _down
    value = _scaled(row, column, cell)
    if column.quantity == _rate and value == 0:
        hint = f"write `{_down}` for a time without a link"
        raise row.refused("the rate is 0: no packet would ever leave", hint)
    return f"{value:f} {_unit_of[column.quantity]}"


def _scaled(row: Record, column: _Column, cell: str) -> Decimal:
    if not cell:
        hint = "repeat the value before it" + (f", or write `{_down}`" if column.quantity == _rate else "")
        raise row.refused(f"there is no value in the column `{column.name}`", hint)
    if not _number.fullmatch(cell):
        what = f"`{cell}` is not a value of the column `{column.name}`"
        raise row.refused(what, "write a number without a unit that is not negative, as in 12.5")
    value = Decimal(cell) * (column.scale or 1) * (1000 if column.quantity == _delay else 1)
    return value.quantize(_finest[column.quantity], rounding=ROUND_HALF_EVEN).normalize()
