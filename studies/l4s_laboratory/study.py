"""Pairs of Prague and CUBIC in a laboratory of 2020 (heistp/l4s-tests, scenario 1), beside the simulator."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

import shoal
from shoal_dev.study import Cell, Study, simulated
from shoal_dev.tables import table

SEEDS = range(1, 4)
# The laboratory's sender: version 0.5 of Prague, and CUBIC with ECN, over accurate ECN without its option.
CONTROLLERS = {"prague": "prague-2020", "cubic": "cubic"}


@dataclass(frozen=True)
class Queue:
    """A queue of the laboratory, as a scenario has it.

    Attributes
    ----------
    title
        What it is called on the page.
    published
        Its name in the published table.
    buffer_packets
        Limit of its packets.
    aqm
        The section of a scenario.
    goal_points
        Median error of a flow's share that was expected before anything was measured, in percentage points.
    """

    title: str
    published: str
    buffer_packets: int
    aqm: Mapping[str, object]
    goal_points: float


QUEUES = (
    Queue("DualPI2 as in that kernel", "dualpi2", 10_000, {"kind": "dualpi2", "form": "l4steam"}, 4.0),
    Queue(
        "DualPI2 with the gains of Linux today",
        "dualpi2",
        10_000,
        {"kind": "dualpi2", "min_qlen_step": 2},
        4.0,
    ),
    Queue("FIFO of 1000 packets", "pfifo(1000)", 1000, {"kind": "fifo"}, 7.0),
    Queue("FQ-CoDel", "fq_codel", 10_240, {"kind": "fq-codel", "classifier": "flow", "ecn": True}, 1.0),
)
HEADS = ("flow 1", "RTT 1, ms", "flow 2", "RTT 2, ms", "published share", "measured share", "error, points")


@dataclass(frozen=True)
class Pair:
    """Two flows of the published table: controllers, round-trip times in milliseconds, the first one's share."""

    controllers: tuple[str, str]
    rtts_ms: tuple[str, str]
    share: float
    is_doubted: bool

    @property
    def key(self) -> tuple[str, ...]:
        """The first cells of its row."""
        (first, second), (near, far) = self.controllers, self.rtts_ms
        return (first, near, second, far)


@cache
def pairs(published: str) -> list[Pair]:
    """The pairs behind a queue at 50 Mbit/s; a line that its authors may have copied wrongly is doubted."""
    with (Path(__file__).parent / "pairs.csv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(line for line in file if not line.startswith("#"))
            if row["qdisc"] == published and row["rate_mbps"] == "50"
        ]
    return [
        Pair((row["cc1"], row["cc2"]), (row["rtt1_ms"], row["rtt2_ms"]), float(row["share1"]), bool(row["flag"]))
        for row in rows
    ]


def scenario(queue: Queue, pair: Pair) -> shoal.Scenario:
    """The laboratory's link with the queue and the pair."""
    changes: dict[str, object] = {
        "bottleneck.buffer": f"{queue.buffer_packets} packets",
        "bottleneck.aqm": dict(queue.aqm),
    }
    for number, (controller, rtt_ms) in enumerate(zip(pair.controllers, pair.rtts_ms, strict=True), 1):
        changes[f"flows.flow-{number}.cc"] = CONTROLLERS[controller]
        changes[f"flows.flow-{number}.rtt"] = f"{rtt_ms} ms"
    return shoal.Scenario.from_file(Path(__file__).parent / "pair.toml").override(changes)


def share(queue: Queue, pair: Pair) -> float:
    """The first flow's part of the payload that both deliver, the mean of all seeds."""
    results = simulated()([(scenario(queue, pair), seed) for seed in SEEDS])

    def goodputs(result: shoal.Result) -> Sequence[float]:
        return [group["flows"][0]["goodput_bps"] or 0.0 for group in result.groups]

    return float(np.mean([goodputs(result)[0] / sum(goodputs(result)) for result in results]))


def row(queue: Queue, pair: Pair) -> dict[str, str]:
    """The cells of a pair by the titles of their columns."""
    measured = share(queue, pair)
    error = f"{100 * (measured - pair.share):+.1f}"
    cells = (*pair.key, f"{pair.share:.3f}", f"{measured:.3f}", f"({error})" if pair.is_doubted else error)
    return dict(zip(HEADS, cells, strict=True))


def again(queue: Queue, pair: Pair) -> dict[str, str]:
    """What is measured of a pair."""
    cells = row(queue, pair)
    return {title: cells[title] for title in HEADS[-2:]}


def summary(queue: Queue, kind: str, errors: Sequence[float]) -> tuple[str, ...]:
    """Median, 90th percentile and largest of the errors of some pairs."""
    middle, most, worst = np.quantile(errors, [0.5, 0.9, 1.0])
    goal = f"{queue.goal_points:.0f}" if kind == "all" else ""
    return (queue.title, kind, str(len(errors)), f"{middle:.1f}", f"{most:.1f}", f"{worst:.1f}", goal)


def measure() -> Iterator[str]:
    """How far shares are from the published ones, for each kind of pair; then every pair."""
    rows = {queue.title: [(pair, row(queue, pair)) for pair in pairs(queue.published)] for queue in QUEUES}
    totals = []
    for queue in QUEUES:
        errors: dict[str, list[float]] = {"all": []}
        for pair, cells in rows[queue.title]:
            if not pair.is_doubted:
                for kind in ("all", " and ".join(sorted(set(pair.controllers)))):
                    errors.setdefault(kind, []).append(abs(float(cells[HEADS[-1]])))
        totals += [summary(queue, kind, errors[kind]) for kind in errors]
    heads = ("queue", "pairs", "number", "median error, points", "90 %", "worst", "expected median")
    yield table(heads, totals, "llr")
    yield "A pair in parentheses is doubted by its source and counts nowhere."
    for queue in QUEUES:
        yield f"## {queue.title}"
        yield table(HEADS, [list(cells.values()) for _, cells in rows[queue.title]], "lrlr")


def cells() -> Iterator[Cell]:
    """Every pair."""
    for queue in QUEUES:
        for pair in pairs(queue.published):
            yield Cell(queue.title, pair.key, partial(again, queue, pair), cpu_s=4)


STUDY = Study(
    title="Prague and CUBIC in a laboratory of 2020",
    about="published values are those of [heistp/l4s-tests](https://github.com/heistp/l4s-tests) "
    "(commit e21cd91, scenario 1, 50 Mbit/s, one run a pair)",
    measure=measure,
    takes="about six minutes",
    cells=cells,
)
