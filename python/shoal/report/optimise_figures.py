"""Figures of a search with goals: the front, the candidates in their order, and what is around the optimum."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from shoal.plots.sizes import new_figure, two_columns
from shoal.plots.style import Drawn, colour, legend_of_figure, logarithmic, paper_style
from shoal.search import Standing

if TYPE_CHECKING:
    from shoal.search import Candidate, Direction, FreeParameter, Measurement, Optimised

_grey = "#8a8a8a"
_best = colour(1)


def draw_all(optimised: Optimised) -> list[Drawn]:
    """The figures that a search has: a front takes several goals, and its surroundings an optimum."""
    figures = [front(optimised)] if len(optimised.goals) > 1 else []
    figures.append(history(optimised))
    return [*figures, around(optimised)] if optimised.neighbours else figures


def front(optimised: Optimised) -> Drawn:
    """One row a pair of goals: everything tried, and beside it the finalists by fresh seeds with their intervals."""
    pairs = list(itertools.combinations(optimised.goals, 2))
    with paper_style():
        figure = new_figure(2.6 * len(pairs) + 0.5)
        rows = figure.subplots(len(pairs), 2, squeeze=False)
        for panels, (across, up) in zip(rows, pairs, strict=True):
            x, y = across.expression, up.expression
            for holds, shape, words in ((True, "o", "tried"), (False, "x", "tried, fails")):
                some = [
                    candidate.searched
                    for candidate in optimised.candidates
                    if _holds(optimised, candidate.searched) is holds
                ]
                points = [
                    (a.mean, b.mean) for measured in some if (a := measured.estimate(x)) and (b := measured.estimate(y))
                ]
                if points:
                    panels[0].plot(
                        *zip(*points, strict=True),
                        shape,
                        linestyle="none",
                        color=_grey,
                        markerfacecolor="none",
                        label=words,
                    )
            for standing, words, paint, face in (
                (Standing.ON_FRONT, "on the front", colour(0), colour(0)),
                (Standing.UNCLEAR, "not clear", colour(0), "white"),
                (Standing.DOMINATED, "dominated", "#333333", "white"),
                (None, "finalist, fails", "#333333", "#333333"),
            ):
                finalists = [finalist for finalist in optimised.finalists if _standing(optimised, finalist) is standing]
                for axes in panels:
                    _points(axes, finalists, x, y, paint, face, words)
            for axes in panels:
                _points(axes, [optimised.chosen] if optimised.chosen else [], x, y, _best, _best, "compromise")
                axes.set(xlabel=_axis(x, across.direction), ylabel=_axis(y, up.direction))
            panels[0].set_title("Everything tried")
            panels[1].set_title("Finalists")
        legend_of_figure(figure, rows[0], columns=6, columnspacing=1.0, handletextpad=0.4)
    note = (
        "Finalists by their fresh seeds, with 95 % confidence intervals; other candidates by the seeds of the search."
    )
    return Drawn("front", "Front of the goals", figure, optimised.finalists_to_polars(), note)


def history(optimised: Optimised) -> Drawn:
    """One panel a goal: its mean at every candidate in the order of the search; with one goal the best so far."""
    with paper_style():
        figure = new_figure(2.1 * len(optimised.goals) + 0.5)
        panels = figure.subplots(len(optimised.goals), 1, squeeze=False, sharex=True)[:, 0]
        for axes, goal in zip(panels, optimised.goals, strict=True):
            for holds, face, words in ((True, colour(0), "holds"), (False, "#ffffff", "fails")):
                known = [
                    (candidate.number, estimate.mean)
                    for candidate in optimised.candidates
                    if _holds(optimised, candidate.searched) is holds
                    and (estimate := candidate.searched.estimate(goal.expression))
                ]
                if known:
                    axes.plot(*zip(*known, strict=True), "o", markersize=3.5, markeredgecolor=colour(0),
                              markerfacecolor=face, linestyle="none", label=words)  # fmt: skip
                if holds and len(optimised.goals) == 1 and known:
                    best = list(itertools.accumulate((goal.sign * mean for _, mean in known), min))
                    axes.step([number for number, _ in known], [goal.sign * value for value in best], where="post",
                              color=_best, linewidth=1.0, label="best so far")  # fmt: skip
            if optimised.chosen is not None:
                word = "optimum" if len(optimised.goals) == 1 else "compromise"
                axes.axvline(optimised.chosen.number, color=_best, linestyle="--", linewidth=0.8, label=word)
            axes.set(ylabel=_axis(goal.expression, goal.direction))
        panels[-1].set_xlabel("Candidate")
        legend_of_figure(figure, panels[:1])
    note = "Means over the seeds of the search, of which the best candidates have more."
    return Drawn("history", "Candidates in the order of the search", figure, optimised.to_polars(), note)


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
        color=_best,
        linestyle="--",
        linewidth=0.8,
        label="optimum" if len(optimised.goals) == 1 else "compromise",
    )
    for number, comparison in enumerate(optimised.condition.comparisons if optimised.condition else ()):
        if comparison.left == text:
            limits = [(value, measured.judged(optimised.condition)) for value, measured in measurements]
            drawn = [(value, judged[number].right.mean) for value, judged in limits if judged]
            axes.plot(*zip(*drawn, strict=True), ":", color="#333333", linewidth=1.0, label="limit")


def _points(axes: Axes, some: Sequence[Candidate], x: str, y: str, paint: str, face: str, words: str) -> None:
    known = [
        (a, b)
        for candidate in some
        if (a := candidate.confirmed.estimate(x)) is not None and (b := candidate.confirmed.estimate(y))
    ]
    if known:
        axes.errorbar(
            [a.mean for a, _ in known],
            [b.mean for _, b in known],
            xerr=[a.half_width or 0.0 for a, _ in known],
            yerr=[b.half_width or 0.0 for _, b in known],
            fmt="o",
            markersize=4,
            color=paint,
            markerfacecolor=face,
            elinewidth=0.8,
            label=words,
        )


def _standing(optimised: Optimised, candidate: Candidate) -> Standing | None:
    judgement = optimised.standing(candidate)
    return None if judgement is None else judgement.standing


def _holds(optimised: Optimised, measured: Measurement) -> bool:
    return measured.decided(optimised.condition).holds


def _axis(expression: str, direction: Direction) -> str:
    return f"{expression}, {direction.value}"
