"""When a point has seeds enough: ``ci(utilisation()) < 0.002``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.errors import UsageError
from shoal.metrics import check_metric
from shoal.stats import Estimate, estimate

_example = "as in 'ci(utilisation()) < 0.002', or relative to the mean: 'ci(queue_packets()) < 2%'"
_goal = re.compile(r"ci\s*\((?P<what>.*)\)\s*<=?\s*(?P<bound>[0-9.eE+-]+)\s*(?P<percent>%?)")
# Two runs may be equal by chance, and have no width then; fewer have none at all.
least_seeds = 3


@dataclass(frozen=True, slots=True)
class Goal:
    """The half-width of a 95 % confidence interval that is narrow enough.

    Attributes
    ----------
    metric
        An expression over the metrics.
    bound
        Its largest half-width: in its own unit, or as a part of the absolute value of the mean.
    is_relative
        Which of the two.
    """

    metric: str
    bound: float
    is_relative: bool

    def width(self, mean: Estimate) -> float:
        """The half-width that is asked for, in the unit of the metric."""
        return self.bound * abs(mean.mean) if self.is_relative else self.bound


@dataclass(frozen=True, slots=True)
class Until:
    """Goals that all have to be met."""

    text: str
    goals: tuple[Goal, ...]

    @classmethod
    def parse(cls, text: str, names: Mapping[str, str]) -> Until:
        """Read goals, joined by ``and``.

        Parameters
        ----------
        text
            Such as ``ci(utilisation()) < 0.002 and ci(jain()) < 1%``.
        names
            Columns of the sweep and their expressions; a goal may name one.

        Raises
        ------
        UsageError
            It is none.
        """
        return cls(text, tuple(_goal_of(part.strip(), names) for part in re.split(r"\s+and\s+(?=ci\s*\()", text)))

    def is_met(self, values: Mapping[str, Sequence[float | None]]) -> bool:
        """Whether the values of the goals' metrics, one a seed, are known well enough.

        Where a run has no such number more seeds tell nothing, and it counts as met.
        """
        return all(self._is_reached(goal, values[goal.metric]) for goal in self.goals)

    def missing(self, values: Mapping[str, Sequence[float | None]]) -> int:
        """How many more seeds will most likely be needed, at least 1 and at most as many as there are.

        The half-width shrinks with the root of the number of seeds.
        """
        count = len(next(iter(values.values())))
        wanted = count + 1
        for goal in self.goals:
            known = [value for value in values[goal.metric] if value is not None]
            mean = estimate(known)
            if not self._is_reached(goal, values[goal.metric]) and mean is not None and mean.half_width is not None:
                width = goal.width(mean)
                ratio = mean.half_width / width if width > 0 else math.inf
                wanted = max(wanted, math.ceil(count * ratio * ratio) if ratio < 1e6 else 2 * count)
        return min(max(wanted - count, 1), count)

    @staticmethod
    def _is_reached(goal: Goal, values: Sequence[float | None]) -> bool:
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return True
        mean = estimate(known)
        if mean is None or mean.half_width is None:
            return False
        return mean.half_width == 0 or mean.half_width < goal.width(mean)


def _goal_of(text: str, names: Mapping[str, str]) -> Goal:
    match = _goal.fullmatch(text)
    try:
        bound = float(match["bound"]) if match else math.nan
    except ValueError:
        bound = math.nan
    if match is None or not 0 < bound < math.inf:
        raise UsageError(f"`{text}` does not say when an interval is narrow enough", hint=_example)
    what = match["what"].strip()
    metric = names.get(what, what)
    check_metric(metric)
    return Goal(metric, bound / 100 if match["percent"] else bound, bool(match["percent"]))
