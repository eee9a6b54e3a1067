"""FreeBSD's one-sided DCTCP: claims are covered, and a short run agrees with the published values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.papers import read_paper
from shoal.papers.checks import findings_of
from shoal.papers.reproduce import reproduce
from shoal.papers.spec import Item, Paper, Role
from shoal.papers.tables import Grid, Row

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


def test_short_transfers_start_together_and_in_the_other_reading_one_by_one(paper: Paper) -> None:
    sweep = paper.item("fig-3").sweeps["bulk"]
    (point,) = [point for point in sweep.points() if point["case"] == "ECN" and point["size"] == 800]

    def starts(reading: str) -> dict[str, object]:
        resolved = sweep.scenario.override(sweep.overrides(point, paper.reading(reading))).resolved
        return {group["name"]: group["start"] for group in resolved["flows"]}

    bulk = {"uniform": ["0 s", "1 ms"]}
    assert paper.chosen == "rtt-200us"
    for together in ("rtt-200us", "rtt-300us"):
        assert starts(together) == {"bulk": bulk, "short": {"uniform": ["500 ms", "501 ms"]}}
    assert starts("staggered") == {"bulk": bulk, "short": {"every": "500 ms", "first": "100 ms"}}
    assert paper.beside == ["staggered"]


def test_every_published_number_is_used_by_exactly_one_check_of_a_claim(paper: Paper) -> None:
    with (FOLDER / "data" / "words.csv").open(encoding="utf-8") as file:
        columns = next(line for line in file if not line.startswith("#")).strip().split(",")
    checks = [check for name in paper.items for check in paper.item(name).checks if check.role is Role.CLAIM]

    def users(column: str) -> list[str]:
        texts = [" ".join(filter(None, (c.value, c.expected, c.min, c.max, *(c.published or ())))) for c in checks]
        return [c.claim for c, text in zip(checks, texts, strict=True) if re.search(rf"\b{column}\b", text)]

    # Whose number it is, by the words that its name begins with.
    owners = {"one_sided": "A47", "receiver": "A48", "two_sided": "A49", "alpha_one": "A49", "bulk": "A49", "sd": "A49"}
    owners["incast"] = "A49"
    assert len(columns) == 16
    for column in columns:
        (owner,) = {claim for words, claim in owners.items() if column.startswith(words)}
        assert users(column) == [owner], column


def test_the_bounds_are_those_agreed_before_the_measurement(paper: Paper) -> None:
    """1.5 times what "less than" and "at most" say; SRTT at least that of ECN; a third of the deviation, times 1.5."""
    found = {
        (finding.claim, finding.tolerance)
        for name in ("fig-2", "fig-6", "fig-7")
        for check in paper.item(name).checks
        if check.role is Role.CLAIM
        for finding in findings_of(check, _made_up(paper.item(name)), FOLDER)
    }
    assert found == {
        ("A46", "0.95 … 1.05"),
        ("A46", "≥ 1"),
        ("A49", "-1.5 … 1.5"),
        ("A49", "-4.5 … 4.5"),
        ("A49", "-15 … 15"),
        ("A49", "-7.5 … 7.5"),
        ("A49", "-6 … 6"),
        ("A49", "-10.5 … 10.5"),
        ("A49", "factor 1.5"),
        ("A49", "≤ 0.5"),
        ("A50", "≤ 0"),
    }


def _made_up(item: Item) -> dict[str, Grid]:
    """Tables of an item whose every metric is 1."""
    return {
        name: Grid(
            name,
            sweep.all_axes,
            tuple(sweep.metrics),
            [Row({**point, **dict.fromkeys(sweep.metrics, 1.0)}) for point in sweep.points()],
        )
        for name, sweep in item.sweeps.items()
    }


def test_the_matrix_runs_end_to_end(paper: Paper, tmp_path: Path) -> None:
    pairs = reproduce(paper, paper.item("matrix", quick=True), cache=tmp_path).chosen.tables["pairs"]
    rates = {row.values["case"]: row.values["mbps"] for row in pairs.rows}
    starved = {"DCTCP to classic, no CWR", "DCTCP to classic, no CWR, no growth"}
    assert {case for case, rate in rates.items() if rate < 300} == starved
    # Two segments in 200 us and their serialisation, 2 x 1538 B at 1 Gbit/s: 2 x 11,584 bit in 224.6 us.
    assert rates["DCTCP to classic, no CWR, no growth"] == pytest.approx(103.1, rel=0.01)
    assert all(row.values["lost"] == 0 for row in pairs.rows)
