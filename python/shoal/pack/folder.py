"""Folders of results as they go into an archive, and what keeps them out of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal import build
from shoal._native import __version__
from shoal.again import DERIVED, checksum
from shoal.again_record import FILE, Recorded
from shoal.errors import OutputError, UsageError
from shoal.flow_lists import list_files
from shoal.laws import law_files
from shoal.link_traces import trace_files
from shoal.scenario import read_text

_hint = "name a folder that `shoal run`, `sweep`, `tune` or `reproduce` wrote with --out"
# What other verbs leave in their folders, and why it is not packed.
_others = {
    "comparison.json": ("holds a comparison with the real Linux kernel", "pack the results of `shoal run`"),
    "advice.json": ("holds advice", "run its scenario.toml with `shoal run --out`, and pack that"),
    "part.json": ("holds a part of a sweep", "put the parts together with `shoal merge --out`, and pack that"),
}
# What is made of data, by the endings that shoal writes.
_derived = (".html", ".pdf", ".png", ".svg", ".csv", ".parquet", ".tex", ".md")
# Always there: the mark of a folder of ours, the record, and what was typed, which may name machines and people.
_known = (".shoal", FILE, "command.txt")
# Files that may hold what a user wrote or typed.
_text = (".json", ".toml", ".csv", ".html", ".txt", ".md", ".tex", ".svg")
# Where the files of people are, unless a word goes on before it.
_absolute = re.compile(
    rb"(?<![\w.:/<])/(home|root|Users|tmp|var|mnt|media|srv|scratch|work|data|opt)/[^\s\"'<>&]{0,80}"
)


@dataclass(frozen=True)
class PackedResults:
    """A folder of results that goes into an archive.

    Attributes
    ----------
    name
        What it is called there.
    folder
        Where it is.
    record
        What it says of itself.
    files
        Its files in order: those of data, those made of them, and the record.
    left_out
        Names of files that do not go into the archive, with the reason.
    """

    name: str
    folder: Path
    record: Recorded
    files: tuple[str, ...]
    left_out: dict[str, str]

    @property
    def is_of_another_build(self) -> bool:
        """Whether another commit of the same version made it, as far as anybody knows."""
        return None not in (self.record.commit, build.commit()) and self.record.commit != build.commit()


def read_folders(folders: Sequence[Path]) -> list[PackedResults]:
    """Read the folders of results that an archive is to hold.

    Raises
    ------
    OutputError
        A folder is not there, holds no complete results, was edited, or holds what nobody else can make again.
    UsageError
        Two have the same name.
    """
    names: dict[str, Path] = {}
    for folder in folders:
        name = folder.resolve().name
        if not name.isprintable():
            raise UsageError(f"{name!r} is no name that every computer can write", hint="rename the folder")
        if name in names:
            is_same = names[name].resolve() == folder.resolve()
            raise UsageError(
                f"`{folder}` is named twice" if is_same else f"`{names[name]}` and `{folder}` have the same name",
                hint="name it once" if is_same else "rename one of the folders: the archive has a folder of each name",
            )
        names[name] = folder
    return [_read(name, folder) for name, folder in names.items()]


def _read(name: str, folder: Path) -> PackedResults:
    try:
        record = _record(folder)
        files = _data(folder, record)
        left_out: dict[str, str] = {}
        expected = {*files, *_known}
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder).as_posix()
            if path.is_symlink():
                left_out[inner] = "it is a symbolic link"
            elif path.is_dir() or inner in expected:
                continue
            elif path.suffix not in _derived or not any(part in DERIVED for part in Path(inner).parts):
                left_out[inner] = "it is no file of these results"
            elif where := place_in(path):
                left_out[inner] = f"it names a place on this machine, `{where}`"
            else:
                files.append(inner)
    except OSError as error:
        raise OutputError(f"cannot read `{error.filename or folder}`: {error.strerror}", hint=_hint) from error
    return PackedResults(name, folder, record, (*sorted(files), FILE), left_out)


def _record(folder: Path) -> Recorded:
    """What a folder says of its results, if others can make them again."""
    if not folder.is_dir():
        what = (
            f"`{folder}` is a file, and no folder of results" if folder.exists() else f"there is no folder `{folder}`"
        )
        raise OutputError(what, hint=_hint)
    if not (folder / FILE).is_file() or (folder / FILE).is_symlink():
        raise _without_record(folder)
    try:
        record = Recorded.read(folder)
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise OutputError(
            f"`{folder / FILE}` was edited or is damaged: {reason}", hint="make the results again"
        ) from None
    if record.version != __version__:
        raise OutputError(
            f"the results in `{folder}` are of shoal {record.version}, and this is {__version__}: bytes may differ",
            hint=f"pack them with shoal {record.version}, or make them again",
        )
    if record.refusal:
        raise OutputError(f"the results in `{folder}` cannot be made again by others: {record.refusal}", hint=_hint)
    return record


def _without_record(folder: Path) -> OutputError:
    if not any(folder.iterdir()):
        return OutputError(f"`{folder}` is empty", hint=_hint)
    for file, (what, hint) in _others.items():
        if (folder / file).exists():
            return OutputError(f"`{folder}` {what}, which is not packed", hint=hint)
    if folder.name.endswith(".partial"):
        return OutputError(f"`{folder}` is not complete: a command writes it, or was killed", hint=_hint)
    if any(
        (folder / file).exists() for file in ("result.json", "results.json", "sweep.json", "tune.json", "verdicts.csv")
    ):
        again = "as in `shoal run DIR/scenario.toml --out NEW`"
        return OutputError(f"`{folder}` has no `{FILE}`: it is not complete, or not from the command line", hint=again)
    return OutputError(f"`{folder}` holds no results", hint=_hint)


def _data(folder: Path, record: Recorded) -> list[str]:
    """The files of data, each as it was written."""
    for name, digest in record.sha256.items():
        path = folder / name
        if any(part.is_symlink() for part in (path, *path.parents[: len(Path(name).parts) - 1])):
            raise OutputError(f"`{path}` is a symbolic link, which is not followed", hint="put the file itself there")
        if not path.is_file():
            raise OutputError(f"`{folder}` is not complete: `{name}` is missing", hint="make the results again")
        if checksum(path) != digest:
            raise OutputError(f"`{path}` was edited after it was written", hint="make the results again")
        if where := place_in(path):
            raise OutputError(
                f"`{path}` names a place on this machine, `{where}`",
                hint="name files relative to the scenario file, and make the results again",
            )
        if path.name == "source.toml" and record.command[0] == "tune":
            _refuse_files_elsewhere(path)
    return list(record.sha256)


def _refuse_files_elsewhere(source: Path) -> None:
    """A search reads its scenario as it was written: what that names must be beside it."""
    text = read_text(source)
    # A list of flows and a law are also looked for beside the scenario, whatever folder their names have.
    lists = [source.with_name(path.name) for path in (*list_files(text, source), *law_files(text, source))]
    for path in (*lists, *trace_files(text, source)):
        if path.parent != source.parent or not path.is_file():
            raise OutputError(
                f"`{source}` names a file that is not in its folder, `{path}`",
                hint="put the file beside the scenario, name it without a folder, and search again",
            )


def place_in(path: Path) -> str:
    """The first place of a machine that a file of text names; empty if it names none."""
    if path.suffix not in _text:
        return ""
    match = _absolute.search(path.read_bytes())
    return match[0].decode("utf-8", "replace") if match else ""
