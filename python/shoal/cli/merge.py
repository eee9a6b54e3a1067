"""``shoal merge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from shoal.cli import options
from shoal.cli.declare import argument
from shoal.cli.out import keep_again, results_in, say_written
from shoal.cli.sweep_output import again, show, write

_Parts = Annotated[list[Path], argument("PART...", "Folders of `shoal sweep --shard I/N --out PART`, in any order.")]


def merge(
    parts: _Parts,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Put the parts of a sweep together that ran on machines which share nothing.

    What is printed and written is, byte for byte, that of one [cyan]shoal sweep[/] on one machine.

    [bold]Examples[/]

      shoal sweep sweep.toml --shard 1/2 --out part-1     # on one machine
      shoal sweep sweep.toml --shard 2/2 --out part-2     # on another
      shoal merge part-1 part-2 --out results/s
    """
    from shoal.runs.parts import copy_sources, read_parts

    rows = read_parts(parts)
    with results_in(out, force=force, figure_width=figure_width) as folder:
        if folder is not None and out is not None:
            write(rows, folder, out)
            copy_sources(parts[0], folder)
            keep_again(again(rows), folder)
    say_written(out)
    show(rows, as_json=as_json)
