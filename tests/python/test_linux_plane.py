"""The Linux plane without a kernel: messages, checks, sources. `make test-linux` runs the tests that need one."""

from __future__ import annotations

import errno
import json
import os
import queue
import threading
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal import progress
from shoal.errors import UsageError
from shoal.files import unwritable
from shoal.linux import Image, LinuxError, Unbuilt, archive, checks, commands, images, kernel, places, resources
from shoal.linux.archive import release_of, releases
from shoal.linux.faults import left_behind
from shoal.linux.guest import guest_folder
from shoal.linux.module_file import ModuleFile
from shoal.linux.places import digest, files, locked

KERNEL = json.dumps(
    {"release": "7.3.4-shoal", "controllers": ["dctcp", "reno"], "disciplines": ["pfifo", "red"], "mode": "seccomp"}
)


@pytest.mark.parametrize(
    "command", [["run", "step-single", "--on", "linux", "--explain"], ["linux", "explain", "step-single"]]
)
def test_scenarios_are_explained_without_a_kernel(inside: Cli, command: list[str]) -> None:
    done = inside(*command)
    assert done.code == 0, done.err
    assert done.err.startswith(
        f"warning: no kernel is built: this is for Linux {release_of(None).version} as configured"
    )
    rules = [line.split() for line in done.out.splitlines()]
    assert rules[0] == ["What", "the", "scenario", "is", "on", "Linux"]
    # The step queue is `red` with equal thresholds there, and the controller is the kernel's own.
    assert any("red," in rule for rule in rules)
    assert any("dctcp" in rule for rule in rules)


def test_limits_are_the_same_options_everywhere(inside: Cli) -> None:
    for verb in ("run", "compare", "reproduce"):
        shown = " ".join(inside(verb, "--help", COLUMNS="300").out.split())
        assert "Real time that a single run on Linux may take; without limit by default." in shown
        assert "Real time in which virtual time of a run on Linux may stand still; 600 by default." in shown


def test_an_unbuilt_kernel_has_what_its_configuration_and_our_modules_give() -> None:
    described = json.loads(Unbuilt().description)
    assert {"reno", "cubic", "dctcp", "dctcp_ikr"} <= set(described["controllers"])
    assert {"pfifo", "bfifo", "red", "gred", "dualpi2", "dualred", "dualq_coupled"} <= set(described["disciplines"])
    assert "advanced" not in described["controllers"]


def test_plan_lists_all_refusals() -> None:
    scenario = shoal.Scenario.from_toml(
        """
duration = "2 s"
bottleneck = { rate = "10 Mbit/s" }
flows = [{ cc = "cubic", rtt = "25 ms", cwnd_clamp = "20 packets" }]
"""
    )
    with pytest.raises(shoal.ScenarioError) as caught:
        scenario.native.linux_plan(KERNEL)
    assert "has no congestion control `cubic`" in str(caught.value)
    assert "no bound of cwnd" in str(caught.value)
    assert "no discipline `bfifo`" in str(caught.value)


def test_versions() -> None:
    assert release_of(None) == releases[0]
    assert release_of("6.12").package == "linux-source-6.12"
    assert release_of(releases[0].version) == releases[0]
    newer = release_of("7.3.9-1~bpo13+1")
    assert (newer.package, newer.suite, newer.sha256) == ("linux-source-7.3", "trixie-backports", "")
    with pytest.raises(UsageError, match="not a kernel version"):
        release_of("new")


def test_missing_programs_are_named_with_their_packages() -> None:
    error = commands.explain_missing(["flex", "ld"])
    assert "`flex` (reads the kernel's configuration)" in str(error)
    assert error.hint is not None
    assert error.hint.endswith("apt-get install flex binutils")


def test_unknown_version_is_refused_with_the_kernels_of_the_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At once, although another build has the lock, and before any tool is looked for."""
    there = {"linux-source-7.3": ["7.3.4-1"], "linux-source-6.12": ["6.12.107-1"], "linux-source-6.1": ["6.1.9-1"]}

    class Archive:
        def versions(self, package: str) -> list[str]:
            return there.get(package, [])

        def names(self, beginning: str) -> list[str]:
            return [*there, "linux-source", "linux-source-5.10"]

    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(archive, "_client", lambda _: Archive())
    monkeypatch.setattr(kernel, "build_environment", lambda: pytest.fail("it is refused before"))
    with locked("build", "builds a kernel"):
        with pytest.raises(LinuxError, match=r"^the archive has no kernel 5\.10; it has 7\.3, 6\.12$") as caught:
            kernel.build(version="5.10", say=print, progress=print)
        assert (
            caught.value.hint == "write --version 6.12, or name a kernel tree with --source PATH (kernels from 6.12 on)"
        )
        with pytest.raises(
            LinuxError, match=r"has no linux-source-7\.3 7\.3\.9 in trixie-backports; it has: 7\.3\.4-1"
        ):
            kernel.build(version="7.3.9", say=print, progress=print)


def test_room_is_looked_at_before_tools_are_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel, "room_bytes", lambda _: 64_000_000)
    monkeypatch.setattr(kernel, "build_environment", lambda: pytest.fail("it is refused before"))
    with pytest.raises(LinuxError) as caught:
        kernel.build(say=print, progress=print)
    assert str(caught.value) == f"the disk of `{tmp_path}/linux` has 0.1 GB left; building this kernel takes 2.5 GB"
    assert "SHOAL_CACHE_DIR" in (caught.value.hint or "")


def test_whoever_waits_says_for_what(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    said: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(progress, "say", said.put)

    def wait() -> None:
        with locked("helpers", "builds the guest's programs and modules"):
            pass

    with locked("helpers", "builds the guest's programs and modules"):
        assert said.empty()
        waiter = threading.Thread(target=wait)
        waiter.start()
        who = f"process {os.getpid()}, which builds the guest's programs and modules"
        assert said.get(timeout=20) == f"waiting for {who} in {tmp_path}/linux"
    waiter.join(timeout=20)
    assert not waiter.is_alive()


def test_first_run_says_that_helpers_are_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    (tmp_path / "kernel.json").write_text(
        '{"release": "7.3.4-shoal", "tree": "", "controllers": [], "disciplines": []}'
    )
    said: list[str] = []
    monkeypatch.setattr(progress, "say", said.append)
    monkeypatch.setattr(images, "_build_helpers", lambda folder, _: folder.mkdir())
    for _ in range(2):
        assert Image(tmp_path).helpers.is_dir()
    assert said == ["building the guest's programs and modules for Linux 7.3.4-shoal: seconds, once"]


def test_doctor_knows_what_is_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(checks, "missing", lambda _: ["flex", "bison"])
    assert checks._tools() == ("Build tools", "ok", "complete; to be fetched into the cache: flex, bison")
    for name in ("flex", "bison"):
        program = tmp_path / "linux/tools/root/usr/bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(mode=0o755)
    assert checks._tools() == ("Build tools", "ok", "complete; in the cache: flex, bison")


def test_folder_of_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cached, temporary = tmp_path / "cache/linux", tmp_path / "temporary"
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(cached.parent))
    monkeypatch.setattr(places.tempfile, "tempdir", str(temporary))
    temporary.mkdir()

    def said(*lines: str) -> tuple[str, str | None]:
        error = commands.failure(["make"], lines, 2)
        return str(error), error.hint

    for folder, variable in ((cached, "SHOAL_CACHE_DIR"), (temporary, "TMPDIR")):
        expected = (
            f"`make` failed: the disk of `{folder}` is full",
            f"make room there, or set {variable} to a folder of another disk",
        )
        assert said("first", f"error writing to {folder}/cc1.s: No space left on device") == expected
        # Nothing is named: the folder with less room.
        monkeypatch.setattr(places, "room_bytes", lambda other, full=folder: 0 if other == full else 9)
        assert said("ld: final link failed: No space left on device") == expected
    # Of a copy the source is not what is full.
    copied = OSError(errno.ENOSPC, "No space left on device", "/source", None, str(temporary / "target"))
    with pytest.raises(LinuxError, match=f"^the disk of `{temporary}` is full$"), guest_folder():
        raise copied
    with pytest.raises(LinuxError, match=f"^the disk of `{cached}` is full$"), places.filling_cache():
        raise copied
    with pytest.raises(LinuxError, match=f"^the disk of `{cached}` is full$"), places.filling_cache():
        raise unwritable(cached, copied) from copied


@pytest.mark.parametrize(
    ("makefile", "words"),
    [
        (None, "not a kernel tree"),
        ("VERSION = 5\nPATCHLEVEL = 10\nSUBLEVEL = 3\n", "is Linux 5.10.3"),
        ("all:\n", "not a kernel tree with user-mode Linux"),
    ],
)
def test_wrong_source_is_refused(tmp_path: Path, makefile: str | None, words: str) -> None:
    (tmp_path / "arch/um").mkdir(parents=True)
    if makefile is not None:
        (tmp_path / "Makefile").write_text(makefile)
    with pytest.raises(LinuxError, match=words):
        kernel._own_tree(tmp_path)


def test_sources_of_the_guest_are_part_of_the_package() -> None:
    assert {path.name for path in files("guest", ["*.c"])} >= {"main.c", "net.c", "flow.c", "output.c"}
    assert len(files("kernel", ["uml.config", "leaks.config"])) == 2
    assert digest("a", "bc") != digest("ab", "c")


def test_a_kernel_that_finds_leaks_is_taken_on_request_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    described = {"release": "7.3.4-shoal", "mode": "seccomp", "controllers": [], "disciplines": []}
    ordinary = tmp_path / "linux/kernels/7.3.4-1-abc"
    for folder in (ordinary, ordinary.with_name(f"7.3.4-1-abc{images.leaks_suffix()}")):
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
    image = images.find_image("7.3")
    assert image.folder == ordinary
    assert image.finding_leaks().finds_leaks
    with pytest.raises(LinuxError, match="no kernel that finds leaks"):
        Image(tmp_path).finding_leaks()


def test_memory_that_a_module_leaves_has_file_line_and_function() -> None:
    module = ModuleFile("tcp_mine", Path("laws/tcp_mine.c"), Path("tcp_mine.ko"), Path("tcp_mine.debug.ko"))
    said = "<6>[    4.125000] {}:57 module {} func:mine_init has 256 allocated at module unload"
    console = [said.format("tcp_mine.c", "tcp_mine"), said.format("line.c", "sch_line")]
    fault = left_behind([], console, [module])
    assert "laws/tcp_mine.c:57: 256 B that `mine_init` allocated" in str(fault)
    assert "line.c" not in str(fault)
    assert left_behind([], console[1:], [module]) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--find-leaks"], "--find-leaks is about kernel modules"),
        (["--find-leaks", "--on", "linux"], "no kernel"),
    ],
)
def test_leaks_are_looked_for_in_modules_alone(inside: Cli, words: list[str], said: str) -> None:
    done = inside("run", "step-single", *words)
    assert done.code != 0
    assert said in done.err


def test_modules_are_known_by_all_names_that_they_register(tmp_path: Path) -> None:
    built = {"release": "7.3.4-shoal", "mode": "seccomp", "controllers": ["reno"], "disciplines": ["red"]}
    (tmp_path / "kernel.json").write_text(json.dumps(built), encoding="utf-8")
    described = json.loads(Image(tmp_path).description)
    dctcp, prague = (
        ["dctcp_ikr", "dctcp_onesided", "dctcp_1sided_rx"],
        ["prague_0_7", "prague_0_7early", "prague_0_6", "prague_0_5"],
    )
    assert described["controllers"] == ["reno", *dctcp, *prague, "reno_acks"]
    assert described["disciplines"] == ["red", "coupled", "dualq_coupled", "dualred"]


def test_doctor_looks_at_what_the_build_and_guests_need(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setattr(checks, "missing_libraries", lambda: ["the static C library (libc.a)"])
    monkeypatch.setattr(checks.MemoryFolder, "room_mib", lambda folder: 64 if folder.word == "shm" else 9000)
    found = {what: (verdict, text) for what, verdict, text in checks.rows()}
    assert found["C library"][0] == "FAILS"
    assert "libc6-dev" in found["C library"][1]
    assert found["/dev/shm"][0] == "note"
    assert "64 MiB free, the smallest guest takes 256" in found["/dev/shm"][1]
    assert "--shm-size" in found["/dev/shm"][1]
    # Whoever reads this has run it.
    assert all("shoal linux doctor" not in text for _, text in found.values())
    assert "shoal linux build" in found["Kernel"][1]
    monkeypatch.setattr(checks.MemoryFolder, "room_mib", lambda folder: 64)
    assert {what: verdict for what, verdict, _ in checks.rows()}["/dev/shm"] == "FAILS"


def test_compiler_without_libraries_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = tmp_path / "gcc"
    compiler.write_text('#!/bin/sh\n[ "$1" = -E ] && exit 1\necho libc.a\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    absent = commands.missing_libraries()
    assert [what.split(" (")[0] for what in absent] == [
        "the headers of the C library and of Linux",
        "the static C library",
    ]
    assert "strip" in commands.needed


def test_file_of_a_guest_needs_a_place_that_runs_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = resources.MemoryFolder("folder", tmp_path)
    assert there.room_mib() > 0
    found = os.statvfs(tmp_path)
    values = (*found[:8], found.f_flag | os.ST_NOEXEC, found.f_namemax)
    monkeypatch.setattr(resources.os, "statvfs", lambda _: os.statvfs_result(values))
    assert there.room_mib() == 0
    assert resources.MemoryFolder("shm", tmp_path / "gone").room_mib() == 0
