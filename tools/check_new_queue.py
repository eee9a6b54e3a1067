#!/usr/bin/env python3
"""Does what docs/add-a-queue.md says, in a copy of the source.

Writes the skeleton, builds and tests it, replaces it by the example of the page, builds, tests and runs that.

    tools/check_new_queue.py            # the skeleton and the page's example
    tools/check_new_queue.py --no-build # only that both fit into the tree, which takes seconds

Compiled packages are kept in target/new-queue.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "add-a-queue.md"
BLOCK = re.compile(r"^`([\w./-]+)`([^\n]*):\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-build", action="store_true", help="build nothing")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    command = re.search(r"^shoal (new queue ([\w-]+))$", page, re.MULTILINE)
    blocks = BLOCK.findall(page)
    if command is None or len(blocks) < 2:
        print(f"error: {PAGE} has lost its command or its files", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="shoal-new-queue-") as folder:
        copy = Path(folder) / "shoal"
        copy_of_tree(copy)
        environment = os.environ | {
            "PYTHONPATH": str(ROOT / "python"),
            "CARGO_TARGET_DIR": str(ROOT / "target" / "new-queue"),
        }
        run([sys.executable, "-m", "shoal", *command[1].split()], copy, environment)
        build(copy, environment, with_tests=not options.no_build)
        for path, where, _, text in blocks:
            apply(copy / path, where, text)
        build(copy, environment, with_tests=not options.no_build)
        if options.no_build:
            return 0
        return simulate(copy, command[2], next(path for path, _, kind, _ in blocks if kind == "toml"), environment)


def copy_of_tree(copy: Path) -> None:
    """Copy what is tracked or could be."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")  # noqa: S603
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)


def apply(path: Path, where: str, text: str) -> None:
    """Write a file of the page, or replace one line."""
    if not where:
        path.write_text(text, encoding="utf-8")
        return
    found = re.fullmatch(r", the line (with|before) `(.*)`", where)
    if found is None:
        raise SystemExit(f"error: {PAGE}: not understood: {where}")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = [n for n, line in enumerate(lines) if found[2] in line]
    if len(at) != 1:
        raise SystemExit(f"error: {path} has {len(at)} lines with {found[2]}, not one")
    lines[at[0] - (found[1] == "before")] = text
    path.write_text("".join(lines), encoding="utf-8")


def build(copy: Path, environment: dict[str, str], *, with_tests: bool) -> None:
    """Check the format, and test every crate that knows the queue."""
    run(["cargo", "fmt", "--all", "--check"], copy, environment)
    if with_tests:
        packages = [word for name in ("shoal-aqm", "shoal-scenario", "shoal-linux") for word in ("-p", name)]
        run(["cargo", "test", "--quiet", "--lib", *packages], copy, environment)
        run(["cargo", "test", "--quiet", "-p", "shoal-scenario", "--test", "keys"], copy, environment)


def simulate(copy: Path, kind: str, scenario: str, environment: dict[str, str]) -> int:
    """Run the page's scenario on the copy; 1 if the queue marks nothing."""
    run(["cargo", "build", "--quiet", "-p", "shoal-native"], copy, environment)
    library = Path(environment["CARGO_TARGET_DIR"]) / "debug" / "lib_native.so"
    shutil.copy2(library, copy / "python" / "shoal" / "_native.abi3.so")
    own = environment | {"PYTHONPATH": str(copy / "python")}
    said = run([sys.executable, "-m", "shoal", "run", scenario, "--json"], copy, own)
    bottleneck = json.loads(said)["bottlenecks"][0]
    print(f"{kind}: {bottleneck['arrived']} packets, {bottleneck['marked']} of them marked")
    if not bottleneck["marked"]:
        print(f"error: `{kind}` marked nothing", file=sys.stderr)
        return 1
    return 0


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a command in the copy; ends with what it said if it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
