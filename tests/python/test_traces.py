"""Traced flows and bins, which figures and tables name."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.metrics import metric
from shoal.plots import queue, rates, windows

# Ten flows of an incast, two of each other group.
_text = """
title = "Three groups"
duration = "1 s"
warmup = "0.2 s"
bottleneck = { rate = "10 Mbit/s", buffer = "40 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [
  { name = "incast", cc = "dctcp", rtt = "5 ms", count = 10 },
  { name = "bulk", cc = "dctcp", rtt = "10 ms", count = 2 },
  { name = "classic", cc = "cubic", rtt = "10 ms", count = 2 },
]
"""


@pytest.fixture(scope="module")
def three() -> shoal.Scenario:
    """Three groups, none traced."""
    return shoal.Scenario.from_toml(_text)


@pytest.fixture(scope="module")
def traced(three: shoal.Scenario) -> shoal.Result:
    """One traced flow of each group."""
    return shoal.run(three.override({"trace.controller_flows": 3}))


@pytest.fixture(scope="module")
def partly(three: shoal.Scenario) -> shoal.Result:
    """Fewer traced flows than groups."""
    return shoal.run(three.override({"trace.controller_flows": 2}))


def test_each_group_has_a_traced_flow(traced: shoal.Result) -> None:
    assert traced.traced_flows == [0, 10, 12]
    assert sorted(traced.table("controller")["flow"].unique()) == [0, 10, 12]
    events = traced.table("events")
    assert set(events["flow"].unique()) <= {0, 10, 12}
    # The DCTCP flows are marked, the CUBIC flow loses packets: what a figure of the first flows would not have shown.
    assert events.filter((pl.col("flow") == 10) & (pl.col("kind") == "mark")).height > 0
    assert events.filter((pl.col("flow") == 12) & (pl.col("kind") == "drop")).height > 0


def test_metrics_of_a_groups_first_flow_use_its_trace(traced: shoal.Result, partly: shoal.Result) -> None:
    mean = traced.groups[1]["flows"][0]["cwnd_packets"]["mean"]
    own = traced.table("controller").filter((pl.col("flow") == 10) & pl.col("ssthresh_packets").is_not_null())
    near = own.filter((pl.col("cwnd_packets").cast(pl.Float64) - mean).abs() <= 0.5 * mean)
    expected = near["time_s"][0] - own["time_s"][0]
    assert metric(traced, "settling_s('bulk', within=0.5)") == expected > 0
    with pytest.raises(shoal.UsageError, match="controller of group `classic`") as refused:
        metric(partly, "cuts_per_s('classic')")
    assert "trace.controller_flows = 3" in str(refused.value.hint)


def test_coverage_is_said_by_table_and_file(traced: shoal.Result, tmp_path: Path) -> None:
    said = traced.coverage("events")
    assert said is not None
    assert "3 of 14 flows only, number 0, 10, 12." in said
    assert traced.coverage("queue") is None
    traced.save(tmp_path / "out")
    assert shoal.Result.load(tmp_path / "out").coverage("events") == said
    assert pl.read_parquet_metadata(tmp_path / "out" / "tables" / "events.parquet")["coverage"] == said


def test_no_table_of_events_without_traced_flows(three: shoal.Scenario) -> None:
    result = shoal.run(three)
    assert result.bottlenecks[0]["dropped"] > 0
    assert not {"events", "controller", "segments"} & set(result.table_names)
    for name, key in (("events", "trace.controller_flows"), ("segments", "trace.segment_flows")):
        with pytest.raises(shoal.UsageError, match=f"no table `{name}`") as refused:
            result.table(name)
        assert key in str(refused.value.hint)
    with pytest.raises(shoal.UsageError, match="no table `events`"):
        result.coverage("events")


def test_an_empty_table_has_its_types(three: shoal.Scenario) -> None:
    quiet = {"trace.controller_flows": 3, "bottleneck.buffer": "unlimited", "bottleneck.aqm.threshold": "9000 packets"}
    result = shoal.run(three.override(quiet))
    assert result.bottlenecks[0]["marked"] == 0
    events = result.table("events")
    assert events.schema == {"time_s": pl.Float64, "flow": pl.UInt32, "kind": pl.String}
    assert events.filter(pl.col("kind") == "mark").height == 0
    assert result.coverage("events") is not None


def test_an_untraced_flow_is_no_line(partly: shoal.Result, traced: shoal.Result) -> None:
    axes = windows.draw(partly).figure.axes[0]
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    untraced = lines["classic (flow 12): not traced, every 5 ms"]
    assert (untraced.get_linestyle(), untraced.get_marker()) == ("None", ".")
    assert lines["bulk (flow 10)"].get_linestyle() == "-"
    drawn = windows.draw(partly)
    assert "Flow 12 was not: only points every 5 ms are known, and neither marks nor drops." in drawn.note
    assert drawn.data.filter((pl.col("flow") == 12) & pl.col("event").is_not_null()).height == 0
    assert windows.draw(traced).note == "3 of 14 flows were traced (trace.controller_flows); shown: flows 0, 10, 12."
    # Without a time series there is nothing to draw of it.
    alone = shoal.run(partly.scenario.override({"trace.series": "off"}))
    assert list(windows.shown_flows(alone)) == [0, 10]


def test_bins_follow_the_run_and_change_nothing_else(three: shoal.Scenario) -> None:
    # Half of 5 ms is less than 1 s / 200 = 5 ms and more than 1 s / 4000: 2.5 ms, rounded up.
    assert three.resolved["trace"]["series"] == "5 ms"
    short = three.override({"duration": "200 ms", "warmup": "0 s"})
    assert short.resolved["trace"]["series"] == "1 ms"
    chosen, coarse = shoal.run(short), shoal.run(short.override({"trace.series": "100 ms"}))
    assert chosen.bin_s == 0.001
    assert chosen.table("queue").height == 200
    assert (chosen.groups, chosen.bottlenecks, chosen.metrics) == (coarse.groups, coarse.bottlenecks, coarse.metrics)
    again = shoal.run(chosen.scenario)
    assert again.json == chosen.json


def test_figures_of_bins_say_how_wide_they_are(traced: shoal.Result) -> None:
    drawn = queue.draw(traced)
    assert drawn.figure.axes[1].get_xlabel() == "Time [s], bins of 5 ms"
    assert "each bin of 5 ms (trace.series)" in drawn.note
    drawn = rates.draw(traced)
    assert drawn.figure.axes[0].get_xlabel().startswith("Time [s], means over ")
    assert "Drawn from bins of 5 ms (trace.series)." in drawn.note
    assert drawn.note in drawn.description
    assert "shown: incast, bulk, classic" in drawn.description
