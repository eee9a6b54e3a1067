"""What is compared: numbers of a run, the same on both planes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.compare.kinds import Family, kinds
from shoal.result import Result

_classes = {"ect": "ECT", "not_ect": "not ECT"}
_quantiles = {"mean": "mean", "p50": "P50", "p99": "P99"}
_parts = {"P5": 0.05, "P50": 0.5, "P95": 0.95}


@dataclass(frozen=True)
class Measure:
    """A number of a run.

    Attributes
    ----------
    name
        For machines, unit included: ``delay_ect_p99_s``.
    title
        For people.
    of
        The class or flow group that it is about, or ``link``.
    unit
        In which it is shown.
    factor
        From the stored number to the shown one.
    kind
        Key of :data:`shoal.compare.kinds.kinds`.
    get
        The number of a run; ``None`` where there is none.
    """

    name: str
    title: str
    of: str
    unit: str
    factor: float
    kind: str
    get: Callable[[Result], float | None]

    @property
    def family(self) -> Family:
        """What it moves with."""
        return kinds[self.kind].family


def measures(result: Result) -> Iterator[Measure]:
    """Everything that is compared in runs like this one, in the order of reports."""
    yield Measure("utilisation", "utilisation", "link", "%", 100, "utilisation", _at("bottlenecks", 0, "utilisation"))
    for pair in result.metrics["rate_ratio"]:
        ratio = _at("metrics", "rate_ratio", pair)
        yield Measure(f"rate_ratio_{pair}", f"rate ratio {pair}", "link", "", 1, "ratio", ratio)
    for key, word in _quantiles.items():
        get = _at("bottlenecks", 0, "queue_packets", key)
        kind = "queue" if key == "mean" else "queue-quantile"
        yield Measure(f"queue_{key}_packets", f"queue {word}", "link", "packets", 1, kind, get)
    present = [name for name in _classes if result.bottlenecks[0][name]["arrived"]]
    for name in present:
        yield from _of_class(name, _classes[name], is_alone=len(present) == 1)
    flows = result.scenario.resolved["flows"]
    for index, group in enumerate(result.groups):
        has_ecn = any(flow["ecn"] != "off" for flow in flows if flow["name"] == group["name"])
        yield from _of_group(index, group, has_ecn=has_ecn)


def _of_class(name: str, title: str, *, is_alone: bool) -> Iterator[Measure]:
    # The queue of the only class is that of the link.
    if not is_alone:
        queue = _at("bottlenecks", 0, "class_queue_packets", name, "mean")
        yield Measure(f"queue_{name}_mean_packets", "queue mean", title, "packets", 1, "queue", queue)
    for key, word in _quantiles.items():
        get = _at("bottlenecks", 0, "delay_s", name, key)
        kind = "delay" if key == "mean" else "delay-quantile"
        yield Measure(f"delay_{name}_{key}_s", f"queueing delay {word}", title, "ms", 1e3, kind, get)
    if name == "ect":
        yield Measure("marked", "marks", title, "packets", 1, "marks", _at("bottlenecks", 0, "marked"))
    yield Measure(f"dropped_{name}", "drops", title, "packets", 1, "drops", _at("bottlenecks", 0, name, "dropped"))


def _of_group(index: int, group: dict[str, Any], *, has_ecn: bool) -> Iterator[Measure]:
    name = group["name"]

    def measure(
        key: str, title: str, kind: str, get: Callable[[Result], float | None], unit: str = "", factor: float = 1.0
    ) -> Measure:
        return Measure(f"{key}_{name}", title, name, unit, factor, kind, get)

    rate = _at("groups", index, "wire_bps", "mean")
    yield measure("rate_bps", "rate of a flow", "rate", rate, "Mbit/s", 1e-6)
    yield measure("cwnd_mean_packets", "cwnd mean", "window", _mean_of_flows(index, "cwnd_packets"), "packets")
    for word, part in _parts.items():
        get = _quantile(name, "cwnd_packets", part)
        yield measure(f"cwnd_{word.lower()}_packets", f"cwnd {word}", "window-quantile", get, "packets")
    if group["flows"] and group["flows"][0]["alpha"]["mean"] is not None:
        yield measure("alpha_mean", "alpha mean", "alpha", _mean_of_flows(index, "alpha"))
        for word, part in _parts.items():
            yield measure(f"alpha_{word.lower()}", f"alpha {word}", "alpha", _quantile(name, "alpha", part))
    yield measure("srtt_mean_s", "smoothed RTT mean", "delay", _mean_of_flows(index, "srtt_s"), "ms", 1e3)
    yield measure("acks_per_packet", "ACKs per data packet", "acks", _at("groups", index, "acks_per_packet"))
    # Not `losses`: what the sender declared lost on the simulator, what the link dropped on Linux; drops and
    # retransmissions are the same on both. Nor reductions without ECN: Linux shows those only that outlast a sample.
    for key in ("retransmissions", "timeouts", *(("reductions",) if has_ecn else ())):
        yield measure(key, key, key, _at("groups", index, "totals", key))
    if group["fct_s"]["mean"] is not None:
        mean = _at("groups", index, "fct_s", "mean")
        yield measure("fct_mean_s", "completion time mean", "completion", mean, "ms", 1e3)
        for word, permille in _completion.items():
            get = _completion_quantile(index, permille)
            kind = "completion-tail" if permille > 900 else "completion"
            yield measure(f"fct_{word.lower()}_s", f"completion time {word}", kind, get, "ms", 1e3)


_completion = {"P50": 500, "P90": 900, "P99": 990}


def _completion_quantile(index: int, permille: int) -> Callable[[Result], float | None]:
    """Over the transfers of all flows of the group: the order statistic that results give, too, for other parts."""

    def get(result: Result) -> float | None:
        times = sorted(time for flow in result.groups[index]["flows"] for time in flow["fct_s"])
        return times[max(1, -(-len(times) * permille // 1000)) - 1] if times else None

    return get


def _at(*path: str | int) -> Callable[[Result], float | None]:
    def get(result: Result) -> float | None:
        found: Any = result.data
        for step in path:
            found = found[step]
        return None if found is None else float(found)

    return get


def _mean_of_flows(index: int, key: str) -> Callable[[Result], float | None]:
    def get(result: Result) -> float | None:
        values = [flow[key]["mean"] for flow in result.groups[index]["flows"]]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    return get


def _quantile(group: str, column: str, part: float) -> Callable[[Result], float | None]:
    """Over the rows of the time series in the measurement, all flows of the group together."""

    def get(result: Result) -> float | None:
        values = samples(result, group, column)
        found = values.quantile(part, "linear") if len(values) else None
        return None if found is None else float(found)

    return get


def samples(result: Result, group: str, column: str) -> pl.Series:
    """Values of a column of the time series in the measurement window."""
    rows = result.table("flows").filter((pl.col("group") == group) & (pl.col("time_s") > result.window[0]))
    return rows[column].drop_nulls().cast(pl.Float64)
