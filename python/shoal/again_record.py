"""What a folder of results says of itself for programs: who made it, how it is made again, and what its data were.

``again.json`` is the last file that is written, so that a folder without it is not complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

#: The file in a folder of results.
FILE = "again.json"


@dataclass(frozen=True)
class Recorded:
    """What :data:`FILE` holds.

    Attributes
    ----------
    schema
        Rises when a field goes or changes its meaning.
    version, commit
        Which build of shoal made the results; nobody may know the commit.
    command
        What follows ``shoal`` in a shell that is in the folder, but for ``--out``.
    refusal
        Why somebody else cannot run it; empty if everybody can.
    sha256
        Names of the files of data with their checksums.
    """

    schema: Literal[1]
    version: str
    commit: str | None
    command: tuple[str, ...]
    refusal: str
    sha256: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Recorded:
        """Read the record of a folder.

        Raises
        ------
        OSError
            It cannot be read.
        ValueError
            It is not what shoal writes, or its command would do more than make results.
        """
        from pydantic import TypeAdapter

        record = TypeAdapter(Recorded).validate_json((folder / FILE).read_bytes(), strict=True)
        for name in record.sha256:
            refuse_unsafe(name)
        if not record.refusal:
            refuse_command(record.command)
        return record


# Options of commands that make results again: with a value, and without.
_options: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "run": (("--seeds",), ("--pcap-payload",)),
    "sweep": ((), ()),
    "tune": (
        (
            *("--key", "--from", "--to", "--unit", "--step", "--within", "--such-that", "--set", "--seeds"),
            *("--confirm", "--sizes", "--free", "--minimise", "--maximise", "--runs"),
        ),
        ("--smallest", "--largest"),
    ),
    "reproduce": (("--host",), ("--quick", "--full")),
}


def refuse_command(words: Sequence[str]) -> None:
    """Let through only what makes results from files of the folder: a record may come from a stranger.

    Raises
    ------
    ValueError
        It is another command, has another option, or names a file that is elsewhere.
    """
    verb, *rest = words or [""]
    if verb not in _options:
        raise ValueError(f"`shoal {verb}` makes no results again")
    with_value, flags = _options[verb]
    following = iter(rest)
    for word in following:
        if word in with_value:
            value = next(following, "")
            if word == "--sizes":
                refuse_unsafe(value.partition("=")[2])
        elif word.startswith("-"):
            if word not in flags:
                raise ValueError(f"`shoal {verb}` has no option `{word}` here")
        else:
            refuse_unsafe(word)


def refuse_unsafe(name: str) -> None:
    """Raise if a name leads out of the folder that it is relative to.

    Raises
    ------
    ValueError
        It is absolute, empty, or has a part ``..``.
    """
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or not name.isprintable():
        raise ValueError(f"`{name}` is no name of a file in a folder of results")
