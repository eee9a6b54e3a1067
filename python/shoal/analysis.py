"""What recorded tables say beyond the summary; the formulas are those of ``shoal_measure::metrics``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal import _native
from shoal._columns import number
from shoal.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from shoal.run_record import RunRecord

classes = ("all", "ect", "not_ect")


@dataclass(frozen=True, slots=True)
class Oscillation:
    """The dominant oscillation of a series.

    Attributes
    ----------
    period_s
        The first repetition in the autocorrelation beyond its first fall below zero; ``None`` if nothing repeats.
    strength
        Autocorrelation there: 1 for a strictly periodic series.
    amplitude
        Half of the distance between the 5 % and the 95 % quantile, in the unit of the series.
    """

    period_s: float | None
    strength: float | None
    amplitude: float | None


def backlog_pdf(
    result: RunRecord, which: str = "all", *, width: int = 1, link: int = 0, start_s: float | None = None
) -> pl.DataFrame:
    """Part of the time in which so many packets waited: ``share`` of the ``width`` counts from ``low_packets`` on.

    Parameters
    ----------
    result
        A run with ``trace.distributions``, time series or windows.
    which
        ``all`` packets, or the waiting packets of a class: ``ect``, ``not_ect``.
    width
        Packets a bin.
    link
        Number of the monitored link.
    start_s
        Start of one of the windows of ``trace.windows``; the whole measurement if not given.
    """
    import polars as pl

    rows = _backlog(result, which, link, start_s)
    highest = number(rows["high_packets"].max())
    bins = int(highest // width) + 1 if highest is not None else 0
    edges = [float(index * width) for index in range(bins + 1)]
    low = rows["low_packets"].cast(pl.Float64).to_list()
    # A bucket of equal ends covers a whole packet.
    high = (rows["high_packets"].cast(pl.Float64) + 1.0).to_list()
    shares = _native.binned_shares(low, high, rows["time_s"].to_list(), edges)
    return pl.DataFrame(
        {"low_packets": edges[: len(shares)], "share": shares},
        schema={"low_packets": pl.Float64, "share": pl.Float64},
    )


def backlog_between(result: RunRecord, which: str, low: float, high: float, *, link: int = 0) -> float | None:
    """Part of the time in which from ``low`` to ``high`` packets waited, both included."""
    rows = _backlog(result, which, link, None)
    weights = [round(seconds * 1e12) for seconds in rows["time_s"]]
    return _native.share_between(rows["low_packets"].to_list(), rows["high_packets"].to_list(), weights, low, high)


def window_starts(result: RunRecord) -> list[float]:
    """Start of each window of ``trace.windows``, in s."""
    return sorted(result.table("backlog_windows")["start_s"].unique().to_list())


def convergence_s(
    result: RunRecord, group: str, *, within: float = 0.1, target_bps: float | None = None, smooth_s: float = 1.0
) -> float | None:
    """Time from the start of a group until the mean rate of its flows stays close to a target until the end.

    Parameters
    ----------
    result
        A run with a time series.
    group
        Name of the flow group.
    within
        How close, as a part of the target.
    target_bps
        The target; the mean of the second half of the measurement if not given.
    smooth_s
        Rates are means over this time, because a sawtooth never stays close to its mean.
    """
    import polars as pl

    flows = next((entry["flows"] for entry in result.groups if entry["name"] == group), None)
    if flows is None:
        raise UsageError(f"there is no flow group `{group}`")
    starts_s = [flow["start_s"] for flow in flows if flow["start_s"] is not None]
    if not starts_s:
        raise UsageError(f"no flow of the group `{group}` starts")
    start_s = min(starts_s)
    rates = (
        result.table("flows")
        .filter((pl.col("group") == group) & (pl.col("time_s") > start_s))
        .group_by("time_s", maintain_order=True)
        .agg(pl.col("wire_bps").mean())
    )
    times, values = rates["time_s"].to_list(), rates["wire_bps"].to_list()
    if target_bps is None:
        half_s = sum(result.window) / 2
        target_bps = number(rates.filter(pl.col("time_s") > half_s)["wire_bps"].mean())
    if not times or target_bps is None:
        return None
    first = _native.settled_from(values, target_bps, within, max(1, round(smooth_s / _step_s(times))))
    return None if first is None else float(times[first] - start_s)


def oscillation(result: RunRecord, *, link: int = 0, least: float = 0.2) -> Oscillation:
    """Oscillation of the waiting packets at a link in the measurement window.

    Parameters
    ----------
    result
        A run with a time series; periods are found from about five of its bins on.
    link
        Number of the monitored link.
    least
        A repetition with a smaller autocorrelation is none.
    """
    import polars as pl

    start_s, end_s = result.window
    rows = result.table("queue").filter(
        (pl.col("link") == result.bottlenecks[link]["name"])
        & (pl.col("time_s") > start_s)
        & (pl.col("time_s") <= end_s)
    )
    return oscillation_of(rows["packets"].to_list(), _step_s(rows["time_s"].to_list()), least=least)


def oscillation_of(values: Sequence[float], step_s: float, *, least: float = 0.2) -> Oscillation:
    """Oscillation of any series with a value every ``step_s``."""
    period, strength, amplitude = _native.oscillation(values, least)
    return Oscillation(None if period is None else period * step_s, strength, amplitude)


def _backlog(result: RunRecord, which: str, link: int, start_s: float | None) -> pl.DataFrame:
    import polars as pl

    if which not in classes:
        raise UsageError(f"there is no class `{which}`", hint=", ".join(classes))
    rows = result.table("backlog_distribution" if start_s is None else "backlog_windows")
    rows = rows.filter((pl.col("link") == result.bottlenecks[link]["name"]) & (pl.col("class") == which))
    return rows if start_s is None else rows.filter((pl.col("start_s") - start_s).abs() < 1e-9)


def _step_s(times: Sequence[float]) -> float:
    """Distance of the rows of a time series."""
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 1.0
