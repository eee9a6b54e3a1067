"""Filters of `tc`: which code points they match, and which class they lead to.

A filter that looks at anything but the code point (ports, addresses, marks of a firewall, the ECN field) says neither
yes nor no to a code point. After f_u32.c, f_flower.c and f_matchall.c of iproute2, net/sched/cls_api.c of Linux.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from shoal.switch.code_points import LARGEST
from shoal.switch.platforms._tc_commands import Command, number_of
from shoal.switch.reading import Document

_U32_EXAMPLE = "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1"
# Where the kernel begins to give orders to filters that have none, and what it takes for such: cls_api.c.
_first_free, _free = 0xC000, 0x8000
_of_ip = {
    "ip": (True, False),
    "ipv4": (True, False),
    "ipv6": (False, True),
    "all": (True, True),
    "0x0003": (True, True),
}
_ORDERS = ("prio", "pref", "preference")


@dataclass(frozen=True, slots=True)
class Points:
    """What a filter says of code points: those that it matches, and those of which it cannot be said.

    Attributes
    ----------
    matched
        Code points all of whose packets match.
    doubtful
        Code points of whose packets some may match.
    reads_field
        Whether it looks at the field of code points at all.
    reads_ecn
        Whether it compares the ECN field with it, so that packets of one code point part ways.
    """

    matched: frozenset[int]
    doubtful: frozenset[int] = frozenset()
    reads_field: bool = False
    reads_ecn: bool = False

    @property
    def reason(self) -> str:
        """Why it is doubtful, behind the name of the filter."""
        if self.reads_ecn:
            return "compares the ECN field, too (0xfc leaves it out): ECT packets and others join different queues"
        return "looks at more than the code point, which is all that flows have here"

    def __and__(self, other: Points) -> Points:
        """What matches both."""
        possible = (self.matched | self.doubtful) & (other.matched | other.doubtful)
        matched = self.matched & other.matched
        reads_field, reads_ecn = self.reads_field or other.reads_field, self.reads_ecn or other.reads_ecn
        return Points(matched, possible - matched, reads_field, reads_ecn)


_all_points = frozenset(range(LARGEST + 1))
EVERYTHING, UNKNOWN = Points(_all_points), Points(frozenset(), _all_points)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of a discipline.

    Attributes
    ----------
    command
        The command that added it.
    order
        Filters are tried from the lowest number on.
    protocol, handle
        As written.
    target
        The number of the class that it leads to; ``None`` if it leads to none.
    points
        What it says of code points.
    """

    command: Command
    order: int
    protocol: str
    handle: str | None
    target: int | None
    points: Points

    def says(self, point: int, *, is_ipv6: bool) -> bool | None:
        """Whether it matches packets with a code point; ``None`` if other things decide, too."""
        if not _of_ip.get(self.protocol, (False, False))[is_ipv6]:
            return False
        if point in self.points.doubtful or (point in self.points.matched and self.target is None):
            return None
        return point in self.points.matched


class Filters:
    """The filters of a discipline or a class, by the order in which they are tried."""

    def __init__(self) -> None:
        self._groups: dict[int, list[Filter]] = {}
        self._named: dict[tuple[int, str], Filter] = {}
        self._lowest = _first_free + 1

    def __iter__(self) -> Iterator[Filter]:
        return (rule for order in sorted(self._groups) for rule in self._groups[order])

    def add(self, document: Document, command: Command) -> str:
        """Add a filter, or put it in the place of the same one; the answer is why the kernel refuses it, if it does.

        Raises
        ------
        ScenarioError
            A word is no number; the message shows the line.
        """
        rule = _read(document, command, self._order(command))
        group = self._groups.get(rule.order, [])
        if group and group[0].protocol != rule.protocol:
            return f"filters with prio {rule.order} are for {group[0].protocol} (line {group[0].command.line})"
        if group and group[0].command.kind != command.kind:
            return f"filters with prio {rule.order} are `{group[0].command.kind}` (line {group[0].command.line})"
        same = self._named.get((rule.order, rule.handle)) if rule.handle is not None else None
        if same is not None and command.verb == "add":
            return f"the filter {rule.handle} exists already (line {same.command.line})"
        if same is not None:
            group.remove(same)
        self._groups.setdefault(rule.order, group).append(rule)
        if rule.handle is not None:
            self._named[rule.order, rule.handle] = rule
        if rule.order >= _free:
            self._lowest = min(self._lowest, rule.order)
        return ""

    def _order(self, command: Command) -> int:
        text = next((command.more[name] for name in _ORDERS if name in command.more), "")
        return int(text) if text.isdecimal() and int(text) else self._lowest - 1

    def delete(self, command: Command) -> None:
        """Delete the filters that a command names by order, protocol, kind and handle; without any, all."""
        order = next((command.more[name] for name in _ORDERS if name in command.more), None)
        protocol, handle = command.more.get("protocol"), command.more.get("handle")
        rules = [
            rule
            for rule in self
            if (order is not None and str(rule.order) != order)
            or (protocol is not None and rule.protocol != protocol)
            or (command.kind and rule.command.kind != command.kind)
            or (handle is not None and rule.handle != handle)
        ]
        self._groups, self._named = {}, {}
        for rule in rules:
            self._groups.setdefault(rule.order, []).append(rule)
            if rule.handle is not None:
                self._named[rule.order, rule.handle] = rule
        self._lowest = min([_first_free + 1, *(order for order in self._groups if order >= _free)])


def _read(document: Document, command: Command, order: int) -> Filter:
    reader = _KINDS.get(command.kind, _unknown)
    words = _Taken(document, command)
    points = reader(words)
    doubtful = points.doubtful or words.target is None
    if doubtful:
        document.remark(
            f"this filter is not read: `{command.kind or 'it'}` {points.reason}"
            if points.doubtful
            else f"this filter is not read: `{command.kind}` leads to no class",
            hint=f"those are that match a code point: {_U32_EXAMPLE}",
            line=command.line,
        )
    return Filter(command, order, command.more.get("protocol", "all"), command.more.get("handle"), words.target, points)


class _Taken:
    """The words of a filter, of which those for the class are taken out."""

    def __init__(self, document: Document, command: Command) -> None:
        self.document, self.command = document, command
        self.words = list(command.options)
        self.target: int | None = None
        for name in ("flowid", "classid"):
            while name in self.words[:-1]:
                at = self.words.index(name)
                self.target = number_of(self.words[at + 1], is_discipline=False)
                if self.target is None:
                    self.refuse(f"`{self.words[at + 1]}` is no class")
                del self.words[at : at + 2]

    def refuse(self, what: str) -> None:
        self.document.refuse_statement(self.command.statement, what, f"as in `{_U32_EXAMPLE}`")

    def number(self, text: str, base: int = 0) -> int:
        """A number as tc reads it."""
        try:
            return int(text, base)
        except ValueError:
            self.refuse("the field to match is not a number and a mask")
            raise


def _unknown(taken: _Taken) -> Points:
    return UNKNOWN


def _matchall(taken: _Taken) -> Points:
    return EVERYTHING if not set(taken.words) - {"skip_hw", "skip_sw"} else UNKNOWN


def _basic(taken: _Taken) -> Points:
    return UNKNOWN if taken.words else EVERYTHING


def _byte(value: int, mask: int) -> Points:
    """What a comparison with the byte of code point and ECN field says; its lower two bits are the ECN field."""
    points = frozenset(point for point in range(LARGEST + 1) if (point << 2) & mask & 0xFC == value & mask & 0xFC)
    if mask & 3:
        return Points(frozenset(), points, reads_field=True, reads_ecn=True)
    return Points(points, reads_field=True)


def _u32(taken: _Taken) -> Points:
    """All that `match` names must be so; the mask is hexadecimal with or without 0x."""
    points, words = EVERYTHING, taken.words
    matches = False
    while words:
        if words[0] != "match":
            if words[0] in ("skip_hw", "skip_sw"):
                del words[0]
                continue
            return UNKNOWN
        matches = True
        del words[0]
        points &= _compared(taken)
    return points if matches else UNKNOWN


def _compared(taken: _Taken) -> Points:
    words = taken.words
    kind, name = ([*words, "", ""])[:2]
    if (kind, name) in (("ip", "dsfield"), ("ip", "tos"), ("ip", "precedence"), ("ip6", "priority")):
        value, mask = _value_and_mask(taken, 2)
        return _byte(value, mask)
    if kind in ("ip", "ip6") and name in ("src", "dst") and len(words) > 2 and words[2].endswith("/0"):
        del words[:3]
        return EVERYTHING
    widths = {"u8": 8, "u16": 16, "u32": 32}
    if kind in widths:
        value, mask = _value_and_mask(taken, 1)
        offset = 0
        if words[:1] == ["at"] and len(words) > 1:
            offset = taken.number(words[1]) if words[1].lstrip("-").isalnum() else -1
            del words[:2]
        # The byte of the code point is the second of an IPv4 header.
        shift = widths[kind] - 8 * (2 - offset)
        if not mask:
            return EVERYTHING
        if offset in (0, 1) and shift >= 0 and not mask & ~(0xFF << shift):
            return _byte(value >> shift, mask >> shift)
        return UNKNOWN
    while words and words[0] != "match":
        del words[0]
    return UNKNOWN


def _value_and_mask(taken: _Taken, names: int) -> tuple[int, int]:
    words = taken.words
    if len(words) < names + 2:
        taken.refuse("the field to match is not a number and a mask")
    value, mask = taken.number(words[names]), taken.number(words[names + 1], 16)
    del words[: names + 2]
    return value, mask


def _flower(taken: _Taken) -> Points:
    """`ip_tos VALUE[/MASK]`, in decimal or else hexadecimal digits; without a key all packets of its protocol match."""
    points, words = EVERYTHING, taken.words
    while words:
        word = words.pop(0)
        if word in ("skip_hw", "skip_sw"):
            continue
        if word != "ip_tos" or not words:
            return UNKNOWN
        value, _, mask = words.pop(0).partition("/")
        points &= _byte(_decimal_or_hexadecimal(taken, value), _decimal_or_hexadecimal(taken, mask or "0xff"))
    return points


def _decimal_or_hexadecimal(taken: _Taken, text: str) -> int:
    return int(text) if text.isdecimal() else taken.number(text, 16)


_KINDS: dict[str, Callable[[_Taken], Points]] = {
    "u32": _u32,
    "flower": _flower,
    "matchall": _matchall,
    "basic": _basic,
}


def reads_ipv6_only(rules: Sequence[Filter]) -> bool:
    """Whether all filters that look at code points are for packets of IPv6."""
    protocols = {rule.protocol for rule in rules if rule.points.reads_field}
    return protocols == {"ipv6"}
