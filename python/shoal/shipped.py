"""Scenarios and papers that come with the package; in a checkout, those of the repository."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from shoal.errors import OutputError, UsageError

_data = Path(__file__).parent / "_data"
_scenarios = _data / "scenarios"
_sweeps = _data / "sweeps"


@dataclass(frozen=True, slots=True)
class Shipped:
    """Something with a name, a title, and a file or folder."""

    name: str
    title: str
    path: Path


def scenarios() -> list[Shipped]:
    """Ready-made scenarios that show something, by name."""
    return [_shipped(path, path.stem) for path in sorted(_scenarios.glob("*.toml"))]


def all_scenarios() -> list[Shipped]:
    """Every ready-made scenario: those that show something, then those of the folders, such as ``compare/...``."""
    return scenarios() + [
        _shipped(path, path.relative_to(_scenarios).with_suffix("").as_posix())
        for path in sorted(_scenarios.glob("*/*.toml"))
    ]


def sweeps() -> list[Shipped]:
    """Ready-made sweeps, by name."""
    return [_shipped(path, path.stem) for path in sorted(_sweeps.glob("*.toml"))]


def comparison_suite() -> list[Path]:
    """Scenarios on which simulator and Linux are compared, by name."""
    files = sorted((_scenarios / "compare").glob("*.toml"))
    if not files:
        raise OutputError("the comparison suite is missing", hint="is this installation complete?")
    return files


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


def find_scenario(name: str | Path, *, or_sweep: bool = False) -> Path:
    """The file of a scenario: a file, or else a ready-made scenario by its name.

    Parameters
    ----------
    name
        The file or the name.
    or_sweep
        Whether a ready-made sweep is meant as well.

    Raises
    ------
    OutputError
        There is neither; the hint has the nearest name.
    """
    path = Path(name)
    if path.is_file():
        return path
    ready = {item.name: item for item in [*all_scenarios(), *(sweeps() if or_sweep else [])]}
    if path.as_posix() in ready:
        return ready[path.as_posix()].path
    if path.exists():
        # A pipe, or a folder, of which the reader says what it is.
        return path
    if path.as_posix() in {item.name for item in sweeps()}:
        raise OutputError(f"`{path}` is a ready-made sweep, and no scenario", hint=f"shoal sweep {path}")
    message = f"there is no file `{path}`, and no ready-made scenario of that name"
    beside = [str(other) for other in sorted(path.parent.glob("*.toml"))] if path.parent.is_dir() else []
    written = {**dict.fromkeys(beside), **dict.fromkeys(ready)}
    close = get_close_matches(str(path), list(written), n=1, cutoff=0.6)
    # `scenarios/coexistence.toml` means the ready-made one outside a checkout as well.
    if not close and path.stem in ready:
        close = [path.stem]
    hint = f"did you mean `{close[0]}`?" if close else "`shoal list scenarios` names those that are ready"
    raise OutputError(message, hint=hint)


def ready_made(name: str) -> Shipped:
    """A ready-made scenario.

    Raises
    ------
    UsageError
        There is none of that name; the hint has the nearest.
    """
    ready = {item.name: item for item in all_scenarios()}
    if name not in ready:
        close = get_close_matches(name, list(ready), n=1, cutoff=0.6)
        hint = f"did you mean `{close[0]}`?" if close else "`shoal list scenarios` names them"
        raise UsageError(f"there is no ready-made scenario `{name}`", hint=hint)
    return ready[name]
