"""Checks of the repository: each module's ``problems`` gives what is wrong, a line each."""

from __future__ import annotations

import importlib
import sys

# What `shoal-dev check` asks if nothing is named; the others need a run, or minutes.
QUICK = ("tree", "arrows", "citations")
ALL = (*QUICK, "readme", "skeletons")


def check(name: str, words: list[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    found = {
        which: importlib.import_module(f"shoal_dev.check.{which}").problems(words)
        for which in ([name] if name else QUICK)
    }
    for problem in (problem for problems in found.values() for problem in problems):
        print(f"error: {problem}", file=sys.stderr)
    if not any(found.values()):
        print(f"{', '.join(found)}: nothing to complain about")
    return int(any(found.values()))
