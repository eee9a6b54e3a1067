"""Which views of a sweep say something."""

from __future__ import annotations

from shoal.plots.style import Drawn
from shoal.report.sweep_axes import SweptAxes
from shoal.report.sweep_heat import heat_maps
from shoal.report.sweep_lines import lines, most_lines
from shoal.report.sweep_views import pareto, ratios, scatter
from shoal.runs.rows import Rows


def draw(rows: Rows) -> list[Drawn]:
    """The views of a sweep: always one of all its numbers, others where its axes and metrics are such."""
    axes = SweptAxes.of(rows)
    if any(len(factor.keys) > 1 for factor in rows.plan.design.factors) and not axes.others_are_few(most_lines):
        views = [scatter(rows, axes)]
    else:
        heat = heat_maps(rows, axes)
        few = len(axes.lines()) <= most_lines
        views = [*([lines(rows, axes)] if few or heat is None else []), *([heat] if heat is not None else [])]
        if few and (ratio := ratios(rows, axes)) is not None:
            views.append(ratio)
    return [*views, *([front] if (front := pareto(rows, axes)) is not None else [])]
