"""A scenario with DCTCP and CUBIC behind a queue that was read; :mod:`shoal.switch.several` has all of a port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, cast

from shoal._toml import toml_file
from shoal.errors import UsageError
from shoal.switch.amounts import Port, rounded_up, whole_bytes
from shoal.switch.checks import own_law
from shoal.switch.model import Action, Law, Line, NotEct, Queue, Remark, Shaping, Where

if TYPE_CHECKING:
    from shoal.scenario_keys import (
        Bottleneck,
        ClassesQueueAqm,
        Flow,
        Impairments,
        ScenarioKeys,
        Wred,
        WredMark,
    )

# Round trips that a run takes: enough for alpha (16 windows) and for CUBIC's periods at these rates.
_round_trips = 2000
# And several retransmission timeouts, of which Linux' smallest is 200 ms: a flow that lost its first window comes back.
_least_s = 1
# More than any queue of a switch holds.
_beyond_bytes = 10**12


@dataclass(frozen=True, slots=True)
class Group:
    """Flows of a controller.

    Attributes
    ----------
    controller
        Its name in scenarios.
    count
        How many flows.
    queue
        Name or number of the queue that they join; empty if that is not said.
    asks_for_ecn
        Whether they ask for ECN although their controller usually does not.
    """

    controller: str
    count: int
    queue: str = ""
    asks_for_ecn: bool = False

    def __str__(self) -> str:
        return f"{self.controller}*{self.count}" + (f"@{self.queue}" if self.queue else "")


@dataclass(frozen=True)
class Experiment:
    """What is run behind a queue.

    Attributes
    ----------
    port
        The port.
    rtt_s
        Round trip without queueing in seconds.
    groups
        Groups of flows.
    host
        Preset of the hosts; ``None``: by the rate of the port.
    not_ect
        What becomes of packets that are not ECT where the configuration does not say it: ``drop`` by the law of marks,
        or ``pass``.
    buffer_bytes
        What the queue may hold, or the memory that several queues share, if the configuration does not say it.
    where
        When marks are decided, if the configuration does not say it.
    lines
        What the configuration makes of the link; its rate and its delay are in ``port`` and ``rtt_s`` already.
    """

    port: Port
    rtt_s: Fraction
    groups: tuple[Group, ...] = (Group("dctcp", 4), Group("cubic", 4))
    host: str | None = None
    not_ect: str = "pass"
    buffer_bytes: int | None = None
    where: Where = Where.DEQUEUE
    lines: tuple[Line, ...] = ()
    remarks: list[Remark] = field(default_factory=list)

    @property
    def host_preset(self) -> str:
        """Hosts that send in bursts, as real ones of this speed do."""
        if self.host is not None:
            return self.host
        for limit, name in ((10**9, "ideal"), (10**10, "linux-6-10g"), (25 * 10**9, "linux-6-25g")):
            if self.port.rate_bps <= limit:
                return name
        return "linux-6-100g"


def scenario_text(queue: Queue, experiment: Experiment, *, title: str) -> str:
    """A scenario file with DCTCP and CUBIC behind a queue; what is assumed is noted in ``experiment.remarks``.

    Raises
    ------
    UsageError
        The law of the queue is not known, or flows name another queue.
    """
    named = [group for group in experiment.groups if group.queue and group.queue not in (queue.name, str(queue.index))]
    if named:
        raise UsageError(
            f"`{named[0]}`: the scenario has one queue, {queue.name}",
            hint="leave --queue out for a scenario with all queues of a port",
        )
    (queue,), experiment = on_lines([queue], experiment)
    keys = without_law(experiment, buffer=buffer_of(queue, experiment), title=title)
    keys["bottleneck"]["aqm"] = aqm_of(queue, experiment)
    keys["flows"] = [flow_of(group, experiment, name=group.controller) for group in experiment.groups]
    return toml_file(keys)


def without_law(experiment: Experiment, *, buffer: str, title: str) -> ScenarioKeys:
    """The keys of a scenario that has neither a law nor flows yet."""
    duration_s = max(_round_trips * experiment.rtt_s, Fraction(_least_s))
    link: Bottleneck = {"rate": rate_text(experiment.port.rate_bps), "buffer": buffer}
    for line in experiment.lines:
        if line.delay_s:
            link["delay"] = _time(line.delay_s)
        if line.overhead_bytes:
            link["overhead"] = f"{line.overhead_bytes} B"
        if line.impairments:
            link["impairments"] = cast("Impairments", dict(line.impairments))
    return {
        "title": title,
        "duration": _time(duration_s),
        "warmup": _time(duration_s / 4),
        "bottleneck": link,
        "flows": [],
    }


def on_lines(queues: Sequence[Queue], experiment: Experiment) -> tuple[list[Queue], Experiment]:
    """Queues, and the experiment on the link that the lines above all of them make.

    A line that only some have is a shaper of each of them.

    Raises
    ------
    UsageError
        A scenario cannot have a line; the message has its place.
    """
    names = [{line.name for line in queue.lines} for queue in queues]
    shared = set.intersection(*names) if names else set()
    lines = {line.name: line for queue in queues for line in queue.lines if line.name in shared}
    shaped = [_shaped(queue, [line for line in queue.lines if line.name not in shared]) for queue in queues]
    for line in lines.values():
        if line.refusal:
            raise _refused_line(line, line.refusal, "the laws are shown without --out")
    paths = [line for line in lines.values() if line.impairments or line.delay_s or line.overhead_bytes]
    if len(paths) > 1:
        raise _refused_line(paths[1], f"a second path behind {paths[0].name}: a scenario has one link")
    rates = [line.rate_bps for line in lines.values() if line.rate_bps is not None]
    rate_bps = min([experiment.port.rate_bps, *rates])
    if rate_bps < experiment.port.rate_bps:
        line = next(line for line in lines.values() if line.rate_bps == rate_bps)
        text = f"the rate of {line.name}, {rate_text(rate_bps)}, is that of the scenario's link"
        text += f"; its bursts of {line.burst_bytes} bytes are left out" if line.burst_bytes is not None else ""
        experiment.remarks.append(Remark(text))
    delay_s = sum((line.delay_s for line in paths), Fraction(0))
    if delay_s:
        before = _time(experiment.rtt_s)
        text = f"the delay of {paths[0].name}, {_time(delay_s)}, is added to the round trip of {before}"
        experiment.remarks.append(Remark(text))
    port = replace(experiment.port, rate_bps=rate_bps)
    return shaped, replace(experiment, port=port, rtt_s=experiment.rtt_s + delay_s, lines=tuple(paths))


def _shaped(queue: Queue, lines: Sequence[Line]) -> Queue:
    """A queue with the lines that other queues do not have as its shaper."""
    for line in lines:
        if line.refusal or line.impairments or line.delay_s or line.overhead_bytes:
            raise _refused_line(line, line.refusal or f"{line.name} is the path of one queue of several")
        if line.borrows:
            most = rate_text(line.rate_bps or 0)
            reason = f"the class of queue {queue.name} borrows what others leave, up to {most}"
            raise _refused_line(line, f"{reason}: queues of a scenario do not")
    limits = [line for line in lines if line.rate_bps is not None]
    if not limits:
        return queue
    least = min(limits, key=lambda line: line.rate_bps or 0)
    return replace(queue, shaping=Shaping(least.rate_bps or 0, least.burst_bytes))


def _refused_line(
    line: Line, reason: str, hint: str = "--queue NAME makes a scenario of one queue alone"
) -> UsageError:
    where = f"{line.source}: " if line.source is not None else ""
    return UsageError(f"{where}{reason}", hint=hint)


def flow_of(group: Group, experiment: Experiment, *, name: str) -> Flow:
    """The keys of a group of flows."""
    rtt = _time(experiment.rtt_s)
    flow: Flow = {
        "name": name,
        "cc": group.controller,
        "rtt": rtt,
        "count": group.count,
        "host": experiment.host_preset,
        "start": {"uniform": ["0 s", rtt]},
    }
    return {**flow, "ecn": "on"} if group.asks_for_ecn else flow


def _time(seconds: Fraction) -> str:
    """A time in the largest unit in which it is whole."""
    for unit, per_second in (("s", 1), ("ms", 10**3), ("us", 10**6)):
        if (seconds * per_second).denominator == 1:
            return f"{seconds * per_second} {unit}"
    return f"{ceil(seconds * 10**9)} ns"


def rate_text(rate_bps: int) -> str:
    """A rate in the largest unit in which it is whole."""
    for unit, factor in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if rate_bps % factor == 0:
            return f"{rate_bps // factor} {unit}"
    return f"{rate_bps} bit/s"


def aqm_of(queue: Queue, experiment: Experiment) -> ClassesQueueAqm:
    """The law as the table ``bottleneck.aqm``.

    Raises
    ------
    UsageError
        It is not known.
    """
    if queue.unknown:
        raise UsageError(
            f"the law of queue {queue.name} is not known: {queue.unknown}",
            hint="give its thresholds in the configuration",
        )
    if queue.exact is not None:
        return cast("ClassesQueueAqm", dict(queue.exact))  # what tc has read, key by key
    if not queue.laws:
        return {"kind": "fifo"}
    drop = queue.drop
    if queue.not_ect is NotEct.PLATFORM and queue.mark is not None and experiment.not_ect == "drop":
        drop = replace(queue.mark, action=Action.DROP)
    aqm: Wred = {"kind": "wred"}
    port = queue.at(experiment.port)
    if queue.mark is not None:
        aqm["mark"] = _table(queue.mark, port)
    if drop is not None:
        aqm["drop"] = _table(drop, port)
    if queue.drop_ect is not None:
        aqm["drop_ect"] = _table(queue.drop_ect, port)
    weights = {law.weight or 0 for law in (queue.mark, drop, queue.drop_ect) if law is not None}
    if len(weights) > 1:
        experiment.remarks.append(
            Remark("the laws have different weights, the scenario one: that of the marks", queue=queue.name)
        )
    first = queue.mark or queue.drop or queue.drop_ect
    aqm["weight"] = (first.weight if first is not None else None) or 0
    where = first.where if first is not None else Where.UNKNOWN
    if where is Where.UNKNOWN:
        where = experiment.where
    if where is Where.UNKNOWN:
        where = Where.DEQUEUE
        experiment.remarks.append(
            Remark(
                "where marks are decided is not known: the scenario decides at dequeue",
                "--switch NAME of `shoal list switches`, or --set bottleneck.aqm.decide=enqueue",
                queue=queue.name,
            )
        )
    aqm["decide"] = "enqueue" if where is Where.ENQUEUE else "dequeue"
    if experiment.port.cell_bytes > 1:
        aqm["cell"] = f"{experiment.port.cell_bytes} B"
    return aqm


def _reachable(law: Law, port: Port) -> Law:
    """A law whose maximum no buffer reaches, up to a maximum that a scenario can write: with the same slope."""
    least, most = law.min.bytes_at(port), law.max.bytes_at(port)
    if least is None or most is None or most <= _beyond_bytes or least >= _beyond_bytes:
        return law
    part = (_beyond_bytes - least) / (most - least)
    return replace(law, min=whole_bytes(rounded_up(least, 1)), max=whole_bytes(_beyond_bytes), pmax=law.pmax * part)


def _table(law: Law, port: Port) -> WredMark:
    law = _reachable(law, port)
    ends = [amount.in_scenario(port) for amount in (law.min, law.max)]
    if None not in ends and len({str(end).rpartition(" ")[2] for end in ends}) > 1:
        # A law of kind "wred" compares both in the same unit.
        ends = [f"{rounded_up(amount.bytes_at(port) or 0, 1)} B" for amount in (law.min, law.max)]
    least, most = ends
    if least is None or most is None:
        raise UsageError("thresholds in percent, and the size of the buffer is not known", hint="--buffer BYTES")
    return {"min": least, "max": most, "max_probability": 1.0 if law.is_step else float(law.pmax)}


def buffer_of(queue: Queue, experiment: Experiment) -> str:
    """What a queue may hold, as a scenario has it; an assumption where the configuration does not say it."""
    port = experiment.port
    if queue.buffer is not None and queue.buffer.limit is not None and queue.buffer.reserved_bytes == 0:
        return queue.buffer.limit.in_scenario(port) or f"{port.buffer_bytes} B"
    stated = queue.buffer.tail_drop_bytes(port) if queue.buffer is not None else None
    known = stated if stated is not None else experiment.buffer_bytes
    if known is not None:
        return whole_bytes(known).in_scenario(port) or ""
    if queue.exact is not None and "limit" in queue.exact:
        # The law's own limit holds; a buffer that is assumed would be compared with its thresholds.
        return "unlimited"
    ends = [end.bytes_at(queue.at(port)) or Fraction(0) for _, law in queue.laws for end in (law.min, law.max)]
    ends = [end for end in ends if end < _beyond_bytes]
    assumed = max(ceil(2 * max(ends, default=Fraction(0))), ceil(4 * experiment.rtt_s * port.rate_bps / 8))
    if not own_law(queue):
        experiment.remarks.append(
            Remark(
                f"what the queue may hold is not in the configuration: {assumed} bytes are assumed",
                "--buffer BYTES; it decides what packets suffer that no law drops",
                queue=queue.name,
            )
        )
    return f"{assumed} B"


def groups_of(texts: Sequence[str] | None) -> tuple[Group, ...]:
    """Groups of flows, as in ``cubic*4`` or ``dctcp*4@3``.

    Raises
    ------
    UsageError
        One of them is not a group.
    """
    if not texts:
        return Experiment.groups
    groups = []
    for text in (part.strip() for argument in texts for part in argument.split(",")):
        flows, at, queue = text.partition("@")
        controller, star, count = flows.partition("*")
        if not controller or (star and not (count.isdecimal() and int(count))) or bool(at) != bool(queue):
            raise UsageError(
                f"`{text}` is not a group of flows", hint="CC, CC*COUNT or CC*COUNT@QUEUE, as in 'cubic*4'"
            )
        groups.append(Group(controller, int(count or 1), queue))
    return tuple(groups)


def chosen(queues: Sequence[Queue], name: str | None) -> list[Queue]:
    """The queues of a name or number; all of them without one.

    Raises
    ------
    UsageError
        There is none; the hint names those that there are.
    """
    if name is None:
        return list(queues)
    matches = [queue for queue in queues if name in (queue.name, str(queue.index))]
    if not matches:
        names = ", ".join(dict.fromkeys(queue.name for queue in queues))
        raise UsageError(f"the configuration has no queue `{name}`", hint=f"it has: {names}")
    return matches
