"""Scenarios of flows that join DCTCP flows, and what is read of their runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import shoal

if TYPE_CHECKING:
    from shoal.scenario_keys import BottleneckAqm

PACKET_BITS = 1500 * 8
SEGMENT_PACKETS = 45
# A flow is locked out if it has less than this part of the mean rate, measured for a second, after both times of
# `settling_s`. The limit, the second and the times were written down when the base alone had been looked at.
LOCKED_BELOW = 0.5
MEASURED_S = 1.0
LEAST_ROUND_TRIPS = 1000
# Two ideal flows halve the difference of their rates as fast as their windows oscillate: a reduction by alpha / 2 each
# alpha W / 2 round trips makes the time constant W round trips, W their window in packets. Three leave a twentieth.
TIME_CONSTANTS = 3
PRESET = "linux-6-25g"
# Rate of the cards over that of the link: 25 Gbit/s at a link of 10 Gbit/s.
CARD = 2.5


@dataclass(frozen=True)
class Case:
    """Flows of which all but the first join later; the base is two at 10 Gbit/s, 300 us and K = 90 packets.

    Attributes
    ----------
    rate_gbit_s, rtt_us, k_packets
        Link, round trip without queueing, and threshold.
    flows
        Their number.
    join
        When all but the first start: a text with a unit, or two texts between which each draws its start.
    host, first_host
        What differs from the preset at the hosts of all flows, and at those of the first one in addition; a text is
        another preset.
    flow, aqm, bottleneck
        Keys that all flows, the law and the link have besides.
    """

    rate_gbit_s: float = 10
    rtt_us: float = 300
    k_packets: int = 90
    flows: int = 2
    join: str | tuple[str, str] = "0.5 s"
    host: Mapping[str, Any] | str = field(default_factory=dict)
    first_host: Mapping[str, Any] | str | None = None
    flow: Mapping[str, Any] = field(default_factory=dict)
    aqm: BottleneckAqm | None = None
    bottleneck: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bdp_packets(self) -> float:
        """Rate times round trip."""
        return self.rate_gbit_s * 1e9 * self.rtt_us * 1e-6 / PACKET_BITS

    @property
    def join_s(self) -> float:
        """The latest start."""
        return float((self.join if isinstance(self.join, str) else self.join[1]).removesuffix(" s"))

    @property
    def settling_s(self) -> float:
        """What is not measured after the last start: 1000 round trips, queue included, and three time constants."""
        packets = self.bdp_packets + self.k_packets
        round_trip_s = packets * PACKET_BITS / (self.rate_gbit_s * 1e9)
        return max(LEAST_ROUND_TRIPS, TIME_CONSTANTS * packets / self.flows) * round_trip_s

    def scenario(self, trace: Mapping[str, Any] | None = None, duration_s: float | None = None) -> shoal.Scenario:
        """The scenario, with what is recorded, and a duration if it is not to be that of a measurement."""
        warmup_s = math.ceil(10 * (self.join_s + self.settling_s)) / 10
        if duration_s is not None:
            warmup_s = duration_s / 2
        flow: dict[str, Any] = {"cc": "dctcp", "rtt": f"{self.rtt_us:g} us", **self.flow}
        start = self.join if isinstance(self.join, str) else {"uniform": list(self.join)}
        first = self.host if self.first_host is None else self.first_host
        return shoal.Scenario.from_keys(
            {
                "title": f"{self.flows} DCTCP flows at {self.rate_gbit_s:g} Gbit/s",
                "duration": f"{duration_s or warmup_s + MEASURED_S:g} s",
                "warmup": f"{warmup_s:g} s",
                "bottleneck": {
                    "rate": f"{self.rate_gbit_s:g} Gbit/s",
                    "buffer": "unlimited",
                    "bdp_rtt": f"{self.rtt_us:g} us",
                    "aqm": self.aqm or {"kind": "step", "threshold": f"{self.k_packets} packets"},
                    **self.bottleneck,
                },
                "flows": [
                    {**flow, "name": "first", "host": self._hosts(first)},
                    {**flow, "name": "joins", "host": self._hosts(self.host), "count": self.flows - 1, "start": start},
                ],
                "trace": {"series": "off", **(trace or {})},
            },
            name="joining",
        )

    def _hosts(self, host: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
        if isinstance(host, str):
            return host
        card = {"nic_rate": f"{CARD * self.rate_gbit_s:g} Gbit/s"}
        return {"preset": PRESET, **card, **host}


def fluid_threshold(rate_gbit_s: float, rtt_us: float) -> int:
    """C x RTT / 7 in packets, one at least."""
    return max(1, round(Case(rate_gbit_s, rtt_us).bdp_packets / 7))


def two_bursts(rate_gbit_s: float, rtt_us: float) -> int:
    """Two segments, but not more than C x RTT with the 8 us for which the receivers wait (docs/real-hosts.md)."""
    return max(1, math.ceil(min(2 * SEGMENT_PACKETS, Case(rate_gbit_s, rtt_us + 8).bdp_packets)))


@dataclass(frozen=True)
class Shares:
    """What a run gave each flow.

    Attributes
    ----------
    parts
        Rates over their mean, in the order of the flows.
    jain
        Jain's index of the rates.
    utilisation, queue_packets
        The threshold, of the bottleneck.
    windows, alphas, marked
        Mean congestion window in packets, mean alpha, and marked part of the packets of each flow; alpha is ``None``
        with a controller that has none.
    """

    parts: Sequence[float]
    jain: float
    utilisation: float
    queue_packets: float
    windows: Sequence[float]
    alphas: Sequence[float | None]
    marked: Sequence[float]

    @property
    def least(self) -> float:
        """The smallest rate over the mean."""
        return min(self.parts)

    @property
    def is_locked(self) -> bool:
        """Whether a flow is locked out."""
        return self.least < LOCKED_BELOW

    @property
    def largest_window(self) -> float:
        """The window of the flow with the largest rate."""
        return self.windows[max(range(len(self.parts)), key=lambda flow: self.parts[flow])]


def shares(result: shoal.Result) -> Shares:
    """Read a run."""
    flows = [flow for group in result.data["groups"] for flow in group["flows"]]
    rates = [float(flow["wire_bps"]) for flow in flows]
    mean = sum(rates) / len(rates)
    link = result.data["bottlenecks"][0]
    return Shares(
        parts=[rate / mean for rate in rates],
        jain=sum(rates) ** 2 / len(rates) / sum(rate**2 for rate in rates),
        utilisation=link["utilisation"],
        queue_packets=link["queue_packets"]["mean"],
        windows=[flow["cwnd_packets"]["mean"] for flow in flows],
        alphas=[None if flow["alpha"] is None else flow["alpha"]["mean"] for flow in flows],
        marked=[flow["marks_seen"] / max(1, flow["data_packets"]) for flow in flows],
    )


@dataclass(frozen=True)
class Variant:
    """Something that is otherwise than in the base, and where it is tried.

    Attributes
    ----------
    title
        What is otherwise.
    changes
        Attributes of :class:`Case`.
    by
        Who can change it: empty for an experiment.
    segment_packets
        The longest segment of the hosts.
    is_simulated
        Whether the kernel has no such thing.
    """

    title: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    by: str = ""
    segment_packets: int = SEGMENT_PACKETS
    is_simulated: bool = False

    def case(self, rtt_us: float = 300, join: str = "0.5 s") -> Case:
        """The base with what is otherwise."""
        return replace(Case(rtt_us=rtt_us), **{"join": join, **self.changes})

    def cases(self) -> list[Case]:
        """The base at other round trips and with another start; a list, because what locks depends on both."""
        return [self.case(rtt_us, join) for rtt_us, join in itertools.product((100, 200, 300, 500), ("0.1 s", "0.5 s"))]


BASE = Variant("the base")
NO_DEFERRAL = {"tso_win_divisor": 0}
AT_ONCE = {"interrupt_delay": "0 us"}
STARTS = [
    Variant("both start at once", {"join": "0 s"}),
    Variant("1 ms later", {"join": "0.001 s"}),
    Variant("100 ms later", {"join": "0.1 s"}),
]
# A ramp around the same K of 90 packets, which begins where the link is still busy.
RAMP: BottleneckAqm = {"kind": "wred", "decide": "enqueue", "mark": {"min": "90 kB", "max": "180 kB"}}
FQ_CODEL: BottleneckAqm = {
    "kind": "fq-codel",
    "limit": "10000 packets",
    "memory_limit": "unlimited",
    "ce_threshold": "108 us",
}
MECHANISMS = [
    Variant("no segment waits for more (`tso_win_divisor = 0`)", {"host": NO_DEFERRAL}),
    Variant("only the first flow's do not wait", {"first_host": NO_DEFERRAL}),
    Variant("only the joining flow's do not wait", {"host": NO_DEFERRAL, "first_host": {}}),
    Variant("segments of 16 packets", {"host": {"gso_max_segs": 16}}, segment_packets=16),
    Variant("segments of 4 packets", {"host": {"gso_max_segs": 4}}, segment_packets=4),
    Variant("alpha without rounding", {"flow": {"cc_options": {"alpha_resolution": "exact"}}}, is_simulated=True),
    Variant("no GRO", {"host": {"coalescing": "off"}}),
    Variant("no GRO, no wait for interrupts", {"host": {"coalescing": "off", **AT_ONCE}}),
    Variant("paced by TCP", {"host": {"pacing": "internal"}}),
    Variant("paced by fq", {"host": {"pacing": "fq"}}),
    Variant("cards of the link's rate", {"host": {"nic_rate": "10 Gbit/s"}}),
    Variant("cards of four times the link's rate", {"host": {"nic_rate": "40 Gbit/s"}}),
    Variant(
        "jitter of 10 us",
        {"bottleneck": {"delay": "20 us", "impairments": {"jitter": "10 us"}}},
    ),
    Variant("a controller that halves (`ecn-reno`)", {"flow": {"cc": "ecn-reno"}}),
    Variant("ideal hosts", {"host": "ideal"}, segment_packets=1),
]
CURES = [
    Variant("`net.ipv4.tcp_tso_win_divisor = 0`", {"host": NO_DEFERRAL}, "hosts"),
    Variant("`net.ipv4.tcp_tso_win_divisor = 8`", {"host": {"tso_win_divisor": 8}}, "hosts"),
    Variant("`net.ipv4.tcp_tso_win_divisor = 64`", {"host": {"tso_win_divisor": 64}}, "hosts"),
    Variant("`ip link ... gso_max_segs 16`", {"host": {"gso_max_segs": 16}}, "hosts", 16),
    Variant("`ip link ... gso_max_segs 8`", {"host": {"gso_max_segs": 8}}, "hosts", 8),
    Variant("`ip link ... gso_max_segs 4`", {"host": {"gso_max_segs": 4}}, "hosts", 4),
    Variant("fq at hosts", {"host": {"pacing": "fq"}}, "hosts"),
    Variant("K of 180 packets", {"k_packets": 180}, "switch"),
    Variant("K of 360 packets", {"k_packets": 360}, "switch"),
    Variant("a ramp from 60 to 120 packets", {"aqm": RAMP}, "switch"),
    Variant(
        "fq_codel with `ce_threshold 108us`",
        {"aqm": FQ_CODEL},
        "switch",
    ),
]
