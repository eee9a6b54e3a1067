"""Files that a link follows: of rates and delays (``schedule.trace``), of packet opportunities (``opportunities``)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shoal._toml import read_toml
from shoal.errors import ScenarioError, refused_line
from shoal.rate_traces import read_trace
from shoal.table_files import decoded, read_content

# A resolved scenario holds a word for each instant, and the schema takes no more of them.
_most_instants = 200_000
_most_ms = 1_000_000_000
_opportunities_example = "a line for each opportunity, with its time in whole milliseconds, as mahimahi's traces have"


def traces_in(text: str, file: Path) -> tuple[list[tuple[str, object]], list[str]]:
    """Read the traces that a scenario file names: dotted keys and what stands there then, and warnings of the files.

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
        return [], []
    warnings: list[str] = []
    entries: list[tuple[str, object]] = []
    for prefix, schedule in _schedules(tables):
        # A resolved scenario keeps the name of the file beside what was read.
        if isinstance(name := schedule.get("trace"), str) and not {"rates", "delays"} & set(schedule):
            trace = read_trace(file.parent / name)
            entries += [(f"{prefix}.{key}", points) for key, points in trace.points.items()]
            warnings += [f"warning: {note}\n --> {file.parent / name}\n" for note in trace.notes]
        if isinstance(name := schedule.get("opportunities"), str) and "opportunity_gaps" not in schedule:
            entries.append((f"{prefix}.opportunity_gaps", read_opportunities(file.parent / name)))
    return entries, warnings


def trace_files(text: str, file: Path) -> list[Path]:
    """The files that the links of a scenario file follow; what is no TOML names none."""
    try:
        tables = read_toml(text, file)
    except tomllib.TOMLDecodeError:
        return []
    return [
        file.parent / name
        for _, schedule in _schedules(tables)
        for key, read in (("trace", {"rates", "delays"}), ("opportunities", {"opportunity_gaps"}))
        # A resolved scenario keeps the name of the file beside what was read.
        if isinstance(name := schedule.get(key), str) and not read & set(schedule)
    ]


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
    hint = "schedule.opportunities names a file relative to the scenario file"
    lines = decoded(path, read_content(path, hint), _opportunities_example).splitlines()
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
