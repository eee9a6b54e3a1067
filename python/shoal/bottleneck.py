"""A link with its queue in virtual time, for programs that bring the packets and the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.scenario import Scenario

_times = 2**64
_Verdict: TypeAlias = Literal["queued", "marked", "displaced", "dropped"]


@explained
@dataclass(frozen=True)
class Enqueued:
    """What a queue answers to a packet that comes.

    Attributes
    ----------
    verdict
        ``queued``; ``marked``, if it is queued and marked at once; ``displaced``, if it is queued and packets that
        waited, perhaps itself, are dropped for it; ``dropped``.
    reason
        Why it is marked or dropped, as results word it: ``buffer``, ``threshold``, ``early``, ...; else ``None``.
    """

    verdict: _Verdict
    reason: str | None


@explained
@dataclass(frozen=True)
class Arrived:
    """A packet that has reached the other end of the link.

    Attributes
    ----------
    at_ps
        When, in ps.
    handle
        What came with it. If impairments send packets twice, the same handle comes twice.
    flow
        Its flow.
    size
        Its size in bytes.
    ecn
        The ECN field of its IP header now: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE.
    is_marked
        Whether this queue has marked it.
    """

    at_ps: int
    handle: int
    flow: int
    size: int
    ecn: int
    is_marked: bool


@explained
@dataclass(frozen=True)
class Lost:
    """A packet that was queued and will not arrive.

    Attributes
    ----------
    at_ps
        When it was dropped, or left for a wire that loses it, in ps.
    handle
        What came with it.
    reason
        Why the queue dropped it, as results word it; ``None`` if impairments of the wire lost or corrupted it.
    """

    at_ps: int
    handle: int
    reason: str | None


@explained
@dataclass(frozen=True)
class Counters:
    """Packets that came to a link, and what became of them.

    Attributes
    ----------
    arrived, marked, dropped
        Packets at the queue.
    lost
        Packets of which no copy arrives, because impairments of the wire lost or corrupted them.
    delivered, delivered_bytes
        What was handed over at the other end.
    waiting_packets, waiting_bytes
        What waits now, without the packet in transmission.
    """

    arrived: int
    marked: int
    dropped: int
    lost: int
    delivered: int
    delivered_bytes: int
    waiting_packets: int
    waiting_bytes: int


@explained
class Bottleneck:
    """One link of a scenario, without its flows: the caller brings packets and tells the time, in whole picoseconds.

    It is the link of the simulator. With the same scenario, seed, packets and times it has the same outcome there, and
    in Rust, C and WebAssembly. Times must not decrease; one that is before an earlier one counts as that one. The last
    one is 2**62 ps (53 days).

    Parameters
    ----------
    scenario
        The scenario; only its link matters, and its flows for the unit BDP.
    link
        Name of the link; by default the first bottleneck.
    seed
        Seed of the link's random draws; by default that of the scenario.

    Raises
    ------
    ScenarioError
        There is no such link, or its port shares memory with others.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "1 s"
    ... bottleneck = { rate = "12 Mbit/s", delay = "5 ms", aqm = { kind = "step", threshold = "1 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "20 ms" }]
    ... ''')
    >>> link = shoal.Bottleneck(scenario)
    >>> [link.enqueue(0, 1500, ecn=2, handle=number).verdict for number in range(3)]
    ['queued', 'queued', 'marked']
    >>> link.events(6_000_000_000)
    [Arrived(at_ps=6000000000, handle=0, flow=0, size=1500, ecn=2, is_marked=False)]
    >>> link.next_ps
    7000000000
    """

    def __init__(self, scenario: Scenario, *, link: str | None = None, seed: int | None = None) -> None:
        self._native = scenario.native.bottleneck(link, seed)
        self._now_ps = 0
        self._unread: list[Arrived | Lost] = []

    def enqueue(self, now_ps: int, size: int, *, ecn: int = 0, flow: int = 0, handle: int = 0) -> Enqueued:
        """A packet comes.

        Parameters
        ----------
        now_ps
            The time, in ps.
        size
            Size of the IP packet in bytes, 1 to 65535.
        ecn
            The ECN field of its IP header, 0 to 3.
        flow
            Flow to which it belongs, for queues that tell flows apart; 0 to 2**32 - 1.
        handle
            What the caller knows it by, 0 to 2**64 - 1.

        Raises
        ------
        UsageError
            A number is outside its range.
        """
        _refuse("size", size, 1, 2**16)
        _refuse("ecn", ecn, 0, 4)
        _refuse("flow", flow, 0, 2**32)
        _refuse("handle", handle, 0, _times)
        self._advance(now_ps)
        verdict, reason = self._native.enqueue(self._now_ps, size, ecn, flow, handle)
        return Enqueued(cast(_Verdict, verdict), reason)

    def events(self, now_ps: int) -> list[Arrived | Lost]:
        """What has happened by now and was not told yet.

        Packets come in the order in which they arrive; a loss is told when it shows, with its time.

        Parameters
        ----------
        now_ps
            The time, in ps.

        Raises
        ------
        UsageError
            The time is outside its range.
        """
        self._advance(now_ps)
        self._hear()
        events, self._unread = self._unread, []
        return events

    @property
    def next_ps(self) -> int | None:
        """When to ask for events again, in ps, if no packet comes before; ``None`` if nothing will happen.

        It is in the past if something has happened that was not asked for.
        """
        next_ps = self._hear()
        return self._unread[0].at_ps if self._unread else next_ps

    def set_rate(self, now_ps: int, rate_bps: int) -> None:
        """Transmissions that begin now or later have this rate; at 0 bit/s the link is down.

        The law of the queue keeps the rate of the scenario, and changes that this plans for later do not happen any
        more. A change counts as one of the next picosecond if a packet came, or events were asked for, at the same
        time.

        Parameters
        ----------
        now_ps
            The time, in ps.
        rate_bps
            The rate, in bit/s.

        Raises
        ------
        ScenarioError
            The link is a pure delay, or sends at opportunities.
        UsageError
            A number is outside its range.
        """
        _refuse("rate_bps", rate_bps, 0, _times)
        _refuse("now_ps", now_ps, 0, _times)
        self._native.set_rate(now_ps, rate_bps)
        self._now_ps = max(self._now_ps, now_ps)

    def set_delay(self, now_ps: int, delay_ps: int) -> None:
        """Packets whose last bit leaves the transmitter now or later have this propagation delay.

        None overtakes another unless impairments reorder them; :meth:`set_rate` says more about the time of a change.

        Parameters
        ----------
        now_ps
            The time, in ps.
        delay_ps
            The delay, in ps, at most 2**62.

        Raises
        ------
        ScenarioError
            The delay is longer.
        UsageError
            A number is outside its range.
        """
        _refuse("delay_ps", delay_ps, 0, _times)
        _refuse("now_ps", now_ps, 0, _times)
        self._native.set_delay(now_ps, delay_ps)
        self._now_ps = max(self._now_ps, now_ps)

    @property
    def counters(self) -> Counters:
        """What has become of packets so far."""
        return Counters(*self._native.counters)

    def _advance(self, now_ps: int) -> None:
        _refuse("now_ps", now_ps, 0, _times)
        self._now_ps = max(self._now_ps, now_ps)

    def _hear(self) -> int | None:
        """Keep what has happened; returns when to ask again."""
        while True:
            kind, at_ps, handle, flow, size, ecn, is_marked, reason = self._native.next(self._now_ps)
            if kind == 2:
                self._unread.append(Arrived(at_ps, handle, flow, size, ecn, is_marked))
            elif kind == 3:
                self._unread.append(Lost(at_ps, handle, reason))
            else:
                return at_ps if kind == 1 else None


def _refuse(name: str, value: int, least: int, end: int) -> None:
    if not least <= value < end:
        raise UsageError(f"{name} is {value}", hint=f"a whole number from {least} to {end - 1}")
