"""The page of a search with goals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal import _native
from shoal._toml import as_text
from shoal.cite import card
from shoal.files import write_text
from shoal.plots import save
from shoal.remarks import Remarks
from shoal.report.build import figure_values, models_in
from shoal.report.optimise_figures import draw_all
from shoal.report.page import render
from shoal.table import Table
from shoal.table_formats import FOLDER, save_tables
from shoal.template import Template

if TYPE_CHECKING:
    from shoal.search import Optimised


def write_optimise_report(folder: Path, template: Template, optimised: Optimised, *, command: str) -> None:
    """Write ``report.html`` of a search with goals and its figures into an existing folder."""
    figures = draw_all(optimised)
    for figure in figures:
        save(figure, folder / "figures")
    save_tables(optimised.tables(), folder / FOLDER)
    same = Remarks.of_points(optimised.named).nothing_is_random
    lines = [*Remarks.of_runs(optimised.results or ()).notices, *([same] if same else [])]
    page = render(
        "optimise.html.j2",
        title=template.scenario.title,
        description=template.scenario.resolved.get("description"),
        notices=[f"{line}." for line in lines],
        verdict=optimised.verdict,
        remarks=optimised.remarks,
        settings=_settings(template, optimised),
        tables=optimised.tables(),
        figures=[figure_values(figure) for figure in figures],
        scenario=template.scenario.to_toml(),
        # Seeds and values of parameters change no model.
        models=models_in([results[0] for _, results in optimised.named]),
        command=command,
        card=card([("", template.scenario)]),
        version=_native.__version__,
    )
    write_text(folder / "report.html", page)


def _settings(template: Template, optimised: Optimised) -> Table:
    """What was free, computed and wanted."""
    rows = [(parameter.key, parameter.range, "free") for parameter in optimised.parameters]
    rows += [(key, as_text(value), "computed") for key, value in template.set.items()]
    rows += [("goal", goal.text, "wanted") for goal in optimised.goals]
    rows += [("condition", optimised.condition.text, "wanted")] if optimised.condition else []
    return Table("", ("Name", "Values", ""), rows, words=3)
