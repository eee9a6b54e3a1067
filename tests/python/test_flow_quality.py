"""Metrics of RFC 7928 section 2, on tables made by hand and on runs whose numbers follow from the scenario."""

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
duration = "4 s"
warmup   = "1 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
flows = [
  { name = "a", cc = "reno", rtt = "10 ms", count = 2 },
  { name = "b", cc = "reno", rtt = "10 ms" },
]
trace = { controller_flows = 3, segment_flows = 3, series = "50 ms" }
"""


def result(folder: Path, **tables: pl.DataFrame) -> shoal.Result:
    """A run with these tables, in which every flow has a smoothed round trip of 20 ms and starts at 0 s."""
    run = shoal.run(shoal.Scenario.from_toml(SCENARIO), seed=1)
    data: dict[str, Any] = json.loads(json.dumps(run.data))
    for group in data["groups"]:
        for flow in group["flows"]:
            flow["srtt_s"]["mean"] = 0.02
            flow["start_s"], flow["stop_s"] = 0.0, None
    (folder / "tables").mkdir()
    for name, table in tables.items():
        table.write_parquet(folder / "tables" / f"{name}.parquet")
    return shoal.Result(json.dumps(data), recorded=InFiles.of_folder(folder / "tables"))


def events(*drops: tuple[float, int]) -> pl.DataFrame:
    rows = [*((time_s, flow, "drop") for time_s, flow in drops), (1.5, 0, "retransmit")]
    schema = {"time_s": pl.Float64, "flow": pl.UInt32, "kind": pl.String}
    return pl.DataFrame(sorted(rows), schema=schema, orient="row")


def segments(*rows: tuple[int, int, str, str, int, int, int]) -> pl.DataFrame:
    schema = {
        "time_ps": pl.UInt64,
        "flow": pl.UInt32,
        "end": pl.String,
        "event": pl.String,
        "seq": pl.UInt32,
        "payload": pl.UInt32,
        "ts_val": pl.UInt32,
    }
    return pl.DataFrame(sorted(rows), schema=schema, orient="row")


def test_flows_that_lose_within_a_round_trip_lose_together(tmp_path: Path) -> None:
    # Events of 20 ms: flows 0, 1 and 2 at 1.1 s; flow 0 alone at 2 s, twice; flows 1 and 2 at 3 s. A drop before the
    # measurement counts for nothing. 3/3, 1/3 and 2/3: 2/3 on average.
    drops = [(0.5, 0), (1.1, 0), (1.11, 1), (1.119, 2), (2.0, 0), (2.01, 0), (3.0, 1), (3.005, 2)]
    run = result(tmp_path, events=events(*drops))
    assert metric(run, "loss_synchronisation()") == pytest.approx(2 / 3)
    # Within 5 ms: 1.1 (one), 1.11 (one), 1.119 (one), 2.0 (one), 2.01 (one), 3.0 (one), 3.005 (one).
    assert metric(run, "loss_synchronisation(window_ms=5)") == pytest.approx(1 / 3)
    # Within 1.9 s: an event with all of them until 3 s, and one with two flows then.
    assert metric(run, "loss_synchronisation(window_ms=1900)") == pytest.approx((1 + 2 / 3) / 2)


def test_intervals_are_those_of_one_flow(tmp_path: Path) -> None:
    run = result(tmp_path, events=events((1.1, 0), (1.2, 1), (1.4, 0), (1.5, 1), (2.4, 0), (3.0, 2)))
    # Flow 0: 300 and 1000 ms; flow 1: 300 ms. Group b has a single drop.
    assert metric(run, "loss_interval_ms('a')") == pytest.approx(1600 / 3)
    assert metric(run, "loss_interval_ms('a', 'p50')") == pytest.approx(300)
    assert metric(run, "loss_interval_ms('a', 'max')") == pytest.approx(1000)
    assert metric(run, "loss_interval_ms('b')") != metric(run, "loss_interval_ms('b')"), "not a number"
    with pytest.raises(shoal.UsageError, match="there is no statistic"):
        metric(run, "loss_interval_ms('a', 'p42')")


def test_delays_are_those_of_packets_that_arrived(tmp_path: Path) -> None:
    ms = 10**9
    sent = [(0.9, 1, 1), (1.0, 2, 10), (1.1, 3, 20), (1.2, 4, 30), (1.3, 3, 40)]
    # Number 1 before the measurement; 4 is lost; the segment 3 is sent twice, told apart by its timestamp.
    arrived = [(1, 1, 950), (2, 10, 1030), (3, 20, 1112), (3, 40, 1340), (3, 40, 1390)]
    rows = [(round(time * 1000) * ms, 2, "sender", "send", seq, 100, stamp) for time, seq, stamp in sent]
    rows += [(at * ms, 2, "receiver", "receive", seq, 100, stamp) for seq, stamp, at in arrived]
    # An ACK, which has no data.
    rows += [(1000 * ms, 2, "receiver", "send", 1, 0, 7), (1005 * ms, 2, "sender", "receive", 1, 0, 7)]
    run = result(tmp_path, segments=segments(*rows))
    # 30, 12 and 40 ms; above the smallest: 18, 0 and 28; between successive ones: 18 and 28.
    assert metric(run, "one_way_delay_ms('b')") == pytest.approx(82 / 3)
    assert metric(run, "one_way_delay_ms('b', 'p99')") == pytest.approx(40)
    assert metric(run, "delay_variation_ms('b', 'p50')") == pytest.approx(18)
    assert metric(run, "delay_variation_ms('b', 'mean')") == pytest.approx(46 / 3)
    assert metric(run, "successive_variation_ms('b', 'mean')") == pytest.approx(23)
    # The first data, before the measurement: 0.9 s after the start of the flow.
    assert metric(run, "startup_ms('b')") == pytest.approx(900)


def test_goodput_is_counted_in_windows_of_ten_round_trips(tmp_path: Path) -> None:
    # Bins of 50 ms: ten round trips of 10 ms are two bins. Flow 0: 1, 3 | 2, 4; flow 1: 5, 5 and a bin that is left.
    rows = [(1.05, 0, 1e6), (1.1, 0, 3e6), (1.15, 0, 2e6), (1.2, 0, 4e6)]
    rows += [(1.05, 1, 5e6), (1.1, 1, 5e6), (1.15, 1, 9e6), (1.0, 0, 99e6)]
    schema = {"time_s": pl.Float64, "flow": pl.UInt32, "goodput_bps": pl.Float64}
    run = result(tmp_path, flows=pl.DataFrame(rows, schema=schema, orient="row"))
    assert metric(run, "goodput_window_mbps('a')") == pytest.approx(3)
    assert metric(run, "goodput_window_mbps('a', 'min')") == pytest.approx(2)
    assert metric(run, "goodput_window_mbps('a', 'mean')") == pytest.approx(10 / 3)
    assert metric(run, "goodput_window_mbps('a', 'max', round_trips=20)") == pytest.approx(2.5)
    with pytest.raises(shoal.UsageError, match="shorter than a bin"):
        metric(run, "goodput_window_mbps('a', round_trips=1)")


def test_what_is_not_recorded_has_no_number_and_is_asked_for() -> None:
    scenario = shoal.Scenario.from_toml(SCENARIO).override({"trace": {"series": "off"}})
    run = shoal.run(scenario)
    with pytest.raises(shoal.UsageError, match="traces of all flows"):
        metric(run, "loss_synchronisation()")
    asked = recording(scenario, ["loss_synchronisation()", "startup_ms('a')", "goodput_window_mbps('a')"])
    assert (asked["trace.controller_flows"], asked["trace.segment_flows"]) == (3, 2)
    assert "trace.series" in asked


def test_a_handshake_takes_a_round_trip_and_a_packet_alone_its_way() -> None:
    # 40 ms there and back, and 10 Mbit/s: SYN (60 B, 48 us) and data (1500 B, 1.2 ms) pass the link, ACKs do not.
    text = """
    duration = "3 s"
    warmup   = "0 s"
    bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
    flows = [{ name = "a", cc = "reno", rtt = "40 ms", app = { constant_rate = "100 kbit/s" } }]
    trace = { segment_flows = 1 }
    """
    run = shoal.run(shoal.Scenario.from_toml(text))
    assert metric(run, "startup_ms('a')") == pytest.approx(40.048, abs=0.01)
    assert metric(run, "one_way_delay_ms('a', 'p50')") == pytest.approx(21.2, abs=0.01)


def test_a_call_through_an_empty_path_has_one_delay_and_no_variation() -> None:
    # 200 B at 10 Mbit/s are 160 us, 20 ms of propagation; 50 packets a second each way, for 2 s.
    text = """
    duration = "3.0001 s"
    warmup   = "1 s"
    bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
    reverse = { rate = "1 Mbit/s", buffer = "100 packets" }
    [[flows]]
    name = "down"
    cc = "none"
    rtt = "40 ms"
    app = { unresponsive = "80 kbit/s", packet = "200 B" }
    [[flows]]
    name = "up"
    cc = "none"
    rtt = "40 ms"
    direction = "reverse"
    app = { unresponsive = "80 kbit/s", packet = "200 B" }
    """
    run = shoal.run(shoal.Scenario.from_toml(text))
    # At 1 Mbit/s they are 1.6 ms.
    for group, delay_ms in (("down", 20.16), ("up", 21.6)):
        datagrams = next(each for each in run.groups if each["name"] == group)["flows"][0]["datagrams"]
        assert datagrams is not None
        assert (datagrams["sent"], datagrams["lost"]) == (101, 0)
        assert metric(run, f"one_way_delay_ms('{group}')") == pytest.approx(delay_ms, rel=1e-9)
        assert metric(run, f"one_way_delay_ms('{group}', 'p99')") == pytest.approx(delay_ms, rel=5e-4)
        assert metric(run, f"delay_variation_ms('{group}', 'max')") == 0
        assert metric(run, f"successive_variation_ms('{group}', 'max')") == 0


def test_a_call_next_to_an_upload_waits_in_its_direction_alone() -> None:
    scenario = shoal.Scenario.from_file(Path(__file__).parents[2] / "scenarios" / "voice.toml")
    fifo = {"reverse.aqm": {"kind": "fifo"}, "bottleneck.aqm": {"kind": "fifo"}, "duration": "15 s"}
    without_download = {"flows[0].stop": "100 ms"}
    run = shoal.run(scenario.override(fifo | without_download))
    # The upload fills 100 packets of 1500 B at 2 Mbit/s: 600 ms. At 20 Mbit/s ACKs alone are in the way of the other
    # direction, each 52 B.
    assert metric(run, "one_way_delay_ms('voice-up', 'p99')") > 300
    assert metric(run, "one_way_delay_ms('voice-down', 'p99')") < 21
    assert metric(run, "delay_variation_ms('voice-up', 'p99')") > 100
    assert metric(run, "delay_variation_ms('voice-down', 'p99')") < 1
