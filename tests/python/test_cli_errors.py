"""Wrong input that takes more than a message: files that are no text, results that are there. Messages: `errors/`."""

from __future__ import annotations

from pathlib import Path

from conftest import Cli

SCENARIO, FILES = 3, 4


def test_not_a_scenario_file(inside: Cli, folder: Path) -> None:
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00\x01")
    done = inside("check", "binary.toml")
    assert done.code == SCENARIO
    assert done.err == "error: `binary.toml` is not UTF-8 text (byte 0)\nhint: is this a scenario file?\n"


def test_existing_results_are_kept(inside: Cli, folder: Path) -> None:
    assert inside("run", "small.toml", "--out", "out").code == 0
    before = (folder / "out" / "result.json").read_bytes()
    done = inside("run", "small.toml", "--seed", "9", "--out", "out")
    assert (done.code, done.out) == (FILES, "")
    assert done.err == ("error: `out` already exists\nhint: choose another --out, or add --force to replace it\n")
    assert (folder / "out" / "result.json").read_bytes() == before
    assert inside("run", "small.toml", "--seed", "9", "--out", "out", "--force").code == 0
    assert (folder / "out" / "result.json").read_bytes() != before


def test_force_replaces_only_results(inside: Cli, folder: Path) -> None:
    (folder / "precious").mkdir()
    (folder / "precious" / "thesis.tex").touch()
    done = inside("run", "small.toml", "--out", "precious", "--force")
    assert done.code == FILES
    assert "holds no results of shoal" in done.err
    assert (folder / "precious" / "thesis.tex").exists()
