"""What a search tried."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.plots.sizes import one_column, row_of_panels, two_columns
from shoal.plots.style import Drawn, colour, legend_of_figure, logarithmic_if_wide, paper_style


def draw(
    trials: pl.DataFrame,
    comparisons: Sequence[tuple[str, str]],
    *,
    title: str,
    label: str,
    answer: float | None,
    side: str,
) -> Drawn:
    """One panel a comparison: its left side at every value tried, its limit, and the answer.

    Parameters
    ----------
    trials
        One row a trial and comparison, as :meth:`shoal.Tuned.to_polars` gives them.
    comparisons
        Each as the table has it, and its left side.
    title
        The condition.
    label
        What was searched, with its unit.
    answer
        The value that was found, if there is one.
    side
        What the legend calls it: smallest or largest.
    """
    frame = trials.sort("value")
    with paper_style():
        width = one_column if len(comparisons) == 1 else two_columns
        panels = row_of_panels(len(comparisons), 2.6, width=width)
        for axes, (text, left) in zip(panels.axes, comparisons, strict=True):
            rows = frame.filter(pl.col("comparison") == text)
            x, y = rows["value"].to_numpy(), rows["left"].to_numpy()
            axes.errorbar(
                x, y, yerr=rows["left_ci95"].fill_null(0.0).to_numpy(), fmt="none", ecolor="#777777", elinewidth=0.8
            )
            for holds, face, words in ((True, colour(0), "holds"), (False, "#ffffff", "fails")):
                some = rows["holds"].to_numpy() == holds
                axes.plot(
                    x[some], y[some], "o", markeredgecolor=colour(0), markerfacecolor=face, label=words, markersize=4
                )
            axes.plot(x, rows["right"].to_numpy(), ":", color="#333333", linewidth=1.0, label="limit")
            if answer is not None:
                axes.axvline(answer, color=colour(1), linewidth=1.0, linestyle="--", label=side)
            axes.set(xlabel=label, ylabel=left)
            logarithmic_if_wide(axes.xaxis, x.tolist())
        legend_of_figure(panels.figure, panels.axes[:1], columnspacing=1.0, handletextpad=0.4)
    return Drawn("tune", title, panels.figure, frame)
