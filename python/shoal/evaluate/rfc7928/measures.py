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
#: Part of the flows that lose packets in the same loss event (section 2.4).
SYNCHRONISATION = {"synchronised_percent": "100 * loss_synchronisation()"}


def measures(*groups: str) -> dict[str, str]:
    """Goodput of a flow of each group, queueing delay, losses, marks and use of the link.

    Goodput leaves headers and repeated data out (section 2.5); delay is that of the queue (section 2.6), to which a
    packet's way adds what is the same for every queue.
    """
    if len(groups) == 1:
        return {"goodput_mbps": f"goodput_mbps('{groups[0]}')", **QUEUE}
    return {**{f"{group.replace('-', '_')}_mbps": f"goodput_mbps('{group}')" for group in groups}, **QUEUE}


def end_to_end(group: str) -> dict[str, str]:
    """What a flow sees: start-up (section 2.2), intervals between losses (2.3), one-way delay and its variation (2.6).

    Start-up is the handshake: queues of the way there are in it.
    """
    return {
        "startup_ms": f"startup_ms('{group}')",
        "one_way_delay_ms": f"one_way_delay_ms('{group}')",
        "one_way_delay_p99_ms": f"one_way_delay_ms('{group}', 'p99')",
        "delay_variation_p99_ms": f"delay_variation_ms('{group}', 'p99')",
        "loss_interval_ms": f"loss_interval_ms('{group}')",
    }


def losses(*groups: str) -> dict[str, str]:
    """The share of lost packets of each group (section 2.3)."""
    return {f"{group.replace('-', '_')}_lost_percent": f"100 * loss_ratio('{group}')" for group in groups}


def cumulated(*groups: int) -> str:
    """Goodput of all flows of some groups together, by their numbers (section 8.2)."""
    return " + ".join(f"value('groups.{group}.goodput_bps.sum') / 1e6" for group in groups)


def curves(group: str) -> dict[str, str]:
    """Distributions of section 2.7: delay of each packet, and goodput of a flow in windows of ten round trips."""
    return {"delay_ms": "delay_ms('all', {})", "goodput_mbps": f"goodput_window_mbps('{group}', {{}})"}
