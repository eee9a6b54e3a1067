"""docs/internals/add-a-platform.md, followed in a copy of the package: files, tests, and what the commands print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shoal_dev.check import skeletons

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "internals" / "add-a-platform.md").read_text(encoding="utf-8")
TESTS = "tests/python"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and of what its tests of switches need, with the files of the page."""
    folder = tmp_path_factory.mktemp("platform")
    package = folder / "python" / "shoal"
    shutil.copytree(
        ROOT / "python" / "shoal", package, ignore=shutil.ignore_patterns("__pycache__", "_data", "_native.abi3.so")
    )
    for name in ("_data", "_native.abi3.so"):
        (package / name).symlink_to(ROOT / "python" / "shoal" / name)
    (folder / TESTS).mkdir(parents=True)
    shutil.copy(ROOT / TESTS / "switch_documents.py", folder / TESTS)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "bin").mkdir()
    command = folder / "bin" / "shoal"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m shoal "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    found = skeletons.BLOCK.findall(PAGE)
    assert len(found) == 5
    for path, where, _, text in found:
        skeletons.apply(folder / path, where, text)
    return folder


def run(copy: Path, *command: str) -> str:
    """What a command prints with the copy's package; it has to succeed."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(copy / name) for name in ("python", TESTS)),
        "PATH": f"{copy / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_files_are_as_the_project_writes_them(copy: Path) -> None:
    for words in (("format", "--check"), ("check",)):
        run(copy, sys.executable, "-m", "ruff", *words, "--no-cache", "python/shoal/switch/platforms", TESTS)


def test_the_tests_of_the_page_pass(copy: Path) -> None:
    shown = run(copy, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS)
    assert re.search(r"\b[1-9][0-9]* passed", shown), shown


def test_the_commands_print_what_the_page_shows(copy: Path) -> None:
    pairs = re.findall(r"```sh\n(.*?)```\n\n<!-- shows: output -->\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(pairs) == 2
    for commands, shown in pairs:
        printed = run(copy, "bash", "-e", "-c", commands)
        pattern = ".*".join(re.escape(part) for part in shown.rstrip().split("..."))
        assert re.fullmatch(pattern, "\n".join(map(str.rstrip, printed.splitlines())).rstrip(), re.DOTALL), printed


def test_the_platform_is_in_the_help_and_its_options_are_its_own(copy: Path) -> None:
    shown = " ".join(run(copy, "shoal", "config", "write", "--help").split())
    assert "os10, nxos or eos." in shown
    assert "--os10-system" in shown
    refused = "if shoal config write step-single --platform eos --os10-system 2>&1; then exit 1; fi"
    assert "`--os10-system` is no option of eos" in run(copy, "bash", "-c", refused)
