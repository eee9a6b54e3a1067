"""Pages of sweeps and searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal import _native
from shoal._toml import toml_value
from shoal.files import write_text
from shoal.plots import Drawn, save
from shoal.remarks import identical_points_line, notice_lines, point_notice_lines, seeds_in_words
from shoal.report import sweep_figure, tune_figure
from shoal.report.build import figure_values, models_in
from shoal.report.page import render
from shoal.results import Results
from shoal.scenario import Scenario
from shoal.sweeps import Sweep, as_text
from shoal.tabulate import Table
from shoal.template import Template

if TYPE_CHECKING:
    from shoal.search import Tuned


def write_sweep_report(
    folder: Path,
    template: Template,
    points: Sweep,
    metrics: Mapping[str, str],
    *,
    table: Table,
    command: str,
) -> None:
    """Write ``report.html`` of a sweep and its figure into an existing folder."""
    rows = [
        (key, ", ".join(dict.fromkeys(as_text(point.values[key]) for point in points)), "swept")
        for key in points[0].values
    ]
    rows += [
        (key, value if isinstance(value, str) else toml_value(value), "computed") for key, value in template.set.items()
    ]
    rows += [(name, text, "measured") for name, text in metrics.items() if name != text]
    _write(
        folder,
        template.scenario,
        summary=f"{len(points)} points; {seeds_in_words([point.results for point in points], named=True)}.",
        settings=Table("", ("Name", "Values", ""), rows, words=3),
        table=table,
        figure=sweep_figure.draw(points, metrics),
        runs=points.named,
        command=command,
        notices=point_notice_lines(points.named),
        remarks=points.warnings,
    )


def write_tune_report(folder: Path, scenario: Scenario, found: Tuned, *, remarks: Sequence[str], command: str) -> None:
    """Write ``report.html`` of a search and its figure into an existing folder."""
    _write(
        folder,
        scenario,
        summary=f"Searched: the {found.side.value} value such that {found.condition.text}. "
        f"{len(found.trials)} values were tried; "
        f"{seeds_in_words([trial.results for trial in found.trials], named=True)}.",
        settings=None,
        table=found.trail(),
        figure=tune_figure.draw(found),
        runs=found.named_trials,
        notices=notice_lines(found.results or ()),
        command=command,
        verdict=found.verdict,
        remarks=remarks,
    )


def _write(
    folder: Path,
    scenario: Scenario,
    *,
    summary: str,
    settings: Table | None,
    table: Table,
    figure: Drawn,
    runs: Sequence[tuple[str, Results]],
    notices: Sequence[str],
    command: str,
    verdict: str = "",
    remarks: Sequence[str] = (),
) -> None:
    save(figure, folder / "figures")
    same = identical_points_line(runs)
    page = render(
        "sweep.html.j2",
        title=scenario.title,
        description=scenario.resolved.get("description"),
        notices=[f"{line}." for line in (*notices, *([same] if same else []))],
        summary=summary,
        verdict=verdict,
        remarks=remarks,
        settings=settings,
        table=table,
        figures=[figure_values(figure)],
        scenario=scenario.to_toml(),
        # Seeds change no model.
        models=models_in([results[0] for _, results in runs]),
        command=command,
        version=_native.__version__,
    )
    write_text(folder / "report.html", page)
