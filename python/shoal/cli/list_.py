"""``shoal list``."""

from __future__ import annotations

import json
from typing import Annotated

from shoal.cli.console import data
from shoal.cli.declare import argument
from shoal.cli.options import Json
from shoal.errors import UsageError
from shoal.models import models, nearest
from shoal.shipped import all_scenarios, papers, scenarios, sweeps
from shoal.table import Table

_kinds = {
    "controllers": "controller",
    "queues": "queue",
    "stacks": "stack",
    "hosts": "host",
    "applications": "application",
    "paths": "path",
}
_what = [*_kinds, "switches", "scenarios", "sweeps", "papers", "metrics"]


def list_(
    what: Annotated[str | None, argument("[WHAT]", f"One of {', '.join(_what)}.")] = None,
    as_json: Json = False,
) -> None:
    """List what exists: models of each kind, switches, ready-made scenarios and sweeps, papers, metrics.

    `shoal list scenarios` adds those of `shoal compare --suite` and of the benchmarks, which can be run by name, too.

    [bold]Examples[/]

      shoal list
      shoal list controllers
    """
    if what is not None and what not in _what:
        raise UsageError(f"nothing called `{what}` can be listed", hint=nearest(what, _what))
    lists: dict[str, list[tuple[str, str]]] = {}
    for name in [what] if what else _what:
        if name in _kinds:
            lists[name] = [(model.name, model.summary) for model in models() if model.kind == _kinds[name]]
        elif name == "scenarios":
            # The folders hold dozens, of interest to who looks for them.
            lists[name] = [(item.name, item.title) for item in (all_scenarios() if what else scenarios())]
        elif name == "sweeps":
            lists[name] = [(item.name, item.title) for item in sweeps()]
        elif name == "papers":
            lists[name] = [(item.name, item.title) for item in papers()]
        elif name == "switches":
            lists[name] = _switches()
        else:
            lists[name] = _metrics()
    if as_json:
        entries = {name: [{"name": key, "summary": text} for key, text in rows] for name, rows in lists.items()}
        data.json(json.dumps(entries, indent=2))
        return
    for position, (name, rows) in enumerate(lists.items()):
        if position:
            data.blank()
        data.table(Table(name.capitalize(), ("Name", ""), list(rows), words=2))


def _metrics() -> list[tuple[str, str]]:
    from shoal.metrics import metrics

    return [(metric.call, metric.doc) for metric in metrics.values()]


def _switches() -> list[tuple[str, str]]:
    from shoal.switch import switches

    return [(switch.name, switch.summary) for switch in switches()]
