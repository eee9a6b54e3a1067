"""Section 8: congestion of three levels, changes of the number of flows, and changes of the rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.evaluate.contenders import QUEUE as QUEUE_KEY
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group, varied
from shoal.evaluate.rfc7928.bottleneck import CONGESTION, LOSS_PERCENT, RTT_MS, WARMUP_S, dumbbell, flows_for
from shoal.evaluate.rfc7928.measures import QUEUE, SYNCHRONISATION, TRADEOFF, cumulated, curves
from shoal.runs.rows import Rows
from shoal.stats import Estimate

_rtt = f"{RTT_MS} ms"
#: Rates between which section 8.2.6 changes, in Mbit/s.
RATES_MBPS = (100, 10)
#: Length of the phases of sections 8.2.5 and 8.2.6, and how often all of them come, in s.
PHASE_S, PERIODS = 20, 2
_fifo = Setting("fifo", {QUEUE_KEY: {"kind": "fifo"}})
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
    metrics = {"goodput_mbps": cumulated(0), **QUEUE, **SYNCHRONISATION}
    return Experiment(level, title, scenario, metrics, tradeoff=TRADEOFF, curves=curves("bulk"))


def _varying_congestion() -> Experiment:
    """Groups join for the second and third phase, and are silent until it comes again."""
    mild, medium, heavy = (flows_for(level) for level in CONGESTION)
    title = f"{mild}, {medium} and {heavy} Reno flows for {PHASE_S} s each, again and again"
    every = 3 * PHASE_S

    def joining(name: str, count: int, phase: int) -> dict[str, object]:
        begin = phase * PHASE_S
        app = {"on": f"{every - begin} s", "off": f"{begin} s"}
        return {"name": name, "cc": "reno", "rtt": _rtt, "count": count, "start": f"{WARMUP_S + begin} s", "app": app}

    flows = [
        group("always", cc="reno", rtt=_rtt, count=mild),
        joining("from-medium-on", medium - mild, 1),
        joining("heavy", heavy - medium, 2),
    ]
    names = [str(flow["name"]) for flow in flows]
    metrics = {
        "goodput_mbps": cumulated(0, 1, 2),
        **_per_phase(list(CONGESTION), names, phase_s=PHASE_S),
        **QUEUE,
        **SYNCHRONISATION,
    }
    scenario = dumbbell(title, flows, duration_s=WARMUP_S + PERIODS * every)
    return Experiment("varying", title, scenario, metrics, tradeoff=TRADEOFF, curves=curves("always"))


def _per_phase(phases: Sequence[str], groups: Sequence[str], *, phase_s: float) -> dict[str, str]:
    """Goodput of all flows and queueing delay in each phase (section 8.2)."""
    columns = {}
    for number, phase in enumerate(phases):
        when = f"{number * phase_s:g}, {(number + 1) * phase_s:g}, {len(phases) * phase_s:g}"
        columns[f"{phase}_goodput_mbps"] = " + ".join(f"phase_goodput_mbps('{name}', {when})" for name in groups)
        columns[f"{phase}_delay_ms"] = f"phase_delay_ms({when})"
    return columns


def _varying_rate(
    name: str, title: str, *, each_s: float, periods: int, bin_ms: int, queues: Sequence[Setting]
) -> Experiment:
    """The first phase of the measurement, which begins at a multiple of two phases, has the high rate."""
    high, low = RATES_MBPS
    flows = [group("bulk", cc="reno", rtt=_rtt, count=flows_for("mild", rate_mbps=low))]
    # After a warm-up of one phase the second rate of the list is the first that is measured.
    first, second = (low, high) if round(WARMUP_S / each_s) % 2 else (high, low)
    rates = [["0 s", f"{first} Mbit/s"], [f"{each_s:g} s", f"{second} Mbit/s"]]
    scenario = dumbbell(
        title,
        flows,
        rate_mbps=high,
        duration_s=WARMUP_S + 2 * each_s * periods,
        bottleneck={
            "rate": f"{first} Mbit/s",
            "schedule": {"rates": rates, "repeat": f"{2 * each_s:g} s"},
            "aqm": {"kind": "fifo"},
        },
        trace={"series": f"{bin_ms} ms"},
    )
    metrics = {
        "goodput_mbps": cumulated(0),
        **_per_phase(["high_rate", "low_rate"], ["bulk"], phase_s=each_s),
        **QUEUE,
        "capacity_used_percent": "100 * capacity_used()",
        **SYNCHRONISATION,
    }
    return Experiment(name, title, scenario, metrics, contenders=queues, tradeoff=TRADEOFF, curves=curves("bulk"))


def beside_fifo(contenders: Sequence[Setting]) -> list[Setting]:
    """The contenders and drop-tail, beside which section 8.2.6 must have them."""
    laws: list[Any] = [each.values[QUEUE_KEY] for each in contenders]
    return [*contenders, *([] if any(law["kind"] == "fifo" for law in laws) else [_fifo])]


def clauses(contenders: Sequence[Setting]) -> list[Clause]:
    """The sections, in their order."""
    queues = beside_fifo(contenders)
    steps = _varying_rate(
        "steps",
        "The rate changes between 100 and 10 Mbit/s every 20 s",
        each_s=PHASE_S,
        periods=3,
        bin_ms=50,
        queues=queues,
    )
    rapid = _varying_rate(
        "rapid",
        "The rate changes between 100 and 10 Mbit/s every 100 ms",
        each_s=0.1,
        periods=400,
        bin_ms=20,
        queues=queues,
    )
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
