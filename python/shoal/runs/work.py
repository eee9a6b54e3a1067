"""What is to be done of a plan: which runs are known, which are missing, and how they are handed out."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from shoal.runs.database import KeyedRecord
from shoal.runs.plan import Checked, Plan
from shoal.runs.record import Record
from shoal.runs.rows import Rows


@dataclass(frozen=True, slots=True)
class Job:
    """Runs of one point: its values, and seeds.

    Attributes
    ----------
    point_index
        Index of the point among those of the sweep.
    values
        Values of the swept keys.
    indices
        Which of the point's seeds they are.
    seeds
        The seeds themselves.
    """

    point_index: int
    values: dict[str, object]
    indices: tuple[int, ...]
    seeds: tuple[int, ...]


Block = list[Job]

# Runs of a block at most, however short they are: the results of a block are in memory together.
_most_runs = 1024


class Pace:
    """How many runs make a block that takes a certain time."""

    def __init__(self, block_s: float, workers: int, runs: int) -> None:
        self._block_s = block_s
        self._workers = workers
        self._run_s: float | None = None
        self.left = runs

    @property
    def runs(self) -> int:
        """How many runs the next block has: few as long as nothing is known, and at the end."""
        if self._run_s is None:
            return 1
        return max(1, min(int(self._block_s / max(self._run_s, 1e-6)), self.left // (4 * self._workers), _most_runs))

    def took(self, runs: int, seconds: float) -> None:
        """Learn from a block."""
        run_s = seconds / runs
        self._run_s = run_s if self._run_s is None else 0.7 * self._run_s + 0.3 * run_s


class Work:
    """The runs of a plan, of which each is done once, and what has become of them.

    Attributes
    ----------
    owners
        For the digest of each scenario the index of the first point that has it; later ones take its numbers over.
    """

    def __init__(
        self, plan: Plan, rows: Rows, checked: Checked, on_record: Callable[[KeyedRecord], object] | None = None
    ) -> None:
        self._plan, self._rows, self._checked, self._on_record = plan, rows, checked, on_record
        self.owners: dict[bytes, int] = {}
        self._twins: dict[int, list[int]] = {}
        for point_index, digest in enumerate(checked.digests):
            owner = self.owners.setdefault(digest, point_index)
            if owner != point_index:
                self._twins.setdefault(owner, []).append(point_index)
        count = len(checked.seeds)
        # How many seeds a point is to have as far as that is known by now, and whether that is all.
        self._targets = array("I", [count]) * len(rows)
        self._settled = bytearray(len(rows))

    def recall(self, known: Iterable[KeyedRecord]) -> None:
        """Take over what was run before."""
        most = self._plan.max_seeds if self._plan.until else 0
        for digest, seed, record in known:
            point_index = self.owners.get(digest)
            index = None if point_index is None else self._index_of(point_index, seed, most)
            if point_index is None or index is None or self._rows.has(point_index, index):
                continue
            whole = record if record.error is not None else record.with_metrics(self._plan.expressions)
            if whole is not None:
                self._take(point_index, index, (digest, seed, whole))
        self.extend()

    def known(self) -> int:
        """How many of the runs that are asked for are known."""
        return sum(sum(self._rows.has(p, i) for i in range(self._targets[p])) for p in self.owners.values())

    def missing(self) -> int:
        """How many runs are to be done now."""
        return sum(len(indices) for _, indices in self._open())

    def job(self, number: int) -> Job:
        """A missing run by its number among all of them."""
        for point_index, indices in self._open():
            if number < len(indices):
                index = indices[number]
                return Job(point_index, self._rows[point_index], (index,), (self._rows.seed(point_index, index),))
            number -= len(indices)
        raise IndexError(number)

    def blocks(self, pace: Pace) -> Iterator[Block]:
        """The missing runs in blocks, made when they are asked for."""
        block: Block = []
        size, limit = 0, pace.runs
        for point_index, indices in self._open():
            at = 0
            while at < len(indices):
                part = tuple(indices[at : at + limit - size])
                seeds = tuple(self._rows.seed(point_index, index) for index in part)
                block.append(Job(point_index, self._rows[point_index], part, seeds))
                at, size = at + len(part), size + len(part)
                if size == limit:
                    yield block
                    pace.left -= size
                    block, size, limit = [], 0, pace.runs
        if block:
            yield block

    def take(self, block: Block, records: Sequence[Record]) -> Iterator[KeyedRecord]:
        """Take over what a block gave; gives each record with its digest and seed."""
        remaining = iter(records)
        for job in block:
            digest = self._checked.digests[job.point_index]
            for index, seed in zip(job.indices, job.seeds, strict=True):
                keyed = (digest, seed, next(remaining))
                self._take(job.point_index, index, keyed)
                yield keyed

    def extend(self) -> None:
        """Decide for every point whether it has seeds enough, from the first to the last in this order.

        So the decision does not depend on how many were run at the same time.
        """
        until, rows = self._plan.until, self._rows
        if until is None:
            return
        for point_index in self.owners.values():
            if self._settled[point_index]:
                continue
            count = len(self._checked.seeds)
            while rows.has_all(point_index, count):
                values = {goal.metric: rows.series(point_index, goal.metric, seeds=count) for goal in until.goals}
                if count >= self._plan.max_seeds or rows.failure(point_index) is not None or until.is_met(values):
                    self._targets[point_index], self._settled[point_index] = count, 1
                    break
                if not rows.has(point_index, count):
                    self._targets[point_index] = min(count + until.missing(values), self._plan.max_seeds)
                count += 1

    def finish(self) -> Rows:
        """The numbers, once nothing is missing."""
        for point_index in self.owners.values():
            for twin in (point_index, *self._twins.get(point_index, ())):
                self._rows.count(twin, self._targets[point_index])
        return self._rows

    def _open(self) -> Iterator[tuple[int, list[int]]]:
        for point_index in self.owners.values():
            indices = [index for index in range(self._targets[point_index]) if not self._rows.has(point_index, index)]
            if indices:
                yield point_index, indices

    def _take(self, point_index: int, index: int, keyed: KeyedRecord) -> None:
        for twin in (point_index, *self._twins.get(point_index, ())):
            self._rows.put(twin, index, keyed[2])
        if self._on_record is not None:
            self._on_record(keyed)

    def _index_of(self, point_index: int, seed: int, most: int) -> int | None:
        first = self._checked.seeds_of(point_index)
        if isinstance(self._plan.seeds, int):
            index = seed - first[0]
            return index if 0 <= index < max(len(first), most) else None
        return first.index(seed) if seed in first else None
