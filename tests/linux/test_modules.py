"""The kernel modules: built against the virtual-time kernel without warnings, and tried on it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.linux import Image
from shoal.linux.tools import build_environment

MODULES = Path(__file__).resolve().parents[2] / "linux" / "modules"

# The host's root, read-only, with what a system needs on top; powers off by reboot(2).
INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mkdir /run/netns
"{python}" "{modules}/tests/smoke.py" --modules "{modules}" --plugins "{modules}/tc/build"
echo "smoke: $?"
"{python}" "{modules}/tests/smoke.py" --modules "{modules}" --load
"{modules}/tests/build/fuzz_netlink" 3000 1
echo "fuzz: $?"
"{python}" -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
"""


RELEASES = (
    *("3.18.140", "5.10.0-39-amd64", "6.0.12", "6.1.0-56-amd64", "6.1", "6.12.41+deb13-amd64", "7.3.4"),
    "10.0.1-generic",
)


@pytest.fixture(scope="module")
def built(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernel") / "modules"
    shutil.copytree(MODULES, folder, ignore=shutil.ignore_patterns("*.o", "*.ko", "*.cmd", "build"))
    command = ["make", "-C", str(image.tree), "ARCH=um", f"M={folder}", "W=1", "modules"]
    made = subprocess.run(command, env=build_environment(), capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert not re.findall(r"^.*\.[ch]:\d+.*(?:warning|error).*$", made.stderr, flags=re.M), made.stderr
    subprocess.run(["make", "-s", "-C", str(folder / "tc")], check=True)
    subprocess.run(["make", "-s", "-C", str(folder / "tests"), "build/fuzz_netlink"], check=True)
    return folder


def test_every_module_is_built(built: Path) -> None:
    sources = {source.stem for source in built.glob("*.c")} - {source.stem for source in built.glob("*.mod.c")}
    assert {module.stem for module in built.glob("*.ko")} == {name for name in sources if "." not in name}


def test_a_copied_folder_checks_itself(tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    shutil.copytree(MODULES, folder, ignore=shutil.ignore_patterns("*.o", "*.ko", "*.cmd", "build"))
    made = subprocess.run(["make", "-C", str(folder), "check"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "not compared with the models" in made.stdout
    assert "laws at the edges of their bounds" in made.stdout


def test_dkms_builds_from_linux_6_1_on() -> None:
    wanted = re.search(
        r'^BUILD_EXCLUSIVE_KERNEL="(.*)"$', (MODULES / "dkms.conf").read_text(encoding="ascii"), flags=re.M
    )
    assert wanted is not None
    built = [release for release in RELEASES if re.match(wanted[1], release)]
    assert built == ["6.1.0-56-amd64", "6.1", "6.12.41+deb13-amd64", "7.3.4", "10.0.1-generic"]


@pytest.mark.skipif(not shutil.which("tc"), reason="needs iproute2 on the host, whose root is the guest's")
def test_modules_on_the_kernel(built: Path, image: Image, tmp_path: Path) -> None:
    init = tmp_path / "init"
    init.write_text(INIT.format(python=sys.executable, modules=built), encoding="utf-8")
    init.chmod(0o755)
    command = [
        str(image.linux),
        "mem=512M",
        *(["seccomp=on"] if image.mode == "seccomp" else []),
        "time-travel=inf-cpu",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={init}",
        "con=null",
        "con0=null,fd:1",
        "ssl=null",
        "quiet",
        "panic=-1",
    ]
    said = subprocess.run(
        command,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "TMPDIR": "/dev/shm", "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    ).stdout
    assert "loaded, configured, used, reset and unloaded" in said, said
    assert "smoke: 0" in said, said
    assert "fuzz: 0" in said, said
    assert not re.search(r"WARNING|BUG|Oops|Call Trace", said), said
