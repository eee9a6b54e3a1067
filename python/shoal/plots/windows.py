"""Congestion windows and alpha over time, with what the network signalled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes

from shoal.plots.detail import detail_s
from shoal.plots.schedule import shade_outages
from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, legend_above, paper_style, span_text

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

_flows_shown = 6
_signals = {"mark": ("|", "marks"), "drop": ("x", "drops")}


def draw(result: RunRecord, *, start_s: float | None = None, end_s: float | None = None) -> Drawn:
    """Congestion window and alpha of a flow of each group, and its marks and drops.

    Shows 800 round-trip times, at most 20 s, from the start of the measurements unless told otherwise. A traced flow
    (``trace.controller_flows``) is drawn with every change. Of a flow that was not traced only the ends of the bins of
    the time series are known: it is drawn as points, and the legend says so.
    """
    if start_s is None:
        start_s = result.window[0]
    if end_s is None:
        end_s = min(start_s + detail_s(result), result.window[1])
    flows = shown_flows(result)
    data = trace(result, list(flows), start_s, end_s)
    signals = signals_of(result, list(flows), start_s, end_s)
    has_alpha = data["alpha"].is_not_null().any()
    rows = sum(len(signals.filter(pl.col("flow") == flow)["kind"].unique()) for flow in flows)
    heights = [2.2] + ([1.0] if has_alpha else []) + ([0.14 * rows + 0.1] if rows else [])
    with paper_style():
        figure = new_figure(sum(heights) + 0.6)
        panels = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights).flat)
        window = panels[0]
        for index, (flow, label) in enumerate(flows.items()):
            samples = data.filter(pl.col("flow") == flow)
            draw_flow(window, result, flow, samples, "cwnd_packets", index, label=label)
            if has_alpha and samples["alpha"].is_not_null().any():
                draw_flow(panels[1], result, flow, samples, "alpha", index, label=None)
        window.set(ylabel="cwnd [packets]", xlim=(start_s, end_s))
        if result.bottlenecks:
            shade_outages(window, result)
        window.set_ylim(bottom=0)
        legend_above(window)
        if has_alpha:
            panels[1].set(ylabel="alpha")
            panels[1].set_ylim(bottom=0)
        if rows:
            _rug(panels[-1], signals, flows)
        panels[-1].set_xlabel("Time [s]")
    events = signals.select("time_s", "flow", "group", event="kind")
    table = pl.concat([data.with_columns(event=pl.lit(None, dtype=pl.String)), events], how="diagonal").sort(
        "flow", "time_s", maintain_order=True
    )
    title = "Congestion windows, alpha, and what the queue signalled"
    return Drawn("windows", title, figure, table, note=traced_note(result, list(flows)))


def draw_flow(
    axes: Axes, result: RunRecord, flow: int, samples: pl.DataFrame, column: str, index: int, *, label: str | None
) -> None:
    """Every change of a traced flow as steps; of any other the ends of its bins as points that nothing joins."""
    if flow in result.traced_flows:
        axes.step(samples["time_s"], samples[column], where="post", color=colour(index), linewidth=0.9, label=label)
        return
    text = f"{label}: not traced, every {span_text(result.bin_s or 0.0)}" if label else None
    axes.plot(samples["time_s"], samples[column], ".", color=colour(index), markersize=3, label=text)


def traced_note(result: RunRecord, flows: list[int]) -> str:
    """Which flows of the run were traced, and what that means for the ``flows`` that a figure shows."""
    every = sum(group["flow_count"] for group in result.groups)
    traced = result.traced_flows
    shown = [flow for flow in flows if flow in traced]
    words = f"{len(traced)} of {every} flows were traced" if traced else f"None of the {every} flows was traced"
    if len(traced) == every:
        words = "The one flow was traced" if every == 1 else f"All {every} flows were traced"
    parts = [f"{words} (trace.controller_flows)" + (f"; shown: {_numbers(shown)}." if shown else ".")]
    if others := [flow for flow in flows if flow not in traced]:
        verb = "was" if len(others) == 1 else "were"
        parts.append(
            f"{_numbers(others).capitalize()} {verb} not: only points every {span_text(result.bin_s or 0.0)} are "
            "known, and neither marks nor drops."
        )
    if len(result.groups) > _flows_shown:
        parts.append(f"The first {_flows_shown} of {len(result.groups)} groups.")
    return " ".join(parts)


def _numbers(flows: list[int]) -> str:
    return ("flow " if len(flows) == 1 else "flows ") + ", ".join(map(str, flows))


def _rug(axes: Axes, signals: pl.DataFrame, flows: dict[int, str]) -> None:
    """One row for each flow and kind of signal."""
    labels: list[str] = []
    for index, (flow, name) in enumerate(flows.items()):
        for kind, (symbol, what) in _signals.items():
            times = signals.filter((pl.col("flow") == flow) & (pl.col("kind") == kind))["time_s"]
            if len(times):
                axes.plot(
                    times, [-len(labels)] * len(times), symbol, color=colour(index), markersize=5, markeredgewidth=0.7
                )
                labels.append(f"{name}: {what}")
    axes.set_yticks([-row for row in range(len(labels))], labels)
    axes.set_ylim(0.6 - len(labels), 0.6)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def shown_flows(result: RunRecord) -> dict[int, str]:
    """Numbers and labels of one flow of each group: its first traced one, else its first if a time series has it."""
    flows: dict[int, str] = {}
    first = 0
    traced = result.traced_flows
    for group in result.groups[:_flows_shown]:
        numbers = range(first, first + group["flow_count"])
        number = next((flow for flow in traced if flow in numbers), None)
        if number is None and numbers and "flows" in result.table_names:
            number = first
        if number is not None:
            flows[number] = group["name"] if group["flow_count"] == 1 else f"{group['name']} (flow {number})"
        first += group["flow_count"]
    return flows


def trace(result: RunRecord, flows: list[int], start_s: float, end_s: float) -> pl.DataFrame:
    """``time_s, flow, group, cwnd_packets, alpha`` of some flows between two times.

    Traced flows have every change, with the values at both edges; others have the ends of the bins.
    """
    names = [group["name"] for group in result.groups for _ in range(group["flow_count"])]
    columns = ["time_s", "flow", "cwnd_packets", "alpha"]
    parts = []
    for flow in flows:
        traced = flow in result.traced_flows
        samples = result.table("controller" if traced else "flows").filter(pl.col("flow") == flow)
        samples = samples.select(columns).with_columns(group=pl.lit(names[flow]))
        inside = samples.filter(pl.col("time_s").is_between(start_s, end_s))
        if not traced:
            parts.append(inside)
            continue
        before = samples.filter(pl.col("time_s") < start_s).tail(1).with_columns(time_s=pl.lit(start_s))
        part = pl.concat([before, inside])
        parts += [part, part.tail(1).with_columns(time_s=pl.lit(end_s))]
    schema = {
        "time_s": pl.Float64,
        "flow": pl.UInt32,
        "cwnd_packets": pl.UInt32,
        "alpha": pl.Float64,
        "group": pl.String,
    }
    return pl.concat(parts) if parts else pl.DataFrame(schema=schema)


def signals_of(result: RunRecord, flows: list[int], start_s: float, end_s: float) -> pl.DataFrame:
    """``time_s, flow, kind, group`` of the marks and drops of some flows between two times."""
    names = [group["name"] for group in result.groups for _ in range(group["flow_count"])]
    if "events" not in result.table_names:
        return pl.DataFrame(schema={"time_s": pl.Float64, "flow": pl.UInt32, "kind": pl.String, "group": pl.String})
    kept = (
        pl.col("time_s").is_between(start_s, end_s) & pl.col("flow").is_in(flows) & pl.col("kind").is_in(list(_signals))
    )
    rows = result.table("events").filter(kept)
    return rows.with_columns(group=pl.col("flow").map_elements(lambda flow: names[flow], return_dtype=pl.String))
