"""Folders and files that are there completely or not at all, and what may be replaced by them."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import re
import secrets
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from shoal import _process
from shoal.errors import OutputError

# In every folder of results, and in every unfinished one, whose owner holds a lock on it.
_marker = ".shoal"
# The empty file beside a target that whoever writes it holds a lock on, and the temporary names of a target.
_lock_name = re.compile(r"\.(?P<target>.+)\.shoal-lock")
_temporary_name = re.compile(r"\.(?P<target>.+)\.(?P<pid>[0-9]{1,9})(-[0-9a-f]{8})?\.(?P<kind>partial|old)")
# A lock may be held for a moment by somebody who looks whether its owner is gone, in s.
_look_s = 0.1


class _Held(threading.local):
    """What a thread has reserved."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()


_held = _Held()


@contextmanager
def new_folder(target: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary folder that takes the name ``target`` when the block ends well.

    When the block raises (a KeyboardInterrupt too) nothing is left, and an existing target is untouched. The target is
    reserved meanwhile (:func:`reserved`).

    Raises
    ------
    OutputError
        The target exists and ``force`` is not given, somebody else writes it, or its place cannot be written.
    """
    target = Path(target)
    refuse_existing(target, force=force)
    if not Path(os.path.abspath(target)).name:
        raise OutputError(f"`{target}` is not a name of a folder", hint="choose another --out")
    make_parent(target)
    with reserved(target):
        refuse_existing(target, force=force)
        # A name of its own, also among the processes of other containers that share the disk.
        partial = _beside(target, f"{os.getpid()}-{secrets.token_hex(4)}.partial")
        try:
            partial.mkdir()
            marker = _locked_marker(partial)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise unwritable(target, error) from error
        with marker:
            try:
                yield partial
                _take_name(partial, target, force=force)
            finally:
                shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def reserved(target: str | Path, *, option: str = "--out") -> Iterator[None]:
    """Let nobody else write a folder or file until the block ends, or this process does, however that ends.

    Blocks of one thread may be nested: the outermost reserves.
    What killed processes left in the same place is removed, and results come back that one was about to replace.

    Parameters
    ----------
    target
        The folder or file.
    option
        What the target was given with.

    Raises
    ------
    OutputError
        Somebody else writes it, or its place cannot be written.
    """
    target = Path(target)
    path = _beside(target, "shoal-lock")
    if path in _held.paths:
        yield
        return
    try:
        was_left = path.exists()
        lock = _locked(path)
    except BlockingIOError:
        raise OutputError(
            f"another command is writing `{target}`", hint=f"wait until it has ended, or choose another {option}"
        ) from None
    except OSError as error:
        raise unwritable(target, error, option=option) from error
    with _released(path, lock):
        _held.paths.add(path)
        _process.locks.add(str(path))
        with suppress(OSError):
            _remove_abandoned(Path(os.path.abspath(target)), was_left=was_left)
        try:
            yield
        finally:
            _held.paths.discard(path)
            _process.locks.discard(str(path))


def make_parent(target: Path, *, option: str = "--out") -> None:
    """Make the folder that a folder or file is to stand in.

    Raises
    ------
    OutputError
        It cannot be made.
    """
    if (file := next((path for path in target.parents if path.exists() and not path.is_dir()), None)) is not None:
        raise OutputError(f"cannot write `{target}`: `{file}` is not a folder", hint=f"choose another {option}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(target, error, option=option) from error


@contextmanager
def reserved_file(
    target: str | Path, is_ours: Callable[[Path], bool], *, what: str, option: str, force: bool = True
) -> Iterator[None]:
    """Reserve a file that may be written as :func:`refuse_foreign` says; streams are for everybody.

    Raises
    ------
    OutputError
        The file may not be replaced, somebody else writes it, or its place cannot be written.
    """
    refuse_foreign(target, is_ours, what=what, option=option, force=force)
    if is_stream(Path(target)):
        yield
        return
    with reserved(target, option=option):
        # Somebody else may have written it since.
        refuse_foreign(target, is_ours, what=what, option=option, force=force)
        yield


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
    if stat.S_ISLNK(mode) and not is_stream(target):
        raise OutputError(
            f"`{target}` is a symbolic link, so it is not replaced",
            hint=f"name the file that it points to, or {other}",
        )
    if is_stream(target):
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


def is_stream(path: Path) -> bool:
    """Whether a file is a pipe or a character device, which nothing is lost from by writing into it."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _beside(target: Path, suffix: str) -> Path:
    # Not `resolve`: a link must not be followed, but `..` and `.` have a name then.
    full_path = Path(os.path.abspath(target))
    return full_path.with_name(f".{full_path.name}.{suffix}")


def _locked(path: Path) -> int:
    """Open a file, lock it and give its descriptor; where a file system has no locks, names of their own have to do.

    Raises
    ------
    BlockingIOError
        Somebody else holds the lock.
    """
    deadline_s = time.monotonic() + _look_s
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            _flock(file)
            if os.path.samestat(os.fstat(file), path.lstat()):
                return file
        except FileNotFoundError:
            pass  # its owner has removed it since
        except BlockingIOError:
            if time.monotonic() > deadline_s:
                os.close(file)
                raise
            time.sleep(_look_s / 10)
        os.close(file)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is somebody else's
    return True


def _flock(file: IO[str] | int) -> None:
    """Lock an open file; the lock ends with this process, however that ends."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass  # Some network file systems have no locks: what is left there stays.


@contextmanager
def _released(path: Path, lock: int) -> Iterator[None]:
    """Remove the file of a lock before the lock is given up, so that nobody locks what has no name any more."""
    try:
        yield
    finally:
        with suppress(OSError):
            if not path.stat().st_size:
                path.unlink()
        os.close(lock)


def _locked_marker(folder: Path) -> IO[str]:
    """Mark a folder as ours."""
    file = (folder / _marker).open("w")
    with suppress(BlockingIOError):
        _flock(file)
    return file


def _is_abandoned(folder: Path) -> bool:
    """Whether an unfinished folder is ours and the process that wrote it is gone."""
    try:
        with (folder / _marker).open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(target: Path, *, was_left: bool) -> None:
    """Remove what killed processes left in the folder of a target that we hold the lock of, left by one or new."""
    names = sorted(name for name in os.listdir(target.parent) if name.startswith("."))
    ours = _beside(target, "shoal-lock").name
    with ExitStack() as stack:
        # Targets whose writer is gone: whatever has one of their temporary names is ours.
        left = {target.name} if was_left else set()
        for match in filter(None, map(_lock_name.fullmatch, names)):
            with suppress(OSError):
                if match[0] != ours:
                    path = target.parent / match[0]
                    stack.enter_context(_released(path, _locked(path)))
                    left.add(match["target"])
        for match in filter(None, map(_temporary_name.fullmatch, names)):
            path = target.parent / match[0]
            if path.is_symlink() or _is_alive(int(match["pid"])):
                continue
            with suppress(OSError):
                if match["kind"] == "partial":
                    _remove_partial(path, is_left=match["target"] in left)
                elif match["target"] in {*left, target.name} and (path / _marker).exists():
                    _put_back(path, target.with_name(match["target"]))


def _remove_partial(path: Path, *, is_left: bool) -> None:
    if path.is_dir():
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
        elif is_left:
            # The process was killed before it marked the folder, which goes only if nobody has put anything there.
            path.rmdir()
    elif path.is_file() and (is_left or is_capture(path) or is_packet_trace(path)):
        path.unlink()


def _put_back(old: Path, target: Path) -> None:
    """Give results their name again that a killed process was about to replace, or remove what it did replace."""
    if target.is_symlink() or target.exists():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.rename(target)


def is_full(error: BaseException | None) -> bool:
    """Whether the operating system has no room for what was written, or the user's quota has none."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def unwritable(path: str | Path, error: OSError, *, option: str = "--out") -> OutputError:
    """Describe a refusal of the operating system; ``option`` is what the place was given with."""
    if is_full(error):
        return OutputError(
            f"cannot write `{path}`: the disk of `{_lasting_folder(path)}` is full",
            hint=f"make room there, or choose another {option}",
        )
    return OutputError(
        f"cannot write `{path}`: {error.strerror or error}",
        hint=f"check permissions and free space, or choose another {option}",
    )


def _lasting_folder(path: str | Path) -> Path:
    """The folder of a file that is still there when an unfinished one has been removed."""
    parts = Path(os.path.abspath(path)).parts
    unfinished = (at for at, part in enumerate(parts) if _temporary_name.fullmatch(part))
    return Path(*parts[: next(unfinished, len(parts) - 1)])


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
        # Of a copy the second name is the file that is written.
        raise unwritable(error.filename2 or error.filename or folder, error) from error


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename it: readers never see half of it."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, then rename it: readers never see half of it."""
    with new_file(path) as file:
        file.write(content)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a file under a temporary name, which takes its name when the block ends well; streams are written to.

    Raises
    ------
    OSError
        It cannot be written.
    """
    if is_stream(path):
        with path.open("wb") as file:
            yield file
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # some file systems report a full disk only here
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def unfinished(target: Path) -> list[Path]:
    """What processes that were killed have left of a file that has not got its name."""
    if target.exists() or not target.parent.is_dir():
        return []
    return sorted(target.parent.glob(f".{glob.escape(target.name)}.*.partial"))


def _take_name(partial: Path, target: Path, *, force: bool) -> None:
    """Give a finished folder its name; what has the name is replaced if that is asked for, and else both are kept."""
    if not target.exists():
        partial.rename(target)
        return
    if not force:
        other = target.with_name(f"{target.name}-{secrets.token_hex(4)}")
        partial.rename(other)
        raise OutputError(
            f"`{target}` was made by somebody else meanwhile, so it is not replaced",
            hint=f"the results are in `{other}`",
        )
    old = _beside(target, f"{os.getpid()}-{secrets.token_hex(4)}.old")
    target.rename(old)
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
