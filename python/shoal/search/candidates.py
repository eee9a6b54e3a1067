"""What a search with goals knows of its candidates, and which of them are best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal._arguments import explained
from shoal.results import Results
from shoal.search.bisection import Decision
from shoal.search.condition import Condition, Measured, decide
from shoal.search.domination import front, spread
from shoal.search.goals import Goal
from shoal.search.sampler import Lesson
from shoal.stats import Estimate, estimate

# By how much a strict comparison fails whose sides are equal.
_least_violation = 1e-12


@explained
@dataclass(frozen=True, slots=True)
class Measurement:
    """What runs of a candidate gave.

    Attributes
    ----------
    seeds
        Seeds of the runs.
    values
        For each expression one value a seed; NaN if a run has no such number.
    results
        The runs, of which only those with fresh seeds are kept.
    """

    seeds: tuple[int, ...]
    values: Mapping[str, tuple[float, ...]]
    results: Results | None = None

    def joined(self, other: Measurement) -> Measurement:
        """With the runs of further seeds."""
        values = {text: numbers + other.values[text] for text, numbers in self.values.items()}
        return Measurement(self.seeds + other.seeds, values)

    @property
    def missing(self) -> list[str]:
        """Expressions of which a run has no value."""
        return [text for text, numbers in self.values.items() if any(math.isnan(value) for value in numbers)]

    def estimate(self, expression: str) -> Estimate | None:
        """Mean and interval over the seeds; ``None`` if a run has no such number."""
        return None if expression in self.missing else estimate(self.values[expression])

    def losses(self, goal: Goal) -> list[float]:
        """Values of a goal, one a seed, of which less is better."""
        return [goal.sign * value for value in self.values[goal.expression]]

    def mean_losses(self, goals: Sequence[Goal]) -> tuple[float, ...] | None:
        """Means of the goals, of which less is better; ``None`` if one has no value."""
        means = []
        for goal in goals:
            if (interval := self.estimate(goal.expression)) is None:
                return None
            means.append(goal.sign * interval.mean)
        return tuple(means)

    def judged(self, condition: Condition | None) -> list[Measured]:
        """Each comparison of the condition; none if one of their sides has no value."""
        if condition is None or any(text in self.missing for text in condition.expressions):
            return []
        return condition.judge(self.values)

    def decided(self, condition: Condition | None) -> Decision:
        """Whether the condition holds; where it has no value, it does not."""
        if condition is None:
            return Decision(holds=True)
        judged = self.judged(condition)
        return decide(judged) if judged else Decision(holds=False)

    def violations(self, condition: Condition | None) -> tuple[float, ...]:
        """By how much each comparison fails, as a part of its larger side; 0 where it holds."""
        if condition is None:
            return ()
        judged = self.judged(condition)
        return tuple(map(_violation, judged)) if judged else (1.0,) * len(condition.comparisons)


@explained
@dataclass(frozen=True, slots=True)
class Candidate:
    """Values of the free parameters that were tried.

    Attributes
    ----------
    number
        Counted from 1 in the order in which they were proposed.
    round
        The round that proposed it, from 1.
    at
        Its values, one a parameter.
    searched
        What the search knew of it, by the seeds that all candidates share.
    fresh
        What seeds say that had no part in choosing it; finalists only.
    """

    number: int
    round: int
    at: tuple[float, ...]
    searched: Measurement
    fresh: Measurement | None = None

    @property
    def confirmed(self) -> Measurement:
        """What fresh seeds say, of a finalist."""
        if self.fresh is None:
            raise ValueError(f"candidate {self.number} is no finalist")
        return self.fresh


def best_of(
    candidates: Sequence[Candidate], goals: Sequence[Goal], condition: Condition | None, count: int
) -> list[Candidate]:
    """The best by what the search knows, of several goals those that stand for the front; at most ``count``.

    Where no candidate satisfies the condition, those that fail it by least, whatever their goals are.
    """
    known = [
        (candidate, losses) for candidate in candidates if (losses := candidate.searched.mean_losses(goals)) is not None
    ]
    amounts = [sum(candidate.searched.violations(condition)) for candidate, _ in known]
    holding = [pair for pair, amount in zip(known, amounts, strict=True) if amount == 0]
    if not holding:
        order = sorted(range(len(known)), key=lambda index: (amounts[index], known[index][0].number))
        return [known[index][0] for index in order[:count]]
    if len(goals) == 1:
        return [candidate for candidate, _ in sorted(holding, key=lambda pair: (pair[1], pair[0].number))[:count]]
    indices = front([losses for _, losses in holding])
    kept = spread([holding[index][1] for index in indices], count)
    return [holding[indices[index]][0] for index in kept]


def lesson(candidate: Candidate, goals: Sequence[Goal], condition: Condition | None) -> Lesson:
    """What the sampler learns of a candidate."""
    return Lesson(candidate.at, candidate.searched.mean_losses(goals), candidate.searched.violations(condition))


def _violation(measured: Measured) -> float:
    if measured.decision.holds:
        return 0.0
    left, right = measured.left.mean, measured.right.mean
    scale = max(abs(left), abs(right))
    return max(abs(left - right) / scale if scale else 0.0, _least_violation)
