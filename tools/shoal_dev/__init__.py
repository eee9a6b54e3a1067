"""The program of shoal's developers: checks, generated pages, recorded studies, measurements of the source."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def git_paths(*arguments: str) -> list[str]:
    """Paths, relative to the repository, that a git command prints."""
    command = ["git", *arguments, "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in done.stdout.split("\0") if path]
