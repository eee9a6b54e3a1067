"""Modules of `shoal` use each other in one direction: imports inside functions and for types count, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2] / "python"


def units() -> dict[str, set[str]]:
    """Modules and packages directly below `shoal`, with those that each imports."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "shoal").rglob("*.py")):
        name = path.relative_to(ROOT / "shoal").with_suffix("").parts[0]
        if name in ("_data", "__init__", "__main__"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "shoal":
                _, _, inside = (node.module or "").partition(".")
                names = [inside.partition(".")[0]] if inside else [alias.name for alias in node.names]
                found.setdefault(name, set()).update(names)
    return {name: used & found.keys() - {name} for name, used in found.items()}


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


def test_there_are_no_circles() -> None:
    assert list(rings(units())) == []


def test_circles_are_found() -> None:
    assert list(rings({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()})) == [["a", "b", "c"]]


def test_arrows_of_figures_and_metrics_point_down() -> None:
    arrows = units()
    assert "plots" in arrows["results"]
    assert not {"results", "running"} & (arrows["plots"] | arrows["metrics"] | arrows["analysis"])


def test_types_are_checked_everywhere() -> None:
    # mypy is strict; what it is told to ignore it does not check.
    assert [str(path) for path in ROOT.rglob("*.py") if "type: ignore" in path.read_text(encoding="utf-8")] == []
