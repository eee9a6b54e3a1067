"""The outcome of a comparison: estimates of both planes, differences of pairs, verdicts over all of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from shoal import _native
from shoal.compare.headline import Headline, headlines
from shoal.compare.kinds import Family, Kind, kinds
from shoal.compare.quantities import Measure, measures
from shoal.compare.verdicts import Decision, Margin, Pairs, Verdict, decide, level, power
from shoal.results import Results
from shoal.scenario import Scenario
from shoal.stats import Difference, Estimate, estimate, paired_difference
from shoal.words import count_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from shoal.plots import Drawn

schema_version = 2


@dataclass(frozen=True)
class Quantity:
    """One number on both planes.

    Attributes
    ----------
    measure
        What it is.
    pairs
        Its values, seed by seed, and its margin.
    decision
        The verdict, over all quantities of the comparison.
    """

    measure: Measure
    pairs: Pairs
    decision: Decision

    @property
    def sim(self) -> Estimate:
        """Over the seeds of the simulator."""
        return _of(self.pairs.sim)

    @property
    def linux(self) -> Estimate:
        """Over the seeds of Linux."""
        return _of(self.pairs.linux)

    @cached_property
    def difference(self) -> Difference:
        """Simulator minus Linux, seed by seed."""
        return paired_difference(self.pairs.sim, self.pairs.linux)

    @property
    def verdict(self) -> Verdict:
        """What is shown."""
        return self.decision.verdict

    @property
    def margin(self) -> Margin:
        """The largest difference that does not matter."""
        return self.pairs.margin

    @property
    def relative(self) -> float | None:
        """Simulator minus Linux over Linux; ``None`` if that is not a number."""
        if self.difference.value == 0:
            return 0.0
        return self.difference.value / self.linux.mean if self.linux.mean else None

    @property
    def in_margins(self) -> float:
        """Size of the difference in margins: of several quantities, the worst one has most."""
        size, margin = abs(self.difference.value), self.margin.at(self.linux.mean)
        return size / margin if margin else math.inf if size else 0.0


@dataclass(frozen=True)
class Ran:
    """A scenario with its runs on both planes, seed by seed."""

    name: str
    scenario: Scenario
    sim: Results
    linux: Results
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Compared(Ran):
    """A scenario with its runs on both planes and what they say."""

    quantities: tuple[Quantity, ...]

    def quantity(self, name: str) -> Quantity | None:
        """The quantity of a name, or the first whose name begins so."""
        return next((quantity for quantity in self.quantities if quantity.measure.name.startswith(name)), None)

    def having(self, verdict: Verdict) -> list[Quantity]:
        """Quantities with a verdict."""
        return [quantity for quantity in self.quantities if quantity.verdict is verdict]

    @property
    def unequal(self) -> list[Quantity]:
        """Quantities that no seed changes, unequal on both planes though within the margin."""
        return [quantity for quantity in self.having(Verdict.SAME) if quantity.pairs.is_exact]


def worst_of_families(quantities: Sequence[Quantity]) -> dict[Family, Quantity]:
    """For each family that some quantities belong to, the one with the largest difference in margins."""
    worst: dict[Family, Quantity] = {}
    for quantity in sorted(quantities, key=lambda quantity: -quantity.in_margins):
        worst.setdefault(quantity.measure.family, quantity)
    return {family: worst[family] for family in Family if family in worst}


@dataclass(frozen=True, repr=False)
class Comparison(Sequence[Compared]):
    """All scenarios of a comparison, in the order asked for."""

    scenarios: tuple[Compared, ...]
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, ran: Sequence[Ran], seeds: Sequence[int]) -> Comparison:
        """Decide on all quantities of all scenarios together."""
        paired = [paired_quantities(entry.sim, entry.linux, measures(entry.linux[0])) for entry in ran]
        decisions = iter(decide([pairs for quantities, _ in paired for _, pairs in quantities]))
        compared = [
            Compared(
                entry.name,
                entry.scenario,
                entry.sim,
                entry.linux,
                (*entry.notes, *missing),
                tuple(Quantity(measure, pairs, next(decisions)) for measure, pairs in quantities),
            )
            for entry, (quantities, missing) in zip(ran, paired, strict=True)
        ]
        return cls(tuple(compared), tuple(seeds))

    @overload
    def __getitem__(self, index: int) -> Compared: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Compared]: ...
    def __getitem__(self, index: int | slice) -> Compared | Sequence[Compared]:
        return self.scenarios[index]

    def __len__(self) -> int:
        return len(self.scenarios)

    @property
    def kernel(self) -> dict[str, Any]:
        """What the kernel plane ran on: ``kernel``, ``mode``."""
        linux = self.scenarios[0].linux[0].data["linux"]
        return {"release": linux["kernel"], "mode": linux["mode"]}

    @property
    def tests(self) -> int:
        """Quantities of all scenarios that are tested, which verdicts are corrected for."""
        return sum(not quantity.pairs.is_exact for compared in self for quantity in compared.quantities)

    @property
    def kinds(self) -> list[Kind]:
        """Kinds of the quantities, in the order of their table."""
        used = {quantity.measure.kind for compared in self for quantity in compared.quantities}
        return [kind for name, kind in kinds.items() if name in used]

    @cached_property
    def headlines(self) -> list[Headline]:
        """Relative differences over the scenarios, of the quantities that matter most."""
        return headlines(
            [
                (compared.name, quantity.measure, _size(quantity))
                for compared in self
                for quantity in compared.quantities
            ]
        )

    @property
    def missed(self) -> list[str]:
        """Titles of the targets that the medians miss."""
        return [headline.title for headline in self.headlines if headline.is_missed]

    def to_polars(self) -> pl.DataFrame:
        """Give one row a scenario and quantity: both means, the difference in margins, and the verdict."""
        import polars as pl

        rows = [(compared, quantity) for compared in self for quantity in compared.quantities]
        signed = [(quantity.difference.value, quantity.in_margins) for _, quantity in rows]
        margins = [math.copysign(size, value) if math.isfinite(size) else None for value, size in signed]
        return pl.DataFrame(
            {
                "scenario": pl.Series([compared.name for compared, _ in rows], dtype=pl.String),
                "quantity": pl.Series([quantity.measure.name for _, quantity in rows], dtype=pl.String),
                "simulator": pl.Series([quantity.sim.mean for _, quantity in rows], dtype=pl.Float64),
                "linux": pl.Series([quantity.linux.mean for _, quantity in rows], dtype=pl.Float64),
                "margins": pl.Series(margins, dtype=pl.Float64),
                "verdict": pl.Series([quantity.verdict.value for _, quantity in rows], dtype=pl.String),
            }
        )

    def to_pandas(self) -> pd.DataFrame:
        """Give :meth:`to_polars` as a pandas frame; needs the extra ``pandas``."""
        from shoal.frames import to_pandas

        return to_pandas(self.to_polars())

    @property
    def drawn(self) -> Drawn:
        """The figure of all differences, in margins, with its data."""
        from shoal.plots import margins

        return margins.draw(self.to_polars())

    def plot(self) -> Figure:
        """Draw all differences in the margins within which they do not matter."""
        return self.drawn.figure

    def _counts(self) -> list[tuple[str, ...]]:
        """How many quantities of each scenario have each verdict."""
        return [(compared.name, *(str(len(compared.having(verdict))) for verdict in Verdict)) for compared in self]

    def __repr__(self) -> str:
        different = sum(len(compared.having(Verdict.DIFFERENT)) for compared in self)
        scenarios, seeds = count_of(len(self), "scenario"), count_of(len(self.seeds), "seed")
        return f"<shoal.compare.Comparison: {scenarios}, {seeds}; {different} of {self.tests} tests differ>"

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.pictures import picture

        kernel = self.kernel
        return (
            notebook.heading(f"Simulator and Linux {kernel['release']}", count_of(len(self.seeds), "seed"))
            + picture(self.drawn)
            + notebook.table(self._counts(), heads=("Scenario", *(verdict.value for verdict in Verdict)))
        )

    @property
    def json(self) -> str:
        """One object: versions, seeds, method, head, and for each scenario its quantities."""
        content = {
            "schema": schema_version,
            "version": _native.__version__,
            "kernel": self.kernel,
            "seeds": list(self.seeds),
            "confidence": 0.95,
            "level": level,
            "power": power,
            "tests": self.tests,
            "headlines": [headline.json for headline in self.headlines],
            "scenarios": [
                {
                    "name": compared.name,
                    "title": compared.scenario.title,
                    "notes": list(compared.notes),
                    "scenario": compared.scenario.resolved,
                    "quantities": [_quantity_json(quantity) for quantity in compared.quantities],
                }
                for compared in self
            ],
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"


def paired_quantities(
    sim: Results, linux: Results, wanted: Iterable[Measure]
) -> tuple[list[tuple[Measure, Pairs]], list[str]]:
    """What every run of both planes has measured, and lines about what only some have."""
    paired, missing = [], []
    for measure in wanted:
        values = ([measure.get(run) for run in runs] for runs in (sim, linux))
        known = [[value for value in side if value is not None] for side in values]
        if len(known[0]) == len(sim) and len(known[1]) == len(linux):
            margin = kinds[measure.kind].margin(linux[0])
            paired.append((measure, Pairs(tuple(known[0]), tuple(known[1]), margin)))
        elif known[0] or known[1]:
            missing.append(
                f"{measure.title} ({measure.of}) is not compared: {len(known[0])} of {len(sim)} runs of the simulator "
                f"have it, and {len(known[1])} of {len(linux)} on Linux"
            )
    return paired, missing


def _size(quantity: Quantity) -> float:
    """Size of the relative difference. What Linux has almost none of is related to the absolute part of the margin."""
    least = max(abs(quantity.linux.mean), quantity.margin.absolute)
    size = abs(quantity.difference.value)
    return size / least if size else 0.0


def _of(values: Sequence[float]) -> Estimate:
    return estimate(values) or Estimate(math.nan, None, 0)


def _quantity_json(quantity: Quantity) -> dict[str, Any]:
    apart, pairs = quantity.difference, quantity.pairs
    is_tested = len(pairs.sim) > 1 and not pairs.is_exact
    return {
        "name": quantity.measure.name,
        "of": quantity.measure.of,
        "family": str(quantity.measure.family),
        "sim": quantity.sim.to_dict(),
        "linux": quantity.linux.to_dict(),
        "difference": {
            "value": apart.value,
            "sd": apart.sd,
            "ci95": apart.half_width,
            "relative": quantity.relative,
            "p": apart.p,
        },
        "margin": {
            "share": pairs.margin.share,
            "absolute": pairs.margin.absolute,
            "value": pairs.margin.at(quantity.linux.mean),
        },
        "exact": pairs.is_exact,
        "p_within": pairs.p_within if is_tested else None,
        "p_beyond": pairs.p_beyond if is_tested else None,
        "verdict": str(quantity.verdict),
        "seeds_needed": quantity.decision.seeds,
    }
