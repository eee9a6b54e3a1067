"""The files that figures become: PDF, PNG and SVG for papers, and the data in them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from shoal.errors import UsageError
from shoal.plots.style import Drawn, paper_style

# What is left out of a file of each format, as it would differ the next time or on another machine.
_metadata: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}
#: Formats of figures, by the ending of their files.
formats = tuple(_metadata)
# Inches around what is drawn.
_pad = 0.04


def to_svg(figure: Figure) -> str:
    """The figure as SVG text for a page: letters are outlines, so that it looks the same with any fonts."""
    return _written(figure, "svg", {"svg.fonttype": "path"}).decode()


def to_png(figure: Figure, *, dpi: float | None = None) -> bytes:
    """The figure as a PNG file, of 300 dots an inch unless told otherwise."""
    return written(figure, "png", dpi=dpi)


def written(figure: Figure, kind: str, *, dpi: float | None = None) -> bytes:
    """The figure as a file of a format: the same bytes each time; SVG and PDF with letters that stay letters."""
    return _written(figure, kind, {"savefig.dpi": dpi} if dpi else {})


def _written(figure: Figure, kind: str, settings: dict[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    with paper_style():
        mpl.rcParams.update(settings)
        _settle(figure)
        # A figure of the style brings its own settings.
        Figure.savefig(figure, buffer, format=kind, metadata=_metadata[kind], bbox_inches=_box(figure), pad_inches=0)
    return buffer.getvalue()


def _settle(figure: Figure) -> None:
    """Compute the layout once; every format is drawn with it."""
    if figure.get_layout_engine() is not None:
        shown_dpi = figure.dpi
        figure.dpi = mpl.rcParams["savefig.dpi"]
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        figure.dpi = shown_dpi


def _box(figure: Figure) -> Bbox:
    """What a file shows, in inches: as wide as the figure unless something stands out, as high as what is drawn."""
    tight = figure.get_tightbbox()
    left, right = min(0.0, tight.x0 - _pad), max(float(figure.get_figwidth()), tight.x1 + _pad)
    if left > -_pad and right < figure.get_figwidth() + _pad:
        left, right = 0.0, float(figure.get_figwidth())
    return Bbox.from_extents(left, tight.y0 - _pad, right, tight.y1 + _pad)


def format_of(path: Path, *, option: str) -> str:
    """The format of a file by its ending.

    Raises
    ------
    UsageError
        No figure is written so.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in formats:
        known = ", ".join(f".{name}" for name in formats[:-1]) + f" or .{formats[-1]}"
        raise UsageError(
            f"`{path}` has no ending of a figure's file", hint=f"{option} takes a file that ends in {known}"
        )
    return kind


def save(drawn: Drawn | Sequence[Drawn], folder: str | Path) -> None:
    """Write each figure in every format, and its data as Parquet and CSV, under the figure's name."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for each in [drawn] if isinstance(drawn, Drawn) else drawn:
        for kind in formats:
            (folder / f"{each.name}.{kind}").write_bytes(written(each.figure, kind))
        each.data.write_parquet(folder / f"{each.name}.parquet")
        each.data.write_csv(folder / f"{each.name}.csv")
