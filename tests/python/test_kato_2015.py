"""FreeBSD's one-sided DCTCP: claims are covered, and a short run shows what was published."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.papers import read_paper
from shoal.papers.reproduce import reproduce
from shoal.papers.spec import Paper

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "papers" / "kato-2015"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read_paper(FOLDER)


def test_the_original_is_the_modified_one_without_its_cures(paper: Paper) -> None:
    sweep = paper.item("fig-6").sweeps["incast"]
    reading = paper.reading("rtt-200us")
    points = {point["case"]: point for point in sweep.points() if point["size"] == 800}
    resolved = {
        case: sweep.scenario.override(sweep.overrides(point, reading)).resolved for case, point in points.items()
    }
    flows = {case: scenario["flows"][0] for case, scenario in resolved.items()}
    assert {case: flow["cc"] for case, flow in flows.items()} == {
        "ECN": "ecn-newreno",
        "original": "dctcp-freebsd",
        "modified, alpha 0": "dctcp-freebsd",
        "modified, alpha 1": "dctcp-freebsd",
    }
    original, modified = flows["original"]["cc_options"], flows["modified, alpha 0"]["cc_options"]
    differing = {key for key in original if original[key] != modified[key]}
    assert differing == {"sends_cwr", "grows_in_cwr", "alpha_after_idle", "alpha_on_timeout", "alpha_on_loss"}
    assert flows["modified, alpha 1"]["cc_options"]["initial_alpha_q10"] == 1024
    assert flows["ECN"]["receiver"]["feedback"] == "classic"
    assert resolved["original"]["topology"]["delay"] == "50 us"


def test_the_matrix_runs_end_to_end(paper: Paper, tmp_path: Path) -> None:
    pairs = reproduce(paper, paper.item("matrix", quick=True), cache=tmp_path).chosen.tables["pairs"]
    rates = {row.values["case"]: row.values["mbps"] for row in pairs.rows}
    starved = {"DCTCP to classic, no CWR", "DCTCP to classic, no CWR, no growth"}
    assert {case for case, rate in rates.items() if rate < 300} == starved
    # Two segments in 200 us and their serialisation, 2 x 1538 B at 1 Gbit/s: 2 x 11,584 bit in 224.6 us.
    assert rates["DCTCP to classic, no CWR, no growth"] == pytest.approx(103.1, rel=0.01)
    assert all(row.values["lost"] == 0 for row in pairs.rows)
