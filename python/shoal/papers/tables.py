"""Tables of a reproduction: swept points, what was found on them, joins."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal import expression
from shoal.errors import UsageError
from shoal.metrics import metric
from shoal.models import nearest
from shoal.papers.spec import Find, Join, Search, Sweep
from shoal.results import Result, Results
from shoal.search import Tuned
from shoal.stats import estimate

# Published tables round their axes (1/sqrt(2) becomes 0.7071).
_same = 2e-3


@dataclass(frozen=True)
class Row:
    """Values by name; of those that were measured with several seeds, the interval and the single values.

    Numbers, but for the name of the case under ``case``.
    """

    values: dict[str, Any]
    half_width: dict[str, float | None] = field(default_factory=dict)
    samples: dict[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Grid:
    """A table: the names of its axes, the names of its measured columns, and its rows."""

    name: str
    axes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: list[Row]

    def where(self, condition: str | None) -> Grid:
        """Only the rows for which an expression is true."""
        if condition is None:
            return self
        return Grid(
            self.name, self.axes, self.columns, [row for row in self.rows if expression.evaluate(condition, row.values)]
        )

    def groups(self, without: str) -> list[tuple[dict[str, Any], list[Row]]]:
        """Rows that agree in all axes but one, each group in the order of that axis."""
        if without not in self.axes:
            raise UsageError(f"table `{self.name}` has no axis `{without}`", hint=nearest(without, list(self.axes)))
        others = [axis for axis in self.axes if axis != without]
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row.values[axis] for axis in others), []).append(row)
        return [
            (dict(zip(others, key, strict=True)), sorted(rows, key=lambda row: row.values[without]))
            for key, rows in groups.items()
        ]

    def at(self, column: str, values: dict[str, Any]) -> float:
        """The value of a column where the axes have some values; NaN if there is no such row."""
        for row in self.rows:
            if all(same(row.values[name], wanted) for name, wanted in values.items()):
                value: float = row.values[column]
                return value
        return math.nan

    def to_polars(self) -> pl.DataFrame:
        """Give axes, means, and half-widths of the 95 % confidence intervals (``NAME_ci95``)."""
        records = []
        for row in self.rows:
            record: dict[str, float | str | None] = {}
            for name in (*self.axes, *self.columns):
                value = row.values.get(name, math.nan)
                record[name] = None if isinstance(value, float) and math.isnan(value) else value
                if name in row.half_width:
                    record[f"{name}_ci95"] = row.half_width[name]
            records.append(record)
        return pl.DataFrame(
            records,
            schema_overrides={
                name: pl.String if name == "case" else pl.Float64 for name in (records[0] if records else ())
            },
            infer_schema_length=None,
        )


def same(first: float | str, second: float | str) -> bool:
    """Whether two values of an axis mean the same, rounding aside."""
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return math.isclose(first, second, rel_tol=_same, abs_tol=1e-12)


def measured(sweep: Sweep, results: Sequence[Results]) -> Grid:
    """The table of a sweep: one row a point."""
    rows = []
    for point, runs in zip(sweep.points(), results, strict=True):
        samples = {name: tuple(metric(run, text, gaps=True) for run in runs) for name, text in sweep.metrics.items()}
        rows.append(_row(point, samples))
    return Grid(sweep.name, sweep.all_axes, (*sweep.let, *sweep.metrics), rows)


def _row(point: dict[str, Any], samples: dict[str, tuple[float, ...]]) -> Row:
    values, widths = dict(point), {}
    for name, column in samples.items():
        value = estimate(column)
        values[name] = value.mean if value is not None else math.nan
        widths[name] = value.half_width if value is not None else None
    return Row(values, widths, samples)


def searched(search: Search, results: Sequence[Tuned]) -> Grid:
    """The table of a search: one row a combination of its axes, with what was measured at the answer."""
    rows = []
    for point, tuned in zip(search.points(), results, strict=True):
        runs: Sequence[Result] = tuned.results or ()
        samples = {name: tuple(metric(run, text, gaps=True) for run in runs) for name, text in search.metrics.items()}
        row = _row(point, samples)
        row.values[search.over] = _or_nan(tuned.answer)
        row.values["fails_at"], row.values["holds_at"] = _or_nan(tuned.fails_at), _or_nan(tuned.holds_at)
        row.values["against"], row.values["trials"] = float(len(tuned.against)), float(len(tuned.trials))
        for name, text in search.columns.items():
            row.values[name] = expression.number(text, row.values)
        rows.append(row)
    answers = (search.over, "fails_at", "holds_at", "against", "trials")
    return Grid(search.name, search.all_axes, (*search.let, *answers, *search.metrics, *search.columns), rows)


def tried(search: Search, results: Sequence[Tuned]) -> Grid:
    """Everything that a search tried, in the order of its variable."""
    rows = []
    for point, tuned in zip(search.points(), results, strict=True):
        for trial in sorted(tuned.trials, key=lambda trial: trial.value):
            samples = {
                n: tuple(metric(run, text, gaps=True) for run in trial.results) for n, text in search.metrics.items()
            }
            rows.append(_row({**point, search.over: trial.value}, samples))
    columns = (*search.let, *search.metrics)
    return Grid(f"{search.name}-trials", (*search.all_axes, search.over), columns, rows)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def located(find: Find, grid: Grid) -> Grid:
    """For each combination of the other axes: where the metric has the value (interpolated), or is largest."""
    rows = [_located_in(find, grid, group, rows) for group, rows in grid.groups(find.over)]
    axes = tuple(axis for axis in grid.axes if axis != find.over)
    return Grid(find.name, axes, (find.over, *find.columns, "crossings", *grid.columns), rows)


def _located_in(find: Find, grid: Grid, group: dict[str, Any], rows: list[Row]) -> Row:
    positions = [row.values[find.over] for row in rows]

    def curve(of: Sequence[float]) -> list[float]:
        if find.equals is None:
            return list(of)
        return [_distance(value, find.equals, find.scale) for value in of]

    # The mean over the seeds on the scale of the search: of ratios, the geometric mean.
    means = [_mean(curve(row.samples[find.column])) for row in rows]
    position_of = _maximum if find.equals is None else _crossing
    position = position_of(positions, means)
    seeds = min(len(row.samples[find.column]) for row in rows)
    each = [position_of(positions, curve([row.samples[find.column][seed] for row in rows])) for seed in range(seeds)]
    spread = estimate(each) if seeds > 1 and not any(math.isnan(value) for value in each) else None
    noise = abs(_distance(find.equals * (1 + find.noise), find.equals, find.scale)) if find.equals else find.noise
    values = {**group, find.over: position, "crossings": float(_crossings(means, noise))}
    widths: dict[str, float | None] = {find.over: spread.half_width if spread else None}
    for name in grid.columns:
        values[name] = _interpolated(positions, [row.values[name] for row in rows], position)
    if find.equals is not None and not math.isnan(position):
        values[find.column] = find.equals
    for name, text in find.columns.items():
        values[name] = expression.number(text, values)
        if spread is not None:
            widths[name] = _half_width([expression.number(text, {**values, find.over: at}) for at in each])
    return Row(values, widths)


def _half_width(values: Sequence[float]) -> float | None:
    value = estimate(values)
    return value.half_width if value is not None else None


def _distance(value: float, target: float, scale: str) -> float:
    if scale == "linear":
        return value - target
    return math.log(value / target) if value > 0 else (-math.inf if value == 0 else math.nan)


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values)


def _crossing(x: Sequence[float], y: Sequence[float]) -> float:
    """The first place where y changes its sign, by a straight line between the points."""
    for index, (before, after) in enumerate(itertools.pairwise(y)):
        if before == 0:
            return x[index]
        if before * after < 0:
            if math.isinf(before) or math.isinf(after):
                return (x[index] + x[index + 1]) / 2
            return x[index] + (x[index + 1] - x[index]) * before / (before - after)
    return x[-1] if y and y[-1] == 0 else math.nan


def _maximum(x: Sequence[float], y: Sequence[float]) -> float:
    known = [(value, -index) for index, value in zip(x, y, strict=True) if not math.isnan(value)]
    return -max(known)[1] if known else math.nan


def _crossings(y: Sequence[float], noise: float) -> int:
    """Changes of sign, leaving out points that are closer to zero than the noise."""
    signs = [value > 0 for value in y if not math.isnan(value) and abs(value) > noise]
    return sum(before != after for before, after in itertools.pairwise(signs))


def _interpolated(x: Sequence[float], y: Sequence[float], at: float) -> float:
    if math.isnan(at):
        return math.nan
    for index in range(len(x) - 1):
        if x[index] <= at <= x[index + 1]:
            part = (at - x[index]) / (x[index + 1] - x[index])
            return y[index] + part * (y[index + 1] - y[index])
    return math.nan


def joined(join: Join, left: Grid, right: Grid) -> Grid:
    """Rows of the left table with the columns of the matching row of the right one."""
    for axis in join.on:
        for grid in (left, right):
            if axis not in grid.axes:
                raise UsageError(
                    f"join `{join.name}`: table `{grid.name}` has no axis `{axis}`", hint=nearest(axis, list(grid.axes))
                )
    rows = []
    for row in left.rows:
        match = next(
            (other for other in right.rows if all(same(other.values[a], row.values[a]) for a in join.on)), None
        )
        if match is None:
            continue
        rows.append(
            Row(
                {**match.values, **row.values},
                {**match.half_width, **row.half_width},
                {**match.samples, **row.samples},
            )
        )
    extra = tuple(name for name in (*right.axes, *right.columns) if name not in join.on)
    return Grid(join.name, left.axes, (*left.columns, *(name for name in extra if name not in left.columns)), rows)


def published(folder: Any, name: str) -> list[dict[str, float]]:
    """Rows of a CSV file of published values; ``#`` begins a comment, an empty cell is NaN."""
    path = folder / name
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from None
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    head, *rows = ([cell.strip() for cell in row] for row in csv.reader(lines))
    return [
        {key: expression.number(cell) if cell else math.nan for key, cell in zip(head, row, strict=True)}
        for row in rows
    ]
