"""Files that do not belong into the repository, and rooms whose page does not say what lies in them."""

from __future__ import annotations

import re
from pathlib import Path

from shoal_dev import ROOT, git_paths

# What may lie at the top.
TOP = {
    *(".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Cargo.lock", "Cargo.toml"),
    *("LICENSE-APACHE", "LICENSE-MIT", "Makefile", "README.md", "SECURITY.md", "clippy.toml", "pyproject.toml"),
    "rustfmt.toml",
}
# What editors, patches and merges leave behind.
LEFTOVERS = ("~", ".orig", ".rej", ".swp", ".tmp", ".bak", ".")
# Rooms beside the crates.
ROOMS = ("fuzz", "linux", "papers", "python", "scenarios", "studies", "tests", "tools")
# Folders whose page names every file and folder in them, by this folder below the room in which they lie.
MAPS = {
    **dict.fromkeys(("fuzz", "linux", "papers", "studies", "tests", "tools"), ""),
    "python/shoal": "python",
    "tools/shoal_dev": "tools",
}
# What needs no line.
PLAIN = {"README.md", "__init__.py", "__main__.py", "py.typed"}
# What the page of a crate has to say, as its headings.
HEADINGS = ("## Entry point", "## Main types", "## How to add")


def problems(_words: list[str]) -> list[str]:
    """What lies where it does not belong, and what no page explains."""
    tracked = git_paths("ls-files")
    return misplaced(tracked) + unexplained(tracked) + unnamed(tracked)


def misplaced(tracked: list[str]) -> list[str]:
    """Files that are ignored or tools' leftovers, and files at the top that should lie deeper."""
    ignored = git_paths("ls-files", "-ci", "--exclude-standard")
    return [
        *(f"{path}: .gitignore names it, and it is tracked" for path in ignored),
        *(
            f"{path}: not a file of the top folder; move it, or add it to {Path(__file__).name}"
            for path in tracked
            if "/" not in path and path not in TOP
        ),
        *(f"{path}: left behind by a tool" for path in tracked if path.endswith(LEFTOVERS)),
    ]


def unexplained(tracked: list[str]) -> list[str]:
    """Rooms without a README, or whose README leaves a section out."""
    crates = sorted(
        {str(Path(path).parent) for path in tracked if path.startswith("crates/") and path.endswith("/Cargo.toml")}
    )
    messages = []
    for room in [*crates, *ROOMS]:
        path = ROOT / room / "README.md"
        if not path.exists():
            messages.append(f"{room}: no README.md")
        elif room in crates:
            text = path.read_text(encoding="utf-8")
            messages += [f"{room}/README.md: no section `{heading}`" for heading in HEADINGS if heading not in text]
    return messages


def unnamed(tracked: list[str]) -> list[str]:
    """Files and folders that the page of their room does not name."""
    messages = []
    for folder, page in MAPS.items():
        page_path = ROOT / (page or folder) / "README.md"
        text = page_path.read_text(encoding="utf-8")
        inside = {path.removeprefix(f"{folder}/").split("/")[0] for path in tracked if path.startswith(f"{folder}/")}
        for name in sorted(inside - PLAIN):
            stem = re.escape(name.removesuffix(".py"))
            if not name.startswith((".", "_")) and not re.search(rf"(?<![\w-]){stem}(?![\w-])", text):
                messages.append(f"{page_path.relative_to(ROOT)}: does not name {folder}/{name}")
    return messages
