"""Seeds: their range, how many there may be, and the notice where they make no difference."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, Cli

import shoal
from shoal import _native
from shoal.compare import compare
from shoal.parallel import run_all
from shoal.seeds import most_seeds

SHORT = ["--set", "duration=4 s", "--set", "warmup=1 s"]
STEP = """
title = "Nothing random"
duration = "4 s"
warmup = "1 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ name = "a", cc = "dctcp", rtt = "25 ms", count = 2 }]
"""


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64, 10**30, True, 1.5, "3"])
def test_what_is_no_seed(seed: Any) -> None:
    for arguments in ({"seed": seed}, {"seeds": [1, seed]}):
        with pytest.raises(shoal.UsageError, match="is not a seed"):
            shoal.run(shoal.Scenario.from_toml(SMALL), **arguments)


def test_the_largest_seed_runs_again_from_its_own_file() -> None:
    scenario = shoal.Scenario.from_toml(SMALL).override({"duration": "4 s", "warmup": "1 s"})
    result = shoal.run(scenario, seed=_native.MAX_SEED)
    assert _native.MAX_SEED == 2**63 - 1
    assert shoal.run(result.scenario).json == result.json
    with pytest.raises(shoal.UsageError, match=f"{2**63} is not a seed"):
        shoal.run(scenario.override({"seed": _native.MAX_SEED}), seeds=2)


def test_endless_seeds_are_refused_in_python() -> None:
    scenario = shoal.Scenario.from_toml(SMALL)
    for seeds in (10**12, iter(int, 1), range(most_seeds + 1)):
        with pytest.raises(shoal.UsageError, match="too many at once"):
            shoal.run(scenario, seeds=seeds)


REPEATED = "the seed 2 is there twice, which would make intervals too narrow"


@pytest.mark.parametrize("seeds", [[1, 2] * 10, (2, 1, 2)])
@pytest.mark.parametrize("verb", ["run", "sweep", "tune", "compare"])
def test_no_seed_counts_twice(seeds: Any, verb: str) -> None:
    """Intervals over [1, 2] * 10 would be those of 20 runs."""
    scenario = shoal.Scenario.from_toml(SMALL)
    key = "bottleneck.aqm.dctcp.threshold"
    bisected: Any = {"key": key, "low": 10, "high": 13, "unit": "packets", "side": "smallest"}
    calls: dict[str, Callable[[], Any]] = {
        "run": lambda: shoal.run(scenario, seeds=seeds),
        "sweep": lambda: shoal.sweep(scenario, grid={key: ["10 packets"]}, seeds=seeds),
        "tune": lambda: shoal.tune(scenario, such_that="utilisation() > 0", seeds=seeds, **bisected),
        "compare": lambda: compare([("small", scenario)], seeds=seeds),
    }
    with pytest.raises(shoal.UsageError, match=r"the seed [12] is there twice") as refused:
        calls[verb]()
    assert refused.value.hint == "give each seed once: the same seed gives the same run"


def test_no_seed_counts_twice_in_files_and_in_results(inside: Cli, folder: Path, result: shoal.Result) -> None:
    (folder / "sweep.toml").write_text('scenario = "small.toml"\nseeds = [3, 2, 2]\n[axes]\nseed = [1]\n')
    done = inside("sweep", "sweep.toml")
    assert (done.code, done.err.splitlines()[0]) == (2, f"error: sweep.toml: {REPEATED}")
    with pytest.raises(shoal.UsageError, match="the seed 1 is there twice"):
        shoal.Results([result, result])


@pytest.mark.parametrize("seeds", [2.0, True, {}, "", -3, 0, "12", b"1", [[1]], {"a": 1}])
def test_what_are_no_seeds(seeds: Any) -> None:
    with pytest.raises(shoal.UsageError, match=r"expected how many or a list|no seeds|is not a seed") as refused:
        shoal.run(shoal.Scenario.from_toml(SMALL), seeds=seeds)
    assert refused.value.hint


def test_waiting_tasks_take_no_memory() -> None:
    taken = finished = 0

    def tasks() -> Iterator[Callable[[object], int]]:
        nonlocal taken
        for number in range(500):
            taken += 1
            assert taken - finished <= 2 * 3, "a task was made long before a worker was free"
            yield lambda _, number=number: number

    def on_done() -> None:
        nonlocal finished
        finished += 1

    assert run_all(tasks(), workers=3, on_done=on_done) == list(range(500))


def test_the_first_error_is_that_of_the_first_task() -> None:
    def fails(number: int) -> Callable[[object], int]:
        def task(_: object) -> int:
            raise ValueError(number)

        return task

    with pytest.raises(ValueError, match=r"^0$"):
        run_all([fails(number) for number in range(20)], workers=1)


def test_what_many_runs_keep_is_numbers() -> None:
    result = shoal.run(shoal.Scenario.from_toml(SMALL))
    assert result.table_names
    assert result.without_tables().table_names == []
    assert result.without_tables().json == result.json
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    data = json.loads(result.json)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The bound of the number of seeds rests on this: 10,000 of them take less than 1 GB.
    assert len(result.json) + after - before < 100_000
    assert data["seed"] == 1


def test_runs_of_several_seeds_are_saved_with_their_tables(inside: Cli, folder: Path) -> None:
    assert inside("run", "small.toml", *SHORT, "--seeds", "3", "--out", "out").code == 0
    loaded = [shoal.Result.load(folder / "out" / f"seed-{seed}") for seed in (1, 2, 3)]
    scenario = loaded[0].scenario
    for seed, result in zip((1, 2, 3), loaded, strict=True):
        again = shoal.run(scenario, seed=seed)
        assert again.json == result.json
        assert again.table("queue").equals(result.table("queue"))
    assert json.loads((folder / "out" / "results.json").read_text())["seeds"] == [1, 2, 3]
    assert (folder / "out" / "report.html").exists()


NOTHING = (
    "warning: nothing in this scenario is random: all 3 runs are identical\n"
    'hint: let the flows start at random within a round-trip time, with start = { uniform = ["0 ms", "25 ms"] } in each'
    ' group\n      (--set \'flows.a.start={ uniform = ["0 ms", "25 ms"] }\')\n'
)


def test_identical_runs_are_called_so(inside: Cli, folder: Path) -> None:
    (folder / "step.toml").write_text(STEP)
    done = inside("run", "step.toml", "--seeds", "3")
    assert (done.code, done.err) == (0, NOTHING)
    assert "3 seeds, all identical; hosts ideal." in done.out
    # What the hint offers is accepted, and helps.
    jitter = ["--set", 'flows.a.start={ uniform = ["0 ms", "25 ms"] }']
    done = inside("run", "step.toml", "--seeds", "3", *jitter)
    assert (done.code, done.err) == (0, "")
    assert "3 seeds, mean ± 95 % confidence interval" in done.out
    done = inside("sweep", "step.toml", "--seeds", "3", "--axis", "bottleneck.aqm.threshold=10 packets,20 packets")
    assert (done.code, done.err) == (0, NOTHING)
    assert "2 points, 3 seeds, all identical" in done.out
    key = ["--key", "bottleneck.aqm.threshold", "--unit", "packets", "--from", "10", "--to", "11", "--smallest"]
    done = inside("tune", "step.toml", "--seeds", "3", *key, "--such-that", "utilisation() > 0.1")
    assert (done.code, done.err) == (0, NOTHING)
    assert inside("run", "step.toml").err == ""


def test_some_points_without_randomness_are_named(inside: Cli, folder: Path) -> None:
    (folder / "step.toml").write_text(STEP)
    starts = 'flows.a.start="0 s",{ uniform = ["0 ms", "25 ms"] }'
    done = inside("sweep", "step.toml", "--seeds", "3", "--axis", starts)
    assert done.code == 0
    assert done.err == "warning: at 1 of 2 points all runs are identical, first at flows.a.start = 0 s\n"


def test_identical_is_what_is_equal_but_for_the_seed() -> None:
    scenario = shoal.Scenario.from_toml(STEP)
    assert shoal.run(scenario, seeds=2).identical
    assert not shoal.run(scenario, seeds=1).identical
    assert not shoal.run(shoal.Scenario.from_toml(SMALL).override({"duration": "4 s"}), seeds=2).identical
