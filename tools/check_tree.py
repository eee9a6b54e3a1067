#!/usr/bin/env python3
"""Fail on files that do not belong into the repository, and on rooms without a page that explains them.

tools/check_tree.py    # reads what git has in its index; needs nothing but git and Python
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What may lie at the top.
TOP = {
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "pyproject.toml",
    "rustfmt.toml",
}
# What editors, patches and merges leave behind.
LEFTOVERS = ("~", ".orig", ".rej", ".swp", ".tmp", ".bak", ".")
# Rooms beside the crates.
ROOMS = ("linux", "papers", "python", "scenarios", "tests", "tools")
# What the page of a room has to say, as its headings.
HEADINGS = ("## Entry point", "## Main types", "## How to add")


def git(*arguments: str) -> list[str]:
    """Paths that a git command prints."""
    done = subprocess.run(["git", *arguments, "-z"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603, S607
    return [path for path in done.stdout.split("\0") if path]


def misplaced(tracked: list[str]) -> list[str]:
    """What is wrong with the tracked files."""
    found = [f"{path}: .gitignore names it, and it is tracked" for path in git("ls-files", "-ci", "--exclude-standard")]
    for path in tracked:
        if "/" not in path and path not in TOP:
            found.append(f"{path}: not a file of the top folder; move it, or add it to {Path(__file__).name}")
        if path.endswith(LEFTOVERS):
            found.append(f"{path}: left behind by a tool")
    return found


def unexplained(tracked: list[str]) -> list[str]:
    """Rooms without a README, or whose README leaves something out."""
    crates = sorted(
        {str(Path(path).parent) for path in tracked if path.startswith("crates/") and path.endswith("/Cargo.toml")}
    )
    found = []
    for room in [*crates, *ROOMS]:
        path = ROOT / room / "README.md"
        if not path.exists():
            found.append(f"{room}: no README.md")
            continue
        if room in crates:
            text = path.read_text(encoding="utf-8")
            found += [f"{room}/README.md: no section `{heading}`" for heading in HEADINGS if heading not in text]
    return found


def main() -> int:
    """Run the command line."""
    tracked = git("ls-files")
    found = misplaced(tracked) + unexplained(tracked)
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"tree: {len(tracked)} files where they belong; every room has its page")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
