"""What the interactive plots of a report show: the lines of its figures, taken from the figures themselves.

Labels, colours, units and values thus have one owner. Bands, thresholds and rows of events stay in the figure above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch

#: Values of a figure, beyond which it is not made interactive: the report would not open on a phone.
MAX_VALUES = 20_000
# As many digits as a 32-bit number has: more than a screen shows.
_digits = 7

Panel = dict[str, Any]


def panels(figure: Figure) -> list[Panel]:
    """The panels of a figure that have lines over numbers.

    A panel has ``title``, labels ``x`` and ``y``, ``log`` (of x), ``range`` and ``y_range``, and ``lines``. A line has
    ``label``, ``colour``, ``dash``, ``steps`` (a value stays up to the next), ``points`` (nothing joins them), and
    values ``x`` and ``y``. Empty if the figure has no such panel, or more than :data:`MAX_VALUES` values.
    """
    names = {colour: label for axes in figure.axes for label, colour in _labelled(axes)}
    drawn_panels = [panel for axes in figure.axes if axes.get_visible() if (panel := _panel(axes, names))]
    values = sum(len(line["x"]) for panel in drawn_panels for line in panel["lines"])
    return drawn_panels if values <= MAX_VALUES else []


@cache
def script() -> str:
    """The script of interactive plots; ``node crates/front/web/page/report.mjs`` makes it."""
    return resources.files("shoal.report").joinpath("templates", "explore.js").read_text(encoding="utf-8")


def _panel(axes: Axes, names: dict[str, str]) -> Panel | None:
    x, y = axes.get_xlabel() or _shared_label(axes), axes.get_ylabel() or _shared_label(axes, of="y")
    lines = list(_lines(axes, names))
    if not lines or not x or not y:
        return None
    return {
        "title": axes.get_title() or axes.get_title(loc="left"),
        "x": x,
        "y": y,
        "log": axes.get_xscale() == "log",
        "range": [_short(end) for end in axes.get_xlim()],
        "y_range": [_short(end) for end in axes.get_ylim()],
        "lines": lines,
    }


def _shared_label(axes: Axes, of: str = "x") -> str:
    """The label of an axis that several panels share and only one of them shows."""
    siblings = (axes.get_shared_x_axes() if of == "x" else axes.get_shared_y_axes()).get_siblings(axes)
    labels = [(sibling.get_xlabel() if of == "x" else sibling.get_ylabel()) for sibling in siblings]
    return next((label for label in labels if label), "")


def _labelled(axes: Axes) -> Iterator[tuple[str, str]]:
    for line in axes.get_lines():
        if not _is_hidden(line.get_label()):
            yield str(line.get_label()), to_hex(line.get_color())


def _is_hidden(label: object) -> bool:
    return str(label).startswith("_")


def _lines(axes: Axes, names: dict[str, str]) -> Iterator[Panel]:
    if axes.get_yscale() != "linear":
        return
    for line in axes.get_lines():
        # Thresholds span the panel whatever its values are.
        if line.get_transform() != axes.transData:
            continue
        label = str(line.get_label())
        label = names.get(to_hex(line.get_color()), "") if _is_hidden(label) else label
        if label:
            yield _of_line(line, label)
    for patch in axes.patches:
        # The ground below a density has no name of its own.
        if isinstance(patch, StepPatch) and patch.get_label() and not _is_hidden(patch.get_label()):
            yield _of_steps(patch)


def _of_line(line: Line2D, label: str) -> Panel:
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    if line.axes is not None and line.axes.get_xscale() == "log":
        # A logarithmic axis has no zero.
        x, y = x[x > 0], y[x > 0]
    drawn = str(line.get_drawstyle())
    joined = str(line.get_linestyle()) not in ("None", "none", "", " ")
    dashed = joined and str(line.get_linestyle()) != "-"
    values = _values(x, y)
    return {
        "label": label,
        "colour": to_hex(line.get_color()),
        "dash": dashed,
        "steps": drawn == "steps-post",
        "points": not joined,
        **values,
    }


def _of_steps(patch: StepPatch) -> Panel:
    """A density: each value stays from one edge to the next."""
    heights, edges, _ = (np.asarray(values, dtype=float) for values in patch.get_data())
    values = _values(edges, np.append(heights, heights[-1]))
    dashed = str(patch.get_linestyle()) not in ("-", "solid")
    colour = to_hex(patch.get_edgecolor(), keep_alpha=False)
    return {"label": str(patch.get_label()), "colour": colour, "dash": dashed, "steps": True, "points": False, **values}


def _values(x: np.ndarray, y: np.ndarray) -> dict[str, list[float | None]]:
    """Values as short numbers. Of several at one x the last counts, as in a drawn step."""
    rows = [(_short(a), _short(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True) if math.isfinite(a)]
    kept = [row for row, later in pairwise(rows) if row[0] != later[0]] + rows[-1:]
    return {"x": [a for a, _ in kept], "y": [b for _, b in kept]}


def _short(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
