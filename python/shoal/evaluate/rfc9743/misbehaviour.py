"""Section 7.6: receivers that say what is not so, and a router that marks everything."""

from __future__ import annotations

from typing import Any

from shoal.evaluate.contenders import SUBJECT
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group
from shoal.evaluate.rfc9743.paths import behind

#: What receivers of the evaluated flows do wrong, by name; `receiver.misbehaviour` has the same keys.
RECEIVERS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "each ACK in 10 pieces": {"ack_pieces": 10},
    "each ACK four times": {"ack_copies": 3},
    "losses hidden": {"packets_ahead": 0},
    "ACKs two packets ahead": {"packets_ahead": 2},
    "marks hidden": {"hides_marks": True},
    "no ACK from 30 s on": {"silent_from": "30 s"},
}


def _receivers() -> Experiment:
    title = "Two flows whose receivers misbehave, beside two honest ones of CUBIC"
    flows = [
        group(SUBJECT, cc="reno", rtt="40 ms", count=2, ecn="on"),
        group("honest", cc="cubic", rtt="40 ms", count=2, ecn="on"),
    ]
    metrics = {
        "honest_mbps": "goodput_mbps('honest')",
        # On the wire: a receiver that acknowledges what was lost never gets it.
        "subject_mbps": f"rate_mbps('{SUBJECT}')",
        "delay_p99_ms": "delay_ms('all', 'p99')",
        "lost_percent": "100 * dropped('all')",
        "marked_percent": "100 * marked('all')",
    }
    paths = [
        Setting(name, {f"flows.{SUBJECT}.receiver": {"misbehaviour": what} if what else {}})
        for name, what in RECEIVERS.items()
    ]
    # Lines of the senders, since nothing else stops a controller that is told of no loss from sending ever faster.
    topology = {"kind": "dumbbell", "access_rate": "100 Mbit/s"}
    scenario = behind(title, flows, buffer_packets=134, aqm={"kind": "pie", "ecn": True}, topology=topology)
    return Experiment("receivers", title, scenario, metrics, paths=paths, headline="honest_mbps")


def _marks_everything() -> Experiment:
    title = "A router that marks every packet that can be marked"
    scenario = behind(
        title,
        [group(SUBJECT, cc="reno", rtt="40 ms", ecn="on")],
        buffer_packets=134,
        aqm={"kind": "open-loop", "mark": 1.0},
    )
    metrics = {
        "goodput_mbps": f"goodput_mbps('{SUBJECT}')",
        "marked_percent": "100 * marked('all')",
        "timeouts": f"count('{SUBJECT}', 'timeouts')",
    }
    return Experiment("marks-everything", title, scenario, metrics)


def clauses() -> list[Clause]:
    """The section."""
    return [
        Clause(
            "7.6",
            "Misbehaving senders, receivers and routers",
            Level.SHOULD,
            [_receivers(), _marks_everything()],
            reason="senders: the evaluated controller is what they would be; left out: outside attackers",
        )
    ]
