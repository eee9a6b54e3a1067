"""``shoal cache``."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cache import default_folder
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.runs import store as stores

app = typer.Typer(
    name="cache",
    invoke_without_command=True,
    no_args_is_help=False,
    add_completion=False,
)


@app.callback()
def show(context: typer.Context) -> None:
    """Say where finished runs are kept, how many, and how much room they take; clear them.

    Sweeps, searches and comparisons keep every finished run, so that they go on where they were. Runs lie in
    [cyan]$SHOAL_CACHE_DIR[/], or else in [cyan]shoal[/] in [cyan]$XDG_CACHE_HOME[/] or [cyan]~/.cache[/].
    Nothing removes them but [cyan]shoal cache clear[/]; whatever is removed is computed again when it is needed.
    Kernels for [cyan]--on linux[/] lie there, too, and are removed by [cyan]shoal linux clean[/].

    [bold]Examples[/]

      shoal cache
      shoal cache clear --older-than 30
    """
    if context.invoked_subcommand is not None:
        return
    folder = default_folder()
    held = stores.contents(folder)
    pairs = [("Folder", str(folder)), ("Finished runs", f"{held.runs:,}"), ("Size", megabytes(held.bytes))]
    if held.older_bytes:
        pairs.append(("Left by older versions", f"{megabytes(held.older_bytes)}, which `shoal cache clear` removes"))
    data.pairs(pairs)


@app.command("clear")
def clear(
    older_than: Annotated[float, option("--older-than", "DAYS", "Only what was kept longer ago.", min=0.0)] = 0.0,
) -> None:
    """Remove finished runs from the cache.

    [bold]Examples[/]

      shoal cache clear
      shoal cache clear --older-than 30
    """
    folder = default_folder()
    removed = stores.clear(folder, older_than_days=older_than)
    talk.note(f"removed {removed.runs:,} finished runs ({megabytes(removed.bytes)}) from {folder}")
    if removed.older_bytes:
        talk.note(f"removed what older versions had left there ({megabytes(removed.older_bytes)})")


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:,.1f} MB"
