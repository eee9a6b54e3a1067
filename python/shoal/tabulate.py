"""The tables that the command line and the report show: words only, so that both show the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.result import Result
from shoal.stats import Estimate, estimate

Runs = Sequence[Result]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column heads, and rows; all but the first ``words`` columns are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    words: int = 1


def group_table(runs: Runs) -> Table:
    """Who gets what: one row a flow group; means over seeds with their 95 % confidence intervals."""
    columns = (
        "Group",
        "Controller",
        "Flows",
        "Share",
        "Rate/flow",
        "Goodput",
        "Marks",
        "Losses",
        "Retrans.",
        "Timeouts",
    )
    transfers = any(group["fct_s"]["mean"] is not None for run in runs for group in run.groups)
    rows = [_group_row(runs, index, transfers=transfers) for index in range(len(runs[0].groups))]
    return Table("Flow groups", (*columns, "FCT mean", "FCT P99") if transfers else columns, rows, words=2)


def _group_row(runs: Runs, index: int, *, transfers: bool) -> tuple[str, ...]:
    group = runs[0].groups[index]

    def count(what: str) -> str:
        return number(over(runs, lambda run: float(run.groups[index]["totals"][what])), digits=0)

    return (
        group["name"],
        group["cc"],
        str(group["flow_count"]),
        percent(_share(runs, group["name"])),
        rate(at(runs, "groups", index, "wire_bps", "mean")),
        rate(at(runs, "groups", index, "goodput_bps", "mean")),
        *(count(what) for what in ("marks_seen", "losses", "retransmissions", "timeouts")),
        *(milliseconds(at(runs, "groups", index, "fct_s", part)) for part in (("mean", "p99") if transfers else ())),
    )


def kernel_table(rules: Sequence[tuple[str, str]]) -> Table:
    """What each part of a scenario is on the real kernel."""
    return Table("What the scenario is on Linux", ("Scenario", "Kernel"), rules, words=2)


def wait_tables(runs: Runs) -> list[Table]:
    """What applications waited for, if they do: exchanges, rounds with a barrier, frames."""
    tables = []
    rows = [row for index in range(len(runs[0].groups)) for row in _wait_rows(runs, index)]
    if rows:
        columns = ("Group", "Waited for", "Count", "Unfinished", "Mean", "P50", "P95", "P99", "Max")
        tables.append(Table("Exchanges and rounds", columns, rows, words=2))
    frames = [_frame_row(runs, index) for index, group in enumerate(runs[0].groups) if group.get("frames")]
    if frames:
        heads = (
            "Group",
            "Due",
            "On time",
            "Late",
            "Missing",
            "Delay P50",
            "Delay P99",
            "Late by P50",
            "Stalls",
            "Stalled",
        )
        tables.append(Table("Frames", heads, frames))
    return tables


_waits = {"exchanges": "response", "rounds": "slowest flow of a round"}


def _wait_rows(runs: Runs, index: int) -> list[tuple[str, ...]]:
    group = runs[0].groups[index]
    return [
        (
            group["name"],
            word,
            *(number(at(runs, "groups", index, key, part), digits=0) for part in ("count", "unfinished")),
            *(
                milliseconds(at(runs, "groups", index, key, "time_s", quantile))
                for quantile in ("mean", "p50", "p95", "p99", "max")
            ),
        )
        for key, word in _waits.items()
        if group.get(key)
    ]


def _frame_row(runs: Runs, index: int) -> tuple[str, ...]:
    def of(*path: str) -> Estimate | None:
        return at(runs, "groups", index, "frames", *path)

    return (
        runs[0].groups[index]["name"],
        number(of("due"), digits=0),
        percent(of("on_time_fraction")),
        *(number(of(part), digits=0) for part in ("late", "missing")),
        *(milliseconds(of("delay_s", quantile)) for quantile in ("p50", "p99")),
        milliseconds(of("lateness_s", "p50")),
        number(of("stalls"), digits=0),
        milliseconds(of("stalled_s")),
    )


_classes = {"ect": "ECT", "not_ect": "not ECT", "all": "all"}


def queue_table(runs: Runs, index: int = 0) -> Table:
    """What a monitored link did to the packets of each class."""
    name = runs[0].bottlenecks[index]["name"]
    columns = ("Class", "Arrived", "Marked", "Dropped", "Delay mean", "P50", "P99", "P99.9")
    rows = [_queue_row(runs, index, key) for key in _classes if key == "all" or _has_class(runs, index, key)]
    return Table(f"Queue at {name}", columns, rows)


def _queue_row(runs: Runs, index: int, key: str) -> tuple[str, ...]:
    def delay(quantile: str) -> str:
        return milliseconds(at(runs, "bottlenecks", index, "delay_s", key, quantile))

    return (
        _classes[key],
        number(over(runs, lambda run: _class(run, index, key)["arrived"]), digits=0),
        percent(_fraction(runs, index, key, "marked")),
        percent(_fraction(runs, index, key, "dropped")),
        *(delay(quantile) for quantile in ("mean", "p50", "p99", "p999")),
    )


def _class(run: Result, index: int, key: str) -> dict[str, Any]:
    link = run.bottlenecks[index]
    return dict(link if key == "all" else link[key])


def _has_class(runs: Runs, index: int, key: str) -> bool:
    return any(_class(run, index, key)["arrived"] for run in runs)


def _fraction(runs: Runs, index: int, key: str, what: str) -> Estimate | None:
    def part(run: Result) -> float | None:
        counts = _class(run, index, key)
        return counts[what] / counts["arrived"] if counts["arrived"] else None

    return over(runs, part)


def _share(runs: Runs, group: str) -> Estimate | None:
    return over(runs, lambda run: run.summary[f"share_{group}"])


def totals(runs: Runs) -> list[tuple[str, str]]:
    """Numbers of the whole run: utilisation, queue, fairness."""
    rows = [row for index in range(len(runs[0].bottlenecks)) for row in _link_totals(runs, index)]
    rows.append(("Jain's index", number(at(runs, "metrics", "jain"), digits=4)))
    pairs = list(runs[0].metrics["rate_ratio"])[:_pairs_shown]
    rows += [(f"Rate ratio {pair}", number(at(runs, "metrics", "rate_ratio", pair), digits=3)) for pair in pairs]
    return rows


# Ratios between all pairs of many groups would fill the page.
_pairs_shown = 6


def _link_totals(runs: Runs, index: int) -> list[tuple[str, str]]:
    links = runs[0].bottlenecks
    name = f" of {links[index]['name']}" if len(links) > 1 else ""
    bdp = over(runs, lambda run: queue_bdp(run, index))
    rows = [
        (f"Utilisation{name}", percent(at(runs, "bottlenecks", index, "utilisation"))),
        (f"Mean queue{name}", f"{number(at(runs, 'bottlenecks', index, 'queue_packets', 'mean'))} packets"),
    ]
    return [*rows, (f"Mean queue{name} in BDP", number(bdp, digits=3))] if bdp is not None else rows


def comparison_table(labelled: Sequence[tuple[str, Runs]]) -> Table:
    """Several runs side by side: one column each."""
    columns = [dict(_comparison_column(runs)) for _, runs in labelled]
    heads = list(dict.fromkeys(head for cells in columns for head in cells))
    rows = [(head, *(cells.get(head, "") for cells in columns)) for head in heads]
    return Table("Comparison", ("", *(label for label, _ in labelled)), rows)


def _comparison_column(runs: Runs) -> list[tuple[str, str]]:
    cells = []
    for index, group in enumerate(runs[0].groups):
        cells.append((f"{group['name']}: share", percent(_share(runs, group["name"]))))
        cells.append((f"{group['name']}: rate/flow", rate(at(runs, "groups", index, "wire_bps", "mean"))))
        for key, word in (("exchanges", "response"), ("rounds", "round")):
            if group.get(key):
                value = at(runs, "groups", index, key, "time_s", "p99")
                cells.append((f"{group['name']}: {word} P99", milliseconds(value)))
        if group.get("frames"):
            value = at(runs, "groups", index, "frames", "on_time_fraction")
            cells.append((f"{group['name']}: frames on time", percent(value)))
    cells += totals(runs)
    if not runs[0].bottlenecks:
        return cells
    for key in ("ect", "not_ect"):
        if _has_class(runs, 0, key):
            for quantile, word in (("mean", "mean"), ("p50", "P50"), ("p99", "P99")):
                value = at(runs, "bottlenecks", 0, "delay_s", key, quantile)
                cells.append((f"Queueing delay {_classes[key]} {word}", milliseconds(value)))
    cells += [(f"Packets {what}", percent(_fraction(runs, 0, "all", what))) for what in ("marked", "dropped")]
    return cells


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


def at(runs: Runs, *path: str | int) -> Estimate | None:
    """Mean over the seeds of the number at a place of the result object."""

    def get(run: Result) -> float | None:
        found: Any = run.data
        for step in path:
            found = found[step]
        return None if found is None else float(found)

    return over(runs, get)


def number(value: Estimate | None, *, digits: int = 2) -> str:
    """A number with its confidence interval."""
    if value is None:
        return "-"
    text = f"{value.mean:,.{digits}f}"
    # Equal values need no interval: nothing in the run was random.
    return f"{text} ± {value.half_width:,.{digits}f}" if value.half_width else text


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


def quantity(name: str, value: Estimate | None) -> str:
    """A number of :attr:`Result.summary`, or of a metric whose name ends with a unit, as a person reads it."""
    if value is None:
        return "-"
    if name.endswith("_mbps"):
        return rate(Estimate(value.mean * 1e6, value.half_width and value.half_width * 1e6, value.n))
    if name.endswith("_bps"):
        return rate(value)
    if name.endswith("_s"):
        return scaled(value, 1, "s") if value.mean >= 1 else milliseconds(value)
    if name.endswith("_ms"):
        return milliseconds(Estimate(value.mean / 1e3, value.half_width and value.half_width / 1e3, value.n))
    if name.endswith("_packets"):
        return f"{number(value)} packets"
    if name in ("utilisation", "queue_empty") or name.startswith(("share_", "on_time_")):
        return percent(value)
    if name in ("marked", "dropped"):
        return f"{number(value, digits=0)} packets"
    return number(value, digits=4)
