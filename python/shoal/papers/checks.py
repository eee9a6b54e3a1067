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
    lookups = _lookups(tables, folder)
    test = next((test for key, test in _tests.items() if getattr(check, key) is not None), None)
    if test is not None:
        if grid is None:
            raise UsageError(f"the check `{check.what}` needs a table")
        findings = test(check, grid, lookups)
    elif check.value is None:
        raise UsageError(
            f"the check `{check.what}` tests nothing",
            hint="it needs value, crossings, increasing_in, decreasing_in, rank_correlation_with or fit_x",
        )
    else:
        findings = _compared(check, check.value, grid, lookups, folder)
    if not findings:
        findings = [Finding(check.claim, check.what, "", "no rows", "", Verdict.NO_VALUE, check.reason, math.inf)]
    if check.role is Role.DERIVATION:
        return [replace(finding, role=check.role, verdict=Verdict.SHOWN, cells=0) for finding in findings]
    findings = [
        replace(finding, role=check.role, inside=int(finding.verdict is Verdict.INSIDE)) for finding in findings
    ]
    return [_together(findings)] if check.together else findings


def _only_bounds(check: Check) -> bool:
    """Whether a published value is shown beside bounds of its own, instead of being the middle of a tolerance."""
    tolerances = (check.tolerance, check.relative, check.factor)
    return tolerances == (None, None, None) and (check.min, check.max) != (None, None)


def _together(findings: list[Finding]) -> Finding:
    """One line about many cells: how many are inside, and the one that is farthest out."""
    worst = max(findings, key=lambda finding: finding.excess)
    inside = sum(finding.inside for finding in findings)
    return replace(
        worst,
        measured=f"{inside} of {len(findings)} inside; farthest out: {worst.measured}",
        cells=len(findings),
        inside=inside,
    )


def _lookups(tables: Mapping[str, Grid], folder: Path) -> dict[str, Any]:
    def grid(name: str) -> Grid:
        if name not in tables:
            raise UsageError(f"there is no table `{name}`", hint=nearest(name, list(tables)))
        return tables[name]

    def column(table: str, name: str) -> list[float]:
        return [row.values[name] for row in grid(table).rows]

    def known(table: str, name: str) -> list[float]:
        return [value for value in column(table, name) if not math.isnan(value)]

    def stated(file: str, name: str, **values: float) -> float:
        for row in published(folder, file):
            for key in (name, *values):
                if key not in row:
                    raise UsageError(f"{file} has no column `{key}`", hint=nearest(key, list(row)))
            if all(same(row[key], wanted) for key, wanted in values.items()):
                return row[name]
        return math.nan

    return {
        "published": stated,
        "at": lambda table, name, **values: grid(table).at(name, values),
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


def _compared(check: Check, value: str, grid: Grid | None, lookups: Mapping[str, Any], folder: Path) -> list[Finding]:
    """The value of each row against a wanted one, or against bounds of its own."""
    has_bounds = not check.expected and (check.published is None or _only_bounds(check))
    findings = []
    for row in grid.rows if grid is not None else [Row({})]:
        if check.published is not None:
            wanted = _published_value(check.published, grid, row, folder)
        else:
            wanted = expression.number(check.expected, row.values, lookups) if check.expected else None
        measured = expression.number(value, row.values, lookups)
        if has_bounds:
            low, high = _bounds(check, row, lookups)
            limits = _range(low, high)
        elif wanted is None:
            continue
        else:
            low, high, limits = _tolerance(check, wanted, row)
        shown = _digits(measured)
        if (interval := row.half_width.get(value)) is not None:
            shown += f" ± {_digits(interval, 2)}"
        beside = "" if wanted is None else _digits(wanted)
        findings.append(_finding(check, row, beside, shown, limits, _verdict(measured, low, high), lookups))
    return findings


def _published_value(source: tuple[str, str], grid: Grid | None, row: Row, folder: Path) -> float | None:
    file, column = source
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


def _bounds(check: Check, row: Row, lookups: Mapping[str, Any]) -> tuple[float, float]:
    if check.min is None and check.max is None:
        raise UsageError(f"the check `{check.what}` has no bound", hint="add published or expected, or min or max")
    low = expression.number(check.min, row.values, lookups) if check.min is not None else -math.inf
    high = expression.number(check.max, row.values, lookups) if check.max is not None else math.inf
    return low, high


def _monotone(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    rising = check.increasing_in is not None
    axis = check.increasing_in or check.decreasing_in or ""
    value = check.value or ""
    findings = []
    for group, rows in grid.groups(axis):
        values = [expression.number(value, row.values) for row in rows]
        steps = [(b - a) if rising else (a - b) for a, b in itertools.pairwise(values)]
        worst = min(steps, default=math.nan)
        verdict = _verdict(worst, -check.slack, math.inf)
        direction = "rises" if rising else "falls"
        shown = f"{_digits(values[0])} … {_digits(values[-1])}" if values else ""
        if verdict[0] is Verdict.OUTSIDE:
            shown += f", a step of {_digits(worst if rising else -worst)} against it"
        limits = f"slack {_digits(check.slack)}"
        findings.append(_finding(check, Row(group), direction, shown, limits, verdict, lookups))
    return findings


def _rank_correlation(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    """Spearman's coefficient over an axis: equal values share the mean of their ranks.

    A value that never changes has no coefficient, which confirms nothing.
    """
    axis = check.rank_correlation_with or ""
    low, high = _bounds(check, Row({}), lookups)
    findings = []
    for group, rows in grid.groups(axis):
        values = [expression.number(check.value or "", row.values) for row in rows]
        columns = pl.DataFrame({"x": [float(row.values[axis]) for row in rows], "y": values})
        coefficient = float(columns.select(pl.corr("x", "y", method="spearman")).item())
        verdict, shown = _verdict(coefficient, low, high), _digits(coefficient)
        if len(set(values)) == 1:
            verdict = Verdict.OUTSIDE, math.inf
            shown = f"undefined: {_digits(values[0])} at every {axis}"
            if check.all_zero and values[0] == 0:
                shown = f"{check.all_zero} (0 at every {axis})"
        findings.append(_finding(check, Row(group), "rank correlation", shown, _range(low, high), verdict, lookups))
    return findings


def _crossings(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    wanted = check.crossings or 0
    findings = []
    for row in grid.rows:
        count = row.values["crossings"]
        verdict = (Verdict.INSIDE if count == wanted else Verdict.OUTSIDE), abs(count - wanted)
        findings.append(_finding(check, row, str(wanted), f"{count:.0f}", "exact", verdict, lookups))
    return findings


def _fit(check: Check, grid: Grid, lookups: Mapping[str, Any]) -> list[Finding]:
    x_name, value = check.fit_x or "", check.value or ""
    findings = []
    groups = grid.groups(x_name) if x_name in grid.axes else [({}, grid.rows)]
    for group, rows in groups:
        points = [(expression.number(x_name, row.values), expression.number(value, row.values)) for row in rows]
        slope, r2 = _line(points)
        bounds = check.slope or (-math.inf, math.inf)
        verdict = _verdict(slope, *bounds)
        if check.r2_min is not None and not r2 >= check.r2_min:
            verdict = (Verdict.NO_VALUE if math.isnan(r2) else Verdict.OUTSIDE), max(verdict[1], 1.0)
        shown = f"slope {_digits(slope)}, R² {r2:.4f}"
        limits = f"slope {_range(*bounds)}" + (f", R² ≥ {check.r2_min}" if check.r2_min is not None else "")
        findings.append(_finding(check, Row(group), "linear", shown, limits, verdict, lookups))
    return findings


# Tests that a key of a check asks for.
_tests = {
    "crossings": _crossings,
    "increasing_in": _monotone,
    "decreasing_in": _monotone,
    "rank_correlation_with": _rank_correlation,
    "fit_x": _fit,
}


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
    """And how far outside, in units of the tolerance."""
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
    verdict: tuple[Verdict, float],
    lookups: Mapping[str, Any],
) -> Finding:
    # A search without an answer leaves a gap in its row, and sentences about the row show it.
    what = expression.fill(check.what, row.values, lookups, missing="-")
    # A reason may have several lines in the file; tables have one.
    is_inside = verdict[0] is Verdict.INSIDE
    reason = "" if is_inside else expression.fill(check.reason, row.values, lookups, missing="-")
    return Finding(check.claim, what, wanted, measured, tolerance, verdict[0], " ".join(reason.split()), verdict[1])


def _digits(value: float, digits: int = 4) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"≤ {_digits(high)}"
    if math.isinf(high):
        return f"≥ {_digits(low)}"
    return f"{_digits(low)} … {_digits(high)}"
