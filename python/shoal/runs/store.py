"""Records on disk: found again by what they were made from, whatever happened to the process that wrote them.

A store is a folder with one database for each host that writes into it. Processes of a host share theirs by locks;
those of other hosts are only read, without locks, so that a folder on a network file system does not depend on locks
that work between hosts. docs/records/store.md compares the formats that came into question, also under ``kill -9`` and
on a shared folder. A record is found by the SHA-256 of the resolved scenario and the seed; databases lie in a folder
that is named after their format and the simulator's own code, so that numbers of different builds never meet.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shoal.cache import simulator_hash
from shoal.errors import CacheWarning, OutputError, StoreWarning
from shoal.runs.database import DamagedError, Database, KeyedRecord

# Part of the name of the folder: another format is another store.
_format = 2
_suffix = ".sqlite"
_damaged = ".damaged"
_folder = "runs"
# Where versions before this format kept records, and whole results.
_older_records = "sweeps"


class Store:
    """A folder of databases, of which this process writes into that of its host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trouble: str | None = None
        """Why records are not kept, once that has failed."""
        self._home = folder / f"{host()}{_suffix}"
        self._databases: dict[Path, Database] = {}
        self._has_looked = False

    def put(self, records: Iterable[KeyedRecord]) -> None:
        """Keep records, if that is possible: nothing that was computed is lost over a full disk."""
        # What failed may do better next time: memory may have been short.
        wanted = [keyed for keyed in records if keyed[2].error is None]
        if self.trouble is not None or not wanted:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._home not in self._databases:
                self._databases[self._home] = Database.writable(self._home)
            self._databases[self._home].put(wanted)
        except (OSError, sqlite3.Error, DamagedError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.trouble = f"finished runs are not kept: cannot write `{self.folder}`: {reason}"

    def read(
        self, wanted: Iterable[bytes], *, seeds: Sequence[int] | None = None, tables: bool = False
    ) -> Iterator[KeyedRecord]:
        """The records of some scenarios; a run may come from several databases.

        What is damaged is passed over with a warning: its runs are computed again.

        Parameters
        ----------
        wanted
            The digests of the scenarios.
        seeds, tables
            As for :meth:`Database.read`.
        """
        self._look()
        if not self._databases:
            return
        for digest in wanted:
            for path, database in list(self._databases.items()):
                try:
                    for seed, record in database.read(digest, seeds=seeds, tables=tables):
                        yield digest, seed, record
                except DamagedError as error:
                    self._give_up(path, error)

    def close(self) -> None:
        """Close all databases."""
        for path, database in self._databases.items():
            database.close()
            if database.damaged:
                text = f"`{path}`: {database.damaged:,} runs do not agree with their checksums and are computed again"
                warnings.warn(text, StoreWarning, stacklevel=3)
        self._databases = {}

    def _look(self) -> None:
        """Open what is there; the database of this host recovers what a killed process left."""
        if self._has_looked:
            return
        self._has_looked = True
        for path in _files_of(self.folder):
            try:
                self._databases[path] = _database(path)
            except sqlite3.DatabaseError as error:
                self._give_up(path, error)

    def _give_up(self, path: Path, error: Exception) -> None:
        """Leave a database alone; that of this host goes out of the way, so that another one can be begun."""
        if (database := self._databases.pop(path, None)) is not None:
            database.close()
        # What another host is writing at this moment may look damaged and be none.
        if path == self._home:
            aside = path.with_suffix(_damaged)
            with suppress(OSError):
                path.rename(aside)
            text = f"`{path}` is damaged ({error}) and now `{aside.name}`: the runs in it are computed again"
            warnings.warn(text, StoreWarning, stacklevel=4)


def _database(path: Path) -> Database:
    """Open a database: with locks if it is that of this host and can be written, or else without."""
    if path.stem == host():
        with suppress(sqlite3.OperationalError):
            return Database.writable(path)
    return Database.foreign(path)


@cache
def host() -> str:
    """What tells this host from others that share a folder with it: a file name."""
    machine = ""
    for file in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
        with suppress(OSError):
            machine = machine or Path(file).read_text(encoding="ascii").strip()
    name = re.sub("[^A-Za-z0-9-]", "-", os.uname().nodename)[:40]
    return f"{name}-{hashlib.sha256(machine.encode()).hexdigest()[:8]}"


def folder_of_build(cache: Path) -> Path:
    """Where a cache has the records of this build."""
    return cache / _folder / f"{_format}-{simulator_hash()[:16]}"


@contextmanager
def opened(cache: str | Path | None) -> Iterator[Store | None]:
    """Give the store in a cache, if there is to be one, and warn at the end if nothing could be kept there."""
    store = Store(folder_of_build(Path(cache))) if cache is not None else None
    try:
        yield store
    finally:
        if store is not None:
            store.close()
            if store.trouble is not None:
                warnings.warn(store.trouble, CacheWarning, stacklevel=3)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a cache holds: number of finished runs, their size in bytes, and that of what older versions left."""

    runs: int
    bytes: int
    older_bytes: int = 0


def contents(cache: Path) -> Contents:
    """How many records a cache holds, of all builds."""
    runs = size = 0
    for path in _files(cache):
        size += _size(path)
        with suppress(sqlite3.Error), closing(_database(path)) as database:
            runs += database.count()
    return Contents(runs, size, sum(_size(path) for path in _older(cache)))


def clear(cache: Path, *, older_than_days: float = 0.0) -> Contents:
    """Forget records and what older versions left; with ``older_than_days`` only what was kept longer ago.

    Raises
    ------
    OutputError
        Something cannot be removed.
    """
    limit_s = time.time() - older_than_days * 86_400
    runs = size = older = 0
    for path in [*_files(cache), *_files(cache, _damaged), *_older(cache)]:
        is_record = path.suffix == _suffix
        try:
            before = _size(path)
            if is_record and older_than_days and path.stem == host():
                with closing(Database.writable(path)) as database:
                    runs += database.forget(limit_s)
                    left = database.count()
                size += before - _size(path)
                if left:
                    continue
                before = 0
            elif older_than_days and path.stat().st_mtime > limit_s:
                continue
            elif is_record:
                with suppress(sqlite3.Error), closing(_database(path)) as database:
                    runs += database.count()
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            with suppress(OSError):
                path.with_name(f"{path.name}-journal").unlink()
            size, older = (size + before, older) if is_record else (size, older + before)
        except (OSError, sqlite3.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise OutputError(f"cannot remove `{path}`: {reason}", hint="whose files are these?") from error
        with suppress(OSError):  # others may be in it
            path.parent.rmdir()
            path.parent.parent.rmdir()
    return Contents(runs, size, older)


def _files_of(folder: Path, suffix: str = _suffix) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.suffix == suffix and path.is_file())
    return []


def _files(cache: Path, suffix: str = _suffix) -> list[Path]:
    """The databases of all builds."""
    folders = _folders(cache / _folder, "[0-9]+-[0-9a-f]{16}")
    return [path for folder in folders for path in _files_of(folder, suffix)]


def _older(cache: Path) -> list[Path]:
    """What versions before this format kept: files of records, and a folder for each whole result."""
    records = [path for folder in _folders(cache / _older_records, "[0-9]+-[0-9a-f]{16}") for path in folder.iterdir()]
    wholes = [folder for group in _folders(cache, "[0-9a-f]{2}") for folder in _folders(group, "[0-9a-f]{62}")]
    return [*(path for path in records if path.suffix == ".records"), *wholes]


def _folders(folder: Path, pattern: str) -> list[Path]:
    with suppress(OSError):
        return [
            path
            for path in sorted(folder.iterdir())
            if re.fullmatch(pattern, path.name) and not path.is_symlink() and path.is_dir()
        ]
    return []


def _size(path: Path) -> int:
    """Bytes of a file or of all files in a folder; nothing for what has just been removed."""
    with suppress(OSError):
        return sum(_size(below) for below in path.iterdir()) if path.is_dir() else path.lstat().st_size
    return 0


def digest_of(resolved: str, kernel: str = "") -> bytes:
    """What a record is found by, beside the seed.

    Parameters
    ----------
    resolved
        The scenario with every default filled in, as JSON, which takes half as long to write as TOML.
    kernel
        Empty for runs of the simulator.
    """
    return hashlib.sha256(f"{resolved}\0{kernel}".encode()).digest()
