"""What an operator asks: the port, the traffic, and what matters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.errors import ScenarioError, UsageError
from shoal.scenario import Scenario

if TYPE_CHECKING:
    from shoal.scenario_keys import Bottleneck, Flow, FlowAppTransfer


class Device(StrEnum):
    """What the port belongs to, and with it which laws it can have."""

    SWITCH = "switch"
    LINUX = "linux"


class Goal(StrEnum):
    """What matters most."""

    BALANCED = "balanced"
    FAIR = "fair"
    DELAY = "delay"
    THROUGHPUT = "throughput"


# Up to this round trip a port is taken for one of a data centre.
_data_centre_s = 2e-3
# The usual buffer, if nothing is said: what an access link waits at most is much longer than what a switch holds.
_buffer = {Device.SWITCH: (1e-3, "1 ms"), Device.LINUX: (0.1, "100 ms")}
_least_packets = 50
_least_rate_bps = 100_000
# Hosts, if nothing is said, by the rate of the port in bit/s from which on they are likely.
_hosts = ((40e9, "linux-6-100g"), (20e9, "linux-6-25g"), (0.0, "linux-6-10g"))


@dataclass(frozen=True)
class Question:
    """One question. Texts with units are as in a scenario; ``None`` takes the usual value, which the advice names.

    Attributes
    ----------
    rate
        Rate of the port, as in ``"10 Gbit/s"``.
    rtt
        Round trip without queueing, as in ``"100 us"``.
    other_rtts
        Round trips that occur besides: the recommended queue is tried with them, too.
    buffer
        What may wait at the port: ``"2 MB"``, ``"1 ms"``, ``"100 packets"``.
    hosts
        Preset of the hosts, of ``shoal list hosts``; if not given, the one with a card of the port's speed.
        ``linux-6-gso`` is right for testbeds whose offloads are switched off.
    flows
        Long flows at a time.
    scalable_share
        Part of them that are scalable, 0 to 1.
    scalable, classic
        Their congestion controls.
    is_trusted
        Whether whoever marks packets as ECN-capable answers marks.
    incast
        Senders that answer at the same time, of scalable traffic; 0 for none.
    response
        Size of each such answer.
    goal
        What matters most.
    device
        What the port belongs to.
    may_separate
        Whether hosts can set a code point (DSCP) that puts their packets into a queue of their own.
    """

    rate: str
    rtt: str
    other_rtts: tuple[str, ...] = ()
    buffer: str | None = None
    hosts: str | None = None
    flows: int = 8
    scalable_share: float = 0.5
    scalable: str = "dctcp"
    classic: str = "cubic"
    is_trusted: bool = True
    incast: int = 0
    response: str = "32 kB"
    goal: Goal = Goal.BALANCED
    device: Device | None = None
    may_separate: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.scalable_share <= 1:
            raise UsageError(
                f"a share of {self.scalable_share} of scalable flows", hint="write a part from 0 to 1, as in 0.5"
            )
        if not 1 <= self.flows <= 1000:
            raise UsageError(f"{self.flows} flows", hint="write a number from 1 to 1000: long flows at a time")
        if not 0 <= self.incast <= 1000:
            raise UsageError(f"an incast of {self.incast} senders", hint="write a number from 0 to 1000")
        if self.scalable == self.classic:
            raise UsageError(
                f"both kinds of flows have `{self.scalable}`",
                hint="advice is about two kinds: name another one for the scalable or the classic flows",
            )
        # Everything with a unit is checked here.
        _ = self.rate_bps, self.buffer_bytes, self.response_bytes

    @property
    def kind(self) -> Device:
        """What the port belongs to."""
        return self.device or (Device.SWITCH if self.rtt_s <= _data_centre_s else Device.LINUX)

    @property
    def buffer_text(self) -> str:
        """What may wait."""
        if self.buffer is not None:
            return self.buffer
        usual_s, text = _buffer[self.kind]
        # At a slow port that time would not be a queue.
        return text if usual_s * self.rate_bps / 8 >= _least_packets * 1500 else f"{_least_packets} packets"

    @property
    def hosts_name(self) -> str:
        """Preset of the hosts."""
        return self.hosts or next(name for least, name in _hosts if self.rate_bps >= least)

    @property
    def groups(self) -> tuple[int, int]:
        """Scalable and classic flows; both are there unless the share is 0 or 1."""
        scalable = round(self.flows * self.scalable_share)
        if 0 < self.scalable_share < 1:
            return max(1, scalable), max(1, self.flows - scalable)
        return scalable, self.flows - scalable

    @cached_property
    def plain(self) -> Scenario:
        """The port without a law and one flow on it, from which units are read."""
        flows: list[Flow] = [{"cc": controller, "rtt": self.rtt} for controller in (self.scalable, self.classic)]
        if self.hosts is not None:
            for flow in flows:
                flow["host"] = self.hosts
        # Its buffer is checked by itself.
        return _checked({"rate": self.rate, "buffer": "unlimited"}, flows)

    @cached_property
    def rate_bps(self) -> float:
        """Rate of the port in bit/s."""
        rate_bps = float(self.plain.facts["bottlenecks"][0]["rate_bps"])
        if rate_bps < _least_rate_bps:
            raise UsageError(
                f"a port of {self.rate}", hint=f"from {_least_rate_bps // 1000} kbit/s on; is the unit right?"
            )
        return rate_bps

    @cached_property
    def rtt_s(self) -> float:
        """Round trip in s."""
        return self.plain.facts["groups"][0]["base_rtt_s"] or 0.0

    @property
    def bdp_bytes(self) -> float:
        """Rate times round trip."""
        return self.rate_bps * self.rtt_s / 8

    @cached_property
    def buffer_bytes(self) -> float:
        """What may wait, in bytes."""
        return self._bytes(self.buffer_text, "an unlimited buffer", "write how much may wait, as in '2 MB' or '1 ms'")

    @cached_property
    def response_bytes(self) -> float:
        """Size of an answer of an incast."""
        app: FlowAppTransfer = {"transfer": self.response}
        _checked({"rate": self.rate, "buffer": "unlimited"}, [{"cc": self.scalable, "rtt": self.rtt, "app": app}])
        return self._bytes(self.response, "an answer without end", "write its size, as in '32 kB'")

    def _bytes(self, amount: str, unlimited: str, hint: str) -> float:
        scenario = _checked({"rate": self.rate, "buffer": amount}, [{"cc": self.scalable, "rtt": self.rtt}])
        limits = [
            threshold["bytes"]
            for threshold in scenario.facts["bottlenecks"][0]["thresholds"]
            if threshold["label"] == "limit"
        ]
        if not limits or limits[0] is None:
            raise UsageError(unlimited, hint=hint)
        return float(limits[0])

    @property
    def assumptions(self) -> list[str]:
        """What was not said, and what is taken for it."""
        taken = []
        if self.device is None:
            why = "the round trip is at most" if self.kind is Device.SWITCH else "the round trip is above"
            taken.append(f"the port belongs to a {_named[self.kind]}: {why} {_data_centre_s * 1e3:g} ms")
        if self.buffer is None:
            taken.append(f"{self.buffer_text} may wait at the port ({self.buffer_bytes / 1e3:,.0f} kB)")
        if self.hosts is None:
            taken.append(f"hosts are {self.hosts_name}")
        return taken

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, with the values that were taken for what was not said."""
        said: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **said,
            "other_rtts": list(self.other_rtts),
            "buffer": self.buffer_text,
            "hosts": self.hosts_name,
            "device": str(self.kind),
            "goal": str(self.goal),
        }


_named = {Device.SWITCH: "switch", Device.LINUX: "Linux router"}


def _checked(bottleneck: Bottleneck, flows: list[Flow]) -> Scenario:
    try:
        return Scenario.from_keys({"duration": "1 s", "bottleneck": bottleneck, "flows": flows}, name="question")
    except ScenarioError as error:
        # The place is a line of a text that nobody has written; what is wrong with it is a sentence.
        first, *_ = str(error).removeprefix("error: ").splitlines()
        raise UsageError(first, hint=_hint_of(str(error))) from None


def _hint_of(text: str) -> str:
    hints = [line.partition("hint:")[2].strip() for line in text.splitlines() if "hint:" in line]
    return hints[0] if hints else "rates are written as in '10 Gbit/s', times as in '100 us', sizes as in '2 MB'"
