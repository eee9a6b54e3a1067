"""What figures need to know of the axes of a sweep: which are numbers, their units, and which points are on a line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal._toml import as_text
from shoal.runs.rows import Rows
from shoal.sweeps import short_names
from shoal.units import common_unit


@dataclass(frozen=True)
class SweptAxes:
    """The axes of a sweep.

    Attributes
    ----------
    rows
        The sweep.
    values
        The values of each key, in the order in which they first occur.
    labels
        As many words of each key as tell it from the others.
    main
        The axis with the most numbers, which lines are drawn over.
    others
        The rest.
    naming
        What combinations of values of other keys are called, if not by these values.
    """

    rows: Rows
    values: dict[str, list[object]]
    labels: dict[str, str]
    main: str
    others: tuple[str, ...]
    naming: Callable[[Mapping[str, object]], str] | None = None

    @classmethod
    def of(cls, rows: Rows, naming: Callable[[Mapping[str, object]], str] | None = None) -> SweptAxes:
        """Find them."""
        values: dict[str, list[object]] = {}
        for factor in rows.plan.design.factors:
            for column, key in enumerate(factor.keys):
                values[key] = list({as_text(row[column]): row[column] for row in factor.rows}.values())
        keys = list(values)
        main = max(keys, key=lambda key: (_are_numbers(values[key]), len(values[key])))
        return cls(rows, values, short_names(keys), main, tuple(key for key in keys if key != main), naming)

    def lines(self, over: str | None = None) -> dict[str, list[int]]:
        """Numbers of points, for each combination of the values of all keys but one."""
        over = over or self.main
        lines: dict[str, list[int]] = {}
        for point_index in range(len(self.rows)):
            values = self.rows[point_index]
            label = self.named({key: value for key, value in values.items() if key != over})
            lines.setdefault(label, []).append(point_index)
        return lines

    def others_are_few(self, most: int) -> bool:
        """Whether every combination of the keys beside the main one has several points, and there are not too many."""
        lines = self.lines()
        return len(lines) <= most and all(len(points) > 1 for points in lines.values())

    def named(self, values: dict[str, object]) -> str:
        """What a legend calls some values."""
        return self.naming(values) if self.naming is not None else ", ".join(self.words(values))

    def words(self, values: dict[str, object]) -> list[str]:
        """What a legend calls each of some values."""
        return [f"{self.labels[key]} = {brief(value)}" for key, value in values.items()]

    def positions(self, key: str, points: Iterable[int]) -> list[float]:
        """Where points are on an axis: at their numbers, or side by side."""
        if self.is_numeric(key):
            return [self.number(key, self.rows[point_index][key]) for point_index in points]
        order = {as_text(value): float(number) for number, value in enumerate(self.values[key])}
        return [order[as_text(self.rows[point_index][key])] for point_index in points]

    def is_numeric(self, key: str) -> bool:
        """Whether all values are numbers of one unit, or of units that compare, such as ms and s."""
        return _are_numbers(self.values[key])

    def label(self, key: str) -> str:
        """The label of an axis, with its unit."""
        scale = _scale(self.values[key])
        return self.labels[key] + (f" [{scale[0]}]" if scale is not None and scale[0] else "")

    def number(self, key: str, value: object) -> float:
        """The number in a value of a key, in the unit of its label; NaN if there is none."""
        scale = _scale(self.values[key])
        return _scaled(value, scale[1]) if scale is not None else _number(value)


def brief(value: object) -> str:
    """A value as a legend has it: a queue by its kind, with what else is written of it in parentheses."""
    if not isinstance(value, dict) or "kind" not in value:
        return as_text(value)
    rest = ", ".join(f"{key} = {as_text(part)}" for key, part in value.items() if key != "kind")
    return f"{value['kind']} ({rest})" if rest else str(value["kind"])


def _are_numbers(values: Sequence[object]) -> bool:
    scale = _scale(values)
    if scale is None or any(math.isnan(_number(value)) for value in values):
        return False
    # Values such as 1 s and 1000 ms are two points at one place.
    return len({_scaled(value, scale[1]) for value in values}) == len(values)


def _scale(values: Sequence[object]) -> tuple[str, dict[str, float]] | None:
    """The unit that an axis has, and how many of it each unit of its values is; ``None`` if they do not compare."""
    units = {_unit_of(value) for value in values}
    if len(units) == 1:
        return (unit := units.pop()), {unit: 1.0}
    common = common_unit(units)
    return None if common is None else (common[0], {unit: float(size) for unit, size in common[1].items()})


def _scaled(value: object, sizes: dict[str, float]) -> float:
    size = sizes[_unit_of(value)]
    # 1.001 s is at 1001 ms, whatever the product of two binary numbers is.
    return _number(value) if size == 1.0 else float(f"{_number(value) * size:.12g}")


def _unit_of(value: object) -> str:
    match = re.fullmatch(r"\s*[-+0-9.eE_]+\s*(\D.*)", value) if isinstance(value, str) else None
    return match[1].strip() if match else ""


def _number(value: object) -> float:
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, int | float):
        return float(value)
    match = re.match(r"\s*[-+]?[0-9][0-9_]*(\.[0-9]+)?([eE][-+]?[0-9]+)?", value) if isinstance(value, str) else None
    return float(match[0].replace("_", "")) if match else math.nan
