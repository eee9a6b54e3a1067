"""What FQ-CoDel does to a flow by the uptime of the kernel, on the simulator, on Linux, and with a cure in Linux."""

import itertools
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

import shoal
from shoal.linux.places import cache
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, dash, paper_style
from shoal_dev import study
from shoal_dev.study import Cell, Run, Study
from shoal_dev.tables import table

# When the flow begins. The simulator's kernel has been up for 100 s more, and a guest for a few seconds more: its boot
# is not recent to the law at the first, and recent at the second.
YOUNG_S, OLD_S = 3, 3000
LASTS_S = 30
BASE = shoal.Scenario.from_toml("""
title = "FQ-CoDel and the uptime of the kernel"
duration = "30 s"
bottleneck = { rate = "100 Mbit/s", buffer = "500 packets", aqm = { kind = "fq-codel" } }
flows = [{ cc = "reno", name = "flow", rtt = "10 ms" }]
""")
GRID, PLANES, UPTIMES = "Where it shows", "On both planes, and with the cure", "By uptime"
CONTROLS = {"reno": "Reno", "cubic": "CUBIC", "dctcp": "DCTCP", "bbr": "BBR"}
RATES_MBIT_S = (10, 100, 1000)
RTTS_MS = (10, 40, 100)
# Pairs of which the kernel runs both starts: the most drops, and the largest loss of goodput, of the grid.
SHOWN = (("reno", 100, 10), ("dctcp", 100, 10), ("dctcp", 100, 100), ("bbr", 100, 100))
STARTS_S = (0, 3, 600, 2090, 2210, 3000, 4280, 4402)

Case = tuple[str, int, int]


def scenario(case: Case, start_s: int) -> shoal.Scenario:
    """One flow that begins so long after the start of the experiment."""
    control, rate, rtt = case
    return BASE.override(
        {
            "bottleneck.rate": f"{rate} Mbit/s",
            "flows[0].cc": control,
            "flows[0].rtt": f"{rtt} ms",
            "flows[0].start": f"{start_s} s",
            "warmup": f"{start_s} s",
            "duration": f"{start_s + LASTS_S} s",
        }
    )


def values(result: shoal.Result) -> dict[str, str]:
    """Signals of the queue, goodput and mean delay, from the start of the flow on."""
    link = result.bottlenecks[0]
    return {
        "marks": str(link["marked"]),
        "drops": str(link["dropped"]),
        "Mbit/s": f"{result.groups[0]['flows'][0]['goodput_bps'] / 1e6:.1f}",
        "ms": f"{link['delay_s']['all']['mean'] * 1e3:.2f}",
    }


def prefixed(word: str, of: Mapping[str, str]) -> dict[str, str]:
    """Columns with a word in front of them."""
    return {f"{word}: {name}": value for name, value in of.items()}


def grid_row(case: Case, run: Run) -> dict[str, str]:
    """Early and late on a plane."""
    young, old = run([(scenario(case, start_s), 1) for start_s in (YOUNG_S, OLD_S)])
    return prefixed("early", values(young)) | prefixed("late", values(old))


def uptime_row(start_s: int, planes: Mapping[str, Run]) -> dict[str, str]:
    """Drops of Reno for one start."""
    return {plane: values(run([(scenario(SHOWN[0], start_s), 1)])[0])["drops"] for plane, run in planes.items()}


def named(case: Case) -> tuple[str, str, str]:
    """The cells that tell a row from the others."""
    return CONTROLS[case[0]], str(case[1]), str(case[2])


def on_planes(planes: Mapping[str, Run]) -> Iterator[tuple[Case, tuple[str, ...], Run]]:
    """Every case that is shown on all planes, with the cells that name its row."""
    for case in SHOWN:
        for plane, run in planes.items():
            yield case, (*named(case), plane), run


@contextmanager
def cured() -> Iterator[Run]:
    """Runs on Linux whose FQ-CoDel takes no rate over before the first signal, as a module of the same source."""
    tree = cache("sources", study.kernel_build().rsplit("-", 1)[0])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "sch_fq_codel_cured.c")
        text = (tree / "net/sched/sch_fq_codel.c").read_text(encoding="utf-8")
        text = text.replace("<net/codel_impl.h>", '"codel_cured.h"')
        source.write_text(re.sub(r'"fq_codel"', '"fq_codel_cured"', text), encoding="utf-8")
        law = (tree / "include/net/codel_impl.h").read_text(encoding="utf-8")
        law, count = re.subn(r"if \(delta > 1 &&", "if (delta > 1 && vars->lastcount &&", law)
        if count != 1:
            raise ValueError("codel_impl.h is not the file that the cure is for")
        Path(folder, "codel_cured.h").write_text(law, encoding="utf-8")
        run = study.on_linux()

        def with_module(jobs: Sequence[tuple[shoal.Scenario, int]]) -> list[shoal.Result]:
            keys = {
                "laws.fq_codel_cured.kernel": str(source),
                "bottleneck.aqm": {
                    "kind": "module",
                    "name": "fq_codel_cured",
                    # TCA_FQ_CODEL_LIMIT and TCA_FQ_CODEL_ECN.
                    "options": [{"attribute": 2, "u32": 500}, {"attribute": 4, "u32": 1}],
                },
            }
            return run([(scenario.override(keys), seed) for scenario, seed in jobs])

        yield with_module


def measure() -> Iterator[str | Figure]:
    """Three tables and a figure."""
    planes = study.planes()
    yield (
        f"One flow over a queue with the kernel's settings and a limit of 500 packets (`buffer`), for {LASTS_S} s:\n"
        f"it begins {YOUNG_S} s after the start of the experiment (*early*) or {OLD_S} s after it (*late*).\n"
        "Nothing is random."
    )
    yield f"## {GRID}"
    cases = list(itertools.product(CONTROLS, RATES_MBIT_S, RTTS_MS))
    yield "On the simulator; delay is the mean time in the queue."
    rows = [(*named(case), grid_row(case, planes["simulator"])) for case in cases]
    yield table(("flow", "Mbit/s", "RTT, ms", *rows[0][3]), [(*row[:3], *row[3].values()) for row in rows], "lr")
    yield f"## {PLANES}"
    yield f"*Cured* is Linux {study.kernel_release()} whose FQ-CoDel has one condition more."
    with cured() as run:
        both = [(*key, grid_row(case, on)) for case, key, on in on_planes(planes | {"Linux, cured": run})]
    yield table(
        ("flow", "Mbit/s", "RTT, ms", "on", *both[0][4]), [(*row[:4], *row[4].values()) for row in both], "lrrlr"
    )
    yield f"## {UPTIMES}"
    yield "Drops of Reno at 100 Mbit/s and 10 ms by the second in which it begins."
    drops = [(str(start_s), uptime_row(start_s, planes)) for start_s in STARTS_S]
    yield table(("begins", *drops[0][1]), [(start, *row.values()) for start, row in drops], "r")
    yield figure()


def cells() -> Iterator[Cell]:
    """Every row, but for those with the cure."""
    planes = study.planes()
    for case in itertools.product(CONTROLS, RATES_MBIT_S, RTTS_MS):
        yield Cell(GRID, named(case), partial(grid_row, case, planes["simulator"]), cpu_s=1)
    for case, key, run in on_planes(planes):
        yield Cell(PLANES, key, partial(grid_row, case, run), cpu_s=6)
    for start_s in STARTS_S:
        yield Cell(UPTIMES, (str(start_s),), partial(uptime_row, start_s, planes), cpu_s=6)


def figure() -> Figure:
    """Window of DCTCP at 100 Mbit/s and 100 ms on both planes, early and late."""
    with paper_style():
        drawn = Figure(figsize=(two_columns, 2.2))
        panels = drawn.subplots(1, 2, sharex=True, sharey=True)
        for axes, (plane, run) in zip(panels, study.planes(tables=True).items(), strict=True):
            for index, start_s in enumerate((YOUNG_S, OLD_S)):
                case = scenario(SHOWN[2], start_s).override({"trace": {"series": "100 ms", "flows": "all"}})
                rows = run([(case, 1)])[0].table("flows")
                axes.plot(
                    rows["time_s"] - start_s,
                    rows["cwnd_packets"],
                    color=colour(index),
                    linestyle=dash(index),
                    label=f"begins at {start_s} s",
                )
            axes.set(title=plane.capitalize(), xlabel="Time since the flow began [s]", xlim=(0, LASTS_S))
            axes.legend()
        panels[0].set_ylabel("Congestion window [packets]")
        panels[0].set_ylim(0, 1500)
        return drawn


STUDY = Study(
    title="FQ-CoDel by the uptime of the kernel",
    about="[the finding](../findings/fq-codel-uptime/README.md) says\nwhat happens and why",
    measure=measure,
    needs=("kernel",),
    takes="about three minutes",
    caption="Congestion window of a DCTCP flow on a kernel that is young, and one that has been up for 50 minutes",
    cells=cells,
)
