"""Units of what is measured, and of what scenarios say."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

# Units of scenarios (crates/lab/scenario/src/quantity/unit.rs), the smallest first in each dimension: how many of its
# smallest unit each is.
_dimensions: tuple[dict[str, Fraction], ...] = tuple(
    {name: Fraction(size) for name, size in sizes.items()}
    for sizes in (
        {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
        {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9},
        {"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9},
        {"packets": 1, "packet": 1},
        {"BDP": 1},
        {"per min": 1, "per s": 60, "per ms": 60_000},
    )
)


def common_unit(units: Iterable[str]) -> tuple[str, dict[str, Fraction]] | None:
    """The smallest of some units of scenarios, and how many of it each of them is; ``None`` if they do not compare."""
    names = set(units)
    for sizes in _dimensions:
        if names and names <= set(sizes):
            least = min(names, key=list(sizes).index)
            return least, {name: sizes[name] / sizes[least] for name in names}
    return None


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
