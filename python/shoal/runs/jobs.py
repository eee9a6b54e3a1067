"""Runs of many scenarios with their seeds: on all cores, each once, finished ones kept."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from shoal._native import Cancel, uncompressed
from shoal.errors import ScenarioError, UsageError
from shoal.parallel import Progress, counted, finished
from shoal.results import Result
from shoal.results.recorded import InFiles, MadeAgain, Recorded
from shoal.runs import store as stores
from shoal.runs.database import Batches
from shoal.runs.plane import Plane, simulator
from shoal.runs.record import Record, record_of
from shoal.runs.store import Store, digest_of
from shoal.scenario import Scenario


class Job(NamedTuple):
    """A run that is wanted.

    Attributes
    ----------
    scenario, seed
        What to run.
    metrics
        Expressions over the metrics, which are kept with the run.
    tables
        Whether its recorded tables are kept, too. Without them a run that is known already is made again when somebody
        asks its result for a table.
    plane
        Where it is made.
    """

    scenario: Scenario
    seed: int
    metrics: tuple[str, ...] = ()
    tables: bool = False
    plane: Plane = simulator


# Is called for each result as soon as it is there, and says what is kept of it in memory.
Finish = Callable[[Result], Result]
_Key = tuple[bytes, int]


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
    """Make runs and give their results in the order of the jobs; equal jobs run once.

    Parameters
    ----------
    jobs
        What to run.
    workers
        Threads; all cores if not given. Results do not depend on it.
    cache
        Folder of finished runs: what is known is not run again.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.
    label
        For the bar.
    finish
        Says what is kept of each result.

    Raises
    ------
    ScenarioError
        A plane cannot express one of the scenarios; nothing ran.
    UsageError
        A scenario writes files of packets, for which there is no place.
    """
    wanted = dict.fromkeys((job.scenario, job.plane) for job in jobs)
    refuse_unmodelled(wanted)
    for scenario, plane in wanted:
        if plane is simulator:
            refuse_without_files(scenario, None, None)
    keys = _keys(jobs)
    unique = _unique(jobs, keys)
    with stores.opened(cache) as store, counted(len(unique), progress, label) as on_done:
        known = {} if store is None else _known(store, unique)
        tasks = (partial(_made, job, known.get(key), finish, store is not None) for key, job in unique.items())
        results: dict[_Key, Result] = {}
        with Batches(store.put if store is not None else lambda _: None) as kept:
            order = list(unique)
            for number, (result, record) in finished(tasks, workers=workers):
                key = order[number]
                results[key] = result
                if record is not None:
                    kept.add((*key, record))
                on_done()
    return [results[key] for key in keys]


def refuse_unmodelled(wanted: Iterable[tuple[Scenario, Plane]]) -> None:
    """Refuse what a plane cannot run, before anything runs.

    Raises
    ------
    ScenarioError
        The message lists everything, once.
    """
    refused = dict.fromkeys(text for scenario, plane in wanted if (text := plane.refusal(scenario)))
    if refused:
        raise ScenarioError("\n".join(refused))


def refuse_without_files(scenario: Scenario, packets: object | None, pcap: object | None) -> None:
    """Refuse a scenario that writes packets, where there is no file for them.

    Raises
    ------
    UsageError
        It does.
    """
    trace = scenario.resolved["trace"]
    for wanted, is_wanted, place in (("packets", trace["packets"], packets), ("pcap", trace["pcap"], pcap)):
        if is_wanted and place is None:
            raise UsageError(
                f"the scenario has trace.{wanted} = true, but there is no file to write to",
                hint=f"give {wanted}=PATH (on the command line: --out DIR), or set trace.{wanted} = false",
            )


def _keys(jobs: Sequence[Job]) -> list[_Key]:
    digests: dict[tuple[Scenario, Plane], bytes] = {}
    for job in jobs:
        if (job.scenario, job.plane) not in digests:
            digests[job.scenario, job.plane] = digest_of(job.scenario.native.json, job.plane.identity)
    return [(digests[job.scenario, job.plane], job.seed) for job in jobs]


def _unique(jobs: Sequence[Job], keys: Sequence[_Key]) -> dict[_Key, Job]:
    """Each run once, with all that is asked of it."""
    unique: dict[_Key, Job] = {}
    for key, job in zip(keys, jobs, strict=True):
        if (before := unique.setdefault(key, job)) is not job:
            metrics = tuple(dict.fromkeys((*before.metrics, *job.metrics)))
            unique[key] = before._replace(metrics=metrics, tables=before.tables or job.tables)
    return unique


def _known(store: Store, wanted: Mapping[_Key, Job]) -> dict[_Key, Record]:
    """The records of what has been run before, with all that is asked for."""
    known: dict[_Key, Record] = {}
    seeds: dict[bytes, list[int]] = {}
    for digest, seed in wanted:
        seeds.setdefault(digest, []).append(seed)
    for digest, own in seeds.items():
        tables = any(wanted[digest, seed].tables for seed in own)
        for _, seed, record in store.read([digest], seeds=own, tables=tables):
            job = wanted[digest, seed]
            if (whole := record.with_metrics(job.metrics)) is not None and (whole.tables or not job.tables):
                known[digest, seed] = whole
    return known


def _made(job: Job, known: Record | None, finish: Finish, keep: bool, cancel: Cancel) -> tuple[Result, Record | None]:
    """The result of a job, and the record of it if it is new and to be kept."""
    if known is not None and (recorded := _recorded(job, known)) is not None:
        values = known.numbers(job.metrics)
        return finish(Result(uncompressed(known.body), recorded=recorded, values=values)), None
    run = job.plane.run(job.scenario, job.seed, cancel)
    return finish(Result.of_run(run)), record_of(run, job.seed, job.metrics, tables=job.tables) if keep else None


def _recorded(job: Job, known: Record) -> Recorded | None:
    """The tables of a known run; ``None`` if they were kept and are damaged."""
    if not known.tables:
        return MadeAgain(lambda: job.plane.run(job.scenario, job.seed, Cancel()))
    try:
        return InFiles.of_archive(known.tables)
    except (zipfile.BadZipFile, OSError):
        return None
