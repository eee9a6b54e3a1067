"""Statistics of columns as numbers: polars gives any value that a column may hold."""

from __future__ import annotations


def number(value: object) -> float | None:
    """What ``max()``, ``mean()`` and their like of a column of numbers gave; ``None`` of an empty column."""
    return float(value) if isinstance(value, int | float) else None
