"""Section 6.2: tunnels, in which queues cannot tell flows apart, and routers that clear the ECN field.

Marks are copied from the outer header to the inner one (RFC 6040, https://www.rfc-editor.org/rfc/rfc6040).
"""

from __future__ import annotations

from typing import Any

from shoal.evaluate.contenders import SUBJECT
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group
from shoal.evaluate.rfc9743.paths import behind, path

_queues: dict[str, dict[str, Any]] = {
    "FQ-CoDel": {"kind": "fq-codel"},
    "DualPI2 (L4S)": {"kind": "dualpi2"},
    "PIE with ECN": {"kind": "pie", "ecn": True},
}


def _setting(name: str, queue: str, other: str, **bottleneck: Any) -> Setting:
    values = path("6.2", "", buffer_bdp=2, aqm=_queues[queue], **bottleneck).values
    tunnels = {f"flows.{SUBJECT}.tunnel": "a", "flows.other.tunnel": other}
    return Setting(f"{queue}: {name}", {**values, **tunnels})


def _tunnels() -> Experiment:
    title = "A flow beside one of CUBIC, each in a tunnel or both in the same, and a router that clears the ECN field"
    flows = [group(SUBJECT, cc="reno", rtt="40 ms"), group("other", cc="cubic", rtt="40 ms")]
    paths = [
        _setting("a tunnel each", "FQ-CoDel", "b"),
        _setting("both in one tunnel", "FQ-CoDel", "a"),
        _setting("both in one tunnel", "DualPI2 (L4S)", "a"),
        _setting("a tunnel each, ECN field cleared", "FQ-CoDel", "b", impairments={"clear_ecn": True}),
        _setting("ECN field cleared", "PIE with ECN", "b", impairments={"clear_ecn": True}),
    ]
    metrics = {
        "other_mbps": "goodput_mbps('other')",
        "subject_mbps": f"goodput_mbps('{SUBJECT}')",
        "other_rtt_ms": "srtt_ms('other')",
        "subject_rtt_ms": f"srtt_ms('{SUBJECT}')",
        "lost_percent": "100 * dropped('all')",
        "marked_percent": "100 * marked('all')",
    }
    return Experiment("tunnels", title, behind(title, flows), metrics, paths=paths)


def clauses() -> list[Clause]:
    """The section."""
    return [Clause("6.2", "Tunnels", Level.MUST, [_tunnels()], reason="left out: a lower layer with marks of its own")]
