"""Section 6.2: flows with different round trips."""

from __future__ import annotations

from shoal.evaluate.model import Clause, Experiment, Level, group, varied
from shoal.evaluate.rfc7928.bottleneck import RTT_MS, dumbbell
from shoal.evaluate.rfc7928.measures import SYNCHRONISATION, losses, measures

#: Round trips of the second flow in ms: the ends of section 6.2's range, and values between them.
RTTS_MS = (5, 20, 50, 100, 200, 560)


def differing_rtts(name: str = "rtts", *, ecn: str | None = None, title: str = "") -> Experiment:
    """Two Reno flows, one of 100 ms, and one of 5 to 560 ms."""
    title = title or "Two flows, one with a round trip of 100 ms and one of 5 to 560 ms"
    more = {} if ecn is None else {"ecn": ecn}
    flows = [
        group("first", cc="reno", rtt=f"{RTT_MS} ms", **more),
        group("second", cc="reno", rtt=f"{RTTS_MS[0]} ms", **more),
    ]
    metrics = {
        "second_over_first": "goodput_mbps('second') / goodput_mbps('first')",
        **measures("first", "second"),
        # Section 6.3 asks for the losses of each.
        **losses("first", "second"),
        **SYNCHRONISATION,
    }
    scenario = dumbbell(title, flows, largest_rtt_ms=max(RTTS_MS), duration_s=400, warmup_s=100)
    axis = varied("flows.second.rtt", [f"{rtt_ms} ms" for rtt_ms in RTTS_MS])
    return Experiment(name, title, scenario, metrics, axes=(axis,))


def clauses() -> list[Clause]:
    """The sections, in their order."""
    return [Clause("6.2", "Round-trip-time fairness", Level.MUST, [differing_rtts()])]
