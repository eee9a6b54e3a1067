"""Completion in the shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli.completion import model_names, paper_names, scenario_names


def names(found: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in found]


def test_scenarios_by_name_and_by_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "sub").mkdir()
    (folder / "sub" / "other.toml").touch()
    (folder / "sub" / "notes.txt").touch()
    assert names(scenario_names("coex")) == ["coexistence"]
    assert names(scenario_names("s"))[-2:] == ["small.toml", "sub/"]
    assert names(scenario_names("sub/")) == ["sub/other.toml"]
    assert scenario_names("nowhere/x") == []


def test_papers_and_their_items() -> None:
    assert names(paper_names("kue")) == ["kuehlewind-2014"]
    assert "kuehlewind-2014/coexistence" in names(paper_names("kuehlewind-2014/co"))
    assert "dctcp-ikr" in names(model_names("dctcp-"))


def test_a_shell_asks(folder: Path, environment: dict[str, str]) -> None:
    asked = {"_SHOAL_COMPLETE": "complete_bash", "COMP_WORDS": "shoal run coex", "COMP_CWORD": "2"}
    command = [sys.executable, "-m", "shoal"]
    done = subprocess.run(command, cwd=folder, env=environment | asked, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["coexistence"], done.stderr
    shown = subprocess.run(
        [*command, "--show-completion", "bash"],
        cwd=folder,
        env=environment | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_SHOAL_COMPLETE=complete_bash" in shown.stdout, shown.stderr
