"""A link that changes, over time: its rate and what it carried, the queue's delay, its own delay, and power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from shoal import moving
from shoal._columns import number
from shoal.plots.rates import bins_note
from shoal.plots.schedule import draw_delay, draw_rate, mark_changes, shade_outages
from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, dash, legend_above, paper_style, shade_warmup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shoal.run_record import RunRecord

_classes = {"ect": "ECT", "not_ect": "not ECT"}


def applies(result: RunRecord) -> bool:
    """Whether there is such a figure: a monitored link changes."""
    return _first(result) is not None


def _first(result: RunRecord) -> int | None:
    """The first monitored link that changes."""
    return next((link for link in range(len(result.bottlenecks)) if moving.history(result, link)), None)


def draw(result: RunRecord) -> Drawn:
    """What the first link that changes carried beside its rate, the queue's delay, the link's own delay, and power."""
    link = _first(result) or 0
    start_s, end_s = result.window
    series = moving.series(result, link).join(moving.power(result, link), on="time_s")
    windows = windows_of(result, link)
    history = moving.history(result, link)
    has_delays = history is not None and history["delay_changes"] > 0
    heights = [1.5, 1.5, 0.9] + ([0.8] if has_delays else [])
    with paper_style():
        figure = new_figure(sum(heights) + 0.9)
        panels = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights).flat)
        rate, delay, power = panels[:3]
        for axes in panels:
            axes.set_xlim(0, end_s)
            shade_warmup(axes, start_s)
            shade_outages(axes, result, link=link)
        rate.plot(series["time_s"], series["carried_bps"] / 1e6, color=colour(0), linewidth=0.9, label="carried")
        draw_rate(rate, result, link=link)
        rate.set(ylabel="Rate [Mbit/s]")
        rate.set_ylim(bottom=0)
        legend_above(rate)
        _draw_delay(delay, series, windows)
        power.plot(series["time_s"], series["power"] / 1e9, color=colour(2), linewidth=0.9)
        power.set(ylabel="Power\n[Mbit/s per ms]")
        power.set_ylim(bottom=0)
        if has_delays:
            draw_delay(panels[3], result, link=link)
            panels[3].set(ylabel="Delay of\nthe link [ms]")
            panels[3].set_ylim(bottom=0)
        panels[-1].set(xlabel="Time [s]")
    name = result.bottlenecks[link]["name"]
    note = (
        f"{bins_note(result)} The queue's delay is the time that the waiting bytes take at the rate of that time. "
        "Power is the carried rate over the round-trip time."
    )
    if history is not None and (means_s := history["means_over_s"]) is not None:
        note += f" The rate and the delay of the link are means over {means_s:g} s."
    if len(windows):
        note += " Delays of packets are the median and the 99th percentile in each window (trace.windows)."
    data = series.join(windows, left_on="time_s", right_on="end_s", how="full", coalesce=True).sort("time_s")
    return Drawn("path", f"The link {name} over time: rate, queueing delay, and power", figure, data, note=note)


def compare(labelled: Sequence[tuple[str, RunRecord]]) -> Drawn:
    """The queue's delay over time of several runs, each at its first link that changes."""
    frames = []
    end_s = max(result.window[1] for _, result in labelled)
    with paper_style():
        figure = new_figure(2.3)
        axes = figure.add_subplot()
        axes.set_xlim(0, end_s)
        shade_warmup(axes, labelled[0][1].window[0])
        for index, (label, result) in enumerate(labelled):
            series = moving.series(result, _first(result) or 0)
            axes.plot(series["time_s"], series["delay_s"] * 1e3, color=colour(index), linewidth=0.8, label=label)
            frames.append(series.select(pl.lit(label).alias("run"), "time_s", "rate_bps", "carried_bps", "delay_s"))
        # Marks of one schedule would be wrong for another.
        first = labelled[0][1]
        link = _first(first) or 0
        if all(moving.rates(result, _first(result) or 0) == moving.rates(first, link) for _, result in labelled):
            mark_changes(axes, first, link=link)
        axes.set(xlabel="Time [s]", ylabel="Queueing delay [ms]")
        axes.set_ylim(bottom=0)
        legend_above(axes, columns=6)
    note = "The queue's delay is the time that the waiting bytes take at the rate of that time (trace.series)."
    return Drawn("path-compared", "Queueing delay over time, side by side", figure, pl.concat(frames), note=note)


def _draw_delay(axes: Axes, series: pl.DataFrame, windows: pl.DataFrame) -> None:
    axes.plot(series["time_s"], series["delay_s"] * 1e3, color="#999999", linewidth=0.8, label="time to send the queue")
    for index, (word, label) in enumerate(_classes.items()):
        rows = windows.filter(pl.col("class") == word) if len(windows) else windows
        if len(rows):
            paint = colour(index)
            axes.plot(rows["end_s"], rows["p50_ms"], color=paint, linewidth=1.0, label=f"{label} P50")
            axes.plot(
                rows["end_s"], rows["p99_ms"], color=paint, linewidth=0.8, linestyle=dash(2), label=f"{label} P99"
            )
    axes.set(ylabel="Queueing delay [ms]")
    axes.set_ylim(bottom=0)
    legend_above(axes, columns=5)


def windows_of(result: RunRecord, link: int = 0) -> pl.DataFrame:
    """``end_s, class, p50_ms, p99_ms`` of the packets that left a link in each window of ``trace.windows``."""
    schema = {"end_s": pl.Float64, "class": pl.String, "p50_ms": pl.Float64, "p99_ms": pl.Float64}
    if "delay_windows" not in result.table_names:
        return pl.DataFrame(schema=schema)
    rows = result.table("delay_windows").filter(pl.col("link") == result.bottlenecks[link]["name"])
    quantiles = [
        {"end_s": key[0], "class": key[1], "p50_ms": _quantile_ms(window, 0.5), "p99_ms": _quantile_ms(window, 0.99)}
        for key, window in rows.group_by("end_s", "class", maintain_order=True)
        if window["packets"].sum() and key[1] in _classes
    ]
    return pl.DataFrame(quantiles, schema=schema)


def _quantile_ms(rows: pl.DataFrame, part: float) -> float | None:
    """The upper edge of the bucket in which the quantile lies: no delay is shown shorter than it may have been."""
    ordered = rows.sort("high_s").with_columns(reached=pl.col("packets").cum_sum())
    highest = number(ordered.filter(pl.col("reached") >= part * pl.col("packets").sum())["high_s"].min())
    return None if highest is None else highest * 1e3
