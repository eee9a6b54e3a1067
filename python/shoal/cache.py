"""Finished points of sweeps, found again by what they were made from."""

from __future__ import annotations

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

from shoal import _native
from shoal.errors import OutputError
from shoal.files import new_folder
from shoal.result import Result
from shoal.scenario import Scenario


def default_folder() -> Path:
    """``$SHOAL_CACHE_DIR``, else ``shoal`` in the user's cache folder (XDG base directory specification)."""
    if own := os.environ.get("SHOAL_CACHE_DIR"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "shoal"


class Cache:
    """A folder of results. The key covers the resolved scenario, the seed and the simulator's own code."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def key(self, scenario: Scenario, seed: int) -> str:
        """Name of a point: a hash of everything that its bytes depend on."""
        return self.key_of(simulator_hash(), scenario.to_toml(), str(seed))

    @staticmethod
    def key_of(*parts: str) -> str:
        """Name of a point that depends on more."""
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def get(self, key: str) -> Result | None:
        """Look a finished point up; what cannot be read counts as missing."""
        try:
            return Result.load(self._place(key))
        except OutputError:
            return None

    def put(self, key: str, result: Result) -> None:
        """Keep a finished point. Another process may have been faster; its bytes are the same."""
        place = self._place(key)
        if not place.exists():
            try:
                with new_folder(place) as partial:
                    result.write_into(partial)
            except (OutputError, OSError):
                if not place.exists():
                    raise

    def clear(self) -> None:
        """Forget everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _place(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


@cache
def simulator_hash() -> str:
    """Hash of the native module: another build may give other bytes."""
    file = _native.__file__
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
