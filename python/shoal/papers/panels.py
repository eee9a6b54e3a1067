"""Figures in an item's file: panels of each kind, with what is drawn beside the measurements."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Tag

from shoal.models import nearest
from shoal.papers.model import Formula, Pair, Real, Scale, Switch, Table, Text, Whole, Words, mistake, model


@model
class Overlay(Table):
    """Published points in a panel."""

    data: Text
    x: Text
    y: Formula
    series: Text | None = None
    label: Text = "published"


@model
class Curve(Table):
    """A formula in a panel."""

    expr: Text
    label: Text
    range: Pair = (0.0, 1.0)


@model
class Panel(Table):
    """What all kinds of panels have; a pair of axes."""

    kind: Text = "lines"
    series: Text | None = None
    series_label: Text = ""
    where: Text | None = None
    title: Text = ""
    x_label: Text = ""
    y_label: Text = ""
    z_label: Text = ""
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_range: Pair | None = None
    y_range: Pair | None = None
    hlines: list[Real] = field(default_factory=list)
    published: list[Overlay] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)


@model
class Plot(Panel):
    """Columns of a table over each other."""

    table: Text
    x: Text
    y: Text


@model
class HeatMap(Plot):
    """A column of a table in colours over two others."""

    z: Text
    z_scale: Scale = "linear"
    z_range: Pair | None = None
    z_centre: Real | None = None
    even: Switch = False
    annotate: Text | None = None


@model
class Traces(Panel):
    """What single runs recorded."""

    sweeps: Words
    table: Text | None = None
    x: Text = "time_s"
    y: Text = "cwnd_packets"
    groups: Words | None = None
    time: Pair | None = None
    events: Switch = False


@model
class Cells(Traces):
    """What single runs of sweeps show: one distribution, or small multiples over two axes."""

    shows: Literal["queue", "rates"] = "queue"
    classes: list[Literal["all", "ect", "not_ect"]] = field(default_factory=lambda: ["all"])
    width: Whole = 1
    rate_mbps: Real = 80.0
    rate_of: Literal["all", "ect"] = "all"


# What traces are drawn as if nothing else is asked for: y, and the labels of the axes.
_traces = {
    "windows": ("cwnd_packets", "Time [s]", "cwnd [packets]"),
    "queue": ("packets", "Time [s]", "Queue [packets]"),
    "sequence": ("cwnd_packets", "", ""),
    "pdf": ("cwnd_packets", "Queue [packets]", "Part of the time [%]"),
    "grid": ("cwnd_packets", "", ""),
}
_kinds = {"lines": "<plot>", "points": "<plot>", "bars": "<plot>", "heatmap": "<heat>"}
_kinds |= {kind: "<cells>" if kind in ("pdf", "grid") else "<traces>" for kind in _traces}


def _with_labels(value: object) -> object:
    if not isinstance(value, dict):
        return value
    kind = value.get("kind", "lines")
    if kind not in _kinds:
        raise mistake(f"there is no kind `{kind}`", nearest(str(kind), list(_kinds)))
    usual = dict(zip(("y", "x_label", "y_label"), _traces.get(kind, ()), strict=False))
    return {**usual, **value}


def _tag(value: object) -> str:
    return _kinds.get(value.get("kind", "lines"), "<plot>") if isinstance(value, dict) else "<plot>"


AnyPanel = Annotated[
    Annotated[Plot, Tag("<plot>")]
    | Annotated[HeatMap, Tag("<heat>")]
    | Annotated[Traces, Tag("<traces>")]
    | Annotated[Cells, Tag("<cells>")],
    Discriminator(_tag),
    BeforeValidator(_with_labels),
]


@model
class FigureSpec(Table):
    """A figure of the paper, drawn from our data in the same axes."""

    name: Text
    title: Text = ""
    columns: Whole = 1
    height: Real = 2.2
    chosen_only: Switch = False
    panels: list[AnyPanel] = field(default_factory=list)
