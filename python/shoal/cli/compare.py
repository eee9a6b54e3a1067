"""``shoal compare``."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal import _native
from shoal.cli import options
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.on_linux import find_linux
from shoal.cli.out import results_in, this_command
from shoal.errors import UsageError
from shoal.files import make_parent, reserved_file, unwritable, write_text
from shoal.scenario import Scenario
from shoal.shipped import comparison_suite, find_scenario

if TYPE_CHECKING:
    from shoal.compare import Comparison

_targets_missed = 5


_Scenarios = Annotated[
    list[Path] | None, argument("[SCENARIO]...", "Scenario files, or names.", autocompletion=scenario_names)
]
_Suite = Annotated[bool, typer.Option("--suite", help="The scenarios of the comparison suite.")]
_Seeds = Annotated[
    int,
    typer.Option(
        "--seeds",
        min=2,
        metavar="N",
        help="Runs on each plane, with the same seeds. A run on Linux of 60 seconds at 40 Mbit/s takes about 4 "
        "seconds of a processor: 20 of them a minute and a half, those of the suite an hour and a half.",
    ),
]
_Page = Annotated[Path | None, option("--page", "FILE", "Write the overview with date and versions in Markdown.")]


def compare(
    scenarios: _Scenarios = None,
    suite: _Suite = False,
    set_: options.Set = None,
    sizes: options.Sizes = None,
    python: options.Python = None,
    seeds: _Seeds = 20,
    out: options.Out = None,
    page: _Page = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    fresh: options.Fresh = False,
    wall_limit: options.WallLimit = None,
    stall_limit: options.StallLimit = None,
) -> None:
    """Run scenarios on the simulator and on the real Linux kernel, and say what differs.

    Differences are taken seed by seed. Each is called different if it is shown to be beyond its margin, same if it is
    shown to be within, else not decided, with the number of seeds that would decide it; all with a correction over all
    numbers of all scenarios. What no seed changes is compared exactly. Finished runs are kept: an interrupted
    comparison goes on where it was, and with more seeds only the new ones run. Needs the kernel of `shoal linux build`.

    [bold]Examples[/]

      shoal compare step-single
      shoal compare my.toml --set bottleneck.rate='100 Mbit/s' --seeds 10 --out results/compared
      shoal compare --suite --out results/suite --page docs/records/validation/linux.md
    """
    chosen = _chosen(scenarios or [], suite)
    named = _named(chosen, set_, sizes)
    command = this_command()
    with _page_in(page, force=force), results_in(out, force=force, figure_width=figure_width) as folder:
        from shoal.compare import compare as run_comparison
        from shoal.compare.write import write_into

        comparison = run_comparison(
            named,
            seeds=seeds,
            image=find_linux(wall_limit_s=wall_limit, stall_limit_s=stall_limit),
            workers=workers,
            cache=options.kept_runs(fresh=fresh),
            progress=True,
        )
        if folder is not None and out is not None:
            write_into(comparison, folder, command=command, out=out)
        if page is not None:
            _write_page(comparison, page, command)
    if out is not None:
        talk.note(f"wrote {out} (comparison.html, comparison.json, figures)")
    if page is not None:
        talk.note(f"wrote {page}")
    _say_notes(comparison)
    if as_json:
        data.json(comparison.json)
    else:
        _show(comparison)
    if suite and comparison.missed:
        talk.error(f"the median difference of {', '.join(comparison.missed)} is above its target")
        raise typer.Exit(_targets_missed)


def _say_notes(comparison: Comparison) -> None:
    """Say each note once, with the scenarios that it is about."""
    notes: dict[str, list[str]] = {}
    for compared in comparison:
        for note in compared.notes:
            notes.setdefault(note, []).append(compared.name)
    for note, names in notes.items():
        talk.note(f"note: {note}" + (f" ({', '.join(names)})" if len(comparison) > 1 else ""))


def _show(comparison: Comparison) -> None:
    from shoal.compare.tables import details, head, overview, verdicts

    if len(comparison) == 1:
        data.heading(f"{comparison[0].name}: {comparison[0].scenario.title}")
        tables = details(comparison[0])
    else:
        tables = [overview(comparison), verdicts(comparison), head(comparison)]
    for number, table in enumerate(tables):
        if number:
            data.blank()
        data.table(table)


def _chosen(paths: list[Path], suite: bool) -> list[Path]:
    if suite and paths:
        raise UsageError("--suite excludes scenarios", hint="name scenarios, or write --suite alone")
    if suite:
        return comparison_suite()
    if not paths:
        raise UsageError(
            "there is nothing to compare", hint="name a scenario, as in `shoal compare step-single`, or write --suite"
        )
    return paths


def _named(paths: list[Path], settings: list[str] | None, sizes: list[str] | None) -> list[tuple[str, Scenario]]:
    named: dict[str, Scenario] = {}
    for path in paths:
        name = find_scenario(path).stem
        if name in named:
            raise UsageError(
                f"two scenarios are called `{name}`", hint="figures lie in folders of that name: rename one"
            )
        named[name] = options.read_scenario(path, settings, sizes=sizes)
    return list(named.items())


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).startswith(b"<!-- Written by `shoal compare")


def _page_in(page: Path | None, *, force: bool) -> AbstractContextManager[None]:
    """The file for the page, kept for this command."""
    if page is None:
        return nullcontext()
    make_parent(page, option="--page")
    return reserved_file(page, _is_page, what="page of `shoal compare`", option="--page", force=force)


def _write_page(comparison: Comparison, path: Path, command: str) -> None:
    from shoal.compare.write import page

    text = page(comparison, command=command, today=datetime.now(UTC).date(), version=_native.__version__)
    try:
        write_text(path, text)
    except OSError as error:
        raise unwritable(path, error, option="--page") from error
