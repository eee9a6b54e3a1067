"""Laws of one's own in files: controllers and queues that a scenario names.

A resolved scenario has a table ``laws`` with the file of each law and its SHA-256; the file itself is given to the native
module beside it, and is read again where that is made anew.
"""

from __future__ import annotations

import hashlib
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shoal._toml import parsed, read_toml
from shoal.errors import OutputError, ScenarioError

# A module is some kilobytes; reading a device by accident must end.
_max_bytes = 4 << 20
_prefix = "file:"
# Files that have been read, by their SHA-256: a scenario may be made again where they are not.
_kept: dict[str, bytes] = {}

#: A law as the native module takes it: its name in the scenario, its file, the SHA-256 of its bytes, and these.
GivenLaw = tuple[str, str, str, bytes]


def given_laws(text: str, overrides: Iterable[tuple[str, str]], base: Path) -> list[GivenLaw]:
    """Read the laws that a scenario names.

    Parameters
    ----------
    text
        The scenario; what is no TOML names none, and is refused elsewhere.
    overrides
        What replaces values of it.
    base
        Folder to which its files are relative.

    Raises
    ------
    OutputError
        A file cannot be read.
    ScenarioError
        A file is too long.
    """
    laws = []
    for name, (file, digest) in _named(text, tuple(overrides)).items():
        content = _kept.get(digest) if digest else None
        if content is None:
            content = _read(file, base)
        digest = hashlib.sha256(content).hexdigest()
        _kept[digest] = content
        laws.append((name, file, digest, content))
    return laws


def law_files(text: str, file: Path) -> list[Path]:
    """The files of the laws that a scenario file names."""
    return [file.parent / path for path, _ in _named(text, ()).values()]


def keep_laws(resolved: Mapping[str, Any], folder: Path, base: Path) -> None:
    """Copy the laws of a resolved scenario into the folder where it is written, so that it can be run from there."""
    for files in resolved.get("laws", {}).values():
        target = folder / Path(files["simulator"]).name
        if target.exists():
            continue
        if (content := _kept.get(files["simulator_sha256"])) is not None:
            target.write_bytes(content)
        else:
            shutil.copyfile(_path(files["simulator"], base), target)


def _named(text: str, overrides: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, str | None]]:
    """File and, if the scenario has it, SHA-256 of each law, by the law's name."""
    # Most scenarios have no laws, and are read thousands of times.
    if not any(word in part for part in (text, *(part for pair in overrides for part in pair)) for word in ("file:", "laws")):
        return {}
    try:
        scenario = read_toml(text, "")
    except tomllib.TOMLDecodeError:
        return {}
    names: dict[str, tuple[str, str | None]] = {}
    tables = scenario.get("laws")
    for name, files in tables.items() if isinstance(tables, dict) else ():
        if isinstance(files, dict) and isinstance(files.get("simulator"), str):
            names[name] = (files["simulator"], files.get("simulator_sha256"))
    mentioned = [*_mentioned(scenario.get("flows"))]
    for key, value in overrides:
        law, _, which = key.removeprefix("laws.").rpartition(".")
        read = parsed(value)
        if key.startswith("laws.") and which == "simulator" and isinstance(read, str):
            names[law] = (read, None)
        mentioned.extend(_mentioned({key.rpartition(".")[2]: read}))
    for name in mentioned:
        names.setdefault(name, (name.removeprefix(_prefix), None))
    return names


def _mentioned(value: object) -> Iterator[str]:
    """Files that stand in the place of a controller's name."""
    if isinstance(value, dict):
        for key, below in value.items():
            if key == "cc" and isinstance(below, str) and below.startswith(_prefix):
                yield below
            yield from _mentioned(below)
    elif isinstance(value, list):
        for below in value:
            yield from _mentioned(below)


def _path(file: str, base: Path) -> Path:
    """Where a file is: beside the scenario, as it is named, or as a copy in a folder of results."""
    beside, path = base / Path(file).name, base / file
    return beside if beside.is_file() and not path.is_file() else path


def _read(file: str, base: Path) -> bytes:
    path = _path(file, base)
    try:
        with path.open("rb") as opened:
            content = opened.read(_max_bytes + 1)
    except OSError as error:
        hint = "laws and `file:` name a file relative to the scenario file"
        raise OutputError(f"cannot read the law `{path}`: {error.strerror}", hint=hint) from error
    if len(content) > _max_bytes:
        raise ScenarioError(
            f"error: `{path}` has more than {_max_bytes} bytes\nhint: a law is some kilobytes; is this the right file?\n"
        )
    return content
