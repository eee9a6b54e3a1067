"""Samples of a space: random points, and those of Sobol's sequence, which fill it more evenly.

The points depend on nothing but what is asked for, so that machines that share nothing draw the same: random numbers
are those of :class:`random.Random`, whose sequence Python promises to keep. Sobol's sequence (direction numbers of Joe
and Kuo 2008, from SciPy) is not scrambled but shifted: every coordinate is combined, by exclusive or, with 30 random
bits (Cranley and Patterson 1976; L'Ecuyer and Lemieux 2002). That keeps its evenness, and no point lies on an edge.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from enum import StrEnum

from shoal.errors import UsageError
from shoal.models import nearest
from shoal.runs.design import Factor, most_points
from shoal.sweeps.values import Interval, listed

_bits = 30


class Method(StrEnum):
    """How a sample is drawn."""

    RANDOM = "random"
    SOBOL = "sobol"


def method(word: str) -> Method:
    """The method of that name.

    Raises
    ------
    UsageError
        There is none.
    """
    try:
        return Method(word)
    except ValueError:
        raise UsageError(
            f"there is no sampling `{word}`", hint=nearest(word, [kind.value for kind in Method])
        ) from None


def sample(how: Method, points: int, seed: int, axes: Mapping[str, Interval | Sequence[object]]) -> Factor:
    """Draw points.

    Parameters
    ----------
    how
        The sequence.
    points
        How many.
    seed
        Seed of the random numbers, which has nothing to do with the seeds of the runs.
    axes
        For each key its range, or values that are equally likely.

    Raises
    ------
    UsageError
        There are no axes or no points, too many points, or a library is missing.
    """
    if not 1 <= points <= most_points:
        raise UsageError(f"a sample of {points:,} points", hint=f"a number from 1 to {most_points:,}")
    if not axes:
        raise UsageError("a sample needs axes to draw from", hint="add --sample KEY=LOW:HIGH")
    parts = (_random if how is Method.RANDOM else _sobol)(points, len(axes), seed)
    rows = [tuple(_drawn(axis, part) for axis, part in zip(axes.values(), row, strict=True)) for row in parts]
    return Factor(tuple(axes), rows)


def axis_of(text: str, subject: str, key: str) -> Interval | list[object]:
    """The axis of a sample as it is written: a range, or a list.

    Raises
    ------
    UsageError
        It is neither.
    """
    return Interval.parse(text) or listed(text, subject, key)


def _drawn(axis: Interval | Sequence[object], part: float) -> object:
    return axis.at(part) if isinstance(axis, Interval) else axis[min(int(part * len(axis)), len(axis) - 1)]


def _random(points: int, axes: int, seed: int) -> Sequence[Sequence[float]]:
    numbers = random.Random(seed)  # noqa: S311  (a sample, no secret)
    return [[numbers.random() for _ in range(axes)] for _ in range(points)]


def _sobol(points: int, axes: int, seed: int) -> Sequence[Sequence[float]]:
    try:
        from scipy.stats.qmc import Sobol
    except ModuleNotFoundError:
        raise UsageError(
            "Sobol's sequence needs SciPy, which is not installed",
            hint="install shoal with its extra `sampling` (pip install 'shoal[sampling]'), or sample at random",
        ) from None
    import warnings

    if axes > Sobol.MAXDIM:
        raise UsageError(f"Sobol's sequence has at most {Sobol.MAXDIM:,} axes", hint="sample at random instead")
    numbers = random.Random(seed)  # noqa: S311
    shifts = [numbers.getrandbits(_bits) for _ in range(axes)]
    with warnings.catch_warnings():
        # It says that only powers of two are balanced; the help text of the option says so, too.
        warnings.simplefilter("ignore", UserWarning)
        drawn = Sobol(d=axes, scramble=False, bits=_bits).random(points)
    scale = 1 << _bits
    # Each lies in the middle of its cell of the grid of 2^30, so none is 0.
    return [[((int(x * scale) ^ shift) + 0.5) / scale for x, shift in zip(row, shifts, strict=True)] for row in drawn]
