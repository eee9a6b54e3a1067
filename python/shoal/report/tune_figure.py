"""What a search tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from shoal.plots.style import Drawn, colour, legend_of_figure, logarithmic_if_wide, one_column, paper_style, two_columns

if TYPE_CHECKING:
    from shoal.search import Tuned


def draw(found: Tuned) -> Drawn:
    """One panel a comparison: its left side at every value tried, its limit, and the answer."""
    comparisons = found.condition.comparisons
    frame = found.to_polars().sort("value")
    with paper_style():
        width = one_column if len(comparisons) == 1 else two_columns
        figure = Figure(figsize=(width, 2.6))
        panels = figure.subplots(1, len(comparisons), squeeze=False)[0]
        for axes, comparison in zip(panels, comparisons, strict=True):
            text = f"{comparison.left} {comparison.operator} {comparison.right}"
            own = frame.filter(pl.col("comparison") == text)
            x, y = own["value"].to_numpy(), own["left"].to_numpy()
            axes.errorbar(
                x, y, yerr=own["left_ci95"].fill_null(0.0).to_numpy(), fmt="none", ecolor="#777777", elinewidth=0.8
            )
            for holds, face, words in ((True, colour(0), "holds"), (False, "#ffffff", "fails")):
                some = own["holds"].to_numpy() == holds
                axes.plot(
                    x[some], y[some], "o", markeredgecolor=colour(0), markerfacecolor=face, label=words, markersize=4
                )
            axes.plot(x, own["right"].to_numpy(), ":", color="#333333", linewidth=1.0, label="limit")
            if found.answer is not None:
                axes.axvline(found.answer, color=colour(1), linewidth=1.0, linestyle="--", label=found.side.value)
            axes.set(xlabel=found.label, ylabel=comparison.left)
            logarithmic_if_wide(axes.xaxis, x.tolist())
        legend_of_figure(figure, panels[:1], columnspacing=1.0, handletextpad=0.4)
    return Drawn("tune", f"{found.condition.text}", figure, frame)
