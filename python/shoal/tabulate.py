"""The tables that the command line and the report show: words only, so that both show the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

from shoal import moving
from shoal.metrics import Metric, Of, classes, metrics, statistics
from shoal.run_record import RunRecord
from shoal.stats import Estimate, estimate, single
from shoal.table import Table
from shoal.words import in_unit, milliseconds, number, percent, rate, scaled

Runs = Sequence[RunRecord]


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
    name = group["name"]
    return (
        name,
        group["cc"],
        str(group["flow_count"]),
        *(shown(runs, metric, name) for metric in ("share", "rate_mbps", "goodput_mbps")),
        *_feedback(runs, index),
        *(shown(runs, "fct_ms", name, part) for part in (("mean", "p99") if transfers else ())),
    )


def _feedback(runs: Runs, index: int) -> list[str]:
    """Marks, losses, retransmissions and timeouts: what senders learn, or of datagrams, what becomes of them."""
    flows = runs[0].groups[index]["flows"]
    if not flows or any(flow["datagrams"] is None for flow in flows):
        counters = ("marks_seen", "losses", "retransmissions", "timeouts")
        return [number(at(runs, "groups", index, "totals", what), digits=0) for what in counters]
    return [*(number(_datagrams(runs, index, what), digits=0) for what in ("marked", "lost")), "-", "-"]


def _datagrams(runs: Runs, index: int, what: str) -> Estimate | None:
    """A number of a group's datagrams, if all of its flows are listed."""
    groups = [run.groups[index] for run in runs]
    if any(group["flows_omitted"] for group in groups):
        return None
    tables: list[list[Mapping[str, Any] | None]] = [[flow["datagrams"] for flow in group["flows"]] for group in groups]
    return estimate([float(sum(table[what] for table in each if table is not None)) for each in tables])


def run_tables(runs: Runs) -> list[Table]:
    """Every table of a run, or of several seeds, but that of :func:`totals`."""
    queues = [queue_table(runs, index) for index in range(len(runs[0].bottlenecks))]
    return [group_table(runs), *wait_tables(runs), *queues, *class_tables(runs), *step_tables(runs)]


def totals_table(runs: Runs) -> Table:
    """The numbers of the whole run as a table, which the command line and pages show as pairs."""
    return Table("Totals", ("Quantity", "Value"), totals(runs))


def kernel_table(rules: Sequence[tuple[str, str]]) -> Table:
    """What each part of a scenario is on the real kernel."""
    return Table("What the scenario is on Linux", ("Scenario", "Kernel"), rules, words=2)


def shown_table(shown: Sequence[tuple[str, str, str]]) -> Table:
    """What programs would show of the hosts on the real kernel."""
    return Table("What programs show of the hosts", ("Host", "Program", "What it shows"), shown, words=3)


def wait_tables(runs: Runs) -> list[Table]:
    """What applications waited for, if they do: exchanges, rounds with a barrier, frames."""
    tables = []
    rows = [row for index in range(len(runs[0].groups)) for row in _wait_rows(runs, index)]
    if rows:
        columns = ("Group", "Waited for", "Count", "Unfinished", "Mean", "P50", "P95", "P99", "Max")
        tables.append(Table("Exchanges and rounds", columns, rows, words=2))
    video = [index for index, group in enumerate(runs[0].groups) if group.get("frames")]
    if video:
        adapts = any("size_bytes" in (runs[0].groups[index]["frames"] or {}) for index in video)
        heads: tuple[str, ...] = (
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
        heads += ("Mean size",) if adapts else ()
        tables.append(Table("Frames", heads, [_frame_row(runs, index, adapts) for index in video]))
    return tables


_waits = {"exchanges": "response", "rounds": "slowest flow of a round", "pages": "page"}


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


def _frame_row(runs: Runs, index: int, with_size: bool) -> tuple[str, ...]:
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
        *((scaled(of("size_bytes", "mean"), 1e-3, "kB", digits=1),) if with_size else ()),
    )


def queue_table(runs: Runs, index: int = 0) -> Table:
    """What a monitored link did to the packets of each class."""
    name = runs[0].bottlenecks[index]["name"]
    columns = ("Class", "Arrived", "Marked", "Dropped", "Delay mean", "P50", "P99", "P99.9")
    rows = [_queue_row(runs, index, which) for which in (*_of_ecn, "all") if which in present_classes(runs, index)]
    came_marked = over(runs, lambda run: float(run.bottlenecks[index].get("arrived_marked", 0)))
    remark = ""
    if came_marked is not None and came_marked.mean:
        remark = f"; {number(came_marked, digits=0)} packets came with a mark of a queue before it"
    redirected = over(runs, lambda run: float(run.bottlenecks[index].get("redirected", 0)))
    if redirected is not None and redirected.mean:
        remark += f"; {number(redirected, digits=0)} packets were redirected by queue protection"
    return Table(f"Queue at {name}{remark}", columns, rows)


def _queue_row(runs: Runs, index: int, which: str) -> tuple[str, ...]:
    keys = () if which == "all" else (which,)
    return (
        classes[which],
        number(at(runs, "bottlenecks", index, *keys, "arrived"), digits=0),
        *(shown(runs, what, which, index) for what in ("marked", "dropped")),
        *(shown(runs, "delay_ms", which, quantile, index) for quantile in ("mean", "p50", "p99", "p999")),
    )


def class_tables(runs: Runs) -> list[Table]:
    """What each queue for a traffic class did; one table a monitored link that has such queues."""
    links = range(len(runs[0].bottlenecks))
    return [_class_table(runs, index) for index in links if runs[0].bottlenecks[index].get("classes")]


def _class_table(runs: Runs, index: int) -> Table:
    link = runs[0].bottlenecks[index]
    columns = (
        *("Queue", "Share of the line", "Arrived", "Marked", "Dropped", "Mean queue", "Longest"),
        *("Delay mean", "P50", "P99"),
    )
    rows = [_class_row(runs, index, number) for number in range(len(link["classes"]))]
    return Table(f"Traffic classes at {link['name']}", columns, rows)


def _class_row(runs: Runs, index: int, class_index: int) -> tuple[str, ...]:
    def of(*path: str) -> Estimate | None:
        return at(runs, "bottlenecks", index, "classes", class_index, *path)

    return (
        runs[0].bottlenecks[index]["classes"][class_index]["name"],
        percent(of("utilisation")),
        *(number(of(what), digits=0) for what in ("arrived", "marked", "dropped")),
        *(scaled(of("queue_bytes", part), 1e-3, "kB", digits=1) for part in ("mean", "max")),
        *(milliseconds(of("delay_s", "all", quantile)) for quantile in ("mean", "p50", "p99")),
    )


def step_tables(runs: Runs) -> list[Table]:
    """What followed the steps of the rates of links that change; one table a link that has steps."""
    return [_step_table(runs, index) for index in range(len(runs[0].bottlenecks)) if moving.steps(runs[0], index)]


# More steps than this are a signal, not events that one looks at one by one.
_steps_shown = 8


def _step_table(runs: Runs, index: int) -> Table:
    first = moving.steps(runs[0], index)
    remark = f", the first {_steps_shown}" if len(first) > _steps_shown else ""
    if runs[0].bin_s is None:
        remark += "; what followed is known with a time series only (trace.series)"
    target = f"{runs[0].bottlenecks[index]['above_target']['target_s'] * 1e3:g} ms"
    columns = (
        *("At", "From", "To", "Queue settled after", "Overshoot", "Undershoot", "Longest queue"),
        *(f"Below {target} after", "Throughput recovered after", "Utilisation after"),
    )
    rows = [_step_row(runs, index, number) for number in range(min(_steps_shown, len(first)))]
    return Table(f"Steps of the rate of {runs[0].bottlenecks[index]['name']}{remark}", columns, rows, words=3)


def _step_row(runs: Runs, index: int, number: int) -> tuple[str, ...]:
    step = moving.steps(runs[0], index)[number]

    def of(key: str, some: Runs = runs) -> Estimate | None:
        return at(some, "bottlenecks", index, "history", "steps", number, key)

    is_recorded = step["utilisation_over_s"] is not None

    def until(key: str, *, is_known: bool = is_recorded) -> str:
        """A time that some runs may not reach, and which is then no mean."""
        never = sum(of(key, [run]) is None for run in runs)
        if not is_known or never == 0:
            return milliseconds(of(key))
        many = f" in {never} of {len(runs)} runs" if len(runs) > 1 else ""
        return f"not within {step['until_s'] - step['at_s']:.4g} s{many}"

    over = f" ({step['utilisation_over_s']:.3g} s)" if is_recorded else ""
    return (
        f"{step['at_s']:.6g} s",
        rate(single(step["from_bps"])),
        rate(single(step["to_bps"])),
        # Too few bins have no later range.
        until("settling_s", is_known=step["overshoot_s"] is not None),
        *(milliseconds(of(key)) for key in ("overshoot_s", "undershoot_s", "peak_s")),
        until("below_target_s"),
        until("recovery_s"),
        percent(of("utilisation")) + over,
    )


_of_ecn = ("ect", "not_ect")


def present_classes(runs: Runs, index: int = 0) -> list[str]:
    """``all``, and the classes of which a run had a packet at a link."""
    names = ["all"]
    names += ["ect"] * any(run.bottlenecks[index]["ect"]["arrived"] for run in runs)
    names += ["not_ect"] * any(run.bottlenecks[index]["not_ect"]["arrived"] for run in runs)
    return names


def totals(runs: Runs) -> list[tuple[str, str]]:
    """Numbers of the whole run: utilisation, queue, fairness."""
    names = [link["name"] for link in runs[0].bottlenecks]
    rows = [row for index, name in enumerate(names) for row in _link_totals(runs, index, name if names[1:] else "")]
    rows += [(metric.title, shown(runs, metric.name)) for metric in _tabled(Of.RUN)]
    # A name may have a slash of its own.
    pair_of = {f"{a}/{b}": (a, b) for a, b in permutations([group["name"] for group in runs[0].groups], 2)}
    pairs = [pair_of[key] for key in list(runs[0].metrics["rate_ratio"])[:_pairs_shown]]
    return rows + [
        (f"{metric.title} {'/'.join(pair)}", shown(runs, metric.name, *pair))
        for metric in _tabled(Of.PAIR)
        for pair in pairs
    ]


# Ratios between all pairs of many groups would fill the page.
_pairs_shown = 6


def _link_totals(runs: Runs, index: int, name: str) -> list[tuple[str, str]]:
    return [
        (metric.title + (f" of {name}" if name else "") + metric.unit.in_title, shown(runs, metric.name, link=index))
        for metric in _tabled(Of.LINK)
        if metric.applies is None or metric.applies(runs[0], index)
    ]


def _tabled(of: Of) -> list[Metric]:
    return [metric for metric in metrics.values() if metric.tabled and metric.of is of]


def comparison_table(labelled: Sequence[tuple[str, Runs]]) -> Table:
    """Several runs side by side: one column each."""
    columns = [dict(_comparison_column(runs)) for _, runs in labelled]
    heads = list(dict.fromkeys(head for cells in columns for head in cells))
    rows = [(head, *(cells.get(head, "") for cells in columns)) for head in heads]
    return Table("Comparison", ("", *(label for label, _ in labelled)), rows)


def _comparison_column(runs: Runs) -> list[tuple[str, str]]:
    cells = []
    for group in runs[0].groups:
        name = group["name"]
        cells.append((f"{name}: share", shown(runs, "share", name)))
        cells.append((f"{name}: rate/flow", shown(runs, "rate_mbps", name)))
        if group.get("exchanges"):
            cells.append((f"{name}: response P99", shown(runs, "exchange_ms", name, "p99")))
        if group.get("rounds"):
            cells.append((f"{name}: round P99", shown(runs, "round_ms", name, "p99")))
        if group.get("pages"):
            cells.append((f"{name}: page P99", shown(runs, "page_ms", name, "p99")))
        if group.get("frames"):
            cells.append((f"{name}: frames on time", shown(runs, "frames_on_time", name)))
    cells += totals(runs)
    if not runs[0].bottlenecks:
        return cells
    for which in present_classes(runs)[1:]:
        for quantile, word in statistics.items():
            title = f"{metrics['delay_ms'].title} {classes[which]} {word}"
            cells.append((title, shown(runs, "delay_ms", which, quantile)))
    cells += [(metrics[what].title, shown(runs, what, "all")) for what in ("marked", "dropped")]
    return cells + _compared_steps(runs)


# What tells queues apart after a step: columns of the table of steps.
_steps_compared = slice(6, 10)


def _compared_steps(runs: Runs) -> list[tuple[str, str]]:
    """What followed the steps of the rate of the first monitored link."""
    if not moving.steps(runs[0]):
        return []
    table = _step_table(runs, 0)
    heads = [head[0].lower() + head[1:] for head in table.columns[_steps_compared]]
    return [
        (f"After {row[0]} ({row[1]} to {row[2]}): {head}", cell)
        for row in table.rows
        for head, cell in zip(heads, row[_steps_compared], strict=True)
    ]


def shown(runs: Runs, name: str, *arguments: object, **keywords: object) -> str:
    """A metric as tables show it: its mean over the seeds, in its unit."""
    metric = metrics[name]
    return in_unit(metric.unit, over(runs, lambda run: metric.formula(run, *arguments, **keywords)), metric.digits)


def over(runs: Runs, get: Callable[[RunRecord], float | None]) -> Estimate | None:
    """Mean over the seeds; ``None`` if one of them has no such number."""
    values = [get(result) for result in runs]
    known = [value for value in values if value is not None]
    return estimate(known) if known and len(known) == len(values) else None


def at(runs: Runs, *path: str | int) -> Estimate | None:
    """Mean over the seeds of the number at a place of the result object."""

    def get(run: RunRecord) -> float | None:
        node: Any = run.data
        for step in path:
            node = node[step]
        return None if node is None else float(node)

    return over(runs, get)
