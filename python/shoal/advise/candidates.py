"""Laws that a port may have, and the values of their parameters that are tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from shoal.advise.question import Device, Question
from shoal.advise.traffic import scalable_code_point

if TYPE_CHECKING:
    from shoal.scenario_keys import BottleneckAqm, ClassesQueue, ClassesQueueAqm, Dualpi2, FqCodel, Wred, WredMark

# Thresholds that are tried, as parts of rate times round trip; the rule of Alizadeh et al. 2010 is 1/7.
_thresholds_bdp = (1 / 14, 1 / 7, 0.3, 0.6, 1.2, 2.4)
# A segment that a host hands over at once: no threshold far below it can work with hosts that do that.
_segment_bytes = 64 * 1024
# Smallest threshold: a packet that waits.
_least_bytes = 2 * 1500
_cell_bytes = 256
# DualPI2 marks every scalable packet that waited longer than its step, 1 ms by default. On a slow link that is less
# than a packet takes, and the link runs empty: RFC 9332 appendix A.1 has a floor of two packets, the kernel has none.
_usual_step_us = 1000
_step_packets = 2


@dataclass(frozen=True)
class Candidate:
    """A law with its parameters.

    Attributes
    ----------
    family
        What kind of answer it is; see :data:`families`.
    parameters
        What was varied, with units, as people read it.
    aqm
        The law of the port.
    separate
        Whether scalable packets need a code point of their own.
    """

    family: str
    parameters: Mapping[str, str]
    aqm: BottleneckAqm = field(hash=False)
    separate: bool = False

    @property
    def name(self) -> str:
        """What tables call it."""
        words = ", ".join(f"{key} {value}" for key, value in self.parameters.items())
        return f"{self.family}: {words}" if words else self.family


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of answer.

    Attributes
    ----------
    name
        What tables call it.
    summary
        What it does, in a sentence.
    uses_ecn
        Whether scalable senders see marks.
    is_shared
        Whether scalable and classic packets wait in one queue, or share a law by which each gets its part.
    """

    name: str
    summary: str
    uses_ecn: bool = True
    is_shared: bool = True


families: dict[str, Family] = {
    family.name: family
    for family in (
        Family("no ECN", "nothing is marked: scalable senders see losses, as classic ones do", uses_ecn=False),
        Family("marks only", "ECN-capable packets are marked above K, all others wait until the buffer is full"),
        Family("one knee", "the same law marks ECN-capable packets and drops all others (ECN on, WRED on)"),
        Family("separate laws", "ECN-capable packets are marked above K, all others dropped by a law of their own"),
        Family(
            "two queues",
            "scalable packets have a code point and a queue of their own, with a share of the link",
            is_shared=False,
        ),
        Family("fair queueing", "each flow has a queue of its own with CoDel; ECN-capable packets are marked"),
        Family("coupled dual queue", "DualPI2: two queues whose marks and drops are coupled"),
        Family("one queue with ECN", "CoDel or PIE marks ECN-capable packets and drops all others at the same rate"),
    )
}


def candidates(question: Question) -> list[Candidate]:
    """All laws that are tried at such a port."""
    tried = list(_on_switch(question) if question.kind is Device.SWITCH else _on_linux(question))
    return list({(candidate.family, candidate.name): candidate for candidate in tried}.values())


def thresholds_bytes(question: Question) -> list[int]:
    """Values of K that are tried, in whole cells, none above half of the buffer."""
    least = _least_bytes
    wanted = [part * question.bdp_bytes for part in _thresholds_bdp]
    if question.hosts_name != "ideal":
        # On short round trips the burst of a host matters more than rate times round trip does.
        wanted += [_segment_bytes / 2, _segment_bytes, 2 * _segment_bytes, 4 * _segment_bytes]
    most = question.buffer_bytes / 2
    rounded = {max(1, round(min(max(value, least), most) / _cell_bytes)) * _cell_bytes for value in wanted}
    return _thinned(sorted(rounded))


def _thinned(values: list[int]) -> list[int]:
    """Without values that are closer than a quarter to the one before."""
    kept: list[int] = []
    for value in values:
        if not kept or value >= 1.25 * kept[-1]:
            kept.append(value)
    return kept


def _on_switch(question: Question) -> Iterator[Candidate]:
    thresholds = thresholds_bytes(question)
    most = int(question.buffer_bytes)
    yield Candidate("no ECN", {"drop": "only when full"}, {"kind": "fifo"})
    for low in thresholds[::2]:
        high = min(3 * low, most)
        yield Candidate("no ECN", {"drop": _range(low, high, 0.1)}, _drops(low, high, 0.1))
    for k in thresholds:
        yield Candidate("marks only", {"K": _size(k)}, _wred(mark=_step(k)))
        yield Candidate("one knee", {"K": _size(k)}, _wred(mark=_step(k), drop=_step(k)))
        high = min(3 * k, most)
        for probability in (0.05, 1.0):
            both = _law(k, high, probability)
            yield Candidate("one knee", {"both": _range(k, high, probability)}, _wred(mark=both, drop=both))
        for distance, probability in itertools.product((1, 2), (0.1, 1.0)):
            low, high = min(distance * k, most), min(3 * distance * k, most)
            parameters = {"K": _size(k), "drop": _range(low, high, probability)}
            law = _wred(mark=_step(k), drop=_law(low, high, probability))
            yield Candidate("separate laws", parameters, law)
    if question.may_separate and all(question.groups):
        yield from _two_queues(question, thresholds)


def _two_queues(question: Question, thresholds: list[int]) -> Iterator[Candidate]:
    scalable, classic = question.groups
    divisor = math.gcd(scalable, classic)
    weights = scalable // divisor, classic // divisor
    most = int(question.buffer_bytes)
    for k in thresholds:
        for low in (None, *thresholds[-3:]):
            drop = "only when full" if low is None else _range(low, min(3 * low, most), 0.1)
            # Most switches can only drop above the threshold what they cannot mark; nothing but a SYN should be that.
            step = _wred(mark=_step(k), drop=_step(k))
            queues: list[ClassesQueue] = [
                {"name": "scalable", "dscp": [scalable_code_point], "weight": weights[0], "aqm": step},
                {
                    "name": "classic",
                    "weight": weights[1],
                    "aqm": {"kind": "fifo"} if low is None else _drops(low, min(3 * low, most), 0.1),
                },
            ]
            parameters = {"K": _size(k), "weights": f"{weights[0]}:{weights[1]}", "classic drop": drop}
            yield Candidate("two queues", parameters, {"kind": "classes", "queues": queues}, separate=True)


def _on_linux(question: Question) -> Iterator[Candidate]:
    # These disciplines count packets.
    limit = f"{max(1, int(question.buffer_bytes // 1500))} packets"
    yield Candidate("no ECN", {"drop": "only when full"}, {"kind": "fifo"})
    yield Candidate("no ECN", {"law": "codel"}, {"kind": "codel", "limit": limit, "ecn": False})
    yield Candidate("no ECN", {"law": "pie"}, {"kind": "pie", "limit": limit})
    yield Candidate("one queue with ECN", {"law": "codel"}, {"kind": "codel", "limit": limit, "ecn": True})
    yield Candidate("one queue with ECN", {"law": "pie"}, {"kind": "pie", "limit": limit, "ecn": True})
    for k in thresholds_bytes(question)[::2]:
        step = f"{max(1, round(k * 8 / question.rate_bps * 1e6))} us"
        law: FqCodel = {"kind": "fq-codel", "limit": limit, "ce_threshold": step}
        yield Candidate("fair queueing", {"ce_threshold": step}, law)
    yield Candidate("fair queueing", {"ce_threshold": "none"}, {"kind": "fq-codel", "limit": limit})
    step_us = round(_step_packets * 1500 * 8 / question.rate_bps * 1e6)
    for target, coupling in itertools.product((5, 15), (2, 4, 8)):
        parameters = {"target": f"{target} ms", "coupling factor": str(coupling)}
        dual: Dualpi2 = {"kind": "dualpi2", "limit": limit, "ecn_mask": "any-ect", "target": f"{target} ms"}
        dual["coupling"] = coupling
        if step_us > _usual_step_us:
            parameters["step"] = dual["step_threshold"] = f"{step_us} us"
        yield Candidate("coupled dual queue", parameters, dual)


class Knob(StrEnum):
    """Parameters of a law that somebody chose and that have a size or a time; the value is what people call them."""

    MARKS = "thresholds of marks"
    DROPS = "thresholds of drops"
    CE_THRESHOLD = "ce_threshold"
    TARGET = "target"
    STEP = "step"


def knobs(aqm: BottleneckAqm) -> list[Knob]:
    """The knobs that a law has."""
    return [knob for knob in Knob if scaled(aqm, knob, 2.0) != aqm]


def scaled(aqm: BottleneckAqm, knob: Knob, factor: float) -> BottleneckAqm:
    """A law with the sizes or times of a knob multiplied; as it is if it has no such knob."""
    if aqm["kind"] == "classes":
        queues: list[ClassesQueue] = [{**queue, "aqm": _scaled(queue["aqm"], knob, factor)} for queue in aqm["queues"]]
        return {**aqm, "queues": queues}
    return _scaled(aqm, knob, factor)


def _scaled(aqm: ClassesQueueAqm, knob: Knob, factor: float) -> ClassesQueueAqm:
    if aqm["kind"] == "wred":
        law = aqm.copy()
        if knob is Knob.MARKS and "mark" in law:
            law["mark"] = _profile(law["mark"], factor)
        if knob is Knob.DROPS and "drop" in law:
            law["drop"] = _profile(law["drop"], factor)
        # ECN-capable packets may be dropped by a law of their own, which goes with that of all others.
        if knob is Knob.DROPS and "drop_ect" in law:
            law["drop_ect"] = _profile(law["drop_ect"], factor)
        return law
    if aqm["kind"] == "fq-codel" and knob is Knob.CE_THRESHOLD and "ce_threshold" in aqm:
        return {**aqm, "ce_threshold": _multiplied(aqm["ce_threshold"], factor)}
    if aqm["kind"] == "dualpi2" and knob is Knob.TARGET and "target" in aqm:
        return {**aqm, "target": _multiplied(aqm["target"], factor)}
    if aqm["kind"] == "dualpi2" and knob is Knob.STEP and "step_threshold" in aqm:
        return {**aqm, "step_threshold": _multiplied(aqm["step_threshold"], factor)}
    return aqm


def _profile(profile: WredMark, factor: float) -> WredMark:
    return {**profile, "min": _multiplied(profile["min"], factor), "max": _multiplied(profile["max"], factor)}


def _multiplied(amount: str, factor: float) -> str:
    """A size or time in its own unit, in whole units of which there is at least one."""
    number, _, unit = amount.partition(" ")
    return f"{max(1, round(float(number) * factor))} {unit}"


def _wred(*, mark: WredMark | None = None, drop: WredMark | None = None, drop_ect: WredMark | None = None) -> Wred:
    law: Wred = {"kind": "wred"}
    if mark is not None:
        law["mark"] = mark
    if drop is not None:
        law["drop"] = drop
    if drop_ect is not None:
        law["drop_ect"] = drop_ect
    return law


def _drops(low: int, high: int, probability: float) -> Wred:
    """Drops all packets by one law, whether they are ECN-capable or not."""
    law = _law(low, high, probability)
    return _wred(drop=law, drop_ect=law)


def _step(threshold: int) -> WredMark:
    return _law(threshold, threshold, 1.0)


def _law(low: int, high: int, probability: float) -> WredMark:
    return {"min": f"{low} B", "max": f"{high} B", "max_probability": probability}


def _size(size_bytes: float) -> str:
    return f"{size_bytes / 1000:.4g} kB"


def _range(low: int, high: int, probability: float) -> str:
    return f"{_size(low)} to {_size(high)}, {probability:g}"
