"""A scenario file of one's own: comments and defaults come from the schema, other values from shipped scenarios."""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from shoal import _native
from shoal._toml import toml_value
from shoal.errors import ScenarioError, UsageError
from shoal.models import nearest
from shoal.scenario import Scenario
from shoal.shipped import all_scenarios

#: Name of the schema beside the file, for editors.
SCHEMA_NAME = "shoal.schema.json"
#: Keys of a group of flows that are shown with their descriptions; all keys are in the schema.
SHOWN_OF_FLOWS = ("stack", "host", "ecn", "start", "stop", "app")
#: What a draft has where nothing is said; help texts show it, and making a draft for them would read the schema.
USUAL_RATE, USUAL_RTT, USUAL_DURATION = "40 Mbit/s", "10 ms", "30 s"
_width = 110
_law = "bottleneck.aqm"

Table = dict[str, Any]


@dataclass(slots=True)
class Draft:
    """What the answers say so far; see :func:`scenario_text`.

    Attributes
    ----------
    rate, rtt, duration
        With their units, as in the file.
    flows
        Controllers and numbers of flows, as in ``cubic*2``.
    queue
        Kind of the queue law.
    law
        Values of keys of the law, by their dotted keys in the scenario; see :func:`starting_values`.
    """

    rate: str = USUAL_RATE
    rtt: str = USUAL_RTT
    duration: str = USUAL_DURATION
    flows: list[str] = field(default_factory=lambda: ["cubic*2", "dctcp"])
    queue: str = "dualpi2"
    law: dict[str, object] = field(default_factory=lambda: starting_values("dualpi2"))


def queue_kinds() -> list[str]:
    """Kinds of queue laws, as in the file."""
    return [law["title"] for law in _laws()]


def shipped_law(queue: str) -> dict[str, Any]:
    """A law with its values in the shipped scenario of its name, else in the first one that has it.

    Raises
    ------
    UsageError
        There is no such law; the hint names the nearest.
    """
    _law_schema(queue)
    for shipped in sorted(all_scenarios(), key=lambda shipped: shipped.name != queue):
        law: dict[str, Any] = (
            tomllib.loads(shipped.path.read_text(encoding="utf-8")).get("bottleneck", {}).get("aqm", {})
        )
        if law.get("kind") == queue:
            return law
    return {"kind": queue}


def starting_values(queue: str) -> dict[str, object]:
    """Values for keys of a law, by their dotted keys: those of :func:`shipped_law`.

    Raises
    ------
    UsageError
        As for that.
    """
    return {key: value for key, value in _leaves(shipped_law(queue), _law) if key != f"{_law}.kind"}


def required_keys(queue: str) -> dict[str, str]:
    """The keys that a law must be given, by their dotted keys in the scenario, with what each means."""
    return dict(_required(_law_schema(queue), _law))


def checked(draft: Draft) -> Scenario:
    """The scenario of a draft.

    Raises
    ------
    ScenarioError
        It is none; the message has every problem with its place.
    UsageError
        A flow is not written as ``CC`` or ``CC*COUNT``.
    """
    return Scenario.from_toml(scenario_text(draft, with_comments=False), name="new scenario")


def scenario_text(draft: Draft, *, file: str = "scenario.toml", with_comments: bool = True) -> str:
    """The file: what was answered as values, every other key of the law as ``#key = default`` below what it means.

    Parameters
    ----------
    draft
        The answers.
    file
        Name of the file, for the commands in its head.
    with_comments
        Whether keys are explained.
    """
    lines = list(_lines(draft, file if with_comments else ""))
    kept = [line for line in lines if with_comments or not line.startswith("#")]
    return "\n".join(kept) + "\n"


def _lines(draft: Draft, file: str) -> Iterator[str]:
    schema = _schema()
    bottleneck = schema["properties"]["bottleneck"]
    groups = [_group(text) for text in draft.flows]
    flows = " and ".join(f"{count} {cc}" for cc, count in groups)
    yield f"#:schema {SCHEMA_NAME}"
    yield ""
    yield f"#     shoal check {file}"
    yield f"#     shoal run {file} --seeds 3 --out results"
    yield "#"
    yield "# A key that is switched off, such as #seed, has the value that is shown. Other keys: `shoal schema`."
    yield ""
    yield from _key("title", f"{flows} behind {draft.queue}", None)
    yield from _key("duration", draft.duration, schema["properties"]["duration"])
    yield from _optional(schema, "warmup")
    yield from _optional(schema, "seed")
    yield ""
    yield "[bottleneck]"
    yield from _key("rate", draft.rate, bottleneck["properties"]["rate"])
    yield from _optional(bottleneck, "buffer")
    yield ""
    law = _law_schema(draft.queue)
    yield f"[{_law}]"
    yield from _comment(law["description"])
    yield from _key("kind", draft.queue, None)
    for key, value in draft.law.items():
        yield from _key(key.removeprefix(f"{_law}."), value, _at(law, key.removeprefix(f"{_law}.")))
    given = {key.removeprefix(f"{_law}.") for key in draft.law}
    for key, node in _optional_leaves(law):
        if not file or any(name == key or name.startswith(f"{key}.") for name in given):
            continue
        if "default" not in node:
            yield from _comment(node["description"])
            yield f"#{key} = ..."
        elif _is_accepted(draft, f"{_law}.{key}", node):
            yield from _comment(node["description"])
            yield f"#{key} = {toml_value(node['default'])}"
    group = schema["properties"]["flows"]["items"]
    for number, (cc, count) in enumerate(groups):
        yield ""
        yield "[[flows]]"
        names = [name for name, _ in groups]
        name = cc if names.count(cc) == 1 else f"{cc}-{names[: number + 1].count(cc)}"
        say = None if number else group["properties"]
        yield from _key("name", name, say and say["name"])
        yield from _key("cc", cc, say and say["cc"])
        yield from _key("count", count, say and say["count"])
        yield from _key("rtt", draft.rtt, say and say["rtt"])
        if say:
            for key in SHOWN_OF_FLOWS:
                yield from _optional(group, key)


def _key(name: str, value: object, node: Table | None) -> Iterator[str]:
    if node is not None:
        yield from _comment(node["description"])
    yield f"{name} = {toml_value(value)}"


def _optional(table: Table, key: str) -> Iterator[str]:
    """A key with what it means, and its default if that is a value."""
    node = table["properties"][key]
    yield from _comment(node["description"])
    if "default" in node:
        yield f"#{key} = {toml_value(node['default'])}"
    else:
        yield f"#{key} = ..."


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(" ".join(text.split()), _width, break_on_hyphens=False):
        yield f"# {line}"


def _group(text: str) -> tuple[str, int]:
    cc, star, count = (part.strip() for part in text.partition("*"))
    if not cc or (star and not (count.isdecimal() and 0 < int(count) < 1 << 20)):
        raise UsageError(
            f"`{text}` is no group of flows",
            hint="write CC or CC*COUNT, as in cubic*2; `shoal list controllers` has all",
        )
    return cc, int(count) if star else 1


def _is_accepted(draft: Draft, key: str, node: Table) -> bool:
    """Whether the default of a key may stand in the file: some may only with others."""
    plain = scenario_text(draft, with_comments=False)
    try:
        Scenario.from_toml(plain).override({key: node["default"]})
    except ScenarioError:
        return False
    return True


@cache
def _schema() -> Table:
    """The schema, with the tables below ``bottleneck`` and ``flows`` written out."""
    schema: Table = json.loads(_native.schema())
    definitions = schema.pop("$defs")

    def expanded(node: Any) -> Any:
        if isinstance(node, list):
            return [expanded(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return expanded(definitions[node["$ref"].rsplit("/", 1)[-1]])
        return {key: expanded(inner) for key, inner in node.items()}

    bottleneck, flows = schema["properties"]["bottleneck"], schema["properties"]["flows"]
    # The other tables, such as those of topologies, are large and not needed.
    schema["properties"] = {**schema["properties"], "bottleneck": expanded(bottleneck), "flows": expanded(flows)}
    return schema


def _laws() -> list[Table]:
    laws: list[Table] = _schema()["properties"]["bottleneck"]["properties"]["aqm"]["oneOf"]
    # A module is a file of the user's own, about whose keys nothing is known here.
    return [law for law in laws if law["title"] != "module"]


def _law_schema(queue: str) -> Table:
    laws = {law["title"]: law for law in _laws()}
    if queue not in laws:
        raise UsageError(f"there is no queue `{queue}`", hint=nearest(queue, list(laws)))
    return laws[queue]


def _required(table: Table, path: str) -> Iterator[tuple[str, str]]:
    """Keys without a default; of a table that must be there, but none of whose keys must, the first."""
    for name, node in table["properties"].items():
        if name not in table["required"] or "const" in node:
            continue
        if "properties" not in node:
            yield f"{path}.{name}", node["description"]
        elif node["required"]:
            yield from _required(node, f"{path}.{name}")
        else:
            first, inner = next(iter(node["properties"].items()))
            yield f"{path}.{name}.{first}", inner["description"]


def _optional_leaves(table: Table, path: str = "") -> Iterator[tuple[str, Table]]:
    """Keys with a value as default, by dotted keys, and tables that need not be there: one of their keys brings all."""
    for name, node in table["properties"].items():
        is_table = "properties" in node
        if is_table and name in table["required"]:
            yield from _optional_leaves(node, f"{path}{name}.")
        elif is_table or "default" in node:
            yield path + name, node


def _at(table: Table, key: str) -> Table | None:
    node: Table | None = table
    for name in key.split("."):
        node = (node or {}).get("properties", {}).get(name)
    return node


def _leaves(table: Mapping[str, object], path: str) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}", value
