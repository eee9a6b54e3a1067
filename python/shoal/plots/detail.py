"""How much of a run a figure of single oscillations shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

# 20 s of Kuehlewind et al.'s 25 ms: about fifteen cuts of a Reno flow.
_round_trips = 800
_longest_s = 20.0


def detail_s(result: RunRecord, *, bins_s: float = 0.0) -> float:
    """800 of the longest base round-trip time, at least 200 bins of the series, at most 20 s."""
    rtts = [group["longest_rtt_s"] for group in result.scenario.facts["groups"] if group["longest_rtt_s"]]
    wanted = max(_round_trips * max(rtts, default=_longest_s), 200 * bins_s)
    return float(min(wanted, _longest_s))
