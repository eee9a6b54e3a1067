"""Metrics of the phases of a run whose traffic or link changes again and again, as RFC 7928 section 8.2 asks for them.

https://www.rfc-editor.org/rfc/rfc7928#section-8.2

A phase is from ``begin_s`` to ``end_s``, counted from the start of the measurement (time 0 of that section), and again
each ``every_s``. The values are means over the bins of the time series whose middle is in it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shoal import moving
from shoal.errors import UsageError
from shoal.metrics.lookup import find_group
from shoal.metrics.registry import Recorded, declare
from shoal.units import Unit

if TYPE_CHECKING:
    import polars as pl

    from shoal.run_record import RunRecord


@declare("phase_goodput_mbps", "Goodput in a phase", Unit.MBPS, needs=Recorded.SERIES)
def phase_goodput_bps(result: RunRecord, group: str, begin_s: float, end_s: float, every_s: float) -> float | None:
    """Goodput of all flows of a group together from ``begin_s`` to ``end_s`` of the measurement, each ``every_s``."""
    import polars as pl

    rows = _in_phase(result, result.table("flows"), begin_s, end_s, every_s)
    # Those of the other groups count, too: a flow that has not begun carries nothing.
    bins = rows["time_s"].n_unique()
    group_rows = rows.filter(pl.col("group").cast(pl.String) == find_group(result, group)["name"])
    return math.fsum(group_rows["goodput_bps"].to_list()) / bins if bins else None


@declare("phase_delay_ms", "Queueing delay in a phase", Unit.MILLISECONDS, needs=Recorded.SERIES)
def phase_delay_s(result: RunRecord, begin_s: float, end_s: float, every_s: float, link: int = 0) -> float | None:
    """Time that the waiting bytes take at the rate of the link, from ``begin_s`` to ``end_s``, each ``every_s``."""
    rows = _in_phase(result, moving.series(result, link), begin_s, end_s, every_s)
    return math.fsum(rows["delay_s"].to_list()) / rows.height if rows.height else None


def _in_phase(result: RunRecord, rows: pl.DataFrame, begin_s: float, end_s: float, every_s: float) -> pl.DataFrame:
    """The rows of a time series whose bins have their middle in the phase."""
    import polars as pl

    if not 0 <= begin_s < end_s <= every_s:
        raise UsageError(
            f"a phase from {begin_s:g} s to {end_s:g} s, each {every_s:g} s, is none",
            hint="it begins at 0 s or later, and ends after that and before it begins again",
        )
    bin_s = result.bin_s
    if bin_s is None or bin_s > end_s - begin_s:
        raise UsageError(
            "phases need a time series with bins that are not longer than they",
            hint="write a shorter trace.series",
        )
    start_s, stop_s = result.window
    middle = pl.col("time_s") - bin_s / 2
    # Half a nanosecond more: times of bins are rounded, and a quotient just below a whole number is the one before.
    since = (middle - start_s + 5e-10) % every_s
    return rows.filter((middle > start_s) & (middle < stop_s) & (since >= begin_s) & (since < end_s))
