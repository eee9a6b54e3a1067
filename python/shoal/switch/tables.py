"""Tables of what was read, as the command line shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shoal.stats import single
from shoal.switch.amounts import Amount, Port
from shoal.switch.checks import answers, own_law
from shoal.switch.code_points import in_ranges
from shoal.switch.model import Queue, Remark
from shoal.table import Table
from shoal.words import milliseconds, rate


def law_table(queues: Sequence[Queue], port: Port) -> Table:
    """One row a law: thresholds as written, in bytes, and as waiting time at the rate of the port."""
    columns = (
        "Queue",
        "Packets",
        "Does",
        "Min",
        "Max",
        "At max",
        "Average",
        "Min, B",
        "Max, B",
        "Min, time",
        "Max, time",
    )
    rows = [row for queue in queues for row in _rows(queue, port)]
    return Table("Laws", columns, rows, words=3)


def _rows(queue: Queue, port: Port) -> Iterable[tuple[str, ...]]:
    port = queue.at(port)
    if queue.unknown:
        yield (queue.name, "all", f"unknown: {queue.unknown}", *("-" for _ in range(8)))
        return
    if own_law(queue) or not queue.laws:
        yield (queue.name, "all", own_law(queue) or "tail drop", *("-" for _ in range(8)))
    for packets, law in queue.laws:
        ends = (law.min, law.max)
        chance = "step" if law.is_step else f"{float(law.pmax) * 100:.6g} %"
        yield (
            queue.name,
            law.packets_of(packets),
            law.action.value,
            *(str(end) for end in ends),
            chance,
            "-" if law.weight is None else "none" if law.weight == 0 else f"2^-{law.weight}",
            *(_in_bytes(end, port) for end in ends),
            *(_in_time(end, port) for end in ends),
        )


def _in_bytes(amount: Amount, port: Port) -> str:
    size = amount.whole_bytes_at(port)
    return "-" if size is None else f"{size:,}"


def _in_time(amount: Amount, port: Port) -> str:
    seconds = amount.seconds_at(port)
    if seconds is None:
        return "-"
    return milliseconds(single(float(seconds)))


def answer_table(queues: Sequence[Queue]) -> Table:
    """The three questions that decide what a queue does to DCTCP and to CUBIC."""
    answered = [(queue, answers(queue)) for queue in queues]
    heads = tuple(question for question, _ in answered[0][1]) if answered else ()
    rows = [(queue.name, *(answer for _, answer in pairs)) for queue, pairs in answered]
    return Table("What it does", ("Queue", *heads), rows, words=len(heads) + 1)


def service_table(queues: Sequence[Queue], port: Port) -> Table | None:
    """How queues are served and what they may hold; ``None`` if nothing of it is in the configuration."""
    rows = []
    for queue in queues:
        parts = (
            str(queue.scheduler) if queue.scheduler is not None else "-",
            _at_most(queue, port),
            _limit(queue, port),
            "all others" if queue.takes_rest else in_ranges(queue.dscp) or "-",
            _ports(queue),
        )
        if any(part != "-" for part in parts):
            rows.append((queue.name, *parts))
    if not rows:
        return None
    return Table("Service", ("Queue", "Served", "At most", "Holds", "DSCP", "Ports"), rows, words=6)


def _at_most(queue: Queue, port: Port) -> str:
    """The rate of its shaper, or of the lines above it if they are slower than the port."""
    rates = [queue.shaping.rate_bps] if queue.shaping is not None else []
    rates += [queue.at(port).rate_bps] if queue.at(port).rate_bps < port.rate_bps else []
    return rate(single(float(min(rates)))) if rates else "-"


def _limit(queue: Queue, port: Port) -> str:
    buffer = queue.buffer
    if buffer is None:
        return "-"
    total = buffer.tail_drop_bytes(port)
    if buffer.alpha is not None:
        alpha = f"alpha {buffer.alpha}"
        return f"{alpha}; alone {total:,} B" if total is not None else alpha
    return "-" if total is None else f"{total:,} B"


def _ports(queue: Queue) -> str:
    if not queue.ports:
        return "-"
    return queue.ports[0] if len(queue.ports) == 1 else f"{queue.ports[0]} and {len(queue.ports) - 1} more"


def merged(remarks: Iterable[Remark]) -> list[tuple[str, str]]:
    """Remarks as texts and hints: what is said of several queues is said once, with their names."""
    # Dictionaries keep the order, and thousands of queues may have the same remark.
    queues: dict[tuple[str, str], dict[str, None]] = {}
    places: dict[tuple[str, str], str] = {}
    for remark in remarks:
        key = (remark.text, remark.hint)
        places.setdefault(key, f"{remark.source}: " if remark.source is not None else "")
        names = queues.setdefault(key, {})
        if remark.queue:
            names[remark.queue] = None
    texts = []
    for (text, hint), names in queues.items():
        word = "queues" if len(names) > 1 else "queue"
        whose = f"{word} {', '.join(names)}: " if names else ""
        texts.append((f"{places[text, hint]}{whose}{text}", hint))
    return texts
