"""The paper that comes with shoal: its files are consistent, and its demonstration agrees with the published values."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.papers import read_paper
from shoal.papers.checks import Verdict
from shoal.papers.reproduce import compared, reproduce
from shoal.papers.spec import Paper
from shoal.papers.tables import Grid, Row, located

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "papers" / "kuehlewind-2014"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read_paper(FOLDER)


def test_readings_reach_only_keys_that_a_scenario_has(paper: Paper) -> None:
    chosen = paper.reading(paper.chosen)
    one_red = paper.item("coexistence").sweeps["one-red"]
    set_keys = one_red.overrides({}, chosen)
    assert set_keys["bottleneck.aqm.spacing"] == "uniform"
    assert "bottleneck.aqm.average" not in set_keys, "one instance has one average"
    original = paper.item("fig-1").sweeps["dctcp-original"].overrides({}, chosen)
    assert "flows.dctcp.cc_options.counting" not in original, "the original patch counts as it does"
    assert original["flows.dctcp.cc"] == "dctcp-stanford"


def test_k_is_a_place_between_whole_packets(paper: Paper) -> None:
    (find,) = paper.item("table-1").finds.values()
    # M = 1/8 is 2.6 packets: j counts from 3.5. Ratios 4 and 1/4: equal rates half way between 5.5 and 6.5 packets.
    ratios = [16.0, 8.0, 4.0, 0.25]
    rows = [
        Row({"m": 0.125, "j": float(j), "ratio": ratio}, {"ratio": None}, {"ratio": (ratio, ratio)})
        for j, ratio in enumerate(ratios)
    ]
    (row,) = located(find, Grid("mix", ("m", "j"), ("ratio",), rows)).rows
    assert row.values["j"] == pytest.approx(2.5)
    assert row.values["k_over_m"] == pytest.approx(6.0 * 1500 / (31250 / 8))
    assert row.half_width["k_over_m"] == pytest.approx(0), "both seeds agree"


def test_the_demonstration_runs_end_to_end(paper: Paper, tmp_path: Path) -> None:
    done = reproduce(paper, paper.item("coexistence", quick=True), cache=tmp_path)
    shares = {name: grid.rows[0].values["share"] for name, grid in done.chosen.tables.items()}
    # Short runs: wide bounds. DCTCP takes a plain RED queue and shares a dual one.
    assert shares["one-red"] > 0.85
    assert 0.35 < shares["threshold"] < 0.6
    assert 0.35 < shares["slope"] < 0.65
    assert all(finding.verdict is not Verdict.NO_VALUE for finding in done.chosen.findings)
    table = compared(done)
    assert table is not None
    assert [row[0] for row in table.rows][:4] == ["reno: share", "reno: rate/flow", "dctcp: share", "dctcp: rate/flow"]
