"""Sentences about runs: their notices, and whether their seeds made a difference."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.notices import Notice
from shoal.results import Result, Results
from shoal.runs.rows import Rows


def notice_lines(runs: Sequence[Result]) -> list[str]:
    """One sentence for each notice of some runs of a scenario: the first run's words, and in how many there is one."""
    return _lines([(f"seed {run.seed}", run.notices) for run in runs], "in", "runs")


def _lines(lists: Sequence[tuple[str, Sequence[Notice]]], word: str, what: str) -> list[str]:
    first: dict[tuple[str, tuple[str, ...]], tuple[str, Notice]] = {}
    counts: dict[tuple[str, tuple[str, ...]], int] = {}
    for place, notices in lists:
        for about, notice in {(notice.kind, notice.groups): notice for notice in reversed(notices)}.items():
            first.setdefault(about, (place, notice))
            counts[about] = counts.get(about, 0) + 1
    return [
        notice.text + (f" ({place}; the same kind {word} {counts[about]} of {len(lists)} {what})" * (len(lists) > 1))
        for about, (place, notice) in first.items()
    ]


def sweep_notice_lines(rows: Rows) -> list[str]:
    """The same of a sweep of which only numbers are kept."""
    return [
        text + (f" (at {rows.name(place)}; the same kind at {count} of {len(rows)} points)" * (len(rows) > 1))
        for text, place, count in rows.notices
    ]


def sweep_identical_line(rows: Rows) -> str | None:
    """That seeds made no difference in a sweep of which only numbers are kept, at all points, or where first."""
    identical = rows.identical
    if not identical:
        return None
    if len(identical) == len(rows):
        return _identical(len(rows.seeds(identical[0])))
    return f"at {len(identical)} of {len(rows)} points all runs are identical, first at {rows.name(identical[0])}"


def sweep_seeds_in_words(rows: Rows, *, named: bool = False) -> str:
    """How many runs each number of a sweep sums up; ``named``: and their seeds."""
    counts = {len(rows.seeds(place)) for place in range(len(rows))}
    if len(counts) > 1:
        goal = f" until {rows.plan.until.text}" if rows.plan.until else ""
        return f"{min(counts)} to {max(counts)} seeds{goal}, mean ± 95 % confidence interval"
    return _seeds_in_words(rows.seeds(0), len(rows.identical) == len(rows), named=named)


def all_lines(runs: Results) -> list[str]:
    """The notices of some runs of a scenario, and that seeds made no difference, if they made none."""
    same = identical_line(runs)
    return [*notice_lines(runs), *([same] if same else [])]


def identical_line(runs: Results) -> str | None:
    """That seeds made no difference, so that no number has an interval; ``None`` if they made one, or there is one."""
    return _identical(len(runs)) if runs.identical else None


def _identical(runs: int) -> str:
    return f"nothing in this scenario is random: all {runs} runs are identical"


def identical_points_line(points: Sequence[tuple[str, Results]]) -> str | None:
    """The same of the points of a sweep, each with what it is called: at all, or at how many and where first."""
    identical = [(name, runs) for name, runs in points if runs.identical]
    if not identical:
        return None
    if len(identical) == len(points):
        return identical_line(identical[0][1])
    return f"at {len(identical)} of {len(points)} points all runs are identical, first at {identical[0][0]}"


def seeds_in_words(runs: Sequence[Results], *, named: bool = False) -> str:
    """How many runs each number of a table sums up; ``named``: and their seeds."""
    return _seeds_in_words(runs[0].seeds, all(one.identical for one in runs), named=named)


def _seeds_in_words(seeds: Sequence[int], is_identical: bool, *, named: bool) -> str:
    names = f" ({', '.join(map(str, seeds))})" if named else ""
    if len(seeds) == 1:
        return f"1 seed{names}"
    return f"{len(seeds)} seeds{names}, " + ("all identical" if is_identical else "mean ± 95 % confidence interval")
