"""Finished points of sweeps, found again by what they were made from."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shoal import _native
from shoal.errors import CacheWarning, OutputError
from shoal.files import new_folder
from shoal.results import Result
from shoal.scenario import Scenario


def default_folder() -> Path:
    """``$SHOAL_CACHE_DIR``, else ``shoal`` in the user's cache folder (XDG base directory specification)."""
    if own := os.environ.get("SHOAL_CACHE_DIR"):
        return Path(own)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "shoal"
    # Without a home, this names a place that cannot be made; whoever writes there goes on without it.
    return Path(os.path.expanduser("~")) / ".cache" / "shoal"


@contextmanager
def kept(folder: str | Path | None) -> Iterator[Cache | None]:
    """Give the cache in a folder, if there is to be one, and warn at the end if nothing could be kept there."""
    store = Cache(folder) if folder is not None else None
    try:
        yield store
    finally:
        if store is not None and store.trouble is not None:
            warnings.warn(store.trouble, CacheWarning, stacklevel=3)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a cache holds: number of finished runs, and their size in bytes."""

    runs: int
    bytes: int

    def __add__(self, other: Contents) -> Contents:
        return Contents(self.runs + other.runs, self.bytes + other.bytes)


class Cache:
    """A folder of results. The key covers the resolved scenario, the seed and the simulator's own code."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.trouble: str | None = None
        """Why finished points are not kept, once that has failed."""

    def get(self, key: str) -> Result | None:
        """Look a finished point up; what cannot be read counts as missing."""
        try:
            return Result.load(self._place(key))
        except (OutputError, OSError):
            return None

    def put(self, key: str, result: Result) -> None:
        """Keep a finished point, if that is possible: nothing that was computed is lost over a cache.

        Another process may have been faster; its bytes are the same.
        """
        if self.trouble is not None:
            return
        try:
            place = self._place(key)
            if place.exists():
                return
            with new_folder(place) as partial:
                result.write_into(partial)
        except (OutputError, OSError) as error:
            with suppress(OSError):
                if place.exists():
                    return
            cause = error if isinstance(error, OSError) else error.__cause__
            reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else "it is not in a folder"
            self.trouble = f"finished runs are not kept: cannot write `{self.folder}`: {reason}"

    def contents(self) -> Contents:
        """Count the finished points."""
        places = list(self._places())
        files = (path for place in places for path in place.rglob("*"))
        return Contents(len(places), sum(_size(path) for path in files))

    def clear(self, *, older_than_days: float = 0.0) -> Contents:
        """Forget finished points, or those that were kept longer ago; give what was removed.

        Only what is a point of ours is removed, whatever else lies in the folder.
        """
        limit_s = time.time() - older_than_days * 86_400
        runs = size = 0
        for place in list(self._places()):
            try:
                if older_than_days and place.stat().st_mtime > limit_s:
                    continue
                own = sum(_size(path) for path in place.rglob("*"))
                shutil.rmtree(place)
            except OSError as error:
                raise OutputError(
                    f"cannot remove `{error.filename or place}`: {error.strerror}", hint="whose files are these?"
                ) from error
            runs, size = runs + 1, size + own
            with suppress(OSError):  # others may be in it
                place.parent.rmdir()
        return Contents(runs, size)

    def _places(self) -> Iterator[Path]:
        with suppress(OSError):
            for group in sorted(self.folder.iterdir()):
                if re.fullmatch("[0-9a-f]{2}", group.name) and not group.is_symlink() and group.is_dir():
                    yield from (place for place in sorted(group.iterdir()) if re.fullmatch("[0-9a-f]{62}", place.name))

    def _place(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


def recalled(
    store: Cache | None, scenario: Scenario, seed: int, run: Callable[[], Result], *, plane: tuple[str, ...] = ()
) -> Result:
    """A run that was kept, or else a new one, which is kept.

    It is found by everything that its bytes depend on: scenario, seed and native module, and what ``plane`` names.
    """
    if store is None:
        return run()
    parts = (*plane, simulator_hash(), scenario.to_toml(), str(seed))
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    if (known := store.get(key)) is None:
        known = run()
        store.put(key, known)
    return known


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0  # it has just been removed


@cache
def simulator_hash() -> str:
    """Hash of the native module: another build may give other bytes."""
    file = _native.__file__
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
