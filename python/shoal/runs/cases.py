"""Runs of scenarios with seeds, of which whole results are wanted: on all cores, each once, finished ones kept."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from shoal._native import Cancel, uncompressed
from shoal.errors import ScenarioError, UsageError
from shoal.parallel import Progress, counted, finished
from shoal.results import Result, Results
from shoal.results.recorded import InFiles, MadeAgain, Recorded
from shoal.runs import store as stores
from shoal.runs.database import Batches
from shoal.runs.plane import Plane, simulator
from shoal.runs.record import Record, record_of
from shoal.runs.store import Store, digest_of
from shoal.scenario import Scenario
from shoal.words import count_of


class Case(NamedTuple):
    """A scenario whose runs are wanted.

    Attributes
    ----------
    scenario
        What to run.
    seeds
        With which seeds: one run each.
    metrics
        Expressions over the metrics, which are kept with the runs.
    tables
        Whether recorded tables are kept, too. Without them a run that is known already is made again when somebody asks
        its result for a table.
    plane
        Where the runs are made.
    """

    scenario: Scenario
    seeds: Sequence[int]
    metrics: tuple[str, ...] = ()
    tables: bool = False
    plane: Plane = simulator


# Is called for each result as soon as it is there, and says what is kept of it in memory.
Finish = Callable[[Result], Result]
# :func:`run_cases` with its settings: what searches ask for runs. The text is for the progress bar.
RunCases = Callable[[Sequence[Case], str], list[Results]]
# What a run is found by: the digest of its scenario and plane, and the seed.
_Key = tuple[bytes, int]


def unchanged(result: Result) -> Result:
    """Keep all of a result."""
    return result


def run_cases(
    cases: Sequence[Case],
    label: str = "",
    *,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
    finish: Finish = unchanged,
) -> list[Results]:
    """Make the runs of cases and give the results of each in the order of the cases; equal runs are made once.

    Parameters
    ----------
    cases
        What to run.
    label
        For the bar; the number of runs if not given.
    workers
        Threads; all cores if not given. Results do not depend on it.
    cache
        Folder of finished runs: what is known is not run again.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.
    finish
        Says what is kept of each result.

    Raises
    ------
    ScenarioError
        A plane cannot express one of the scenarios; nothing ran.
    UsageError
        A scenario writes files of packets, for which there is no place.
    """
    wanted = dict.fromkeys((case.scenario, case.plane) for case in cases)
    refuse_unmodelled(wanted)
    for scenario, plane in wanted:
        if plane is simulator:
            refuse_without_files(scenario, None, None)
    digests = {(scenario, plane): digest_of(scenario.native.json, plane.identity) for scenario, plane in wanted}
    keys = [[(digests[case.scenario, case.plane], seed) for seed in case.seeds] for case in cases]
    unique = _unique(cases, keys)
    count = sum(map(len, keys))
    label = label or count_of(count, "run")
    with stores.opened(cache) as store, counted(len(unique), progress, label) as on_done:
        known = {} if store is None else _known(store, unique)
        tasks = (partial(_made, case, key[1], known.get(key), finish, store) for key, case in unique.items())
        results: dict[_Key, Result] = {}
        with Batches(store.put if store is not None else lambda _: None) as kept:
            order = list(unique)
            for number, (result, record) in finished(tasks, workers=workers):
                key = order[number]
                results[key] = result
                if record is not None:
                    kept.add((*key, record))
                on_done()
    return [Results([results[key] for key in case_keys]) for case_keys in keys]


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
    for wanted, is_wanted, file in zip(("packets", "pcap"), scenario.native.packet_files, (packets, pcap), strict=True):
        if is_wanted and file is None:
            raise UsageError(
                f"the scenario has trace.{wanted} = true, but there is no file to write to",
                hint=f"give {wanted}=PATH (on the command line: --out DIR), or set trace.{wanted} = false",
            )


def _unique(cases: Sequence[Case], keys: Sequence[Sequence[_Key]]) -> dict[_Key, Case]:
    """Each run once, with all that is asked of it."""
    unique: dict[_Key, Case] = {}
    for case, case_keys in zip(cases, keys, strict=True):
        for key in case_keys:
            if (before := unique.setdefault(key, case)) is not case:
                metrics = tuple(dict.fromkeys((*before.metrics, *case.metrics)))
                unique[key] = before._replace(metrics=metrics, tables=before.tables or case.tables)
    return unique


def _known(store: Store, wanted: Mapping[_Key, Case]) -> dict[_Key, Record]:
    """The records of what has been run before, with all that is asked for."""
    known: dict[_Key, Record] = {}
    seeds_of: dict[bytes, list[int]] = {}
    for digest, seed in wanted:
        seeds_of.setdefault(digest, []).append(seed)
    for digest, seeds in seeds_of.items():
        tables = any(wanted[digest, seed].tables for seed in seeds)
        for _, seed, record in store.read([digest], seeds=seeds, tables=tables):
            case = wanted[digest, seed]
            if (whole := record.with_metrics(case.metrics)) is not None and (whole.tables or not case.tables):
                known[digest, seed] = whole
    return known


def _made(
    case: Case, seed: int, known: Record | None, finish: Finish, store: Store | None, cancel: Cancel
) -> tuple[Result, Record | None]:
    """The result of a run, and the record of it if it is new and there is a store."""
    if known is not None and (recorded := _recorded(case, seed, known)) is not None:
        values = known.numbers(case.metrics)
        return finish(
            Result(uncompressed(known.body), recorded=recorded, values=values).planned_as(case.scenario)
        ), None
    run = case.plane.run(case.scenario, seed, cancel)
    record = None if store is None else record_of(run, seed, case.metrics, tables=case.tables)
    return finish(Result.of_run(run).planned_as(case.scenario)), record


def _recorded(case: Case, seed: int, known: Record) -> Recorded | None:
    """The tables of a known run; ``None`` if they were kept and are damaged."""
    if not known.tables:
        return MadeAgain(lambda: case.plane.run(case.scenario, seed, Cancel()))
    try:
        return InFiles.of_archive(known.tables)
    except (zipfile.BadZipFile, OSError):
        return None
