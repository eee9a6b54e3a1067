"""The folder of results of a command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.console import talk
from shoal.errors import UsageError
from shoal.files import new_folder, write_text, writing

if TYPE_CHECKING:
    import polars as pl

    from shoal.again import Again
    from shoal.scenario import Scenario


@contextmanager
def results_in(out: Path | None, *, force: bool, figure_width: float | None = None) -> Iterator[Path | None]:
    """Where to write, if anything is to be written: ``out``, complete at the end or not there at all.

    Parameters
    ----------
    out
        The folder.
    force
        Whether an existing one is replaced.
    figure_width
        Inches of every figure that is drawn inside; two columns if not given.

    Raises
    ------
    UsageError
        A width is asked for, and no figure is written.
    """
    if out is None:
        if figure_width is not None:
            raise UsageError("--figure-width is about figures, and none is written", hint="add --out DIR")
        yield None
        return
    from shoal.plots.sizes import figures_of_width

    with new_folder(out, force=force) as folder, figures_of_width(figure_width):
        yield folder


def write_results(folder: Path, verb: str, text: str, scenario: Scenario, frames: Mapping[str, pl.DataFrame]) -> None:
    """Write what a sweep or a search has beside its report and its figure: tables, JSON, scenario, command."""
    for name, frame in frames.items():
        frame.write_csv(folder / f"{name}.csv")
        frame.write_parquet(folder / f"{name}.parquet")
    write_text(folder / f"{verb}.json", text)
    scenario.write_into(folder)
    keep_command(folder)


def keep_again(again: Again, folder: Path) -> None:
    """Write the command that makes the results again into their folder, as the last of its files.

    Raises
    ------
    OutputError
        A file cannot be read or written.
    """
    with writing(folder):
        again.keep(folder)


def say_written(out: Path | None) -> None:
    """Tell where the results are, if they are anywhere."""
    if out is not None:
        talk.note(f"wrote {out} (report: {out / 'report.html'})")


def this_command() -> str:
    """The command as it was given, for a shell."""
    return shlex.join(["shoal", *sys.argv[1:]])


def keep_command(folder: Path) -> None:
    """Write the command beside its results."""
    write_text(folder / "command.txt", this_command() + "\n")
