"""Which figures a run deserves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.plots import Drawn, delay, deliveries, path, queue, rates, sequence, throughput, windows
from shoal.results import Result

_series: list[tuple[str, Callable[[Result], Drawn]]] = [
    ("flows", rates.draw),
    ("flows", windows.draw),
    ("deliveries", deliveries.draw),
    ("queue", queue.draw),
    ("delay_distribution", delay.draw),
    ("segments", sequence.draw),
]


def figures_of(runs: Sequence[Result]) -> list[Drawn]:
    """All figures of a run that its recorded tables allow; of several seeds, the first one's series."""
    first = runs[0]
    drawn = [throughput.draw([runs])]
    if "queue" in first.table_names and path.applies(first):
        drawn.append(path.draw(first))
    for table, draw in _series:
        needs_link = table in ("queue", "delay_distribution")
        if table in first.table_names and first.table(table).height and (first.bottlenecks or not needs_link):
            drawn.append(draw(first))
    return drawn


def comparison_figures(labelled: Sequence[tuple[str, Sequence[Result]]]) -> list[Drawn]:
    """Figures that lay runs side by side."""
    figures = [throughput.draw([runs for _, runs in labelled], labels=[label for label, _ in labelled])]
    recorded = [(label, runs[0]) for label, runs in labelled if "delay_distribution" in runs[0].table_names]
    if len(recorded) > 1:
        figures.append(delay.compare(recorded))
    moving = [(label, runs[0]) for label, runs in labelled if "queue" in runs[0].table_names and path.applies(runs[0])]
    if len(moving) > 1:
        figures.append(path.compare(moving))
    return figures
