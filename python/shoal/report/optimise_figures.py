"""Figures of a search with goals: the front, the candidates in their order, and what is around the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from shoal.plots.goals import best_colour
from shoal.plots.sizes import new_figure, two_columns
from shoal.plots.style import Drawn, colour, legend_of_figure, logarithmic, paper_style

if TYPE_CHECKING:
    from shoal.search import FreeParameter, Measurement, Optimised


def draw_all(optimised: Optimised) -> list[Drawn]:
    """The figures that a search has: a front takes several goals, and its surroundings an optimum."""
    return [*optimised.drawn, around(optimised)] if optimised.neighbours else optimised.drawn


def around(optimised: Optimised) -> Drawn:
    """One column a parameter and one row a goal or limit: what fresh seeds say next to the optimum."""
    texts = optimised.measured
    with paper_style():
        columns = len(optimised.parameters)
        figure = new_figure(1.6 * len(texts) + 0.5, width=two_columns if columns > 1 else 4.0)
        panels = figure.subplots(len(texts), columns, squeeze=False, sharex="col", sharey="row")
        for index, (parameter, label) in enumerate(zip(optimised.parameters, optimised.labels, strict=True)):
            for row, text in enumerate(texts):
                _surroundings(panels[row][index], optimised, parameter, text)
                if index == 0:
                    panels[row][0].set_ylabel(text)
            panels[-1][index].set_xlabel(label)
            if parameter.is_log:
                logarithmic(panels[-1][index].xaxis)
        legend_of_figure(figure, list(panels.flat))
    word = "optimum" if len(optimised.goals) == 1 else "compromise"
    note = "One parameter is changed at a time. Bars are 95 % confidence intervals over the fresh seeds."
    return Drawn("around", f"Around the {word}", figure, optimised.around_to_polars(), note)


def _surroundings(axes: Axes, optimised: Optimised, parameter: FreeParameter, text: str) -> None:
    assert optimised.chosen is not None  # noqa: S101  (without an optimum there are no neighbours)
    measurements = [(near.value, near.measured) for near in optimised.neighbours if near.parameter == parameter]
    centre = optimised.values[parameter.key]
    measurements = sorted([*measurements, (centre, optimised.chosen.confirmed)], key=lambda pair: pair[0])
    known = [(value, estimate, measured) for value, measured in measurements if (estimate := measured.estimate(text))]
    x, y = [value for value, _, _ in known], [estimate.mean for _, estimate, _ in known]
    axes.errorbar(x, y, yerr=[estimate.half_width or 0.0 for _, estimate, _ in known], color=colour(0), linewidth=0.9,
                  elinewidth=0.8, ecolor="#777777")  # fmt: skip
    for holds, face, words in ((True, colour(0), "holds"), (False, "#ffffff", "fails")):
        some = [(value, estimate.mean) for value, estimate, measured in known if _holds(optimised, measured) is holds]
        if some:
            axes.plot(*zip(*some, strict=True), "o", markersize=4, markeredgecolor=colour(0), markerfacecolor=face,
                      linestyle="none", label=words)  # fmt: skip
    axes.axvline(
        centre,
        color=best_colour,
        linestyle="--",
        linewidth=0.8,
        label="optimum" if len(optimised.goals) == 1 else "compromise",
    )
    for number, comparison in enumerate(optimised.condition.comparisons if optimised.condition else ()):
        if comparison.left == text:
            limits = [(value, measured.judged(optimised.condition)) for value, measured in measurements]
            drawn = [(value, judged[number].right.mean) for value, judged in limits if judged]
            axes.plot(*zip(*drawn, strict=True), ":", color="#333333", linewidth=1.0, label="limit")


def _holds(optimised: Optimised, measured: Measurement) -> bool:
    return measured.decided(optimised.condition).holds
