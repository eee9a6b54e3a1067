"""Compares formats in which finished runs may be kept: own frames, SQLite, LMDB and Arrow.

Every format keeps the same records (a digest of 32 bytes, a seed, a head of 400 bytes and a body of 3 kB that does not
compress further) in blocks, as executors hand them over. CPU times are of this process and per record. ``kill -9``
ends a writer in the middle of a block; what it had handed over before has to be there, and nothing that is wrong.
A shared folder is one directory that is mounted three times by sshfs, for two hosts that write and one that reads: each
mount has locks and caches of its own, so this is the least that a network file system promises. What is missing there
is computed again; what is wrong would be a wrong answer. Needs the packages lmdb and polars, and sshfs.
"""

from __future__ import annotations

import hashlib
import os
import random
import secrets
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from shoal_dev.study import Study
from shoal_dev.tables import table

Record = tuple[bytes, int, bytes, bytes]
_killed_after_s = 3.0
DECIDED = """\
Runs are kept in SQLite with a rollback journal, one file a host, and what other hosts wrote is read without locks. It
is a kept format with a kept library; it finds one record without reading all of them, as own frames and Arrow have
to; under `kill -9` it loses no record on a host and has no wrong one anywhere (on a shared folder the file that a
killed host was writing may be unreadable for others until that host opens it again, and its runs are computed again),
where a write-ahead log and LMDB need memory that hosts do not share; and a record takes it well below a tenth of a
millisecond."""


class Format(Protocol):
    """A way to keep records in a folder."""

    def __init__(self, folder: Path, host: str) -> None: ...

    def put(self, block: list[Record]) -> None:
        """Keep a block."""

    def get(self, digest: bytes, seed: int) -> Record | None:
        """Look one record up."""

    def scan(self, wanted: set[bytes]) -> Iterator[Record]:
        """All records of some digests."""


def checksum(record: Record) -> int:
    """What a record has to agree with."""
    digest, seed, head, body = record
    return zlib.crc32(digest + seed.to_bytes(8, "little") + head + body)


class Frames:
    """One append-only file a writer; a reader reads all files from their beginnings."""

    frame = struct.Struct("<4sIII32sQ")

    def __init__(self, folder: Path, host: str) -> None:
        self.folder = folder
        self.file = None

    def put(self, block: list[Record]) -> None:
        if self.file is None:
            name = f"{time.time_ns():020d}-{secrets.token_hex(8)}.records"
            self.file = (self.folder / name).open("xb", buffering=0)
        pack = self.frame.pack
        self.file.write(
            b"".join(pack(b"shoR", len(r[2]), len(r[3]), checksum(r), r[0], r[1]) + r[2] + r[3] for r in block)
        )

    def get(self, digest: bytes, seed: int) -> Record | None:
        return next((record for record in self.scan({digest}) if record[1] == seed), None)

    def scan(self, wanted: set[bytes]) -> Iterator[Record]:
        for path in sorted(self.folder.glob("*.records")):
            with path.open("rb") as file:
                size, end = os.fstat(file.fileno()).st_size, 0
                while len(start := file.read(self.frame.size)) == self.frame.size:
                    _, head_size, body_size, crc, digest, seed = self.frame.unpack(start)
                    end += self.frame.size + head_size + body_size
                    if end > size:
                        break
                    if digest in wanted:
                        rest = file.read(head_size + body_size)
                        record = (digest, seed, rest[:head_size], rest[head_size:])
                        if checksum(record) != crc:
                            raise ValueError(f"{path} is damaged")
                        yield record
                    else:
                        file.seek(head_size + body_size, os.SEEK_CUR)


class Sqlite:
    """One database a host, which its processes share by locks; a reader opens all of them."""

    pragmas = ("journal_mode=DELETE", "synchronous=NORMAL")

    def __init__(self, folder: Path, host: str) -> None:
        self.folder = folder
        self.host = host
        self.database = None

    def put(self, block: list[Record]) -> None:
        if self.database is None:
            self.database = sqlite3.connect(self.folder / f"{self.host}.sqlite", timeout=60, isolation_level=None)
            for pragma in self.pragmas:
                self.database.execute(f"PRAGMA {pragma}")
            self.database.execute(
                "CREATE TABLE IF NOT EXISTS records (digest BLOB, seed INTEGER, crc INTEGER, head BLOB, body BLOB, "
                "PRIMARY KEY (digest, seed))"
            )
        self.database.execute("BEGIN IMMEDIATE")
        self.database.executemany(
            "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?)",
            [(r[0], r[1], checksum(r), r[2], r[3]) for r in block],
        )
        self.database.execute("COMMIT")

    def _readers(self) -> Iterator[sqlite3.Connection]:
        for path in sorted(self.folder.glob("*.sqlite")):
            # What killed processes of this host left is recovered; of other hosts nothing is locked and nothing mapped.
            how = "mode=rw" if path.stem == self.host else "immutable=1"
            yield sqlite3.connect(f"file:{path}?{how}", uri=True, timeout=60)

    def get(self, digest: bytes, seed: int) -> Record | None:
        for database in self._readers():
            query = "SELECT digest, seed, crc, head, body FROM records WHERE digest = ? AND seed = ?"
            for d, s, crc, head, body in database.execute(query, (digest, seed)):
                if checksum((d, s, head, body)) == crc:
                    return (d, s, head, body)
        return None

    def scan(self, wanted: set[bytes]) -> Iterator[Record]:
        query = "SELECT digest, seed, crc, head, body FROM records WHERE digest = ?"
        for database in self._readers():
            # What another host was writing when it was killed may not be readable until that host opens it again.
            with suppress(sqlite3.DatabaseError):
                for key in wanted:
                    for d, s, crc, head, body in database.execute(query, (key,)):
                        if checksum((d, s, head, body)) != crc:
                            raise ValueError("damaged")
                        yield (d, s, head, body)


class SqliteWal(Sqlite):
    """SQLite with a write-ahead log, which processes on one host alone can share."""

    pragmas = ("journal_mode=WAL", "synchronous=NORMAL")


class Lmdb:
    """One memory-mapped B+ tree, which processes on one host alone can share."""

    def __init__(self, folder: Path, host: str) -> None:
        import lmdb

        self.environment = lmdb.open(str(folder / "lmdb"), map_size=1 << 34, sync=False)

    def put(self, block: list[Record]) -> None:
        with self.environment.begin(write=True) as transaction:
            for record in block:
                key = record[0] + record[1].to_bytes(8, "little")
                value = struct.pack("<II", checksum(record), len(record[2])) + record[2] + record[3]
                transaction.put(key, value, overwrite=False)

    def get(self, digest: bytes, seed: int) -> Record | None:
        with self.environment.begin() as transaction:
            value = transaction.get(digest + seed.to_bytes(8, "little"))
        return None if value is None else self._record(digest, seed, value)

    def _record(self, digest: bytes, seed: int, value: bytes) -> Record:
        crc, size = struct.unpack_from("<II", value)
        record = (digest, seed, value[8 : 8 + size], value[8 + size :])
        if checksum(record) != crc:
            raise ValueError("damaged")
        return record

    def scan(self, wanted: set[bytes]) -> Iterator[Record]:
        with self.environment.begin() as transaction:
            cursor = transaction.cursor()
            for digest in wanted:
                hit = cursor.set_range(digest)
                while hit and cursor.key()[:32] == digest:
                    yield self._record(digest, int.from_bytes(cursor.key()[32:], "little"), cursor.value())
                    hit = cursor.next()


class Arrow:
    """One file of Arrow's inter-process format a block; a reader reads all files."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder = folder

    def put(self, block: list[Record]) -> None:
        import polars as pl

        digests, seeds, heads, bodies = zip(*block, strict=True)
        frame = pl.DataFrame(
            {"digest": digests, "seed": seeds, "crc": [checksum(r) for r in block], "head": heads, "body": bodies}
        )
        path = self.folder / f"{time.time_ns():020d}-{secrets.token_hex(8)}"
        frame.write_ipc(path.with_suffix(".partial"))
        path.with_suffix(".partial").rename(path.with_suffix(".arrow"))

    def get(self, digest: bytes, seed: int) -> Record | None:
        return next((record for record in self.scan({digest}) if record[1] == seed), None)

    def scan(self, wanted: set[bytes]) -> Iterator[Record]:
        import polars as pl

        for path in sorted(self.folder.glob("*.arrow")):
            frame = pl.read_ipc(path)
            for digest, seed, crc, head, body in frame.iter_rows():
                if digest in wanted:
                    record = (digest, seed, head, body)
                    if checksum(record) != crc:
                        raise ValueError("damaged")
                    yield record


FORMATS: dict[str, type[Format]] = {
    "own frames": Frames,
    "SQLite": Sqlite,
    "SQLite, write-ahead log": SqliteWal,
    "LMDB": Lmdb,
    "Arrow": Arrow,
}


def record(number: int) -> Record:
    """A record with contents that follow from its number."""
    content = random.Random(number).randbytes(3400)  # noqa: S311  (no secret)
    return hashlib.sha256(number.to_bytes(8, "little")).digest(), number % 3, content[:400], content[400:]


def blocks(numbers: Iterable[int], size: int) -> Iterator[list[Record]]:
    """Records in blocks."""
    block: list[Record] = []
    for number in numbers:
        block.append(record(number))
        if len(block) == size:
            yield block
            block = []


def cpu_s() -> float:
    """CPU seconds of this process, the operating system's part included."""
    return time.process_time()


def speed(name: str, count: int, block: int) -> list[str]:
    """CPU microseconds a record of putting, and of looking up; bytes a record on disk."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        store = FORMATS[name](folder, "host")
        made = list(blocks(range(count), block))
        start = cpu_s()
        for batch in made:
            store.put(batch)
        put_us = (cpu_s() - start) / count * 1e6
        wanted = {entry[0] for batch in made for entry in batch}
        start = cpu_s()
        scanned = sum(1 for _ in store.scan(wanted))
        scan_us = (cpu_s() - start) / count * 1e6
        if scanned != count:
            raise ValueError(f"{name}: {scanned} records of {count}")
        few = [made[-1][-1][:2] for _ in range(20)]
        start = cpu_s()
        for digest, seed in few:
            store.get(digest, seed)
        get_us = (cpu_s() - start) / len(few) * 1e6
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / count
        return [f"{put_us:.1f}", f"{scan_us:.1f}", f"{get_us:.0f}", f"{size:.0f}"]


def write_forever(name: str, folder: str, host: str, first: str) -> None:
    """Put blocks and say after each how many records have been handed over."""
    store = FORMATS[name](Path(folder), host)
    done = 0
    for block in blocks(range(int(first), int(first) + 10**6), 64):
        store.put(block)
        done += len(block)
        print(done, flush=True)


def killed(name: str, writing: list[tuple[Path, str]], reading: tuple[Path, str]) -> str:
    """Writers in some folders are killed; records that were handed over, that are missing, and that are wrong."""
    writers = []
    for number, (folder, host) in enumerate(writing):
        call = f"import sys; from {__name__} import write_forever; write_forever(*sys.argv[1:])"
        command = [sys.executable, "-c", call, name, str(folder), host, str(number * 10**6)]
        writers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    time.sleep(_killed_after_s)
    handed = []
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        lines = writer.communicate()[0].split()
        handed.append(int(lines[-1]) if lines else 0)
    expected = {
        record(n * 10**6 + k)[:2]: record(n * 10**6 + k) for n, count in enumerate(handed) for k in range(count)
    }
    there: dict[tuple[bytes, int], Record] = {}
    wrong = 0
    try:
        reader = FORMATS[name](*reading)
        for entry in reader.scan({digest for digest, _ in expected}):
            there[entry[:2]] = entry
    except Exception as error:
        print(f"  {name}: {type(error).__name__}: {error}", file=sys.stderr)
    wrong = sum(there[key] != expected[key] for key in there if key in expected)
    return f"{len(expected)}, {sum(key not in there for key in expected)}, {wrong}"


@contextmanager
def mounts(count: int) -> Iterator[list[Path]]:
    """One folder, mounted several times by sshfs whose other end is an sftp server on this machine."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, server = Path(temporary) / "folder", Path(temporary) / "server"
        folder.mkdir()
        server.write_text("#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n")
        server.chmod(0o755)
        points = [Path(temporary) / f"mount{number}" for number in range(count)]
        for point in points:
            point.mkdir()
            subprocess.run(["sshfs", f"host:{folder}", point, "-o", f"ssh_command={server}"], check=True)
        try:
            yield points
        finally:
            for point in points:
                subprocess.run(["fusermount3", "-u", "-z", point], check=False)


def measure(*, count: int = 20_000) -> Iterator[str]:
    """The cost of each format, and what a killed writer leaves."""
    yield DECIDED
    yield "CPU in us a record, size in bytes a record."
    rows = []
    for name in FORMATS:
        small = speed(name, count // 1024 * 1024, 16)
        large = speed(name, count // 1024 * 1024, 1024)
        rows.append((name, small[0], *large))
    yield table(("format", "put, blocks of 16", "of 1,024", "all read", "one read", "size"), rows, "lr")
    yield "Records that were handed over before `kill -9`, of these missing, and wrong."
    rows = []
    for name in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            single = killed(name, [(Path(folder), "a")], (Path(folder), "a"))
        with tempfile.TemporaryDirectory() as folder:
            double = killed(name, [(Path(folder), "a")] * 2, (Path(folder), "a"))
        with mounts(3) as points:
            shared = killed(name, [(points[0], "a"), (points[1], "b")], (points[2], "c"))
        rows.append((name, single, double, shared))
    yield table(("format", "one writer", "two writers on a host", "two hosts and a shared folder"), rows)


STUDY = Study(
    title="Formats of the store of finished runs",
    measure=measure,
    needs=("lmdb, polars and sshfs",),
    takes="about five minutes",
    of_a_machine=True,
)
