"""A well-known program confirms the numbers: iperf3 in the guest instead of the sender and receiver of this project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import shoal
from shoal.linux import Image, LinuxError, plan, run_on_linux
from shoal.linux.iperf3 import find_iperf3
from shoal.linux.programs import Program

TWO = """
title = "Two flows"
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "20 Mbit/s", buffer = "100 packets", aqm = { kind = "step", threshold = "20 packets" } }
[[flows]]
cc = "dctcp"
rtt = "20 ms"
[[flows]]
cc = "cubic"
rtt = "20 ms"
start = "0.5 s"
"""


@pytest.fixture(scope="module")
def iperf3() -> Program:
    try:
        return find_iperf3("iperf3")
    except LinuxError as error:
        pytest.skip(f"left out: {error} ({error.hint})")


def test_goodput_of_one_flow_is_that_of_our_own_sender(single: shoal.Scenario, image: Image, iperf3: Program) -> None:
    own, other = (run_on_linux(single, image=used) for used in (image, replace(image, iperf3=iperf3)))
    [one, two] = [result.groups[0]["flows"][0] for result in (own, other)]
    assert two["goodput_bps"] == pytest.approx(one["goodput_bps"], rel=0.01)
    # Besides the rate, the queue, the marks and the counters of the sender agree.
    assert other.bottlenecks[0]["queue_bytes"]["mean"] == pytest.approx(
        own.bottlenecks[0]["queue_bytes"]["mean"], rel=0.1
    )
    assert two["alpha"]["mean"] == pytest.approx(one["alpha"]["mean"], rel=0.1)
    assert two["cwnd_packets"]["mean"] == pytest.approx(one["cwnd_packets"]["mean"], rel=0.1)
    assert other.data["linux"]["generator"] == iperf3.version
    assert "generator" not in own.data["linux"]


def test_two_flows_share_the_link_and_repeat(image: Image, iperf3: Program) -> None:
    scenario = shoal.Scenario.from_toml(TWO)
    driven = replace(image, iperf3=iperf3)
    own, other = run_on_linux(scenario, image=image), run_on_linux(scenario, image=driven)
    assert run_on_linux(scenario, image=driven).json == other.json

    def total(result: shoal.Result) -> float:
        return float(sum(group["goodput_bps"]["sum"] for group in result.groups))

    assert total(other) == pytest.approx(total(own), rel=0.01)
    assert all(group["flows"][0]["cwnd_packets"]["mean"] > 1 for group in other.groups)
    assert other.bottlenecks[0]["marked"] > 0


@pytest.mark.parametrize(
    ("flow", "place", "words"),
    [
        ({"app": {"transfer": "1 MB"}}, "flow group `dctcp`: app", "no sizes"),
        ({"app": {"on": "1 s", "off": "1 s"}}, "flow group `dctcp`: app", "no pauses"),
        ({"stop": "3 s"}, "flow group `dctcp`: stop", "handshakes of its own"),
        ({"receiver": {"feedback": "classic"}}, "flow group `dctcp`: receiver", "before it connects"),
    ],
)
def test_what_it_cannot_do_is_refused(
    flow: dict[str, object], place: str, words: str, image: Image, iperf3: Program
) -> None:
    base = shoal.Scenario.from_keys(
        {
            "duration": "5 s",
            "bottleneck": {"rate": "10 Mbit/s", "buffer": "100 packets"},
            "flows": [{"cc": "dctcp", "rtt": "20 ms"}],
        }
    )
    scenario = base.override({f"flows[0].{key}": value for key, value in flow.items()})
    with pytest.raises(shoal.ScenarioError, match=words) as caught:
        plan(scenario, replace(image, iperf3=iperf3))
    assert f"error: {place}" in str(caught.value)
    assert "hint: leave out --generator" in str(caught.value)
    plan(scenario, image)


def test_programs_that_are_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(LinuxError, match="there is no program"):
        find_iperf3(str(tmp_path / "iperf3"))
    with pytest.raises(LinuxError, match="is not iperf3"):
        find_iperf3("/bin/true")
