#!/usr/bin/env python3
"""The smallest threshold of DCTCP with real hosts: tables in Markdown on stdout, and docs/img/threshold-hosts.png.

Searches on the simulator, and runs beside them on the kernel (`shoal linux build`), which the cache of sweeps keeps.
`make threshold-hosts-record` writes docs/threshold-hosts.md; docs/real-hosts.md says what follows.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from shoal.linux.jobs import run_jobs_on_linux
from threshold_search import (
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
    Found,
    Jobs,
    Run,
    predicted,
    rule,
    thresholds,
    varied,
)

import shoal
from shoal.cache import default_folder
from shoal.linux import find_image
from shoal.plots.style import colour, legend_of_figure, markers, paper_style, to_png, two_columns
from shoal.runs.jobs import run_jobs

IMAGE = Path(__file__).resolve().parent.parent / "docs" / "img" / "threshold-hosts.png"

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


def searched(flows: int, found: dict[Cell, Found]) -> None:
    """One row a rate and RTT, one column a kind of hosts."""
    names = [name for name, hosts in HOSTS.items() if hosts.flows == flows]
    heads = ["Gbit/s", "RTT, us", "C x RTT", "C x RTT / 7", *(HOSTS[name].title for name in names)]
    if flows == 1:
        heads += ["predicted for segments", "predicted with GRO"]
    print("| " + " | ".join(heads) + " |\n|" + "--:|" * len(heads))
    for rate, rtt in itertools.product(RATES_GBIT_S, RTTS_US):
        cells = [Cell(rate, rtt, name) for name in names]
        row = [str(rate), str(rtt), f"{cells[0].bdp:.1f}", f"{cells[0].fluid:.1f}"]
        row += [f"{found[cell].threshold:.0f}" + ("*" if found[cell].against else "") for cell in cells]
        if flows == 1:
            for gro in (False, True):
                value = predicted(cells[0], gro=gro)
                row.append("" if value is None else f"{value:.0f}")
        print("| " + " | ".join(row) + " |")
    print()


def errors(found: dict[Cell, Found]) -> None:
    """How far the prediction and the rule are from what was found, as factors."""
    print("| hosts | what | cells | least | median | most | worst below |\n|---|---|--:|--:|--:|--:|---|")
    for name, hosts in HOSTS.items():
        whats: dict[str, Callable[[Cell], float | None]] = {"C x RTT / 7": lambda cell: cell.fluid}
        if hosts.bursts and hosts.flows == 1:
            whats["C x RTT / 7 + E"] = partial(predicted, gro=hosts.waits_us(1) > 0)
        if hosts.bursts:
            whats["rule"] = rule
        for what, given in whats.items():
            factors = {}
            for cell, own in found.items():
                value = given(cell)
                if cell.hosts == name and value is not None:
                    factors[cell] = value / own.threshold
            worst = min(factors, key=lambda cell: factors[cell])
            values = sorted(factors.values())
            print(
                f"| {hosts.title}, {hosts.flows} | {what} | {len(values)} | {values[0]:.2f} | "
                f"{statistics.median(values):.2f} | {values[-1]:.2f} | {worst.rate} Gbit/s, {worst.rtt} us |"
            )
    print()


def waiting(run: Run) -> None:
    """Receivers that wait longer: what arrives meanwhile, what was found and the rule."""
    cells = [Cell(rate, rtt, name) for rate, rtt in PATHS_OF_WAITING for name in WAITING]
    found = thresholds(cells, run)
    print("| Gbit/s | RTT, us | interrupt after, us | arrives meanwhile | K | rule |\n|" + "--:|" * 6)
    for cell, own in found.items():
        waits_us = ALL_HOSTS[cell.hosts].waits_us(cell.rate)
        meanwhile = cell.rate * waits_us * 1e3 / (8 * WIRE_BYTES)
        row = (cell.rate, cell.rtt, waits_us, f"{meanwhile:.1f}", f"{own.threshold:.0f}{'*' * bool(own.against)}")
        print(f"| {' | '.join(map(str, row))} | {rule(cell):.0f} |")
    print()


def choices(run: Run) -> None:
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
    print("| K | cells | below 99 % | least utilisation | there |\n|---|--:|--:|--:|---|")
    cells = [
        Cell(rate, rtt, name)
        for rate, rtt, (name, hosts) in itertools.product(RATES_GBIT_S, RTTS_US, HOSTS.items())
        if hosts.bursts
    ]
    for title, value in ways.items():
        own = [cell for cell in cells if value(cell)]
        jobs = [(cell.scenario(max(1, round(value(cell)))), seed) for cell in own for seed in RTT_OF_SEED]
        results = varied(run, jobs, "")
        used = {
            cell: statistics.fmean(run.bottlenecks[0]["utilisation"] for run in results[n * SEEDS : (n + 1) * SEEDS])
            for n, cell in enumerate(own)
        }
        least = min(used, key=lambda cell: used[cell])
        below = sum(part < 0.99 for part in used.values())
        print(f"| {title} | {len(own)} | {below} | {100 * used[least]:.1f} % | {place(least)} |")
    print()


def place(cell: Cell) -> str:
    """A cell in words."""
    hosts = ALL_HOSTS[cell.hosts]
    return f"{cell.rate} Gbit/s, {cell.rtt} us, {hosts.title}, {hosts.flows} flow" + "s" * (hosts.flows > 1)


def on_both(found: dict[Cell, Found], planes: dict[str, Run]) -> None:
    """Utilisation below, at and above what was found, on both planes, from the start that the kernel has."""
    cells = [Cell(rate, rtt, name) for rate, rtt in PATHS_ON_BOTH for name in ON_BOTH]
    points = [(cell, max(1, round(times * found[cell].threshold))) for cell in cells for times in BESIDE]
    jobs = [(cell.scenario(value, start=False), seed) for cell, value in points for seed in RTT_OF_SEED]
    used = {plane: [link["utilisation"] for run in varied(one, jobs, "") for link in run.bottlenecks[:1]]
            for plane, one in planes.items()}  # fmt: skip
    heads = [f"{plane}, {times:g} K" for times in BESIDE for plane in planes]
    print("| cell | K | " + " | ".join(heads) + " |\n|---|--:|" + "--:|" * len(heads))
    for number, cell in enumerate(cells):
        row = []
        for point in range(number * len(BESIDE), (number + 1) * len(BESIDE)):
            row += [f"{100 * statistics.fmean(of[point * SEEDS : (point + 1) * SEEDS]):.1f} %" for of in used.values()]
        print(f"| {place(cell)} | {found[cell].threshold:.0f} | " + " | ".join(row) + " |")
    print()


def figure(found: dict[Cell, Found]) -> Figure:
    """K over RTT, one panel a rate, and the rule beside what was found."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 4.6))
        panels = list(drawn.subplots(2, 3).flat)
        for axes, rate in zip(panels, RATES_GBIT_S, strict=False):
            draw_rate(axes, found, rate)
        draw_rule(panels[-1], found)
        panels[0].set_ylabel("Smallest K [packets]")
        panels[3].set_ylabel("Smallest K [packets]")
        legend_of_figure(drawn, panels[:2], columns=4)
        return drawn


def draw_rate(axes: Axes, found: dict[Cell, Found], rate: int) -> None:
    """All hosts at one rate: filled for one flow, open for two."""
    for name, hosts in HOSTS.items():
        paint, shape = look(name)
        axes.plot(
            RTTS_US,
            [found[Cell(rate, rtt, name)].threshold for rtt in RTTS_US],
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


def draw_rule(axes: Axes, found: dict[Cell, Found]) -> None:
    """The rule against what was found, in all cells whose hosts burst."""
    for name, hosts in HOSTS.items():
        if hosts.bursts:
            paint, shape = look(name)
            own = [cell for cell in found if cell.hosts == name]
            axes.plot(
                [found[cell].threshold for cell in own],
                [rule(cell) for cell in own],
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


def main() -> None:
    """Search everything, print the tables and draw the figure."""
    image = find_image()

    def simulated(jobs: Jobs) -> list[shoal.Result]:
        return run_jobs(jobs, cache=default_folder())

    def on_linux(jobs: Jobs) -> list[shoal.Result]:
        return run_jobs_on_linux(jobs, image=image, cache=default_folder())

    cells = [Cell(rate, rtt, name) for rate, rtt, name in itertools.product(RATES_GBIT_S, RTTS_US, HOSTS)]
    found = thresholds(cells, simulated)
    print("## One flow\n")
    searched(1, found)
    print("## Two flows\n")
    searched(2, found)
    print("## One flow whose receiver waits\n")
    waiting(simulated)
    print("## Prediction and rule, over what was found\n")
    errors(found)
    print("## Thresholds that are set once\n")
    choices(simulated)
    print(f"## On both planes (Linux {image.release})\n")
    on_both(found, {"simulator": simulated, "Linux": on_linux})
    IMAGE.parent.mkdir(exist_ok=True)
    IMAGE.write_bytes(to_png(figure(found)))


if __name__ == "__main__":
    main()
