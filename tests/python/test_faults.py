"""Interrupts, full disks, unwritable places: a clear message, the documented code, nothing half-written."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Cli, Finished

import shoal
from shoal._native import Cancel, Run
from shoal.errors import StoreWarning
from shoal.runs.cases import Case, run_cases
from shoal.runs.plane import Plane, simulator
from shoal.runs.store import contents

FILES, INTERRUPTED, TERMINATED = 4, 130, 143


def interrupted(
    folder: Path, environment: dict[str, str], *arguments: str, number: int = signal.SIGINT
) -> tuple[Finished, float]:
    """Start a command, interrupt it once its work has begun, and return its output and the time it took to stop."""
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob(".*.partial")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return Finished(process.returncode, out, err), time.monotonic() - start


LONG = ["--set", "duration=500000 s", "--set", "trace.series=off", "--out", "out"]


@pytest.mark.parametrize("more", [[], ["--seeds", "4"]], ids=["one run", "several seeds"])
def test_interrupt_leaves_nothing(folder: Path, environment: dict[str, str], more: list[str]) -> None:
    done, seconds = interrupted(folder, environment, "run", "small.toml", *LONG, *more)
    assert done.code == INTERRUPTED
    assert done.err == "error: interrupted\n"
    assert done.out == ""
    assert seconds < 5
    assert sorted(path.name for path in folder.iterdir()) == ["small.toml"]


def test_termination_leaves_nothing(folder: Path, environment: dict[str, str]) -> None:
    done, seconds = interrupted(folder, environment, "run", "small.toml", *LONG, number=signal.SIGTERM)
    assert done.code == TERMINATED
    assert seconds < 5
    assert sorted(path.name for path in folder.iterdir()) == ["small.toml"]


def test_interrupted_capture_leaves_nothing(folder: Path, environment: dict[str, str]) -> None:
    done, _ = interrupted(
        folder,
        environment,
        "run",
        "small.toml",
        "--set",
        "duration=500000 s",
        "--set",
        "trace.series=off",
        "--pcap",
        "x.pcapng",
    )
    assert done.code == INTERRUPTED
    assert sorted(path.name for path in folder.iterdir()) == ["small.toml"]


def counting(ran: list[int]) -> Callable[..., Run]:
    """The simulator, which notes the seed of every run that it makes."""
    run = type(simulator).run

    def counted(self: Plane, scenario: shoal.Scenario, seed: int, cancel: Cancel) -> Run:
        ran.append(seed)
        return run(self, scenario, seed, cancel)

    return counted


def test_interrupted_sweep_goes_on(folder: Path, scenario: shoal.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    class Enough(Exception):  # noqa: N818
        pass

    def stop(fraction: float) -> None:
        if fraction > 0.3:
            raise Enough

    grid = {"bottleneck.aqm.dctcp.threshold": [f"{n} packets" for n in range(5, 15)]}
    with pytest.raises(Enough):
        shoal.sweep(scenario, grid=grid, workers=1, cache=folder / "cache", progress=stop)
    kept = contents(folder / "cache").runs
    assert 1 <= kept < 10
    ran: list[int] = []
    monkeypatch.setattr(type(simulator), "run", counting(ran))
    whole = shoal.sweep(scenario, grid=grid, workers=2, cache=folder / "cache")
    assert len(ran) == 10 - kept
    fresh = shoal.sweep(scenario, grid=grid, workers=1)
    assert [point.results[0].json for point in whole] == [point.results[0].json for point in fresh]


def test_standard_output_is_full(folder: Path, environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "shoal", "run", "small.toml", "--json"],
            cwd=folder,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == FILES
    assert done.stderr == "error: No space left on device\n"


def test_reader_goes_away(folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        f"{sys.executable} -m shoal run small.toml --json | head -c 10",
        cwd=folder,
        env=environment,
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("what", [["--out", "out"], ["--pcap", "x.pcapng"], ["--out", "out", "--trace", "packets"]])
def test_disk_is_full(cli: Cli, folder: Path, what: list[str]) -> None:
    # No file may grow beyond 4 kB: like a full disk, without filling one.
    done = cli("run", "small.toml", *what, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert done.code == FILES, done.err
    assert done.err.startswith("error: ")
    assert "File too large" in done.err
    assert sorted(path.name for path in folder.iterdir() if path.name != "cache") == ["small.toml"]


def test_cache_that_was_damaged_is_made_again(folder: Path, scenario: shoal.Scenario) -> None:
    grid = {"bottleneck.aqm.dctcp.threshold": ["10 packets"]}
    first = shoal.sweep(scenario, grid=grid, cache=folder / "cache")
    (kept,) = (folder / "cache").rglob("*.sqlite")
    kept.write_bytes(kept.read_bytes()[:5000])
    with pytest.warns(StoreWarning, match="is damaged"):
        again = shoal.sweep(scenario, grid=grid, cache=folder / "cache")
    assert again[0].results[0].json == first[0].results[0].json


def test_a_known_run_has_the_same_bytes_and_its_tables_are_made_again(
    folder: Path, scenario: shoal.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(type(simulator), "run", counting(ran))
    grid = {"bottleneck.aqm.dctcp.threshold": ["10 packets"]}
    metrics = ["queue_packets()", "queue_empty()", "jain()"]
    first, again = (
        shoal.sweep(scenario, grid=grid, metrics=metrics, cache=folder / "cache")[0].results[0] for _ in range(2)
    )
    assert ran == [1]
    assert again.json == first.json
    assert [again.metric(text) for text in metrics] == [first.metric(text) for text in metrics]
    assert ran == [1]  # the numbers were kept
    assert again.table_names == first.table_names
    assert ran == [1, 1]
    for name in first.table_names:
        assert again.table(name).equals(first.table(name))
        assert again.coverage(name) == first.coverage(name)
    assert again.save(folder / "again").is_dir()
    assert first.save(folder / "first").is_dir()
    for path in (folder / "first").rglob("*.*"):
        assert path.read_bytes() == (folder / "again" / path.relative_to(folder / "first")).read_bytes()


def test_tables_that_are_asked_for_are_kept(
    folder: Path, scenario: shoal.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(type(simulator), "run", counting(ran))
    lean, whole = Case(scenario, [1]), Case(scenario, [1], tables=True)
    run_cases([lean], cache=folder / "cache")
    ((first,),) = run_cases([whole], cache=folder / "cache")
    assert ran == [1, 1]  # the first one had kept no tables
    ((again,),) = run_cases([whole], cache=folder / "cache")
    assert again.table_names == first.table_names
    for name in first.table_names:
        assert again.table(name).equals(first.table(name))
        assert again.coverage(name) == first.coverage(name)
    assert ran == [1, 1]
