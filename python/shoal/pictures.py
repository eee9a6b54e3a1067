"""Pictures in what notebooks show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.plots import Drawn
    from shoal.run_record import RunRecord


def picture(drawn: Drawn) -> str:
    """A figure in HTML, of twice as many dots as it is shown with, for fine screens."""
    from shoal.plots.formats import to_png

    image = b64encode(to_png(drawn.figure, dpi=200)).decode()
    width = round(100 * drawn.figure.get_figwidth())
    return f"<img width='{width}' alt='{escape(drawn.description)}' src='data:image/png;base64,{image}'>"


def picture_of_runs(runs: Sequence[RunRecord]) -> str:
    """Rates of flow groups over time, or as bars if no time series was recorded."""
    from shoal.plots.kinds import kinds

    kind = kinds["throughput" if kinds["rates"].lacks(runs[0]) is not None else "rates"]
    return picture(kind.draw(runs))
