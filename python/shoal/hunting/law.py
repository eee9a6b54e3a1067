"""What is hunted: a congestion control or the law of a queue, as a scenario file names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal._toml import parsed
from shoal.errors import UsageError
from shoal.models import controller_names, is_controller, unknown_law
from shoal.scenario import Scenario
from shoal.skeleton.scenario import queue_kinds, shipped_law

_example = "as in --law dctcp, --law pie, or --law '{ cc = \"dctcp\", cc_options = { gain = { shift = 2 } } }'"


@dataclass(frozen=True, slots=True)
class Law:
    """A law.

    Attributes
    ----------
    name
        What ``cc`` or ``kind`` of a queue says.
    is_controller
        Whether it is a congestion control, and not the law of a queue.
    table
        Its keys in a flow group, or in a queue.
    """

    name: str
    is_controller: bool
    table: Mapping[str, Any] = field(hash=False)

    @property
    def short(self) -> str:
        """The name in words for people: a file without its folders."""
        return short_name(self.name)


def short_name(name: str) -> str:
    """The name of a controller or queue, that of a file without its folders."""
    return re.sub("^file:(.*/)?", "", name)


def read_law(text: str) -> Law:
    """The law that a text names: a controller, a kind of queue, or a table with ``cc`` or ``kind``.

    A queue that is only named has the values of the ready-made scenario that shows it.

    Raises
    ------
    UsageError
        There is none of that name.
    ScenarioError
        It does not take such options.
    """
    text = text.strip()
    table: Any = parsed(text) if text.startswith("{") else {}
    if isinstance(table, dict) and isinstance(table.get("cc"), str):
        return _checked(Law(table["cc"], True, table))
    if isinstance(table, dict) and isinstance(table.get("kind"), str):
        return _checked(Law(table["kind"], False, table))
    if text.startswith("{"):
        raise UsageError(f"`{text}` is no law", hint=_example)
    if text in queue_kinds():
        return Law(text, False, shipped_law(text))
    if is_controller(text):
        return _checked(Law(text, True, {"cc": text}))
    raise unknown_law("law", text, [*controller_names(), *queue_kinds()], _example)


def _checked(law: Law) -> Law:
    """The law, once a scenario has taken it.

    Raises
    ------
    ScenarioError
        None does.
    """
    bottleneck: dict[str, Any] = {"rate": "10 Mbit/s", "buffer": "100 packets"}
    group: dict[str, Any] = {"name": "law", "rtt": "10 ms", "cc": "reno"}
    if law.is_controller:
        group |= law.table
    else:
        bottleneck["aqm"] = dict(law.table)
    keys: Any = {"title": "", "duration": "1 s", "bottleneck": bottleneck, "flows": [group]}
    Scenario.from_keys(keys, name="--law")
    return law
