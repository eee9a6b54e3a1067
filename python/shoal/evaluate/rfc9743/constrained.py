"""Sections 7.4 and 7.11: nodes for which each packet counts, and data centres whose nodes answer at once."""

from __future__ import annotations

from typing import Any

from shoal.evaluate.contenders import SUBJECT
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group
from shoal.evaluate.rfc9743.paths import behind, path, paths_of

#: Servers that answer a request at once, and what each sends.
SERVERS, RESPONSE = 40, "64 kB"


def _control_packets() -> Experiment:
    title = "Packets and bytes of both ends for each megabyte that is delivered"
    reverse = {"rate": "100 Mbit/s", "buffer": "1000 packets"}
    scenario = behind(title, [group(SUBJECT, cc="reno", rtt="40 ms")], reverse=reverse)
    megabyte = "1e6 / value('groups.0.totals.delivered_bytes')"
    metrics = {
        "acks_per_mb": f"acks_per_megabyte('{SUBJECT}')",
        "receiver_bytes_per_mb": f"value('bottlenecks.1.departed_bytes') * {megabyte}",
        "sender_bytes_per_mb": f"value('bottlenecks.0.departed_bytes') * {megabyte}",
        "retransmissions_per_mb": f"value('groups.0.totals.retransmissions') * {megabyte}",
        "delay_ms": "delay_ms()",
    }
    slow: dict[str, Any] = {"rate_mbps": 0.064, "rtt_ms": 100, "duration_s": 300, "warmup_s": 60}
    paths = [
        path("7.4", "64 kbit/s, a buffer of 20 BDP", buffer_bdp=20, **slow),
        path("7.4", "64 kbit/s, a buffer of 4 packets", buffer_bdp=7.5, **slow),
        path("7.4", "64 kbit/s, 5 % of random loss", buffer_bdp=20, impairments={"loss": 0.05}, **slow),
        path("7.4", "20 Mbit/s, 40 ms"),
    ]
    return Experiment("control-packets", title, scenario, metrics, paths=paths)


def _incast() -> Experiment:
    title = f"{SERVERS} servers answer a request with {RESPONSE} each, all at once, and the next when all have come"
    app = {"request": "200 B", "response": RESPONSE, "barrier": True, "think": "1 ms"}
    flows = [group(SUBJECT, cc="reno", rtt="200 us", count=SERVERS, app=app)]
    metrics = {
        "round_ms": f"round_ms('{SUBJECT}')",
        "round_p99_ms": f"round_ms('{SUBJECT}', 'p99')",
        "timeouts": f"count('{SUBJECT}', 'timeouts')",
        "delay_p99_ms": "delay_ms('all', 'p99')",
        "lost_percent": "100 * dropped('all')",
    }
    scenario = behind(title, flows, rate_mbps=1000, buffer_packets=128)
    scenario["duration"], scenario["warmup"] = "2 s", "0.5 s"
    laws: dict[str, dict[str, Any]] = {"FIFO": {"kind": "fifo"}, "step": {"kind": "step", "threshold": "20 packets"}}
    paths = [Setting(f"{name} of 128 packets", {"bottleneck.aqm": law}) for name, law in laws.items()]
    return Experiment("incast", title, scenario, metrics, paths=paths)


def clauses() -> list[Clause]:
    """The sections, in their order."""
    return [
        Clause(
            "7.4",
            "Constrained nodes",
            Level.NONE,
            [_control_packets()],
            reason=f"{paths_of('7.4')}; left out: power, processor and memory of a node, which no model here has",
        ),
        Clause("7.11", "Data centres", Level.SHOULD, [_incast()], reason=paths_of("7.11")),
    ]
