"""Tests claims against tables."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from shoal import expression
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.papers.spec import Check, Role
from shoal.papers.tables import Grid, Row, published, same


class Verdict(StrEnum):
    """How a check ended."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    NO_VALUE = "no value"
    # A derivation follows from the paper's own numbers: it is shown, and there is nothing to judge.
    SHOWN = "shown"


@dataclass(frozen=True)
class Finding:
    """One line of the table of verdicts, about one cell of a table or about many together."""

    claim: str
    what: str
    published: str
    measured: str
    tolerance: str
    verdict: Verdict
    reason: str
    # How far outside, in units of the tolerance: for picking the worst of many.
    excess: float = 0.0
    role: Role = Role.CLAIM
    # How many cells the line is about, and how many of them are inside their tolerance.
    cells: int = 1
    inside: int = 0


def findings_of(check: Check, tables: Mapping[str, Grid], folder: Path) -> list[Finding]:
    """Test a check on every row, or group of rows, that it is about."""
    grid = tables[check.table].where(check.where) if check.table is not None else None
    if check.crossings is not None:
        found = _crossings(check, _needs(check, grid), _lookups(tables, folder))
    elif check.increasing_in is not None or check.decreasing_in is not None:
        found = _monotone(check, _needs(check, grid), _lookups(tables, folder))
    elif check.rank_correlation_with is not None:
        found = _rank_correlation(check, _needs(check, grid), _lookups(tables, folder))
    elif check.fit_x is not None:
        found = _fit(check, _needs(check, grid), _lookups(tables, folder))
    elif check.value is None:
        raise UsageError(
            f"the check `{check.what}` tests nothing",
            hint="it needs value, crossings, increasing_in, decreasing_in, rank_correlation_with or fit_x",
        )
    elif check.expected or (check.published and not _only_bounds(check)):
        found = _compared(check, grid, tables, folder)
    else:
        found = _bounded(check, grid, tables, folder)
    if not found:
        found = [Finding(check.claim, check.what, "", "no rows", "", Verdict.NO_VALUE, check.reason, math.inf)]
    if check.role is Role.DERIVATION:
        return [replace(finding, role=check.role, verdict=Verdict.SHOWN, cells=0) for finding in found]
    found = [replace(finding, role=check.role, inside=int(finding.verdict is Verdict.INSIDE)) for finding in found]
    return [_together(found)] if check.together else found


def _only_bounds(check: Check) -> bool:
    """Whether a published value is shown beside bounds of its own, instead of being the middle of a tolerance."""
    tolerances = (check.tolerance, check.relative, check.factor)
    return tolerances == (None, None, None) and (check.min, check.max) != (None, None)


def _together(found: list[Finding]) -> Finding:
    """One line about many cells: how many are inside, and the one that is farthest out."""
    worst = max(found, key=lambda finding: finding.excess)
    inside = sum(finding.inside for finding in found)
    return replace(
        worst,
        measured=f"{inside} of {len(found)} inside; farthest out: {worst.measured}",
        cells=len(found),
        inside=inside,
    )


def _needs(check: Check, grid: Grid | None) -> Grid:
    if grid is None:
        raise UsageError(f"the check `{check.what}` needs a table")
    return grid


def _rows(grid: Grid | None) -> list[Row]:
    return grid.rows if grid is not None else [Row({})]


def _lookups(tables: Mapping[str, Grid], folder: Path) -> dict[str, Any]:
    def grid(name: str) -> Grid:
        if name not in tables:
            raise UsageError(f"there is no table `{name}`", hint=nearest(name, list(tables)))
        return tables[name]

    def column(table: str, name: str) -> list[float]:
        return [row.values[name] for row in grid(table).rows]

    def known(table: str, name: str) -> list[float]:
        return [value for value in column(table, name) if not math.isnan(value)]

    def stated(file: str, name: str, **place: float) -> float:
        for row in published(folder, file):
            for key in (name, *place):
                if key not in row:
                    raise UsageError(f"{file} has no column `{key}`", hint=nearest(key, list(row)))
            if all(same(row[key], wanted) for key, wanted in place.items()):
                return row[name]
        return math.nan

    return {
        "published": stated,
        "at": lambda table, name, **place: grid(table).at(name, place),
        "smallest": lambda table, name: min(column(table, name), default=math.nan),
        "largest": lambda table, name: max(column(table, name), default=math.nan),
        "mean": lambda table, name: sum(column(table, name)) / len(column(table, name)),
        "median": lambda table, name: _median(known(table, name)),
        "log_sd": lambda table, name: _sd([math.log(value) for value in known(table, name) if value > 0]),
        "part": lambda table, name, low, high: _part(known(table, name), low, high),
    }


def _median(values: list[float]) -> float:
    return statistics.median(values) if values else math.nan


def _sd(values: list[float]) -> float:
    return statistics.pstdev(values) if values else math.nan


def _part(values: list[float], low: float, high: float) -> float:
    return sum(low <= value <= high for value in values) / len(values) if values else math.nan


def _compared(check: Check, grid: Grid | None, tables: Mapping[str, Grid], folder: Path) -> list[Finding]:
    lookups = _lookups(tables, folder)
    assert check.value is not None  # noqa: S101  (the caller's condition)
    findings = []
    for row in _rows(grid):
        measured = expression.number(check.value, row.values, lookups)
        if check.published is not None:
            wanted = _published_value(check, grid, row, folder)
            if wanted is None:
                continue
        else:
            wanted = expression.number(check.expected or "", row.values, lookups)
        low, high, shown = _tolerance(check, wanted, row)
        interval = row.half_width.get(check.value)
        verdict, excess = _verdict(measured, low, high)
        findings.append(
            _finding(check, row, _digits(wanted), _with_interval(measured, interval), shown, verdict, excess, lookups)
        )
    return findings


def _published_value(check: Check, grid: Grid | None, row: Row, folder: Path) -> float | None:
    assert check.published is not None  # noqa: S101  (the caller's condition)
    file, column = check.published
    rows = published(folder, file)
    if column not in rows[0]:
        raise UsageError(f"{file} has no column `{column}`", hint=nearest(column, list(rows[0])))
    keys = [axis for axis in (grid.axes if grid is not None else ()) if axis in rows[0]]
    for candidate in rows:
        if all(same(candidate[key], row.values[key]) for key in keys) and not math.isnan(candidate[column]):
            return candidate[column]
    return None


def _tolerance(check: Check, wanted: float, row: Row) -> tuple[float, float, str]:
    """Bounds around a wanted value, and how the table shows them."""
    if check.tolerance is not None:
        width = expression.number(check.tolerance, row.values)
        return wanted - width, wanted + width, f"± {_digits(width)}"
    if check.relative is not None:
        part = expression.number(check.relative, row.values)
        return wanted - part * abs(wanted), wanted + part * abs(wanted), f"± {100 * part:.3g} %"
    if check.factor is not None:
        factor = expression.number(check.factor, row.values)
        return wanted / factor, wanted * factor, f"factor {_digits(factor)}"
    raise UsageError(f"the check `{check.what}` has no tolerance", hint="add tolerance, relative or factor")


def _bounded(check: Check, grid: Grid | None, tables: Mapping[str, Grid], folder: Path) -> list[Finding]:
    lookups = _lookups(tables, folder)
    assert check.value is not None  # noqa: S101  (the caller's condition)
    if check.min is None and check.max is None:
        raise UsageError(f"the check `{check.what}` has no bound", hint="add published or expected, or min or max")
    findings = []
    for row in _rows(grid):
        measured = expression.number(check.value, row.values, lookups)
        low = expression.number(check.min, row.values, lookups) if check.min is not None else -math.inf
        high = expression.number(check.max, row.values, lookups) if check.max is not None else math.inf
        verdict, excess = _verdict(measured, low, high)
        shown = _with_interval(measured, row.half_width.get(check.value))
        wanted = _published_value(check, grid, row, folder) if check.published is not None else None
        beside = "" if wanted is None else _digits(wanted)
        findings.append(_finding(check, row, beside, shown, _range(low, high), verdict, excess, lookups))
    return findings


def _monotone(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    rising = check.increasing_in is not None
    axis = check.increasing_in or check.decreasing_in or ""
    value = check.value or ""
    findings = []
    for place, rows in grid.groups(axis):
        values = [expression.number(value, row.values) for row in rows]
        steps = [(b - a) if rising else (a - b) for a, b in itertools.pairwise(values)]
        worst = min(steps, default=math.nan)
        verdict, excess = _verdict(worst, -check.slack, math.inf)
        direction = "rises" if rising else "falls"
        shown = f"{_digits(values[0])} … {_digits(values[-1])}" if values else ""
        if verdict is Verdict.OUTSIDE:
            shown += f", a step of {_digits(worst if rising else -worst)} against it"
        limits = f"slack {_digits(check.slack)}"
        findings.append(_finding(check, Row(place), direction, shown, limits, verdict, excess, lookups))
    return findings


def _rank_correlation(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    """Spearman's coefficient over an axis: equal values share the mean of their ranks.

    A value that never changes has no coefficient, which confirms nothing.
    """
    axis = check.rank_correlation_with or ""
    low = -math.inf if check.min is None else expression.number(check.min)
    high = math.inf if check.max is None else expression.number(check.max)
    findings = []
    for place, rows in grid.groups(axis):
        values = [expression.number(check.value or "", row.values) for row in rows]
        columns = pl.DataFrame({"x": [float(row.values[axis]) for row in rows], "y": values})
        coefficient = float(columns.select(pl.corr("x", "y", method="spearman")).item())
        verdict, excess = _verdict(coefficient, low, high)
        shown = _digits(coefficient)
        if len(set(values)) == 1:
            verdict, excess = Verdict.OUTSIDE, math.inf
            shown = f"undefined: {_digits(values[0])} at every {axis}"
            if check.all_zero and values[0] == 0:
                shown = f"{check.all_zero} (0 at every {axis})"
        limits = _range(low, high)
        findings.append(_finding(check, Row(place), "rank correlation", shown, limits, verdict, excess, lookups))
    return findings


def _crossings(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    wanted = check.crossings or 0
    findings = []
    for row in grid.rows:
        count = row.values["crossings"]
        verdict = Verdict.INSIDE if count == wanted else Verdict.OUTSIDE
        excess = abs(count - wanted)
        findings.append(_finding(check, row, str(wanted), f"{count:.0f}", "exact", verdict, excess, lookups))
    return findings


def _fit(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    x_name, value = check.fit_x or "", check.value or ""
    findings = []
    groups = grid.groups(x_name) if x_name in grid.axes else [({}, grid.rows)]
    for place, rows in groups:
        points = [(expression.number(x_name, row.values), expression.number(value, row.values)) for row in rows]
        slope, r2 = _line(points)
        bounds = check.slope or (-math.inf, math.inf)
        verdict, excess = _verdict(slope, *bounds)
        if check.r2_min is not None and not r2 >= check.r2_min:
            verdict, excess = (Verdict.NO_VALUE if math.isnan(r2) else Verdict.OUTSIDE), max(excess, 1.0)
        shown = f"slope {_digits(slope)}, R² {r2:.4f}"
        limits = f"slope {_range(*bounds)}" + (f", R² ≥ {check.r2_min}" if check.r2_min is not None else "")
        findings.append(_finding(check, Row(place), "linear", shown, limits, verdict, excess, lookups))
    return findings


def _line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Slope and coefficient of determination of the least-squares line."""
    n = len(points)
    if n < 2:
        return math.nan, math.nan
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    sxx = sum((x - mean_x) ** 2 for x, _ in points)
    sxy = sum((x - mean_x) * (y - mean_y) for x, y in points)
    syy = sum((y - mean_y) ** 2 for _, y in points)
    if sxx == 0:
        return math.nan, math.nan
    return sxy / sxx, (sxy * sxy / (sxx * syy) if syy else 1.0)


def _verdict(value: float, low: float, high: float) -> tuple[Verdict, float]:
    if math.isnan(value):
        return Verdict.NO_VALUE, math.inf
    # A value on the bound is inside, whatever the last bit of the arithmetic says.
    slack = 1e-9 * max(abs(bound) for bound in (low, high, 1.0) if math.isfinite(bound))
    outside = max(low - value, value - high)
    scale = (high - low) / 2 if math.isfinite(high - low) and high > low else 1.0
    return (Verdict.INSIDE if outside <= slack else Verdict.OUTSIDE), outside / scale


def _finding(
    check: Check,
    row: Row,
    wanted: str,
    measured: str,
    tolerance: str,
    verdict: Verdict,
    excess: float,
    lookups: Mapping[str, Any] | None = None,
) -> Finding:
    # A search without an answer leaves a gap in its row, and sentences about the row show it.
    what = expression.fill(check.what, row.values, lookups, missing="-")
    # A reason may have several lines in the file; tables have one.
    reason = "" if verdict is Verdict.INSIDE else expression.fill(check.reason, row.values, lookups, missing="-")
    return Finding(check.claim, what, wanted, measured, tolerance, verdict, " ".join(reason.split()), excess)


def _with_interval(value: float, half_width: float | None) -> str:
    return _digits(value) if half_width is None else f"{_digits(value)} ± {_digits(half_width, 2)}"


def _digits(value: float, digits: int = 4) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"≤ {_digits(high)}"
    if math.isinf(high):
        return f"≥ {_digits(low)}"
    return f"{_digits(low)} … {_digits(high)}"
