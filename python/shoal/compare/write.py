"""A comparison as files: JSON, tables, figures, a page; and the page of the documentation."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import date
from pathlib import Path

from shoal import _native
from shoal.again import beside
from shoal.cite import card
from shoal.compare.comparison import Comparison
from shoal.compare.figures import figures
from shoal.compare.method import method
from shoal.compare.tables import details, head, margins, overview, verdicts
from shoal.files import write_text, writing
from shoal.plots import save
from shoal.report.build import figure_values
from shoal.report.page import render
from shoal.table_formats import FOLDER, markdown, save_tables
from shoal.words import count_of


def write_into(comparison: Comparison, folder: Path, *, command: str, out: Path) -> None:
    """Write ``comparison.json``, ``comparison.html``, scenarios, and figures of every one into an existing folder.

    Parameters
    ----------
    comparison
        What is written.
    folder
        Where.
    command
        What the user wrote.
    out
        Where the folder will be when it is complete, for the command that makes the same once more.
    """
    with writing(folder):
        sections = []
        for compared in comparison:
            drawn = figures(compared)
            save(drawn, folder / "figures" / compared.name if len(comparison) > 1 else folder / "figures")
            tables = [replace(table, title=table.columns[0]) for table in details(compared)]
            save_tables(tables, folder / FOLDER / compared.name if len(comparison) > 1 else folder / FOLDER)
            sections.append(
                {
                    "name": compared.name,
                    "title": compared.scenario.title,
                    "description": compared.scenario.resolved.get("description"),
                    "notes": compared.notes,
                    "tables": details(compared),
                    "figures": [figure_values(each) for each in drawn],
                    "scenario": compared.scenario.to_toml(),
                }
            )
        differences = [comparison.drawn] if len(comparison) > 1 else []
        for each in differences:
            save(each, folder / "figures")
        page = render(
            "compare.html.j2",
            title="Simulator and Linux: " + (comparison[0].scenario.title if len(comparison) == 1 else "comparison"),
            comparison=comparison,
            method=method(comparison),
            head=head(comparison),
            verdicts=verdicts(comparison),
            overview=overview(comparison),
            margins=margins(comparison.kinds),
            differences=[figure_values(each) for each in differences],
            sections=sections,
            command=_again(comparison, out),
            card=card((compared.name, compared.scenario) for compared in comparison),
            version=_native.__version__,
        )
        if len(comparison) > 1:
            save_tables([overview(comparison), verdicts(comparison), head(comparison)], folder / FOLDER)
        write_text(folder / "comparison.html", page)
        write_text(folder / "comparison.json", comparison.json)
        _keep_scenarios(comparison, folder)
        write_text(folder / "command.txt", command + "\n")


def page(comparison: Comparison, *, command: str, today: date, version: str) -> str:
    """The page of the documentation: date, versions, head, verdicts, numbers, margins."""
    kernel = comparison.kernel
    paragraphs = "\n\n".join(method(comparison))
    return f"""<!-- Written by `{command}`; do not edit. -->

# Simulator and Linux

{today.isoformat()}. shoal {version} against Linux {kernel["release"]} in {kernel["mode"]} mode;
{count_of(len(comparison), "scenario")}, {count_of(len(comparison.seeds), "seed")} each.

## How far apart

Sizes of the relative differences of means over the scenarios that have the quantity. What Linux has almost none of is
related to the absolute part of its margin.

{markdown(head(comparison))}
## What differs

{paragraphs}

The last column names the quantity with the largest difference of each family, simulator / Linux.

{markdown(verdicts(comparison))}
## Numbers

Means, simulator / Linux; times in ms, queues in packets.

{markdown(overview(comparison))}
## Margins

{markdown(margins(comparison.kinds))}"""


def _again(comparison: Comparison, out: Path) -> str:
    """``shoal compare`` of the resolved scenarios that :func:`_keep_scenarios` wrote, into a new folder."""
    scenarios = [str(_scenario(out, compared.name)) for compared in comparison]
    return shlex.join(["shoal", "compare", *scenarios, "--seeds", str(len(comparison.seeds)), "--out", beside(out)])


def _keep_scenarios(comparison: Comparison, folder: Path) -> None:
    """Write the resolved scenarios of a comparison into its folder of results."""
    for compared in comparison:
        path = _scenario(folder, compared.name)
        path.parent.mkdir(exist_ok=True)
        write_text(path, compared.scenario.to_toml())


def _scenario(folder: Path, name: str) -> Path:
    return folder / "scenarios" / f"{name}.toml"
