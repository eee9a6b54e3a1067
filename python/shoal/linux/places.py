"""Where things lie: our sources in the package, what is built from them in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.cache import default_folder
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
def locked(name: str) -> Iterator[None]:
    """Only one process at a time builds the same thing; the others wait and find it."""
    cache().mkdir(parents=True, exist_ok=True)
    with cache(f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
