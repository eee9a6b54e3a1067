"""Queuing policies of Cisco NX-OS: `random-detect`, with the scheduling and limits of its queues.

After the command reference of the Nexus 9000 for 9.3(x), chapter R; what it leaves open is assumed and said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from shoal.switch.amounts import Amount, Unit
from shoal.switch.code_points import LARGEST, code_points, in_ranges, owners
from shoal.switch.model import Action, Buffer, Law, Queue, Scheduler, Serving, Shaping, Where
from shoal.switch.options import HasLimit, HasMap, HasProfile, declared
from shoal.switch.platforms.base import Platform
from shoal.switch.reading import (
    Document,
    Statement,
    say_kbytes,
    say_speeds_of_interfaces,
    speeds_of_interfaces,
    statements,
)
from shoal.switch.words import Words
from shoal.switch.writing import (
    Refusals,
    Writing,
    decides,
    exponent_of_alpha,
    fitted,
    needs_drops_alike,
    needs_thresholds,
    percent,
    thresholds,
    weight_of,
)

_units = {"packets": Unit.PACKETS, "bytes": Unit.BYTES, "kbytes": Unit.KBYTES, "mbytes": Unit.MBYTES}
_rates = {"kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
_example = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn"
_words_of_units = {unit: word for word, unit in _units.items()}
_shape_example = "shape min 1 gbps max 4 gbps"


@dataclass(frozen=True, kw_only=True)
class NxosOptions(HasMap, HasLimit, HasProfile):
    """The policy, and whether the device has a second law."""

    has_non_ecn: bool = declared(False, "--nxos-non-ecn", "", "The device takes `random-detect non-ecn`: two laws.")


_Writing = Writing[NxosOptions]


class Nxos(Platform[NxosOptions]):
    """A queuing policy, which is written for the whole switch."""

    name = "nxos"
    label = "NX-OS"
    title = "Cisco NX-OS"
    comment = "!"
    options = NxosOptions

    @property
    def most_able(self) -> NxosOptions:
        """The options of a device that takes `random-detect non-ecn`, which not all do."""
        return NxosOptions(has_non_ecn=True)

    def recognises(self, text: str) -> bool:
        """Look for a queuing policy or one of its classes."""
        return bool(re.search(r"^\s*(class|policy-map) type queuing\b", text, re.MULTILINE))

    def stated_rates_bps(self, document: Document) -> set[int]:
        """Read the speeds of interfaces."""
        return set(speeds_of_interfaces(document).values())

    def queues(self, document: Document) -> list[Queue]:
        """Read the queuing policies of a configuration."""
        document.refuse_templates()
        classes = _bound(document, _classes(document))
        if not classes:
            document.refuse(
                1,
                "no `class type queuing` in this file",
                "give a configuration with a queuing policy",
            )
        several = len({class_.policy for class_ in classes}) > 1
        points = _code_points(document)
        groups = _groups(document)
        queues = [class_.queue(document, several=several, index=groups.get(class_.name)) for class_ in classes]
        queues = [_led(queue, points) for queue in queues]
        queues = _forwarded(document, queues)
        say_kbytes(document, queues)
        say_speeds_of_interfaces(document, queues)
        return queues

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write a policy map, applied to the whole switch."""
        lines = [f"policy-map type queuing {writing.options.profile}"]
        for queue in queues:
            lines.append(f"  class type queuing {_class(queue)}")
            lines += [f"    {line}" for line in _statements(queue, writing)]
        above, of_system = _map(queues, writing) if writing.options.has_map else ([], [])
        lines += ["system qos", *of_system, f"  service-policy type queuing output {writing.options.profile}"]
        return "\n".join([*above, *lines]) + "\n"


_forwards = ("congestion-control", "random-detect", "forward-nonecn")


def _forwarded(document: Document, queues: list[Queue]) -> list[Queue]:
    """The queues where `forward-nonecn` lets packets that are not ECT pass the law of marks.

    For the whole switch it is a line without indent. In a policy of network QoS it is about a class of it, and which
    queues these are is not read.
    """
    statement = next((each for each in statements(document) if each.starts(*_forwards)), None)
    if statement is None:
        return queues
    is_global = statement.indent == 0
    document.remark(
        "`forward-nonecn` lets packets that are not ECT pass the law of marks"
        + ("" if is_global else "; of which classes is not read"),
        hint="" if is_global else "the device knows: show queuing interface",
        line=statement.line,
    )
    return [
        replace(queue, drop=None, not_ect_known=is_global)
        if queue.mark is not None and queue.drop is not None and queue.drop.same_curve(queue.mark)
        else queue
        for queue in queues
    ]


@dataclass
class _Class:
    policy: str
    name: str
    line: int
    ports: tuple[str, ...] = ()
    detects: Statement | None = None
    non_ecn: Statement | None = None
    others: list[Statement] = field(default_factory=list)

    def queue(self, document: Document, *, several: bool, index: int | None) -> Queue:
        queue = Queue(
            name=f"{self.policy}/{self.name}" if several else self.name,
            index=queue_index(self.name) if index is None else index,
            ports=self.ports,
            source=document.source(self.line),
        )
        if self.detects is not None:
            queue = _with_law(document, queue, self.detects)
        if self.non_ecn is not None:
            queue = _with_own_law(document, queue, self.non_ecn)
        for statement in self.others:
            queue = _with_other(document, queue, statement)
        return queue


def _groups(document: Document) -> dict[str, int]:
    """The group that each class of queues takes by its map (`match qos-group 3`), which is the number of its queue."""
    groups: dict[str, int] = {}
    name = ""
    for statement in statements(document):
        if statement.words[0] in _headers:
            name = statement.words[-1] if statement.starts("class-map", "type", "queuing") else ""
        elif name and statement.starts("match", "qos-group") and statement.words[2:3] != ():
            groups[name] = Words(document, statement, 2, "match qos-group 3").whole("a group", 0, 63)
    return groups


def queue_index(name: str) -> int | None:
    """The number of a queue in the name of its class: ``c-out-8q-q3`` has 3, ``c-out-8q-q-default`` 0."""
    if name.endswith("default"):
        return 0
    match = re.search(r"q([0-9])$", name)
    return int(match[1]) if match else None


def _led(queue: Queue, points: Mapping[int, tuple[int, ...] | None]) -> Queue:
    """The queue with the code points that lead to it."""
    dscp = points.get(queue.index, ()) if queue.index is not None else ()
    return replace(queue, takes_rest=True) if dscp is None else replace(queue, dscp=dscp)


def _matched(document: Document, statement: Statement) -> Iterable[int]:
    """The code points of a `match`; none, and a remark, where it looks at something else."""
    if statement.starts("match", "dscp"):
        points = code_points(statement.words[2:])
        if points is None:
            document.refuse_statement(
                statement, "not code points", "numbers, ranges and names, as in match dscp 8-10,af11"
            )
        return points
    if statement.starts("match", "precedence"):
        # The upper three bits of the code point (RFC 2474 section 4.2.2).
        numbers = [word for part in statement.words[2:] for word in part.split(",")]
        if not all(word.isdecimal() and int(word) < 8 for word in numbers):
            document.refuse_statement(statement, "not precedences", "numbers from 0 to 7, as in match precedence 3")
        return [8 * int(word) + low for word in numbers for low in range(8)]
    document.leave_undecided(f"`{' '.join(statement.words[:2])}`", statement.line)
    return ()


def _code_points(document: Document) -> dict[int, tuple[int, ...] | None]:
    """The code points of each queue by its number: those of the classes that a policy puts into the queue's group.

    What no class takes is of the group that the policy sets for ``class-default``, 0 if it sets none: ``None`` there.
    """
    classes: dict[str, set[int]] = {}
    groups: dict[int, set[int]] = {}
    left = set(range(LARGEST + 1))
    kind = name = ""
    default, has_policy = 0, False
    for statement in statements(document):
        words = statement.words
        if words[0] in ("class-map", "policy-map") and (words[1:2] != ("type",) or words[1:3] == ("type", "qos")):
            # Without a type they are of type qos.
            kind, name = words[0], words[-1]
            has_policy |= kind == "policy-map"
        elif statement.starts("class-map", "type", "queuing"):
            kind = "queuing"
        elif kind == "queuing" and statement.starts("match", "cos"):
            document.leave_undecided("`match cos` of a queue", statement.line)
        elif words[0] in _headers:
            kind = name = ""
        elif kind == "class-map" and words[0] == "match":
            classes.setdefault(name, set()).update(_matched(document, statement))
        elif kind == "policy-map" and words[0] == "class":
            name = words[-1]
        elif kind == "policy-map" and statement.starts("set", "qos-group"):
            group = Words(document, statement, 2, "set qos-group 3").whole("a group", 0, 63)
            if name == "class-default":
                default = group
            else:
                groups.setdefault(group, set()).update(left & classes.get(name, set()))
                left -= classes.get(name, set())
    if not has_policy or not groups:
        return {}
    led: dict[int, tuple[int, ...] | None] = {group: tuple(sorted(points)) for group, points in groups.items()}
    # If the group has classes of its own as well, they are among those that no other takes.
    led[default] = None
    return led


_headers = ("class-map", "policy-map", "interface", "system", "control-plane", "hardware", "vlan")


def _classes(document: Document) -> list[_Class]:
    classes: list[_Class] = []
    policy = ""
    current: _Class | None = None
    for statement in statements(document):
        words = statement.words
        if words[0] in _headers:
            is_queuing = statement.starts("policy-map", "type", "queuing") and len(words) > 3
            policy, current = (words[-1] if is_queuing else ""), None
        elif statement.starts("class", "type", "queuing") and len(words) > 3:
            current = next((class_ for class_ in classes if (class_.policy, class_.name) == (policy, words[3])), None)
            if current is None:
                current = _Class(policy, words[3], statement.line)
                classes.append(current)
        elif words[0] == "class":
            current = None
        elif current is not None:
            _take(document, current, statement)
    return classes


def _bound(document: Document, classes: list[_Class]) -> list[_Class]:
    """The classes of policies for what leaves, with the interfaces that have them; none of the whole switch's.

    A policy that the file applies to what comes in, or whose classes are named so (``c-in-q1``, ``2q4t-in-q1``), is
    about the memory behind the ports, not about queues in front of the line. Where the file applies some policies, it
    is said of the others that nothing has them.
    """
    places: dict[tuple[str, str], list[str]] = {}
    name = ""
    for statement in statements(document):
        words = statement.words
        if words[0] in _headers:
            name = " ".join(words)
        elif statement.starts("service-policy", "type", "queuing") and len(words) == 5:
            places.setdefault((words[3], words[4]), []).append(name)
    into = {policy for direction, policy in places if direction == "input"}
    into |= {class_.policy for class_ in classes if re.search(r"(^|-)in-", class_.name)}
    out_of = {policy for direction, policy in places if direction == "output"}
    kept = []
    for class_ in classes:
        policy = class_.policy
        if policy in into - out_of:
            document.remark(f"the policy `{policy}` is applied to what comes in: it is not read", line=class_.line)
            continue
        if policy and out_of and policy not in out_of:
            document.remark(f"nothing in this file has the policy `{policy}`", line=class_.line)
        interfaces = [
            header.removeprefix("interface ") for header in places.get(("output", policy), ()) if "interface" in header
        ]
        kept.append(replace(class_, ports=tuple(interfaces)))
    return kept


def _take(document: Document, current: _Class, statement: Statement) -> None:
    """Note a statement of a class; the last of a kind is the one that acts."""
    words = statement.words
    if words[0] == "random-detect":
        which = "non_ecn" if statement.starts("random-detect", "non-ecn") else "detects"
        if words[1:2] in _of_cos and current.detects is not None and current.detects.words[1:2] in _of_cos:
            # One for each class of service.
            return
        if getattr(current, which) is not None:
            document.remark(
                f"a second `random-detect` in class {current.name}: the last acts",
                hint="remove the other",
                line=statement.line,
            )
        setattr(current, which, statement)
    elif words[0] in ("bandwidth", "priority", "shape", "queue-limit", "afd"):
        current.others.append(statement)


# On line cards of the Nexus 7000 (quality of service guide for 6.x, M-series I/O modules).
_of_cos = (("cos",), ("cos-based",))


def _with_law(document: Document, queue: Queue, statement: Statement) -> Queue:
    words = Words(document, statement, 1, _example)
    if words.next in ("", "threshold"):
        return _platform_default(document, queue, statement)
    if (words.next,) in _of_cos:
        unknown = "a law for each class of service"
        document.remark(
            f"`random-detect {words.next}` of the Nexus 7000 is not read: it is {unknown}, whose thresholds may be "
            "percent of the queue's memory",
            hint="`show queuing interface` has the sizes; write the law of one class of service in bytes",
            line=statement.line,
            queue=queue.name,
        )
        return replace(queue, unknown=unknown)
    if words.next == "ecn":
        words.refuse("`ecn` is the last word of the line with the thresholds", f"write `{_example}`")
    law = _law(words, Action.MARK)
    law = replace(law, weight=words.whole("a weight", 0, 15) if words.take("weight") else 0)
    if words.take("cap-average"):
        document.remark("`cap-average` is not part of the law here", line=statement.line, queue=queue.name)
    marks = words.take("ecn")
    words.end()
    law = replace(law, source=document.source(statement.line))
    drop = replace(law, action=Action.DROP)
    if marks:
        return replace(queue, mark=law, drop=drop)
    return replace(queue, drop=drop, drop_ect=drop)


def _with_own_law(document: Document, queue: Queue, statement: Statement) -> Queue:
    """`random-detect non-ecn`: packets that are not ECT have a law of their own."""
    words = Words(document, statement, 2, "random-detect non-ecn " + _example.split(" ", 1)[1].partition(" weight")[0])
    law = replace(_law(words, Action.DROP), source=document.source(statement.line))
    words.end()
    if queue.mark is not None:
        # It has no weight: the average is that of the other line.
        law = replace(law, weight=queue.mark.weight)
    return replace(queue, drop=law)


def _law(words: Words, action: Action) -> Law:
    words.expect("minimum-threshold")
    least = words.amount(_units)
    words.expect("maximum-threshold")
    most = words.amount(_units)
    has_probability = words.take("drop-probability")
    percent = words.percent("a probability") if has_probability else Fraction(1)
    if not has_probability and not least.is_same(most):
        words.document.remark(
            "no `drop-probability` is written: read as 100 %", hint="write it", line=words.statement.line
        )
    if least.unit.value == most.unit.value and least.number > most.number:
        words.refuse(f"the minimum of {least} is above the maximum of {most}", "swap or correct them")
    return Law(action, least, most, percent, weight=0, where=Where.DEQUEUE)


def _platform_default(document: Document, queue: Queue, statement: Statement) -> Queue:
    name = statement.words[2] if len(statement.words) > 2 else "burst-optimized"
    document.remark(
        f"`{name}` stands for thresholds of the platform, which the configuration does not have",
        hint="read them from `show queuing interface` and write them into the line",
        line=statement.line,
        queue=queue.name,
    )
    return replace(queue, unknown=f"thresholds of the platform ({name})")


def _with_other(document: Document, queue: Queue, statement: Statement) -> Queue:
    match statement.words[0]:
        case "bandwidth":
            words = Words(document, statement, 1, "bandwidth remaining percent 50")
            words.take("remaining")
            words.expect("percent")
            return queue.served(Scheduler(Serving.WEIGHTED, weight=words.whole("a share", 0, 100)))
        case "priority":
            words = Words(document, statement, 1, "priority level 1")
            level = words.whole("a level", 1, 8) if words.take("level") else 1
            # Level 1 goes first; here the higher priority does.
            return queue.served(Scheduler(Serving.STRICT, priority=9 - level))
        case "shape":
            return replace(queue, shaping=_shaping(document, statement, queue))
        case "queue-limit":
            return replace(queue, buffer=_limit(document, statement, queue))
    document.remark(
        "`afd` is approximate fair dropping, which is not WRED and has no model here",
        hint="simulate a queue of its own law, as in `shoal list queues`",
        line=statement.line,
        queue=queue.name,
    )
    return replace(queue, mark=None, drop=None, drop_ect=None, unknown="approximate fair dropping (afd)")


def _shaping(document: Document, statement: Statement, queue: Queue) -> Shaping | None:
    words = Words(document, statement, 1, _shape_example)
    most = 0
    if words.take("percent"):
        return Shaping(document.port.rate_bps * words.whole("a share", 1, 100) // 100)
    words.take("average")
    while words.next in ("min", "max"):
        which, number, unit = words.any(), words.number(), words.any()
        if unit == "pps":
            document.remark("a shape in packets a second is not read", line=statement.line, queue=queue.name)
            return None
        if unit not in _rates:
            words.refuse(f"`{unit}` is not a unit of a rate")
        most = number * _rates[unit] if which == "max" else most
    words.end()
    return Shaping(most) if most else None


def _limit(document: Document, statement: Statement, queue: Queue) -> Buffer | None:
    words = Words(document, statement, 1, "queue-limit dynamic 4")
    if words.next in ("percent", "cos"):
        what = "a share of the port's memory" if words.next == "percent" else "a limit for each class of service"
        document.remark(
            f"`queue-limit {words.next}` is not read: it is {what}, whose size is not in the configuration",
            hint="--buffer BYTES is what the queue may hold",
            line=statement.line,
            queue=queue.name,
        )
        return queue.buffer
    if words.take("dynamic"):
        index = words.whole("an index of alpha", 0, 10)
        document.remark(
            f"`dynamic {index}` is read as alpha = 2^({index} - 7): the table differs between generations",
            line=statement.line,
            queue=queue.name,
        )
        return Buffer(alpha=Fraction(2) ** (index - 7))
    number = words.number()
    unit = words.unit(_units) if words.next else Unit.BYTES
    return Buffer(limit=Amount(Fraction(number), unit))


def _map(queues: Sequence[Queue], writing: _Writing) -> tuple[list[str], list[str]]:
    """Classes and a policy that put packets into groups by code point, and the line that applies it.

    Groups have the numbers of their queues.
    """
    queue_of = owners(queues)
    numbers = {queue.name: queue.index or 0 for queue in queue_of.values()}
    classes, policy = [], [f"policy-map type qos {writing.options.profile}_IN"]
    for queue in queues:
        if queue.name not in numbers:
            continue
        name = "class-default" if queue.takes_rest else f"{writing.options.profile}_Q{numbers[queue.name]}"
        if not queue.takes_rest:
            classes += [f"class-map type qos match-any {name}", f"  match dscp {in_ranges(queue.dscp)}"]
        policy += [f"  class {name}", f"    set qos-group {numbers[queue.name]}"]
    return classes + policy, [f"  service-policy type qos input {writing.options.profile}_IN"]


def _class(queue: Queue) -> str:
    if queue.name.startswith("c-out"):
        return queue.name
    return "c-out-8q-q-default" if not queue.index else f"c-out-8q-q{queue.index}"


def _statements(queue: Queue, writing: _Writing) -> list[str]:
    lines = []
    if queue.scheduler is not None and queue.scheduler.serving is Serving.WEIGHTED:
        lines.append(f"bandwidth remaining percent {queue.scheduler.weight or 0}")
    elif queue.scheduler is not None:
        lines.append(f"priority level {9 - (queue.scheduler.priority or 8)}")
    if queue.shaping is not None:
        lines.append(_shape(queue.shaping.rate_bps))
    return lines + _limit_lines(queue, writing) + _laws(queue, writing)


def _limit_lines(queue: Queue, writing: _Writing) -> list[str]:
    """The limit of a queue, where the line of the device can say it."""
    if queue.buffer is None:
        return []
    limit, alpha = queue.buffer.limit, queue.buffer.alpha
    line = ""
    if limit is not None and limit.unit in _words_of_units and limit.number.denominator == 1:
        line = f"queue-limit {limit.number} {_words_of_units[limit.unit]}"
    elif alpha is not None:
        index = exponent_of_alpha(alpha, -7, 3, queue, writing) + 7
        line = f"queue-limit dynamic {index}"
        if queue.buffer.reserved_bytes:
            writing.remark(queue, f"{queue.buffer.reserved_bytes} bytes reserved are not written: the device sets them")
    if line and not writing.options.has_limit:
        writing.remark(queue, f"`{line}` is not written: the memory of a switch is shared", "--with-limit writes it")
        return []
    return [line] if line else []


def _shape(rate_bps: int) -> str:
    word = next(word for word in ("gbps", "mbps", "kbps") if rate_bps % _rates[word] == 0 or word == "kbps")
    return f"shape min 0 {word} max {-(-rate_bps // _rates[word])} {word}"


def _laws(queue: Queue, writing: _Writing) -> list[str]:
    refusals = Refusals(queue, "NX-OS")
    needs_thresholds(queue, refusals)
    needs_drops_alike(queue, refusals)
    mark, drop = queue.mark, queue.drop
    lines = []
    if mark is not None:
        lines.append(_line(mark, writing, queue, refusals) + " ecn")
        if drop is None:
            refusals.add(
                "marks without drops: a line with `ecn` drops packets that are not ECT by the same law",
                "give them a law of their own, near the end of the buffer, and --nxos-non-ecn",
            )
        elif not drop.same_curve(mark):
            if not writing.options.has_non_ecn:
                refusals.add(
                    "ECT packets and others have different laws, which only some platforms take (`random-detect "
                    "non-ecn`)",
                    "--nxos-non-ecn, if `random-detect ?` on the device shows it",
                )
            lines.append(_non_ecn_line(drop, mark, writing, queue, refusals))
    elif drop is not None:
        lines.append(_line(drop, writing, queue, refusals))
    refusals.settle()
    decides(queue, writing)
    return lines


def _line(law: Law, writing: _Writing, queue: Queue, refusals: Refusals) -> str:
    fit = fitted(law, writing, queue, refusals, _words_of_units)
    weight = weight_of(law, writing, refusals) or 0
    return f"random-detect {thresholds(fit, _words_of_units)} drop-probability {percent(fit, refusals)} weight {weight}"


def _non_ecn_line(drop: Law, mark: Law, writing: _Writing, queue: Queue, refusals: Refusals) -> str:
    if replace(drop, weight=mark.weight) != drop:
        writing.remark(queue, f"drops follow the average of the marks (weight {mark.weight}), not one of their own")
    fit = fitted(drop, writing, queue, refusals, _words_of_units)
    return f"random-detect non-ecn {thresholds(fit, _words_of_units)} drop-probability {percent(fit, refusals)}"
