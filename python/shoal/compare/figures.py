"""The two planes in one figure: rates, queueing delay, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from shoal.compare.comparison import Compared
from shoal.compare.quantities import samples
from shoal.plots.rates import bins_note, series
from shoal.plots.sizes import new_figure, row_of_panels
from shoal.plots.style import Drawn, colour, legend_above, legend_of_figure, paper_style, shade_warmup
from shoal.results import Result, Results

# The simulator's lines are whole, the kernel's dashed and on top.
_planes = (("simulator", "-", 1.6, 0.55), ("Linux", (0, (3, 1.5)), 1.0, 1.0))
_points = 400


def figures(compared: Compared) -> list[Drawn]:
    """All figures of a scenario."""
    return [rates(compared), windows(compared), delays(compared)]


def rates(compared: Compared) -> Drawn:
    """Rate of a flow of each group over time, of the first seed."""
    frames = []
    with paper_style():
        figure = new_figure(2.2)
        axes = figure.add_subplot()
        shade_warmup(axes, compared.sim[0].window[0])
        for (plane, dash, width, strength), runs in _sides(compared):
            data = series(runs[0])
            for index, group in enumerate(runs[0].groups):
                rows = data.filter(pl.col("group") == group["name"])
                label = f"{group['name']}, {plane}"
                axes.plot(
                    rows["time_s"],
                    rows["mean_mbps"],
                    color=colour(index),
                    linestyle=dash,
                    linewidth=width,
                    alpha=strength,
                    label=label,
                )
            frames.append(data.with_columns(plane=pl.lit(plane)))
        axes.set(xlabel="Time [s]", ylabel="Rate of a flow [Mbit/s]", xlim=(0, compared.sim[0].window[1]))
        axes.set_ylim(bottom=0)
        legend_above(axes)
    title = f"Rate of a flow on the wire, seed {compared.sim[0].seed}"
    return Drawn("rates", title, figure, pl.concat(frames), note=bins_note(compared.sim[0]))


def windows(compared: Compared) -> Drawn:
    """Mean cwnd of a group over a part of the measurement (first seed), and its distribution over all seeds."""
    frames = []
    start_s, end_s = compared.sim[0].window
    shown_s = min(end_s - start_s, max(0.2 * (end_s - start_s), 2.0))
    with paper_style():
        panels = row_of_panels(2, 2.3, ratios=(3, 2))
        trace, spread = panels.axes
        for (plane, dash, width, strength), runs in _sides(compared):
            for index, group in enumerate(runs[0].groups):
                name, label = group["name"], f"{group['name']}, {plane}"
                rows = _mean_window(runs[0], name).filter(pl.col("time_s") <= start_s + shown_s)
                style: dict[str, Any] = {"color": colour(index), "linestyle": dash, "linewidth": width}
                style["alpha"] = strength
                trace.plot(rows["time_s"], rows["cwnd_packets"], label=label, **style)
                values = np.sort(np.concatenate([samples(run, name, "cwnd_packets").to_numpy() for run in runs]))
                _cumulative(spread, values, np.ones(len(values)), **style)
                frames.append(rows.with_columns(plane=pl.lit(plane), group=pl.lit(name)))
        trace.set(xlabel="Time [s]", ylabel="cwnd [packets]", xlim=(start_s, start_s + shown_s))
        trace.set_ylim(bottom=0)
        spread.set(xlabel="cwnd [packets]", ylabel="Fraction of time", ylim=(0, 1.02))
        spread.set_xlim(left=0)
        legend_of_figure(panels.figure, [trace])
    title = f"Congestion window: seed {compared.sim[0].seed} (mean of a group), and its distribution over all seeds"
    return Drawn("windows", title, panels.figure, pl.concat(frames), note=bins_note(compared.sim[0]))


def delays(compared: Compared) -> Drawn:
    """Distribution function of the queueing delay over all seeds, one panel a class."""
    words = {"ect": "ECT packets", "not_ect": "Packets that are not ECT"}
    pooled = {(plane[0], word): _pooled(runs, word) for plane, runs in _sides(compared) for word in words}
    shown = [word for word in words if any(pooled[plane[0], word].height for plane in _planes)]
    frames = []
    with paper_style():
        panels = row_of_panels(max(1, len(shown)), 2.2)
        for axes, word in zip(panels.axes, shown, strict=False):
            for plane, dash, width, strength in _planes:
                rows = pooled[plane, word]
                ms, packets = rows["high_s"].to_numpy() * 1e3, rows["packets"].to_numpy()
                style = {"color": colour(list(words).index(word)), "linestyle": dash, "linewidth": width}
                _cumulative(axes, ms, packets, label=plane, alpha=strength, **style)
                frames.append(rows.with_columns(plane=pl.lit(plane), **{"class": pl.lit(word)}))
            axes.set(xlabel="Queueing delay [ms]", ylim=(0, 1.02), title=words[word])
            axes.set_xlim(left=0)
            axes.legend(loc="lower right")
        for axes in panels.left:
            axes.set_ylabel("Fraction of packets")
    # Where nothing was sent in the measurement, the panel is empty, and so are the data.
    data = (
        pl.concat(frames)
        if frames
        else _pooled(compared.sim, "").with_columns(**dict.fromkeys(("plane", "class"), pl.lit("")))
    )
    return Drawn("delay", "Queueing delay: distribution over all seeds", panels.figure, data)


def _sides(compared: Compared) -> Sequence[tuple[tuple[str, object, float, float], Results]]:
    return list(zip(_planes, (compared.sim, compared.linux), strict=True))


def _mean_window(run: Result, group: str) -> pl.DataFrame:
    rows = run.table("flows").filter((pl.col("group") == group) & (pl.col("time_s") > run.window[0]))
    return rows.group_by("time_s", maintain_order=True).agg(pl.col("cwnd_packets").cast(pl.Float64).mean())


def _pooled(runs: Results, word: str) -> pl.DataFrame:
    link = runs[0].bottlenecks[0]["name"]
    tables = [
        run.table("delay_distribution").filter((pl.col("link") == link) & (pl.col("class") == word)) for run in runs
    ]
    return pl.concat(tables).group_by("high_s").agg(pl.col("packets").sum()).sort("high_s")


def _cumulative(axes: Axes, values: np.ndarray, weights: np.ndarray, **style: Any) -> None:
    """A distribution function with at most some hundred steps."""
    if not len(values) or not weights.sum():
        return
    reached = np.cumsum(weights) / weights.sum()
    picked = np.unique(np.searchsorted(reached, np.linspace(0, 1, _points)).clip(0, len(values) - 1))
    x, y = np.concatenate([[values[0]], values[picked]]), np.concatenate([[0.0], reached[picked]])
    axes.step(x, y, where="post", **style)
