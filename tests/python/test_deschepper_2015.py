"""The paper on coupled queues: its files are consistent, and short runs agree with the slides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from shoal.papers import read_paper
from shoal.papers.checks import Verdict
from shoal.papers.reproduce import reproduce
from shoal.papers.spec import Item, Paper

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "papers" / "deschepper-2015"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read_paper(FOLDER)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def corner(item: Item, **points: list[float]) -> Item:
    """The item with a few flows only, and short runs; without figures."""
    sweeps = {
        name: replace(
            sweep,
            axes={axis: points.get(axis, values) for axis, values in sweep.axes.items()},
            set={**sweep.set, "duration": "30 s", "warmup": "10 s"},
        )
        for name, sweep in item.sweeps.items()
    }
    return replace(item, sweeps=sweeps, figures=[])


def test_grids_have_all_121_combinations_but_the_empty_one(paper: Paper) -> None:
    for name in ("red", "coupled", "dualq", "dualq-size"):
        places = [
            (point.get("cubic", 0), point.get("dctcp", 0))
            for sweep in paper.item(name).sweeps.values()
            for point in sweep.points()
        ]
        wanted = [(cubic, dctcp) for cubic in range(11) for dctcp in range(11) if cubic + dctcp > 0]
        assert sorted(places) == wanted


def test_groups_that_are_left_out_are_gone(paper: Paper) -> None:
    sweeps = paper.item("dualq").sweeps
    assert [group["name"] for group in sweeps["dctcps"].scenario.resolved["flows"]] == ["dctcp"]
    for name in ("slope-134ms", "reno", "linux-6"):
        keys = sweeps["dctcps"].overrides({"dctcp": 3}, paper.reading(name))
        assert not [key for key in keys if key.startswith("flows.cubic")]
        assert keys["flows.dctcp.count"] == 3


def test_the_shift_of_the_slides_is_an_eighth(paper: Paper) -> None:
    for sweep in (paper.item("dualq").sweeps["mix"], paper.item("dualq-size").sweeps["mix"]):
        aqm = sweep.scenario.resolved["bottleneck"]["aqm"]
        assert aqm["dctcp_slope"] - aqm["reno_slope"] == 3
        for reading in paper.readings:
            keys = sweep.overrides({"cubic": 1, "dctcp": 1}, reading)
            slopes = [keys.get(f"bottleneck.aqm.{which}_slope", aqm[f"{which}_slope"]) for which in ("reno", "dctcp")]
            assert slopes[1] - slopes[0] == 3


def test_the_classic_delay_of_the_law_is_constant_by_construction(paper: Paper, cache: Path) -> None:
    held, own = (paper.item("base-rtt").sweeps[name] for name in ("held", "laws-own"))
    for sweep in (held, own):
        for point in sweep.points():
            resolved = sweep.scenario.override(sweep.overrides(point, paper.reading(paper.chosen))).resolved
            aqm, (reno, dctcp) = resolved["bottleneck"]["aqm"], resolved["flows"]
            assert aqm["drop"] == pytest.approx((aqm["mark"] / 8) ** 2)
            assert float(reno["rtt"].removesuffix(" ms")) - float(dctcp["rtt"].removesuffix(" ms")) == 40
    # 5 x 10 / (10 + 40) = 1; Reno with random drops has a little more than with even ones.
    item = replace(paper.item("base-rtt", quick=True), sweeps={"laws-own": own}, checks=[], figures=[])
    done = reproduce(paper, corner_of(item, rtt=[10]), cache=cache).chosen
    (row,) = done.tables["laws-own"].rows
    assert row.values["ratio"] == pytest.approx(1, rel=0.25)
    assert (row.values["acks_reno"], row.values["acks_dctcp"]) == (1, 1)


def test_dualpi2_says_which_packets_go_to_its_low_latency_queue(paper: Paper) -> None:
    for name in paper.items:
        for sweep in paper.item(name).sweeps.values():
            aqm = sweep.scenario.resolved["bottleneck"]["aqm"]
            if aqm["kind"] == "dualpi2":
                assert aqm["ecn_mask"] == "any-ect", f"{name}: DCTCP sends ECT(0)"


def test_every_cell_of_a30_has_the_agreed_bound(paper: Paper) -> None:
    (check,) = (check for check in paper.item("coupled").checks if check.value == "ratio")
    assert (check.role.value, check.min, check.max, check.where, check.together) == (
        "claim",
        "0.7",
        "1.4",
        None,
        True,
    )
    assert len(paper.item("coupled").sweeps["mix"].points()) == 100


def test_delayed_acks_keep_cubic_below_dctcp_in_one_coupled_queue(paper: Paper, cache: Path) -> None:
    whole = paper.item("acks", quick=True)
    wanted = ("3.18", "3.18, every packet acknowledged")
    sweep = replace(whole.sweeps["mix"], cases={name: whole.sweeps["mix"].cases[name] for name in wanted})
    item = replace(whole, sweeps={"mix": sweep}, checks=[], figures=[])
    rows = reproduce(paper, corner_of(item, n=[5]), cache=cache).chosen.tables["mix"].rows
    delayed, every = (row.values for row in rows)
    assert 0.5 < delayed["acks_cubic"] < 0.65
    assert delayed["acks_cubic"] < delayed["acks_dctcp"] < 0.75
    assert (every["acks_cubic"], every["acks_dctcp"]) == (1, 1)
    assert every["ratio"] > 1.15 * delayed["ratio"]


def test_red_starves_and_the_dual_queue_does_not(paper: Paper, cache: Path) -> None:
    rows = {}
    for name in ("red", "dualq"):
        item = replace(corner(paper.item(name, quick=True), cubic=[2], dctcp=[2]), checks=[])
        rows[name] = reproduce(paper, item, cache=cache).chosen.tables["mix"].rows[0].values
    assert rows["red"]["ratio"] < 0.2
    assert 0.4 < rows["dualq"]["ratio"] < 2.5
    # In a single queue DCTCP waits behind Cubic, in a dual queue hardly at all.
    assert rows["red"]["l_delay_ms"] > 20
    assert rows["dualq"]["l_delay_99_ms"] < 3 < rows["dualq"]["c_delay_ms"]


def test_a_flow_alone_end_to_end(paper: Paper, cache: Path) -> None:
    done = reproduce(paper, corner_keeping_figures(paper.item("single-flow", quick=True)), cache=cache)
    assert all(finding.verdict is Verdict.INSIDE for finding in done.chosen.findings)
    (figure,) = done.chosen.figures
    whole = figure.data.filter(figure.data["panel"] == 1)
    for series in ("DCTCP", "Reno"):
        assert whole.filter(whole["series"] == series)["y"].sum() == pytest.approx(100, abs=0.01)


def test_small_multiples_and_maps_show_the_runs(paper: Paper, cache: Path) -> None:
    whole = paper.item("dualq", quick=True)
    item = replace(corner(whole, cubic=[2], dctcp=[2]), figures=whole.figures, checks=[])
    done = reproduce(paper, item, cache=cache).chosen
    figures = {figure.name: figure.data for figure in done.figures}
    shares = figures["queue-grid"].group_by("cubic", "dctcp", "class").agg(pl.col("share").sum()).sort(pl.all())
    # Three cells: no DCTCP, no Cubic, both; a class without packets has no distribution.
    assert shares.select("cubic", "dctcp", "class").rows() == [
        (0.0, 2.0, "ect"),
        (2.0, 0.0, "not_ect"),
        (2.0, 2.0, "ect"),
        (2.0, 2.0, "not_ect"),
    ]
    assert shares["share"].to_list() == pytest.approx([1.0] * 4)
    rates = figures["throughput-grid"].filter((pl.col("cubic") == 0) & (pl.col("time_s") > 10))
    assert rates["mean_mbps"].mean() == pytest.approx(20, rel=0.02), "two flows alone share 40 Mbit/s"
    (ratio,) = figures["maps"].filter(pl.col("panel") == 1)["z"].to_list()
    assert ratio == pytest.approx(done.tables["mix"].rows[0].values["ratio"])


def corner_of(item: Item, **points: list[float]) -> Item:
    """The item at these points, a run each, as long as its quick form."""
    sweeps = {
        name: replace(sweep, seeds=1, axes={axis: points.get(axis, values) for axis, values in sweep.axes.items()})
        for name, sweep in item.sweeps.items()
    }
    return replace(item, sweeps=sweeps)


def corner_keeping_figures(item: Item) -> Item:
    return replace(corner(item), figures=item.figures)
