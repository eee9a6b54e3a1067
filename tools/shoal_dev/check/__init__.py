"""Checks of the repository: the ``problems`` of each module are what is wrong, and its ``HINT`` is the remedy."""

from __future__ import annotations

import importlib
import sys

# What `shoal-dev check` asks if nothing is named; the others need a run, or minutes.
QUICK = ("tree", "arrows", "citations", "packages")
ALL = (*QUICK, "readme", "skeletons")


def check(name: str, words: list[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    names = [name] if name else list(QUICK)
    failed = False
    for module in (importlib.import_module(f"shoal_dev.check.{which}") for which in names):
        problems = module.problems(words)
        for problem in problems:
            print(f"error: {problem}", file=sys.stderr)
        if problems and hasattr(module, "HINT"):
            print(f"hint: {module.HINT}", file=sys.stderr)
        failed = failed or bool(problems)
    if not failed:
        print(f"{', '.join(names)}: nothing to complain about")
    return int(failed)
