"""What a search with goals tried, and what it found."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, legend_of_figure, paper_style

#: A goal: its expression, and ``minimise`` or ``maximise``.
Goal = tuple[str, str]
#: Colour of the optimum, or of the compromise between goals.
best_colour = colour(1)

_grey, _dark = "#8a8a8a", "#333333"
# Where finalists stand, with the colours of their edges and faces; those that stand nowhere fail the condition.
_standings = (
    ("on the front", "on the front", colour(0), colour(0)),
    ("not clear", "not clear", colour(0), "white"),
    ("dominated", "dominated", _dark, "white"),
    ("", "finalist, fails", _dark, _dark),
)


def front(
    candidates: pl.DataFrame,
    finalists: pl.DataFrame,
    goals: Sequence[Goal],
    *,
    standings: Sequence[str],
    chosen: int | None,
) -> Drawn:
    """One row a pair of goals: everything tried, and beside it the finalists by fresh seeds with their intervals.

    Parameters
    ----------
    candidates
        One row a candidate, as :meth:`shoal.Optimised.to_polars` gives them.
    finalists
        One row a finalist, as :meth:`shoal.Optimised.finalists_to_polars` gives them.
    goals
        At least two.
    standings
        Where each finalist stands: ``on the front``, ``not clear`` or ``dominated``; empty if it fails the condition.
    chosen
        Number of the candidate that is the compromise, if there is one.
    """
    pairs = list(itertools.combinations(goals, 2))
    with paper_style():
        figure = new_figure(2.6 * len(pairs) + 0.5)
        rows = figure.subplots(len(pairs), 2, squeeze=False)
        for panels, (across, up) in zip(rows, pairs, strict=True):
            x, y = across[0], up[0]
            for holds, shape, words in ((True, "o", "tried"), (False, "x", "tried, fails")):
                some = candidates.filter((pl.col("holds") == holds) & pl.col(x).is_not_null() & pl.col(y).is_not_null())
                if some.height:
                    style: dict[str, Any] = {"linestyle": "none", "color": _grey, "markerfacecolor": "none"}
                    panels[0].plot(some[x].to_numpy(), some[y].to_numpy(), shape, label=words, **style)
            for standing, words, edge, face in _standings:
                stands = pl.Series([each == standing for each in standings], dtype=pl.Boolean)
                for axes in panels:
                    _points(axes, finalists.filter(stands), x, y, edge, face, words)
            for axes in panels:
                at = finalists.filter(pl.col("candidate") == (-1 if chosen is None else chosen))
                _points(axes, at, x, y, best_colour, best_colour, "compromise")
                axes.set(xlabel=", ".join(across), ylabel=", ".join(up))
                axes.locator_params(axis="x", nbins=6)
            panels[0].set_title("Everything tried")
            panels[1].set_title("Finalists")
        legend_of_figure(figure, rows[0], columns=6, columnspacing=1.0, handletextpad=0.4)
    note = (
        "Finalists by their fresh seeds, with 95 % confidence intervals; other candidates by the seeds of the search."
    )
    return Drawn("front", "Front of the goals", figure, finalists, note)


def history(candidates: pl.DataFrame, goals: Sequence[Goal], *, chosen: int | None) -> Drawn:
    """One panel a goal: its mean at every candidate in the order of the search; with one goal the best so far.

    Parameters
    ----------
    candidates, goals, chosen
        As for :func:`front`; of one goal the chosen candidate is the optimum.
    """
    with paper_style():
        figure = new_figure(2.1 * len(goals) + 0.5)
        panels = figure.subplots(len(goals), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (expression, direction) in zip(panels, goals, strict=True):
            for holds, face, words in ((True, colour(0), "holds"), (False, "#ffffff", "fails")):
                known = candidates.filter((pl.col("holds") == holds) & pl.col(expression).is_not_null())
                numbers, means = known["candidate"].to_numpy(), known[expression].to_numpy()
                if known.height:
                    axes.plot(numbers, means, "o", markersize=3.5, markeredgecolor=colour(0), markerfacecolor=face,
                              linestyle="none", label=words)  # fmt: skip
                if holds and len(goals) == 1 and known.height:
                    best = itertools.accumulate(means.tolist(), min if direction == "minimise" else max)
                    axes.step(numbers, list(best), where="post", color=best_colour, linewidth=1.0, label="best so far")
            if chosen is not None:
                word = "optimum" if len(goals) == 1 else "compromise"
                axes.axvline(chosen, color=best_colour, linestyle="--", linewidth=0.8, label=word)
            axes.set(ylabel=f"{expression}, {direction}")
        panels[-1].set_xlabel("Candidate")
        legend_of_figure(figure, panels[:1])
    note = "Means over the seeds of the search, of which the best candidates have more."
    return Drawn("history", "Candidates in the order of the search", figure, candidates, note)


def _points(axes: Axes, some: pl.DataFrame, x: str, y: str, edge: str, face: str, words: str) -> None:
    known = some.filter(pl.col(x).is_not_null() & pl.col(y).is_not_null())
    if known.height:
        widths = [known[f"{name}_ci95"].fill_null(0.0).to_numpy() for name in (x, y)]
        axes.errorbar(
            known[x].to_numpy(), known[y].to_numpy(), xerr=widths[0], yerr=widths[1], fmt="o", markersize=4,
            color=edge, markerfacecolor=face, elinewidth=0.8, label=words,
        )  # fmt: skip
