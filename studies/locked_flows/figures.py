"""The figure: rates over time, window and packets in flight, and the map."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, dash, markers, paper_style
from shoal_dev import study
from studies.locked_flows.cases import (
    BASE,
    LOCKED_BELOW,
    NO_DEFERRAL,
    SEGMENT_PACKETS,
    Case,
    Shares,
    Variant,
    two_bursts,
)
from studies.locked_flows.traced import in_flight, traced

SERIES = "10 ms"
FLOWS = ("first", "joins")
# What the third panel shows of the traced run.
SHOWN_S = (0.28, 0.286)


def figure(rates: Sequence[int], rtts: Sequence[int], run: Callable[[Sequence[Case]], list[Shares]]) -> Figure:
    """All four panels."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 4.4))
        (locked, cured), (window, over_rtt) = drawn.subplots(2, 2)
        draw_rates(locked, BASE, "Linux's defaults: locked")
        draw_rates(cured, Variant("", {"host": NO_DEFERRAL}), "tso_win_divisor = 0: fair")
        draw_window(window)
        draw_map(over_rtt, rates, rtts, run)
        return drawn


def draw_rates(axes: Axes, variant: Variant, title: str) -> None:
    """The rates of both flows over time on both planes."""
    planes = {"simulator": study.simulated(tables=True), "Linux": study.on_linux(tables=True)}
    for line, (plane, run) in enumerate(planes.items()):
        (result,) = run([(variant.case().scenario({"series": SERIES}), 1)])
        rows = result.table("flows")
        for flow, name in enumerate(FLOWS):
            of = rows.filter(pl.col("flow") == flow)
            label = f"{name}, {plane}"
            axes.plot(
                of["time_s"],
                of["wire_bps"] / 1e9,
                color=colour(flow),
                linestyle=dash(2 * line),
                linewidth=0.9,
                label=label,
            )
    axes.set(title=title, xlabel="Time [s]", ylabel="Rate [Gbit/s]", xlim=(0, None), ylim=(0, 10.5))
    if variant is BASE:
        axes.legend(loc="center right")


def draw_window(axes: Axes) -> None:
    """Window and packets in flight of both flows for some round trips."""
    result = traced(BASE)
    for flow, name in enumerate(FLOWS):
        rows = in_flight(result, flow).filter(pl.col("time_s").is_between(*SHOWN_S))
        windows = result.table("controller").filter((pl.col("flow") == flow) & pl.col("time_s").is_between(*SHOWN_S))
        # In CWR proportional rate reduction keeps cwnd at what is in flight; ssthresh is the window that follows.
        kept = windows.select("time_s", packets=pl.max_horizontal("cwnd_packets", "ssthresh_packets"))
        for values, width, what in ((rows, 0.5, "in flight"), (kept, 1.3, "window")):
            axes.plot(
                (values["time_s"] - SHOWN_S[0]) * 1e3,
                values["packets"],
                color=colour(flow),
                linewidth=width,
                drawstyle="steps-post",
                label=f"{name}, {what}",
            )
    for segments in (6, 7, 8):
        axes.axhline(segments * SEGMENT_PACKETS, color="#888888", linewidth=0.6, linestyle=(0, (1, 2)))
        axes.text(6.05, segments * SEGMENT_PACKETS, f"{segments} x {SEGMENT_PACKETS}", va="center", fontsize=7)
    axes.set(title="Windows move, seven segments stay", xlabel="Time [ms]", ylabel="Packets")
    axes.set(xlim=(0, 6), ylim=(0, 375))
    axes.legend(loc="center", ncols=2)


def draw_map(
    axes: Axes, rates: Sequence[int], rtts: Sequence[int], run: Callable[[Sequence[Case]], list[Shares]]
) -> None:
    """The smaller share over the round trip."""
    for index, rate in enumerate(rates):
        of = run([Case(rate, rtt, two_bursts(rate, rtt)) for rtt in rtts])
        axes.plot(
            rtts,
            [one_run.least for one_run in of],
            color=colour(index),
            linestyle=dash(index),
            marker=markers[index],
            label=f"{rate} Gbit/s",
        )
    axes.axhline(LOCKED_BELOW, color="black", linewidth=0.6)
    axes.text(52, LOCKED_BELOW + 0.02, "below: locked", fontsize=7)
    axes.set(
        title="K of two bursts", xscale="log", xlabel="RTT [us]", ylabel="Smaller rate over the mean", ylim=(0, 1.35)
    )
    axes.xaxis.set_major_locator(FixedLocator(rtts))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(loc="upper center", ncols=2)
