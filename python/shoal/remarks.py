"""Sentences about runs: their notices, whether their seeds made a difference, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.results import Result, Results
from shoal.runs.rows import Rows
from shoal.words import count_of


@dataclass(frozen=True)
class Noticed:
    """A notice that runs have: the words of the first one, what that run or point is called, and how many have it."""

    text: str
    first: str
    count: int


@dataclass(frozen=True)
class Remarks:
    """What there is to say of runs of a scenario, or of points of which each is a scenario with some seeds.

    Attributes
    ----------
    noticed
        Notices by kind and groups, in the order in which they first appear.
    at
        What sentences say of where a notice is: ``in`` and ``runs``, or ``at`` and ``points``.
    total
        How many runs or points there are.
    seeds
        The seeds of every point, or of the scenario.
    identical
        Names of the points whose seeds make no difference.
    until
        When points had seeds enough, if they have different numbers.
    """

    noticed: Sequence[Noticed]
    at: tuple[str, str]
    total: int
    seeds: Sequence[Sequence[int]]
    identical: Sequence[str]
    until: str = ""

    @classmethod
    def of_runs(cls, runs: Sequence[Result]) -> Remarks:
        """The remarks on runs of one scenario."""
        results = Results(runs)
        noticed = _noticed([(f"seed {run.seed}", [run]) for run in runs])
        return cls(noticed, ("in", "runs"), len(runs), [results.seeds], [""] if results.identical else [])

    @classmethod
    def of_points(cls, points: Sequence[tuple[str, Results]]) -> Remarks:
        """The remarks on points, each with what sentences call it."""
        noticed = _noticed([(f"at {name}", runs) for name, runs in points])
        identical = [name for name, runs in points if runs.identical]
        return cls(noticed, ("at", "points"), len(points), [runs.seeds for _, runs in points], identical)

    @classmethod
    def of_rows(cls, rows: Rows) -> Remarks:
        """The remarks on a sweep of which only numbers are kept."""
        noticed = [Noticed(text, f"at {rows.name(point_index)}", count) for text, point_index, count in rows.notices]
        seeds = [rows.seeds(point_index) for point_index in range(len(rows))]
        identical = [rows.name(point_index) for point_index in rows.identical]
        until = f" until {rows.plan.until.text}" if rows.plan.until else ""
        return cls(noticed, ("at", "points"), len(rows), seeds, identical, until)

    @property
    def notices(self) -> list[str]:
        """One sentence for each notice: the first words, and in how many runs or at how many points there is one."""
        word, things = self.at
        return [
            f"{notice.text} ({notice.first}; the same kind {word} {notice.count} of {self.total} {things})"
            if self.total > 1
            else notice.text
            for notice in self.noticed
        ]

    @property
    def nothing_is_random(self) -> str | None:
        """That seeds made no difference, so that no number has an interval: everywhere, or where first."""
        if not self.identical:
            return None
        if not self.is_without_chance:
            points = f"{len(self.identical)} of {len(self.seeds)} points"
            return f"at {points} all runs are identical, first at {self.identical[0]}"
        return f"nothing in this scenario is random: all {len(self.seeds[0])} runs are identical"

    @property
    def is_without_chance(self) -> bool:
        """Whether seeds made no difference anywhere."""
        return bool(self.identical) and len(self.identical) == len(self.seeds)

    @property
    def lines(self) -> list[str]:
        """Notices, and that seeds made no difference, if they made none."""
        return [*self.notices, *([self.nothing_is_random] if self.nothing_is_random else [])]

    def seeds_in_words(self, *, named: bool = False) -> str:
        """How many runs each number sums up; ``named``: and their seeds."""
        interval = "mean ± 95 % confidence interval"
        counts = {len(seeds) for seeds in self.seeds}
        if len(counts) > 1:
            return f"{min(counts)} to {max(counts)} seeds{self.until}, {interval}"
        first = self.seeds[0]
        names = f" ({', '.join(map(str, first))})" if named else ""
        if len(first) == 1:
            return f"1 seed{names}"
        return f"{count_of(len(first), 'seed')}{names}, {'all identical' if self.is_without_chance else interval}"


def _noticed(lists: Sequence[tuple[str, Sequence[Result]]]) -> list[Noticed]:
    """Each kind of notice about the same groups once a list."""
    known: dict[tuple[str, tuple[str, ...]], Noticed] = {}
    for name, runs in lists:
        here = {(notice.kind, notice.groups): notice for run in reversed(runs) for notice in reversed(run.notices)}
        for about, notice in here.items():
            before = known.get(about, Noticed(notice.text, name, 0))
            known[about] = Noticed(before.text, before.first, before.count + 1)
    return list(known.values())
