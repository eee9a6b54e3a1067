"""Cuts of several flows at the same time, on traces made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.metrics import metric, recording
from shoal.results.recorded import InFiles

SCENARIO = """
duration = "2 s"
warmup   = "0 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ name = "a", cc = "dctcp", rtt = "10 ms" }, { name = "b", cc = "dctcp", rtt = "10 ms" }]
trace = { controller_flows = 2 }
"""


def result(folder: Path, cuts_s: list[list[float]], srtt_s: list[float]) -> shoal.Result:
    """A run in which flow n cuts its window from 20 to 18 to 15 packets at these times, and grows in between."""
    run = shoal.run(shoal.Scenario.from_toml(SCENARIO), seed=1)
    data: dict[str, Any] = json.loads(json.dumps(run.data))
    for group, value in zip(data["groups"], srtt_s, strict=True):
        group["flows"][0]["srtt_s"]["mean"] = value
    rows = []
    for number, times_s in enumerate(cuts_s):
        for time_s in times_s:
            rows += [(time_s - 0.001, number, 20), (time_s, number, 18), (time_s + 0.002, number, 15)]
            rows += [(time_s + 0.003, number, 16)]
    (folder / "tables").mkdir()
    schema = {"time_s": pl.Float64, "flow": pl.UInt32, "cwnd_packets": pl.UInt32}
    pl.DataFrame(sorted(rows), schema=schema, orient="row").write_parquet(folder / "tables" / "controller.parquet")
    return shoal.Result(json.dumps(data), recorded=InFiles.of_folder(folder / "tables"))


def test_cuts_within_half_a_round_trip_are_in_step(tmp_path: Path) -> None:
    # Half a round trip: 5 ms of the first flow, 10 ms of the second. Apart: 4 ms (both in step), 8 ms (in step for the
    # second flow only), 300 ms (neither). So 1 of 3 and 2 of 3 cuts: 3 of 6.
    run = result(tmp_path, [[0.1, 0.5, 1.0], [0.104, 0.508, 1.3]], [0.010, 0.020])
    assert metric(run, "cuts_in_step()") == pytest.approx(3 / 6)
    # Within a tenth of a round trip: none. Within a hundred of them, 1 s and 2 s: all but none.
    assert metric(run, "cuts_in_step(within=0.1)") == 0
    assert metric(run, "cuts_in_step(within=100)") == 1


def test_a_fall_counts_from_its_first_decrease(tmp_path: Path) -> None:
    # The second decrease of the first flow, 2 ms later, belongs to the same reduction: 6 ms apart is not within 5 ms.
    run = result(tmp_path, [[0.1], [0.106]], [0.010, 0.010])
    assert metric(run, "cuts_in_step()") == 0


def test_without_the_traces_of_all_flows_there_is_no_number() -> None:
    scenario = shoal.Scenario.from_toml(SCENARIO)
    with pytest.raises(shoal.UsageError, match="traces of all flows"):
        metric(shoal.run(scenario.override({"trace.controller_flows": 1}), seed=1), "cuts_in_step()")
    alone = shoal.Scenario.from_toml(SCENARIO.replace(', { name = "b", cc = "dctcp", rtt = "10 ms" }', ""))
    with pytest.raises(shoal.UsageError, match="one flow alone"):
        metric(shoal.run(alone, seed=1), "cuts_in_step()")


def test_sweeps_record_the_traces_of_all_flows() -> None:
    scenario = shoal.Scenario.from_toml(SCENARIO)
    assert recording(scenario.override({"trace.controller_flows": 0}), ["cuts_in_step()"]) == {
        "trace.controller_flows": 2
    }
    assert recording(scenario, ["cuts_in_step()"]) == {}


def test_two_dctcp_flows_behind_a_threshold_cut_together() -> None:
    text = SCENARIO.replace("2 s", "5 s").replace("0 s", "1 s")
    run = shoal.run(shoal.Scenario.from_toml(text), seed=1)
    by_chance = metric(run, "cuts_per_s('a') * srtt_ms('a') / 1000")
    assert metric(run, "cuts_in_step()") > 2 * by_chance
