"""Metrics of a monitored link and its queue; ``link`` counts monitored links from 0.

With ``queue`` they are of one of the link's queues for traffic classes, by its name: results have the same numbers of
it in the same places (:class:`shoal.contract.TrafficClass`), so that one formula gives both.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from shoal import _native, analysis
from shoal.errors import UsageError
from shoal.metrics.lookup import find_queue, number_at, ratio
from shoal.metrics.registry import Recorded, declare
from shoal.units import Unit

if TYPE_CHECKING:
    from shoal.run_record import RunRecord


@declare(
    *("utilisation", "Utilisation", Unit.FRACTION),
    summary="utilisation",
    swept=(("utilisation", ""),),
    tabled=True,
    compared="utilisation",
)
def utilisation(result: RunRecord, link: int = 0, queue: str | None = None) -> float | None:
    """Fraction of the time the link transmitted."""
    return find_queue(result, link, queue)["utilisation"]


@declare(
    *("queue_packets", "Mean queue", Unit.PACKETS),
    summary="queue_packets",
    swept=(("queue_packets", ""),),
    tabled=True,
    compared="queue",
)
def queue_packets(result: RunRecord, link: int = 0, queue: str | None = None) -> float | None:
    """Mean waiting packets, weighted by time."""
    return find_queue(result, link, queue)["queue_packets"]["mean"]


@declare("queue_sd_packets", "Standard deviation of the queue", Unit.PACKETS)
def queue_sd_packets(result: RunRecord, link: int = 0, queue: str | None = None) -> float | None:
    """Standard deviation of the waiting packets over time."""
    return find_queue(result, link, queue)["queue_packets"]["sd"]


@declare("queue_empty", "Time without a queue", Unit.FRACTION)
def queue_empty(result: RunRecord, link: int = 0, queue: str | None = None) -> float | None:
    """Fraction of the time nothing waited."""
    return find_queue(result, link, queue)["queue_empty"]


@declare("queue_empty_sampled", "Samples without a queue", Unit.FRACTION)
def queue_empty_sampled(result: RunRecord, link: int = 0) -> float | None:
    """Fraction of the samples (``trace.sample``) at which nothing waited."""
    return result.bottlenecks[link]["queue_empty_sampled"]


def _has_bdp(result: RunRecord, link: int) -> bool:
    # That of a link that changes is the one at the start, which a table must not take for the run's.
    return bool(result.scenario.facts["bottlenecks"][link]["bdp_bytes"]) and "history" not in result.bottlenecks[link]


@declare("queue_bdp", "Mean queue", Unit.BDP, digits=3, tabled=True, applies=_has_bdp)
def queue_bdp(result: RunRecord, in_service: bool = False, link: int = 0) -> float | None:
    """Mean waiting bytes over the bandwidth-delay product; ``in_service`` adds the packet in transmission."""
    bottleneck, fact = result.bottlenecks[link], result.scenario.facts["bottlenecks"][link]
    bdp_bytes = fact["bdp_bytes"]
    waiting = ratio(bottleneck["queue_bytes"]["mean"], bdp_bytes)
    if waiting is None or not bdp_bytes or not in_service:
        return waiting
    # While the link transmits, one packet is in service; full packets, as ACKs take the other direction.
    return waiting + (bottleneck["utilisation"] or 0.0) * float(fact["mtu_bytes"]) / bdp_bytes


@declare("class_queue_packets", "Queue", Unit.PACKETS)
def class_queue_packets(
    result: RunRecord, which: str, quantile: str = "mean", link: int = 0, queue: str | None = None
) -> float | None:
    """Waiting packets of ``ect``, ``not_ect`` or ``all`` over time: ``mean``, ``sd``, ``p5`` ... ``p999``, ``max``."""
    record = find_queue(result, link, queue)
    if which == "all":
        return number_at(record["queue_packets"], quantile)
    if queue is not None:
        raise UsageError(f"what of `{which}` waits in the queue `{queue}` is not recorded", hint="write 'all'")
    return number_at(record, "class_queue_packets", which, quantile)


@declare("queue_between", "Time with such a queue", Unit.FRACTION, needs=Recorded.DISTRIBUTIONS)
def queue_between(result: RunRecord, which: str, low: float, high: float, link: int = 0) -> float | None:
    """Part of the time in which from ``low`` to ``high`` packets of a class waited, both included."""
    return analysis.backlog_between(result, which, low, high, link=link)


@declare("queue_peak", "Share of the most frequent queue", Unit.FRACTION, needs=Recorded.DISTRIBUTIONS)
def queue_peak(result: RunRecord, which: str, width: int = 1, link: int = 0) -> float | None:
    """Largest share of ``width`` neighbouring queue lengths in the distribution over time."""
    return _peak(result, which, width, link)


@declare("queue_mode", "Most frequent queue", Unit.PACKETS, needs=Recorded.DISTRIBUTIONS)
def queue_mode(result: RunRecord, which: str, link: int = 0) -> float | None:
    """The queue length in packets that is there most of the time; the shortest of several."""
    pdf = analysis.backlog_pdf(result, which, link=link)
    lengths: list[float] = pdf.sort("share", "low_packets", descending=[True, False])["low_packets"].to_list()
    return lengths[0] if lengths else None


@declare("window_peak", "Median of the peaks of windows", Unit.FRACTION, needs=Recorded.WINDOWS)
def window_peak(result: RunRecord, which: str = "all", width: int = 1, link: int = 0) -> float | None:
    """Median over the windows of ``trace.windows`` of the :func:`queue_peak` of each."""
    starts_s = analysis.window_starts(result)
    peaks = [peak for start_s in starts_s if (peak := _peak(result, which, width, link, start_s=start_s)) is not None]
    return number_at(json.loads(_native.order_statistics(peaks)), "p50")


def _peak(result: RunRecord, which: str, width: object, link: int, start_s: float | None = None) -> float | None:
    if not isinstance(width, int) or width < 1:
        raise UsageError(f"{width} packets are not a width of a bin", hint="write a whole number from 1 on")
    shares: list[float] = analysis.backlog_pdf(result, which, width=width, link=link, start_s=start_s)[
        "share"
    ].to_list()
    return max(shares, default=None)


@declare("oscillation_ms", "Period of the queue's oscillation", Unit.MILLISECONDS, needs=Recorded.SERIES)
def oscillation_s(result: RunRecord, link: int = 0, least: float = 0.2) -> float | None:
    """Period of the queue's dominant oscillation: the first repetition in its autocorrelation of at least ``least``."""
    return analysis.oscillation(result, link=link, least=least).period_s


@declare("oscillation_packets", "Amplitude of the queue", Unit.PACKETS, needs=Recorded.SERIES)
def oscillation_packets(result: RunRecord, link: int = 0) -> float | None:
    """Amplitude of the queue: half of the distance between its 5 % and 95 % quantile."""
    return analysis.oscillation(result, link=link).amplitude


@declare("marks", "Marks", Unit.COUNT, digits=0, summary="marked")
def marks(result: RunRecord, which: str = "all", link: int = 0, queue: str | None = None) -> float | None:
    """Packets of a class that the queue marked."""
    record = find_queue(result, link, queue)
    return record["marked"] if which == "all" else number_at(record, which, "marked")


@declare("drops", "Drops", Unit.COUNT, digits=0, summary="dropped")
def drops(result: RunRecord, which: str = "all", link: int = 0, queue: str | None = None) -> float | None:
    """Packets of a class that the queue dropped."""
    record = find_queue(result, link, queue)
    return record["dropped"] if which == "all" else number_at(record, which, "dropped")


@declare("redirected", "Redirected packets", Unit.COUNT, digits=0)
def redirected(result: RunRecord, link: int = 0, queue: str | None = None) -> float | None:
    """Packets that queue protection sent from the low-latency queue to the classic one."""
    return find_queue(result, link, queue).get("redirected", 0)


@declare("marked", "Packets marked", Unit.FRACTION)
def marked(result: RunRecord, which: str = "ect", link: int = 0, queue: str | None = None) -> float | None:
    """Fraction of the packets of a class that were marked."""
    record = find_queue(result, link, queue)
    return ratio(record["marked"], record["arrived"]) if which == "all" else number_at(record, which, "mark_fraction")


@declare("dropped", "Packets dropped", Unit.FRACTION)
def dropped(result: RunRecord, which: str = "not_ect", link: int = 0, queue: str | None = None) -> float | None:
    """Fraction of the packets of a class that were dropped."""
    record = find_queue(result, link, queue)
    return ratio(record["dropped"], record["arrived"]) if which == "all" else number_at(record, which, "drop_fraction")


@declare(
    *("delay_ms", "Queueing delay", Unit.MILLISECONDS),
    summary="delay_{which}_{quantile}_s",
    swept=(("delay_mean_ms", ""), ("delay_p99_ms", "'all', 'p99'")),
)
def delay_s(
    result: RunRecord, which: str = "all", quantile: str = "mean", link: int = 0, queue: str | None = None
) -> float | None:
    """Queueing delay of ``all``, ``ect`` or ``not_ect`` packets: ``mean``, ``sd``, ``p5`` ... ``p999``, ``max``."""
    return number_at(find_queue(result, link, queue)["delay_s"], which, quantile)
