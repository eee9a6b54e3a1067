"""Plots of a paper's figure with one bar a row."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from shoal import expression
from shoal.papers.panels import Plot
from shoal.papers.tables import Grid
from shoal.plots.style import colour


def bars(panel: Plot, axes: Axes, grid: Grid) -> pl.DataFrame:
    """``x`` as bars from the top, in the order of the rows, named by the text ``y``: an expression such as ``case``."""
    names = [str(expression.evaluate(panel.y, row.values)) for row in grid.rows]
    values = [expression.number(panel.x, row.values) for row in grid.rows]
    widths = [row.half_width.get(panel.x) for row in grid.rows]
    heights = list(range(len(names)))
    axes.barh(heights, values, height=0.7, color=colour(0), xerr=[w or 0.0 for w in widths], ecolor="#222222")
    for height, value in zip(heights, values, strict=True):
        axes.annotate(
            f"{value:.3g}", (value, height), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.set_yticks(heights, names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.1)
    axes.set_xlim(left=0)
    return pl.DataFrame(
        {"source": "measured", "series": names, "x": values, "y": [None] * len(names), "x_ci95": widths},
        schema_overrides={"y": pl.Float64, "x_ci95": pl.Float64},
    )
