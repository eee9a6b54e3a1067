"""Configurations of public repositories, read, simulated and ranked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import shoal
from shoal.metrics import metrics
from shoal.stats import Estimate, estimate
from shoal.switch import Amount, Document, Law, Port, Queue, Unit, find_platform, find_switch
from shoal.switch.amounts import USUAL_SEGMENT_BYTES, rate_of
from shoal.switch.model import Action, NotEct, Where
from shoal.switch.presets import Switch
from shoal.switch.simulate import Experiment, scenario_text
from shoal.switch.writing import Writing
from shoal.words import milliseconds
from shoal_dev.study import Cell, Study, simulated
from shoal_dev.tables import table

TABLE = Path(__file__).with_name("configurations.toml")
SEEDS = 3
RTT_S = Fraction(100, 10**6)
# A group with less than this part of the link is starved.
STARVED = 0.05
# What chips do with packets that are not ECT where the configuration leaves it to them.
BOTH = {"pass": "others pass", "drop": "others dropped by the same law"}


@dataclass(frozen=True)
class Case:
    """A configuration with one reading of what it leaves open."""

    entry: Mapping[str, Any]
    reading: str
    queue: Queue
    text: str
    scenario: shoal.Scenario

    @property
    def title(self) -> str:
        """Its title, with the reading where there are two."""
        return self.entry["title"] + (f" ({BOTH[self.reading]})" if self.reading else "")

    @property
    def source(self) -> str:
        """A link to the file at its commit."""
        where = f"https://github.com/{self.entry['repository']}/blob/{self.entry['commit']}/{self.entry['path']}"
        return f"[{self.entry['repository']}]({where})"


def cases() -> Iterator[Case]:
    """All configurations: written, read again, and as scenarios."""
    for entry in tomllib.loads(TABLE.read_text(encoding="utf-8"))["configuration"]:
        switch = find_switch(entry["switch"]) if "switch" in entry else Switch()
        port = Port(
            rate_of(entry["rate"]),
            segment_bytes=switch.segment_bytes or USUAL_SEGMENT_BYTES,
            cell_bytes=switch.cell_bytes or 1,
        )
        platform = find_platform(entry["platform"])
        # Numbers are written as they stand in the repository; the device rounds them.
        text = platform.write([queue_of(entry)], Writing(Port(port.rate_bps), platform.options()))
        (queue,) = platform.read(Document(entry["title"], text, port, switch)).queues
        for reading in BOTH if queue.not_ect is NotEct.PLATFORM else ("",):
            experiment = Experiment(port, RTT_S, not_ect=reading or "pass", where=switch.where)
            scenario = shoal.Scenario.from_toml(scenario_text(queue, experiment, title=entry["title"]))
            yield Case(entry, reading, queue, text, scenario)


def queue_of(entry: Mapping[str, Any]) -> Queue:
    """The queue with the numbers of an entry."""
    if "red" in entry:
        red = entry["red"]
        aqm = {key: f"{red[key]} B" for key in ("limit", "min", "max", "avpkt")}
        aqm |= {"kind": "linux-red", "burst": f"{red['burst']} packets", "probability": red["probability"], "ecn": True}
        return Queue(name="root", exact=aqm | {"bandwidth": f"{rate_of(entry['rate'])} bit/s"})
    numbers = entry["mark"]
    ends = [Amount(Fraction(numbers[key]), Unit(numbers["unit"])) for key in ("min", "max")]
    where = Where.UNKNOWN if entry["platform"] == "openconfig" else Where.DEQUEUE
    mark = Law(Action.MARK, ends[0], ends[1], Fraction(numbers["percent"], 100), numbers.get("weight", 0), where)
    drop = Law(Action.DROP, mark.min, mark.max, mark.pmax, mark.weight, where) if entry["others"] == "same" else None
    name = "c-out-8q-q3" if entry["platform"] == "nxos" else "3"
    return Queue(name=name, index=3, ports=("Ethernet0",), mark=mark, drop=drop, profile="P")


@dataclass(frozen=True)
class Measured:
    """What a case gave, as means over the seeds."""

    case: Case
    cubic_share: Estimate
    delay: Estimate
    utilisation: Estimate
    lost: Estimate

    @property
    def unequal(self) -> float:
        """Distance of the shares from equal ones."""
        return abs(self.cubic_share.mean - 0.5)


def measured(configurations: Sequence[Case], seeds: int) -> list[Measured]:
    """Some cases, run with the cache of sweeps."""
    results = simulated()([(case.scenario, seed) for case in configurations for seed in range(1, seeds + 1)])

    def mean(runs: Sequence[shoal.Result], name: str, *arguments: object) -> Estimate:
        return estimate([float(metrics[name].formula(run, *arguments)) for run in runs])

    return [
        Measured(
            case,
            cubic_share=mean(runs, "share", "cubic"),
            delay=mean(runs, "delay_ms", "all", "p99"),
            utilisation=mean(runs, "utilisation"),
            lost=mean(runs, "dropped", "all"),
        )
        for number, case in enumerate(configurations)
        for runs in [results[number * seeds : (number + 1) * seeds]]
    ]


def ranks(values: Sequence[float]) -> list[int]:
    """Ranks from 1, the smallest first; equal values share a rank."""
    ordered = sorted(values)
    return [ordered.index(value) + 1 for value in values]


NAMES = ("configuration", "platform", "port", "marks")
VALUES = ("CUBIC's share", "delay P99", "utilisation", "lost")


def named(case: Case) -> tuple[str, ...]:
    """The cells that tell a row from the others."""
    return (case.title, case.entry["platform"], case.entry["rate"], law(case.queue))


def valued(result: Measured) -> tuple[str, ...]:
    """What was measured."""
    return (percent(result.cubic_share), milliseconds(result.delay), percent(result.utilisation), percent(result.lost))


def ranked(results: Sequence[Measured]) -> str:
    """The table, the most equal sharing first."""
    standings = zip(
        ranks([result.unequal for result in results]),
        ranks([result.delay.mean for result in results]),
        ranks([-round(result.utilisation.mean, 4) for result in results]),
        strict=True,
    )
    rows = sorted(zip(results, standings, strict=True), key=lambda row: row[1])
    heads = (*NAMES, *VALUES, "rank: sharing", "rank: delay", "rank: utilisation")
    return table(heads, [(*named(result.case), *valued(result), *standing) for result, standing in rows], "llllr")


def law(queue: Queue) -> str:
    """The law of marks in words."""
    mark = queue.mark
    if mark is None:
        return "none"
    average = f", average 2^-{mark.weight}" if mark.weight else ""
    # tc cannot write equal thresholds with a probability between them: a byte apart is a step.
    if mark.is_step or mark.max.number - mark.min.number == 1:
        return f"step at {mark.min}{average}"
    return f"{float(mark.pmax) * 100:.3g} % from {mark.min} to {mark.max}{average}"


def percent(value: Estimate) -> str:
    """A fraction in percent, with its confidence interval."""
    width = value.half_width
    return f"{value.mean * 100:.2f}" + (f" ± {width * 100:.2f}" if width else "") + " %"


def again(case: Case) -> Mapping[str, str]:
    """The row of a configuration, made again."""
    return dict(zip(VALUES, valued(*measured([case], SEEDS)), strict=True))


def measure(*, seeds: int = SEEDS) -> Iterator[str]:
    """The ranking, and each configuration with its place."""
    results = measured(list(cases()), seeds)
    yield (
        "Four DCTCP and four CUBIC flows without ECN, round trip 100 µs, hosts that send in bursts as cards of that "
        f"speed do, {seeds} seeds, ± 95 % confidence. Sorted by how equally the two groups share: a share of 50 % is "
        "equal.\n"
        "But for the lines of tc, what the queue may hold is in none of these configurations: twice the maximum "
        "threshold and at least four bandwidth-delay products are assumed."
    )
    yield ranked(results)
    starved = sum(min(result.cubic_share.mean, 1 - result.cubic_share.mean) < STARVED for result in results)
    yield (
        f"In {starved} of {len(results)} readings a group has less than {STARVED * 100:g} %: CUBIC where packets "
        "without ECN are dropped from the thresholds on at which others are marked, DCTCP where only the buffer drops "
        "them."
    )
    yield "## Where they stand, and what is read"
    seen: set[str] = set()
    for case in (result.case for result in results):
        if case.entry["title"] in seen:
            continue
        seen.add(case.entry["title"])
        language = "json" if case.text.startswith("{") else "text"
        yield f"**{case.entry['title']}**: {case.source}, `{case.entry['path']}`. Minimal, with its numbers:"
        yield f"<!-- not run: a fragment for a device, which no tool here executes -->\n\n```{language}\n{case.text}```"


STUDY = Study(
    title="Configurations that exist",
    about="[how they are read](../how-to/read-a-switch-configuration.md)",
    measure=measure,
    takes="about five minutes",
    cells=lambda: [Cell("", named(case), partial(again, case), cpu_s=2) for case in cases()],
)
