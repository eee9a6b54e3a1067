"""Numbers in running text are those of the tables that they are about."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from shoal_dev.tables import tables_of

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, str]


def rows(page: str, first: str) -> list[Row]:
    """The rows of the table of a page whose first title is that."""
    (found,) = (table for table in tables_of((ROOT / page).read_text(encoding="utf-8")) if table.heads[0] == first)
    return [dict(zip(found.heads, row, strict=True)) for row in found.rows]


def row(page: str, first: str, name: str) -> Row:
    (found,) = (each for each in rows(page, first) if each[first] == name)
    return found


def rows_in(page: str, section: str) -> list[Row]:
    """The rows of the only table below a heading."""
    (table,) = (each for each in tables_of((ROOT / page).read_text(encoding="utf-8")) if each.section == section)
    return [dict(zip(table.heads, cells, strict=True)) for cells in table.rows]


PLANES = "docs/records/l4s-planes.md"


def alone(what: str) -> Row:
    """A flow that is alone, on both planes."""
    (row_of_flow,) = (each for each in rows_in(PLANES, "One flow alone") if each["what"].startswith(what))
    return row_of_flow


def points_at_4_mbit() -> str:
    """By how many points shares of Prague are apart at 4 Mbit/s, where they are different."""
    slow = [each["share: difference"] for each in rows_in(PLANES, "Prague") if each["Mbit/s"] == "4"]
    return f"{max(abs(float(text.split()[0])) for text in slow if text.endswith('different')):.0f}"


def acks_at_4_mbit() -> tuple[str, ...]:
    """The fewest and most ACKs a packet of Prague at 4 Mbit/s on each plane, where receivers delay them."""
    tables = tables_of((ROOT / PLANES).read_text(encoding="utf-8"))
    (acks,) = (each for each in tables if each.heads[1].startswith("delayed"))
    sim, linux = ([row_of_acks[column] for row_of_acks in acks.rows] for column in (1, 2))
    return (min(sim), max(sim), min(linux), max(linux))


def instructions(*cases: str) -> tuple[str, ...]:
    """Instructions a packet of cases in the release profile, as `make bench-instructions BENCH=--keep` wrote them."""
    with (ROOT / "benches" / "instructions.csv").open(encoding="utf-8", newline="") as file:
        counts = {
            each["case"]: float(each["instructions"]) for each in csv.DictReader(file) if each["profile"] == "release"
        }
    return tuple(f"{counts[case]:,.0f}" for case in cases)


def accurate_queues() -> tuple[str, ...]:
    waiting = [
        each for each in rows("docs/records/echo-hosts.md", "interrupt after") if each["interrupt after"] != "0 us"
    ]
    return tuple(str(sum(int(each[head]) for each in waiting)) for head in ("P99 of the queue within 10 %", "cells"))


def accurate_alphas() -> tuple[str, ...]:
    four = [each for each in rows("docs/records/echo-hosts.md", "interrupt after") if each["flows"] == "4"]
    heads = ("alpha within 5 %", "cells", "exact alpha within 5 %")
    return tuple(str(sum(int(each[head]) for each in four)) for head in heads)


def smallest_k() -> tuple[str, ...]:
    """From its multiple of C x RTT / 7, which is 9.52 packets at 100 Mbit/s and 8 ms."""
    with (ROOT / "papers/cs244-2013/HOSTS.csv").open(encoding="utf-8", newline="") as file:
        (found,) = (
            each["what"]
            for each in csv.DictReader(file)
            if (each["item"], each["plane"], each["reading"]) == ("smallest-k", "sim", "tc-line+linux-6-gso")
            and each["claim"] == "A43"
            and "100 Mbit/s, 8 ms" in each["what"]
        )
    return tuple(re.findall(r"K = (\d+)", found))


def scripts_for_accurate_ecn() -> tuple[str, str]:
    """How many there are, and how many pass on the models; on the kernel all do."""
    page, name = "docs/records/validation/conformance.md", "those of them for accurate ECN, on"
    linux, models = (row(page, "", f"{name} {where}") for where in ("Linux", "the models"))
    assert linux["pass"] == linux["scripts"] == models["scripts"]
    return models["scripts"], models["pass"]


def changed_ratios() -> dict[str, str]:
    """By how many per cent segments of hosts change the rate ratio of a mix, by its scenario."""
    ratios = {
        each["scenario"].strip("`"): each["rate ratio"] for each in rows("docs/records/linux-hosts.md", "scenario")
    }
    found = {name: re.search(r"\(([+-][\d.]+) ±", text) for name, text in ratios.items()}
    return {name: f"{abs(float(match[1])):.0f}" for name, match in found.items() if match is not None}


@dataclass(frozen=True)
class Statement:
    """A sentence of a page whose numbers, the groups of the pattern, are read from a table."""

    page: str
    pattern: str
    of_table: Callable[[], tuple[str, ...]]


STATEMENTS = {
    "queues-that-do-not-show-the-wait": Statement(
        "docs/real-hosts.md", r"(\d+) of (\d+) cells with a wait are\s+within 10 %", accurate_queues
    ),
    "accurate-alphas-of-four-flows": Statement(
        "docs/real-hosts.md",
        r"alpha is accurate in (\d+) of (\d+)\s+cells, and in (\d+) without rounding",
        accurate_alphas,
    ),
    "smallest-k-with-segments": Statement(
        "papers/cs244-2013/README.md", r"K = (\d+) is needed with a third of the window", smallest_k
    ),
    "events-of-a-packet": Statement(
        "docs/internals/performance.md",
        r"cause about ([\d.]+) events",
        lambda: (row("docs/records/benchmark.md", "case", "S4")["events/packet"],),
    ),
    "instructions-of-a-packet": Statement(
        "docs/internals/performance.md",
        r"brought S4 to ([\d,]+) and lean to ([\d,]+)",
        lambda: instructions("S4", "lean"),
    ),
    "resident-memory-of-a-flow": Statement(
        "docs/internals/performance.md",
        r"is ([\d,]+) B \(`scale` with ([\d,]+) flows",
        lambda: tuple(rows("docs/internals/performance.md", "scenario")[6][head] for head in ("B a flow", "flows")),
    ),
    "queue-of-fq-codel": Statement(
        "docs/linux.md",
        r"`mix-fq-codel-40m` has ([\d.]+) packets on the simulator and ([\d.]+) on Linux",
        lambda: tuple(means_of("mix-fq-codel-40m")),
    ),
    "ratios-with-segments": Statement(
        "docs/linux.md",
        r"rises by (\d+) % on dual RED \(Reno and DCTCP\) and by (\d+) % behind DualPI2",
        lambda: tuple(changed_ratios()[f"compare/{name}"] for name in ("mix-dual-red-10m", "cubic-dctcp-dualpi2-40m")),
    ),
    "largest-ratio-with-segments": Statement(
        "docs/linux.md", r"and (\d+) % of a rate ratio", lambda: (max(changed_ratios().values(), key=int),)
    ),
    "largest-ratio-that-a-model-names": Statement(
        "crates/core/tcp/src/docs.rs",
        r"ratio changes by up to (\d+) %",
        lambda: (max(changed_ratios().values(), key=int),),
    ),
    "scripts-for-accurate-ecn": Statement(
        "docs/conformance.md",
        r"The kernel has (\d+) such scripts .* All pass on Linux 7\.3\.4, and (\d+) on the models",
        scripts_for_accurate_ecn,
    ),
    "marks-over-accurate-ecn": Statement(
        "docs/l4s.md",
        r"\(([\d,]+) and ([\d,]+) in 15 s",
        lambda: tuple(alone("DCTCP over accurate ECN")[plane] for plane in ("simulator", "Linux")),
    ),
    "pacing-with-the-option": Statement(
        "docs/l4s.md",
        r"pacing rates over accurate ECN with its option, by ([\d.]+) %",
        lambda: (f"{float(alone('Prague over accurate ECN with its')['simulator above Linux'].split()[0]):.1f}",),
    ),
    "shares-at-4-mbit": Statement(
        "docs/l4s.md", r"shares at 4 Mbit/s .*? by up to (\d+) points", lambda: (points_at_4_mbit(),)
    ),
    "acks-at-4-mbit": Statement(
        "docs/l4s.md", r"([\d.]+) to ([\d.]+) and ([\d.]+) to ([\d.]+) ACKs a packet", acks_at_4_mbit
    ),
    "cpu-beside-runs": Statement(
        "docs/sweeps.md",
        r"missed: ([\d.]+) %.*?: ([\d.]+) %, within the target",
        lambda: tuple(
            row("docs/records/sweeps-speed.md", "measured", name)["value"].split(" ")[0]
            for name in (
                "the same beside bare runs of another process, 5 pairs of 1,000 points",
                "CPU beside the runs of the same process, one worker",
            )
        ),
    ),
}


def means_of(scenario: str) -> list[str]:
    """The mean queues of a scenario of the comparison on both planes."""
    for table in tables_of((ROOT / "docs/records/validation/linux.md").read_text(encoding="utf-8")):
        index = next((n for n, head in enumerate(table.heads) if "queue" in head.lower()), None)
        for cells in table.rows:
            if index is not None and table.heads[0] == "Scenario" and cells[0] == scenario:
                return cells[index].split(" / ")
    raise AssertionError(scenario)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_number_in_the_text_is_that_of_its_table(name: str) -> None:
    statement = STATEMENTS[name]
    found = re.search(statement.pattern, (ROOT / statement.page).read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{statement.page} has lost the sentence"
    assert found.groups() == statement.of_table()
