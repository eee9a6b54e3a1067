"""Section 8: congestion of three levels, changes of the number of flows, and changes of the rate."""

from __future__ import annotations

import numpy as np

from shoal.evaluate.model import Clause, Experiment, Level, Setting, group, varied
from shoal.evaluate.rfc7928.bottleneck import CONGESTION, LOSS_PERCENT, RTT_MS, dumbbell, flows_for
from shoal.evaluate.rfc7928.measures import TRADEOFF, measures
from shoal.runs.rows import Rows
from shoal.stats import Estimate

_rtt = f"{RTT_MS} ms"
#: Rates between which section 8.2.6 changes, in Mbit/s.
RATES_MBPS = (100, 10)
_fifo = Setting("fifo", {"bottleneck.aqm": {"kind": "fifo"}})
#: Numbers of flows behind a FIFO among which the one that gives a level is looked for.
COUNTS = (1, 2, 3, 4, 6, 8, 11, 14, 19, 26)


def _levels() -> Experiment:
    """What the formula of section 8.2.1 is worth: losses of a FIFO with more and more flows."""
    title = "Losses of a FIFO with more and more flows, beside what the formula says"
    scenario = dumbbell(title, [group("bulk", cc="reno", rtt=_rtt)])
    axis = varied("flows.bulk.count", list(COUNTS))
    metrics = {"lost_percent": "100 * dropped('all')", "delay_ms": "delay_ms()"}
    return Experiment(
        "formula", title, scenario, metrics, axes=(axis,), contenders=[_fifo], finding=formula_beside_fifo
    )


def formula_beside_fifo(rows: Rows) -> str:
    """What the formula's numbers of flows lose behind a FIFO, and which numbers lose what it says."""
    cells = [rows.cell(point, rows.plan.metrics["lost_percent"]) for point in range(len(rows))]
    means = [cell.mean for cell in cells if isinstance(cell, Estimate)]
    if len(means) < len(COUNTS):
        return ""
    levels = list(CONGESTION)
    lost = np.interp([flows_for(level) for level in levels], COUNTS, means)
    wanted = [LOSS_PERCENT[level] for level in levels]
    # Losses rise with the number of flows; between two numbers a straight line is taken.
    counts = np.interp(wanted, np.maximum.accumulate(means), COUNTS)
    sentences = [
        f"{level.capitalize()}: {flows_for(level)} flows by the formula, which lose {part:.2g} % behind a FIFO here; "
        f"{percent:g} % are lost by {count:.1f} flows"
        for level, part, percent, count in zip(levels, lost, wanted, counts, strict=True)
    ]
    return f"{'. '.join(sentences)}."


def _congestion(level: str) -> Experiment:
    count = flows_for(level)
    title = f"{count} Reno flows: {level} congestion by the formula"
    scenario = dumbbell(title, [group("bulk", cc="reno", rtt=_rtt, count=count)])
    return Experiment(level, title, scenario, measures("bulk"), tradeoff=TRADEOFF)


def _varying_congestion() -> Experiment:
    mild, medium, heavy = (flows_for(level) for level in CONGESTION)
    title = f"{mild}, {medium} and {heavy} Reno flows for 20 s each"
    flows = [
        group("always", cc="reno", rtt=_rtt, count=mild),
        {"name": "medium", "cc": "reno", "rtt": _rtt, "count": medium - mild, "start": "40 s"},
        {"name": "heavy", "cc": "reno", "rtt": _rtt, "count": heavy - medium, "start": "60 s"},
    ]
    return Experiment("varying", title, dumbbell(title, flows, duration_s=80, warmup_s=20), measures("always"))


def _varying_rate(name: str, title: str, *, each_s: float, periods: int) -> Experiment:
    high, low = RATES_MBPS
    flows = [group("bulk", cc="reno", rtt=_rtt, count=flows_for("mild", rate_mbps=low))]
    rates = [["0 s", f"{high} Mbit/s"], [f"{each_s:g} s", f"{low} Mbit/s"]]
    schedule = {"rates": rates, "repeat": f"{2 * each_s:g} s"}
    scenario = dumbbell(
        title,
        flows,
        rate_mbps=high,
        duration_s=2 * each_s * periods,
        warmup_s=20,
        bottleneck={"schedule": schedule, "aqm": {"kind": "fifo"}},
    )
    metrics = {**measures("bulk"), "capacity_used_percent": "100 * capacity_used()"}
    return Experiment(name, title, scenario, metrics, tradeoff=TRADEOFF)


def clauses() -> list[Clause]:
    """The sections, in their order."""
    steps = _varying_rate("steps", "The rate changes between 100 and 10 Mbit/s every 20 s", each_s=20, periods=3)
    rapid = _varying_rate("rapid", "The rate changes between 100 and 10 Mbit/s every 100 ms", each_s=0.1, periods=400)
    return [
        Clause("8.2.1", "Levels of congestion", Level.NONE, [_levels()]),
        Clause("8.2.2", "Mild congestion", Level.NONE, [_congestion("mild")]),
        Clause("8.2.3", "Medium congestion", Level.NONE, [_congestion("medium")]),
        Clause("8.2.4", "Heavy congestion", Level.NONE, [_congestion("heavy")]),
        Clause("8.2.5", "Varying the congestion", Level.MUST, [_varying_congestion()]),
        Clause("8.2.6", "Varying available capacity", Level.MUST, [steps, rapid]),
        Clause(
            "8.3",
            "Parameter sensitivity and stability analysis",
            Level.SHOULD,
            reason="an analysis on paper; `shoal sweep` varies the parameters of a queue in any of these experiments",
        ),
    ]
