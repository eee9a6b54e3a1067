"""One experiment in ns-3 and shoal: lines, what came out, CPU seconds.

Installs ns-3 into target/ns3, which fetches 70 MB from PyPI the first time.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import shoal
from shoal_dev import ROOT
from shoal_dev.study import Study
from shoal_dev.tables import table

FOLDER = Path(__file__).parent
PYTHON = ROOT / "target" / "ns3" / "bin" / "python"
NS3, SHOAL = FOLDER / "ns3_one_queue.py", FOLDER / "one_queue.toml"
ROUNDS = 5
ABOUT = """\
Two CUBIC flows and one DCTCP flow share a link of 40 Mbit/s with 10 ms of round-trip time behind one RED queue
with ECN, for 30 s. The same parameters, written for both:
[ns3_one_queue.py](../../studies/same_experiment/ns3_one_queue.py) and
[one_queue.toml](../../studies/same_experiment/one_queue.toml). Both say that DCTCP starves CUBIC. Endpoints and queues
of each are its own models, those of shoal follow Linux; which of the differences makes the numbers differ was not
investigated. CPU seconds of the simulation leave out start and, with ns-3, the making of its Python interface; its
simulation is compiled C++ as ever. Lines of ns-3 are those of a program in Python, which is shorter than one in
C++.

flent was not measured: it drives real hosts in real time, so that its seconds are those of the experiment (30 s a
run), and it needs netperf and a kernel with netem, RED and DCTCP, which the machine of this record does not have."""


def lines(path: Path) -> int:
    """Lines that are neither empty nor a comment."""
    return sum(
        bool(line.strip()) and not line.lstrip().startswith(("#", '"""')) for line in path.read_text().splitlines()
    )


def children_s() -> float:
    """CPU seconds of ended child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ns3() -> tuple[list[float], str, float, float]:
    """Goodputs in Mbit/s, what the queue did, CPU seconds of the simulation and of the process."""
    begin = children_s()
    text = subprocess.run([PYTHON, NS3], capture_output=True, text=True, check=True).stdout
    goodputs = [float(value) for value in re.findall(r"([\d.]+) Mbit/s goodput", text)]
    (marked, dropped), (inside,) = (
        re.findall(r"marked (\d+), dropped (\d+)", text)[0],
        re.findall(r"([\d.]+) s of CPU", text),
    )
    return goodputs, f"{int(marked):,} / {int(dropped):,}", float(inside), children_s() - begin


def shoal_run() -> tuple[list[float], str, float, float]:
    """Goodputs, what the queue did, and CPU seconds of shoal."""
    begin = time.process_time()
    result = shoal.run(SHOAL)
    inside = time.process_time() - begin
    goodputs = [flow["goodput_bps"] / 1e6 for group in result.groups for flow in group["flows"]]
    queue = result.table("queue")
    before = children_s()
    subprocess.run([Path(sys.executable).parent / "shoal", "run", SHOAL], capture_output=True, check=True)
    return goodputs, f"{queue['marks'].sum():,} / {queue['drops'].sum():,}", inside, children_s() - before


def measure() -> Iterator[str]:
    """Run both in turns."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PYTHON.parents[1]], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "ns3==3.44.post0"], check=True)
    runs = [(ns3(), shoal_run()) for _ in range(ROUNDS)]
    yield ABOUT
    last = runs[-1]
    rows = [
        ("lines that are neither empty nor comments", lines(NS3), lines(SHOAL)),
        (
            "goodput of the CUBIC flows [Mbit/s]",
            *(" and ".join(f"{value:.1f}" for value in run[0][:2]) for run in last),
        ),
        ("goodput of the DCTCP flow [Mbit/s]", *(f"{run[0][2]:.1f}" for run in last)),
        ("packets marked / dropped in 30 s", *(run[1] for run in last)),
    ]
    for what, index in (("of the simulation", 2), ("of the whole process", 3)):
        pair = [median(run[i][index] for run in runs) for i in (0, 1)]
        rows.append((f"CPU seconds {what}, median of {ROUNDS}", *(f"{value:.2f}" for value in pair)))
    yield table(("", "ns-3 3.44", "shoal"), rows)


STUDY = Study(
    title="The same experiment in ns-3 and shoal",
    measure=measure,
    needs=("ns-3",),
    takes="about two minutes",
    of_a_machine=True,
)
