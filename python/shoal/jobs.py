"""Runs of many scenarios with their seeds: on all cores, each once, finished ones kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from shoal._native import Cancel
from shoal.cache import Cache, kept, recalled
from shoal.parallel import Progress, counted, run_all
from shoal.results import Result
from shoal.running import refuse_unmodelled, run_one
from shoal.scenario import Scenario

Job = tuple[Scenario, int]
# How one is run.
Task = Callable[[Scenario, int, Cache | None, Cancel], Result]
# Is called for each result as soon as it is there, and says what is kept of it.
Finish = Callable[[Result], Result]


def unchanged(result: Result) -> Result:
    """Keep all of a result."""
    return result


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
    label: str = "Running",
    finish: Finish = unchanged,
) -> list[Result]:
    """Run scenarios with seeds on the simulator and give the results in that order; equal jobs run once.

    Raises
    ------
    ScenarioError
        The simulator has no model of something in one of them; nothing ran.
    """
    refuse_unmodelled(dict.fromkeys(scenario for scenario, _ in jobs))
    return run_each(jobs, simulated, workers=workers, cache=cache, progress=progress, label=label, finish=finish)


def run_each(
    jobs: Sequence[Job],
    task: Task,
    *,
    workers: int | None,
    cache: str | Path | None,
    progress: Progress,
    label: str,
    finish: Finish,
) -> list[Result]:
    """Give the results in the order of the jobs; equal jobs run once."""
    unique = list(dict.fromkeys(jobs))
    with kept(cache) as store, counted(len(unique), progress, label) as on_done:

        def run(scenario: Scenario, seed: int, cancel: Cancel) -> Result:
            return finish(task(scenario, seed, store, cancel))

        tasks = (partial(run, scenario, seed) for scenario, seed in unique)
        results = dict(zip(unique, run_all(tasks, workers=workers, on_done=on_done), strict=True))
    return [results[job] for job in jobs]


def simulated(scenario: Scenario, seed: int, store: Cache | None, cancel: Cancel) -> Result:
    """A run on the simulator, from the cache if it was there before."""
    return recalled(store, scenario, seed, partial(run_one, scenario, cancel, seed=seed))
