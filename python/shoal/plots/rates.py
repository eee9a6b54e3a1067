"""Rates over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from shoal.plots.schedule import draw_rate, shade_outages
from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, legend_above, paper_style, shade_warmup, span_text

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

# More points than this only blacken the figure.
_points = 300


def draw(result: RunRecord) -> Drawn:
    """Rate of a flow of each group on the bottleneck's wire: mean, and the range over the group's flows."""
    start_s, end_s = result.window
    data = series(result)
    with paper_style():
        figure = new_figure(2.3)
        axes = figure.add_subplot()
        axes.set_xlim(0, end_s)
        shade_warmup(axes, start_s)
        for index, group in enumerate(result.groups):
            rows = data.filter(pl.col("group") == group["name"])
            axes.plot(rows["time_s"], rows["mean_mbps"], color=colour(index), label=group["name"])
            if group["flow_count"] > 1:
                axes.fill_between(
                    rows["time_s"], rows["min_mbps"], rows["max_mbps"], color=colour(index), alpha=0.2, linewidth=0
                )
        flows = sum(group["flow_count"] for group in result.groups)
        if len(result.bottlenecks) == 1 and flows > 1:
            draw_rate(axes, result, parts=flows, label="equal shares")
        if result.bottlenecks:
            shade_outages(axes, result)
        mean_s = span_text(_width_s(result))
        axes.set(xlabel=f"Time [s], means over {mean_s}", ylabel="Rate of a flow [Mbit/s]")
        axes.set_ylim(bottom=0)
        legend_above(axes)
    title = "Rate of a flow on the wire, by group (band: range over its flows)"
    return Drawn("rates", title, figure, data, note=f"Means over {mean_s}. {bins_note(result)}")


def _width_s(result: RunRecord) -> float:
    """A whole number of bins, at least a 300th of the run: means over parts of bins would swing with them."""
    bin_s = result.bin_s or 1e-9
    return bin_s * max(1, math.ceil(result.window[1] / _points / bin_s - 1e-6))


def bins_note(result: RunRecord) -> str:
    """How fine the time series is that a figure is drawn from."""
    return f"Drawn from bins of {span_text(result.bin_s or 0.0)} (trace.series)."


def series(result: RunRecord) -> pl.DataFrame:
    """``group, time_s, mean_mbps, min_mbps, max_mbps``, averaged to at most 300 points."""
    frame = result.table("flows")
    width = _width_s(result)
    return (
        frame.with_columns(bin=(pl.col("time_s") / width - 1e-9).floor())
        .group_by("group", "flow", "bin", maintain_order=True)
        .agg(pl.col("time_s").max(), pl.col("wire_bps").mean())
        .group_by("group", "bin", maintain_order=True)
        .agg(
            pl.col("time_s").max(),
            mean_mbps=pl.col("wire_bps").mean() / 1e6,
            min_mbps=pl.col("wire_bps").min() / 1e6,
            max_mbps=pl.col("wire_bps").max() / 1e6,
        )
        .drop("bin")
    )
