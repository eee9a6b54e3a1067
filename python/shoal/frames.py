"""Columns of frames: what was varied, and numbers with the half-widths of their 95 % confidence intervals."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from shoal._toml import as_text
from shoal.errors import UsageError
from shoal.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A frame of polars as one of pandas, which takes nothing but pandas: missing numbers are NaN.

    Raises
    ------
    UsageError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise UsageError("pandas is not installed", hint="pip install 'shoal[pandas]'") from None
    columns = {
        name: column.to_numpy() if column.dtype.is_float() else column.to_list()
        for name, column in frame.to_dict().items()
    }
    return pd.DataFrame(columns, columns=frame.columns)


def value_columns(
    points: Iterable[Mapping[str, object]], counts: Iterable[int] | None = None
) -> dict[str, list[object]]:
    """The values of points by key: lists, and what differs in kind within a column, as text.

    Parameters
    ----------
    points
        Keys and values, with the same keys everywhere.
    counts
        How many rows each point has; one if not given.
    """
    columns: dict[str, list[object]] = {}
    for point, count in zip(points, counts or itertools.repeat(1), strict=False):
        for key, value in point.items():
            columns.setdefault(key, []).extend([value] * count)
    for key, column in columns.items():
        kinds = {type(value) for value in column}
        if not (kinds <= {int, float} or kinds in ({str}, {bool})):
            columns[key] = [as_text(value) for value in column]
    return columns


def interval_columns(cells: Mapping[str, Iterable[object]]) -> dict[str, pl.Series]:
    """Mean and half-width (``NAME_ci95``) of each name's estimates; nothing where there is no estimate."""
    import polars as pl

    columns: dict[str, pl.Series] = {}
    for name, column in cells.items():
        known = [cell if isinstance(cell, Estimate) else None for cell in column]
        means = [estimate and estimate.mean for estimate in known]
        widths = [estimate and estimate.half_width for estimate in known]
        columns[name] = pl.Series(name, means, pl.Float64)
        columns[f"{name}_ci95"] = pl.Series(f"{name}_ci95", widths, pl.Float64)
    return columns
