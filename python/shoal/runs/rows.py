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
    """Points in the order of the design, each with its values; their numbers are asked for by the index of the point.

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
        self._columns = {text: column for column, text in enumerate(plan.expressions)}
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

    def __getitem__(self, point_index: int) -> dict[str, object]:
        return self.plan.design.at(self.numbers[point_index])

    @property
    def runs(self) -> int:
        """How many runs the numbers are of."""
        return sum(self._seeds)

    def name(self, point_index: int) -> str:
        """What sentences call a point."""
        return self.plan.design.name(self.numbers[point_index])

    def seeds(self, point_index: int) -> list[int]:
        """The seeds that the numbers of a point are of."""
        return [self.seed(point_index, index) for index in range(self._seeds[point_index])]

    def seed(self, point_index: int, index: int) -> int:
        """A seed of a point; beyond those that it begins with they are counted on."""
        first = self._checked.seeds_of(point_index)
        return first[index] if index < len(first) else first[-1] + 1 + index - len(first)

    def has(self, point_index: int, index: int) -> bool:
        """Whether a run is known."""
        known = self._known[point_index]
        return known is not None and index < len(known) and bool(known[index])

    def has_all(self, point_index: int, count: int) -> bool:
        """Whether the first runs of a point are known."""
        known = self._known[point_index]
        return known is not None and len(known) >= count and all(known[:count])

    def put(self, point_index: int, index: int, record: Record) -> None:
        """Take the numbers of a run over."""
        width = len(self._columns)
        numbers, known, prints = self._numbers[point_index], self._known[point_index], self._fingerprints[point_index]
        if numbers is None or known is None or prints is None:
            numbers, known, prints = array("d"), bytearray(), array("Q")
            self._numbers[point_index], self._known[point_index] = numbers, known
            self._fingerprints[point_index] = prints
        while len(known) <= index:
            numbers.extend([math.nan] * width)
            prints.append(0)
            known.append(0)
        known[index] = 1
        if record.error is not None:
            before = self._failures.get(point_index)
            if before is None or index < before[0]:
                self._failures[point_index] = (index, record.error)
            return
        prints[index] = record.fingerprint
        for text, column in self._columns.items():
            value = record.values[text]
            if isinstance(value, Undefined):
                self._undefined[point_index, index, text] = value
            elif value is not None:
                numbers[index * width + column] = value
        for said in record.said:
            notice = self._notices.setdefault((said.kind, said.groups), _Notice(len(self)))
            notice.at[point_index] = 1
            if (point_index, index) < notice.first:
                notice.first, notice.text = (point_index, index), said.text

    def count(self, point_index: int, seeds: int) -> None:
        """Say how many seeds the numbers of a point are of."""
        self._seeds[point_index] = seeds

    def series(self, point_index: int, expression: str, *, seeds: int | None = None) -> list[float | None]:
        """A metric of a point, one value a seed; ``None`` where a run has no such number or it is undefined."""
        width, column, numbers = len(self._columns), self._columns[expression], self._numbers[point_index]
        count = self._seeds[point_index] if seeds is None else seeds
        if numbers is None:
            return [None] * count
        values = numbers[column : count * width : width]
        return [None if math.isnan(value) else value for value in values]

    def undefined_at(self, point_index: int, expression: str) -> Undefined | None:
        """Why a metric is undefined in a run of a point, if it is in one."""
        if not self._undefined or point_index in self._failures:
            return None
        indices = range(self._seeds[point_index])
        return next(
            (self._undefined[key] for i in indices if (key := (point_index, i, expression)) in self._undefined), None
        )

    def cell(self, point_index: int, expression: str) -> Cell:
        """Mean over the seeds, and its 95 % confidence interval."""
        if point_index in self._failures:
            return None
        if undefined := self.undefined_at(point_index, expression):
            return undefined
        values = self.series(point_index, expression)
        known = [value for value in values if value is not None]
        return estimate(known) if len(known) == len(values) else None

    def failure(self, point_index: int) -> Failure | None:
        """Why a point has no numbers, if it has none."""
        if point_index not in self._failures:
            return None
        index, message = self._failures[point_index]
        return Failure(self.seed(point_index, index), message)

    @property
    def failures(self) -> Iterator[tuple[int, Failure]]:
        """The indices of points that have no numbers, and why."""
        for point_index in sorted(self._failures):
            failure = self.failure(point_index)
            if failure is not None:
                yield point_index, failure

    @property
    def failed(self) -> int:
        """How many points have no numbers."""
        return len(self._failures)

    def is_identical(self, point_index: int) -> bool:
        """Whether there are several runs and their seeds make no difference: nothing random decided anything."""
        count, prints = self._seeds[point_index], self._fingerprints[point_index]
        return (
            point_index not in self._failures
            and prints is not None
            and count > 1
            and all(fingerprint == prints[0] for fingerprint in prints[1:count])
        )

    @property
    def identical(self) -> list[int]:
        """The indices of points whose seeds make no difference."""
        return [point_index for point_index in range(len(self)) if self.is_identical(point_index)]

    @property
    def notices(self) -> list[tuple[str, int, int]]:
        """What runs say without being asked: the first run's words, the index of its point, and at how many points."""
        ordered = sorted(self._notices.values(), key=lambda notice: notice.first)
        return [(notice.text, notice.first[0], sum(notice.at)) for notice in ordered]
