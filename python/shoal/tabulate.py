"""The tables that the command line and the report show: words only, so that both show the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.result import Result
from shoal.stats import Estimate, estimate

Runs = Sequence[Result]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column heads, and rows; all but the first ``words`` columns are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    words: int = 1


def group_table(runs: Runs) -> Table:
    """Who gets what: one row a flow group; means over seeds with their 95 % confidence intervals."""
    table = Table(
        "Flow groups",
        ("Group", "Controller", "Flows", "Share", "Rate/flow", "Goodput/flow", "Marks", "Losses", "Retrans.", "Timeouts"),
        words=2,
    )
    for index, group in enumerate(runs[0].groups):
        name = group["name"]

        def of(get: Callable[[dict[str, Any]], float | None], index: int = index) -> Estimate | None:
            return over(runs, lambda result: get(result.groups[index]))

        def count(what: str, of: Callable[..., Estimate | None] = of) -> str:
            return number(of(lambda group: sum(flow[what] for flow in group["flows"])), digits=0)

        table.rows.append(
            (
                name,
                group["cc"],
                str(len(group["flows"])),
                percent(over(runs, lambda result, name=name: result.summary[f"share_{name}"])),
                rate(of(lambda group: group["wire_bps"]["mean"])),
                rate(of(lambda group: group["goodput_bps"]["mean"])),
                count("marks_seen"),
                count("losses"),
                count("retransmissions"),
                count("timeouts"),
            )
        )
    return table


_classes = {"ect": "ECT", "not_ect": "not ECT", "all": "all"}


def queue_table(runs: Runs, index: int = 0) -> Table:
    """What a monitored link did to the packets of each class."""
    first = runs[0].bottlenecks[index]
    table = Table(
        f"Queue at {first['name']}",
        ("Class", "Arrived", "Marked", "Dropped", "Delay mean", "P50", "P99", "P99.9"),
    )
    for key, label in _classes.items():
        if key != "all" and not any(result.bottlenecks[index][key]["arrived"] for result in runs):
            continue

        def of(get: Callable[[dict[str, Any]], float | None]) -> Estimate | None:
            return over(runs, lambda result: get(result.bottlenecks[index]))

        def fraction(what: str, key: str = key, of: Callable[..., Estimate | None] = of) -> Estimate | None:
            def part(link: dict[str, Any]) -> float | None:
                counts = link if key == "all" else link[key]
                return counts[what] / counts["arrived"] if counts["arrived"] else None

            return of(part)

        def delay(quantile: str, key: str = key, of: Callable[..., Estimate | None] = of) -> str:
            return milliseconds(of(lambda link: link["delay_s"][key][quantile]))

        table.rows.append(
            (
                label,
                number(of(lambda link, key=key: (link if key == "all" else link[key])["arrived"]), digits=0),
                percent(fraction("marked")),
                percent(fraction("dropped")),
                *(delay(quantile) for quantile in ("mean", "p50", "p99", "p999")),
            )
        )
    return table


def totals(runs: Runs) -> list[tuple[str, str]]:
    """Numbers of the whole run: utilisation, queue, fairness."""
    rows = []
    for index, link in enumerate(runs[0].bottlenecks):
        name = f" of {link['name']}" if len(runs[0].bottlenecks) > 1 else ""
        rows.append((f"Utilisation{name}", percent(over(runs, lambda r, i=index: r.bottlenecks[i]["utilisation"]))))
        queue = number(over(runs, lambda r, i=index: r.bottlenecks[i]["queue_packets"]["mean"]))
        bdp = over(runs, lambda r, i=index: queue_bdp(r, i))
        rows.append((f"Mean queue{name}", f"{queue} packets" + (f" = {number(bdp, digits=3)} BDP" if bdp else "")))
    rows.append(("Jain's index", number(over(runs, lambda r: r.metrics["jain"]), digits=4)))
    rows.extend(
        (f"Rate ratio {pair}", number(over(runs, lambda r, pair=pair: r.metrics["rate_ratio"][pair]), digits=3))
        for pair in list(runs[0].metrics["rate_ratio"])[:6]
    )
    return rows


def comparison_table(labelled: Sequence[tuple[str, Runs]]) -> Table:
    """Several runs side by side: one column each."""
    columns: list[list[tuple[str, str]]] = []
    for _, runs in labelled:
        cells = []
        for index, group in enumerate(runs[0].groups):
            name = group["name"]
            cells.append((f"{name}: share", percent(over(runs, lambda r, name=name: r.summary[f"share_{name}"]))))
            cells.append((f"{name}: rate/flow", rate(over(runs, lambda r, i=index: r.groups[i]["wire_bps"]["mean"]))))
        cells += totals(runs)
        for key, label in list(_classes.items())[:2]:
            if any(result.bottlenecks and result.bottlenecks[0][key]["arrived"] for result in runs):
                for quantile, word in (("mean", "mean"), ("p50", "P50"), ("p99", "P99")):
                    value = over(runs, lambda r, k=key, q=quantile: r.bottlenecks[0]["delay_s"][k][q])
                    cells.append((f"Queueing delay {label} {word}", milliseconds(value)))
        for what in ("marked", "dropped"):
            value = over(runs, lambda r, what=what: r.bottlenecks[0][what] / max(r.bottlenecks[0]["arrived"], 1))
            cells.append((f"Packets {what}", percent(value)))
        columns.append(cells)
    heads = list(dict.fromkeys(head for cells in columns for head, _ in cells))
    rows = [(head, *(dict(cells).get(head, "") for cells in columns)) for head in heads]
    return Table("Comparison", ("", *(label for label, _ in labelled)), rows)


def queue_bdp(result: Result, index: int = 0) -> float | None:
    """Mean waiting bytes over the bandwidth-delay product."""
    bdp = result.scenario.facts["bottlenecks"][index]["bdp_bytes"]
    mean = result.bottlenecks[index]["queue_bytes"]["mean"]
    return mean / bdp if bdp and mean is not None else None


def over(runs: Runs, get: Callable[[Result], float | None]) -> Estimate | None:
    """Mean over the seeds; ``None`` if one of them has no such number."""
    values = [get(result) for result in runs]
    known = [value for value in values if value is not None]
    return estimate(known) if known and len(known) == len(values) else None


def number(value: Estimate | None, *, digits: int = 2) -> str:
    """A number with its confidence interval."""
    if value is None:
        return "-"
    text = f"{value.mean:,.{digits}f}"
    return text if value.half_width is None else f"{text} ± {value.half_width:,.{digits}f}"


def scaled(value: Estimate | None, factor: float, unit: str, *, digits: int = 2) -> str:
    """A number in another unit."""
    if value is None:
        return "-"
    width = None if value.half_width is None else value.half_width * factor
    return f"{number(Estimate(value.mean * factor, width, value.n), digits=digits)} {unit}"


def percent(value: Estimate | None) -> str:
    """A fraction."""
    return scaled(value, 100, "%", digits=2)


def milliseconds(value: Estimate | None) -> str:
    """A time, in the unit that keeps it readable."""
    if value is not None and 0 < value.mean < 1e-3:
        return scaled(value, 1e6, "µs", digits=1)
    return scaled(value, 1e3, "ms", digits=2)


def rate(value: Estimate | None) -> str:
    """A rate, in the unit that keeps it readable."""
    if value is not None and value.mean >= 1e9:
        return scaled(value, 1e-9, "Gbit/s", digits=3)
    if value is not None and 0 < value.mean < 1e5:
        return scaled(value, 1e-3, "kbit/s", digits=1)
    return scaled(value, 1e-6, "Mbit/s", digits=2)
