"""The law of a scenario in the normal form, from which writers start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from shoal.errors import UsageError
from shoal.scenario import Scenario
from shoal.switch.amounts import Amount, amount_of_scenario, rate_of
from shoal.switch.model import Action, Buffer, Law, Queue, Remark, Scheduler, Serving, Shaping, Where
from shoal.switch.plane import solved_red


def queues_of(scenario: Scenario, *, index: int) -> tuple[list[Queue], list[Remark]]:
    """The queues of a scenario's bottleneck, and what is lost on the way.

    Of several queues for traffic classes the last has the number ``index``, and the first the highest: among strict
    queues of a switch the higher number is served first, among those of a scenario the earlier one.

    Raises
    ------
    UsageError
        It has no bottleneck of its own, or several.
    """
    link = scenario.resolved.get("bottleneck")
    if not isinstance(link, Mapping) or len(scenario.facts["bottlenecks"]) != 1:
        raise UsageError(
            "a configuration is written for the queue of one bottleneck",
            hint="name a scenario with a [bottleneck], such as coexistence",
        )
    bdp_bytes = scenario.facts["bottlenecks"][0]["bdp_bytes"]
    buffer = str(link.get("buffer", "unlimited"))
    aqm = link["aqm"]
    if aqm["kind"] != "classes":
        limit = amount_of_scenario(buffer, bdp_bytes=bdp_bytes)
        queue, remarks = queue_of_law(aqm, index=index, bdp_bytes=bdp_bytes, buffer=limit)
        return [queue], remarks
    queues = []
    shares, remarks = _shares(aqm["queues"])
    shared = _shared(aqm)
    for number, entry in enumerate(aqm["queues"]):
        limit = amount_of_scenario(str(entry.get("buffer") or buffer), bdp_bytes=bdp_bytes)
        queue_index = index + len(aqm["queues"]) - 1 - number
        queue, lost = queue_of_law(entry["aqm"], index=queue_index, bdp_bytes=bdp_bytes, buffer=limit)
        if shared:
            queue = replace(queue, buffer=shared[number])
        queues.append(_served(queue, entry, shares[number]))
        remarks += [replace(remark, queue=queue.name) for remark in lost]
    return queues, remarks


def _shared(aqm: Mapping[str, Any]) -> list[Buffer]:
    """What each queue may hold of the memory that they share; empty if they share none."""
    if aqm.get("memory") is None:
        return []

    def size(text: Any) -> int:
        amount = amount_of_scenario(str(text), bdp_bytes=None)
        return 0 if amount is None else int(amount.number)

    reserved = [size(entry.get("reserved") or "0 B") for entry in aqm["queues"]]
    pool_bytes = size(aqm["memory"]) - size(aqm.get("headroom") or "0 B") - sum(reserved)
    return [
        Buffer(own_bytes, alpha=_exact(entry.get("alpha") or 1), pool_bytes=pool_bytes)
        for own_bytes, entry in zip(reserved, aqm["queues"], strict=True)
    ]


def _shares(queues: Sequence[Mapping[str, Any]]) -> tuple[list[int | None], list[Remark]]:
    """Weights as whole percent, which every platform takes; ``None`` for strict queues."""
    weights = [None if entry.get("priority") == "strict" else int(entry.get("weight") or 1) for entry in queues]
    whole = sum(weight for weight in weights if weight is not None)
    shares = [None if weight is None else max(1, round(100 * weight / whole)) for weight in weights]
    if all(weight is None or 100 * weight % whole == 0 for weight in weights):
        return shares, []
    before, after = (":".join(str(number) for number in numbers if number is not None) for numbers in (weights, shares))
    return shares, [Remark(f"the weights {before} become {after}: whole percent")]


def _served(queue: Queue, entry: Mapping[str, Any], share: int | None) -> Queue:
    """The queue with what chooses it, and when and how fast it is served."""
    scheduler = Scheduler(Serving.STRICT) if share is None else Scheduler(Serving.WEIGHTED, weight=share)
    shaping = None
    if entry.get("shape") is not None:
        burst = amount_of_scenario(str(entry["burst"]), bdp_bytes=None) if entry.get("burst") is not None else None
        shaping = Shaping(rate_of(str(entry["shape"])), None if burst is None else int(burst.number))
    return replace(
        queue,
        scheduler=scheduler,
        shaping=shaping,
        dscp=tuple(entry.get("dscp") or ()),
        takes_rest=entry.get("dscp") is None,
    )


def queue_of_law(
    aqm: Mapping[str, Any], *, index: int, bdp_bytes: float | None = None, buffer: Amount | None = None
) -> tuple[Queue, list[Remark]]:
    """The normal form of a law.

    Raises
    ------
    UsageError
        The law has no thresholds that a switch could have; the hint says where it exists.
    """
    reader = _Reader(aqm, bdp_bytes)
    kind = str(aqm["kind"])
    limit = Buffer(limit=buffer) if buffer is not None else None
    queue = Queue(name=str(index), index=index, buffer=limit, exact=dict(aqm))
    readers = {
        "wred": reader.wred,
        "step": reader.step,
        "red": reader.red,
        "dual-red": reader.dual_red,
        "linux-red": reader.linux_red,
    }
    if kind in readers:
        queue = readers[kind](queue)
    return queue, reader.remarks


class _Reader:
    def __init__(self, aqm: Mapping[str, Any], bdp_bytes: float | None) -> None:
        self.aqm = aqm
        self.bdp_bytes = bdp_bytes
        self.remarks: list[Remark] = []

    def amount(self, text: Any, key: str) -> Amount:
        amount = amount_of_scenario(str(text), bdp_bytes=self.bdp_bytes)
        if amount is None:
            raise UsageError(f"`bottleneck.aqm.{key}` is unlimited", hint="write a threshold, or leave the law out")
        return amount

    def weight(self, value: float) -> int:
        """The exponent n of the nearest 2^-n."""
        n = 0 if value >= 1 else round(-math.log2(value))
        if 2.0**-n != value:
            self.remarks.append(
                Remark(f"the weight {value:g} becomes 2^-{n} = {2.0**-n:.4g}: switches have powers of two")
            )
        return n

    def wred(self, queue: Queue) -> Queue:
        where = Where(str(self.aqm.get("decide", "dequeue")))
        laws = {}
        for key, action in (("mark", Action.MARK), ("drop", Action.DROP), ("drop_ect", Action.DROP)):
            table = self.aqm.get(key)
            laws[key] = (
                Law(
                    action,
                    self.amount(table["min"], f"{key}.min"),
                    self.amount(table["max"], f"{key}.max"),
                    _exact(table.get("max_probability", 1.0)),
                    weight=int(self.aqm.get("weight", 0)),
                    where=where,
                )
                if table
                else None
            )
        return replace(queue, mark=laws["mark"], drop=laws["drop"], drop_ect=laws["drop_ect"])

    def step(self, queue: Queue) -> Queue:
        where = Where(str(self.aqm.get("decide", "enqueue")))
        mark = self._step(Action.MARK, self.aqm["threshold"], "threshold", where)
        drop = self._step(Action.DROP, self.aqm.get("drop_threshold", "unlimited"), "drop_threshold", where)
        if mark is not None:
            self.remarks.append(
                Remark("`step` marks above its threshold, the arriving packet counted; switches mark from it on")
            )
        return replace(queue, mark=mark, drop=drop)

    def _step(self, action: Action, text: Any, key: str, where: Where) -> Law | None:
        if text == "unlimited":
            return None
        threshold = self.amount(text, key)
        return Law(action, threshold, threshold, Fraction(1), weight=0, where=where)

    def red(self, queue: Queue) -> Queue:
        law = self._red(self.aqm, "")
        if self.aqm.get("ecn"):
            return replace(queue, mark=replace(law, action=Action.MARK), drop=law)
        return replace(queue, drop=law, drop_ect=law)

    def dual_red(self, queue: Queue) -> Queue:
        drop = self._red(self.aqm["reno"], "reno.")
        table = self.aqm["dctcp"]
        if table.get("threshold"):
            mark = self._step(Action.MARK, table["threshold"], "dctcp.threshold", Where.ENQUEUE)
        else:
            mark = replace(self._red(table, "dctcp."), action=Action.MARK)
        return replace(queue, mark=mark, drop=drop)

    def _red(self, table: Mapping[str, Any], prefix: str) -> Law:
        if table.get("gentle"):
            raise UsageError(
                f"`bottleneck.aqm.{prefix}gentle`: no switch has a second ramp above the maximum",
                hint="write gentle = false",
            )
        return Law(
            Action.DROP,
            self.amount(table["min"], f"{prefix}min"),
            self.amount(table["max"], f"{prefix}max"),
            _exact(table.get("max_probability", 1.0)),
            weight=self.weight(float(table.get("weight", 1.0))),
            where=Where.ENQUEUE,
        )

    def linux_red(self, queue: Queue) -> Queue:
        least = self.amount(self.aqm["min"], "min")
        most = self.amount(self.aqm["max"], "max") if self.aqm.get("max") else replace(least, number=3 * least.number)
        table = {key: value for key, value in self.aqm.items() if value is not None}
        law = Law(
            Action.DROP,
            least,
            most,
            _exact(self.aqm.get("probability", 0.02)),
            weight=solved_red(table | {"min": f"{least.number} B", "max": f"{most.number} B"}).weight
            if least.unit.value == "bytes"
            else None,
            where=Where.ENQUEUE,
        )
        if not self.aqm.get("ecn"):
            return replace(queue, drop=law, drop_ect=law)
        harddrop = replace(law, min=law.max) if self.aqm.get("harddrop") else None
        drop = None if self.aqm.get("nodrop") else law
        return replace(queue, mark=replace(law, action=Action.MARK), drop=drop, drop_ect=harddrop)


def _exact(value: Any) -> Fraction:
    """A number as it is written: 0.1 is a tenth, and not the nearest number in base two."""
    return Fraction(repr(float(value)))
