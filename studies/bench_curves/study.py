"""How cost, memory and set-up grow.

Flows: scenarios/bench/scale.toml with 40 to 40,000 of them. Hosts: leaf-spine networks of 64 to 16,384 hosts and
fat-trees of 54 to 8,192, of which each host sends 20 kB to one other. Each measurement is a process of its own, so that
no memory of another is counted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import _native
from shoal._toml import toml_document
from shoal_dev import ROOT
from shoal_dev.study import Study, in_own_process
from shoal_dev.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE = ROOT / "scenarios" / "bench" / "scale.toml"

FLOWS = (40, 126, 400, 1265, 4000, 12_649, 40_000)
# As many leaves as spines and as hosts of a leaf: no leaf has less capacity upwards than its hosts.
LEAF_SPINE = (8, 16, 32, 64, 128)
# Ports of a switch: 54, 250, 1024, 3456 and 8192 hosts; more than 32 ports are not accepted.
FAT_TREE = (6, 10, 16, 24, 32)
# Memory comes in pages and blocks: what a flow adds is told from scenarios that are so many times the smallest.
CLEARLY_LARGER = 10
AQM = {"kind": "step", "threshold": "65 packets"}


@dataclass(frozen=True)
class Point:
    """A scenario: its kind, and the number that it grows with.

    Attributes
    ----------
    kind
        ``flows``, ``leaf-spine`` or ``fat-tree``.
    size
        Flows, leaves or ports of a switch.
    """

    kind: str
    size: int

    @property
    def count(self) -> int:
        """Flows; in networks, hosts, each of which has one."""
        return {"flows": self.size, "leaf-spine": self.size**2, "fat-tree": self.size**3 // 4}[self.kind]

    def text(self) -> tuple[str, list[tuple[str, str]]]:
        """The scenario file, and the keys that are replaced in it, with their values in TOML."""
        if self.kind == "flows":
            return SCALE.read_text(encoding="utf-8"), [("flows[0].count", f"{self.count}"), ("warmup", '"0 s"')]
        sizes = {"leaves": self.size, "spines": self.size, "hosts_per_leaf": self.size}
        shape = {"kind": self.kind, **(sizes if self.kind == "leaf-spine" else {"k": self.size})}
        links = {"rate": "100 Gbit/s", "delay": "1 us", "buffer": "1000 packets", "aqm": AQM}
        ends = {"from": f"h1..h{self.count}", "to": f"h1..h{self.count}", "pairing": "permutation"}
        keys = {"title": "One transfer from each host", "duration": "100 us", "warmup": "0 s", "seed": 1}
        keys |= {"topology": shape | links, "trace": {"series": "off"}}
        return toml_document(keys | {"flows": [{"cc": "dctcp", **ends, "app": {"transfer": "20 kB"}}]}), []


@dataclass(frozen=True)
class Measured:
    """What one process measured.

    Attributes
    ----------
    reading_s
        CPU time of reading the scenario and planning its network, in s.
    run_s
        CPU time of the run with its result, in s.
    peak_mb
        Largest resident memory during that less that before it, in MB of 10^6 B.
    packets
        Packets that left the monitored links.
    """

    reading_s: float
    run_s: float
    peak_mb: float
    packets: int


@dataclass(frozen=True)
class Row:
    """A point with what was measured: best times of several processes, and the largest memory.

    Attributes
    ----------
    whole_s
        CPU time of reading and run.
    setup_s
        CPU time of a scenario of which nothing is simulated: reading, planning, building, an empty result.
    """

    point: Point
    whole_s: float
    setup_s: float
    peak_mb: float
    packets: int

    @property
    def ns_per_packet(self) -> float:
        """CPU time without set-up over the packets, in ns."""
        return 1e9 * (self.whole_s - self.setup_s) / self.packets


def timed(kind: str, size: int, empty: bool) -> dict[str, Any]:
    """Measure in this process; `empty` ends the run before anything happens."""
    point = Point(kind, size)
    text, replaced = point.text()
    # None of the flows begins before the run ends, but for one in a million.
    more = [("duration", '"1 ns"'), ("flows[0].start", '{ uniform = ["0 s", "1 ms"] }')] if empty else []
    before_mb = peak_mb()
    start = time.process_time()
    native = _native.Scenario(text, f"{point.kind}.toml", replaced + more)
    read = time.process_time()
    run = native.run()
    end = time.process_time()
    memory_mb = peak_mb() - before_mb
    packets = sum(link["departed"] for link in json.loads(run.json)["bottlenecks"])
    return asdict(Measured(reading_s=read - start, run_s=end - read, peak_mb=memory_mb, packets=packets))


def peak_mb() -> float:
    """Largest resident memory of this process so far, in MB.

    From /proc and not from getrusage, whose ru_maxrss begins with the memory of the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


def measured(points: Sequence[Point], repeat: int) -> list[Row]:
    """All points, measured in turns, so that a busy machine slows all of them alike."""
    whole: dict[Point, list[Measured]] = {point: [] for point in points}
    empty: dict[Point, list[Measured]] = {point: [] for point in points}
    for _ in range(repeat):
        for point in points:
            whole[point].append(Measured(**in_own_process(timed, point.kind, point.size, False)))
            empty[point].append(Measured(**in_own_process(timed, point.kind, point.size, True)))
    return [
        Row(
            point=point,
            whole_s=min(run.reading_s + run.run_s for run in whole[point]),
            setup_s=min(run.reading_s + run.run_s for run in empty[point]),
            peak_mb=max(run.peak_mb for run in whole[point]),
            packets=whole[point][0].packets,
        )
        for point in points
    ]


def measure(*, repeat: int = 7) -> Iterator[str | Figure]:
    """One row a point, best of some processes, and the figure."""
    points = [
        Point(kind, size)
        for kind, sizes in {"flows": FLOWS, "leaf-spine": LEAF_SPINE, "fat-tree": FAT_TREE}.items()
        for size in sizes
    ]
    rows = measured(points, repeat)
    heads = ("flows", "CPU s", "ns/packet", "set-up, ms", "set-up, µs a flow", "memory, MB", "B a flow")
    yield table(("scenario", *heads), [cells_of(row, rows) for row in rows], "lr")
    yield figure(rows)


def cells_of(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """One row of the table."""
    smallest = next(other for other in rows if other.point.kind == row.point.kind)
    kinds = {"flows": "scale", "leaf-spine": f"leaf-spine, {row.point.count:,} hosts"}
    return (
        kinds.get(row.point.kind, f"fat-tree, {row.point.count:,} hosts"),
        f"{row.point.count:,}",
        f"{row.whole_s:.3f}",
        f"{row.ns_per_packet:.0f}",
        f"{1e3 * row.setup_s:.2f}",
        f"{1e6 * row.setup_s / row.point.count:.1f}",
        f"{row.peak_mb:.1f}",
        f"{bytes_each(row, smallest):,.0f}" if row.point.count >= CLEARLY_LARGER * smallest.point.count else "",
    )


def bytes_each(row: Row, smallest: Row) -> float:
    """Memory in B that each flow has added to that of the smallest scenario of its kind."""
    return 1e6 * (row.peak_mb - smallest.peak_mb) / (row.point.count - smallest.point.count)


def figure(rows: Sequence[Row]) -> Figure:
    """Cost of a packet, memory and set-up, each over the number of flows."""
    # Drawing takes more memory and time to import than small points take to run.
    from matplotlib.figure import Figure

    from shoal.plots.sizes import two_columns
    from shoal.plots.style import colour, legend_of_figure, logarithmic, marker, paper_style

    names = {
        "flows": "10 host pairs (scale)",
        "leaf-spine": "leaf-spine, a flow a host",
        "fat-tree": "fat-tree, a flow a host",
    }
    with paper_style():
        drawn = Figure(figsize=(two_columns, 4.4))
        (cost, each), (memory, setup) = drawn.subplots(2, 2)
        for index, (kind, label) in enumerate(names.items()):
            curve = [row for row in rows if row.point.kind == kind]
            counts = [row.point.count for row in curve]
            style = {"color": colour(index), "marker": marker(index), "label": label}
            cost.plot(counts, [row.ns_per_packet for row in curve], **style)
            memory.plot(counts, [row.peak_mb for row in curve], **style)
            grown = [row for row in curve if row.point.count >= CLEARLY_LARGER * curve[0].point.count]
            each.plot([row.point.count for row in grown], [bytes_each(row, curve[0]) / 1e3 for row in grown], **style)
            setup.plot(counts, [1e3 * row.setup_s for row in curve], **style)
        # Lines in proportion to the flows, through one network.
        anchor = next(row for row in rows if row.point == Point("leaf-spine", 32))
        ends = (40, 40_000)
        for axes, value in ((memory, anchor.peak_mb), (setup, 1e3 * anchor.setup_s)):
            line = [value * count / anchor.point.count for count in ends]
            axes.plot(ends, line, color="black", linewidth=0.6, linestyle=":", label="slope 1")
        for axes in (cost, each, memory, setup):
            axes.set_xlim(30, 55_000)
            axes.set_xlabel("Flows")
            logarithmic(axes.xaxis)
        cost.set_title("Cost of a packet")
        cost.set_ylabel("CPU time [ns]")
        cost.set_ylim(200, 10_000)
        each.set_title("Memory of a flow with its links")
        each.set_ylabel("Memory [kB]")
        memory.set_title("Peak memory")
        memory.set_ylabel("Memory [MB]")
        setup.set_title("Set-up")
        setup.set_ylabel("CPU time [ms]")
        each.set_ylim(1, 50)
        for axes in (cost, each, memory, setup):
            logarithmic(axes.yaxis)
        legend_of_figure(drawn, [memory], columns=4)
        return drawn


STUDY = Study(
    title="Growth",
    page="internals/performance.md",
    measure=measure,
    takes="about three minutes",
    of_a_machine=True,
)
