"""Completion times in a fabric beside an independent calculation, which is in `bounds.py`.

Runs scenarios/bench/fabric-web.toml with its own seed, and fails if a bound is broken.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import shoal
from shoal import _native
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, dash, legend_of_figure, logarithmic, marker, paper_style
from shoal_dev import ROOT
from shoal_dev.study import Study
from shoal_dev.tables import table
from studies.fabric_fct.bounds import (
    INITIAL_WINDOW_PACKETS,
    MSS_BYTES,
    Bound,
    Fabric,
    Fluid,
    Transfer,
    bounds,
    ideal_s,
    transfers_of,
)

SCENARIO = ROOT / "scenarios" / "bench" / "fabric-web.toml"

FABRIC = Fabric(leaves=32, hosts_per_leaf=32, spines=8)
# What the calculation takes for granted, as the resolved scenario says it.
TOPOLOGY = {"rate": "25 Gbit/s", "fabric_rate": "100 Gbit/s", "delay": "1 us", "overhead": "0 B"}
FLOWS = {"mtu": "1500 B", "header_bytes": 52, "initial_window": "10 packets", "pairing": "random", "host": "ideal"}
CONTROLLERS = {"dctcp": "DCTCP", "cubic": "CUBIC"}
# Sizes in bytes, the upper end excluded.
CLASSES = {
    "below 10 kB": (0, 10_000),
    "10 to 100 kB": (10_000, 100_000),
    "100 kB to 1 MB": (100_000, 1_000_000),
    "1 MB and more": (1_000_000, math.inf),
}
SHORT = list(CLASSES)[:2]
LARGE = list(CLASSES)[-1]

# Expectations, written down before the calculation had been compared with a run (what was known: `expected`).
# A port may hold alpha / (1 + alpha) = 1/2 of the 8 MB of its switch while no other has much: 1.28 ms at 25 Gbit/s.
# The SYN and then the data of a transfer wait there once each.
LONGEST_QUEUE_S = 4e6 * 8 / 25e9
SHORT_DELAY_S = 2 * LONGEST_QUEUE_S
# Completion time of large transfers over that with processor sharing, median.
LARGE_WITHIN = (0.8, 2.0)


@dataclass(frozen=True)
class Measured:
    """A transfer of the run beside its calculated times, in s."""

    transfer: Transfer
    ideal_s: float
    shared_s: float

    @property
    def fct_s(self) -> float:
        """Completion time; infinite if the transfer did not end within the run."""
        return math.inf if self.transfer.fct_s is None else self.transfer.fct_s

    @property
    def slowdown(self) -> float:
        """Completion time over the ideal one."""
        return self.fct_s / self.ideal_s

    @property
    def above_s(self) -> float:
        """Completion time less the ideal one."""
        return self.fct_s - self.ideal_s

    @property
    def shared_slowdown(self) -> float:
        """Completion time with processor sharing over the ideal one."""
        return self.shared_s / self.ideal_s


def measure() -> Iterator[str | Figure]:
    """The page and the figure.

    Raises
    ------
    ValueError
        A bound is broken.
    """
    scenario = shoal.Scenario.from_file(SCENARIO).override({"trace.flows": "all"})
    check_facts(scenario, FABRIC)
    result = shoal.run(scenario)
    transfers = transfers_of(result, FABRIC)
    shared = Fluid(FABRIC).run(transfers)
    rows = [
        Measured(transfer, ideal_s(FABRIC, transfer), time) for transfer, time in zip(transfers, shared, strict=True)
    ]
    held = bounds(FABRIC, transfers, result)
    end_s = scenario.facts["duration_s"]
    yield INTRODUCTION
    yield from bounds_held(held)
    yield from by_size(rows)
    yield from expected(rows)
    yield from looked_at(rows, end_s)
    yield figure(rows, end_s)
    if broken := [bound.says for bound in held if bound.broken]:
        raise ValueError(f"broken: {'; '.join(broken)}")


def check_facts(scenario: shoal.Scenario, fabric: Fabric) -> None:
    """Fail if the scenario is not the one that the calculation is about."""
    resolved = scenario.resolved
    topology = resolved["topology"]
    shape = {"leaves": fabric.leaves, "spines": fabric.spines, "hosts_per_leaf": fabric.hosts_per_leaf}
    expected: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (topology, {**TOPOLOGY, **shape}),
        *((flow, FLOWS) for flow in resolved["flows"]),
    ]
    for keys, facts in expected:
        wrong = {key: keys.get(key) for key, value in facts.items() if keys.get(key) != value}
        if wrong:
            raise ValueError(f"the calculation is not about a scenario with {wrong}")


INTRODUCTION = """\
The scenario [fabric-web](../../scenarios/bench/fabric-web.toml) sends web search sizes between random hosts of a
leaf-spine network of 1024 hosts at 25 Gbit/s, at a load of 0.5, for 12 ms. Here the time of each transfer stands beside
what is calculated from the topology and the arrivals alone (`studies/fabric_fct/bounds.py`), without the simulator's
own ideal times.

**The ideal time** is that of a transfer which has the network to itself: the handshake, the time in which its packets
get through switches that store and forward them, the acknowledgement of its last byte, and the wait of whatever is
beyond the ten packets of the initial window for the first acknowledgement. A transfer that is alone takes this time to
the picosecond in the simulator (`tests/python/test_fabric_fct.py`), and none can be faster.

**Slowdown** on this page is the completion time over this ideal. The field `slowdown` of a
[result](../reference/result.md) is larger for short transfers, since its ideal time leaves out the handshake and what
switches take to store packets: a single packet that is alone between two leaves has 2.0 there and 1 here.

**Processor sharing** is a fluid calculation of the same arrivals: at every moment all transfers have their max-min fair
rates on the links of senders and receivers. It has no packets, queues, losses or links between switches, and knows no
controllers."""


def bounds_held(held: Sequence[Bound]) -> Iterator[str]:
    """One row a bound."""
    yield "## Bounds that no network can break"
    yield "Margins are the closest of all cases; a picosecond is rounding."
    rows = []
    for bound in held:
        # Rounding may be on either side of nothing.
        closest = 0.0 if abs(bound.closest_s) < 1e-12 else bound.closest_s
        rows.append((bound.says, f"{bound.cases:,}", bound.broken, f"{1e9 * closest:,.3f} ns"))
    yield table(("bound", "cases", "broken", "closest"), rows, "lr")


def chosen(
    rows: Sequence[Measured], size_class: str, group: str | None = None
) -> tuple[list[Measured], list[Measured]]:
    """Transfers of a class of sizes, and of a group unless it is none: those that ended, and those that did not."""
    low, high = CLASSES[size_class]
    members = [row for row in rows if low <= row.transfer.size < high and group in (None, row.transfer.group)]
    return [row for row in members if row.slowdown < math.inf], [row for row in members if row.slowdown == math.inf]


def by_size(rows: Sequence[Measured]) -> Iterator[str]:
    """One row a class of sizes and controller."""
    heads = (
        *("size", "controller"),
        *("ended", "unfinished", "ideal, median", "slowdown: least", "median", "mean", "P99"),
        *("with processor sharing: median", "mean", "P99"),
    )
    yield "## By size"
    yield (
        "Slowdowns are those of transfers that ended within the run. Of the others no completion time is known: large\n"
        "ones that ended are the luckier part. Processor sharing is shown for the transfers that ended in the run."
    )
    cells = []
    for size_class in CLASSES:
        for group, name in CONTROLLERS.items():
            ended, open_ = chosen(rows, size_class, group)
            slowdowns = ordered([row.slowdown for row in ended])
            shared = ordered([row.shared_slowdown for row in ended])
            ideal = statistics.median(row.ideal_s for row in ended)
            times = [f"{of[key]:.2f}" for of in (slowdowns, shared) for key in ("p50", "mean", "p99")]
            counts = (f"{len(ended):,}", f"{len(open_):,}")
            cells.append((size_class, name, *counts, f"{1e6 * ideal:,.1f} µs", f"{slowdowns['min']:.3f}", *times))
    yield table(heads, cells, "llr")


def ordered(values: Sequence[float]) -> dict[str, float]:
    """Statistics of some values, as results have them."""
    return dict(json.loads(_native.order_statistics(values)))


def expected(rows: Sequence[Measured]) -> Iterator[str]:
    """One row an expectation: what was expected of the run, what it did, and the verdict."""
    yield "## Expectations"
    yield (
        "Written down before the calculation had been compared with a run, but after the percentiles of the run's own\n"
        "`slowdown` had been seen. None is a law: one that is missed says something about the network."
    )
    cells = [(says, value, "met" if met else "MISSED") for says, value, met in expectations(rows)]
    yield table(("expected", "found", "verdict"), cells)


def expectations(rows: Sequence[Measured]) -> list[tuple[str, str, bool]]:
    """What was expected, what was found, and whether they agree."""
    answers: list[tuple[str, str, bool]] = []

    def means(ended: Sequence[Measured], of: Callable[[Sequence[float]], float]) -> tuple[float, float]:
        return of([row.slowdown for row in ended]), of([row.shared_slowdown for row in ended])

    for group, name in CONTROLLERS.items():
        for size_class in SHORT:
            ended, _ = chosen(rows, size_class, group)
            slowdown, shared = means(ended, statistics.fmean)
            says = f"{name}, {size_class}: the mean slowdown is above that of processor sharing, which has no queues"
            answers.append((says, f"{slowdown:.1f} and {shared:.2f}", slowdown > shared))
            extra = ordered([row.transfer.fct_s - row.ideal_s for row in ended if row.transfer.fct_s is not None])[
                "p99"
            ]
            says = (
                f"{name}, {size_class}: P99 of the time above the ideal is at most two passes through the longest "
                f"queue of a port, {1e3 * SHORT_DELAY_S:.2f} ms"
            )
            answers.append((says, f"{1e3 * extra:.2f} ms", extra <= SHORT_DELAY_S))
        ended, _ = chosen(rows, LARGE, group)
        ratio = statistics.median(row.fct_s / row.shared_s for row in ended)
        low, high = LARGE_WITHIN
        says = f"{name}, {LARGE}: the median of the time over that with processor sharing is {low:g} to {high:g}"
        answers.append((says, f"{ratio:.2f}", low <= ratio <= high))
    for size_class in CLASSES:
        ended, _ = chosen(rows, size_class)
        slowdown, shared = means(ended, statistics.median)
        says = f"both, {size_class}: the median slowdown is not below that of processor sharing"
        answers.append((says, f"{slowdown:.2f} and {shared:.2f}", slowdown >= shared))
    return answers


def looked_at(rows: Sequence[Measured], end_s: float) -> Iterator[str]:
    """What was looked at afterwards, because of what the expectations had missed."""
    yield "## Looked at afterwards"
    yield (
        "Transfers of more than the initial window pass the queues once more for each further window. The median of\n"
        "all large transfers, which counts unfinished ones as the slowest, is free of the luck of those that ended.\n"
        "The run is no steady state: the network is empty at first, and short transfers that begin later are slower."
    )
    groups = [[row for row in rows if group in (None, row.transfer.group)] for group in (*CONTROLLERS, None)]
    cells = [(transfers_, what, *map(of, groups)) for transfers_, what, of in reasons(end_s)]
    yield table(("transfers", "what", "DCTCP", "CUBIC", "both"), cells, "llr")


def reasons(end_s: float) -> list[tuple[str, str, Callable[[list[Measured]], str]]]:
    """Which transfers, what of them, and how it is found among those of a group."""
    window = INITIAL_WINDOW_PACKETS * MSS_BYTES
    low, _ = CLASSES[LARGE]

    def p99(rows: Sequence[Measured]) -> str:
        return f"{1e3 * ordered([row.above_s for row in rows if row.slowdown < math.inf])['p99']:.2f} ms"

    def large(rows: Sequence[Measured], of: Callable[[Measured], float]) -> str:
        values = [of(row) for row in rows if row.transfer.size >= low]
        return f"{statistics.median(values):.2f}, {values.count(math.inf):,} of {len(values):,}"

    def third(rows: Sequence[Measured], number: int) -> str:
        short = [row for row in rows if row.transfer.size < 100_000]
        begun = [row for row in short if number <= 3 * row.transfer.start_s / end_s < number + 1]
        return f"{statistics.median(row.slowdown for row in begun):.2f}"

    def in_time(row: Measured) -> float:
        return row.shared_slowdown if row.transfer.start_s + row.shared_s <= end_s else math.inf

    above, median = "P99 of the time above the ideal", "median slowdown, unfinished ones as the slowest"
    return [
        (
            "10 kB to the initial window",
            above,
            lambda rows: p99([row for row in rows if 10_000 <= row.transfer.size <= window]),
        ),
        (
            "beyond it, to 100 kB",
            above,
            lambda rows: p99([row for row in rows if window < row.transfer.size < 100_000]),
        ),
        (LARGE, f"{median}; number of these", lambda rows: large(rows, lambda row: row.slowdown)),
        (LARGE, "the same with processor sharing", lambda rows: large(rows, in_time)),
        ("below 100 kB, begun in the first third", median, lambda rows: third(rows, 0)),
        ("below 100 kB, begun in the second third", median, lambda rows: third(rows, 1)),
    ]


def figure(rows: Sequence[Measured], end_s: float) -> Figure:
    """Slowdown over size: a point a transfer; median and 99th percentile of the run, median of processor sharing."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 3.1))
        panels = list(drawn.subplots(1, len(CONTROLLERS), sharex=True, sharey=True))
        for index, (axes, (group, name)) in enumerate(zip(panels, CONTROLLERS.items(), strict=True)):
            draw(axes, [row for row in rows if row.transfer.group == group], end_s, colour(index))
            axes.set(title=name, xlabel="Size [kB]", xlim=(0.01, 4e4), ylim=(0.8, 1.5e3))
            logarithmic(axes.xaxis)
            logarithmic(axes.yaxis)
        panels[0].set_ylabel("Completion time over ideal")
        legend_of_figure(drawn, panels, columns=5, markerscale=2)
        return drawn


def draw(axes: Axes, rows: Sequence[Measured], end_s: float, paint: str) -> None:
    """One controller's panel."""
    ended = [row for row in rows if row.slowdown < math.inf]
    open_ = [row for row in rows if row.slowdown == math.inf]
    axes.plot(
        [row.transfer.size / 1e3 for row in ended],
        [row.slowdown for row in ended],
        linestyle="",
        marker=".",
        markersize=1.0,
        color="#9a9a9a",
        label="ended",
    )
    axes.plot(
        [row.transfer.size / 1e3 for row in open_],
        # None is faster than its ideal time, so that those which have just begun are at 1.
        [max(1.0, (end_s - row.transfer.start_s) / row.ideal_s) for row in open_],
        linestyle="",
        marker=marker(2),
        markersize=1.6,
        markeredgewidth=0,
        color=colour(4),
        label="unfinished: at least",
    )
    by_size = sorted(ended, key=lambda row: row.transfer.size)
    parts = [by_size[len(by_size) * n // 24 : len(by_size) * (n + 1) // 24] for n in range(24)]
    sizes = [statistics.median(row.transfer.size for row in part) / 1e3 for part in parts]
    slowdowns = [ordered([row.slowdown for row in part]) for part in parts]
    shared = [ordered([row.shared_slowdown for row in part]) for part in parts]
    axes.plot(sizes, [part["p99"] for part in slowdowns], color=paint, linewidth=0.8, linestyle=dash(1), label="P99")
    axes.plot(sizes, [part["p50"] for part in slowdowns], color=paint, label="median")
    axes.plot(
        sizes,
        [part["p50"] for part in shared],
        color="black",
        linestyle=dash(2),
        label="median, processor sharing",
    )
    axes.axhline(1, color="black", linewidth=0.6)


STUDY = Study(
    title="Completion times in a fabric",
    measure=measure,
    takes="about a minute",
    caption="Completion time over ideal against size for DCTCP and CUBIC, with medians, 99th percentiles and "
    "processor sharing",
)
