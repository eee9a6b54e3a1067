"""What is compared: numbers of a run, the same on both planes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

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
    get
        The number of a run; ``None`` where there is none.
    """

    name: str
    title: str
    of: str
    unit: str
    factor: float
    get: Callable[[Result], float | None]


def measures(result: Result) -> Iterator[Measure]:
    """Everything that is compared in runs like this one, in the order of reports."""
    yield Measure("utilisation", "utilisation", "link", "%", 100, _at("bottlenecks", 0, "utilisation"))
    for pair in result.metrics["rate_ratio"]:
        yield Measure(f"rate_ratio_{pair}", f"rate ratio {pair}", "link", "", 1, _at("metrics", "rate_ratio", pair))
    for key, word in _quantiles.items():
        get = _at("bottlenecks", 0, "queue_packets", key)
        yield Measure(f"queue_{key}_packets", f"queue {word}", "link", "packets", 1, get)
    for name, title in _classes.items():
        if result.bottlenecks[0][name]["arrived"]:
            yield from _of_class(name, title)
    for index, group in enumerate(result.groups):
        yield from _of_group(index, group)


def _of_class(name: str, title: str) -> Iterator[Measure]:
    queue = _at("bottlenecks", 0, "class_queue_packets", name, "mean")
    yield Measure(f"queue_{name}_mean_packets", "queue mean", title, "packets", 1, queue)
    for key, word in _quantiles.items():
        get = _at("bottlenecks", 0, "delay_s", name, key)
        yield Measure(f"delay_{name}_{key}_s", f"queueing delay {word}", title, "ms", 1e3, get)
    if name == "ect":
        yield Measure("marked", "marks", title, "packets", 1, _at("bottlenecks", 0, "marked"))
    yield Measure(f"dropped_{name}", "drops", title, "packets", 1, _at("bottlenecks", 0, name, "dropped"))


def _of_group(index: int, group: dict[str, Any]) -> Iterator[Measure]:
    name = group["name"]

    def measure(key: str, title: str, unit: str, factor: float, get: Callable[[Result], float | None]) -> Measure:
        return Measure(f"{key}_{name}", title, name, unit, factor, get)

    yield measure("rate_bps", "rate of a flow", "Mbit/s", 1e-6, _at("groups", index, "wire_bps", "mean"))
    yield measure("cwnd_mean_packets", "cwnd mean", "packets", 1, _mean_of_flows(index, "cwnd_packets"))
    for word, part in _parts.items():
        yield measure(
            f"cwnd_{word.lower()}_packets", f"cwnd {word}", "packets", 1, _quantile(name, "cwnd_packets", part)
        )
    if group["flows"] and group["flows"][0]["alpha"]["mean"] is not None:
        yield measure("alpha_mean", "alpha mean", "", 1, _mean_of_flows(index, "alpha"))
        for word, part in _parts.items():
            yield measure(f"alpha_{word.lower()}", f"alpha {word}", "", 1, _quantile(name, "alpha", part))
    yield measure("srtt_mean_s", "smoothed RTT mean", "ms", 1e3, _mean_of_flows(index, "srtt_s"))
    for key, title in (
        ("losses", "losses"),
        ("retransmissions", "retransmissions"),
        ("timeouts", "timeouts"),
        ("reductions", "reductions"),
    ):
        yield measure(key, title, "", 1, _at("groups", index, "totals", key))
    if group["fct_s"]["mean"] is not None:
        yield measure("fct_mean_s", "completion time mean", "ms", 1e3, _at("groups", index, "fct_s", "mean"))
        yield measure("fct_p99_s", "completion time P99", "ms", 1e3, _at("groups", index, "fct_s", "p99"))


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
