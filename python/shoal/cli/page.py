"""``shoal page``."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import data, talk
from shoal.errors import OutputError
from shoal.files import make_parent, reserved_file, unwritable, write_text

_page = Path(__file__).parents[1] / "_data" / "page" / "shoal.html"
#: How the page begins.
_mark = b"<!doctype html>\n<!-- Page of shoal"


def page(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write a copy of the page instead of opening it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older copy.")] = False,
) -> None:
    """Open the page with the simulator: two bottlenecks with the same traffic, live.

    The page is one file that needs no server and no network. It can be sent to anyone, or put on any web server.

    [bold]Examples[/]

      shoal page
      shoal page --out shoal.html
    """
    if not _page.is_file():
        raise OutputError("this checkout has no page yet", hint="`make page` builds it (needs node and npm)")
    if out is None:
        data.text(f"{_page.as_uri()}\n")
        if not webbrowser.open(_page.as_uri()):
            talk.note("no browser was found: open this address in one, or write a copy with --out shoal.html")
        return
    make_parent(out)
    with reserved_file(out, _is_page, what="page of shoal", option="--out", force=force):
        try:
            write_text(out, _page.read_text(encoding="utf-8"))
        except OSError as error:
            raise unwritable(out, error) from error
    talk.note(f"wrote {out}")


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_mark)) == _mark
