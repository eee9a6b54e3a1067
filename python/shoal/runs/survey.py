"""What a sweep would take, before it runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal._native import Cancel
from shoal.parallel import checked_workers
from shoal.runs import store as stores
from shoal.runs.plan import Plan, check
from shoal.runs.record import run
from shoal.runs.rows import Rows
from shoal.runs.work import Work

# For so long, and at so many points, runs are timed.
_timed_s = 2.0
_timed_points = 5


@dataclass(frozen=True, slots=True)
class Survey:
    """What a sweep would take.

    Attributes
    ----------
    points
        Number of points.
    runs, most_runs
        Number of runs, and what seeds may be added to it.
    finished
        How many of them are in the cache.
    timed
        How many were timed just now.
    run_s
        CPU time of one of these, in s; ``None`` if nothing is left to run.
    workers
        Threads that the sweep would run on.
    """

    points: int
    runs: int
    most_runs: int
    finished: int
    timed: int
    run_s: float | None
    workers: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What it says, for people."""
        more = f" to {self.most_runs:,}, as --until decides" if self.most_runs > self.runs else ""
        lines = [
            ("Points", f"{self.points:,}"),
            ("Runs", f"{self.runs:,}{more}"),
            ("Finished", f"{self.finished:,}"),
        ]
        if self.run_s is not None:
            left = self.runs - self.finished
            most = self.most_runs - self.finished
            cpu = _duration(left * self.run_s) + (f" to {_duration(most * self.run_s)}" if most > left else "")
            lines.append(("CPU time", f"about {cpu}: an estimate from {self.timed} timed runs at points far apart"))
            wall = _duration(left * self.run_s / self.workers)
            lines.append(("Wall time", f"about {wall} on {self.workers} free cores"))
        return lines


def survey(
    plan: Plan, *, numbers: Sequence[int] | None = None, workers: int | None = None, cache: Path | None = None
) -> Survey:
    """Count the runs of a plan, those that are finished, and time a few of the others, which are kept.

    Raises
    ------
    ScenarioError
        A point makes no scenario.
    """
    points = range(len(plan.design)) if numbers is None else numbers
    checked = check(plan, points=points)
    work = Work(plan, Rows(plan, points, checked), checked)
    with stores.opened(cache) as store:
        if store is not None:
            work.recall(store.read(work.owners))
        known, left = work.known(), work.missing()
        spent_s, timed = 0.0, 0
        # A guest is a process of its own, which this thread waits for.
        clock = time.monotonic if plan.kernel else time.thread_time
        if left:
            for number in dict.fromkeys(round(k * (left - 1) / (_timed_points - 1)) for k in range(_timed_points)):
                if spent_s > _timed_s:
                    break
                job = work.job(number)
                start_s = clock()
                record = run(plan.recipe, plan.recipe.at(job.values), job.seeds[0], Cancel())
                spent_s, timed = spent_s + clock() - start_s, timed + 1
                if store is not None:
                    store.put([(checked.digests[job.point_index], job.seeds[0], record)])
    return Survey(
        points=len(points),
        runs=known + left,
        most_runs=len(work.owners) * plan.max_seeds if plan.until else known + left,
        finished=known + (timed if store is not None else 0),
        timed=timed,
        run_s=spent_s / timed if timed else None,
        workers=checked_workers(workers),
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
