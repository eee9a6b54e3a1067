"""Two scalable flows behind the recommended law, of which one joins the other: whether both get their part.

Hosts that wait until a whole segment of many packets may be sent keep the flow that was there first at a whole number
of segments, whatever the marks say: docs/findings/locked-flows/README.md. Hosts can cure it, larger thresholds do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.advise.advising import Advice
from shoal.advise.candidates import families
from shoal.advise.traffic import scalable_code_point
from shoal.parallel import Progress
from shoal.runs.cases import Case, run_cases
from shoal.scenario import Scenario

if TYPE_CHECKING:
    from shoal.scenario_keys import Flow

# A flow with less than this part of the mean rate is locked out: the limit of studies/locked_flows.
locked_below = 0.5
# Round trips, queue included, before the second flow joins, after that until the measurement, and of the measurement.
_round_trips = 1000
# Time constants of DCTCP's convergence (as many round trips as a window has packets) before the measurement at least.
_time_constants = 3
# Packets of 1500 B of a run at most: what a core simulates in about ten seconds.
_most_packets = 20e6
# The second flow starts anywhere in this part of the time before it: what locks depends on when.
_seeds = (1, 2, 3)
_spread = 0.1
_packet_bits = 1500 * 8
# What hosts can do, and how a scenario says it; all are tried where a flow is locked out, and the best is named.
cures: dict[str, dict[str, Any]] = {
    "net.ipv4.tcp_tso_win_divisor = 0": {"tso_win_divisor": 0},
    "ip link set DEV gso_max_segs 4": {"gso_max_segs": 4},
    "net.ipv4.tcp_tso_win_divisor = 0 and ethtool -C DEV rx-usecs 0": {"tso_win_divisor": 0, "interrupt_delay": "0 us"},
}


@dataclass(frozen=True, slots=True)
class Joined:
    """What a second scalable flow gets that joins a first one, as the smallest of three runs.

    Attributes
    ----------
    share
        The smaller rate over the mean of both; ``None`` if a run would have too many packets.
    cured
        What each of :data:`cures` at the hosts makes of it; empty if no flow is locked out.
    measured_s
        How long each run measured, in s.
    """

    share: float | None
    cured: Mapping[str, float]
    measured_s: float

    @property
    def is_locked(self) -> bool:
        """Whether one of the flows is locked out."""
        return self.share is not None and self.share < locked_below

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "share": self.share,
            "is_locked": self.is_locked,
            "cured": dict(self.cured),
            "measured_s": self.measured_s,
        }


def joining(
    advice: Advice, *, workers: int | None = None, cache: str | Path | None = None, progress: Progress = False
) -> Joined | None:
    """Let a scalable flow join another one behind the recommended law.

    Parameters
    ----------
    advice
        The advice.
    workers, cache, progress
        As for :func:`shoal.advise.advise`.

    Returns
    -------
    Joined or None
        ``None`` where the law does not mark, where hosts send packet by packet, or where there are no scalable flows.
    """
    question, candidate = advice.question, advice.recommended.candidate
    scalable, _ = question.groups
    if not (families[candidate.family].uses_ecn and scalable) or question.hosts_name == "ideal":
        return None
    round_trip_s = question.rtt_s + advice.recommended.judged.delay_s
    window_packets = question.rate_bps * round_trip_s / _packet_bits / 2
    settling_s = max(_round_trips, _time_constants * window_packets) * round_trip_s
    measured_s = _round_trips * round_trip_s
    joins_s = (1 + _spread) * measured_s
    if (joins_s + settling_s + measured_s) * question.rate_bps / _packet_bits > _most_packets:
        return Joined(None, {}, measured_s)

    def least(keys: Mapping[str, Any]) -> float:
        host: Any = {"preset": question.hosts_name, **keys}
        flow: Flow = {"cc": question.scalable, "rtt": question.rtt, "host": host}
        if candidate.separate:
            flow["dscp"] = scalable_code_point
        scenario = Scenario.from_keys(
            {
                "title": "A scalable flow joins another one",
                "duration": _time(joins_s + settling_s + measured_s),
                "warmup": _time(joins_s + settling_s),
                "bottleneck": {"rate": question.rate, "buffer": question.buffer_text, "aqm": candidate.aqm},
                "flows": [
                    {**flow, "name": "first"},
                    {**flow, "name": "joins", "start": {"uniform": [_time(measured_s), _time(joins_s)]}},
                ],
                "trace": {"series": "off"},
            },
            name="joining",
        )
        settings: dict[str, Any] = {"workers": workers, "cache": cache, "progress": progress}
        (runs,) = run_cases([Case(scenario, _seeds)], "a flow joins", **settings)
        return min(_share([group["wire_bps"]["mean"] or 0.0 for group in run.data["groups"]]) for run in runs)

    share = least({})
    tried = cures if share < locked_below else {}
    cured = {words: least(keys) for words, keys in tried.items()}
    return Joined(share, cured, measured_s)


def sentence(advice: Advice, joined: Joined) -> str:
    """What it says to an operator."""
    name = advice.question.scalable
    if joined.share is None:
        return (
            f"Whether a {name} flow that joins another one gets its part was not tried: its run would have more than "
            f"{_most_packets / 1e6:g} million packets."
        )
    text = f"When a {name} flow joins another one, the smaller of both gets {joined.share:.2f} of the mean rate"
    if not joined.cured:
        return f"{text}."
    best = max(joined.cured, key=lambda words: joined.cured[words])
    cured = joined.cured[best]
    gets = "it gets" if cured >= locked_below else "the best of what was tried at hosts, it still gets"
    return f"{text}, and stays there (docs/findings/locked-flows). With `{best}`, {gets} {cured:.2f}."


def _share(rates_bps: list[float]) -> float:
    mean = sum(rates_bps) / len(rates_bps)
    return min(rates_bps) / mean if mean else 0.0


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3f} us"
