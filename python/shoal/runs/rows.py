"""The numbers of a sweep: about a hundred bytes a point and a few more a run, whatever the runs were."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.runs.plan import Checked, Plan
from shoal.runs.record import Record, Undefined
from shoal.stats import Estimate, estimate


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a point has no numbers.

    Attributes
    ----------
    seed
        Seed of the first run that failed.
    message
        The error.
    """

    seed: int
    message: str


# A number with its interval, nothing where a run has no such number, or why its arithmetic has no value.
Cell = Estimate | Undefined | None


class _Notice:
    """Where notices of one kind about the same groups are."""

    def __init__(self, points: int) -> None:
        self.at = bytearray(points)
        self.first = (points, 0)
        self.text = ""


class Rows:
    """Points in the order of the design, each with its values; their numbers are asked for by the place of the point.

    Attributes
    ----------
    plan
        What was run.
    numbers
        The points of the design that are here: all of them, or those of a shard.
    """

    def __init__(self, plan: Plan, numbers: Sequence[int], checked: Checked) -> None:
        self.plan = plan
        self.numbers = numbers
        self.warnings = checked.warnings
        self._checked = checked
        self._columns = {text: place for place, text in enumerate(plan.expressions)}
        count = len(numbers)
        self._numbers: list[array[float] | None] = [None] * count
        self._known: list[bytearray | None] = [None] * count
        self._fingerprints: list[array[int] | None] = [None] * count
        self._seeds = array("I", bytes(4 * count))
        self._undefined: dict[tuple[int, int, str], Undefined] = {}
        self._failures: dict[int, tuple[int, str]] = {}
        self._notices: dict[tuple[str, tuple[str, ...]], _Notice] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: int) -> dict[str, object]:
        return self.plan.design.at(self.numbers[place])

    @property
    def runs(self) -> int:
        """How many runs the numbers are of."""
        return sum(self._seeds)

    def name(self, place: int) -> str:
        """What sentences call a point."""
        return self.plan.design.name(self.numbers[place])

    def seeds(self, place: int) -> list[int]:
        """The seeds that the numbers of a point are of."""
        return [self.seed(place, index) for index in range(self._seeds[place])]

    def seed(self, place: int, index: int) -> int:
        """A seed of a point; beyond those that it begins with they are counted on."""
        first = self._checked.seeds_of(place)
        return first[index] if index < len(first) else first[-1] + 1 + index - len(first)

    def has(self, place: int, index: int) -> bool:
        """Whether a run is known."""
        known = self._known[place]
        return known is not None and index < len(known) and bool(known[index])

    def has_all(self, place: int, count: int) -> bool:
        """Whether the first runs of a point are known."""
        known = self._known[place]
        return known is not None and len(known) >= count and all(known[:count])

    def put(self, place: int, index: int, record: Record) -> None:
        """Take the numbers of a run over."""
        width = len(self._columns)
        numbers, known, prints = self._numbers[place], self._known[place], self._fingerprints[place]
        if numbers is None or known is None or prints is None:
            numbers, known, prints = array("d"), bytearray(), array("Q")
            self._numbers[place], self._known[place], self._fingerprints[place] = numbers, known, prints
        while len(known) <= index:
            numbers.extend([math.nan] * width)
            prints.append(0)
            known.append(0)
        known[index] = 1
        if record.error is not None:
            before = self._failures.get(place)
            if before is None or index < before[0]:
                self._failures[place] = (index, record.error)
            return
        prints[index] = record.fingerprint
        for text, column in self._columns.items():
            value = record.values[text]
            if isinstance(value, Undefined):
                self._undefined[place, index, text] = value
            elif value is not None:
                numbers[index * width + column] = value
        for one in record.said:
            notice = self._notices.setdefault((one.kind, one.groups), _Notice(len(self)))
            notice.at[place] = 1
            if (place, index) < notice.first:
                notice.first, notice.text = (place, index), one.text

    def count(self, place: int, seeds: int) -> None:
        """Say how many seeds the numbers of a point are of."""
        self._seeds[place] = seeds

    def series(self, place: int, expression: str, *, seeds: int | None = None) -> list[float | None]:
        """A metric of a point, one value a seed; ``None`` where a run has no such number or it is undefined."""
        width, column, numbers = len(self._columns), self._columns[expression], self._numbers[place]
        count = self._seeds[place] if seeds is None else seeds
        if numbers is None:
            return [None] * count
        values = numbers[column : count * width : width]
        return [None if math.isnan(value) else value for value in values]

    def undefined_at(self, place: int, expression: str) -> Undefined | None:
        """Why a metric is undefined in a run of a point, if it is in one."""
        if not self._undefined or place in self._failures:
            return None
        indices = range(self._seeds[place])
        return next((self._undefined[key] for i in indices if (key := (place, i, expression)) in self._undefined), None)

    def cell(self, place: int, expression: str) -> Cell:
        """Mean over the seeds, and its 95 % confidence interval."""
        if place in self._failures:
            return None
        if found := self.undefined_at(place, expression):
            return found
        values = self.series(place, expression)
        known = [value for value in values if value is not None]
        return estimate(known) if len(known) == len(values) else None

    def failure(self, place: int) -> Failure | None:
        """Why a point has no numbers, if it has none."""
        if place not in self._failures:
            return None
        index, message = self._failures[place]
        return Failure(self.seed(place, index), message)

    @property
    def failures(self) -> Iterator[tuple[int, Failure]]:
        """The places of points that have no numbers, and why."""
        for place in sorted(self._failures):
            found = self.failure(place)
            if found is not None:
                yield place, found

    @property
    def failed(self) -> int:
        """How many points have no numbers."""
        return len(self._failures)

    def is_identical(self, place: int) -> bool:
        """Whether there are several runs and their seeds make no difference: nothing random decided anything."""
        count, prints = self._seeds[place], self._fingerprints[place]
        return (
            place not in self._failures
            and prints is not None
            and count > 1
            and all(one == prints[0] for one in prints[1:count])
        )

    @property
    def identical(self) -> list[int]:
        """The places of points whose seeds make no difference."""
        return [place for place in range(len(self)) if self.is_identical(place)]

    @property
    def notices(self) -> list[tuple[str, int, int]]:
        """What runs say without being asked: the first run's words, the place of its point, and at how many points."""
        ordered = sorted(self._notices.values(), key=lambda notice: notice.first)
        return [(notice.text, notice.first[0], sum(notice.at)) for notice in ordered]
