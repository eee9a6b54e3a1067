"""Finds the parts of a result that metrics are about, with an error that names what there is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.models import nearest

if TYPE_CHECKING:
    from shoal.contract import Bottleneck, FlowResult, GroupResult, TrafficClass
    from shoal.run_record import RunRecord


def find_group(result: RunRecord, name: str) -> GroupResult:
    """The flow group of that name."""
    for group in result.groups:
        if group["name"] == name:
            return group
    raise UsageError(f"there is no flow group `{name}`", hint=nearest(name, [group["name"] for group in result.groups]))


def find_queue(result: RunRecord, link: int, name: str | None) -> Bottleneck | TrafficClass:
    """The queue of a monitored link, or of its queues for traffic classes the one of that name."""
    whole = result.bottlenecks[link]
    if name is None:
        return whole
    queues = whole.get("classes")
    if not queues:
        raise UsageError(
            f"the link `{whole['name']}` has no queues for traffic classes",
            hint='leave queue out, or give the link an aqm of kind "classes"',
        )
    for queue in queues:
        if queue["name"] == name:
            return queue
    raise UsageError(
        f"the link `{whole['name']}` has no queue `{name}`",
        hint=nearest(str(name), [queue["name"] for queue in queues]),
    )


def flows_of(result: RunRecord, name: str) -> list[FlowResult]:
    """All flows of a group; a mean over the first ones only would not be one over the group."""
    group = find_group(result, name)
    if group["flows_omitted"]:
        raise UsageError(
            f"the result lists only {len(group['flows'])} of the {group['flow_count']} flows of `{name}`",
            hint='run with trace.flows = "all" (on the command line: --set trace.flows=all)',
        )
    return group["flows"]


def item(table: Mapping[str, Any], key: str) -> Any:
    """What stands under a key."""
    if key not in table:
        raise UsageError(f"there is no `{key}` in the result", hint=nearest(key, list(table)))
    return table[key]


def number_at(table: Mapping[str, Any], *keys: str) -> float | None:
    """The number that stands in an object of the result below some keys."""
    node: Any = table
    for key in keys:
        if not isinstance(node, Mapping):
            raise UsageError(f"there is no `{key}` in a number of the result", hint="leave it out")
        node = item(node, key)
    return None if node is None else float(node)


def mean(values: Sequence[float | None], *, every: bool = True) -> float:
    """NaN if one of them is missing: the mean of the others is that of something else, unless that is asked for."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and (not every or len(known) == len(values)) else math.nan


def ratio(part: float | None, whole: float | None) -> float | None:
    """The part over the whole; ``None`` where one of them is missing or the whole is nothing."""
    return part / whole if part is not None and whole else None
