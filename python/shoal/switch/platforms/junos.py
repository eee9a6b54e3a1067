"""Classes of service of Junos (QFX, EX and PTX): drop profiles, schedulers and what they are bound to.

After Juniper's documentation (https://www.juniper.net/documentation/us/en/software/junos/): the chapters CoS WRED Drop
Profiles, Drop Profile Maps, Queue Schedulers and CoS Explicit Congestion Notification of the guide for QFX switches,
and the reference of `[edit class-of-service]`. Fill levels are percent of the memory of a queue, and devices compare
their average. With ECN, ECT packets are marked where others would be dropped; whether others are depends on the device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from shoal.errors import UsageError
from shoal.switch.amounts import Unit, whole_bytes
from shoal.switch.code_points import owners
from shoal.switch.model import Buffer, Law, Queue, Serving
from shoal.switch.options import HasMap, HasPorts, HasProfile, declared
from shoal.switch.platforms._junos_read import Reader
from shoal.switch.platforms._junos_text import is_junos
from shoal.switch.platforms.base import Platform
from shoal.switch.reading import Document
from shoal.switch.writing import (
    Refusals,
    Writing,
    decides,
    fitted,
    needs_drops_alike,
    needs_thresholds,
    percent,
    shares,
)

_units = {Unit.PERCENT: "percent"}
_start = "set class-of-service"
# The largest number of a queue on devices with two sets of them.
_largest_queue = 15


def _buffer_bytes(text: str) -> int:
    """The size of a queue's memory.

    Raises
    ------
    UsageError
        It is none.
    """
    if not text.isdecimal() or not int(text):
        raise UsageError(f"`{text}` is not a size in bytes", hint="as in --junos-buffer 2000000")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class JunosOptions(HasMap, HasPorts, HasProfile):
    """The names, the interfaces, the memory that fill levels are of, and whether the classifier is written."""

    buffer_bytes: int | None = declared(
        None, "--junos-buffer", "BYTES",
        "Memory that the device gives the queue, which fill levels are percent of; that of the scenario by default.",
        parse=_buffer_bytes,
    )  # fmt: skip


_Writing = Writing[JunosOptions]


class Junos(Platform[JunosOptions]):
    """Forwarding classes, which have queues and schedulers."""

    name = "junos"
    label = "Junos"
    title = "Junos class of service"
    options = JunosOptions

    def recognises(self, text: str) -> bool:
        """Look for classes of service."""
        return is_junos(text)

    def stated_rates_bps(self, document: Document) -> set[int]:
        """Read the speeds of interfaces."""
        return Reader(document).rates_bps

    def queues(self, document: Document) -> list[Queue]:
        """Read commands or blocks in braces."""
        return Reader(document).queues()

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write commands: forwarding class, scheduler and drop profile of each queue, and a map for the ports."""
        options = writing.options
        parts = shares(queues, writing)
        names = {queue.name: _class_name(queue, options) for queue in queues}
        lines: list[str] = []
        for queue in queues:
            lines += _profile_and_scheduler(queue, names[queue.name], len(queues), parts, writing)
        lines += [
            f"{_start} scheduler-maps {options.profile} forwarding-class {name} scheduler {name}"
            for name in names.values()
        ]
        ports = dict.fromkeys(port for queue in queues for port in queue.ports or options.ports)
        lines += [f"{_start} interfaces {port} scheduler-map {options.profile}" for port in ports]
        if options.has_map:
            lines += _classifier(queues, names, options.profile)
            lines += [f"{_start} interfaces {port} unit 0 classifiers dscp {options.profile}" for port in ports]
        text = f"forwarding classes that the map {options.profile} does not name have no scheduler on its ports"
        writing.remark(queues[0], text, "add them to the map before you load it")
        return "".join(f"{line}\n" for line in lines)


def _class_name(queue: Queue, options: JunosOptions) -> str:
    """The forwarding class of a queue: that which was read, or one of its own."""
    is_name = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,62}", queue.name)
    return queue.name if is_name else f"{options.profile}_Q{queue.index or 0}"


def _profile_and_scheduler(
    queue: Queue, name: str, queues: int, parts: Mapping[str, int], writing: _Writing
) -> list[str]:
    """What a queue has: drop profile, scheduler, and the number of its class."""
    lines, scheduler = [], f"{_start} schedulers {name}"
    if (queue.index or 0) > _largest_queue:
        raise UsageError(f"Junos has no queue {queue.index}", hint=f"--queue 0 to {_largest_queue}")
    if queue.index is not None:
        lines.append(f"{_start} forwarding-classes class {name} queue-num {queue.index}")
    if queue.scheduler is not None and queue.scheduler.serving is Serving.STRICT:
        lines.append(f"{scheduler} priority strict-high")
        if queue.scheduler.priority is not None:
            writing.remark(
                queue, "a priority is not written: of several strict queues no document says which goes first"
            )
    elif queue.scheduler is not None:
        lines.append(f"{scheduler} transmit-rate percent {parts[queue.name]}")
    if queue.shaping is not None:
        lines.append(f"{scheduler} shaping-rate {queue.shaping.rate_bps}")
        if queue.shaping.burst_bytes is not None:
            writing.remark(queue, f"bursts of {queue.shaping.burst_bytes} bytes are not written")
    if law := _law_lines(queue, queues, writing):
        profile, points = law
        lines += [f"{_start} drop-profiles {profile} {words}" for words in points]
        lines.append(f"{scheduler} drop-profile-map loss-priority any protocol any drop-profile {profile}")
        if queue.mark is not None:
            lines.append(f"{scheduler} explicit-congestion-notification")
    return lines if any(line.startswith(scheduler) for line in lines) else [*lines, f"{scheduler} priority low"]


def _law_lines(queue: Queue, queues: int, writing: _Writing) -> tuple[str, list[str]] | None:
    """The name of a drop profile, and its points; ``None`` without a law."""
    refusals = Refusals(queue, Junos.label)
    needs_thresholds(queue, refusals)
    needs_drops_alike(queue, refusals)
    mark, drop = queue.mark, queue.drop
    law = mark or drop
    if mark is not None and drop is not None and not drop.same_curve(mark):
        hint = "--platform nxos --nxos-non-ecn or --platform eos, which have two"
        refusals.add("ECT packets and others have different laws, and a queue has one drop profile", hint)
    points = [] if law is None else _points(law, queue, writing, refusals)
    refusals.settle()
    if law is None:
        return None
    decides(queue, writing)
    if mark is not None:
        wish = "they should pass" if drop is None else "they should be dropped by the same law"
        writing.remark(
            queue,
            f"what becomes of packets that are not ECT is left to the device: {wish}",
            "QFX5100 and EX4600 drop them by the law of marks; the counters of drops tell",
        )
    if law.weight is not None:
        text = (
            f"the average is that of the device: the weight 2^-{law.weight} is not written"
            if law.weight
            else ("the device compares an average of its own, not the queue itself")
        )
        writing.remark(queue, text, "rules for DCTCP's K assume the queue itself")
    return writing.options.profile_of(queue, queues), points


def _points(law: Law, queue: Queue, writing: _Writing, refusals: Refusals) -> list[str]:
    """The pairs of a drop profile, in percent of what the queue may hold."""
    held = writing.options.buffer_bytes or writing.port.buffer_bytes or queue.at(writing.port).buffer_bytes
    if held is None and law.min.unit is not Unit.PERCENT:
        refusals.add("fill levels are percent of the queue's memory, whose size is not known", "--junos-buffer BYTES")
        return []
    with_buffer = replace(queue, buffer=Buffer(limit=whole_bytes(held)) if held is not None else None)
    rounded = fitted(law, writing, with_buffer, refusals, _units)
    least, most = rounded.min.number, rounded.max.number
    if rounded.max.unit is not Unit.PERCENT:
        return []
    if most > 100:
        refusals.add(f"a threshold of {law.max} is above the queue's memory of {held} bytes", "--junos-buffer BYTES")
    if held is not None and law.min.unit is not Unit.PERCENT:
        text = f"fill levels are percent of {held} bytes, 1 % is {float(Fraction(held, 100)):g} bytes"
        writing.remark(queue, text, "--junos-buffer BYTES if the device gives the queue another memory")
    chance = percent(rounded, refusals)
    if rounded.is_step:
        text = "a step is written as `fill-level`; QFX switches other than QFX10000 document `interpolate` alone"
        hint = f"interpolate fill-level [ {least} {least + 1} ] drop-probability [ 0 100 ] is the steepest line there"
        writing.remark(queue, text, hint)
        return [f"fill-level {least} drop-probability 100"]
    if chance < 100 and most < 100:
        text = f"only QFX switches other than QFX10000 mark or drop all packets from {most} % on"
        writing.remark(queue, text, "others go on with a line to 100 % at the full buffer")
    return [
        *(f"interpolate fill-level {level}" for level in (least, most)),
        "interpolate drop-probability 0",
        f"interpolate drop-probability {chance}",
    ]


def _classifier(queues: Sequence[Queue], names: Mapping[str, str], profile: str) -> list[str]:
    """Code points to forwarding classes."""
    queue_of = owners(queues)
    lines = []
    for queue in queues:
        points = [f"{point:06b}" for point, owner in queue_of.items() if owner is queue]
        start = (
            f"{_start} classifiers dscp {profile} forwarding-class {names[queue.name]} loss-priority low code-points"
        )
        lines += [f"{start} {point}" for point in points]
    return lines
