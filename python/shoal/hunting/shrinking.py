"""Makes a scenario smaller as long as its effect stays: groups away, plain words, equal and round numbers.

A shrinker is a generator: it asks for points and is told what their runs gave, so that several finds shrink side by
side.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence

from shoal.hunting.axes import Axis, Point, active
from shoal.hunting.bench import Measured
from shoal.hunting.goals import Target
from shoal.hunting.space import KIND, LOAD, OTHER, PATH

Shrinker = Generator[Point, Measured | None, Point]

# What is taken away first makes what follows cheaper: a group before its numbers.
_first = (LOAD, OTHER, PATH)
# What a find is about: it is taken away, or made plain, and not exchanged for something else.
_kept = (KIND, LOAD, OTHER, PATH)
# Round trips that are equal in a smaller scenario.
_equal = (("flows.other.rtt", "flows.law.rtt"),)
_digits = (1, 2)


def shrink(axes: Sequence[Axis], target: Target, start: Point, measured: Measured, part: float) -> Shrinker:
    """Ask for smaller and smaller points, and give the last that keeps the effect.

    Parameters
    ----------
    axes
        All axes.
    target
        What is hunted for.
    start, measured
        The point, and what its runs gave.
    part
        The part of the effect that must stay. The cause must stay as well, as the notices name it.
    """
    least = part * target.effect(measured.mean)
    cause = measured.cause.name
    point = start
    known = {_identity(axes, start)}
    while True:
        before = point
        for smaller in _smaller(axes, point):
            candidate = smaller(point)
            identity = _identity(axes, candidate)
            if identity in known:
                continue
            known.add(identity)
            answer = yield candidate
            if answer is None or answer.cause.name != cause or not target.counts(answer.mean):
                continue
            if target.effect(answer.mean) >= least:
                point = candidate
        if point == before:
            return point


class _Step:
    """Sets an axis to a value, or to that of another axis."""

    def __init__(self, axis: Axis, value: float | str | None = None, like: str = "", digits: int = 0) -> None:
        self.axis, self.value, self.like, self.digits = axis, value, like, digits

    def __call__(self, point: Point) -> Point:
        """The point with this step made, or as it is if that makes it no simpler."""
        value = self.value
        if isinstance(value, str) and self.axis.words.index(value) > self.axis.words.index(str(point[self.axis.key])):
            return point
        if self.like:
            value = point[self.like]
        elif self.digits:
            exact = float(point[self.axis.key])
            value = _rounded(exact, self.digits)
            # What has become plain, or has fewer digits already, is not made less plain.
            value = exact if exact == self.axis.plain or _rounded(exact, self.digits - 1) == exact else value
        if isinstance(value, float | int) and self.axis.range is not None:
            value = min(max(float(value), self.axis.range.low), self.axis.range.high)
        return point if value is None else {**point, self.axis.key: value}


def _smaller(axes: Sequence[Axis], point: Point) -> Iterator[_Step]:
    """Steps towards a smaller scenario, those that take most away first."""
    by_key = {axis.key: axis for axis in axes}
    words = sorted((axis for axis in axes if axis.words), key=lambda axis: axis.key not in _first)
    for axis in words:
        if axis.applies(point):
            yield from (_Step(axis, word) for word in (axis.words[:1] if axis.key in _kept else axis.words))
    numbers = [axis for axis in active(axes, point) if axis.range is not None]
    for axis in numbers:
        if axis.plain is not None:
            yield _Step(axis, axis.plain)
    for key, like in _equal:
        if key in by_key and like in by_key:
            yield _Step(by_key[key], like=like)
    for digits in _digits:
        for axis in numbers:
            yield _Step(axis, digits=digits)


def _identity(axes: Sequence[Axis], point: Point) -> tuple[tuple[str, float | str], ...]:
    """What makes a scenario: the values of the axes that have a meaning."""
    return tuple((axis.key, point[axis.key]) for axis in active(axes, point))


def _rounded(value: float, digits: int) -> float:
    """A number with so many significant digits; zero digits leave nothing of it."""
    return float(f"{value:.{digits}g}") if digits and value and math.isfinite(value) else 0.0
