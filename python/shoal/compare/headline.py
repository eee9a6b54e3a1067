"""The head of a comparison: how far apart both planes are over all scenarios: median, 90th percentile, worst."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.compare.quantities import Measure

# Title, the beginning of the quantities' names, and the target of the median. Where a scenario has several such
# quantities (groups, classes, pairs), the largest difference counts.
_quantities = (
    ("utilisation", "utilisation", 0.01),
    ("mean queue", "queue_packets", 0.08),
    ("delay P99", "delay_", None),
    ("rate ratio", "rate_ratio_", 0.12),
    ("marks", "marked", None),
    ("drops", "dropped_", None),
    ("ACKs per packet", "acks_per_packet_", None),
    ("timeouts", "timeouts_", None),
    ("completion time P99", "fct_p99_s_", None),
)


@dataclass(frozen=True, slots=True)
class Headline:
    """One quantity over the scenarios that have it.

    Attributes
    ----------
    title
        What it is.
    scenarios
        How many have it.
    median, p90, worst
        Sizes of relative differences; the percentile is an order statistic.
    worst_in
        The scenario with the largest one.
    target
        What the median must not exceed, if anything.
    """

    title: str
    scenarios: int
    median: float
    p90: float
    worst: float
    worst_in: str
    target: float | None

    @property
    def is_missed(self) -> bool:
        """Whether the median exceeds its target."""
        return self.target is not None and self.median > self.target

    @property
    def json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "title": self.title,
            "scenarios": self.scenarios,
            "median": self.median,
            "p90": self.p90,
            "worst": {"value": self.worst, "scenario": self.worst_in},
            "target": self.target,
        }


def headlines(sizes: Sequence[tuple[str, Measure, float]]) -> list[Headline]:
    """The head of what was measured: name of a scenario, measure, size of the relative difference."""
    heads = []
    for title, prefix, target in _quantities:
        largest: dict[str, float] = {}
        for scenario, measure, size in sizes:
            if measure.name.startswith(prefix) and ("P99" in measure.title) >= ("P99" in title):
                largest[scenario] = max(size, largest.get(scenario, 0.0))
        if largest:
            ordered = sorted(largest.values())
            worst_in = max(largest, key=lambda scenario: largest[scenario])
            # The smallest size that nine of ten scenarios do not exceed.
            p90 = ordered[-(-len(ordered) * 9 // 10) - 1]
            median = statistics.median(ordered)
            heads.append(Headline(title, len(ordered), median, p90, ordered[-1], worst_in, target))
    return heads
