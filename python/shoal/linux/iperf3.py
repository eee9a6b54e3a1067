"""iperf3 in the guest: found on this machine, or unpacked into the cache from the distribution's packages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from shoal.linux.archive import libraries_in, unpack
from shoal.linux.commands import fetching, missing
from shoal.linux.errors import LinuxError
from shoal.linux.places import cache, locked
from shoal.linux.programs import Program, Start

# Beside what every system has.
_packages = ("iperf3", "libiperf0", "libsctp1")


def find_iperf3(name: str) -> Program:
    """The program of that name, or path; ``iperf3`` is fetched if this machine has none.

    Raises
    ------
    LinuxError
        There is none, or it does not run.
    """
    if path := shutil.which(name):
        return _described(Start(Path(path)))
    if name != "iperf3":
        raise LinuxError(f"--generator: there is no program `{name}`", hint="write iperf3, or the path of an iperf3")
    root = cache("tools", "iperf3")
    with locked("iperf3", "fetches iperf3"):
        if not (root / "usr/bin/iperf3").exists():
            _fetch(root)
    return _described(Start(root / "usr/bin/iperf3", libraries_in(root)))


def _fetch(root: Path) -> None:
    hint = "on Debian or Ubuntu: sudo apt-get install iperf3; or --generator PATH"
    if missing(fetching):
        raise LinuxError("there is no iperf3 on this machine", hint=hint)
    try:
        # The program last: where it is, all is.
        unpack(reversed(_packages), root)
    except LinuxError as error:
        raise LinuxError(f"there is no iperf3 on this machine, and it cannot be fetched: {error}", hint=hint) from error


def _described(start: Start) -> Program:
    program = start.program("iperf3", "iperf3", package="iperf3")
    version = re.match(r"iperf (3\.\d+\S*)", start.says("--version"))
    if version is None:
        raise LinuxError(f"`{start.path}` is not iperf3", hint="write --generator iperf3, or the path of an iperf3")
    return Program(program.name, program.path, program.libraries, f"iperf3 {version[1]}{program.version[6:]}")
