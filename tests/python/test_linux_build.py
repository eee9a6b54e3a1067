"""``shoal linux build`` on a tree that imitates a kernel's: interrupted, with a full disk, finished."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("gcc", "ld", "make", "perl", "tar", "xz", "strip")),
    reason="needs gcc, binutils, make, perl, tar and xz",
)

# `linux` compiles one object at a time; the second one takes as long as the file `slow` exists.
MAKEFILE = """
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 1

allnoconfig:
	@for name in UML_TIME_TRAVEL_SUPPORT HOSTFS NET_NS VETH NET_SCH_NETEM NET_SCH_RED MODULES; do \\
		echo "CONFIG_$$name=y"; done > $(O)/.config
	@echo CONFIG_HZ=1000 >> $(O)/.config

linux: $(O)/first.o $(O)/second.o
	@mkdir -p $(O)/include/config
	@echo 6.12.1-shoal > $(O)/include/config/kernel.release
	@cp /bin/true $(O)/linux

modules: linux

$(O)/first.o:
	@echo compiled >> {tree}/first
	@touch $@

$(O)/second.o: $(O)/first.o
	@echo CC second.o
	@if test -e {tree}/full; then echo "cannot write: No space left on device"; exit 1; fi
	@echo $$$$ > {tree}/pid; mv {tree}/pid {tree}/second; while test -e {tree}/slow; do sleep 0.05; done
	@touch $@
"""


# Without what is built against a kernel afterwards: the guest's programs and modules need a real one.
BUILD = """
import sys
from pathlib import Path
from shoal.linux import LinuxError, kernel
try:
    say = lambda text: print(text, flush=True)
    kernel.build(source=Path(sys.argv[1]), say=say, progress=lambda _: None)
except LinuxError as error:
    sys.exit(f"error: {error}; {error.hint}")
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "linux"
    (folder / "arch/um").mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE.replace("{tree}", str(folder)))
    # This tree has no use for them, and nothing is to be fetched.
    (tmp_path / "bin").mkdir()
    for name in ("flex", "bison", "bc"):
        (tmp_path / "bin" / name).symlink_to("/bin/true")
    return folder


def build(tree: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(tree)],
        env={
            **os.environ,
            "SHOAL_CACHE_DIR": str(tree.parent / "cache"),
            "PATH": f"{tree.parent / 'bin'}:{os.environ['PATH']}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kernels(tree: Path) -> list[Path]:
    return list((tree.parent / "cache").rglob("kernel.json"))


def test_interrupted_build_goes_on_where_it_was(tree: Path) -> None:
    (tree / "slow").touch()
    running = build(tree)
    deadline = time.monotonic() + 120
    while not (tree / "second").exists() and time.monotonic() < deadline:
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode != 0
    assert kernels(tree) == []
    # The compiler was ended too.
    compiler = Path("/proc") / (tree / "second").read_text().strip()
    deadline = time.monotonic() + 20
    while compiler.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not compiler.exists()

    (tree / "slow").unlink()
    again = build(tree)
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert len(kernels(tree)) == 1
    assert (tree / "first").read_text() == "compiled\n", "what was compiled is not compiled again"


def test_full_disk_is_named_and_leaves_no_kernel(tree: Path) -> None:
    (tree / "full").touch()
    running = build(tree)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    assert f"`make` failed: the disk of `{tree.parent / 'cache/linux'}` is full; make room there" in said
    assert kernels(tree) == []


def test_second_build_says_what_it_waits_for(tree: Path) -> None:
    (tree / "slow").touch()
    first = build(tree)
    deadline = time.monotonic() + 120
    while not (tree / "second").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    second = build(tree)
    assert second.stdout is not None
    assert (
        second.stdout.readline()
        == f"waiting for process {first.pid}, which builds a kernel in {tree.parent}/cache/linux\n"
    )
    (tree / "slow").unlink()
    for running in (first, second):
        _, said = running.communicate(timeout=120)
        assert running.returncode == 0, said
    assert len(kernels(tree)) == 1
