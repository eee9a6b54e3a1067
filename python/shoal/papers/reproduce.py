"""Runs the items of a paper and writes what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from shoal.condition import Condition
from shoal.papers.checks import Finding, Verdict, findings_of
from shoal.papers.draw import draw
from shoal.papers.spec import Item, Paper, Reading, Search
from shoal.papers.tables import Grid, found, joined, measured, searched, tried
from shoal.plots import Drawn
from shoal.result import Result
from shoal.results import Results
from shoal.sweeps import run_jobs
from shoal.tabulate import Table, comparison_table
from shoal.tuning import Tuned, solve


@dataclass(frozen=True)
class Outcome:
    """An item under one reading."""

    reading: Reading
    tables: dict[str, Grid]
    kept: dict[str, Results]
    points: dict[str, list[tuple[dict[str, float], Result]]]
    findings: list[Finding]
    figures: list[Drawn]


@dataclass(frozen=True)
class Reproduction:
    """An item under all its readings, the chosen one first, and the number of runs that it took."""

    item: Item
    outcomes: list[Outcome]
    runs: int

    @property
    def chosen(self) -> Outcome:
        """The outcome that verdicts are about."""
        return self.outcomes[0]


def readings_of(paper: Paper, item: Item) -> list[Reading]:
    """The readings of an item, the chosen one first."""
    names = item.readings or [reading.name for reading in paper.readings]
    ordered = sorted(names, key=lambda name: name != paper.chosen)
    return [paper.reading(name) for name in ordered]


def reproduce(
    paper: Paper,
    item: Item,
    *,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Reproduction:
    """Run an item under all its readings.

    Parameters
    ----------
    paper, item
        What to run.
    workers
        Threads; all cores if not given. Results do not depend on it.
    cache
        Folder of finished points.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.
    """
    readings = readings_of(paper, item)
    plan = [
        (reading, sweep, [sweep.scenario.override(sweep.overrides(point, reading)) for point in sweep.points()])
        for reading in readings
        for sweep in item.sweeps.values()
    ]
    jobs = [
        (scenario, scenario.seed + number)
        for _, sweep, scenarios in plan
        for scenario in scenarios
        for number in range(sweep.seeds)
    ]
    results = run_jobs(jobs, workers=workers, cache=cache, progress=progress, label=f"{item.paper}/{item.name}")
    runs = len(jobs)
    by_reading: dict[str, dict[str, list[Results]]] = {reading.name: {} for reading in readings}
    for reading, sweep, scenarios in plan:
        points = []
        for _ in scenarios:
            points.append(Results(results[: sweep.seeds]))
            results = results[sweep.seeds :]
        by_reading[reading.name][sweep.name] = points
    outcomes: list[Outcome] = []
    for reading in readings:
        solved = {
            name: _solve(item, search, reading, partial(run_jobs, workers=workers, cache=cache, progress=progress))
            for name, search in item.searches.items()
        }
        runs += sum(len(trial.results) for tuned in solved.values() for one in tuned for trial in one.trials)
        outcomes.append(_outcome(item, reading, by_reading[reading.name], solved, chosen=not outcomes))
    return Reproduction(item, outcomes, runs)


def _solve(item: Item, search: Search, reading: Reading, run: Callable[..., list[Result]]) -> list[Tuned]:
    return solve(
        search.problems(reading),
        Condition.parse(search.such_that),
        side=search.side,
        seeds=search.sweep.seeds,
        confirm=search.confirm,
        run=lambda jobs, label: run(jobs, label=f"{item.paper}/{item.name}: {label}"),
    )


def _outcome(
    item: Item,
    reading: Reading,
    points: dict[str, list[Results]],
    solved: dict[str, list[Tuned]],
    *,
    chosen: bool,
) -> Outcome:
    tables = {name: measured(sweep, points[name]) for name, sweep in item.sweeps.items()}
    for name, search in item.searches.items():
        grids = (searched(search, solved[name]), tried(search, solved[name]))
        tables |= {grid.name: grid for grid in grids}
    for find in item.finds:
        tables[find.name] = found(find, tables[find.table])
    for join in item.joins:
        tables[join.name] = joined(join, tables[join.left], tables[join.right])
    kept = {name: points[name][0] for name, sweep in item.sweeps.items() if sweep.keep}
    cells = {
        name: [(point, runs[0]) for point, runs in zip(sweep.points(), points[name], strict=True)]
        for name, sweep in item.sweeps.items()
        if sweep.has_tables
    }
    findings = [finding for check in item.checks for finding in findings_of(check, tables, item.folder)]
    wanted = [spec for spec in item.figures if chosen or not spec.chosen_only]
    figures = [draw(spec, tables, cells, item.folder) for spec in wanted]
    return Outcome(reading, tables, kept, cells, findings, figures)


def verdict_table(reproduction: Reproduction) -> Table:
    """Published, measured, tolerance, verdict, reason; with what other readings measure beside."""
    others = reproduction.outcomes[1:]
    columns = (
        "Claim",
        "What",
        "Published",
        "Measured",
        "Tolerance",
        "Verdict",
        *(o.reading.name for o in others),
        "Reason",
    )
    rows = []
    for index, finding in enumerate(reproduction.chosen.findings):
        beside = []
        for other in others:
            # `worst` picks another row under another reading; the position in the list stays the check's.
            twin = other.findings[index] if index < len(other.findings) else None
            beside.append(f"{twin.measured} {_sign(twin.verdict)}" if twin else "")
        rows.append(
            (
                finding.claim,
                finding.what,
                finding.published,
                finding.measured,
                finding.tolerance,
                finding.verdict.value,
                *beside,
                finding.reason,
            )
        )
    return Table("", columns, rows, words=len(columns))


def shown_tables(reproduction: Reproduction) -> list[Table]:
    """The tables that the item shows, under the chosen reading."""
    tables = []
    for name in reproduction.item.show:
        frame = reproduction.chosen.tables[name].to_polars()
        names = [column for column in frame.columns if not column.endswith("_ci95") and column != "crossings"]
        rows = []
        for row in frame.iter_rows(named=True):
            cells = []
            for column in names:
                width = row.get(f"{column}_ci95")
                value = row[column]
                text = "-" if value is None else value if isinstance(value, str) else f"{value:.4g}"
                cells.append(text if width is None else f"{text} ± {width:.2g}")
            rows.append(tuple(cells))
        tables.append(Table(name, tuple(names), rows, words=0))
    return tables


def compared(reproduction: Reproduction) -> Table | None:
    """The configurations that the item compares, side by side, under the chosen reading."""
    item = reproduction.item
    if not item.compare:
        return None
    return comparison_table([(item.sweeps[name].title, list(reproduction.chosen.kept[name])) for name in item.compare])


def counts(reproductions: Sequence[Reproduction]) -> dict[Verdict, int]:
    """How many checks ended how, under the chosen reading."""
    verdicts = [finding.verdict for reproduction in reproductions for finding in reproduction.chosen.findings]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


def verdict_frame(reproduction: Reproduction) -> pl.DataFrame:
    """All findings under all readings."""
    records = [
        {
            "item": reproduction.item.name,
            "reading": outcome.reading.name,
            "claim": finding.claim,
            "what": finding.what,
            "published": finding.published,
            "measured": finding.measured,
            "tolerance": finding.tolerance,
            "verdict": finding.verdict.value,
            "reason": finding.reason,
        }
        for outcome in reproduction.outcomes
        for finding in outcome.findings
    ]
    names = ("item", "reading", "claim", "what", "published", "measured", "tolerance", "verdict", "reason")
    return pl.DataFrame(records, schema=dict.fromkeys(names, pl.String))


def _sign(verdict: Verdict) -> str:
    return {"inside": "✓", "outside": "✗", "no value": "?"}[verdict.value]
