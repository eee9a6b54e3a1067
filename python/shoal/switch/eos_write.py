"""Writes transmit queues of Arista EOS."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.switch.code_points import owners
from shoal.switch.eos_read import UNITS_OF_DROP, UNITS_OF_ECN
from shoal.switch.model import Law, Queue, Serving
from shoal.switch.writing import Refusals, Writing, decides, fitted, needs_thresholds, percent, weight_of

_ecn = {unit: word for word, unit in UNITS_OF_ECN.items()}
_drop = {unit: word for word, unit in UNITS_OF_DROP.items()}


def write(queues: Sequence[Queue], writing: Writing) -> str:
    """Transmit queues of interfaces.

    Raises
    ------
    UsageError
        EOS cannot express one of them.
    """
    ports: dict[str, list[str]] = {}
    for queue in queues:
        lines = _statements(queue, writing)
        for port in queue.ports or writing.ports:
            block = ports.setdefault(port, [f"interface {port}"])
            block.append(f"   uc-tx-queue {queue.index or 0}")
            block += [f"      {line}" for line in lines]
    blocks = [line for block in ports.values() for line in block]
    return "\n".join([*(_map(queues) if writing.has_map else []), *blocks]) + "\n"


def _map(queues: Sequence[Queue]) -> list[str]:
    """Code points to traffic classes, which have the numbers of their queues."""
    found = owners(queues)
    lines = []
    for queue in queues:
        if own := [str(point) for point, owner in found.items() if owner is queue]:
            lines.append(f"qos map dscp {' '.join(own)} to traffic-class {queue.index or 0}")
    numbers = dict.fromkeys(queue.index or 0 for queue in found.values())
    return lines + [f"qos map traffic-class {number} to uc-tx-queue {number}" for number in numbers]


def _statements(queue: Queue, writing: Writing) -> list[str]:
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
        own = fitted(mark, writing, queue, refusals, _ecn)
        chance = percent(own, refusals, least=1)
        lines.append(
            f"random-detect ecn {_thresholds(own)} max-mark-probability {chance}{_weight(mark, writing, refusals)}"
        )
    if mark is not None and (drop is None or drop.same_curve(mark)):
        writing.remark(
            queue,
            "what becomes of packets that are not ECT is left to the platform: "
            + ("they should pass" if drop is None else "they should be dropped by the same law"),
            "the counters of drops on the device tell",
        )
    elif drop is not None:
        own = fitted(drop, writing, queue, refusals, _drop)
        chance = percent(own, refusals, least=1)
        lines.append(
            f"random-detect drop {_thresholds(own)} drop-probability {chance}{_weight(drop, writing, refusals)}"
        )
        if drop_ect is None:
            _warn_of_ect(queue, mark, drop, writing)
    if drop_ect is not None and (drop is None or not drop_ect.same_curve(drop)):
        refusals.add("a law that drops ECT packets and not the others alike", "give both the same law")
    refusals.settle()
    decides(queue, writing)
    return lines


def _warn_of_ect(queue: Queue, mark: Law | None, drop: Law, writing: Writing) -> None:
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


def _thresholds(law: Law) -> str:
    ends = [f"{end.number} {_drop.get(end.unit, 'bytes')}" for end in (law.min, law.max)]
    return f"minimum-threshold {ends[0]} maximum-threshold {ends[1]}"


def _weight(law: Law, writing: Writing, refusals: Refusals) -> str:
    weight = weight_of(law, writing, refusals)
    return "" if weight is None else f" weight {weight}"
