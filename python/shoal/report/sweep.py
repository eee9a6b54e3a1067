"""Pages of sweeps and searches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import _native
from shoal._toml import as_text
from shoal.cite import card
from shoal.files import write_text
from shoal.models import Model
from shoal.plots import Drawn, save
from shoal.remarks import Remarks
from shoal.report import sweep_figure
from shoal.report.build import figure_values, models_in, models_of
from shoal.report.page import render
from shoal.runs.rows import Rows
from shoal.scenario import Scenario
from shoal.sweeps.tables import failure_lines, most_shown, omitted, table_of
from shoal.table import Table
from shoal.table_formats import FOLDER, save_tables

if TYPE_CHECKING:
    from shoal.search import Tuned


def write_rows_report(folder: Path, rows: Rows, *, command: str) -> None:
    """Write ``report.html`` of a sweep and its figures into an existing folder."""
    plan = rows.plan
    table = [
        (key, _in_words([row[column] for row in factor.rows]), "swept" if len(factor.keys) == 1 else "swept together")
        for factor in plan.design.factors
        for column, key in enumerate(factor.keys)
    ]
    table += [(key, as_text(value), "computed") for key, value in plan.template.set.items()]
    table += [(name, text, "measured") for name, text in plan.metrics.items() if name != text]
    said = Remarks.of_rows(rows)
    short = omitted(rows)
    _write(
        folder,
        plan.template.scenario,
        summary=f"{len(rows):,} points; {said.seeds_in_words(named=True)}.",
        settings=Table("", ("Name", "Values", ""), table, words=3),
        table=table_of(rows),
        caption=f"Points, the first {most_shown:,} of {len(rows):,}" if short else "Points",
        figures=sweep_figure.draw(rows),
        models=models_of(_scenarios(rows)),
        command=command,
        notices=[*said.lines, *failure_lines(rows)],
        remarks=[*rows.warnings, *([short] if short else [])],
    )


# Values of an axis that a reader sees one by one.
_most_values = 40
# The last words of keys whose values decide which models there are.
_choices = {"cc", "stack", "app", "kind", "aqm", "host", "flows"}


def _in_words(values: Sequence[object]) -> str:
    texts = list(dict.fromkeys(map(as_text, values)))
    if len(texts) <= _most_values:
        return ", ".join(texts)
    return f"{', '.join(texts[:3])}, ... {texts[-1]} ({len(texts):,} values)"


def _scenarios(rows: Rows) -> Iterator[Mapping[str, Any]]:
    """Resolved scenarios with all models of a sweep: one, if no key is swept that chooses models."""
    is_one = not any(_choices & set(key.split(".")[-1:]) for key in rows.plan.template.varied)
    for point_index in range(1 if is_one else len(rows)):
        yield rows.plan.recipe.at(rows[point_index]).resolved


def write_tune_report(folder: Path, scenario: Scenario, tuned: Tuned, *, remarks: Sequence[str], command: str) -> None:
    """Write ``report.html`` of a search and its figure into an existing folder."""
    said = Remarks.of_points(tuned.named_trials)
    same = said.nothing_is_random
    _write(
        folder,
        scenario,
        summary=f"Searched: the {tuned.side.value} value such that {tuned.condition.text}. "
        f"{len(tuned.trials)} values were tried; "
        f"{said.seeds_in_words(named=True)}.",
        settings=None,
        table=tuned.trail(),
        caption="Values tried",
        figures=[tuned.drawn],
        # Seeds change no model.
        models=models_in([trial.results[0] for trial in tuned.trials]),
        notices=[*Remarks.of_runs(tuned.results or ()).notices, *([same] if same else [])],
        command=command,
        verdict=tuned.verdict,
        remarks=remarks,
    )


def _write(
    folder: Path,
    scenario: Scenario,
    *,
    summary: str,
    settings: Table | None,
    table: Table,
    caption: str,
    figures: Sequence[Drawn],
    models: Sequence[Model],
    notices: Sequence[str],
    command: str,
    verdict: str = "",
    remarks: Sequence[str] = (),
) -> None:
    for figure in figures:
        save(figure, folder / "figures")
    save_tables([replace(table, title=caption)], folder / FOLDER)
    page = render(
        "sweep.html.j2",
        title=scenario.title,
        description=scenario.resolved.get("description"),
        notices=[f"{line}." for line in notices],
        summary=summary,
        verdict=verdict,
        remarks=remarks,
        settings=settings,
        table=table,
        figures=[figure_values(figure) for figure in figures],
        scenario=scenario.to_toml(),
        models=models,
        command=command,
        card=card([("", scenario)]),
        version=_native.__version__,
    )
    write_text(folder / "report.html", page)
