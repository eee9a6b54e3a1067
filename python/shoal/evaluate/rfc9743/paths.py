"""The paths of RFC 9743, sections 6 and 7: bottlenecks on which every criterion of section 5 is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from shoal.evaluate.model import Clause, Level, Setting

if TYPE_CHECKING:
    from shoal.scenario_keys import ScenarioKeys

PACKET_BYTES = 1500
#: The path from which the others differ in one respect.
RATE_MBPS, RTT_MS = 20.0, 40.0


def path(
    section: str,
    name: str,
    *,
    rate_mbps: float = RATE_MBPS,
    rtt_ms: float = RTT_MS,
    buffer_bdp: float = 1.0,
    aqm: Mapping[str, Any] | None = None,
    duration_s: float = 60.0,
    warmup_s: float = 15.0,
    **bottleneck: Any,
) -> Setting:
    """A path that a section asks for, with a buffer of some bandwidth-delay products, of two packets at least."""
    packets = max(2, round(buffer_bdp * rate_mbps * 1e6 * rtt_ms / 1e3 / 8 / PACKET_BYTES))
    table = {
        "rate": f"{rate_mbps:g} Mbit/s",
        "buffer": f"{packets} packets",
        "aqm": dict(aqm or {"kind": "fifo"}),
        **bottleneck,
    }
    values = {
        "bottleneck": table,
        "flows.*.rtt": f"{rtt_ms:g} ms",
        "duration": f"{duration_s:g} s",
        "warmup": f"{warmup_s:g} s",
    }
    return Setting(f"{section} {name}", values)


def _reordering(jitter: str) -> dict[str, Any]:
    """Delays of packets vary by as much to either side; at 20 Mbit/s a packet takes 0.6 ms."""
    return {"jitter": jitter, "keep_order": False}


def all_paths() -> list[Setting]:
    """The paths, in the order of the text."""
    steps = {"rates": [["0 s", "20 Mbit/s"], ["10 s", "2 Mbit/s"], ["20 s", "200 Mbit/s"]], "repeat": "30 s"}
    moved = {"delays": [["0 s", "20 ms"], ["25 s", "100 ms"], ["40 s", "2 ms"]]}
    outage = {"rates": [["0 s", "20 Mbit/s"], ["25 s", "down"], ["30 s", "20 Mbit/s"]]}
    grants = {"slot": {"min": "8 ms", "max": "8 ms", "packets": 14}}
    wifi = {"slot": {"min": "800 us", "max": "5 ms", "packets": 16}}
    bursts = {"loss": {"p": 0.001, "r": 0.2}}
    return [
        path("6", "1 Mbit/s, 40 ms", rate_mbps=1),
        path("6", "20 Mbit/s, 10 ms", rtt_ms=10),
        path("6", "20 Mbit/s, 200 ms", rtt_ms=200, duration_s=120, warmup_s=30),
        path("6", "100 Mbit/s, 40 ms", rate_mbps=100, duration_s=40),
        path("6.1", "FIFO of 0.25 BDP", buffer_bdp=0.25),
        path("6.1", "FIFO of 1 BDP"),
        path("6.1", "FIFO of 4 BDP", buffer_bdp=4),
        path("6.1", "FIFO of 16 BDP", buffer_bdp=16, duration_s=120, warmup_s=30),
        # No losses but those of the queue, a rate that stays, a high one, and a short way.
        path("6.3", "wired: 200 Mbit/s, 5 ms", rate_mbps=200, rtt_ms=5, duration_s=20, warmup_s=5),
        path("6.4", "1 % of random loss", impairments={"loss": 0.01}),
        path("6.4", "losses in bursts", impairments=bursts),
        path("6.4", "packets in slots, as Wi-Fi", impairments=wifi),
        path("7.1", "FQ-CoDel", buffer_bdp=8, aqm={"kind": "fq-codel"}),
        path("7.1", "PIE with ECN", buffer_bdp=8, aqm={"kind": "pie", "ecn": True}),
        path("7.1", "DualPI2 (L4S)", buffer_bdp=8, aqm={"kind": "dualpi2"}),
        path("7.1", "CoDel with ECN", buffer_bdp=8, aqm={"kind": "codel", "ecn": True}),
        path("7.1", "step at 0.3 BDP", buffer_bdp=4, aqm={"kind": "step", "threshold": "20 packets"}),
        path("7.3", "grants each 8 ms", impairments=grants),
        path("7.4", "64 kbit/s", rate_mbps=0.064, rtt_ms=100, buffer_bdp=20, duration_s=300, warmup_s=60),
        path("7.5", "600 ms, as by satellite", rtt_ms=600, duration_s=300, warmup_s=60),
        path("7.7", "reordering by up to 3 packets", impairments=_reordering("0.9 ms")),
        path("7.7", "reordering by up to 300 packets", impairments=_reordering("90 ms"), rtt_ms=200, duration_s=120),
        path("7.8", "rate 20, 2, 200 Mbit/s in turn", duration_s=75, schedule=steps),
        path("7.9", "way of 20, then 100, then 2 ms", schedule=moved),
        path("7.9", "an outage of 5 s", schedule=outage),
        path("7.11", "data centre: 1 Gbit/s, 1 ms", rate_mbps=1000, rtt_ms=1, duration_s=2, warmup_s=0.5),
    ]


#: Sections whose paths are among these, in our words, and how strongly the text asks for them.
_sections = {
    "6": ("Representative rates, delays and queues", Level.SHOULD),
    "6.1": ("Tail-drop queues", Level.MUST),
    "6.3": ("Wired paths", Level.NONE),
    "6.4": ("Wireless paths", Level.SHOULD),
    "7.1": ("Active queue management", Level.SHOULD),
    "7.3": ("Delay that varies", Level.SHOULD),
    "7.5": ("High delay", Level.OUGHT),
    "7.7": ("Extreme reordering", Level.OUGHT),
    "7.8": ("Transient events", Level.SHOULD),
    "7.9": ("Sudden changes of the path", Level.MUST),
}


def paths_of(section: str) -> str:
    """Where the paths of a section are, in words; empty if it has none."""
    names = [name for each in all_paths() for number, name in [each.name.split(" ", 1)] if number == section]
    if section == "7.3":
        names.append("that of section 7.9 whose way becomes longer and shorter")
    return f"as paths of the criteria of section 5: {'; '.join(names)}" if names else ""


def clauses() -> list[Clause]:
    """The sections that are paths, in their order."""
    return [Clause(number, title, level, reason=paths_of(number)) for number, (title, level) in _sections.items()]


def behind(
    title: str,
    flows: list[dict[str, Any]],
    *,
    rate_mbps: float = RATE_MBPS,
    buffer_packets: int = 67,
    aqm: Mapping[str, Any] | None = None,
    **more: Any,
) -> ScenarioKeys:
    """Flows behind one bottleneck for 60 s; the buffer holds as much as the path if nothing else is given."""
    keys = {
        "title": title,
        "duration": "60 s",
        "warmup": "15 s",
        "bottleneck": {
            "rate": f"{rate_mbps:g} Mbit/s",
            "buffer": f"{buffer_packets} packets",
            "aqm": dict(aqm or {"kind": "fifo"}),
        },
        "flows": flows,
        **more,
    }
    return cast("ScenarioKeys", keys)
