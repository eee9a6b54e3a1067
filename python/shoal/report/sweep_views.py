"""Other views of a sweep: ratios to a first value, scatter of samples, Pareto fronts."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from shoal._toml import as_text
from shoal.plots.sizes import columns_that_fit, new_figure, two_columns
from shoal.plots.style import Drawn, colour, legend_of_figure, marker, paper_style
from shoal.report.sweep_axes import SweptAxes, brief
from shoal.report.sweep_lines import draw_line, dress, frame, most_lines, records_of
from shoal.runs.rows import Rows
from shoal.stats import Estimate, estimate

# Fewer values of an axis are better seen as lines.
_least_values = 3
# Letters of an axis that fit beside a panel.
_label_letters = 34
# Panels that fit on a page.
_most_panels = 12


def ratios(rows: Rows, axes: SweptAxes) -> Drawn | None:
    """Every metric over that at the first value of an axis of a few values: lines over the main axis.

    A ratio is formed for each seed and then averaged: what both runs have at random in common cancels.
    """
    few = [key for key in axes.others if 2 <= len(axes.values[key]) <= most_lines and not _is_long(axes, key)]
    if len(axes.others) != 1 or not few or len(axes.values[axes.main]) < 2:
        return None
    key = few[0]
    first, *others = axes.values[key]
    at = {(as_text(rows[p][axes.main]), as_text(rows[p][key])): p for p in range(len(rows))}
    metrics = rows.plan.metrics
    columns = columns_that_fit(min(2, len(metrics)))
    count = math.ceil(len(metrics) / columns)
    records: list[dict[str, object]] = []
    with paper_style():
        figure = new_figure(2.1 * count + 0.4)
        panels = _panels(figure, count, columns, len(metrics))
        for panel, (name, text) in zip(panels, metrics.items(), strict=True):
            for number, value in enumerate(others):
                label = f"{axes.labels[key]} = {as_text(value)}"
                pairs = [
                    (at[a, as_text(value)], at[a, as_text(first)])
                    for a in map(as_text, axes.values[axes.main])
                    if (a, as_text(value)) in at and (a, as_text(first)) in at
                ]
                means = [_ratio(rows, above, below, text) for above, below in pairs]
                points = [above for above, _ in pairs]
                draw_line(panel, axes.positions(axes.main, points), means, number + 1, label)
                records += records_of(name, label, [rows[point_index][axes.main] for point_index in points], means)
            panel.axhline(1.0, color="#777777", linewidth=0.6, zorder=0)
            # The axis has ratios, which have no unit of the metric's own.
            over = f"over that at {axes.labels[key]} = {brief(first)}"
            label = "\n".join(textwrap.fill(line, _label_letters) for line in (name, over))
            dress(panel, axes, axes.main, label)
        legend_of_figure(figure, panels[:1], columnspacing=1.3)
    title = f"Metrics over those at {axes.labels[key]} = {as_text(first)}"
    return Drawn("sweep-ratios", title, figure, frame(records), note="Ratios of runs with the same seed, averaged.")


def _is_long(axes: SweptAxes, key: str) -> bool:
    return axes.is_numeric(key) and len(axes.values[key]) >= len(axes.values[axes.main])


def _ratio(rows: Rows, above: int, below: int, text: str) -> Estimate | None:
    if rows.failure(above) is not None or rows.failure(below) is not None:
        return None
    # The points may have different numbers of seeds; those that both have are compared.
    both = zip(rows.series(above, text), rows.series(below, text), strict=False)
    parts = [a / b for a, b in both if a is not None and b]
    return estimate(parts) if parts else None


def scatter(rows: Rows, axes: SweptAxes) -> Drawn:
    """Draw every metric over every axis of a sample, one dot a point."""
    metrics, keys = list(rows.plan.metrics.items()), list(axes.values)[:4]
    metrics = metrics[: max(1, _most_panels // len(keys))]
    records = []
    with paper_style():
        figure = new_figure(1.8 * len(metrics))
        panels = figure.subplots(len(metrics), len(keys), squeeze=False, sharey="row")
        for row, (name, text) in enumerate(metrics):
            cells = [rows.cell(point_index, text) for point_index in range(len(rows))]
            known = [(point_index, cell.mean) for point_index, cell in enumerate(cells) if isinstance(cell, Estimate)]
            for column, key in enumerate(keys):
                panel = panels[row][column]
                x = axes.positions(key, [point_index for point_index, _ in known])
                y = [mean for _, mean in known]
                size = 6 if len(x) <= 300 else 1.5
                panel.scatter(x, y, s=size, color=colour(0), alpha=0.7, linewidths=0, rasterized=len(x) > 2000)
                if axes.is_numeric(key):
                    panel.xaxis.set_major_locator(MaxNLocator(5))
                dress(panel, axes, key, name if column == 0 else "")
                records += [{"metric": name, "axis": key, "x": a, "mean": b} for a, b in zip(x, y, strict=True)]
    schema = {"metric": pl.String, "axis": pl.String, "x": pl.Float64, "mean": pl.Float64}
    return Drawn("sweep-sample", "Metrics at the sampled points", figure, pl.DataFrame(records, schema=schema))


# Metrics of which everybody wants much, or little, by the function that an expression begins with.
_wanted_high = ("utilisation", "jain", "goodput_mbps", "rate_mbps")
_wanted_low = ("delay_ms", "queue_packets", "queue_bytes", "queue_bdp", "fct_ms", "dropped", "marked")


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Points that no other one beats: none has less of the first and as much of the second, or as little and more."""
    best, unbeaten = -math.inf, []
    for number in sorted(range(len(points)), key=lambda n: (points[n][0], -points[n][1])):
        if points[number][1] > best:
            best = points[number][1]
            unbeaten.append(number)
    return unbeaten


def pareto(rows: Rows, axes: SweptAxes) -> Drawn | None:
    """The points of which none is better in both of two metrics: one to be high, one to be low; if there are such."""
    high = _first(rows, _wanted_high)
    low = _first(rows, _wanted_low)
    if high is None or low is None or len(rows) < _least_values:
        return None
    (y_name, y_text), (x_name, x_text) = high, low
    known: list[tuple[int, Estimate, Estimate]] = []
    for number in range(len(rows)):
        x, y = rows.cell(number, x_text), rows.cell(number, y_text)
        if isinstance(x, Estimate) and isinstance(y, Estimate):
            known.append((number, x, y))
    if not known:
        return None
    best = front([(x.mean, y.mean) for _, x, y in known])
    with paper_style():
        figure = new_figure(2.8, width=two_columns * 0.62)
        panel = figure.subplots()
        few = len(known) <= 300
        panel.scatter(
            [x.mean for _, x, _ in known],
            [y.mean for _, _, y in known],
            s=8 if few else 2,
            color="#9a9a9a",
            linewidths=0,
            label="points",
            rasterized=len(known) > 2000,
        )
        line = [known[number] for number in best]
        panel.errorbar(
            [x.mean for _, x, _ in line],
            [y.mean for _, _, y in line],
            xerr=[x.half_width or 0.0 for _, x, _ in line],
            yerr=[y.half_width or 0.0 for _, _, y in line],
            color=colour(1),
            marker=marker(0),
            linestyle="-",
            drawstyle="steps-post",
            elinewidth=0.6,
            label="Pareto front, ± 95 %",
        )
        for point_index, x, y in _labelled(line):
            text = ", ".join(as_text(value) for value in rows[point_index].values())
            panel.annotate(
                text, (x.mean, y.mean), xytext=(4, -8), textcoords="offset points", fontsize=6, annotation_clip=True
            )
        panel.set(xlabel=f"{x_name} (less is better)", ylabel=f"{y_name} (more is better)")
        panel.legend(loc="lower right")
    records = [
        {
            "point": rows.name(point_index),
            "x": x.mean,
            "x_ci95": x.half_width,
            "y": y.mean,
            "y_ci95": y.half_width,
            "on_front": number in set(best),
        }
        for number, (point_index, x, y) in enumerate(known)
    ]
    note = (
        f"No point has less {x_name} and more {y_name} than one of the front. Labels are the values of: "
        + ", ".join(axes.labels.values())
    )
    widths = dict.fromkeys(("x", "x_ci95", "y", "y_ci95"), pl.Float64)
    return Drawn(
        "sweep-pareto", f"{y_name} against {x_name}", figure, pl.DataFrame(records, schema_overrides=widths), f"{note}."
    )


def _labelled(line: Sequence[tuple[int, Estimate, Estimate]]) -> Iterable[tuple[int, Estimate, Estimate]]:
    """Some of the points of a front, which are far enough from each other for their labels."""
    step = max(1, math.ceil(len(line) / 6))
    return line[::step]


def _first(rows: Rows, functions: Sequence[str]) -> tuple[str, str] | None:
    for name, text in rows.plan.metrics.items():
        if text.partition("(")[0].strip() in functions and text.rstrip().endswith(")") and text.count("(") == 1:
            return name, text
    return None


def _panels(figure: Figure, rows: int, columns: int, used: int) -> list[Axes]:
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in panels[used:]:
        spare.set_visible(False)
    return panels[:used]
