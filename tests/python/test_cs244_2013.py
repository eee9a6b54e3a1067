"""DCTCP Queue Sizing: the tc line is what it is said to be, and a short run shows what was published."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.papers import read_paper
from shoal.papers.reproduce import reproduce
from shoal.papers.spec import Paper

FOLDER = Path(__file__).parents[2] / "papers" / "cs244-2013"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read_paper(FOLDER)


def test_the_reading_is_the_tc_line(paper: Paper) -> None:
    sweep = paper.item("fig-2").sweeps["sweep"]
    point = next(p for p in sweep.points() if (p["c"], p["rtt"], p["f"]) == (100, 8, 1))
    # K_opt = 100 Mbit/s x 8 ms / (12,000 bit x 7) = 9.52 packets.
    assert point["exact"] == pytest.approx(9.5238, abs=1e-4)
    assert point["k"] == 10
    aqm = sweep.overrides(point, paper.reading("tc-line"))["bottleneck.aqm"]
    assert (aqm["min"], aqm["max"], aqm["burst"], aqm["avpkt"]) == ("15000 B", "16500 B", "11 packets", "1500 B")
    assert sweep.overrides(point, paper.reading("ideal-step"))["bottleneck.aqm"]["threshold"] == "10 packets"
    # The scenario file on its own is the same point.
    own = shoal.Scenario.from_file(FOLDER / "star.toml")
    assert own.override({"bottleneck.aqm": aqm}).resolved["bottleneck"] == own.resolved["bottleneck"]


def test_a_threshold_of_one_packet_cannot_be_configured() -> None:
    own = shoal.Scenario.from_file(FOLDER / "star.toml")
    line = {"bottleneck.aqm.min": "1500 B", "bottleneck.aqm.max": "3000 B", "bottleneck.aqm.burst": "2 packets"}
    with pytest.raises(shoal.ScenarioError, match="the kernel refuses the thresholds"):
        own.override(line)


def test_twelve_pairs_up_to_10_gbit_and_100_ms(paper: Paper) -> None:
    pairs = [
        (point["c"], point["rtt"])
        for name in ("smallest-k", "long-rtt")
        for point in paper.item(name).searches["smallest"].sweep.points()
    ]
    assert len(set(pairs)) == 16
    assert (10_000, 100) in pairs


def test_a_short_search_ends_below_the_rule(paper: Paper, tmp_path: Path) -> None:
    outcome = reproduce(paper, paper.item("smallest-k", quick=True), cache=tmp_path).chosen
    small, large = outcome.tables["smallest"].rows
    # 10 and 100 Mbit/s at 8 ms: K_opt is 0.95 and 9.5 packets.
    assert small.values["k"] > small.values["k_opt"]
    assert 2 < large.values["k"] < large.values["k_opt"]
    assert large.values["empty"] <= 0.05
    below = [row for row in outcome.tables["smallest-trials"].rows if row.values["k"] < large.values["k"]]
    assert all(row.values["empty"] > 0.05 for row in below if row.values["c"] == 100)
