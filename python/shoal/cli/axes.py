"""``--axis``, ``--pair`` and ``--sample``: axes as the command line has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.errors import UsageError
from shoal.runs import design
from shoal.runs.design import Factor
from shoal.sweeps import sampling as sampled
from shoal.sweeps.values import Interval, assignment, listed, refuse_repeated


def grid_of(axes: Sequence[str]) -> dict[str, list[object]]:
    """Read the values of each ``--axis``.

    Raises
    ------
    UsageError
        A text is not an axis, or names a value twice.
    """
    grid = columns_of(axes, "--axis")
    for text, values in zip(axes, grid.values(), strict=True):
        refuse_repeated(values, f"`--axis {text}`")
    return grid


def columns_of(axes: Sequence[str], option: str) -> dict[str, list[object]]:
    """Read the values of each axis of an option; an axis may have the same value several times."""
    columns: dict[str, list[object]] = {}
    for text in axes:
        key, values = assignment(text, option)
        if key in columns:
            raise UsageError(f"`{key}` is an axis twice", hint=f"give all its values to one {option}")
        columns[key] = listed(values, f"`{option} {text}`", f"{option} {key}")
    return columns


def factors_of(
    axes: Sequence[str], pairs: Sequence[str], samples: Sequence[str], sampling: str | None = None
) -> Iterator[Factor]:
    """What the options vary: each ``--axis`` by itself, all ``--pair`` together, all ``--sample`` together.

    Raises
    ------
    UsageError
        A text is not what its option takes.
    """
    for key, values in grid_of(axes).items():
        yield design.axis(key, values)
    if pairs:
        yield design.pairs(columns_of(pairs, "--pair"))
    if not samples and sampling is None:
        return
    if not samples or sampling is None:
        has, lacks = ("--sample", "--sampling sobol:256") if samples else ("--sampling", "--sample KEY=LOW:HIGH")
        raise UsageError(f"{has} needs {lacks.split()[0]}, too", hint=f"add {lacks}")
    method, _, rest = sampling.partition(":")
    points, colon, seed = rest.partition(":")
    if not points.isdecimal() or (colon and not seed.isdecimal()):
        raise UsageError(f"`--sampling {sampling}` is not METHOD:POINTS", hint="as in --sampling sobol:256")
    drawn: dict[str, Interval | list[object]] = {}
    for text in samples:
        key, written = assignment(text, "--sample")
        if key in drawn:
            raise UsageError(f"`{key}` is sampled twice", hint="give its range once")
        drawn[key] = sampled.axis_of(written.strip(), f"`--sample {text}`", f"--sample {key}")
    yield sampled.sample(sampled.method(method), int(points), int(seed) if colon else 1, drawn)
