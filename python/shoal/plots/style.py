"""The one style of all figures."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as PlainFigure
from matplotlib.legend import Legend
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# Okabe and Ito's palette (2008), which people with any colour vision tell apart, without its yellow: too light.
palette = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Lines stay apart without colour, too.
dashes = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 2)))
markers = ("o", "s", "^", "D", "v", "P", "X")

_rc: dict[Any, Any] = {
    "font.family": "sans-serif",
    # Matplotlib brings the first one, which every layout is computed with. Programs that open an SVG without having it
    # take the next: Verdana is drawn as wide.
    "font.sans-serif": ["DejaVu Sans", "Bitstream Vera Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "savefig.dpi": 300,
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.06,
    # Text as wide at every resolution: the layout is computed once.
    "text.hinting": "none",
    # A figure that is made again has the same bytes.
    "svg.hashsalt": "shoal",
    # Text stays text: journals ask for fonts of Type 1 or TrueType, and editors of figures for letters.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "path.simplify": True,
}


class Figure(PlainFigure):
    """A figure that a notebook shows by itself, and that files show with fonts and resolution of the style."""

    def savefig(self, *arguments: Any, **keywords: Any) -> None:
        """Write a file as matplotlib does, in the settings of the style, whatever the user's are."""
        with mpl.rc_context(_rc):
            super().savefig(*arguments, **keywords)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture, of twice as many dots as it is shown with, for fine screens."""
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=200)
        width, height = (round(100 * inches) for inches in self.get_size_inches())
        return image.getvalue(), {"width": width, "height": height}


@dataclass(frozen=True)
class Drawn:
    """A figure and the data that it shows.

    Attributes
    ----------
    name
        Stem of its files.
    title
        What it shows, as a heading.
    note
        What a reader has to know to read it: bins, which flows were traced. Whole sentences, or empty.
    """

    name: str
    title: str
    figure: PlainFigure
    data: pl.DataFrame
    note: str = ""

    @property
    def description(self) -> str:
        """The figure in words, for those who do not see it: what each panel shows over what, and its lines."""
        panels = [_in_words(axes) for axes in self.figure.axes if axes.get_visible()]
        many = len(panels) > 1
        parts = [f"Panel {number}: {words}" if many else words for number, words in enumerate(panels, 1)]
        return " ".join([f"{self.title or f'Figure {self.name}'}.", *parts, self.note]).strip()


def _in_words(axes: Axes) -> str:
    """What a panel shows over what, and the labels of its lines."""
    x, y = axes.get_xlabel(), axes.get_ylabel()
    words = f"{y} over {x}" if x and y else y or x or "a diagram"
    if title := axes.get_title() or axes.get_title(loc="left"):
        words = f"{title}, {words}"
    labels = dict.fromkeys(axes.get_legend_handles_labels()[1])
    if labels:
        words += f"; shown: {', '.join(labels)}"
    # Bars and rows have names instead of numbers.
    ticks = [tick.get_text() for tick in (*axes.get_yticklabels(), *axes.get_xticklabels())]
    if names := [
        text for text in ticks if any(character.isalpha() for character in text) and "mathdefault" not in text
    ]:
        words += f"; rows: {', '.join(names)}"
    return f"{words}."


@contextmanager
def paper_style() -> Iterator[None]:
    """Everything drawn inside looks the same, whatever the user's settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_rc)
        yield


def colour(index: int) -> str:
    """Colour of the n-th series."""
    return palette[index % len(palette)]


def dash(index: int) -> str | tuple[int, tuple[float, ...]]:
    """Line style of the n-th series; one that has the colour of an earlier one has another style."""
    return dashes[_turned(index) % len(dashes)]


def marker(index: int) -> str:
    """Marker of the n-th series; one that has the colour of an earlier one has another marker."""
    return markers[_turned(index) % len(markers)]


def _turned(index: int) -> int:
    """A position that goes one further with each round of colours."""
    return index + index // len(palette)


def legend_above(axes: Axes, *, columns: int = 4) -> None:
    """Put the legend above the axes, where it covers no data."""
    handles, labels = axes.get_legend_handles_labels()
    spec = axes.get_subplotspec()
    room = 1.0 if spec is None else len(spec.colspan) / spec.get_gridspec().ncols
    for ncols in range(min(columns, len(handles)), 0, -1):
        legend = axes.legend(
            handles,
            labels,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=ncols,
            borderaxespad=0.2,
            columnspacing=1.2,
        )
        if _fits(legend, room):
            return


def _fits(legend: Legend, room: float) -> bool:
    """Whether a legend is no wider than a part of its figure."""
    figure = legend.get_figure(root=True)
    return figure is None or legend.get_window_extent().width <= room * figure.bbox.width


def legend_of_figure(figure: PlainFigure, panels: Iterable[Axes], *, columns: int = 4, **more: Any) -> None:
    """One legend above all panels: what is drawn alike is called alike."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        for ncols in range(min(columns, len(entries)), 0, -1):
            legend = figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=ncols, **more)
            if ncols == 1 or _fits(legend, 1.0):
                return
            legend.remove()


def label_at_edge(axes: Axes, text: str, y: float, *, size: float) -> None:
    """Write what stands at a height beside the right edge."""
    axes.annotate(
        text,
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=size,
        annotation_clip=False,
    )


def span_text(seconds: float) -> str:
    """A time in its largest unit that leaves a number of at least 1: ``20 ms``."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        # Bins are differences of times, which are not exact.
        if seconds * factor >= 1 - 1e-6:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def logarithmic(axis: Axis) -> None:
    """Make an x or y axis logarithmic, with plain numbers at 1, 2 and 5 in every decade, or only at 1 over many."""
    if axis is axis.axes.xaxis:
        axis.axes.set_xscale("log")
    else:
        axis.axes.set_yscale("log")
    low, high = sorted(abs(end) for end in axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1e3 * low else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=range(1, 10), numticks=100))
    axis.set_minor_formatter(NullFormatter())


def logarithmic_if_wide(axis: Axis, values: Iterable[float]) -> None:
    """Make an axis logarithmic if its values are positive and the largest is at least twenty times the smallest."""
    known = list(values)
    if min(known) > 0 and max(known) / min(known) >= 20:
        logarithmic(axis)


def shade_warmup(axes: Axes, start_s: float) -> None:
    """Show what the measurements leave out."""
    if start_s > 0:
        axes.axvspan(0, start_s, color="#f0f0f0", zorder=0, linewidth=0)
