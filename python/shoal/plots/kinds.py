"""The kinds of figures that a run can have: names, what they show, and whether a run recorded what they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.plots import delay, deliveries, path, queue, rates, sequence, throughput, windows
from shoal.plots.style import Drawn

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

Runs = Sequence["RunRecord"]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes
    ----------
    title
        What it shows.
    table
        The recorded table that it is drawn from; empty if the numbers of the result are enough.
    draw
        Draws runs that differ only in their seed; of several seeds, what is over time is of the first.
    needs_link
        Whether it shows a monitored link.
    compare
        Draws several scenarios, each with its label, side by side, if there is such a figure.
    """

    title: str
    table: str
    draw: Callable[[Runs], Drawn]
    needs_link: bool = False
    compare: Callable[[Sequence[tuple[str, Runs]]], Drawn] | None = None

    def lacks(self, run: RunRecord) -> str | None:
        """What a run has not for this figure; ``None`` if it can be drawn."""
        if self.needs_link and not run.bottlenecks:
            return "no link is monitored"
        if self.table and (self.table not in run.table_names or not run.table(self.table).height):
            return f"the table `{self.table}` was not recorded, or is empty"
        if self.draw is _path and not path.applies(run):
            return "no monitored link changes"
        return None


def _path(runs: Runs) -> Drawn:
    return path.draw(runs[0])


def _bars(runs: Runs) -> Drawn:
    return throughput.draw([runs])


def _compared_bars(labelled: Sequence[tuple[str, Runs]]) -> Drawn:
    return throughput.draw([runs for _, runs in labelled], labels=[label for label, _ in labelled])


def _firsts(
    compare: Callable[[Sequence[tuple[str, RunRecord]]], Drawn],
) -> Callable[[Sequence[tuple[str, Runs]]], Drawn]:
    return lambda labelled: compare([(label, runs[0]) for label, runs in labelled])


def _of_first(draw: Callable[[RunRecord], Drawn]) -> Callable[[Runs], Drawn]:
    return lambda runs: draw(runs[0])


#: By name, in the order of reports.
kinds = {
    "throughput": FigureKind("Mean rate of a flow of each group, as bars", "", _bars, compare=_compared_bars),
    "path": FigureKind(
        "Rate, queueing delay and power of a link that changes, over time",
        "queue",
        _path,
        needs_link=True,
        compare=_firsts(path.compare),
    ),
    "rates": FigureKind("Rate of a flow of each group over time", "flows", _of_first(rates.draw)),
    "windows": FigureKind(
        "Congestion windows and alpha over time, with marks and drops", "flows", _of_first(windows.draw)
    ),
    "deliveries": FigureKind(
        "How long applications waited: each time, and the distribution", "deliveries", _of_first(deliveries.draw)
    ),
    "queue": FigureKind(
        "Queue over time, with the thresholds of its law", "queue", _of_first(queue.draw), needs_link=True
    ),
    "delay": FigureKind(
        "Density and distribution of the queueing delay, by class",
        "delay_distribution",
        _of_first(delay.draw),
        needs_link=True,
        compare=_firsts(delay.compare),
    ),
    "sequence": FigureKind("Packets between the two ends of a flow", "segments", _of_first(sequence.draw)),
}
