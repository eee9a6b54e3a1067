"""Delay against goodput, one point a run, with an ellipse for what runs scatter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, legend_above, marker, paper_style

_least_for_ellipse = 3


def draw(name: str, title: str, runs: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str) -> Drawn:
    """Draw runs of several contenders.

    Parameters
    ----------
    name, title
        What the figure is called, and what it shows.
    runs
        For each contender its runs: delay and goodput.
    x, y
        Labels of the axes, with units.

    Notes
    -----
    The ellipse is the curve of one standard deviation of the bivariate normal distribution with the largest likelihood
    (RFC 7928, section 2.7, https://www.rfc-editor.org/rfc/rfc7928#section-2.7): mean and covariance over the runs,
    divided by their number. The large marker is the median of both.
    """
    with paper_style():
        figure = new_figure(2.7)
        axes = figure.subplots()
        for number, (contender, points) in enumerate(runs.items()):
            _scatter(axes, contender, np.asarray(points, dtype=float).reshape(-1, 2), number)
        axes.set(xlabel=x, ylabel=y)
        legend_above(axes)
    records = [
        {"contender": contender, "run": run, x: point[0], y: point[1]}
        for contender, points in runs.items()
        for run, point in enumerate(points, start=1)
    ]
    note = "A small point is a run, a large one their median; ellipses are of one standard deviation"
    return Drawn(name, title, figure, pl.DataFrame(records), note)


def _scatter(axes: Axes, contender: str, points: np.ndarray, number: int) -> None:
    shade = colour(number)
    axes.plot(points[:, 0], points[:, 1], ".", color=shade, alpha=0.5, markersize=4)
    middle = np.median(points, axis=0)
    axes.plot(*middle, marker(number), color=shade, markersize=7, linestyle="none", label=contender)
    if len(points) < _least_for_ellipse:
        return
    width, height, angle = ellipse_of(points)
    axes.add_patch(Ellipse(tuple(points.mean(axis=0)), width, height, angle=angle, fill=False, color=shade))


def ellipse_of(points: np.ndarray) -> tuple[float, float, float]:
    """Give the diameters of the ellipse of one standard deviation, and the angle of the first one in degrees."""
    values, vectors = np.linalg.eigh(np.cov(points, rowvar=False, bias=True))
    first, second = 2 * np.sqrt(np.maximum(values[::-1], 0.0))
    along = vectors[:, -1]
    return float(first), float(second), float(np.degrees(np.arctan2(along[1], along[0])))
