"""What is compared of both planes, the differences that do not matter, and what seeds show of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import shoal
from shoal.stats import paired_difference

SAME, DIFFERENT, UNDECIDED = "same", "different", "undecided"
VERDICTS = (SAME, DIFFERENT, UNDECIDED)


@dataclass(frozen=True)
class Quantity:
    """A number of a run.

    Attributes
    ----------
    title
        With its unit, as the head of a column.
    value
        The number of a result.
    share, absolute
        The largest difference that does not matter: a share of Linux's mean, and a part in the quantity's unit.
    digits
        Digits behind the point.
    """

    title: str
    value: Callable[[shoal.Result], float]
    share: float
    absolute: float
    digits: int

    @property
    def on_linux(self) -> str:
        """The head of Linux's column."""
        return f"{self.title.partition(',')[0]}, Linux"

    @property
    def apart(self) -> str:
        """The head of the column of differences."""
        return f"{self.title.partition(',')[0]}: difference"

    def bound(self, linux: Sequence[float]) -> float:
        """The largest difference that does not matter, in the quantity's unit."""
        return self.share * math.fsum(linux) / len(linux) + self.absolute

    def shown(self, values: Sequence[float]) -> str:
        """The mean of seeds in words."""
        return f"{math.fsum(values) / len(values):.{self.digits}f}"


@dataclass(frozen=True)
class Compared:
    """A quantity of the same seeds on both planes."""

    quantity: Quantity
    sim: tuple[float, ...]
    linux: tuple[float, ...]

    @property
    def difference(self) -> float:
        """The mean of the simulator minus that of Linux."""
        return paired_difference(self.sim, self.linux).value

    @property
    def half_width(self) -> float:
        """Half of the confidence interval of the difference, of 95 %; unbounded for a single seed."""
        half_width = paired_difference(self.sim, self.linux).half_width
        return math.inf if half_width is None else half_width

    @property
    def verdict(self) -> str:
        """Whether the whole interval lies within the bound or beyond it."""
        bound = self.quantity.bound(self.linux)
        nearest, farthest = (abs(self.difference) + sign * self.half_width for sign in (-1, 1))
        if farthest <= bound:
            return SAME
        return DIFFERENT if nearest > bound else UNDECIDED

    @property
    def is_open(self) -> bool:
        """Whether it is undecided though the mean difference lies within the bound: more seeds may make it the same."""
        return self.verdict == UNDECIDED and abs(self.difference) <= self.quantity.bound(self.linux)

    def cells(self) -> dict[str, str]:
        """The mean on Linux, and the difference with its interval and what follows, by the titles of columns."""
        digits = self.quantity.digits
        return {
            self.quantity.on_linux: self.quantity.shown(self.linux),
            self.quantity.apart: f"{self.difference:+.{digits}f} ± {self.half_width:.{digits}f} {self.verdict}",
        }


# Bounds were written before anything was measured.
QUANTITIES = (
    Quantity("share, %", lambda result: 100 * result.metric("share('scalable')"), 0.0, 2.0, 1),
    Quantity("classic delay, ms", lambda result: result.metric("delay_ms('not_ect')"), 0.05, 0.0, 2),
    Quantity("L's delay, ms", lambda result: result.metric("delay_ms('ect')"), 0.0, 0.1, 3),
)
