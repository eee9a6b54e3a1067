"""How large figures are: as wide as a column of a paper, or as what was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from matplotlib.axes import Axes

from shoal.errors import UsageError
from shoal.plots.style import Figure

# Widths of one and two columns of IEEE proceedings, in inches.
one_column = 3.5
two_columns = 7.16

# Inches that were asked for instead of two columns.
_asked: ContextVar[float | None] = ContextVar("figure width", default=None)
# Panels side by side that would be narrower, in inches, go one below the other; letters keep their size.
_least_panel = 2.3
# What can be drawn with letters of 8 points, and what a sheet of paper has.
_least, _most = 2.0, 40.0
# Points are those of TeX, as `\the\columnwidth` gives them.
_per_inch = {"in": 1.0, "cm": 2.54, "mm": 25.4, "pt": 72.27}
_example = "write a number and in, cm, mm or pt, such as 3.5in for one column"


def read_width(text: str) -> float:
    """The inches in a width such as ``3.5in``, ``8.9 cm``, ``89mm`` or ``252pt``.

    Raises
    ------
    UsageError
        It is no width, or one that no figure can have.
    """
    match = re.fullmatch(r"\s*([0-9]{0,6}\.?[0-9]{1,6})\s*([a-z]+)\s*", text)
    if match is None or match[2] not in _per_inch:
        raise UsageError(f"`{text}` is no width of a figure", hint=_example)
    inches = float(match[1]) / _per_inch[match[2]]
    if not _least <= inches <= _most:
        raise UsageError(
            f"a figure cannot be {text.strip()} wide", hint=f"from {_least:g}in to {_most:g}in; {_example}"
        )
    return inches


@contextmanager
def figures_of_width(inches: float | None) -> Iterator[None]:
    """Everything drawn inside is as wide as that instead of two columns; ``None`` changes nothing."""
    token = _asked.set(inches)
    try:
        yield
    finally:
        _asked.reset(token)


def width_of(natural: float = two_columns) -> float:
    """Inches of a figure: of one for two columns what was asked for, of a narrower one at most that."""
    asked = _asked.get()
    if asked is None:
        return natural
    return asked if natural == two_columns else min(natural, asked)


def new_figure(height: float, *, width: float = two_columns) -> Figure:
    """An empty figure.

    Parameters
    ----------
    height
        Inches.
    width
        Inches that it has unless another width was asked for.
    """
    return Figure(figsize=(width_of(width), height))


def columns_that_fit(most: int) -> int:
    """How many panels stand side by side: as many as there are, or as a width that was asked for has room for."""
    asked = _asked.get()
    return most if asked is None else max(1, min(most, int(asked / _least_panel + 1e-9)))


@dataclass(frozen=True)
class Panels:
    """A figure with a row of panels, or a column where they have no room side by side.

    Attributes
    ----------
    figure
        The figure.
    axes
        The panels in order.
    is_column
        Whether they stand one below the other.
    """

    figure: Figure
    axes: tuple[Axes, ...]
    is_column: bool

    @property
    def left(self) -> tuple[Axes, ...]:
        """The panels at the left edge, which have the label of an axis that all share."""
        return self.axes if self.is_column else self.axes[:1]

    @property
    def right(self) -> tuple[Axes, ...]:
        """The panels at the right edge, beside which there is room for names of lines."""
        return self.axes if self.is_column else self.axes[-1:]


def row_of_panels(
    count: int,
    height: float,
    *,
    width: float = two_columns,
    ratios: Sequence[float] | None = None,
    sharey: bool = False,
) -> Panels:
    """Make a figure with panels side by side; in a narrow one they stand one below the other.

    Parameters
    ----------
    count
        How many.
    height
        Inches of a row.
    width
        Inches that the figure has unless another width was asked for.
    ratios
        Widths of the panels in relation to each other, where they stand side by side.
    sharey
        Whether they have one scale of y.
    """
    if columns_that_fit(count) < count:
        figure = new_figure(height * count, width=width)
        axes = tuple(figure.subplots(count, 1, sharey=sharey, squeeze=False)[:, 0])
        return Panels(figure, axes, is_column=True)
    figure = new_figure(height, width=width)
    axes = tuple(figure.subplots(1, count, sharey=sharey, squeeze=False, width_ratios=ratios)[0])
    return Panels(figure, axes, is_column=False)
