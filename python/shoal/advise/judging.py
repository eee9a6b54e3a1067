"""What a candidate is worth: numbers from its runs, and what each goal asks of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from shoal.advise.question import Goal
from shoal.advise.traffic import Situation
from shoal.models import find_controller
from shoal.results import Result
from shoal.stats import Estimate, estimate


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one run of one situation measured; ``None`` where the situation has no such thing.

    Attributes
    ----------
    ratio
        Rate of a scalable flow over that of a classic one.
    utilisation
        Part of the time for which the port transmitted.
    scalable_p99_s, classic_p99_s
        99th percentile of the queueing delay of packets that are ECN-capable, and of all others.
    classic_lost
        Part of the packets that are not ECN-capable that were dropped.
    incast_p99_s
        99th percentile of the completion times of the answers of an incast.
    timeouts
        Retransmission timeouts of all long flows together.
    """

    ratio: float | None
    utilisation: float
    scalable_p99_s: float | None
    classic_p99_s: float | None
    classic_lost: float | None
    incast_p99_s: float | None
    timeouts: int


def numbers(result: Result) -> Numbers:
    """Read a run of :func:`shoal.advise.traffic.scenario`."""
    link = result.data["bottlenecks"][0]
    groups = {group["name"]: group for group in result.data["groups"]}
    rate: dict[str, float] = {name: group["wire_bps"]["mean"] or 0.0 for name, group in groups.items()}
    both = "scalable" in rate and "classic" in rate
    times = [fct for flow in groups["incast"]["flows"] for fct in flow["fct_s"]] if "incast" in groups else []
    # Where classic flows ask for ECN, packets do not tell by it whose they are.
    told_apart = not any(_is_classic_with_ecn(group["cc"]) for group in groups.values())
    delay = link["delay_s"] if told_apart else {"ect": None, "not_ect": None}
    window = result.data["window"]
    packet_bps = 1500 * 8 / (window["end_s"] - window["start_s"])
    return Numbers(
        # A flow that got nothing counts as one that got a packet: more cannot be told from the time that was measured.
        ratio=max(rate["scalable"], packet_bps) / max(rate["classic"], packet_bps) if both else None,
        utilisation=float(link["utilisation"] or 0.0),
        scalable_p99_s=_quantile(delay["ect"]),
        classic_p99_s=_quantile(delay["not_ect"]),
        classic_lost=_lost(link) if told_apart else None,
        incast_p99_s=_upper(times, 0.99),
        timeouts=sum(flow["timeouts"] for name, group in groups.items() if name != "flood" for flow in group["flows"]),
    )


def _is_classic_with_ecn(controller: str) -> bool:
    model = find_controller(controller)
    return model is not None and model.uses_ecn and not model.is_scalable


def _quantile(delays: Mapping[str, Any] | None) -> float | None:
    value = None if delays is None else delays.get("p99")
    return None if value is None else float(value)


def _lost(link: Mapping[str, Any]) -> float | None:
    packets = link["not_ect"]
    if not packets["arrived"]:
        return None
    return float(packets["dropped"]) / float(packets["arrived"])


def _upper(values: Sequence[float], part: float) -> float | None:
    if not values:
        return None
    return sorted(values)[min(len(values) - 1, math.ceil(part * len(values)) - 1)]


@dataclass(frozen=True, slots=True)
class Means:
    """Means of :class:`Numbers` over the seeds; a ratio is the geometric mean."""

    ratio: Estimate | None
    utilisation: Estimate
    scalable_p99_s: Estimate | None
    classic_p99_s: Estimate | None
    classic_lost: Estimate | None
    incast_p99_s: Estimate | None
    timeouts: Estimate


def means(runs: Sequence[Numbers]) -> Means:
    """Means over the seeds; a number that one of them lacks is lacking."""
    estimates: dict[str, Any] = {}
    for field in fields(Numbers):
        values = [getattr(run, field.name) for run in runs]
        known = [float(value) for value in values if value is not None]
        if field.name == "ratio":
            known = [math.log(value) for value in known]
        mean = estimate(known) if known and len(known) == len(values) else None
        if field.name == "ratio" and mean is not None:
            half = None if mean.half_width is None else math.exp(mean.mean) * math.expm1(mean.half_width)
            mean = Estimate(math.exp(mean.mean), half, mean.n)
        estimates[field.name] = mean
    return Means(**estimates)


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a goal asks at least of every situation with long flows; of what meets it, the goal takes the best.

    Attributes
    ----------
    least_utilisation
        Which part of the time the port has to be busy.
    most_unequal
        Ratio of the rates of two flows of different kinds in the traffic as asked.
    most_unequal_elsewhere
        The ratio that is allowed with other numbers of flows, which no setting suits as well.
    """

    least_utilisation: float
    most_unequal: float
    most_unequal_elsewhere: float


requirements = {
    Goal.BALANCED: Requirements(least_utilisation=0.95, most_unequal=2.0, most_unequal_elsewhere=4.0),
    Goal.FAIR: Requirements(least_utilisation=0.95, most_unequal=2.0, most_unequal_elsewhere=4.0),
    Goal.DELAY: Requirements(least_utilisation=0.90, most_unequal=4.0, most_unequal_elsewhere=8.0),
    Goal.THROUGHPUT: Requirements(least_utilisation=0.98, most_unequal=4.0, most_unequal_elsewhere=8.0),
}

goal_words = {
    Goal.BALANCED: "the smallest delay of scalable packets (99th percentile)",
    Goal.FAIR: "the most equal rates",
    Goal.DELAY: "the smallest delay of scalable packets (99th percentile)",
    Goal.THROUGHPUT: "the largest utilisation",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate over all situations.

    Attributes
    ----------
    unequal
        Largest ratio of the rates of a scalable and a classic flow, or its inverse; 1 is equal. ``None`` without both.
    utilisation
        The smallest.
    delay_s
        The longest delay (99th percentile) of scalable packets among the situations with both, or else of all.
    classic_delay_s
        The longest such delay of classic packets.
    incast_s
        Completion time (99th percentile) of an incast's answers.
    missed
        What the goal requires and the candidate misses, in words.
    """

    unequal: float | None
    utilisation: float
    delay_s: float
    classic_delay_s: float | None
    incast_s: float | None
    missed: tuple[str, ...]
    key: tuple[float, ...]


def judge(measured: Mapping[Situation, Means], goal: Goal) -> Judged:
    """Judge a candidate by its worst situation; the first situation is the traffic as asked."""
    wanted = requirements[goal]
    bulk = {
        situation: means for situation, means in measured.items() if not situation.incast and not situation.is_flooded
    }
    ratios = {situation: means.ratio.mean for situation, means in bulk.items() if means.ratio is not None}
    apart = {situation: max(ratio, 1 / ratio) for situation, ratio in ratios.items()}
    unequal = max(apart.values(), default=None)
    utilisation = min(means.utilisation.mean for means in bulk.values())
    mixed = {situation: means for situation, means in bulk.items() if situation.is_mixed} or bulk
    delay_s = max(_delay(means) for means in mixed.values())
    classic = [means.classic_p99_s.mean for means in mixed.values() if means.classic_p99_s is not None]
    incasts = [means.incast_p99_s.mean for means in measured.values() if means.incast_p99_s is not None]
    missed, excess = [], 0.0
    asked = next(iter(measured))
    for situation, ratio in apart.items():
        most = wanted.most_unequal if situation == asked else wanted.most_unequal_elsewhere
        if ratio > most:
            more = "scalable" if ratios[situation] > 1 else "classic"
            missed.append(f"{more} flows get {ratio:.3g} times the rate of the others ({situation.name})")
            excess += math.log(ratio / most)
    if utilisation < wanted.least_utilisation:
        worst = min(bulk, key=lambda situation: bulk[situation].utilisation.mean)
        missed.append(f"the link is only {utilisation:.1%} busy ({worst.name})")
        excess += 10 * (wanted.least_utilisation - utilisation)
    best = {
        Goal.BALANCED: delay_s,
        Goal.DELAY: delay_s,
        Goal.FAIR: unequal or 1.0,
        Goal.THROUGHPUT: -utilisation,
    }[goal]
    return Judged(
        unequal=unequal,
        utilisation=utilisation,
        delay_s=delay_s,
        classic_delay_s=max(classic, default=None),
        incast_s=max(incasts, default=None),
        missed=tuple(missed),
        key=(excess, best, delay_s),
    )


def _delay(means: Means) -> float:
    """Delay of scalable packets; of all others where a queue without ECN tells none apart, or where there are none."""
    either = means.scalable_p99_s or means.classic_p99_s
    return 0.0 if either is None else either.mean
