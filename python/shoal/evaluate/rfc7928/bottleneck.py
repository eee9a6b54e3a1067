"""The path that all experiments of RFC 7928 share, and the numbers of flows that its formula gives.

The text fixes no rate. 10 Mbit/s and 100 ms are those of its own examples: the round trip of its section 6.2, and the
lower rate of section 8.2.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from shoal.scenario_keys import ScenarioKeys

RATE_MBPS = 10
RTT_MS = 100
PACKET_BYTES = 1500
#: Time of a run, and the part of it that is not measured, in s: flows are in congestion avoidance by then.
DURATION_S = 100
WARMUP_S = 20

#: Constants of section 8.2.1: flows for a share of lost packets of 0.1, 0.5 and 1 %, a packet of path and buffer.
CONGESTION = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
#: The share of lost packets that each is meant to give, in percent.
LOSS_PERCENT = {"mild": 0.1, "medium": 0.5, "heavy": 1.0}


def bdp_packets(*, rate_mbps: float = RATE_MBPS, rtt_ms: float = RTT_MS) -> int:
    """Full packets that a path holds."""
    return round(rate_mbps * 1e6 * rtt_ms / 1e3 / 8 / PACKET_BYTES)


def flows_for(level: str, *, rate_mbps: float = RATE_MBPS, rtt_ms: float = RTT_MS) -> int:
    """How many flows make congestion of a level, by the formula of section 8.2.1.

    The share of lost packets is ``0.76 N^2 / S^2`` there, with ``S`` the packets that path and buffer hold; the buffer
    holds as many as the path (section 3.2).
    """
    return max(1, round(CONGESTION[level] * 2 * bdp_packets(rate_mbps=rate_mbps, rtt_ms=rtt_ms)))


def dumbbell(
    title: str,
    flows: list[dict[str, Any]],
    *,
    rate_mbps: float = RATE_MBPS,
    largest_rtt_ms: float = RTT_MS,
    duration_s: float = DURATION_S,
    warmup_s: float = WARMUP_S,
    **more: Any,
) -> ScenarioKeys:
    """A bottleneck whose buffer holds as much as the path with the largest round trip (section 3.2)."""
    buffer = bdp_packets(rate_mbps=rate_mbps, rtt_ms=largest_rtt_ms)
    bottleneck = {"rate": f"{rate_mbps:g} Mbit/s", "buffer": f"{buffer} packets", "aqm": {"kind": "fifo"}}
    keys = {
        "title": title,
        "duration": f"{duration_s:g} s",
        "warmup": f"{warmup_s:g} s",
        "bottleneck": {**bottleneck, **more.pop("bottleneck", {})},
        "flows": flows,
        **more,
    }
    return cast("ScenarioKeys", keys)
