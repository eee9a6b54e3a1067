"""DCTCP Queue Sizing: the tc line is as described, and a short run agrees with the published values."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

import shoal
from shoal import expression
from shoal.papers import read_paper
from shoal.papers.reproduce import reproduce
from shoal.papers.spec import Paper, Role

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
        for point in paper.item(name).searches["smallest"].points()
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


def test_larger_rtts_are_judged_by_every_pair_in_every_reading(paper: Paper) -> None:
    """No pair of RTTs is left out because of its result."""
    item = paper.item("fig-2")
    found: dict[tuple[str, str], set[tuple[float, float, float]]] = {}
    for check in item.checks:
        if check.claim != "A42" or check.role is Role.OWN:
            continue
        assert check.table is not None
        assert check.where is not None
        assert check.value is not None
        low = float(re.findall(r"rtt=([0-9]+)", check.value)[0])
        for point in item.sweeps[check.table].points():
            if point["c"] == 100 and expression.evaluate(check.where, point):
                pairs = found.setdefault((check.table, point.get("case", "")), set())
                assert (low, point["rtt"], point["f"]) not in pairs
                pairs.add((low, point["rtt"], point["f"]))
    every = {(low, high, f) for low, high in itertools.combinations((2, 8, 20, 50), 2) for f in (0.25, 0.5)}
    assert found == dict.fromkeys([("sweep", ""), ("from-start", ""), ("thirty", "whole"), ("thirty", "late")], every)


def test_unsynchronised_flows_are_judged_at_every_threshold_and_difference(paper: Paper) -> None:
    item = paper.item("starts")
    variation = {
        check.table: [
            point
            for point in item.sweeps[check.table].points()
            if check.where is None or expression.evaluate(check.where, point)
        ]
        for check in item.checks
        if check.claim == "A44" and check.role is not Role.OWN and check.table and "less variation" in check.what
    }
    assert {point["k"] for point in variation["staggered"]} == {3, 5, 10, 19, 48}
    assert {(point["k"], point["d"]) for point in variation["unequal"]} == set(
        itertools.product((3, 5, 10, 19), (0.25, 0.5, 1, 2, 4))
    )


def test_the_sawtooth_is_that_of_flows_in_step(paper: Paper, tmp_path: Path) -> None:
    outcome = reproduce(paper, paper.item("sawtooth", quick=True), cache=tmp_path).chosen
    rows = {(row.values["case"], row.values["k"]): row.values for row in outcome.tables["thresholds"].rows}
    assert all(values["step"] > 2 * values["chance"] for values in rows.values())
    # At K = 10: sqrt(66.7 + 10) = 8.76 packets for growth by one packet in a round trip, and 8.76 / sqrt(2) for half.
    assert rows["each", 10]["amplitude"] == pytest.approx(8.756, abs=1e-3)
    assert rows["delayed", 10]["amplitude"] == pytest.approx(6.191, abs=1e-3)
    for values in rows.values():
        assert 0.9 < values["sd"] * math.sqrt(12) / values["amplitude"] < 1.1
    theory = {row.values["case"]: row.values for row in outcome.tables["smallest"].rows}
    # K + 1 = 0.95 x sqrt((66.7 + K) / 2) at K = 4.67; K + 2 = 0.95 x sqrt(66.7 + K) at K = 6.10.
    assert theory["delayed"]["theory"] == pytest.approx(4.67, abs=0.01)
    assert theory["each"]["theory"] == pytest.approx(6.10, abs=0.01)
    assert theory["delayed"]["k"] == pytest.approx(4.67, abs=1)
