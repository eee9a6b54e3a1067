"""What came out of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from shoal import _native
from shoal._arguments import explained
from shoal._toml import as_text
from shoal.evaluate.harm import Better
from shoal.evaluate.model import Clause, Experiment, Guide, Setting, name_of
from shoal.runs.rows import Cell, Rows
from shoal.stats import Estimate, estimate
from shoal.words import count_of

if TYPE_CHECKING:
    import polars as pl

schema_version = 1


class Refusal(NamedTuple):
    """Why a contender cannot run on a path, whose name is empty if there is one only."""

    contender: str
    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.contender}{f' on {self.path}' if self.path else ''}: {self.why}"


@dataclass(frozen=True)
class Outcome:
    """What became of an experiment.

    Attributes
    ----------
    clause
        The section that asks for it.
    experiment
        What was run.
    contenders
        Who took part.
    rows
        The numbers; ``None`` if none of them can run the experiment.
    refused
        Who cannot run it, where, and why.
    alone
        The experiment beside which harm is counted, if this one counts it.
    unmeasured
        Columns that the experiment has elsewhere, and where it runs nothing can measure.
    """

    clause: Clause
    experiment: Experiment
    contenders: tuple[Setting, ...]
    rows: Rows | None
    refused: tuple[Refusal, ...] = ()
    alone: Outcome | None = None
    unmeasured: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What names of files begin with: the section and the experiment."""
        return f"{self.clause.number}-{self.experiment.name}"

    @property
    def finding(self) -> str:
        """What its numbers say in a sentence, if the experiment has one for them."""
        finding = self.experiment.finding
        return finding(self.rows) if finding is not None and self.rows is not None and not self.rows.failed else ""

    def name(self, values: Mapping[str, object]) -> str:
        """What tables call the contender of a point."""
        return name_of(self.contenders, values)

    def path(self, values: Mapping[str, object]) -> str:
        """What tables call the path of a point; empty if the experiment has one only."""
        return name_of(self.experiment.paths, values) if self.experiment.paths else ""

    def line(self, values: Mapping[str, object]) -> str:
        """What figures call the line of a point: its contender, and its path if there are several."""
        return ", ".join(filter(None, (self.name(values), self.path(values))))

    def others(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values of a point but those that its contender and its path set."""
        named = {key for setting in (*self.contenders, *self.experiment.paths) for key in setting.values}
        return {key: value for key, value in values.items() if key not in named}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its table: metrics and harms."""
        return (*self.experiment.metrics, *self._harms)

    @property
    def _harms(self) -> Mapping[str, tuple[str, Better]]:
        harm = self.experiment.harm
        return harm.columns if harm is not None and self.alone is not None and self.alone.rows is not None else {}

    def series(self, point: int, name: str) -> list[float | None]:
        """A column of a point, one value a seed; ``None`` where a run has no such number."""
        if (rows := self.rows) is None:
            return []
        if name not in self._harms:
            return rows.series(point, rows.plan.metrics[name])
        metric, better = self._harms[name]
        beside = rows.series(point, rows.plan.metrics[metric])
        alone = self._alone(point, metric)
        if len(alone) != len(beside):
            return [None] * len(beside)
        harms = [better.harm(*pair) for pair in zip(alone, beside, strict=True)]
        return [None if harm is None else 100 * harm for harm in harms]

    def _alone(self, point: int, metric: str) -> list[float | None]:
        """A metric of the others alone where a point is, one value a seed; nothing if they did not run there."""
        harm, alone = self.experiment.harm, self.alone
        if self.rows is None or harm is None or alone is None or alone.rows is None:
            return []
        where = self.path(self.rows[point])
        for other in range(len(alone.rows)):
            values = alone.rows[other]
            if (alone.path(values), alone.name(values)) == (where, harm.contender):
                return alone.series(other, metric)
        return []

    def cell(self, point: int, name: str) -> Cell:
        """Mean of a column over the seeds, and its 95 % confidence interval."""
        if (rows := self.rows) is None:
            return None
        if name not in self._harms:
            return rows.cell(point, rows.plan.metrics[name])
        values = self.series(point, name)
        known = [value for value in values if value is not None]
        return estimate(known) if rows.failure(point) is None and len(known) == len(values) else None

    def points(self) -> Iterator[tuple[object, ...]]:
        """One row a point and number: what it is of, mean, and half-width of the 95 % interval."""
        for point in range(len(self.rows or ())):
            for name in self._numbers:
                cell = self.cell(point, name)
                mean, width = (cell.mean, cell.half_width) if isinstance(cell, Estimate) else (None, None)
                yield (*self._cell(point), name, mean, width)

    def runs(self) -> Iterator[tuple[object, ...]]:
        """One row a run and number: what it is of, seed and value."""
        if (rows := self.rows) is None:
            return
        for point in range(len(rows)):
            for name in self._numbers:
                for seed, value in zip(rows.seeds(point), self.series(point, name), strict=True):
                    yield (*self._cell(point), name, seed, value)

    @property
    def _numbers(self) -> tuple[str, ...]:
        """The columns of its table, and the quantiles of its distributions."""
        return (*self.experiment.measured, *self._harms)

    def _cell(self, point: int) -> tuple[object, ...]:
        values = self.rows[point] if self.rows is not None else {}
        given = ", ".join(f"{key} = {as_text(value)}" for key, value in self.others(values).items())
        return self.clause.number, self.experiment.name, self.name(values), self.path(values), given, point + 1


@explained
@dataclass(frozen=True, repr=False)
class Evaluation(Sequence[Outcome]):
    """What a guide's experiments say of a subject and of what it stands beside.

    Attributes
    ----------
    guide
        The text.
    contenders
        The subject first, then what it stands beside.
    outcomes
        One an experiment, in the order of the text.
    seeds
        Runs of every point.
    kernel
        Which kernel ran it, by its identity; empty: the simulator did.
    """

    guide: Guide
    contenders: tuple[Setting, ...]
    outcomes: tuple[Outcome, ...]
    seeds: int
    kernel: str = ""

    @property
    def subject(self) -> Setting:
        """What is evaluated."""
        return self.contenders[0]

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Outcome]: ...
    def __getitem__(self, index: int | slice) -> Outcome | Sequence[Outcome]:
        return self.outcomes[index]

    def __len__(self) -> int:
        return len(self.outcomes)

    def of(self, clause: Clause) -> list[Outcome]:
        """The outcomes of a section."""
        return [outcome for outcome in self if outcome.clause is clause]

    @property
    def run(self) -> list[Outcome]:
        """The outcomes that have numbers."""
        return [outcome for outcome in self if outcome.rows is not None]

    @property
    def runs(self) -> int:
        """How many runs the numbers are of."""
        return sum(outcome.rows.runs for outcome in self if outcome.rows is not None)

    def to_polars(self) -> pl.DataFrame:
        """Give one row a section, experiment, cell and metric: its mean and the half-width of the 95 % interval."""
        import polars as pl

        lines = [line for outcome in self for line in outcome.points()]
        return pl.DataFrame(lines, schema={**_columns(), "mean": pl.Float64, "ci95": pl.Float64}, orient="row")

    def runs_to_polars(self) -> pl.DataFrame:
        """Give one row a section, experiment, cell, metric and seed: its value."""
        import polars as pl

        lines = [line for outcome in self for line in outcome.runs()]
        return pl.DataFrame(lines, schema={**_columns(), "seed": pl.Int64, "value": pl.Float64}, orient="row")

    @property
    def json(self) -> str:
        """All numbers as one object."""
        content = {
            "schema": schema_version,
            "version": _native.__version__,
            "guide": self.guide.name,
            "contenders": [{"name": each.name, "values": dict(each.values)} for each in self.contenders],
            "seeds": self.seeds,
            **({"kernel": self.kernel} if self.kernel else {}),
            "points": self.to_polars().to_dicts(),
        }
        return json.dumps(content, indent=1, allow_nan=False)

    def __repr__(self) -> str:
        return f"<shoal.Evaluation of {self.subject.name} by {self.guide.name}: {count_of(len(self), 'experiment')}>"


def _columns() -> dict[str, Any]:
    """Columns that say which cell and metric a row is of."""
    import polars as pl

    texts = dict.fromkeys(("section", "experiment", "contender", "path", "values"), pl.String)
    return {**texts, "cell": pl.Int64, "metric": pl.String}
