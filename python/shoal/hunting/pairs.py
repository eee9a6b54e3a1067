"""Two runs of each point side by side, of a law and another one or on both planes, and how far they are apart.

Numbers and margins are those with which both planes are compared (:mod:`shoal.compare.kinds`). One run says nothing of
its noise: while a search looks around, the largest difference leads it; where there are as many seeds as confirm a
find, only what is shown to be beyond its margin counts, corrected over all numbers that were looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from shoal.compare.comparison import paired_quantities
from shoal.compare.kinds import Family
from shoal.compare.quantities import Measure, measures
from shoal.compare.verdicts import Pairs, Verdict, judge
from shoal.errors import ScenarioError
from shoal.hunting.axes import Point
from shoal.hunting.bench import Bench, Make, Measured
from shoal.hunting.causes import Cause
from shoal.hunting.goals import Target
from shoal.results import Result, Results
from shoal.runs.cases import Case
from shoal.runs.plane import Plane, simulator
from shoal.search import Direction, Goal
from shoal.words import rounded

#: With fewer seeds no difference of a whole list of numbers can be shown.
_least_tested = 5
# What needs no recorded series. The use of a link is the sum of rates, and ratios of rates follow from them.
_kinds = (
    "rate",
    "queue",
    "delay",
    "marks",
    "drops",
    "retransmissions",
    "timeouts",
    "window",
    "reductions",
    "completion",
)
_lean = {"trace.series": "off"}
#: Families of numbers that a sentence tells of.
_most_told = 3


def differ_from(what: str, name: str) -> Target:
    """The goal to be far from another law, or from the kernel; one margin is the largest that does not matter."""
    return Target(name, Goal(Direction.MAXIMISE, f"difference from {what} in margins"), 1.0, 0.0, (), "margins")


@dataclass(frozen=True)
class Side:
    """What is run of a point.

    Attributes
    ----------
    name
        What follows a number, as in "31 ``with reno``" or "4 ``on Linux``".
    make
        Its scenario.
    plane
        Where it runs.
    """

    name: str
    make: Make
    plane: Plane = simulator

    def counts(self, measure: Measure, result: Result) -> bool:
        """Whether a number means the same here as on the simulator (docs/linux.md, "What is measured").

        On Linux the smoothed round trip is a mean over other samples, and a reduction is counted when the next packet
        announces it, which the last one of a transfer has not.
        """
        if self.plane is simulator:
            return True
        transfers = {group["name"] for group in result.groups if group["fct_s"]["mean"] is not None}
        return not measure.name.startswith("srtt") and not (measure.kind == "reductions" and measure.of in transfers)


@dataclass(frozen=True)
class PairBench(Bench):
    """A bench that runs both sides of a point; its value is the largest difference, in margins."""

    sides: tuple[Side, Side] = cast("tuple[Side, Side]", ())

    def measure(
        self, points: Sequence[Point], seeds: Sequence[int], label: str, *, full: bool = False
    ) -> list[Measured | None]:
        """Run both sides of points with all of some seeds; ``None`` for a point that one of them cannot be."""
        pairs = [self._cases(point, seeds, full) for point in points]
        cases = [case for pair in pairs if pair is not None for case in pair]
        answers = iter(self.run(cases, label) if cases else ())
        return [None if pair is None else self._compared(next(answers), next(answers)) for pair in pairs]

    def _cases(self, point: Point, seeds: Sequence[int], full: bool) -> tuple[Case, Case] | None:
        cases = []
        for side in self.sides:
            try:
                scenario = side.make(point, full)
                scenario = scenario if scenario.resolved["trace"]["series"] == "off" else scenario.override(_lean)
            except ScenarioError:
                return None
            if side.plane.refusal(scenario):
                return None
            cases.append(Case(scenario, list(seeds), plane=side.plane))
        return cases[0], cases[1]

    def _compared(self, first: Results, second: Results) -> Measured:
        other = self.sides[1]
        wanted = [
            measure for measure in measures(second[0]) if measure.kind in _kinds and other.counts(measure, second[0])
        ]
        pairs, _ = paired_quantities(first, second, wanted)
        apart = [_Apart(measure, values) for measure, values in pairs]
        if len(first) >= _least_tested:
            verdicts, _ = judge([entry.pairs for entry in apart])
            apart = [entry for entry, verdict in zip(apart, verdicts, strict=True) if verdict is Verdict.DIFFERENT]
        # Sorting is stable: of equal sizes the first of the list of quantities is the one.
        apart = sorted((entry for entry in apart if entry.mean), key=lambda entry: -abs(entry.mean))
        if not apart:
            return Measured((0.0,) * len(first), (Cause(),) * len(first))
        worst = apart[0]
        sign = math.copysign(1.0, worst.mean)
        cause = Cause("differs", (worst.measure.of,), worst.name, self._sentence(apart, first, second))
        return Measured(tuple(sign * size for size in worst.sizes), (cause,) * len(first))

    def _sentence(self, apart: Sequence[_Apart], first: Results, second: Results) -> str:
        """What differs most of each kind of number, and what only the runs of one side have a notice of."""
        of_family: dict[Family, _Apart] = {}
        for entry in apart:
            if abs(entry.mean) > self.target.beyond:
                of_family.setdefault(entry.measure.family, entry)
        parts = [entry.sentence(self.sides) for entry in list(of_family.values())[:_most_told]]
        for side, runs, others in ((self.sides[0], first, second), (self.sides[1], second, first)):
            known = {notice.kind for run in others for notice in run.notices}
            only = [notice for notice in runs[0].notices if notice.kind not in known]
            parts += [f"only {side.name} there is the notice: {notice.text}" for notice in only[:1]]
        return "; ".join(parts)


@dataclass(frozen=True)
class _Apart:
    """A number on both sides."""

    measure: Measure
    pairs: Pairs

    @property
    def means(self) -> tuple[float, float]:
        """Means of either side, over the seeds."""
        count = len(self.pairs.sim)
        return math.fsum(self.pairs.sim) / count, math.fsum(self.pairs.linux) / count

    @property
    def sizes(self) -> list[float]:
        """Differences in margins, a seed each: in those of the larger side, so that exchanging sides changes none."""
        margin = self.pairs.margin.at(max(self.means))
        return [
            (first - second) / margin if margin else 0.0
            for first, second in zip(self.pairs.sim, self.pairs.linux, strict=True)
        ]

    @property
    def mean(self) -> float:
        """Over the seeds; above zero if the first side has more."""
        return math.fsum(self.sizes) / len(self.pairs.sim)

    @property
    def name(self) -> str:
        """What is seen, as a stable name."""
        return f"{'more' if self.mean > 0 else 'less'}: {self.measure.title}"

    def sentence(self, sides: tuple[Side, Side]) -> str:
        """What it is, and its mean on either side with the unit."""
        shown = [f"{rounded(mean * self.measure.factor)} {self.measure.unit}".rstrip() for mean in self.means]
        of = "" if self.measure.of == "link" else f" of {self.measure.of}"
        return f"{self.measure.title}{of}: {shown[0]} {sides[0].name}, {shown[1]} {sides[1].name}"
