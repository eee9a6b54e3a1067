"""Where the recorded tables of a run are: in memory, in a folder, in an archive, or made again by the same run."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from shoal.errors import OutputError

if TYPE_CHECKING:
    import polars as pl

    from shoal import _native


class Recorded(Protocol):
    """The tables of a run."""

    @property
    def names(self) -> list[str]:
        """Names of the tables, sorted."""

    def frame(self, name: str) -> pl.DataFrame:
        """A table that is there; numbers that are missing are NaN."""

    def coverage(self, name: str) -> str | None:
        """What a table that is there leaves out."""

    def save(self, folder: Path) -> None:
        """Write each table as ``NAME.parquet`` into an existing folder."""


class NotRecorded:
    """No tables."""

    names: ClassVar[list[str]] = []

    def frame(self, name: str) -> pl.DataFrame:
        """Refuse: there is no table."""
        raise KeyError(name)

    def coverage(self, name: str) -> str | None:
        """Refuse: there is no table."""
        raise KeyError(name)

    def save(self, folder: Path) -> None:
        """Write nothing."""


class InMemory:
    """The tables of a run that this process made."""

    def __init__(self, run: _native.Run) -> None:
        self._run = run

    @cached_property
    def _arrays(self) -> dict[str, dict[str, Any]]:
        return self._run.tables()

    @property
    def names(self) -> list[str]:
        """Names of the tables, sorted."""
        return sorted(self._arrays)

    def frame(self, name: str) -> pl.DataFrame:
        """The arrays of the Rust side as a frame."""
        import polars as pl

        arrays = self._arrays[name]
        # Words come as lists, and an empty list has no type.
        words = {column: pl.String for column, values in arrays.items() if isinstance(values, list)}
        return pl.DataFrame(arrays, schema_overrides=words)

    def coverage(self, name: str) -> str | None:
        """The sentence of the Rust side."""
        return self._run.coverage().get(name)

    def save(self, folder: Path) -> None:
        """Let the Rust side write them."""
        self._run.save_tables(folder)


class InFiles:
    """Tables as Parquet files, by name: paths, or the bytes of files."""

    def __init__(self, files: Callable[[], dict[str, Path | bytes]]) -> None:
        self._find = files

    @cached_property
    def _files(self) -> dict[str, Path | bytes]:
        return self._find()

    @classmethod
    def of_folder(cls, folder: Path) -> InFiles:
        """The tables of a folder that :meth:`save` has written, once somebody asks for them."""
        return cls(lambda: {path.stem: path for path in folder.glob("*.parquet")})

    @classmethod
    def of_archive(cls, archive: bytes) -> InFiles:
        """The tables that :func:`archived` has packed."""
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            files: dict[str, Path | bytes] = {Path(name).stem: opened.read(name) for name in opened.namelist()}
        return cls(lambda: files)

    @property
    def names(self) -> list[str]:
        """Names of the tables, sorted."""
        return sorted(self._files)

    def frame(self, name: str) -> pl.DataFrame:
        """Read the file of a table."""
        import polars as pl

        with self._reading(name):
            return pl.read_parquet(self._source(name))

    def coverage(self, name: str) -> str | None:
        """Read the sentence in the metadata of a table."""
        import polars as pl

        with self._reading(name):
            return pl.read_parquet_metadata(self._source(name)).get("coverage")

    def save(self, folder: Path) -> None:
        """Copy the files."""
        for name, file in self._files.items():
            path = folder / f"{name}.parquet"
            # Files of packets may be larger than memory.
            _ = path.write_bytes(file) if isinstance(file, bytes) else shutil.copyfile(file, path)

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        import polars as pl

        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            file = self._files[name]
            where = f"`{file}`" if isinstance(file, Path) else f"the table `{name}` of the cache"
            reason = str(error).strip().partition("\n")[0]
            raise OutputError(f"cannot read {where}: {reason}", hint="run the scenario again") from None

    def _source(self, name: str) -> Path | io.BytesIO:
        file = self._files[name]
        return io.BytesIO(file) if isinstance(file, bytes) else file


class MadeAgain:
    """Tables of a run of the simulator that was kept without them: the same run gives the same tables.

    Keeping them would take as long as the run itself, and a hundred times the room of its numbers.
    """

    def __init__(self, run: Callable[[], _native.Run]) -> None:
        self._run = run

    @cached_property
    def _tables(self) -> InMemory:
        return InMemory(self._run())

    @property
    def names(self) -> list[str]:
        """Names of the tables, sorted."""
        return self._tables.names

    def frame(self, name: str) -> pl.DataFrame:
        """A table of the new run."""
        return self._tables.frame(name)

    def coverage(self, name: str) -> str | None:
        """What a table of the new run leaves out."""
        return self._tables.coverage(name)

    def save(self, folder: Path) -> None:
        """Write the tables of the new run."""
        self._tables.save(folder)


def archived(run: _native.Run) -> bytes:
    """The tables of a run as one archive for :meth:`InFiles.of_archive`; Parquet files are compressed already."""
    with tempfile.TemporaryDirectory() as folder:
        run.save_tables(Path(folder))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
    return packed.getvalue()
