"""Programs of the build: found, run, and their failures explained."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from shoal.linux.errors import LinuxError
from shoal.linux.places import full_folder, no_room

# What each program is for, and the package of Debian and its relatives that has it.
needed: Mapping[str, tuple[str, str]] = {
    "gcc": ("compiles the kernel", "gcc libc6-dev"),
    "ld": ("links the kernel", "binutils"),
    "strip": ("makes the kernel's image small", "binutils"),
    "make": ("builds the kernel", "make"),
    "flex": ("reads the kernel's configuration", "flex"),
    "bison": ("reads the kernel's configuration", "bison"),
    "bc": ("computes constants of the kernel", "bc"),
    "perl": ("generates tables of the kernel", "perl"),
    "tar": ("unpacks the source", "tar"),
    "xz": ("unpacks the source", "xz-utils"),
}
# Only to fetch the source: `--source` does without.
fetching: Mapping[str, tuple[str, str]] = {
    "apt-get": ("fetches the source package", "apt"),
    "dpkg-deb": ("unpacks the source package", "dpkg"),
}
# Small generators that the build takes from the distribution's packages when they are missing, without installing them.
fetchable = ("flex", "bison", "bc")

_kept_lines = 30


def missing(programs: Mapping[str, tuple[str, str]], *, path: str | None = None) -> list[str]:
    """Names of programs that are not there."""
    return [name for name in programs if shutil.which(name, path=path) is None]


def missing_libraries(*, env: Mapping[str, str] | None = None) -> list[str]:
    """What compiling and linking need beside programs and is not there; nothing is said without a compiler."""
    if shutil.which("gcc") is None:
        return []
    absent = []
    headers = subprocess.run(
        ["gcc", "-E", "-"],  # noqa: S607
        input="#include <stdio.h>\n#include <linux/types.h>\n",
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    if headers.returncode:
        absent.append("the headers of the C library and of Linux")
    # The guest's program is linked statically: nothing of the machine's libraries is in the guest.
    static = output(["gcc", "-print-file-name=libc.a"], env=env).strip()
    if not Path(static).is_absolute():
        absent.append("the static C library (libc.a)")
    return absent


def explain_libraries(absent: Sequence[str]) -> LinuxError:
    """One message for what :func:`missing_libraries` found."""
    return LinuxError(
        f"missing: {'; '.join(absent)}",
        hint="on Debian or Ubuntu: sudo apt-get install libc6-dev; on Fedora: dnf install glibc-devel glibc-static",
    )


def explain_missing(
    names: Sequence[str], known: Mapping[str, tuple[str, str]] = MappingProxyType({**needed, **fetching})
) -> LinuxError:
    """One message for all missing programs."""
    what = "; ".join(f"`{name}` ({known[name][0]})" for name in names)
    packages = " ".join(dict.fromkeys(known[name][1] for name in names))
    return LinuxError(f"missing: {what}", hint=f"on Debian or Ubuntu: sudo apt-get install {packages}")


def output(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> str:
    """Run a short command and give what it prints."""
    try:
        done = subprocess.run(  # noqa: S603
            [str(word) for word in command],
            env=env,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise LinuxError(f"cannot run `{command[0]}`: {error.strerror}") from error
    if done.returncode:
        raise failure(command, (done.stdout + done.stderr).splitlines(), done.returncode)
    return done.stdout


def stream(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    on_line: Callable[[str], object] = lambda _: None,
) -> None:
    """Run a long command; its output goes to ``log`` and, line by line, to ``on_line``. Ends it when interrupted."""
    kept: deque[str] = deque(maxlen=_kept_lines)
    with (log or Path(os.devnull)).open("a", encoding="utf-8") as record:
        child = subprocess.Popen(  # noqa: S603
            [str(word) for word in command],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,
        )
        try:
            assert child.stdout is not None  # noqa: S101
            for line in child.stdout:
                record.write(line)
                kept.append(line.rstrip())
                on_line(line)
            code = child.wait()
        except BaseException:
            os.killpg(child.pid, 15)
            child.wait()
            raise
    if code:
        raise failure(command, list(kept), code, log)


def failure(command: Sequence[str | Path], lines: Sequence[str], code: int, log: Path | None = None) -> LinuxError:
    """What a failed command said; of a full disk the folder is named."""
    name = Path(str(command[0])).name
    if full := [line for line in lines if "No space left on device" in line or "Disk quota exceeded" in line]:
        return no_room(full_folder("\n".join(full)), doing=f"`{name}` failed: ")
    text = "\n".join(f"  | {line}" for line in lines[-_kept_lines:])
    where = f"the whole output is in {log}" if log else None
    return LinuxError(f"`{name}` failed with code {code}:\n{text}", hint=where)
