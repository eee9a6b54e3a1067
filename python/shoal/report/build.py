"""Builds a report from results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal import _native
from shoal.cite import card
from shoal.errors import OutputError
from shoal.files import write_text, writing
from shoal.models import Model, models
from shoal.plots import Drawn, save
from shoal.plots.formats import to_svg
from shoal.remarks import Remarks
from shoal.report.explore import panels
from shoal.report.figures import comparison_figures, figures_of
from shoal.report.page import render
from shoal.results import Result
from shoal.scenario import Scenario
from shoal.seeds import refuse_repeated_seeds
from shoal.table_formats import FOLDER, save_tables
from shoal.tabulate import (
    comparison_table,
    kernel_table,
    run_tables,
    shown_table,
    totals,
    totals_table,
)
from shoal.verdict import verdict


@dataclass(frozen=True)
class Entry:
    """A run in a report.

    Attributes
    ----------
    label
        What it is called.
    runs
        One result a seed.
    folder
        The folder that holds them, if there is one: ``scenario.toml`` in it, or in a folder ``seed-N`` for each seed.
    """

    label: str
    runs: Sequence[Result]
    folder: Path | None = None


def load_entries(folder: str | Path) -> list[Entry]:
    """Read what ``shoal run --out`` wrote: one run, several seeds, or several scenarios."""
    folder = Path(folder)
    if (folder / "result.json").exists():
        return [Entry(folder.name, [Result.load(folder)], folder)]
    if (folder / "results.json").exists():
        seeds = _seeds(folder / "results.json")
        return [Entry(folder.name, [Result.load(folder / f"seed-{seed}") for seed in seeds], folder)]
    parts = [
        path for path in sorted(folder.glob("*/")) if any((path / f"{n}.json").exists() for n in ("result", "results"))
    ]
    if not parts:
        raise OutputError(f"`{folder}` holds no results", hint="name a folder that `shoal run --out` wrote")
    order = _order(folder)
    parts.sort(key=lambda path: (order.index(path.name) if path.name in order else len(order), path.name))
    return [entry for part in parts for entry in load_entries(part)]


def write_report(entries: Sequence[Entry], folder: Path, *, command: str) -> None:
    """Write ``report.html``, ``figures/`` with every figure, and ``summaries/`` with every table, as files for papers.

    Parameters
    ----------
    entries
        What is reported.
    folder
        An existing folder.
    command
        What makes the same results again; see :func:`shoal.again.run_command`.
    """
    with writing(folder):
        figures: list[tuple[str, Drawn]] = []
        if len(entries) > 1:
            labelled = [(entry.label, entry.runs) for entry in entries]
            figures += [("", drawn) for drawn in comparison_figures(labelled)]
            write_text(folder / "order.json", json.dumps([entry.label for entry in entries]) + "\n")
        for entry in entries:
            figures += [(entry.label, drawn) for drawn in figures_of(entry.runs)]
        for label, drawn in figures:
            save(drawn, folder / "figures" / label if len(entries) > 1 and label else folder / "figures")
        for entry in entries:
            tables = [*run_tables(entry.runs), totals_table(entry.runs)]
            save_tables(tables, folder / FOLDER / entry.label if len(entries) > 1 else folder / FOLDER)
        if len(entries) > 1:
            save_tables([comparison_table([(entry.label, entry.runs) for entry in entries])], folder / FOLDER)
        write_text(folder / "report.html", html(entries, figures, command=command))


def html(entries: Sequence[Entry], figures: Sequence[tuple[str, Drawn]], *, command: str) -> str:
    """The report as one page without references to other files."""
    title = (
        entries[0].runs[0].data["scenario"]["title"]
        if len(entries) == 1
        else "Comparison of " + ", ".join(entry.label for entry in entries)
    )
    sections = [section(entry, [drawn for label, drawn in figures if label == entry.label]) for entry in entries]
    comparison = comparison_table([(entry.label, entry.runs) for entry in entries]) if len(entries) > 1 else None
    common = [figure_values(drawn) for label, drawn in figures if not label] if comparison else []
    return render(
        "run.html.j2",
        title=title,
        sections=sections,
        comparison=comparison,
        figures=common,
        command=command,
        card=card(_scenarios(entries), versions=[run.version for entry in entries for run in entry.runs]),
        version=_native.__version__,
        models=models_in([run for entry in entries for run in entry.runs]),
    )


#: Figures that show what the verdict says, before the numbers.
_first = ("throughput", "delay")


def section(entry: Entry, figures: Sequence[Drawn]) -> dict[str, Any]:
    """Everything that the page shows of one run."""
    first = entry.runs[0]
    return {
        "label": entry.label,
        "title": first.data["scenario"]["title"],
        "description": first.data["scenario"].get("description"),
        "verdict": verdict(entry.runs),
        "notices": [*(f"{line}." for line in Remarks.of_runs(entry.runs).lines), *left_out(entry.runs)],
        "window": first.window,
        "seeds": [run.seed for run in entry.runs],
        "totals": totals(entry.runs),
        "tables": run_tables(entry.runs),
        "first_figures": [figure_values(drawn) for drawn in figures if drawn.name in _first],
        "figures": [figure_values(drawn) for drawn in figures if drawn.name not in _first],
        "scenario": first.scenario.to_toml(),
        "version": first.version,
        "linux": _on_linux(first),
    }


def _scenarios(entries: Sequence[Entry]) -> list[tuple[str, Scenario]]:
    """The scenario of each entry, with its label if there are several."""
    return [(entry.label if len(entries) > 1 else "", entry.runs[0].scenario) for entry in entries]


def left_out(runs: Sequence[Result]) -> list[str]:
    """What the page of a run does not show, as sentences for the top of its section."""
    texts = []
    first = runs[0]
    if "flows" not in first.table_names:
        texts.append("No time series was recorded (trace.series), so there are no figures over time.")
    listed, every = (sum(n) for n in zip(*((len(g["flows"]), g["flow_count"]) for g in first.groups), strict=True))
    if listed < every:
        texts.append(f"Single flows are listed of {listed} of {every} flows (trace.flows); sums and means are of all.")
    return texts


def _on_linux(run: Result) -> dict[str, Any] | None:
    """The kernel that ran, and what it was told."""
    linux = run.data.get("linux")
    if linux is None:
        return None
    unknown = {"build": "unknown", "modules": "unknown", "generator": None}
    table = kernel_table([(part, text) for part, text in linux.get("rules", [])])
    shown = shown_table([(host, program, text) for host, program, text in linux.get("shown", [])])
    return {**unknown, **linux, "table": table, "shown_table": shown}


def figure_values(drawn: Drawn) -> dict[str, Any]:
    """What pages show of a figure; ``panels`` is what can be explored in it.

    Links of a figure are relative to the folder ``figures``, which is beside the page.
    """
    return {
        "name": drawn.name,
        "title": drawn.title,
        "note": drawn.note,
        "description": drawn.description,
        "svg": to_svg(drawn.figure).replace('xlink:href="../', 'xlink:href="'),
        "panels": panels(drawn.figure),
    }


def models_in(runs: Sequence[Result]) -> list[Model]:
    """The models that the runs used, in the order of the list."""
    return models_of(run.data["scenario"] for run in runs)


def models_of(scenarios: Iterable[Mapping[str, Any]]) -> list[Model]:
    """The models that resolved scenarios name, in the order of the list."""
    used: set[tuple[str, str]] = set()
    for scenario in scenarios:
        used |= {("controller", group["cc"]) for group in scenario["flows"]}
        used |= {("stack", group["stack"]) for group in scenario["flows"]}
        used |= {("application", _application(group["app"])) for group in scenario["flows"]}
        used |= {("queue", kind) for kind in _queue_kinds(scenario)}
    return [model for model in models() if (model.kind, model.name) in used]


# The key that only this form of `flows.app` has, and the name of the application.
_applications = {
    "transfer": "transfers",
    "request": "requests",
    "frame": "frames",
    "constant_rate": "constant-rate",
    "on": "on-off",
    "unresponsive": "unresponsive",
}


def _application(app: str | dict[str, Any]) -> str:
    if isinstance(app, str):
        return app
    return next(name for key, name in _applications.items() if key in app)


def _queue_kinds(value: object) -> set[str]:
    """Kinds of all queue laws in a scenario, wherever its topology puts them."""
    kinds: set[str] = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "access_aqm" and value.get("access_rate") == "unlimited":
                continue  # a pure delay has no queue
            if key.startswith("shared_buffer") and inner:
                kinds.add("shared-buffer")
            if key.endswith("aqm") and isinstance(inner, dict):
                kinds.add(str(inner.get("kind")))
            kinds |= _queue_kinds(inner)
    elif isinstance(value, list):
        for inner in value:
            kinds |= _queue_kinds(inner)
    return kinds


def _seeds(path: Path) -> list[int]:
    """The seeds of a summary."""
    try:
        seeds = [int(seed) for seed in json.loads(path.read_text(encoding="utf-8"))["seeds"]]
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="name a folder of results") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise OutputError(f"`{path}` is no summary of several runs of shoal", hint="was it edited?") from None
    refuse_repeated_seeds(seeds)
    return seeds


def _order(folder: Path) -> list[str]:
    try:
        return list(json.loads((folder / "order.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return []
