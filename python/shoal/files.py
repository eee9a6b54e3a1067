"""Folders that are there completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import OutputError


@contextmanager
def new_folder(target: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary folder that takes the name ``target`` when the block ends well.

    When the block raises (a KeyboardInterrupt too) nothing is left, and an existing target is untouched.

    Raises
    ------
    OutputError
        The target exists and ``force`` is not given, or its place cannot be written.
    """
    target = Path(target)
    refuse_existing(target, force=force)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    if (file := next((place for place in target.parents if place.exists() and not place.is_dir()), None)) is not None:
        raise OutputError(f"cannot write `{target}`: `{file}` is not a folder", hint="choose another --out")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
    except OSError as error:
        raise unwritable(target, error) from error
    try:
        yield partial
        _replace(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_existing(target: str | Path, *, force: bool) -> None:
    """Raise if results would be overwritten without being asked to."""
    target = Path(target)
    if target.is_symlink() or target.exists():
        if not force:
            raise OutputError(f"`{target}` already exists", hint="choose another --out, or add --force to replace it")
        if not target.is_dir():
            raise OutputError(f"`{target}` is not a folder", hint="choose another --out")
        if any(target.iterdir()) and not (target / "result.json").exists() and not (target / ".shoal").exists():
            raise OutputError(
                f"`{target}` holds no results of shoal, so it is not replaced", hint="choose another --out"
            )


def unwritable(path: str | Path, error: OSError) -> OutputError:
    """Describe a refusal of the operating system."""
    return OutputError(
        f"cannot write `{path}`: {error.strerror or error}",
        hint="check permissions and free space, or choose another --out",
    )


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename it: readers never see half of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # some file systems report a full disk only here
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _replace(partial: Path, target: Path) -> None:
    (partial / ".shoal").touch()
    if not target.exists():
        partial.rename(target)
        return
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.rename(old)
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
