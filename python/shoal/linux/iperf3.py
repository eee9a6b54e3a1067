"""iperf3 in the guest: found on this machine, or unpacked into the cache from the distribution's packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shoal.linux.archive import libraries_in, unpack
from shoal.linux.commands import fetching, missing, output
from shoal.linux.errors import LinuxError
from shoal.linux.places import cache, digest, locked

# Beside what every system has.
_packages = ("iperf3", "libiperf0", "libsctp1")
_library = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", flags=re.M)


@dataclass(frozen=True)
class Iperf3:
    """The program with what it loads.

    Attributes
    ----------
    program
        Path of the executable.
    libraries
        Shared libraries, the loader among them.
    version
        ``iperf3 3.12``, and a digest of all of these files: part of an experiment's identity.
    """

    program: Path
    libraries: tuple[Path, ...]
    version: str

    def copy_into(self, root: Path) -> None:
        """Put everything into ``iperf3`` below a guest's root."""
        folder = root / "iperf3"
        folder.mkdir()
        shutil.copyfile(self.program, folder / "iperf3")
        for library in self.libraries:
            name = "ld.so" if library.name.startswith("ld-linux") else library.name
            shutil.copyfile(library, folder / name)
            (folder / name).chmod(0o755)
        (folder / "iperf3").chmod(0o755)


def find_iperf3(name: str) -> Iperf3:
    """The program of that name, or path; ``iperf3`` is fetched if this machine has none.

    Raises
    ------
    LinuxError
        There is none, or it does not run.
    """
    if found := shutil.which(name):
        return _described(Path(found), {})
    if name != "iperf3":
        raise LinuxError(f"--generator: there is no program `{name}`", hint="write iperf3, or the path of an iperf3")
    root = cache("tools", "iperf3")
    with locked("iperf3"):
        if not (root / "usr/bin/iperf3").exists():
            _fetch(root)
    return _described(root / "usr/bin/iperf3", {"LD_LIBRARY_PATH": libraries_in(root)})


def _fetch(root: Path) -> None:
    hint = "on Debian or Ubuntu: sudo apt-get install iperf3; or --generator PATH"
    if missing(fetching):
        raise LinuxError("there is no iperf3 on this machine", hint=hint)
    try:
        # The program last: where it is, all is.
        unpack(reversed(_packages), root)
    except LinuxError as error:
        raise LinuxError(f"there is no iperf3 on this machine, and it cannot be fetched: {error}", hint=hint) from error


def _described(program: Path, env: dict[str, str]) -> Iperf3:
    env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **env}
    loaded = output(["ldd", program], env=env)
    if "not found" in loaded:
        absent = ", ".join(line.split()[0] for line in loaded.splitlines() if "not found" in line)
        raise LinuxError(f"`{program}` needs {absent}", hint="on Debian or Ubuntu: sudo apt-get install iperf3")
    said = subprocess.run([str(program), "--version"], env=env, capture_output=True, text=True, check=False).stdout  # noqa: S603
    version = re.match(r"iperf (3\.\d+\S*)", said)
    if version is None:
        raise LinuxError(f"`{program}` is not iperf3", hint="write --generator iperf3, or the path of an iperf3")
    libraries = tuple(Path(path) for path in _library.findall(loaded))
    identity = digest(*(path.read_bytes() for path in (program, *libraries)))
    return Iperf3(program, libraries, f"iperf3 {version[1]} ({identity})")
