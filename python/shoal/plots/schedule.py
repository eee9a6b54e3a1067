"""How a link changed, drawn into the figures of what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal import moving

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shoal.run_record import RunRecord

_outage = "#e8b4a8"


def shade_outages(axes: Axes, result: RunRecord, *, link: int = 0) -> None:
    """Shade the times at which a monitored link was down, as far as they are in view."""
    begin_s, end_s = axes.get_xlim()
    outages = [
        (max(at, begin_s), min(to, end_s)) for at, to in moving.outages(result, link) if at < end_s and to > begin_s
    ]
    for number, (from_s, to_s) in enumerate(outages):
        label = "link down" if number == 0 else "_nolegend_"
        axes.axvspan(from_s, to_s, color=_outage, alpha=0.55, zorder=0.5, linewidth=0, label=label)


def draw_rate(axes: Axes, result: RunRecord, *, link: int = 0, parts: int = 1, label: str = "rate of the link") -> None:
    """The rate of a monitored link as a step line in Mbit/s, divided into equal parts."""
    known = moving.rates(result, link)
    ends_s = [at for at, _ in known] + [result.window[1]]
    mbps = [bps / parts / 1e6 for _, bps in known]
    line = ":" if parts > 1 else "--"
    axes.step(ends_s, [*mbps, mbps[-1]], where="post", color="#333333", linewidth=0.8, linestyle=line, label=label)


def draw_delay(axes: Axes, result: RunRecord, *, link: int = 0) -> None:
    """The propagation delay of a monitored link as a step line in ms."""
    history = moving.history(result, link)
    if history is None:
        return
    times_s = [step["from_s"] for step in history["delay"]] + [result.window[1]]
    delays_ms = [step["delay_s"] * 1e3 for step in history["delay"]]
    axes.step(times_s, [*delays_ms, delays_ms[-1]], where="post", color="#333333", linewidth=0.9)


def mark_changes(axes: Axes, result: RunRecord, *, link: int = 0, most: int = 20) -> None:
    """A thin line at each step of the rate in view, unless there are so many that they would hide what is drawn."""
    from_s, to_s = axes.get_xlim()
    times_s = [step["at_s"] for step in moving.steps(result, link) if from_s <= step["at_s"] <= to_s]
    for number, at_s in enumerate(times_s if len(times_s) <= most else []):
        label = "rate changes" if number == 0 else "_nolegend_"
        axes.axvline(at_s, color="#333333", linewidth=0.7, linestyle=(0, (1, 2)), zorder=1.5, label=label)
