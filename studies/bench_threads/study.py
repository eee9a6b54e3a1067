"""One run on one and on several threads, in turns.

Seconds on the clock for planning, building, run and result of scenarios of scenarios/bench. Each measurement is
a process of its own, and the order within a pair alternates. Fails if the results of one and of several threads differ.

Threads gain nothing from processors that somebody else uses. So as many endless loops run before each case, and the
table says how many processors the machine gave them.
"""

from __future__ import annotations

import hashlib
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal import _native
from shoal_dev import ROOT
from shoal_dev.study import Study, in_own_process
from shoal_dev.tables import table

CASES = "fabric-1k,fabric-8k,fabric-web"
# How long the endless loops run, in s.
LOOP_S = 2


@dataclass(frozen=True)
class Measured:
    """What one process measured.

    Attributes
    ----------
    clock_s
        Seconds on the clock from the text of the scenario to the text of its result.
    cpu_s
        CPU time of all threads meanwhile.
    sha256
        Checksum of the result in JSON.
    """

    clock_s: float
    cpu_s: float
    sha256: str


@dataclass(frozen=True)
class Pair:
    """One run on one thread, and one on several."""

    single: Measured
    several: Measured

    @property
    def ratio(self) -> float:
        """How many times as fast as one thread the several are."""
        return self.single.clock_s / self.several.clock_s


def timed(case: str, threads: int) -> dict[str, Any]:
    """One run in this process."""
    path = ROOT / "scenarios" / "bench" / f"{case}.toml"
    text = path.read_text(encoding="utf-8")
    clock, cpu = time.perf_counter(), time.process_time()
    run = _native.Scenario(text, path.name, []).run(threads=threads)
    result = run.json
    clock_s, cpu_s = time.perf_counter() - clock, time.process_time() - cpu
    return asdict(Measured(clock_s, cpu_s, hashlib.sha256(result.encode()).hexdigest()))


def processors(wanted: int) -> float:
    """How many processors that many endless loops get."""
    loop = (
        f"import time\nend = time.monotonic() + {LOOP_S}\n"
        "while time.monotonic() < end: pass\nprint(time.process_time())"
    )
    start = time.monotonic()
    loops = [subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE, text=True) for _ in range(wanted)]
    cpu_s = sum(float(process.communicate()[0]) for process in loops)
    return cpu_s / (time.monotonic() - start)


def raced(case: str, threads: int, repeat: int) -> list[Pair]:
    """Pairs of runs, which begin with one thread and with several in turn."""
    pairs = []
    for number in range(repeat):
        order = (1, threads) if number % 2 == 0 else (threads, 1)
        runs = {count: Measured(**in_own_process(timed, case, count)) for count in order}
        pairs.append(Pair(single=runs[1], several=runs[threads]))
    return pairs


def row(case: str, had: float, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """One row of the table."""
    clocks = ", ".join(f"{pair.single.clock_s:.2f}/{pair.several.clock_s:.2f}" for pair in pairs)
    cpu = statistics.median(pair.several.cpu_s / pair.single.cpu_s for pair in pairs)
    ratios = [pair.ratio for pair in pairs]
    bests = min(pair.single.clock_s for pair in pairs) / min(pair.several.clock_s for pair in pairs)
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return (case, f"{had:.2f}", clocks, shown, f"{statistics.median(ratios):.2f}", f"{bests:.2f}", f"{cpu:.2f}")


def measure(*, cases: str = CASES, threads: int = 2, repeat: int = 5) -> Iterator[str]:
    """One row a case, of some pairs of runs."""
    rows = []
    for case in cases.split(","):
        had = processors(threads)
        pairs = raced(case, threads, repeat)
        if len({run.sha256 for pair in pairs for run in (pair.single, pair.several)}) > 1:
            raise ValueError(f"{case}: the results of one and of {threads} threads differ")
        rows.append(row(case, had, pairs))
        print(rows[-1], file=sys.stderr)
    heads = ("processors for endless loops", "pairs, s: one/several", "ratios", "median", "of bests", "CPU time")
    yield table(("case", *heads), rows, "lrllr")


STUDY = Study(
    title="Threads",
    page="internals/performance.md",
    measure=measure,
    takes="about four minutes",
    of_a_machine=True,
)
