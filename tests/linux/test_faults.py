"""Guests that stand still, take long, or find little room: ended or refused with the reason, and never for going on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import SINGLE, processes_of

import shoal
from shoal.cli.app import guarded
from shoal.errors import LawError
from shoal.linux import GuestError, Image, Limits, resources, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan

ITEM = "kuehlewind-2014/table-1"
FAST = """
duration = "1000 s"
bottleneck = { rate = "10 Gbit/s", buffer = "1000 packets", aqm = { kind = "step", threshold = "200 packets" } }
flows = [{ cc = "dctcp", rtt = "1 ms" }]
trace = { series = "off" }
"""


def test_stopped_guest_is_ended_and_said_to_stand_still(single: shoal.Scenario, image: Image) -> None:
    endless = single.override({"duration": "100000 s"})
    with guest_folder() as folder:

        def stop() -> None:
            while not (folder / "flows.bin").exists():
                time.sleep(0.05)
            for process in processes_of(folder):
                os.kill(process, signal.SIGSTOP)

        stopper = threading.Thread(target=stop)
        stopper.start()
        planned = plan(endless, image)
        with pytest.raises(GuestError, match=r"virtual time stood still for 3 s at [\d.]+ % of the scenario") as caught:
            run_guest(planned.config, image, folder, memory_mib=planned.memory_mib, limits=Limits(stall_s=3))
        stopper.join()
        assert "--stall-limit" in (caught.value.hint or "")
        assert processes_of(folder) == []


def test_run_goes_on_as_long_as_it_gets_on(single: shoal.Scenario, image: Image) -> None:
    long = single.override({"duration": "600 s"})
    began = time.monotonic()
    result = run_on_linux(long, image=image, limits=Limits(stall_s=2))
    took = time.monotonic() - began
    assert result.window[1] == 600
    # The limit for the whole run ends a guest that the other limit does not end, with a message.
    with pytest.raises(GuestError, match=r"stopped after .* s, the limit for the whole run, at [\d.]+ %") as caught:
        run_on_linux(long, image=image, limits=Limits(wall_s=took / 4))
    assert "--wall-limit" in (caught.value.hint or "")
    assert "report" not in (caught.value.hint or "")


@pytest.mark.parametrize(
    "command",
    [
        ["run", "{scenario}", "--on", "linux"],
        ["compare", "{scenario}", "--seeds", "2", "--fresh", "--out", "{out}"],
        ["reproduce", ITEM, "--on", "linux", "--quick", "--fresh", "--out", "{out}"],
    ],
    ids=["run", "compare", "reproduce"],
)
def test_limit_of_the_whole_run_is_an_option_of_whatever_runs_on_linux(
    command: list[str], image: Image, tmp_path: Path
) -> None:
    """A guest takes longer than a tenth of a second to boot, to run and to end."""
    assert image.helpers
    done = shoal_with(command, ["--wall-limit", "0.1"], SINGLE, tmp_path)
    assert (done.returncode, done.stdout) == (6, "")
    assert "0.1 s, the limit for the whole run" in done.stderr
    assert "--wall-limit SECONDS" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command",
    [["run", "{scenario}", "--on", "linux"], ["compare", "{scenario}", "--seeds", "2", "--fresh", "--workers", "4"]],
    ids=["run", "compare"],
)
def test_limit_of_standing_still_is_an_option(command: list[str], image: Image, tmp_path: Path) -> None:
    """A thousandth of this scenario is 833,000 packets, for which a guest takes several seconds; then all runs end."""
    assert image.helpers
    done = shoal_with(command, ["--stall-limit", "0.2"], FAST, tmp_path)
    assert (done.returncode, done.stdout) == (6, "")
    assert "its virtual time stood still for 0.2 s at 0 % of the scenario" in done.stderr
    assert "--stall-limit SECONDS" in done.stderr


def test_reproductions_give_both_limits_to_their_guests(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert image.limits == Limits()
    given = []

    def instead(*_: object, image: Image, **__: object) -> None:
        given.append(image.limits)
        raise GuestError("enough")

    monkeypatch.setattr("shoal.papers.reproduce.reproduce", instead)
    words = ["shoal", "reproduce", ITEM, "--on", "linux", "--out", str(tmp_path / "out")]
    words += ["--stall-limit", "7", "--wall-limit", "9"]
    monkeypatch.setattr("sys.argv", words)
    assert guarded() == 6
    assert given == [Limits(stall_s=7, wall_s=9)]


def shoal_with(command: list[str], limits: list[str], scenario: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``shoal`` with places filled in."""
    places = {"scenario": folder / "given.toml", "out": folder / "out"}
    places["scenario"].write_text(scenario)
    words = [sys.executable, "-m", "shoal", *(word.format(**places) for word in command), *limits]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_small_shared_memory_of_a_container_is_avoided(image: Image, tmp_path: Path) -> None:
    scenario = tmp_path / "single.toml"
    scenario.write_text(SINGLE)
    run = [sys.executable, "-m", "shoal", "run", str(scenario), "--on", "linux", "--json"]
    small = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64m shm /dev/shm && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*small, "true"], capture_output=True, check=False).returncode:
        pytest.skip("left out: this machine allows no mounts in a user namespace")
    usual = subprocess.run(run, capture_output=True, text=True, check=True)
    there = subprocess.run([*small, *run], capture_output=True, text=True, check=False)
    assert there.returncode == 0, there.stderr
    assert there.stdout == usual.stdout
    # Without room anywhere the run is refused before it starts, with the remedy.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    nowhere = [*small[:4], small[4].replace("exec", 'mount -t tmpfs -o size=64m tmp "$TMPDIR" && exec'), "sh", *run]
    inside = {**os.environ, "TMPDIR": str(temporary)}
    refused = subprocess.run(nowhere, capture_output=True, text=True, check=False, env=inside)
    assert refused.returncode == 6
    assert "in a file, for which there are" in refused.stderr
    assert "--shm-size" in refused.stderr


def test_guests_of_two_users_take_two_processors(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("left out: one processor")
    # Names of their own: other guests of this machine may hold all processors.
    script = (
        f"from shoal.linux import resources; resources._names = 'shoal/linux/test-{os.getpid()}/'\n"
        "with resources.processor() as cpu: print(cpu, flush=True); input()"
    )
    users = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / name), "SHOAL_CACHE_DIR": str(tmp_path / name)},
        )
        for name in ("one", "two")
    ]
    try:
        taken = {user.stdout.readline().strip() for user in users if user.stdout}
        assert len(taken) == 2
        assert taken <= {str(cpu) for cpu in os.sched_getaffinity(0)}
    finally:
        for user in users:
            user.communicate("\n")


def test_memory_of_guests_that_run_at_once_is_added_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Names of their own: guests of others come and go.
    monkeypatch.setattr(resources, "_names", f"shoal/linux/test-{os.getpid()}/")
    monkeypatch.setattr(resources, "available_mib", lambda: 1000)
    with resources.memory(600, tmp_path):
        with pytest.raises(GuestError, match=r"may need 600 MiB .*; \d+ MiB are free beside what other guests"):
            resources.memory(600, tmp_path).__enter__()
        with resources.memory(300, tmp_path):
            pass
    with resources.memory(600, tmp_path):
        pass


def test_records_that_contradict_each_other_are_no_result(single: shoal.Scenario, image: Image) -> None:
    planned = plan(single, image)
    with guest_folder() as folder:
        run_guest(planned.config, image, folder, memory_mib=planned.memory_mib, seed=planned.seed)
        assert planned.result(folder).json
        # A record of 40 bytes is lost.
        lines = (folder / "lines.bin").read_bytes()
        (folder / "lines.bin").write_bytes(lines[:4000] + lines[4040:])
        with pytest.raises(LawError, match=r"contradict each other.*link `bottleneck`") as caught:
            planned.result(folder)
    assert "report" in (caught.value.hint or "")
