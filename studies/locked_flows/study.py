"""Flows that are alike and stay unequal for good: where DCTCP flows with real hosts lock, why, and what cures it.

docs/findings/locked-flows/README.md says what follows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from matplotlib.figure import Figure

from shoal_dev import study
from shoal_dev.study import Run, Study
from shoal_dev.tables import table
from studies.locked_flows.cases import (
    AT_ONCE,
    BASE,
    CURES,
    LOCKED_BELOW,
    MECHANISMS,
    NO_DEFERRAL,
    SEGMENT_PACKETS,
    STARTS,
    Case,
    Shares,
    Variant,
    fluid_threshold,
    shares,
    two_bursts,
)
from studies.locked_flows.figures import figure
from studies.locked_flows.traced import segments_per_s

RATES_GBIT_S = (1, 10, 25, 100)
RTTS_US = (50, 100, 200, 300, 500)
# Rates and cards, as multiples of the link's rate, at which both mechanisms are taken apart.
TAKEN_APART = tuple(itertools.product((10, 25, 100), (1, 2.5)))
TAKEN_APART_RTT_US = 200
# The kernel takes 8 CPU seconds for a second of 10 Gbit/s.
RATES_ON_LINUX_GBIT_S = (1, 10)
TAKEN_APART_ON_LINUX_GBIT_S = (25,)
# 1/2 to 8 times C x RTT / 7 at 10 Gbit/s and 300 us, and the K of the base.
THRESHOLDS = (18, 36, 72, 90, 144, 288)
FLOWS = (2, 4, 16)
SEEDS = (1, 2, 3)
# Flows that join at random times tell seeds apart.
JOINING = ("0.5 s", "0.6 s")

MAP, NUMBERS, BOTH, STARTING, SWITCHED, TWO, CURED = (
    "Rate and round trip",
    "Threshold and number of flows",
    "The two flows",
    "When the second flow joins",
    "One mechanism less",
    "Two mechanisms",
    "Cures",
)


def measured(run: Run, cases: Sequence[Case], seeds: Sequence[int] = (1,)) -> list[Shares]:
    """What the runs gave, seed by seed within each case."""
    return [shares(result) for result in run([(case.scenario(), seed) for case in cases for seed in seeds])]


def marked(share: float) -> str:
    """A share, with a star where a flow is locked out."""
    return f"{share:.2f}{'*' * (share < LOCKED_BELOW)}"


def whole(window_packets: float, segment_packets: int = SEGMENT_PACKETS) -> str:
    """A window as whole segments and a rest."""
    segments, rest = divmod(round(window_packets), segment_packets)
    return f"{segments} x {segment_packets} + {rest}"


def map_row(rate: int, rtt: int, planes: Mapping[str, Run]) -> dict[str, str]:
    """The smallest share at a rate and an RTT, with both thresholds."""
    fluid, bursts = fluid_threshold(rate, rtt), two_bursts(rate, rtt)
    at_fluid = Case(rate, rtt, fluid)
    cases = [Case(rate, rtt, fluid, host="ideal"), at_fluid, Case(rate, rtt, bursts)]
    ideal, small, large = measured(planes["simulator"], cases)
    row = {
        "K = C x RTT / 7": f"{fluid}",
        "ideal hosts": marked(ideal.least),
        "segments": marked(small.least),
        "busy": f"{100 * small.utilisation:.0f} %",
        "K of two bursts": f"{bursts}",
        "segments, two bursts": marked(large.least),
        "largest window": whole(large.largest_window),
    }
    if rate not in RATES_ON_LINUX_GBIT_S:
        row["Linux, two bursts"] = ""
    elif "Linux" in planes:
        (kernel,) = measured(planes["Linux"], cases[2:])
        row["Linux, two bursts"] = marked(kernel.least)
    return row


def numbers_row(k: int, flows: int, planes: Mapping[str, Run]) -> dict[str, str]:
    """Several flows that join one, over the seeds."""
    of = measured(planes["simulator"], [Case(k_packets=k, flows=flows, join=JOINING)], SEEDS)
    return {
        "smallest share": " ".join(marked(run.least) for run in of),
        "Jain": " ".join(f"{run.jain:.2f}" for run in of),
        "busy": f"{100 * min(run.utilisation for run in of):.0f} %",
        "mean queue, packets": f"{sum(run.queue_packets for run in of) / len(of):.0f}",
    }


def flows_rows(plane: str, run: Run) -> Iterator[tuple[str, ...]]:
    """The two flows of the base."""
    (both,) = measured(run, [BASE.case()])
    for name, part, window, alpha, marks in zip(
        ("first", "joins"), both.parts, both.windows, both.alphas, both.marked, strict=True
    ):
        alpha_shown = "" if alpha is None else f"{100 * alpha:.1f} %"
        yield plane, name, f"{part / 2:.2f}", f"{window:.0f}", alpha_shown, f"{100 * marks:.1f} %"


def variant_row(variant: Variant, planes: Mapping[str, Run], *, elsewhere: bool) -> dict[str, str]:
    """The base with something otherwise on the planes, and on the simulator at other round trips and starts."""
    row: dict[str, str] = {}
    for plane, run in planes.items():
        if variant.is_simulated and plane != "simulator":
            row |= {plane: "", f"Jain, {plane}": "", f"first window, {plane}": ""}
            continue
        (of,) = measured(run, [variant.case()])
        row[plane] = marked(of.least)
        row[f"Jain, {plane}"] = f"{of.jain:.2f}"
        row[f"first window, {plane}"] = whole(of.windows[0], variant.segment_packets)
    if elsewhere:
        others = measured(planes["simulator"], variant.cases())
        row["locked"] = f"{sum(run.is_locked for run in others)} of {len(others)}"
        row["least"] = f"{min(run.least for run in others):.2f}"
    return row


def two_row(rate: int, card: float, planes: Mapping[str, Run]) -> dict[str, str]:
    """Without deferral, without the rounding of alpha, without both, and with receivers that wait for no interrupt."""
    base = Case(rate, TAKEN_APART_RTT_US, two_bursts(rate, TAKEN_APART_RTT_US))
    exact = {"cc_options": {"alpha_resolution": "exact"}}

    def at(host: Mapping[str, object], flow: Mapping[str, object] | None = None) -> Case:
        return replace(base, host={"nic_rate": f"{card * rate:g} Gbit/s", **host}, flow=flow or {})

    cases = {
        "defaults": at({}),
        "no deferral": at(NO_DEFERRAL),
        "exact alpha": at({}, exact),
        "neither": at(NO_DEFERRAL, exact),
        "no deferral, no interrupt wait": at({**NO_DEFERRAL, **AT_ONCE}),
    }
    row = dict(zip(cases, (marked(run.least) for run in measured(planes["simulator"], [*cases.values()])), strict=True))
    on_linux = ("defaults", "no deferral")
    if rate not in TAKEN_APART_ON_LINUX_GBIT_S:
        return row | {f"{what}, Linux": "" for what in on_linux}
    if "Linux" in planes:
        of = measured(planes["Linux"], [cases[what] for what in on_linux])
        row |= {f"{what}, Linux": marked(run.least) for what, run in zip(on_linux, of, strict=True)}
    return row


def cure_row(variant: Variant, planes: Mapping[str, Run]) -> dict[str, str]:
    """What a cure does, and what it costs."""
    row = {"set at": variant.by}
    of: dict[str, Shares] = {}
    for plane, run in planes.items():
        (of[plane],) = measured(run, [variant.case()])
        row[plane] = marked(of[plane].least)
    others = measured(planes["simulator"], variant.cases())
    return row | {
        "locked": f"{sum(run.is_locked for run in others)} of {len(others)}",
        "least": f"{min(run.least for run in others):.2f}",
        "busy": f"{100 * min(run.utilisation for run in others):.0f} %",
        "mean queue, packets": f"{of['simulator'].queue_packets:.0f}",
        "segments a second": f"{segments_per_s(variant) / 1000:.0f} k",
    }


def rows_of(section: str, planes: Mapping[str, Run]) -> list[tuple[tuple[str, ...], partial[dict[str, str]]]]:
    """The first cells of the rows of a table, and what measures the others."""
    if section == MAP:
        points = itertools.product(RATES_GBIT_S, RTTS_US)
        return [((f"{rate}", f"{rtt}"), partial(map_row, rate, rtt, planes)) for rate, rtt in points]
    if section == NUMBERS:
        numbers = itertools.product(THRESHOLDS, FLOWS)
        return [((f"{k}", f"{flows}"), partial(numbers_row, k, flows, planes)) for k, flows in numbers]
    if section == TWO:
        return [((f"{rate}", f"{card:g}"), partial(two_row, rate, card, planes)) for rate, card in TAKEN_APART]
    if section == CURED:
        return [((cure.title,), partial(cure_row, cure, planes)) for cure in (BASE, *CURES)]
    variants = STARTS if section == STARTING else [BASE, *MECHANISMS]
    return [
        ((variant.title,), partial(variant_row, variant, planes, elsewhere=section == SWITCHED)) for variant in variants
    ]


HEADS = {MAP: ("Gbit/s", "RTT, us"), NUMBERS: ("K", "flows"), STARTING: ("start",), SWITCHED: ("what is otherwise",)}
HEADS |= {TWO: ("Gbit/s", "card"), CURED: ("cure",)}
WORDS = {
    MAP: (
        "The smaller flow's rate over the mean of both; * is locked. K is in packets; the largest window, in packets,\n"
        "is that of the larger flow at the K of two bursts, as whole segments and a rest."
    ),
    NUMBERS: (
        f"10 Gbit/s, 300 us; all flows but the first join between 0.5 and 0.6 s; seeds {SEEDS[0]} to {SEEDS[-1]}.\n"
        "The smallest rate over the mean; * is locked."
    ),
    STARTING: "The base with other starts; the window of the first flow in packets, as whole segments and a rest.",
    SWITCHED: (
        "The base with one thing otherwise: the smaller share, Jain's index, and the window of the first flow as\n"
        "whole segments and a rest. *Locked* and *least* are of the same change at 100, 200, 300 and 500 us, joining\n"
        "after 0.1 and 0.5 s, on the simulator. The kernel's alpha cannot be changed."
    ),
    TWO: (
        "Shares at 200 us and a K of two bursts, by the rate of the cards as a multiple of the link's: as Linux has\n"
        "it, without the wait for whole segments (deferral), with an alpha that is not rounded, without either, and\n"
        "without either of two waits, that for whole segments and that for interrupts."
    ),
    CURED: (
        "Shares as above; *busy* is the least utilisation of those eight runs, *segments a second* what both senders\n"
        "hand to their cards in the base, on the simulator."
    ),
}


def measure() -> Iterator[str | Figure]:
    """All tables, and the figure."""
    planes = {"simulator": study.simulated(), "Linux": study.on_linux()}
    yield criterion()
    for section in (MAP, NUMBERS):
        yield from measured_table(section, planes)
    yield f"## {BOTH}"
    yield "The base: share of the link, mean congestion window in packets, mean alpha, and marked packets."
    rows = [row for plane, run in planes.items() for row in flows_rows(plane, run)]
    yield table(("on", "flow", "share", "window", "alpha", "marked"), rows, "llr")
    for section in (STARTING, SWITCHED, TWO, CURED):
        yield from measured_table(section, planes)
    yield figure(RATES_GBIT_S, RTTS_US, lambda cases: measured(planes["simulator"], cases))


def measured_table(section: str, planes: Mapping[str, Run]) -> Iterator[str]:
    """The heading, the words and the table of a section."""
    yield f"## {section}"
    yield WORDS[section]
    rows = [(names, row()) for names, row in rows_of(section, planes)]
    heads = HEADS[section]
    yield table(
        (*heads, *rows[0][1]),
        [(*names, *row.values()) for names, row in rows],
        "l" if len(heads) == 1 else "r",
    )


def criterion() -> str:
    """What counts as locked, and what was expected."""
    return (
        f"**Locked**, fixed when the base alone had been looked at, is a flow with less than {LOCKED_BELOW:g} of the\n"
        "mean rate in a second that begins 1000 round trips (queue included) and three time constants of DCTCP's\n"
        "convergence after the last start. The base has two flows with the hosts of `linux-6-25g` at 10 Gbit/s\n"
        "and 300 us behind a step at K = 90 packets, of which the second joins after 0.5 s. Elsewhere cards have\n"
        "2.5 times the rate of the link, as in the base. *Bound*: flows of ideal hosts see the same marks, and\n"
        "the difference of their windows falls by alpha / 2 with each reduction, of which there is one in alpha W\n"
        "/ 2 round trips. So its time constant is W round trips, W the window in packets, and a twentieth is left\n"
        "after three of them: shares of at least 0.95."
    )


def cells() -> Iterator[study.Cell]:
    """Rows that take a few seconds."""
    planes = study.planes()
    for section, cpu_s in ((MAP, 12), (NUMBERS, 4), (STARTING, 16), (SWITCHED, 25), (TWO, 40)):
        for names, row in rows_of(section, planes):
            if section not in (MAP, TWO) or int(names[0]) in RATES_ON_LINUX_GBIT_S:
                yield study.Cell(section, names, row, cpu_s=cpu_s)


STUDY = Study(
    title="Flows that lock",
    about="[locked flows](../findings/locked-flows/README.md)\nsays why, and what follows",
    measure=measure,
    needs=("kernel",),
    takes="about a quarter of an hour of CPU time",
    caption="Two DCTCP flows over time, locked and cured; window and packets in flight; the smaller share over the RTT",
    cells=cells,
)
