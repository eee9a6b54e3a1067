"""What an archive says of itself for programs: the build, and each folder of results with its files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from shoal.again_record import refuse_command, refuse_unsafe
from shoal.errors import OutputError

#: The file in an archive; its first member.
FILE = "artifact.json"
#: Where the folders of results are.
RESULTS = "results"


@dataclass(frozen=True)
class Entry:
    """A folder of results in an archive.

    Attributes
    ----------
    name
        What it is called.
    command
        What follows ``shoal`` in a shell that is in the folder, but for ``--out``.
    sha256
        Its files with their checksums.
    left_out
        Files that were in the folder and are not in the archive, with the reason.
    """

    name: str
    command: tuple[str, ...]
    sha256: dict[str, str]
    left_out: dict[str, str]


@dataclass(frozen=True)
class Manifest:
    """What :data:`FILE` holds.

    Attributes
    ----------
    schema
        Rises when a field goes or changes its meaning.
    version, commit, simulator
        Which build packed the results: the version, the commit if it is known, and the SHA-256 of its simulator.
    python, packages
        The environment.
    results
        The folders.
    """

    schema: Literal[1]
    version: str
    commit: str | None
    simulator: str
    python: str
    packages: dict[str, str]
    results: tuple[Entry, ...]

    @property
    def text(self) -> str:
        """All of it as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of an unpacked archive.

        Raises
        ------
        OutputError
            It is missing, damaged, or names what is not in the archive.
        """
        from pydantic import TypeAdapter

        path = folder / FILE
        hint = "unpack the archive that `shoal pack` wrote, and name its folder"
        if folder.is_file():
            raise OutputError(
                f"`{folder}` is a file, and no unpacked archive", hint=f"tar -xzf {folder}, and name the new folder"
            )
        try:
            manifest = TypeAdapter(Manifest).validate_json(path.read_bytes(), strict=True)
            for entry in manifest.results:
                refuse_command(entry.command)
                for name in (entry.name, *entry.sha256):
                    refuse_unsafe(name)
        except OSError as error:
            raise OutputError(f"`{folder}` is no unpacked archive: `{path}`: {error.strerror}", hint=hint) from error
        except ValueError as error:
            reason = str(error).splitlines()[0]
            raise OutputError(f"`{path}` was edited or is damaged: {reason}", hint=hint) from None
        return manifest
