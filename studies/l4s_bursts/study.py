"""What becomes of L4S where hosts or the link send in bursts: Prague beside CUBIC behind DualPI2."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import shoal
from shoal.plots.style import colour, marker, paper_style, two_columns
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


def results(run: Run, hosts: str, link: str, step_ms: int) -> list[shoal.Result]:
    """The results of all seeds on a plane."""
    changes = {"flows.*.host": HOSTS[hosts], "bottleneck.aqm.step_threshold": f"{step_ms} ms"} | dict(LINKS[link])
    scenario = shoal.Scenario.from_file(Path(__file__).parent / "pair.toml").override(changes)
    return run([(scenario, seed) for seed in SEEDS])


def values(run: Run, hosts: str, link: str, step_ms: int) -> tuple[float, ...]:
    """What is measured on a plane, the means of all seeds."""
    rows = [
        (
            100 / (1 + result.metric("rate_ratio('cubic', 'prague')")),
            100 * result.bottlenecks[0]["ect"]["marked"] / result.bottlenecks[0]["ect"]["arrived"],
            result.metric("delay_ms('ect', 'p50')"),
            result.metric("delay_ms('ect', 'p99')"),
            result.metric("delay_ms('not_ect')"),
            100 * result.metric("utilisation()"),
        )
        for result in results(run, hosts, link, step_ms)
    ]
    return tuple(float(value) for value in np.mean(rows, axis=0))


# Hosts, link and step in ms of a row.
Point = tuple[str, str, int]
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
                panel.plot(x, y, color=paint, linestyle="none", marker=marker(number), label=f"{label}, Linux")
            panel.set(
                xlabel="gap between grants [ms]",
                ylabel=MEASURED[column].replace(", ms", " [ms]").replace(", %", " [%]"),
            )
            panel.set_ylim(bottom=0)
        panels[0].legend()
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
        f"millisecond of the gap. Shares are furthest apart in one row: {widest(measured)}."
    )
    for title, points in POINTS.items():
        yield f"## {title}"
        rows = [(*point, on, *in_words(measured[on][point]).values()) for point in points for on in both]
        yield table((*HEADS, *MEASURED), rows, "llrlr")
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


STUDY = Study(
    title="L4S with hosts and links that send in bursts",
    measure=measure,
    needs=("kernel",),
    takes="about ten minutes",
    caption="Prague's share and delay over the gap between grants of the link, on the simulator and on Linux",
    cells=cells,
)
