"""Differences of two planes, in the margins within which they do not matter."""

from __future__ import annotations

import polars as pl
from matplotlib.ticker import SymmetricalLogLocator

from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, legend_of_figure, paper_style

# Verdicts with their marks, colours and faces; what differs is drawn last, on top.
_verdicts = (
    ("equal", "s", "#8a8a8a", "white"),
    ("same", "o", "#8a8a8a", "#8a8a8a"),
    ("not decided", "o", colour(0), "white"),
    ("different", "D", colour(1), colour(1)),
)


def draw(differences: pl.DataFrame) -> Drawn:
    """One row a scenario, with a mark for each quantity; within the grey band a difference does not matter.

    Parameters
    ----------
    differences
        One row a quantity: ``scenario``, ``quantity``, ``margins`` (simulator minus Linux in margins; nothing where
        the margin is zero), and ``verdict``.
    """
    scenarios = differences["scenario"].unique(maintain_order=True).to_list()
    with paper_style():
        figure = new_figure(0.9 + 0.24 * len(scenarios))
        axes = figure.add_subplot()
        axes.axvspan(-1, 1, color="#e8e8e8", linewidth=0)
        for verdict, shape, edge, face in _verdicts:
            rows = differences.filter((pl.col("verdict") == verdict) & pl.col("margins").is_not_null())
            if rows.height:
                heights = [len(scenarios) - 1 - scenarios.index(name) for name in rows["scenario"]]
                axes.plot(
                    rows["margins"].to_numpy(), heights, shape, markersize=3.5, markeredgewidth=0.8, linestyle="none",
                    markeredgecolor=edge, markerfacecolor=face, label=verdict,
                )  # fmt: skip
        # What is far away must not hide what is near.
        axes.set_xscale("symlog", linthresh=1.0)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=1.0, subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_yticks(range(len(scenarios))[::-1], scenarios)
        axes.set_ylim(-0.6, len(scenarios) - 0.4)
        axes.set_xlabel("Simulator minus Linux, in margins")
        axes.grid(axis="y", linewidth=0.3)
        legend_of_figure(figure, [axes])
    left_out = differences["margins"].null_count()
    note = "Grey: differences that do not matter; the axis is linear up to one margin and logarithmic beyond."
    if left_out:
        note += f" Not shown: {left_out} whose margin is zero."
    return Drawn("margins", "Differences of all quantities", figure, differences, note)
