"""Density and distribution of the queueing delay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal import _native
from shoal.plots.sizes import row_of_panels
from shoal.plots.style import Drawn, colour, dash, legend_above, legend_of_figure, paper_style

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.run_record import RunRecord

_bins = 50
_labels = {"ect": "ECT", "not_ect": "not ECT"}


def draw(result: RunRecord) -> Drawn:
    """Density (left) and distribution function (right) of the packets' time in the first queue, by class."""
    rows = _delays(result)
    classes = [word for word in _labels if rows.filter(pl.col("class") == word)["packets"].sum() > 0]
    edges = _edges_ms(result, _quantile_ms(rows, 0.9995))
    frames = []
    with paper_style():
        panels = row_of_panels(2, 2.4)
        density, cumulative = panels.axes
        for index, word in enumerate(classes):
            buckets = rows.filter(pl.col("class") == word)
            low, high = buckets["low_s"].to_numpy() * 1e3, buckets["high_s"].to_numpy() * 1e3
            packets = buckets["packets"].to_numpy().astype(float)
            share = np.asarray(_native.binned_shares(low.tolist(), high.tolist(), packets.tolist(), edges.tolist()))
            density.stairs(
                share * 100, edges, color=colour(index), linestyle=dash(index), label=_labels[word], linewidth=1.2
            )
            density.stairs(share * 100, edges, color=colour(index), fill=True, alpha=0.12)
            order = np.argsort(high, kind="stable")
            reached = np.cumsum(packets[order]) / packets.sum()
            # A step at each bucket's upper edge: no delay is shown shorter than it may have been.
            x = np.concatenate([[0.0], high[order], [edges[-1]]])
            y = np.concatenate([[0.0], reached, [1.0]])
            cumulative.step(x, y, where="post", color=colour(index), linestyle=dash(index), label=_labels[word])
            frames.append(
                pl.DataFrame(
                    {"class": word, "figure": "density", "delay_ms": edges[1:], "from_ms": edges[:-1], "value": share}
                )
            )
            frames.append(
                pl.DataFrame(
                    {
                        "class": word,
                        "figure": "distribution",
                        "delay_ms": high[order],
                        "from_ms": low[order],
                        "value": reached,
                    }
                )
            )
        width_ms = edges[1]
        density.set(xlabel="Queueing delay [ms]", ylabel=f"Packets [%] per {width_ms:.2g} ms", xlim=(0, edges[-1]))
        density.set_ylim(bottom=0)
        cumulative.set(xlabel="Queueing delay [ms]", ylabel="Fraction of packets", xlim=(0, edges[-1]), ylim=(0, 1.02))
        legend_above(density)
        legend_above(cumulative)
    empty = pl.DataFrame(schema={"class": pl.String, "figure": pl.String, "delay_ms": pl.Float64})
    data = pl.concat(frames) if frames else empty
    return Drawn("delay", "Queueing delay by class: density and distribution function", panels.figure, data)


def compare(labelled: Sequence[tuple[str, RunRecord]]) -> Drawn:
    """Distribution functions of the queueing delay at the first monitored link of several runs, one panel a class."""
    frames = []
    with paper_style():
        panels = row_of_panels(len(_labels), 2.5, sharey=True)
        longest_ms = 0.0
        for index, (label, result) in enumerate(labelled):
            rows = _delays(result)
            longest_ms = max(longest_ms, _quantile_ms(rows, 0.9995))
            for axes, word in zip(panels.axes, _labels, strict=True):
                buckets = rows.filter(pl.col("class") == word).sort("high_s")
                total = buckets["packets"].sum()
                if not total:
                    continue
                reached = buckets["packets"].cum_sum() / total
                x, y = [0.0, *(buckets["high_s"] * 1e3)], [0.0, *reached]
                axes.step(x, y, where="post", color=colour(index), linestyle=dash(index), label=label)
                frames.append(
                    pl.DataFrame({"run": label, "class": word, "delay_ms": buckets["high_s"] * 1e3, "value": reached})
                )
        for axes, title in zip(panels.axes, _labels.values(), strict=True):
            axes.set(
                xlabel="Queueing delay [ms]", title=f"{title} packets", xlim=(0, longest_ms or 1.0), ylim=(0, 1.02)
            )
        for axes in panels.left:
            axes.set_ylabel("Fraction of packets")
        legend_of_figure(panels.figure, panels.axes)
    schema = {"run": pl.String, "class": pl.String, "delay_ms": pl.Float64, "value": pl.Float64}
    data = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
    return Drawn("delay-compared", "Queueing delay by class: distribution functions side by side", panels.figure, data)


def _delays(result: RunRecord) -> pl.DataFrame:
    """What packets waited at the first monitored link."""
    return result.table("delay_distribution").filter(pl.col("link") == result.bottlenecks[0]["name"])


def _edges_ms(result: RunRecord, longest_ms: float) -> NDArray[np.float64]:
    """Bins of whole packet times: delays of a busy queue are nearly multiples of it, other bins would beat with it."""
    fact = result.scenario.facts["bottlenecks"][0]
    packet_ms = fact["mtu_bytes"] * 8e3 / fact["rate_bps"]
    width = packet_ms * np.ceil(longest_ms / (packet_ms * _bins)) if longest_ms > 5 * packet_ms else longest_ms / _bins
    width = width or 1.0
    return np.asarray(np.arange(0, np.ceil(longest_ms / width) + 1.5) * width)


def _quantile_ms(rows: pl.DataFrame, part: float) -> float:
    ordered = rows.sort("high_s")
    reached = ordered["packets"].cum_sum()
    if not len(ordered) or reached[-1] == 0:
        return 0.0
    index = int((reached >= part * reached[-1]).arg_max() or 0)
    return float(ordered["high_s"][index]) * 1e3
