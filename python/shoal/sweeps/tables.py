"""The numbers of a sweep as a table, as frames and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shoal import _native
from shoal._toml import as_text
from shoal.frames import interval_columns, value_columns
from shoal.runs.record import Undefined
from shoal.runs.rows import Cell, Rows
from shoal.stats import Estimate
from shoal.sweeps import short_names
from shoal.table import Table
from shoal.words import significant

if TYPE_CHECKING:
    import polars as pl

# What a person looks through; the files have all points.
most_shown = 1000


def table_of(rows: Rows, *, most: int = most_shown) -> Table:
    """One line a point, of the first ones: its values, and mean and interval of every metric."""
    names = short_names(list(rows.plan.design.keys))
    counts = rows.plan.until is not None
    lines: list[tuple[str, ...]] = []
    for point_index in range(min(len(rows), most)):
        values = tuple(map(as_text, rows[point_index].values()))
        seeds = (str(len(rows.seeds(point_index))),) if counts else ()
        if rows.failure(point_index) is not None:
            cells = tuple("failed" for _ in rows.plan.metrics)
        else:
            cells = tuple(written(rows.cell(point_index, text)) for text in rows.plan.metrics.values())
        lines.append((*values, *cells, *seeds))
    heads = (*names.values(), *rows.plan.metrics, *(("seeds",) if counts else ()))
    return Table("", heads, lines, words=len(names))


def omitted(rows: Rows, *, most: int = most_shown, where: str = "points.csv and sweep.json have") -> str | None:
    """That a table does not show all points, if it does not."""
    if len(rows) <= most:
        return None
    return f"The table shows the first {most:,} of {len(rows):,} points; {where} all."


def failure_lines(rows: Rows, *, most: int = 5) -> list[str]:
    """One sentence for each of the first points that failed, and how many more did."""
    lines: list[str] = []
    for point_index, failure in rows.failures:
        if len(lines) == most:
            lines.append(f"{rows.failed - most:,} more points failed")
            break
        lines.append(f"Failed at {rows.name(point_index)}, seed {failure.seed}: {failure.message}")
    return lines


def written(value: Cell) -> str:
    """A number with its interval, or in a word why there is none."""
    if isinstance(value, Undefined):
        return "undefined"
    return "-" if value is None else significant(value)


def points_frame(rows: Rows) -> pl.DataFrame:
    """One row a point: its values, mean and half-width of the 95 % confidence interval (``NAME_ci95``) of each metric.

    Points that failed have an ``error``, if there are any, and all points have the number of ``seeds`` where that
    differs.
    """
    import polars as pl

    indices = range(len(rows))
    cells = {
        name: [rows.cell(point_index, text) for point_index in indices] for name, text in rows.plan.metrics.items()
    }
    more: dict[str, list[Any]] = {}
    if rows.plan.until is not None:
        more["seeds"] = [len(rows.seeds(point_index)) for point_index in indices]
    if rows.failed:
        errors = dict(rows.failures)
        more["error"] = [errors[point_index].message if point_index in errors else None for point_index in indices]
    return pl.DataFrame({**value_columns(_points(rows)), **interval_columns(cells), **more}, strict=False)


def _points(rows: Rows) -> Iterator[dict[str, object]]:
    return (rows[point_index] for point_index in range(len(rows)))


def runs_frame(rows: Rows) -> pl.DataFrame:
    """One row a run: the point's values, ``seed``, and each metric."""
    import polars as pl

    seed_lists = [rows.seeds(point_index) for point_index in range(len(rows))]
    columns: dict[str, list[Any]] = dict(value_columns(_points(rows), [len(seeds) for seeds in seed_lists]))
    columns["seed"] = [seed for seeds in seed_lists for seed in seeds]
    for name, text in rows.plan.metrics.items():
        columns[name] = [value for point_index in range(len(rows)) for value in rows.series(point_index, text)]
    return pl.DataFrame(columns, schema_overrides=dict.fromkeys(rows.plan.metrics, pl.Float64), strict=False)


def json_of(rows: Rows) -> Iterator[str]:
    """One object, in parts: points may be many."""
    plan = rows.plan
    axes = {factor.keys[0]: [row[0] for row in factor.rows] for factor in plan.design.factors if len(factor.keys) == 1}
    joint = [list(factor.keys) for factor in plan.design.factors if len(factor.keys) > 1]
    content: dict[str, Any] = {
        "schema": 1,
        "version": _native.__version__,
        "scenario": plan.template.scenario.resolved,
        "axes": axes,
        **({"joint": joint} if joint else {}),
        "metrics": dict(plan.metrics),
        "seeds": rows.seeds(0),
        **({"until": plan.until.text} if plan.until is not None else {}),
        **({"kernel": plan.kernel} if plan.kernel else {}),
        "warnings": list(rows.warnings),
    }
    yield json.dumps(content, indent=2, allow_nan=False).removesuffix("\n}")
    yield ',\n  "points": ['
    for point_index in range(len(rows)):
        text = json.dumps(_point(rows, point_index), indent=2, allow_nan=False).replace("\n", "\n    ")
        yield f"{',' if point_index else ''}\n    {text}"
    yield "\n  ]\n}\n"


def _point(rows: Rows, point_index: int) -> dict[str, Any]:
    cells = {name: rows.cell(point_index, text) for name, text in rows.plan.metrics.items()}
    failure = rows.failure(point_index)
    return {
        "values": rows[point_index],
        "metrics": {name: cell.to_dict() if isinstance(cell, Estimate) else None for name, cell in cells.items()},
        **({"seeds": len(rows.seeds(point_index))} if rows.plan.until is not None else {}),
        **({"error": {"seed": failure.seed, "message": failure.message}} if failure is not None else {}),
    }
