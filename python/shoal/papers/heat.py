"""Heat maps of tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.ticker import FuncFormatter, NullFormatter

from shoal import expression
from shoal.papers.panels import HeatMap
from shoal.papers.tables import Grid


def draw(panel: HeatMap, axes: Axes, grid: Grid) -> pl.DataFrame:
    """Colour ``z`` over ``x`` and ``y``; with ``even`` all cells have the same size, wherever the values are."""
    x = sorted({expression.number(panel.x, row.values) for row in grid.rows})
    y = sorted({expression.number(panel.y, row.values) for row in grid.rows})
    z = np.full((len(y), len(x)), np.nan)
    for row in grid.rows:
        place = y.index(expression.number(panel.y, row.values)), x.index(expression.number(panel.x, row.values))
        z[place] = expression.number(panel.z, row.values)
    norm = _norm(panel, z)
    # Evenly spaced in lightness for any colour vision, and in print; around a centre from one hue to another.
    colours = colormaps["cividis" if panel.z_centre is None else "PuOr_r"]
    places = (np.arange(len(x)), np.arange(len(y))) if panel.even else (x, y)
    mesh = axes.pcolormesh(*places, z, cmap=colours, norm=norm, shading="nearest", rasterized=True)
    bar = axes.figure.colorbar(mesh, ax=axes, label=panel.z_label)
    bar.outline.set_linewidth(0.4)
    if panel.z_scale == "log":
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    if panel.even:
        axes.set_xticks(np.arange(len(x)), [f"{value:g}" for value in x])
        axes.set_yticks(np.arange(len(y)), [f"{value:g}" for value in y])
    axes.grid(visible=False)
    if panel.annotate is not None:
        _annotate(axes, places, z, panel.annotate, colours, norm)
    records = [
        {"source": "measured", "x": a, "y": b, "z": None if math.isnan(z[j, i]) else float(z[j, i])}
        for j, b in enumerate(y)
        for i, a in enumerate(x)
    ]
    return pl.DataFrame(records)


def _norm(panel: HeatMap, z: np.ndarray[Any, np.dtype[np.float64]]) -> Normalize:
    """From numbers to colours. A logarithmic centre is the middle of a symmetric range."""
    known = z[~np.isnan(z)]
    low, high = panel.z_range or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
    if panel.z_scale == "log":
        if panel.z_centre is not None:
            reach = max(high / panel.z_centre, panel.z_centre / low)
            low, high = panel.z_centre / reach, panel.z_centre * reach
        return LogNorm(low, high, clip=True)
    if panel.z_centre is not None and low < panel.z_centre < high:
        return TwoSlopeNorm(panel.z_centre, low, high)
    return Normalize(low, high, clip=True)


def _annotate(
    axes: Axes,
    places: tuple[Sequence[float] | np.ndarray[Any, Any], Sequence[float] | np.ndarray[Any, Any]],
    z: np.ndarray[Any, np.dtype[np.float64]],
    form: str,
    colours: Any,
    norm: Normalize,
) -> None:
    size = 6.0 if len(places[0]) <= 7 else 4.6
    for j, b in enumerate(places[1]):
        for i, a in enumerate(places[0]):
            if math.isnan(z[j, i]):
                continue
            red, green, blue, _ = colours(norm(z[j, i]))
            # Relative luminance (ITU-R BT.709): dark text on light ground.
            dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45
            text = format(z[j, i], form)
            axes.text(a, b, text, ha="center", va="center", fontsize=size, color="#000000" if dark else "#ffffff")
