"""What marking before enqueueing does differently from marking at departure, at five rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from matplotlib.figure import Figure

import shoal
from shoal.stats import estimate
from shoal_dev.study import Cell, Run, Study, simulated
from shoal_dev.tables import table
from studies.marking_before_enqueue.laws import CoupledByTime, DualRedByTime, StepByTime

RATES_MBIT_S = (4, 10, 40, 100, 200)
SEEDS = range(1, 6)
LAWS = {
    "step, 5 ms": StepByTime,
    "coupled, 200 ms, k = 1.63": CoupledByTime,
    "dual RED by time": DualRedByTime,
}
# Marks alone make no Reno of the same age share; the step has two flows of DCTCP.
OTHER = {"step, 5 ms": "dctcp", "coupled, 200 ms, k = 1.63": "reno", "dual RED by time": "reno"}
BASE = """
title = "Marking before enqueueing"
duration = "40 s"
warmup = "10 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "4 BDP"
[bottleneck.aqm]
kind = "module"
name = "StepByTime"
[[flows]]
name = "other"
cc = "reno"
rtt = "25 ms"
start = { uniform = ["0 s", "1 s"] }
[[flows]]
name = "dctcp"
cc = "dctcp"
rtt = "25 ms"
start = { uniform = ["0 s", "1 s"] }
"""
HEADS = (
    *("law", "rate", "mean delay at departure", "mean delay before", "change", "P99 at departure", "P99 before"),
    *("share of DCTCP at departure", "share before"),
)


def scenario(law: str, rate: int, before: int) -> shoal.Scenario:
    """A law at a rate, with its decisions at departure or before enqueueing."""
    base = shoal.Scenario(BASE).with_laws(*LAWS.values())
    return base.override(
        {
            "bottleneck.rate": f"{rate} Mbit/s",
            "bottleneck.aqm": {"kind": "module", "name": LAWS[law].__name__, "parameters": {"before": before}},
            "flows[0].cc": OTHER[law],
        }
    )


def row(law: str, rate: int, run: Run) -> dict[str, str]:
    """What a law does at a rate, both ways: means over the seeds, and the change of the delay with its confidence."""
    at, before = (measured(run([(scenario(law, rate, way), seed) for seed in SEEDS])) for way in (0, 1))
    changes = estimate([100 * (new[0] / old[0] - 1) for old, new in zip(at, before, strict=True)])
    assert changes is not None  # noqa: S101
    columns = [[fmean(values) for values in zip(*of, strict=True)] for of in (at, before)]
    (delay, p99, share), (delay_before, p99_before, share_before) = columns
    values = (
        *(f"{1e3 * delay:.2f} ms", f"{1e3 * delay_before:.2f} ms", f"{changes.mean:+.1f} ± {changes.half_width:.1f} %"),
        *(f"{1e3 * p99:.2f} ms", f"{1e3 * p99_before:.2f} ms", f"{100 * share:.1f} %", f"{100 * share_before:.1f} %"),
    )
    return dict(zip(HEADS[2:], values, strict=True))


def measured(results: Sequence[shoal.Result]) -> list[tuple[float, float, float]]:
    """A seed a row: mean and 99th percentile of the packets' delay in seconds, and the second group's share."""
    rows = []
    for result in results:
        delay = result.bottlenecks[0]["delay_s"]["all"]
        first, second = (group["wire_bps"]["sum"] for group in result.data["groups"])
        rows.append((delay["mean"], delay["p99"], second / (first + second)))
    return rows


def measure() -> Iterator[str | Figure]:
    """A row a law and rate."""
    run = simulated()
    yield (
        "One flow of DCTCP beside one of Reno (the step: beside another one of DCTCP), 25 ms, a buffer of 4 BDP, 40 s "
        f"of which the first 10 do not count, means of {len(SEEDS)} seeds, the change with its 95 % confidence. At "
        "departure a decision is about the packet's own wait; before enqueueing it is about the wait of the packet "
        "that left last, which a BPF program on egress can know."
    )
    rows = [(law, f"{rate} Mbit/s", *row(law, rate, run).values()) for law in LAWS for rate in RATES_MBIT_S]
    yield table(HEADS, rows, "llr")


def cells() -> Iterator[Cell]:
    """Every row."""
    run = simulated()
    for law in LAWS:
        for rate in RATES_MBIT_S:
            yield Cell("", (law, f"{rate} Mbit/s"), partial(row, law, rate, run), cpu_s=0.2 * rate)


STUDY = Study(
    title="Marking before enqueueing, and at departure",
    about="what a marker on egress, before\nthe queue, has to reckon with",
    measure=measure,
    takes="a few minutes",
    cells=cells,
)
