"""Laws of one's own in files: controllers that a scenario names.

A resolved scenario has a table ``laws`` with the file of each law and its SHA-256; the file itself is given to the
native module beside it, and is read again where that is made anew.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shoal._toml import parsed, read_toml
from shoal.errors import OutputError, ScenarioError

# A module is some kilobytes; reading a device by accident must end.
_max_bytes = 4 << 20
_prefix = "file:"
# A scenario without these has no laws.
_words = (_prefix, "laws")
# Files that have been read, by their SHA-256: a scenario may be made again where they are not.
_kept: dict[str, bytes] = {}

#: A law as the native module takes it: its name in the scenario, its file, the SHA-256 of its bytes, and these.
GivenLaw = tuple[str, str, str, bytes]


def is_law(name: str) -> bool:
    """Whether a name is that of a law's file: WebAssembly, or its text form."""
    return name.endswith((".wasm", ".wat"))


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
    for name, (file, expected, is_replaced) in _named(text, tuple(overrides)).items():
        content = _kept.get(expected) if expected else None
        if content is None:
            content = read_law(_path(file, base, is_replaced=is_replaced))
        digest = hashlib.sha256(content).hexdigest()
        _kept[digest] = content
        laws.append((name, file, digest, content))
    return laws


def law_files(text: str, file: Path) -> list[Path]:
    """The files of the laws that a scenario file names."""
    return [file.parent / path for path, *_ in _named(text, ()).values()]


def keep_laws(resolved: Mapping[str, Any], folder: Path, base: Path) -> None:
    """Copy the laws of a resolved scenario into the folder where it is written, so that it can be run from there."""
    for files in resolved.get("laws", {}).values():
        target = folder / Path(files["simulator"]).name
        if not target.exists():
            content = _kept.get(files["simulator_sha256"])
            target.write_bytes(read_law(_path(files["simulator"], base)) if content is None else content)


def _named(text: str, overrides: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, str | None, bool]]:
    """File, SHA-256 if the scenario has it, and whether an override names it, of each law by the law's name."""
    # Most scenarios have no laws, and are read thousands of times.
    if not any(word in part for part in (text, *(part for pair in overrides for part in pair)) for word in _words):
        return {}
    names: dict[str, tuple[str, str | None, bool]] = {}
    try:
        scenario = read_toml(text, "")
    except tomllib.TOMLDecodeError:
        scenario = {}
    tables = scenario.get("laws")
    for name, files in tables.items() if isinstance(tables, dict) else ():
        if isinstance(files, dict) and isinstance(files.get("simulator"), str):
            names[name] = (files["simulator"], files.get("simulator_sha256"), False)
    for name in _mentioned(scenario.get("flows")):
        names.setdefault(name, (name.removeprefix(_prefix), None, False))
    for key, value in overrides:
        law, _, which = key.removeprefix("laws.").rpartition(".")
        read = parsed(value)
        if key.startswith("laws.") and which == "simulator" and isinstance(read, str):
            names[law] = (read, None, True)
        for name in _mentioned({key.rpartition(".")[2]: read}):
            names.setdefault(name, (name.removeprefix(_prefix), None, True))
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


def _path(file: str, base: Path, *, is_replaced: bool = False) -> Path:
    """Where a file is.

    A scenario names files relative to itself, and a folder of results has copies of them; what replaces a value of the
    scenario is said by somebody else, whose files are relative to where they are.
    """
    paths = [Path(file)] if is_replaced else []
    paths += [base / file, base / Path(file).name]
    return next((path for path in paths if path.is_file()), paths[0])


def read_law(path: Path) -> bytes:
    """Read the file of a law.

    Raises
    ------
    OutputError
        It cannot be read.
    ScenarioError
        It is too long.
    """
    try:
        with path.open("rb") as opened:
            content = opened.read(_max_bytes + 1)
    except OSError as error:
        hint = "laws and `file:` name a file relative to the scenario file"
        raise OutputError(f"cannot read the law `{path}`: {error.strerror}", hint=hint) from error
    if len(content) > _max_bytes:
        raise ScenarioError(
            f"error: `{path}` has more than {_max_bytes} bytes\n"
            "hint: a law is some kilobytes; is this the right file?\n"
        )
    return content
