"""Heat maps: numbers as colours over two axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def draw_heat(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    z: Numbers,
    *,
    label: str = "",
    scale: Literal["linear", "log"] = "linear",
    span: tuple[float, float] | None = None,
    centre: float | None = None,
    even: bool = False,
    annotate: str | None = None,
    links: np.ndarray[Any, np.dtype[np.object_]] | None = None,
    bar: bool = True,
) -> QuadMesh:
    """Colour ``z`` (one row a ``y``, NaN where there is none) over ``x`` and ``y``.

    Parameters
    ----------
    axes
        Where to draw.
    x, y
        Values of the axes, rising.
    z
        The numbers.
    label
        Label of the bar of colours.
    scale
        Range of the colours.
    span
        Numbers with the first and the last colour; the smallest and largest if not given.
    centre
        A number from which colours go to one hue and to another.
    even
        All cells have the same size, wherever the values are.
    annotate
        How numbers are written into the cells, as in ``.2f``.
    links
        Where each cell leads to in an SVG, relative to its folder; empty where it leads nowhere. Needs ``even``.
    bar
        Whether a bar of colours stands beside it.

    Returns
    -------
    QuadMesh
        What a bar of colours for several of them is made of.
    """
    norm = _norm(z, scale, span, centre)
    # Evenly spaced in lightness for any colour vision, and in print; around a centre from one hue to another.
    colours = colormaps["cividis" if centre is None else "PuOr_r"]
    places = (np.arange(len(x)), np.arange(len(y))) if even else (x, y)
    mesh = axes.pcolormesh(*places, z, cmap=colours, norm=norm, shading="nearest", rasterized=True)
    if bar:
        draw_bar([axes], mesh, label)
    if even:
        axes.set_xticks(np.arange(len(x)), [f"{value:g}" for value in x])
        axes.set_yticks(np.arange(len(y)), [f"{value:g}" for value in y])
    axes.grid(visible=False)
    if annotate is not None:
        _annotate(axes, places, z, annotate, colours, norm)
    if links is not None:
        for (j, i), link in np.ndenumerate(links):
            if link:
                axes.add_patch(Rectangle((i - 0.5, j - 0.5), 1, 1, alpha=0, url=link))
    return mesh


def draw_bar(panels: Sequence[Axes], mesh: QuadMesh, label: str) -> None:
    """Draw the bar of colours of some panels."""
    bar = panels[0].figure.colorbar(mesh, ax=panels, label=label, shrink=1.0 if len(panels) == 1 else 0.6)
    bar.outline.set_linewidth(0.4)
    if isinstance(mesh.norm, LogNorm):
        # A bar of less than two decades has numbers between them as well.
        low, high = mesh.get_clim()
        is_short = low is not None and high is not None and high < 100 * low
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        bar.ax.yaxis.set_minor_formatter(FuncFormatter(_few) if is_short else NullFormatter())


def _few(value: float, _: object) -> str:
    """2 and 5 in each decade, as 1 is written there already."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _norm(z: Numbers, scale: str, span: tuple[float, float] | None, centre: float | None) -> Normalize:
    """From numbers to colours. A logarithmic centre is the middle of a symmetric range."""
    known = z[~np.isnan(z)]
    low, high = span or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
    if scale == "log":
        # What is not above zero has the first colour; where nothing is, a decade is as good as any range.
        above = known[known > 0]
        low = low if low > 0 else float(above.min()) if len(above) else 0.1
        high = max(high, low)
        if centre is not None:
            reach = max(high / centre, centre / low, 1.1)
            low, high = centre / reach, centre * reach
        return LogNorm(low, max(high, 1.01 * low), clip=True)
    if centre is not None and low < centre < high:
        return TwoSlopeNorm(centre, low, high)
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
