"""The exact packages of this environment, as far as results depend on them."""

from __future__ import annotations

import platform
import re
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from shoal import build
from shoal._native import __version__
from shoal.errors import OutputError


def versions(extra: Iterable[str] = ()) -> dict[str, str]:
    """Shoal, what it needs, and what that needs, with their versions, by name.

    Parameters
    ----------
    extra
        Further packages that the results need.
    """
    known: dict[str, str] = {}
    todo = ["shoal", *extra]
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in known:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # what another system or another Python needs
        known[name] = package.version
        for text in package.requires or ():
            match = re.match(r"[A-Za-z0-9._-]+", text)
            if match and "extra ==" not in text:
                todo.append(match[0])
    return dict(sorted(known.items()))


def requirements(known: dict[str, str], wheel: Path | None) -> str:
    """A file for ``pip install --requirement``; a wheel of shoal stands beside it."""
    lines = [f"{name}=={version}" for name, version in known.items() if name != "shoal" or wheel is None]
    head = f"# The packages with which the results were packed, on Python {platform.python_version()}."
    return "\n".join([head, *([f"./{wheel.name}"] if wheel is not None else []), *lines]) + "\n"


def check_wheel(wheel: Path) -> None:
    """Refuse what is no wheel of this build of shoal.

    Raises
    ------
    OutputError
        It cannot be read, or is another package, another version or of another commit.
    """
    hint = "name the wheel that this shoal was installed from, or one that `make wheel` built of the same commit"
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            about = next((name for name in names if name.endswith(".dist-info/METADATA")), None)
            text = archive.read(about).decode() if about else ""
            marked = "shoal/_data/commit"
            commit = archive.read(marked).decode("ascii").strip()[:10] if marked in names else None
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no zip archive"
        raise OutputError(f"`{wheel}` is no wheel: {reason}", hint=hint) from error
    if not re.search(rf"^Name: shoal\nVersion: {re.escape(__version__)}$", text, flags=re.M):
        raise OutputError(f"`{wheel}` is no wheel of shoal {__version__}", hint=hint)
    if None not in (commit, build.commit()) and commit != build.commit():
        raise OutputError(f"`{wheel}` is of commit {commit}, and this is {build.commit()}", hint=hint)


def licences() -> dict[str, str]:
    """The texts of the licences of shoal, by the names of their files."""
    package = metadata.distribution("shoal")
    names = package.metadata.get_all("License-File") or []
    texts = {name: package.read_text(f"licenses/{name}") for name in names}
    return {name: text for name, text in texts.items() if text is not None}
