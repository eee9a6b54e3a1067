"""Runs a plan: what is known is not run again, and every record is kept as soon as it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from shoal._native import Cancel, Run
from shoal.errors import ShoalError
from shoal.parallel import Progress, checked_workers, counted, finished
from shoal.runs import store as stores
from shoal.runs.database import KeyedRecord
from shoal.runs.plan import Plan, check
from shoal.runs.recipe import Recipe
from shoal.runs.record import Record, failure, measure, perform
from shoal.runs.rows import Rows
from shoal.runs.work import Block, Job, Pace, Work
from shoal.scenario import Scenario
from shoal.words import count_of

# How long a task of our own threads takes: so long that handing it out costs next to nothing, and so short that the
# last ones end together.
_task_s = 0.4
# Results that are held at the same time in each thread.
_together = 64


class Executor(Protocol):
    """Where blocks of jobs run."""

    @property
    def block_s(self) -> float:
        """How long a block is to take."""

    @property
    def workers(self) -> int:
        """How many run at the same time, as far as that is known."""

    def run(self, recipe: Recipe, blocks: Iterator[Block], pace: Pace) -> Iterator[tuple[Block, list[Record]]]:
        """Run blocks; each comes back with the records of its jobs, one a seed, in any order of the blocks."""

    def close(self) -> None:
        """End what runs blocks; no more come."""


class Threads:
    """Our own threads: a run releases the interpreter's lock."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = checked_workers(workers)
        self.block_s = _task_s

    def run(self, recipe: Recipe, blocks: Iterator[Block], pace: Pace) -> Iterator[tuple[Block, list[Record]]]:
        """Run blocks on all cores."""

        def timed(block: Block, cancel: Cancel) -> tuple[Block, list[Record]]:
            start_s = time.monotonic()
            records = run_block(recipe, block, cancel)
            pace.took(len(records), time.monotonic() - start_s)
            return block, records

        for _, done in finished((partial(timed, block) for block in blocks), workers=self.workers):
            yield done

    def close(self) -> None:
        """Do nothing: threads end with their blocks."""


def run_block(recipe: Recipe, block: Block, cancel: Cancel) -> list[Record]:
    """Run the jobs of a block, one after the other.

    The scenarios of several are made before the first of them is simulated, and all are simulated before their results
    are read: code of the same kind in a row stays in the processor's cache, which halves what it takes.
    """
    records: list[Record] = []
    runs = ((scenario, seed) for job, scenario in _scenarios(recipe, block) for seed in job.seeds)
    while some := list(islice(runs, _together)):
        done = [(seed, _simulated(recipe, scenario, seed, cancel)) for scenario, seed in some]
        records += [measure(recipe, seed, simulated) for seed, simulated in done]
    return records


def _scenarios(recipe: Recipe, block: Block) -> Iterator[tuple[Job, Scenario | Record]]:
    for job in block:
        try:
            yield job, recipe.at(job.values)
        except ShoalError as error:  # it was checked before: this machine is not like the one that did
            yield job, failure(error)


def _simulated(recipe: Recipe, scenario: Scenario | Record, seed: int, cancel: Cancel) -> Run | Record:
    return scenario if isinstance(scenario, Record) else perform(recipe, scenario, seed, cancel)


def run_plan(
    plan: Plan,
    *,
    numbers: Sequence[int] | None = None,
    workers: int | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    on_record: Callable[[KeyedRecord], object] | None = None,
) -> Rows:
    """Run a plan and give its numbers, which do not depend on where and in which order the runs were.

    Parameters
    ----------
    plan
        What to run.
    numbers
        Only these points; all if not given.
    workers
        Threads; all cores if not given.
    cache
        Folder of finished runs: an interrupted sweep goes on where it was, a changed one runs only what is new.
    executor
        Where to run, if not on threads of this process.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.
    on_record
        Called for each record that belongs to the sweep, new or known.

    Raises
    ------
    ScenarioError
        A point makes no scenario; nothing ran.
    UsageError
        A metric asks for what the runs do not have.
    """
    executor = executor or Threads(workers)
    points = range(len(plan.design)) if numbers is None else numbers
    with counted(len(points), progress, f"checking {count_of(len(points), 'point')}") as on_point:
        checked = check(plan, points=points, on_point=on_point)
    work = Work(plan, Rows(plan, points, checked), checked, on_record)
    with stores.opened(cache) as kept, closing(executor):
        if kept is not None:
            work.recall(kept.read(work.owners))
        while count := work.missing():
            pace = Pace(executor.block_s, executor.workers, count)
            with counted(count, progress, count_of(count, "run")) as on_done:
                for block, records in executor.run(plan.recipe, work.blocks(pace), pace):
                    keyed = list(work.take(block, records))
                    if kept is not None:
                        kept.put(keyed)
                    for _ in keyed:
                        on_done()
            work.extend()
    return work.finish()
