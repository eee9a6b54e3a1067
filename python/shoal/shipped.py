"""Scenarios and papers that come with the package; in a checkout, those of the repository."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import OutputError
from shoal.models import nearest

_data = Path(__file__).parent / "_data"


@dataclass(frozen=True, slots=True)
class Shipped:
    """Something with a name, a title, and a file or folder."""

    name: str
    title: str
    path: Path


def scenarios() -> list[Shipped]:
    """Ready-made scenarios, by name."""
    return [_shipped(path, path.stem) for path in sorted((_data / "scenarios").glob("*.toml"))]


def comparison_suite() -> list[Path]:
    """Scenarios on which simulator and Linux are compared, by name."""
    found = sorted((_data / "scenarios" / "compare").glob("*.toml"))
    if not found:
        raise OutputError("the comparison suite is missing", hint="is this installation complete?")
    return found


def papers() -> list[Shipped]:
    """Papers whose experiments can be reproduced, by name."""
    return [
        Shipped(path.parent.name, _title(path), path.parent) for path in sorted((_data / "papers").glob("*/paper.toml"))
    ]


def _shipped(path: Path, name: str) -> Shipped:
    return Shipped(name, _title(path), path)


def _title(path: Path) -> str:
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
    except (OSError, tomllib.TOMLDecodeError):
        return ""


def find_scenario(path: Path) -> Path:
    """A file, or a ready-made scenario by its name.

    Raises
    ------
    OutputError
        There is neither.
    """
    if path.exists() or path.parent != Path():
        return path
    known = scenarios()
    for item in known:
        if item.name == path.name:
            return item.path
    names = [item.name for item in known]
    raise OutputError(
        f"there is no file `{path}`, and no ready-made scenario of that name", hint=nearest(path.name, names)
    )
