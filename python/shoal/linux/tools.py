"""Generators that the kernel's build wants and the machine lacks: unpacked into the cache, not installed."""

from __future__ import annotations

import os

from shoal.linux.archive import libraries_in, unpack
from shoal.linux.commands import (
    explain_libraries,
    explain_missing,
    fetchable,
    fetching,
    missing,
    missing_libraries,
    needed,
)
from shoal.linux.errors import LinuxError
from shoal.linux.places import cache, locked

_packages = {"flex": ("flex", "m4", "libsigsegv2"), "bison": ("bison", "m4", "libsigsegv2"), "bc": ("bc",)}


def build_environment() -> dict[str, str]:
    """Environment of the build, after what is missing was fetched.

    Raises
    ------
    LinuxError
        Something is missing that cannot be fetched this way.
    """
    env = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    # Time and place must not end up in the image.
    env |= {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    env |= {"KBUILD_BUILD_TIMESTAMP": "2000-01-01", "KBUILD_BUILD_USER": "shoal", "KBUILD_BUILD_HOST": "shoal"}
    absent = missing(needed)
    if lacking := [name for name in absent if name not in fetchable]:
        raise explain_missing(lacking)
    if libraries := missing_libraries(env=env):
        raise explain_libraries(libraries)
    if absent:
        env |= _fetched(absent, env["PATH"])
    return env


def not_fetched(names: list[str], path: str) -> list[str]:
    """Which of the generators that the machine lacks are not in the cache either."""
    return missing({name: needed[name] for name in names}, path=_search_path(path))


def _search_path(path: str) -> str:
    return f"{cache('tools', 'root', 'usr/bin')}:{path}"


def _fetched(names: list[str], path: str) -> dict[str, str]:
    root = cache("tools", "root")
    search_path = _search_path(path)
    with locked("tools", f"fetches {', '.join(names)}"):
        if still := not_fetched(names, path):
            if missing(fetching):
                raise explain_missing(still)
            try:
                unpack(dict.fromkeys(package for name in still for package in _packages[name]), root)
            except LinuxError as error:
                what = f"{explain_missing(still)}; fetching them failed: {error}"
                raise LinuxError(what, hint=error.hint or explain_missing(still).hint) from error
    return {
        "PATH": search_path,
        "LD_LIBRARY_PATH": libraries_in(root),
        "BISON_PKGDATADIR": str(root / "usr/share/bison"),
        "M4": str(root / "usr/bin/m4"),
    }
