"""Figures of an experiment: each is made of its table."""

from __future__ import annotations

from shoal.evaluate.evaluation import Outcome
from shoal.evaluate.model import QUANTILES
from shoal.plots import Drawn, curves, tradeoff
from shoal.report.sweep_axes import SweptAxes
from shoal.report.sweep_lines import lines
from shoal.runs.rows import Rows
from shoal.stats import Estimate

# The table has the other metrics.
_most_panels = 4
_note = "Bands are 95 % confidence intervals; the table has the other columns"


def figures_of(outcome: Outcome) -> list[Drawn]:
    """Delay against goodput, distributions, or metrics over the axis; none if the table says everything."""
    rows, experiment = outcome.rows, outcome.experiment
    title = f"Section {outcome.clause.number}: {experiment.title}"
    if rows is None or rows.failed:
        return []
    drawn = []
    if experiment.tradeoff is not None and not experiment.axes:
        x, y = experiment.tradeoff
        drawn.append(tradeoff.draw(outcome.key, title, _runs(outcome, rows, x, y), x=x, y=y))
    if experiment.curves and not experiment.axes:
        panels = {name: _curves(outcome, rows, name) for name in experiment.curves}
        drawn.append(curves.draw(f"{outcome.key}-distributions", f"{title}: distributions", panels))
    if len(experiment.axes) == 1 and len(experiment.axes[0].rows) > 1:
        axes = SweptAxes.of(rows, naming=outcome.line)
        over = lines(rows, axes, most=_most_panels)
        drawn.append(Drawn(outcome.key, title, over.figure, over.data, _note))
    return drawn


def _runs(outcome: Outcome, rows: Rows, x: str, y: str) -> dict[str, list[tuple[float, float]]]:
    def pairs(point: int) -> list[tuple[float, float]]:
        columns = (outcome.series(point, name) for name in (x, y))
        return [(a, b) for a, b in zip(*columns, strict=True) if a is not None and b is not None]

    return {outcome.name(rows[point]): pairs(point) for point in range(len(rows))}


def _curves(outcome: Outcome, rows: Rows, name: str) -> dict[str, list[tuple[float, float]]]:
    """For each contender the quantiles of a distribution, means over the runs, and the parts that they bound."""

    def curve(point: int) -> list[tuple[float, float]]:
        cells = {part: outcome.cell(point, f"{name} {quantile}") for quantile, part in QUANTILES.items()}
        return [(cell.mean, part) for part, cell in cells.items() if isinstance(cell, Estimate)]

    return {outcome.name(rows[point]): curve(point) for point in range(len(rows))}
