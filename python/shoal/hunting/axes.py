"""What a search may choose of a scenario: numbers in a range, or one of several words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.errors import UsageError
from shoal.search import FreeParameter

#: Values of axes by their keys: a number in the unit of its axis, or a word.
Point = Mapping[str, float | str]

_ranges = re.compile(r"\s*(?P<low>\S+?)\s*\.\.\s*(?P<high>[0-9.eE+-]+)\s*(?P<rest>.*?)\s*")


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that differs between the scenarios of a search.

    Attributes
    ----------
    key
        A dotted key of the scenario, or a name of :mod:`shoal.hunting.space`.
    words
        What it may be, the simplest first; empty for a number.
    range
        Where a number lies.
    plain
        The simplest number, to which a smaller scenario goes back; ``None`` if no number is simpler than others.
    needs
        Axes and their words without which it has no meaning.
    """

    key: str
    words: tuple[str, ...] = ()
    range: FreeParameter | None = None
    plain: float | None = None
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def parameter(self) -> FreeParameter:
        """The range of a number."""
        if self.range is None:
            raise ValueError(f"{self.key} is no number")
        return self.range

    def text(self, value: float | str) -> str:
        """A value as a person reads it."""
        return value if isinstance(value, str) else self.parameter.text(value)

    def applies(self, point: Point) -> bool:
        """Whether it has a meaning beside the words of a point."""
        return all(point.get(key) in words for key, words in self.needs)

    def fixed(self, value: str) -> Axis:
        """The axis with a single value.

        Raises
        ------
        UsageError
            It has no such word, or that is no number in its unit.
        """
        if self.words:
            if value not in self.words:
                raise UsageError(f"`{self.key}` has no `{value}`", hint=f"one of {', '.join(self.words)}")
            return replace(self, words=(value,))
        number = _number(value, self)
        return replace(self, range=replace(self.parameter, low=number, high=number), plain=number)

    def narrowed(self, text: str) -> Axis:
        """The axis with another range, ``LOW..HIGH``, or with some of its words, ``ONE,OTHER``.

        Raises
        ------
        UsageError
            It is none.
        """
        if self.words:
            words = tuple(word.strip() for word in text.split(","))
            for word in words:
                self.fixed(word)
            return replace(self, words=words)
        read = read_range(self.key, text)
        if read.unit != self.parameter.unit:
            raise UsageError(
                f"`{self.key}` is in {self.parameter.unit or 'no unit'}, and `{text}` is not",
                hint=f"as in {self.key}={read.low:g}..{read.high:g} {self.parameter.unit or ''}".rstrip(),
            )
        range_ = replace(self.parameter, low=read.low, high=read.high)
        range_.check()
        plain = self.plain if self.plain is not None and read.low <= self.plain <= read.high else None
        return replace(self, range=range_, plain=plain)


def read_range(key: str, text: str) -> FreeParameter:
    """The range ``LOW..HIGH UNIT``, with ``:log`` and ``:whole`` behind it if wanted.

    Raises
    ------
    UsageError
        It is none.
    """
    match = _ranges.fullmatch(text)
    if match is None:
        raise UsageError(f"`{text}` of `{key}` is no range", hint=f"as in {key}='2..50 Mbit/s' or {key}=fifo,red")
    rest = match["rest"]
    return FreeParameter.parse(key, f"{match['low']}:{match['high']}{rest if rest.startswith(':') else f' {rest}'}")


def new_axis(key: str, text: str) -> Axis:
    """The axis of a key that the space does not have.

    Raises
    ------
    UsageError
        Neither a range nor words.
    """
    if ".." in text:
        return Axis(key, range=read_range(key, text))
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if len(words) < 2:
        raise UsageError(f"`{key}` has nothing to vary", hint=f"as in {key}='2..50 Mbit/s' or {key}=fifo,red")
    return Axis(key, words)


def active(axes: Sequence[Axis], point: Point) -> list[Axis]:
    """The axes that have a meaning beside the words of a point."""
    return [axis for axis in axes if axis.applies(point)]


def _number(text: str, axis: Axis) -> float:
    number, _, unit = text.strip().partition(" ")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or unit.strip() != (axis.parameter.unit or ""):
        example = f"{axis.parameter.low:g} {axis.parameter.unit or ''}".rstrip()
        raise UsageError(f"`{text}` is no value of `{axis.key}`", hint=f"as in {axis.key}='{example}'")
    return value
