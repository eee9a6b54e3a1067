"""Free parameters of a search: a key or a variable, and the range that its values come from."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.expression import plain
from shoal.models import nearest

_example = "as in 0.05:1, 0.05:1:log, '0.1:0.9 BDP' or '1:60:whole packets'"
_end = re.compile(r"\s*(?P<number>[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(?P<unit>[^\s:0-9].*?)?\s*")
_words = ("log", "whole")
# Values closer than this part of the range are the same to a search, and round numbers are easier to deploy.
_resolution = 1e-3
# What stands around an optimum, in steps of this part of the range.
step_part = 0.05
neighbour_steps = (-2, -1, 1, 2)


@explained
@dataclass(frozen=True, slots=True)
class FreeParameter:
    """What a search may choose.

    Attributes
    ----------
    key
        A dotted key of the scenario, or a variable.
    low, high
        The range, both ends included.
    unit
        Unit of the values, as in a scenario file; ``None`` for bare numbers.
    is_log
        Whether equal ratios are equal steps; equal differences are otherwise.
    is_whole
        Whether values are whole numbers.
    """

    key: str
    low: float
    high: float
    unit: str | None = None
    is_log: bool = False
    is_whole: bool = False

    @classmethod
    def parse(cls, key: str, text: str) -> FreeParameter:
        """Read a range: ``LOW:HIGH``, then ``:log`` and ``:whole`` if wanted, then the unit.

        Raises
        ------
        UsageError
            It is none, or it is empty.
        """
        first, colon, rest = text.partition(":")
        if not colon:
            raise UsageError(f"`{text}` of `{key}` is not a range", hint=_example)
        last, *words = rest.split(":")
        # The unit stands once: behind either end, or behind the last word.
        behind = ""
        if words:
            words[-1], _, behind = words[-1].strip().partition(" ")
        (low, unit), (high, other) = _end_of(first, text), _end_of(last, text)
        units = {name for name in (unit, other, behind.strip() or None) if name is not None}
        if len(units) > 1:
            raise UsageError(f"`{text}` has two units: {', '.join(sorted(units))}", hint="write both ends in the same")
        for word in map(str.strip, words):
            if word not in _words:
                hint = f"{nearest(word, list(_words))} Ranges are written {_example}"
                raise UsageError(f"`{text}` of `{key}`: there is no `{word}` of a range", hint=hint)
        kinds = {word.strip() for word in words}
        parameter = cls(key, low, high, next(iter(units), None), is_log="log" in kinds, is_whole="whole" in kinds)
        parameter.check()
        return parameter

    def check(self) -> None:
        """Refuse a range that leaves nothing to choose.

        Raises
        ------
        UsageError
            It is empty, or one value, or cannot be what it is called.
        """
        range_ = f"the range of `{self.key}` from {plain(self.low)} to {plain(self.high)}"
        if self.high < self.low:
            raise UsageError(f"{range_} is empty", hint="the first value must not be above the last")
        if self.high == self.low:
            raise UsageError(f"{range_} is one value", hint=f"write --set {self.key}='{self.text(self.low)}' instead")
        if self.is_log and self.low <= 0:
            raise UsageError(f"{range_} is not above zero", hint="a logarithmic range needs a first value above 0")
        if self.is_whole and (self.low != int(self.low) or self.high != int(self.high)):
            raise UsageError(f"{range_} does not end at whole numbers", hint="as in 1:60:whole")

    @property
    def name(self) -> str:
        """The last word of the key."""
        return self.key.rpartition(".")[2]

    @property
    def range(self) -> str:
        """The range as it is written."""
        return self._written(":log" * self.is_log + ":whole" * self.is_whole)

    @property
    def whole_range(self) -> str:
        """The range as it is written for whole numbers only."""
        return self._written(":log" * self.is_log + ":whole")

    def _written(self, words: str) -> str:
        return f"{plain(self.low)}:{plain(self.high)}{words}" + (f" {self.unit}" if self.unit else "")

    def text(self, value: float) -> str:
        """A value as a person reads it."""
        return f"{plain(value)} {self.unit}" if self.unit else plain(value)

    def rounded(self, value: float) -> float:
        """The value that is tried in the place of one: with as many digits as the range is worth."""
        if self.is_whole:
            value = float(round(value))
        elif self.is_log:
            digits = 1 + math.ceil(-math.log10(math.log(self.high / self.low) * _resolution))
            value = float(f"{value:.{max(2, digits)}g}")
        else:
            places = -math.floor(math.log10((self.high - self.low) * _resolution))
            value = round(value, places)
        return min(max(value, self.low), self.high)

    def position(self, value: float) -> float:
        """Where a value is in the range: 0 at its low end, 1 at its high end."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def at(self, position: float) -> float:
        """The value at a position, rounded."""
        if self.is_log:
            return self.rounded(self.low * (self.high / self.low) ** position)
        return self.rounded(self.low + (self.high - self.low) * position)

    def neighbours(self, value: float) -> list[float]:
        """Values one and two steps on each side, as far as the range goes, in rising order; a step is 5 % of it."""
        values = set()
        for steps in neighbour_steps:
            if self.is_whole and not self.is_log:
                near = value + steps * max(1, round(step_part * (self.high - self.low)))
                values.add(min(max(near, self.low), self.high))
            else:
                values.add(self.at(min(max(self.position(value) + steps * step_part, 0.0), 1.0)))
        return sorted(values - {value})

    def is_at_end(self, value: float) -> bool:
        """Whether a value is within half a step of an end of the range, so that the range may be what stops it."""
        return not step_part / 2 <= self.position(value) <= 1 - step_part / 2


def _end_of(part: str, text: str) -> tuple[float, str | None]:
    match = _end.fullmatch(part)
    if match is None or not math.isfinite(float(match["number"])):
        raise UsageError(f"`{text}` is not a range: `{part.strip()}` is not a number", hint=_example)
    return float(match["number"]), match["unit"]
