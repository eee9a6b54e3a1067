"""``shoal schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import _native
from shoal.cli.console import data
from shoal.errors import UsageError
from shoal.models import nearest

_what = {"scenario": _native.schema, "tables": _native.tables_reference}


def schema(
    what: Annotated[
        str, typer.Argument(metavar="[WHAT]", help="scenario (JSON Schema) or tables (Markdown).")
    ] = "scenario",
) -> None:
    """Print the JSON Schema of the scenario file, or the reference of the recorded tables.

    [bold]Examples[/]

      shoal schema > shoal.schema.json
      shoal schema tables
    """
    if what not in _what:
        raise UsageError(f"there is no schema of `{what}`", hint=nearest(what, list(_what)))
    data.json(_what[what]())
