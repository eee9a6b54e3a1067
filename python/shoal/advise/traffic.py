"""Situations in which a queue is tried: scenarios of the traffic that a question describes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shoal.advise.question import Question
from shoal.scenario import Scenario

if TYPE_CHECKING:
    from shoal.scenario_keys import BottleneckAqm, Flow, FlowAppTransfer, FlowStart, ScenarioKeys

_packet_bytes = 1500
# A look at a law measures so many packets of 1500 B at the rate of the port, but for so many round trips and so long
# in s at least.
_packets = 120_000
_round_trips = 300
_least_s = 0.1
# A run of the best laws goes on until retransmission timeouts (200 ms at least on Linux) do not decide by luck,
# unless its packets would be too many.
_long_s = 2.0
# What is not measured: two thirds of the look, and longer than one such timeout, for which flows wait that lose the end
# of their slow start.
_warmup = 2 / 3
_settling_s = 0.25
# A look does not wait that long: at the fastest ports it would see one situation only.
_look_settling_s = 0.1
# Rate of traffic that is marked and does not answer, as a part of the port's.
unresponsive_share = 0.5
# Answers of an incast in one run, at most; each begins when four times what the one before needs at least has passed.
_rounds = 20


@dataclass(frozen=True, slots=True)
class Situation:
    """Traffic at the port.

    Attributes
    ----------
    name
        What tables call it.
    scalable, classic
        Numbers of long flows.
    incast
        Senders that answer at the same time.
    is_flooded
        Whether there is traffic that is ECN-capable and answers no mark, besides.
    is_crowded
        Whether it has more flows than were asked for.
    """

    name: str
    scalable: int
    classic: int
    incast: int = 0
    is_flooded: bool = False

    is_crowded: bool = False

    @property
    def is_mixed(self) -> bool:
        """Whether long flows of both kinds share the port."""
        return self.scalable > 0 and self.classic > 0


def mix(question: Question) -> Situation:
    """The traffic as the question says it."""
    scalable, classic = question.groups
    return Situation("as asked", scalable, classic)


def situations(question: Question) -> list[Situation]:
    """The traffic as asked, with few and with many flows, of one kind alone, with an incast, and with a flood."""
    asked = mix(question)
    wanted = [asked]
    if asked.is_mixed:
        # First what tells most: on fast ports the first looks see no more.
        wanted += [Situation("scalable alone", asked.scalable, 0), Situation("classic alone", 0, asked.classic)]
        wanted += [
            Situation("one flow each", 1, 1),
            Situation("four times the flows", 4 * asked.scalable, 4 * asked.classic, is_crowded=True),
        ]
    else:
        wanted += [Situation("one flow", min(1, asked.scalable), min(1, asked.classic))]
        wanted += [Situation("four times the flows", 4 * asked.scalable, 4 * asked.classic, is_crowded=True)]
    if question.incast:
        wanted.append(replace(asked, name="incast", incast=question.incast))
    if not question.is_trusted:
        wanted.append(replace(asked, name="flood of ECT", is_flooded=True))
    # A question for a single flow asks for some of them twice.
    known: dict[tuple[int, int, int, bool], Situation] = {}
    for situation in wanted:
        known.setdefault((situation.scalable, situation.classic, situation.incast, situation.is_flooded), situation)
    return list(known.values())


@dataclass(frozen=True, slots=True)
class Length:
    """How long a run is not measured, and how long it is, in s."""

    warmup_s: float
    measured_s: float

    @property
    def whole_s(self) -> float:
        """Warm-up and measurement together."""
        return self.warmup_s + self.measured_s

    def packets(self, rate_bps: float) -> float:
        """Packets of 1500 B that a port sends in that time."""
        return self.whole_s * rate_bps / 8 / _packet_bytes


def look(question: Question) -> Length:
    """The length of a run that shows whether a law is worth more of them."""
    measured_s = max(_packets * _packet_bytes * 8 / question.rate_bps, _round_trips * question.rtt_s, _least_s)
    return Length(max(_warmup * measured_s, _look_settling_s), measured_s)


def thorough(question: Question, most_packets: float) -> Length:
    """The length of a run that decides: longer than a look, if it has no more than so many packets of 1500 B."""
    short = look(question)
    warmup_s = max(short.warmup_s, _settling_s)
    affordable_s = most_packets * _packet_bytes * 8 / question.rate_bps - warmup_s
    return Length(warmup_s, max(short.measured_s, min(_long_s, affordable_s)))


def scenario(
    question: Question, situation: Situation, aqm: BottleneckAqm, length: Length, *, separate: bool
) -> Scenario:
    """The scenario of a situation at a port.

    Parameters
    ----------
    question, situation
        What is asked, and the traffic.
    aqm
        The law of the port.
    length
        How long the run is.
    separate
        Whether scalable packets carry a code point of their own.
    """
    start: FlowStart = {"uniform": ["0 s", _time(length.warmup_s / 10)]}
    scalable: Flow = {"rtt": question.rtt, "host": question.hosts_name, "cc": question.scalable}
    classic: Flow = {"rtt": question.rtt, "host": question.hosts_name, "cc": question.classic}
    if separate:
        scalable["dscp"] = scalable_code_point
    flows: list[Flow] = []
    if situation.scalable:
        flows.append({**scalable, "name": "scalable", "count": situation.scalable, "start": start})
    if situation.classic:
        flows.append({**classic, "name": "classic", "count": situation.classic, "start": start})
    if situation.incast:
        begins, rounds = _time(length.warmup_s), _incast(question, length)
        flows.append({**scalable, "name": "incast", "count": situation.incast, "start": begins, "app": rounds})
    if situation.is_flooded:
        flood: Flow = {
            "name": "flood",
            "rtt": question.rtt,
            "cc": "none",
            "app": {"unresponsive": _rate(unresponsive_share * question.rate_bps), "ecn": "ect0"},
        }
        if separate:
            flood["dscp"] = scalable_code_point
        flows.append(flood)
    long_flows = f"{situation.scalable} {question.scalable}, {situation.classic} {question.classic}"
    keys: ScenarioKeys = {
        "title": f"{situation.name}: {long_flows}",
        "duration": _time(length.whole_s),
        "warmup": _time(length.warmup_s),
        "bottleneck": {"rate": question.rate, "buffer": question.buffer_text, "aqm": aqm},
        "flows": flows,
    }
    return Scenario.from_keys(keys, name=situation.name)


# The code point of scalable packets, where they have a queue of their own: assured forwarding, class 1.
scalable_code_point = "af11"


def ideal_incast_s(question: Question) -> float:
    """Time that all answers of an incast need at least: a round trip, and all their bytes at the rate of the port."""
    return question.rtt_s + question.incast * question.response_bytes * 8 / question.rate_bps


def _incast(question: Question, length: Length) -> FlowAppTransfer:
    """Rounds of answers in the measured time, as many as fit if each has four times what it must take."""
    every_s = 4 * max(ideal_incast_s(question), 4 * question.rtt_s)
    rounds = max(1, min(_rounds, math.floor(length.measured_s / every_s)))
    return {"transfer": question.response, "rounds": rounds, "every": _time(every_s)}


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3f} us"


def _rate(bps: float) -> str:
    return f"{bps:.0f} bit/s"
