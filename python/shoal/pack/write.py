"""The archive as a file: the same results give the same bytes, and nothing in it is of this machine."""

from __future__ import annotations

import gzip
import io
import platform
import shlex
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from shoal import build
from shoal._native import __version__
from shoal.again import checksum
from shoal.cache import simulator_hash
from shoal.cite import citation_file
from shoal.errors import OutputError
from shoal.files import is_stream, new_file, unwritable
from shoal.pack.folder import PackedResults
from shoal.pack.lock import licences, requirements, versions
from shoal.pack.manifest import FILE, RESULTS, Entry, Manifest
from shoal.pack.readme import readme

# The folder that an archive unpacks into.
_top = "artifact"
# The first day that every format of archives can express: tar programs warn of the first of their own calendar.
_time_s = 315_532_800

_rerun = """\
#!/bin/sh
# Makes all results again and compares them with those in this archive. It ends with 1 if anything differs.
# Unless the right build of shoal is in the path, it is installed into .venv beside this file first.
set -eu
cd "$(dirname "$0")"
if [ "$(shoal --version 2>/dev/null)" != {version} ]; then
    if [ ! -x .venv/bin/shoal ]; then
        python3 -m venv .venv
        .venv/bin/python -m pip install --quiet --requirement requirements.txt
    fi
    PATH="$PWD/.venv/bin:$PATH"
fi
exec shoal pack --check . "$@"
"""


def entry_of(results: PackedResults) -> Entry:
    """What an archive says of a folder of results."""
    sums = {name: checksum(results.folder / name) for name in results.files}
    return Entry(results.name, results.record.command, sums, results.left_out)


def write_artifact(
    target: Path, packed: Sequence[PackedResults], *, wheel: Path | None = None, seconds: float | None = None
) -> int:
    """Write an archive.

    Parameters
    ----------
    target
        The file.
    packed
        The results.
    wheel
        The wheel of shoal, which goes into the archive.
    seconds
        How long making all results again took; ``None`` if nobody knows.

    Returns
    -------
    int
        The number of files in it.

    Raises
    ------
    OutputError
        A file cannot be read or written.
    """
    try:
        entries = [entry_of(results) for results in packed]
        needs_optuna = any("--free" in entry.command for entry in entries)
        known = versions(["optuna"] if needs_optuna else [])
        manifest = Manifest(
            1, __version__, build.commit(), simulator_hash(), platform.python_version(), known, tuple(entries)
        )
        texts = {
            FILE: manifest.text,
            "README.md": readme(manifest, packed, wheel=wheel, seconds=seconds),
            "requirements.txt": requirements(known, wheel),
            "rerun": _rerun.format(version=shlex.quote(f"shoal {build.described()}")),
            citation_file.name: citation_file.read_text(encoding="utf-8"),
            **licences(),
        }
        files = {
            f"{RESULTS}/{results.name}/{name}": results.folder / name for results in packed for name in results.files
        }
        if wheel is not None:
            files[wheel.name] = wheel
        with (
            new_file(target) as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=9) as compressed,
            tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, text in texts.items():
                content = text.encode()
                archive.addfile(_member(name, len(content)), io.BytesIO(content))
            for name, path in sorted(files.items()):
                with path.open("rb") as source:
                    archive.addfile(_member(name, path.stat().st_size), source)
    except OSError as error:
        raise unwritable(error.filename or target, error) from error
    return len(texts) + len(files)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(f"{_top}/{name}")
    member.size, member.mtime = size, _time_s
    member.mode = 0o755 if name == "rerun" else 0o644
    return member


def is_artifact(path: Path) -> bool:
    """Whether a file is an archive that shoal wrote: its first member is the manifest."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            first = archive.next()
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile):
        return path.stat().st_size == 0
    return first is not None and first.name == f"{_top}/{FILE}"


def check_target(target: Path) -> None:
    """Refuse a name that says another format.

    Raises
    ------
    OutputError
        It ends neither as archives do, nor is it a stream.
    """
    if not target.name.endswith((".tar.gz", ".tgz")) and not is_stream(target):
        raise OutputError(
            f"`{target}` does not say that it is an archive",
            hint="the name ends with .tar.gz, as in --out artifact.tar.gz",
        )
