"""How links that change answer to it: what the metrics of steps and the figures of moving links read.

What is called the queue's delay is the time that the waiting bytes take at the rate that the link has then. It needs no
packet to leave, so it is known during an outage too, at the rate that follows; and it is one number for queues of
several parts.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from shoal import _native

if TYPE_CHECKING:
    import polars as pl

    from shoal.contract import LinkHistory, LinkStep
    from shoal.run_record import RunRecord


def history(result: RunRecord, link: int = 0) -> LinkHistory | None:
    """How a monitored link changed; ``None`` if it did not."""
    return result.bottlenecks[link].get("history")


def steps(result: RunRecord, link: int = 0) -> list[LinkStep]:
    """The steps of a link's rate in the measurement, and what followed each."""
    changes = history(result, link)
    return [] if changes is None else changes["steps"]


def rates(result: RunRecord, link: int = 0) -> list[tuple[float, float]]:
    """Times and the rate in bit/s from each on; zero while the link is down."""
    changes = history(result, link)
    if changes is None:
        return [(0.0, result.bottlenecks[link]["rate_bps"])]
    return [(change["from_s"], change["rate_bps"]) for change in changes["rate"]]


def outages(result: RunRecord, link: int = 0) -> list[tuple[float, float]]:
    """Start and end of each outage, in s."""
    known = [*rates(result, link), (result.window[1], 1.0)]
    return [(at, end) for (at, bps), (end, _) in itertools.pairwise(known) if bps == 0 and at < end]


def series(result: RunRecord, link: int = 0) -> pl.DataFrame:
    """``time_s, rate_bps, carried_bps, delay_s`` for each bin: the rate at its end, what was sent, the queue's delay.

    Raises
    ------
    UsageError
        The run recorded no time series.
    """
    import polars as pl

    rows = result.table("queue").filter(pl.col("link") == result.bottlenecks[link]["name"])
    bins = list(zip(rows["time_s"], rows["bytes"], rows["utilisation"], strict=True))
    values = _native.at_rates(bins, result.bin_s or 0.0, rates(result, link))
    schema = {"rate_bps": pl.Float64, "carried_bps": pl.Float64, "delay_s": pl.Float64}
    return pl.concat([rows.select("time_s"), pl.DataFrame(values, schema=schema, orient="row")], how="horizontal")


def power(result: RunRecord, link: int = 0) -> pl.DataFrame:
    """``time_s, power`` for each bin: the carried rate over the round-trip time, in bit/s^2.

    The round-trip time is the mean propagation delay of all flows at the start of the run, what the link's own delay is
    longer then, and the queue's delay.
    """
    import polars as pl

    facts = result.scenario.facts["groups"]
    known = [(fact["flows"], fact["base_rtt_s"]) for fact in facts if fact["base_rtt_s"] is not None]
    base_s = sum(flows * rtt_s for flows, rtt_s in known) / max(1, sum(flows for flows, _ in known))
    changes = history(result, link)
    delays_s = [(change["from_s"], change["delay_s"]) for change in changes["delay"]] if changes else [(0.0, 0.0)]
    delays = pl.DataFrame(delays_s, schema=["from_s", "own_s"], orient="row").with_columns(
        more_s=pl.col("own_s") - delays_s[0][1]
    )
    rows = series(result, link).join_asof(delays, left_on="time_s", right_on="from_s", strategy="backward")
    round_trip_s = (base_s + rows["more_s"] + rows["delay_s"]).to_list()
    pairs = zip(rows["carried_bps"], round_trip_s, strict=True)
    values = [_native.power(carried, round_trip) for carried, round_trip in pairs]
    return rows.select("time_s", power=pl.Series(values, dtype=pl.Float64))
