"""Alpha and queue of DCTCP with receivers that wait, on the simulator, and in some cells on the kernel.

docs/real-hosts.md says what follows.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from matplotlib.figure import Figure

import shoal
from shoal.metrics import metric
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, dash, legend_of_figure, markers, paper_style
from shoal_dev import study
from shoal_dev.study import Run, Study
from shoal_dev.tables import table
from studies.threshold_hosts import search
from studies.threshold_hosts.search import RTT_OF_SEED, SEEDS, WIRE_BYTES, sufficient

RATES_GBIT_S = (1, 10, 25)
RTTS_US = (100, 500)
MODERATION_US = (0, 10, 20, 50, 100)
FLOWS = (1, 4)
# What counts as accurate; fixed before anything was measured.
ALPHA_WITHIN, QUEUE_WITHIN = 0.05, 0.10
# Alpha of Linux, of 10 bits, and alpha without rounding.
ARITHMETIC = {"10 bits": "bits10-min-not-zero", "exact": "exact"}

BASE = search.BASE.override({"title": "DCTCP and receivers that wait"})


@dataclass(frozen=True)
class Cell:
    """A rate in Gbit/s, a round trip and a time to the interrupt in us, and whether packets are merged.

    Attributes
    ----------
    allowed
        Whether the threshold allows for what arrives until the interrupt.
    arithmetic
        How alpha is rounded.
    """

    rate: int
    rtt: int
    flows: int
    moderation: int
    gro: bool
    allowed: bool
    arithmetic: str = "10 bits"

    @property
    def plain(self) -> bool:
        """Whether alpha is Linux's, and the threshold that of hosts without moderation."""
        return self.arithmetic == "10 bits" and not self.allowed

    @property
    def threshold(self) -> int:
        """K in packets."""
        return sufficient(self.rate, self.rtt, self.moderation if self.allowed else 0)

    def scenario(self, seed: int) -> shoal.Scenario:
        """One run."""
        bdp = self.rate * self.rtt * 1e3 / (8 * WIRE_BYTES)
        keys: dict[str, object] = {
            "bottleneck.rate": f"{self.rate} Gbit/s",
            "bottleneck.aqm.threshold": f"{self.threshold} packets",
            "flows[0].rtt": f"{self.rtt * RTT_OF_SEED[seed]:g} us",
            "flows[0].count": self.flows,
            "flows[0].host": {
                "preset": "linux-6-gso",
                # A card as fast as the bottleneck would hold the queue of a flow that is alone.
                "nic_rate": f"{self.rate * (4 if self.flows == 1 else 1)} Gbit/s",
                "coalescing": "gro" if self.gro else "off",
                "interrupt_delay": f"{self.moderation} us",
            },
            "flows[0].start": {"uniform": ["0 s", f"{self.rtt} us"]},
            "flows[0].initial_window": f"{max(2, round(bdp / self.flows))} packets",
            "duration": f"{1600 * self.rtt} us",
            "warmup": f"{800 * self.rtt} us",
        }
        options: dict[str, object] = {}
        if self.arithmetic != "10 bits":
            options["alpha_resolution"] = ARITHMETIC[self.arithmetic]
        if bdp > 500:
            # Growth by a packet in a round trip would take 2000 of them to repair what an alpha of 1 does at the start.
            options["initial_alpha_q10"] = round(1024 * (2 / bdp) ** 0.5)
        if options:
            keys["flows[0].cc_options"] = options
        return BASE.override(keys)


@dataclass(frozen=True)
class Measured:
    """Means over the runs of a cell.

    Attributes
    ----------
    marked
        Fraction of the packets that were marked at the bottleneck; all have the same size, so of the bytes, too.
    arrived
        Marks that receivers saw over marks of the bottleneck.
    alpha
        Mean over time, and over flows with their packets as weights, as the marked fraction of all packets has them.
    queue, p99
        Mean and 99th percentile of the waiting packets over time.
    jain
        Jain's index of the flows' rates.
    """

    marked: float
    arrived: float
    alpha: float
    queue: float
    p99: float
    utilisation: float
    jain: float

    @property
    def bias(self) -> float:
        """Alpha over what it estimates."""
        return self.alpha / self.marked if self.marked else float("nan")


def measured(runs: Sequence[shoal.Result]) -> Measured:
    """Means over runs."""
    links = [run.bottlenecks[0] for run in runs]
    flows = [[flow for group in run.groups for flow in group["flows"]] for run in runs]
    alphas = [
        sum(flow["alpha"]["mean"] * flow["data_packets"] for flow in run_flows)
        / sum(flow["data_packets"] for flow in run_flows)
        for run_flows in flows
    ]
    seen = sum(flow["marks_seen"] for run_flows in flows for flow in run_flows)
    return Measured(
        marked=statistics.fmean(link["marked"] / link["departed"] for link in links),
        arrived=seen / max(1, sum(link["marked"] for link in links)),
        alpha=statistics.fmean(alphas),
        queue=statistics.fmean(link["queue_packets"]["mean"] for link in links),
        p99=statistics.fmean(link["queue_packets"]["p99"] for link in links),
        utilisation=statistics.fmean(link["utilisation"] for link in links),
        jain=statistics.fmean(metric(run, "jain()") for run in runs),
    )


def run_cells(cells: Sequence[Cell], run: Run) -> dict[Cell, Measured]:
    """Run all seeds of all cells."""
    results = run([(cell.scenario(seed), seed) for cell in cells for seed in RTT_OF_SEED])
    return {cell: measured(results[n * SEEDS : (n + 1) * SEEDS]) for n, cell in enumerate(cells)}


def within(value: float, of: float, part: float) -> bool:
    """Whether a value is so close to another."""
    return abs(value - of) <= part * of


def counted(means: dict[Cell, Measured]) -> str:
    """One row a time to the interrupt and number of flows: how many cells are accurate, in each sense."""
    heads = (
        *("interrupt after", "flows", "cells", "marks that receivers saw within 1 %", "alpha within 5 %"),
        *("exact alpha within 5 %", "P99 of the queue within 10 %", "utilisation >= 99 %", "the same, K allows for it"),
    )
    rows = []
    for moderation, flows in itertools.product(MODERATION_US, FLOWS):
        group = [c for c in means if c.plain and c.moderation == moderation and c.flows == flows]
        exact = [means[replace(cell, arithmetic="exact")] for cell in group]
        allowed = [means[replace(cell, allowed=True)] for cell in group]
        counts = (
            sum(within(means[cell].arrived, 1, 0.01) for cell in group),
            sum(within(means[cell].alpha, means[cell].marked, ALPHA_WITHIN) for cell in group),
            sum(within(mean.alpha, mean.marked, ALPHA_WITHIN) for mean in exact),
            sum(within(means[cell].p99, means[replace(cell, moderation=0)].p99, QUEUE_WITHIN) for cell in group),
            sum(means[cell].utilisation >= 0.99 for cell in group),
            sum(mean.utilisation >= 0.99 for mean in allowed),
        )
        rows.append((f"{moderation} us", flows, len(group), *counts))
    return table(heads, rows, "r")


NAMES = ("Gbit/s", "RTT, us", "flows", "GRO", "interrupt after, us")
VALUES = (
    *("K", "marked", "seen", "alpha", "over marked", "exact alpha over marked", "mean queue", "P99"),
    *("utilisation", "Jain's index"),
)


def named(cell: Cell) -> tuple[str, ...]:
    """The cells that tell a row from the others."""
    return (*map(str, (cell.rate, cell.rtt, cell.flows)), "on" if cell.gro else "off", str(cell.moderation))


def valued(cell: Cell, mean: Measured, exact: Measured) -> tuple[str, ...]:
    """What was measured, with the threshold that a host without moderation needs."""
    return (
        *(f"{cell.threshold}", f"{100 * mean.marked:.2f} %", f"{mean.arrived:.3f}", f"{mean.alpha:.4f}"),
        *(f"{mean.bias:.2f}", f"{exact.bias:.2f}", f"{mean.queue:.1f}", f"{mean.p99:.0f}"),
        *(f"{100 * mean.utilisation:.1f} %", f"{mean.jain:.2f}"),
    )


def listed(means: dict[Cell, Measured]) -> str:
    """One row a cell."""
    rows = [
        (*named(cell), *valued(cell, mean, means[replace(cell, arithmetic="exact")]))
        for cell, mean in means.items()
        if cell.plain
    ]
    return table((*NAMES, *VALUES), rows, "r")


ON_BOTH: dict[str, Callable[[Measured], str]] = {
    "marked": lambda mean: f"{100 * mean.marked:.2f} %",
    "alpha over marked": lambda mean: f"{mean.bias:.2f}",
    "P99": lambda mean: f"{mean.p99:.0f}",
    "utilisation": lambda mean: f"{100 * mean.utilisation:.1f} %",
}


def on_both(cells: Sequence[Cell], planes: Mapping[str, Run]) -> list[dict[str, str]]:
    """Some cells on all planes, by the titles of columns."""
    means = {plane: run_cells(cells, run) for plane, run in planes.items()}
    return [
        {f"{title}, {plane}": text(means[plane][cell]) for title, text in ON_BOTH.items() for plane in planes}
        for cell in cells
    ]


def figure(means: dict[Cell, Measured]) -> Figure:
    """Alpha, queue and utilisation over the time to the interrupt, one column a rate; receivers with GRO."""
    rows: dict[str, Callable[[Cell], float]] = {
        "Alpha (10 bits)\nover marked": lambda cell: means[cell].bias,
        "Exact alpha\nover marked": lambda cell: means[replace(cell, arithmetic="exact")].bias,
        "P99 of the queue\n[packets]": lambda cell: means[cell].p99,
        "Utilisation [%]": lambda cell: 100 * means[cell].utilisation,
    }
    with paper_style():
        drawn = Figure(figsize=(two_columns, 6.0))
        panels = drawn.subplots(len(rows), len(RATES_GBIT_S), sharex=True, sharey="row")
        for line, (title, value) in zip(panels, rows.items(), strict=True):
            for axes, rate in zip(line, RATES_GBIT_S, strict=True):
                for index, (rtt, flows) in enumerate(itertools.product(RTTS_US, FLOWS)):
                    cells = [
                        Cell(rate, rtt, flows, moderation, gro=True, allowed=False) for moderation in MODERATION_US
                    ]
                    axes.plot(
                        MODERATION_US,
                        [value(cell) for cell in cells],
                        color=colour(index),
                        linestyle=dash(index),
                        marker=markers[index],
                        label=f"RTT {rtt} us, {flows} flow" + "s" * (flows > 1),
                    )
                if "over" in title:
                    axes.axhspan(1 - ALPHA_WITHIN, 1 + ALPHA_WITHIN, color="#dddddd", zorder=0)
            line[0].set_ylabel(title)
            line[0].set_ylim(0, 1.5 if "over" in title else None)
        for axes, rate in zip(panels[0], RATES_GBIT_S, strict=True):
            axes.set_title(f"{rate} Gbit/s")
        for axes in panels[-1]:
            axes.set_xlabel("Interrupt after [us]")
        legend_of_figure(drawn, [panels[0][0]], columns=4)
        return drawn


PLAIN = [
    Cell(rate, rtt, flows, moderation, gro, allowed=False)
    for rate, rtt, flows, gro, moderation in itertools.product(
        RATES_GBIT_S, RTTS_US, FLOWS, (True, False), MODERATION_US
    )
]
# Cells that run on both planes.
BOTH = [
    Cell(rate, 100, flows, moderation, gro, allowed=False)
    for rate, flows, gro, moderation in itertools.product((1, 10), FLOWS, (True, False), (0, 20, 100))
]


def measure() -> Iterator[str | Figure]:
    """How many cells are accurate, some cells on both planes, all cells, and the figure."""
    exact = [replace(cell, arithmetic="exact") for cell in PLAIN]
    allowed = [replace(cell, allowed=True) for cell in PLAIN]
    means = run_cells([*PLAIN, *exact, *allowed], study.simulated())
    yield "## How many are accurate"
    yield counted(means)
    yield f"## On both planes (Linux {study.kernel_release()}), RTT 100 us"
    rows = on_both(BOTH, {"simulator": study.simulated(), "Linux": study.on_linux()})
    heads = ("Gbit/s", "flows", "GRO", "interrupt after, us", *rows[0])
    yield table(heads, [(*both_named(cell), *row.values()) for cell, row in zip(BOTH, rows, strict=True)], "r")
    yield "## All cells"
    yield listed(means)
    yield figure(means)


def both_named(cell: Cell) -> tuple[str, ...]:
    """The cells that tell a row of both planes from the others: all have one round trip."""
    rate, _, *others = named(cell)
    return (rate, *others)


def again(cell: Cell) -> Mapping[str, str]:
    """The row of a cell, made again."""
    means = run_cells([cell, exact := replace(cell, arithmetic="exact")], study.simulated())
    return dict(zip(VALUES, valued(cell, means[cell], means[exact]), strict=True))


def cells() -> Iterator[study.Cell]:
    """Each row of the list, and each row of both planes."""
    for cell in PLAIN:
        yield study.Cell("All cells", named(cell), partial(again, cell), cpu_s=cell.rate)
    planes = study.planes()
    release = f"Linux {study.kernel_release()}" if len(planes) > 1 else "Linux"
    for cell in BOTH:
        section = f"On both planes ({release}), RTT 100 us"
        yield study.Cell(section, both_named(cell), lambda cell=cell: on_both([cell], planes)[0], cpu_s=5)


STUDY = Study(
    title="Alpha and queue when receivers wait",
    about="[real hosts](../real-hosts.md#when-the-echo-stops-being-accurate) says how, what\n"
    "the numbers mean and what follows from them. Queues and K are in packets",
    measure=measure,
    needs=("kernel",),
    takes="about an hour",
    caption="Alpha over the marked fraction, queue and utilisation over the time to the interrupt, at three rates",
    cells=cells,
)
