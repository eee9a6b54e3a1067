"""Results of the same scenario with several seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from shoal._arguments import explained
from shoal.errors import ShoalError, UsageError
from shoal.expression import UndefinedError
from shoal.files import new_folder, write_text, writing
from shoal.results.one import Result, schema_version
from shoal.seeds import refuse_repeated_seeds
from shoal.stats import Estimate, estimate
from shoal.words import count_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

# What is told of arithmetic without a value.
Undefined = Callable[[UndefinedError], object]


def seed_folder(folder: Path, result: Result) -> Path:
    """Where a run lies among several."""
    return folder / f"seed-{result.seed}"


def _without_seed(result: Result) -> dict[str, Any]:
    return {**result.data, "seed": 0, "scenario": {**result.data["scenario"], "seed": 0}}


@explained
class Results(Sequence[Result]):
    """Runs that differ only in their seed, in the order of the seeds asked for."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)
        # The same seed gives the same text, and to read the seeds of all of them would take as long as all the rest.
        if len({result.json for result in self._results}) < len(self._results):
            refuse_repeated_seeds(self.seeds)

    def _damage(self) -> ShoalError | None:
        """What is wrong with the first of these runs that is damaged."""
        if not self._results:
            return UsageError("there are no runs", hint="`shoal.run` with seeds=N gives some")
        return next(filter(None, (result._damage() for result in self)), None)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    def __getitem__(self, index: int | slice) -> Result | Results:
        if isinstance(index, slice):
            return Results(self._results[index])
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order."""
        return [result.seed for result in self]

    @cached_property
    def summary(self) -> dict[str, Estimate | None]:
        """Mean and 95 % confidence interval over the seeds of each number of :attr:`Result.summary`.

        ``None`` where a run has no such number.
        """
        names = self[0].summary if len(self) else {}
        values = {name: [result.summary[name] for result in self] for name in names}
        known = {name: [value for value in column if value is not None] for name, column in values.items()}
        return {name: estimate(column) if len(column) == len(self) else None for name, column in known.items()}

    def metric(self, expression: str, *, undefined: Undefined | None = None) -> Estimate | None:
        """Mean and 95 % confidence interval over the seeds of a metric; ``None`` if a run has no such number.

        Parameters
        ----------
        expression
            As for :meth:`Result.metric`; evaluated for each run.
        undefined
            Called with the error where the arithmetic has no value, such as a division by zero; ``None`` is given then.

        Raises
        ------
        UndefinedError
            The arithmetic has no value, and ``undefined`` is not given.
        """
        try:
            values = [result.metric(expression) for result in self]
        except UndefinedError as error:
            if undefined is None:
                raise
            undefined(error)
            return None
        known = [value for value in values if value is not None]
        return estimate(known) if len(known) == len(values) else None

    @property
    def json(self) -> str:
        """One object: ``seeds``, ``summary`` (mean, half-width of the 95 % confidence interval, n) and ``runs``."""
        summary = {name: value and value.to_dict() for name, value in self.summary.items()}
        data: dict[str, Any] = {"schema": schema_version, "version": self[0].version, "seeds": self.seeds}
        data |= {"summary": summary, "runs": [result.data for result in self]}
        return json.dumps(data, indent=2, allow_nan=False) + "\n"

    def to_polars(self) -> pl.DataFrame:
        """Give one row a flow and seed; see :meth:`Result.to_polars`."""
        import polars as pl

        return pl.concat([result.to_polars() for result in self], how="vertical_relaxed")

    def to_pandas(self) -> pd.DataFrame:
        """Give :meth:`to_polars` as a pandas frame; needs the extra ``pandas``."""
        frames = [result.to_pandas() for result in self]
        import pandas as pd

        return pd.concat(frames, ignore_index=True)

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write ``results.json`` and one folder ``seed-N`` for each run into a new folder."""
        with new_folder(folder, force=force) as partial:
            self.write_into(partial)
        return Path(folder)

    def write_into(self, folder: Path) -> None:
        """Write the files of :meth:`save` into an existing folder."""
        with writing(folder):
            for result in self:
                result.saved_in(seed_folder(folder, result))
            self.write_summary(folder)

    def write_summary(self, folder: Path) -> None:
        """Write ``results.json`` beside runs that have been written."""
        with writing(folder):
            write_text(folder / "results.json", self.json)

    @property
    def verdict(self) -> str:
        """Who gets what and who waits, in one sentence about the means; empty if nothing can be said."""
        from shoal.verdict import verdict

        return verdict(self) if len(self) else ""

    @cached_property
    def identical(self) -> bool:
        """Whether there are several runs and their seeds make no difference: nothing random decided anything."""
        first = _without_seed(self[0]) if len(self) > 1 else None
        return first is not None and all(_without_seed(result) == first for result in self[1:])

    def __repr__(self) -> str:
        title = f" of `{self[0].data['scenario']['title']}`" if len(self) else ""
        return f"<shoal.Results{title}, {count_of(len(self), 'seed')}: {', '.join(map(str, self.seeds))}>"

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.metrics import quantity
        from shoal.pictures import picture_of_runs

        title = self[0].data["scenario"]["title"] if len(self) else "No runs"
        rows = [(name, quantity(name, value)) for name, value in self.summary.items()]
        return (
            notebook.heading(title, f"{count_of(len(self), 'seed')}, mean ± 95 % confidence interval")
            + notebook.note(self.verdict)
            + (picture_of_runs(self) if len(self) else "")
            + notebook.table(rows)
        )
