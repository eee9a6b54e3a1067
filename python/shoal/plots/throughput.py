"""Rates as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from shoal.plots.style import Drawn, colour, paper_style, two_columns
from shoal.stats import estimate

if TYPE_CHECKING:
    from shoal.run_record import RunRecord


def draw(clusters: Sequence[Sequence[RunRecord]], *, labels: Sequence[str] | None = None) -> Drawn:
    """Mean wire rate of a flow of each group.

    Parameters
    ----------
    clusters
        What stands together; each is one run, with a tick for each flow, or several seeds: mean and 95 % confidence
        interval.
    labels
        Names of the clusters, if there are several.
    """
    names = list(dict.fromkeys(group["name"] for cluster in clusters for group in cluster[0].groups))
    rows = []
    with paper_style():
        figure = Figure(
            figsize=(two_columns, 0.26 * max(2, sum(len(c[0].groups) for c in clusters) + 0.6 * len(clusters)) + 0.65)
        )
        axes = figure.add_subplot()
        ticks, tick_labels, place = [], [], 0.0
        for cluster, label in zip(clusters, labels or [""], strict=True):
            first = place
            for group in cluster[0].groups:
                name, index = group["name"], names.index(group["name"])
                means = [
                    other["wire_bps"]["mean"] / 1e6
                    for result in cluster
                    for other in result.groups
                    if other["name"] == name and other["wire_bps"]["mean"] is not None
                ]
                if (value := estimate(means)) is None:
                    continue
                axes.barh(
                    place,
                    value.mean,
                    height=0.72,
                    color=colour(index),
                    label=name,
                    xerr=value.half_width,
                    ecolor="#222222",
                )
                flows = [(flow["wire_bps"] or 0.0) / 1e6 for flow in group["flows"]] if len(cluster) == 1 else []
                if len(flows) > 1:
                    axes.plot(flows, [place] * len(flows), "|", color="#222222", markersize=7, markeredgewidth=0.8)
                axes.annotate(
                    f"{value.mean:.2f}" + ("" if value.half_width is None else f" ± {value.half_width:.2f}"),
                    (max([value.mean + (value.half_width or 0), *flows]), place),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                )
                if not label:
                    ticks.append(place)
                    tick_labels.append(name)
                rows.append(
                    {"run": label, "group": name, "mean_mbps": value.mean, "ci95_mbps": value.half_width, "n": value.n}
                )
                place += 1
            if label:
                ticks.append((first + place - 1) / 2)
                tick_labels.append(label)
            place += 0.6
        axes.set_yticks(ticks, tick_labels)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("Rate of a flow [Mbit/s]")
        axes.margins(x=0.14)
        axes.set_xlim(left=0)
        if labels is not None:
            handles, texts = axes.get_legend_handles_labels()
            once = dict(zip(texts, handles, strict=True))
            axes.legend(
                once.values(), once.keys(), loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2
            )
    schema = {"run": pl.String, "group": pl.String, "mean_mbps": pl.Float64, "ci95_mbps": pl.Float64, "n": pl.Int64}
    return Drawn("throughput", "Rate of a flow of each group", figure, pl.DataFrame(rows, schema=schema))
