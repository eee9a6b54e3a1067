"""The scenarios that a search without a base chooses from: one bottleneck or several, three kinds of senders.

`law` are the flows whose law is hunted, `other` are flows of the same or another law beside them, and `load` is traffic
that comes and goes. No axis is there for one effect alone: each is something that paths and their traffic have.
Ranges are those of access links and short data-centre paths whose runs take milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from shoal.hunting.axes import Axis, Point
from shoal.hunting.law import Law, short_name
from shoal.search import FreeParameter

KIND = "bottleneck.aqm.kind"
OTHER = "flows.other.cc"
LOAD = "flows.load.kind"
PATH = "path.kind"
HOPS = "topology.bottlenecks"
LAW = "flows.law.cc"

# Length of a run while a search looks around: so many of the longest round trips, within these bounds, in s. Notices of
# starvation ask for 20 round trips, milder ones for 100 and 200 (docs/explanation/notices.md).
_short_round_trips, _short_least_s, _short_most_s = 60.0, 2.0, 6.0
#: Length of the runs that confirm, in s: 150 of the longest round trips are measured.
full_s = 20.0

_laws = ("reno", "ecn-reno", "cubic", "dctcp")
# The least time between two starts of a load; it bounds the number of its flows.
_least_period_s = 0.1


def axes_of(law: Law) -> list[Axis]:
    """All axes, for a law; the simplest word of each comes first."""
    flows = ("none", *dict.fromkeys((*([law.name] if law.is_controller else []), *_laws)))
    axes = [
        *_queue(law),
        _number("bottleneck.rate", 2, 50, "Mbit/s", plain=10),
        _number("bottleneck.buffer", 5, 500, "packets", whole=True, plain=100),
        Axis(PATH, ("still", "rate-steps", "rate-sine", "delay-steps", "several-bottlenecks")),
        _number("path.depth", 0.1, 0.9, None, log=False, needs=((PATH, ("rate-steps", "rate-sine")),)),
        _number("path.growth", 1.2, 4, None, needs=((PATH, ("delay-steps",)),)),
        _number("path.period", 0.2, 5, "s", plain=1, needs=((PATH, ("rate-steps", "rate-sine", "delay-steps")),)),
        _number(HOPS, 2, 4, None, log=False, whole=True, plain=2, needs=((PATH, ("several-bottlenecks",)),)),
        *([] if law.is_controller else [Axis(LAW, _laws)]),
        _number("flows.law.count", 1, 4, None, log=False, whole=True, plain=1),
        _number("flows.law.rtt", 2, 100, "ms", plain=20),
        Axis(OTHER, flows),
    ]
    beside = ((OTHER, flows[1:]),)
    axes += [
        _number("flows.other.count", 1, 4, None, log=False, whole=True, plain=1, needs=beside),
        _number(
            "flows.other.rtt", 2, 100, "ms", plain=20, needs=(*beside, (PATH, ("still", "rate-steps", "rate-sine")))
        ),
        _number("flows.other.after", 0, 1, None, log=False, plain=0, needs=beside),
        Axis(LOAD, ("none", "bursts", "transfers")),
    ]
    bursts, transfers = ((LOAD, ("bursts",)),), ((LOAD, ("transfers",)),)
    return [
        *axes,
        # The peak of a burst over the rate of the bottleneck, for how long, and the time from one to the next.
        _number("flows.load.peak", 0.1, 4, None, plain=1, needs=bursts),
        _number("flows.load.length", 10, 500, "ms", plain=100, needs=bursts),
        _number("flows.load.size", 5, 500, "kB", plain=100, needs=transfers),
        _number("flows.load.period", 100, 3000, "ms", plain=1000, needs=((LOAD, ("bursts", "transfers")),)),
    ]


def _queue(law: Law) -> list[Axis]:
    """The law of the queue and what it is told; one that is hunted keeps its parameters."""
    if not law.is_controller:
        return [Axis(KIND, (law.name,))]

    def of(*kinds: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ((KIND, kinds),)

    marks = Axis("bottleneck.aqm.ecn", ("false", "true"), needs=of("red", "codel", "pie"))
    return [
        Axis(KIND, ("fifo", "step", "red", "codel", "pie", "fq-codel", "dualpi2")),
        marks,
        _number("bottleneck.aqm.threshold", 1, 100, "packets", whole=True, plain=20, needs=of("step")),
        _number("bottleneck.aqm.min", 2, 100, "packets", whole=True, plain=10, needs=of("red")),
        # The upper threshold over the lower one; Floyd (1997) recommends three.
        _number("bottleneck.aqm.max_over_min", 1.5, 4, None, plain=3, needs=of("red")),
        _number("bottleneck.aqm.max_probability", 0.02, 1, None, plain=0.1, needs=of("red")),
        _number("bottleneck.aqm.weight", 0.001, 1, None, plain=0.002, needs=of("red")),
        _number("bottleneck.aqm.target", 1, 50, "ms", plain=None, needs=of("codel", "pie", "fq-codel", "dualpi2")),
        Axis("bottleneck.aqm.ecn_mask", ("l4s-ect", "any-ect", "classic-ect"), needs=of("dualpi2")),
    ]


def _number(
    key: str,
    low: float,
    high: float,
    unit: str | None,
    *,
    log: bool = True,
    whole: bool = False,
    plain: float | None = None,
    needs: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> Axis:
    return Axis(key, range=FreeParameter(key, low, high, unit, is_log=log, is_whole=whole), plain=plain, needs=needs)


def short_s(point: Point) -> float:
    """Length of a first run of a point, in s."""
    longest_ms = max(float(point[key]) for key in ("flows.law.rtt", "flows.other.rtt"))
    return min(max(_short_round_trips * longest_ms / 1000, _short_least_s), _short_most_s)


def keys_of(point: Point, law: Law, axes: Sequence[Axis], duration_s: float) -> dict[str, Any]:
    """The keys of the scenario of a point.

    Parameters
    ----------
    point
        Values of all axes.
    law
        What is hunted.
    axes
        All axes of the point, for their units.
    duration_s
        Length of the run; the first quarter is not measured.
    """
    maker = _Maker(point, law, {axis.key: axis for axis in axes}, duration_s)
    return maker.keys()


class _Maker:
    """Makes the parts of a scenario out of a point."""

    def __init__(self, point: Point, law: Law, axes: dict[str, Axis], duration_s: float) -> None:
        self.point, self.law, self.axes, self.duration_s = point, law, axes, duration_s
        self.warmup_s = duration_s / 4

    def number(self, key: str) -> float:
        return float(self.point[key])

    def text(self, key: str) -> str:
        return self.axes[key].text(self.point[key])

    def word(self, key: str) -> str:
        return str(self.point[key])

    def keys(self) -> dict[str, Any]:
        several = self.word(PATH) == "several-bottlenecks"
        keys: dict[str, Any] = {
            "title": self.title(),
            "duration": f"{self.duration_s:g} s",
            "warmup": f"{self.warmup_s:g} s",
        }
        keys |= {"topology": self.row()} if several else {"bottleneck": self.link()}
        groups = [self.flows("law", several), self.flows("other", several), self.load(several)]
        return {**keys, "flows": [group for group in groups if group is not None]}

    def title(self) -> str:
        beside = [short_name(self.other_flows()["cc"])] if self.word(OTHER) != "none" else []
        beside += [self.word(LOAD)] if self.word(LOAD) != "none" else []
        where = f"{self.text(HOPS)} bottlenecks" if self.word(PATH) == "several-bottlenecks" else self.word(KIND)
        return (
            f"{short_name(self.law_flows()['cc'])}{' beside ' if beside else ''}{' and '.join(beside)} behind {where}"
        )

    def law_flows(self) -> dict[str, Any]:
        return dict(self.law.table) if self.law.is_controller else {"cc": self.word(LAW)}

    def queue(self) -> dict[str, Any]:
        if not self.law.is_controller:
            return dict(self.law.table)
        kind = self.word(KIND)
        table: dict[str, Any] = {"kind": kind}
        for axis in self.axes.values():
            name = axis.key.removeprefix("bottleneck.aqm.")
            if name in (axis.key, "kind", "max_over_min") or not axis.applies(self.point) or axis.key not in self.point:
                continue
            value = self.point[axis.key]
            table[name] = value == "true" if name == "ecn" else axis.text(value) if axis.words else self.plain(axis)
        if kind == "red":
            over = self.number("bottleneck.aqm.max_over_min")
            table["max"] = f"{max(1, math.ceil(self.number('bottleneck.aqm.min') * over))} packets"
        return table

    def plain(self, axis: Axis) -> object:
        value = self.number(axis.key)
        return axis.text(value) if axis.parameter.unit else value

    def link(self) -> dict[str, Any]:
        link = {"rate": self.text("bottleneck.rate"), "buffer": self.text("bottleneck.buffer"), "aqm": self.queue()}
        kind = self.word(PATH)
        if kind == "still":
            return link
        rate, period_s = self.number("bottleneck.rate"), self.number("path.period")
        schedule: dict[str, Any]
        if kind == "rate-sine":
            depth = rate * self.number("path.depth")
            means = {"mean": f"{rate:g} Mbit/s", "amplitude": f"{depth:.3g} Mbit/s", "period": f"{period_s:g} s"}
            schedule = {"rate_sine": means}
        elif kind == "rate-steps":
            low = f"{rate * (1 - self.number('path.depth')):.3g} Mbit/s"
            rates = [["0 s", f"{rate:g} Mbit/s"], [f"{period_s / 2:g} s", low]]
            schedule = {"rates": rates, "repeat": f"{period_s:g} s"}
        else:
            more_ms = self.number("flows.law.rtt") * (self.number("path.growth") - 1)
            schedule = {
                "delays": [["0 s", "0 s"], [f"{period_s / 2:g} s", f"{more_ms:.3g} ms"]],
                "repeat": f"{period_s:g} s",
            }
        return link | {"schedule": schedule}

    def row(self) -> dict[str, Any]:
        """Bottlenecks in a row: flows of the law pass all of them, others each pass the next one."""
        hops = int(self.number(HOPS))
        return {
            "kind": "parking-lot",
            "bottlenecks": hops,
            "rate": self.text("bottleneck.rate"),
            "delay": f"{self.number('flows.law.rtt') / (2 * hops):.4g} ms",
            "buffer": self.text("bottleneck.buffer"),
            "aqm": self.queue(),
        }

    def flows(self, name: str, several: bool) -> dict[str, Any] | None:
        if name == "other" and self.word(OTHER) == "none":
            return None
        group: dict[str, Any] = {"name": name}
        group |= self.law_flows() if name == "law" else self.other_flows()
        count = int(self.number(f"flows.{name}.count"))
        rtt_key = "flows.other.rtt" if name == "other" and self.axes["flows.other.rtt"].applies(self.point) else ""
        rtt_ms = self.number(rtt_key or "flows.law.rtt")
        if several and name == "law":
            group |= {"from": "in", "to": "out"}
        elif several:
            hops = int(self.number(HOPS))
            group |= {
                "from": [f"in{hop}" for hop in range(1, hops + 1)],
                "to": [f"out{hop}" for hop in range(1, hops + 1)],
            }
            count *= hops
        else:
            group["rtt"] = f"{rtt_ms:g} ms"
        if count > 1:
            group["count"] = count
        begin_s = self.warmup_s * self.number("flows.other.after") * 0.9 if name == "other" else 0.0
        # Starts differ by up to a round trip, so that seeds make a difference.
        group["start"] = {"uniform": [f"{begin_s:.4g} s", f"{begin_s + rtt_ms / 1000:.4g} s"]}
        return group

    def other_flows(self) -> dict[str, Any]:
        name = self.word(OTHER)
        return dict(self.law.table) if self.law.is_controller and name == self.law.name else {"cc": name}

    def load(self, several: bool) -> dict[str, Any] | None:
        """Traffic that comes and goes; in a row of bottlenecks at the first of them."""
        kind = self.word(LOAD)
        if kind == "none":
            return None
        ends: dict[str, Any] = {"from": "in1", "to": "out1"} if several else {"rtt": self.text("flows.law.rtt")}
        period_s = max(self.number("flows.load.period") / 1000, _least_period_s)
        times = [round(number * period_s, 6) for number in range(math.ceil(self.duration_s / period_s))]
        if kind == "transfers":
            flow = self.law_flows() if self.word(OTHER) == "none" else self.other_flows()
            app = {"transfer": self.text("flows.load.size")}
            start = {"every": f"{period_s:g} s"}
            return {"name": "load", **flow, **ends, "count": len(times), "start": start, "app": app}
        length_s = min(self.number("flows.load.length") / 1000, period_s)
        peak = self.number("flows.load.peak") * self.number("bottleneck.rate")
        return {
            "name": "load",
            "cc": "none",
            **ends,
            "count": len(times),
            "start": [f"{at_s:g} s" for at_s in times],
            "stop": [f"{min(at_s + length_s, self.duration_s):g} s" for at_s in times],
            "app": {"unresponsive": f"{peak:.4g} Mbit/s"},
        }
