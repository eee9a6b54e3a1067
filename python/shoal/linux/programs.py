"""Programs that run in the guest: found on this machine or unpacked, and copied there with what they load."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shoal.linux.commands import output
from shoal.linux.errors import LinuxError
from shoal.linux.places import digest

_library = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", flags=re.M)


@dataclass(frozen=True)
class Program:
    """A program with what it loads.

    Attributes
    ----------
    name
        Name of the program, and of its folder below a guest's root.
    path
        Path of the executable.
    libraries
        Shared libraries, the loader among them.
    version
        What it says of itself, and a digest of all of these files: part of an experiment's identity.
    """

    name: str
    path: Path
    libraries: tuple[Path, ...]
    version: str

    def copy_into(self, root: Path) -> None:
        """Put everything into a folder below a guest's root."""
        folder = root / self.name
        folder.mkdir()
        for source, name in [(self.path, self.name), *((library, _guest_name(library)) for library in self.libraries)]:
            shutil.copyfile(source, folder / name)
            (folder / name).chmod(0o755)


@dataclass(frozen=True)
class Start:
    """How a program is started on this machine.

    Attributes
    ----------
    path
        Path of the program.
    libraries
        Folders of its libraries, separated by colons, if they are not those of the system.
    loader
        Its own loader, for a program of another release of the distribution.
    """

    path: Path
    libraries: str = ""
    loader: Path | None = None

    @property
    def _env(self) -> dict[str, str]:
        env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        return env if self.loader or not self.libraries else env | {"LD_LIBRARY_PATH": self.libraries}

    def _command(self, *words: str) -> list[str]:
        prefix = [str(self.loader), "--library-path", self.libraries] if self.loader else []
        return [*prefix, *words]

    def says(self, *arguments: str) -> str:
        """What the program prints, on either stream."""
        done = subprocess.run(  # noqa: S603
            self._command(str(self.path), *arguments),
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout

    def program(self, name: str, version: str, *, package: str) -> Program:
        """The program as it is copied into guests.

        Raises
        ------
        LinuxError
            A library is missing.
        """
        listing = self._command("--list", str(self.path)) if self.loader else ["ldd", str(self.path)]
        loaded = output(listing, env=self._env)
        if "not found" in loaded:
            absent = ", ".join(line.split()[0] for line in loaded.splitlines() if "not found" in line)
            raise LinuxError(
                f"`{self.path}` needs {absent}", hint=f"on Debian or Ubuntu: sudo apt-get install {package}"
            )
        libraries = tuple(Path(path) for path in _library.findall(loaded))
        if self.loader and self.loader not in libraries:
            libraries = (*(library for library in libraries if not library.name.startswith("ld-linux")), self.loader)
        identity = digest(*(path.read_bytes() for path in (self.path, *libraries)))
        return Program(name, self.path, libraries, f"{version} ({identity})")


def _guest_name(library: Path) -> str:
    return "ld.so" if library.name.startswith("ld-linux") else library.name
