"""Our figures in the axes of the paper's, with the published points in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.axes import Axes
from numpy.typing import NDArray

from shoal import expression
from shoal.papers import cells, heat
from shoal.papers.bars import bars
from shoal.papers.cells import Points
from shoal.papers.panels import Cells, FigureSpec, HeatMap, Plot, Traces
from shoal.papers.queue_panel import queue_over_time
from shoal.papers.tables import Grid, Row, published, same
from shoal.plots import sequence
from shoal.plots.rates import bins_note
from shoal.plots.sizes import new_figure
from shoal.plots.style import (
    Drawn,
    colour,
    dash,
    label_at_edge,
    legend_of_figure,
    logarithmic,
    marker,
    palette,
    paper_style,
)
from shoal.plots.windows import draw_flow, shown_flows, signals_of, trace, traced_note

# Lines of formulas, in this order; dotted ones are levels.
_curves = ("--", "-.", (0, (6, 1.5, 1, 1.5, 1, 1.5)))


def draw(
    spec: FigureSpec, tables: Mapping[str, Grid], points: Points, folder: Path, *, host: str | None = None
) -> Drawn:
    """Draw a figure from tables, and from the traces and distributions of the sweeps that recorded them.

    Title and picture name the preset ``host`` if one took the place of the paper's hosts.
    """
    rows = math.ceil(len(spec.panels) / spec.columns)
    frames = []
    with paper_style():
        figure = new_figure(spec.height * rows + 0.35)
        axes = list(figure.subplots(rows, spec.columns, squeeze=False).flat)
        for spare in axes[len(spec.panels) :]:
            spare.set_visible(False)
        for index, (panel, panel_axes) in enumerate(zip(spec.panels, axes, strict=False)):
            frame = _panel(panel, panel_axes, tables, points, folder)
            frames.append(frame.with_columns(panel=pl.lit(index + 1)))
        if any(panel.kind == "sequence" for panel in spec.panels):
            sequence.legend(figure)
        else:
            legend_of_figure(figure, axes[: len(spec.panels)], columns=6, columnspacing=1.3)
    data = pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()
    title = spec.title
    if host is not None:
        title = f"{spec.title or spec.name} (hosts: {host})"
        figure.text(0.995, 0.005, f"hosts: {host}", ha="right", va="bottom", fontsize=6, color="#333333")
    order = ["panel", *(name for name in data.columns if name != "panel")]
    return Drawn(spec.name, title, figure, data.select(order), note=_note(spec, points))


def _note(spec: FigureSpec, points: Points) -> str:
    """What to say of recorded runs: how wide bins are, and which flows were not traced."""
    sentences: dict[str, None] = {}
    for panel in spec.panels:
        for name in panel.sweeps if isinstance(panel, Traces) and panel.kind in ("windows", "queue") else ():
            _, result = points[name][0]
            text = bins_note(result) if panel.kind == "queue" else traced_note(result, list(shown_flows(result)))
            if text:
                sentences[text] = None
    return " ".join(sentences)


def _panel(panel: Plot | Traces, axes: Axes, tables: Mapping[str, Grid], points: Points, folder: Path) -> pl.DataFrame:
    match panel:
        case Traces(kind="sequence"):
            # Its axes are lifelines and time downwards: nothing below applies.
            return _sequence(panel, axes, points)
        case Cells():
            data = cells.pdf(panel, axes, points) if panel.kind == "pdf" else cells.grid(panel, axes, points)
        case Traces():
            data = (_windows if panel.kind == "windows" else queue_over_time)(panel, axes, points)
        case Plot():
            grid = tables[panel.table].where(panel.where)
            data = _rows(panel, axes, grid)
            data = pl.concat([data, *_overlays(panel, axes, grid, folder)], how="diagonal_relaxed")
    for index, curve in enumerate(panel.curves):
        x = np.geomspace(*curve.range, 200) if panel.x_scale == "log" else np.linspace(*curve.range, 200)
        y = [expression.number(curve.expr, {"x": float(value)}) for value in x]
        axes.plot(x, y, color="#333333", linewidth=1.0, linestyle=_curves[index % len(_curves)], label=curve.label)
    for level in panel.hlines:
        axes.axhline(level, color="#555555", linewidth=0.8, linestyle=":")
    axes.set(xlabel=panel.x_label, ylabel=panel.y_label, title=panel.title)
    # Setting a linear scale again would throw the ticks away.
    if panel.x_range and panel.kind != "grid":
        axes.set_xlim(panel.x_range)
    if panel.y_range:
        axes.set_ylim(panel.y_range)
    if panel.x_scale == "log":
        logarithmic(axes.xaxis)
    if panel.y_scale == "log":
        logarithmic(axes.yaxis)
    return data


def _rows(panel: Plot, axes: Axes, grid: Grid) -> pl.DataFrame:
    if isinstance(panel, HeatMap):
        return heat.draw(panel, axes, grid)
    return bars(panel, axes, grid) if panel.kind == "bars" else _lines(panel, axes, grid)


def _series(panel: Plot, grid: Grid) -> list[tuple[float | str | None, str, list[Row]]]:
    """Rows by the value of the series' axis, with their label."""
    if panel.series is None:
        return [(None, panel.series_label, grid.rows)]
    values = list(dict.fromkeys(row.values[panel.series] for row in grid.rows))
    named = "{case}" if panel.series == "case" else f"{panel.series} = {{{panel.series}:.3g}}"
    label = panel.series_label or named
    return [
        (
            value,
            expression.fill(label, {panel.series: value}),
            [row for row in grid.rows if row.values[panel.series] == value],
        )
        for value in values
    ]


def _lines(panel: Plot, axes: Axes, grid: Grid) -> pl.DataFrame:
    records = []
    series = _series(panel, grid)
    for index, (_, label, rows) in enumerate(series):
        paint = _paint(index, len(series))
        x = [expression.number(panel.x, row.values) for row in rows]
        y = [expression.number(panel.y, row.values) for row in rows]
        width = [row.half_width.get(panel.y) or 0.0 for row in rows]
        style: dict[str, Any] = {"color": paint, "label": label or None}
        if panel.kind == "points":
            style |= {"linestyle": "none", "marker": marker(index), "markersize": 4.5}
        else:
            style |= {"linestyle": dash(index), "marker": marker(index), "markersize": 2.6}
        axes.plot(x, y, **style)
        if any(width):
            low, high = _band(np.array(y), np.array(width), panel.y_scale)
            if panel.kind == "points":
                axes.errorbar(
                    x,
                    y,
                    yerr=[np.subtract(y, low), np.subtract(high, y)],
                    fmt="none",
                    ecolor=paint,
                    elinewidth=0.8,
                    capsize=2,
                )
            else:
                axes.fill_between(x, low, high, color=paint, alpha=0.18, linewidth=0)
        records += [
            {"source": "measured", "series": label, "x": a, "y": b, "y_ci95": c or None}
            for a, b, c in zip(x, y, width, strict=True)
        ]
    schema = {"source": pl.String, "series": pl.String, "x": pl.Float64, "y": pl.Float64, "y_ci95": pl.Float64}
    return pl.DataFrame(records, schema=schema).fill_nan(None)


def _paint(index: int, count: int) -> Any:
    """Colour of a series: from the palette while it lasts, else from a scale, as many values of an axis are ordered."""
    return colour(index) if count <= len(palette) else colormaps["cividis"](index / (count - 1))


def _band(
    y: NDArray[np.float64], width: NDArray[np.float64], scale: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Confidence band; on a logarithmic axis that of the logarithm, to first order, which never reaches zero."""
    if scale == "linear":
        return y - width, y + width
    factor = np.exp(np.divide(width, y, out=np.zeros_like(y), where=y > 0))
    return y / factor, y * factor


def _overlays(panel: Plot, axes: Axes, grid: Grid, folder: Path) -> list[pl.DataFrame]:
    frames = []
    known = _series(panel, grid)
    for overlay in panel.published:
        records, drawn = [], False
        for row in published(folder, overlay.data):
            x, y = expression.number(overlay.x, row), expression.number(overlay.y, row)
            if math.isnan(x) or math.isnan(y):
                continue
            value = row.get(overlay.series) if overlay.series else None
            index = next(
                (
                    n
                    for n, (series, _, _) in enumerate(known)
                    if value is not None and series is not None and same(series, value)
                ),
                None,
            )
            if overlay.series and index is None:
                continue  # a series that this (quick) sweep leaves out
            axes.plot(
                x,
                y,
                marker="*",
                markersize=9,
                linestyle="none",
                markerfacecolor=colour(index) if index is not None else "#ffffff",
                markeredgecolor="#000000",
                markeredgewidth=0.7,
                zorder=5,
                label=None if drawn else overlay.label,
            )
            drawn = True
            records.append(
                {"source": "published", "series": known[index][1] if index is not None else "", "x": x, "y": y}
            )
        if records:
            frames.append(pl.DataFrame(records))
    return frames


def _windows(panel: Traces, axes: Axes, points: Points) -> pl.DataFrame:
    frames, index, rows = [], 0, []
    for name in panel.sweeps:
        _, result = points[name][0]
        start_s, end_s = panel.time or (0.0, result.window[1])
        flows = {
            flow: label for flow, label in shown_flows(result).items() if panel.groups is None or label in panel.groups
        }
        data = trace(result, list(flows), start_s, end_s)
        for flow, label in flows.items():
            samples = data.filter(pl.col("flow") == flow)
            text = label if len(panel.sweeps) == 1 else (name if len(flows) == 1 else f"{name}: {label}")
            draw_flow(axes, result, flow, samples, panel.y, index, label=text)
            frames.append(samples.select(pl.lit(text).alias("series"), x="time_s", y=pl.col(panel.y).cast(pl.Float64)))
            if panel.events:
                signals = signals_of(result, [flow], start_s, end_s)
                for kind, symbol in (("mark", "|"), ("drop", "x")):
                    seen = signals.filter(pl.col("kind") == kind)["time_s"].to_list()
                    if seen:
                        rows.append((f"{text}: {kind}s", symbol, colour(index), seen))
            index += 1
        axes.set_xlim(start_s, end_s)
    top = axes.get_ylim()[1]
    for number, (label, symbol, paint, times) in enumerate(rows):
        level = -0.07 * top * (number + 1)
        axes.plot(times, [level] * len(times), symbol, color=paint, markersize=4, markeredgewidth=0.6)
        label_at_edge(axes, label, level, size=6.5)
        frames.append(
            pl.DataFrame({"series": label, "x": times, "y": [None] * len(times)}, schema_overrides={"y": pl.Float64})
        )
    axes.set_ylim(-0.07 * top * (len(rows) + 0.7) if rows else 0, top)
    if rows:
        axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= top])
        axes.set_ylim(-0.07 * top * (len(rows) + 0.7), top)
    return pl.concat(frames).with_columns(source=pl.lit("measured")) if frames else pl.DataFrame()


def _sequence(panel: Traces, axes: Axes, points: Points) -> pl.DataFrame:
    """The first flow of a sweep around its first reduction from the panel's time on."""
    _, result = points[panel.sweeps[0]][0]
    data = sequence.draw_on(axes, result, start_s=panel.time[0] if panel.time else None)
    axes.set_title(panel.title, pad=14)
    return data.with_columns(source=pl.lit("measured"), series=pl.lit(panel.sweeps[0]))
