"""The Python interface."""

from __future__ import annotations

import json
import struct
import threading
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL

import shoal
from shoal import _native, errors


def test_override_forms(scenario: shoal.Scenario) -> None:
    changed = scenario.override(
        {"bottleneck.rate": "20 Mbit/s", "flows[0].count": 3, "flows.dctcp.sack": False, "flows.dctcp.start": ["1 s"]}
    )
    groups = changed.resolved["flows"]
    assert changed.resolved["bottleneck"]["rate"] == "20 Mbit/s"
    assert (groups[0]["count"], groups[1]["sack"], groups[1]["start"]) == (3, False, ["1 s"])
    assert scenario.resolved["bottleneck"]["rate"] == "10 Mbit/s"  # the old one is as it was


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), None])
def test_override_refuses(scenario: shoal.Scenario, value: object) -> None:
    with pytest.raises(shoal.UsageError):
        scenario.override({"bottleneck.aqm.reno.weight": value})


def test_bad_scenario_is_refused_when_made(scenario: shoal.Scenario) -> None:
    with pytest.raises(shoal.ScenarioError, match="did you mean `rate`"):
        scenario.override({"bottleneck.rat": "1 Mbit/s"})
    with pytest.raises(ValueError, match="unknown key"):  # it is a ValueError, too
        shoal.Scenario.from_toml("nothing = 1")


def test_resolved_scenario_is_a_scenario(scenario: shoal.Scenario) -> None:
    again = shoal.Scenario.from_toml(scenario.to_toml())
    assert again.resolved == scenario.resolved
    assert shoal.Scenario.from_resolved(scenario.resolved).resolved == scenario.resolved


def test_facts(scenario: shoal.Scenario) -> None:
    (link,) = scenario.facts["bottlenecks"]
    # 10 Mbit/s x 25 ms = 31,250 B; thresholds are its fractions.
    assert (link["rate_bps"], link["bdp_bytes"], link["mtu_bytes"]) == (10_000_000, 31_250, 1500)
    assert {line["label"]: line["bytes"] for line in link["thresholds"]} == {
        "min not-ECT": 15_625,
        "max not-ECT": 46_875,
        "K ECT": pytest.approx(20_937.5, abs=1),
    }
    assert [group["ect"] for group in scenario.facts["groups"]] == [False, True]


def test_run_from_a_file(folder: Path, scenario: shoal.Scenario) -> None:
    assert shoal.run(folder / "small.toml").json == shoal.run(scenario).json


def test_result(result: shoal.Result) -> None:
    assert (result.seed, result.version, result.window) == (1, shoal.__version__, (2.0, 12.0))
    assert [group["name"] for group in result.groups] == ["reno", "dctcp"]
    shares = [result.summary[f"share_{name}"] for name in ("reno", "dctcp")]
    assert sum(share for share in shares if share is not None) == pytest.approx(1)
    rates = [flow["wire_bps"] for group in result.groups for flow in group["flows"]]
    assert result.metrics["jain"] == _native.jain(rates)
    assert result.metrics["rate_ratio"]["reno/dctcp"] == _native.rate_ratio(rates[0], rates[1])
    assert sum(rates) <= result.bottlenecks[0]["rate_bps"] * (1 + 1e-3)


def test_tables(result: shoal.Result) -> None:
    names = [
        "backlog_distribution",
        "controller",
        "delay_distribution",
        "events",
        "flows",
        "queue",
        "queue_distribution",
    ]
    assert result.table_names == names
    queue = result.table("queue")
    assert queue.columns[:3] == ["time_s", "link", "packets"]
    assert queue.height == 600  # 12 s in bins of 20 ms: half of 25 ms, rounded up
    delays = result.table("delay_distribution")
    departed = {word: result.bottlenecks[0][word]["departed"] for word in ("ect", "not_ect")}
    counted = dict(delays.group_by("class").agg(pl.col("packets").sum()).iter_rows())
    assert counted == departed
    with pytest.raises(shoal.UsageError, match="no table `packets`") as refused:
        result.table("packets")
    assert "recorded: backlog_distribution, controller" in (refused.value.hint or "")


def test_series_agree_with_the_summary(result: shoal.Result) -> None:
    start, _ = result.window
    inside = result.table("queue").filter(pl.col("time_s") > start + 1e-9)
    assert inside["bytes"].mean() == pytest.approx(result.bottlenecks[0]["queue_bytes"]["mean"], rel=1e-9)
    flows = result.table("flows").filter(pl.col("time_s") > start + 1e-9)
    for group in result.groups:
        mean = flows.filter(pl.col("group") == group["name"])["goodput_bps"].mean()
        assert mean == pytest.approx(group["goodput_bps"]["mean"], rel=1e-9)


def test_frames(result: shoal.Result) -> None:
    frame = result.to_polars()
    assert frame["group"].to_list() == ["reno", "dctcp"]
    assert frame["wire_bps"][0] == result.groups[0]["wire_bps"]["mean"]
    other = result.to_pandas()
    assert list(other.columns) == frame.columns
    assert other["wire_bps"].tolist() == frame["wire_bps"].to_list()


def test_save_and_load(result: shoal.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "a")
    loaded = shoal.Result.load(tmp_path / "a")
    assert loaded.json == result.json
    assert loaded.table_names == result.table_names
    for name in result.table_names:
        assert loaded.table(name).equals(result.table(name)), name
    loaded.save(tmp_path / "b")
    for file in (tmp_path / "a").rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes()
    with pytest.raises(shoal.OutputError, match="already exists"):
        result.save(tmp_path / "a")
    # The saved scenario makes the same result again.
    assert shoal.run(tmp_path / "a" / "scenario.toml").json == result.json


def test_load_refuses(tmp_path: Path, result: shoal.Result) -> None:
    with pytest.raises(shoal.OutputError, match="cannot read"):
        shoal.Result.load(tmp_path)
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(shoal.OutputError, match="not a result of shoal"):
        shoal.Result.load(tmp_path)
    (tmp_path / "result.json").write_text(json.dumps({**result.data, "schema": 2}))
    with pytest.raises(shoal.OutputError, match="has schema 2"):
        shoal.Result.load(tmp_path)


def test_results(scenario: shoal.Scenario, tmp_path: Path) -> None:
    results = shoal.run(scenario, seeds=[7, 3])
    assert results.seeds == [7, 3]
    assert results[0].json == shoal.run(scenario, seed=7).json
    assert results.to_polars()["seed"].to_list() == [7, 7, 3, 3]
    assert len(results.to_pandas()) == 4
    mean = results.summary["utilisation"]
    assert mean is not None
    values = [result.summary["utilisation"] or 0 for result in results]
    assert mean.mean == pytest.approx(sum(values) / 2)
    results.save(tmp_path / "a")
    assert shoal.Result.load(tmp_path / "a" / "seed-3").json == results[1].json


def test_notebook_views(scenario: shoal.Scenario, result: shoal.Result) -> None:
    assert "<b>Small</b>" in scenario._repr_html_()
    named = scenario.override({"title": "<script>"})
    assert "<script>" not in named._repr_html_()
    assert "utilisation" in result._repr_html_()
    assert "± " in shoal.run(scenario, seeds=2)._repr_html_()
    assert repr(result).startswith("<shoal.Result seed 1: reno ")


@pytest.mark.parametrize("name", ["rates", "windows", "queue", "delay", "throughput"])
def test_figures_show_their_units(result: shoal.Result, name: str) -> None:
    figure = getattr(result, f"plot_{name}")()
    labels = [text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel()) if text]
    units = ("[s]", "[ms]", "[Mbit/s]", "[packets", "alpha", "Fraction", "Packets [%]")
    assert labels
    assert all(any(unit in label for unit in units) for label in labels), labels


def test_progress_and_cancel(scenario: shoal.Scenario) -> None:
    long = scenario.override({"duration": "100000 s", "trace.series": "off"})
    seen: list[float] = []

    class Enough(Exception):  # noqa: N818
        pass

    def watch(fraction: float) -> None:
        seen.append(fraction)
        if len(seen) == 3:
            raise Enough

    with pytest.raises(Enough):
        shoal.run(long, progress=watch)
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[2] < 1
    cancel = _native.Cancel()
    threading.Timer(0.3, cancel.cancel).start()
    with pytest.raises(errors.Cancelled):
        long.native.run(cancel=cancel)


def test_lock_is_released(scenario: shoal.Scenario) -> None:
    """Another thread goes on while a run works."""
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=count)
    thread.start()
    shoal.run(scenario.override({"duration": "3000 s", "trace.series": "off"}))
    done.set()
    thread.join()
    assert ticks > 20


def test_packet_trace_needs_a_place(scenario: shoal.Scenario) -> None:
    with pytest.raises(shoal.UsageError, match=r"trace\.packets"):
        shoal.run(scenario.override({"trace.packets": True}))


def test_scenario_text_is_kept(scenario: shoal.Scenario) -> None:
    assert scenario.text == SMALL
    assert scenario.override({"seed": 4}).seed == 4


def test_a_plot_shows_itself_in_a_notebook(result: shoal.Result) -> None:
    """As IPython asks for it, whatever was imported or set up before."""
    png, size = result.plot_queue()._repr_png_()  # type: ignore[attr-defined]
    assert png.startswith(b"\x89PNG\r\n")
    # Width and height in pixels: 7.16 by 2.3 inches at 200 dots, shown with half as many for fine screens.
    assert struct.unpack(">II", png[16:24]) == (1432, 460)
    assert size == {"width": 716, "height": 230}
