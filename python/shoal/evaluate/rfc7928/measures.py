"""Metrics of RFC 7928, section 2, as columns."""

from __future__ import annotations

#: What the figure of delay against goodput shows (section 2.7).
TRADEOFF = ("delay_ms", "goodput_mbps")
#: Queueing delay, losses, marks and use of the link.
QUEUE = {
    "delay_ms": "delay_ms()",
    "delay_p99_ms": "delay_ms('all', 'p99')",
    "lost_percent": "100 * dropped('all')",
    "marked_percent": "100 * marked('all')",
    "utilisation_percent": "100 * utilisation()",
}


def measures(*groups: str) -> dict[str, str]:
    """Goodput of a flow of each group, queueing delay, losses, marks and use of the link.

    Goodput leaves headers and repeated data out (section 2.5); delay is that of the queue (section 2.6), to which a
    packet's way adds what is the same for every queue.
    """
    if len(groups) == 1:
        return {"goodput_mbps": f"goodput_mbps('{groups[0]}')", **QUEUE}
    return {**{f"{group.replace('-', '_')}_mbps": f"goodput_mbps('{group}')" for group in groups}, **QUEUE}
