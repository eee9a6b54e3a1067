"""Who starves whom: the shipped sweep `safety-map`, as a figure and by its extremes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import cast

from shoal.plots.style import Drawn, PlainFigure
from shoal.report.sweep_axes import SweptAxes, brief
from shoal.report.sweep_heat import heat_maps
from shoal.runs.execute import run_plan
from shoal.runs.plan import Plan
from shoal.runs.rows import Rows
from shoal.stats import Estimate
from shoal.sweeps.file import read_sweep
from shoal_dev import ROOT
from shoal_dev.study import Cell, Study
from shoal_dev.tables import table

QUEUE, CONTROLLER = "bottleneck.aqm", "flows.scalable.cc"
# A flow with less than a tenth of the other's rate is starved; up to twice the rate passes as fair.
STARVED, FAIR = 10.0, 2.0
HEADS = ("queue", "scalable", "lowest", "highest", "fair", "starves CUBIC", "is starved")


def plan() -> Plan:
    """The shipped sweep."""
    return read_sweep(ROOT / "sweeps" / "safety-map.toml").plan


def sweep(only: Mapping[str, object] = MappingProxyType({})) -> Rows:
    """The results of the sweep; with `only` at the points that have these values of an axis."""
    whole = plan()
    factors = [
        replace(factor, rows=[row for row in factor.rows if only.get(factor.keys[0], row[0]) == row[0]])
        for factor in whole.design.factors
    ]
    return run_plan(replace(whole, design=replace(whole.design, factors=tuple(factors))))


def line(rows: Rows, points: list[int]) -> dict[str, str]:
    """Extremes of the ratio at some points, and at how many it is fair or starves a flow, by the titles of columns."""
    cells = [rows.cell(point_index, rows.plan.metrics["ratio"]) for point_index in points]
    ratios = [cast("Estimate", cell).mean for cell in cells]
    counts = (
        sum(1 / FAIR <= ratio <= FAIR for ratio in ratios),
        sum(ratio > STARVED for ratio in ratios),
        sum(ratio < 1 / STARVED for ratio in ratios),
    )
    values = (f"{min(ratios):.2g}", f"{max(ratios):.2g}", *(f"{count} of {len(ratios)}" for count in counts))
    return dict(zip(HEADS[2:], values, strict=True))


def lines(rows: Rows) -> dict[tuple[str, str], dict[str, str]]:
    """A line for each queue and controller."""
    points: dict[tuple[str, str], list[int]] = {}
    for point_index in range(len(rows)):
        values = rows[point_index]
        points.setdefault((brief(values[QUEUE]), brief(values[CONTROLLER])), []).append(point_index)
    return {key: line(rows, numbers) for key, numbers in points.items()}


def measure() -> Iterator[str | PlainFigure]:
    """The extremes behind each queue, and the map."""
    rows = sweep()
    yield (
        f"Ratios of the scalable flow's rate to CUBIC's at {len(rows)} points, each the mean of {rows.plan.seeds} "
        f"seeds. Up to {FAIR:.0f} times the other's rate counts as fair; beyond {STARVED:.0f} times the other one is "
        "starved. CUBIC runs without ECN. Behind DualPI2 the cells at 4 Mbit/s and up to 20 ms are those where the "
        "kernel has other shares, by up to 11 points, as its receivers acknowledge Prague's small packets in pairs "
        "([L4S](../l4s.md#on-the-kernel)): that Prague gets little there is so on both planes, where it is starved is "
        "not."
    )
    yield table(HEADS, [(*key, *cells.values()) for key, cells in lines(rows).items()], "llr")
    yield cast("Drawn", heat_maps(rows, SweptAxes.of(rows))).figure


def again(queue: object, controller: object) -> Mapping[str, str]:
    """A line of the table, measured."""
    return next(iter(lines(sweep({QUEUE: queue, CONTROLLER: controller})).values()))


def cells() -> Iterator[Cell]:
    """Every queue and controller."""
    factors = {factor.keys[0]: [row[0] for row in factor.rows] for factor in plan().design.factors}
    for queue in factors[QUEUE]:
        for controller in factors[CONTROLLER]:
            yield Cell("", (brief(queue), str(controller)), partial(again, queue, controller), cpu_s=20)


STUDY = Study(
    title="Who starves whom",
    about="`shoal sweep safety-map --out DIR` makes the same map, each cell of which leads to its scenario",
    measure=measure,
    takes="about four minutes of a CPU",
    caption="Rate of a scalable flow over CUBIC's, behind six queues, over rate and round trip",
    cells=cells,
)
