"""The outcome of a comparison: estimates of both planes, differences, verdicts."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from shoal import _native
from shoal.compare.quantities import Measure, measures
from shoal.results import Results
from shoal.scenario import Scenario
from shoal.stats import Difference, Estimate, difference, estimate, holm

schema_version = 1
# Medians over a suite of the relative differences (issue 4).
targets = {"utilisation": 0.01, "queue": 0.08, "rate_ratio": 0.12}


class Verdict(StrEnum):
    """What a comparison of two estimates comes to."""

    SAME = "same"
    """The difference is within what seeds explain."""
    DIFFERS = "differs"
    """It is not (Holm's test over all quantities of the scenario, 5 % altogether)."""
    FIXED = "one path"
    """Seeds change nothing on either plane: the numbers are compared as they are."""


@dataclass(frozen=True)
class Quantity:
    """One number on both planes."""

    measure: Measure
    sim: Estimate
    linux: Estimate
    difference: Difference
    verdict: Verdict

    @property
    def relative(self) -> float | None:
        """Simulator minus Linux over Linux; ``None`` if that is not a number."""
        if self.difference.value == 0:
            return 0.0
        return self.difference.value / self.linux.mean if self.linux.mean else None


@dataclass(frozen=True)
class Compared:
    """A scenario with its runs on both planes, seed by seed."""

    name: str
    scenario: Scenario
    sim: Results
    linux: Results
    notes: tuple[str, ...]

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Everything that both planes measured in every run."""
        found = []
        for measure in measures(self.linux[0]):
            values = [[measure.get(run) for run in runs] for runs in (self.sim, self.linux)]
            if any(value is None for side in values for value in side):
                continue
            sim, linux = ([value for value in side if value is not None] for side in values)
            first, second, apart = estimate(sim), estimate(linux), difference(sim, linux)
            if first is not None and second is not None and apart is not None:
                found.append((measure, first, second, apart))
        tested = [apart.p for *_, apart in found if apart.p is not None]
        significant = iter(holm(tested))
        return [
            Quantity(
                measure,
                sim,
                linux,
                apart,
                Verdict.FIXED if apart.p is None else Verdict.DIFFERS if next(significant) else Verdict.SAME,
            )
            for measure, sim, linux, apart in found
        ]

    def quantity(self, name: str) -> Quantity | None:
        """The quantity of a name, or the first whose name begins so."""
        own = [quantity for quantity in self.quantities if quantity.measure.name.startswith(name)]
        return own[0] if own else None

    @property
    def differing(self) -> list[Quantity]:
        """Quantities with a significant difference."""
        return [quantity for quantity in self.quantities if quantity.verdict is Verdict.DIFFERS]


@dataclass(frozen=True)
class Comparison(Sequence[Compared]):
    """All scenarios of a comparison, in the order asked for."""

    scenarios: tuple[Compared, ...]
    seeds: tuple[int, ...]

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.scenarios[index]

    def __len__(self) -> int:
        return len(self.scenarios)

    @property
    def kernel(self) -> dict[str, Any]:
        """What the kernel plane ran on: ``kernel``, ``mode``."""
        own = self.scenarios[0].linux[0].data["linux"]
        return {"release": own["kernel"], "mode": own["mode"]}

    @cached_property
    def medians(self) -> dict[str, float | None]:
        """Median over the scenarios of the size of the relative difference, for each of the targets."""
        return {name: _median(self._sizes(prefix)) for name, prefix in _headline.items()}

    @property
    def missed(self) -> list[str]:
        """Targets that the medians miss."""
        return [name for name, value in self.medians.items() if value is not None and value > targets[name]]

    def _sizes(self, prefix: str) -> list[float]:
        found = [one.quantity(prefix) for one in self]
        return [abs(own.relative) for own in found if own is not None and own.relative is not None]

    @property
    def json(self) -> str:
        """One object: versions, seeds, medians and targets, and for each scenario its quantities."""
        content = {
            "schema": schema_version,
            "version": _native.__version__,
            "kernel": self.kernel,
            "seeds": list(self.seeds),
            "confidence": 0.95,
            "medians": self.medians,
            "targets": targets,
            "scenarios": [
                {
                    "name": one.name,
                    "title": one.scenario.title,
                    "notes": list(one.notes),
                    "scenario": one.scenario.resolved,
                    "quantities": [_quantity_json(quantity) for quantity in one.quantities],
                }
                for one in self
            ],
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"


_headline = {"utilisation": "utilisation", "queue": "queue_mean_packets", "rate_ratio": "rate_ratio_"}


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _quantity_json(quantity: Quantity) -> dict[str, Any]:
    def side(value: Estimate) -> dict[str, Any]:
        return {"mean": value.mean, "ci95": value.half_width, "n": value.n}

    return {
        "name": quantity.measure.name,
        "of": quantity.measure.of,
        "sim": side(quantity.sim),
        "linux": side(quantity.linux),
        "difference": {
            "value": quantity.difference.value,
            "ci95": quantity.difference.half_width,
            "relative": quantity.relative,
            "p": quantity.difference.p,
        },
        "verdict": str(quantity.verdict),
    }
