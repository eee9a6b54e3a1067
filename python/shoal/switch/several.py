"""A scenario with all queues of a port that was read, which a scheduler serves in turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import TYPE_CHECKING

from shoal._toml import toml_file
from shoal.errors import UsageError
from shoal.models import find_controller, nearest
from shoal.switch.code_points import owners
from shoal.switch.model import Buffer, Queue, Remark, Serving
from shoal.switch.simulate import (
    Experiment,
    Group,
    aqm_of,
    buffer_of,
    flow_of,
    on_lines,
    rate_text,
    scenario_text,
    without_law,
)

if TYPE_CHECKING:
    from shoal.scenario_keys import Classes, ClassesQueue

# Most weights that a scenario takes.
_most_weight = 10_000
# So much of the free memory that a dynamic threshold never acts: the fixed limit does.
_no_threshold = 1000
# Code points where a configuration has no map: class selectors, one for each queue.
_selector = 8


@dataclass(frozen=True)
class _Member:
    """A queue with the flows that join it.

    Attributes
    ----------
    points
        Code points that lead to it.
    """

    queue: Queue
    groups: tuple[Group, ...]
    points: tuple[int, ...]


def scenario_of_queues(queues: Sequence[Queue], experiment: Experiment, *, file: str, port: str | None = None) -> str:
    """A scenario file with flows behind the queues of a port.

    If all that have a law have the same, flows name no queue, and no map leads packets to different ones, one of them
    stands for all; else the scenario has a scheduler that serves them.

    Parameters
    ----------
    queues
        What was read.
    experiment
        What is run; what is assumed is noted in its remarks.
    file
        Name of the configuration, for the title.
    port
        Name of the port; by default the first that has a law.

    Raises
    ------
    UsageError
        There is no such port, or flows name a queue that it does not have, or a law is not known.
    """
    port_queues = _of_port(queues, port, experiment)
    if len(port_queues) > 1 and (undecided := port_queues[0].undecided) is not None:
        if not all(group.queue for group in experiment.groups):
            raise UsageError(f"a scenario of {len(port_queues)} queues: {undecided}", hint=undecided.hint)
        # Flows that name their queues need no map.
        port_queues = [replace(queue, dscp=(), takes_rest=False) for queue in port_queues]
    lawful = [queue for queue in port_queues if _has_law(queue)] or port_queues
    laws = {(queue.mark, queue.drop, queue.drop_ect, str(queue.exact), queue.unknown) for queue in lawful}
    led = {queue.name for queue in owners(port_queues).values()}
    is_one = len(laws) == 1 and len(led) <= 1 and not any(group.queue for group in experiment.groups)
    if len(port_queues) == 1 or is_one:
        queue = next((queue for queue in lawful if queue.name in led), lawful[0])
        return scenario_text(queue, experiment, title=f"Queue {queue.name} of {file}, with DCTCP and CUBIC")
    return scenario_of_port(port_queues, experiment, title=f"Queues of {file}, with DCTCP and CUBIC")


def _of_port(queues: Sequence[Queue], port: str | None, experiment: Experiment) -> list[Queue]:
    """The queues of a port; those of the first that has a law if none is named."""
    ports = list(dict.fromkeys(name for queue in queues for name in queue.ports))
    if port is not None and port not in ports:
        raise UsageError(f"the configuration has no queue of `{port}`", hint=nearest(port, ports))
    if not ports:
        return list(queues)
    chosen = port or next((queue.ports[0] for queue in queues if queue.ports and _has_law(queue)), ports[0])
    port_queues = [queue for queue in queues if chosen in queue.ports]
    if len(port_queues) < len(queues) and port is None:
        experiment.remarks.append(Remark(f"the scenario has the queues of {chosen}", "--port NAME chooses another"))
    return port_queues


def _has_law(queue: Queue) -> bool:
    return bool(queue.laws or queue.exact or queue.unknown)


def scenario_of_port(queues: Sequence[Queue], experiment: Experiment, *, title: str) -> str:
    """A scenario file with flows behind several queues of a port.

    Flows join the queue that their group names. Without a name those that use ECN join the first queue that marks, and
    all others the queue of code point 0, or the first that does not mark. Queues without flows are left out, because
    they hold nothing; both is noted in ``experiment.remarks``.

    Raises
    ------
    UsageError
        A group names a queue that is not there, no code point leads to it, or the law of its queue is not known.
    """
    members = _members(queues, experiment)
    shaped, experiment = on_lines([member.queue for member in members], experiment)
    members = [replace(member, queue=queue) for member, queue in zip(members, shaped, strict=True)]
    memory = _memory([member.queue for member in members], experiment)
    served = [_keys(member, memory, experiment) for member in members]
    _scale(served, experiment)
    buffer = f"{memory} B" if memory else served[0]["buffer"]
    keys = without_law(experiment, buffer=buffer, title=title)
    law: Classes = {"kind": "classes", "queues": served}
    if memory:
        law = {"kind": "classes", "memory": f"{memory} B", "queues": served}
    keys["bottleneck"]["aqm"] = law
    used: set[str] = set()
    for member in members:
        for group in member.groups:
            name = group.controller if group.controller not in used else f"{group.controller}-{member.queue.name}"
            used.add(name)
            keys["flows"].append({**flow_of(group, experiment, name=name), "dscp": member.points[0]})
    return toml_file(keys)


def _members(queues: Sequence[Queue], experiment: Experiment) -> list[_Member]:
    """The queues that have flows, in the order in which a scenario lists them."""
    numbers = [queue.index for queue in queues if queue.index is not None]
    if (twice := next((number for number in numbers if numbers.count(number) > 1), None)) is not None:
        names = ", ".join(queue.name for queue in queues if queue.index == twice)
        raise UsageError(
            f"the configuration has several queues with the number {twice}: {names}",
            hint="they are of different ports or policies: choose one with --queue",
        )
    queue_of = owners(queues)
    points = {queue.name: tuple(point for point, owner in queue_of.items() if owner is queue) for queue in queues}
    if not queue_of:
        points = {queue.name: (_selector * number % 64,) for number, queue in enumerate(_numbered(queues))}
    by_name = {name: queue for queue in queues for name in (str(queue.index), queue.name)}
    joined: dict[str, list[Group]] = {}
    for group in experiment.groups:
        if group.queue and group.queue not in by_name:
            names = ", ".join(queue.name for queue in queues)
            raise UsageError(f"`{group}`: there is no queue `{group.queue}`", hint=f"there are: {names}")
        queue = by_name[group.queue] if group.queue else _usual(group, queues, points)
        if not points[queue.name]:
            raise UsageError(
                f"no code point leads to queue {queue.name}", hint="choose another queue, or add it to the map"
            )
        joined.setdefault(queue.name, []).append(group)
    used = [queue for queue in _in_order(queues) if queue.name in joined]
    unnamed = (group for group in experiment.groups if not group.queue)
    ordinary = [group.controller for group in unnamed if not _is_led(group, queues, points)]
    if queue_of and 0 not in queue_of and ordinary:
        text = f"no map of the file leads code point 0 to a queue: where {', '.join(ordinary)} would wait is not known"
        experiment.remarks.append(Remark(text, "--flows CC*COUNT@QUEUE chooses the queue"))
    if not queue_of:
        experiment.remarks.append(
            Remark(
                "which code points lead to which queue is not in the configuration: "
                + ", ".join(f"{points[queue.name][0]} for queue {queue.name}" for queue in used)
            )
        )
    sentence = "; ".join(
        f"{', '.join(group.controller for group in joined[queue.name])} in queue {queue.name}" for queue in used
    )
    experiment.remarks.append(Remark(f"flows: {sentence}", "--flows CC*COUNT@QUEUE chooses the queue"))
    if left := [queue.name for queue in queues if queue.name not in joined]:
        word = "queues" if len(left) > 1 else "queue"
        experiment.remarks.append(
            Remark(f"{word} {', '.join(left)}: no flows, so left out", "--flows CC*COUNT@QUEUE adds some")
        )
    return [_Member(queue, tuple(joined[queue.name]), points[queue.name]) for queue in used]


def _numbered(queues: Sequence[Queue]) -> list[Queue]:
    return sorted(queues, key=lambda queue: 0 if queue.index is None else queue.index)


def _is_led(group: Group, queues: Sequence[Queue], points: Mapping[str, Sequence[int]]) -> bool:
    """Whether flows use ECN and a queue marks: they get a code point that leads there."""
    controller = find_controller(group.controller)
    marks = any(queue.mark is not None and points[queue.name] for queue in queues)
    return marks and controller is not None and controller.uses_ecn


def _usual(group: Group, queues: Sequence[Queue], points: Mapping[str, Sequence[int]]) -> Queue:
    """The queue of a group that names none."""
    reached = [queue for queue in _numbered(queues) if points[queue.name]]
    if _is_led(group, queues, points):
        return next(queue for queue in reached if queue.mark is not None)
    ordinary = [queue for queue in reached if 0 in points[queue.name]]
    return next(iter([*ordinary, *(queue for queue in reached if queue.mark is None), *reached, *queues]))


def _in_order(queues: Sequence[Queue]) -> Iterator[Queue]:
    """Strict queues first, the one that is served first in front, as scenarios list them."""

    def rank(queue: Queue) -> tuple[bool, int]:
        scheduler = queue.scheduler
        if scheduler is None or scheduler.serving is not Serving.STRICT:
            return True, queue.index or 0
        # Where strict queues have no priority, the higher number goes first.
        return False, -(scheduler.priority if scheduler.priority is not None else queue.index or 0)

    return iter(sorted(queues, key=rank))


def _memory(queues: Sequence[Queue], experiment: Experiment) -> int | None:
    """Memory in bytes that queues share by dynamic thresholds; ``None`` if they share none, or its size is unknown."""
    dynamic = [queue.buffer for queue in queues if queue.buffer is not None and queue.buffer.alpha is not None]
    if not dynamic:
        return None
    pools = {buffer.pool: buffer.pool_bytes for buffer in dynamic}
    if len(pools) > 1:
        experiment.remarks.append(
            Remark(f"the queues are of the pools {', '.join(pools)}: each has its threshold as a limit of its own")
        )
        return None
    size = next(iter(pools.values())) or experiment.buffer_bytes
    if size is None:
        experiment.remarks.append(
            Remark(
                "the queues share memory by dynamic thresholds, and its size is not in the configuration: each has a "
                "limit of its own",
                "--buffer BYTES",
            )
        )
        return None
    return size + sum(_reserved(queue) for queue in queues)


def _reserved(queue: Queue) -> int:
    return queue.buffer.reserved_bytes if queue.buffer is not None else 0


def _keys(member: _Member, memory: int | None, experiment: Experiment) -> ClassesQueue:
    """The table of a queue in a scenario."""
    queue = member.queue
    keys: ClassesQueue = {"name": queue.name, "dscp": list(member.points)}
    _serve(keys, queue, experiment)
    buffer = queue.buffer or Buffer()
    if memory is None or buffer.alpha is None:
        # A dynamic threshold says nothing if the memory is not known.
        known = queue if buffer.alpha is None or buffer.pool_bytes is not None else replace(queue, buffer=None)
        keys["buffer"] = buffer_of(known, replace(experiment, buffer_bytes=None) if memory else experiment)
    if memory is not None:
        keys["alpha"] = float(buffer.alpha) if buffer.alpha is not None else _no_threshold
        if buffer.reserved_bytes:
            keys["reserved"] = f"{buffer.reserved_bytes} B"
    keys["aqm"] = aqm_of(queue, experiment)
    return keys


def _scale(served: Sequence[ClassesQueue], experiment: Experiment) -> None:
    """Make weights that are larger than a scenario takes smaller, all by the same factor."""
    weights = [keys["weight"] for keys in served if "weight" in keys]
    if not weights or max(weights) <= _most_weight:
        return
    common = gcd(*weights)
    largest = max(weights) // common
    for keys in served:
        if "weight" in keys:
            part = keys["weight"] // common
            keys["weight"] = part if largest <= _most_weight else max(1, round(part * _most_weight / largest))
    if largest > _most_weight:
        before, after = (":".join(map(str, each)) for each in (weights, [keys.get("weight") for keys in served]))
        experiment.remarks.append(Remark(f"the weights {before} become {after}: a scenario has at most {_most_weight}"))


def _serve(keys: ClassesQueue, queue: Queue, experiment: Experiment) -> None:
    """Say how a queue is served."""
    scheduler = queue.scheduler
    if scheduler is not None and scheduler.serving is Serving.STRICT:
        keys["priority"] = "strict"
    elif scheduler is not None and scheduler.weight is not None:
        keys["weight"] = max(1, scheduler.weight)
    else:
        keys["weight"] = 1
        experiment.remarks.append(
            Remark("how it is served is not in the configuration: weighted, with weight 1", queue=queue.name)
        )
    shaping, port = queue.shaping, experiment.port
    if shaping is not None and shaping.rate_bps < port.rate_bps:
        keys["shape"] = rate_text(shaping.rate_bps)
        if shaping.burst_bytes is not None:
            # A bucket that holds no packet would never let one go.
            keys["burst"] = f"{max(shaping.burst_bytes, port.mtu_bytes)} B"
