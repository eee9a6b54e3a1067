"""Commands that make the same results again, whatever happens to the files that the user gave."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shoal import build, python_laws
from shoal._native import __version__
from shoal.again_record import FILE, Recorded
from shoal.files import write_text
from shoal.flow_lists import list_files
from shoal.laws import law_files
from shoal.link_traces import trace_files
from shoal.scenario import read_text

if TYPE_CHECKING:
    from shoal.report.build import Entry

#: What stands beside the data and is made of it: pages, figures, tables for papers, and what was typed.
DERIVED = ("report.html", "command.txt", "figures", "summaries")
_source = "source.toml"


class Kept(NamedTuple):
    """A word of a command that names a file in the folder of the results.

    Attributes
    ----------
    path
        The file, relative to the folder.
    before
        What the word begins with, such as ``NAME=``.
    """

    path: str
    before: str = ""


@dataclass(frozen=True)
class Again:
    """A command that makes the results of a folder again.

    Attributes
    ----------
    words
        What follows ``shoal``, but for ``--out``.
    refusal
        Why somebody else with the same version of shoal cannot run it; empty if everybody can.
    """

    words: tuple[str | Kept, ...]
    refusal: str = ""

    def __post_init__(self) -> None:
        """Name the files of laws in Python that this command was given: copies stand beside the results."""
        files = sorted({file for law in python_laws.given().values() for file in law.texts})
        if files and "--python" not in self.words:
            words = [word for file in files for word in ("--python", Kept(file))]
            object.__setattr__(self, "words", (*self.words, *words))
        if "--python" in self.words and not self.refusal:
            object.__setattr__(self, "refusal", _in_python)

    def shown(self, out: Path) -> str:
        """The command for a shell that is where ``out`` is relative to."""
        words = [word if isinstance(word, str) else f"{word.before}{out / word.path}" for word in self.words]
        return shlex.join(["shoal", *words, "--out", beside(out)])

    def keep(self, folder: Path) -> None:
        """Write the command beside its results, of which nothing may change any more.

        Raises
        ------
        OSError
            A file cannot be read or written.
        """
        words = (word if isinstance(word, str) else f"{word.before}{word.path}" for word in self.words)
        for law in python_laws.given().values():
            law.write_into(folder)
        sums = {name: checksum(folder / name) for name in data_files(folder)}
        record = Recorded(1, __version__, build.commit(), tuple(words), self.refusal, sums)
        write_text(folder / FILE, json.dumps(asdict(record), indent=1) + "\n")


def run_command(
    entries: Sequence[Entry], out: Path, *, several_seeds: bool, generator: str | None = None, payload: bool = False
) -> Again:
    """``shoal run`` of the resolved scenarios that stand beside the results, into a new folder.

    Parameters
    ----------
    entries
        Runs whose ``folder`` is known.
    out
        Where they are reported.
    several_seeds
        Whether the results of each entry are in folders of their seeds.
    generator
        What drove the flows on Linux.
    payload
        Whether captures keep whole packets, which no scenario says.
    """
    first = entries[0].runs[0]
    words: list[str | Kept] = ["run"]
    files: dict[str | Kept, None] = {}
    for entry in entries:
        folder = entry.folder or out
        path = (folder / f"seed-{entry.runs[0].seed}" if several_seeds else folder) / "scenario.toml"
        words.append(_kept(path, out))
        laws = entry.runs[0].data["scenario"].get("laws", {}).values()
        files |= {_kept(path.with_name(Path(law["python"]).name), out): None for law in laws if "python" in law}
    words += [word for file in files for word in ("--python", file)]
    if several_seeds:
        words += ["--seeds", str(len(entries[0].runs))]
    if payload and any(entry.runs[0].data["scenario"]["trace"]["pcap"] for entry in entries):
        words.append("--pcap-payload")
    if first.data["on"] != "linux":
        return Again(tuple(words))
    words += ["--on", "linux", *(["--generator", generator] if generator else [])]
    return Again(tuple(words), on_kernel)


def _kept(path: Path, out: Path) -> str | Kept:
    return Kept(path.relative_to(out).as_posix()) if path.is_relative_to(out) else str(path)


# Nobody runs a stranger's program without having named it.
_in_python = "they have a law in Python, which runs only where somebody names its file"
#: Why results of the kernel are not for everybody.
on_kernel = "they were made on the real Linux kernel, which a build of shoal's kernel has to run again"


def keep_source(scenario: Path, sizes: Sequence[str] | None, folder: Path) -> None:
    """Copy the scenario file and all files that a command was given with it into a folder of results."""
    text = read_text(scenario)
    write_text(folder / _source, text)
    for path in (*list_files(text, scenario), *trace_files(text, scenario), *law_files(text, scenario)):
        # In a folder of results a copy stands beside the scenario, whatever folder the name has.
        shutil.copyfile(path if path.is_file() else scenario.with_name(path.name), folder / path.name)
    for number, text in enumerate(sizes or []):
        shutil.copyfile(text.partition("=")[2].strip(), folder / _sizes(number))


def template_command(verb: str, sizes: Sequence[str] | None, options: Sequence[tuple[str, object]]) -> Again:
    """``shoal VERB`` of what :func:`keep_source` copied, with the same options, into a new folder.

    Defaults that depend on a swept key are different at every point, so the file is kept as it was written. Options
    whose value is ``None`` are left out, ``True`` makes a flag, and of a list each value gets its own option.
    """
    words: list[str | Kept] = [verb, Kept(_source)]
    named = [Kept(_sizes(number), f"{text.partition('=')[0].strip()}=") for number, text in enumerate(sizes or [])]
    for name, given in (*options, ("sizes", named)):
        for value in given if isinstance(given, list) or type(given) is tuple else [given]:
            if value is True:
                words.append(f"--{name}")
            elif value is not None and value is not False:
                words += [f"--{name}", value if isinstance(value, Kept) else str(value)]
    return Again(tuple(words))


def beside(out: Path) -> str:
    """A folder for the same results once more."""
    return f"{out}-again"


def data_files(folder: Path) -> Iterator[str]:
    """The files of results that others are made of, relative to their folder, in order.

    Links are passed over, so that nothing outside of the folder is ever read.
    """
    for path in _regular_files(folder):
        name = path.relative_to(folder)
        if name.name != FILE and not any(part in DERIVED for part in name.parts):
            yield name.as_posix()


def is_given(name: str) -> bool:
    """Whether a file of results is a copy of what the user gave, which the same results do not depend on any more."""
    return name in (_source, "sweep.toml") or re.fullmatch(r"sizes-[0-9]+\.csv", name) is not None


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _regular_files(folder: Path) -> Iterator[Path]:
    """All files of a folder in order of their names, but for hidden ones, links, and what is behind links."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _regular_files(path)
        elif path.is_file():
            yield path


def _sizes(number: int) -> str:
    return f"sizes-{number}.csv"
