"""One file of records: an SQLite database that every reader checks record by record."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.parse import quote

from shoal.runs.record import Record

# The digest of a scenario, the seed, and the record of that run.
KeyedRecord = tuple[bytes, int, Record]

_schema = """
CREATE TABLE IF NOT EXISTS records (
    digest BLOB NOT NULL, seed INTEGER NOT NULL, kept_s INTEGER NOT NULL, checksum INTEGER NOT NULL,
    head BLOB NOT NULL, body BLOB NOT NULL, tables BLOB NOT NULL,
    PRIMARY KEY (digest, seed)
)
"""
# How long a process waits for another one that is writing, in s.
_patience_s = 60.0
# Records wait for so long, in s, and so many of them, until they are written together.
_together_s = 0.4
_most_together = 1024
# Seeds are unsigned, integers of a database are not.
_half, _whole = 1 << 63, 1 << 64


class DamagedError(Exception):
    """A file is no database, or one that cannot be read to its end."""


class Database:
    """Records in one file, found by digest and seed.

    What a killed process leaves is rolled back by the next one that opens the file (a rollback journal; a write-ahead
    log cannot be read from another host). A record is written whole or not at all, and has a checksum: what does not
    agree with it is passed over.

    Attributes
    ----------
    damaged
        How many records have been passed over so far.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.damaged = 0

    @classmethod
    def writable(cls, path: Path) -> Database:
        """Open a file for reading and writing; it is made if it is not there.

        Raises
        ------
        sqlite3.Error
            It cannot be opened.
        """
        connection = sqlite3.connect(path, timeout=_patience_s, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_schema)
        except sqlite3.Error:
            connection.close()
            raise
        return cls(connection)

    @classmethod
    def foreign(cls, path: Path) -> Database:
        """Open a file that another host may be writing: nothing is locked and nothing is recovered.

        Raises
        ------
        sqlite3.Error
            It cannot be opened.
        """
        return cls(sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True, check_same_thread=False))

    def put(self, records: Iterable[KeyedRecord]) -> None:
        """Keep records in one transaction; what is known of a run already stays known.

        Raises
        ------
        sqlite3.Error, DamagedError
            They cannot be written; none of them is.
        """
        now_s = int(time.time())
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for digest, seed, record in records:
                for _, known in self.read(digest, seeds=[seed], tables=not record.tables):
                    record = record.beside(known)  # noqa: PLW2901
                head, body = record.packed()
                row = (digest, _signed(seed), now_s, _checksum(digest, seed, head, body), head, body, record.tables)
                self._connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._connection.execute("COMMIT")
        except BaseException:  # an interrupt, too
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    def read(
        self, digest: bytes, *, seeds: Sequence[int] | None = None, tables: bool = False
    ) -> Iterator[tuple[int, Record]]:
        """The seeds and records of a scenario.

        Parameters
        ----------
        digest
            Digest of the scenario.
        seeds
            Only these; all if not given.
        tables
            Read recorded tables, too, which may be large.

        Raises
        ------
        DamagedError
            The file is damaged.
        """
        columns = f"seed, checksum, head, body, {'tables' if tables else '0'}"
        query = f"SELECT {columns} FROM records WHERE digest = ?"  # noqa: S608  (no text of anybody else)
        try:
            if seeds is None:
                rows = self._connection.execute(f"{query} ORDER BY seed", (digest,)).fetchall()
            else:
                rows = [
                    row
                    for seed in seeds
                    for row in self._connection.execute(f"{query} AND seed = ?", (digest, _signed(seed)))
                ]
        except sqlite3.Error as error:
            raise DamagedError(str(error)) from None
        for stored, checksum, head, body, packed in rows:
            seed = stored % _whole
            if _checksum(digest, seed, head, body) == checksum:
                yield seed, Record.unpacked(head, body, packed or b"")
            else:
                self.damaged += 1

    def digests(self) -> list[bytes]:
        """The digests of all scenarios of which there are records.

        Raises
        ------
        DamagedError
            The file is damaged.
        """
        try:
            return [digest for (digest,) in self._connection.execute("SELECT DISTINCT digest FROM records")]
        except sqlite3.Error as error:
            raise DamagedError(str(error)) from None

    def count(self) -> int:
        """How many records there are.

        Raises
        ------
        sqlite3.Error
            The file is no database, or is damaged.
        """
        return int(self._connection.execute("SELECT count(*) FROM records").fetchone()[0])

    def forget(self, before_s: float) -> int:
        """Remove what was kept before a time, and give how many records that were.

        Raises
        ------
        sqlite3.Error
            The file cannot be written, or is damaged.
        """
        removed = self._connection.execute("DELETE FROM records WHERE kept_s < ?", (int(before_s),)).rowcount
        self._connection.execute("VACUUM")
        return removed

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class Batches:
    """Hands records over several at a time; those that are waiting when something ends the runs, too.

    A transaction for each record would take longer than all else that is done with it.
    """

    def __init__(self, put: Callable[[list[KeyedRecord]], object]) -> None:
        self._put = put
        self._waiting: list[KeyedRecord] = []
        self._last_s = time.monotonic()

    def add(self, keyed: KeyedRecord) -> None:
        """Hand a record over soon."""
        self._waiting.append(keyed)
        if time.monotonic() - self._last_s > _together_s or len(self._waiting) >= _most_together:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting, self._last_s = self._waiting, [], time.monotonic()
        self._put(waiting)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()


def _checksum(digest: bytes, seed: int, head: bytes, body: bytes) -> int:
    return zlib.crc32(b"".join((digest, seed.to_bytes(8, "little"), head, body)))


def _signed(seed: int) -> int:
    return seed - _whole if seed >= _half else seed
