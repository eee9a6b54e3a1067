"""The hand-written stub agrees with the module; the examples in the documentation run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import shoal

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(shoal.__path__, "shoal.")
    if name not in ("shoal.__main__", "shoal._native")
]


def test_stub_matches_the_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "shoal._native", "--ignore-disjoint-bases"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["shoal", *MODULES])
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    examples = [
        test for name in ("shoal", *MODULES) for test in finder.find(importlib.import_module(name)) if test.examples
    ]
    assert len(examples) >= 4
