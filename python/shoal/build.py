"""Which build this is: the version, and the commit that it was made from.

A version says what results are; between two releases a build is told apart by its commit (docs/stability.md).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from shoal._native import __version__

_package = Path(__file__).resolve().parent


def commit() -> str | None:
    """The commit, ten digits of it: as the wheel holds it, or that of the checkout; ``None`` if neither says it."""
    with suppress(OSError):
        return (_package / "_data" / "commit").read_text(encoding="ascii").strip()[:10]
    with suppress(OSError, IndexError, StopIteration):
        return _head(_package.parents[1] / ".git")[:10]
    return None


def described() -> str:
    """Version and commit, as ``shoal --version`` prints them."""
    known = commit()
    return __version__ if known is None else f"{__version__} (commit {known})"


def _head(git: Path) -> str:
    """The commit that a checkout is at.

    Raises
    ------
    OSError, IndexError, StopIteration
        It is none.
    """
    if git.is_file():  # a work tree beside the repository
        git = Path(git.read_text(encoding="utf-8").split(":", 1)[1].strip())
    head = (git / "HEAD").read_text(encoding="ascii").strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    shared = git
    with suppress(OSError):
        shared = (git / (git / "commondir").read_text(encoding="utf-8").strip()).resolve()
    with suppress(OSError):
        return (shared / name).read_text(encoding="ascii").strip()
    packed = (shared / "packed-refs").read_text(encoding="utf-8").splitlines()
    return next(line.split()[0] for line in packed if line.endswith(f" {name}"))
