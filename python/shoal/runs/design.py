"""The design of an experiment: which points of the space of some keys are run, in which order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from shoal._toml import as_text
from shoal.errors import UsageError

# Points are numbers and texts of a few bytes, but whoever asks for more has most likely mistyped a range.
most_points = 10_000_000


@dataclass(frozen=True, slots=True)
class Factor:
    """Keys that vary together: one axis, axes in pairs, or a sample.

    Attributes
    ----------
    keys
        Dotted keys of a scenario, or variables.
    rows
        Their values, one row after the other.
    """

    keys: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


@dataclass(frozen=True)
class Design:
    """All combinations of the rows of some factors; the last factor changes fastest.

    Points are made when they are asked for, so that a million of them take no memory.
    """

    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        keys = [key for factor in self.factors for key in factor.keys]
        if not keys:
            raise UsageError("nothing is varied", hint="add --axis KEY=V1,V2,..., or [axes] to the sweep file")
        for key in keys:
            if keys.count(key) > 1:
                raise UsageError(f"`{key}` is an axis twice", hint="it belongs to one of: axes, pairs, sample")
        if len(self) > most_points:
            raise UsageError(f"{len(self):,} points are too many for one sweep", hint=f"at most {most_points:,}")

    @property
    def keys(self) -> tuple[str, ...]:
        """What is varied, in order."""
        return tuple(key for factor in self.factors for key in factor.keys)

    def __len__(self) -> int:
        return math.prod(len(factor.rows) for factor in self.factors)

    def at(self, number: int) -> dict[str, object]:
        """The values of a point, counted from 0."""
        values: dict[str, object] = {}
        rest = number
        for size, factor in zip(self._sizes, self.factors, strict=True):
            index, rest = divmod(rest, size)
            values.update(zip(factor.keys, factor.rows[index], strict=True))
        return values

    @cached_property
    def _sizes(self) -> list[int]:
        """How many points there are for each row of a factor."""
        counts = [len(factor.rows) for factor in self.factors]
        return [math.prod(counts[index + 1 :]) for index in range(len(counts))]

    def name(self, number: int) -> str:
        """What sentences call a point: the swept keys and their values."""
        return ", ".join(f"{key} = {as_text(value)}" for key, value in self.at(number).items())


def axis(key: str, values: Sequence[object]) -> Factor:
    """One key and its values."""
    return Factor((key,), [(value,) for value in values])


def pairs(columns: Mapping[str, Sequence[object]]) -> Factor:
    """Keys whose values go together: the first of each, the second of each, and so on.

    Raises
    ------
    UsageError
        They have different numbers of values, or two rows are equal.
    """
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"`{key}` has {count}" for key, count in lengths.items())
        raise UsageError(f"paired axes need as many values each: {counts}", hint="or make each an axis of its own")
    rows = list(zip(*columns.values(), strict=True))
    if len({tuple(map(as_text, row)) for row in rows}) < len(rows):
        raise UsageError(f"the pairs of {', '.join(f'`{key}`' for key in columns)} have a row twice", hint="drop one")
    return Factor(tuple(columns), rows)
