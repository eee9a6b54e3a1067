"""Makes scenarios of points and runs them: what a search asks for and what it is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import ScenarioError
from shoal.expression import UndefinedError
from shoal.hunting.axes import Axis, Point
from shoal.hunting.causes import Cause, cause_of
from shoal.hunting.goals import Target
from shoal.metrics import metric, recording
from shoal.results import Result
from shoal.runs.cases import Case, RunCases
from shoal.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Measured:
    """What runs of a point gave.

    Attributes
    ----------
    values
        Values of the goal's metric, one a seed.
    causes
        One a seed.
    """

    values: tuple[float, ...]
    causes: tuple[Cause, ...]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return math.fsum(self.values) / len(self.values)

    @property
    def cause(self) -> Cause:
        """That of most seeds, of equally many the first."""
        names = [cause.name for cause in self.causes]
        most = max(names, key=names.count)
        return self.causes[names.index(most)]


#: Makes the scenario of a point: a short one to look around, or a long one (true) to confirm.
Make = Callable[[Point, bool], Scenario]


@dataclass(frozen=True)
class Bench:
    """What a search runs its points on."""

    axes: tuple[Axis, ...]
    make: Make
    target: Target
    run: RunCases

    def scenario(self, point: Point, *, full: bool) -> Scenario | None:
        """The scenario of a point; ``None`` if there is none."""
        try:
            scenario = self.make(point, full)
            keys = recording(scenario, [self.target.metric], lean=True)
            scenario = scenario.override(keys) if keys else scenario
        except ScenarioError:
            return None
        return None if scenario.simulator_refuses else scenario

    def measure(
        self, points: Sequence[Point], seeds: Sequence[int], label: str, *, full: bool = False
    ) -> list[Measured | None]:
        """Run points with all of some seeds; ``None`` for a point that makes no scenario or has no such number."""
        scenarios = [self.scenario(point, full=full) for point in points]
        cases = [Case(scenario, list(seeds), (self.target.metric,)) for scenario in scenarios if scenario is not None]
        answers = iter(self.run(cases, label) if cases else ())
        return [None if scenario is None else self._measured(next(answers)) for scenario in scenarios]

    def _measured(self, runs: Sequence[Result]) -> Measured | None:
        values = tuple(_value(run, self.target.metric) for run in runs)
        if any(math.isnan(value) for value in values):
            return None
        return Measured(values, tuple(cause_of(self.target, run) for run in runs))


def _value(run: Any, text: str) -> float:
    try:
        return metric(run, text, gaps=True)
    except UndefinedError:
        return math.nan
