"""Sweeps: a grid of overrides times seeds, on all cores, resumable."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shoal._native import Cancel
from shoal.cache import Cache
from shoal.parallel import run_all
from shoal.result import Result
from shoal.results import Results
from shoal.running import run_one, seed_list
from shoal.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep.

    Attributes
    ----------
    values
        The overrides of the point: dotted keys and values.
    results
        One run a seed.
    """

    values: dict[str, object]
    results: Results


class Sweep(Sequence[Point]):
    """Points in the order of the grid: the last key changes fastest."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = tuple(points)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return Sweep(self._points[index]) if isinstance(index, slice) else self._points[index]

    def __len__(self) -> int:
        return len(self._points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self._points)

    def to_polars(self) -> pl.DataFrame:
        """Give one row a point and seed: the overrides, ``seed``, and every number of :attr:`Result.summary`."""
        import polars as pl

        rows = [{**point.values, "seed": result.seed, **result.summary} for point in self for result in point.results]
        return pl.DataFrame(rows, infer_schema_length=None)


def sweep(
    scenario: Scenario | str | Path,
    *,
    grid: Mapping[str, Iterable[object]],
    seeds: int | Iterable[int] = 1,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Sweep:
    """Run a scenario at every point of a grid.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file.
    grid
        For each dotted key its values, e.g. ``{"bottleneck.aqm.threshold": ["10 packets", "20 packets"]}``.
    seeds
        The seeds of every point, or how many, counted from the scenario's.
    workers
        Threads; all cores if not given. Results do not depend on it.
    cache
        Folder of finished points: an interrupted sweep goes on where it was, a changed one runs only what is new.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "20 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms" }]
    ... ''')
    >>> points = shoal.sweep(scenario, grid={"bottleneck.aqm.threshold": ["5 packets", "40 packets"]})
    >>> low, high = (point.results[0].summary["queue_packets"] for point in points)
    >>> low < high
    True
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    # All points are checked before the first runs.
    scenarios = [scenario.override(values) for values in combinations]
    jobs = [(point, seed) for point in scenarios for seed in seed_list(point, seeds)]
    results = run_jobs(jobs, workers=workers, cache=cache, progress=progress)
    points = []
    for values, point in zip(combinations, scenarios, strict=True):
        count = len(seed_list(point, seeds))
        points.append(Point(values, Results(results[:count])))
        results = results[count:]
    return Sweep(points)


def run_jobs(
    jobs: Sequence[tuple[Scenario, int]],
    *,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool | Callable[[float], object] = False,
    label: str = "Running",
) -> list[Result]:
    """Run scenarios with seeds and give the results in that order; equal jobs run once."""
    store = Cache(cache) if cache is not None else None
    unique = list(dict.fromkeys(jobs))
    tasks = [partial(_task, scenario, seed, store) for scenario, seed in unique]
    with progress_of(len(tasks), progress, label) as on_done:
        results = dict(zip(unique, run_all(tasks, workers=workers, on_done=on_done), strict=True))
    return [results[job] for job in jobs]


def _task(scenario: Scenario, seed: int, store: Cache | None, cancel: Cancel) -> Result:
    if store is None:
        return run_one(scenario, seed=seed, cancel=cancel)
    key = store.key(scenario, seed)
    if (known := store.get(key)) is not None:
        return known
    result = run_one(scenario, seed=seed, cancel=cancel)
    store.put(key, result)
    return result


class progress_of:  # noqa: N801
    """Context that gives a function to call for each of ``total`` finished tasks."""

    def __init__(self, total: int, progress: bool | Callable[[float], object], label: str) -> None:
        self._total = total
        self._finished = 0
        self._report = progress if callable(progress) else None
        self._bar = None
        if progress is True:
            from shoal.progress import Bar

            self._bar = Bar(label)

    def __enter__(self) -> Callable[[], None]:
        if self._bar is not None:
            self._bar.__enter__()
        return self._on_done

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__()

    def _on_done(self) -> None:
        self._finished += 1
        fraction = self._finished / self._total
        if self._report is not None:
            self._report(fraction)
        if self._bar is not None:
            self._bar.update(fraction)
