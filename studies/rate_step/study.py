"""Five queues below a rate step: the scenarios in scenarios/rate-step, the same seeds on both planes."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import shoal
from shoal.plots.path import windows_of
from shoal.plots.schedule import mark_changes
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, dash, legend_of_figure, logarithmic, paper_style
from shoal.tabulate import shown, step_tables
from shoal_dev.study import Cell, Run, Study, kernel_release, on_linux, planes, simulated
from shoal_dev.tables import table

SEEDS = range(1, 6)
QUEUES = {
    "step": "Step marking",
    "pie": "PIE",
    "dual-red": "Dual RED",
    "coupled": "Coupled",
    "dualpi2": "DualPI2",
}
CLASSES = {"not_ect": "CUBIC", "ect": "DCTCP"}
STEPS = ("The rate falls: 100 → 20 Mbit/s at 20 s", "The rate rises: 20 → 100 Mbit/s at 40 s")
WHOLE = "The whole run"
COLUMNS = {
    "capacity used": ("capacity_used",),
    "CUBIC: share": ("share", "cubic"),
    "CUBIC: delay P50": ("delay_ms", "not_ect", "p50"),
    "CUBIC: delay P99": ("delay_ms", "not_ect", "p99"),
    "DCTCP: delay P50": ("delay_ms", "ect", "p50"),
    "DCTCP: delay P99": ("delay_ms", "ect", "p99"),
    "bytes above 30 ms": ("above_target",),
    "power": ("power",),
}
# The runs of a plane and a queue.
Runs = Mapping[tuple[str, str], Sequence[shoal.Result]]


def runs(name: str, run: Run) -> list[shoal.Result]:
    """All seeds of a queue."""
    scenario = shoal.Scenario.named(f"rate-step/{name}")
    return run([(scenario, seed) for seed in SEEDS])


def step_row(results: Sequence[shoal.Result], number: int) -> dict[str, str]:
    """What followed a step, by the titles of columns."""
    (steps,) = step_tables(results)
    return dict(zip(steps.columns[3:], steps.rows[number][3:], strict=True))


def whole_row(results: Sequence[shoal.Result]) -> dict[str, str]:
    """Rates, delays and what was above the target in the whole measurement."""
    return {title: shown(results, *metric) for title, metric in COLUMNS.items()}


def measure() -> Iterator[str | Figure]:
    """A table a step and one of the whole run, with a row a queue and plane; and the figure."""
    # Kept with their tables: the figure needs those of the first seed.
    both = {"simulator": simulated(tables=True), f"Linux {kernel_release()}": on_linux(tables=True)}
    of = {(plane, name): runs(name, run) for name in QUEUES for plane, run in both.items()}
    seeds = f"Means of {len(SEEDS)} seeds ± 95 % confidence."
    for number, section in enumerate((*STEPS, WHOLE)):
        rows = {key: step_row(of[key], number) if section in STEPS else whole_row(of[key]) for key in of}
        heads = ("queue", "on", *next(iter(rows.values())))
        yield f"## {section}"
        yield seeds
        yield table(heads, [(QUEUES[name], plane, *row.values()) for (plane, name), row in rows.items()], "llr")
    yield figure(list(both), of)


def cells() -> Iterator[Cell]:
    """Every row of a queue."""
    for plane, run in planes().items():
        on = plane if plane == "simulator" else f"Linux {kernel_release()}"
        for name, title in QUEUES.items():
            for number, section in enumerate(STEPS):
                yield Cell(section, (title, on), lambda n=name, r=run, k=number: step_row(runs(n, r), k), cpu_s=4)
            yield Cell(WHOLE, (title, on), lambda n=name, r=run: whole_row(runs(n, r)), cpu_s=4)


def figure(planes: Sequence[str], of: Runs) -> Figure:
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
        windows = rows.filter(pl.col("class") == word)
        ends_s, paint = windows["end_s"], colour(index)
        axes.plot(ends_s, windows["p99_ms"], color=paint, linewidth=0.5, linestyle=dash(2), label=f"{label} P99")
        axes.plot(ends_s, windows["p50_ms"], color=paint, linewidth=0.9, label=f"{label} P50")
    mark_changes(axes, result)


STUDY = Study(
    title="Five queues below a rate step",
    about="[links that change](../moving-links.md) says what\nthe numbers mean and what follows from them",
    measure=measure,
    needs=("kernel",),
    takes="about ten minutes",
    caption="Queueing delay of CUBIC and DCTCP over time below five queues, on the simulator and on Linux",
    cells=cells,
)
