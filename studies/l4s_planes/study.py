"""Shares and delays of L4S on both planes: a scalable flow beside CUBIC behind mainline's DualPI2."""

from __future__ import annotations

import itertools
import statistics
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

import shoal
from shoal.linux import Image, run_on_linux
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, legend_of_figure, marker, paper_style
from shoal_dev.study import Cell, Run, Study, has_kernel, kernel, kernel_release, on_linux, planes, simulated
from shoal_dev.tables import table
from studies.l4s_planes.verdicts import QUANTITIES, VERDICTS, Compared

FOLDER = Path(__file__).parent
# Seeds by rate in Mbit/s: time of the kernel goes with packets.
SEEDS = {4: 20, 12: 12, 40: 8, 120: 3, 200: 3}
RTTS_MS = (5, 10, 20, 50, 100)
SCALABLE: Mapping[str, Mapping[str, object]] = {
    "Prague": {"flows.scalable.cc": "prague-0.7"},
    # DCTCP sends ECT(0), which the default mask puts into the classic queue.
    "DCTCP": {"flows.scalable.cc": "dctcp", "bottleneck.aqm.ecn_mask": "any-ect"},
}
AT_ONCE = "Every packet acknowledged"
AGAIN = "Again with other seeds"
ALONE = "One flow alone"
RTTS_AT_ONCE_MS = (5, 10, 20)
# A cell of Prague that three seeds called different once, and the seeds that were measured because of that.
AGAIN_POINT, AGAIN_SEEDS = (120, 5), range(4, 12)
PAIRS = tuple(itertools.product(SEEDS, RTTS_MS))
# The second round trip with data of `paced.toml`, whose first packet leaves with the ACK that clocks it.
SECOND_ROUND_S = (0.19, 0.295)
HEADS = ("Mbit/s", "RTT, ms", "seeds")
SUMMARY = ("scalable", "quantity", "bound", *VERDICTS, "undecided, mean within", "largest difference", "at")

# Rate in Mbit/s and round trip in ms of a row.
Point = tuple[int, int]
Row = tuple[Compared, ...]


def seeds_of(point: Point) -> Sequence[int]:
    """The seeds of a row."""
    return range(1, SEEDS[point[0]] + 1)


def results(run: Run, point: Point, changes: Mapping[str, object], seeds: Sequence[int]) -> list[shoal.Result]:
    """The results of some seeds on a plane."""
    rate, rtt = point
    changes = {"bottleneck.rate": f"{rate} Mbit/s", "flows.*.rtt": f"{rtt} ms"} | dict(changes)
    scenario = shoal.Scenario.from_file(FOLDER / "pair.toml").override(changes)
    return run([(scenario, seed) for seed in seeds])


def values(run: Run, point: Point, changes: Mapping[str, object], seeds: Sequence[int] = ()) -> list[tuple[float, ...]]:
    """Each quantity of the seeds of a row, or of those given, on a plane."""
    of_seeds = results(run, point, changes, seeds or seeds_of(point))
    return [tuple(quantity.value(result) for result in of_seeds) for quantity in QUANTITIES]


def compared(point: Point, changes: Mapping[str, object], seeds: Sequence[int] = ()) -> Row:
    """Each quantity of the seeds of a row, or of those given, on both planes."""
    sides = (values(run, point, changes, seeds) for run in (simulated(), on_linux()))
    return tuple(Compared(*quantity) for quantity in zip(QUANTITIES, *sides, strict=True))


def at_once() -> Mapping[str, object]:
    """What makes receivers acknowledge each packet."""
    return {**SCALABLE["Prague"], "flows.*.delayed_ack": False}


def in_words(row: Row) -> dict[str, str]:
    """The measured cells of a row by the titles of their columns."""
    return {
        head: text
        for each in row
        for head, text in {each.quantity.title: each.quantity.shown(each.sim), **each.cells()}.items()
    }


def acks(rtt: int) -> dict[str, str]:
    """ACKs of the scalable flow for each of its packets at 4 Mbit/s, as receivers are and at once."""
    row = {}
    for title, changes in (("delayed", SCALABLE["Prague"]), ("at once", at_once())):
        for plane, run in planes().items():
            means = [
                result.groups[0]["acks_per_packet"] for result in results(run, (4, rtt), changes, seeds_of((4, rtt)))
            ]
            row[f"{title}, {plane}"] = f"{statistics.fmean(means):.2f}"
    return row


def beside(sim: float, linux: float | None, digits: int) -> dict[str, str]:
    """A number of both planes, or of the simulator alone, by the titles of columns."""
    row = {"simulator": f"{sim:,.{digits}f}"}
    if linux is None:
        return row
    return row | {"Linux": f"{linux:,.{digits}f}", "simulator above Linux": f"{100 * (sim / linux - 1):+.2f} %"}


def marks_alone() -> dict[str, str]:
    """Marks of one DCTCP flow over accurate ECN."""
    scenario = shoal.Scenario.from_file(FOLDER / "alone.toml")
    marks = {plane: run([(scenario, 1)])[0].bottlenecks[0]["marked"] for plane, run in planes().items()}
    return beside(marks["simulator"], marks.get("Linux"), 0)


def sent_s(capture: bytes) -> Iterator[float]:
    """When packets with data left the bottleneck."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == 6:
            interface, high, low = struct.unpack_from("<3I", capture, at + 8)
            (size,) = struct.unpack_from("<I", capture, at + 24)
            if interface == 0 and size > 1000:
                yield (high << 32 | low) / 1e9
        at += length


def pacing_gap_us(scenario: shoal.Scenario, image: Image | None) -> float:
    """The median gap between packets of the second window in microseconds: on a kernel if there is one given."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.pcapng"
        if image:
            run_on_linux(scenario, image=image, pcap=file)
        else:
            shoal.run(scenario, pcap=file)
        first_s, last_s = SECOND_ROUND_S
        times = [time_s for time_s in sent_s(file.read_bytes()) if first_s <= time_s < last_s]
    return 1e6 * statistics.median(after - before for before, after in itertools.pairwise(times))


def pacing(option: str) -> dict[str, str]:
    """Gaps between paced packets, with accurate ECN's option or without."""
    scenario = shoal.Scenario.from_file(FOLDER / "paced.toml").override({"flows.*.ecn_option": option})
    on_kernel = pacing_gap_us(scenario, kernel()) if has_kernel() else None
    return beside(pacing_gap_us(scenario, None), on_kernel, 1)


FACTS = {
    "DCTCP over accurate ECN behind a step of 15 packets, 40 Mbit/s: marks in 15 s": marks_alone,
    "Prague over accurate ECN with its option: us between paced packets": partial(pacing, "full"),
    "Prague over accurate ECN without the option: us between paced packets": partial(pacing, "off"),
}


def summary(name: str, rows: Mapping[Point, Row]) -> Iterator[tuple[str, ...]]:
    """How many cells of a controller are the same, different and undecided, a row a quantity."""
    for number, quantity in enumerate(QUANTITIES):
        cells = {point: row[number] for point, row in rows.items()}
        counts = [str(sum(cell.verdict == verdict for cell in cells.values())) for verdict in VERDICTS]
        counts.append(str(sum(cell.is_open for cell in cells.values())))
        (rate, rtt), widest = max(cells.items(), key=lambda item: abs(item[1].difference))
        bound = f"{100 * quantity.share:.0f} % of Linux's" if quantity.share else f"{quantity.absolute:g}"
        where = f"{rate} Mbit/s, {rtt} ms"
        yield name, quantity.title, bound, *counts, f"{widest.difference:+.{quantity.digits}f}", where


def rows_of(rows: Mapping[tuple[str, ...], Row]) -> str:
    """A table of rows by their first cells."""
    cells = {first: in_words(row) for first, row in rows.items()}
    heads = (*HEADS, *next(iter(cells.values())))
    return table(heads, [(*first, *row.values()) for first, row in cells.items()], "r")


def first_cells(point: Point) -> tuple[str, ...]:
    """Rate, round trip and number of seeds of a row."""
    return (*map(str, point), str(SEEDS[point[0]]))


def again_cells() -> tuple[str, ...]:
    """Rate, round trip and the other seeds."""
    return (*map(str, AGAIN_POINT), f"{AGAIN_SEEDS[0]} to {AGAIN_SEEDS[-1]}")


def figure(measured: Mapping[str, Mapping[Point, Row]]) -> Figure:
    """The share over the round trip: a panel for each controller, lines of the simulator and markers of Linux."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 2.9))
        panels = drawn.subplots(1, len(measured), sharey=True)
        for panel, (name, rows) in zip(panels, measured.items(), strict=True):
            for number, rate in enumerate(SEEDS):
                shares = [rows[rate, rtt][0] for rtt in RTTS_MS]
                sim = [statistics.fmean(share.sim) for share in shares]
                linux = [statistics.fmean(share.linux) for share in shares]
                paint, label = colour(number), f"{rate} Mbit/s"
                panel.plot(RTTS_MS, sim, color=paint)
                panel.plot(RTTS_MS, linux, color=paint, linestyle="none", marker=marker(number), label=label)
            panel.set(xscale="log", xlabel="round-trip time [ms]", title=f"{name} beside CUBIC", ylim=(0, 100))
            panel.set_xticks(RTTS_MS, [str(rtt) for rtt in RTTS_MS], minor=False)
            panel.minorticks_off()
        panels[0].set_ylabel("share [%]: lines simulator, markers Linux")
        legend_of_figure(drawn, list(panels), columns=len(SEEDS))
        return drawn


def measure() -> Iterator[str | Figure]:
    """The verdicts, a table a controller, the mechanism, the flows that are alone, and the figure."""
    measured = {name: {point: compared(point, changes) for point in PAIRS} for name, changes in SCALABLE.items()}
    intervals = sum(len(rows) for rows in measured.values()) * len(QUANTITIES)
    yield (
        f"One scalable flow beside one CUBIC flow without ECN behind DualPI2 of Linux {kernel_release()} and its "
        "model, 60 s of which 20 s are left out, both starts random between 0 and 1 s; DCTCP's ECT(0) goes into the "
        'short queue by `ecn_mask = "any-ect"`. The same seeds on both planes: values are means, and differences '
        "are simulator minus Linux, seed by seed, with their confidence intervals of 95 % by Student's t. "
        "A difference is *same* if the whole interval is within the bound, *different* if all of it is beyond, else "
        "*undecided*; *mean within* are those of which the mean difference is within the bound, so that more seeds may "
        f"make them the same. Bounds were written before anything was measured. Of {intervals} intervals some "
        f"{0.05 * intervals:.0f} are expected to miss the true difference: one *different* by itself is no finding."
    )
    yield table(SUMMARY, [line for name, rows in measured.items() for line in summary(name, rows)], "lllr")
    for name, rows in measured.items():
        yield f"## {name}"
        yield rows_of({first_cells(point): row for point, row in rows.items()})
    yield f"## {AT_ONCE}"
    yield (
        "Prague at 4 Mbit/s with `delayed_ack = false` for both flows. Windows of two packets are clocked by single "
        "ACKs, and small packets are acknowledged at once on the simulator, in pairs by the kernel; with this key both "
        "acknowledge each packet."
    )
    yield rows_of({first_cells((4, rtt)): compared((4, rtt), at_once()) for rtt in RTTS_AT_ONCE_MS})
    yield "ACKs of Prague's flow for each of its packets, as receivers delay them by default and at once:"
    each = {f"{rtt} ms": acks(rtt) for rtt in RTTS_AT_ONCE_MS}
    yield table(("RTT", *next(iter(each.values()))), [(rtt, *row.values()) for rtt, row in each.items()], "lr")
    yield f"## {AGAIN}"
    yield (
        f"Prague at {AGAIN_POINT[0]} Mbit/s and {AGAIN_POINT[1]} ms with other seeds than its table has, which "
        "were measured because the three seeds of its table called the share different on 27 November 2026 "
        "(+4.0 ± 2.0); both verdicts are shown."
    )
    yield rows_of({again_cells(): compared(AGAIN_POINT, SCALABLE["Prague"], AGAIN_SEEDS)})
    yield f"## {ALONE}"
    yield (
        "Marks of 15 s after a warmup of 5 s, RTT 10 ms. Gaps are medians in the second round trip of a connection "
        "with an RTT of 100 ms on a line of 1 Gbit/s, where nothing but the pacing rate spaces packets."
    )
    rows = {what: fact() for what, fact in FACTS.items()}
    yield table(("what", *next(iter(rows.values()))), [(what, *row.values()) for what, row in rows.items()], "lr")
    yield figure(measured)


def again(point: Point, changes: Mapping[str, object], seeds: Sequence[int] = ()) -> dict[str, str]:
    """The measured cells of a row; those of the simulator alone where there is no kernel."""
    if has_kernel():
        return in_words(compared(point, changes, seeds))
    of_seeds = zip(QUANTITIES, values(simulated(), point, changes, seeds), strict=True)
    return {quantity.title: quantity.shown(numbers) for quantity, numbers in of_seeds}


def cells() -> Iterator[Cell]:
    """Every row."""
    sections: Sequence[tuple[str, Sequence[Point], Mapping[str, object]]] = [
        *((name, PAIRS, changes) for name, changes in SCALABLE.items()),
        (AT_ONCE, [(4, rtt) for rtt in RTTS_AT_ONCE_MS], at_once()),
    ]
    for section, points, changes in sections:
        for rate, rtt in points:
            row = first_cells((rate, rtt))
            cost_s = SEEDS[rate] * (1.3 + 0.08 * rate)
            yield Cell(section, row, partial(again, (rate, rtt), changes), cpu_s=cost_s)
    measured_again = partial(again, AGAIN_POINT, SCALABLE["Prague"], AGAIN_SEEDS)
    yield Cell(AGAIN, again_cells(), measured_again, cpu_s=90)
    for rtt in RTTS_AT_ONCE_MS:
        yield Cell(AT_ONCE, (f"{rtt} ms",), partial(acks, rtt), cpu_s=4 * SEEDS[4])
    for what, fact in FACTS.items():
        yield Cell(ALONE, (what,), fact, cpu_s=3)


STUDY = Study(
    title="L4S on both planes",
    about="[L4S](../l4s.md#on-the-kernel) says what is behind the differences",
    measure=measure,
    needs=("kernel",),
    takes="about an hour of a CPU",
    caption="Share of a scalable flow beside CUBIC behind DualPI2 over the round trip, on the simulator and on Linux",
    cells=cells,
)
