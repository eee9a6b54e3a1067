"""Figures of a sweep whose results are kept: a metric as colours over two axes, or as a line over one."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from shoal._toml import as_text
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.plots.heat import draw_bar, draw_heat
from shoal.plots.sizes import columns_that_fit, new_figure, row_of_panels
from shoal.plots.style import Drawn, colour, logarithmic_if_wide, marker, paper_style
from shoal.stats import Estimate
from shoal.words import count_of

# What a point has: the values of the swept keys, and the mean of a metric if it has one.
Cell = tuple[Mapping[str, object], Estimate | None]
_Grid = np.ndarray[tuple[int, int], np.dtype[np.float64]]
# Cells whose numbers can be read, and panels that fit on a page.
_most_written, _most_panels = 70, 12


def draw_map(
    cells: Sequence[Cell],
    metric: str,
    labels: Mapping[str, str],
    *,
    x: str | None = None,
    y: str | None = None,
    panels: str | None = None,
) -> Drawn:
    """Colour the mean of a metric over two axes; one panel for each value of a third one, if there is one.

    Parameters
    ----------
    cells
        The points.
    metric
        What the bar of colours is called.
    labels
        What the swept keys are called.
    x, y, panels
        Keys; those with the most values are the axes if not given.

    Raises
    ------
    UsageError
        The sweep has no two axes, or more than three, or none of that name.
    """
    values = _values(cells)
    x_key, y_key, panel_key = _axes(values, x, y, panels)
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        name = "" if panel_key is None else f"{labels[panel_key]} = {as_text(cell[0][panel_key])}"
        groups.setdefault(name, []).append(cell)
    if len(groups) > _most_panels:
        raise UsageError(
            f"`{panel_key}` has {count_of(len(groups), 'value')}, and {_most_panels} panels fit on a page",
            hint="name the axes with the most values as x and y, or sweep fewer values",
        )
    across, up = ([as_text(value) for value in _sorted(values[key])] for key in (x_key, y_key))
    grids = {name: _grid(points, (x_key, across), (y_key, up)) for name, points in groups.items()}
    known = [value for grid in grids.values() for value in grid[~np.isnan(grid)]]
    columns = columns_that_fit(min(3, len(grids)))
    count = math.ceil(len(grids) / columns)
    with paper_style():
        # A single map is for one column of a paper, and its bar.
        figure = new_figure(2.6 * count, width=4.2) if len(grids) == 1 else new_figure(2.1 * count)
        axes = list(figure.subplots(count, columns, squeeze=False).flat)
        for spare in axes[len(grids) :]:
            spare.set_visible(False)
        for number, (name, grid) in enumerate(grids.items()):
            mesh = _draw_panel(
                axes[number], grid, across, up, span=_span(known), few=grid.size * columns <= _most_written
            )
            axes[number].set(
                xlabel=labels[x_key] + _bare(across)[1] if number + columns >= len(grids) else "",
                ylabel=labels[y_key] + _bare(up)[1] if number % columns == 0 else "",
                title=textwrap.fill(name, 28),
            )
        draw_bar(axes[: len(grids)], mesh, textwrap.fill(metric, 40))
    data = pl.DataFrame(list(_records(grids, (x_key, across), (y_key, up))))
    return Drawn("map", f"{metric} over {labels[x_key]} and {labels[y_key]}", figure, data)


def _draw_panel(
    axes: Axes, grid: _Grid, across: list[str], up: list[str], *, span: tuple[float, float] | None, few: bool
) -> QuadMesh:
    """One map; a few cells have their numbers written into them."""
    annotate = ".3g" if few else None
    mesh = draw_heat(axes, range(len(across)), range(len(up)), grid, span=span, even=True, annotate=annotate, bar=False)
    _ticks(axes.set_xticks, _bare(across)[0])
    _ticks(axes.set_yticks, _bare(up)[0])
    return mesh


def _records(
    grids: Mapping[str, _Grid], x: tuple[str, list[str]], y: tuple[str, list[str]]
) -> Iterator[dict[str, object]]:
    """What the panels show: one row a cell."""
    for name, grid in grids.items():
        for (j, i), value in np.ndenumerate(grid):
            mean = None if math.isnan(value) else float(value)
            yield {"panel": name, x[0]: x[1][i], y[0]: y[1][j], "mean": mean}


def draw_lines(metrics: Mapping[str, Sequence[Cell]], labels: Mapping[str, str]) -> Drawn:
    """Draw the means of metrics with their intervals over the one axis that varies."""
    ((key, entries),) = _values(next(iter(metrics.values()))).items()
    ordered = _sorted(entries)
    texts, unit = _bare([as_text(value) for value in ordered])
    numbers = [_number(value) for value in ordered]
    is_numeric = not any(map(math.isnan, numbers)) and (bool(unit) or texts == [as_text(value) for value in ordered])
    positions = {as_text(v): numbers[index] if is_numeric else float(index) for index, v in enumerate(ordered)}
    records = []
    with paper_style():
        panels = row_of_panels(len(metrics), 2.1)
        for axes, (name, cells) in zip(panels.axes, metrics.items(), strict=True):
            known = [(positions[as_text(values[key])], mean) for values, mean in cells if mean is not None]
            known.sort(key=lambda pair: pair[0])
            axes.errorbar(
                [at for at, _ in known],
                [mean.mean for _, mean in known],
                yerr=[mean.half_width or 0.0 for _, mean in known],
                color=colour(0),
                marker=marker(0),
                elinewidth=0.8,
            )
            axes.set(xlabel=labels[key] + unit, ylabel=name)
            if is_numeric:
                logarithmic_if_wide(axes.xaxis, numbers)
            else:
                axes.set_xticks(range(len(ordered)), texts)
            records += [{"metric": name, "x": at, "mean": mean.mean, "ci95": mean.half_width} for at, mean in known]
    data = pl.DataFrame(records, schema={"metric": pl.String, "x": pl.Float64, "mean": pl.Float64, "ci95": pl.Float64})
    return Drawn("sweep", f"{', '.join(metrics)} over {labels[key]}", panels.figure, data)


def varied(cells: Sequence[Mapping[str, object]]) -> int:
    """How many keys have several values."""
    return len(_values([(values, None) for values in cells]))


def _values(cells: Sequence[Cell]) -> dict[str, list[object]]:
    """The values of every axis that varies, in the order of the sweep."""
    several: dict[str, list[object]] = {}
    for key in cells[0][0]:
        every = {as_text(values[key]): values[key] for values, _ in cells}
        if len(every) > 1:
            several[key] = list(every.values())
    return several


def _axes(
    values: dict[str, list[object]], x: str | None, y: str | None, panels: str | None
) -> tuple[str, str, str | None]:
    """The keys of the axes: those that are named, and for the others the ones with the most values."""
    given = [key for key in (x, y, panels) if key is not None]
    for key in given:
        if key not in values:
            raise UsageError(f"`{key}` is no axis of this sweep with several values", hint=nearest(key, list(values)))
    if len(set(given)) < len(given):
        raise UsageError("an axis stands there twice", hint="x, y and panels are different axes")
    if not 2 <= len(values) <= 3:
        raise UsageError(
            f"a map has two axes, and a third one as panels; the keys that vary in this sweep are {len(values)}",
            hint="sweep two or three keys; `means()` has the numbers of any sweep",
        )
    rest = sorted((key for key in values if key not in given), key=lambda key: -len(values[key]))
    first = x if x is not None else rest.pop(0)
    second = y if y is not None else rest.pop(0)
    return first, second, panels if panels is not None else (rest[0] if rest else None)


def _sorted(values: Sequence[object]) -> list[object]:
    """Numbers by size, other values as they stand."""
    numbers = [_number(value) for value in values]
    return list(values) if any(map(math.isnan, numbers)) else sorted(values, key=_number)


def _grid(cells: Sequence[Cell], x: tuple[str, list[str]], y: tuple[str, list[str]]) -> _Grid:
    """One row a value of y; NaN where the metric has no value."""
    grid = np.full((len(y[1]), len(x[1])), np.nan)
    for values, mean in cells:
        if mean is not None:
            grid[y[1].index(as_text(values[y[0]])), x[1].index(as_text(values[x[0]]))] = mean.mean
    return grid


def _span(known: Sequence[float]) -> tuple[float, float] | None:
    """What colours mean in all panels: from the least to the largest number, or around the only one."""
    if not known:
        return None
    low, high = float(min(known)), float(max(known))
    around = 0.1 * (abs(low) or 1.0) if low == high else 0.0
    return low - around, high + around


def _number(value: object) -> float:
    """The number in a value; NaN if there is none."""
    if isinstance(value, bool):
        return math.nan
    match = re.match(r"\s*([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?:\s|$)", as_text(value))
    return float(match[1].replace("_", "")) if match else math.nan


def _bare(texts: list[str]) -> tuple[list[str], str]:
    """Values without the unit that all of them have, and that for a label."""
    parts = [text.partition(" ") for text in texts]
    units = {unit for _, _, unit in parts}
    if len(units) != 1 or "" in units or any(math.isnan(_number(number)) for number, _, _ in parts):
        return texts, ""
    return [number for number, _, _ in parts], f" [{units.pop()}]"


def _ticks(set_ticks: Callable[..., object], names: Sequence[str]) -> None:
    """Leave names out where there would be too many to read."""
    step = math.ceil(len(names) / 8)
    set_ticks(range(0, len(names), step), names[::step])
