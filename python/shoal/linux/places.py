"""Where things lie: our sources in the package, what is built from them in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal import progress
from shoal.cache import default_folder
from shoal.errors import OutputError
from shoal.files import is_full
from shoal.linux.errors import LinuxError

sources = Path(__file__).resolve().parent.parent / "_data" / "linux"


def cache(*parts: str) -> Path:
    """A place below ``linux`` in the user's cache folder."""
    return default_folder().joinpath("linux", *parts)


def digest(*parts: str | bytes) -> str:
    """A short name for what something was made from."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(len(data).to_bytes(8, "little") + data)
    return sha.hexdigest()[:16]


def files(folder: str, names: Iterable[str]) -> list[Path]:
    """Source files of ours; ``names`` are patterns."""
    paths = [path for name in names for path in sorted((sources / folder).glob(name)) if path.is_file()]
    if not paths:
        raise LinuxError(f"`{sources / folder}` is missing", hint="is this installation complete?")
    return paths


@contextmanager
def locked(name: str, doing: str, *, say: Callable[[str], object] | None = None) -> Iterator[None]:
    """Only one process at a time builds the same thing; the others wait and find it.

    Parameters
    ----------
    name
        Name of the lock.
    doing
        What whoever holds it does, as in ``builds a kernel``.
    say
        Told what is waited for; the command line if not given.
    """
    with filling_cache():
        cache().mkdir(parents=True, exist_ok=True)
        lock = cache(f".{name}.lock").open("ab+", buffering=0)
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            who = f"process {number}" if (number := lock.read().decode()) else "another command"
            (say or progress.say)(f"waiting for {who}, which {doing} in {cache()}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(OSError):  # A full disk has no room for the number; those who wait do without.
            lock.truncate(0)
            lock.write(str(os.getpid()).encode())
        yield


@contextmanager
def filling_cache() -> Iterator[None]:
    """A full disk below what is written in the block into the user's cache becomes an error that names the cache.

    Raises
    ------
    LinuxError
        The disk is full.
    """
    try:
        yield
    except (OSError, OutputError) as error:
        if not is_full(error) and not is_full(error.__cause__):
            raise
        raise no_room(cache()) from error


def no_room(folder: Path, *, doing: str = "") -> LinuxError:
    """The error of a full disk below a folder that we write: the cache, or that of temporary files."""
    variable = "SHOAL_CACHE_DIR" if folder == cache() else "TMPDIR"
    return LinuxError(
        f"{doing}the disk of `{folder}` is full",
        hint=f"make room there, or set {variable} to a folder of another disk",
    )


def full_folder(said: str) -> Path:
    """Which of both folders is full by what a program said: the one that it names, else the one with less room."""
    folders = (cache(), temporary())
    named = (folder for folder in folders if f"{folder}/" in said)
    return next(named, min(folders, key=room_bytes))


def temporary() -> Path:
    """The folder of temporary files, where guests have their roots and compilers their intermediate files."""
    return Path(tempfile.gettempdir())


def room_bytes(folder: Path) -> int:
    """Free bytes on the disk of a folder, which need not be there yet."""
    return shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
