"""Heat maps of a sweep over two of its axes, whose cells lead to scenarios that repeat them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from shoal.plots.heat import Numbers, draw_bar, draw_heat
from shoal.plots.sizes import columns_that_fit, new_figure
from shoal.plots.style import Drawn, paper_style
from shoal.report.sweep_axes import SweptAxes
from shoal.runs.rows import Rows
from shoal.stats import Estimate
from shoal.words import count_of

# Fewer values of an axis are better seen as lines.
_least_values = 3
# Panels that fit on a page.
_most_panels = 12
# Cells whose numbers can be read.
_most_written = 70
# Letters of a panel's title that fit on a line, for each number of columns.
_title_letters = {1: 90, 2: 44, 3: 27}
# Letters of a bar's label that fit beside it.
_bar_letters = 30
#: Where scenarios of points are, beside the report.
POINTS = "points"


def heat_maps(rows: Rows, axes: SweptAxes) -> Drawn | None:
    """One panel a metric and combination of the other axes, over the two axes with the most numbers."""
    keys = _keys(rows, axes)
    if keys is None:
        return None
    x_key, y_key = keys
    groups = _groups(rows, axes, keys)
    shown = dict(list(groups.items())[:_most_panels])
    metrics = dict(list(rows.plan.metrics.items())[: _most_panels // len(shown)])
    maps = [(name, text, label, points) for name, text in metrics.items() for label, points in shown.items()]
    x, y = (sorted(axes.number(key, value) for value in axes.values[key]) for key in keys)
    columns = columns_that_fit(min(2 if len(groups) < 3 else 3, len(maps)))
    count = math.ceil(len(maps) / columns)
    # Many panels of a metric share their bar of colours.
    shares = len(shown) > 2
    titles = {label: axes.words(_rest(rows, keys, points[0])) for label, points in shown.items()}
    records: list[dict[str, object]] = []
    with paper_style():
        figure = new_figure((2.3 if columns < 3 else 1.95) * count)
        panels = list(figure.subplots(count, columns, squeeze=False).flat)
        for spare in panels[len(maps) :]:
            spare.set_visible(False)
        for number, (name, text, label, points) in enumerate(maps):
            z = np.full((len(y), len(x)), np.nan)
            links = np.full(z.shape, "", dtype=object)
            for point_index in points:
                values, cell = rows[point_index], rows.cell(point_index, text)
                at = y.index(axes.number(y_key, values[y_key])), x.index(axes.number(x_key, values[x_key]))
                links[at] = f"../{POINTS}/{point_index + 1}.toml"
                if isinstance(cell, Estimate):
                    z[at] = cell.mean
            panel = panels[number]
            is_ratio = _is_ratio(text)
            mesh = draw_heat(
                panel,
                x,
                y,
                z,
                label="" if shares else name,
                scale="log" if is_ratio else "linear",
                # Equal rates lie between two hues.
                centre=1.0 if is_ratio else None,
                span=_span(rows, text),
                even=True,
                annotate=(".2g" if shares else ".3g") if z.size <= _most_written else None,
                links=links,
                bar=not shares,
            )
            _few_ticks(panel, x, y)
            inner = shares and number + columns < len(maps)
            panel.set(
                xlabel="" if inner else axes.label(x_key),
                ylabel=axes.label(y_key) if number % columns == 0 else "",
                title="\n".join(textwrap.fill(line, _title_letters[columns]) for line in titles[label]),
            )
            if shares and (number + 1) % len(shown) == 0:
                first = number + 1 - len(shown)
                draw_bar(panels[first : number + 1], mesh, textwrap.fill(name, _bar_letters))
            records += _cells(name, label, x, y, z)
    schema = {"metric": pl.String, "series": pl.String, "x": pl.Float64, "y": pl.Float64, "mean": pl.Float64}
    return Drawn(
        "sweep-heat",
        "Metrics over two axes",
        figure,
        pl.DataFrame(records, schema=schema),
        " ".join([_replay(rows), *_left_out(rows, len(metrics), len(groups) - len(shown))]),
    )


def _is_ratio(text: str) -> bool:
    """Whether an expression is nothing but a ratio of rates."""
    return text.startswith("rate_ratio(") and text.endswith(")") and text.count("(") == 1


def _replay(rows: Rows) -> str:
    """How the runs behind a cell are repeated."""
    plane, seeds = " --on linux" if rows.plan.kernel else "", rows.plan.seeds
    command = f"shoal run {POINTS}/NUMBER.toml{plane}"
    if rows.plan.until is not None:
        how = f"{command} --seeds with as many as the table says"
    elif isinstance(seeds, int):
        how = command + (f" --seeds {seeds}" if seeds > 1 else "")
    else:
        how = f"{command} --set seed=SEED for each of {', '.join(map(str, seeds))}"
    return f"A cell leads to the scenario of its point, and is repeated by {how}."


def _left_out(rows: Rows, metrics: int, groups: int) -> Iterator[str]:
    """What there was no room for."""
    if names := list(rows.plan.metrics)[metrics:]:
        yield f"Not shown: {', '.join(names)}."
    if groups:
        yield f"Not shown: the last {count_of(groups, 'combination')} of the other axes. The tables have all."


def write_points(rows: Rows, folder: Path) -> None:
    """Write the scenario of every point that a heat map shows: ``points/NUMBER.toml``, counted from 1."""
    if _keys(rows, SweptAxes.of(rows)) is None:
        return
    (folder / POINTS).mkdir()
    for point_index in range(len(rows)):
        rows.plan.recipe.at(rows[point_index]).write_into(folder / POINTS, f"{point_index + 1}.toml")


def _keys(rows: Rows, axes: SweptAxes) -> tuple[str, str] | None:
    """The two axes of the maps; none if the sweep has none of that kind."""
    numeric = [key for key in axes.values if axes.is_numeric(key) and len(axes.values[key]) >= _least_values]
    numeric.sort(key=lambda key: -len(axes.values[key]))
    if len(numeric) < 2 or any(len(factor.keys) != 1 for factor in rows.plan.design.factors):
        return None
    return numeric[0], numeric[1]


def _rest(rows: Rows, keys: tuple[str, str], point_index: int) -> dict[str, object]:
    """The values of a point but those of the two axes."""
    return {key: value for key, value in rows[point_index].items() if key not in keys}


def _groups(rows: Rows, axes: SweptAxes, keys: tuple[str, str]) -> dict[str, list[int]]:
    """Numbers of points, for each combination of the values of the other axes."""
    groups: dict[str, list[int]] = {}
    for point_index in range(len(rows)):
        groups.setdefault(axes.named(_rest(rows, keys, point_index)), []).append(point_index)
    return groups


def _span(rows: Rows, text: str) -> tuple[float, float] | None:
    """The scale that makes colours mean the same in all panels of a metric."""
    cells = (rows.cell(point_index, text) for point_index in range(len(rows)))
    means = [cell.mean for cell in cells if isinstance(cell, Estimate)]
    return (min(means), max(means)) if means else None


def _few_ticks(panel: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    """Leave ticks out where there would be too many to read; cells are of even size."""
    for values, set_ticks in ((x, panel.set_xticks), (y, panel.set_yticks)):
        step = math.ceil(len(values) / 8)
        set_ticks(range(0, len(values), step), [f"{value:g}" for value in values[::step]])


def _cells(name: str, label: str, x: Sequence[float], y: Sequence[float], z: Numbers) -> Iterator[dict[str, object]]:
    for j, b in enumerate(y):
        for i, a in enumerate(x):
            mean = None if math.isnan(z[j, i]) else float(z[j, i])
            yield {"metric": name, "series": label, "x": a, "y": b, "mean": mean}
