"""Runs the items of a paper and writes what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import ScenarioError
from shoal.papers.checks import Finding, Verdict, findings_of
from shoal.papers.draw import draw
from shoal.papers.spec import Item, Paper, Reading, Search
from shoal.papers.tables import Grid, joined, located, measured, searched, tried
from shoal.papers.tally import Tally, tally
from shoal.plots import Drawn
from shoal.results import Result, Results
from shoal.runs.cases import Case, RunCases, run_cases
from shoal.runs.plane import Kernel, Plane, simulator
from shoal.scenario import Scenario
from shoal.search import Condition, Tuned, solve
from shoal.seeds import seed_list
from shoal.table import Table
from shoal.tabulate import comparison_table

if TYPE_CHECKING:
    from shoal.linux import Image


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
    # Where a kernel stands in for something else, or was not asked.
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> Outcome:
        """The outcome that verdicts are about."""
        return self.outcomes[0]

    @property
    def with_hosts(self) -> list[Outcome]:
        """The outcomes with other hosts than the item's own."""
        return [outcome for outcome in self.outcomes if outcome.reading.host is not None]


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
    image: Image | None = None,
    hosts: Sequence[str] = (),
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
    image
        A kernel: run the chosen reading on the simulator and on this kernel instead of all readings on the simulator.
    hosts
        Presets of hosts: run every reading once more with each of them in place of the host of every flow group.
    """
    run = partial(run_cases, workers=workers, cache=cache, progress=progress)
    if image is None:
        readings = [
            variant for reading in readings_of(paper, item) for variant in (reading, *map(reading.with_host, hosts))
        ]
        return Reproduction(item, *_outcomes(item, readings, run), _warnings(item, readings) if hosts else ())
    alike, real = paper.on_linux(image.release)
    notes: list[str] = []
    chosen, runs = _outcomes(item, [paper.reading(paper.chosen)], run)
    simulated, more = _outcomes(item, [alike, *map(alike.with_host, hosts)], run, chosen=False)
    there = [real, *map(real.with_host, hosts)]
    measured_there, most = _outcomes(
        item, there, run, chosen=False, plane=Kernel(image), expressible=_expressible(image, notes)
    )
    return Reproduction(item, [*chosen, *simulated, *measured_there], runs + more + most, tuple(dict.fromkeys(notes)))


def _expressible(image: Image, notes: list[str]) -> Callable[[Scenario], bool]:
    """Whether a kernel can express a scenario; its notes, or why it cannot, are kept."""
    from shoal.linux import plan

    def check(scenario: Scenario) -> bool:
        try:
            notes.extend(plan(scenario, image).notes)
        except ScenarioError as error:
            notes.extend(
                f"left out on Linux: {line.removeprefix('error: ')}"
                for line in str(error).splitlines()
                if line.startswith("error: ")
            )
            return False
        return True

    return check


def _outcomes(
    item: Item,
    readings: list[Reading],
    run: RunCases,
    *,
    chosen: bool = True,
    plane: Plane = simulator,
    expressible: Callable[[Scenario], bool] = lambda _: True,
) -> tuple[list[Outcome], int]:
    """The item under each of the readings, and the number of runs; what cannot be expressed has none."""
    plan = [(reading, sweep, sweep.scenarios(reading)) for reading in readings for sweep in item.sweeps.values()]
    cases = []
    for _, sweep, scenarios in plan:
        for scenario in scenarios:
            seeds = seed_list(scenario, sweep.seeds) if expressible(scenario) else []
            cases.append(Case(scenario, seeds, tuple(sweep.metrics.values()), sweep.has_tables, plane))
    runs = sum(len(case.seeds) for case in cases)
    name = f"{item.paper}/{item.name}"
    if cases and not runs:
        # All of them were refused: the first refusal says why.
        run([Case(scenarios[0], [0], plane=plane) for _, _, scenarios in plan], name)
    results = iter(run(cases, name))
    by_reading: dict[str, dict[str, list[Results]]] = {reading.name: {} for reading in readings}
    for reading, sweep, scenarios in plan:
        by_reading[reading.name][sweep.name] = [next(results) for _ in scenarios]
    outcomes: list[Outcome] = []
    for reading in readings:
        solved = {name: _solve(item, search, reading, run, plane) for name, search in item.searches.items()}
        runs += sum(len(trial.results) for answers in solved.values() for tuned in answers for trial in tuned.trials)
        # Whoever asks for hosts wants all figures with them.
        everything = (chosen and not outcomes) or reading.host is not None
        outcomes.append(_outcome(item, reading, by_reading[reading.name], solved, chosen=everything))
    return outcomes, runs


def _solve(item: Item, search: Search, reading: Reading, run: RunCases, plane: Plane) -> list[Tuned]:
    return solve(
        search.problems(reading),
        Condition.parse(search.such_that),
        side=search.side,
        seeds=search.seeds,
        confirm=search.confirm,
        run=lambda cases, label: run(
            [case._replace(plane=plane) for case in cases], f"{item.paper}/{item.name}: {label}"
        ),
        metrics=search.metrics.values(),
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
    for find in item.finds.values():
        tables[find.name] = located(find, tables[find.table])
    for join in item.joins.values():
        tables[join.name] = joined(join, tables[join.left], tables[join.right])
    kept = {name: points[name][0] for name, sweep in item.sweeps.items() if sweep.keep}
    cells = {
        name: [(point, runs[0]) for point, runs in zip(sweep.points(), points[name], strict=True) if runs]
        for name, sweep in item.sweeps.items()
        if sweep.has_tables
    }
    findings = [finding for check in item.checks for finding in findings_of(check, tables, item.folder)]
    wanted = [spec for spec in item.figures if chosen or not spec.chosen_only]
    figures = [draw(spec, tables, cells, item.folder, host=reading.host) for spec in wanted]
    return Outcome(reading, tables, kept, cells, findings, figures)


def _warnings(item: Item, readings: Sequence[Reading]) -> tuple[str, ...]:
    """What scenarios say against the hosts that take the place of their own."""
    warnings: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for reading in readings:
        for sweep in (*item.sweeps.values(), *item.searches.values()):
            for scenario in sweep.scenarios(reading):
                texts = (warning.splitlines()[0].removeprefix("warning: ") for warning in scenario.warnings)
                warnings[reading.host is not None] |= dict.fromkeys(texts)
    return tuple(text for text in warnings[True] if text not in warnings[False])


def verdict_table(reproduction: Reproduction) -> Table:
    """Published, measured, tolerance, verdict, reason; with what other readings measure beside."""
    others = reproduction.outcomes[1:]
    columns = (
        "Claim",
        "Role",
        "What",
        "Published",
        "Simulated" if any(other.reading.like and not other.reading.host for other in others) else "Measured",
        "Tolerance",
        "Verdict",
        *(o.reading.name for o in others),
        "Reason",
    )
    rows = []
    for index, finding in enumerate(reproduction.chosen.findings):
        beside = []
        for other in others:
            # `together` may name another cell under another reading; the position in the list stays the check's.
            twin = other.findings[index] if index < len(other.findings) else None
            beside.append(f"{twin.measured} {_sign(twin.verdict)}" if twin else "")
        rows.append(
            (
                finding.claim,
                finding.role.value,
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


def tally_of(reproductions: Sequence[Reproduction]) -> Tally:
    """What the checks say together, under the chosen reading."""
    return tally(record for reproduction in reproductions for record in _records(reproduction.chosen))


def tallies_with_hosts(reproductions: Sequence[Reproduction]) -> dict[str, Tally]:
    """What the checks say together under each reading with other hosts, by the name of that reading."""
    names = dict.fromkeys(outcome.reading.name for reproduction in reproductions for outcome in reproduction.with_hosts)
    return {
        name: tally(
            record
            for reproduction in reproductions
            for outcome in reproduction.with_hosts
            if outcome.reading.name == name
            for record in _records(outcome)
        )
        for name in names
    }


def verdict_frame(reproduction: Reproduction) -> pl.DataFrame:
    """All findings under all readings."""
    records = [
        {"item": reproduction.item.name, "reading": outcome.reading.name, **record}
        for outcome in reproduction.outcomes
        for record in _records(outcome)
    ]
    schema = {name: pl.Int64 if name in ("cells", "inside") else pl.String for name in ("item", "reading", *_kept)}
    return pl.DataFrame(records, schema=schema)


# What is kept of a finding.
_kept = ("claim", "role", "what", "published", "measured", "tolerance", "cells", "inside", "verdict", "reason")


def _records(outcome: Outcome) -> list[dict[str, Any]]:
    return [{name: getattr(finding, name) for name in _kept} for finding in outcome.findings]


def _sign(verdict: Verdict) -> str:
    return {"inside": "✓", "outside": "✗", "no value": "?", "shown": "="}[verdict.value]
