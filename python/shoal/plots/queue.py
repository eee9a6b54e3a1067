"""The queue over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes

from shoal import moving
from shoal._columns import number
from shoal.plots.detail import detail_s
from shoal.plots.schedule import mark_changes, shade_outages
from shoal.plots.sizes import Panels, row_of_panels
from shoal.plots.style import Drawn, colour, label_at_edge, legend_above, paper_style, shade_warmup, span_text

if TYPE_CHECKING:
    from shoal.run_record import RunRecord
    from shoal.scenario_facts import ThresholdFacts

# The whole run shows trends, the detail single oscillations.
_overview_points = 150


def draw(result: RunRecord) -> Drawn:
    """Waiting packets, the law's own average if it keeps one, and its thresholds, in packets of the largest size.

    Of the first monitored link: left the whole run as mean and range of bins, right the beginning of the measurements
    as recorded; one below the other in a narrow figure.
    """
    fact = result.scenario.facts["bottlenecks"][0]
    mtu = fact["mtu_bytes"]
    start_s, end_s = result.window
    data = (
        result.table("queue")
        .filter(pl.col("link") == fact["name"])
        .select(
            "time_s",
            queue_packets=pl.col("bytes") / mtu,
            average_packets=pl.col("average_bytes") / mtu,
            marks="marks",
            drops="drops",
        )
    )
    bins_s = result.bin_s or 0.0
    detail_end_s = min(start_s + detail_s(result, bins_s=bins_s), end_s)
    with paper_style():
        panels = row_of_panels(2, 2.3, sharey=True, ratios=[1.0, 1.25])
        whole, detail = panels.axes
        _overview(whole, data, start_s, end_s)
        rows = data.filter(pl.col("time_s").is_between(start_s, detail_end_s))
        detail.plot(rows["time_s"], rows["queue_packets"], color=colour(0), linewidth=0.9, label="waiting")
        if rows["average_packets"].is_not_null().any():
            detail.plot(
                rows["time_s"], rows["average_packets"], color=colour(1), linewidth=1.1, label="average of the law"
            )
        detail.set(xlabel=f"Time [s], bins of {span_text(bins_s)}", xlim=(start_s, detail_end_s))
        measured = data.filter(pl.col("time_s") > start_s)["queue_packets"]
        top = number(measured.max()) or number(data["queue_packets"].max()) or 1.0
        moves = len(moving.rates(result)) > 1
        drawn = [line for line in fact["thresholds"] if not (moves and "time_s" in line)]
        _thresholds(panels, drawn, mtu, top)
        whole.set(xlabel="Time [s]", xlim=(0, end_s))
        for axes in panels.left:
            axes.set_ylabel(f"Queue [packets of {mtu} B]")
        for axes in panels.axes:
            shade_outages(axes, result)
            mark_changes(axes, result)
        legend_above(whole)
        legend_above(detail)
    title = "Queue over time, with the thresholds of its law: the whole run, and a detail"
    first, second = ("Above", "below") if panels.is_column else ("Left", "right")
    note = (
        f"The queue is a mean over each bin of {span_text(bins_s)} (trace.series): what is shorter does not show. "
        f"{first}: mean and range of the bins in each {span_text(max(end_s / _overview_points, bins_s))}; "
        f"{second}: every bin."
    )
    if left_out := [line for line in fact["thresholds"] if line not in drawn]:
        levels = ", ".join(f"{line['label']} ({span_text(line['time_s'])})" for line in left_out)
        note += f" As the rate of the link changes, levels that are times are not drawn: {levels}."
    return Drawn("queue", title, panels.figure, data, note=note)


def _overview(axes: Axes, data: pl.DataFrame, start_s: float, end_s: float) -> None:
    width = max(end_s / _overview_points, 1e-9)
    bins = (
        data.with_columns(bin=(pl.col("time_s") / width - 1e-9).floor())
        .group_by("bin", maintain_order=True)
        .agg(
            pl.col("time_s").max(),
            mean=pl.col("queue_packets").mean(),
            low=pl.col("queue_packets").min(),
            high=pl.col("queue_packets").max(),
        )
    )
    shade_warmup(axes, start_s)
    axes.fill_between(
        bins["time_s"], bins["low"], bins["high"], color=colour(0), alpha=0.25, linewidth=0, label="range"
    )
    axes.plot(bins["time_s"], bins["mean"], color=colour(0), label="mean")


def _thresholds(panels: Panels, thresholds: Sequence[ThresholdFacts], mtu: int, top: float) -> None:
    """Label each threshold at the right edge; one that the queue never comes near would squeeze everything else."""
    near = [line for line in thresholds if line["bytes"] / mtu <= 2.5 * top]
    highest = max([top, *(line["bytes"] / mtu for line in near)])
    panels.axes[0].set_ylim(0, 1.08 * highest)
    last = -1.0
    for line in sorted(near, key=lambda line: float(line["bytes"])):
        packets = line["bytes"] / mtu
        for axes in panels.axes:
            axes.axhline(packets, color="#333333", linewidth=0.7, linestyle="--")
        # Labels of thresholds that are close together must not lie on each other.
        height = max(packets, last + 0.085 * highest)
        for axes in panels.right:
            label_at_edge(axes, line["label"], height, size=7)
        last = height
