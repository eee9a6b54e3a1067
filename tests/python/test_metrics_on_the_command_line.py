"""Metrics in sweep and tune: their records are made, and a metric without a value is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import SMALL, Cli

import shoal
from shoal.metrics import metrics, recording

USAGE = 2
SHORT = ["--set", "duration=8 s"]
AXIS = ["--axis", "bottleneck.aqm.dctcp.threshold=10 packets,20 packets"]


@pytest.mark.parametrize(
    "metric",
    [
        "convergence_s('dctcp', within=0.9)",
        "oscillation_ms(least=-1)",
        "oscillation_packets()",
        "mean_cut('dctcp')",
        "cuts_per_s('dctcp')",
        "settling_s('dctcp', within=5)",
        "queue_between('all', 0, 1000)",
        "queue_peak('ect')",
        "cwnd_packets('dctcp')",
    ],
)
def test_a_sweep_records_what_a_metric_needs(cli: Cli, metric: str) -> None:
    done = cli("sweep", "small.toml", *AXIS, *SHORT, "--metric", f"x={metric}", "--json")
    assert (done.code, done.err) == (0, "")
    values = [point["metrics"]["x"] for point in json.loads(done.out)["points"]]
    assert all(value is not None for value in values), values


def test_a_search_records_what_a_metric_needs(cli: Cli) -> None:
    options = ["--key", "bottleneck.aqm.dctcp.threshold", "--unit", "packets", "--from", "10", "--to", "12"]
    condition = "oscillation_packets() > 0 and mean_cut('dctcp') > 0"
    done = cli("tune", "small.toml", *options, *SHORT, "--seeds", "1", "--smallest", "--such-that", condition)
    assert (done.code, done.err) == (0, "")
    assert "Smallest bottleneck.aqm.dctcp.threshold = 10 packets" in done.out


def test_windows_need_a_length(cli: Cli) -> None:
    done = cli("sweep", "small.toml", *AXIS, *SHORT, "--metric", "x=window_peak()", "--set", "trace.windows=1 s")
    assert (done.code, done.err) == (0, "")


def test_only_what_is_needed_is_recorded() -> None:
    scenario = shoal.Scenario.from_toml(SMALL)
    assert recording(scenario, ["jain()"], lean=True) == {"trace.series": "off"}
    assert recording(scenario, ["jain()"]) == {}
    assert recording(scenario, ["oscillation_ms()"], lean=True) == {}
    # The flow of dctcp is the second one.
    assert recording(scenario, ["mean_cut('dctcp') / mean_cut(group='reno')"]) == {"trace.controller_flows": 2}
    assert recording(scenario, ["mean_cut('reno')"]) == {"trace.controller_flows": 1}
    off = scenario.override({"trace.series": "off", "trace.controller_flows": 2, "trace.flows": 1})
    assert recording(off, ["oscillation_ms() + alpha('dctcp')", "mean_cut('dctcp')"], lean=True) == {
        "trace.series": "auto",
        "trace.flows": "all",
    }


def test_a_traffic_class_is_named_in_a_sweep(cli: Cli) -> None:
    axis = ["--axis", "bottleneck.aqm.queues.scalable.weight=1,3", "--set", "duration=2 s"]
    share = "share=utilisation(queue='scalable') / utilisation()"
    done = cli("sweep", "two-classes", *axis, "--metric", share, "--json")
    assert (done.code, done.err) == (0, "")
    points = json.loads(done.out)["points"]
    # Both queues always hold packets, and the other one has a weight of 1.
    assert [point["metrics"]["share"]["mean"] for point in points] == pytest.approx([1 / 2, 3 / 4], abs=0.005)


def test_a_traffic_class_that_does_not_exist_is_an_error(cli: Cli) -> None:
    axis = ["--axis", "bottleneck.rate=100 Mbit/s,200 Mbit/s", "--set", "duration=2 s"]
    done = cli("sweep", "two-classes", *axis, "--metric", "marks(queue='scaleable')")
    assert done.code == USAGE
    assert "the link `bottleneck` has no queue `scaleable`" in done.err
    assert "did you mean `scalable`?" in done.err


def test_the_bin_that_was_asked_for_stays(cli: Cli) -> None:
    series = ["--set", "trace.series=2 s"]
    metric = ["--metric", "x=oscillation_packets()", "--json"]
    (coarse, usual) = (
        json.loads(cli("sweep", "small.toml", *AXIS, *SHORT, *more, *metric).out)["points"] for more in (series, [])
    )
    assert coarse != usual


def test_the_list_of_metrics_needs_no_words_of_papers(cli: Cli) -> None:
    done = cli("list", "metrics")
    assert done.code == 0
    assert "`keep`" not in done.out
    assert "`record`" not in done.out
    assert set(metrics) <= {line.split("(")[0] for line in done.out.splitlines()}


def test_a_division_by_a_measured_zero_is_an_error_and_the_rest_is_shown(cli: Cli, folder: Path) -> None:
    # A time-out of the DCTCP flow would need a lost window, which ECN spares it.
    metrics = ["--metric", "x=jain() / count('dctcp', 'timeouts')", "--metric", "jain()"]
    done = cli("sweep", "small.toml", *AXIS, *SHORT, *metrics, "--out", "out")
    assert done.code == USAGE
    assert done.out.count("undefined") == 2
    assert done.err == (
        "wrote out (report: out/report.html)\n"
        "error: the metric `x` is undefined at 2 of 2 points, first at bottleneck.aqm.dctcp.threshold = 10 packets: "
        "`jain() / count('dctcp', 'timeouts')`: division by zero\n"
        "hint: the table shows `undefined` there; the other numbers are right\n"
    )
    assert (folder / "out" / "points.csv").exists()
    points = json.loads((folder / "out" / "sweep.json").read_text())["points"]
    assert all(point["metrics"]["x"] is None and point["metrics"]["jain()"] is not None for point in points)


def test_a_run_without_such_a_number_is_said_to_have_none(cli: Cli) -> None:
    done = cli("sweep", "small.toml", *AXIS, *SHORT, "--metric", "x=fct_ms('dctcp')")
    assert done.code == 0
    assert done.err == "note: `x` has no value at 2 of 2 points: the runs have no such number\n"
    rows = [line.split() for line in done.out.splitlines() if line.strip().startswith(("10 packets", "20 packets"))]
    assert [row[-1] for row in rows] == ["-", "-"]


def test_python_raises_where_arithmetic_has_no_value() -> None:
    scenario = shoal.Scenario.from_toml(SMALL).override({"duration": "4 s"})
    points = shoal.sweep(scenario, grid={"seed": [1]}, metrics=["jain()"])
    metrics = {"x": "1 / count('dctcp', 'timeouts')"}
    for call in (points.means, points.to_polars):
        with pytest.raises(shoal.UsageError, match="is undefined: division by zero"):
            call(metrics=metrics)
    errors: list[object] = []
    assert points.means(metrics=metrics, undefined=errors.append)["x"].to_list() == [None]
    assert len(errors) == 1
