"""What sweeps cost beside their runs: CPU time, the second core, memory, workers of Dask.

CPU seconds are those of this process and of those it starts, best of what a noisy machine gives in several pieces; wall
times are shown for what they are.
"""

from __future__ import annotations

import os
import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import shoal
from shoal.metrics import default_metrics
from shoal.runs import execute
from shoal.runs.design import Design, axis
from shoal.runs.execute import run_plan
from shoal.runs.plan import Plan
from shoal.runs.store import contents
from shoal.template import Template
from shoal_dev.study import Study, in_own_process
from shoal_dev.tables import table

COEXISTENCE = ("coexistence", {"duration": "30 s", "warmup": "5 s"}, "bottleneck.aqm.dctcp.threshold")
# As short as a run can be: what is left is what a sweep itself takes.
TINY = ("step-single", {"duration": "100 ms", "warmup": "0 s"}, "bottleneck.aqm.threshold")


def plan_of(case: tuple[str, dict[str, object], str], points: int) -> Plan:
    """A sweep over the threshold, in steps of a byte."""
    name, keys, key = case
    scenario = shoal.Scenario.named(name).override(keys)
    design = Design((axis(key, [f"{15_000 + number} B" for number in range(points)]),))
    return Plan(Template(scenario, design.keys, {}), design, default_metrics(scenario))


def cpu_s() -> float:
    """CPU time of this process, in s."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Descendants:
    """CPU time of all processes that this one has started, and of those that they have.

    Workers of Dask are forks of another process, whose time is not told to this one when they end.
    """

    def __init__(self) -> None:
        import psutil

        self._own = psutil.Process()
        self._gone = psutil.NoSuchProcess
        self._used_s: dict[tuple[int, float], float] = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def used_s(self) -> float:
        """What they have used, as last seen."""
        self._ends.set()
        self._thread.join()
        return sum(self._used_s.values())

    def _watch(self) -> None:
        while not self._ends.wait(0.1):
            for process in self._own.children(recursive=True):
                with suppress(self._gone):
                    times = process.cpu_times()
                    self._used_s[process.pid, process.create_time()] = times.user + times.system


def bare(points: int) -> dict[str, float]:
    """What the runs take if nothing is done but to run them: scenarios are made before, results are dropped."""
    plan = plan_of(COEXISTENCE, points)
    run_s = 0.0
    for number in range(points):
        native = plan.recipe.at(plan.design.at(number)).native
        start_s = time.thread_time()
        native.run(seed=1)
        run_s += time.thread_time() - start_s
    return {"run_ms": run_s / points * 1e3}


def timed_runs() -> list[float]:
    """The CPU time of each run that this process will perform, in s; grows with them."""
    times_s: list[float] = []
    perform = execute.perform

    def timed(*arguments: Any) -> Any:
        start_s = time.thread_time()
        try:
            return perform(*arguments)
        finally:
            times_s.append(time.thread_time() - start_s)

    execute.perform = timed
    return times_s


def swept(points: int, workers: int, case: str, where: str) -> dict[str, float]:
    """What a sweep takes, with all its runs kept on disk."""
    plan = plan_of(COEXISTENCE if case == "coexistence" else TINY, points)
    executor = None
    if where:
        from shoal.runs.cluster import Cluster

        executor = Cluster.at(where)
    with tempfile.TemporaryDirectory() as folder:
        others = Descendants() if where else None
        run_s = timed_runs()
        start_s, start_cpu_s = time.monotonic(), cpu_s()
        rows = run_plan(plan, workers=workers, cache=Path(folder), executor=executor)
        wall_s, used_s = time.monotonic() - start_s, cpu_s() - start_cpu_s
        if others is not None:
            used_s += others.used_s()
        if rows.runs != points:
            raise RuntimeError(f"{rows.runs} runs of {points}")
        disk = contents(Path(folder)).bytes
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "cpu_ms": used_s / points * 1e3,
        "wall_s": wall_s,
        "peak_mb": peak_kb / 1024,
        "disk_kb": disk / points / 1024,
        "cores": used_s / wall_s,
        # Only of runs in this process.
        "beside": used_s / sum(run_s) - 1 if run_s else 0.0,
    }


def measure(*, points: int = 10_000, many: int = 100_000) -> Iterator[str]:
    """The cost of a point, of two workers, of many points, and of Dask."""
    load = os.getloadavg()[0]
    # In turns, so that whatever else runs on the machine meets both.
    piece = max(400, points // 10)  # fewer would show what a process takes to begin
    pairs = [
        (in_own_process(bare, piece)["run_ms"], in_own_process(swept, piece, 1, "coexistence", "")) for _ in range(5)
    ]
    over = sorted(sweep["cpu_ms"] / run_ms - 1 for run_ms, sweep in pairs)
    run_ms = min(run for run, _ in pairs)
    double = in_own_process(swept, points, 2, "coexistence", "")
    single = in_own_process(swept, points, 1, "coexistence", "")
    yield (
        f"One run of `coexistence` for 30 s takes {run_ms:.1f} ms of CPU. "
        f"Load before: {load:.1f} on {os.cpu_count()} cores."
    )
    name = f"the same beside bare runs of another process, 5 pairs of {piece:,} points"
    spread = f"{over[0] * 100:.1f} to {over[-1] * 100:.1f} %"
    walls = f"{single['wall_s']:.0f} s and {double['wall_s']:.0f} s: {single['wall_s'] / double['wall_s']:.2f} times"
    rows = {
        "points": f"{points:,}, 1 seed, 7 metrics, records on disk",
        "CPU beside the runs of the same process, one worker": f"{single['beside'] * 100:.1f} %",
        name: f"{over[2] * 100:.1f} % (median; {spread})",
        "wall time, one and two workers": walls,
        "cores that one and two workers got": f"{single['cores']:.2f} and {double['cores']:.2f}",
        "CPU a point of two workers over one": f"{double['cpu_ms'] / single['cpu_ms']:.3f}",
        "disk a run": f"{double['disk_kb']:.1f} kB",
    }
    for count in (many // 100, many // 10, many):
        tiny = in_own_process(swept, count, 2, "tiny", "")
        rows[f"peak memory, {count:,} points of 0.1 s"] = (
            f"{tiny['peak_mb']:.0f} MB ({tiny['cpu_ms']:.2f} ms of CPU a point)"
        )
    yield table(("measured", "value"), (rows | with_dask(points)).items())


def with_dask(points: int) -> dict[str, str]:
    """The rows about workers of Dask."""
    if find_spec("distributed") is None:
        return {"Dask": "not installed"}
    threads = in_own_process(swept, points, 4, "coexistence", "")
    dask = in_own_process(swept, points, 4, "coexistence", "local:4")
    walls = f"{dask['wall_s']:.0f} s over {threads['wall_s']:.0f} s"
    return {
        "4 local workers of Dask over 4 threads, wall": f"{dask['wall_s'] / threads['wall_s']:.2f} times ({walls})",
        "the same, CPU a point, starting workers included": f"{dask['cpu_ms'] / threads['cpu_ms']:.2f} times",
    }


STUDY = Study(
    title="What sweeps cost",
    about="see [sweeps](../sweeps.md)",
    measure=measure,
    needs=("cluster",),
    takes="about ten minutes on a quiet machine",
    of_a_machine=True,
)
