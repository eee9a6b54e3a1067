"""Makes packed results again and compares them with what is packed."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from shoal import again_record
from shoal._native import __version__
from shoal.again import checksum, is_given
from shoal.errors import OutputError, UsageError
from shoal.files import writing
from shoal.pack.lock import versions
from shoal.pack.manifest import RESULTS, Entry, Manifest

# What is not compared: pages and commands name folders, pictures are drawn by libraries, and a record names the commit.
_not_compared = (".html", ".pdf", ".png", ".svg", ".txt")
_most_shown = 60


@dataclass(frozen=True)
class Checked:
    """Results that were made again.

    Attributes
    ----------
    name
        What they are called.
    compared
        How many files were compared.
    seconds
        How long making them took.
    differences
        What differs, as sentences; nothing if all files have the same bytes.
    """

    name: str
    compared: int
    seconds: float
    differences: tuple[str, ...]


def check(folder: Path, again: Path, *, workers: int | None = None, note: Callable[[str], None]) -> Iterator[Checked]:
    """Make the results of an unpacked archive again, one after the other.

    Parameters
    ----------
    folder
        The archive.
    again
        An existing folder for the new results.
    workers
        Threads; all cores if not given.
    note
        Is told each command.

    Raises
    ------
    OutputError
        The folder is no archive, or a file cannot be read or written.
    UsageError
        The results are of another version of shoal.
    """
    manifest = Manifest.read(folder)
    if manifest.version != __version__:
        raise UsageError(
            f"the results are of shoal {manifest.version}, and this is {__version__}: their bytes may differ",
            hint=f"`{folder / 'rerun'}` installs that version beside the results; README.md there says how",
        )
    for number, entry in enumerate(manifest.results, 1):
        packed = folder / RESULTS / entry.name
        if damaged := list(_damaged(packed, entry.sha256)):
            yield Checked(entry.name, 0, 0.0, tuple(damaged))
            continue
        note(f"{number} of {len(manifest.results)}: {entry.name}: shoal {shlex.join(entry.command)}")
        yield make_again(entry, packed, again / entry.name, workers=workers)


def make_again(entry: Entry, packed: Path, out: Path, *, workers: int | None = None) -> Checked:
    """Make the results of a folder again, and compare them.

    Parameters
    ----------
    entry
        The folder in words.
    packed
        Where its files are.
    out
        A new folder.
    workers
        Threads; all cores if not given.

    Raises
    ------
    OutputError
        A file cannot be read.
    """
    # -P: nothing in the folder is taken for a module of Python.
    start_s = time.monotonic()
    words = [*entry.command, "--out", str(out.absolute())]
    if entry.command[0] != "run":
        words.append("--fresh")  # finished runs of the cache would be compared with themselves
    if workers is not None:
        words += ["--workers", str(workers)]
    done = subprocess.run(  # noqa: S603 - refuse_command has let through only what makes results
        [sys.executable, "-P", "-m", "shoal", "--quiet", *words],
        cwd=packed,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - start_s
    if not out.is_dir():
        said = done.stderr.strip().splitlines() or [f"it ended with exit code {done.returncode}"]
        return Checked(entry.name, 0, seconds, (f"it could not be made again: {said[0]}",))
    compared = list(_compared(entry.sha256))
    with writing(packed):
        differences = [text for name in compared if (text := _difference(name, packed / name, out / name))]
    return Checked(entry.name, len(compared), seconds, tuple(differences))


def other_packages(folder: Path) -> list[str]:
    """Packages that are not those with which the results were packed, as sentences; they may be why files differ."""
    wanted = Manifest.read(folder).packages
    here = versions(wanted)
    return [
        f"{name} is {here.get(name, 'not installed')} here, and was {version}"
        for name, version in wanted.items()
        if here.get(name) != version
    ]


def _damaged(folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    """Which files are not as they were packed."""
    for name, digest in sums.items():
        path = folder / name
        try:
            if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
                yield f"{name} is a symbolic link"
            elif not path.is_file():
                yield f"{name} is missing"
            elif checksum(path) != digest:
                yield f"{name} was changed after it was packed"
        except OSError as error:
            raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="unpack the archive again") from error


def _compared(sums: Mapping[str, str]) -> Iterator[str]:
    """The files whose bytes are compared; a table that is there as CSV as well is compared as that."""
    for name in sums:
        path = Path(name)
        if path.suffix in _not_compared or name == again_record.FILE:
            continue
        if path.suffix == ".parquet" and path.with_suffix(".csv").as_posix() in sums:
            continue
        yield name


def _difference(name: str, packed: Path, new: Path) -> str:
    """What differs between two files; empty if they have the same bytes."""
    if not new.is_file():
        return "" if is_given(name) else f"{name} was not made again"
    if checksum(packed) == checksum(new):
        return ""
    if packed.suffix == ".parquet":
        return f"{name} has other bytes"
    pairs = zip(_lines(packed), _lines(new), strict=False)
    for number, (before, after) in enumerate(pairs, 1):
        if before != after:
            return f"{name}, line {number}: packed `{before[:_most_shown]}`, now `{after[:_most_shown]}`"
    return f"{name} has another length"


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
