"""Reproduction of papers, with a paper made for the test."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import Cli
from pages import check_page

import shoal
from shoal.papers import read_paper
from shoal.papers.reproduce import Reproduction, reproduce, tally_of, verdict_frame, verdict_table
from shoal.papers.spec import Find, Join
from shoal.papers.tables import Grid, Row, joined, located

PAPER = Path(__file__).parent / "papers" / "test-paper"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def threshold(cache: Path) -> Reproduction:
    paper = read_paper(PAPER)
    return reproduce(paper, paper.item("threshold"), cache=cache)


def grid(x: list[float], y: list[float], **samples: list[tuple[float, ...]]) -> Grid:
    seeds = samples.get("seeds", [(value,) for value in y])
    rows = [Row({"k": a, "ratio": b}, {"ratio": None}, {"ratio": c}) for a, b, c in zip(x, y, seeds, strict=True)]
    return Grid("mix", ("k",), ("ratio",), rows)


def search(**more: object) -> Find:
    values = {
        "name": "equal",
        "table": "mix",
        "over": "k",
        "metric": "ratio",
        "equals": 1.0,
        "scale": "linear",
        "noise": 0.0,
        "columns": {},
    }
    return Find(**{**values, **more})  # type: ignore[arg-type]


def test_crossing_by_hand() -> None:
    (row,) = located(search(), grid([1, 2, 3], [2, 1.5, 0.5])).rows
    assert row.values == {"k": 2.5, "ratio": 1.0, "crossings": 1.0}
    # On the logarithm: from ln 4 to ln 1/2, zero is two thirds of the way.
    (row,) = located(search(scale="log"), grid([0, 3], [4, 0.5])).rows
    assert row.values["k"] == pytest.approx(2)


def test_crossings_are_counted_beyond_the_noise() -> None:
    wavy = grid([1, 2, 3, 4], [2, 0.98, 1.02, 0.5])
    assert located(search(scale="log"), wavy).rows[0].values["crossings"] == 3
    assert located(search(scale="log", noise=0.05), wavy).rows[0].values["crossings"] == 1


def test_no_crossing_has_no_value() -> None:
    (row,) = located(search(), grid([1, 2], [3, 2])).rows
    assert math.isnan(row.values["k"])
    assert row.values["crossings"] == 0


def test_interval_of_a_crossing_comes_from_the_seeds() -> None:
    # Seed 1 crosses at 1.5, seed 2 at 2.5; t(0.975, 1) = 12.706, s/sqrt(2) = 0.5.
    seeds = [(2.0, 3.0), (0.0, 2.0), (-1.0, 0.0)]
    (row,) = located(search(), grid([1, 2, 3], [2.5, 1.0, -0.5], seeds=seeds)).rows
    assert row.values["k"] == pytest.approx(2)
    assert row.half_width["k"] == pytest.approx(12.706 * 0.5, abs=1e-3)


def test_maximum() -> None:
    (row,) = located(search(metric="", equals=None, maximum="ratio"), grid([1, 2, 3], [0.5, 0.9, 0.8])).rows
    assert (row.values["k"], row.values["ratio"]) == (2, 0.9)


def test_join_matches_rounded_axes() -> None:
    left = Grid("a", ("m",), ("u",), [Row({"m": math.sqrt(0.5), "u": 1.0})])
    right = Grid("b", ("m",), ("v",), [Row({"m": 0.7071, "v": 2.0}), Row({"m": 1.0, "v": 3.0})])
    both = joined(Join(name="c", left="a", right="b", on=["m"]), left, right)
    assert both.rows[0].values == {"m": math.sqrt(0.5), "u": 1.0, "v": 2.0}
    assert both.columns == ("u", "v")


def test_tables_of_a_sweep(threshold: Reproduction) -> None:
    sweep = threshold.chosen.tables["sweep"]
    assert sweep.axes == ("m", "k")
    assert len(sweep.rows) == 2 * 7
    frame = sweep.to_polars()
    assert frame.columns == ["m", "k", "ratio", "ratio_ci95", "u", "u_ci95", "o", "o_ci95"]
    # One point by hand, through the public interface.
    row = sweep.rows[3]
    scenario = shoal.Scenario.from_file(PAPER / "scenario.toml").override(
        {
            "bottleneck.aqm.spacing": "independent",
            "bottleneck.aqm.reno.min": "0.5 BDP",
            "bottleneck.aqm.reno.max": "1.5 BDP",
            "bottleneck.aqm.dctcp.threshold": f"{0.5 * row.values['k']} BDP",
            "trace.series": "off",
        }
    )
    runs = shoal.run(scenario, seeds=2)
    utilisation = runs.summary["utilisation"]
    assert utilisation is not None
    assert row.values["u"] == pytest.approx(utilisation.mean, rel=1e-12)
    assert row.half_width["u"] == pytest.approx(utilisation.half_width, rel=1e-9)


def test_search_is_that_of_tune(cache: Path) -> None:
    paper = read_paper(PAPER)
    outcome = reproduce(paper, paper.item("smallest"), cache=cache).chosen
    grid, trials = outcome.tables["smallest"], outcome.tables["smallest-trials"]
    assert grid.axes == ("rtt",)
    for row in grid.rows:
        rtt = row.values["rtt"]
        settings = {
            "bottleneck.aqm": {"kind": "step", "threshold": "1 packet"},
            "flows.reno.ecn": "on",
            "flows.reno.rtt": f"{rtt:g} ms",
            "flows.dctcp.rtt": f"{rtt:g} ms",
        }
        found = shoal.tune(
            shoal.Scenario.from_file(PAPER / "scenario.toml").override(settings),
            key="bottleneck.aqm.threshold",
            unit="packets",
            low=1,
            high=rtt,
            such_that="queue_packets() >= 10 and utilisation() > 0.5",
            seeds=2,
        )
        assert row.values["k"] == found.answer
        assert (row.values["fails_at"], row.values["holds_at"]) == (found.fails_at, found.holds_at)
        assert row.values["trials"] == len(found.trials)
        # `let`: the BDP in packets of 12,000 bit at 10 Mbit/s, and twice that.
        assert row.values["ratio"] == pytest.approx(row.values["k"] / (2 * rtt * 10 / 12))
        assert row.values["queue"] >= 10
        own = [trial for trial in trials.rows if trial.values["rtt"] == rtt]
        assert [trial.values["k"] for trial in own] == sorted(trial.value for trial in found.trials)
        assert all((trial.values["queue"] >= 10) == (trial.values["k"] >= row.values["k"]) for trial in own)


def test_queue_panels_show_the_recorded_queue(cache: Path) -> None:
    paper = read_paper(PAPER)
    outcome = reproduce(paper, paper.item("smallest", quick=True), cache=cache).chosen
    data = next(figure for figure in outcome.figures if figure.name == "queues").data
    assert data["panel"].to_list() == [1] * 101 + [2] * 202  # bins of 10 ms that end from 8 to 9 s, then of two runs
    scenario = shoal.Scenario.from_file(PAPER / "scenario.toml").override(
        {
            "bottleneck.aqm": {"kind": "step", "threshold": "5 packets"},  # computed from the axis in the reading
            "flows.reno.ecn": "on",
            "trace.series": "10 ms",
            "duration": "10 s",
            "warmup": "2 s",
        }
    )
    table = shoal.run(scenario).table("queue").filter(pl.col("time_s").is_between(8, 9))
    assert data.filter(pl.col("panel") == 1)["y"].to_list()[-50:] == table["packets"].to_list()[-50:]


def test_cases_are_an_axis_of_words(cache: Path) -> None:
    paper = read_paper(PAPER)
    outcome = reproduce(paper, paper.item("cases", quick=True), cache=cache).chosen
    mix = outcome.tables["mix"]
    assert [(row.values["case"], row.values["n"]) for row in mix.rows] == [
        ("DCTCP", 1.0),
        ("DCTCP", 3.0),
        ("two Renos", 1.0),
        ("two Renos", 3.0),
    ]
    assert mix.to_polars()["case"].to_list() == ["DCTCP"] * 2 + ["two Renos"] * 2
    assert mix.at("q", {"case": "two Renos", "n": 3}) == mix.rows[3].values["q"]
    assert [finding.what for finding in outcome.findings] == [
        "queue of two Renos, 1 Reno flows",
        "queue of two Renos, 3 Reno flows",
    ]
    quotients = [mix.rows[n + 2].values["q"] / mix.rows[n].values["q"] for n in (0, 1)]
    assert [finding.measured for finding in outcome.findings] == [f"{value:.4g}" for value in quotients]
    own = shoal.Scenario.from_file(PAPER / "scenario.toml").override(
        {
            "bottleneck.aqm.spacing": "uniform",
            "flows.reno.count": 3,
            "flows.dctcp.cc": "reno",
            "flows.dctcp.ecn": "off",
            "duration": "10 s",
            "warmup": "2 s",
        }
    )
    assert mix.rows[3].values["u"] == shoal.run(own).bottlenecks[0]["utilisation"]
    data = outcome.figures[0].data
    assert data.filter(pl.col("panel") == 1)["series"].unique(maintain_order=True).to_list() == ["DCTCP", "two Renos"]
    bars = data.filter(pl.col("panel") == 2)
    assert bars["series"].to_list() == ["DCTCP", "two Renos"]
    assert bars["x"].to_list() == [mix.rows[0].values["u"], mix.rows[2].values["u"]]


def test_search_without_an_answer_has_no_value(tmp_path: Path) -> None:
    folder = tmp_path / "test-paper"
    shutil.copytree(PAPER, folder)
    path = folder / "items" / "smallest.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("queue_packets() >= 10", "queue_packets() >= 1000"))
    paper = read_paper(folder)
    outcome = reproduce(paper, paper.item("smallest", quick=True)).chosen
    (row,) = outcome.tables["smallest"].rows
    assert math.isnan(row.values["k"])
    assert [finding.verdict for finding in outcome.findings] == ["no value"]
    assert outcome.tables["smallest"].to_polars()["k"].to_list() == [None]


def test_readings_differ_and_the_chosen_one_is_first(threshold: Reproduction) -> None:
    assert [outcome.reading.name for outcome in threshold.outcomes] == ["independent", "uniform"]
    first, second = (outcome.tables["sweep"].rows[0].values["o"] for outcome in threshold.outcomes)
    assert first != second


def test_verdicts(threshold: Reproduction) -> None:
    verdicts = {finding.claim: finding for finding in threshold.chosen.findings}
    assert verdicts["T5"].verdict == "inside"
    assert (verdicts["T8"].verdict, verdicts["T8"].reason) == ("outside", "no link is used more than all the time")
    assert [finding.claim for finding in threshold.chosen.findings].count("T1") == 2
    assert [finding.claim for finding in threshold.chosen.findings].count("T3") == 1  # the worst row only
    assert verdicts["T1"].tolerance == "± 0.3"  # 0.3 / m at m = 1
    assert not tally_of([threshold]).claims["T8"].met
    assert tally_of([threshold]).claims["T3"].cells == 2
    table = verdict_table(threshold)
    assert "uniform" in table.columns
    assert len(table.rows) == len(threshold.chosen.findings)
    assert verdict_frame(threshold).height == 2 * len(table.rows)


def test_workers_do_not_matter(threshold: Reproduction) -> None:
    paper = read_paper(PAPER)
    again = reproduce(paper, paper.item("threshold"), workers=1)
    assert verdict_frame(again).equals(verdict_frame(threshold))
    assert again.chosen.figures[0].data.equals(threshold.chosen.figures[0].data)


def test_quick_is_smaller() -> None:
    item = read_paper(PAPER).item("threshold", quick=True)
    sweep = item.sweeps["sweep"]
    assert (sweep.seeds, sweep.axes["k"], sweep.axes["m"]) == (1, [1.0, 2.0, 3.0], [0.5, 1.0])
    assert sweep.overrides(sweep.points()[0], read_paper(PAPER).reading("uniform"))["duration"] == "20 s"


def test_published_points_are_in_the_figure(threshold: Reproduction) -> None:
    data = threshold.chosen.figures[0].data
    points = data.filter(pl.col("source") == "published")
    assert sorted(zip(points["x"], points["y"], points["series"], strict=True)) == [
        (1.2, 1.0, "M = 1 BDP"),
        (1.4, 1.0, "M = 0.5 BDP"),
    ]


def test_command_line(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", str(PAPER), "--quick", "--out", "out")
    assert done.code == 0, done.err
    assert "Threshold study" in done.out
    assert re.search(r"T8 +claim +cannot be met +1 +≥ 2 +outside", done.out)
    assert done.err == "wrote out (report: out/report.html)\n"
    out = folder / "out"
    for file in (
        "report.html",
        "verdicts.csv",
        "threshold/figures/independent/threshold.svg",
        "threshold/figures/uniform/map.png",
        "threshold/tables/uniform/study.parquet",
        "traces/runs/mixed/result.json",
        "traces/runs/mixed/figures/windows.png",
        "traces/figures/throughput.csv",
    ):
        assert (out / file).exists(), file
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.index("Threshold study") < page.index("Traces side by side")
    check_page(out / "report.html")
    # Everything comes from the cache now, and is the same.
    again = cli("reproduce", str(PAPER), "--quick", "--out", "again", "--workers", "1", "--json")
    assert again.code == 0
    assert {row["reading"] for row in json.loads(again.out)["checks"]} == {"uniform", "independent"}
    for file in (
        "verdicts.csv",
        "threshold/figures/independent/threshold.png",
        "traces/runs/mixed/tables/flows.parquet",
    ):
        assert (out / file).read_bytes() == (folder / "again" / file).read_bytes(), file
    assert cli("reproduce", str(PAPER / "traces"), "--quick", "--out", "strict", "--strict").code == 0
    assert cli("reproduce", str(PAPER / "threshold"), "--quick", "--out", "strict2", "--strict").code == 5


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("items/threshold.toml", "[finds.equal]", "[findz.equal]", "unknown key `findz`"),
        ("items/threshold.toml", 'left = "equal"', 'left = "eqal"', "there is no table `eqal`"),
        ("items/threshold.toml", "utilisation()", "utilization()", "there is no function `utilization`"),
        ("items/threshold.toml", "'reno', 'dctcp'", "'reno', 'dctpc'", "there is no flow group `dctpc`"),
        ("items/threshold.toml", ":k_over_m", ":k_m", "has no column `k_m`"),
        ("items/threshold.toml", "steps = 7", "steps = 1", "at least 2 steps"),
        ("items/threshold.toml", '"{m} BDP"', '"{mm} BDP"', "there is no `mm`"),
        ("items/threshold.toml", 'tolerance = "0.3 / m"', "", "has no tolerance"),
        ("items/threshold.toml", "steps = 7", "steps = 'a'", "axes.k: `steps` is 'a', expected a whole number"),
        ("items/threshold.toml", 'scale = "log"', 'scale = "lgo"', "finds.equal: scale is `lgo`"),
        ("items/threshold.toml", 'kind = "heatmap"', 'kind = "heatmop"', "there is no kind `heatmop`"),
        ("items/threshold.toml", "claim = ", "claims = ", "checks[0]: unknown key `claims`"),
        ("items/traces.toml", "keep = true", "keep = 1", "sweeps.mixed: `keep` is 1, expected true or false"),
        ("items/smallest.toml", 'smallest = "', 'smallst = "', "searches.smallest: unknown key `smallst`"),
        ("items/smallest.toml", 'smallest = "', "largest = 'a'\nsmallest = \"", "needs one of `smallest`"),
        ("paper.toml", "items = [", 'folder = "x"\nitems = [', "unknown key `folder`"),
        ("items/smallest.toml", "queue_packets() >=", "queue_packet() >=", "there is no function `queue_packet`"),
        ("items/smallest.toml", "from = 1,", "from = 100,", "from 100 to 25 is empty"),
        ("items/smallest.toml", '"smallest-trials"', '"smallest-trails"', "there is no table `smallest-trails`"),
        ("items/traces.toml", "keep = true", "keep = false", "traces of `mixed` are needed"),
        ("paper.toml", 'chosen = "independent"', 'chosen = "indep"', "there is no reading `indep`"),
        ("paper.toml", 'items = ["threshold"', 'items = ["treshold"', "has no items/treshold.toml"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    folder = tmp_path / "test-paper"
    shutil.copytree(PAPER, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(shoal.ShoalError, match=re.escape(message)):
        reproduce_all(folder)


def reproduce_all(folder: Path) -> None:
    paper = read_paper(folder)
    for name in paper.items:
        reproduce(paper, paper.item(name, quick=True))
