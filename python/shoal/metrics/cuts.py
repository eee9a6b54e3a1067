"""Metrics of the falls of the congestion window, from the traces of controllers."""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING

from shoal.errors import UsageError
from shoal.metrics.lookup import find_group, flows_of, mean
from shoal.metrics.registry import Recorded, declare
from shoal.units import Unit

if TYPE_CHECKING:
    import polars as pl

    from shoal.run_record import RunRecord


@declare("mean_cut", "Mean cut", Unit.FRACTION, needs=Recorded.CONTROLLER)
def mean_cut(result: RunRecord, group: str) -> float | None:
    """Mean relative size of the falls of cwnd of a group's first flow.

    A fall is a series of decreases without an increase between them.
    """
    falls = [1 - bottom / top for top, bottom in _falls(_windows(result, group))]
    return mean(falls) if falls else None


@declare("cuts_per_s", "Cuts", Unit.PER_SECOND, needs=Recorded.CONTROLLER)
def cuts_per_s(result: RunRecord, group: str) -> float:
    """Falls of cwnd per second of a group's first flow; see :func:`mean_cut`."""
    return len(_falls(_windows(result, group))) / (result.window[1] - result.window[0])


@declare("cuts_in_step", "Cuts in step", Unit.FRACTION, needs=Recorded.CONTROLLERS)
def cuts_in_step(result: RunRecord, within: float = 0.5) -> float | None:
    """Part of the falls of cwnd, of all flows, at which every other flow's cwnd falls, too.

    Two falls belong together if they begin ``within`` smoothed round trips of each other. Flows that know nothing of
    each other meet by chance in 2 ``within`` x (round trip) x (falls per second) of the cases, if that is below one.
    """
    import polars as pl

    flows = [flow for group in result.groups for flow in flows_of(result, group["name"])]
    if len(flows) < 2:
        raise UsageError("one flow alone cannot be in step", hint="`cuts_in_step` needs at least two flows")
    trace = _all_controllers(result).filter(pl.col("time_s").is_between(*result.window))
    begins = []
    for number in range(len(flows)):
        rows = trace.filter(pl.col("flow") == number)
        begins.append(_fall_begins(rows["time_s"].to_list(), rows["cwnd_packets"].to_list()))
    together = 0
    for number, flow in enumerate(flows):
        others = begins[:number] + begins[number + 1 :]
        reach_s = within * (flow["srtt_s"]["mean"] or 0.0)
        together += sum(all(_near(other, time_s, reach_s) for other in others) for time_s in begins[number])
    count = sum(len(falls) for falls in begins)
    return together / count if count else None


@declare("settling_s", "Time to settle", Unit.SECONDS, needs=Recorded.CONTROLLER)
def settling_s(result: RunRecord, group: str, within: float = 0.2) -> float | None:
    """Time from the end of slow start to the first window within a part of the mean, of a group's first flow."""
    import polars as pl

    usual = find_group(result, group)["flows"][0]["cwnd_packets"]["mean"]
    rows = _controller(result, group)
    after = rows.filter(pl.col("ssthresh_packets").is_not_null())
    if usual is None or not after.height:
        return None
    left_s = float(after["time_s"][0])
    near = after.filter((pl.col("cwnd_packets").cast(pl.Float64) - usual).abs() <= within * usual)
    return float(near["time_s"][0]) - left_s if near.height else None


def _controller(result: RunRecord, group: str) -> pl.DataFrame:
    """What is recorded of the controller of a group's first flow, which is traced before any other of the group."""
    import polars as pl

    number = 0
    for other in result.groups:
        if other["name"] == find_group(result, group)["name"]:
            break
        number += other["flow_count"]
    if number not in result.traced_flows:
        raise UsageError(
            f"this metric needs the trace of a controller of group `{group}`",
            hint=f"run with trace.controller_flows = {len(result.groups)}, one flow of each group, or more "
            f"(on the command line: --trace controllers={len(result.groups)})",
        )
    return result.table("controller").filter(pl.col("flow") == number)


def _all_controllers(result: RunRecord) -> pl.DataFrame:
    """The trace of every flow; what a flow without one does is not known."""
    count = sum(group["flow_count"] for group in result.groups)
    if result.scenario.resolved["trace"]["controller_flows"] < count or "controller" not in result.table_names:
        raise UsageError(
            "this metric needs the traces of all flows",
            hint=f"run with trace.controller_flows = {count} (on the command line: --trace controllers={count})",
        )
    return result.table("controller")


def _windows(result: RunRecord, group: str) -> list[int]:
    import polars as pl

    start_s, end_s = result.window
    return _controller(result, group).filter(pl.col("time_s").is_between(start_s, end_s))["cwnd_packets"].to_list()


def _falls(windows: list[int]) -> list[tuple[int, int]]:
    """Highest and lowest window of every fall that has ended."""
    return [(windows[begin], windows[end]) for begin, end in _fall_indices(windows)]


def _fall_begins(times_s: list[float], windows: list[int]) -> list[float]:
    """When each fall's first decrease was."""
    return [times_s[begin + 1] for begin, _ in _fall_indices(windows)]


def _fall_indices(windows: list[int]) -> list[tuple[int, int]]:
    """Where falls have their last window before the first decrease, and the last one before the next increase."""
    falls, begin = [], None
    for index, (before, after) in enumerate(itertools.pairwise(windows)):
        if after < before and begin is None:
            begin = index
        elif after > before and begin is not None:
            falls.append((begin, index))
            begin = None
    return falls


def _near(times_s: list[float], time_s: float, reach_s: float) -> bool:
    """Whether one of the ascending times is that close."""
    index = bisect.bisect_left(times_s, time_s - reach_s)
    return index < len(times_s) and times_s[index] <= time_s + reach_s
