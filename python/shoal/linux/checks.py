"""What ``shoal linux doctor`` looks at."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

from shoal.linux.commands import (
    explain_libraries,
    explain_missing,
    fetchable,
    fetching,
    missing,
    missing_libraries,
    needed,
)
from shoal.linux.errors import LinuxError
from shoal.linux.images import Image, find_image
from shoal.linux.kernel import compiled_bytes, source_bytes
from shoal.linux.places import cache, room_bytes, temporary
from shoal.linux.resources import MemoryFolder, shared_memory, smallest_guest_mib
from shoal.linux.running import run_on_linux
from shoal.linux.tools import not_fetched
from shoal.scenario import Scenario

_probe = """
title = "Self-test"
duration = "2 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", rtt = "25 ms" }]
trace = { series = "off" }
"""

Row = tuple[str, str, str]


def rows() -> list[Row]:
    """One row a check: what, ``ok``, ``note`` or ``FAILS``, finding."""
    checks = [_machine(), _tools(), _libraries(), _archive(), _space(), _memory_files(), _tracing()]
    try:
        image = find_image()
    except LinuxError as error:
        # What the build needs is in the other rows.
        return [*checks, ("Kernel", "note", f"{error}; `shoal linux build` makes one (about 10 minutes)")]
    checks.append(("Kernel", "ok", f"Linux {image.release}, {image.mode} mode, {image.folder}"))
    checks.append(_self_test(image))
    return checks


def _machine() -> Row:
    fits = platform.system() == "Linux" and platform.machine() == "x86_64"
    text = f"{platform.system()} {platform.machine()}"
    return ("Machine", "ok" if fits else "FAILS", text if fits else f"{text}: user-mode Linux needs Linux on x86-64")


def _tools() -> Row:
    absent = missing(needed)
    if lacking := [name for name in absent if name not in fetchable]:
        error = explain_missing(lacking)
        return ("Build tools", "FAILS", f"{error}; {error.hint}")
    to_fetch = not_fetched(absent, os.environ.get("PATH", ""))
    text = "complete"
    if fetched := [name for name in absent if name not in to_fetch]:
        text += f"; in the cache: {', '.join(fetched)}"
    if to_fetch:
        text += f"; to be fetched into the cache: {', '.join(to_fetch)}"
    return ("Build tools", "ok", text)


def _archive() -> Row:
    if absent := missing(fetching):
        return ("Package client", "note", f"no {', '.join(absent)}: build with --source DIR")
    return ("Package client", "ok", "apt-get")


def _space() -> Row:
    free, need = room_bytes(cache()), source_bytes + compiled_bytes
    enough = free >= need or (cache() / "default-kernel").exists()
    text = f"{free / 1e9:.1f} GB free at {cache()}; a build takes {need / 1e9:.1f} GB"
    return ("Disk", "ok" if enough else "FAILS", text)


def _libraries() -> Row:
    if absent := missing_libraries():
        error = explain_libraries(absent)
        return ("C library", "FAILS", f"{error}; {error.hint}")
    return ("C library", "ok", "headers and the static library are there")


def _memory_files() -> Row:
    shm, folder = MemoryFolder("shm", shared_memory), MemoryFolder("folder", temporary())
    room, other = shm.room_mib(), folder.room_mib()
    if room >= smallest_guest_mib:
        return (str(shm.folder), "ok", f"{room} MiB free for the memory of guests")
    enough = other >= smallest_guest_mib
    where = f"guests keep their memory below {folder.folder}" if enough else f"and {folder.folder} has {other} MiB"
    return (
        str(shm.folder),
        "note" if enough else "FAILS",
        f"{room} MiB free, the smallest guest takes {smallest_guest_mib}: {where}; in a container: "
        "docker run --shm-size=1g",
    )


def _tracing() -> Row:
    file = Path("/proc/sys/kernel/yama/ptrace_scope")
    scope = file.read_text(encoding="ascii").strip() if file.exists() else "0"
    fine = scope in {"0", "1"}
    return (
        "Tracing own children",
        "ok" if fine else "FAILS",
        f"ptrace_scope {scope}" + ("" if fine else ": set it to 1"),
    )


def _self_test(image: Image) -> Row:
    try:
        scenario = Scenario.from_toml(_probe)
        start = time.perf_counter()
        first = run_on_linux(scenario, image=image)
        seconds = time.perf_counter() - start
        same = run_on_linux(scenario, image=image).json == first.json
    except Exception as error:
        return ("Self-test", "FAILS", str(error))
    if not same:
        return ("Self-test", "FAILS", "two equal runs differ")
    return ("Self-test", "ok", f"2 s of 10 Mbit/s in {seconds * 1e3:.0f} ms, and equal bytes the second time")
