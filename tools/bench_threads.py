#!/usr/bin/env python3
"""One run on one and on several threads, in turns: a table in Markdown on stdout.

tools/bench_threads.py [--threads N] [--repeat N] [CASE ...]    # by default the fabrics on two threads, five pairs

Seconds on the clock for planning, building, run and result of scenarios of scenarios/bench. Each measurement is
a process of its own, and the order within a pair alternates. `make bench-threads-record` puts the table into
docs/performance.md. Fails if the results of one and of several threads differ, or if the native module was built
without optimisation.

Threads gain nothing from processors that somebody else uses. So as many endless loops run before each case, and the
table says how many processors the machine gave them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from recorded import record

from shoal import _native

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
RECIPE = "bench-threads-record"
CASES = ("fabric-1k", "fabric-8k", "fabric-web")
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
        Of the result in JSON.
    """

    clock_s: float
    cpu_s: float
    sha256: str


@dataclass(frozen=True)
class Pair:
    """One run on one thread, and one on several."""

    one: Measured
    several: Measured

    @property
    def ratio(self) -> float:
        """How many times as fast as one thread the several are."""
        return self.one.clock_s / self.several.clock_s


def measure(case: str, threads: int) -> Measured:
    """Measure in this process."""
    path = ROOT / "scenarios" / "bench" / f"{case}.toml"
    text = path.read_text(encoding="utf-8")
    clock, cpu = time.perf_counter(), time.process_time()
    run = _native.Scenario(text, path.name, []).run(threads=threads)
    result = run.json
    return Measured(
        clock_s=time.perf_counter() - clock,
        cpu_s=time.process_time() - cpu,
        sha256=hashlib.sha256(result.encode()).hexdigest(),
    )


def in_own_process(case: str, threads: int) -> Measured:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--measure", case, str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return Measured(**json.loads(done.stdout))


def processors(wanted: int) -> float:
    """How many processors that many endless loops get."""
    loop = (
        f"import time\nend = time.monotonic() + {LOOP_S}\n"
        "while time.monotonic() < end: pass\nprint(time.process_time())"
    )
    start = time.monotonic()
    loops = [
        subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE, text=True)  # noqa: S603
        for _ in range(wanted)
    ]
    cpu_s = sum(float(one.communicate()[0]) for one in loops)
    return cpu_s / (time.monotonic() - start)


def raced(case: str, threads: int, repeat: int) -> list[Pair]:
    """Pairs of runs, which begin with one thread and with several in turn."""
    pairs = []
    for number in range(repeat):
        order = (1, threads) if number % 2 == 0 else (threads, 1)
        found = {count: in_own_process(case, count) for count in order}
        pairs.append(Pair(one=found[1], several=found[threads]))
    return pairs


def row(case: str, had: float, pairs: Sequence[Pair]) -> str:
    """One row of the table."""
    clocks = ", ".join(f"{pair.one.clock_s:.2f}/{pair.several.clock_s:.2f}" for pair in pairs)
    cpu = statistics.median(pair.several.cpu_s / pair.one.cpu_s for pair in pairs)
    ratios = [pair.ratio for pair in pairs]
    bests = min(pair.one.clock_s for pair in pairs) / min(pair.several.clock_s for pair in pairs)
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return f"| {case} | {had:.2f} | {clocks} | {shown} | {statistics.median(ratios):.2f} | {bests:.2f} | {cpu:.2f} |"


def main() -> int:
    """Print the table, or put it where documentation has it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = sorted(path.stem for path in (ROOT / "scenarios" / "bench").glob("*.toml"))
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE", help=f"of {', '.join(known)}")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of the second run of each pair")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="pairs of each case")
    parser.add_argument("--record", metavar="HEADING", help="write the table into docs, below this heading")
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        case, threads = options.measure
        print(json.dumps(asdict(measure(case, int(threads)))))
        return 0
    if _native.build_profile() != "release":
        print("the native module was built without optimisation", file=sys.stderr)
        return 1
    if unknown := [case for case in options.cases if case not in known]:
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(known)}")
    if options.threads < 2 or options.repeat < 1:
        parser.error("--threads begins with 2, and --repeat with 1")
    lines = [
        "| case | processors for endless loops | pairs, s: one/several | ratios | median | of bests | CPU time |",
        "|---|--:|---|---|--:|--:|--:|",
    ]
    for case in options.cases:
        had = processors(options.threads)
        pairs = raced(case, options.threads, options.repeat)
        if len({one.sha256 for pair in pairs for one in (pair.one, pair.several)}) > 1:
            print(f"{case}: the results of one and of {options.threads} threads differ", file=sys.stderr)
            return 1
        lines.append(row(case, had, pairs))
        print(lines[-1], file=sys.stderr)
    shown = "\n".join(lines)
    print(shown)
    if options.record:
        record(PAGE, RECIPE, f"{options.record}\n\n{shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
