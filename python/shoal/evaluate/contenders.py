"""What can be evaluated: queues and controllers by name, as tables, or from a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal._toml import parsed
from shoal.errors import OutputError, ScenarioError, UsageError
from shoal.evaluate.model import Setting
from shoal.models import controller_names, is_controller, unknown_law
from shoal.scenario import Scenario
from shoal.shipped import find_scenario
from shoal.skeleton.scenario import queue_kinds, shipped_law

#: The key that a queue sets.
QUEUE = "bottleneck.aqm"
#: The group whose controller is evaluated.
SUBJECT = "subject"

_controller_keys = {"cc", "cc_options", "stack"}
# What a flow group has without these keys.
_defaults: dict[str, object] = {f"flows.{SUBJECT}.cc_options": {}, f"flows.{SUBJECT}.stack": "linux-6"}


def queue(text: str) -> Setting:
    """The queue that a text names: a kind of ``shoal list queues``, a table as in a scenario file, or a scenario.

    A kind has the values of the ready-made scenario that shows it; of a scenario the law of its bottleneck is taken.

    Raises
    ------
    UsageError
        There is none of that name.
    ScenarioError
        The scenario is wrong.
    """
    text = text.strip()
    if text.startswith("{"):
        table: Any = parsed(text)
        if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
            raise UsageError(f"`{text}` is no queue", hint="as in '{ kind = \"pie\", ecn = true }'")
        return Setting(str(table["kind"]), {QUEUE: table})
    if text in queue_kinds():
        return Setting(text, {QUEUE: shipped_law(text)})
    try:
        path = find_scenario(Path(text))
    except OutputError:
        hint = "Or name a scenario, or write a table: '{ kind = \"pie\" }'"
        raise unknown_law("queue and no scenario", text, queue_kinds(), hint) from None
    bottleneck: Any = Scenario.from_file(path).resolved.get("bottleneck")
    if not bottleneck:
        raise UsageError(f"`{path}` has no [bottleneck] whose queue could be taken", hint="give the queue as a table")
    return Setting(path.stem, {QUEUE: bottleneck["aqm"]})


def controller(text: str) -> Setting:
    """The controller of a name, or of a table as in a scenario's flow group: ``cc``, ``cc_options`` and ``stack``.

    ECN, hosts, and what a table leaves out are those of the controller.

    Raises
    ------
    UsageError
        There is none of that name, or the table has other keys.
    """
    text = text.strip()
    table: Any = parsed(text) if text.startswith("{") else {"cc": text}
    if not isinstance(table, dict) or not isinstance(table.get("cc"), str) or not set(table) <= _controller_keys:
        raise UsageError(
            f"`{text}` is no congestion control",
            hint="as in '{ cc = \"dctcp\", cc_options = { gain = { shift = 2 } } }'",
        )
    name = str(table["cc"])
    if not is_controller(name):
        raise unknown_law("controller", name, controller_names(), "See `shoal list controllers`")
    setting = Setting(name, {f"flows.{SUBJECT}.{key}": value for key, value in table.items()})
    _checked(setting)
    return Setting(setting.described.replace(", ", " with ", 1), setting.values)


def _checked(setting: Setting) -> None:
    """Refuse options that the controller does not have, before a whole evaluation is refused cell by cell.

    Raises
    ------
    ScenarioError
        It has none of them, or their values are wrong.
    """
    keys: Any = {
        "title": "",
        "duration": "1 s",
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "100 packets"},
        "flows": [{"name": SUBJECT, "rtt": "10 ms", "cc": "reno"}],
    }
    Scenario.from_keys(keys, name="--cc").override(setting.values)


def everywhere(contender: Setting) -> Setting:
    """A controller as that of all flows, where there are no others."""
    subject = f"flows.{SUBJECT}."
    return Setting(contender.name, {key.replace(subject, "flows.*."): value for key, value in contender.values.items()})


def alike(settings: Sequence[Setting]) -> list[Setting]:
    """Give all of them the same keys, so that each sets back what another one sets.

    Raises
    ------
    KeyError
        One has a key whose value without it is not known.
    """
    keys = dict.fromkeys(key for setting in settings for key in setting.values)
    return [
        Setting(
            setting.name,
            {key: setting.values[key] if key in setting.values else _defaults[key] for key in keys},
        )
        for setting in settings
    ]


def with_ecn(contender: Setting) -> Setting:
    """A queue with its ECN switched on, if its law has such a switch and is off."""
    table: Any = contender.values[QUEUE]
    if table.get("ecn") is True or not _has_switch(table):
        return contender
    return Setting(f"{contender.name} with ECN", {QUEUE: {**table, "ecn": True}})


def _has_switch(table: dict[str, Any]) -> bool:
    keys: Any = {
        "title": "",
        "duration": "1 s",
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "100 packets", "aqm": {**table, "ecn": True}},
        "flows": [{"name": "bulk", "rtt": "10 ms", "cc": "reno"}],
    }
    try:
        Scenario.from_keys(keys)
    except ScenarioError:
        return False
    return True


def named_apart(settings: Sequence[Setting]) -> list[Setting]:
    """Give those that are called alike the names of their values.

    Raises
    ------
    UsageError
        Two are the same.
    """
    names = [setting.name for setting in settings]
    described = [setting.described for setting in settings]
    for name, words in zip(names, described, strict=True):
        if described.count(words) > 1:
            raise UsageError(f"`{name}` is there twice", hint="name different ones")
    return [
        Setting(words if names.count(setting.name) > 1 else setting.name, setting.values)
        for setting, words in zip(settings, described, strict=True)
    ]
