"""What two laboratories published of flows that share a link, each row with a scenario of its set-up."""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal_dev.study import simulated

FOLDER = Path(__file__).parent
SEEDS = range(1, 4)
# The laboratory of 2020 had version 0.5 of Prague, and CUBIC and Reno with ECN, over accurate ECN without its option.
SENDERS_2020 = {"prague": "prague-2020", "cubic": "cubic", "reno": "reno"}
FQ_CODEL = {"kind": "fq-codel", "classifier": "flow", "ecn": True}
ONE_CODEL = {"kind": "fq-codel", "flows": 1}
# iproute2 of the time: max is a quarter of the limit, min a third of that, the burst (2 min + max) / 3 of 1000 B.
RED = {
    "kind": "linux-red",
    "adaptive": True,
    "ecn": True,
    "bandwidth": "50 Mbit/s",
}

SHARE, RATIO, ECT_DELAY, OTHER_DELAY = "share", "ratio", "ECT delay, ms", "other delay, ms"


@dataclass(frozen=True)
class Case:
    """A row of a published table.

    Attributes
    ----------
    key
        The first cells of its row.
    source
        The published queue.
    controllers
        Names of the controllers of both flows.
    kind
        What it is counted with.
    published
        Values by quantity.
    scenario
        Builds its scenario.
    is_doubted
        Whether the source may have copied it wrongly: it counts nowhere.
    """

    key: tuple[str, ...]
    source: str
    controllers: tuple[str, str]
    kind: str
    published: Mapping[str, float]
    scenario: Callable[[], shoal.Scenario]
    is_doubted: bool = False

    def results(self, changes: Mapping[str, object] | None = None) -> list[shoal.Result]:
        """A result for each seed, with changes to the scenario."""
        scenario = self.scenario().override(changes or {})
        return simulated()([(scenario, seed) for seed in SEEDS])


@dataclass(frozen=True)
class Section:
    """A queue of a laboratory.

    Attributes
    ----------
    title
        What it is called on the page.
    heads
        Titles of the first cells of its rows.
    cases
        Gives its rows.
    goal_points
        Median error of the first flow's share that was expected before anything was measured, in percentage points.
    """

    title: str
    heads: tuple[str, ...]
    cases: Callable[[], list[Case]]
    goal_points: float | None = None


def measured(quantity: str, results: list[shoal.Result]) -> float:
    """The mean over the seeds of a quantity: shares of delivered payload, the median of their ratios, mean delays."""
    if quantity in (ECT_DELAY, OTHER_DELAY):
        kind = "ect" if quantity == ECT_DELAY else "not_ect"
        return float(np.mean([1e3 * result.bottlenecks[0]["delay_s"][kind]["mean"] for result in results]))
    rates = np.array([[group["flows"][0]["goodput_bps"] or 0.0 for group in result.groups] for result in results])
    if quantity == RATIO:
        return float(np.median(rates[:, 0] / rates[:, 1]))
    return float(np.mean(rates[:, 0] / rates.sum(axis=1)))


def lines(name: str) -> Iterator[dict[str, str]]:
    """The rows of a published table."""
    with (FOLDER / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def pair(name: str, queue: Mapping[str, object], buffer: str, flows: list[dict[str, object]]) -> shoal.Scenario:
    """The scenario file of a laboratory with another queue and other flows."""
    changes: dict[str, object] = {"bottleneck.buffer": buffer, "bottleneck.aqm": dict(queue)}
    for number, flow in enumerate(flows, 1):
        changes |= {f"flows.flow-{number}.{key}": value for key, value in flow.items()}
    return shoal.Scenario.from_file(FOLDER / name).override(changes)


def rtt_pairs(published: str, queue: Mapping[str, object], buffers: Mapping[str, str]) -> list[Case]:
    """Scenario 1 of 2020 behind a queue, with its buffer at each rate in Mbit/s."""

    def controllers(row: dict[str, str]) -> tuple[str, str]:
        return SENDERS_2020[row["cc1"]], SENDERS_2020[row["cc2"]]

    def scenario(row: dict[str, str]) -> shoal.Scenario:
        flows: list[dict[str, object]] = [
            {"cc": controller, "rtt": f"{row[f'rtt{number}_ms']} ms"}
            for number, controller in enumerate(controllers(row), 1)
        ]
        given = pair("pair.toml", queue, buffers[row["rate_mbps"]], flows)
        return given.override({"bottleneck.rate": f"{row['rate_mbps']} Mbit/s"})

    def kind(row: dict[str, str]) -> str:
        senders = " and ".join(sorted({row["cc1"], row["cc2"]}))
        return senders if row["rate_mbps"] == "50" else f"{senders}, {row['rate_mbps']} Mbit/s"

    return [
        Case(
            (row["rate_mbps"], row["cc1"], row["rtt1_ms"], row["cc2"], row["rtt2_ms"]),
            published,
            controllers(row),
            kind(row),
            {SHARE: float(row["share1"])},
            partial(scenario, row),
            bool(row["flag"]),
        )
        for row in lines("pairs.csv")
        if row["qdisc"].partition("(")[0] == published
    ]


def single_queues() -> list[Case]:
    """Scenario 6 of 2020: Prague in one classic queue with a classic flow."""
    queues: dict[str, tuple[dict[str, object], str]] = {
        "fq_codel(1q)": (ONE_CODEL, "10240 packets"),
        "fq_codel(1q,1ms/20ms)": (
            {"kind": "fq-codel", "flows": 1, "target": "1 ms", "interval": "20 ms"},
            "10240 packets",
        ),
        "pie": ({"kind": "pie", "ecn": True}, "1000 packets"),
        "pie(100p/5ms)": ({"kind": "pie", "ecn": True, "target": "5 ms", "tupdate": "32 ms"}, "100 packets"),
        "red(150000b)": (RED | {"min": "12500 B", "max": "37500 B", "burst": "20 packets"}, "150000 B"),
        "red(400000b)": (RED | {"min": "33333 B", "max": "100000 B", "burst": "55 packets"}, "400000 B"),
    }

    def scenario(row: dict[str, str]) -> shoal.Scenario:
        queue, buffer = queues[row["qdisc"]]
        classic: dict[str, object] = {"cc": SENDERS_2020[row["cc2"]], "rtt": "20 ms"}
        if row["ecn2"] != "ect0":
            # The laboratory clears the field of every packet of this flow.
            classic |= {"ecn": "off", "receiver.feedback": "classic"}
        given = pair("pair.toml", queue, buffer, [{"cc": "prague-2020", "rtt": "20 ms"}, classic])
        return given.override({"duration": "58 s", "warmup": "18 s"})

    return [
        Case(
            (row["qdisc"], row["cc2"], "ECN" if row["ecn2"] == "ect0" else "no ECN"),
            row["qdisc"],
            ("prague-2020", SENDERS_2020[row["cc2"]]),
            row["qdisc"].partition("(")[0],
            {SHARE: float(row["share1"]), RATIO: float(row["ratio_recomputed"])},
            partial(scenario, row),
        )
        for row in lines("single_queues.csv")
    ]


def dual_queue_paper(published: str, queue: Mapping[str, object], buffer: str) -> list[Case]:
    """The laboratory of 2022: CUBIC with ECN, alone or beside CUBIC or Reno without."""

    def scenario(row: dict[str, str]) -> shoal.Scenario:
        classic: dict[str, object] = {"cc": row["non_ect_cc"], "rtt": f"{row['non_ect_rtt_ms']} ms"}
        if is_alone(row):
            # The other flow is over long before the window.
            classic = {"stop": "1 s"}
        return pair("dual_queue_paper.toml", queue, buffer, [{"rtt": f"{row['ect_rtt_ms']} ms"}, classic])

    def values(row: dict[str, str]) -> dict[str, float]:
        ect, delays = float(row["ect_mbit"]), {ECT_DELAY: float(row["ect_delay_ms"])}
        if is_alone(row):
            return delays
        other = float(row["non_mbit"])
        return {SHARE: ect / (ect + other)} | delays | {OTHER_DELAY: float(row["non_delay_ms"])}

    def is_alone(row: dict[str, str]) -> bool:
        return row["non_ect_rtt_ms"] == "0"

    return [
        Case(
            (row["ect_rtt_ms"], "alone" if is_alone(row) else row["non_ect_cc"], row["non_ect_rtt_ms"]),
            published,
            ("cubic", row["non_ect_cc"]),
            "alone" if is_alone(row) else f"beside {row['non_ect_cc']}",
            values(row),
            partial(scenario, row),
        )
        for row in lines("dual_queue_paper.csv")
        if row["aqm"] == published
    ]


LABORATORY_2020 = ("rate, Mbit/s", "flow 1", "RTT 1, ms", "flow 2", "RTT 2, ms")
LABORATORY_2022 = ("RTT of ECT, ms", "other flow", "RTT of the other, ms")
ROOMY = dict.fromkeys(("50", "10"), "10000 packets")
FQ_CODELS = dict.fromkeys(("50", "10"), "10240 packets")
PIE = {"kind": "pie", "ecn": True, "target": "15 ms", "tupdate": "16 ms"}
SECTIONS = (
    Section(
        "DualPI2 as in that kernel",
        LABORATORY_2020,
        partial(rtt_pairs, "dualpi2", {"kind": "dualpi2", "form": "l4steam"}, ROOMY),
        goal_points=4.0,
    ),
    Section(
        "DualPI2 with the gains of Linux today",
        LABORATORY_2020,
        partial(
            rtt_pairs,
            "dualpi2",
            {"kind": "dualpi2", "min_qlen_step": 2},
            ROOMY,
        ),
        goal_points=4.0,
    ),
    Section(
        "FIFO",
        LABORATORY_2020,
        partial(rtt_pairs, "pfifo", {"kind": "fifo"}, {"50": "1000 packets", "10": "200 packets"}),
        goal_points=7.0,
    ),
    Section(
        "FQ-CoDel",
        LABORATORY_2020,
        partial(rtt_pairs, "fq_codel", FQ_CODEL, FQ_CODELS),
        goal_points=1.0,
    ),
    Section("Prague in one classic queue", ("queue", "other flow", "its packets"), single_queues),
    Section(
        "PIE, 2022", LABORATORY_2022, partial(dual_queue_paper, "pie ecn 15 ms", PIE, "40000 packets"), goal_points=1.2
    ),
    Section(
        "FQ-CoDel, 2022",
        LABORATORY_2022,
        partial(dual_queue_paper, "fq_codel", FQ_CODEL, "10240 packets"),
        goal_points=1.2,
    ),
)


@dataclass(frozen=True)
class FallingRate:
    """A figure that is published of scenario 2 of 2020: one flow whose link becomes slower after 30 s.

    Attributes
    ----------
    key
        The first cells of its row: packets in bursts or not, new rate in Mbit/s, RTT in ms, queue and controller.
    what
        What is published.
    published
        Its value.
    unit
        Its unit.
    """

    key: tuple[str, ...]
    what: str
    published: float
    unit: str

    def flow(self, seed: int, *, queue: str = "", controller: str = "") -> pl.DataFrame:
        """The flow every tenth of a second, with another queue and another controller if there are any."""
        bursts, rate_mbps, rtt_ms, published_queue, published_controller = self.key
        changes: dict[str, object] = {
            "topology.links.bottleneck.schedule.rates": [["0 s", "50 Mbit/s"], ["30 s", f"{rate_mbps} Mbit/s"]],
            "topology.links.bottleneck.aqm": FALLING_QUEUES[queue or published_queue],
            "topology.links.path.delay": f"{int(rtt_ms) / 2:g} ms",
            "flows.flow-1.cc": SENDERS_2020[controller or published_controller],
        }
        if bursts == "bursty":
            changes["topology.links.path.impairments"] = {"slot": {"min": "800 us", "max": "5 ms", "packets": 16}}
        scenario = shoal.Scenario.from_file(FOLDER / "falling_rate.toml").override(changes)
        (result,) = simulated(tables=True)([(scenario, seed)])
        return result.table("flows")

    def value(self, seed: int) -> float:
        """What is published, measured."""
        flow = self.flow(seed)
        if self.what == UTILISATION_RATIO:
            reference = self.flow(seed, queue="fq_codel", controller="cubic")
            return delivered(flow) / delivered(reference)
        after = flow.filter(pl.col("time_s") > FALL_S)
        if self.what == HIGHEST_RTT:
            return 1e3 * float(after["srtt_s"].to_numpy().max())
        before = flow.filter(pl.col("time_s").is_between(FALL_S - 10, FALL_S))["srtt_s"].to_numpy().mean()
        above = after.filter(pl.col("srtt_s") > 1.1 * before)["time_s"].to_numpy()
        return float(above.max(initial=FALL_S)) - FALL_S


def delivered(flow: pl.DataFrame) -> float:
    """Mean rate of the payload that a flow has delivered, in bit/s."""
    return float(flow["goodput_bps"].to_numpy().mean())


FALL_S = 30
FALLING_QUEUES: Mapping[str, Mapping[str, object]] = {
    "fq_codel": FQ_CODEL,
    "dualpi2": {"kind": "dualpi2", "form": "l4steam"},
}
SPIKE, HIGHEST_RTT, UTILISATION_RATIO = (
    "the RTT is higher for",
    "highest RTT of the sender",
    "rate to that of CUBIC behind FQ-CoDel",
)
FALLING_RATES = (
    FallingRate(("clean", "25", "80", "fq_codel", "prague"), SPIKE, 5, "s"),
    FallingRate(("clean", "1", "80", "fq_codel", "prague"), HIGHEST_RTT, 4346, "ms"),
    FallingRate(("bursty", "25", "20", "dualpi2", "prague"), UTILISATION_RATIO, 0.5, ""),
)
