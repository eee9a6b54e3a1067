"""Distributions of transfer sizes from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import TABLES, Cli

import shoal
from shoal.sizes import read_sizes

SCENARIO = (TABLES / "web.toml").read_text(encoding="utf-8")


def test_forms_of_a_file(tmp_path: Path) -> None:
    expected = {"cdf": [["1000 B", 0.25], ["20000 B", 0.5], ["3000000 B", 1.0]]}
    for text in (
        "1000,0.25\n20000,0.5\n3000000,1\n",
        "size,probability\n1 kB, 0.25\n20kB, 0.5  # half\n\n3 MB, 1\n",
        "1000 0.25\n2e4 0.5\n3000000 1.0",
        "\ufeff1000\t0.25\r\n20000\t0.5\r\n3000000\t1\r\n",
    ):
        (tmp_path / "sizes.csv").write_bytes(text.encode())
        assert read_sizes(tmp_path / "sizes.csv") == expected, text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1000,0.5\n1000,1\n", 2, "the size is not above the one before"),
        ("1000,0.5\n\n2000,0.4\n3000,1\n", 3, "the probability falls"),
        ("1000,0.5\n2000,0.9\n", 2, "the last probability is 0.9, not 1"),
        ("1000,0.5\n2000,1.5\n", 2, "`1.5` is not a probability"),
        ("1000,0.5\n2000,nan\n", 2, "`nan` is not a probability"),
        ("1000,0.5\nabc2,1\n", 2, "`abc2` is not a size"),
        ("1000,0.5\n2 XB,1\n", 2, "`2 XB` is not a size"),
        ("1000,0.5\n0.5 B,1\n", 2, "`0.5 B` is not a whole number of bytes"),
        ("1000,0.5\n2000,1,1\n", 2, "expected a size and a probability, found 3 values"),
    ],
)
def test_the_line_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(shoal.ScenarioError) as caught:
        read_sizes(path)
    assert f"error: {message}\n --> {path}:{line}\n" in str(caught.value)
    assert "\nhint: " in str(caught.value)


def test_empty_files(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("# nothing\n")
    with pytest.raises(shoal.ScenarioError, match="holds no points"):
        read_sizes(tmp_path / "sizes.csv")


def test_command_line(cli: Cli, folder: Path) -> None:
    (folder / "web.toml").write_text(SCENARIO)
    (folder / "sizes.csv").write_text("size,probability\n2000,0.5\n10 kB,1\n")
    inside = SCENARIO + '\n[distributions.mine]\ncdf = [["2000 B", 0.5], ["10000 B", 1]]\n'
    by_hand = shoal.run(shoal.Scenario.from_toml(inside))
    done = cli("run", "web.toml", "--sizes", "mine=sizes.csv", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["groups"] == by_hand.data["groups"]
    resolved = cli("check", "web.toml", "--sizes", "mine=sizes.csv", "--resolved")
    assert shoal.Scenario.from_toml(resolved.out).resolved == by_hand.scenario.resolved, "the file is in the scenario"
    swept = cli("sweep", "web.toml", "--sizes", "mine=sizes.csv", "--axis", "seed=1,2", "--metric", "u=utilisation()")
    assert swept.code == 0, swept.err
    assert f"{by_hand.bottlenecks[0]['utilisation']:.4g}" in swept.out
