"""The warning that belongs to every threshold that is found on fast links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shoal.scenario import Scenario

# Above this rate the bursts of hosts, not the control loop, decide how large a threshold must be.
_most_bps = 1e9

text = (
    "Hosts here are ideal: they send and receive packet by packet. Above 1 Gbit/s real ones send bursts (segmentation "
    "offload, GRO, interrupt coalescing), and a deployed threshold must cover the burst: Alizadeh et al. 2010 use 65 "
    "packets at 10 Gbit/s. Take this answer as a lower bound, or give flows a `host` such as linux-6-10g."
)


def warning(scenarios: Iterable[Scenario]) -> str | None:
    """The warning, if any of the scenarios has a monitored link above 1 Gbit/s and a TCP flow between ideal hosts."""
    for scenario in scenarios:
        fast = any(link["rate_bps"] > _most_bps for link in scenario.facts["bottlenecks"])
        if fast and any(flow["cc"] != "none" and _ideal(flow["host"]) for flow in scenario.resolved["flows"]):
            return text
    return None


def _ideal(host: str | Mapping[str, object]) -> bool:
    """Whether a resolved `host` is the preset without bursts, or a table over it."""
    return (host if isinstance(host, str) else host["preset"]) == "ideal"


def sets_a_threshold(keys: Iterable[str]) -> bool:
    """Whether one of these dotted keys belongs to a queue: its law, or its buffer."""
    return any(word.endswith(("aqm", "buffer")) for key in keys for word in key.split("."))
