#!/usr/bin/env python3
"""Print the same experiment in ns-3 and shoal as a table: lines, what came out, CPU seconds.

tools/same_experiment.py PYTHON_WITH_NS3    # which has `pip install ns3==3.44.post0`
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import shoal

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "comparison"
NS3, SHOAL = FOLDER / "ns3_one_queue.py", FOLDER / "one_queue.toml"
ROUNDS = 5
ABOUT = """\
Two CUBIC flows and one DCTCP flow share a link of 40 Mbit/s with 10 ms of round-trip time behind one RED queue
with ECN, for 30 s. The same parameters, written for both: [ns3_one_queue.py](comparison/ns3_one_queue.py) and
[one_queue.toml](comparison/one_queue.toml). Both say that DCTCP starves CUBIC. Endpoints and queues of each are
its own models, those of shoal follow Linux; which of the differences makes the numbers differ was not
investigated. CPU seconds of the simulation leave out start and, with ns-3, the making of its Python interface; its
simulation is compiled C++ as ever. Lines of ns-3 are those of a program in Python, which is shorter than one in
C++.

flent was not measured: it drives real hosts in real time, so that its seconds are those of the experiment (30 s a
run), and it needs netperf and a kernel with netem, RED and DCTCP, which the machine of this record does not have.
"""


def lines(path: Path) -> int:
    """Lines that are neither empty nor a comment."""
    return sum(
        bool(line.strip()) and not line.lstrip().startswith(("#", '"""')) for line in path.read_text().splitlines()
    )


def children_s() -> float:
    """CPU seconds of ended child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ns3(python: str) -> tuple[list[float], str, float, float]:
    """Goodputs in Mbit/s, what the queue did, CPU seconds of the simulation and of the process."""
    begin = children_s()
    text = subprocess.run([python, NS3], capture_output=True, text=True, check=True).stdout  # noqa: S603
    goodputs = [float(value) for value in re.findall(r"([\d.]+) Mbit/s goodput", text)]
    (marked, dropped), (inside,) = (
        re.findall(r"marked (\d+), dropped (\d+)", text)[0],
        re.findall(r"([\d.]+) s of CPU", text),
    )
    return goodputs, f"{int(marked):,} / {int(dropped):,}", float(inside), children_s() - begin


def own() -> tuple[list[float], str, float, float]:
    """The same of shoal."""
    begin = time.process_time()
    result = shoal.run(SHOAL)
    inside = time.process_time() - begin
    goodputs = [flow["goodput_bps"] / 1e6 for group in result.groups for flow in group["flows"]]
    queue = result.table("queue")
    before = children_s()
    subprocess.run([Path(sys.executable).parent / "shoal", "run", SHOAL], capture_output=True, check=True)  # noqa: S603
    return goodputs, f"{queue['marks'].sum():,} / {queue['drops'].sum():,}", inside, children_s() - before


def main() -> int:
    """Run both in turns."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    runs = [(ns3(sys.argv[1]), own()) for _ in range(ROUNDS)]
    print(ABOUT)
    print("| | ns-3 3.44 | shoal |\n|---|---|---|")
    print(f"| lines that are neither empty nor comments | {lines(NS3)} | {lines(SHOAL)} |")
    (one, two) = runs[-1]
    cells = [" and ".join(f"{value:.1f}" for value in goodputs[:2]) for goodputs in (one[0], two[0])]
    print(f"| goodput of the CUBIC flows [Mbit/s] | {cells[0]} | {cells[1]} |")
    print(f"| goodput of the DCTCP flow [Mbit/s] | {one[0][2]:.1f} | {two[0][2]:.1f} |")
    print(f"| packets marked / dropped in 30 s | {one[1]} | {two[1]} |")
    for what, index in (("of the simulation", 2), ("of the whole process", 3)):
        pair = [median(run[i][index] for run in runs) for i in (0, 1)]
        print(f"| CPU seconds {what}, median of {ROUNDS} | {pair[0]:.2f} | {pair[1]:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
