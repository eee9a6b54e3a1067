"""Modules of `shoal` use each other in one direction: imports inside functions and for types count, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2] / "python"


def modules() -> dict[str, Path]:
    """All modules of the package with their files."""
    found = {}
    for path in sorted((ROOT / "shoal").rglob("*.py*")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if path.suffix in (".py", ".pyi") and "_data" not in parts:
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imported(name: str, path: Path) -> Iterator[str]:
    """What a file names in its imports: a module, or the package that has the name."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: package.count(".") + 2 - node.level]
                base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES else base


def files() -> dict[str, set[str]]:
    """Modules with those that each imports."""
    return {name: MODULES.keys() & set(imported(name, path)) - {name} for name, path in MODULES.items()}


def rooms() -> dict[str, set[str]]:
    """Modules and packages directly below `shoal`, with those that each imports."""
    found: dict[str, set[str]] = {}
    for name, used in files().items():
        if name != "shoal":
            room = name.split(".")[1]
            found.setdefault(room, set()).update({one.split(".")[1] for one in used if one != "shoal"} - {room})
    return found


def rings(arrows: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Modules that reach each other."""

    def reached(begin: str) -> set[str]:
        seen: set[str] = set()
        todo = [begin]
        while todo:
            new = arrows[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    reach = {name: reached(name) for name in arrows}
    for name in arrows:
        ring = sorted(other for other in reach[name] if name in reach[other])
        if ring and ring[0] == name:
            yield ring


def test_there_are_no_circles_of_files() -> None:
    assert list(rings(files())) == []


def test_there_are_no_circles_of_rooms() -> None:
    assert list(rings(rooms())) == []


def test_imports_are_seen_wherever_they_stand(tmp_path: Path) -> None:
    text = "import shoal.words\nfrom . import tables, nothing\nfrom ..errors import UsageError\n"
    text += "def late() -> None:\n    from shoal import moving, run\n"
    (tmp_path / "new.py").write_text(text, encoding="utf-8")
    assert list(imported("shoal.switch.new", tmp_path / "new.py")) == [
        "shoal.words", "shoal.switch.tables", "shoal.switch", "shoal.errors", "shoal.moving", "shoal",
    ]  # fmt: skip


def test_circles_are_found() -> None:
    assert list(rings({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()})) == [["a", "b", "c"]]


def test_arrows_of_figures_and_metrics_point_down() -> None:
    arrows = rooms()
    assert "plots" in arrows["results"]
    assert not {"results", "running"} & (arrows["plots"] | arrows["metrics"] | arrows["analysis"])


def test_types_are_checked_everywhere() -> None:
    # mypy is strict; what it is told to ignore it does not check.
    assert [str(path) for path in ROOT.rglob("*.py") if "type: ignore" in path.read_text(encoding="utf-8")] == []
