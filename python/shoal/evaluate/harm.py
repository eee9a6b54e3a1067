"""Harm: what flows do to others, as the part of their performance without them that is gone.

Ware, Mukerjee, Seshan and Sherry 2019 (https://doi.org/10.1145/3365609.3365855), section 4: with the performance ``x``
of the others alone and ``y`` beside the flows that are judged, the harm is ``(x - y) / x`` where more is better, as of
rates, and ``(y - x) / y`` where less is, as of delays and losses. 0 is no harm, 1 is all; below 0 the others gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Better(Enum):
    """Which values of a number are better."""

    MORE = "more"
    LESS = "less"

    def harm(self, alone: float | None, beside: float | None) -> float | None:
        """The harm to a number; ``None`` where one of the two is missing or the quotient has no value.

        Where nothing was there and nothing is, nothing was harmed.
        """
        if alone is None or beside is None:
            return None
        if alone == beside:
            return 0.0
        worse, whole = (alone - beside, alone) if self is Better.MORE else (beside - alone, beside)
        return worse / whole if whole else None


@dataclass(frozen=True)
class Harm:
    """The harm that an experiment shows.

    Attributes
    ----------
    alone
        The experiment of the same section that has the others alone, on the same paths.
    contender
        Which of its contenders the others are.
    columns
        Names of the harms in percent, each with the metric that is harmed, which both experiments have, and which
        values of it are better.
    """

    alone: str
    contender: str
    columns: Mapping[str, tuple[str, Better]]

    @property
    def formulas(self) -> dict[str, str]:
        """How each is got, in words for a report."""
        return {
            name: f"100 * (alone - beside) / alone of {metric}, alone as in {self.alone}"
            if better is Better.MORE
            else f"100 * (beside - alone) / beside of {metric}, alone as in {self.alone}"
            for name, (metric, better) in self.columns.items()
        }
