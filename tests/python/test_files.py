"""Which files are replaced, which are refused, and which remain of killed processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from conftest import SMALL, Cli

import shoal
from shoal.files import is_capture, new_folder, reserved
from shoal.runs.database import Database
from shoal.runs.store import contents

FILES = 4
SHORT = ["--set", "duration=4 s", "--set", "warmup=1 s"]


@pytest.mark.parametrize(
    "content", [b"thesis", b"\x0a\x0d\x0d\x0a of another program, not us", b"\xd4\xc3\xb2\xa1 pcap"]
)
def test_a_capture_replaces_no_file_of_others(inside: Cli, folder: Path, content: bytes) -> None:
    (folder / "mine.pcapng").write_bytes(content)
    done = inside("run", "small.toml", *SHORT, "--pcap", "mine.pcapng", "--force")
    assert done.code == FILES
    assert "not a capture of shoal" in done.err
    assert (folder / "mine.pcapng").read_bytes() == content


def test_a_capture_replaces_no_link_and_no_folder(inside: Cli, folder: Path) -> None:
    (folder / "thesis.tex").write_text("thesis")
    (folder / "link.pcapng").symlink_to("thesis.tex")
    (folder / "nowhere.pcapng").symlink_to("missing/x.pcapng")
    (folder / "folder").mkdir()
    for name, message in (
        ("link.pcapng", "is a symbolic link"),
        ("nowhere.pcapng", "is a symbolic link"),
        ("folder", "is not a regular file"),
    ):
        done = inside("run", "small.toml", *SHORT, "--pcap", name, "--force")
        assert done.code == FILES
        assert message in done.err
    assert (folder / "thesis.tex").read_text() == "thesis"
    assert (folder / "link.pcapng").is_symlink()


def test_a_capture_of_ours_is_replaced_if_asked_to(inside: Cli, folder: Path) -> None:
    assert inside("run", "small.toml", *SHORT, "--pcap", "x.pcapng").code == 0
    first = (folder / "x.pcapng").read_bytes()
    assert is_capture(folder / "x.pcapng")
    assert inside("run", "small.toml", *SHORT, "--pcap", "x.pcapng").code == FILES
    assert inside("run", "small.toml", *SHORT, "--seed", "9", "--pcap", "x.pcapng", "--force").code == 0
    assert (folder / "x.pcapng").read_bytes() != first


def test_devices_take_captures(inside: Cli) -> None:
    assert inside("run", "small.toml", *SHORT, "--pcap", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


def test_python_replaces_no_file_of_others(tmp_path: Path) -> None:
    scenario = shoal.Scenario.from_toml(SMALL).override({"duration": "4 s", "warmup": "1 s"})
    (tmp_path / "thesis").write_text("thesis")
    for option in ("pcap", "packets"):
        with pytest.raises(shoal.OutputError, match="so it is not replaced"):
            shoal.run(scenario, **{option: tmp_path / "thesis"})
        # A file of this program is replaced.
        for _ in range(2):
            shoal.run(scenario, **{option: tmp_path / option})
    assert (tmp_path / "thesis").read_text() == "thesis"


def test_results_replace_no_link(inside: Cli, folder: Path) -> None:
    assert inside("run", "small.toml", *SHORT, "--out", "out").code == 0
    (folder / "link").symlink_to("out")
    done = inside("run", "small.toml", *SHORT, "--out", "link", "--force")
    assert done.code == FILES
    assert "is a symbolic link" in done.err
    assert (folder / "link").is_symlink()
    for name in ("/", "."):
        assert inside("run", "small.toml", *SHORT, "--out", name, "--force").code == FILES


KILLED = """
import os, signal, sys
from shoal.files import new_folder
with new_folder(sys.argv[1], force=True) as folder:
    (folder / "half").write_text("half")
    print(folder, flush=True)
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "out"), "kill"], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    left = Path(done.stdout.strip())
    assert left.is_dir()
    # A folder of another program stays, and a file that only looks like a lock of ours.
    foreign = tmp_path / left.name.replace("-", "1-", 1)
    foreign.mkdir()
    (foreign / "notes.txt").write_text("not ours")
    (tmp_path / ".mine.shoal-lock").write_text("mine")
    # Whatever the name of the next target is.
    with new_folder(tmp_path / "another"):
        assert not left.exists()
    assert {path.name for path in tmp_path.iterdir()} == {foreign.name, ".mine.shoal-lock", "another"}


def test_what_a_living_process_writes_stays_and_is_refused_to_others(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "out"), "wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        with pytest.raises(shoal.OutputError, match=r"another command is writing `.*/out`") as refused:
            enter(new_folder(tmp_path / "out", force=True))
        assert refused.value.hint == "wait until it has ended, or choose another --out"
        with new_folder(tmp_path / "other"):
            assert theirs.is_dir()
        process.communicate("")
    assert process.returncode == 0
    assert (tmp_path / "out" / "half").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"other", "out"}


def enter(block: AbstractContextManager[object]) -> None:
    with block:
        pass


WRITERS = {
    "out": ["run", "small.toml", *SHORT, "--out", "out", "--force"],
    "x.pcapng": ["run", "small.toml", *SHORT, "--pcap", "x.pcapng", "--force"],
    "new.toml": ["new", "scenario", "new.toml", "--yes", "--force"],
    "port.sh": ["config", "write", "codel", "--platform", "tc", "--dev", "eth1", "--out", "port.sh"],
    "s": ["sweep", "small.toml", *SHORT, "--axis", "seed=1,2", "--out", "s", "--force"],
}


@pytest.mark.parametrize("target", WRITERS)
def test_a_target_has_one_writer_at_a_time(inside: Cli, folder: Path, target: str) -> None:
    """Another thread stands for another process: locks of files are not shared by those that open them."""
    with ThreadPoolExecutor(1) as other:
        held = reserved(folder / target)
        other.submit(held.__enter__).result()
        done = inside(*WRITERS[target])
        assert done.code == FILES
        assert f"error: another command is writing `{target}`" in done.err
        assert "hint: wait until it has ended, or choose another " in done.err
        assert not (folder / target).exists()
        other.submit(held.__exit__, None, None, None).result()
    assert inside(*WRITERS[target]).code == 0
    assert (folder / target).exists()
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_both_results_are_kept_where_locks_do_not_help(tmp_path: Path) -> None:
    block = new_folder(tmp_path / "out")
    (block.__enter__() / "mine").touch()
    (tmp_path / "out").mkdir()
    with pytest.raises(shoal.OutputError, match="was made by somebody else") as refused:
        block.__exit__(None, None, None)
    assert not (tmp_path / "out" / "mine").exists()
    (kept,) = tmp_path.glob("out-*")
    assert (kept / "mine").exists()
    assert refused.value.hint == f"the results are in `{kept}`"


def test_python_has_one_writer_at_a_time(tmp_path: Path, result: shoal.Result) -> None:
    scenario = shoal.Scenario.from_toml(SMALL).override({"duration": "4 s", "warmup": "1 s"})
    with ThreadPoolExecutor(1) as other:
        held = [reserved(tmp_path / target) for target in ("saved", "pcap", "packets")]
        for block in held:
            other.submit(block.__enter__).result()
        for call in (
            lambda: result.save(tmp_path / "saved"),
            lambda: shoal.run(scenario, pcap=tmp_path / "pcap"),
            lambda: shoal.run(scenario, packets=tmp_path / "packets"),
        ):
            with pytest.raises(shoal.OutputError, match="another command is writing"):
                call()


def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_results_that_a_killed_process_had_set_aside_come_back(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out") as folder:
        (folder / "result.json").write_text("{}")
    (tmp_path / "out").rename(tmp_path / f".out.{gone()}.old")
    with pytest.raises(shoal.OutputError, match="already exists"), new_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "out" / "result.json").exists()


def test_a_capture_that_a_killed_process_left_is_removed(inside: Cli, folder: Path) -> None:
    assert inside("run", "small.toml", *SHORT, "--pcap", "x.pcapng").code == 0
    pid = gone()
    (folder / "x.pcapng").rename(folder / f".x.pcapng.{pid}.partial")
    (folder / f".x.pcapng.{pid}1.partial").write_text("not ours")
    (folder / f".x.pcapng.{os.getpid()}.partial").write_text("")
    # Of a file of any kind whose lock was left, too.
    (folder / ".page.html.shoal-lock").touch()
    (folder / f".page.html.{pid}.partial").write_text("half")
    assert inside("run", "small.toml", *SHORT, "--pcap", "x.pcapng").code == 0
    left = {path.name for path in folder.iterdir()} - {"cache"}
    # Our own number is the name under which the second capture was written.
    assert left == {"small.toml", "x.pcapng", f".x.pcapng.{pid}1.partial"}


AXIS = ["--axis", "bottleneck.aqm.dctcp.threshold=10 packets,20 packets"]


@pytest.mark.parametrize("place", ["/dev/null", "/proc/nope", "small.toml/cache"])
@pytest.mark.parametrize("verb", ["sweep", "tune"])
def test_a_cache_that_cannot_be_written_costs_no_result(inside: Cli, folder: Path, place: str, verb: str) -> None:
    place = place if place.startswith("/") else str(folder / place)
    options = AXIS
    if verb == "tune":
        options = ["--key", "bottleneck.aqm.dctcp.threshold", "--unit", "packets", "--from", "10", "--to", "13"]
        options += ["--smallest", "--such-that", "utilisation() > 0.1", "--seeds", "1"]
    done = inside(verb, "small.toml", *SHORT, *options, SHOAL_CACHE_DIR=place)
    assert done.code == 0, done.err
    assert done.err.count("warning: finished runs are not kept: cannot write") == 1
    assert done.err.endswith(
        "hint: set SHOAL_CACHE_DIR to a folder that can be written, or add --no-cache to do without\n"
    )
    assert done.out == inside(verb, "small.toml", *SHORT, *options, SHOAL_CACHE_DIR=str(folder / "cache")).out


def test_a_full_cache_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = shoal.Scenario.from_toml(SMALL).override({"duration": "4 s", "warmup": "1 s"})

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Database, "put", full)
    with pytest.warns(shoal.CacheWarning, match="disk is full"):
        points = shoal.sweep(scenario, grid={"seed": [1, 2]}, cache=tmp_path / "cache")
    assert len(points) == 2
    assert contents(tmp_path / "cache").runs == 0


def test_no_cache_neither_reads_nor_writes(inside: Cli, folder: Path) -> None:
    for option in ("--no-cache", "--fresh"):
        done = inside("sweep", "small.toml", *SHORT, *AXIS, option)
        assert (done.code, done.err) == (0, "")
    assert not (folder / "cache").exists()


def test_the_cache_is_shown_and_cleared(inside: Cli, folder: Path) -> None:
    assert inside("sweep", "small.toml", *SHORT, *AXIS).code == 0
    place = folder / "cache"
    (place / "linux").mkdir()
    (place / "ab").mkdir(exist_ok=True)
    (place / "ab" / "mine").mkdir()
    done = inside("cache")
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()][:2] == [["Folder", str(place)], ["Finished", "runs", "2"]]
    assert inside("cache", "clear", "--older-than", "1").err.startswith("removed 0 finished runs")
    assert contents(place).runs == 2
    assert inside("cache", "clear").err.startswith("removed 2 finished runs")
    # Kernels and files of other programs stay.
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*")) == ["ab", "ab/mine", "linux"]
    assert inside("cache").out.splitlines()[1].split() == ["Finished", "runs", "0"]


def test_doctor_says_what_is_optional(inside: Cli, folder: Path) -> None:
    done = inside("doctor", PATH="/nowhere", SHOAL_CACHE_DIR="/proc/nope")
    assert done.code == 0
    states = {line[:24].strip(): line[24:].split()[0] for line in done.out.splitlines()[1:]}
    assert states["tshark (reads captures)"] == "optional"
    assert states["Real-kernel plane"] == "optional"
    assert states["Cache"] == "optional"
    assert states["Simulator"] == "ok"
    done = inside("doctor", SHOAL_CACHE_DIR=str(folder / "cache"))
    # The table wraps a long folder over several lines, so spaces do not count here.
    assert "".join(f"{folder / 'cache'} (0 runs, 0.0 MB; shoal cache clear)".split()) in "".join(done.out.split())


def test_a_folder_that_was_not_marked_yet_is_left_only_if_it_may_be_of_others(tmp_path: Path) -> None:
    """A process may be killed between making its folder and marking it."""
    pid = gone()
    unmarked = tmp_path / f".out.{pid}-0123abcd.partial"
    unmarked.mkdir()
    with new_folder(tmp_path / "out"):
        pass
    assert unmarked.is_dir(), "no lock tells that a command died while it wrote `out`"
    (tmp_path / ".out.shoal-lock").write_text("")
    with new_folder(tmp_path / "out", force=True):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    unmarked.mkdir()
    (unmarked / "notes.txt").write_text("not ours")
    (tmp_path / ".out.shoal-lock").write_text("")
    with new_folder(tmp_path / "out", force=True):
        pass
    assert (unmarked / "notes.txt").is_file()


def test_a_sweep_that_is_killed_leaves_nothing_for_good(folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "shoal", "sweep", "small.toml", *AXIS, "--out", "out"]
    process = subprocess.Popen([*command, "--set", "duration=500000 s"], cwd=folder, env=environment)
    deadline = time.monotonic() + 60
    while not list(folder.glob(".out.*.partial")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert list(folder.glob(".out.*.partial"))
    assert subprocess.run([*command, *SHORT], cwd=folder, env=environment, check=False).returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == ["cache", "out", "small.toml"]
