"""The results of items of a paper with other hosts: HOSTS.csv (the data) and HOSTS.md (for readers)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shoal_dev.pages.paper_beside import read_rows, replace_rows, reproduced, side_by_side
from shoal_dev.pages.paper_results import Rows, sign, table

if TYPE_CHECKING:
    from shoal.papers.spec import Paper

_columns = (
    *("item", "plane", "made", "command", "reading", "host", "claim", "role", "what"),
    *("published", "measured", "tolerance", "cells", "inside", "verdict"),
)


def keep(results: Path, paper: Path) -> None:
    """Replace the kept results of the items of a reproduction, on the plane that it ran on."""
    rows = reproduced(results)
    if not any("+" in row["reading"] for row in rows):
        sys.exit(f"{results} has no other hosts: run `shoal reproduce PAPER/ITEM --host PRESET --out {results}`")
    on_linux = any(row["reading"] == "simulated-alike" for row in rows)
    for row in rows:
        row["plane"] = "linux" if on_linux else "sim"
        row["host"] = row["reading"].partition("+")[2]
    _refuse_other_checks(rows, results)
    replace_rows(paper / "HOSTS.csv", rows, _columns, ["item", "plane"])


def _refuse_other_checks(rows: Rows, results: Path) -> None:
    """Rows stand beside each other by their position, so they must be of the same checks."""
    lists: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for row in rows:
        lists.setdefault(row["item"], {}).setdefault(row["reading"], []).append((row["claim"], row["role"]))
    for item, by_reading in lists.items():
        first, *others = by_reading.values()
        if any(other != first for other in others):
            sys.exit(f"{results}: {item} has other checks under some hosts, so they cannot stand beside each other")


def page(paper: Path) -> str:
    """The text of HOSTS.md."""
    from shoal.papers import read_paper

    read = read_paper(paper)
    rows = read_rows(paper / "HOSTS.csv")
    sections = list(dict.fromkeys((row["item"], row["plane"]) for row in rows))
    hosts = ["", *(host for host in dict.fromkeys(row["host"] for row in rows) if host)]
    parts = [
        f"# With hosts that send bursts: {read.title}",
        "Written by `tools/shoal-dev generate`; the data is HOSTS.csv. What it says of the paper's conclusions is in "
        "[README.md](README.md).",
        "The same checks, with the same tolerances, side by side: with the hosts of the paper's scenarios "
        f"(`{_own_hosts(read)}`), and with a preset in place of the host of every flow group. ✓ and ✗ are about the "
        'published value. Numbers in "What" are those of the first column. RESULTS.md is about the first column alone, '
        "with all points and seeds.",
        *([read.hosts.why.strip()] if read.hosts and read.hosts.why else []),
        *_readings(read, rows),
        "## Claims by host",
        "Cells inside their tolerance, of all cells of the claim; ✓ if that is all. Other readings, repetitions and "
        "checks of our own are not counted.",
        table(
            ("Item", "Reading", "Claim", _own_hosts(read), *hosts[1:]),
            _summary(read, rows, sections, hosts),
        ),
    ]
    for item, plane in sections:
        checks = [row for row in rows if (row["item"], row["plane"]) == (item, plane)]
        readings = list(dict.fromkeys(row["reading"] for row in checks))
        several = len({_base(name) for name in readings}) > 1
        titles = [_title(read, name, several=several) for name in readings]
        parts += [
            f"## {item}" + (" on Linux" if plane == "linux" else ""),
            f"{checks[0]['made']}: `{checks[0]['command']}`",
            side_by_side(checks, readings, titles),
        ]
    return "\n\n".join(parts) + "\n"


def _summary(read: "Paper", rows: Rows, sections: list[tuple[str, str]], hosts: list[str]) -> list[tuple[str, ...]]:
    """Cells of each claim, a column a host; empty where it was not run."""
    from shoal.papers.tally import tally

    body = []
    for item, plane in sections:
        checks = [row for row in rows if (row["item"], row["plane"]) == (item, plane)]
        for reading in dict.fromkeys(_base(row["reading"]) for row in checks):
            of_reading = [row for row in checks if _base(row["reading"]) == reading]
            claims = [tally(row for row in of_reading if row["host"] == host).claims for host in hosts]
            for claim in dict.fromkeys(name for scored in claims for name in scored):
                scores = [scored.get(claim) for scored in claims]
                cells = [f"{sign['inside' if s.met else 'outside']} {s}" if s is not None else "" for s in scores]
                body.append((f"{item} on Linux" if plane == "linux" else item, reading, claim, *cells))
    return body


def _readings(read: "Paper", rows: Rows) -> list[str]:
    """What the readings are, if there is more than one."""
    known = {reading.name: reading for reading in read.known_readings}
    names = dict.fromkeys(_base(row["reading"]) for row in rows)
    lines = [f"- `{name}`: {known[name].title}." for name in names if name in known]
    if "simulated-alike" in names and read.linux is not None:
        lines.append(
            f"- `simulated-alike`: with what the kernel needs, on the simulator. {' '.join(read.linux.why.split())}"
        )
        lines += [
            f"- `{name}`: that on the kernel." for name in names if name not in known and name != "simulated-alike"
        ]
    return ["\n".join(lines)] if len(lines) > 1 else []


def _base(reading: str) -> str:
    return reading.partition("+")[0]


def _title(read: "Paper", reading: str, *, several: bool) -> str:
    host = reading.partition("+")[2] or _own_hosts(read)
    return f"{_base(reading)}, {host}" if several else host


def _own_hosts(read: "Paper") -> str:
    """The hosts of the paper's scenarios."""
    items = [read.item(name) for name in read.items]
    sweeps = [sweep for item in items for sweep in (*item.sweeps.values(), *item.searches.values())]
    hosts = (str(group["host"]) for sweep in sweeps for group in sweep.scenario.resolved["flows"])
    return ", ".join(dict.fromkeys(hosts))
