"""Writes a queuing policy of Cisco NX-OS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.switch.code_points import in_ranges, owners
from shoal.switch.model import Law, Queue, Serving
from shoal.switch.nxos_read import RATES, UNITS
from shoal.switch.writing import (
    Refusals,
    Writing,
    decides,
    exponent_of_alpha,
    fitted,
    needs_thresholds,
    percent,
    weight_of,
)

_units = {unit: word for word, unit in UNITS.items()}


def write(queues: Sequence[Queue], writing: Writing) -> str:
    """A policy map for some queues, applied to the whole switch.

    Raises
    ------
    UsageError
        NX-OS cannot express one of them.
    """
    lines = [f"policy-map type queuing {writing.profile}"]
    for queue in queues:
        lines.append(f"  class type queuing {_class(queue)}")
        lines += [f"    {line}" for line in _statements(queue, writing)]
    above, of_system = _map(queues, writing) if writing.has_map else ([], [])
    lines += ["system qos", *of_system, f"  service-policy type queuing output {writing.profile}"]
    return "\n".join([*above, *lines]) + "\n"


def _map(queues: Sequence[Queue], writing: Writing) -> tuple[list[str], list[str]]:
    """Classes and a policy that put packets into groups by code point, and the line that applies it.

    Groups have the numbers of their queues.
    """
    found = owners(queues)
    numbers = {queue.name: queue.index or 0 for queue in found.values()}
    classes, policy = [], [f"policy-map type qos {writing.profile}_IN"]
    for queue in queues:
        if queue.name not in numbers:
            continue
        name = "class-default" if queue.takes_rest else f"{writing.profile}_Q{numbers[queue.name]}"
        if not queue.takes_rest:
            classes += [f"class-map type qos match-any {name}", f"  match dscp {in_ranges(queue.dscp)}"]
        policy += [f"  class {name}", f"    set qos-group {numbers[queue.name]}"]
    return classes + policy, [f"  service-policy type qos input {writing.profile}_IN"]


def _class(queue: Queue) -> str:
    if queue.name.startswith("c-out"):
        return queue.name
    return "c-out-8q-q-default" if not queue.index else f"c-out-8q-q{queue.index}"


def _statements(queue: Queue, writing: Writing) -> list[str]:
    lines = []
    if queue.scheduler is not None and queue.scheduler.serving is Serving.WEIGHTED:
        lines.append(f"bandwidth remaining percent {queue.scheduler.weight or 0}")
    elif queue.scheduler is not None:
        lines.append(f"priority level {9 - (queue.scheduler.priority or 8)}")
    if queue.shaping is not None:
        lines.append(_shape(queue.shaping.rate_bps))
    return lines + _limit(queue, writing) + _laws(queue, writing)


def _limit(queue: Queue, writing: Writing) -> list[str]:
    """The limit of a queue, where the line of the device can say it."""
    if queue.buffer is None:
        return []
    limit, alpha = queue.buffer.limit, queue.buffer.alpha
    line = ""
    if limit is not None and limit.unit in _units and limit.number.denominator == 1:
        line = f"queue-limit {limit.number} {_units[limit.unit]}"
    elif alpha is not None:
        index = exponent_of_alpha(alpha, -7, 3, queue, writing) + 7
        line = f"queue-limit dynamic {index}"
        if queue.buffer.reserved_bytes:
            writing.remark(queue, f"{queue.buffer.reserved_bytes} bytes reserved are not written: the device sets them")
    if line and not writing.has_limit:
        writing.remark(queue, f"`{line}` is not written: the memory of a switch is shared", "--with-limit writes it")
        return []
    return [line] if line else []


def _shape(rate_bps: int) -> str:
    word = next(word for word in ("gbps", "mbps", "kbps") if rate_bps % RATES[word] == 0 or word == "kbps")
    return f"shape min 0 {word} max {-(-rate_bps // RATES[word])} {word}"


def _laws(queue: Queue, writing: Writing) -> list[str]:
    refusals = Refusals(queue, "NX-OS")
    needs_thresholds(queue, refusals)
    mark, drop, drop_ect = queue.mark, queue.drop, queue.drop_ect
    lines = []
    if mark is not None:
        lines.append(_line(mark, writing, queue, refusals) + " ecn")
        if drop_ect is not None:
            refusals.add("a law that drops ECT packets beside the one that marks them", "leave drop_ect out")
        if drop is None:
            refusals.add(
                "marks without drops: a line with `ecn` drops packets that are not ECT by the same law",
                "give them a law of their own, near the end of the buffer, and --nxos-non-ecn",
            )
        elif not drop.same_curve(mark):
            if not writing.has_non_ecn:
                refusals.add(
                    "ECT packets and others have different laws, which only some platforms take (`random-detect "
                    "non-ecn`)",
                    "--nxos-non-ecn, if `random-detect ?` on the device shows it",
                )
            lines.append(_non_ecn_line(drop, mark, writing, queue, refusals))
    elif drop is not None:
        if drop_ect is None or not drop_ect.same_curve(drop):
            refusals.add("a law that drops only packets that are not ECT", "add a law that marks the others")
        lines.append(_line(drop, writing, queue, refusals))
    refusals.settle()
    decides(queue, writing)
    return lines


def _line(law: Law, writing: Writing, queue: Queue, refusals: Refusals) -> str:
    own = fitted(law, writing, queue, refusals, _units)
    weight = weight_of(law, writing, refusals) or 0
    return f"random-detect {_thresholds(own)} drop-probability {percent(own, refusals)} weight {weight}"


def _non_ecn_line(drop: Law, mark: Law, writing: Writing, queue: Queue, refusals: Refusals) -> str:
    if replace(drop, weight=mark.weight) != drop:
        writing.remark(queue, f"drops follow the average of the marks (weight {mark.weight}), not one of their own")
    own = fitted(drop, writing, queue, refusals, _units)
    return f"random-detect non-ecn {_thresholds(own)} drop-probability {percent(own, refusals)}"


def _thresholds(law: Law) -> str:
    ends = [f"{end.number} {_units.get(end.unit, 'bytes')}" for end in (law.min, law.max)]
    return f"minimum-threshold {ends[0]} maximum-threshold {ends[1]}"
