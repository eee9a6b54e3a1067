"""The verdicts of a reproduction in the paper's folder: RESULTS.csv (the data) and RESULTS.md (for readers)."""

from __future__ import annotations

import csv
import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shoal_dev import tables

if TYPE_CHECKING:
    from shoal.papers.spec import Paper

Rows = list[dict[str, str]]

table = partial(tables.table, spaced=True)
sign = {"inside": "✓", "outside": "✗", "no value": "?", "shown": "="}


def keep(results: Path, paper: Path) -> None:
    """Copy the verdicts of a reproduction, with the date, version and command in a comment."""
    import shoal

    verdicts = results / "verdicts.csv"
    made = made_on(verdicts)
    command = (results / "command.txt").read_text(encoding="utf-8").strip()
    head = f"# {made}, shoal {shoal.__version__}, {command}\n"
    (paper / "RESULTS.csv").write_text(head + verdicts.read_text(encoding="utf-8"), encoding="utf-8")


def made_on(file: Path) -> datetime.date:
    """When a file was written."""
    return datetime.datetime.fromtimestamp(file.stat().st_mtime, tz=datetime.UTC).date()


def page(paper: Path) -> str:
    """The text of RESULTS.md."""
    from shoal.papers import read_paper
    from shoal.papers.settings import changed_settings, settings_table
    from shoal.papers.spec import Role
    from shoal.papers.tally import tally

    read = read_paper(paper)
    head, *lines = (paper / "RESULTS.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    readings = [read.chosen, *(r.name for r in read.readings if r.name != read.chosen)]
    made, version, command = head.removeprefix("# ").split(", ", 2)
    checks = [row for row in rows if row["reading"] == read.chosen]
    claims = [row for row in checks if row["role"] == Role.CLAIM]
    columns = ("claim", "item", "what", "published", "measured", "tolerance", "verdict")
    titles = ("Claim", "Item", "What", "Published", "Measured", "Tolerance", "Verdict")
    parts = [
        f"# Results: {read.title}",
        f"{made}, {version}: `{command}`. Written by `tools/shoal-dev generate`; the data is RESULTS.csv.",
        f"Reading: `{read.chosen}`. {tally(checks).headline} ± after a measured value is the 95 % confidence "
        "interval over the seeds.",
        "## Claims by reading",
        "Cells inside their tolerance, of all cells of the claim.",
        _summary(rows, readings),
        *_units(paper),
        "## All checks of claims",
        *_why(read),
        table(
            (*titles, *read.beside),
            ([row[k] for k in columns] + _beside(row, checks, rows, read.beside) for row in claims),
        ),
    ]
    names = {
        Role.READING: ("Other readings", "Claims once more, under settings other than the paper's reading."),
        Role.REPETITION: ("Repetitions", "Claims once more, in another item."),
        Role.OWN: (
            "Checks of our own",
            "Not statements of the paper: mechanisms behind differences, bounds of our own.",
        ),
        Role.DERIVATION: ("Derivations", "They follow from the paper's own numbers: shown, never judged."),
    }
    for role, (title, text) in names.items():
        if chosen := [row for row in checks if row["role"] == role]:
            parts += [f"## {title}", text, table(titles, ([row[k] for k in columns] for row in chosen))]
    outside = [row for row in checks if row["verdict"] in ("outside", "no value")]
    if outside:
        reasons = [
            f"- {r['claim']}, {r['what']} ({r['measured']}): {r['reason'] or 'no reason given'}" for r in outside
        ]
        parts += ["## Why not inside", "\n".join(reasons)]
    settings = settings_table(changed_settings(read, [read.item(name) for name in read.items]))
    if settings is not None:
        parts += [
            "## What items set otherwise",
            f"Against the paper's reading, which is that of `{read.base}`; made from the items' files. What an item "
            "varies or compares is not listed.",
            table(settings.columns, settings.rows),
        ]
    return "\n\n".join(parts) + "\n"


def _summary(rows: Rows, readings: list[str]) -> str:
    """How many cells of each claim are inside, under each reading."""
    from shoal.papers.tally import tally

    by_reading = {name: tally(row for row in rows if row["reading"] == name).claims for name in readings}
    claims = sorted({claim for scores in by_reading.values() for claim in scores}, key=_order)
    body = []
    for claim in claims:
        scores = [by_reading[name].get(claim) for name in readings]
        body.append([claim, *(f"{sign['inside' if s.met else 'outside']} {s}" if s else "" for s in scores)])
    return table(("Claim", *readings), body)


def _why(paper: Paper) -> list[str]:
    """Which readings stand beside each other check by check, and why, if there are such."""
    if not paper.beside:
        return []
    lines = [
        f"- `{reading.name}`: {reading.title}. {' '.join(reading.why.split())}".strip()
        for reading in (paper.reading(name) for name in (paper.chosen, *paper.beside))
    ]
    return [
        "Measured and verdict are those of the first reading; the last columns are other readings.",
        "\n".join(lines),
    ]


def _beside(row: dict[str, str], checks: Rows, rows: Rows, readings: list[str]) -> list[str]:
    """Verdicts of other readings on a check: the same line of the item, which `together` may fill with another cell."""
    number = [id(other) for other in checks if other["item"] == row["item"]].index(id(row))
    cells = []
    for reading in readings:
        there = [other for other in rows if other["reading"] == reading and other["item"] == row["item"]]
        cells.append(f"{there[number]['measured']} {sign[there[number]['verdict']]}" if there else "")
    return cells


def _order(claim: str) -> tuple[str, int]:
    digits = "".join(c for c in claim if c.isdigit())
    return claim.rstrip("0123456789"), int(digits or 0)


def _units(paper: Path) -> list[str]:
    """Claims about single mechanisms, which Rust tests settle exactly."""
    file = paper / "data" / "unit-claims.csv"
    if not file.exists():
        return []
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    body = [
        (row["claim"], row["what"], row["tolerance"], f"`{row['test']}` in {row['file']}", row["note"]) for row in rows
    ]
    return [
        "## Claims about one mechanism",
        "Verdicts are those of `cargo test`.",
        table(("Claim", "What", "Tolerance", "Test", "Note"), body),
    ]
