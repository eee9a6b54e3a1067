"""Verdicts on pairs of numbers: within a margin, beyond it, or not decided, with a correction over all of them.

The margin is a share of the mean on Linux and an absolute part. The mean is itself uncertain, so both bounds are tests
of x - (1 + share) y and x - (1 - share) y, pair by pair (Sasabuchi 1988; Hauschke, Kieser and Hothorn 1999), and not
of x - y against a number that was measured with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from shoal.stats import benjamini_hochberg, holm, normal_tail, standard_deviation, student_t_quantile, student_t_tail

level = 0.05
"""The level of all verdicts of a comparison: see :class:`Verdict`."""
power = 0.8
"""With which a verdict is reached with as many seeds as are said to be needed, if all is as it was measured."""
most_seeds = 10_000
"""More are not offered."""


class Verdict(StrEnum):
    """What is shown of the numbers of both planes."""

    EQUAL = "equal"
    """Whether the number is the same with every seed."""
    SAME = "same"
    """The difference is shown to be within the margin; of all such verdicts, 5 % are expected to be wrong."""
    DIFFERENT = "different"
    """It is shown to be beyond; that any of these verdicts of a comparison is wrong has a probability of 5 %."""
    UNDECIDED = "not decided"
    """Neither is shown."""


@dataclass(frozen=True, slots=True)
class Margin:
    """The largest difference that does not matter: a share of the mean on Linux, and a part of the quantity's unit."""

    share: float
    absolute: float

    def at(self, mean: float) -> float:
        """What it comes to."""
        return self.share * abs(mean) + self.absolute


@dataclass(frozen=True)
class Pairs:
    """A quantity, seed by seed.

    Attributes
    ----------
    sim, linux
        Values, none below zero.
    margin
        Set before they were measured, but for those that :data:`shoal.compare.kinds.changed` names.
    """

    sim: tuple[float, ...]
    linux: tuple[float, ...]
    margin: Margin

    @property
    def is_exact(self) -> bool:
        """Whether no seed changes it on either plane: one number each, and nothing to test."""
        return len(self.sim) > 1 and all(min(side) == max(side) for side in (self.sim, self.linux))

    @property
    def is_equal(self) -> bool:
        """Whether both planes have the same number with every seed."""
        return len(self.sim) > 1 and self.sim == self.linux

    @property
    def is_within(self) -> bool:
        """Whether the means are no further apart than the margin, whatever that proves."""
        return min(self._lower.mean, self._upper.mean) >= 0

    @cached_property
    def p_within(self) -> float:
        """The p-value of two one-sided tests (Schuirmann 1987): small if the difference is within the margin."""
        return max(bound.p_kept for bound in (self._lower, self._upper))

    @cached_property
    def p_beyond(self) -> float:
        """The p-value of a test to both sides: small if the difference is beyond the margin."""
        return min(1.0, 2 * min(bound.p_broken for bound in (self._lower, self._upper)))

    @cached_property
    def _upper(self) -> _Bound:
        """How far the difference stays below the margin."""
        share = 1 + self.margin.share
        return _Bound([self.margin.absolute - x + share * y for x, y in zip(self.sim, self.linux, strict=True)])

    @cached_property
    def _lower(self) -> _Bound:
        """How far it stays above the margin to the other side."""
        share = 1 - self.margin.share
        return _Bound([self.margin.absolute + x - share * y for x, y in zip(self.sim, self.linux, strict=True)])

    def seeds_needed(self, levels: Levels) -> int | None:
        """Seeds with which a verdict is reached with a probability of :data:`power`; ``None`` if too many."""

        def reached(n: int) -> float:
            if self.is_within:
                quantile = _quantile(1 - levels.within, n - 1)
                return 1 - sum(normal_tail(bound.t(n) - quantile) for bound in (self._lower, self._upper))
            quantile = _quantile(1 - levels.beyond / 2, n - 1)
            return max(normal_tail(bound.t(n) + quantile) for bound in (self._lower, self._upper))

        low, high = len(self.sim), most_seeds
        if reached(high) < power:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if reached(middle) < power else (low, middle)
        return high


class _Bound:
    """A mean that is above zero if a bound is kept."""

    def __init__(self, values: Sequence[float]) -> None:
        self.n = len(values)
        # What differs by roundings only does not differ.
        self.mean = math.fsum(values) / self.n if min(values) != max(values) else values[0]
        self.sd = standard_deviation(values) if self.n > 1 else math.nan

    @property
    def p_kept(self) -> float:
        """Probability of such a mean or a larger one if the true one were zero."""
        return student_t_tail(self.t(self.n), self.n - 1)

    @property
    def p_broken(self) -> float:
        """Probability of such a mean or a smaller one."""
        return student_t_tail(-self.t(self.n), self.n - 1)

    def t(self, n: int) -> float:
        """The statistic of ``n`` values like these."""
        if self.sd == 0:
            return math.inf if self.mean >= 0 else -math.inf
        return self.mean / (self.sd / math.sqrt(n))


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on a quantity.

    Attributes
    ----------
    verdict
        What is shown.
    seeds
        If nothing is: about how many seeds would show something; ``None`` if more than :data:`most_seeds`, or if there
        is one only, which says nothing of its noise.
    """

    verdict: Verdict
    seeds: int | None = None


@dataclass(frozen=True, slots=True)
class Levels:
    """What the next p-values would have to be, after the correction over all of them."""

    within: float
    beyond: float


def decide(pairs: Sequence[Pairs]) -> list[Decision]:
    """Decide on all quantities of a comparison together."""
    verdicts, levels = judge(pairs)

    def seeds(quantity: Pairs) -> int | None:
        return quantity.seeds_needed(levels) if len(quantity.sim) > 1 else None

    return [
        Decision(verdict, seeds(quantity) if verdict is Verdict.UNDECIDED else None)
        for quantity, verdict in zip(pairs, verdicts, strict=True)
    ]


def judge(pairs: Sequence[Pairs]) -> tuple[list[Verdict], Levels]:
    """Verdicts on all quantities of a comparison.

    Of the two claims about a quantity only one can be false, so each kind has its own correction over all tests:
    "different" the one of Holm (no false one at all with a probability of 95 %: it starts a search), "same" the one of
    Benjamini and Hochberg (of those that are called so, 5 % are expected to be false). Exact quantities are no tests.
    """
    tested = [index for index, quantity in enumerate(pairs) if not quantity.is_exact and len(quantity.sim) > 1]
    within = dict(
        zip(tested, benjamini_hochberg([pairs[index].p_within for index in tested], level=level), strict=True)
    )
    beyond = dict(zip(tested, holm([pairs[index].p_beyond for index in tested], level=level), strict=True))

    def verdict(index: int, quantity: Pairs) -> Verdict:
        if quantity.is_equal:
            return Verdict.EQUAL
        if within.get(index, quantity.is_exact and quantity.is_within):
            return Verdict.SAME
        return Verdict.DIFFERENT if beyond.get(index, quantity.is_exact) else Verdict.UNDECIDED

    count = max(1, len(tested))
    levels = Levels(
        within=level * min(1.0, (sum(within.values()) + 1) / count),
        beyond=level / max(1, count - sum(beyond.values())),
    )
    return [verdict(index, quantity) for index, quantity in enumerate(pairs)], levels


# A comparison asks for the same quantiles again and again.
_quantile = cache(student_t_quantile)
