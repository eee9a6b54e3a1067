"""From disciplines to queues: the leaves of a device, what serves each, and which code points lead to it.

A packet goes from the root down: each discipline asks its filters, then the priority of the packet or its default class
(prio_classify, ets_classify, htb_classify, hfsc_classify and drr_classify in net/sched of Linux).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd

from shoal.models import nearest
from shoal.switch.code_points import LARGEST
from shoal.switch.model import Line, Scheduler, Serving
from shoal.switch.platforms import _tc_lines as lines
from shoal.switch.platforms import _tc_units as units
from shoal.switch.platforms._tc_bands import priority_of
from shoal.switch.platforms._tc_filters import Filter
from shoal.switch.platforms._tc_state import CARDS, Class, Device, Discipline
from shoal.switch.reading import Document

# Minor numbers that no class has: packets that pass a `htb` beside its classes, and those that are dropped.
DIRECT, DROPPED = -1, -2
# r2q of htb: the quantum of a class is its rate in bytes a second by this, between two limits; sch_htb.c.
_rate_to_quantum, _least_quantum, _most_quantum = 10, 1000, 200_000


# Choices of schedulers from the root on: each by its identity, with the number of a class.
Key = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Leaf:
    """A queue: a discipline that holds packets, or a class without one, which holds them first in, first out.

    Attributes
    ----------
    discipline
        The discipline, or the one above the class.
    minor
        The number of a class without a discipline; ``None`` for a discipline.
    way
        Schedulers above it, each with the number of the class on the way, the root first.
    lines
        The lines above it.
    limit
        What it holds, for a queue that a discipline has of itself: a number and what it counts.
    """

    discipline: Discipline
    minor: int | None
    way: tuple[tuple[Discipline, int], ...]
    lines: tuple[Line, ...]
    limit: tuple[int, str] | None = None

    @property
    def key(self) -> Key:
        """The choices that lead to it."""
        return tuple((id(scheduler), minor) for scheduler, minor in self.way)


@dataclass
class Undecided:
    """Filters on the way of code points that look at more than those."""

    rules: list[Filter] = field(default_factory=list)


class Tree:
    """The leaves of a device and the ways to them."""

    def __init__(self, document: Document, device: Device) -> None:
        self.document, self.device = document, device
        self.leaves: list[Leaf] = []
        for root in [device.root, *device.fragments.values()]:
            if root is not None:
                self.leaves += self._below(root, (), ())

    def _below(
        self, discipline: Discipline, way: tuple[tuple[Discipline, int], ...], above: tuple[Line, ...]
    ) -> Iterator[Leaf]:
        document, name = self.document, self.device.name
        _refuse_unknown_words(document, discipline)
        limit: tuple[int, str] | None = None
        if discipline.kind == "tbf":
            line, size = lines.tbf(document, discipline, name)
            above, limit = (*above, line), (size, "bytes")
        elif discipline.kind == "netem":
            line, packets = lines.netem(document, discipline, name)
            above, limit = (*above, line), (packets, "packets")
        if discipline.kind in ("tbf", "netem"):
            child = discipline.children.get(1)
            if child is not None:
                yield from self._below(child, way, above)
            else:
                yield Leaf(discipline, None, way, above, limit)
        elif (minors := self._minors(discipline)) is None:
            yield Leaf(discipline, None, way, above)
        else:
            for minor in minors:
                yield from self._class(discipline, minor, way, above)

    def _minors(self, discipline: Discipline) -> list[int] | None:
        """The classes of a discipline that hold packets; ``None`` if it holds them itself."""
        if discipline.bands is not None:
            return list(range(1, len(discipline.bands.served) + 1))
        if discipline.kind in ("htb", "hfsc", "drr"):
            parents = {each.parent & 0xFFFF for each in discipline.classes.values()}
            minors = [minor for minor in discipline.classes if minor not in parents]
            return [DIRECT, *minors] if discipline.kind == "htb" else minors
        return list(discipline.children) if discipline.kind in CARDS and discipline.children else None

    def _class(
        self, discipline: Discipline, minor: int, way: tuple[tuple[Discipline, int], ...], above: tuple[Line, ...]
    ) -> Iterator[Leaf]:
        if discipline.kind == "htb" and minor != DIRECT:
            above = (*above, lines.htb_class(self.document, discipline, minor, self.device.name))
        elif discipline.kind == "hfsc":
            above = (*above, lines.hfsc_class(self.document, discipline, minor, self.device.name))
        way = (*way, (discipline, minor))
        child = discipline.children.get(minor)
        if child is not None:
            yield from self._below(child, way, above)
        else:
            yield Leaf(discipline, minor, way, above)

    def reached(self, undecided: Undecided, *, is_ipv6: bool = False) -> dict[int, tuple[Key, bool]]:
        """For each code point the choices to its leaf, and whether the code point decided one of them."""
        root = self.device.root
        if root is None:
            return {}
        ways = {}
        for point in range(LARGEST + 1):
            way = self._way(root, point, is_ipv6, undecided)
            if way is not None:
                ways[point] = way
        return ways

    def _way(self, root: Discipline, point: int, is_ipv6: bool, undecided: Undecided) -> tuple[Key, bool] | None:
        choices: list[tuple[int, int]] = []
        by_point = False
        at: Discipline | None = root
        while at is not None:
            if at.kind in ("tbf", "netem"):
                at = at.children.get(1)
                continue
            if self._minors(at) is None or at.kind in CARDS:
                break
            choice = _chosen(at, point, is_ipv6)
            if isinstance(choice, Filter):
                if choice not in undecided.rules:
                    undecided.rules.append(choice)
                return None
            minor, is_by_point = choice
            by_point |= is_by_point
            choices.append((id(at), minor))
            at = at.children.get(minor)
        return tuple(choices), by_point

    def filters(self) -> Iterator[Filter]:
        """All filters of the device."""
        if self.device.root is not None:
            for discipline in self.device.root.below():
                for filters in discipline.filters.values():
                    yield from filters


# Options of schedulers, each with whether it has a value; what the kernel shows besides is among them.
_OPTIONS: Mapping[str, Mapping[str, bool]] = {
    "htb": {**dict.fromkeys(("default", "r2q", "debug", "direct_qlen"), True), "offload": False},
    "hfsc": {"default": True},
    "drr": {},
    "mq": {},
}


def _refuse_unknown_words(document: Document, discipline: Discipline) -> None:
    """Refuse options of a scheduler that tc does not know."""
    known = _OPTIONS.get(discipline.kind)
    words = iter(discipline.options if known is not None else ())
    for word in words:
        if known is None or word not in known:
            hint = nearest(word, list(known or {})) if known else "leave it out"
            document.refuse_statement(
                discipline.command.statement, f"`{word}` is not an option of `{discipline.kind}`", hint
            )
        value = next(words, None) if known[word] else ""
        if value is None or (word == "default" and not re.fullmatch(r"(0x)?[0-9a-fA-F]+", value)):
            document.refuse_statement(
                discipline.command.statement, f"`{word}` needs a number", "as in `htb default 20`, in hexadecimal"
            )


def _match(discipline: Discipline, minor: int, point: int, is_ipv6: bool) -> Filter | None:
    """The first filter that matches a code point, or may match it."""
    rules = discipline.filters.get(minor)
    return next((rule for rule in rules or () if rule.says(point, is_ipv6=is_ipv6) is not False), None)


def _chosen(discipline: Discipline, point: int, is_ipv6: bool) -> Filter | tuple[int, bool]:
    """The class for a code point and whether a filter looked at it, or a filter that looks at more."""
    rule = _match(discipline, 0, point, is_ipv6)
    if rule is not None and rule.says(point, is_ipv6=is_ipv6) is None:
        return rule
    by_point = rule is not None and rule.points.reads_field
    if discipline.bands is not None:
        bands = discipline.bands
        if rule is None:
            return bands.priomap[priority_of(point, is_ipv6=is_ipv6)] + 1, len(set(bands.priomap)) > 1
        band = (rule.target or 0) & 0xFFFF
        return band if 1 <= band <= len(bands.served) else bands.priomap[0] + 1, by_point
    if discipline.kind == "htb":
        return _of_htb(discipline, rule, point, is_ipv6, by_point)
    target = (rule.target or 0) if rule is not None else None
    if target is None and discipline.kind == "hfsc":
        target = discipline.handle | default_of(discipline)
    minor = -1 if target is None or target >> 16 << 16 != discipline.handle else target & 0xFFFF
    is_leaf = minor in discipline.classes and not _inner(discipline, discipline.classes[minor])
    return (minor if is_leaf else DROPPED), by_point


def _inner(discipline: Discipline, each: Class) -> bool:
    return any(other.parent == each.number for other in discipline.classes.values())


def _of_htb(
    discipline: Discipline, rule: Filter | None, point: int, is_ipv6: bool, by_point: bool
) -> Filter | tuple[int, bool]:
    """htb_classify: filters of inner classes are asked in turn; what they do not find goes to the default, or past."""
    for _ in range(9):
        if rule is None:
            break
        if rule.says(point, is_ipv6=is_ipv6) is None:
            return rule
        by_point |= rule.points.reads_field
        if rule.target == discipline.handle:
            return DIRECT, by_point
        minor = (rule.target or 0) & 0xFFFF
        if (rule.target or 0) >> 16 << 16 != discipline.handle or minor not in discipline.classes:
            break
        if not _inner(discipline, discipline.classes[minor]):
            return minor, by_point
        rule = _match(discipline, minor, point, is_ipv6)
    default = default_of(discipline)
    known = default in discipline.classes and not _inner(discipline, discipline.classes[default])
    return (default if known else DIRECT), by_point


def default_of(discipline: Discipline) -> int:
    """The minor number of the default class of `htb` or `hfsc`, which is hexadecimal; 0 without one."""
    return int(dict(pairwise(discipline.options)).get("default", "0"), 16)


def schedulers(discipline: Discipline) -> dict[int, Scheduler]:
    """How each class of a discipline is served, by minor number."""
    if discipline.bands is not None:
        return dict(enumerate(discipline.bands.served, start=1))
    if discipline.kind == "drr":
        quanta = {minor: _value(each, "quantum") for minor, each in discipline.classes.items()}
        # Without a quantum it is the MTU of the device.
        return {
            minor: Scheduler(Serving.WEIGHTED, weight=units.size_bytes(text) if text else None)
            for minor, text in quanta.items()
        }
    return _served_by_htb(discipline) if discipline.kind == "htb" else {}


def _served_by_htb(discipline: Discipline) -> dict[int, Scheduler]:
    """Packets that pass beside the classes go first; classes go by priority, those of one priority by quantum."""
    classes = discipline.classes
    direct = {DIRECT: Scheduler(Serving.STRICT, priority=0)}
    orders = {minor: int(_value(each, "prio", "0"), 0) for minor, each in classes.items()}
    if len(set(orders.values())) > 1:
        return direct | {minor: Scheduler(Serving.STRICT, priority=-1 - order) for minor, order in orders.items()}
    quanta = {minor: _quantum(each) for minor, each in classes.items()}
    common = gcd(*quanta.values())
    return direct | {minor: Scheduler(Serving.WEIGHTED, weight=quanta[minor] // common) for minor in classes}


def _value(each: Class, name: str, otherwise: str = "") -> str:
    """The word behind another one in the options of a class."""
    text = dict(pairwise(each.options)).get(name, otherwise)
    return text if not otherwise or text.isdecimal() else otherwise


def _quantum(each: Class) -> int:
    rate = units.rate_bps(_value(each, "rate")) or 0
    usual = min(_most_quantum, max(_least_quantum, rate // 8 // _rate_to_quantum))
    return units.size_bytes(_value(each, "quantum")) or usual


def branches(leaves: Sequence[Leaf]) -> dict[int, set[int]]:
    """The classes through which some leaves hang below each scheduler, by its identity."""
    minors: dict[int, set[int]] = {}
    for leaf in leaves:
        for scheduler, minor in leaf.way:
            minors.setdefault(id(scheduler), set()).add(minor)
    return minors
