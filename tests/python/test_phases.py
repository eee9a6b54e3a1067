"""Metrics of phases that come again, of losses and of control packets, by hand and in runs that fix their numbers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.metrics import metric
from shoal.results.recorded import InFiles

SCENARIO = """
duration = "5 s"
warmup   = "1 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
flows = [
  { name = "a", cc = "reno", rtt = "10 ms", count = 2 },
  { name = "b", cc = "reno", rtt = "10 ms" },
]
trace = { series = "500 ms" }
"""


def result(folder: Path, **tables: pl.DataFrame) -> shoal.Result:
    """A run with these tables."""
    run = shoal.run(shoal.Scenario.from_toml(SCENARIO), seed=1)
    (folder / "tables").mkdir()
    for name, table in tables.items():
        table.write_parquet(folder / "tables" / f"{name}.parquet")
    return shoal.Result(json.dumps(run.data), recorded=InFiles.of_folder(folder / "tables"))


def test_goodput_of_a_phase_is_that_of_all_its_bins_and_flows(tmp_path: Path) -> None:
    # The measurement is from 1 to 5 s, in bins of 0.5 s. Phases of 1 s, each 2 s: bins that end at 1.5, 2, 3.5 and 4 s
    # are of the first, the others of the second. Group b begins with the bin that ends at 3.5 s.
    rows = [(end / 2, flow, "a", end * 1e6) for end in range(1, 11) for flow in (0, 1)]
    rows += [(end / 2, 2, "b", 1e6) for end in range(7, 11)]
    schema = {"time_s": pl.Float64, "flow": pl.UInt32, "group": pl.String, "goodput_bps": pl.Float64}
    run = result(tmp_path, flows=pl.DataFrame(rows, schema=schema, orient="row"))
    # Two flows with 3, 4, 7 and 8, and with 5, 6, 9 and 10 Mbit/s.
    assert metric(run, "phase_goodput_mbps('a', 0, 1, 2)") == pytest.approx(2 * (3 + 4 + 7 + 8) / 4)
    assert metric(run, "phase_goodput_mbps('a', 1, 2, 2)") == pytest.approx(2 * (5 + 6 + 9 + 10) / 4)
    # In two of four bins.
    assert metric(run, "phase_goodput_mbps('b', 0, 1, 2)") == pytest.approx(0.5)
    with pytest.raises(shoal.UsageError, match="is none"):
        metric(run, "phase_goodput_mbps('a', 1, 1, 2)")
    with pytest.raises(shoal.UsageError, match="not longer than they"):
        metric(run, "phase_goodput_mbps('a', 0, 0.2, 2)")


def test_delay_of_a_phase_is_that_of_the_waiting_bytes(tmp_path: Path) -> None:
    # 12,500 B take 10 ms at 10 Mbit/s.
    name = shoal.run(shoal.Scenario.from_toml(SCENARIO), seed=1).bottlenecks[0]["name"]
    rows = [(end / 2, name, end * 1250.0, 1.0) for end in range(1, 11)]
    schema = {"time_s": pl.Float64, "link": pl.String, "bytes": pl.Float64, "utilisation": pl.Float64}
    run = result(tmp_path, queue=pl.DataFrame(rows, schema=schema, orient="row"))
    assert metric(run, "phase_delay_ms(0, 1, 2)") == pytest.approx((3 + 4 + 7 + 8) / 4)
    assert metric(run, "phase_delay_ms(1, 2, 2)") == pytest.approx((5 + 6 + 9 + 10) / 4)


def test_the_phases_of_a_run_are_those_of_its_schedule() -> None:
    # One flow fills 10 Mbit/s for 5 s and 2 Mbit/s for 5 s, in turn; 1448 B of 1500 B are payload.
    text = """
    duration = "65 s"
    warmup   = "5 s"
    [bottleneck]
    rate = "2 Mbit/s"
    buffer = "40 packets"
    schedule = { rates = [["0 s", "2 Mbit/s"], ["5 s", "10 Mbit/s"]], repeat = "10 s" }
    [[flows]]
    name = "a"
    cc = "cubic"
    rtt = "10 ms"
    [trace]
    series = "50 ms"
    """
    run = shoal.run(shoal.Scenario.from_toml(text))
    payload = 1448 / 1500
    assert metric(run, "phase_goodput_mbps('a', 0, 5, 10)") == pytest.approx(10 * payload, rel=0.05)
    assert metric(run, "phase_goodput_mbps('a', 5, 10, 10)") == pytest.approx(2 * payload, rel=0.05)
    # The same 40 packets wait five times as long at a fifth of the rate.
    assert metric(run, "phase_delay_ms(5, 10, 10)") > 3 * metric(run, "phase_delay_ms(0, 5, 10)")


def test_losses_are_counted_over_what_was_sent() -> None:
    text = """
    duration = "120 s"
    warmup   = "5 s"
    [bottleneck]
    rate = "10 Mbit/s"
    buffer = "1000 packets"
    impairments = { loss = 0.02 }
    [[flows]]
    name = "answers"
    cc = "reno"
    rtt = "20 ms"
    count = 4
    """
    run = shoal.run(shoal.Scenario.from_toml(text))
    # Some ten thousand packets: the standard deviation of the part is below 0.0015.
    assert metric(run, "loss_ratio('answers')") == pytest.approx(0.02, abs=0.0045)


def test_losses_of_datagrams_are_what_a_full_link_does_not_carry() -> None:
    text = """
    duration = "30 s"
    warmup   = "2 s"
    bottleneck = { rate = "10 Mbit/s", buffer = "20 packets" }
    flows = [{ name = "udp", cc = "none", rtt = "20 ms", app = { unresponsive = "12 Mbit/s" } }]
    """
    # Of 12 Mbit/s 10 are carried: a sixth is lost.
    run = shoal.run(shoal.Scenario.from_toml(text))
    assert metric(run, "loss_ratio('udp')") == pytest.approx(1 / 6, abs=0.002)


def test_every_second_packet_is_acknowledged() -> None:
    text = """
    duration = "30 s"
    warmup   = "5 s"
    bottleneck = { rate = "10 Mbit/s", buffer = "1000 packets" }
    flows = [{ name = "a", cc = "reno", rtt = "20 ms", cwnd_clamp = "15 packets" }]
    """
    # A megabyte is 690.6 packets of 1448 B, none of which is lost; 15 packets are below the product of 16.7.
    run = shoal.run(shoal.Scenario.from_toml(text))
    assert metric(run, "acks_per_megabyte('a')") == pytest.approx(1e6 / 1448 / 2, rel=0.02)
    assert metric(run, "acks_per_packet('a')") == pytest.approx(0.5, rel=0.02)
