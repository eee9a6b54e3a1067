"""Where finished runs and kernels are kept, and which build of the simulator they belong to."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from shoal import _native


def default_folder() -> Path:
    """``$SHOAL_CACHE_DIR``, else ``shoal`` in the user's cache folder (XDG base directory specification)."""
    if chosen := os.environ.get("SHOAL_CACHE_DIR"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "shoal"
    # Without a home, this names a place that cannot be made; whoever writes there goes on without it.
    return Path(os.path.expanduser("~")) / ".cache" / "shoal"


@cache
def simulator_hash() -> str:
    """Hash of the native module: another build may give other bytes."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()
