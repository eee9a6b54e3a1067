"""Heat maps of tables."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from shoal import expression
from shoal.papers.panels import HeatMap
from shoal.papers.tables import Grid
from shoal.plots.heat import draw_heat


def draw(panel: HeatMap, axes: Axes, grid: Grid) -> pl.DataFrame:
    """Colour ``z`` over ``x`` and ``y``; with ``even`` all cells have the same size, wherever the values are."""
    x = sorted({expression.number(panel.x, row.values) for row in grid.rows})
    y = sorted({expression.number(panel.y, row.values) for row in grid.rows})
    z = np.full((len(y), len(x)), np.nan)
    for row in grid.rows:
        cell = y.index(expression.number(panel.y, row.values)), x.index(expression.number(panel.x, row.values))
        z[cell] = expression.number(panel.z, row.values)
    draw_heat(
        axes,
        x,
        y,
        z,
        label=panel.z_label,
        scale=panel.z_scale,
        span=panel.z_range,
        centre=panel.z_centre,
        even=panel.even,
        annotate=panel.annotate,
    )
    records = [
        {"source": "measured", "x": a, "y": b, "z": None if math.isnan(z[j, i]) else float(z[j, i])}
        for j, b in enumerate(y)
        for i, a in enumerate(x)
    ]
    return pl.DataFrame(records)
