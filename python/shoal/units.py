"""Units of what is measured."""

from __future__ import annotations

from enum import Enum


class Unit(Enum):
    """In what a metric is written: its name, and how it is got from the unit of results, by a factor or a divisor."""

    RATIO = ("", "")
    FRACTION = ("fraction", "")
    COUNT = ("packets (count)", "")
    PACKETS = ("packets", "_packets")
    BDP = ("BDP", "_bdp")
    SECONDS = ("s", "_s")
    MILLISECONDS = ("ms", "_ms", 1e3)
    MBPS = ("Mbit/s", "_mbps", 1.0, 1e6)
    BPS = ("bit/s", "_bps")
    POWER = ("Mbit/s per ms", "", 1.0, 1e9)
    PER_SECOND = ("1/s", "_per_s")

    def __init__(self, title: str, suffix: str, factor: float = 1.0, divisor: float = 1.0) -> None:
        self.title = title
        #: How names end that say this unit.
        self.suffix = suffix
        self._factor = factor
        self._divisor = divisor

    @property
    def in_title(self) -> str:
        """What titles say of a unit that numbers do not have behind them."""
        return " in BDP" if self is Unit.BDP else ""

    def of(self, value: float) -> float:
        """From the unit in which results hold it: s, bit/s, packets."""
        return value * self._factor / self._divisor

    def back(self, value: float) -> float:
        """To that unit."""
        return value * self._divisor / self._factor
