"""Which figures a run deserves."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.plots import Drawn
from shoal.plots.kinds import kinds
from shoal.results import Result


def figures_of(runs: Sequence[Result]) -> list[Drawn]:
    """All figures of a run that its recorded tables allow; of several seeds, the first one's series."""
    return [kind.draw(runs) for kind in kinds.values() if kind.lacks(runs[0]) is None]


def comparison_figures(labelled: Sequence[tuple[str, Sequence[Result]]]) -> list[Drawn]:
    """Figures that lay runs side by side."""
    figures = []
    for name in ("throughput", "delay", "path"):
        kind = kinds[name]
        able = [(label, runs) for label, runs in labelled if kind.lacks(runs[0]) is None]
        if kind.compare is not None and len(able) > 1:
            figures.append(kind.compare(able))
    return figures
