"""Laws of one's own in files: controllers and queues that a scenario names.

A resolved scenario has a table ``laws`` with the file of each law and its SHA-256; the file itself is given to the
native module beside it, and is read again where that is made anew.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal import python_laws
from shoal._toml import parsed, read_toml
from shoal.errors import OutputError, ScenarioError
from shoal.python_laws import LawClass, PythonLaw

# A module is some kilobytes; reading a device by accident must end.
_max_bytes = 4 << 20
_prefix = "file:"
# Kind of the queues that have a law of one's own.
_module = "module"
# A scenario without these has no laws.
_words = (_prefix, "laws")
_keys = ("simulator", "simulator_sha256", "python", "python_sha256", "kernel", "kernel_sha256")
# Files that have been read, by their SHA-256: a scenario may be made again where they are not.
_kept: dict[str, bytes] = {}

#: A law as the native module takes it: its name in the scenario; the simulator's file, the SHA-256 of its bytes, and
#: these; the file of a class in Python, its SHA-256, and the class unless nobody has given it; the kernel's file and
#: its SHA-256.
GivenLaw = tuple[str, tuple[str, str, bytes] | None, tuple[str, str, PythonLaw | None] | None, tuple[str, str] | None]


@dataclass(frozen=True)
class Named:
    """What a scenario says of a law: its files, and their SHA-256 if they are written."""

    simulator: str | None = None
    simulator_sha256: str | None = None
    python: str | None = None
    python_sha256: str | None = None
    kernel: str | None = None
    kernel_sha256: str | None = None
    #: Whether somebody named the simulator's file who replaced a value: it is relative to where that one is, then.
    is_replaced: bool = False


def is_law(name: str) -> bool:
    """Whether a name is that of a law's file for the simulator: WebAssembly, its text form, or Python."""
    return name.endswith((".wasm", ".wat", ".py"))


def names_a_file(name: str) -> bool:
    """Whether the name of a controller is the file of a law, as in ``file:mine.wasm``."""
    return name.startswith(_prefix)


def names_a_law(name: str) -> bool:
    """Whether a controller is a law of one's own: a file, or a class of a file that the command names."""
    return names_a_file(name) or name in python_laws.given()


def give_python(files: Iterable[Path]) -> None:
    """Run the Python files that a command names, so that scenarios may name their classes.

    Raises
    ------
    OutputError
        A file cannot be read.
    ScenarioError
        It cannot be run, or has no law.
    UsageError
        Two files have a law of the same name.
    """
    python_laws.give({file: read_law(file) for file in files})


def python_laws_of(laws: Iterable[LawClass | str | Path]) -> list[PythonLaw]:
    """The laws that a program hands over: classes, and all classes of files.

    Raises
    ------
    OutputError
        A file cannot be read.
    ScenarioError
        One is no law, or its source cannot be read.
    """
    known: list[PythonLaw] = []
    for law in laws:
        if isinstance(law, str | Path):
            known += python_laws.laws_in(Path(law), read_law(Path(law)))
        else:
            known.append(python_laws.law_of(law))
    return known


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
    laws: list[GivenLaw] = []
    for name, law in _named(text, tuple(overrides)).items():
        simulator = kernel = None
        python: tuple[str, str, PythonLaw | None] | None = None
        if law.simulator is not None:
            content = _kept.get(law.simulator_sha256 or "")
            if content is None:
                here = Path(law.simulator)
                replaced = law.is_replaced and here.is_file()
                content = read_law(here if replaced else law_path(law.simulator, base))
            digest = hashlib.sha256(content).hexdigest()
            _kept[digest] = content
            simulator = (law.simulator, digest, content)
        if known := python_laws.find(name, law.python_sha256):
            python = (law.python or known.file, known.sha256, known)
        elif law.python is not None:
            python = (law.python, _sha256_of_absent(name, law), None)
        if law.kernel is not None:
            kernel = (law.kernel, kernel_sha256(law.kernel, law.kernel_sha256, base))
        laws.append((name, simulator, python, kernel))
    return laws


def _sha256_of_absent(name: str, law: Named) -> str:
    """The digest of a class that nobody has given: with it a scenario can be read, and is not run."""
    if law.python_sha256 is None:
        raise ScenarioError(
            f"error: the law `{name}` is a class in Python, which runs only if the command names its file\n"
            f"hint: add --python {law.python}, if you trust it; in Python, Scenario.from_file(..., laws=[...])\n"
        )
    return law.python_sha256


def law_files(text: str, file: Path) -> list[Path]:
    """The files of the laws that a scenario file names."""
    named = _named(text, ()).values()
    files = [path for law in named for path in (law.simulator, law.python, law.kernel) if path is not None]
    return [file.parent / path for path in files]


def keep_laws(resolved: Mapping[str, Any], folder: Path, base: Path) -> None:
    """Copy the laws of a resolved scenario into the folder where it is written, so that it can be run from there."""
    for name, files in resolved.get("laws", {}).items():
        if "python" in files and (law := python_laws.find(name, files["python_sha256"])):
            law.write_into(folder)
        for key in ("simulator", "kernel"):
            if (file := files.get(key)) is None:
                continue
            sources = [law_path(file, base)]
            if key == "kernel" and sources[0].is_file():
                sources += [sources[0].parent / name for name in _included(sources[0])]
            for source in sources:
                _copy(source, folder / source.name, files[f"{key}_sha256"])


def remember_laws(resolved: Mapping[str, Any], folder: Path) -> None:
    """Keep the files of the laws of a resolved scenario, which lie in its folder, or above where there are seeds."""
    for files in resolved.get("laws", {}).values():
        for key in ("simulator", "kernel"):
            digest, file = files.get(f"{key}_sha256"), files.get(key)
            if file is None or digest in _kept:
                continue
            for path in (folder / Path(file).name, folder.parent / Path(file).name):
                if not path.is_file():
                    continue
                if key == "simulator" and hashlib.sha256(content := read_law(path)).hexdigest() == digest:
                    _kept[digest] = content
                elif key == "kernel":
                    kernel_sha256(path.name, None, path.parent)


def kernel_sha256(file: str, digest: str | None, base: Path) -> str:
    """SHA-256 of a kernel module's source and of what it includes of its folder.

    A file that is not there, but has been read with this digest, is that of a scenario that was written elsewhere.
    """
    path = law_path(file, base)
    if digest is not None and digest in _kept and not path.is_file():
        return digest
    content = read_law(path)
    for name in _included(path):
        content += b"\0" + read_law(path.parent / name)
    digest = hashlib.sha256(content).hexdigest()
    _kept[digest] = path.read_bytes()
    return digest


def law_path(file: str, base: Path) -> Path:
    """Where a file is: beside the scenario, as it is named, or as a copy in a folder of results."""
    beside, path = base / Path(file).name, base / file
    return beside if beside.is_file() and not path.is_file() else path


def _copy(source: Path, target: Path, digest: str) -> None:
    if target.exists():
        return
    if not source.is_file() and (content := _kept.get(digest)) is not None:
        target.write_bytes(content)
    else:
        shutil.copyfile(source, target)


def _included(source: Path) -> list[str]:
    """Files of its folder that a C file includes, themselves and by those."""
    names: dict[str, None] = {}
    waiting = [source]
    while waiting:
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', waiting.pop().read_text("utf-8", "replace"), flags=re.M):
            if name not in names and (path := source.parent / name).is_file():
                names[name] = None
                waiting.append(path)
    return sorted(names)


def _named(text: str, overrides: tuple[tuple[str, str], ...]) -> dict[str, Named]:
    """Files and, if the scenario has them, their SHA-256 of each law, by the law's name."""
    # Most scenarios have no laws, and are read thousands of times.
    parts = (text, *(part for pair in overrides for part in pair))
    if not any(word in part for part in parts for word in (*_words, *python_laws.given())):
        return {}
    try:
        scenario = read_toml(text, "")
    except tomllib.TOMLDecodeError:
        scenario = {}
    names: dict[str, Named] = {}
    tables = scenario.get("laws")
    for name, files in tables.items() if isinstance(tables, dict) else ():
        if isinstance(files, dict):
            known = {key: files[key] for key in _keys if isinstance(files.get(key), str)}
            names[name] = Named(**known)
    for name in _mentioned(scenario):
        names.setdefault(name, _as_mentioned(name))
    for key, value in overrides:
        law, _, which = key.removeprefix("laws.").rpartition(".")
        read = parsed(value)
        if key.startswith("laws.") and which in _keys and isinstance(read, str):
            # A file that is replaced is another one; a digest that is written belongs to the file before it.
            forgotten = {} if which.endswith("_sha256") else {f"{which}_sha256": None}
            changed: dict[str, Any] = {which: read, **forgotten}
            if which == "simulator":
                changed["is_replaced"] = True
            names[law] = replace(names.get(law, Named()), **changed)
        last = key.rpartition(".")[2]
        # The name of a queue's law, where the kind of the queue stands in the scenario.
        value_of = {last: read} if last != "name" else {"kind": _module, last: read} if "aqm" in key else {}
        for name in _mentioned(value_of):
            names.setdefault(name, replace(_as_mentioned(name), is_replaced=True))
    return names


def _as_mentioned(name: str) -> Named:
    """What is known of a law that stands in the place of a controller, and nowhere else."""
    return Named(simulator=name.removeprefix(_prefix)) if names_a_file(name) else Named()


def _mentioned(value: object) -> Iterator[str]:
    """Laws that stand in the place of a name of a controller, or of a queue: files, and classes that are given."""
    if isinstance(value, dict):
        names = ("cc", "name") if value.get("kind") == _module else ("cc",)
        for key, below in value.items():
            if key in names and isinstance(below, str) and names_a_law(below):
                yield below
            yield from _mentioned(below)
    elif isinstance(value, list):
        for below in value:
            yield from _mentioned(below)


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
