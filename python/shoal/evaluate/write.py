"""Evaluations as folders: a report, tables, and the scenario of every cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal import _native
from shoal.again import Again
from shoal.cite import card
from shoal.evaluate.evaluation import Evaluation, Outcome
from shoal.evaluate.figures import figures_of
from shoal.evaluate.tables import matrix, overview, table_of, unmeasured
from shoal.files import write_text
from shoal.plots import save
from shoal.report.build import figure_values, models_of
from shoal.report.page import render
from shoal.scenario import Scenario
from shoal.sweeps.tables import failure_lines
from shoal.table_formats import FOLDER, save_tables
from shoal.words import count_of

#: Where the scenarios of all cells are.
CELLS = "cells"


def write_into(evaluation: Evaluation, folder: Path, *, again: Again, out: Path) -> None:
    """Write the files of an evaluation into an existing folder that will be ``out``.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    cells = {outcome.key: _cells(outcome) for outcome in evaluation}
    for key, scenarios_of_cells in cells.items():
        for number, scenario in enumerate(scenarios_of_cells, start=1):
            (folder / CELLS).mkdir(exist_ok=True)
            scenario.write_into(folder / CELLS, f"{key}-{number}.toml")
    sections = [_section(evaluation, outcome, folder) for outcome in evaluation]
    paths = matrix(evaluation)
    tables = [
        overview(evaluation),
        *([paths] if paths is not None else []),
        *(table_of(outcome) for outcome in evaluation if outcome.rows is not None),
    ]
    save_tables(tables, folder / FOLDER)
    for name, frame in (("points", evaluation.to_polars()), ("runs", evaluation.runs_to_polars())):
        frame.write_csv(folder / f"{name}.csv")
        frame.write_parquet(folder / f"{name}.parquet")
    write_text(folder / "evaluation.json", evaluation.json + "\n")
    scenarios = [
        (outcome.key, outcome.rows.plan.template.scenario) for outcome in evaluation if outcome.rows is not None
    ]
    page = render(
        "evaluate.html.j2",
        title=f"{evaluation.guide.name}: {evaluation.subject.name}",
        guide=evaluation.guide,
        contenders=[(contender.name, contender.described) for contender in evaluation.contenders],
        summary=f"{count_of(evaluation.runs, 'run')}, {count_of(evaluation.seeds, 'seed')} each.",
        overview=overview(evaluation),
        # The first of a section's experiments is where its row leads, or else the text.
        anchors=[
            next((f"#{outcome.key}" for outcome in evaluation.of(clause)), evaluation.guide.link(clause.number))
            for clause in evaluation.guide.clauses
        ],
        paths=paths,
        sections=sections,
        models=models_of(scenario.resolved for some in cells.values() for scenario in some),
        cells=CELLS,
        out=str(out),
        command=again.shown(out),
        card=card(scenarios),
        version=_native.__version__,
    )
    write_text(folder / "report.html", page)


def _section(evaluation: Evaluation, outcome: Outcome, folder: Path) -> dict[str, Any]:
    figures = figures_of(outcome)
    for drawn in figures:
        save(drawn, folder / "figures")
    rows, harm = outcome.rows, outcome.experiment.harm
    return {
        "key": outcome.key,
        "number": outcome.clause.number,
        "link": evaluation.guide.link(outcome.clause.number),
        "title": outcome.clause.title,
        "experiment": outcome.experiment.title,
        "period": _period(outcome),
        "finding": outcome.finding,
        "table": table_of(outcome),
        "figures": [figure_values(drawn) for drawn in figures],
        "notices": [
            *(f"Not run, {refusal}." for refusal in outcome.refused),
            *([unmeasured(outcome)] if outcome.unmeasured else []),
            *(failure_lines(rows) if rows is not None else []),
        ],
        "metrics": list({**outcome.experiment.metrics, **(harm.formulas if harm else {})}.items()),
    }


def _period(outcome: Outcome) -> str:
    """What the numbers cover, which RFC 7928, section 2.7, wants to be said; empty if cells differ in it."""
    periods = {(scenario.resolved["warmup"], scenario.resolved["duration"]) for scenario in _cells(outcome)}
    return " Measured from {} to {}.".format(*periods.pop()) if len(periods) == 1 else ""


def _cells(outcome: Outcome) -> list[Scenario]:
    """The scenarios of an experiment's cells, in their order."""
    rows = outcome.rows
    return [] if rows is None else [rows.plan.recipe.at(rows[point]) for point in range(len(rows))]
