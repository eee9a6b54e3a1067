"""The smallest threshold of DCTCP with real hosts: searches on the simulator, and runs beside them on the kernel.

docs/real-hosts.md says what follows.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, legend_of_figure, markers, paper_style
from shoal_dev import study
from shoal_dev.study import Run, Study
from shoal_dev.tables import table, tables_of
from studies.threshold_hosts.search import (
    ALL_HOSTS,
    HOSTS,
    PREDICTED_EXCESS,
    RATES_GBIT_S,
    RTT_OF_SEED,
    RTTS_US,
    SEEDS,
    WAITING,
    WIRE_BYTES,
    Cell,
    Search,
    predicted,
    rule,
    thresholds,
    varied,
)

# Printed with the DCTCP paper; the kernel's documentation repeats them.
PAPER = {1: 20, 10: 65}
# A frame of 1500 bytes in the buffer of a switch, for thresholds in bytes.
FRAME_BYTES = 1518
# Rates and round trips for receivers that wait longer.
PATHS_OF_WAITING = ((10, 100), (25, 100), (25, 200), (40, 100))
# Multiples of the smallest threshold that both planes run, with which hosts, and at which rates and round trips.
BESIDE = (0.7, 1.0, 1.4)
PATHS_ON_BOTH = ((1, 100), (10, 100), (10, 200))
ON_BOTH = ("ideal", "segments", "moderated", "ideal-2", "segments-2", "moderated-2")


def searched(flows: int, searches: dict[Cell, Search]) -> str:
    """One row a rate and RTT, one column a kind of hosts."""
    names = [name for name, hosts in HOSTS.items() if hosts.flows == flows]
    heads = ["Gbit/s", "RTT, us", "C x RTT", "C x RTT / 7", *(HOSTS[name].title for name in names)]
    if flows == 1:
        heads += ["predicted for segments", "predicted with GRO"]
    rows = []
    for rate, rtt in itertools.product(RATES_GBIT_S, RTTS_US):
        cells = [Cell(rate, rtt, name) for name in names]
        row = [str(rate), str(rtt), f"{cells[0].bdp:.1f}", f"{cells[0].fluid:.1f}"]
        row += [f"{searches[cell].threshold:.0f}" + ("*" if searches[cell].against else "") for cell in cells]
        if flows == 1:
            for gro in (False, True):
                value = predicted(cells[0], gro=gro)
                row.append("" if value is None else f"{value:.0f}")
        rows.append(row)
    return table(heads, rows, "r")


def errors(searches: dict[Cell, Search]) -> str:
    """How far the prediction and the rule are from what was found, as factors."""
    rows = []
    for name, hosts in HOSTS.items():
        whats: dict[str, Callable[[Cell], float | None]] = {"C x RTT / 7": lambda cell: cell.fluid}
        if hosts.bursts and hosts.flows == 1:
            whats["C x RTT / 7 + E"] = partial(predicted, gro=hosts.waits_us(1) > 0)
        if hosts.bursts:
            whats["rule"] = rule
        for what, given in whats.items():
            factors = {}
            for cell, search in searches.items():
                value = given(cell)
                if cell.hosts == name and value is not None:
                    factors[cell] = value / search.threshold
            worst = min(factors, key=lambda cell: factors[cell])
            values = sorted(factors.values())
            factors_shown = [f"{value:.2f}" for value in (values[0], statistics.median(values), values[-1])]
            where = f"{worst.rate} Gbit/s, {worst.rtt} us"
            rows.append((f"{hosts.title}, {hosts.flows}", what, len(values), *factors_shown, where))
    return table(("hosts", "what", "cells", "least", "median", "most", "worst below"), rows, "llrrrrl")


def waiting(run: Run) -> str:
    """Receivers that wait longer: what arrives meanwhile, what was found and the rule."""
    cells = [Cell(rate, rtt, name) for rate, rtt in PATHS_OF_WAITING for name in WAITING]
    searches = thresholds(cells, run)
    rows = []
    for cell, search in searches.items():
        waits_us = ALL_HOSTS[cell.hosts].waits_us(cell.rate)
        meanwhile = cell.rate * waits_us * 1e3 / (8 * WIRE_BYTES)
        threshold = f"{search.threshold:.0f}{'*' * bool(search.against)}"
        rows.append((cell.rate, cell.rtt, waits_us, f"{meanwhile:.1f}", threshold, f"{rule(cell):.0f}"))
    return table(("Gbit/s", "RTT, us", "interrupt after, us", "arrives meanwhile", "K", "rule"), rows, "r")


def choices(run: Run) -> str:
    """What thresholds that are set once do to all cells whose hosts burst."""
    ways: dict[str, Callable[[Cell], float]] = {
        "C x RTT / 7": lambda cell: cell.fluid,
        "the DCTCP paper's 20 at 1 Gbit/s": lambda cell: PAPER[1] if cell.rate == 1 else 0,
        "the DCTCP paper's 65 at 10 Gbit/s": lambda cell: PAPER[10] if cell.rate == 10 else 0,
        "65 from 25 Gbit/s on": lambda cell: PAPER[10] if cell.rate > 10 else 0,
        "the rule": rule,
        "300 kB (sample for NX-OS)": lambda _: 300e3 / FRAME_BYTES,
        "1 MiB (SONiC's template)": lambda _: 2**20 / FRAME_BYTES,
    }
    rows = []
    cells = [
        Cell(rate, rtt, name)
        for rate, rtt, (name, hosts) in itertools.product(RATES_GBIT_S, RTTS_US, HOSTS.items())
        if hosts.bursts
    ]
    for title, value in ways.items():
        affected = [cell for cell in cells if value(cell)]
        jobs = [(cell.scenario(max(1, round(value(cell)))), seed) for cell in affected for seed in RTT_OF_SEED]
        results = varied(run, jobs, "")
        used = {
            cell: statistics.fmean(run.bottlenecks[0]["utilisation"] for run in results[n * SEEDS : (n + 1) * SEEDS])
            for n, cell in enumerate(affected)
        }
        least = min(used, key=lambda cell: used[cell])
        below = sum(part < 0.99 for part in used.values())
        rows.append((title, len(affected), below, f"{100 * used[least]:.1f} %", cell_title(least)))
    return table(("K", "cells", "below 99 %", "least utilisation", "there"), rows, "lrrrl")


def cell_title(cell: Cell) -> str:
    """A cell in words."""
    hosts = ALL_HOSTS[cell.hosts]
    return f"{cell.rate} Gbit/s, {cell.rtt} us, {hosts.title}, {hosts.flows} flow" + "s" * (hosts.flows > 1)


BOTH = [Cell(rate, rtt, name) for rate, rtt in PATHS_ON_BOTH for name in ON_BOTH]


def on_both(thresholds_of: Mapping[Cell, float], planes: Mapping[str, Run]) -> list[dict[str, str]]:
    """Utilisation below, at and above some thresholds on all planes, from the start that the kernel has."""
    points = [(cell, max(1, round(times * k))) for cell, k in thresholds_of.items() for times in BESIDE]
    jobs = [(cell.scenario(value, start=False), seed) for cell, value in points for seed in RTT_OF_SEED]
    used = {
        plane: [run.bottlenecks[0]["utilisation"] for run in varied(run_on, jobs, "")]
        for plane, run_on in planes.items()
    }
    rows: list[dict[str, str]] = [{} for _ in thresholds_of]
    for number in range(len(points)):
        row, times = rows[number // len(BESIDE)], BESIDE[number % len(BESIDE)]
        for plane, values in used.items():
            mean = statistics.fmean(values[number * SEEDS : (number + 1) * SEEDS])
            row[f"{plane}, {times:g} K"] = f"{100 * mean:.1f} %"
    return rows


def figure(searches: dict[Cell, Search]) -> Figure:
    """K over RTT, one panel a rate, and the rule beside what was found."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 4.6))
        panels = list(drawn.subplots(2, 3).flat)
        for axes, rate in zip(panels, RATES_GBIT_S, strict=False):
            draw_rate(axes, searches, rate)
        draw_rule(panels[-1], searches)
        panels[0].set_ylabel("Smallest K [packets]")
        panels[3].set_ylabel("Smallest K [packets]")
        legend_of_figure(drawn, panels[:2], columns=4)
        return drawn


def draw_rate(axes: Axes, searches: dict[Cell, Search], rate: int) -> None:
    """All hosts at one rate: filled for one flow, open for two."""
    for name, hosts in HOSTS.items():
        paint, shape = look(name)
        axes.plot(
            RTTS_US,
            [searches[Cell(rate, rtt, name)].threshold for rtt in RTTS_US],
            color=paint,
            marker=shape,
            markerfacecolor=paint if hosts.flows == 1 else "white",
            linewidth=1.1 if hosts.flows == 1 else 0.6,
            linestyle="-" if hosts.flows == 1 else (0, (4, 1.5)),
            label=f"{hosts.title}, {hosts.flows} flow" + "s" * (hosts.flows > 1),
        )
    fluid = [Cell(rate, rtt, "ideal").fluid for rtt in RTTS_US]
    axes.plot(RTTS_US, fluid, color="#888888", linewidth=1, label="C x RTT / 7")
    known = [rtt for rtt in RTTS_US if (rate, rtt) in PREDICTED_EXCESS]
    values = [predicted(Cell(rate, rtt, "ideal"), gro=True) for rtt in known]
    if values:
        axes.plot(known, values, color="black", linewidth=0.9, linestyle=(0, (1, 1)), label="C x RTT / 7 + E, GRO")
    if rate in PAPER:
        axes.axhline(
            PAPER[rate], color="black", linewidth=0.6, linestyle=(0, (8, 3)), label="DCTCP paper: K = 20 and K = 65"
        )
    axes.set(xscale="log", yscale="log", xlim=(42, 600), ylim=(0.5, 700), xlabel="RTT [us]", title=f"{rate} Gbit/s")
    plain_ticks(axes, RTTS_US, (1, 10, 100))


def draw_rule(axes: Axes, searches: dict[Cell, Search]) -> None:
    """The rule against what was found, in all cells whose hosts burst."""
    for name, hosts in HOSTS.items():
        if hosts.bursts:
            paint, shape = look(name)
            bursting = [cell for cell in searches if cell.hosts == name]
            axes.plot(
                [searches[cell].threshold for cell in bursting],
                [rule(cell) for cell in bursting],
                color=paint,
                marker=shape,
                markerfacecolor=paint if hosts.flows == 1 else "white",
                linestyle="none",
            )
    axes.plot((1, 700), (1, 700), color="#888888", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=(1.5, 150), ylim=(1.5, 150), title="The rule")
    axes.set(xlabel="Smallest K found [packets]", ylabel="Rule [packets]")
    plain_ticks(axes, (2, 5, 10, 20, 50, 100), (2, 5, 10, 20, 50, 100))


def plain_ticks(axes: Axes, across: Sequence[float], up: Sequence[float]) -> None:
    """Plain numbers on both axes, and nothing between them."""
    for axis, values in ((axes.xaxis, across), (axes.yaxis, up)):
        axis.set_major_locator(FixedLocator(values))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())


def look(name: str) -> tuple[str, str]:
    """Colour and marker of a kind of hosts, the same for one and for two flows."""
    kind = [*dict.fromkeys(hosts.title for hosts in HOSTS.values())].index(HOSTS[name].title)
    return colour(kind), markers[kind]


def measure() -> Iterator[str | Figure]:
    """Search everything."""
    simulated = study.simulated()
    cells_ = [Cell(rate, rtt, name) for rate, rtt, name in itertools.product(RATES_GBIT_S, RTTS_US, HOSTS)]
    searches = thresholds(cells_, simulated)
    yield "## One flow"
    yield searched(1, searches)
    yield "## Two flows"
    yield searched(2, searches)
    yield "## One flow whose receiver waits"
    yield waiting(simulated)
    yield "## Prediction and rule, over what was found"
    yield errors(searches)
    yield "## Thresholds that are set once"
    yield choices(simulated)
    yield f"## On both planes (Linux {study.kernel_release()})"
    rows = on_both(
        {cell: searches[cell].threshold for cell in BOTH}, {"simulator": simulated, "Linux": study.on_linux()}
    )
    named = [(cell_title(cell), f"{searches[cell].threshold:.0f}") for cell in BOTH]
    yield table(
        ("cell", "K", *rows[0]), [(*names, *row.values()) for names, row in zip(named, rows, strict=True)], "lr"
    )
    yield figure(searches)


def cells() -> Iterator[study.Cell]:
    """Searches of single cells at low rates, and each row of both planes at the threshold that was recorded."""
    for flows, section in ((1, "One flow"), (2, "Two flows")):
        for rate, rtt in itertools.product((1, 10), RTTS_US):
            for name, hosts in HOSTS.items():
                if hosts.flows == flows:
                    cell = Cell(rate, rtt, name)
                    yield study.Cell(section, (f"{rate}", f"{rtt}"), partial(again, cell), cpu_s=0.02 * rate * rtt)
    planes = study.planes()
    section = f"On both planes (Linux {study.kernel_release()})" if len(planes) > 1 else "On both planes (Linux"
    page = study.page_of("threshold-hosts", STUDY).read_text(encoding="utf-8")
    recorded = {row[0]: int(row[1]) for kept in tables_of(page) if "K" in kept.heads[1:2] for row in kept.rows}
    for cell in BOTH:
        k = recorded[cell_title(cell)]
        yield study.Cell(
            section, (cell_title(cell), f"{k}"), lambda cell=cell, k=k: on_both({cell: k}, planes)[0], cpu_s=4
        )


def again(cell: Cell) -> Mapping[str, str]:
    """The answer of one search, as its row has it."""
    search = thresholds([cell], study.simulated())[cell]
    return {HOSTS[cell.hosts].title: f"{search.threshold:.0f}" + ("*" if search.against else "")}


STUDY = Study(
    title="The smallest threshold with real hosts",
    about="[real hosts](../real-hosts.md) says how, what\nthe numbers mean and what follows from them. "
    "K and C x RTT are in packets; * marks cells in which a larger K than the first answer failed",
    measure=measure,
    needs=("kernel",),
    takes="about eight minutes of a CPU",
    caption="Smallest threshold over the round trip at five rates, with ideal, segmenting, coalescing and paced hosts",
    cells=cells,
)
