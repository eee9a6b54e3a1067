"""Sections 5.1.1 and 5.2: more flows than the path has packets, heavy random loss, and feedback that is lost."""

from __future__ import annotations

from typing import Any

from shoal.evaluate.contenders import SUBJECT
from shoal.evaluate.model import Clause, Experiment, Level, group, varied
from shoal.evaluate.rfc9743.paths import behind

_rate_mbps, _rtt_ms, _packet_bits = 24.0, 100.0, 12_000
_narrow: dict[str, Any] = {"rate_mbps": _rate_mbps, "buffer_packets": 50}
#: Flows of which each has one packet a round trip on average: 24 Mbit/s x 100 ms are 200 packets.
FLOWS = 200
#: Parts of the packets that a path loses, whatever senders do.
LOSSES = (0.2, 0.4, 0.6, 0.9)
#: When all ACKs begin to be lost, and how long that is watched, in s.
SILENT_S, WATCHED_S = 30, 60


def _crowd() -> Experiment:
    title = f"{FLOWS} flows, each with one packet a round trip"
    flows = [group(SUBJECT, cc="reno", rtt=f"{_rtt_ms:g} ms", count=FLOWS)]
    metrics = {
        # New data, of all that the link carries.
        "useful_percent": f"100 * {FLOWS} * goodput_mbps('{SUBJECT}') / {_rate_mbps:g}",
        "lost_percent": "100 * dropped('all')",
        "timeouts": f"count('{SUBJECT}', 'timeouts')",
        "jain": "jain()",
    }
    return Experiment("crowd", title, behind(title, flows, **_narrow), metrics)


def _random_loss() -> Experiment:
    title = "One flow whose path loses a part of its packets, whatever it does"
    scenario = behind(title, [group(SUBJECT, cc="reno", rtt=f"{_rtt_ms:g} ms")], **_narrow)
    sent = f"rate_mbps('{SUBJECT}') * {1e6 * _rtt_ms / 1e3 / _packet_bits:g}"
    metrics = {"sent_packets_per_rtt": sent, "timeouts": f"count('{SUBJECT}', 'timeouts')"}
    axis = varied("bottleneck.impairments.loss", list(LOSSES))
    return Experiment("random-loss", title, scenario, metrics, axes=(axis,))


def _silence() -> Experiment:
    title = f"All ACKs of four flows are lost from {SILENT_S} s on, for {WATCHED_S} s"
    end_s = SILENT_S + WATCHED_S
    down = {"rates": [["0 s", "100 Mbit/s"], [f"{SILENT_S} s", "down"], [f"{end_s} s", "100 Mbit/s"]]}
    scenario = behind(
        title,
        [group(SUBJECT, cc="reno", rtt=f"{_rtt_ms:g} ms", count=4)],
        reverse={"rate": "100 Mbit/s", "buffer": "1000 packets", "schedule": down},
        duration=f"{end_s} s",
        # What was in flight then has left the queue by now.
        warmup=f"{SILENT_S + 1} s",
        **_narrow,
    )
    sent = f"rate_mbps('{SUBJECT}') * {1e6 * (WATCHED_S - 1) / _packet_bits:g}"
    metrics = {"sent_packets": sent, "timeouts": f"count('{SUBJECT}', 'timeouts')"}
    return Experiment("silence", title, scenario, metrics)


def crowd_of_both() -> Experiment:
    """Half of the flows are of another controller (section 5.2)."""
    half = FLOWS // 2
    title = f"{half} flows beside {half} of CUBIC, each with one packet a round trip"
    flows = [
        group(SUBJECT, cc="reno", rtt=f"{_rtt_ms:g} ms", count=half),
        group("other", cc="cubic", rtt=f"{_rtt_ms:g} ms", count=half),
    ]
    metrics = {
        "other_mbps": "goodput_mbps('other')",
        "subject_mbps": f"goodput_mbps('{SUBJECT}')",
        "lost_percent": "100 * dropped('all')",
        "other_timeouts": "count('other', 'timeouts')",
    }
    return Experiment("crowd-of-both", title, behind(title, flows, **_narrow), metrics)


def feedback_lost() -> Experiment:
    """The receivers of the evaluated flows fall silent, and those of the others do not (section 5.2)."""
    title = f"Two flows get no ACK from {SILENT_S} s on, for {WATCHED_S} s, beside two of CUBIC that get theirs"
    receiver = {"misbehaviour": {"silent_from": f"{SILENT_S} s"}}
    flows = [
        group(SUBJECT, cc="reno", rtt=f"{_rtt_ms:g} ms", count=2, receiver=receiver),
        group("other", cc="cubic", rtt=f"{_rtt_ms:g} ms", count=2),
    ]
    scenario = behind(
        title,
        flows,
        duration=f"{SILENT_S + WATCHED_S} s",
        # What was in flight then has left the queue by now.
        warmup=f"{SILENT_S + 1} s",
        **_narrow,
    )
    metrics = {
        "sent_packets": f"rate_mbps('{SUBJECT}') * {1e6 * (WATCHED_S - 1) / _packet_bits:g}",
        "timeouts": f"count('{SUBJECT}', 'timeouts')",
        # Of all that the link carries.
        "others_percent": f"100 * 2 * goodput_mbps('other') / {_rate_mbps:g}",
    }
    return Experiment("feedback-lost", title, scenario, metrics)


def clauses() -> list[Clause]:
    """The section."""
    first = [_crowd(), _random_loss(), _silence()]
    return [Clause("5.1.1", "Protection against congestion collapse", Level.SHOULD, first)]
