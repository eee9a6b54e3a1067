"""Sections 4.4 to 5.4: packet sizes, ECN, and how senders of several kinds fare behind a queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.evaluate.contenders import with_ecn
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group, varied
from shoal.evaluate.rfc7928.bottleneck import RATE_MBPS, RTT_MS, dumbbell, flows_for
from shoal.evaluate.rfc7928.measures import QUEUE, TRADEOFF, measures
from shoal.evaluate.rfc7928.rtts import differing_rtts

_rtt = f"{RTT_MS} ms"


def _packet_sizes() -> Experiment:
    half = max(1, flows_for("mild") // 2)
    flows = [
        group("small", cc="reno", rtt=_rtt, count=half, mtu="500 B"),
        group("large", cc="reno", rtt=_rtt, count=half, mtu="1500 B"),
    ]
    title = "Half of the flows with packets of 500 B, half with 1500 B, mild congestion"
    ratio = {"small_over_large": "goodput_mbps('small') / goodput_mbps('large')"}
    return Experiment("packet-sizes", title, dumbbell(title, flows), {**measures("small", "large"), **ratio})


def _long_flow(name: str, title: str, **keys: object) -> Experiment:
    scenario = dumbbell(title, [group("bulk", rtt=_rtt, **keys)])
    return Experiment(name, title, scenario, measures("bulk"), tradeoff=TRADEOFF)


def _initial_windows() -> Experiment:
    title = "A transfer of 60 packets begins beside a long flow, with an initial window of 3 or of 10 packets"
    flows = [
        group("bulk", cc="reno", rtt=_rtt, initial_window="3 packets"),
        {
            "name": "short",
            "cc": "reno",
            "rtt": _rtt,
            "app": {"transfer": "86880 B", "rounds": 30, "every": "2.5 s"},
            "start": "21 s",
        },
    ]
    metrics = {
        "completion_ms": "fct_ms('short')",
        "completion_p99_ms": "fct_ms('short', 'p99')",
        **measures("bulk"),
    }
    windows = varied("flows.short.initial_window", ["3 packets", "10 packets"])
    return Experiment("initial-windows", title, dumbbell(title, flows), metrics, axes=(windows,))


def _unresponsive() -> Experiment:
    title = "Traffic that answers nothing, beyond what the link carries"
    flows = [{"name": "udp", "cc": "none", "rtt": _rtt, "app": {"unresponsive": f"{1.2 * RATE_MBPS:g} Mbit/s"}}]
    metrics = {**QUEUE, "udp_mbps": "rate_mbps('udp')"}
    return Experiment("udp-alone", title, dumbbell(title, flows), metrics)


def _beside_unresponsive() -> Experiment:
    title = "Traffic that answers nothing takes a part of the link beside a long flow"
    udp = {"name": "udp", "cc": "none", "rtt": _rtt, "app": {"unresponsive": "5 Mbit/s"}}
    scenario = dumbbell(title, [group("bulk", cc="reno", rtt=_rtt), udp])
    rates = [f"{part * RATE_MBPS:g} Mbit/s" for part in (0.5, 0.75, 0.9, 1.0)]
    metrics = {**measures("bulk"), "udp_mbps": "rate_mbps('udp')"}
    return Experiment("udp-and-reno", title, scenario, metrics, axes=(varied("flows.udp.app.unresponsive", rates),))


def clauses(contenders: Sequence[Setting]) -> list[Clause]:
    """The sections, in their order."""
    first = _long_flow("reno", "One long Reno flow with SACK", cc="reno", initial_window="3 packets")
    ecn = differing_rtts(name="ecn", ecn="on", title="As section 6.2, with flows that negotiate ECN")
    ecn = replace(ecn, contenders=[with_ecn(contender) for contender in contenders])
    return [
        Clause("4.4", "Packet sizes", Level.NONE, [_packet_sizes()]),
        Clause("4.5", "Interaction with ECN", Level.MUST, [ecn]),
        Clause("5.1.1", "TCP-friendly sender with one initial window", Level.MUST, [first]),
        Clause("5.1.2", "TCP-friendly senders with different initial windows", Level.MUST, [_initial_windows()]),
        Clause(
            "5.2", "Aggressive transport sender", Level.MUST, [_long_flow("cubic", "One long CUBIC flow", cc="cubic")]
        ),
        Clause("5.3", "Unresponsive transport sender", Level.MUST, [_unresponsive(), _beside_unresponsive()]),
    ]
