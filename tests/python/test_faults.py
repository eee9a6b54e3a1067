"""Interrupts, full disks, unwritable places: a clear message, the documented code, nothing half-written."""

from __future__ import annotations

import os
import resource
import shlex
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

FILES, INTERRUPTED, TERMINATED, HUNG_UP = 4, 130, 143, 129
# The tests may run below `nohup` or in the background, where signals are ignored and commands keep it so.
AS_USUAL = ["env", "--default-signal=INT,TERM,HUP,QUIT,ALRM,XCPU,USR1,USR2"]


def started(folder: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """A command that runs, with its output and its notes in pipes."""
    return subprocess.Popen(
        [*AS_USUAL, sys.executable, "-m", "shoal", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(
    folder: Path, environment: dict[str, str], *arguments: str, number: int = signal.SIGINT, times: int = 1
) -> tuple[Finished, float]:
    """Start a command, interrupt it once its work has begun, and return its output and the time it took to stop."""
    process = started(folder, environment, *arguments)
    deadline = time.monotonic() + 60
    while not list(folder.glob(".*.partial")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(0.5)
    start = time.monotonic()
    for _ in range(times):
        process.send_signal(number)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
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


@pytest.mark.parametrize(
    ("number", "times", "code", "said"),
    [
        (signal.SIGTERM, 1, TERMINATED, ""),
        (signal.SIGHUP, 1, HUNG_UP, ""),
        (signal.SIGINT, 3, INTERRUPTED, "error: interrupted\n"),
        (signal.SIGHUP, 3, HUNG_UP, ""),
        *((number, 1, 128 + number, "") for number in (signal.SIGQUIT, signal.SIGALRM, signal.SIGXCPU, signal.SIGUSR1)),
    ],
)
def test_other_ends_leave_nothing(
    folder: Path, environment: dict[str, str], number: int, times: int, code: int, said: str
) -> None:
    done, seconds = interrupted(folder, environment, "run", "small.toml", *LONG, number=number, times=times)
    assert (done.code, done.err) == (code, said)
    assert seconds < 5
    assert sorted(path.name for path in folder.iterdir()) == ["small.toml"]


# A command whose page is reserved, and which does not stop: after its patience the second signal ends it at once.
STUBBORN = """
import sys, time
from shoal import _process
_process._patience_s = 0.0
_process.unwind_on_signals()
from pathlib import Path
from shoal.cli.compare import _page_in
with _page_in(Path("prague.md"), force=False):
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        print("interrupted", flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_page_leaves_no_lock(tmp_path: Path, environment: dict[str, str], times: int) -> None:
    code = STUBBORN if times == 2 else STUBBORN.rpartition("        time.sleep(60)")[0]
    command = [*AS_USUAL, sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert [path.name for path in tmp_path.iterdir()] == [".prague.md.shoal-lock"]
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        if times == 2:
            process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    assert list(tmp_path.iterdir()) == []


AT_AN_IMPORT = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), int(os.environ["NUMBER"]))
sys.meta_path.insert(0, Interrupts())
"""


@pytest.mark.parametrize("module", ["shoal._native", "typing", "shoal.cli", "rich.console", "shoal.cli.run"])
def test_an_interrupt_among_the_imports_is_no_traceback(folder: Path, environment: dict[str, str], module: str) -> None:
    (folder / "early").mkdir()
    (folder / "early" / "sitecustomize.py").write_text(AT_AN_IMPORT)
    path = os.pathsep.join([str(folder / "early"), *sys.path])
    for number in (signal.SIGINT, signal.SIGTERM):
        variables = {**environment, "PYTHONPATH": path, "AT": module, "NUMBER": str(int(number))}
        done = subprocess.run(
            [*AS_USUAL, sys.executable, "-m", "shoal", "run", "small.toml"],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 128 + number
        assert done.stderr in ("error: interrupted\n", "")
        assert done.stdout == ""


def test_a_program_that_uses_the_package_keeps_its_signals(environment: dict[str, str]) -> None:
    code = "import signal, shoal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


SHORT = ["--set", "duration=4 s", "--set", "warmup=1 s"]


@pytest.mark.parametrize("closed", ["", ">&-", "<&- >&- 2>&-"])
def test_closed_streams_and_foreign_backends_cost_no_result(
    folder: Path, environment: dict[str, str], closed: str
) -> None:
    """A job of cron has no streams, and a notebook's shell has a backend that is not installed here."""
    # Figures take most of the time.
    written = ["--out", "out"] if len(closed) != len(">&-") else ["--pcap", "out"]
    command = shlex.join([sys.executable, "-m", "shoal", "run", "small.toml", *SHORT, *written])
    backend = {"MPLBACKEND": "module://matplotlib_inline.nowhere"}
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} {closed}"],
        cwd=folder,
        env=environment | backend,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "out" / "report.html").exists() or (folder / "out").is_file()


@pytest.mark.parametrize("verb", [["run", "small.toml", *SHORT], ["run", "small.toml", *SHORT, "--json"], ["--help"]])
def test_a_reader_who_has_gone_is_no_error(folder: Path, environment: dict[str, str], verb: list[str]) -> None:
    with started(folder, environment, *verb) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_a_reader_of_notes_who_has_gone_costs_no_result(folder: Path, environment: dict[str, str]) -> None:
    with started(folder, environment, "run", "small.toml", *SHORT, "--out", "out") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        assert "Jain" in process.stdout.read()
    assert process.returncode == 0
    assert (folder / "out" / "result.json").exists()


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
