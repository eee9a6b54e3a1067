"""The metrics of one run: functions that papers, sweeps, conditions and the command line use in expressions.

Rates are in bit/s or Mbit/s, times in s or ms, as their names say.
"""

from __future__ import annotations

import ast
import bisect
import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from shoal import _native, analysis, expression, tabulate
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.result import Result
from shoal.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

_words = {"true": True, "false": False, "True": True, "False": False}

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Recorded(StrEnum):
    """What a metric reads beside the summary of a run, so that a run has to record it."""

    SERIES = "time series"
    DISTRIBUTIONS = "distributions"
    WINDOWS = "distributions of windows"
    CONTROLLER = "changes of the windows of a group's first flow"
    CONTROLLERS = "changes of the windows of all flows"
    FLOWS = "every flow of a group"


_recorded: dict[str, Recorded] = {}


def _needs(what: Recorded) -> Callable[[_Function], _Function]:
    """Declare what a metric needs recorded; :func:`recording` sees to it."""

    def declare(function: _Function) -> _Function:
        _recorded[function.__name__] = what
        return function

    return declare


def metric(result: Result, text: str, *, gaps: bool = False) -> float:
    """Evaluate an expression over the functions of this module; NaN if the run has no such number.

    Raises
    ------
    UndefinedError
        The run has the numbers, but the arithmetic on them has no value, and ``gaps`` (which gives NaN) is not set.
    UsageError
        It is no such expression.
    """
    own = {name: _bound(function, result) for name, function in functions.items()}
    value = expression.evaluate(text, _words, own, gaps=gaps)
    if not isinstance(value, int | float):
        raise UsageError(f"`{text}` is not a number", hint="`shoal list metrics` shows what can be measured")
    return float(value)


def check_metric(text: str) -> None:
    """Refuse an expression that no run has a value of, before anything runs; names of groups are not looked at.

    Raises
    ------
    UsageError
        It is not an expression, or calls a function that does not exist, or with arguments that it does not take.
    """
    # Whoever writes the expression does not give the result, the first argument.
    expression.check(text, _words, {name: partial(function, None) for name, function in functions.items()})


def default_metrics(scenario: Scenario) -> dict[str, str]:
    """Names and expressions that a sweep shows if nothing else is asked for: utilisation, queue, delay, shares.

    Parameters
    ----------
    scenario
        Whose groups and links the expressions name.
    """
    groups = [group["name"] for group in scenario.facts["groups"]]
    link = {
        "utilisation": "utilisation()",
        "queue_packets": "queue_packets()",
        "delay_mean_ms": "delay_ms()",
        "delay_p99_ms": "delay_ms('all', 'p99')",
    }
    shares = {f"share_{name}": f"share({json.dumps(name)})" for name in groups} if len(groups) > 1 else {}
    return {**(link if scenario.facts["bottlenecks"] else {}), **shares, "jain": "jain()"}


def recording(scenario: Scenario, texts: Iterable[str], *, lean: bool = False) -> dict[str, object]:
    """Keys of ``[trace]`` that let the runs of a scenario record what expressions need.

    Parameters
    ----------
    scenario
        What will run. What it records already is left as it is.
    texts
        Expressions over the functions of this module.
    lean
        Leave out the time series if no expression needs it.

    Raises
    ------
    UsageError
        An expression needs what only the scenario can say, such as the length of windows.
    """
    calls = [call for text in texts for call in _calls(text)]
    needed = {_recorded[name] for name, _ in calls if name in _recorded}
    trace = scenario.resolved["trace"]
    keys: dict[str, object] = {}
    if Recorded.SERIES in needed:
        if trace["series"] == "off":
            keys["trace.series"] = _usual_bin
    elif lean and trace["series"] != "off":
        keys["trace.series"] = "off"
    if Recorded.DISTRIBUTIONS in needed and not trace["distributions"]:
        keys["trace.distributions"] = True
    if Recorded.WINDOWS in needed and trace["windows"] == "off":
        name = next(name for name, _ in calls if _recorded.get(name) is Recorded.WINDOWS)
        raise UsageError(f"`{name}` needs the length of its windows", hint="add it, as in --set trace.windows='10 s'")
    groups = {group["name"]: group["flows"] for group in scenario.facts["groups"]}
    if Recorded.CONTROLLERS in needed and trace["controller_flows"] < sum(groups.values()):
        keys["trace.controller_flows"] = sum(groups.values())
    # So many traced flows are one of each group up to this one.
    ranks = {name: rank for rank, name in enumerate((name for name in groups if groups[name]), 1)}
    for name, arguments in calls:
        # A group that is computed or misspelt is reported when the metric is evaluated.
        group = next((argument for argument in arguments if argument in groups), None)
        if group is None:
            continue
        if _recorded.get(name) is Recorded.CONTROLLER:
            wanted = max(int(str(keys.get("trace.controller_flows", 0))), ranks.get(group, 0))
            if wanted > trace["controller_flows"]:
                keys["trace.controller_flows"] = wanted
        if _recorded.get(name) is Recorded.FLOWS and trace["flows"] != "all" and sum(groups.values()) > trace["flows"]:
            keys["trace.flows"] = "all"
    return keys


# Bin of the time series where a metric needs one and the scenario has switched it off: what fits the run.
_usual_bin = "auto"


def _calls(text: str) -> list[tuple[str, list[str]]]:
    """Functions that an expression calls, each with the texts among its arguments."""
    tree = ast.parse(text.strip(), mode="eval")
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                values = [*arguments, *(keyword.value for keyword in keywords)]
                constants = [value.value for value in values if isinstance(value, ast.Constant)]
                found.append((name, [constant for constant in constants if isinstance(constant, str)]))
    return found


def _bound(function: Callable[..., Any], result: Result) -> Callable[..., float]:
    def call(*arguments: Any, **keywords: Any) -> float:
        try:
            value = function(result, *arguments, **keywords)
        except IndexError:
            raise UsageError(
                f"there is no such monitored link: the run has {len(result.bottlenecks)}",
                hint="links are counted from 0; a link is monitored if its queue is not fifo, or with monitored = true",
            ) from None
        return math.nan if value is None else float(value)

    return call


def utilisation(result: Result, link: int = 0) -> float | None:
    """Fraction of the time the link transmitted."""
    return result.bottlenecks[link]["utilisation"]  # type: ignore[no-any-return]


def queue_packets(result: Result, link: int = 0) -> float | None:
    """Mean waiting packets."""
    return result.bottlenecks[link]["queue_packets"]["mean"]  # type: ignore[no-any-return]


def queue_sd_packets(result: Result, link: int = 0) -> float | None:
    """Standard deviation of the waiting packets over time."""
    return result.bottlenecks[link]["queue_packets"]["sd"]  # type: ignore[no-any-return]


def queue_empty(result: Result, link: int = 0) -> float | None:
    """Fraction of the time nothing waited."""
    return result.bottlenecks[link]["queue_empty"]  # type: ignore[no-any-return]


def queue_empty_sampled(result: Result, link: int = 0) -> float | None:
    """Fraction of the samples (``trace.sample``) at which nothing waited."""
    return result.bottlenecks[link]["queue_empty_sampled"]  # type: ignore[no-any-return]


def class_queue_packets(result: Result, which: str, quantile: str = "mean", link: int = 0) -> float | None:
    """Waiting packets of ``ect``, ``not_ect`` or ``all`` over time: ``mean``, ``sd``, ``p50``, ``p99``, ``max``, ..."""
    link_result = result.bottlenecks[link]
    queue = link_result["queue_packets"] if which == "all" else _key(link_result["class_queue_packets"], which)
    return _key(queue, quantile)  # type: ignore[no-any-return]


@_needs(Recorded.DISTRIBUTIONS)
def queue_between(result: Result, which: str, low: float, high: float, link: int = 0) -> float | None:
    """Part of the time in which from ``low`` to ``high`` packets of a class waited."""
    return analysis.backlog_between(result, which, low, high, link=link)


@_needs(Recorded.DISTRIBUTIONS)
def queue_peak(result: Result, which: str, width: int = 1, link: int = 0) -> float | None:
    """Largest share of ``width`` neighbouring queue lengths in the distribution over time."""
    _check_width(width)
    return analysis.backlog_pdf(result, which, width=width, link=link)["share"].max()  # type: ignore[return-value]


@_needs(Recorded.DISTRIBUTIONS)
def queue_mode(result: Result, which: str, link: int = 0) -> float | None:
    """The queue length in packets that is there most of the time; the shortest of several."""
    pdf = analysis.backlog_pdf(result, which, link=link)
    return pdf.sort("share", "low_packets", descending=[True, False])["low_packets"].first()  # type: ignore[return-value]


@_needs(Recorded.WINDOWS)
def window_peak(result: Result, which: str = "all", width: int = 1, link: int = 0) -> float | None:
    """Median over the windows of ``trace.windows`` of the :func:`queue_peak` of each."""
    _check_width(width)
    peaks = [
        analysis.backlog_pdf(result, which, width=width, link=link, start_s=start_s)["share"].max()
        for start_s in analysis.window_starts(result)
    ]
    return json.loads(_native.order_statistics(peaks))["p50"]  # type: ignore[arg-type,no-any-return]


@_needs(Recorded.SERIES)
def convergence_s(
    result: Result, group: str, within: float = 0.1, target_mbps: float | None = None, smooth_s: float = 1.0
) -> float | None:
    """Time from a group's start until the mean rate of its flows stays within a part of the target."""
    target_bps = None if target_mbps is None else target_mbps * 1e6
    return analysis.convergence_s(result, group, within=within, target_bps=target_bps, smooth_s=smooth_s)


@_needs(Recorded.SERIES)
def oscillation_ms(result: Result, link: int = 0, least: float = 0.2) -> float | None:
    """Period of the queue's dominant oscillation."""
    period_s = analysis.oscillation(result, link=link, least=least).period_s
    return None if period_s is None else period_s * 1e3


@_needs(Recorded.SERIES)
def oscillation_packets(result: Result, link: int = 0) -> float | None:
    """Amplitude of the queue: half of the distance between its 5 % and 95 % quantile."""
    return analysis.oscillation(result, link=link).amplitude


def queue_bdp(result: Result, in_service: bool = False, link: int = 0) -> float | None:
    """Mean waiting bytes over the bandwidth-delay product; ``in_service`` adds the packet in transmission."""
    waiting = tabulate.queue_bdp(result, link)
    if waiting is None or not in_service:
        return waiting
    fact = result.scenario.facts["bottlenecks"][link]
    # While the link transmits, one packet is in service; full packets, as ACKs take the other direction.
    return waiting + (result.bottlenecks[link]["utilisation"] or 0.0) * float(fact["mtu_bytes"]) / float(
        fact["bdp_bytes"]
    )


def delay_ms(result: Result, which: str = "all", quantile: str = "mean", link: int = 0) -> float | None:
    """Queueing delay of ``all``, ``ect`` or ``not_ect`` packets: ``mean``, ``p50``, ``p99``, ..."""
    value = _key(_key(result.bottlenecks[link]["delay_s"], which), quantile)
    return None if value is None else value * 1e3


def jain(result: Result) -> float | None:
    """Jain's index of the wire rates of all flows."""
    return result.metrics["jain"]  # type: ignore[no-any-return]


def rate_ratio(result: Result, first: str, second: str) -> float | None:
    """Mean wire rate of a flow of the first group over that of the second."""
    rates = [_group(result, name)["wire_bps"]["mean"] for name in (first, second)]
    if rates[0] is None or not rates[1]:
        return None
    return rates[0] / rates[1]  # type: ignore[no-any-return]


def share(result: Result, group: str) -> float | None:
    """Part of a group in all wire rates."""
    return result.summary[f"share_{_group(result, group)['name']}"]


def rate_mbps(result: Result, group: str) -> float | None:
    """Mean wire rate of a flow of a group, Mbit/s."""
    rate = _group(result, group)["wire_bps"]["mean"]
    return None if rate is None else rate / 1e6


def goodput_mbps(result: Result, group: str) -> float | None:
    """Mean goodput of a flow of a group, Mbit/s."""
    rate = _group(result, group)["goodput_bps"]["mean"]
    return None if rate is None else rate / 1e6


@_needs(Recorded.FLOWS)
def cwnd_packets(result: Result, group: str) -> float:
    """Time-averaged congestion window, mean over the flows of a group."""
    return _mean([flow["cwnd_packets"]["mean"] for flow in _flows(result, group)])


@_needs(Recorded.FLOWS)
def alpha(result: Result, group: str) -> float:
    """Time-averaged alpha, mean over the flows of a group."""
    return _mean([flow["alpha"]["mean"] for flow in _flows(result, group)])


def fct_ms(result: Result, group: str, quantile: str = "mean") -> float | None:
    """Completion time of the transfers of a group."""
    value = _key(_group(result, group)["fct_s"], quantile)
    return None if value is None else value * 1e3


def exchange_ms(result: Result, group: str, quantile: str = "mean") -> float | None:
    """From a request to the last byte of its response, over the flows of a group: ``mean``, ``p50``, ``p99``, ..."""
    return _wait_ms(result, group, "exchanges", quantile)


def round_ms(result: Result, group: str, quantile: str = "mean") -> float | None:
    """From the start of a round until its slowest flow has delivered; of groups with ``barrier``."""
    return _wait_ms(result, group, "rounds", quantile)


def frames_on_time(result: Result, group: str) -> float | None:
    """Part of a group's frames that arrived within their deadline."""
    return _frames(result, group)["on_time_fraction"]  # type: ignore[no-any-return]


def stalled_s(result: Result, group: str) -> float | None:
    """How long players that wait for late frames stood still, all flows of a group together."""
    return _frames(result, group)["stalled_s"]  # type: ignore[no-any-return]


@_needs(Recorded.FLOWS)
def srtt_ms(result: Result, group: str, quantile: str = "mean") -> float:
    """Smoothed round-trip time of the senders, mean over the flows of a group: ``mean``, ``min``, ``max``."""
    return _mean([_key(flow["srtt_s"], quantile) for flow in _flows(result, group)]) * 1e3


def marked(result: Result, which: str = "ect", link: int = 0) -> float | None:
    """Fraction of the packets of a class that were marked."""
    return _key(result.bottlenecks[link], which)["mark_fraction"]  # type: ignore[no-any-return]


def dropped(result: Result, which: str = "not_ect", link: int = 0) -> float | None:
    """Fraction of the packets of a class that were dropped."""
    return _key(result.bottlenecks[link], which)["drop_fraction"]  # type: ignore[no-any-return]


def acks_per_packet(result: Result, group: str) -> float | None:
    """ACKs without data that the receivers of a group sent for each data packet that arrived there."""
    # Results that were written by earlier versions have no such field.
    return _group(result, group).get("acks_per_packet")


def reductions_per_s(result: Result, group: str) -> float:
    """Window reductions of a flow of a group per second."""
    return count(result, group, "reductions") / (result.window[1] - result.window[0])


@_needs(Recorded.FLOWS)
def count(result: Result, group: str, what: str) -> float:
    """Mean over the flows of a group of a counter: ``losses``, ``timeouts``, ``marks_seen``, ``reductions``, ..."""
    summed = _group(result, group)
    if what in summed["totals"] and summed["flow_count"]:
        return float(summed["totals"][what] / summed["flow_count"])
    return _mean([_key(flow, what) for flow in _flows(result, group)])


@_needs(Recorded.CONTROLLER)
def mean_cut(result: Result, group: str) -> float | None:
    """Mean relative size of the falls of cwnd of a group's first flow.

    A fall is a series of decreases without an increase between them.
    """
    falls = [1 - bottom / top for top, bottom in _falls(_windows(result, group))]
    return _mean(falls) if falls else None


@_needs(Recorded.CONTROLLER)
def cuts_per_s(result: Result, group: str) -> float:
    """Falls of cwnd per second of a group's first flow; see :func:`mean_cut`."""
    return len(_falls(_windows(result, group))) / (result.window[1] - result.window[0])


@_needs(Recorded.CONTROLLERS)
def cuts_in_step(result: Result, within: float = 0.5) -> float | None:
    """Part of the falls of cwnd, of all flows, at which every other flow's cwnd falls, too.

    Two falls belong together if they begin ``within`` smoothed round trips of each other. Flows that know nothing of
    each other meet by chance in 2 ``within`` x (round trip) x (falls per second) of the cases, if that is below one.
    """
    import polars as pl

    flows = [flow for group in result.groups for flow in _flows(result, group["name"])]
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
    count = sum(len(own) for own in begins)
    return together / count if count else None


@_needs(Recorded.CONTROLLER)
def settling_s(result: Result, group: str, within: float = 0.2) -> float | None:
    """Time from the end of slow start to the first window within a part of the mean, of a group's first flow."""
    import polars as pl

    mean = _group(result, group)["flows"][0]["cwnd_packets"]["mean"]
    rows = _controller(result, group)
    after = rows.filter(pl.col("ssthresh_packets").is_not_null())
    if mean is None or not after.height:
        return None
    left_s = float(after["time_s"][0])
    near = after.filter((pl.col("cwnd_packets").cast(pl.Float64) - mean).abs() <= within * mean)
    return float(near["time_s"][0]) - left_s if near.height else None


def value(result: Result, path: str) -> float | None:
    """Any number of the result object, e.g. ``value('bottlenecks.0.queue_packets.p95')``."""
    found: Any = result.data
    for step in path.split("."):
        if isinstance(found, list):
            if not step.isdecimal() or int(step) >= len(found):
                raise UsageError(f"`{path}`: there is no entry `{step}`", hint=f"entries are 0 to {len(found) - 1}")
            found = found[int(step)]
        elif isinstance(found, dict):
            found = _key(found, step)
        else:
            raise UsageError(f"`{path}`: `{step}` is looked for in a number", hint="leave it out")
    if found is not None and not isinstance(found, int | float):
        what = "keys: " + ", ".join(found) if isinstance(found, dict) else f"it is {_kind(found)}"
        raise UsageError(f"`{path}` is not a number of the result", hint=what)
    return found


def _kind(value: object) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) else "a text"


functions: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(utilisation, queue_packets, queue_sd_packets, queue_empty, queue_bdp, delay_ms, jain, rate_ratio, share),
        *(rate_mbps, goodput_mbps, cwnd_packets, alpha, fct_ms, srtt_ms, marked, dropped, reductions_per_s, count),
        *(acks_per_packet, mean_cut, cuts_per_s, cuts_in_step, settling_s, value),
        *(queue_empty_sampled, class_queue_packets, queue_between, queue_peak, queue_mode, window_peak),
        *(convergence_s, oscillation_ms, oscillation_packets),
        *(exchange_ms, round_ms, frames_on_time, stalled_s),
    )
}


def _group(result: Result, name: str) -> dict[str, Any]:
    for group in result.groups:
        if group["name"] == name:
            return group
    raise UsageError(f"there is no flow group `{name}`", hint=nearest(name, [group["name"] for group in result.groups]))


def _flows(result: Result, name: str) -> list[dict[str, Any]]:
    """All flows of a group; a mean over the first ones only would not be one over the group."""
    group = _group(result, name)
    if group["flows_omitted"]:
        raise UsageError(
            f"the result lists only {len(group['flows'])} of the {group['flow_count']} flows of `{name}`",
            hint='run with trace.flows = "all" (on the command line: --set trace.flows=all)',
        )
    return list(group["flows"])


def _check_width(width: object) -> None:
    if not isinstance(width, int) or width < 1:
        raise UsageError(f"{width} packets are no width of a bin", hint="write a whole number from 1 on")


def _wait_ms(result: Result, group: str, what: str, quantile: str) -> float | None:
    waits = _group(result, group).get(what)
    if waits is None:
        hint = "write app = { request = ... }" if what == "exchanges" else "write barrier = true in app"
        raise UsageError(f"group `{group}` has no {what}", hint=hint)
    value = _key(waits["time_s"], quantile)
    return None if value is None else value * 1e3


def _frames(result: Result, group: str) -> dict[str, Any]:
    frames = _group(result, group).get("frames")
    if frames is None:
        raise UsageError(f"group `{group}` writes no frames", hint="write app = { frame = ... }")
    return dict(frames)


def _key(table: dict[str, Any], key: str) -> Any:
    if key not in table:
        raise UsageError(f"there is no `{key}` in the result", hint=nearest(key, list(table)))
    return table[key]


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else math.nan


def _controller(result: Result, group: str) -> pl.DataFrame:
    """What is recorded of the controller of a group's first flow, which is traced before any other of the group."""
    import polars as pl

    number = 0
    for other in result.groups:
        if other["name"] == _group(result, group)["name"]:
            break
        number += other["flow_count"]
    if number not in result.traced_flows:
        raise UsageError(
            f"this metric needs the trace of a controller of group `{group}`",
            hint=f"run with trace.controller_flows = {len(result.groups)}, one flow of each group, or more "
            f"(on the command line: --trace controllers={len(result.groups)})",
        )
    return result.table("controller").filter(pl.col("flow") == number)


def _all_controllers(result: Result) -> pl.DataFrame:
    """The trace of every flow; what a flow without one does is not known."""
    count = sum(group["flow_count"] for group in result.groups)
    if result.scenario.resolved["trace"]["controller_flows"] < count or "controller" not in result.table_names:
        raise UsageError(
            "this metric needs the traces of all flows",
            hint=f"run with trace.controller_flows = {count} (on the command line: --trace controllers={count})",
        )
    return result.table("controller")


def _windows(result: Result, group: str) -> list[int]:
    import polars as pl

    start_s, end_s = result.window
    return _controller(result, group).filter(pl.col("time_s").is_between(start_s, end_s))["cwnd_packets"].to_list()


def _falls(windows: list[int]) -> list[tuple[int, int]]:
    """Highest and lowest window of every fall that has ended."""
    return [(windows[begin], windows[end]) for begin, end in _fall_places(windows)]


def _fall_begins(times_s: list[float], windows: list[int]) -> list[float]:
    """When each fall's first decrease was."""
    return [times_s[begin + 1] for begin, _ in _fall_places(windows)]


def _fall_places(windows: list[int]) -> list[tuple[int, int]]:
    """Where falls have their last window before the first decrease, and the last one before the next increase."""
    places, begin = [], None
    for place, (before, after) in enumerate(itertools.pairwise(windows)):
        if after < before and begin is None:
            begin = place
        elif after > before and begin is not None:
            places.append((begin, place))
            begin = None
    return places


def _near(times_s: list[float], time_s: float, reach_s: float) -> bool:
    """Whether one of the ascending times is that close."""
    place = bisect.bisect_left(times_s, time_s - reach_s)
    return place < len(times_s) and times_s[place] <= time_s + reach_s
