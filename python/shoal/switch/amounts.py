"""Amounts of a queue as configurations write them: a number and a unit, exact, in bytes and in time on demand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil

from shoal.errors import UsageError


class Unit(Enum):
    """A unit of a threshold, by the word that tables show for it."""

    BYTES = "bytes"
    KBYTES = "kbytes"
    MBYTES = "mbytes"
    PACKETS = "packets"
    SEGMENTS = "segments"
    PERCENT = "percent"
    NANOSECONDS = "nanoseconds"
    MICROSECONDS = "microseconds"
    MILLISECONDS = "milliseconds"

    @property
    def is_time(self) -> bool:
        """Whether it is how long packets wait, and not how many."""
        return self in _seconds


# No document that was read says whether the kbytes of NX-OS and EOS are 1000 or 1024 bytes: 1000, and readers say so.
_bytes = {Unit.BYTES: 1, Unit.KBYTES: 1000, Unit.MBYTES: 1_000_000}
_seconds = {
    Unit.NANOSECONDS: Fraction(1, 10**9),
    Unit.MICROSECONDS: Fraction(1, 10**6),
    Unit.MILLISECONDS: Fraction(1, 10**3),
}
_in_scenarios = {Unit.NANOSECONDS: "ns", Unit.MICROSECONDS: "us", Unit.MILLISECONDS: "ms"}

# Units of a scenario file, in bytes (crates/lab/scenario/src/quantity has them in Rust).
_sizes_of_scenarios = {
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip
_times_of_scenarios = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}


# A segment of EOS where the device is not known: that of Trident 2 and Tomahawk.
USUAL_SEGMENT_BYTES = 208


@dataclass(frozen=True, slots=True)
class Port:
    """What amounts are converted with.

    Attributes
    ----------
    rate_bps
        Rate of the port in bit/s.
    mtu_bytes
        Size of a full packet in bytes, for thresholds in packets.
    segment_bytes
        Size of a segment of the packet memory in bytes, for thresholds in segments.
    buffer_bytes
        What the queue may hold, for thresholds in percent; ``None`` if it is not known.
    cell_bytes
        Packets occupy whole cells of this size in bytes; 1 if bytes are counted.
    """

    rate_bps: int
    mtu_bytes: int = 1500
    segment_bytes: int = USUAL_SEGMENT_BYTES
    buffer_bytes: int | None = None
    cell_bytes: int = 1


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, as written."""

    number: Fraction
    unit: Unit

    def bytes_at(self, port: Port) -> Fraction | None:
        """Bytes at a port; ``None`` for a percentage of an unknown buffer."""
        if self.unit in _bytes:
            return self.number * _bytes[self.unit]
        if self.unit.is_time:
            return self.number * _seconds[self.unit] * port.rate_bps / 8
        if self.unit is Unit.PACKETS:
            return self.number * port.mtu_bytes
        if self.unit is Unit.SEGMENTS:
            return self.number * port.segment_bytes
        return None if port.buffer_bytes is None else self.number * port.buffer_bytes / 100

    def is_same(self, other: Amount) -> bool:
        """Whether it is the same amount at every port."""
        return bool(self.is_at_most(other) and other.is_at_most(self))

    def is_at_most(self, other: Amount) -> bool | None:
        """Whether it is at most another amount at every port; ``None`` if that depends on the port."""
        for units in (_bytes, _seconds):
            if self.unit in units and other.unit in units:
                return self.number * units[self.unit] <= other.number * units[other.unit]
        return self.number <= other.number if self.unit is other.unit else None

    def whole_bytes_at(self, port: Port) -> int | None:
        """The amount rounded up to whole cells, as switches compare."""
        exact = self.bytes_at(port)
        return None if exact is None else rounded_up(exact, port.cell_bytes)

    def rounded_to(self, unit: Unit, port: Port) -> Amount | None:
        """The amount rounded up to whole ones of another unit; ``None`` if that has no size at the port."""
        exact, size = self.bytes_at(port), Amount(Fraction(1), unit).bytes_at(port)
        return None if exact is None or not size else Amount(Fraction(ceil(exact / size)), unit)

    def seconds_at(self, port: Port) -> Fraction | None:
        """How long the port takes for it, or the time itself."""
        if self.unit.is_time:
            return self.number * _seconds[self.unit]
        exact = self.bytes_at(port)
        return None if exact is None else exact * 8 / port.rate_bps

    def in_scenario(self, port: Port) -> str | None:
        """As a scenario file writes it: a time, packets, or bytes."""
        if self.unit.is_time:
            return f"{decimal(self.number)} {_in_scenarios[self.unit]}"
        if self.unit is Unit.PACKETS and self.number.denominator == 1:
            return f"{self.number} packets"
        exact = self.bytes_at(port)
        return None if exact is None else f"{rounded_up(exact, 1)} B"

    def __str__(self) -> str:
        return f"{decimal(self.number)} {'%' if self.unit is Unit.PERCENT else self.unit.value}"


def whole_bytes(number: int) -> Amount:
    """An amount in bytes."""
    return Amount(Fraction(number), Unit.BYTES)


def rounded_up(exact: Fraction | int, step: int) -> int:
    """The next multiple of a step."""
    return -(-exact // step) * step


def decimal(number: Fraction) -> str:
    """A number in digits: all of them where they end, else ten."""
    if number.denominator == 1:
        return str(number.numerator)
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(number):.17g}" if rest == 1 and float(number) == number else f"{float(number):.10g}"


def amount_of_scenario(text: str, *, bdp_bytes: float | None) -> Amount | None:
    """Read an amount as a scenario file has it; ``None`` if it is unlimited.

    Parameters
    ----------
    text
        Such as ``"100 kB"``, ``"20 packets"``, ``"0.5 BDP"`` or ``"50 us"``.
    bdp_bytes
        The bandwidth-delay product of the link in bytes, for amounts in BDP.

    Raises
    ------
    UsageError
        It is in BDP, and the link has none.
    """
    if text == "unlimited":
        return None
    match = re.fullmatch(r"([0-9.eE+-]+)\s*([A-Za-zµ]+)", text.strip())
    if match is None:
        raise UsageError(f"`{text}` is no amount of a queue", hint='as in "100 kB", "20 packets" or "50 us"')
    number, unit = Fraction(match[1]), match[2].replace("µ", "u")
    if unit in _sizes_of_scenarios:
        return Amount(number * _sizes_of_scenarios[unit], Unit.BYTES)
    if unit in _times_of_scenarios:
        return _time(number * _times_of_scenarios[unit])
    if unit in ("packet", "packets"):
        return Amount(number, Unit.PACKETS)
    if unit == "BDP" and bdp_bytes is not None:
        return Amount(number * Fraction(bdp_bytes), Unit.BYTES)
    raise UsageError(f"`{text}` cannot be converted here", hint="write bytes, packets or a time")


def _time(seconds: Fraction) -> Amount:
    """A time in the largest unit in which it is whole."""
    for unit in (Unit.MILLISECONDS, Unit.MICROSECONDS):
        if (seconds / _seconds[unit]).denominator == 1:
            return Amount(seconds / _seconds[unit], unit)
    return Amount(seconds / _seconds[Unit.NANOSECONDS], Unit.NANOSECONDS)


def rate_of(text: str) -> int:
    """Read the rate of a port in bit/s, as in ``100G``, ``25 Gbit/s`` or ``500M``.

    Raises
    ------
    UsageError
        It is not a rate.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kMGT]?)(?:bit/s|bps|b/s|bit|b)?", text.strip())
    factors = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
    rate = Fraction(match[1]) * factors[match[2]] if match else Fraction(0)
    if rate.denominator != 1 or rate < 1:
        raise UsageError(f"`{text}` is not the rate of a port", hint="as in 100G, 25G or '500 Mbit/s'")
    return int(rate)


def seconds_of(text: str) -> Fraction:
    """Read a time in seconds, as in ``100us`` or ``'25 ms'``.

    Raises
    ------
    UsageError
        It is not a time.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(s|ms|us|µs|ns)", text.strip())
    if match is None or not Fraction(match[1]):
        raise UsageError(f"`{text}` is not a time", hint="as in 100us or '25 ms'")
    return Fraction(match[1]) * _times_of_scenarios[match[2].replace("µ", "u")]
