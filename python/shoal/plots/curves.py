"""Cumulative distributions, one panel a quantity and one line a contender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.plots.sizes import columns_that_fit, new_figure
from shoal.plots.style import Drawn, colour, dash, legend_of_figure, marker, paper_style


def draw(name: str, title: str, panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> Drawn:
    """Draw quantiles of some quantities.

    Parameters
    ----------
    name, title
        What the figure is called, and what it shows.
    panels
        For each quantity, whose name has its unit, and for each contender the values and the parts that they bound.
    """
    columns = columns_that_fit(min(2, len(panels)))
    rows = -(-len(panels) // columns)
    with paper_style():
        figure = new_figure(2.3 * rows + 0.4)
        places = list(figure.subplots(rows, columns, squeeze=False).flat)
        for spare in places[len(panels) :]:
            spare.set_visible(False)
        for axes, (quantity, lines) in zip(places, panels.items(), strict=False):
            for number, (contender, points) in enumerate(lines.items()):
                x, y = [value for value, _ in points], [part for _, part in points]
                axes.plot(x, y, color=colour(number), linestyle=dash(number), marker=marker(number), label=contender)
            axes.set(xlabel=quantity, ylabel="part of the values", ylim=(0, 1))
        legend_of_figure(figure, places[:1], columnspacing=1.3)
    records = [
        {"quantity": quantity, "contender": contender, "part": part, "value": value}
        for quantity, lines in panels.items()
        for contender, points in lines.items()
        for value, part in points
    ]
    schema = {"quantity": pl.String, "contender": pl.String, "part": pl.Float64, "value": pl.Float64}
    note = "Quantiles of a run, means over the runs; lines between them are for the eye"
    return Drawn(name, title, figure, pl.DataFrame(records, schema=schema), note)
