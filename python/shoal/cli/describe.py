"""``shoal describe``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from shoal.cli.completion import model_names
from shoal.cli.console import data
from shoal.cli.declare import argument
from shoal.cli.options import Json
from shoal.laws import is_law
from shoal.models import Model, find_models, laws_in
from shoal.table import Table


def describe(
    name: Annotated[
        str,
        argument(
            "NAME",
            "A controller, queue, stack, host or application of `shoal list`, or the file of a law of your own.",
            autocompletion=model_names,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Describe a model: what it follows, its parameters with sources, its known differences.

    [bold]Examples[/]

      shoal describe dctcp-ikr
      shoal describe dual-red
      shoal describe mine.wasm
      shoal describe mine.py
    """
    models = laws_in(Path(name)) if is_law(name) else find_models(name)
    if as_json:
        data.json(json.dumps([asdict(model) for model in models], indent=2, ensure_ascii=False))
        return
    for position, model in enumerate(models):
        if position:
            data.blank()
        _show(model)


def _show(model: Model) -> None:
    data.heading(f"{model.name} ({model.kind})")
    data.sentence(f"{model.summary}\nFollows: {model.follows}\n")
    if model.parameters:
        rows = [(p.name, p.unit, p.default or "required", p.doc, p.source) for p in model.parameters]
        data.table(Table("Parameters", ("Key", "Unit", "Default", "Meaning", "Source"), rows, words=5))
    else:
        data.sentence("No parameters.")
    data.blank()
    if model.differences:
        rows_ = [(d.text, d.test) for d in model.differences]
        data.table(Table("Known differences", ("What differs", "Pinned by"), rows_, words=2))
    else:
        data.sentence("No known differences.")
