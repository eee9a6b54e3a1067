"""Sections 4.4 to 5.4: packet sizes, ECN, and how senders of several kinds fare behind a queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.evaluate.contenders import with_ecn
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group, varied
from shoal.evaluate.rfc7928.bottleneck import RATE_MBPS, RTT_MS, dumbbell, flows_for
from shoal.evaluate.rfc7928.measures import QUEUE, SYNCHRONISATION, TRADEOFF, curves, end_to_end, losses, measures
from shoal.evaluate.rfc7928.rtts import differing_rtts

_rtt = f"{RTT_MS} ms"
#: Application-limited flows of section 5.1.2: more than 10 packets and fewer than 100.
TRANSFER_PACKETS, TRANSFERS = 60, 30


def _packet_sizes() -> Experiment:
    half = max(1, flows_for("mild") // 2)
    flows = [
        group("small", cc="reno", rtt=_rtt, count=half, mtu="500 B"),
        group("large", cc="reno", rtt=_rtt, count=half, mtu="1500 B"),
    ]
    title = "Half of the flows with packets of 500 B, half with 1500 B, mild congestion"
    # As section 6.3 has them: the second category, that of large packets, over the first.
    metrics = {
        "large_over_small": "goodput_mbps('large') / goodput_mbps('small')",
        **measures("small", "large"),
        **losses("small", "large"),
        **SYNCHRONISATION,
    }
    return Experiment("packet-sizes", title, dumbbell(title, flows), metrics)


def _long_flow(name: str, title: str, **keys: object) -> Experiment:
    scenario = dumbbell(title, [group("bulk", rtt=_rtt, **keys)])
    metrics = {**measures("bulk"), **end_to_end("bulk")}
    return Experiment(name, title, scenario, metrics, tradeoff=TRADEOFF, curves=curves("bulk"))


def _initial_windows() -> Experiment:
    title = f"Transfers of {TRANSFER_PACKETS} packets beside a long flow, with an initial window of 3 or of 10 packets"
    flows = [
        group("bulk", cc="reno", rtt=_rtt, initial_window="3 packets"),
        # Each is a connection of its own: a window that is kept would not be the initial one.
        {
            "name": "short",
            "cc": "reno",
            "rtt": _rtt,
            "app": {"transfer": f"{TRANSFER_PACKETS * 1448} B"},
            "count": TRANSFERS,
            "start": {"first": "21 s", "every": "2.5 s"},
        },
    ]
    metrics = {
        "completion_ms": "fct_ms('short')",
        "completion_p99_ms": "fct_ms('short', 'p99')",
        "startup_ms": "startup_ms('short')",
        **measures("bulk"),
        **losses("short"),
    }
    windows = varied("flows.short.initial_window", ["3 packets", "10 packets"])
    scenario = dumbbell(title, flows, trace={"segment_flows": 1 + TRANSFERS})
    return Experiment("initial-windows", title, scenario, metrics, axes=(windows,))


def _unresponsive() -> Experiment:
    title = "Traffic that answers nothing, beyond what the link carries"
    flows = [{"name": "udp", "cc": "none", "rtt": _rtt, "app": {"unresponsive": f"{1.2 * RATE_MBPS:g} Mbit/s"}}]
    metrics = {**QUEUE, "udp_mbps": "rate_mbps('udp')"}
    return Experiment("udp-alone", title, dumbbell(title, flows), metrics, tradeoff=("delay_ms", "udp_mbps"))


def _beside_unresponsive() -> Experiment:
    title = "Traffic that answers nothing takes a part of the link beside a long flow"
    udp = {"name": "udp", "cc": "none", "rtt": _rtt, "app": {"unresponsive": "6 Mbit/s"}}
    scenario = dumbbell(title, [group("bulk", cc="reno", rtt=_rtt), udp])
    # More than half of the link, and not more than all of it.
    rates = [f"{part * RATE_MBPS:g} Mbit/s" for part in (0.6, 0.75, 0.9, 1.0)]
    metrics = {**measures("bulk"), "udp_mbps": "rate_mbps('udp')", **losses("bulk", "udp")}
    return Experiment("udp-and-reno", title, scenario, metrics, axes=(varied("flows.udp.app.unresponsive", rates),))


def _ignoring_marks(contenders: Sequence[Setting]) -> Experiment:
    """The text's own case: marks that are hidden from senders leave a queue with traffic that answers nothing."""
    title = "Traffic that is ECN-capable and answers no mark, beyond what the link carries"
    app = {"unresponsive": f"{1.2 * RATE_MBPS:g} Mbit/s", "ecn": "ect0"}
    flows = [{"name": "udp", "cc": "none", "rtt": _rtt, "app": app}]
    metrics = {**QUEUE, "udp_mbps": "rate_mbps('udp')"}
    marking = [with_ecn(contender) for contender in contenders]
    return Experiment("marks-ignored", title, dumbbell(title, flows), metrics, contenders=marking)


def clauses(contenders: Sequence[Setting]) -> list[Clause]:
    """The sections, in their order."""
    first = _long_flow("reno", "One long Reno flow with SACK", cc="reno", initial_window="3 packets")
    ecn = differing_rtts(name="ecn", ecn="on", title="As section 6.2, with flows that negotiate ECN")
    ecn = replace(ecn, contenders=[with_ecn(contender) for contender in contenders])
    return [
        Clause("4.4", "Packet sizes", Level.NONE, [_packet_sizes()]),
        Clause("4.5", "Interaction with ECN", Level.MUST, [ecn]),
        Clause(
            "4.6",
            "Interaction with scheduling",
            Level.SHOULD,
            reason="a text of its authors; queues that keep flows apart, as `fq-codel`, are evaluated like any other",
        ),
        Clause("5.1.1", "TCP-friendly sender with one initial window", Level.MUST, [first]),
        Clause("5.1.2", "TCP-friendly senders with different initial windows", Level.MUST, [_initial_windows()]),
        Clause(
            "5.2", "Aggressive transport sender", Level.MUST, [_long_flow("cubic", "One long CUBIC flow", cc="cubic")]
        ),
        Clause(
            "5.3",
            "Unresponsive transport sender",
            Level.MUST,
            [_unresponsive(), _beside_unresponsive(), _ignoring_marks(contenders)],
        ),
    ]
