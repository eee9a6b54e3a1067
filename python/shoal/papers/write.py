"""A reproduction on disk: report, figures, tables, verdicts, and the compared runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal import _native
from shoal.cite import card
from shoal.files import write_text, writing
from shoal.papers.reproduce import (
    Outcome,
    Reproduction,
    compared,
    shown_tables,
    tallies_with_hosts,
    tally_of,
    verdict_frame,
    verdict_table,
)
from shoal.papers.settings import changed_settings, settings_table
from shoal.papers.spec import Paper, Reading
from shoal.plots import Drawn, save
from shoal.report.build import Entry, figure_values, models_in, section
from shoal.report.figures import comparison_figures, figures_of
from shoal.report.page import render
from shoal.scenario import Scenario
from shoal.table_formats import FOLDER, save_tables


def write(paper: Paper, reproductions: Sequence[Reproduction], folder: Path, *, command: str) -> None:
    """Write everything into an existing folder."""
    with writing(folder):
        items = [_item(reproduction, folder) for reproduction in reproductions]
        verdicts = pl.concat([verdict_frame(reproduction) for reproduction in reproductions])
        verdicts.write_csv(folder / "verdicts.csv")
        write_text(folder / "command.txt", command + "\n")
        runs = [run for r in reproductions for o in r.outcomes for results in o.kept.values() for run in results]
        page = render(
            "paper.html.j2",
            title=paper.title,
            paper=paper,
            chosen=paper.reading(paper.chosen),
            on_linux=[reading for reading in _readings(reproductions) if reading.like and not reading.host],
            with_hosts=[reading for reading in _readings(reproductions) if reading.host],
            headlines={name: tally.headline for name, tally in tallies_with_hosts(reproductions).items()},
            items=items,
            headline=tally_of(reproductions).headline,
            settings=settings_table(changed_settings(paper, [r.item for r in reproductions], in_part=True)),
            command=command,
            card=card(_scenarios(reproductions)),
            version=_native.__version__,
            models=models_in(runs) if runs else [],
        )
        write_text(folder / "report.html", page)


def _readings(reproductions: Sequence[Reproduction]) -> list[Reading]:
    """All readings that ran, each once."""
    return list({o.reading.name: o.reading for r in reproductions for o in r.outcomes}.values())


def _scenarios(reproductions: Sequence[Reproduction]) -> Iterator[tuple[str, Scenario]]:
    """The scenario that each sweep and search of the items starts from, before readings and axes change it."""
    for reproduction in reproductions:
        item = reproduction.item
        for what in (*item.sweeps.values(), *item.searches.values()):
            yield f"of {item.name}", what.scenario


def _item(reproduction: Reproduction, folder: Path) -> dict[str, Any]:
    item = reproduction.item
    item_folder = folder / item.name
    item_folder.mkdir()
    for outcome in reproduction.outcomes:
        _save_tables(outcome, item_folder / "tables" / outcome.reading.name)
        save(outcome.figures, item_folder / "figures" / outcome.reading.name)
    side_by_side, verdicts, shown = compared(reproduction), verdict_table(reproduction), shown_tables(reproduction)
    titled = [
        replace(table, title=title)
        for table, title in ((side_by_side, "Comparison"), (verdicts, "Verdicts"))
        if table is not None
    ]
    save_tables([*titled, *shown], item_folder / FOLDER)
    entries = [Entry(item.sweeps[name].title, list(reproduction.chosen.kept[name])) for name in item.compare]
    comparison = [figure_values(drawn) for drawn in _comparison(entries, item_folder)]
    sections = []
    for name, entry in zip(item.compare, entries, strict=True):
        run_folder = item_folder / "runs" / name
        run_folder.mkdir(parents=True)
        for run in entry.runs:
            target = run_folder if len(entry.runs) == 1 else run_folder / f"seed-{run.seed}"
            target.mkdir(exist_ok=True)
            run.write_into(target)
        figures = figures_of(entry.runs)
        save(figures, run_folder / "figures")
        sections.append(section(entry, figures))
    return {
        "name": item.name,
        "title": item.title,
        "text": item.text,
        "runs": reproduction.runs,
        "notes": reproduction.notes,
        "comparison": side_by_side,
        "comparison_figures": comparison,
        "verdicts": verdicts,
        "tables": shown,
        "figures": [
            [
                (outcome.reading, figure_values(drawn))
                for outcome in reproduction.outcomes
                for drawn in outcome.figures
                if drawn.name == spec.name
            ]
            for spec in item.figures
        ],
        "sections": sections,
    }


def _comparison(entries: Sequence[Entry], folder: Path) -> list[Drawn]:
    if len(entries) < 2:
        return []
    drawn = comparison_figures([(entry.label, entry.runs) for entry in entries])
    save(drawn, folder / "figures")
    return drawn


def _save_tables(outcome: Outcome, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, grid in outcome.tables.items():
        frame = grid.to_polars()
        if frame.width:
            frame.write_csv(folder / f"{name}.csv")
            frame.write_parquet(folder / f"{name}.parquet")
