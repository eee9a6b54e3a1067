"""TCP Prague on the kernel: what its packets carry, and that it does what the model does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_captures import packets

import shoal
from shoal.linux import Image, run_on_linux

if TYPE_CHECKING:
    from pathlib import Path

ECT_1, ECT_0, CE = 0b01, 0b10, 0b11
VERSIONS = ("prague-0.7", "prague-0.7-early", "prague-0.6", "prague-2020")

# One flow that is acknowledged packet by packet, so that nothing depends on timers of the receiver.
ALONE = """
title = "One Prague flow behind a step"
duration = "8 s"
warmup = "2 s"
bottleneck = {{ rate = "40 Mbit/s", buffer = "1000 packets", aqm = {{ kind = "step", threshold = "25 packets" }} }}
flows = [{{ cc = "{cc}", rtt = "30 ms", delayed_ack = false, ecn_option = "off" }}]
trace = {{ series = "off" }}
"""
# At 4 Mbit/s the window of Prague is less than two packets, and a packet of CUBIC takes 3 ms.
SLOW = """
title = "Prague and CUBIC on a slow line"
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "4 Mbit/s", buffer = "1000 packets", aqm = { kind = "dualpi2" } }
trace = { series = "off" }
flows = [
    { cc = "cubic", rtt = "20 ms", delayed_ack = false },
    { cc = "prague-0.7", rtt = "20 ms", delayed_ack = false },
]
"""


def alone(cc: str) -> shoal.Scenario:
    return shoal.Scenario.from_toml(ALONE.format(cc=cc))


@pytest.mark.parametrize("cc", VERSIONS)
def test_all_data_are_ect_1_or_marked(cc: str, image: Image, tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    result = run_on_linux(alone(cc).override({"duration": "3 s"}), image=image, pcap=file, pcap_payload=True)
    # The line sees what senders send: a mark is made behind it, and is no part of this.
    data = [packet for packet in packets(file.read_bytes()) if packet.interface == 0 and packet.payload > 0]
    assert len(data) > 5000
    assert {packet.data[1] & 3 for packet in data} <= {ECT_1, CE}
    assert sum(packet.data[1] & 3 == ECT_1 for packet in data) > len(data) / 2
    assert result.groups[0]["flows"][0]["marks_seen"] > 100


@pytest.mark.parametrize("cc", VERSIONS)
def test_a_flow_alone_is_that_of_the_simulator(cc: str, image: Image) -> None:
    linux, sim = run_on_linux(alone(cc), image=image), shoal.run(alone(cc))
    for quantity in ("marked", "arrived"):
        assert linux.bottlenecks[0][quantity] == pytest.approx(sim.bottlenecks[0][quantity], rel=0.001), quantity
    means = [result.bottlenecks[0]["queue_bytes"]["mean"] for result in (linux, sim)]
    assert means[0] == pytest.approx(means[1], rel=0.001)
    # The kernel reports it in 1/1024, rounded down.
    alphas = [result.groups[0]["flows"][0]["alpha"]["mean"] for result in (linux, sim)]
    assert alphas[0] == pytest.approx(alphas[1], abs=0.001)


def test_small_windows_are_rates_with_small_packets(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(SLOW)
    flows = [result.groups[1]["flows"][0] for result in (run_on_linux(scenario, image=image), shoal.run(scenario))]
    for flow in flows:
        assert flow["wire_bps"] * 15 / 8 / flow["data_packets"] < 400
    assert flows[0]["wire_bps"] == pytest.approx(flows[1]["wire_bps"], rel=0.1)
    assert flows[0]["data_packets"] == pytest.approx(flows[1]["data_packets"], rel=0.1)


def test_cubic_that_takes_over_is_that_of_the_simulator(image: Image, tmp_path: Path) -> None:
    scenario = alone("prague-0.7").override({"flows.*.replace": {"cc": "cubic", "after": "1 s"}, "duration": "4 s"})
    file = tmp_path / "run.pcapng"
    linux, sim = run_on_linux(scenario, image=image, pcap=file, pcap_payload=True), shoal.run(scenario)
    data = [packet for packet in packets(file.read_bytes()) if packet.interface == 0 and packet.payload > 0]
    change = next(number for number, packet in enumerate(data) if packet.data[1] & 3 == ECT_0)
    # At 40 Mbit/s a packet takes 0.3 ms.
    assert 3000 < change < 3400
    assert {packet.data[1] & 3 for packet in data[:change]} <= {ECT_1, CE}
    assert {packet.data[1] & 3 for packet in data[change:]} <= {ECT_0, CE}
    for quantity in ("marked", "arrived"):
        assert linux.bottlenecks[0][quantity] == pytest.approx(sim.bottlenecks[0][quantity], rel=0.001), quantity
    assert linux.notices[0].kind == sim.notices[0].kind == "controller-replaced"
