"""What RFC 9331, section 4.3, asks of a scalable sender, as scripts for every preset of Prague, and for DCTCP.

https://www.rfc-editor.org/rfc/rfc9331#section-4.3
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal_dev.study import Cell, Study, simulated
from shoal_dev.tables import table

FOLDER = Path(__file__).parent
SEEDS = range(1, 4)
SENDERS = ("prague-2020", "prague-0.6", "prague-0.7-early", "prague-0.7", "dctcp")
# DCTCP sends ECT(0), and gets to the queue of scalable flows only where the mask says so.
MASK = {"bottleneck.aqm.ecn_mask": "any-ect"}
HAVE_NO_FALLBACK = ("prague-0.7", "dctcp")
FALLBACK = {"flows.scalable.cc_options.classic_fallback": True}
# The text asks to adapt in real time, and names no time; means of this length are compared.
WINDOW_S, REAL_TIME_S = 5, 20.0
# The controller that takes over, and when.
REPLACED_S = 40
REPLACED = {"flows.scalable.replace": {"cc": "cubic", "after": f"{REPLACED_S} s"}}
# A gap between packets of one burst: a card sends a packet of 1500 bytes at 1 Gbit/s in 12 us.
WITHIN_A_BURST_US = 13.0


@dataclass(frozen=True)
class Script:
    """A requirement as a scenario with a number that must not be exceeded.

    Attributes
    ----------
    number
        Number of the requirement in the section.
    what
        What is asked, and the number that is measured.
    scenario
        The file.
    groups
        The groups whose controller is replaced.
    bound
        The largest value with which it holds, set before anything was measured.
    value
        The number of a result.
    changes
        Changes of the scenario.
    """

    number: int
    what: str
    scenario: str
    groups: tuple[str, ...]
    bound: float
    value: Callable[[shoal.Result], float]
    changes: Mapping[str, object]

    def measured(self, sender: str) -> float:
        """The mean of the seeds for a sender."""
        changes = dict(self.changes) | {f"flows.{group}.cc": sender for group in self.groups}
        scenario = shoal.Scenario.from_file(FOLDER / self.scenario)
        if sender == "dctcp" and scenario.resolved["bottleneck"]["aqm"]["kind"] == "dualpi2":
            changes |= MASK
        results = simulated()([(scenario.override(changes), seed) for seed in SEEDS])
        return float(np.mean([self.value(result) for result in results]))


def goodput(result: shoal.Result, group: str) -> float:
    """Mean goodput of a flow of a group in bit/s."""
    return float(result.metric(f"goodput_mbps('{group}')")) * 1e6


@cache
def goodput_of_reno(seed: int) -> float:
    """What Reno has in the scenario of requirement 2, in bit/s."""
    reno = shoal.Scenario.from_file(FOLDER / "loss.toml").override({"flows.scalable.cc": "reno"})
    return goodput(simulated()([(reno, seed)])[0], "scalable")


def window_over_reno(result: shoal.Result) -> float:
    """The rate over that which Reno has with the same loss and round trip, whose window is the same multiple."""
    return goodput(result, "scalable") / goodput_of_reno(result.seed)


def ratio(result: shoal.Result, first: str, second: str) -> float:
    """Rate of one flow over that of another."""
    return float(result.metric(f"rate_ratio('{first}', '{second}')"))


def classic_after_s(result: shoal.Result, severity: float) -> float:
    """When the rate over CUBIC's, a mean of some seconds each, was above a severity for the last time, in s."""
    window = (pl.col("time_s") / WINDOW_S).ceil() * WINDOW_S
    delivered = result.table("flows").with_columns(window.alias("window_s"))
    rates = delivered.pivot("group", index="window_s", values="goodput_bps", aggregate_function="sum")
    above = rates.filter(pl.col("scalable") > severity * pl.col("classic"))["window_s"]
    return float(above.to_numpy().max(initial=0.0))


def burst_us(result: shoal.Result) -> float:
    """The 99th percentile of bursts at the sender, weighted by bytes, in time at the flow's mean rate."""
    start_ps = result.window[0] * 1e12
    sent = (
        result.table("segments")
        .filter((pl.col("end") == "sender") & (pl.col("event") == "send") & (pl.col("payload") > 0))
        .filter(pl.col("time_ps") >= start_ps)
        .with_columns((pl.col("time_ps").diff().fill_null(0) > WITHIN_A_BURST_US * 1e6).cum_sum().alias("burst"))
    )
    bytes_ = sent.group_by("burst").agg(pl.col("payload").sum()).sort("payload")["payload"].to_numpy()
    weighted = bytes_[np.searchsorted(np.cumsum(bytes_), 0.99 * bytes_.sum())]
    return float(weighted * 8 / goodput(result, "scalable") * 1e6)


def single_queue(rtt_ms: int, bound: float, fallback: str, changes: Mapping[str, object]) -> Script:
    """Requirement 3 at a round trip."""
    return Script(
        3,
        f"classic queue, 4 Mbit/s, {rtt_ms} ms{fallback}: rate over CUBIC's",
        "single-queue.toml",
        ("scalable",),
        bound,
        partial(ratio, first="scalable", second="classic"),
        {"flows.*.rtt": f"{rtt_ms} ms"} | dict(changes),
    )


def adaptation(rtt_ms: int, severity: float) -> Script:
    """Requirement 3: how long the fallback takes."""
    return Script(
        3,
        f"the same, fallback on, {rtt_ms} ms: seconds until its rate stays below {severity:g} times CUBIC's",
        "single-queue.toml",
        ("scalable",),
        REAL_TIME_S,
        partial(classic_after_s, severity=severity),
        {"flows.*.rtt": f"{rtt_ms} ms", "warmup": "0 s", "trace.series": "100 ms"} | FALLBACK,
    )


SCRIPTS = (
    Script(
        1,
        f"cubic takes over after {REPLACED_S} s, 90 ms: rate over CUBIC's from {REPLACED_S + REAL_TIME_S:g} s on",
        "single-queue.toml",
        ("scalable",),
        2.0,
        partial(ratio, first="scalable", second="classic"),
        {"flows.*.rtt": "90 ms", "warmup": f"{REPLACED_S + REAL_TIME_S:g} s"} | REPLACED,
    ),
    Script(2, "loss of 1 %: window over Reno's", "loss.toml", ("scalable",), 1.05, window_over_reno, {}),
    single_queue(90, 10.0, "", {}),
    single_queue(15, 5.0, "", {}),
    single_queue(90, 10.0, ", fallback on", FALLBACK),
    single_queue(15, 5.0, ", fallback on", FALLBACK),
    adaptation(90, 10.0),
    adaptation(15, 5.0),
    Script(
        4,
        "5 beside 25 ms: rate of the near flow over the far one's",
        "rtt-bias.toml",
        ("near", "far"),
        1.2,
        partial(ratio, first="near", second="far"),
        {},
    ),
    Script(
        5,
        "200 flows of half a packet: median delay, ms",
        "small-windows.toml",
        ("scalable",),
        2.0,
        lambda result: float(result.metric("delay_ms('ect', 'p50')")),
        {},
    ),
    Script(
        6,
        "reordering by three packets: retransmissions",
        "reordering.toml",
        ("scalable",),
        0.0,
        lambda result: float(result.groups[0]["flows"][0]["retransmissions"]),
        {},
    ),
    Script(7, "bursts of a host that segments: 99 %, us", "bursts.toml", ("scalable",), 250.0, burst_us, {}),
)
HEADS = ("requirement", "what", "at most", *SENDERS)


def cell(script: Script, sender: str) -> str:
    """What is measured of a sender, and whether the requirement holds."""
    if FALLBACK.items() <= script.changes.items() and sender in HAVE_NO_FALLBACK:
        return "has none"
    value = script.measured(sender)
    return f"{value:.3g}, {'holds' if value <= script.bound else 'fails'}"


def measure() -> Iterator[str]:
    """Every script for every sender."""
    yield (
        f"A value is the mean of {len(SEEDS)} seeds; bounds were set before anything was measured. Requirement 1, that "
        "a classic control can take its place, is the key `replace` of a group: TCP_CONGESTION of an open socket."
    )
    rows = [
        (script.number, script.what, f"{script.bound:g}", *(cell(script, sender) for sender in SENDERS))
        for script in SCRIPTS
    ]
    yield table(HEADS, rows, "rlr")


def cells() -> Iterator[Cell]:
    """Every script."""
    for script in SCRIPTS:
        yield Cell(
            "",
            (str(script.number), script.what),
            lambda script=script: {sender: cell(script, sender) for sender in SENDERS},  # type: ignore[misc]
            cpu_s=20,
        )


STUDY = Study(
    title="What L4S asks of a scalable sender",
    about="the requirements are those of [RFC 9331, section 4.3](https://www.rfc-editor.org/rfc/rfc9331#section-4.3)",
    measure=measure,
    takes="about two minutes",
    cells=cells,
)
