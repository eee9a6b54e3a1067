"""What is doubtful about laws on any platform, and the answers to the three questions that decide who gets what."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from shoal.switch.amounts import Port
from shoal.switch.model import Law, Packets, Queue, Remark, Where

# A gap of 1000 bytes was meaningless on Trident 3, and 500 cells was needed (sonic-mgmt#25004).
_least_gap_cells = 500
# tc cannot say 1; a probability this near to it makes no jump.
_all = Fraction(99, 100)


def answers(queue: Queue) -> list[tuple[str, str]]:
    """Answers to the three questions; one that the configuration does not give is `unknown`."""
    return [
        ("Packets that are not ECT", _not_ect(queue)),
        ("Above the maximum", _above(queue)),
        ("What is compared", _compared(queue)),
    ]


def _not_ect(queue: Queue) -> str:
    if queue.unknown:
        return "unknown"
    if own_law(queue):
        return f"by `{own_law(queue)}`, as a controller of its own"
    mark, drop = queue.mark, queue.drop
    if drop is None:
        return "unknown: the platform decides" if not queue.not_ect_known else "dropped only when the buffer is full"
    if mark is None:
        alike = ", like ECT packets" if drop.same_curve(queue.drop_ect) else " of their own"
        return f"dropped by {'the law' if alike[0] == ',' else 'a law'}{alike}: nothing is marked"
    if drop.same_curve(mark):
        return "dropped by the law that marks ECT packets"
    order = ", above that of the marks" if drop.begins_behind(mark) else ""
    order = ", below that of the marks" if mark.begins_behind(drop) else order
    return f"dropped by a law of their own{order}"


def own_law(queue: Queue) -> str:
    """The kind of law that acts beside thresholds, or without them; empty if there is none."""
    kind = str(queue.exact["kind"]) if queue.exact is not None else ""
    return kind if kind in ("codel", "fq-codel", "pie", "dualpi2") else ""


def _above(queue: Queue) -> str:
    if queue.unknown:
        return "unknown"
    mark, drop, drop_ect = queue.mark, queue.drop, queue.drop_ect
    if mark is None and drop is not None and drop_ect is not None:
        return "all packets are dropped"
    parts = []
    whose = "" if mark is None else mark.packets_of(Packets.ECT)
    if mark is not None and drop_ect is not None:
        order = "then" if drop_ect.begins_behind(mark) else "or"
        parts.append(f"{whose} packets are marked, {order} dropped")
    elif mark is not None:
        others = f", and no others by {'this step' if mark.is_step else 'this law'}" if mark.only else ""
        parts.append(f"all {whose} packets are marked{others}")
    elif drop_ect is not None:
        parts.append("all ECT packets are dropped")
    if drop is not None:
        parts.append("all others are dropped")
    if not parts and own_law(queue):
        return f"`{own_law(queue)}` has no maximum"
    return ", ".join(parts) or "nothing, but for the buffer"


def _compared(queue: Queue) -> str:
    if queue.unknown or not queue.laws:
        return "unknown" if queue.unknown else own_law(queue) or "nothing"
    compared = {
        _compared_by(law): f"{law.action.value} of {law.packets_of(packets)}" for packets, law in reversed(queue.laws)
    }
    if len(compared) == 1:
        return next(iter(compared))
    return "; ".join(f"{what} ({whose})" for what, whose in reversed(compared.items()))


def _compared_by(law: Law) -> str:
    if law.min.unit.is_time:
        what = "the packet's own wait"
    elif law.weight is None:
        what = "unknown: the platform's average"
    elif law.weight == 0:
        what = "the queue itself"
    else:
        what = f"an average with weight 2^-{law.weight}"
    when = {Where.ENQUEUE: "at arrival", Where.DEQUEUE: "at departure", Where.UNKNOWN: "where is unknown"}[law.where]
    return f"{what}, {when}"


def remarks(queue: Queue, port: Port) -> Iterator[Remark]:
    """What is doubtful about a queue at a port."""
    port = queue.at(port)
    seen: set[tuple[object, ...]] = set()
    for packets, law in queue.laws:
        if (law.min, law.max, law.pmax, law.weight) not in seen:
            seen.add((law.min, law.max, law.pmax, law.weight))
            yield from _of_law(queue, packets, law, port)
    if queue.mark is not None and queue.drop_ect is not None and not queue.drop_ect.begins_behind(queue.mark):
        yield Remark(
            "the law of drops begins below the end of the law of marks, and it drops ECT packets, too",
            "let its minimum be at least the maximum of the marks",
            queue.drop_ect.source,
            queue.name,
        )


def _of_law(queue: Queue, packets: Packets, law: Law, port: Port) -> Iterator[Remark]:
    def remark(text: str, hint: str = "") -> Remark:
        return Remark(text, hint, law.source, queue.name)

    least, most = law.min.bytes_at(port), law.max.bytes_at(port)
    if least is None or most is None:
        yield remark("thresholds in percent, and the size of the buffer is not known", "--buffer BYTES")
        return
    if least > most:
        yield remark(f"the minimum of {law.min} is above the maximum of {law.max}", "swap or correct them")
        return
    gap = most - least
    is_hardware = queue.exact is None
    if is_hardware and 0 < gap < max(_least_gap_cells * port.cell_bytes if port.cell_bytes > 1 else 0, port.mtu_bytes):
        yield remark(
            f"a ramp of {int(gap)} bytes is no ramp on hardware that counts cells: it acts like a step",
            "make it a step, or at least 500 cells long",
        )
    if packets is Packets.ECT and law is queue.mark:
        if law.pmax < _all and gap >= port.mtu_bytes:
            yield remark(
                f"the probability of marks jumps from {float(law.pmax) * 100:g} % to 100 % at the maximum",
                "for a step as DCTCP has it, write the same minimum and maximum",
            )
        if law.weight:
            yield remark(
                f"marks follow an average (weight 2^-{law.weight}); rules for DCTCP's K assume the queue itself",
                "weight 0, where the platform has it",
            )
    tail = queue.buffer.tail_drop_bytes(port) if queue.buffer is not None else None
    if tail is not None and tail <= least:
        yield remark(
            f"the queue overflows at {tail} bytes, before the minimum of {law.min}: the law never acts",
            "raise the limit of the queue, or lower the thresholds",
        )
    elif tail is not None and tail < most:
        yield remark(
            f"the queue overflows at {tail} bytes, before the maximum of {law.max}: the ramp is never completed",
            "raise the limit of the queue, or lower the maximum",
        )
