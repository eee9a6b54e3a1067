"""The search: scouts everywhere, then climbs from the best of each kind of trouble.

A quality-diversity search in the manner of CMA-ME (Fontaine et al. 2020, https://doi.org/10.1145/3377930.3390232):
an archive keeps the worst scenario of each cell, and CMA-ES (Hansen and Ostermeier 2001,
https://doi.org/10.1162/106365601750190398, as the library ``cmaes`` has it) climbs from cells. A cell is whom a
scenario hits and by what mechanism, as its notices say, what kind of path and load it has, and its queue and neighbour;
so an effect that is easy to reach does not hide another one. The search is a pure function of its seed: what is asked
next depends on what was measured, never on the number of workers or the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from shoal.errors import UsageError
from shoal.hunting.axes import Axis, Point, active
from shoal.hunting.bench import Bench, Measured
from shoal.hunting.causes import Cause
from shoal.hunting.space import KIND, LOAD, OTHER, PATH

if TYPE_CHECKING:
    import numpy as np
    from cmaes import CMA

#: Scenarios that are asked for at once; not the number of workers, which must not matter.
batch = 64
# Parts of the runs that are drawn everywhere before climbs begin.
_scouting = 0.4
# Scenarios of a generation of a climb, its generations, and how far the first goes, as parts of the ranges.
_population, _generations, _sigma = 8, 8, 0.15
# Words for what a scenario need not have.
_absent = ("none", "still")

Niche = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """A scenario that was run.

    Attributes
    ----------
    number
        Counted from 1 in the order in which they were asked for.
    point
        Values of all axes.
    value
        Value of the metric.
    loss
        That value with the sign with which less is worse for the law.
    cause
        What its notices say.
    """

    number: int
    point: Point
    value: float
    loss: float
    cause: Cause

    @property
    def niche(self) -> Niche:
        """What kind of trouble it is: whom it hits by what, on what kind of path, beside what."""
        beside = "none" if self.point.get(OTHER) in (None, "none") else "some"
        return (*self.cause.name, str(self.point.get(PATH, "")), str(self.point.get(LOAD, "")), beside)

    @property
    def cell(self) -> Niche:
        """Where it is in the archive."""
        return (*self.niche, str(self.point.get(KIND, "")), str(self.point.get(OTHER, "")))

    @property
    def extras(self) -> int:
        """How much of what a scenario need not have is there: a path that is not plain, a load, other flows."""
        return sum(part not in ("", *_absent) for part in self.niche[-3:])


@dataclass
class _Climb:
    """A search by CMA-ES among the numbers of a scenario whose words stay."""

    start: Tried
    known: frozenset[Niche]
    axes: list[Axis]
    optimizer: CMA
    generation: int = 0

    def rank(self, tried: Tried | None, index: int) -> tuple[int, float, int]:
        """Who leaves the niche ranks behind all that stay in it, and who is no scenario behind these.

        A start without a mechanism has nothing to keep: what has one is welcome there, unless the archive had it.
        """
        if tried is None:
            return 2, 0.0, index
        is_new = not self.start.cause.mechanism and tried.niche not in self.known
        return int(tried.niche != self.start.niche and not is_new), tried.loss, index


@dataclass
class Search:
    """All that a search knows.

    Attributes
    ----------
    archive
        The worst scenario of each cell.
    runs
        How many were asked for.
    """

    bench: Bench
    seed: int
    most_runs: int
    on_progress: Callable[[Search], object] = field(default=lambda _: None)
    archive: dict[Niche, Tried] = field(default_factory=dict)
    runs: int = 0
    _climbs: list[_Climb] = field(default_factory=list)
    _climbed: dict[Niche, int] = field(default_factory=dict)
    _begun: set[int] = field(default_factory=set)

    def carry_out(self) -> None:
        """Search until the runs are used up; what is known until an interrupt stays known."""
        import numpy as np

        random = np.random.RandomState(self.seed % 2**32)
        scouts = int(_scouting * self.most_runs)
        while self.runs < scouts:
            self._ask([self._anywhere(random) for _ in range(min(batch, scouts - self.runs))])
        free = any(axis.range is not None and axis.range.low < axis.range.high for axis in self.bench.axes)
        while self.runs < self.most_runs:
            if free and len(self.archive):
                self._climb()
            else:
                self._ask([self._anywhere(random) for _ in range(min(batch, self.most_runs - self.runs))])

    @property
    def best(self) -> Tried | None:
        """The worst scenario for the law, of which notices know a mechanism if there is one."""
        return min(self.archive.values(), key=lambda tried: (tried.loss, tried.number), default=None)

    def leaders(self) -> list[Tried]:
        """The worst of each niche beyond where trouble begins, causes in turn so that each comes early."""
        of_niche: dict[Niche, Tried] = {}
        for tried in sorted(self.archive.values(), key=lambda tried: (tried.loss, tried.number)):
            if self.bench.target.counts(tried.value):
                of_niche.setdefault(tried.niche, tried)
        of_cause: dict[tuple[str, str], list[Tried]] = {}
        for tried in of_niche.values():
            of_cause.setdefault(tried.cause.name, []).append(tried)
        ranked = [
            (turn, tried.loss, tried.number, tried)
            for all_of_cause in of_cause.values()
            for turn, tried in enumerate(_alternating(all_of_cause))
        ]
        return [tried for *_, tried in sorted(ranked, key=lambda rank: rank[:3])]

    def _turn(self, tried: Tried) -> tuple[int, int, float, int]:
        """Who is climbed from first: niches that were not yet, the simple ones of them, the worst of these."""
        return self._climbed.get(tried.niche, 0), tried.extras, tried.loss, tried.number

    def _anywhere(self, random: np.random.RandomState) -> Point:
        point: dict[str, float | str] = {}
        for axis in self.bench.axes:
            position = float(random.random_sample())
            point[axis.key] = _word(axis, position) if axis.words else _at(axis, position)
        return point

    def _ask(self, points: Sequence[Point]) -> list[Tried | None]:
        label = "Looking around" if not self._climbs else "Climbing"
        answers = self.bench.measure(points, [self.seed], label)
        tried = [self._take(point, measured) for point, measured in zip(points, answers, strict=True)]
        self.on_progress(self)
        return tried

    def _take(self, point: Point, measured: Measured | None) -> Tried | None:
        self.runs += 1
        if measured is None:
            return None
        value = measured.values[0]
        tried = Tried(self.runs, point, value, self.bench.target.loss(value), measured.causes[0])
        known = self.archive.get(tried.cell)
        if known is None or tried.loss < known.loss:
            self.archive[tried.cell] = tried
        return tried

    def _climb(self) -> None:
        """A generation of every climb that goes on, and new climbs in the place of those that have ended."""
        self._climbs = [climb for climb in self._climbs if climb.generation < _generations]
        while len(self._climbs) < batch // _population and (climb := self._new_climb()) is not None:
            self._climbs.append(climb)
        asked = [(climb, [climb.optimizer.ask() for _ in range(_population)]) for climb in self._climbs]
        answers = iter(self._ask([_point(climb, position) for climb, positions in asked for position in positions]))
        for climb, positions in asked:
            learnt = [next(answers) for _ in positions]
            # Ranks are all that CMA-ES looks at.
            ranks = [climb.rank(answer, index) for index, answer in enumerate(learnt)]
            order = sorted(range(len(learnt)), key=ranks.__getitem__)
            climb.optimizer.tell([(positions[index], float(rank)) for rank, index in enumerate(order)])
            climb.generation += 1

    def _new_climb(self) -> _Climb | None:
        """A climb from the worst scenario, not yet begun at, of the niche that has had fewest."""
        open_ = [tried for tried in self.archive.values() if tried.number not in self._begun] or list(
            self.archive.values()
        )
        counting = [tried for tried in open_ if self.bench.target.counts(tried.value)] or open_
        start = min(counting, key=self._turn)
        axes = [
            axis for axis in active(self.bench.axes, start.point) if axis.range and axis.range.low < axis.range.high
        ]
        if not axes:
            return None
        self._begun.add(start.number)
        self._climbed[start.niche] = self._climbed.get(start.niche, 0) + 1
        number = sum(self._climbed.values())
        known = frozenset(tried.niche for tried in self.archive.values())
        return _Climb(start, known, axes, _optimizer(axes, start.point, self.seed * 10_000 + number))


def _alternating(worst_first: Sequence[Tried]) -> list[Tried]:
    """The worst, then the simplest, the worst of the rest, and so on: what is simple explains most."""
    left = list(worst_first)
    order: list[Tried] = []
    while left:
        pick = left[0] if len(order) % 2 == 0 else min(left, key=lambda tried: (tried.extras, tried.loss, tried.number))
        left.remove(pick)
        order.append(pick)
    return order


def _word(axis: Axis, position: float) -> str:
    """A word of an axis; what a scenario need not have is absent from half of them."""
    if axis.words[0] not in _absent or len(axis.words) == 1:
        return axis.words[int(position * len(axis.words))]
    return axis.words[0] if position < 0.5 else axis.words[1 + int((2 * position - 1) * (len(axis.words) - 1))]


def _optimizer(axes: Sequence[Axis], point: Point, seed: int) -> CMA:
    import numpy as np

    library = require_library()
    positions = [axis.parameter.position(float(point[axis.key])) for axis in axes]
    # Two dimensions at least: the last one of a single number decides nothing.
    positions = positions if len(positions) > 1 else [*positions, 0.5]
    optimizer: CMA = library.CMA(
        mean=np.array(positions),
        sigma=_sigma,
        bounds=np.array([[0.0, 1.0]] * len(positions)),
        seed=seed % 2**32,
        population_size=_population,
    )
    return optimizer


def _point(climb: _Climb, position: Sequence[float]) -> Point:
    # A single number has a second dimension, which decides nothing.
    numbers = {axis.key: _at(axis, float(where)) for axis, where in zip(climb.axes, position, strict=False)}
    return {**climb.start.point, **numbers}


def _at(axis: Axis, position: float) -> float:
    range_ = axis.parameter
    return range_.low if range_.low == range_.high else range_.at(position)


def require_library() -> ModuleType:
    """Give ``cmaes``, which is an extra.

    Raises
    ------
    UsageError
        It is not installed.
    """
    try:
        import cmaes
    except ModuleNotFoundError as error:
        if error.name != "cmaes":
            raise
        raise UsageError(
            "a hunt needs cmaes, which is not installed",
            hint="install the extra `tune`: pip install 'shoal[tune]', or pip install 'cmaes>=0.13,<0.14' beside it",
        ) from None
    library: ModuleType = cmaes
    return library
