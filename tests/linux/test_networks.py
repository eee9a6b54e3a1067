"""Networks with more than one queue, and connections whose ends differ: the kernel does what the scenario says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import SINGLE, tables

import shoal
from shoal.linux import Image, run_on_linux

INCAST = """
title = "Incast"
duration = "1 s"
warmup = "0 s"
trace = { series = "10 ms" }
[topology]
kind = "star"
hosts = 4
rate = "1 Gbit/s"
delay = "25 us"
buffer = "400 packets"
aqm = { kind = "step", threshold = "20 packets" }
[[flows]]
cc = "dctcp"
from = "h1..h3"
to = "h4"
count = 10
app = { transfer = "144800 B", rounds = 10, every = "100 ms" }
"""


def test_star_carries_every_transfer_through_one_port(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(INCAST)
    result = run_on_linux(scenario, image=image)
    assert [link["name"] for link in result.bottlenecks] == ["switch->h4"]
    flows = result.groups[0]["flows"]
    assert all(len(flow["fct_s"]) == 10 for flow in flows)
    # The port takes 10 x 100 packets of 1500 B a round: 12 ms. No round can be shorter, and here no packet is lost.
    rounds = [max(flow["fct_s"][number] for flow in flows) for number in range(10)]
    assert all(0.012 < seconds < 0.02 for seconds in rounds[1:])
    assert result.bottlenecks[0]["dropped"] == 0
    assert result.bottlenecks[0]["marked"] > 1000
    # 100 transfers of 144800 B in full packets, and besides them only ten SYNs and FINs.
    assert sum(flow["delivered_bytes"] for flow in flows) == 100 * 144800
    assert result.bottlenecks[0]["arrived"] == pytest.approx(100 * 100, abs=10 * 3)


def test_star_gives_the_same_bytes_alone_and_in_parallel(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(INCAST)
    alone = run_on_linux(scenario, image=image)
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(lambda _: run_on_linux(scenario, image=image), range(2)))
    assert [result.json for result in at_once] == [alone.json] * 2
    assert [tables(result) for result in at_once] == [tables(alone)] * 2


def test_parking_lot_has_three_bottlenecks_in_a_row(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(
        """
duration = "8 s"
warmup = "2 s"
[topology]
kind = "parking-lot"
bottlenecks = 3
rate = "10 Mbit/s"
delay = "2 ms"
access_delay = "1 ms"
buffer = "60 packets"
[[flows]]
cc = "reno"
from = "in"
to = "out"
[[flows]]
name = "cross"
cc = "reno"
from = ["in1", "in2", "in3"]
to = ["out1", "out2", "out3"]
count = 3
"""
    )
    result = run_on_linux(scenario, image=image)
    assert [link["name"] for link in result.bottlenecks] == ["bottleneck1", "bottleneck2", "bottleneck3"]
    through, cross = result.groups[0]["flows"][0], result.groups[1]["flows"]
    # A flow through all of them is counted once: with the other flow each line is full.
    for link, beside in zip(result.bottlenecks, cross, strict=True):
        assert link["utilisation"] > 0.97
        # A packet of each flow may be on the path between two counts.
        assert through["wire_bps"] + beside["wire_bps"] == pytest.approx(10e6 * link["utilisation"], rel=0.02)
    # 2 x (1 + 3 x 2 + 1) ms and four serialisations of 1.2 ms; those of the ACKs add less than 1 ms.
    assert through["srtt_s"]["min"] >= 0.016


def test_one_sided_pairings_use_ecn(image: Image) -> None:
    """Each pairing of a DCTCP or classic sender with a DCTCP or classic listener: marks instead of drops."""
    for cc, feedback in [
        ("dctcp", "classic"),
        ("ecn-reno", "dctcp"),
        ("ecn-reno", "classic"),
        ("dctcp-freebsd", "classic"),
        ("dctcp-freebsd", "dctcp"),
    ]:
        scenario = shoal.Scenario.from_toml(SINGLE).override(
            {"flows[0].cc": cc, "flows[0].receiver.feedback": feedback}
        )
        result = run_on_linux(scenario, image=image)
        flow = result.groups[0]["flows"][0]
        assert flow["marks_seen"] > 50, (cc, feedback)
        assert flow["losses"] == 0, (cc, feedback)
        assert flow["reductions"] > (20 if "dctcp" in cc else 5), (cc, feedback)
        assert result.bottlenecks[0]["delay_s"]["not_ect"]["p50"] is None, (cc, feedback)


def test_initial_window_is_sent_in_the_first_round(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(
        """
duration = "2 s"
warmup = "0 s"
bottleneck = { rate = "100 Mbit/s", buffer = "100 packets" }
[[flows]]
cc = "reno"
rtt = "100 ms"
initial_window = "3 packets"
delayed_ack = false
app = { transfer = "4344 B" }
"""
    )

    def completion(scenario: shoal.Scenario) -> float:
        return float(run_on_linux(scenario, image=image).groups[0]["flows"][0]["fct_s"][0])

    # Three segments: a round trip of handshake and one of data; with a window of two another one, for the third.
    assert completion(scenario) == pytest.approx(0.2, abs=0.002)
    assert completion(scenario.override({"flows[0].initial_window": "2 packets"})) == pytest.approx(0.3, abs=0.002)
