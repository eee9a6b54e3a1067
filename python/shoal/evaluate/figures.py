"""Figures of an experiment: each is made of its table."""

from __future__ import annotations

from shoal.evaluate.evaluation import Outcome
from shoal.plots import Drawn, tradeoff
from shoal.report.sweep_axes import SweptAxes
from shoal.report.sweep_lines import lines
from shoal.runs.rows import Rows

# The table has the other metrics.
_most_panels = 4
_note = "Bands are 95 % confidence intervals; the table has the other columns"


def figure_of(outcome: Outcome) -> Drawn | None:
    """Delay against goodput, or all metrics over the axis of an experiment; ``None`` if its table says everything."""
    rows, experiment = outcome.rows, outcome.experiment
    title = f"Section {outcome.clause.number}: {experiment.title}"
    if rows is None or rows.failed:
        return None
    if experiment.tradeoff is not None and not experiment.axes:
        x, y = experiment.tradeoff
        return tradeoff.draw(outcome.key, title, _runs(outcome, rows, x, y), x=x, y=y)
    if len(experiment.axes) == 1 and len(experiment.axes[0].rows) > 1:
        axes = SweptAxes.of(rows, naming=outcome.name)
        drawn = lines(rows, axes, most=_most_panels)
        return Drawn(outcome.key, title, drawn.figure, drawn.data, _note)
    return None


def _runs(outcome: Outcome, rows: Rows, x: str, y: str) -> dict[str, list[tuple[float, float]]]:
    def pairs(point: int) -> list[tuple[float, float]]:
        columns = (rows.series(point, rows.plan.metrics[name]) for name in (x, y))
        return [(a, b) for a, b in zip(*columns, strict=True) if a is not None and b is not None]

    return {outcome.name(rows[point]): pairs(point) for point in range(len(rows))}
