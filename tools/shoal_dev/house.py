"""Measures the source itself: what its results are, how large it is, and which of its modules go in circles.

tools/house-baseline.json is what to compare with: sizes of 535a5a0, and the sums of results since, with three titles of
scenarios and the tables of papers on Linux as they were renewed afterwards.

Results are SHA-256 sums of what every shipped scenario prints with `--json` and of every table that a paper keeps.
Sizes are lines of code without tests, comments and blank lines, by room. A circle is a set of sibling modules that use
each other in a ring; the modules that only declare them and those of tests do not count.
"""

import ast
import hashlib
import io
import json
import re
import subprocess
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from shoal_dev import ROOT, git_paths

LONG_FUNCTION = 60


def main(*, against: Path | None, with_results: bool) -> int:
    """Print everything as JSON, or the changes since an earlier output; 1 if a result has changed since."""
    state = {"results": results() if with_results else {}, **sizes(), "circles": circles()}
    if against is None:
        print(json.dumps(state, indent=1))
        return 0
    return compare(json.loads(against.read_text(encoding="utf-8")), state)


def results() -> dict[str, str]:
    """Sums of every shipped scenario's result and of every kept table of a paper."""
    sums = {}
    shoal = ROOT / ".venv" / "bin" / "shoal"
    for path in sorted((ROOT / "scenarios").rglob("*.toml")):
        name = str(path.relative_to(ROOT))
        # Sweeps and searches are not scenarios; the result of what is refused is the message.
        done = subprocess.run([shoal, "run", path, "--json"], capture_output=True, cwd=ROOT, check=False)
        sums[name] = hashlib.sha256(done.stdout or done.stderr).hexdigest()
    for pattern in ("RESULTS.csv", "LINUX.csv"):
        for path in sorted((ROOT / "papers").rglob(pattern)):
            sums[str(path.relative_to(ROOT))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


def sizes() -> dict[str, object]:
    """Lines by room and language, long functions, and public items of Rust."""
    lines: Counter[str] = Counter()
    long: list[str] = []
    public: Counter[str] = Counter()
    for path in sources():
        name, room = str(path.relative_to(ROOT)), room_of(path)
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".rs":
            code, tests = rust_parts(text, whole_is_test=is_test(path))
            lines[f"{room} (Rust)"] += code
            lines[f"{room} (Rust, tests)"] += tests
            if not is_test(path):
                shown = without_tests(text)
                long += [f"{name}: {which} {size}" for which, size in rust_functions(shown) if size > LONG_FUNCTION]
                public[room] += len(
                    re.findall(r"^\s*pub (?:const |unsafe )?(?:fn|struct|enum|trait|const|type|mod)\b", shown, re.M)
                )
        elif path.suffix == ".py":
            code = python_lines(text)
            lines[f"{room} (Python{', tests' if is_test(path) else ''})"] += code
            if not is_test(path):
                long += [f"{name}: {which} {size}" for which, size in python_functions(text) if size > LONG_FUNCTION]
        else:
            lines[f"{room} (C{', tests' if is_test(path) else ''})"] += c_lines(text)
    return {
        "lines": dict(sorted(lines.items())),
        "long_functions": sorted(long),
        "public_items": dict(sorted(public.items())),
    }


def sources() -> Iterator[Path]:
    """Tracked files of Rust, Python and C."""
    for name in sorted(git_paths("ls-files")):
        if name.endswith((".rs", ".py", ".c", ".h")) and (ROOT / name).exists():
            yield ROOT / name


def room_of(path: Path) -> str:
    """The folder that has its own place in ARCHITECTURE.md."""
    parts = path.relative_to(ROOT).parts
    depth = {"crates": 3, "linux": 2, "python": 2}.get(parts[0], 1)
    return "/".join(parts[: min(depth, len(parts) - 1)])


def is_test(path: Path) -> bool:
    """Whether a whole file is of tests."""
    parts = path.relative_to(ROOT).parts
    return "tests" in parts[:-1] or parts[0] in ("benches", "fuzz") or path.stem in ("tests", "testing", "conftest")


def blocks_of_tests(text: str) -> list[tuple[int, int]]:
    """Places of `#[cfg(test)] mod x { ... }`; the brace that ends one stands at the indentation at which it begins."""
    spans = []
    for match in re.finditer(
        r"^([ \t]*)#\[cfg\(test\)\]\n(?:\1#\[.*\]\n)*\1(?:pub(?:\(.*?\))? )?mod \w+ \{\n", text, re.M
    ):
        end = text.find(f"\n{match[1]}}}\n", match.end() - 1)
        spans.append((match.start(), len(text) if end < 0 else end + len(match[1]) + 2))
    return spans


def without_tests(text: str) -> str:
    """The text of a file of Rust without its tests."""
    for begin, end in reversed(blocks_of_tests(text)):
        text = text[:begin] + text[end:]
    return text


def rust_parts(text: str, *, whole_is_test: bool) -> tuple[int, int]:
    """Lines of code outside and inside of tests."""
    all_lines = c_lines(text)
    code = 0 if whole_is_test else c_lines(without_tests(text))
    return code, all_lines - code


def c_lines(text: str) -> int:
    """Lines that are neither blank nor comment, of C and Rust."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    return sum(1 for line in text.splitlines() if (bare := line.strip()) and not bare.startswith("//"))


def python_lines(text: str) -> int:
    """Lines that are neither blank, comment nor docstring."""
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            docstrings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def rust_functions(text: str) -> Iterator[tuple[str, int]]:
    """Functions with their lines, by the indentation that rustfmt gives them."""
    for match in re.finditer(r"^([ \t]*)(?:pub(?:\(.*?\))? )?(?:const |unsafe )*fn (\w+)", text, re.M):
        begin = re.compile(r"[{;}][ \t]*(?://.*)?$", re.M).search(text, match.end())
        end = begin and re.compile(rf"^{match[1]}}}", re.M).search(text, begin.end())
        if begin and end and begin[0].startswith("{"):
            yield match[2], text.count("\n", match.start(), end.start()) + 1


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Functions with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def circles() -> list[str]:
    """Rings of sibling modules of Rust."""
    uses: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in sources():
        if path.suffix != ".rs" or is_test(path) or "src" not in path.parts:
            continue
        text = without_tests(path.read_text(encoding="utf-8"))
        folder, source = path.parent, path.parents[len(path.parts) - path.parts.index("src") - 2]
        modules = {each.stem if each.is_file() else each.name for each in folder.iterdir()}
        if path.name in ("mod.rs", "lib.rs", "main.rs"):
            continue
        inside = "::".join(folder.relative_to(source).parts)
        prefixes = ["super::", f"crate::{inside}::" if inside else "crate::"]
        for prefix in prefixes:
            for target in re.findall(rf"\b{re.escape(prefix)}(\w+)", text):
                uses[folder][path.stem].add(target)
            for group in re.findall(rf"\b{re.escape(prefix)}\{{([^}}]*)\}}", text):
                uses[folder][path.stem] |= set(re.findall(r"\b(\w+)(?=::)", group))
        uses[folder][path.stem] &= modules
    return sorted(
        f"{folder.relative_to(ROOT)}: {', '.join(sorted(ring))}"
        for folder, edges in uses.items()
        for ring in rings(edges)
    )


def rings(edges: dict[str, set[str]]) -> Iterable[set[str]]:
    """Strongly connected sets of more than one."""

    def reached(begin: str) -> set[str]:
        seen: set[str] = set()
        todo = [begin]
        while todo:
            for target in edges.get(todo.pop(), set()) - seen:
                seen.add(target)
                todo.append(target)
        return seen

    reach = {node: reached(node) for node in edges}
    done: set[str] = set()
    for node in edges:
        ring = {other for other in reach[node] if node in reach.get(other, set()) and other != node}
        if ring and node not in done:
            done |= ring | {node}
            yield ring | {node}


def compare(before: dict[str, object], after: dict[str, object]) -> int:
    """Prints what differs; 1 if a result that was there is another one."""
    changed = [name for name, value in before["results"].items() if after["results"].get(name, value) != value]
    gone = sorted(set(before["results"]) - set(after["results"]))
    for name in changed:
        print(f"result changed: {name}")
    for name in gone if after["results"] else []:
        print(f"result gone: {name}")
    for what in ("lines", "public_items"):
        for name in sorted(set(before[what]) | set(after[what])):
            old, new = before[what].get(name, 0), after[what].get(name, 0)
            share = f" ({(new - old) / old:+.1%})" if old else ""
            print(f"{what}: {name}: {old} -> {new}{share}")
        old, new = sum(before[what].values()), sum(after[what].values())
        print(f"{what}: all: {old} -> {new} ({(new - old) / old:+.1%})")
    for what in ("long_functions", "circles"):
        print(f"{what}: {len(before[what])} -> {len(after[what])}")
        for each in after[what]:
            print(f"  {each}")
    return 1 if changed else 0
