"""What single runs of a sweep show: distributions of the queue, and small multiples over two axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from shoal import analysis
from shoal.papers.panels import Cells
from shoal.plots.style import colour, dash
from shoal.results import Result

# The runs of each sweep with their place on its axes.
Points = Mapping[str, Sequence[tuple[dict[str, float], Result]]]

_names = {"all": "all packets", "ect": "ECT", "not_ect": "not ECT"}
# One colour a class in all figures: ECT blue, the others vermilion.
_paint = {"ect": colour(0), "not_ect": colour(1), "all": "#333333"}


def pdf(panel: Cells, axes: Axes, points: Points) -> pl.DataFrame:
    """Distributions of the queue over the measurement, or with ``time`` over each window that begins in it."""
    frames = []
    # Colours mean the same in all panels of the item.
    order = list(points)
    for name, result in [(sweep, result) for sweep in panel.sweeps for _, result in points[sweep]]:
        index = order.index(name)
        (which, *_) = panel.classes
        starts = [None] if panel.time is None else _starts(result, *panel.time)
        for number, start_s in enumerate(starts):
            shares = analysis.backlog_pdf(result, which, width=panel.width, start_s=start_s)
            x, y = _steps(shares)
            alpha = 1.0 if start_s is None else max(0.15, 1.0 / len(starts))
            axes.plot(x, y, color=colour(index), linestyle=dash(index) if start_s is None else "-", alpha=alpha)
            if start_s is None:
                axes.fill_between(x, y, color=colour(index), alpha=0.15, linewidth=0)
            if number == 0:
                axes.plot([], [], color=colour(index), linestyle=dash(index), label=name)
            frames.append(
                shares.select(
                    pl.lit(name).alias("series"),
                    pl.lit(start_s, dtype=pl.Float64).alias("window_start_s"),
                    x="low_packets",
                    y=pl.col("share") * 100,
                )
            )
    axes.set_ylim(bottom=0)
    if panel.x_range is None:
        axes.set_xlim(left=0)
    return pl.concat(frames).with_columns(source=pl.lit("measured")) if frames else pl.DataFrame()


def _starts(result: Result, first_s: float, last_s: float) -> list[float]:
    return [start for start in analysis.window_starts(result) if first_s <= start < last_s]


def _steps(shares: pl.DataFrame) -> tuple[list[float], list[float]]:
    """The outline of bars, in per cent."""
    edges = shares["low_packets"].to_list()
    if not edges:
        return [], []
    width = edges[1] - edges[0] if len(edges) > 1 else 1.0
    x = [corner for edge in edges for corner in (edge, edge + width)]
    return [edges[0], *x, edges[-1] + width], [0.0, *(value * 100 for value in shares["share"] for _ in range(2)), 0.0]


def grid(panel: Cells, axes: Axes, points: Points) -> pl.DataFrame:
    """Small multiples: one cell a run, places from the axes ``x`` and ``y`` of the sweeps, 0 where a sweep has none."""
    runs = [
        (point.get(panel.x, 0.0), point.get(panel.y, 0.0), result)
        for name in panel.sweeps
        for point, result in points[name]
    ]
    columns, rows = sorted({x for x, _, _ in runs}), sorted({y for _, y, _ in runs})
    _frame(axes, columns, rows)
    frames = []
    for x, y, result in runs:
        column, row = columns.index(x), rows.index(y)
        box = ((column + 0.05) / len(columns), 1 - (row + 0.93) / len(rows), 0.9 / len(columns), 0.86 / len(rows))
        cell = axes.inset_axes(box)
        cell.set_xticks([])
        cell.set_yticks([])
        cell.grid(visible=False)
        for spine in cell.spines.values():
            spine.set_linewidth(0.3)
        cell.set_rasterization_zorder(3)
        data = _queue(panel, cell, result) if panel.shows == "queue" else _rates(panel, cell, result)
        frames.append(data.select(pl.lit(x).alias(panel.x), pl.lit(y).alias(panel.y), pl.all()))
    if (columns[0], rows[0]) not in [(x, y) for x, y, _ in runs]:
        _explain(panel, axes, 0.5, 0.5, runs[0][2].window[1])
    for word in panel.classes if panel.shows == "queue" else ("ect", "not_ect"):
        axes.plot([], [], color=_paint[word], label=_label(word, [result for _, _, result in runs]))
    return pl.concat(frames, how="diagonal_relaxed").with_columns(source=pl.lit("measured"))


def _label(word: str, results: Sequence[Result]) -> str:
    """A class with the names of its groups."""
    facts = [group for result in results for group in result.scenario.facts["groups"]]
    names = dict.fromkeys(group["name"] for group in facts if group["ect"] == (word == "ect"))
    return _names[word] if word == "all" or not names else f"{_names[word]} ({', '.join(names)})"


def _explain(panel: Cells, axes: Axes, x: float, y: float, end_s: float) -> None:
    """The axes of the cells, in a place without a run."""
    if panel.shows == "queue":
        low, high = panel.x_range or (0, 300)
        text = f"x: {low:g} to {high:g} packets\ny: to the peak"
    else:
        of = "flows" if panel.rate_of == "all" else "ECT flows,\nor all flows"
        text = f"x: 0 to {end_s:g} s\ny: 0 to {panel.rate_mbps:g} Mbit/s\nover {of}"
    axes.text(x, y, text, ha="center", va="center", fontsize=4.2, color="#333333")


def _frame(axes: Axes, columns: Sequence[float], rows: Sequence[float]) -> None:
    """The axes around the cells, with the values of both axes as ticks."""
    axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    axes.set_xticks(np.arange(len(columns)) + 0.5, [f"{value:g}" for value in columns])
    axes.set_yticks(np.arange(len(rows)) + 0.5, [f"{value:g}" for value in rows])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _queue(panel: Cells, cell: Axes, result: Result) -> pl.DataFrame:
    frames = []
    present = {"all": True, **{word: bool(result.bottlenecks[0][word]["arrived"]) for word in ("ect", "not_ect")}}
    for word in panel.classes:
        if not present[word]:
            continue
        shares = analysis.backlog_pdf(result, word, width=panel.width)
        # Autoscaled by the highest bar of each class: a narrow distribution would hide a wide one.
        x, y = _steps(shares.with_columns(pl.col("share") / pl.col("share").max()))
        cell.fill_between(x, y, color=_paint[word], alpha=0.35, linewidth=0, zorder=1)
        cell.plot(x, y, color=_paint[word], linewidth=0.6, zorder=2)
        frames.append(shares.select(pl.lit(word).alias("class"), "low_packets", "share"))
    cell.set(xlim=panel.x_range or (0, 300), ylim=(0, 108))
    return pl.concat(frames) if frames else pl.DataFrame()


def _rates(panel: Cells, cell: Axes, result: Result) -> pl.DataFrame:
    """The rate of every flow over time; the axis ends at twice the fair share of all flows, or of the ECT flows."""
    capable = {group["name"]: group["ect"] for group in result.scenario.facts["groups"]}
    counts = {group["name"]: group["flow_count"] for group in result.groups}
    table = result.table("flows").with_columns(mbps=pl.col("wire_bps") / 1e6)
    for (group, _), rows in table.group_by("group", "flow", maintain_order=True):
        word = "ect" if capable[str(group)] else "not_ect"
        cell.plot(rows["time_s"], rows["mbps"], color=_paint[word], linewidth=0.35, alpha=0.8, zorder=2)
    flows = sum(counts.values())
    if panel.rate_of == "ect":
        flows = sum(count for group, count in counts.items() if capable[group]) or flows
    cell.set(xlim=(0, result.window[1]), ylim=(0, panel.rate_mbps / flows))
    return table.group_by("group", "time_s", maintain_order=True).agg(
        mean_mbps=pl.col("mbps").mean(), least_mbps=pl.col("mbps").min(), most_mbps=pl.col("mbps").max()
    )
