"""Distributions of transfer sizes from files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import TABLES, Cli

import shoal
from shoal.sizes import Sizes, read_sizes, scenario_with_sizes

SCENARIO = (TABLES / "web.toml").read_text(encoding="utf-8")


POINTS = ((1000, 0.25), (20000, 0.5), (3_000_000, 1.0))


def read(folder: Path, text: str) -> Sizes:
    (folder / "sizes.csv").write_text(text, encoding="utf-8")
    return read_sizes(folder / "sizes.csv")


@pytest.mark.parametrize(
    "text",
    [
        "1000,0.25\n20000,0.5\n3000000,1\n",
        "size in bytes,probability\n1 kB, 0.25\n20kB, 0.5  # half\n\n3 MB, 1\n",
        "1000 0.25\n2e4 0.5\n3000000 1.0",
        "\ufeff1000\t0.25\r\n20000\t0.5\r\n3000000\t1\r\n",
        # Nothing is below the first size of 0 B, with which traffic generators begin.
        "0 0\n1000 0.25\n20000 0.5\n3000000 1\n",
        # Per cent, with and without their sign.
        "0 0\n1000 25\n20000 50\n3000000 100\n",
        "1000;25%\n20000;50 %\n3000000;100%\n",
        # Size, part of the transfers, and their sum.
        "1000 0.25 0.25\n20000 0.25 0.5\n3000000 0.5 1\n",
        # A sum of decimal fractions.
        "1000 0.25\n20000 0.5\n3000000 0.9999999\n",
        # Half a byte is a byte.
        "999.5 0.25\n20000 0.5\n3000000 1\n",
    ],
)
def test_forms_of_a_file(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).cdf == POINTS
    assert read(tmp_path, text).table == {"cdf": [["1000 B", 0.25], ["20000 B", 0.5], ["3000000 B", 1.0]]}


def test_the_mean_is_told(tmp_path: Path) -> None:
    """A quarter of 0 to 1 kB, one of 1 to 20 kB, a half of 20 to 3,000 kB: 0.125 + 2.625 + 755 kB."""
    assert read(tmp_path, "1 kB,0.25\n20 kB,0.5\n3 MB,1\n").mean_bytes == pytest.approx(757_750)
    assert read(tmp_path, "1 kB,0.25\n20 kB,0.5\n3 MB,1\n").notes == ("3 points, mean size 757.8 kB",)
    assert read(tmp_path, "1 kB,25\n3 MB,100\n").notes[0] == "the last probability is 100: all are per cent"


def test_three_columns_of_ns2_are_packets(tmp_path: Path) -> None:
    """10 and 20,000 packets of 1460 B; the second column says nothing."""
    sizes = read(tmp_path, "1 1 0\n10 1 0.15\n20000 1 1\n")
    assert sizes.cdf == ((1460, 0.0), (14_600, 0.15), (29_200_000, 1.0))
    assert sizes.notes[0] == "three columns as ns-2 has them: sizes are taken as packets of 1460 B"


def test_jumps(tmp_path: Path) -> None:
    """A size that stands several times has its least and its greatest probability."""
    assert read(tmp_path, "10 0.15\n10 0.2\n10 0.3\n100 1\n").cdf == ((10, 0.15), (10, 0.3), (100, 1.0))
    # 0.15 from 0 to 10, 0.15 of exactly 10, 0.7 from 10 to 100.
    assert read(tmp_path, "10 0.15\n10 0.3\n100 1\n").mean_bytes == pytest.approx(0.75 + 1.5 + 38.5)


def test_a_mean_in_the_first_line_says_what_is_between_the_points(tmp_path: Path) -> None:
    # Lines: 0.5 x 50 + 0.5 x 200; steps: 0.5 x 100 + 0.5 x 300.
    points = "100 0.5\n300 1\n"
    lines, steps, neither = (read(tmp_path, f"{mean}\n{points}") for mean in ("125.5", "200", "1000"))
    assert lines.cdf == neither.cdf == ((100, 0.5), (300, 1.0))
    assert steps.cdf == ((100, 0.0), (100, 0.5), (300, 0.5), (300, 1.0))
    assert lines.notes == ("2 points, mean size 125 B",)
    assert steps.notes[0] == "the first line is the mean of the listed sizes alone, so no sizes lie between them"
    assert neither.notes[0] == "the first line, 1 kB, is not the mean of the points, which is 125 B"


def test_the_engine_draws_what_was_read(tmp_path: Path) -> None:
    """Half of the transfers are jumps at 1 kB, and none is larger than 3 kB."""
    (tmp_path / "web.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "sizes.csv").write_text("1000 0\n1000 0.5\n3000 1\n", encoding="utf-8")
    scenario, _ = scenario_with_sizes(tmp_path / "web.toml", {"mine": tmp_path / "sizes.csv"})
    sizes = shoal.run(scenario.override({"trace.flows": "all"})).to_polars()["delivered_bytes"].to_list()
    assert min(sizes) == 1000
    assert max(sizes) <= 3000
    part = sizes.count(1000) / len(sizes)
    # Four standard deviations of a proportion.
    assert abs(part - 0.5) < 4 * (0.25 / len(sizes)) ** 0.5


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1000,0.5\n999,1\n", 2, "the size is below the one before"),
        ("1000,0.5\n\n2000,0.4\n3000,1\n", 3, "the probability falls"),
        ("1000,0.5\n2000,0.9\n", 2, "the last probability is 0.9, not 1"),
        ("1000,0.5\n2000,1.5\n", 2, "`1.5` is not a probability"),
        ("1000,50\n2000,120\n3000,100\n", 2, "`120` is not a probability"),
        ("0,0.1\n2000,1\n", 1, "transfers of 0 B"),
        ("Size(KB),CDF(%)\n1,50\n2,100\n", 1, "the head says that sizes are in `KB`"),
        ("# x\nflow size [packets] cdf\n1 0.5\n2 1\n", 2, "the head says that sizes are in `packets`"),
        ("1000,3,0.5\n2000,4,1\n", 1, "three columns of which the second is neither"),
        ("1000,0.5\n2000,nan\n", 2, "`nan` is not a probability"),
        ("1000,0.5\nabc2,1\n", 2, "`abc2` is not a size"),
        ("1000,0.5\n2 XB,1\n", 2, "`2 XB` is not a size"),
        ("1000,0.5\n-5,1\n", 2, "`-5` is not a size"),
        ("1000,0.5\n2000,1,1\n", 2, "expected a size and a probability, found 3 values"),
    ],
)
def test_the_line_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(shoal.ScenarioError) as caught:
        read_sizes(path)
    assert re.search(rf"error: {re.escape(message)}.*\n --> {re.escape(str(path))}:{line}\n", str(caught.value))
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
    assert (done.code, done.err) == (0, "sizes `mine`: 2 points, mean size 3.5 kB\n")
    assert json.loads(done.out)["groups"] == by_hand.data["groups"]
    resolved = cli("check", "web.toml", "--sizes", "mine=sizes.csv", "--resolved")
    assert shoal.Scenario.from_toml(resolved.out).resolved == by_hand.scenario.resolved, "the file is in the scenario"
    swept = cli("sweep", "web.toml", "--sizes", "mine=sizes.csv", "--axis", "seed=1,2", "--metric", "u=utilisation()")
    assert swept.code == 0, swept.err
    assert f"{by_hand.bottlenecks[0]['utilisation']:.4g}" in swept.out
