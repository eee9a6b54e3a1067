"""The link of a dumbbell in the direction of its ACKs: what it does to data, and how results show it."""

from __future__ import annotations

import pytest

import shoal

# One flow whose window of 100 packets is longer than the path, which has 100 ms at the rate of its ACKs. An ACK is 52 B
# and acknowledges two packets of 1448 B.
ACKS = """
duration = "20 s"
warmup = "5 s"
bottleneck = {{ rate = "20 Mbit/s", buffer = "unlimited" }}
reverse = {{ rate = "{rate}", buffer = "{buffer}" }}
flows = [{{ cc = "reno", rtt = "100 ms", cwnd_clamp = "{window} packets" }}]
"""

# 100 : 5, as in ADSL, with data in both directions.
ASYMMETRIC = """
duration = "30 s"
warmup = "5 s"
[bottleneck]
rate = "100 Mbit/s"
buffer = "200 packets"
[reverse]
rate = "5 Mbit/s"
buffer = "60 kB"
[[flows]]
name = "down"
cc = "cubic"
rtt = "30 ms"
[[flows]]
name = "up"
cc = "cubic"
rtt = "30 ms"
direction = "reverse"
"""


def goodput_bps(result: shoal.Result, group: int = 0) -> float:
    return result.groups[group]["flows"][0]["goodput_bps"] or 0.0


@pytest.mark.parametrize("rate", ["50 kbit/s", "100 kbit/s", "200 kbit/s"])
def test_throughput_is_that_of_the_acks_that_fit(rate: str) -> None:
    result = shoal.run(shoal.Scenario.from_toml(ACKS.format(rate=rate, buffer="unlimited", window=100)))
    forward, back = result.bottlenecks
    acks_per_s = float(rate.split(maxsplit=1)[0]) * 1000 / (52 * 8)
    assert goodput_bps(result) == pytest.approx(acks_per_s * 2 * 1448 * 8, rel=1e-3)
    assert (forward["name"], back["name"]) == ("bottleneck", "reverse")
    assert back["utilisation"] == pytest.approx(1, abs=1e-3)
    assert back["dropped"] == forward["dropped"] == 0
    # 50 ACKs for 100 packets; what is not on its way for 100 ms waits here, but for one that is being sent.
    in_flight = acks_per_s * 0.1
    assert back["queue_packets"]["mean"] == pytest.approx(50 - in_flight, abs=2)


def test_acks_that_are_lost_are_made_up_for_by_those_that_follow() -> None:
    # An ACK is cumulative: where every second one is lost, each of the others acknowledges more.
    result = shoal.run(shoal.Scenario.from_toml(ACKS.format(rate="100 kbit/s", buffer="5 packets", window=1000)))
    _, back = result.bottlenecks
    assert back["dropped"] > 0.2 * back["arrived"]
    assert back["utilisation"] > 0.95
    assert goodput_bps(result) > 1.2 * (100e3 / (52 * 8) * 2 * 1448 * 8)


def test_acks_wait_behind_data_in_their_direction() -> None:
    scenario = shoal.Scenario.from_toml(ASYMMETRIC)
    both = shoal.run(scenario)
    alone = shoal.run(scenario.override({"flows.up.start": "29 s"}))
    down, up = both.bottlenecks
    assert up["utilisation"] > 0.95
    # The buffer of 60 kB at 5 Mbit/s are 96 ms, in which ACKs wait.
    assert 0.05 < (up["delay_s"]["all"]["mean"] or 0) < 0.096
    assert up["dropped"] > 10
    assert goodput_bps(alone) > 90e6
    assert goodput_bps(both) < 0.9 * goodput_bps(alone)
    # The wait of ACKs explains what the windows do not.
    assert both.notices == []
    assert 2e6 < goodput_bps(both, 1) < 5e6
    assert both.groups[1]["flows"][0]["base_rtt_s"] == pytest.approx(0.03)
    assert down["departed_bytes"] > 10 * up["departed_bytes"]


def test_the_reverse_link_has_laws_schedules_and_impairments() -> None:
    text = ACKS.format(rate="100 kbit/s", buffer="50 packets", window=100).replace(
        'buffer = "50 packets" }',
        'buffer = "50 packets", delay = "20 ms", aqm = { kind = "codel" }, '
        'schedule = { opportunity_gaps = "20x2" }, impairments = { loss = 0.1 } }',
    )
    result = shoal.run(shoal.Scenario.from_toml(text))
    _, back = result.bottlenecks
    # Two opportunities each 20 ms are 1.2032 Mbit/s, in which no ACK is left behind.
    assert back["history"]["mean_rate_bps"] == 1.2032e6
    assert back["delay_s"]["all"]["max"] <= 0.02 + 1e-9
    (lost,) = result.paths
    assert lost["link"] == "reverse"
    assert lost["lost"] == pytest.approx(0.1 * back["departed"], rel=0.2)
    assert {notice.kind for notice in result.notices} >= {"moving-link", "impaired-link"}
    assert result.groups[0]["flows"][0]["base_rtt_s"] == pytest.approx(0.1)
