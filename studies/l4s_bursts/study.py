"""What becomes of L4S where hosts or the link send in bursts: Prague beside CUBIC behind DualPI2."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from matplotlib.figure import Figure

import shoal
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, legend_of_figure, marker, paper_style
from shoal_dev.study import Cell, Run, Study, kernel_release, on_linux, planes, simulated
from shoal_dev.tables import table

SEEDS = range(1, 4)
GATHERING = {"preset": "linux-6-gso", "coalescing": "gro", "interrupt_delay": "500 us"}
HOSTS: Mapping[str, object] = {
    "packet by packet": "ideal",
    "segments": "linux-6-gso",
    "segments, paced by fq": {"preset": "linux-6-gso", "pacing": "fq"},
    "segments, gathered for .5 ms": GATHERING,
}
# Packets of a grant in the gap to the next one, in ms: ten packets of 1504 bytes in 3 ms are 40 Mbit/s.
GRANTS_MS = (3, 6, 12, 24)
PACKETS_PER_MS = 10 / 3
WITHOUT = "without a pause"
LINKS: Mapping[str, Mapping[str, object]] = {
    WITHOUT: {},
    **{
        f"a grant every {gap} ms": {"bottleneck.schedule.opportunity_gaps": f"{gap}x{round(gap * PACKETS_PER_MS)}"}
        for gap in GRANTS_MS
    },
}
STEPS_MS = (1, 5, 20)
HEADS = ("hosts", "link", "step, ms", "on")
MEASURED = (
    "Prague's share, %",
    "ECT marked, %",
    "ECT delay, 50 %, ms",
    "ECT delay, 99 %, ms",
    "other delay, mean, ms",
    "utilisation, %",
)


def results(
    run: Run, hosts: str, link: str, step_ms: int, more: Mapping[str, object] = MappingProxyType({})
) -> list[shoal.Result]:
    """The results of all seeds on a plane, with more changes of the scenario."""
    changes = {"flows.*.host": HOSTS[hosts], "bottleneck.aqm.step_threshold": f"{step_ms} ms"} | dict(LINKS[link])
    scenario = shoal.Scenario.from_file(Path(__file__).parent / "pair.toml").override(changes | dict(more))
    return run([(scenario, seed) for seed in SEEDS])


def means(of_seeds: Sequence[shoal.Result]) -> tuple[float, ...]:
    """What is measured, the means of all seeds."""
    rows = [
        (
            100 / (1 + result.metric("rate_ratio('cubic', 'prague')")),
            100 * result.bottlenecks[0]["ect"]["marked"] / result.bottlenecks[0]["ect"]["arrived"],
            result.metric("delay_ms('ect', 'p50')"),
            result.metric("delay_ms('ect', 'p99')"),
            result.metric("delay_ms('not_ect')"),
            100 * result.metric("utilisation()"),
        )
        for result in of_seeds
    ]
    return tuple(float(value) for value in np.mean(rows, axis=0))


def values(run: Run, hosts: str, link: str, step_ms: int) -> tuple[float, ...]:
    """What is measured on a plane."""
    return means(results(run, hosts, link, step_ms))


def switched_row(run: Run, link: str, what: str) -> dict[str, str]:
    """What is measured with a step of 1 ms and something otherwise, and ACKs of each flow for each of its packets."""
    of_seeds = results(run, "packet by packet", link, STEPS_MS[0], SWITCHED[what])
    acks = np.mean([[group["acks_per_packet"] for group in result.groups] for result in of_seeds], axis=0)
    shown = (f"{acks_per_packet:.2f}" for acks_per_packet in acks)
    return in_words(means(of_seeds)) | dict(zip(("ACKs a packet, Prague", "CUBIC"), shown, strict=True))


# Hosts, link and step in ms of a row.
Point = tuple[str, str, int]
# What is switched off to see what makes the planes different behind grants.
OFF = "What makes planes different"
AT_ONCE = {"flows.*.delayed_ack": False}
SWITCHED: Mapping[str, Mapping[str, object]] = {
    "nothing": {},
    "delayed ACKs": AT_ONCE,
    "delayed ACKs, and updates on the grid of grants": {**AT_ONCE, "bottleneck.aqm.tupdate": "17 ms"},
}
SWITCHED_LINKS = tuple(f"a grant every {gap} ms" for gap in (6, 12, 24))
# Rows by the heading above them: hosts of every kind without and with grants, and every step of every link.
POINTS: Mapping[str, list[Point]] = {
    "Hosts": [(hosts, link, STEPS_MS[0]) for hosts in HOSTS for link in (WITHOUT, "a grant every 6 ms")],
    "Links and steps": [("packet by packet", link, step_ms) for step_ms in STEPS_MS for link in LINKS],
}


def in_words(measured: tuple[float, ...]) -> dict[str, str]:
    """The measured cells of a row by their titles."""
    return dict(zip(MEASURED, (f"{value:.1f}" for value in measured), strict=True))


def figure(measured: Mapping[str, Mapping[Point, tuple[float, ...]]]) -> Figure:
    """Share and delay over the gap between grants: a line of the simulator for each step, markers of Linux."""
    simulator, linux = measured.values()
    with paper_style():
        drawn = Figure(figsize=(two_columns, 2.4), layout="constrained")
        panels = drawn.subplots(1, 2)
        for panel, column in zip(panels, (0, 3), strict=True):
            for number, step_ms in enumerate(STEPS_MS):
                points = [("packet by packet", link, step_ms) for link in LINKS]
                x, paint, label = (0, *GRANTS_MS), colour(number), f"step of {step_ms} ms"
                panel.plot(x, [simulator[point][column] for point in points], color=paint, label=label)
                y = [linux[point][column] for point in points]
                panel.plot(x, y, color=paint, linestyle="none", marker=marker(number), label="Linux")
            panel.set(
                xlabel="gap between grants [ms]",
                ylabel=MEASURED[column].replace(", ms", " [ms]").replace(", %", " [%]"),
            )
            panel.set_ylim(bottom=0)
        legend_of_figure(drawn, list(panels), columns=4)
    return drawn


def widest(measured: Mapping[str, Mapping[Point, tuple[float, ...]]]) -> str:
    """Where the share is most different."""
    simulator, linux = measured.values()
    point = max(simulator, key=lambda each: abs(simulator[each][0] - linux[each][0]))
    hosts, link, step_ms = point
    sim, kernel = simulator[point][0], linux[point][0]
    return f"{sim:.1f} and {kernel:.1f} % ({hosts}, {link}, step of {step_ms} ms)"


def measure() -> Iterator[str | Figure]:
    """Every row, and the figure."""
    both = {"simulator": simulated(), f"Linux {kernel_release()}": on_linux()}
    every = list(dict.fromkeys(point for points in POINTS.values() for point in points))
    measured = {on: {point: values(run, *point) for point in every} for on, run in both.items()}
    yield (
        f"One flow of each, round trips of 20 ms, 40 Mbit/s, the mean of {len(SEEDS)} seeds, the same on both planes. "
        "A link without a pause sends packet by packet; one with grants sends what waits at once, 3.3 packets for each "
        "millisecond of the gap. The kernel plane refuses no row: its lines send in grants, too, and its hosts segment "
        f"and gather. Shares are furthest apart in one row: {widest(measured)}."
    )
    for title, points in POINTS.items():
        yield f"## {title}"
        rows = [(*point, on, *in_words(measured[on][point]).values()) for point in points for on in both]
        yield table((*HEADS, *MEASURED), rows, "llrlr")
    yield f"## {OFF}"
    yield (
        "Packets of a grant reach their receiver at one instant. The simulator's receiver acknowledges every second of "
        "them, the kernel's several together, so CUBIC gets fewer ACKs there; small packets of Prague are acknowledged "
        "in pairs by the kernel, too ([L4S](../l4s.md#on-the-kernel)). Without delayed ACKs (`delayed_ack = false`) "
        "what Prague gets is the same. Most of what is left of the classic delay is the phase of DualPI2's updates: "
        "their 16 ms and the gaps have a common grid, on which those of the planes lie elsewhere and see other delays. "
        'With `tupdate = "17 ms"` they pass through all phases. The step is 1 ms, hosts send packet by packet.'
    )
    rows = {
        (link, what, on): switched_row(run, link, what)
        for link in SWITCHED_LINKS
        for what in SWITCHED
        for on, run in both.items()
    }
    heads = ("link", "switched off", "on", *next(iter(rows.values())))
    yield table(heads, [(*first, *row.values()) for first, row in rows.items()], "lllr")
    yield figure(measured)


def again(run: Run, point: Point) -> dict[str, str]:
    """What is measured of a row."""
    return in_words(values(run, *point))


def cells() -> Iterator[Cell]:
    """Every row of each plane."""
    for plane, run in planes().items():
        on = plane if plane == "simulator" else f"Linux {kernel_release()}"
        for section, points in POINTS.items():
            for point in points:
                row = (*map(str, point), on)
                yield Cell(section, row, partial(again, run, point), cpu_s=3 if plane == "simulator" else 25)
        for link in SWITCHED_LINKS:
            for what in SWITCHED:
                measured = partial(switched_row, run, link, what)
                yield Cell(OFF, (link, what, on), measured, cpu_s=3 if plane == "simulator" else 25)


STUDY = Study(
    title="L4S with hosts and links that send in bursts",
    measure=measure,
    needs=("kernel",),
    takes="about ten minutes",
    caption="Prague's share and delay over the gap between grants of the link, on the simulator and on Linux",
    cells=cells,
)
