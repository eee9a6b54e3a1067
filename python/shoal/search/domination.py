"""Candidates with several goals: which dominate which, clearly or not, and which stand for a front. Pure.

Losses are values of goals of which less is better. A candidate dominates another if it is worse in no goal and better
in one. What noise leaves open is decided on pairs of runs with the same seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from shoal._arguments import Word, explained
from shoal.stats import Difference, paired_difference

Losses = tuple[float, ...]


def dominates(first: Losses, second: Losses) -> bool:
    """Whether the first means dominate the second, whatever the noise is."""
    return all(a <= b for a, b in zip(first, second, strict=True)) and first != second


def front(losses: Sequence[Losses]) -> list[int]:
    """Indices of those that no other one dominates, in order; of equal ones the first."""
    return [
        index
        for index, candidate in enumerate(losses)
        if candidate not in losses[:index] and not any(dominates(other, candidate) for other in losses)
    ]


def spread(losses: Sequence[Losses], count: int) -> list[int]:
    """Indices of ``count`` that stand for all: the most crowded is left out again and again (Deb et al. 2002).

    The best of each goal is never left out, unless ``count`` leaves no room for it.
    """
    kept = list(range(len(losses)))
    while len(kept) > count:
        crowding = _crowding([losses[index] for index in kept])
        kept.pop(min(range(len(kept)), key=lambda index: (crowding[index], -index)))
    return kept


def _crowding(losses: Sequence[Losses]) -> list[float]:
    """How far the neighbours of each are apart, summed over the goals as parts of their ranges; ends are infinite."""
    distances = [0.0] * len(losses)
    for goal in range(len(losses[0])):
        order = sorted(range(len(losses)), key=lambda index: losses[index][goal])
        range_ = losses[order[-1]][goal] - losses[order[0]][goal]
        distances[order[0]] = distances[order[-1]] = math.inf
        for before, index, after in zip(order, order[1:], order[2:], strict=False):
            distances[index] += (losses[after][goal] - losses[before][goal]) / range_ if range_ else 0.0
    return distances


def compromise(losses: Sequence[Losses]) -> int:
    """The index of the one nearest to the best of every goal, each goal scaled by its range over the candidates."""
    best = [min(column) for column in zip(*losses, strict=True)]
    ranges = [max(column) - low or 1.0 for column, low in zip(zip(*losses, strict=True), best, strict=True)]
    return min(
        range(len(losses)),
        key=lambda index: math.hypot(*((a - b) / r for a, b, r in zip(losses[index], best, ranges, strict=True))),
    )


class Order(StrEnum):
    """How a goal of one candidate compares with that of another."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"
    UNCLEAR = "unclear"


def compared(first: Sequence[float], second: Sequence[float]) -> Order:
    """Compare losses of pairs of runs: clear if the 95 % interval of their mean difference does not contain zero.

    A single pair says nothing of the noise, so its difference counts as clear.
    """
    return order_of(paired_difference(first, second))


def order_of(difference: Difference) -> Order:
    """How losses compare whose difference has been computed."""
    if difference.value == 0 and not difference.half_width:
        return Order.EQUAL
    if difference.half_width is None or abs(difference.value) > difference.half_width:
        return Order.BETTER if difference.value < 0 else Order.WORSE
    return Order.UNCLEAR


class Standing(Word):
    """Where a candidate stands among others."""

    ON_FRONT = "on the front"
    UNCLEAR = "not clear"
    DOMINATED = "dominated"


@explained
@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a candidate is on the front, and the others that decide it, or leave it open."""

    standing: Standing
    by: tuple[int, ...] = ()


def judge(runs: Sequence[Sequence[Sequence[float]]]) -> list[Judgement]:
    """Where each candidate stands, by pairs of runs.

    It is dominated if another one is clearly better in one goal, and clearly better or equal in all others. It is on
    the front if each other one is clearly worse in one goal, or equal in all. Else that is not clear.

    Parameters
    ----------
    runs
        For each candidate and goal the losses, one a seed; the seeds are the same everywhere.
    """
    judgements = []
    for index, candidate in enumerate(runs):
        clearly: list[int] = []
        perhaps: list[int] = []
        for number, other in enumerate(runs):
            if number == index:
                continue
            orders = {compared(a, b) for a, b in zip(other, candidate, strict=True)}
            if Order.WORSE in orders or orders == {Order.EQUAL}:
                continue
            (perhaps if Order.UNCLEAR in orders else clearly).append(number)
        if clearly:
            judgements.append(Judgement(Standing.DOMINATED, tuple(clearly)))
        elif perhaps:
            judgements.append(Judgement(Standing.UNCLEAR, tuple(perhaps)))
        else:
            judgements.append(Judgement(Standing.ON_FRONT))
    return judgements
