"""Changes the source a little, one place at a time, and says which changes no test of the room sees.

A mutant is drawn at random from all places where an operator, a constant, a condition, an argument or a returned value
could be another one, in a copy of the package that tests import instead. A mutant that no test sees is printed with its
place; `tests/python/mutants.toml` names those that cannot be seen, with the reason. Exit code 1: one survived.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal_dev import ROOT

TESTS = ROOT / "tests" / "python"
KNOWN = TESTS / "mutants.toml"
# A mutant may make an endless loop.
LIMIT_S = 300

_operators: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_names = {"min": "max", "max": "min", "any": "all", "all": "any", "True": "False", "sorted": "list", "sum": "len"}


@dataclass(frozen=True)
class Mutant:
    """A change of one place of a file."""

    path: Path
    line: int
    text: str

    @property
    def name(self) -> str:
        """Where it is, for people."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def difference(self) -> str:
        """The lines that it changes."""
        before = ast.unparse(ast.parse(self.path.read_text(encoding="utf-8"))).splitlines()
        lines = difflib.unified_diff(before, self.text.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def how_many(path: Path) -> int:
    """The number of all mutants of a file."""
    return sum(1 for _ in _places(ast.parse(path.read_text(encoding="utf-8"))))


def mutant_of(path: Path, number: int) -> Mutant:
    """A mutant of a file by its number, counted from 0."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    line, change = next(itertools.islice(_places(tree), number, None))
    change()
    return Mutant(path, line, ast.unparse(tree))


def _places(tree: ast.AST) -> Iterator[tuple[int, Change]]:  # noqa: PLR0912  (a table reads best in one place)
    """Every place that can be changed, with what changes it; types, docstrings and messages cannot."""
    for node in _without_words(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Compare():
                for index, operator in enumerate(node.ops):
                    for other in _operators.get(type(operator), ()):
                        yield line, Change(node.ops, index, other())
            case ast.BinOp() | ast.BoolOp():
                for other in _operators.get(type(node.op), ()):
                    yield line, Change(node, "op", other())
            case ast.UnaryOp(op=ast.Not()):
                yield line, Change(node, "op", ast.UAdd())
            case ast.Constant(value=bool()):
                yield line, Change(node, "value", not node.value)
            case ast.Constant(value=int() | float()):
                yield line, Change(node, "value", node.value + 1)
                if node.value not in (0, 1):
                    yield line, Change(node, "value", node.value * 2)
            case ast.If() | ast.IfExp():
                yield line, Change(node, "test", ast.Constant(value=True))
                yield line, Change(node, "test", ast.Constant(value=False))
            case ast.comprehension() if node.ifs:
                yield node.ifs[0].lineno, Change(node, "ifs", [])
            case ast.Name(id=name) if name in _names:
                yield line, Change(node, "id", _names[name])
            case ast.Call(keywords=[_, *_]):
                for index, keyword in enumerate(node.keywords):
                    if keyword.arg in ("default", "key", "reverse", "strict") and keyword.arg != "strict":
                        yield line, Change(node, "keywords", node.keywords[:index] + node.keywords[index + 1 :])
            case ast.Call(args=[first, second]) if type(first) is type(second) and not node.keywords:
                yield line, Change(node, "args", [second, first])
            case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
                yield line, Change(node, "value", ast.Constant(value=None))
            case ast.Dict() if len(node.keys) > 1 and all(isinstance(key, ast.Constant) for key in node.keys):
                yield line, Change(node, "values", [*node.values[1:], node.values[0]])


@dataclass(frozen=True)
class Change:
    """Another value of a field of a node, or of a place of a list."""

    node: object
    field: str | int
    value: object

    def __call__(self) -> None:
        """Make it."""
        if isinstance(self.field, int):
            self.node[self.field] = self.value  # type: ignore[index]
        else:
            setattr(self.node, self.field, self.value)


def _without_words(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree but for annotations, what is raised, texts that are formatted, and classes' fields."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "type_params", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr | ast.Import):
                if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                    continue
                yield from _without_words(child)


@dataclass(frozen=True)
class Room:
    """Files whose mutants the same tests should see."""

    files: tuple[Path, ...]
    tests: tuple[str, ...]


def rooms() -> dict[str, Room]:
    """The rooms of tests/python/mutants.toml."""
    tables = tomllib.loads(KNOWN.read_text(encoding="utf-8"))
    package = ROOT / "python" / "shoal"
    return {
        name: Room(
            tuple(sorted(path for pattern in room["files"] for path in package.glob(pattern))), tuple(room["tests"])
        )
        for name, room in tables["rooms"].items()
    }


def copied(folder: Path) -> Path:
    """A copy of the package in a folder that looks like the repository to it."""
    shutil.copytree(ROOT / "python", folder / "python", symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for entry in ROOT.iterdir():
        if entry.name not in ("python", ".git", "target"):
            (folder / entry.name).symlink_to(entry)
    return folder / "python"


def survives(mutant: Mutant, room: Room, package: Path) -> bool:
    """Whether no test of the room fails with a mutant."""
    path = package / mutant.path.relative_to(ROOT / "python")
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *room.tests]
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_text(before, encoding="utf-8")
    if "errors during collection" in done.stdout and "SyntaxError" in done.stdout:
        raise RuntimeError(done.stdout)
    return done.returncode == 0


def main(*, only: list[str] | None, count: int, seed: int | None, only_list: bool) -> int:
    """Try a sample; 1 if a mutant survives that is not known to be one that cannot be seen.

    Parameters
    ----------
    only
        Rooms; all of them if not given.
    count, seed
        How many, and which; a seed that is not given is drawn.
    only_list
        Whether to show what would be tried, and to try nothing.
    """
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    known = rooms()
    chosen = {name: known[name] for name in only or known}
    drawn = [
        (name, path, number) for name, room in chosen.items() for path in room.files for number in range(how_many(path))
    ]
    equivalent = {(entry["file"], entry["difference"]) for entry in tomllib.loads(KNOWN.read_text())["equivalent"]}
    print(f"seed {seed}: {count} of {len(drawn):,} mutants", flush=True)
    random.Random(seed).shuffle(drawn)  # noqa: S311  (no secret)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        package = copied(Path(folder))
        for turn, (name, path, number) in enumerate(drawn[:count], 1):
            mutant = mutant_of(path, number)
            is_equivalent = (str(mutant.path.relative_to(ROOT)), mutant.difference) in equivalent
            survived = not only_list and not is_equivalent and survives(mutant, chosen[name], package)
            word = "equal" if is_equivalent else "SURVIVED" if survived else "listed" if only_list else "killed"
            print(f"{turn:4} {word:8} {mutant.name}\n{mutant.difference}", flush=True)
            survivors += survived
    print(f"{count - survivors} of {count} seen")
    return 1 if survivors else 0
