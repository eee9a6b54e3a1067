"""Folders and files that are there completely or not at all, and what may be replaced by them."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from shoal.errors import OutputError

# In every folder of results, and in every unfinished one, whose owner holds a lock on it.
_marker = ".shoal"
# How temporary names end, by what stands under them.
_temporary = {kind: re.compile(rf"(?P<pid>[0-9]{{1,9}})(-[0-9a-f]{{8}})?\.{kind}") for kind in ("partial", "old")}


@contextmanager
def new_folder(target: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary folder that takes the name ``target`` when the block ends well.

    When the block raises (a KeyboardInterrupt too) nothing is left, and an existing target is untouched. What a killed
    process left of the same target is removed.

    Raises
    ------
    OutputError
        The target exists and ``force`` is not given, or its place cannot be written.
    """
    target = Path(target)
    _put_back(target)
    refuse_existing(target, force=force)
    if not Path(os.path.abspath(target)).name:
        raise OutputError(f"`{target}` is not a name of a folder", hint="choose another --out")
    # A name of its own, also among the processes of other containers that share the disk.
    partial = _beside(target, f"{os.getpid()}-{secrets.token_hex(4)}.partial")
    if (file := next((path for path in target.parents if path.exists() and not path.is_dir()), None)) is not None:
        raise OutputError(f"cannot write `{target}`: `{file}` is not a folder", hint="choose another --out")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(target)
        partial.mkdir()
        lock = _locked_marker(partial)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise unwritable(target, error) from error
    with lock:
        try:
            yield partial
            _replace(partial, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def refuse_existing(target: str | Path, *, force: bool) -> None:
    """Raise if results would be overwritten without being asked to, or anything else at all."""
    target = Path(target)
    if target.is_symlink() or target.exists():
        if not force:
            raise OutputError(f"`{target}` already exists", hint="choose another --out, or add --force to replace it")
        if target.is_symlink():
            raise OutputError(
                f"`{target}` is a symbolic link, so it is not replaced", hint="name the folder that it points to"
            )
        if not target.is_dir():
            raise OutputError(f"`{target}` is not a folder", hint="choose another --out")
        if any(target.iterdir()) and not (target / "result.json").exists() and not (target / _marker).exists():
            raise OutputError(
                f"`{target}` holds no results of shoal, so it is not replaced", hint="choose another --out"
            )


def refuse_foreign(
    target: str | Path, is_ours: Callable[[Path], bool], *, what: str, option: str, force: bool = True
) -> None:
    """Raise if a file would be overwritten that is not of the kind that is to be written.

    Parameters
    ----------
    target
        The file. Pipes and character devices are written to, which loses nothing.
    is_ours
        Whether a regular file is one that shoal wrote.
    what
        What is to be written, as in ``capture of shoal``.
    option
        What the target was given with, as in ``--pcap``.
    force
        Whether an older file of ours may be replaced.

    Raises
    ------
    OutputError
        The target is a symbolic link, a folder, a block device, or a file that is not ours; or it exists at all and
        ``force`` is not given.
    """
    target = Path(target)
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # It is not there, or writing it fails with a message of its own.
    other = f"choose another {option}"
    if stat.S_ISLNK(mode) and not _is_stream(target):
        raise OutputError(
            f"`{target}` is a symbolic link, so it is not replaced",
            hint=f"name the file that it points to, or {other}",
        )
    if _is_stream(target):
        return
    if not force:
        raise OutputError(f"`{target}` already exists", hint=f"{other}, or add --force to replace it")
    if not stat.S_ISREG(mode):
        raise OutputError(f"`{target}` is not a regular file, so it is not replaced", hint=other)
    try:
        ours = is_ours(target)
    except OSError as error:
        raise unwritable(target, error, option=option) from error
    if not ours:
        raise OutputError(f"`{target}` is not a {what}, so it is not replaced", hint=other)


def is_capture(path: Path) -> bool:
    """Whether a file is a pcapng capture that shoal wrote: its section header names the application."""
    with path.open("rb") as file:
        head = file.read(256)
    return not head or (head[:4] == b"\x0a\x0d\x0d\x0a" and b"shoal " in head[: int.from_bytes(head[4:8], "little")])


def is_packet_trace(path: Path) -> bool:
    """Whether a file is a table that shoal wrote: its footer names the application."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) < 12:
            return file.tell() == 0
        file.seek(-8, os.SEEK_END)
        length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        if magic != b"PAR1" or length > file.tell():
            return False
        file.seek(-8 - length, os.SEEK_END)
        return b"shoal " in file.read(length)


def remove_abandoned_files(target: str | Path, is_ours: Callable[[Path], bool]) -> None:
    """Remove what killed processes left of a file that is written under a temporary name first."""
    target = Path(target)
    with suppress(OSError):
        for path in _left_beside(target, "partial"):
            with suppress(OSError):
                if path.is_file() and is_ours(path):
                    path.unlink()


def _is_stream(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _beside(target: Path, suffix: str) -> Path:
    # Not `resolve`: a link must not be followed, but `..` and `.` have a name then.
    full_path = Path(os.path.abspath(target))
    return full_path.with_name(f".{full_path.name}.{suffix}")


def _left_beside(target: Path, kind: str) -> list[Path]:
    """Temporary names of a target that stand beside it though the process that chose each has ended."""
    full_path = Path(os.path.abspath(target))
    if not full_path.parent.is_dir():
        return []
    start = f".{full_path.name}."
    beside = (path for path in sorted(full_path.parent.iterdir()) if path.name.startswith(start))
    # One expression for all targets: a cache writes thousands, and each of its own would have to be compiled.
    matches = ((path, _temporary[kind].fullmatch(path.name, len(start))) for path in beside)
    return [path for path, match in matches if match and not path.is_symlink() and not _is_alive(int(match["pid"]))]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is somebody else's
    return True


def _locked_marker(folder: Path) -> IO[str]:
    """Mark a folder as ours; the lock ends with this process, however that ends."""
    file = (folder / _marker).open("w")
    with suppress(OSError):  # Some network file systems have no locks: what is left there stays.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _is_abandoned(folder: Path) -> bool:
    """Whether an unfinished folder is ours and the process that wrote it is gone."""
    try:
        with (folder / _marker).open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    for path in _left_beside(target, "partial"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    for path in _left_beside(target, "old"):
        if (path / _marker).exists():
            shutil.rmtree(path, ignore_errors=True)


def _put_back(target: Path) -> None:
    """Give results their name again that a killed process was about to replace."""
    with suppress(OSError):
        if target.is_symlink() or target.exists():
            return
        for path in _left_beside(target, "old"):
            if (path / _marker).exists():
                path.rename(target)
                return


def unwritable(path: str | Path, error: OSError, *, option: str = "--out") -> OutputError:
    """Describe a refusal of the operating system; ``option`` is what the place was given with."""
    return OutputError(
        f"cannot write `{path}`: {error.strerror or error}",
        hint=f"check permissions and free space, or choose another {option}",
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """What the operating system refuses in the block becomes an error that names the file, or else the folder.

    Raises
    ------
    OutputError
        Something cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(error.filename or folder, error) from error


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename it: readers never see half of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # some file systems report a full disk only here
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _replace(partial: Path, target: Path) -> None:
    if not target.exists():
        partial.rename(target)
        return
    old = _beside(target, f"{os.getpid()}-{secrets.token_hex(4)}.old")
    target.rename(old)
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
