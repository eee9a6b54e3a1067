"""Reads `tc qdisc` lines: the disciplines that shoal has as laws, and the schedulers and filters above them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from shoal.switch.code_points import LARGEST
from shoal.switch.model import Queue, Scheduler, Serving
from shoal.switch.platforms import _tc_units as units
from shoal.switch.platforms._tc_laws import LAWS, RED_EXAMPLE, Node, Options, gred
from shoal.switch.reading import Document, Statement, commands


def queues(document: Document) -> list[Queue]:
    """The disciplines of a script that have laws.

    Raises
    ------
    ScenarioError
        tc would refuse a line, or a line holds variables of a shell; the message shows it.
    """
    nodes = [node for statement in commands(document) if (node := _node(document, statement)) is not None]
    filters = [rule for statement in commands(document) if (rule := _filter(document, statement)) is not None]
    queues: list[Queue] = []
    for node in nodes:
        if node.kind in _schedulers or node.kind == "gred":
            continue
        if node.kind in LAWS:
            queue = _scheduled(LAWS[node.kind](Options(document, node)), node, nodes)
            queues.append(_led(queue, node, filters))
        elif node.is_discipline:
            document.remark(f"`{node.kind}` is not read", line=node.line)
    for node in nodes:
        if node.kind == "gred" and "setup" in node.words:
            queues.append(_led(_scheduled(_gred(document, node, nodes), node, nodes), node, filters))
    if not queues:
        document.refuse(
            1, "no queue discipline that has a law", f"lines such as `tc qdisc add dev eth0 root {RED_EXAMPLE}`",
        )  # fmt: skip
    return queues


def _node(document: Document, statement: Statement) -> Node | None:
    words = list(statement.words)
    while words and words[0] in ("sudo", "tc"):
        if words.pop(0) == "tc":
            break
    else:
        return None
    while words and words[0].startswith("-"):
        del words[0]
    if len(words) < 2 or words[0] not in ("qdisc", "class") or words[1] not in ("add", "replace", "change"):
        return None
    is_discipline = words[0] == "qdisc"
    del words[:2]
    at = {"dev": "", "parent": "", "handle": "", "classid": ""}
    while words and (words[0] in at or words[0] == "root"):
        name = words.pop(0)
        if name == "root":
            at["parent"] = "root"
        elif words:
            at[name] = words.pop(0)
    if not words:
        document.refuse_statement(statement, "the line names no discipline", f"as in `{RED_EXAMPLE}`")
    handle = (at["handle"] or at["classid"]).rstrip(":")
    header = (statement.line, is_discipline, at["dev"], at["parent"], handle)
    return Node(*header, words[0], tuple(words[1:]), statement.words)


@dataclass(frozen=True, slots=True)
class _Filter:
    """A filter that leads packets with some code points, or all others, to a class of a device."""

    device: str
    target: str
    points: tuple[int, ...] | None


_dsfield_example = "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1"


def _filter(document: Document, statement: Statement) -> _Filter | None:
    """A filter by code point, or one that takes all packets; others are passed over, and said."""
    words = statement.words
    if "tc" not in words or not {"add", "replace"} & set(words) or words[words.index("tc") + 1 :][:1] != ("filter",):
        return None
    text = " ".join(words)
    target = re.search(r"\b(?:flowid|classid) (\S+)", text)
    device = re.search(r"\bdev (\S+)", text)
    field = re.search(r"\bmatch (?:ip (?:dsfield|tos)|ip6 priority) (\S+) (\S+)", text)
    if target is None or device is None or (field is None and "matchall" not in words):
        document.remark(
            "this filter is not read",
            hint=f"those are that match a code point: {_dsfield_example}",
            line=statement.line,
        )
        return None
    if field is None:
        return _Filter(device[1], _number_of(target[1]), None)
    try:
        value, mask = (int(part, 0) for part in field.groups())
    except ValueError:
        document.refuse_statement(
            statement, "the field to match is not a number and a mask", f"as in `{_dsfield_example}`"
        )
    if text.count(" match ") > 1 or mask & 0x3:
        document.remark("this filter looks at more than the code point: not read", line=statement.line)
        return None
    points = tuple(point for point in range(LARGEST + 1) if (point << 2) & mask == value & mask)
    return _Filter(device[1], _number_of(target[1]), points)


def _number_of(text: str) -> str:
    """A handle such as ``1:a`` without leading zeros."""
    return ":".join(part.lstrip("0").lower() for part in text.split(":"))


def _led(queue: Queue, node: Node, filters: list[_Filter]) -> Queue:
    """The queue with the code points that filters lead to it."""
    rules = [rule for rule in filters if (rule.device, rule.target) == (node.device, _number_of(node.parent))]
    points = {point for rule in rules for point in rule.points or ()}
    return replace(queue, dscp=tuple(sorted(points)), takes_rest=any(rule.points is None for rule in rules))


_schedulers = ("ets", "prio", "drr")


def _scheduled(queue: Queue, node: Node, nodes: list[Node]) -> Queue:
    """The queue with how the scheduler above it serves it."""
    above, _, minor = node.parent.partition(":")
    if not re.fullmatch("[0-9a-fA-F]+", minor):
        return queue
    band = int(minor, 16)
    for other in nodes:
        if other.device != node.device:
            continue
        if other.kind in ("ets", "prio") and other.is_discipline and other.handle == above:
            return replace(queue, index=band, scheduler=_band(other, band))
        if other.kind == "drr" and not other.is_discipline and other.handle == node.parent:
            quantum = dict(pairwise(other.words)).get("quantum", "")
            return replace(queue, index=band, scheduler=Scheduler(Serving.WEIGHTED, units.size_bytes(quantum)))
    return queue


def _band(node: Node, band: int) -> Scheduler:
    """How a band of `ets` or `prio` is served; the first band goes first."""
    if node.kind == "prio":
        return Scheduler(Serving.STRICT, priority=-band)
    lists: dict[str, list[str]] = {}
    name = ""
    for word in node.words:
        if word in ("bands", "strict", "quanta", "priomap"):
            name = word
        lists.setdefault(name, []).append(word)
    strict = int(lists["strict"][1]) if len(lists.get("strict", [])) > 1 else 0
    if band <= strict:
        return Scheduler(Serving.STRICT, priority=-band)
    quanta = [units.size_bytes(word) for word in lists.get("quanta", [])[1:]]
    index = band - strict - 1
    return Scheduler(Serving.WEIGHTED, weight=quanta[index] if index < len(quanta) else None)


def _gred(document: Document, setup: Node, nodes: list[Node]) -> Queue:
    """GRED, which has a line for its table and one for each virtual queue."""
    identity = (setup.kind, setup.device, setup.parent)
    parts = [each for each in nodes if (each.kind, each.device, each.parent) == identity and "setup" not in each.words]
    table = replace(setup, words=tuple(word for word in setup.words if word != "setup"))
    return gred(Options(document, table), [Options(document, part) for part in parts])
