"""Metrics of a sweep as lines over one of its axes, with bands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from shoal._toml import as_text
from shoal.plots.sizes import columns_that_fit, new_figure
from shoal.plots.style import Drawn, colour, dash, legend_of_figure, logarithmic_if_wide, marker, paper_style
from shoal.report.sweep_axes import SweptAxes
from shoal.runs.rows import Rows
from shoal.stats import Estimate

# More lines than colours cannot be told apart.
most_lines = 7


def lines(rows: Rows, axes: SweptAxes, *, most: int | None = None) -> Drawn:
    """One panel a metric, over the axis with the most numbers; one line for each combination of the others.

    ``most`` is how many metrics are shown at most, the first ones; all if not given.

    Bands are 95 % confidence intervals over the seeds.
    """
    metrics = dict(itertools.islice(rows.plan.metrics.items(), most))
    columns = columns_that_fit(min(2, len(metrics)))
    count = math.ceil(len(metrics) / columns)
    records: list[dict[str, object]] = []
    with paper_style():
        figure = new_figure(2.1 * count + 0.4)
        panels = list(figure.subplots(count, columns, squeeze=False).flat)
        for spare in panels[len(metrics) :]:
            spare.set_visible(False)
        for panel, (name, text) in zip(panels, metrics.items(), strict=False):
            for number, (label, points) in enumerate(axes.lines().items()):
                cells = [rows.cell(point_index, text) for point_index in points]
                means = [cell if isinstance(cell, Estimate) else None for cell in cells]
                draw_line(panel, axes.positions(axes.main, points), means, number, label)
                records += records_of(name, label, [rows[point_index][axes.main] for point_index in points], means)
            dress(panel, axes, axes.main, name)
        if axes.others:
            legend_of_figure(figure, panels[:1], columnspacing=1.3)
    return Drawn("sweep", "Metrics over the swept values", figure, frame(records))


def draw_line(axes: Axes, x: Sequence[float], estimates: Sequence[Estimate | None], number: int, label: str) -> None:
    """A line with the band of its confidence intervals."""
    known = sorted((at, value) for at, value in zip(x, estimates, strict=True) if value is not None)
    positions, means = [at for at, _ in known], [value.mean for _, value in known]
    style: dict[str, Any] = {
        "color": colour(number),
        "linestyle": dash(number),
        "marker": marker(number) if len(positions) <= 60 else "",
        "label": label or None,
    }
    axes.plot(positions, means, **style)
    widths = [value.half_width or 0.0 for _, value in known]
    if any(widths):
        low = [mean - width for mean, width in zip(means, widths, strict=True)]
        high = [mean + width for mean, width in zip(means, widths, strict=True)]
        axes.fill_between(positions, low, high, color=colour(number), alpha=0.18, linewidth=0)


def records_of(
    metric: str, series: str, values: Sequence[object], estimates: Sequence[Estimate | None]
) -> list[dict[str, object]]:
    """Rows of what a figure with lines shows."""
    return [
        {
            "metric": metric,
            "series": series,
            "x": as_text(value),
            "mean": None if estimate is None else estimate.mean,
            "ci95": None if estimate is None else estimate.half_width,
        }
        for value, estimate in zip(values, estimates, strict=True)
    ]


def frame(records: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """What a figure with lines shows."""
    schema = {"metric": pl.String, "series": pl.String, "x": pl.String, "mean": pl.Float64, "ci95": pl.Float64}
    return pl.DataFrame(records, schema=schema)


def dress(panel: Axes, axes: SweptAxes, key: str, label: str) -> None:
    """Label a panel over an axis, with words where its values are no numbers."""
    panel.set(xlabel=axes.label(key), ylabel=label)
    values = axes.values[key]
    if not axes.is_numeric(key):
        panel.set_xticks(range(len(values)), [as_text(value) for value in values])
    else:
        logarithmic_if_wide(panel.xaxis, (axes.number(key, value) for value in values))
