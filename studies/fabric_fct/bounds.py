"""What transfers in a leaf-spine network can and should take, calculated without the simulator.

`study.py` and tests use it.

Nothing here reads what the simulator says about ideal times or slowdowns. The facts that the arithmetic starts from:

- A transfer begins when its sender sends the SYN, and it is complete when the acknowledgement of its last byte is back
  at the sender (`fct_s` of a flow; docs/reference/result.md).
- Two hosts of one leaf are two links apart: host - leaf - host. Others are four links apart: host - leaf - spine -
  leaf - host. Links of hosts have one rate, links between switches another, and all have the same delay. Switches store
  packets and forward them when they are complete.
- Packets take their IP size on the wire (`overhead` is 0 B): 60 B the SYN and the SYN/ACK, 52 B of headers and up to
  1448 B of payload a segment, 52 B an acknowledgement. All packets of a transfer are full but the last. Ahead of the
  data the sender's host sends the acknowledgement that completes the handshake.
- The sender may send ten packets before the first acknowledgement is back.

Times of packets are whole picoseconds, as all of them are here: 320 ps a byte at 25 Gbit/s, 80 ps at 100 Gbit/s.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import shoal

SYN_BYTES, ACK_BYTES, HEADER_BYTES, MSS_BYTES = 60, 52, 52, 1448
FULL_BYTES = HEADER_BYTES + MSS_BYTES
INITIAL_WINDOW_PACKETS = 10
# Times come as floating-point numbers of seconds; sums of some hundred of them are exact to far less than this.
ROUNDING_S = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fabric:
    """A leaf-spine network; rates in bit/s, the delay of a link in ps. Hosts are counted from 0, leaf by leaf."""

    leaves: int
    hosts_per_leaf: int
    spines: int
    host_bps: int = 25_000_000_000
    fabric_bps: int = 100_000_000_000
    delay_ps: int = 1_000_000

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return self.leaves * self.hosts_per_leaf

    def link_bps(self, source: int, destination: int) -> list[int]:
        """Rates of the links between two hosts, in bit/s."""
        if source // self.hosts_per_leaf == destination // self.hosts_per_leaf:
            return [self.host_bps, self.host_bps]
        return [self.host_bps, self.fabric_bps, self.fabric_bps, self.host_bps]


@dataclass(frozen=True)
class Transfer:
    """One transfer of a run. Times in s; `fct_s` is none if it did not end within the run."""

    group: str
    source: int
    destination: int
    size: int
    start_s: float
    fct_s: float | None
    delivered: int
    retransmissions: int


def transfers_of(result: shoal.Result, fabric: Fabric) -> list[Transfer]:
    """All transfers of a run whose groups pair the hosts of the whole fabric at random.

    Raises
    ------
    ValueError
        The result lacks flows (`trace.flows`) or has others than transfers, or the hosts that are drawn here are not
        those of the run.
    """
    transfers = []
    for group in result.groups:
        if len(group["flows"]) != group["flow_count"]:
            raise ValueError('the result lists a part of its flows: run it with trace.flows = "all"')
        for number, flow in enumerate(group["flows"]):
            source, destination = pair(result.seed, group["name"], number, fabric.hosts)
            links = fabric.link_bps(source, destination)
            size, base_rtt_s = flow["transfer_bytes"], flow["base_rtt_s"]
            if size is None or base_rtt_s is None:
                raise ValueError(f"flow {number} of {group['name']} is no transfer")
            if round(base_rtt_s * 1e12) != 2 * len(links) * fabric.delay_ps:
                raise ValueError(f"flow {number} of {group['name']} is not between hosts {source} and {destination}")
            transfers.append(
                Transfer(
                    group=group["name"],
                    source=source,
                    destination=destination,
                    size=size,
                    start_s=flow["start_s"],
                    fct_s=flow["fct_s"][0] if flow["fct_s"] else None,
                    delivered=flow["delivered_bytes"],
                    retransmissions=flow["retransmissions"],
                )
            )
    return transfers


# The hosts of a flow, which no result names: each flow draws them from a stream of its own.

_MASK = 2**64 - 1


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & _MASK


def _stream(seed: int, name: str) -> Iterator[int]:
    """Words of xoshiro256++ (Blackman and Vigna 2019), seeded by SplitMix64 from the FNV-1a hash of seed and name."""
    state = 0xCBF29CE484222325
    for byte in seed.to_bytes(8, "little") + name.encode():
        state = (state ^ byte) * 0x100000001B3 & _MASK
    words = []
    for _ in range(4):
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
        words.append(mixed ^ mixed >> 31)
    a, b, c, d = words
    while True:
        yield (_rotated((a + d) & _MASK, 23) + a) & _MASK
        shifted = b << 17 & _MASK
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c, d = c ^ shifted, _rotated(d, 45)


def pair(seed: int, group: str, number: int, hosts: int) -> tuple[int, int]:
    """Source and destination of a flow of a group with `pairing = "random"` over all hosts."""
    draws = _stream(seed, f"pair/{group}/{number}")
    while True:
        source, destination = (next(draws) * hosts >> 64 for _ in range(2))
        if source != destination:
            return source, destination


# An empty network.


def packets(size: int) -> int:
    """Packets of a transfer of so many bytes."""
    return -(-size // MSS_BYTES)


def wire_bytes(size: int) -> int:
    """Bytes of all packets of a transfer on the wire."""
    return size + packets(size) * HEADER_BYTES


def last_bytes(size: int) -> int:
    """Bytes of the last, smallest packet of a transfer on the wire."""
    return size - (packets(size) - 1) * MSS_BYTES + HEADER_BYTES


def handshake_ps(links: Sequence[int], delay_ps: int) -> int:
    """Time from the SYN to the first data packet.

    There and back, with two packets that every switch stores, and the acknowledgement on the sender's own link; on the
    others it is ahead of the data, which are longer.
    """
    each = _ps_per_byte(links)
    return 2 * len(links) * delay_ps + 2 * SYN_BYTES * sum(each) + ACK_BYTES * each[0]


def train_ps(count: int, last: int, links: Sequence[int]) -> int:
    """Time in which a train of packets gets through links without delay: `count` of them, all full but the last.

    Each link sends a packet when it is complete and the link has sent the one before. The last packet leaves last
    after the longest way through (packet, link): full packets to the link where all but one of them follow one
    another, which is the slowest, on to some link `turn`, and from there the last packet alone.
    """
    each = _ps_per_byte(links)
    if count == 1:
        return last * sum(each)
    slowest = each.index(max(each))
    return max(
        FULL_BYTES * (sum(each[: turn + 1]) + (count - 2) * each[slowest]) + last * sum(each[turn:])
        for turn in range(slowest, len(each))
    )


def ideal_ps(size: int, links: Sequence[int], delay_ps: int) -> int:
    """Completion time in ps of a transfer that has the network to itself; no transfer can be faster.

    The data follow the handshake, and the acknowledgement of the last byte follows the data. Packets beyond the
    initial window wait for the first acknowledgement, which is back after a packet there and an acknowledgement
    back. From then on two packets may be sent for each packet that arrives, so the window no longer limits: ten
    packets and 20 for their acknowledgements are more than the path holds.
    """
    each = _ps_per_byte(links)
    count, last = packets(size), last_bytes(size)
    way = len(links) * delay_ps
    back = way + ACK_BYTES * sum(each)
    data = train_ps(count, last, links)
    if count > INITIAL_WINDOW_PACKETS:
        first_acknowledged = way + FULL_BYTES * sum(each) + back
        data = max(data, first_acknowledged + train_ps(count - INITIAL_WINDOW_PACKETS, last, links))
    return handshake_ps(links, delay_ps) + data + way + back


def _ps_per_byte(links: Sequence[int]) -> list[int]:
    """Time of a byte on each link in ps; it must be a whole number, as at 25 and 100 Gbit/s."""
    if any(8 * 10**12 % bps for bps in links):
        raise ValueError(f"a byte takes no whole number of picoseconds at {links} bit/s")
    return [8 * 10**12 // bps for bps in links]


# The cards of hosts: what any network does to them, however it shares its links.


@dataclass(frozen=True)
class Job:
    """The data of a transfer on the link of a host: they cannot be sent before `release`, and were before `end`; in s.

    `complete` says whether these are all its data; of a transfer that did not end they are what had arrived.
    """

    release: float
    end: float
    work: float
    complete: bool


def jobs(fabric: Fabric, transfers: Iterable[Transfer], end_s: float) -> dict[tuple[str, int], list[Job]]:
    """The jobs of every host as `sender` and as `receiver`, in the order of their releases."""
    cards: dict[tuple[str, int], list[Job]] = {}
    for transfer in transfers:
        links = fabric.link_bps(transfer.source, transfer.destination)
        each = _ps_per_byte(links)
        way = len(links) * fabric.delay_ps
        smallest = last_bytes(transfer.size)
        done = transfer.fct_s is not None
        arrived = transfer.size if done else transfer.delivered
        if not arrived:
            continue
        # Of data that arrived, headers of whole packets are certain.
        wire = wire_bytes(arrived) if done else arrived + arrived // MSS_BYTES * HEADER_BYTES
        begin = transfer.start_s + handshake_ps(links, fabric.delay_ps) * 1e-12
        completed = transfer.start_s + transfer.fct_s if transfer.fct_s is not None else end_s
        # The acknowledgement of the last byte; without it the data had only to arrive.
        back = way + ACK_BYTES * sum(each) if done else 0
        # The last packet passes the other links after the sender's, and the first one before the receiver's.
        others = sum(each[1:]) * smallest
        latency = way - fabric.delay_ps + sum(each[:-1]) * smallest
        for side, release, end in (
            ("sender", begin, completed - (others + way + back) * 1e-12),
            ("receiver", begin + latency * 1e-12, completed - (fabric.delay_ps + back) * 1e-12),
        ):
            host = transfer.source if side == "sender" else transfer.destination
            cards.setdefault((side, host), []).append(Job(release, end, 8 * wire / fabric.host_bps, done))
    return {key: sorted(card, key=lambda job: job.release) for key, card in cards.items()}


def least_slack_s(card: Sequence[Job]) -> float:
    """How much longer than the work of its jobs an interval lasted, at least, in s; negative is impossible.

    Intervals are all pairs of a release and an end; their jobs are those that were released and ended in between.
    """
    least = float("inf")
    for index, first in enumerate(card):
        later = sorted(card[index:], key=lambda job: job.end)
        work = np.cumsum([job.work for job in later])
        least = min(least, float(np.min(np.array([job.end for job in later]) - first.release - work)))
    return least


def busy_periods(card: Sequence[Job]) -> Iterator[tuple[float, float]]:
    """Ends in s of each busy period of a link that always sends what has been released: of the fluid, and of the run.

    A period with a transfer that did not end has no end in the run, and is left out.
    """
    period: list[Job] = []
    empty = float("-inf")
    for job in (*card, None):
        if period and (job is None or job.release > empty):
            if all(member.complete for member in period):
                yield empty, max(member.end for member in period)
            period = []
        if job is not None:
            empty = max(empty, job.release) + job.work
            period.append(job)


def shortest_first_s(card: Sequence[Job]) -> float:
    """Sum of the ends in s if a link always sends what remains shortest: no order has a smaller one (Schrage 1968)."""
    waiting: list[float] = []
    total, now = 0.0, 0.0
    releases = [*((job.release, job.work) for job in card), (float("inf"), 0.0)]
    for release, work in releases:
        while waiting and now + waiting[0] <= release:
            now += heapq.heappop(waiting)
            total += now
        if waiting:
            heapq.heapreplace(waiting, waiting[0] - (release - now))
        now = release
        heapq.heappush(waiting, work)
    return total


@dataclass(frozen=True)
class Bound:
    """A bound that no network can break.

    Attributes
    ----------
    says
        What it says, as a sentence.
    cases, broken
        How many cases were looked at, and how many of them break it.
    closest_s
        The smallest margin, in s.
    """

    says: str
    cases: int
    broken: int
    closest_s: float

    @classmethod
    def of(cls, says: str, margins_s: Iterable[float]) -> Bound:
        """The bound of these margins; one below 0 by more than rounding breaks it."""
        margins = list(margins_s)
        return cls(says, len(margins), sum(margin < -ROUNDING_S for margin in margins), min(margins))


def bounds(fabric: Fabric, transfers: Sequence[Transfer], result: shoal.Result) -> list[Bound]:
    """All bounds of a run with these transfers."""
    cards = jobs(fabric, transfers, result.scenario.facts["duration_s"]).values()
    whole = [[job for job in card if job.complete] for card in cards]
    arrived = [0] * fabric.hosts
    for transfer in transfers:
        arrived[transfer.destination] += transfer.delivered
    ports = {link["name"]: link for link in result.bottlenecks}
    start_s, end_s = result.window
    names = [f"leaf{host // fabric.hosts_per_leaf + 1}->h{host + 1}" for host in range(fabric.hosts)]
    sent = [ports[name]["departed_bytes"] for name in names]
    return [
        Bound.of(
            "A transfer takes at least its time in an empty network.",
            (transfer.fct_s - ideal_s(fabric, transfer) for transfer in transfers if transfer.fct_s is not None),
        ),
        Bound.of(
            "An interval in which data were released to a host's link and left it is at least as long as their work "
            "there (all intervals of every host, as sender and as receiver; with data of unfinished transfers).",
            map(least_slack_s, cards),
        ),
        Bound.of(
            "The last transfer of a busy period ends no sooner than a link that always sends what has been released.",
            (run - fluid for card in cards for fluid, run in busy_periods(card)),
        ),
        Bound.of(
            "The transfers of a host end, on average, no sooner than if its link always sent what remains shortest.",
            ((sum(job.end for job in card) - shortest_first_s(card)) / len(card) for card in whole if card),
        ),
        Bound.of(
            "A receiver gets no more payload than its port sent, in s of the port's work.",
            (8 * (out - payload) / fabric.host_bps for out, payload in zip(sent, arrived, strict=True)),
        ),
        Bound.of(
            "A port sends no more than its rate allows in the run, and a packet that has begun.",
            (end_s - start_s + 8 * (FULL_BYTES - out) / fabric.host_bps for out in sent),
        ),
    ]


# Processor sharing.


def max_min_rates(links: NDArray[np.int64], capacity: float, count: int) -> Floats:
    """Max-min fair rates of flows over links of one capacity; `links` has a row of two links for each flow.

    A link whose share is the smallest for all of its flows gives it to them; what they leave goes to the others.
    """
    flows = len(links)
    rates = np.zeros(flows)
    left = np.full(count, capacity)
    active = np.arange(flows)
    while len(active):
        ends = links[active]
        users = np.bincount(ends.ravel(), minlength=count)
        share = np.divide(left, users, out=np.full(count, np.inf), where=users > 0)
        shares = share[ends]
        least = shares.min(axis=1)
        # Links that are not the smallest for one of their flows.
        passed = np.zeros(count, dtype=bool)
        passed[ends[shares > least[:, None] * (1 + 1e-12)]] = True
        fixed = ~passed[ends].all(axis=1)
        rates[active[fixed]] = least[fixed]
        np.subtract.at(left, ends[fixed].ravel(), np.repeat(least[fixed], 2))
        left = np.maximum(left, 0.0)
        active = active[~fixed]
    return rates


@dataclass
class Fluid:
    """Processor sharing: fluids share the links of senders and receivers max-min fairly, at once and without queues.

    The links between switches are left out: those of `fabric-web` have the capacity of the hosts, so that they limit
    only where the hash puts many flows on one of them.
    """

    fabric: Fabric
    done: dict[int, float] = field(default_factory=dict)

    def run(self, transfers: Sequence[Transfer]) -> list[float]:
        """Completion time in s of each transfer: its time in the fluid and what its ideal time has beyond the work."""
        capacity, hosts = float(self.fabric.host_bps), self.fabric.hosts
        order = sorted(range(len(transfers)), key=lambda index: transfers[index].start_s)
        active = np.empty(0, dtype=np.int64)
        links = np.empty((0, 2), dtype=np.int64)
        bits = np.empty(0)
        rates = np.empty(0)
        now, upcoming = 0.0, 0
        while upcoming < len(order) or len(active):
            arrival = transfers[order[upcoming]].start_s if upcoming < len(order) else np.inf
            # Ends that are one but for rounding are one event.
            next_end = now + float((bits / rates).min()) if len(active) else np.inf
            time = min(arrival, next_end)
            bits = bits - rates * (time - now)
            now = time
            if next_end <= arrival:
                over = bits <= 1e-3
                self.done |= {int(index): now for index in active[over]}
                active, links, bits = active[~over], links[~over], bits[~over]
            else:
                transfer = transfers[order[upcoming]]
                active = np.append(active, order[upcoming])
                links = np.vstack((links, [transfer.source, hosts + transfer.destination]))
                bits = np.append(bits, 8.0 * wire_bytes(transfer.size))
                upcoming += 1
            rates = max_min_rates(links, capacity, 2 * hosts)
        return [
            self.done[index] - transfer.start_s + self._latency_s(transfer) for index, transfer in enumerate(transfers)
        ]

    def _latency_s(self, transfer: Transfer) -> float:
        """What the ideal time of a transfer has beyond the work of a host's link, in s."""
        return ideal_s(self.fabric, transfer) - 8 * wire_bytes(transfer.size) / self.fabric.host_bps


def ideal_s(fabric: Fabric, transfer: Transfer) -> float:
    """Completion time of a transfer in an empty network, in s."""
    links = fabric.link_bps(transfer.source, transfer.destination)
    return ideal_ps(transfer.size, links, fabric.delay_ps) * 1e-12
