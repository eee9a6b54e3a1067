#!/usr/bin/env python3
"""Five queues below a rate step: tables in Markdown on stdout, and the figure in docs/img/rate-step.png.

The scenarios in scenarios/rate-step, the same seeds on the simulator and on the kernel (`shoal linux build`). `make
rate-step-record` keeps both.
"""

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from shoal.linux.jobs import run_jobs_on_linux

import shoal
from shoal.cache import default_folder
from shoal.linux import find_image
from shoal.plots.path import windows_of
from shoal.plots.schedule import mark_changes
from shoal.plots.style import colour, dash, legend_of_figure, logarithmic, paper_style, to_png, two_columns
from shoal.runs.jobs import run_jobs
from shoal.tabulate import shown, step_tables

SEEDS = range(1, 6)
QUEUES = {
    "step": "Step marking",
    "pie": "PIE",
    "dual-red": "Dual RED",
    "coupled": "Coupled",
    "dualpi2": "DualPI2",
}
CLASSES = {"not_ect": "CUBIC", "ect": "DCTCP"}
IMAGE = Path(__file__).resolve().parent.parent / "docs" / "img" / "rate-step.png"


def main() -> None:
    """Run everything, print the tables and draw the figure."""
    image = find_image()
    scenarios = {name: shoal.Scenario.named(f"rate-step/{name}") for name in QUEUES}
    jobs = [(scenario, seed) for scenario in scenarios.values() for seed in SEEDS]
    # Kept with their tables: the figure needs those of the first seed.
    planes = {
        "simulator": run_jobs(jobs, cache=default_folder()),
        f"Linux {image.release}": run_jobs_on_linux(jobs, image=image, cache=default_folder()),
    }
    of = {
        (plane, name): [run for run, (scenario, _) in zip(runs, jobs, strict=True) if scenario is scenarios[name]]
        for plane, runs in planes.items()
        for name in QUEUES
    }
    seeds = f"Means of {len(SEEDS)} seeds ± 95 % confidence"
    for number, (from_to, what) in enumerate(
        {"100 → 20 Mbit/s at 20 s": "falls", "20 → 100 Mbit/s at 40 s": "rises"}.items()
    ):
        print(f"## The rate {what}: {from_to}\n\n{seeds}.\n")
        steps(list(planes), of, number)
    print(f"## The whole run\n\n{seeds}.\n")
    whole(list(planes), of)
    IMAGE.parent.mkdir(exist_ok=True)
    IMAGE.write_bytes(to_png(figure(list(planes), of)))


def steps(planes: list[str], of: dict[tuple[str, str], list[shoal.Result]], number: int) -> None:
    """One row a queue and plane: what followed a step."""
    heads = None
    for name, title in QUEUES.items():
        for plane in planes:
            (table,) = step_tables(of[plane, name])
            if heads is None:
                heads = table.columns[3:]
                print("| queue | on | " + " | ".join(heads) + " |\n|---|---|" + "--:|" * len(heads))
            print(f"| {title} | {plane} | " + " | ".join(table.rows[number][3:]) + " |")
    print()


def whole(planes: list[str], of: dict[tuple[str, str], list[shoal.Result]]) -> None:
    """One row a queue and plane: rates, delays and what was above the target in the whole measurement."""
    columns = {
        "capacity used": ("capacity_used",),
        "CUBIC: share": ("share", "cubic"),
        "CUBIC: delay P50": ("delay_ms", "not_ect", "p50"),
        "CUBIC: delay P99": ("delay_ms", "not_ect", "p99"),
        "DCTCP: delay P50": ("delay_ms", "ect", "p50"),
        "DCTCP: delay P99": ("delay_ms", "ect", "p99"),
        "bytes above 30 ms": ("above_target",),
        "power": ("power",),
    }
    print("| queue | on | " + " | ".join(columns) + " |\n|---|---|" + "--:|" * len(columns))
    for name, title in QUEUES.items():
        for plane in planes:
            cells = [shown(of[plane, name], *metric) for metric in columns.values()]
            print(f"| {title} | {plane} | " + " | ".join(cells) + " |")
    print()


def figure(planes: list[str], of: dict[tuple[str, str], list[shoal.Result]]) -> Figure:
    """Delay of packets over time: one row a queue, one column a plane; the first seed."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 1.35 * len(QUEUES) + 0.5))
        panels = drawn.subplots(len(QUEUES), len(planes), sharex=True, sharey=True, squeeze=False)
        for row, (name, title) in zip(panels, QUEUES.items(), strict=True):
            for axes, plane in zip(row, planes, strict=True):
                draw(axes, of[plane, name][0])
                axes.set_title(f"{title}, {plane}")
            row[0].set_ylabel("Delay [ms]")
        for axes in panels[-1]:
            axes.set(xlabel="Time [s]", xlim=(10, 60))
        panels[0][0].set_ylim(0.05, 500)
        logarithmic(panels[0][0].yaxis)
        legend_of_figure(drawn, list(panels.flat), columns=5)
        return drawn


def draw(axes: Axes, result: shoal.Result) -> None:
    """Median and 99th percentile of each class's queueing delay in windows of 100 ms, and when the rate changes."""
    rows = windows_of(result)
    for index, (word, label) in enumerate(CLASSES.items()):
        own = rows.filter(pl.col("class") == word)
        ends_s, paint = own["end_s"], colour(index)
        axes.plot(ends_s, own["p99_ms"], color=paint, linewidth=0.5, linestyle=dash(2), label=f"{label} P99")
        axes.plot(ends_s, own["p50_ms"], color=paint, linewidth=0.9, label=f"{label} P50")
    mark_changes(axes, result)


if __name__ == "__main__":
    main()
