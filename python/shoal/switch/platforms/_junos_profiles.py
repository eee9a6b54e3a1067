"""Drop profiles of Junos as laws: probabilities over the fill level, in percent of the queue's buffer.

After the chapters Configuring RED Drop Profiles and Configuring CoS WRED Drop Profiles of Juniper's documentation
(https://www.juniper.net/documentation/us/en/software/junos/): pairs of `fill-level` and `drop-probability` are steps
up, and `interpolate` has lines between them that begin at (0, 0) and end at (100, 100). QFX switches other than
QFX10000 take two points, the first with 0 %, and drop all packets from the second one on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from shoal.switch.amounts import Amount, Unit
from shoal.switch.words import Words

_Point = tuple[int, int]
_all = 100
_example = "set class-of-service drop-profiles dp interpolate fill-level [ 30 60 ] drop-probability [ 0 100 ]"


@dataclass(frozen=True)
class Curve:
    """Where a law begins and ends in percent of the buffer, with its probability at the end.

    Attributes
    ----------
    is_of_qfx
        Whether other devices than QFX switches go on with a line from there to the full buffer.
    """

    least: int
    most: int
    pmax: Fraction = Fraction(1)
    is_of_qfx: bool = False

    @property
    def ends(self) -> tuple[Amount, Amount]:
        """Its thresholds."""
        return Amount(Fraction(self.least), Unit.PERCENT), Amount(Fraction(self.most), Unit.PERCENT)


@dataclass
class DropProfile:
    """What a profile has, as written."""

    line: int
    # The probability from each fill level on.
    steps: dict[int, int] = field(default_factory=dict)
    levels: list[int] = field(default_factory=list)
    chances: list[int] = field(default_factory=list)

    def take(self, words: Words) -> None:
        """Read the words behind the name."""
        words.example = _example
        if words.take("interpolate"):
            while words.next in ("fill-level", "drop-probability"):
                values = self.levels if words.any() == "fill-level" else self.chances
                while words.next.isdecimal():
                    values.append(words.whole("a percentage", 0, _all))
        elif words.take("fill-level"):
            level = words.whole("a percentage", 0, _all)
            words.expect("drop-probability")
            self.steps[level] = words.whole("a percentage", 0, _all)
        words.end()

    @property
    def mistake(self) -> str:
        """Why no device takes it; empty if one would."""
        levels = self.levels or list(self.steps)
        if self.steps and (self.levels or self.chances):
            return "steps and points of a line"
        if len(self.levels) != len(self.chances):
            return f"{len(self.levels)} fill levels and {len(self.chances)} drop probabilities"
        return "" if levels == sorted(levels) else "fill levels that do not rise"

    def curve(self) -> Curve | str | None:
        """The law; in words what it is if there is none like it, and ``None`` if it never acts."""
        return self._staircase() if self.steps else self._lines()

    def _staircase(self) -> Curve | str | None:
        steps = [step for step in self.steps.items() if step[1]]
        if not steps:
            return None
        if steps[0][1] == _all:
            return Curve(steps[0][0], steps[0][0])
        return f"a staircase: {', '.join(f'{chance} % from {level} % on' for level, chance in steps)}"

    def _lines(self) -> Curve | str | None:
        points = list(zip(self.levels, self.chances, strict=True))
        if not points:
            return None
        if len(points) == 2 and points[0][1] == 0:
            (least, _), (most, chance) = points
            return Curve(least, most, Fraction(chance, _all), is_of_qfx=chance < _all and most < _all)
        points = [*([(0, 0)] if points[0][0] else []), *points, *([(_all, _all)] if points[-1][0] < _all else [])]
        begin = max((number for number, point in enumerate(points) if not point[1]), default=None)
        end = min((number for number, point in enumerate(points) if point[1] == _all), default=None)
        if begin is None or end is None or not _is_line(points[begin : end + 1]):
            through = ", ".join(
                f"{chance} % at {level} %" for level, chance in zip(self.levels, self.chances, strict=True)
            )
            return f"a curve of several lines: {through}"
        return Curve(points[begin][0], points[end][0])


def _is_line(points: Sequence[_Point]) -> bool:
    (level, chance), (last, _) = points[0], points[-1]
    return all((at - level) * _all == (value - chance) * (last - level) for at, value in points)
