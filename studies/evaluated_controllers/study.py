"""Five congestion controls by the experiments of RFC 9743 (https://www.rfc-editor.org/rfc/rfc9743)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from shoal.evaluate.contenders import controller
from shoal.evaluate.evaluation import Evaluation
from shoal.evaluate.model import Guide, Setting
from shoal.evaluate.rfc9743 import guide
from shoal.evaluate.running import SEEDS
from shoal.evaluate.tables import matrix
from shoal.plots.sizes import new_figure
from shoal.plots.style import PlainFigure, colour, legend_of_figure, marker, paper_style
from shoal.stats import Estimate
from shoal_dev.study import Cell, Study
from shoal_dev.tables import table
from studies.evaluated_queues import side_by_side

NAMES = ("reno", "cubic", "dctcp", "bbr", "prague-0.7")
# What the figure shows: an experiment and one of its metrics.
DRAWN, RATIO = "beside-cubic", "subject_over_other"


def evaluated() -> tuple[Guide, list[Setting]]:
    """The guide, and who takes part."""
    return guide(), [controller(name) for name in NAMES]


def measure(*, seeds: int = SEEDS) -> Iterator[str | PlainFigure]:
    """The figure, the table of all paths, and a section an experiment."""
    evaluation = side_by_side.run(*evaluated(), seeds=seeds)
    yield (
        "Five congestion controls by the experiments of [RFC 9743](https://www.rfc-editor.org/rfc/rfc9743). "
        f"Each number is the mean of {seeds} seeds with its 95 % interval. The text has no numbers that divide good "
        "from bad, and neither has this page: it is what to put numbers of another controller beside."
    )
    yield figure(evaluation)
    paths = matrix(evaluation)
    if paths is not None:
        yield f"## {paths.title}"
        yield table(paths.columns, paths.rows, "lr")
    yield from side_by_side.sections(evaluation)


def figure(evaluation: Evaluation) -> PlainFigure:
    """Rates of two flows beside two of CUBIC, over the rates of these, on every path."""
    outcome, rows = next(
        (outcome, outcome.rows)
        for outcome in evaluation
        if outcome.experiment.name == DRAWN and outcome.rows is not None
    )
    names = [path.name for path in outcome.experiment.paths]
    with paper_style():
        drawn = new_figure(5.2)
        axes = drawn.subplots()
        for number, contender in enumerate(outcome.contenders):
            cells = {
                outcome.path(rows[point]): rows.cell(point, rows.plan.metrics[RATIO])
                for point in range(len(rows))
                if outcome.name(rows[point]) == contender.name and rows.failure(point) is None
            }
            points = [(cell.mean, names.index(path)) for path, cell in cells.items() if isinstance(cell, Estimate)]
            axes.plot(
                [ratio for ratio, _ in points],
                [row for _, row in points],
                marker(number),
                color=colour(number),
                label=contender.name,
                linestyle="none",
            )
        axes.axvline(1, color="0.7", linewidth=0.8, zorder=0)
        axes.set(xscale="log", xlabel="Rate of a flow over that of a CUBIC flow beside it")
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.grid(axis="y", linewidth=0.3)
        legend_of_figure(drawn, [axes], columns=5)
    return cast("PlainFigure", drawn)


def cells() -> Iterator[Cell]:
    """Every controller at every point."""
    return side_by_side.cells(*evaluated())


STUDY = Study(
    title="Five congestion controls, evaluated",
    about="`shoal evaluate --cc dctcp --out DIR` makes a report of one of them ([how](../how-to/evaluate.md))",
    measure=measure,
    takes="about twenty-five minutes of a CPU",
    caption="Rate of a flow over that of a CUBIC flow beside it, of five congestion controls on every path",
    cells=cells,
)
