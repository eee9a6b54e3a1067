"""``shoal plot``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.completion import figure_kinds
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.errors import OutputError, UsageError
from shoal.files import make_parent, reserved_file, unwritable, write_bytes
from shoal.models import nearest
from shoal.results import Result
from shoal.table import Table

if TYPE_CHECKING:
    from shoal.plots import Drawn

_Labelled = Sequence[tuple[str, Sequence[Result]]]

_Result = Annotated[
    Path,
    argument(
        "RESULT",
        "A folder that `shoal run --out` wrote, or a file of `shoal run --json`, which has no figures over time.",
    ),
]
_Kind = Annotated[
    str | None,
    option("--kind", "KIND", "What is drawn; the kinds are listed without it.", autocompletion=figure_kinds),
]
_Out = Annotated[
    Path | None,
    option("--out", "FILE", "The file, which ends in .pdf, .png or .svg. Default: KIND.pdf in this folder."),
]
_Force = Annotated[bool, typer.Option("--force", help="Replace an existing figure.")]


def plot(
    result: _Result,
    kind: _Kind = None,
    figure_width: options.FigureWidth = None,
    out: _Out = None,
    force: _Force = False,
) -> None:
    """Draw a single figure of saved results for a paper; without a kind, list the kinds.

    Nothing is run. PDF has TrueType fonts, SVG has its letters as text, PNG has 300 dots an inch. Several scenarios in
    one folder are laid side by side where there is such a figure.

    [bold]Examples[/]

      shoal plot results/my
      shoal plot results/my --kind queue --figure-width 3.5in --out queue.pdf
      shoal plot results/compared --kind throughput --out rates.svg
    """
    from shoal.plots.formats import format_of, written
    from shoal.plots.sizes import figures_of_width

    labelled = _runs(result)
    if kind is None:
        if out is not None or figure_width is not None:
            raise UsageError("it is not said which figure", hint="add --kind; `shoal plot RESULT` lists the kinds")
        _list(labelled)
        return
    file = Path(f"{kind}.pdf") if out is None else out
    _check(kind)
    form = format_of(file, option="--out")
    make_parent(file, option="--out")
    with reserved_file(file, _is_figure, what="figure", option="--out", force=force):
        with figures_of_width(figure_width):
            content = written(_draw(labelled, kind).figure, form)
        try:
            write_bytes(file, content)
        except OSError as error:
            raise unwritable(file, error, option="--out") from error
    talk.note(f"wrote {file}")


def _check(kind: str) -> None:
    from shoal.plots.kinds import kinds

    if kind not in kinds:
        raise UsageError(f"there is no figure `{kind}`", hint=nearest(kind, list(kinds)))


def _list(labelled: _Labelled) -> None:
    """The kinds, and what is missing for those that cannot be drawn."""
    from shoal.plots.kinds import kinds

    rows = [(name, kind.title, _lacks(labelled, name) or "") for name, kind in kinds.items()]
    data.table(Table("Figures", ("Kind", "What it shows", "What is missing"), rows, words=3))


def _lacks(labelled: _Labelled, name: str) -> str | None:
    """Why there is no such figure of these results, if there is none."""
    from shoal.plots.kinds import kinds

    kind = kinds[name]
    if len(labelled) > 1 and kind.compare is None:
        return "it is of one scenario"
    return next((lack for _, runs in labelled if (lack := kind.lacks(runs[0])) is not None), None)


def _draw(labelled: _Labelled, name: str) -> Drawn:
    from shoal.plots.kinds import kinds

    kind = kinds[name]
    if (lack := _lacks(labelled, name)) is not None:
        names = ", ".join(label for label, _ in labelled)
        several = f"these are several scenarios: name the folder of one of them ({names})"
        hint = several if len(labelled) > 1 else "`shoal plot RESULT` lists the figures that there are; see --trace"
        raise UsageError(f"there is no figure `{name}` of these results: {lack}", hint=hint)
    if len(labelled) > 1 and kind.compare is not None:
        return kind.compare(labelled)
    return kind.draw(labelled[0][1])


def _runs(path: Path) -> _Labelled:
    """The runs in a folder or a file, each scenario with its label."""
    from shoal.report import load_entries

    if not path.is_file():
        return [(entry.label, entry.runs) for entry in load_entries(path)]
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    inner = content.get("runs") if isinstance(content, dict) else None
    if isinstance(inner, dict) and inner:
        return [(str(label), _of_json(part, path)) for label, part in inner.items()]
    if isinstance(inner, list) and inner:
        return [(path.stem, _of_json(content, path))]
    run = Result.load(path)
    _refuse_damage(run, path)
    return [(path.stem, [run])]


def _of_json(content: Any, path: Path) -> list[Result]:
    """The runs of one scenario: of one seed, or of several."""
    several = isinstance(content, dict) and isinstance(content.get("runs"), list)
    runs = [Result(json.dumps(part)) for part in (content["runs"] if several else [content])]
    for run in runs:
        _refuse_damage(run, path)
    return runs


def _refuse_damage(run: Result, path: Path) -> None:
    if (error := run._damage()) is not None:
        raise OutputError(f"`{path}`: {error}", hint="name a folder or a file that `shoal run` wrote")


def _is_figure(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8).startswith((b"%PDF-", b"\x89PNG", b"<?xml"))
