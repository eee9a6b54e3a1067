"""ACKs for each data packet and the most frequent queue length, as metrics of a run."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.metrics import metric

TEXT = """\
duration = "6 s"
warmup = "1 s"
trace = { series = "off", distributions = true }

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"
aqm = { kind = "step", threshold = "5 packets" }

[[flows]]
name = "reno"
cc = "reno"
ecn = "off"
stack = "linux-3.18"
rtt = "20 ms"
cwnd_clamp = "10 packets"

[[flows]]
name = "dctcp"
cc = "dctcp-linux-3.18"
stack = "linux-3.18"
rtt = "20 ms"
count = 2
"""


@pytest.fixture(scope="module")
def result() -> shoal.Result:
    return shoal.run(shoal.Scenario.from_toml(TEXT))


def test_every_second_packet_of_reno_is_acknowledged_and_more_of_dctcp(result: shoal.Result) -> None:
    # Reno loses no packet, with a buffer of 100 packets and a window of 10.
    assert metric(result, "acks_per_packet('reno')") == pytest.approx(0.5, abs=0.01)
    # The queue crosses the threshold up and down in every round trip, and every change of CE is acknowledged.
    assert 0.52 < metric(result, "acks_per_packet('dctcp')") < 1


def test_the_group_adds_up_its_flows(result: shoal.Result) -> None:
    group = result.groups[1]
    for count in ("acks_sent", "data_packets"):
        assert group["totals"][count] == sum(flow[count] for flow in group["flows"]) > 0
    assert group["acks_per_packet"] == group["totals"]["acks_sent"] / group["totals"]["data_packets"]


def test_without_delayed_acks_there_is_one_for_each_packet() -> None:
    scenario = shoal.Scenario.from_toml(TEXT)
    keys = {"flows.reno.delayed_ack": False, "flows.dctcp.delayed_ack": False}
    every = shoal.run(scenario.override(keys))
    assert metric(every, "acks_per_packet('reno')") == metric(every, "acks_per_packet('dctcp')") == 1


def test_the_mode_of_the_queue_is_its_most_frequent_length(result: shoal.Result) -> None:
    waited = result.table("backlog_distribution").filter((pl.col("class") == "all") & (pl.col("link") == "bottleneck"))
    # Lengths of this queue have bins of one packet.
    assert (waited["low_packets"] == waited["high_packets"]).all()
    longest = waited["time_s"].max()
    assert metric(result, "queue_mode('all')") == waited.filter(pl.col("time_s") == longest)["low_packets"][0]
