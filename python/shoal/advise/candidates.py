"""Laws that a port may have, and the values of their parameters that are tried."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from shoal.advise.question import Device, Question
from shoal.advise.traffic import scalable_code_point

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
    bottleneck
        The keys of the port.
    separate
        Whether scalable packets need a code point of their own.
    """

    family: str
    parameters: Mapping[str, str]
    bottleneck: Mapping[str, Any] = field(hash=False)
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
    one.name: one
    for one in (
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
    found = list(_on_switch(question) if question.kind is Device.SWITCH else _on_linux(question))
    return list({(one.family, one.name): one for one in found}.values())


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
    yield Candidate("no ECN", {"drop": "only when full"}, {"aqm": {"kind": "fifo"}})
    for low in thresholds[::2]:
        high = min(3 * low, most)
        yield Candidate("no ECN", {"drop": _range(low, high, 0.1)}, {"aqm": _drops(low, high, 0.1)})
    for k in thresholds:
        yield Candidate("marks only", {"K": _size(k)}, {"aqm": _wred(mark=_step(k))})
        yield Candidate("one knee", {"K": _size(k)}, {"aqm": _wred(mark=_step(k), drop=_step(k))})
        high = min(3 * k, most)
        for probability in (0.05, 1.0):
            both = _law(k, high, probability)
            yield Candidate("one knee", {"both": _range(k, high, probability)}, {"aqm": _wred(mark=both, drop=both)})
        for distance, probability in itertools.product((1, 2), (0.1, 1.0)):
            low, high = min(distance * k, most), min(3 * distance * k, most)
            parameters = {"K": _size(k), "drop": _range(low, high, probability)}
            law = _wred(mark=_step(k), drop=_law(low, high, probability))
            yield Candidate("separate laws", parameters, {"aqm": law})
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
            law = {"kind": "fifo"} if low is None else _drops(low, min(3 * low, most), 0.1)
            # Most switches can only drop above the threshold what they cannot mark; nothing but a SYN should be that.
            step = _wred(mark=_step(k), drop=_step(k))
            own = {"name": "scalable", "dscp": [scalable_code_point], "weight": weights[0], "aqm": step}
            other = {"name": "classic", "weight": weights[1], "aqm": law}
            parameters = {"K": _size(k), "weights": f"{weights[0]}:{weights[1]}", "classic drop": drop}
            aqm = {"kind": "classes", "queues": [own, other]}
            yield Candidate("two queues", parameters, {"aqm": aqm}, separate=True)


def _on_linux(question: Question) -> Iterator[Candidate]:
    # These disciplines count packets.
    limit = f"{max(1, int(question.buffer_bytes // 1500))} packets"

    def law(kind: str, **keys: object) -> dict[str, Any]:
        return {"aqm": {"kind": kind, "limit": limit, **keys}}

    yield Candidate("no ECN", {"drop": "only when full"}, {"aqm": {"kind": "fifo"}})
    yield Candidate("no ECN", {"law": "codel"}, law("codel", ecn=False))
    yield Candidate("no ECN", {"law": "pie"}, law("pie"))
    yield Candidate("one queue with ECN", {"law": "codel"}, law("codel", ecn=True))
    yield Candidate("one queue with ECN", {"law": "pie"}, law("pie", ecn=True))
    for k in thresholds_bytes(question)[::2]:
        microseconds = max(1, round(k * 8 / question.rate_bps * 1e6))
        step = f"{microseconds} us"
        yield Candidate("fair queueing", {"ce_threshold": step}, law("fq-codel", ce_threshold=step))
    yield Candidate("fair queueing", {"ce_threshold": "none"}, law("fq-codel"))
    step_us = round(_step_packets * 1500 * 8 / question.rate_bps * 1e6)
    for target, coupling in itertools.product((5, 15), (2, 4, 8)):
        parameters = {"target": f"{target} ms", "coupling factor": str(coupling)}
        keys: dict[str, object] = {"ecn_mask": "any-ect", "target": f"{target} ms", "coupling": coupling}
        if step_us > _usual_step_us:
            parameters["step"] = keys["step_threshold"] = f"{step_us} us"
        yield Candidate("coupled dual queue", parameters, law("dualpi2", **keys))


# Keys of laws whose sizes and times are parameters that somebody chose, and what people call them.
_knobs = {
    "mark": "thresholds of marks",
    "drop": "thresholds of drops",
    # The same law for ECN-capable packets.
    "drop_ect": "thresholds of drops",
    "ce_threshold": "ce_threshold",
    "target": "target",
    "step_threshold": "step",
}
_amount = re.compile(r"(?P<number>[0-9.]+) (?P<unit>B|us|ms)")


def scaled(bottleneck: Mapping[str, Any]) -> dict[str, Callable[[float], dict[str, Any]]]:
    """For each kind of parameter that the keys of a port have, what multiplies its sizes or times."""

    def change(words: str, factor: float) -> dict[str, Any]:
        return dict(_changed(bottleneck, words, factor, inside=False))

    return {
        words: partial(change, words)
        for words in dict.fromkeys(_knobs.values())
        if _changed(bottleneck, words, 2.0, inside=False) != bottleneck
    }


def _changed(tree: Any, words: str, factor: float, *, inside: bool) -> Any:
    if isinstance(tree, Mapping):
        return {
            name: _changed(own, words, factor, inside=inside or _knobs.get(name) == words) for name, own in tree.items()
        }
    if isinstance(tree, list):
        return [_changed(own, words, factor, inside=inside) for own in tree]
    if inside and isinstance(tree, str) and (found := _amount.fullmatch(tree)):
        return f"{max(1, round(float(found['number']) * factor))} {found['unit']}"
    return tree


def _wred(**laws: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "wred", **laws}


def _drops(low: int, high: int, probability: float) -> dict[str, Any]:
    """Drops all packets by one law, whether they are ECN-capable or not."""
    law = _law(low, high, probability)
    return _wred(drop=law, drop_ect=law)


def _step(threshold: int) -> dict[str, Any]:
    return _law(threshold, threshold, 1.0)


def _law(low: int, high: int, probability: float) -> dict[str, Any]:
    return {"min": f"{low} B", "max": f"{high} B", "max_probability": probability}


def _size(size_bytes: float) -> str:
    return f"{size_bytes / 1000:.4g} kB"


def _range(low: int, high: int, probability: float) -> str:
    return f"{_size(low)} to {_size(high)}, {probability:g}"
