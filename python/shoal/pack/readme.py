"""The README of an archive, in the parts that committees for artifact evaluation ask for."""

from __future__ import annotations

import csv
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.cite import Card
from shoal.errors import OutputError
from shoal.pack.folder import PackedResults
from shoal.pack.manifest import FILE, RESULTS, Manifest
from shoal.papers import read_paper
from shoal.results import Result, Results
from shoal.shipped import papers
from shoal.words import count_of

# What people are told to expect, in minutes: rounded up, as machines differ.
_steps_min = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)


def readme(
    manifest: Manifest, packed: Sequence[PackedResults], *, wheel: Path | None = None, seconds: float | None = None
) -> str:
    """The text, in Markdown.

    Parameters
    ----------
    manifest
        The build and the results.
    packed
        The folders of results.
    wheel
        The wheel of shoal in the archive.
    seconds
        How long making everything again took; ``None`` if nobody knows.

    Raises
    ------
    OutputError
        The data of a folder are not what shoal writes.
    """
    try:
        sections = [_section(results) for results in packed]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise OutputError(f"a file of data is damaged: {error!r}", hint="make the results again") from None
    size_mb = sum((results.folder / name).stat().st_size for results in packed for name in results.files) / 1e6
    # Plain text: what users wrote is escaped for Markdown by _plain.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("shoal.pack", ""), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return (
        environment.get_template("readme.md.j2").render(
            manifest=manifest,
            build=f"shoal {manifest.version}" + (f" (commit {manifest.commit})" if manifest.commit else ""),
            count=count_of(len(packed), "folder"),
            contents=list(_contents(manifest, packed, wheel)),
            size_mb=max(1, round(size_mb)),
            wheel=wheel,
            time=_time(seconds),
            sections=sections,
            left_out=[
                (_code(f"{results.name}/{name}"), _plain(why))
                for results in packed
                for name, why in results.left_out.items()
            ],
            bibtex=Card(manifest.version, manifest.commit, ()).bibtex,
        )
        + "\n"
    )


def _contents(manifest: Manifest, packed: Sequence[PackedResults], wheel: Path | None) -> Iterator[tuple[str, str]]:
    yield "`rerun`", "makes everything again and compares; installs shoal beside itself if it is not there"
    yield f"`{FILE}`", "for programs: the build, the packages, and each file with its SHA-256"
    yield "`requirements.txt`", "the exact packages, for pip"
    if wheel is not None:
        yield f"`{wheel.name}`", "the program itself, for pip"
    yield "`CITATION.cff`, `LICENSE-*`", "how to cite shoal, and its licences"
    for results, entry in zip(packed, manifest.results, strict=True):
        yield _code(f"{RESULTS}/{entry.name}/"), f"{_kinds[entry.command[0]]}, {count_of(len(results.files), 'file')}"


_kinds = {
    "run": "runs of scenarios, with the scenarios (`scenario.toml`)",
    "sweep": "a sweep, with its plan (`plan.json`)",
    "tune": "a search, with its scenario (`source.toml`)",
    "reproduce": "a published experiment, whose scenarios are part of shoal",
}


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "nobody has measured it; `./rerun` says how long each folder took."
    minutes = next((step for step in _steps_min if seconds <= 60 * step), None)
    if minutes is None:
        return f"about {round(seconds / 3600)} hours on the machine that packed it."
    return f"at most {count_of(minutes, 'minute')} on the machine that packed it, which made everything again first."


def _section(results: PackedResults) -> dict[str, Any]:
    """What the README says of a folder."""
    inside = shlex.quote(f"{RESULTS}/{results.name}")
    return {
        "name": _plain(results.name),
        "command": f"cd {inside} && shoal {shlex.join(results.record.command)} --out ../../new",
        "commit": results.record.commit if results.is_of_another_build else None,
        "rows": list(_claims(results)),
    }


def _claims(results: PackedResults) -> Iterator[tuple[str, ...]]:
    """What the results show: a row for each claim, with the file that has the numbers."""
    match results.record.command[0]:
        case "run":
            yield from _runs(results)
        case "sweep":
            yield _row(
                _title(results), f"{count_of(_rows_in(results.folder / 'points.csv'), 'point')}", results, "points.csv"
            )
        case "tune":
            search = _json(results.folder / "tune.json")
            measured = search.get("verdict") or search.get("answer") or "no value satisfies the condition"
            yield _row(_title(results), str(measured), results, "tune.json")
        case _:
            yield from _verdicts(results)


def _runs(results: PackedResults) -> Iterator[tuple[str, ...]]:
    """A row for each scenario, whose seeds have a folder each."""
    seeds: dict[str, list[str]] = {}
    for name in results.record.sha256:
        if Path(name).name == "result.json":
            seeds.setdefault(re.sub(r"(^|/)seed-[0-9]+/result\.json$", r"\1results.json", name), []).append(name)
    for file, names in seeds.items():
        runs = Results([Result.load((results.folder / name).parent) for name in names])
        measured = f"{count_of(len(names), 'run')}. {runs.verdict}".strip()
        yield _row(runs[0].data["scenario"]["title"], measured, results, file)


def _verdicts(results: PackedResults) -> Iterator[tuple[str, ...]]:
    """A row for each check of a paper under its chosen reading."""
    name = results.record.command[1].partition("/")[0]
    chosen = next((read_paper(entry.path).chosen for entry in papers() if entry.name == name), "")
    with (results.folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["reading"] == chosen:
                claim = f"{row['item']} {row['claim']}: {row['what']}"
                cells = (row["published"] or row["tolerance"], row["measured"], row["verdict"])
                yield (_plain(claim), *map(_plain, cells), _code(f"{RESULTS}/{results.name}/verdicts.csv"))


def _row(claim: str, measured: str, results: PackedResults, file: str) -> tuple[str, ...]:
    return _plain(claim), "-", _plain(measured), "-", _code(f"{RESULTS}/{results.name}/{file}")


def _title(results: PackedResults) -> str:
    return str(tomllib.loads((results.folder / "scenario.toml").read_text(encoding="utf-8"))["title"])


def _rows_in(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _plain(text: str) -> str:
    """A text of a user in Markdown, where no letter means anything."""
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """A name of a file in Markdown; in tables a bar ends a cell even there."""
    return f"`{text.replace('`', '?').replace('|', '?')}`"
