"""Metrics of the whole run and of its flow groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from shoal import analysis
from shoal.errors import UsageError
from shoal.metrics.lookup import find_group, flows_of, item, mean, number_at, ratio
from shoal.metrics.registry import Recorded, declare
from shoal.units import Unit

if TYPE_CHECKING:
    from shoal.contract import FrameSummary
    from shoal.run_record import RunRecord

T = TypeVar("T")


@declare("share", "Share", Unit.FRACTION, summary="share_{group}", swept=(("share_{group}", "{group}"),))
def share(result: RunRecord, group: str) -> float | None:
    """Part of a group in all wire rates."""
    total = sum(other["wire_bps"]["sum"] or 0.0 for other in result.groups)
    return ratio(find_group(result, group)["wire_bps"]["sum"], total)


@declare("jain", "Jain's index", Unit.RATIO, digits=4, summary="jain", swept=(("jain", ""),), tabled=True)
def jain(result: RunRecord) -> float | None:
    """Jain's index of the wire rates of all flows."""
    return result.metrics["jain"]


@declare(
    *("rate_ratio", "Rate ratio", Unit.RATIO),
    digits=3,
    summary="rate_ratio_{first}/{second}",
    tabled=True,
    compared="ratio",
)
def rate_ratio(result: RunRecord, first: str, second: str) -> float | None:
    """Mean wire rate of a flow of the first group over that of the second."""
    return ratio(*(find_group(result, name)["wire_bps"]["mean"] for name in (first, second)))


@declare("rate_mbps", "Rate of a flow", Unit.MBPS, compared="rate")
def rate_bps(result: RunRecord, group: str) -> float | None:
    """Mean wire rate of a flow of a group."""
    return find_group(result, group)["wire_bps"]["mean"]


@declare("goodput_mbps", "Goodput of a flow", Unit.MBPS, summary="goodput_{group}_bps")
def goodput_bps(result: RunRecord, group: str) -> float | None:
    """Mean goodput of a flow of a group."""
    return find_group(result, group)["goodput_bps"]["mean"]


@declare("cwnd_packets", "Congestion window", Unit.PACKETS, needs=Recorded.FLOWS)
def cwnd_packets(result: RunRecord, group: str, every: bool = True) -> float:
    """Time-averaged congestion window, mean over the flows of a group; without ``every`` over those that have one."""
    return mean([flow["cwnd_packets"]["mean"] for flow in flows_of(result, group)], every=every)


@declare("alpha", "Alpha", Unit.RATIO, needs=Recorded.FLOWS)
def alpha(result: RunRecord, group: str, every: bool = True) -> float:
    """Time-averaged alpha, mean over the flows of a group; without ``every`` over those that have one."""
    return mean([flow["alpha"]["mean"] for flow in flows_of(result, group)], every=every)


@declare("srtt_ms", "Smoothed RTT", Unit.MILLISECONDS, needs=Recorded.FLOWS)
def srtt_s(result: RunRecord, group: str, quantile: str = "mean", every: bool = True) -> float:
    """Smoothed round-trip time of the senders (``mean``, ``min``, ``max``), mean over the flows of a group.

    Without ``every`` over those that have one: a starved flow may not.
    """
    return mean([number_at(flow["srtt_s"], quantile) for flow in flows_of(result, group)], every=every)


@declare("fct_ms", "Completion time", Unit.MILLISECONDS)
def fct_s(result: RunRecord, group: str, quantile: str = "mean") -> float | None:
    """Completion time of the transfers of a group: ``mean``, ``p50``, ``p99``, ..."""
    return number_at(find_group(result, group)["fct_s"], quantile)


def _has(key: str) -> Any:
    return lambda result, group: key in find_group(result, group)


@declare(
    *("exchange_ms", "Response", Unit.MILLISECONDS),
    summary="exchange_{group}_{quantile}_s",
    applies=_has("exchanges"),
)
def exchange_s(result: RunRecord, group: str, quantile: str = "mean") -> float | None:
    """From a request to the last byte of its response, over the flows of a group: ``mean``, ``p50``, ``p99``, ..."""
    waits = _known(find_group(result, group).get("exchanges"), group, "has no exchanges", "app = { request = ... }")
    return number_at(waits["time_s"], quantile)


@declare(
    *("round_ms", "Round", Unit.MILLISECONDS),
    summary="round_{group}_{quantile}_s",
    applies=_has("rounds"),
)
def round_s(result: RunRecord, group: str, quantile: str = "mean") -> float | None:
    """From the start of a round until its slowest flow has delivered; of groups with ``barrier``."""
    waits = _known(find_group(result, group).get("rounds"), group, "has no rounds", "barrier = true in app")
    return number_at(waits["time_s"], quantile)


@declare(
    *("page_ms", "Page", Unit.MILLISECONDS),
    summary="page_{group}_{quantile}_s",
    applies=_has("pages"),
)
def page_s(result: RunRecord, group: str, quantile: str = "mean") -> float | None:
    """From the first request of a page to the last byte of its last object: ``mean``, ``p50``, ``p99``, ..."""
    waits = _known(find_group(result, group).get("pages"), group, "loads no pages", "app = { page = ... }")
    return number_at(waits["time_s"], quantile)


@declare("frames_on_time", "Frames on time", Unit.FRACTION, summary="on_time_{group}", applies=_has("frames"))
def frames_on_time(result: RunRecord, group: str) -> float | None:
    """Part of a group's frames that arrived within their deadline."""
    return _frames(result, group)["on_time_fraction"]


@declare("stalled_s", "Stalled", Unit.SECONDS)
def stalled_s(result: RunRecord, group: str) -> float | None:
    """How long players that wait for late frames stood still, all flows of a group together."""
    return _frames(result, group)["stalled_s"]


def _frames(result: RunRecord, group: str) -> FrameSummary:
    return _known(find_group(result, group).get("frames"), group, "writes no frames", "app = { frame = ... }")


def _known(recorded: T | None, group: str, lack: str, remedy: str) -> T:
    """What a group has only if the scenario asks for it."""
    if recorded is None:
        raise UsageError(f"group `{group}` {lack}", hint=f"write {remedy}")
    return recorded


@declare("acks_per_packet", "ACKs per data packet", Unit.RATIO, compared="acks")
def acks_per_packet(result: RunRecord, group: str) -> float | None:
    """ACKs without data that the receivers of a group sent for each data packet that arrived there."""
    # Results that were written by earlier versions have no such field.
    return find_group(result, group).get("acks_per_packet")


@declare("acks_per_megabyte", "ACKs per delivered megabyte", Unit.RATIO)
def acks_per_megabyte(result: RunRecord, group: str) -> float | None:
    """ACKs without data that the receivers of a group sent for each 10^6 B of payload delivered in order.

    RFC 9743 section 7.4 (https://www.rfc-editor.org/rfc/rfc9743#section-7.4): the volume of control packets.
    """
    totals = find_group(result, group)["totals"]
    acks = totals["acks_sent"]
    return None if acks is None else ratio(1e6 * acks, totals["delivered_bytes"])


@declare("count", "Count", Unit.RATIO, needs=Recorded.FLOWS)
def count(result: RunRecord, group: str, what: str) -> float | None:
    """Mean over the flows of a group of a counter: ``losses``, ``timeouts``, ``marks_seen``, ``reductions``, ..."""
    summed = find_group(result, group)
    if what in summed["totals"] and summed["flow_count"]:
        return ratio(number_at(summed["totals"], what), summed["flow_count"])
    return mean([number_at(flow, what) for flow in flows_of(result, group)])


@declare("reductions_per_s", "Reductions", Unit.PER_SECOND)
def reductions_per_s(result: RunRecord, group: str) -> float | None:
    """Window reductions of a flow of a group per second."""
    return ratio(count(result, group, "reductions"), result.window[1] - result.window[0])


@declare("convergence_s", "Time to converge", Unit.SECONDS, needs=Recorded.SERIES)
def convergence_s(
    result: RunRecord, group: str, within: float = 0.1, target_mbps: float | None = None, smooth_s: float = 1.0
) -> float | None:
    """Time from a group's start until the mean rate of its flows stays within a part of the target.

    The target is their mean over the second half of the measurement if it is not given; rates are means over
    ``smooth_s``.
    """
    target_bps = None if target_mbps is None else target_mbps * 1e6
    return analysis.convergence_s(result, group, within=within, target_bps=target_bps, smooth_s=smooth_s)


@declare("value", "Value", Unit.RATIO)
def value(result: RunRecord, path: str) -> float | None:
    """Any number of the result object, e.g. ``value('bottlenecks.0.queue_packets.p95')``."""
    node: Any = result.data
    for step in path.split("."):
        if isinstance(node, list):
            if not step.isdecimal() or int(step) >= len(node):
                raise UsageError(f"`{path}`: there is no entry `{step}`", hint=f"entries are 0 to {len(node) - 1}")
            node = node[int(step)]
        elif isinstance(node, dict):
            node = item(node, step)
        else:
            raise UsageError(f"`{path}`: `{step}` is looked for in a number", hint="leave it out")
    if node is not None and not isinstance(node, int | float):
        what = "keys: " + ", ".join(node) if isinstance(node, dict) else f"it is {_kind(node)}"
        raise UsageError(f"`{path}` is not a number of the result", hint=what)
    return node


def _kind(value: object) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) else "a text"
