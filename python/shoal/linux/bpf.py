"""Congestion controllers and markers as BPF programs: compiled on this machine, with the program that loads them.

Sources are in ``linux/bpf``. What they need of a machine is looked for before anything is compiled, and what is built
lies in the user's cache; nothing here needs rights beyond the user's own.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from shoal.errors import UsageError
from shoal.files import new_folder
from shoal.linux.commands import explain_missing, missing, output, stream
from shoal.linux.errors import LinuxError
from shoal.linux.kernel import Say
from shoal.linux.places import cache, digest, files, filling_cache, locked

loader = "shoal-bpf"
# What each program is for, and the package of Debian and its relatives that has it.
_needed: Mapping[str, tuple[str, str]] = {
    "clang": ("compiles BPF programs", "clang"),
    "cargo": ("builds the loader", "cargo"),
    "gcc": ("builds the loader's library", "gcc libc6-dev"),
    "make": ("builds the loader's library", "make"),
    "pkg-config": ("finds the libraries of the loader", "pkg-config"),
}
_headers = {"bpf/bpf_helpers.h": "libbpf-dev", "libelf.h": "libelf-dev", "zlib.h": "zlib1g-dev"}
_flags = (
    "-target",
    "bpf",
    "-mcpu=v3",
    "-g",
    "-O2",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-parameter",
)


def programs() -> list[str]:
    """Names of the BPF programs there are."""
    return [path.name.removesuffix(".bpf.c") for path in files("bpf", ["*.bpf.c"])]


def markers() -> list[str]:
    """Names of the programs that mark on the egress of a device; the others are congestion controls."""
    return [name for name in programs() if name.startswith("mark_")]


def check_device(program: str, device: str | None) -> None:
    """Refuse a marker without a device, and a device for a congestion control.

    Raises
    ------
    UsageError
        Says which of both it is.
    """
    if program in markers() and device is None:
        raise UsageError(
            f"{program} marks packets on the egress of a network interface, and none is named",
            hint=f"as in: shoal bpf load {program} --device eth0",
        )
    if program not in markers() and device is not None:
        raise UsageError(
            f"{program} is a congestion control, which has no --device",
            hint=f"programs that have one: {', '.join(markers())}",
        )


def object_of(program: str) -> Path:
    """The compiled program of a name.

    Raises
    ------
    UsageError
        There is no such program.
    LinuxError
        The programs are not built.
    """
    if program not in programs():
        raise UsageError(f"there is no BPF program `{program}`", hint=f"programs: {', '.join(programs())}")
    return built() / f"{program}.bpf.o"


def built() -> Path:
    """The folder with compiled programs and their loader.

    Raises
    ------
    LinuxError
        There is none yet for these sources.
    """
    folder = _folder()
    if not folder.exists():
        raise LinuxError(
            f"the BPF programs are not built: there is no {folder}",
            hint="shoal bpf build (a minute, once); with sudo, SHOAL_CACHE_DIR says where another user built them",
        )
    return folder


@filling_cache()
def build(*, say: Say) -> Path:
    """Compile the programs and their loader, or find them compiled; gives the folder.

    Raises
    ------
    LinuxError
        Something is missing on this machine, or does not compile.
    """
    target = _folder()
    with locked("bpf", "compiles BPF programs", say=say):
        if target.exists():
            return target
        _check()
        crate = files("bpf/loader", ["Cargo.toml"])[0].parent
        compiled = cache("bpf-loader")
        with new_folder(target) as partial:
            say("compiling BPF programs")
            for name in programs():
                compile_program(files("bpf", [f"{name}.bpf.c"])[0], partial / f"{name}.bpf.o")
            say("compiling their loader (a minute, once)")
            command = ("cargo", "build", "--release", "--locked", "--manifest-path", crate / "Cargo.toml")
            stream([*command, "--target-dir", compiled], log=partial / "build.log")
            shutil.copy2(compiled / "release" / loader, partial / loader)
    return target


def compile_program(source: Path, target: Path, *options: str) -> None:
    """Compile one BPF program.

    Raises
    ------
    LinuxError
        The message is the compiler's.
    """
    system = [word for folder in sorted(Path("/usr/include").glob("*-linux-gnu")) for word in ("-idirafter", folder)]
    output(["clang", *_flags, *system, *options, "-c", source, "-o", target])


def _folder() -> Path:
    """Where what these sources become lies."""
    sources = [
        *files("bpf", ["*.c", "*.h"]),
        *files("bpf/loader", ["Cargo.*", "src/*.rs"]),
        *files("modules", ["*.h", "law/*.h"]),
    ]
    return cache("bpf", digest(*(path.read_bytes() for path in sources)))


def _check() -> None:
    """Refuse to begin without what compiling needs."""
    if absent := missing(_needed):
        raise explain_missing(absent, _needed)
    text = "".join(f'#if !__has_include("{name}")\n#pragma message "absent {name}"\n#endif\n' for name in _headers)
    said = subprocess.run(
        ["clang", "-E", "-xc", "-"],  # noqa: S607
        input=text,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    if lacking := [name for name in _headers if f"absent {name}" in said]:
        packages = " ".join(_headers[name] for name in lacking)
        raise LinuxError(f"missing: {', '.join(lacking)}", hint=f"on Debian or Ubuntu: sudo apt-get install {packages}")
