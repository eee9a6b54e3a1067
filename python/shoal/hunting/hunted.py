"""What a hunt gives: finds, each with a small scenario, its numbers by fresh seeds, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal import _native
from shoal._arguments import explained
from shoal.hunting.causes import Cause
from shoal.hunting.goals import Target
from shoal.hunting.noise import part
from shoal.scenario import Scenario
from shoal.stats import Estimate, estimate
from shoal.table import Table
from shoal.words import count_of, significant

if TYPE_CHECKING:
    import polars as pl

schema_version = 1


@explained
@dataclass(frozen=True)
class Find:
    """A scenario in which the goal is missed.

    Attributes
    ----------
    scenario
        As small as it was made.
    values
        The goal's metric by seeds that had no part in finding it; after an interrupt, by that of the search.
    seeds
        These seeds.
    cause
        What the notices of most of these runs say.
    asked
        The number of the scenario that it was shrunk from, among those that the search asked for.
    is_confirmed
        Whether fresh seeds say so, too.
    """

    scenario: Scenario
    values: tuple[float, ...]
    seeds: tuple[int, ...]
    cause: Cause
    asked: int
    is_confirmed: bool = True

    @property
    def estimate(self) -> Estimate:
        """Mean over the seeds, and its interval."""
        measured = estimate(self.values)
        assert measured is not None  # noqa: S101  (there is at least one seed)
        return measured

    @property
    def sentence(self) -> str:
        """Why, in a sentence, as the first seed that speaks for most of them says it, and whether seeds part."""
        why = f"{self.cause.text}." if self.cause.text else "No notice names a mechanism."
        return f"{why}{_parted(self.values)}"

    @property
    def mechanism(self) -> str:
        """The stable name of the mechanism."""
        return self.cause.mechanism or "not determined"


def _parted(values: Sequence[float]) -> str:
    """A sentence about values that fall into two groups, as those of flows that lock into one of two rhythms.

    The groups are further apart than twice the width of either, as two in a thousand sets of ten values of a normal
    distribution are (tests/python/test_hunting.py), and by a tenth of the mean.
    """
    low = sorted(values)
    gaps = [(low[at] - low[at - 1], at) for at in range(2, len(low) - 1)]
    gap, below = max(gaps, default=(0.0, 0))
    groups = low[:below], low[below:]
    width = max(group[-1] - group[0] for group in groups if group)
    if gap <= 2 * width or gap < 0.1 * abs(math.fsum(low) / len(low)):
        return ""
    parts = [f"{len(group)} at about {math.fsum(group) / len(group):.3g}" for group in groups]
    return f" Seeds fall into two groups, {' and '.join(parts)}: a run takes one of two courses."


@explained
@dataclass(frozen=True, repr=False)
class Hunted:
    """What a hunt found.

    Attributes
    ----------
    law
        What was hunted; empty if the base names it.
    target
        What for.
    finds
        The worst first.
    runs
        Scenarios that the search asked for.
    refuted
        How many scenarios looked bad to the search and not to fresh seeds.
    seed
        That of the search; finds were confirmed with those that follow.
    is_complete
        Whether it was not interrupted.
    vanished
        How many scenarios are bad, and not beside a little random traffic: packets keep a common beat there.
    """

    law: str
    target: Target
    finds: list[Find]
    runs: int
    refuted: int
    seed: int
    is_complete: bool = True
    vanished: int = 0

    @property
    def is_replayable(self) -> bool:
        """Whether there is a find that the kernel may be asked about: not one of two runs side by side."""
        return self.is_complete and bool(self.finds) and self.target.name not in ("unlike", "planes")

    @property
    def verdict(self) -> str:
        """One sentence: how many were found, and the worst."""
        what = f"{self.target.metric} {'<' if self.target.goal.sign > 0 else '>'} {self.target.beyond:g}"
        tried = f"{count_of(self.runs, 'scenario')} tried, seed {self.seed}"
        if not self.finds:
            return f"Nothing found: no scenario has {what} by fresh seeds ({tried})."
        worst = significant(self.finds[0].estimate)
        return f"{count_of(len(self.finds), 'scenario')} with {what}, the worst {worst} ({tried})."

    @property
    def rejected(self) -> str:
        """A sentence about what looked bad to the search and is no find; empty if there is nothing to say."""
        parts = [f"{count_of(self.refuted, 'scenario')} not by fresh seeds"] if self.refuted else []
        if self.vanished:
            noise = f"{100 * part:g} % of random traffic"
            parts.append(f"{count_of(self.vanished, 'scenario')} not beside {noise} (packets keep a beat)")
        return f"Looked bad, and is no find: {', '.join(parts)}." if parts else ""

    def table(self) -> Table:
        """One row a find."""
        rows = [
            (
                str(number),
                find.scenario.title,
                "+".join(find.cause.groups) or "-",
                find.mechanism,
                significant(find.estimate),
            )
            for number, find in enumerate(self.finds, 1)
        ]
        return Table("", ("Find", "Scenario", "Hits", "Mechanism", self.target.metric), rows, words=4)

    def to_polars(self) -> pl.DataFrame:
        """Give one row a find: mean, half-width of the 95 % interval, notice, groups, mechanism, scenario in TOML."""
        import polars as pl

        schema: Mapping[str, Any] = {
            "find": pl.Int64,
            "title": pl.String,
            "mean": pl.Float64,
            "ci95": pl.Float64,
            "notice": pl.String,
            "groups": pl.String,
            "mechanism": pl.String,
            "scenario": pl.String,
        }
        rows = [
            (
                number,
                find.scenario.title,
                find.estimate.mean,
                find.estimate.half_width,
                find.cause.kind,
                "+".join(find.cause.groups),
                find.cause.mechanism,
                find.scenario.text,
            )
            for number, find in enumerate(self.finds, 1)
        ]
        return pl.DataFrame(rows, schema=dict(schema), orient="row")

    @property
    def json(self) -> str:
        """All of it as one object."""
        content = {
            "schema": schema_version,
            "version": _native.__version__,
            "law": self.law,
            "goal": self.target.goal.text,
            "beyond": self.target.beyond,
            "seed": self.seed,
            "runs": self.runs,
            "refuted": self.refuted,
            "vanished": self.vanished,
            "complete": self.is_complete,
            "finds": [
                {
                    "title": find.scenario.title,
                    "measured": find.estimate.to_dict(),
                    "values": list(find.values),
                    "seeds": list(find.seeds),
                    "confirmed": find.is_confirmed,
                    "notice": find.cause.kind,
                    "groups": list(find.cause.groups),
                    "mechanism": find.cause.mechanism,
                    "sentence": find.sentence,
                    "asked": find.asked,
                    "scenario": find.scenario.text,
                }
                for find in self.finds
            ],
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return f"<shoal.Hunted: {self.verdict.removesuffix('.')}>"
