"""The law that every reader fills and every writer starts from, whatever the platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from shoal.switch.amounts import Amount, Port


class Action(Enum):
    """What a law does to the packets that it selects."""

    MARK = "mark"
    DROP = "drop"


class Packets(Enum):
    """The packets that a law is for."""

    ECT = "ECT"
    NOT_ECT = "Not-ECT"


class Where(Enum):
    """When a law looks at the queue."""

    ENQUEUE = "enqueue"
    DEQUEUE = "dequeue"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a configuration."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Law:
    """Probability of an action over the queue.

    It is 0 below ``min``, rises to ``pmax`` just below ``max``, and is ``above`` from there on. With equal thresholds
    it is a step, and ``pmax`` has no effect.

    Attributes
    ----------
    action
        What is done.
    min, max
        Where the ramp begins and ends, as written.
    pmax
        Probability at the end of the ramp, 0 to 1.
    weight
        n of average <- average + (queue - average) 2^-n; 0: the queue itself; ``None``: left to the platform.
    where
        When the queue is looked at.
    above
        Probability from ``max`` on, 0 to 1.
    only
        The code point that it is for, such as ``ECT(1)``, if that is not all of its packets; empty if it is.
    source
        Where it is written; laws are equal wherever they stand.
    """

    action: Action
    min: Amount
    max: Amount
    pmax: Fraction
    weight: int | None = 0
    where: Where = Where.DEQUEUE
    above: Fraction = Fraction(1)
    only: str = ""
    source: Source | None = field(default=None, compare=False)

    def packets_of(self, packets: Packets) -> str:
        """What its packets are called, if it is a law of such packets."""
        return self.only or packets.value

    @property
    def is_step(self) -> bool:
        """Whether both thresholds are the same."""
        return self.min.is_same(self.max)

    def same_curve(self, other: Law | None) -> bool:
        """Whether another law selects with the same probability at each length of the queue."""
        if other is None or not (self.min.is_same(other.min) and self.max.is_same(other.max)):
            return False
        ramp = (self.weight, self.where, self.above) == (other.weight, other.where, other.above)
        return ramp and (self.is_step or self.pmax == other.pmax)

    def begins_behind(self, other: Law) -> bool:
        """Whether it acts nowhere before another law acts on all of its packets, at every port."""
        return other.max.is_at_most(self.min) is True


class Serving(Enum):
    """How a queue is served."""

    STRICT = "strict"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class Scheduler:
    """When a queue is served: among strict ones the higher ``priority`` first; weighted ones share by ``weight``."""

    serving: Serving
    weight: int | None = None
    priority: int | None = None

    def __str__(self) -> str:
        number = self.priority if self.serving is Serving.STRICT else self.weight
        return self.serving.value + ("" if number is None else f" {number}")


@dataclass(frozen=True, slots=True)
class Shaping:
    """At most this rate in bit/s, with bursts of so many bytes."""

    rate_bps: int
    burst_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """What a configuration puts between queues and their port: a rate, or a path on which packets suffer.

    Attributes
    ----------
    name
        What it is on the device; queues that have a line of the same name share it.
    rate_bps
        What it sends at most, in bit/s; ``None`` if it has no rate.
    borrows
        Whether a part of that rate is what other lines leave.
    burst_bytes
        What it sends at once after a pause; ``None`` if that is not stated.
    delay_s
        Propagation delay that it adds, in seconds.
    overhead_bytes
        What each packet takes on it beyond its IP size, in bytes.
    impairments
        The table ``bottleneck.impairments`` of a scenario.
    refusal
        Why no scenario can have it; empty if one can.
    source
        Where it is written.
    """

    name: str
    rate_bps: int | None = None
    borrows: bool = False
    burst_bytes: int | None = None
    delay_s: Fraction = Fraction(0)
    overhead_bytes: int = 0
    impairments: Mapping[str, object] = field(default_factory=dict)
    refusal: str = ""
    source: Source | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Buffer:
    """What a queue may hold.

    Attributes
    ----------
    reserved_bytes
        What it has for itself.
    limit
        A fixed limit of the shared part; ``None`` if it is dynamic or not stated.
    alpha
        Dynamic threshold: the shared part may be alpha times what is free of the pool.
    pool_bytes
        Size of the pool; ``None`` if it is not stated.
    pool, profile
        Their names on the device.
    """

    reserved_bytes: int = 0
    limit: Amount | None = None
    alpha: Fraction | None = None
    pool_bytes: int | None = None
    pool: str = ""
    profile: str = ""

    def tail_drop_bytes(self, port: Port, *, queues: int = 1) -> int | None:
        """Where packets are dropped for lack of room while so many queues fill alike; ``None`` if that is not known.

        n queues that fill alike get alpha / (1 + n alpha) of the pool each: each has alpha times what is left.
        """
        if self.limit is not None:
            fixed = self.limit.bytes_at(port)
            return None if fixed is None else self.reserved_bytes + int(fixed)
        if self.alpha is None or self.pool_bytes is None:
            return None
        return self.reserved_bytes + int(self.alpha / (1 + queues * self.alpha) * self.pool_bytes)


class NotEct(Enum):
    """What the marking law does to packets that are not ECT."""

    SAME_LAW = "same law"
    OWN_LAW = "own law"
    TAIL_ONLY = "tail drop only"
    PLATFORM = "platform decides"


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a port: a law for each class of packets, and what it is served and limited by.

    Attributes
    ----------
    name
        As the configuration calls it.
    index
        Its number, where it has one.
    ports
        The ports that have it like this.
    mark
        Law that marks ECT packets.
    drop
        Law that drops packets that are not ECT.
    drop_ect
        Law that drops ECT packets.
    not_ect_known
        Whether the configuration says what becomes of packets that are not ECT.
    unknown
        Why the law is not known at all; empty if it is.
    dscp
        Code points whose packets join it, as far as the configuration says so.
    takes_rest
        Whether it takes all code points that no other queue takes.
    exact
        The queue as a table of a scenario where a kind of its own is closer to it than ``wred``, as for ``tc``.
    lines
        What stands between it and the port, the nearest to the port first.
    undecided
        Why it cannot be said which packets join which queue of the port; ``None`` if it can.
    """

    name: str
    index: int | None = None
    ports: tuple[str, ...] = ()
    mark: Law | None = None
    drop: Law | None = None
    drop_ect: Law | None = None
    not_ect_known: bool = True
    unknown: str = ""
    scheduler: Scheduler | None = None
    shaping: Shaping | None = None
    buffer: Buffer | None = None
    dscp: tuple[int, ...] = ()
    takes_rest: bool = False
    exact: Mapping[str, object] | None = None
    profile: str = ""
    lines: tuple[Line, ...] = ()
    undecided: Remark | None = field(default=None, compare=False)
    source: Source | None = field(default=None, compare=False)

    def served(self, scheduler: Scheduler) -> Queue:
        """The queue with one more statement of how it is served: strict priority stays, whatever share is beside it."""
        is_strict = self.scheduler is not None and self.scheduler.serving is Serving.STRICT
        return self if is_strict and scheduler.serving is Serving.WEIGHTED else replace(self, scheduler=scheduler)

    def at(self, port: Port) -> Port:
        """The port at the rate that the queue is sent with, and with what it may hold, if that is written."""
        rates = [line.rate_bps for line in self.lines if line.rate_bps is not None]
        port = replace(port, rate_bps=min([port.rate_bps, *rates])) if rates else port
        if port.buffer_bytes is None and self.buffer is not None:
            return replace(port, buffer_bytes=self.buffer.tail_drop_bytes(port))
        return port

    @property
    def laws(self) -> tuple[tuple[Packets, Law], ...]:
        """Its laws with the packets that they are for."""
        pairs = ((Packets.ECT, self.mark), (Packets.ECT, self.drop_ect), (Packets.NOT_ECT, self.drop))
        return tuple((packets, law) for packets, law in pairs if law is not None)

    @property
    def not_ect(self) -> NotEct:
        """What becomes of packets that are not ECT."""
        if self.drop is not None:
            return NotEct.SAME_LAW if self.drop.same_curve(self.mark) else NotEct.OWN_LAW
        return NotEct.TAIL_ONLY if self.not_ect_known else NotEct.PLATFORM


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a reader or an operator has to know, with what to do about it."""

    text: str
    hint: str = ""
    source: Source | None = field(default=None, compare=False)
    queue: str = ""

    def __str__(self) -> str:
        source = f"{self.source}: " if self.source else ""
        queue = f"queue {self.queue}: " if self.queue else ""
        return f"{source}{queue}{self.text}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What was read: queues, and what is doubtful about them.

    Attributes
    ----------
    platform, title
        What the command line calls the platform, and what its text is.
    """

    platform: str
    title: str
    queues: tuple[Queue, ...]
    remarks: tuple[Remark, ...] = ()

    def remarks_on(self, queues: Iterable[Queue]) -> list[Remark]:
        """The remarks on some of its queues, and those on none in particular."""
        names = {queue.name for queue in queues}
        return [remark for remark in self.remarks if not remark.queue or remark.queue in names]
