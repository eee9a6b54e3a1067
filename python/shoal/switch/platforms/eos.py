"""Transmit queues of Arista EOS: `random-detect ecn` and `random-detect drop`, scheduling, shaping.

After the templates and schemas of aristanetworks/avd (python-avd/pyavd/_eos_cli_config_gen at 3cac535c).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from shoal.switch.amounts import Amount, Unit
from shoal.switch.code_points import code_points, owners
from shoal.switch.model import Action, Law, Line, Queue, Scheduler, Serving, Shaping, Where
from shoal.switch.options import HasMap, HasPorts
from shoal.switch.platforms.base import Platform
from shoal.switch.presets import COLOURS
from shoal.switch.reading import (
    Document,
    Statement,
    say_kbytes,
    say_speeds_of_interfaces,
    speeds_of_interfaces,
    statements,
)
from shoal.switch.words import Words
from shoal.switch.writing import Refusals, Writing, decides, fitted, needs_thresholds, percent, thresholds, weight_of

_units_of_ecn = {
    "segments": Unit.SEGMENTS,
    "bytes": Unit.BYTES,
    "kbytes": Unit.KBYTES,
    "mbytes": Unit.MBYTES,
    "milliseconds": Unit.MILLISECONDS,
}
_units_of_drop = {**_units_of_ecn, "microseconds": Unit.MICROSECONDS}
_rates = {"kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
_ecn_example = "random-detect ecn minimum-threshold 500 segments maximum-threshold 500 segments weight 0"
_drop_example = "random-detect drop minimum-threshold 800 kbytes maximum-threshold 1600 kbytes drop-probability 10"
_headers = ("interface", "policy-map", "class-map", "router", "vlan", "end", "exit")
# What begins with `qos` and is no statement of an interface or a profile, as `qos trust dscp` is.
_of_switch = ("profile", "map", "random-detect", "rewrite")


_words_of_ecn = {unit: word for word, unit in _units_of_ecn.items()}
_words_of_drop = {unit: word for word, unit in _units_of_drop.items()}


@dataclass(frozen=True, kw_only=True)
class EosOptions(HasMap, HasPorts):
    """The interfaces, and whether the maps of the device are written."""


_Writing = Writing[EosOptions]


class Eos(Platform[EosOptions]):
    """Transmit queues of interfaces and of profiles."""

    name = "eos"
    label = "EOS"
    title = "Arista EOS"
    comment = "!"
    options = EosOptions

    def recognises(self, text: str) -> bool:
        """Look for transmit queues, or for words that only laws of EOS have."""
        return bool(re.search(r"\b(uc-|mc-)?tx-queue\b|random-detect (ecn|drop) minimum", text))

    def stated_rates_bps(self, document: Document) -> set[int]:
        """Read the speeds of interfaces."""
        return set(speeds_of_interfaces(document).values())

    def queues(self, document: Document) -> list[Queue]:
        """Read the transmit queues of a configuration."""
        document.refuse_templates()
        groups, ports, non_ect = _groups(document)
        if not groups:
            document.refuse(
                1,
                "no transmit queue in this file",
                "give a configuration with `tx-queue` or `uc-tx-queue`",
            )
        interfaces = _interfaces(document)
        groups = _on_profiles(groups, interfaces)
        several = len({group.header for group in groups}) > 1
        queues = [group.queue(document, several=several, non_ect=non_ect, interfaces=interfaces) for group in groups]
        queues = [_below(document, queue, ports.get(group.header)) for queue, group in zip(queues, groups, strict=True)]
        queues = _with_whole_buffer(document, queues)
        points = _code_points(document)
        queues = [replace(queue, dscp=points.get(queue.index or 0, ())) for queue in queues]
        _remarks(document, queues)
        return queues

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write transmit queues of interfaces."""
        ports: dict[str, list[str]] = {}
        for queue in queues:
            lines = _statements(queue, writing)
            for port in queue.ports or writing.options.ports:
                block = ports.setdefault(port, [f"interface {port}"])
                block.append(f"   uc-tx-queue {queue.index or 0}")
                block += [f"      {line}" for line in lines]
        blocks = [line for block in ports.values() for line in block]
        return "\n".join([*(_map(queues) if writing.options.has_map else []), *blocks]) + "\n"


@dataclass
class _Group:
    header: str
    kind: str
    index: int
    line: int
    said: dict[str, Statement] = field(default_factory=dict)
    # Interfaces that have the profile and a queue of their own in its place.
    without: list[str] = field(default_factory=list)

    def is_of(self, profile: str, index: int) -> bool:
        """Whether it is a queue of a profile or a policy."""
        kind, _, name = self.header.rpartition(" ")
        return kind != "interface" and (name, self.index) == (profile, index)

    def queue(
        self, document: Document, *, several: bool, non_ect: int, interfaces: Mapping[str, Sequence[str]]
    ) -> Queue:
        kind, _, name = self.header.rpartition(" ")
        of_profile = (port for port in interfaces.get(name, ()) if port not in self.without)
        ports = (name,) if kind == "interface" else tuple(of_profile)
        if kind == "qos profile" and not interfaces.get(name):
            document.remark(
                f"no interface of this file has the profile `{name}`",
                hint="its queues are read as if one had it",
                line=self.line,
            )
        number = f"mc{self.index}" if self.kind == "mc-tx-queue" else str(self.index)
        queue = Queue(
            name=f"{number}@{self.header.rpartition(' ')[2]}" if several else number,
            index=self.index,
            ports=ports,
            source=document.source(self.line),
        )
        for name, statement in self.said.items():
            match name:
                case "ecn":
                    queue = replace(queue, mark=_mark(document, statement))
                case "drop":
                    law = _drop(document, statement)
                    queue = replace(queue, drop=law, drop_ect=law)
                case "priority":
                    if statement.starts("priority", "strict"):
                        queue = queue.served(Scheduler(Serving.STRICT, priority=self.index))
                case "bandwidth":
                    queue = queue.served(_share(document, statement))
                case "shape":
                    queue = replace(queue, shaping=_shaping(document, statement))
        return _settled(document, queue, non_ect)


def _below(document: Document, queue: Queue, statement: Statement | None) -> Queue:
    """A queue with the shaper of its port, which stands in front of its queues."""
    shaping = _shaping(document, statement) if statement is not None else None
    if statement is None or shaping is None:
        return queue
    source = document.source(statement.line)
    return replace(queue, lines=(Line(f"port (line {statement.line})", rate_bps=shaping.rate_bps, source=source),))


def _groups(document: Document) -> tuple[list[_Group], dict[str, Statement], int]:
    """Queues with their statements, shapers of ports, and the line of `qos random-detect ecn allow non-ect`.

    The line is 0 without it. The shapers are by the interface or profile in which they stand.
    """
    groups: list[_Group] = []
    ports: dict[str, Statement] = {}
    non_ect = 0
    header = ""
    current: _Group | None = None
    for statement in statements(document):
        words = statement.words
        if statement.starts("qos", "random-detect", "ecn", "allow", "non-ect"):
            non_ect = statement.line
        elif _is_header(words):
            header, current = " ".join(words), None
        elif _queue_of(words) is not None:
            kind, index = _queue_of(words) or ("", 0)
            current = next(
                (group for group in groups if (group.header, group.kind, group.index) == (header, kind, index)), None
            )
            if current is None:
                current = _Group(header, kind, index, statement.line)
                groups.append(current)
        elif current is not None:
            _take(document, current, statement)
        elif statement.starts("shape", "rate") and header:
            ports[header] = statement
    return groups, ports, non_ect


def _interfaces(document: Document) -> dict[str, list[str]]:
    """The interfaces that have each profile (`service-profile NAME`)."""
    interfaces: dict[str, list[str]] = {}
    name = ""
    for statement in statements(document):
        if _is_header(statement.words):
            name = statement.words[-1] if statement.starts("interface") else ""
        elif name and statement.words[:-1] in _applied:
            interfaces.setdefault(statement.words[-1], []).append(name)
    return {profile: list(dict.fromkeys(names)) for profile, names in interfaces.items()}


# How an interface gets the queues of a profile or a policy.
_applied = (("service-profile",), ("service-policy", "type", "tx-queue", "output"))


def _is_header(words: tuple[str, ...]) -> bool:
    """Whether a statement ends that of an interface or a profile; texts that were pasted may lack all indents."""
    return words[0] in _headers or (words[0] == "qos" and words[1:2] != () and words[1] in _of_switch)


def _on_profiles(groups: list[_Group], interfaces: Mapping[str, Sequence[str]]) -> list[_Group]:
    """The queues where an interface has a profile and statements of its own for one of its queues: its own go before.

    One without any that is about laws or service, such as `random-detect ecn count`, is that of the profile.
    """
    profile_of = {name: profile for profile, names in interfaces.items() for name in names}
    settled = []
    for group in groups:
        kind, _, name = group.header.rpartition(" ")
        profile = profile_of.get(name, "") if kind == "interface" else ""
        common = next((each for each in groups if each.is_of(profile, group.index)), None) if profile else None
        if common is not None and group.said:
            common.without.append(name)
            group.said = {**common.said, **group.said}
        if common is None or group.said:
            settled.append(group)
    return settled


def _with_whole_buffer(document: Document, queues: list[Queue]) -> list[Queue]:
    """The queues; those of a switch that marks by how full its whole buffer is have a law that is not read."""
    whole = next((each for each in statements(document) if each.starts(*_whole_buffer)), None)
    if whole is None:
        return queues
    document.remark(
        "`ecn global-buffer` is not read: it marks packets of all queues by how full the whole buffer is",
        hint="what it does depends on the other ports; laws of queues are shown without it",
        line=whole.line,
    )
    unknown = "marks by how full the whole buffer is"
    return [queue if queue.mark is not None else replace(queue, unknown=unknown) for queue in queues]


_whole_buffer = ("qos", "random-detect", "ecn", "global-buffer")
# What leads packets to traffic classes by something else than their code point.
_undecided = (("qos", "trust", "cos"), ("qos", "map", "cos"), ("service-policy", "type", "qos", "input"))


def _code_points(document: Document) -> dict[int, tuple[int, ...]]:
    """The code points that the maps of the device lead to each queue, by its number.

    A traffic class has the queue of its own number if no line says otherwise. The map that a device has without such
    lines depends on the platform, so code points that no line names are of no queue here.
    """
    classes: dict[int, int] = {}
    queue_of: dict[int, int] = {}
    for statement in statements(document):
        words = statement.words
        if statement.starts("qos", "map", "dscp") and "to" in words:
            to = words.index("to")
            points = code_points(words[3:to])
            if points is None:
                document.refuse_statement(statement, "not code points", "as in qos map dscp 8 9 10 to traffic-class 1")
            line = Words(document, statement, to + 1, "qos map dscp 8 9 10 to traffic-class 1")
            line.expect("traffic-class")
            number = line.whole("a traffic class", 0, 7)
            classes |= dict.fromkeys(points, number)
        elif any(statement.starts(*start) for start in _undecided):
            document.leave_undecided(f"`{' '.join(words[:3])}`", statement.line)
        elif statement.starts("qos", "map", "traffic-class") and "to" in words:
            to = words.index("to")
            line = Words(document, statement, to + 1, "qos map traffic-class 1 to tx-queue 1")
            if line.take("tx-queue", "uc-tx-queue"):
                numbers = [int(word) for word in words[3:to] if word.isdecimal()]
                queue_of |= dict.fromkeys(numbers, line.whole("a queue", 0, 63))
    points_of: dict[int, list[int]] = {}
    for point, number in classes.items():
        points_of.setdefault(queue_of.get(number, number), []).append(point)
    return {queue: tuple(sorted(points)) for queue, points in points_of.items()}


def _queue_of(words: tuple[str, ...]) -> tuple[str, int] | None:
    """Kind and number of a line such as ``uc-tx-queue 3`` or ``class tx-queue 3``."""
    rest = words[1:] if words[0] == "class" else words
    if len(rest) == 2 and rest[0] in ("tx-queue", "uc-tx-queue", "mc-tx-queue") and rest[1].isdecimal():
        return rest[0], int(rest[1])
    return None


def _take(document: Document, current: _Group, statement: Statement) -> None:
    words = statement.words
    name = words[0]
    if name == "no":
        return
    if name == "random-detect":
        name = words[1] if len(words) > 1 else ""
        if statement.starts("random-detect", "ecn", "count"):
            return  # It counts marked packets.
        if name not in ("ecn", "drop"):
            document.refuse_statement(
                statement, "expected `ecn` or `drop` after `random-detect`", f"as in `{_ecn_example}`"
            )
    elif name not in ("priority", "bandwidth", "shape"):
        return
    precedence = _precedence(statement)
    if name == "drop" and precedence is not None and precedence != COLOURS.index(document.switch.colour):
        # Each acts on packets of its own precedence.
        document.remark(
            f"the law of drop precedence {precedence} in {current.kind} {current.index} is not read: it is for packets "
            "of that precedence alone",
            hint=f"--colour {COLOURS[precedence]} reads it" if precedence < len(COLOURS) else "",
            line=statement.line,
        )
        return
    if name in current.said:
        document.remark(
            f"a second `{' '.join(words[:2])}` in {current.kind} {current.index}: the last acts",
            hint="remove the other",
            line=statement.line,
        )
    current.said[name] = statement


def _precedence(statement: Statement) -> int | None:
    """The drop precedence that a law is for; ``None`` if none is written."""
    words = statement.words[2:4]
    return int(words[1]) if len(words) == 2 and words[0] == "drop-precedence" and words[1].isdecimal() else None


def _mark(document: Document, statement: Statement) -> Law:
    words = Words(document, statement, 2, _ecn_example)
    words.expect("minimum-threshold")
    least = words.amount(_units_of_ecn)
    words.expect("maximum-threshold")
    most = words.amount(_units_of_ecn)
    if not words.take("max-mark-probability"):
        percent = Fraction(1)
        if not least.is_same(most):
            document.remark("no `max-mark-probability` is written: read as 100 %", hint="write it", line=statement.line)
    else:
        percent = Fraction(words.whole("a probability", 1, 100), 100)
    return _law(words, Action.MARK, (least, most, percent))


def _drop(document: Document, statement: Statement) -> Law:
    words = Words(document, statement, 2, _drop_example)
    if words.take("drop-precedence"):
        words.whole("a drop precedence", 0, 2)
    words.expect("minimum-threshold")
    least = words.amount(_units_of_drop)
    words.expect("maximum-threshold")
    most = words.amount(_units_of_drop)
    words.expect("drop-probability")
    percent = Fraction(words.whole("a probability", 1, 100), 100)
    return _law(words, Action.DROP, (least, most, percent))


def _law(words: Words, action: Action, numbers: tuple[Amount, Amount, Fraction]) -> Law:
    least, most, percent = numbers
    weight = words.whole("a weight", 0, 15) if words.take("weight") else None
    words.end()
    if least.unit is not most.unit and (least.unit.is_time or most.unit.is_time):
        words.refuse("one threshold is a time and the other is not", "write both in the same unit")
    if least.unit is most.unit and least.number > most.number:
        words.refuse(f"the minimum of {least} is above the maximum of {most}", "swap or correct them")
    source = words.document.source(words.statement.line)
    return Law(action, least, most, percent, weight=weight, where=Where.DEQUEUE, source=source)


def _share(document: Document, statement: Statement) -> Scheduler:
    words = Words(document, statement, 1, "bandwidth percent 30")
    words.take("guaranteed")
    words.expect("percent")
    return Scheduler(Serving.WEIGHTED, weight=words.whole("a share", 1, 100))


def _shaping(document: Document, statement: Statement) -> Shaping | None:
    words = Words(document, statement, 1, "shape rate 1000000 kbps")
    words.expect("rate")
    number = words.number()
    unit = words.next or "kbps"
    if unit == "percent" and number <= 100:
        return Shaping(document.port.rate_bps * number // 100)
    if unit not in _rates:
        document.remark(f"a shape in `{unit}` is not read", hint="write it in kbps", line=statement.line)
        return None
    return Shaping(number * _rates[unit])


def _settled(document: Document, queue: Queue, non_ect: int) -> Queue:
    """Say what becomes of packets that are not ECT, and of ECT packets below a law of drops."""
    if queue.mark is not None and queue.drop is None:
        if non_ect:
            document.remark(
                "`allow non-ect` is there: packets that are not ECT pass the law of marks",
                hint="what it does differs between platforms; look at the counters of drops",
                line=non_ect,
                queue=queue.name,
            )
            return queue
        return replace(queue, not_ect_known=False)
    return queue


def _remarks(document: Document, queues: list[Queue]) -> None:
    say_kbytes(document, queues)
    say_speeds_of_interfaces(document, queues)
    units = {end.unit for queue in queues for _, law in queue.laws for end in (law.min, law.max)}
    if Unit.SEGMENTS in units and not document.segment_known and document.switch.segment_bytes is None:
        document.remark(
            f"segments are read as {document.port.segment_bytes} bytes: 208 on Trident 2 and Tomahawk, 256 on Trident "
            "3, 254 from Tomahawk 3 on",
            hint="--segment-bytes N, or --switch NAME of `shoal list switches`",
        )
    for queue in queues:
        if any(law.weight is None for _, law in queue.laws):
            document.remark(
                "no weight is written: read as 0, the default of Trident and Tomahawk",
                hint="write `weight 0`, so that marks follow the queue itself",
                queue=queue.name,
            )
        if not queue.not_ect_known:
            document.remark(
                "what becomes of packets that are not ECT is left to the platform: some chips drop them by the law of "
                "marks, others only when the buffer is full",
                hint="simulate both: --not-ect drop and --not-ect pass",
                queue=queue.name,
            )


def _map(queues: Sequence[Queue]) -> list[str]:
    """Code points to traffic classes, which have the numbers of their queues."""
    queue_of = owners(queues)
    lines = []
    for queue in queues:
        if points := [str(point) for point, owner in queue_of.items() if owner is queue]:
            lines.append(f"qos map dscp {' '.join(points)} to traffic-class {queue.index or 0}")
    numbers = dict.fromkeys(queue.index or 0 for queue in queue_of.values())
    return lines + [f"qos map traffic-class {number} to uc-tx-queue {number}" for number in numbers]


def _statements(queue: Queue, writing: _Writing) -> list[str]:
    lines = []
    if queue.scheduler is not None and queue.scheduler.serving is Serving.STRICT:
        lines.append("priority strict")
    elif queue.scheduler is not None:
        lines += ["no priority", f"bandwidth percent {queue.scheduler.weight or 1}"]
    if queue.shaping is not None:
        lines.append(f"shape rate {-(-queue.shaping.rate_bps // 1000)} kbps")
    refusals = Refusals(queue, "EOS")
    needs_thresholds(queue, refusals)
    mark, drop, drop_ect = queue.mark, queue.drop, queue.drop_ect
    if mark is not None:
        words = _law_words(mark, queue, writing, refusals, _words_of_ecn, "max-mark-probability")
        lines.append(f"random-detect ecn {words}")
    if mark is not None and (drop is None or drop.same_curve(mark)):
        writing.remark(
            queue,
            "what becomes of packets that are not ECT is left to the platform: "
            + ("they should pass" if drop is None else "they should be dropped by the same law"),
            "the counters of drops on the device tell",
        )
    elif drop is not None:
        words = _law_words(drop, queue, writing, refusals, _words_of_drop, "drop-probability")
        lines.append(f"random-detect drop {words}")
        if drop_ect is None:
            _warn_of_ect(queue, mark, drop, writing)
    if drop_ect is not None and (drop is None or not drop_ect.same_curve(drop)):
        refusals.add("a law that drops ECT packets and not the others alike", "give both the same law")
    refusals.settle()
    decides(queue, writing)
    return lines


def _warn_of_ect(queue: Queue, mark: Law | None, drop: Law, writing: _Writing) -> None:
    """`random-detect drop` is about ECT packets, too: harmless only above where all of them are marked."""
    port = writing.port
    begins, ends = drop.min.bytes_at(port), mark.max.bytes_at(port) if mark is not None else None
    if ends is None or begins is None or begins < ends:
        writing.remark(
            queue,
            "the law of drops is about ECT packets, too, and it begins below the end of the law of marks",
            "let it begin at the maximum of the marks or above",
        )
    else:
        writing.remark(queue, f"above {drop.min} ECT packets are dropped, too: `random-detect drop` tells none apart")


def _law_words(
    law: Law, queue: Queue, writing: _Writing, refusals: Refusals, units: Mapping[Unit, str], probability: str
) -> str:
    fit = fitted(law, writing, queue, refusals, units)
    chance = percent(fit, refusals, least=1)
    weight = weight_of(law, writing, refusals)
    return f"{thresholds(fit, units)} {probability} {chance}" + ("" if weight is None else f" weight {weight}")
