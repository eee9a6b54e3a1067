"""Metrics by which RFC 7928 section 2 describes what flows get beyond their rate: start, losses, delays, and goodput.

https://www.rfc-editor.org/rfc/rfc7928#section-2
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.metrics.lookup import find_group, flows_of, mean, number_at, ratio
from shoal.metrics.registry import Recorded, declare
from shoal.units import Unit

if TYPE_CHECKING:
    import polars as pl

    from shoal.contract import FlowResult
    from shoal.run_record import RunRecord

#: Quantiles that have a name, as in the distributions of a result.
_quantiles = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@declare("startup_ms", "Flow start-up time", Unit.MILLISECONDS, needs=Recorded.SEGMENTS)
def startup_s(result: RunRecord, group: str) -> float | None:
    """From the start of a flow until its sender sends its first data; of requests: the server, its first response.

    RFC 7928 section 2.2: from the request until the transmission of data begins. Mean over the traced flows of the
    group (``trace.segment_flows``) that have sent data.
    """
    times = []
    for number, flow in _numbered(result, group):
        rows = _segments(result, number).filter(_is("sender", "send"))
        if rows.height and flow["start_s"] is not None:
            times.append(min(rows["time_ps"].to_list()) / 1e12 - flow["start_s"])
    return math.fsum(times) / len(times) if times else None


@declare("loss_ratio", "Packets lost", Unit.FRACTION, needs=Recorded.FLOWS)
def loss_ratio(result: RunRecord, group: str) -> float | None:
    """Part of the data packets of a group that did not arrive, as its senders declared them lost; all flows together.

    RFC 7928 section 2.3: lost over sent. What was sent is what arrived and what was lost. Of unresponsive traffic: lost
    and sent as its receiver counts them.
    """
    flows = flows_of(result, group)
    summaries = [flow["datagrams"] for flow in flows]
    if datagrams := [summary for summary in summaries if summary is not None]:
        return ratio(sum(each["lost"] for each in datagrams), sum(each["sent"] for each in datagrams))
    arrived = [flow["data_packets"] for flow in flows]
    lost = sum(flow["losses"] for flow in flows)
    known = [count for count in arrived if count is not None]
    return ratio(lost, lost + sum(known)) if len(known) == len(arrived) else None


@declare("loss_interval_ms", "Interval between losses", Unit.MILLISECONDS, needs=Recorded.CONTROLLERS)
def loss_interval_s(result: RunRecord, group: str, quantile: str = "mean") -> float | None:
    """Time from a drop of a flow's packet to the next one of that flow: ``mean``, ``p50``, ``p99``, ... over a group.

    RFC 7928 section 2.3: the interval between consecutive losses. Counted are drops at monitored links in the
    measurement.
    """
    drops = _drops(result)
    intervals = []
    for number, _ in _numbered(result, group):
        times = [time for time, flow in drops if flow == number]
        intervals += [later - earlier for earlier, later in itertools.pairwise(times)]
    return _statistic(intervals, quantile)


@declare("loss_synchronisation", "Loss synchronisation", Unit.FRACTION, needs=Recorded.CONTROLLERS)
def loss_synchronisation(result: RunRecord, window_ms: float | None = None) -> float | None:
    """Part of the flows that lose packets in the same loss event, mean over the events: 1 if all do each time.

    RFC 7928 section 2.4: the global synchronisation ratio. An event begins with a drop at a monitored link and lasts
    for ``window_ms``, or for the mean smoothed round trip of all flows. Flows without a connection are not counted, and
    only those that run when the event begins.
    """
    flows = [flow for group in result.groups for flow in flows_of(result, group["name"])]
    if window_ms is None:
        known = [flow["srtt_s"]["mean"] for flow in flows if flow["srtt_s"]["mean"] is not None]
        if not known:
            return None
        window_s = mean(known)
    else:
        window_s = window_ms / 1e3
    counts = {number for number, flow in enumerate(flows) if flow["datagrams"] is None}
    drops = [(time, flow) for time, flow in _drops(result) if flow in counts]
    ratios = []
    while drops:
        begin = drops[0][0]
        within = {flow for time, flow in drops if time < begin + window_s}
        drops = [(time, flow) for time, flow in drops if time >= begin + window_s]
        runs = [number for number in counts if _runs_at(flows[number], begin)]
        ratios.append(len(within) / len(within.union(runs)))
    return math.fsum(ratios) / len(ratios) if ratios else None


@declare("goodput_window_mbps", "Goodput in a window", Unit.MBPS, needs=Recorded.SERIES)
def goodput_window_bps(result: RunRecord, group: str, quantile: str = "p50", round_trips: float = 10.0) -> float | None:
    """Goodput of a flow in windows of ``round_trips`` of its shortest round-trip time: ``p5``, ``p50``, ``mean``, ...

    RFC 7928 section 2.5, which suggests 10 of them. The values of all flows of a group and all whole windows of the
    measurement. A window has whole bins of the time series, at least one.
    """
    import polars as pl

    rates: list[float] = []
    series = result.table("flows").filter(pl.col("time_s").is_between(*result.window, closed="right"))
    for number, flow in _numbered(result, group):
        rows = series.filter(pl.col("flow") == number).sort("time_s")
        times, goodput = rows["time_s"].to_list(), rows["goodput_bps"].to_list()
        if len(times) < 2 or flow["base_rtt_s"] is None:
            continue
        bin_s = times[1] - times[0]
        width = round(round_trips * flow["base_rtt_s"] / bin_s)
        if width < 1:
            raise UsageError(
                f"{round_trips:g} round trips are shorter than a bin of the time series ({bin_s:g} s)",
                hint="write a shorter trace.series, or more round_trips",
            )
        whole = range(0, len(goodput) - width + 1, width)
        rates += [math.fsum(goodput[begin : begin + width]) / width for begin in whole]
    return _statistic(rates, quantile)


@declare("one_way_delay_ms", "One-way delay", Unit.MILLISECONDS, needs=Recorded.SEGMENTS)
def one_way_delay_s(result: RunRecord, group: str, quantile: str = "mean") -> float | None:
    """From the sending of a data packet to its arrival at the receiver: ``mean``, ``p50``, ``p99``, ... of a group.

    RFC 7928 section 2.6, RFC 7679. Of unresponsive traffic: mean of the flows' values; of others: over the packets of
    the traced flows (``trace.segment_flows``) that were sent in the measurement.
    """
    return _delays(result, group, "delay_s", quantile)


@declare("delay_variation_ms", "Packet delay variation", Unit.MILLISECONDS, needs=Recorded.SEGMENTS)
def delay_variation_s(result: RunRecord, group: str, quantile: str = "p99") -> float | None:
    """By how much the one-way delay exceeds the smallest of the flow (PDV): ``mean``, ``p50``, ``p99``, ... of a group.

    RFC 5481 section 4.2, which RFC 7928 section 2.6 asks for; see :func:`one_way_delay_ms`.
    """
    return _delays(result, group, "variation_s", quantile)


@declare("successive_variation_ms", "Inter-packet delay variation", Unit.MILLISECONDS, needs=Recorded.SEGMENTS)
def successive_variation_s(result: RunRecord, group: str, quantile: str = "p99") -> float | None:
    """Absolute difference of the one-way delays of packets sent one after the other (IPDV), if both arrived.

    RFC 5481 section 4.1, RFC 3393; see :func:`one_way_delay_ms`.
    """
    return _delays(result, group, "successive_variation_s", quantile)


def _delays(result: RunRecord, group: str, what: str, quantile: str) -> float | None:
    flows = _numbered(result, group)
    summaries = [flow["datagrams"] for _, flow in flows if flow["datagrams"] is not None]
    if summaries:
        # Results that were written by earlier versions have no variation.
        known: list[Mapping[str, Any]] = [dict(summary) for summary in summaries]
        value = mean([number_at(summary[what], quantile) if what in summary else None for summary in known])
        return None if math.isnan(value) else value
    pooled: list[float] = []
    for number, _ in flows:
        delays = _delays_of(result, number)
        if what == "delay_s":
            pooled += delays
        elif what == "variation_s":
            least = min(delays, default=0.0)
            pooled += [delay - least for delay in delays]
        else:
            pooled += [abs(later - earlier) for earlier, later in itertools.pairwise(delays)]
    return _statistic(pooled, quantile)


def _delays_of(result: RunRecord, number: int) -> list[float]:
    """One-way delays of a traced flow's data packets, in the order of their sending; those that arrived."""
    import polars as pl

    begin, end = (time * 1e12 for time in result.window)
    rows = _segments(result, number)
    sent = rows.filter(_is("sender", "send") & pl.col("time_ps").is_between(begin, end)).select(
        "seq", "ts_val", "time_ps"
    )
    received = rows.filter(_is("receiver", "receive")).select("seq", "ts_val", arrived="time_ps")
    # The network may have made copies, of which the first counts.
    received = received.group_by("seq", "ts_val").agg(pl.col("arrived").min())
    both = sent.join(received, on=["seq", "ts_val"], how="inner").sort("time_ps")
    return [(arrived - time) / 1e12 for time, arrived in both.select("time_ps", "arrived").iter_rows()]


def _is(end: str, event: str) -> pl.Expr:
    import polars as pl

    return (pl.col("end").cast(pl.String) == end) & (pl.col("event").cast(pl.String) == event) & (pl.col("payload") > 0)


def _segments(result: RunRecord, number: int) -> pl.DataFrame:
    import polars as pl

    return result.table("segments").filter(pl.col("flow") == number)


def _numbered(result: RunRecord, group: str) -> list[tuple[int, FlowResult]]:
    """The flows of a group with their numbers in the run."""
    first = 0
    for other in result.groups:
        if other["name"] == find_group(result, group)["name"]:
            break
        first += other["flow_count"]
    return list(enumerate(flows_of(result, group), first))


def _drops(result: RunRecord) -> list[tuple[float, int]]:
    """Times of the drops in the measurement with the numbers of their flows, if those of all flows are recorded."""
    import polars as pl

    count = sum(group["flow_count"] for group in result.groups)
    if result.scenario.resolved["trace"]["controller_flows"] < count or "events" not in result.table_names:
        raise UsageError(
            "this metric needs the traces of all flows",
            hint=f"run with trace.controller_flows = {count} (on the command line: --trace controllers={count})",
        )
    events = result.table("events").filter(
        (pl.col("kind").cast(pl.String) == "drop") & pl.col("time_s").is_between(*result.window)
    )
    return [(time, flow) for time, flow in events.sort("time_s").select("time_s", "flow").iter_rows()]


def _runs_at(flow: FlowResult, time_s: float) -> bool:
    start, stop = flow["start_s"], flow["stop_s"]
    return start is not None and start <= time_s and (stop is None or time_s < stop)


def _statistic(values: Iterable[float], name: str) -> float | None:
    """``mean``, ``min``, ``max``, or a quantile as the smallest value that so many do not exceed."""
    ordered: Sequence[float] = sorted(values)
    if not ordered:
        return None
    if name == "mean":
        return math.fsum(ordered) / len(ordered)
    if name == "min":
        return ordered[0]
    if name == "max":
        return ordered[-1]
    if name not in _quantiles:
        raise UsageError(f"there is no statistic `{name}`", hint=f"known: mean, min, {', '.join(_quantiles)}, max")
    return ordered[max(math.ceil(_quantiles[name] * len(ordered)) - 1, 0)]
