"""Commands that make the same results again, whatever happens to the files that the user gave."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.files import write_text
from shoal.flow_lists import list_files
from shoal.scenario import read_text

if TYPE_CHECKING:
    from shoal.report.build import Entry

_source = "source.toml"


def run_command(entries: Sequence[Entry], out: Path, *, several_seeds: bool, generator: str | None = None) -> str:
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
    """
    first = entries[0].runs[0]
    words = ["shoal", "run"]
    for entry in entries:
        folder = entry.folder or out
        words.append(str((folder / f"seed-{entry.runs[0].seed}" if several_seeds else folder) / "scenario.toml"))
    if several_seeds:
        words += ["--seeds", str(len(entries[0].runs))]
    if first.data["on"] == "linux":
        words += ["--on", "linux", *(["--generator", generator] if generator else [])]
    return shlex.join([*words, "--out", beside(out)])


def keep_source(scenario: Path, sizes: Sequence[str] | None, folder: Path) -> None:
    """Copy the scenario file and the distributions of sizes that a command was given into a folder of results."""
    text = read_text(scenario)
    write_text(folder / _source, text)
    for path in list_files(text, scenario):
        shutil.copyfile(path, folder / path.name)
    for number, text in enumerate(sizes or []):
        shutil.copyfile(text.partition("=")[2].strip(), folder / _sizes(number))


def template_command(verb: str, out: Path, sizes: Sequence[str] | None, options: Sequence[tuple[str, object]]) -> str:
    """``shoal VERB`` of what :func:`keep_source` copied, with the same options, into a new folder.

    Defaults that depend on a swept key are different at every point, so the file is kept as it was written. Options
    whose value is ``None`` are left out, ``True`` makes a flag, and of a list each value gets its own option.
    """
    words = ["shoal", verb, str(out / _source)]
    named = [f"{text.partition('=')[0].strip()}={out / _sizes(number)}" for number, text in enumerate(sizes or [])]
    for name, given in (*options, ("sizes", named)):
        for value in given if isinstance(given, list | tuple) else [given]:
            if value is True:
                words.append(f"--{name}")
            elif value is not None and value is not False:
                words += [f"--{name}", str(value)]
    return shlex.join([*words, "--out", beside(out)])


def beside(out: Path) -> str:
    """A folder for the same results once more."""
    return f"{out}-again"


def _sizes(number: int) -> str:
    return f"sizes-{number}.csv"
