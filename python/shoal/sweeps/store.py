"""Records on disk: found again by what they were made from, whatever happened to the process that wrote them.

A store is a folder of append-only files. Every process writes a file of its own under a name that nobody else has, one
frame a record, and only ever adds to it; every reader reads all files. So nothing is ever locked: two sweeps share a
store, also from two hosts on a network file system, where SQLite (which is better at everything else: one file, an
index, transactions) loses data, as its authors say; and a folder of small files a run, as the cache of ``shoal.sweep``
has it, costs 40 ms and 35 to 200 kB a run against 0.02 ms and 3 kB here. What a killed process leaves is at most half
a frame at the end of its file: every frame has a checksum, and what does not agree is not read but computed again. A
frame is found by the SHA-256 of the resolved scenario and the seed; files lie in a folder that is named after the
format and the simulator's own code, so that numbers of different builds never meet. Readers keep in memory only what
they ask for.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import struct
import time
import warnings
import zlib
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from shoal.cache import Contents, simulator_hash
from shoal.errors import CacheWarning, OutputError, StoreWarning
from shoal.sweeps.record import Record

# Part of the name of the folder: another format is another store.
_format = 1
_suffix = ".records"
# A frame: magic, lengths of head and body, checksum of all that follows it, digest of the scenario, seed.
_frame = struct.Struct("<4sIII32sQ")
_magic = b"shoR"
# Where that begins which the checksum covers.
_checked = 16
# No record is larger; a length beyond it is no length.
_most_bytes = 1 << 26

# The digest of a scenario, the seed, and the record of that run.
Found = tuple[bytes, int, Record]


class Store:
    """A folder of records, of which this process adds to one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trouble: str | None = None
        """Why records are not kept, once that has failed."""
        self._file: IO[bytes] | None = None
        self._end = 0

    def put(self, found: Iterable[Found]) -> None:
        """Keep records, if that is possible: nothing that was computed is lost over a full disk.

        They are written at once: a call of the operating system for each takes as long as all else that is done with
        it.
        """
        if self.trouble is not None:
            return
        # What failed may do better next time: memory may have been short.
        frames = b"".join(_framed(*one) for one in found if one[2].error is None)
        if not frames:
            return
        try:
            if self._file is None:
                self.folder.mkdir(parents=True, exist_ok=True)
                name = f"{time.time_ns():020d}-{secrets.token_hex(8)}{_suffix}"
                self._file = (self.folder / name).open("xb", buffering=0)
            written = self._file.write(frames)
            if written != len(frames):
                raise OSError(28, "No space left on device")
            self._end += len(frames)
        except OSError as error:
            self.trouble = f"finished runs are not kept: cannot write `{self.folder}`: {error.strerror or error}"
            with suppress(OSError):
                if self._file is not None:
                    self._file.truncate(self._end)  # half a frame would hide nothing, but is of no use

    def read(self, wanted: Container[bytes]) -> Iterator[Found]:
        """The records of some scenarios, older files first; ``wanted`` has the digests.

        A file that does not agree with its checksums is read up to there, with a warning unless that is its end, which
        another process may be writing.
        """
        with suppress(OSError):
            for path in sorted(self.folder.glob(f"*{_suffix}")):
                try:
                    with suppress(OSError):
                        yield from (found for _, found in _frames(path, wanted))
                except _DamagedError as error:
                    warnings.warn(
                        f"`{path}` is damaged at byte {error.place:,}: the runs behind that are computed again",
                        StoreWarning,
                        stacklevel=3,
                    )

    def close(self) -> None:
        """Write what the operating system still holds."""
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None


def folder_of_build(cache: Path) -> Path:
    """Where a cache has the records of this build."""
    return cache / "sweeps" / f"{_format}-{simulator_hash()[:16]}"


@contextmanager
def opened(cache: Path | None) -> Iterator[Store | None]:
    """Give the store in a cache, if there is to be one, and warn at the end if nothing could be kept there."""
    store = Store(folder_of_build(cache)) if cache is not None else None
    try:
        yield store
    finally:
        if store is not None:
            store.close()
            if store.trouble is not None:
                warnings.warn(store.trouble, CacheWarning, stacklevel=3)


class Writer:
    """One new file of records, which travels.

    Raises
    ------
    OSError
        It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")

    def write(self, found: Found) -> None:
        """Add a record, also that of a run that failed."""
        self._file.write(_framed(*found))

    def close(self) -> None:
        """Write what memory still holds."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def read_records(path: Path) -> Iterator[Found]:
    """Read a file of :class:`Writer`.

    Raises
    ------
    OutputError
        It cannot be read, or is damaged.
    """
    damaged = OutputError(f"`{path}` is damaged: it does not agree with its checksums", hint="copy that part again")
    end = 0
    try:
        for place, found in _frames(path, _everything):
            end = place
            yield found
        if end != path.stat().st_size:
            raise damaged
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="is the folder complete?") from error
    except _DamagedError:
        raise damaged from None


def contents(cache: Path) -> Contents:
    """How many records a cache holds, of all builds, and their size in bytes."""
    runs = size = 0
    for path in _files(cache):
        with suppress(OSError):
            runs += _count(path)
            size += path.stat().st_size
    return Contents(runs, size)


def clear(cache: Path, *, older_than_days: float = 0.0) -> Contents:
    """Forget records; with ``older_than_days`` the files that nothing was added to for so long.

    Raises
    ------
    OutputError
        A file cannot be removed.
    """
    limit_s = time.time() - older_than_days * 86_400
    runs = size = 0
    for path in _files(cache):
        try:
            if older_than_days and path.stat().st_mtime > limit_s:
                continue
            own = _count(path)
            length = path.stat().st_size
            path.unlink()
        except OSError as error:
            raise OutputError(f"cannot remove `{path}`: {error.strerror}", hint="whose files are these?") from error
        runs, size = runs + own, size + length
        with suppress(OSError):  # others may be in it
            path.parent.rmdir()
            path.parent.parent.rmdir()
    return Contents(runs, size)


def _files(cache: Path) -> list[Path]:
    with suppress(OSError):
        return [
            path
            for folder in sorted((cache / "sweeps").iterdir())
            if re.fullmatch("[0-9]+-[0-9a-f]{16}", folder.name) and not folder.is_symlink() and folder.is_dir()
            for path in sorted(folder.glob(f"*{_suffix}"))
        ]
    return []


def _framed(digest: bytes, seed: int, record: Record) -> bytes:
    head, body = record.packed()
    rest = digest + seed.to_bytes(8, "little") + head + body
    return _frame.pack(_magic, len(head), len(body), zlib.crc32(rest), digest, seed) + head + body


class _DamagedError(Exception):
    """A frame does not agree with its checksum."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def _frames(path: Path, wanted: Container[bytes]) -> Iterator[tuple[int, Found]]:
    """The frames of a file with the ends of each, but for a last one that is not complete."""
    with path.open("rb") as file:
        size, end = os.fstat(file.fileno()).st_size, 0
        while len(start := file.read(_frame.size)) == _frame.size:
            magic, head_size, body_size, checksum, digest, seed = _frame.unpack(start)
            length = head_size + body_size
            if magic != _magic or length > _most_bytes:
                raise _DamagedError(end)
            if end + _frame.size + length > size:
                return  # what a killed process wrote, or another one writes at this moment
            if digest in wanted:
                rest = file.read(length)
                if zlib.crc32(start[_checked:] + rest) != checksum:
                    raise _DamagedError(end)
                yield end + _frame.size + length, (digest, seed, Record.unpacked(rest[:head_size], rest[head_size:]))
            else:
                file.seek(length, os.SEEK_CUR)
            end += _frame.size + length


def _count(path: Path) -> int:
    """How many frames a file has."""
    count = 0
    with path.open("rb") as file:
        while len(start := file.read(_frame.size)) == _frame.size and start[:4] == _magic:
            _, head_size, body_size, *_ = _frame.unpack(start)
            file.seek(head_size + body_size, os.SEEK_CUR)
            count += 1
    return count


class _Everything:
    """Has every digest."""

    def __contains__(self, _: object) -> bool:
        return True


_everything = _Everything()


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
