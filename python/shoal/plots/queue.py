"""The queue over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shoal.plots.style import Drawn, colour, legend_above, paper_style, shade_warmup, two_columns

if TYPE_CHECKING:
    from shoal.result import Result

_points = 1500


def draw(result: Result, *, link: str | None = None) -> Drawn:
    """Waiting packets, the law's own average if it keeps one, and its thresholds, in packets of the largest size.

    Parameters
    ----------
    result
        A run with a time series.
    link
        Name of a monitored link; the first if not given.
    """
    facts = result.scenario.facts["bottlenecks"]
    name = link or facts[0]["name"]
    fact = next(fact for fact in facts if fact["name"] == name)
    mtu = fact["mtu_bytes"]
    start_s, end_s = result.window
    rows = result.table("queue").filter(pl.col("link") == name)
    width = max(end_s / _points, 1e-9)
    data = (
        rows.with_columns(bin=(pl.col("time_s") / width - 1e-9).floor())
        .group_by("bin", maintain_order=True)
        .agg(
            pl.col("time_s").max(),
            queue_packets=pl.col("bytes").mean() / mtu,
            average_packets=pl.col("average_bytes").last() / mtu,
            marks=pl.col("marks").sum(),
            drops=pl.col("drops").sum(),
        )
        .drop("bin")
    )
    with paper_style():
        figure = Figure(figsize=(two_columns, 2.3))
        axes = figure.add_subplot()
        shade_warmup(axes, start_s)
        axes.plot(data["time_s"], data["queue_packets"], color=colour(0), linewidth=0.7, label="waiting")
        if data["average_packets"].is_not_null().any():
            axes.plot(data["time_s"], data["average_packets"], color=colour(1), linewidth=1.0, label="average of the law")
        axes.set(xlabel="Time [s]", ylabel=f"Queue [packets of {mtu} B]", xlim=(0, end_s))
        measured = data.filter(pl.col("time_s") > start_s)["queue_packets"]
        top = float(measured.max() or data["queue_packets"].max() or 1.0)  # type: ignore[arg-type]
        _thresholds(axes, fact["thresholds"], mtu, top)
        legend_above(axes)
    return Drawn("queue", "Queue over time, with the thresholds of its law", figure, data)


def _thresholds(axes: Axes, thresholds: list[dict[str, Any]], mtu: int, top: float) -> None:
    """Label each threshold at the right edge; one that the queue never comes near would squeeze everything else."""
    near = [line for line in thresholds if line["bytes"] / mtu <= 2.5 * top]
    highest = max([top, *(line["bytes"] / mtu for line in near)])
    axes.set_ylim(0, 1.08 * highest)
    last = -1.0
    for line in sorted(near, key=lambda line: line["bytes"]):
        packets = line["bytes"] / mtu
        axes.axhline(packets, color="#333333", linewidth=0.7, linestyle="--")
        # Labels of thresholds that are close together must not lie on each other.
        place = max(packets, last + 0.075 * highest)
        axes.annotate(
            line["label"],
            (1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            annotation_clip=False,
        )
        last = place
