"""The smallest threshold of DCTCP at a rate, a round trip and kinds of hosts: scenarios, and how they are searched."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import shoal
from shoal.runs.cases import Case
from shoal.search import Condition, Problem, Side, candidates, solve
from shoal_dev.study import Run

RATES_GBIT_S = (1, 10, 25, 40, 100)
RTTS_US = (50, 100, 200, 500)
CONDITION = Condition.parse("utilisation() >= 0.99")
# A flow alone runs alike with every seed, and a round trip of a whole number of segments is a special case: each seed
# has a round trip of its own.
RTT_OF_SEED = {1: 1.0, 2: 0.98, 3: 1.02}
SEEDS = len(RTT_OF_SEED)
# What is tried above the answer of a search, as multiples of it.
ABOVE = (1.1, 1.25, 1.5, 2.0)
WIRE_BYTES = 1538
# Packets of C x RTT beyond which runs are shorter and candidates further apart: a round trip has so many packets.
LONG = 1600
# Smallest window of a flow that keeps the link busy, less C x RTT, in packets, by rate and RTT: for a receiver that
# acknowledges every second packet, and for one with GRO. From arithmetic on fixed windows and cards of the rate of the
# bottleneck, made before anything here was measured.
PREDICTED_EXCESS = {
    (1, 50): (5, 6),
    (1, 100): (7, 10),
    (1, 200): (11, 18),
    (1, 500): (23, 41),
    (10, 50): (23, 41),
    (10, 100): (44, 54),
    (10, 200): (47, 63),
    (10, 500): (50, 50),
    (25, 50): (45, 79),
    (25, 100): (45, 70),
    (25, 200): (50, 50),
    (100, 50): (50, 50),
    (100, 100): (39, 59),
}
# What a segment of 64 KiB holds.
SEGMENT_PACKETS = 45
BASE = shoal.Scenario.from_toml("""
title = "Smallest threshold of DCTCP"
duration = "1 s"

[bottleneck]
rate   = "10 Gbit/s"
buffer = "unlimited"
aqm    = { kind = "step", threshold = "65 packets" }

[[flows]]
name = "dctcp"
cc   = "dctcp"
rtt  = "100 us"

[trace]
series = "off"
""")


@dataclass(frozen=True)
class Hosts:
    """A kind of hosts, and how many of them send."""

    title: str
    flows: int
    host: Callable[[int], object]
    waits_us: Callable[[int], int] = lambda _: 0
    bursts: bool = True


def preset(rate: int) -> str:
    """Preset of a host with interrupt moderation; its card gets another rate."""
    return "linux-6-10g" if rate <= 10 else "linux-6-25g" if rate <= 40 else "linux-6-100g"


def moderation_us(rate: int) -> int:
    """Its time from the first packet to the interrupt."""
    return 50 if rate <= 10 else 8


def card(times: int, rate: int, **keys: object) -> object:
    """A host of that preset whose card is so many times as fast as the bottleneck."""
    return {"preset": preset(rate), "nic_rate": f"{times * rate} Gbit/s", **keys}


HOSTS = {
    "ideal": Hosts("ideal", 1, lambda _: "ideal", bursts=False),
    "segments": Hosts("segments", 1, lambda _: "linux-6-gso"),
    "moderated": Hosts("segments, GRO, moderation", 1, partial(card, 4), waits_us=moderation_us),
    "paced": Hosts("the same, paced", 1, partial(card, 4, pacing="internal"), waits_us=moderation_us),
    "ideal-2": Hosts("ideal", 2, lambda _: "ideal", bursts=False),
    "segments-2": Hosts("segments", 2, lambda rate: {"preset": "linux-6-gso", "nic_rate": f"{rate} Gbit/s"}),
    "moderated-2": Hosts("segments, GRO, moderation", 2, partial(card, 1), waits_us=moderation_us),
    "paced-2": Hosts("the same, paced", 2, partial(card, 1, pacing="internal"), waits_us=moderation_us),
}


# Receivers that wait as long at every rate.
WAITING = {
    f"waiting-{wait_us}": Hosts(
        f"segments, GRO, interrupt after {wait_us} us",
        1,
        lambda rate, wait_us=wait_us: {
            "preset": "linux-6-gso",
            "coalescing": "gro",
            "nic_rate": f"{4 * rate} Gbit/s",
            "interrupt_delay": f"{wait_us} us",
        },
        waits_us=lambda _, wait_us=wait_us: wait_us,
    )
    for wait_us in (20, 50, 100)
}
ALL_HOSTS = HOSTS | WAITING


@dataclass(frozen=True)
class Cell:
    """A rate in Gbit/s, a round trip in us and hosts."""

    rate: int
    rtt: int
    hosts: str

    @property
    def bdp(self) -> float:
        """C x RTT in packets."""
        return self.rate * self.rtt * 1e3 / (8 * WIRE_BYTES)

    @property
    def fluid(self) -> float:
        """C x RTT / 7 in packets."""
        return self.bdp / 7

    def scenario(self, threshold: float, *, start: bool = True) -> shoal.Scenario:
        """One point of a search; a run that starts near its steady state needs less time to reach it."""
        hosts = ALL_HOSTS[self.hosts]
        keys: dict[str, object] = {
            "bottleneck.rate": f"{self.rate} Gbit/s",
            "bottleneck.aqm.threshold": f"{threshold:.0f} packets",
            "flows[0].rtt": f"{self.rtt} us",
            "flows[0].count": hosts.flows,
            "flows[0].host": hosts.host(self.rate),
            "flows[0].start": {"uniform": ["0 s", f"{self.rtt} us"]},
            "flows[0].initial_window": f"{max(2, round(self.bdp / hosts.flows))} packets",
        }
        warmup, measured = 400, 400
        if start:
            # Growth by a packet in a round trip would take thousands of them to repair what slow start and an alpha of
            # 1 do to a window of thousands of packets. The clamp is above what the steady state reaches.
            share = 1.02 if hosts.flows == 1 else 1.2 / hosts.flows
            keys["flows[0].cwnd_clamp"] = f"{round(share * self.bdp + threshold + 150)} packets"
            keys["flows[0].cc_options"] = {"initial_alpha_q10": round(1024 * min(1, (2 / self.bdp) ** 0.5))}
            # A sawtooth lasts (C x RTT / 2) ** 0.5 round trips: 45 at most.
            warmup, measured = (150, 250) if self.bdp > LONG else (200, 300) if self.bdp > 300 else (200, 400)
            if self.bdp > 2 * LONG:
                warmup = 600
        keys |= {"duration": f"{(warmup + measured) * self.rtt} us", "warmup": f"{warmup * self.rtt} us"}
        return BASE.override(keys)


@dataclass
class Search:
    """What the searches of one cell found.

    Attributes
    ----------
    threshold
        The least that was tried from which on all that was tried holds, in packets.
    first
        Answer of the first search.
    against
        What was tried above that answer and failed.
    runs
        The runs at the threshold.
    """

    threshold: float = 0.0
    first: float = 0.0
    against: list[float] = field(default_factory=list)
    runs: list[shoal.Result] = field(default_factory=list)


Jobs = list[tuple[shoal.Scenario, int]]


def varied(run: Run, jobs: Jobs, _label: str) -> list[shoal.Result]:
    """Run each seed with its own round trip."""
    changed = []
    for scenario, seed in jobs:
        rtt_us = float(scenario.resolved["flows"][0]["rtt"].split()[0]) * RTT_OF_SEED[seed]
        changed.append((scenario.override({"flows[0].rtt": f"{rtt_us:g} us"}), seed))
    return run(changed)


def varied_cases(run: Run, cases: Sequence[Case], label: str) -> list[list[shoal.Result]]:
    """Run the cases of a search as :func:`varied` does: the results of each case, one a seed."""
    results = iter(varied(run, [(case.scenario, seed) for case in cases for seed in case.seeds], label))
    return [[next(results) for _ in case.seeds] for case in cases]


def thresholds(cells: Sequence[Cell], run: Run) -> dict[Cell, Search]:
    """Search each cell, try larger values than the answer, and search above what failed, until nothing fails."""
    searches = {cell: Search() for cell in cells}
    open_cells = list(cells)
    above = dict.fromkeys(cells, 0.0)
    while open_cells:
        problems = [
            Problem(
                label="K = ",
                candidates=[k for k in candidates(1, 600, within=0.1 if cell.bdp > LONG else 0.05) if k > above[cell]],
                scenario=cell.scenario,
                key="K",
                unit="packets",
            )
            for cell in open_cells
        ]
        answers = solve(problems, CONDITION, side=Side.SMALLEST, seeds=SEEDS, confirm=2, run=partial(varied_cases, run))
        larger: dict[tuple[Cell, float], Jobs] = {}
        for cell, answer in zip(open_cells, answers, strict=True):
            if answer.answer is None or answer.results is None:
                sys.exit(f"{cell}: no threshold holds")
            search = searches[cell]
            search.threshold, search.runs = answer.answer, list(answer.results)
            search.first = search.first or answer.answer
            search.against += [value for value in answer.against if value > search.first]
            for times in ABOVE:
                value = float(round(answer.answer * times))
                larger[cell, value] = [(cell.scenario(value), seed) for seed in RTT_OF_SEED]
        results = iter(varied(run, [job for jobs in larger.values() for job in jobs], ""))
        above = {}
        for (cell, value), jobs in larger.items():
            measured = CONDITION.measure([next(results) for _ in jobs])
            if not all(part.decision.holds for part in measured):
                searches[cell].against.append(value)
                above[cell] = max(value, above.get(cell, 0.0))
        open_cells = list(above)
    return searches


def sufficient(rate: int, rtt_us: float, waits_us: float) -> int:
    """What an operator may set: two bursts, but no more than what arrives in a round trip with all waiting.

    A burst is a segment, or what arrives while a receiver waits for its interrupt, whatever is more.
    """
    per_us = rate * 1e3 / (8 * WIRE_BYTES)
    return math.ceil(min(per_us * (rtt_us + waits_us), 2 * max(SEGMENT_PACKETS, per_us * waits_us)))


def rule(cell: Cell) -> int:
    """The rule for the hosts of a cell."""
    return sufficient(cell.rate, cell.rtt, ALL_HOSTS[cell.hosts].waits_us(cell.rate))


def predicted(cell: Cell, *, gro: bool) -> float | None:
    """C x RTT / 7 and what runs of back-to-back packets need, if that was worked out."""
    excess = PREDICTED_EXCESS.get((cell.rate, cell.rtt))
    return None if excess is None else cell.fluid + excess[gro]
