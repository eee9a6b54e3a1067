"""Eight queues by the experiments of RFC 7928 (https://www.rfc-editor.org/rfc/rfc7928)."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.evaluate.contenders import queue
from shoal.evaluate.figures import figures_of
from shoal.evaluate.model import Guide, Setting
from shoal.evaluate.rfc7928 import guide
from shoal.evaluate.running import SEEDS
from shoal.plots.style import PlainFigure
from shoal_dev.study import Cell, Study
from studies.evaluated_queues import side_by_side

KINDS = ("fifo", "red", "codel", "fq-codel", "pie", "dual-red", "dualpi2", "dualq-coupled")
# Not with the values of their ready-made scenarios: that of DualPI2 takes ECT(0) for scalable traffic, as DCTCP
# needs it and no sender here does.
AS_RELEASED = ("dualpi2",)
# The experiment that the figure is of: as many flows of Reno as make medium congestion.
DRAWN = ("8.2.3", "medium")


def evaluated() -> tuple[Guide, list[Setting]]:
    """The guide, and who takes part."""
    contenders = [queue(f'{{ kind = "{kind}" }}' if kind in AS_RELEASED else kind) for kind in KINDS]
    return guide(contenders), contenders


def measure(*, seeds: int = SEEDS) -> Iterator[str | PlainFigure]:
    """Parameters, a section an experiment, and delay against goodput."""
    evaluation = side_by_side.run(*evaluated(), seeds=seeds)
    yield (
        "Eight queues by the experiments of [RFC 7928](https://www.rfc-editor.org/rfc/rfc7928). Each number is the "
        f"mean of {seeds} seeds with its 95 % interval. The text sets no limits, and neither does this page: it "
        "is what to put numbers of another queue beside."
    )
    yield "\n".join(f"- {contender.name}: {contender.described}" for contender in evaluation.contenders)
    for outcome in evaluation.run:
        if (outcome.clause.number, outcome.experiment.name) == DRAWN:
            # Delay against goodput; distributions follow it.
            yield figures_of(outcome)[0].figure
    yield from side_by_side.sections(evaluation)


def cells() -> Iterator[Cell]:
    """Every queue at every point."""
    return side_by_side.cells(*evaluated())


STUDY = Study(
    title="Eight queues, evaluated",
    about="`shoal evaluate --aqm pie --out DIR` makes a report of one of them ([how](../how-to/evaluate.md))",
    measure=measure,
    takes="about fifteen minutes of a CPU",
    caption="Goodput over delay of eight queues with medium congestion, a point a run",
    cells=cells,
)
