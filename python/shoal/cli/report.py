"""``shoal report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from shoal.cli import options
from shoal.cli.console import talk
from shoal.cli.declare import argument, option
from shoal.cli.out import keep_command
from shoal.errors import OutputError

if TYPE_CHECKING:
    from shoal.report import Entry


def report(
    folders: Annotated[
        list[Path],
        argument("DIR...", "Folders that `shoal run --out` wrote; several are compared."),
    ],
    out: Annotated[
        Path | None, option("--out", "DIR", "Where the report goes. Default: into the one folder named.")
    ] = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
) -> None:
    """Make report and figures again from saved data; nothing is run.

    [bold]Examples[/]

      shoal report results/my
      shoal report results/one results/two --out results/compared
      shoal report results/my --figure-width 3.5in
    """
    from shoal.files import new_folder, reserved
    from shoal.plots.sizes import figures_of_width
    from shoal.report import load_entries, write_report

    entries = [entry for folder in folders for entry in load_entries(folder)]
    if out is None:
        if len(folders) > 1:
            raise OutputError("several folders need a place for their report", hint="add --out DIR")
        # Made from what is there, so replacing it loses nothing.
        target = folders[0]
        with reserved(target), figures_of_width(figure_width):
            write_report(entries, target, command=_command(entries, target))
        talk.note(f"wrote {target / 'report.html'}")
        return
    with new_folder(out, force=force) as folder, figures_of_width(figure_width):
        keep_command(folder)
        write_report(entries, folder, command=_command(entries, out))
    talk.note(f"wrote {out / 'report.html'}")


def _command(entries: Sequence[Entry], out: Path) -> str:
    """What makes the results again: of a kernel, too, that a known generator drove."""
    from shoal.again import run_command

    several = not all((entry.folder or out).joinpath("scenario.toml").exists() for entry in entries)
    linux = entries[0].runs[0].data.get("linux")
    driven = linux is not None and linux.get("generator")
    return run_command(entries, out, several_seeds=several, generator="iperf3" if driven else None).shown(out)
