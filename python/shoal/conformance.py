"""Conformance scripts, in packetdrill's syntax, on our models and on the real kernel.

A script says which packets arrive and which must leave when. Those of the kernel's own tests are read from its source;
ours, for DCTCP, come with the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from shoal import _native
from shoal._toml import read_toml
from shoal.errors import OutputError, ScenarioError
from shoal.parallel import Progress, counted, run_all

Plane = Literal["sim", "linux"]
Outcome = Literal["pass", "fail", "refused", "wrong", "stopped"]

_shipped = Path(__file__).parent / "_data" / "linux" / "conformance"


@dataclass(frozen=True)
class Expectation:
    """A difference that is known: it must still be there, at this line.

    Attributes
    ----------
    line
        Line of the script.
    why
        The reason.
    """

    line: int
    why: str


@dataclass(frozen=True)
class Verdict:
    """What became of a script.

    Attributes
    ----------
    script
        The file.
    on
        ``sim`` or ``linux``.
    outcome
        ``pass``, ``fail``, ``refused`` (it needs what is not there), ``wrong`` (an error of the script: it is none, or
        it names what does not exist), or ``stopped`` (the guest failed while it played).
    data
        Further facts: ``line``, ``reason``, ``wanted``, ``seen``, ``hint``, ``notes``, ``until``.
    expected
        The known difference, if one is listed.
    """

    script: Path
    on: Plane
    outcome: Outcome
    data: Mapping[str, Any]
    expected: Expectation | None = None

    @property
    def ok(self) -> bool:
        """Whether this is as it should be: passed, refused, or failed exactly as listed."""
        if self.expected is not None:
            return self.outcome == "fail" and self.data["line"] == self.expected.line
        return self.outcome in ("pass", "refused")

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the script by its name, so that the bytes are the same everywhere."""
        content: dict[str, Any] = {"script": self.script.name, "on": self.on, "verdict": self.outcome, "ok": self.ok}
        content |= {key: value for key, value in self.data.items() if key != "verdict"}
        if self.expected is not None:
            content["expected"] = {"line": self.expected.line, "why": self.expected.why}
        return content


def shipped_scripts() -> list[Path]:
    """Our own scripts."""
    return find_scripts([_shipped])


def selftests(tree: Path) -> list[Path]:
    """Scripts of a kernel's own tests.

    Parameters
    ----------
    tree
        The kernel's source.

    Raises
    ------
    OutputError
        It has none.
    """
    return find_scripts([tree / "tools" / "testing" / "selftests" / "net" / "packetdrill"])


def find_scripts(places: Iterable[Path]) -> list[Path]:
    """Script files, and those in folders, in the order of their names.

    Raises
    ------
    OutputError
        A file or folder is not there, or a folder has no scripts.
    """
    files: list[Path] = []
    for path in places:
        if path.is_dir():
            scripts = sorted(path.rglob("*.pkt"))
            if not scripts:
                raise OutputError(f"`{path}` has no scripts", hint="scripts end in .pkt")
            files += scripts
        elif path.exists():
            files.append(path)
        else:
            raise OutputError(f"there is no file or folder `{path}`")
    return files


def expectations(on: Plane, file: Path | None = None) -> dict[str, Expectation]:
    """Known differences by the name of the script.

    Parameters
    ----------
    on
        Where they are.
    file
        A list of your own instead of ours.

    Raises
    ------
    OutputError
        The list cannot be read.
    """
    path = file or _shipped / f"expected-{on}.toml"
    try:
        entries = read_toml(path.read_text(encoding="utf-8"), path)
        return {name: Expectation(line=int(entry["line"]), why=str(entry["why"])) for name, entry in entries.items()}
    except OSError as error:
        raise OutputError(f"`{path}`: {error.strerror}") from error
    except ScenarioError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        hint = 'each entry is ["script.pkt"] with `line` and `why`'
        raise OutputError(f"`{path}` is not a list of known differences: {error}", hint=hint) from error


def run_scripts(
    scripts: Sequence[Path],
    *,
    on: Plane = "sim",
    known: Mapping[str, Expectation] | None = None,
    kernel: str | None = None,
    workers: int | None = None,
    progress: Progress = False,
) -> list[Verdict]:
    """Play scripts. What becomes of one does not end the others.

    Parameters
    ----------
    scripts
        Files.
    on
        ``sim``: our models; ``linux``: the kernel in virtual time, one guest a script.
    known
        Known differences by the name of the script; ours if not given.
    kernel
        Version of the kernel; the one that was built last if not given.
    workers
        Guests at once; one a core if not given.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.

    Raises
    ------
    OutputError
        A script cannot be read.
    LinuxError
        There is no kernel.
    """
    known = expectations(on) if known is None else known
    texts = [(script, _read(script)) for script in scripts]
    if on == "sim":
        tasks = [partial(_on_model, script, text) for script, text in texts]
    else:
        from shoal.linux.conformance import player

        play = player(kernel)
        tasks = [partial(play, script, text) for script, text in texts]
    with counted(len(tasks), progress, "scripts") as on_done:
        outcomes = run_all(tasks, workers=workers, on_done=on_done)
    return [
        Verdict(script, on, data["verdict"], data, known.get(script.name))
        for script, data in zip(scripts, outcomes, strict=True)
    ]


def _on_model(script: Path, text: str, _cancel: _native.Cancel) -> dict[str, Any]:
    return dict(json.loads(_native.conformance_on_model(text, script.parent)))


def _read(script: Path) -> str:
    try:
        return script.read_text(encoding="utf-8")
    except OSError as error:
        raise OutputError(f"`{script}`: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise OutputError(f"`{script}` is not text: {error.reason}") from error
