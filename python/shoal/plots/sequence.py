"""Sequence diagrams: what the two ends of a flow sent and received, time downwards.

Drawn from the table ``segments`` (``trace.segment_flows``), windows from ``controller`` (``trace.controller_flows``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from shoal._columns import number as as_number
from shoal.errors import UsageError
from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, Figure, colour, paper_style

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

_fin, _syn, _ece, _cwr = 1, 2, 64, 128
# Round trips before and after the moment of interest, and the most packets that a diagram shows.
_before, _after, _most = 1.6, 2.4, 120
# 5 → 2, 2 → 3 is 5 → 2 → 3.
_chained = re.compile(r"→ (\d+), \1 →")
_data, _marked, _ack, _echo = colour(0), colour(1), "#777777", colour(1)
# Inches: labels closer than this would overlap; room for them beside the lifelines.
_gap, _left, _right = 0.095, 0.95, 0.8


def draw(result: RunRecord, *, flow: int = 0, start_s: float | None = None, end_s: float | None = None) -> Drawn:
    """Sequence diagram of a flow; unless told otherwise around its first reduction (data with CWR) in the measurement.

    Raises
    ------
    UsageError
        The run did not trace the packets of this flow (``trace.segment_flows``).
    """
    with paper_style():
        figure = new_figure(7.0)
        axes = figure.subplots()
        data = draw_on(axes, result, flow=flow, start_s=start_s, end_s=end_s)
        legend(figure)
    return Drawn("sequence", f"Packets of flow {flow} between its ends", figure, data)


def draw_on(
    axes: Axes, result: RunRecord, *, flow: int = 0, start_s: float | None = None, end_s: float | None = None
) -> pl.DataFrame:
    """Draw the packets into given axes, and return what is drawn: one row a packet."""
    every = packets(result, flow)
    first, last = (start_s, end_s) if start_s is not None and end_s is not None else _excerpt(every, result, start_s)
    shown = every.filter((pl.col("sent_s") < last) & (pl.col("received_s").fill_null(pl.col("sent_s")) > first))
    shown = shown.head(_most)
    if shown.height == _most:
        last = min(last, float(shown["sent_s"][-1]))
    for packet in shown.iter_rows(named=True):
        _arrow(axes, packet, first)
    span_ms = (last - first) * 1e3
    axes.plot([0, 0], [0, span_ms], [1, 1], [0, span_ms], color="#222222", linewidth=1.2)
    box = axes.get_position()
    width, height = (
        box.width * axes.figure.bbox.width / axes.figure.dpi,
        box.height * axes.figure.bbox.height / axes.figure.dpi,
    )
    inch = 1 / max(width - _left - _right, 0.5)
    gap = _gap / height * span_ms
    _labels(axes, shown, first, span_ms, gap)
    _windows(axes, result, flow, (first, last), gap=gap, x=-0.48 * inch)
    axes.set(xlim=(-_left * inch, 1 + _right * inch), ylim=(span_ms, 0), ylabel=f"Time after {first:.6g} s [ms]")
    axes.set_xticks([0, 1], ["sender", "receiver"])
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=False)
    return shown


def legend(figure: Figure) -> None:
    """What the lines mean, once for a figure."""
    figure.legend(
        [
            Line2D([], [], color=_data),
            Line2D([], [], color=_marked),
            Line2D([], [], color=_ack, linestyle="--"),
            Line2D([], [], color=_echo, linestyle="--"),
            Line2D([], [], color=_data, marker="x", linestyle=""),
        ],
        ["data", "data with CE", "ACK", "ACK with ECE", "lost"],
        loc="outside upper center",
        ncols=5,
    )


def packets(result: RunRecord, flow: int) -> pl.DataFrame:
    """One row a packet of a flow: when it was sent and received (null if it was lost), and what it said.

    ``first`` and ``last`` are the numbers of the segments it carries, ``next`` that of the segment an ACK expects, all
    counted from 1 in units of the largest payload; ``ce`` is what the network set.
    """
    if "segments" not in result.table_names:
        raise UsageError("this run did not trace packets at hosts", hint="run it with trace.segment_flows = 1 or more")
    rows = result.table("segments").filter(pl.col("flow") == flow)
    if rows.is_empty():
        traced = ", ".join(str(number) for number in result.scenario.facts["traced"]["segments"])
        raise UsageError(
            f"no packets of flow {flow} were traced", hint=f"name one of {traced}, or raise trace.segment_flows"
        )
    key = ["data", "seq", "payload", "ack", "flags", "ts_val"]
    # A packet goes from one end to the other; identical copies arrive in the order in which they were sent.
    rows = rows.with_columns(data=(pl.col("end") == "sender") == (pl.col("event") == "send"))
    rows = rows.with_columns(copy=pl.int_range(pl.len()).over([*key, "event"]))
    sent, received = (rows.filter(pl.col("event") == event) for event in ("send", "receive"))
    joined = sent.join(received, on=[*key, "copy"], how="left", suffix="_received").sort("time_ps", maintain_order=True)
    mss = max(int(as_number(joined["payload"].max()) or 1), 1)
    start = joined.filter(pl.col("data"))["seq"].min() or 0
    # Sequence numbers wrap; a diagram shows far less than a turn. The SYN takes one.
    offset = (pl.col("seq") - pl.lit(start)).cast(pl.Int64) - 1
    expected = (pl.col("ack").cast(pl.Int64) - 1) // mss + 1
    has = {name: pl.col("flags") & bit != 0 for name, bit in (("syn", _syn), ("ece", _ece), ("cwr", _cwr))}
    return joined.select(
        "data",
        "payload",
        "seq",
        "ack",
        sent_s=pl.col("time_ps") / 1e12,
        received_s=pl.col("time_ps_received") / 1e12,
        segment=pl.when(pl.col("data") & (pl.col("payload") > 0)).then(offset // mss + 1),
        next=pl.when(~pl.col("data")).then(expected),
        ce=pl.col("ecn_received") == "ce",
        **has,
    )


def _excerpt(every: pl.DataFrame, result: RunRecord, start_s: float | None) -> tuple[float, float]:
    """Around the first data with CWR, else the first echo, else the beginning."""
    after = every.filter(pl.col("sent_s") >= (result.window[0] if start_s is None else start_s))
    there, back = (
        as_number((part["received_s"] - part["sent_s"]).median()) or 0.0
        for part in (after.filter("data"), after.filter(~pl.col("data")))
    )
    round_trip = there + back
    for wanted in (after.filter(pl.col("data") & pl.col("cwr") & (pl.col("payload") > 0)), after.filter("ece"), after):
        if wanted.height:
            middle = float(wanted["sent_s"][0])
            return max(middle - _before * round_trip, 0.0), middle + _after * round_trip
    raise UsageError("the flow sends nothing after that time", hint="name an earlier start")


def _arrow(axes: Axes, packet: dict[str, object], first: float) -> None:
    data, sent, received = bool(packet["data"]), packet["sent_s"], packet["received_s"]
    assert isinstance(sent, float)  # noqa: S101  (a column without nulls)
    here, there = (0.0, 1.0) if data else (1.0, 0.0)
    if data:
        style: dict[str, Any] = {"color": _marked if packet["ce"] else _data, "linestyle": "-"}
    else:
        style = {"color": _echo if packet["ece"] else _ack, "linestyle": "--"}
    width = 1.6 if packet["cwr"] else 0.8
    y = (sent - first) * 1e3
    if not isinstance(received, float):
        axes.plot([here, 0.5], [y, y], linewidth=width, **style)
        axes.plot([0.5], [y], marker="x", markersize=5, color=style["color"])
        return
    arrow = axes.annotate(
        "",
        xy=(there, (received - first) * 1e3),
        xytext=(here, y),
        arrowprops={"arrowstyle": "-|>,head_width=0.12,head_length=0.3", "shrinkA": 0, "shrinkB": 0, "linewidth": width}
        | style,
    )
    # What was sent before the excerpt would run out of the axes.
    assert arrow.arrow_patch is not None  # noqa: S101  (it has arrowprops)
    arrow.arrow_patch.set_clip_path(axes.patch)


def _labels(axes: Axes, shown: pl.DataFrame, first: float, span_ms: float, gap: float) -> None:
    """Numbers of segments at the sender, counted from the first one shown; what ACKs say at the receiver."""
    left, right = [], []
    before = None
    base = int(as_number(shown["segment"].drop_nulls().min()) or 1) - 1
    for packet in shown.iter_rows(named=True):
        y = (packet["sent_s"] - first) * 1e3
        if packet["data"]:
            number = "SYN" if packet["syn"] else str(packet["segment"] - base if packet["segment"] is not None else "")
            left.append(Label(y, f"{number} CWR" if packet["cwr"] and not packet["syn"] else number, packet["cwr"]))
        elif packet["next"] is not None:
            news = packet["next"] - before if before is not None else 0
            before = packet["next"]
            text = f"{packet['next'] - base}" + (f" (+{news})" if news > 0 else "") + (" ECE" if packet["ece"] else "")
            right.append(Label(y, text, packet["ece"]))
    for x, side, head, labels in ((-0.02, "right", "", left), (1.02, "left", "ACK ", right)):
        for label in clustered([label for label in labels if 0 <= label.y <= span_ms], gap):
            paint = _marked if label.loud else "#333333"
            axes.annotate(head + label.text, (x, label.y), ha=side, va="center", fontsize=6, color=paint)


@dataclass(frozen=True)
class Label:
    """Words at a height; loud ones stand out."""

    y: float
    text: str
    loud: bool


def clustered(labels: Sequence[Label], gap: float) -> list[Label]:
    """Labels that would overlap as one; of more than three the first and the last."""
    clusters: list[list[Label]] = []
    for label in sorted((label for label in labels if label.text), key=lambda label: label.y):
        if clusters and label.y - clusters[-1][0].y < gap:
            clusters[-1].append(label)
        else:
            clusters.append([label])
    joined = []
    for cluster in clusters:
        texts = [label.text for label in cluster]
        if len(texts) > 3:
            texts = [f"{texts[0]} … {texts[-1]}"]
        # Flags of the last one, if all have the same.
        flags = texts[-1].split()[-1]
        if all(text.endswith(f" {flags}") for text in texts) and flags.isalpha():
            texts = [*(text.removesuffix(f" {flags}") for text in texts[:-1]), texts[-1]]
        joined.append(Label(cluster[0].y, ", ".join(texts), any(label.loud for label in cluster)))
    return joined


def _windows(axes: Axes, result: RunRecord, flow: int, window: tuple[float, float], *, gap: float, x: float) -> None:
    """Changes of the congestion window beside the sender's line: reductions stand out."""
    if "controller" not in result.table_names:
        return
    rows = result.table("controller").filter(pl.col("flow") == flow).select("time_s", "cwnd_packets")
    changes = rows.with_columns(before=pl.col("cwnd_packets").cast(pl.Int64).shift(1)).filter(
        pl.col("before").is_not_null() & (pl.col("before") != pl.col("cwnd_packets"))
    )
    first, last = window
    labels = []
    for row in changes.filter(pl.col("time_s").is_between(first, last)).iter_rows(named=True):
        text = f"{row['before']} → {row['cwnd_packets']}"
        labels.append(Label((row["time_s"] - first) * 1e3, text, row["cwnd_packets"] < row["before"]))
    for label in clustered(labels, gap):
        axes.annotate(
            "cwnd " + _chained.sub(r"→ \1 →", label.text),
            (x, label.y),
            ha="right",
            va="center",
            fontsize=6,
            color=_marked if label.loud else "#333333",
            fontweight="bold" if label.loud else "normal",
        )
