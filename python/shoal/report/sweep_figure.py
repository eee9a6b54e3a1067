"""Metrics over the swept values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shoal.plots.style import (
    Drawn,
    colour,
    dash,
    legend_of_figure,
    logarithmic_if_wide,
    marker,
    paper_style,
    two_columns,
)
from shoal.sweeps import as_text, short_names

if TYPE_CHECKING:
    from shoal.sweeps import Point, Sweep


def draw(sweep: Sweep, metrics: Mapping[str, str]) -> Drawn:
    """One panel a metric, over the axis with the most numbers; one line for each combination of the others.

    Bands are 95 % confidence intervals over the seeds.
    """
    keys = list(sweep[0].values)
    axis = max(keys, key=lambda key: (_is_numeric(sweep, key), len(_values(sweep, key))))
    labels = short_names(keys)
    others = [key for key in keys if key != axis]
    columns = min(2, len(metrics))
    rows = math.ceil(len(metrics) / columns)
    records: list[dict[str, object]] = []
    with paper_style():
        figure = Figure(figsize=(two_columns, 2.1 * rows + 0.4))
        places = list(figure.subplots(rows, columns, squeeze=False).flat)
        for spare in places[len(metrics) :]:
            spare.set_visible(False)
        for place, (name, text) in zip(places, metrics.items(), strict=False):
            for number, (label, points) in enumerate(_lines(sweep, others, labels)):
                records += _line(place, points, axis, text, number, label, name)
            _dress(place, sweep, axis, f"{labels[axis]}{_unit(sweep, axis)}", name)
        if others:
            legend_of_figure(figure, places[:1], columnspacing=1.3)
    schema = {"metric": pl.String, "series": pl.String, "x": pl.String, "mean": pl.Float64, "ci95": pl.Float64}
    return Drawn("sweep", "Metrics over the swept values", figure, pl.DataFrame(records, schema=schema))


def _lines(sweep: Sweep, others: Sequence[str], labels: Mapping[str, str]) -> list[tuple[str, list[Point]]]:
    found: dict[str, list[Point]] = {}
    for point in sweep:
        label = ", ".join(f"{labels[key]} = {as_text(point.values[key])}" for key in others)
        found.setdefault(label, []).append(point)
    return list(found.items())


def _line(
    axes: Axes, points: Sequence[Point], axis: str, text: str, number: int, label: str, name: str
) -> list[dict[str, object]]:
    values = [point.values[axis] for point in points]
    numbers = [_number(value) for value in values]
    x = [float(n) if math.isnan(value) else value for n, value in enumerate(numbers)]
    order = sorted(range(len(points)), key=lambda n: x[n])
    estimates = [points[n].estimate(text, undefined=lambda _: None) for n in order]
    known = [(x[n], value) for n, value in zip(order, estimates, strict=True) if value is not None]
    places, means = [place for place, _ in known], [value.mean for _, value in known]
    style: dict[str, Any] = {
        "color": colour(number),
        "linestyle": dash(number),
        "marker": marker(number),
        "label": label or None,
    }
    axes.plot(places, means, **style)
    widths = [value.half_width or 0.0 for _, value in known]
    if any(widths):
        low = [mean - width for mean, width in zip(means, widths, strict=True)]
        high = [mean + width for mean, width in zip(means, widths, strict=True)]
        axes.fill_between(places, low, high, color=colour(number), alpha=0.18, linewidth=0)
    return [
        {
            "metric": name,
            "series": label,
            "x": as_text(values[n]),
            "mean": None if value is None else value.mean,
            "ci95": None if value is None else value.half_width,
        }
        for n, value in zip(order, estimates, strict=True)
    ]


def _dress(axes: Axes, sweep: Sweep, axis: str, x_label: str, y_label: str) -> None:
    axes.set(xlabel=x_label, ylabel=y_label)
    values = _values(sweep, axis)
    if not _is_numeric(sweep, axis):
        axes.set_xticks(range(len(values)), [as_text(value) for value in values])
    else:
        logarithmic_if_wide(axes.xaxis, map(_number, values))


def _values(sweep: Sweep, key: str) -> list[object]:
    seen: list[object] = []
    for point in sweep:
        if point.values[key] not in seen:
            seen.append(point.values[key])
    return seen


def _is_numeric(sweep: Sweep, key: str) -> bool:
    values = _values(sweep, key)
    return not any(math.isnan(_number(value)) for value in values) and len({_unit_of(value) for value in values}) == 1


def _unit(sweep: Sweep, key: str) -> str:
    units = {_unit_of(value) for value in _values(sweep, key)}
    return f" [{units.pop()}]" if len(units) == 1 and "" not in units else ""


def _unit_of(value: object) -> str:
    match = re.fullmatch(r"\s*[-+0-9.eE_]+\s*(\D.*)", value) if isinstance(value, str) else None
    return match[1].strip() if match else ""


def _number(value: object) -> float:
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, int | float):
        return float(value)
    match = re.match(r"\s*[-+]?[0-9][0-9_]*(\.[0-9]+)?([eE][-+]?[0-9]+)?", value) if isinstance(value, str) else None
    return float(match[0].replace("_", "")) if match else math.nan
