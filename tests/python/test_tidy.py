"""The house: how wide lines are, how long functions are, what comments may not be. Numbers may fall, never rise."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLUMNS = 120
# Lines of functions with their docstrings: a limit that most keep, and how many are above it today.
LONG, MOST_LONG = 70, 8
# What begins so goes on from something that a reader does not see.
FRAGMENT = r"(Of|Those|Both|The same|The others|Everything else|Likewise)\b"
CODE = (".py", ".rs", ".c", ".h", ".ts", ".mjs", ".sh")
# Addresses cannot be broken, and what tells a checker to look away stands on its line.
EXCUSED = re.compile(r"\(?https?://\S+|  # (noqa|type: ignore).*$")
# What is no name of a value, and what it keeps from a reader.
NO_NAMES = {
    "found": "what was found: a match, rows, links",
    "one": "one of what: a candidate, a scenario, a line",
    "own": "whose, but not what: runs of a seed, columns of a table",
    "told": "what somebody learns: decisions, remarks",
}
# `place` is an index, a path, a folder or a key; so many are where something stands, in a message or a search.
MOST_PLACES = 2
# Written by a program.
GENERATED = {"python/shoal/scenario_keys.py", "python/shoal/contract.py"}


def files(*suffixes: str) -> list[Path]:
    """Tracked files with one of these endings, and what is new among them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


@pytest.mark.parametrize("suffix", CODE)
def test_lines_fit(suffix: str) -> None:
    wide = [
        place(path, number)
        for path in files(suffix)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(EXCUSED.sub("", line)) > COLUMNS
    ]
    assert wide == []


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Every docstring of a file, and the entries of its sections, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and (text := ast.get_docstring(node)):
            begin = node.body[0].lineno
            yield begin, text
            for number, line in enumerate(text.splitlines()):
                if line.startswith("    "):
                    yield begin + number, line.strip()


def test_docstrings_are_no_fragments() -> None:
    python = [path for path in files(".py") if path.parts[len(ROOT.parts)] in ("python", "tools", "studies", "tests")]
    assert [
        f"{place(path, line)}: {text.splitlines()[0]}"
        for path in python
        for line, text in docstrings(path)
        if re.match(FRAGMENT, text)
    ] == []


def test_comments_of_rust_are_no_fragments() -> None:
    assert [
        f"{place(path, number)}: {line.strip()}"
        for path in files(".rs")
        for number, (before, line) in enumerate(with_line_before(path.read_text(encoding="utf-8")), 1)
        if re.match(rf"\s*//[/!] {FRAGMENT}", line) and not before.lstrip().startswith(("///", "//!"))
    ] == []


def with_line_before(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines()
    return zip(["", *lines], lines, strict=False)


def bindings(path: Path) -> Iterator[tuple[int, str]]:
    """Every name that a file gives to a value, a parameter, a function or a class, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name.lstrip("_")
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name.lstrip("_")


def test_values_are_called_what_they_are() -> None:
    names = [
        (place(path, line), name)
        for path in files(".py")
        if path.is_relative_to(ROOT / "python" / "shoal") or path.parts[len(ROOT.parts)] in ("tools", "studies")
        for line, name in bindings(path)
    ]
    assert [f"{where} {name}: {NO_NAMES[name]}" for where, name in names if name in NO_NAMES] == []
    places = [where for where, name in names if name == "place"]
    # A place fewer: lower the number above.
    assert len(places) == MOST_PLACES, "\n".join(places)


def test_long_functions_do_not_become_more() -> None:
    long = [
        f"{place(path, node.lineno)} {node.name}: {size}"
        for path in files(".py")
        if path.parts[len(ROOT.parts)] == "python" and str(path.relative_to(ROOT)) not in GENERATED
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and (size := (node.end_lineno or 0) - node.lineno + 1) > LONG
    ]
    # A function fewer: lower the number above.
    assert len(long) == MOST_LONG, "\n".join(sorted(long))


def test_a_number_is_not_taken_for_its_truth() -> None:
    # `if x := next(...)` is false for a number that is 0, and for a text that is empty.
    assert [
        place(path, number)
        for path in files(".py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\bif \w+ := (next|min|max|sum|len)\(", line) and path.name != "test_tidy.py"
    ] == []


def test_no_text_of_a_scenario_is_formatted() -> None:
    """A scenario is made of typed keys, or a base is overridden: a key that is misspelt in a text is seen late."""
    assert [
        place(path, node.lineno)
        for path in files(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr) and re.search(r"(^|\W)(duration|bottleneck|flows) = ", ast.unparse(node))
    ] == []


def test_mutants_that_change_nothing_are_of_today() -> None:
    """An entry whose line is gone would hide nothing, and would be believed."""
    table = tomllib.loads((ROOT / "tests" / "python" / "mutants.toml").read_text(encoding="utf-8"))
    for entry in table["equivalent"]:
        lines = ast.unparse(ast.parse((ROOT / entry["file"]).read_text(encoding="utf-8"))).splitlines()
        removed = [line[1:] for line in entry["difference"].splitlines() if line.startswith("-")]
        assert removed, entry
        assert set(removed) <= set(lines), entry
