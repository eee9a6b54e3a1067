"""What is compared: numbers of a run, the same on both planes; most are metrics, with their titles and units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from shoal.compare.kinds import Family, kinds
from shoal.contract import GroupResult
from shoal.metrics import Of, Unit, classes, metrics, statistics
from shoal.results import Result
from shoal.tabulate import present_classes

_parts = {"P5": 0.05, "P50": 0.5, "P95": 0.95}
Get = Callable[[Result], float | None]


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
    get: Get

    @property
    def family(self) -> Family:
        """What it moves with."""
        return kinds[self.kind].family


# How fractions and counts are shown; other units are those of the metrics.
_shown = {Unit.FRACTION: ("%", 100.0), Unit.COUNT: ("packets", 1.0), Unit.RATIO: ("", 1.0)}


def _measure(
    name: str, metric: str, kind: str, *arguments: object, of: str = "link", word: str = "", title: str = ""
) -> Measure:
    """A metric with its arguments; ``word`` says which of its statistics it is, ``title`` stands for its own."""
    declared = metrics[metric]
    title = title or (
        declared.title if declared.title[1:2].isupper() else declared.title[:1].lower() + declared.title[1:]
    )
    unit, factor = _shown.get(declared.unit, (declared.unit.title, declared.unit.of(1.0)))

    def get(result: Result) -> float | None:
        value = declared.formula(result, *arguments)
        return None if value is None or math.isnan(value) else float(value)

    return Measure(name, f"{title} {word}".strip(), of, unit, factor, kind, get)


def measures(result: Result) -> Iterator[Measure]:
    """Everything that is compared in runs like this one, in the order of reports."""
    names = [group["name"] for group in result.groups]
    pairs = sorted(combinations(names, 2), key="/".join)
    for name, kind in _compared(Of.LINK):
        yield _measure(name, name, kind)
    for first, second in pairs:
        for name, kind in _compared(Of.PAIR):
            pair = f"{first}/{second}"
            yield _measure(f"{name}_{pair}", name, kind, first, second, word=pair)
    for part in ("p50", "p99"):
        word = statistics[part]
        yield _measure(f"queue_{part}_packets", "class_queue_packets", "queue-quantile", "all", part, word=word)
    present = present_classes([result])[1:]
    for which in present:
        yield from _of_class(which, classes[which], is_alone=len(present) == 1)
    flows = result.scenario.resolved["flows"]
    for index, group in enumerate(result.groups):
        announces = any(_announces_reductions(flow) for flow in flows if flow["name"] == group["name"])
        yield from _of_group(index, group, announces_reductions=announces)


def _announces_reductions(flow: Mapping[str, Any]) -> bool:
    """Whether a sender says on the line that it has reduced its window: by CWR, which accurate ECN does not have."""
    # Prague asks for accurate feedback by itself.
    by_itself = "accurate" if flow["cc"].startswith("prague-") else None
    feedback = (flow.get("receiver") or {}).get("feedback", by_itself)
    return flow["ecn"] != "off" and feedback != "accurate"


def _compared(of: Of) -> list[tuple[str, str]]:
    """Metrics that say of themselves that they are compared, with their kinds."""
    return [(metric.name, metric.compared) for metric in metrics.values() if metric.compared and metric.of is of]


def _of_class(which: str, of: str, *, is_alone: bool) -> Iterator[Measure]:
    # The queue of the only class is that of the link.
    if not is_alone:
        name = f"queue_{which}_packets"
        yield _measure(name, "class_queue_packets", "queue", which, of=of, word="mean")
    for key, word in statistics.items():
        kind = "delay" if key == "mean" else "delay-quantile"
        yield _measure(f"delay_{which}_{key}_s", "delay_ms", kind, which, key, of=of, word=word)
    if which == "ect":
        yield _measure("marked", "marks", "marks", of=of)
    yield _measure(f"dropped_{which}", "drops", "drops", which, of=of)


def _of_group(index: int, group: GroupResult, *, announces_reductions: bool) -> Iterator[Measure]:
    of = group["name"]
    for name, kind in _compared(Of.GROUP):
        yield _measure(f"{metrics[name].formula.__name__}_{of}", name, kind, of, of=of)

    def measure(key: str, title: str, kind: str, get: Get, unit: str = "", factor: float = 1.0) -> Measure:
        return Measure(f"{key}_{of}", title, of, unit, factor, kind, get)

    # Means over the flows that have such a number: one that is starved may not.
    yield _measure(f"cwnd_mean_packets_{of}", "cwnd_packets", "window", of, False, of=of, title="cwnd", word="mean")
    for word, part in _parts.items():
        get = _quantile(of, "cwnd_packets", part)
        yield measure(f"cwnd_{word.lower()}_packets", f"cwnd {word}", "window-quantile", get, "packets")
    if group["flows"] and group["flows"][0]["alpha"]["mean"] is not None:
        yield _measure(f"alpha_mean_{of}", "alpha", "alpha", of, False, of=of, word="mean")
        for word, part in _parts.items():
            yield measure(f"alpha_{word.lower()}", f"alpha {word}", "alpha", _quantile(of, "alpha", part))
    yield _measure(f"srtt_mean_s_{of}", "srtt_ms", "delay", of, "mean", False, of=of, word="mean")
    # Not `losses`: what the sender declared lost on the simulator, what the link dropped on Linux; drops and
    # retransmissions are the same on both. Nor reductions that nobody announces: Linux shows those only that outlast a
    # sample.
    for key in ("retransmissions", "timeouts", *(("reductions",) if announces_reductions else ())):
        yield _measure(f"{key}_{of}", "value", key, f"groups.{index}.totals.{key}", of=of, title=key)
    if group["fct_s"]["mean"] is not None:
        yield _measure(f"fct_mean_s_{of}", "fct_ms", "completion", of, of=of, word="mean")
        for word, permille in _completion.items():
            get = _completion_quantile(index, permille)
            kind = "completion-tail" if permille > 900 else "completion"
            yield measure(f"fct_{word.lower()}_s", f"completion time {word}", kind, get, "ms", 1e3)


_completion = {"P50": 500, "P90": 900, "P99": 990}


def _completion_quantile(index: int, permille: int) -> Get:
    """Over the transfers of all flows of the group: the order statistic that results give, too, for other parts."""

    def get(result: Result) -> float | None:
        times = sorted(time for flow in result.groups[index]["flows"] for time in flow["fct_s"])
        return times[max(1, -(-len(times) * permille // 1000)) - 1] if times else None

    return get


def _quantile(group: str, column: str, part: float) -> Get:
    """Over the rows of the time series in the measurement, all flows of the group together."""

    def get(result: Result) -> float | None:
        values = samples(result, group, column)
        value = values.quantile(part, "linear") if len(values) else None
        return None if value is None else float(value)

    return get


def samples(result: Result, group: str, column: str) -> pl.Series:
    """Values of a column of the time series in the measurement window."""
    rows = result.table("flows").filter((pl.col("group") == group) & (pl.col("time_s") > result.window[0]))
    return rows[column].drop_nulls().cast(pl.Float64)
