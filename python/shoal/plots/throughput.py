"""Rates as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes

from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, paper_style
from shoal.stats import Estimate, estimate

if TYPE_CHECKING:
    from shoal.contract import GroupResult
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
        figure = new_figure(0.26 * max(2, sum(len(c[0].groups) for c in clusters) + 0.6 * len(clusters)) + 0.65)
        axes = figure.add_subplot()
        ticks, tick_labels, y = [], [], 0.0
        for cluster, label in zip(clusters, labels or [""], strict=True):
            first = y
            for group in cluster[0].groups:
                name, index = group["name"], names.index(group["name"])
                if (value := _mean_mbps(cluster, name)) is None:
                    continue
                _bar(axes, y, value, group, colour(index), is_single=len(cluster) == 1)
                if not label:
                    ticks.append(y)
                    tick_labels.append(name)
                rows.append(
                    {"run": label, "group": name, "mean_mbps": value.mean, "ci95_mbps": value.half_width, "n": value.n}
                )
                y += 1
            if label:
                ticks.append((first + y - 1) / 2)
                tick_labels.append(label)
            y += 0.6
        axes.set_yticks(ticks, tick_labels)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("Rate of a flow [Mbit/s]")
        axes.margins(x=0.14)
        axes.set_xlim(left=0)
        if labels is not None:
            _legend(axes)
    schema = {"run": pl.String, "group": pl.String, "mean_mbps": pl.Float64, "ci95_mbps": pl.Float64, "n": pl.Int64}
    return Drawn("throughput", "Rate of a flow of each group", figure, pl.DataFrame(rows, schema=schema))


def _mean_mbps(cluster: Sequence[RunRecord], name: str) -> Estimate | None:
    """Over the runs that have such a group and know its rate."""
    groups = [group for result in cluster for group in result.groups if group["name"] == name]
    return estimate([mean / 1e6 for group in groups if (mean := group["wire_bps"]["mean"]) is not None])


def _bar(axes: Axes, y: float, value: Estimate, group: GroupResult, paint: str, *, is_single: bool) -> None:
    """The mean as a bar with its number; the flows of a single run as ticks."""
    width = value.half_width
    axes.barh(y, value.mean, height=0.72, color=paint, label=group["name"], xerr=width, ecolor="#222222")
    flows = [(flow["wire_bps"] or 0.0) / 1e6 for flow in group["flows"]] if is_single else []
    if len(flows) > 1:
        axes.plot(flows, [y] * len(flows), "|", color="#222222", markersize=7, markeredgewidth=0.8)
    axes.annotate(
        f"{value.mean:.2f}" + ("" if width is None else f" ± {width:.2f}"),
        (max([value.mean + (width or 0), *flows]), y),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
    )


def _legend(axes: Axes) -> None:
    """Every group once, however many bars it has."""
    handles, texts = axes.get_legend_handles_labels()
    once = dict(zip(texts, handles, strict=True))
    axes.legend(once.values(), once.keys(), loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
