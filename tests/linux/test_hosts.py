"""Hosts that hand several segments to their device at once, and those that do not."""

from __future__ import annotations

import functools
import itertools
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_captures import packets

import shoal
from shoal.compare import compare
from shoal.errors import ScenarioError
from shoal.linux import Image, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan
from shoal.scenario_keys import FlowHost, Step

MTU = 1500
PSH = 8
# One packet with its framing on an access line of 10 Gbit/s: 1538 B x 8 / 10^10 bit/s.
ACCESS_NS = 1538 * 8 / 10

# A path below 512 us, so that the kernel's budget for a segment is 64 KiB whatever the rate (`tcp_tso_autosize`).
SHORT = """
title = "One flow over a short path"
duration = "100 ms"
warmup = "20 ms"
bottleneck.rate = "1 Gbit/s"
bottleneck.buffer = "400 packets"
bottleneck.overhead = "38 B"
bottleneck.aqm = { kind = "step", threshold = "40 packets" }
flows = [{ cc = "dctcp", rtt = "200 us" }]
"""
ACCESS = f'{SHORT}topology = {{ kind = "dumbbell", access_rate = "10 Gbit/s" }}\n'
HOSTS = ("ideal", "linux-6-gso")


@dataclass(frozen=True)
class Arrival:
    """Data that was queued (`struct line_record` in linux/testbed/sch_line.h)."""

    time_ns: int
    size: int


def arrivals(scenario: shoal.Scenario, image: Image) -> list[Arrival]:
    """Data packets that came to the queue of the reported link after the warm-up."""
    with guest_folder() as folder:
        planned = plan(scenario, image)
        run_guest(planned.config, image, folder, memory_mib=planned.memory_mib, seed=planned.seed)
        warmup_ns = scenario.facts["warmup_s"] * 1e9
        records = struct.iter_unpack("=qQIIIIHHBBBB", (folder / "lines.bin").read_bytes())
        return [
            Arrival(time_ns, size)
            for time_ns, _, _, _, _, _, size, payload, event, _, _, _ in records
            if event == 0 and payload and time_ns > warmup_ns
        ]


def run_lengths(found: list[Arrival], apart_ns: float) -> list[int]:
    """Numbers of packets that follow each other at no more than this distance."""
    runs = [1]
    for before, after in itertools.pairwise(found):
        if after.time_ns - before.time_ns <= apart_ns + 1:
            runs[-1] += 1
        else:
            runs.append(1)
    return runs


@pytest.mark.parametrize(("text", "apart_ns"), [(SHORT, 0), (ACCESS, ACCESS_NS)], ids=["no access line", "access line"])
def test_packets_of_a_segment_follow_each_other_at_the_rate_of_the_access_line(
    text: str, apart_ns: float, image: Image
) -> None:
    """In a dumbbell without access lines that is at one instant."""
    scenario = shoal.Scenario.from_toml(text)
    runs = {}
    for host in HOSTS:
        own = scenario.override({"flows[0].host": host})
        found = arrivals(own, image)
        assert len(found) > 1000
        assert max(arrival.size for arrival in found) == MTU
        runs[host] = max(run_lengths(found, apart_ns))
    # An ACK covers at most two packets and lets the window grow by one; the ACKs that a change of the marks sends
    # at once (RFC 8257 section 3.2) cover none twice.
    assert 2 <= runs["ideal"] <= 4
    # TCP waits until a third of the window may be sent (`tcp_tso_should_defer`, tcp_tso_win_divisor = 3), at most 45
    # segments of 1448 B in 64 KiB less the headers at a time, and no segment takes more than half a window
    # (`tcp_cwnd_test`).
    window = run_on_linux(scenario.override({"flows[0].host": "linux-6-gso"}), image=image).groups[0]["flows"][0]
    cwnd = window["cwnd_packets"]["mean"]
    assert 30 < cwnd < 90
    assert cwnd / 3 <= runs["linux-6-gso"] <= 45
    assert runs["linux-6-gso"] >= 4 * runs["ideal"]


@pytest.mark.parametrize("rate_mbps", [40, 60, 100])
def test_runs_of_a_longer_path_are_a_millisecond_of_the_rate(rate_mbps: int, image: Image) -> None:
    """Beyond 8 ms a segment holds a 1024th of what TCP's rate sends in a second (`tcp_tso_autosize`)."""
    settings = {"bottleneck.rate": f"{rate_mbps} Mbit/s", "duration": "8 s", "warmup": "2 s"}
    scenario = shoal.Scenario.named("step-single").override({**settings, "flows[0].host": "linux-6-gso"})
    runs = run_lengths(arrivals(scenario, image), 0)
    # The rate is 120 % of window over RTT (tcp_pacing_ca_ratio), which is the line's; 3.9, 5.9 and 9.8 packets.
    budget = 1.2 * rate_mbps * 1e6 / 8 / MTU / 1024
    in_budget = [run for run in runs if run in (int(budget), int(budget) + 1)]
    assert sum(in_budget) > 0.6 * sum(runs)
    # Besides a segment, the packet by which the window has grown; seldom another one, when two ACKs come at once.
    assert max(runs) <= budget + 3
    assert sum(run > budget + 2 for run in runs) <= len(runs) / 1000


# A slow path, a fast one, and one that is so fast that segments are as long as the window lets them be.
PATHS = {
    "10 Mbit/s": {"flows[0].rtt": "25 ms", "bottleneck.aqm.threshold": "10 packets", "duration": "3 s"},
    "1 Gbit/s": {"flows[0].rtt": "500 us", "bottleneck.aqm.threshold": "20 packets", "duration": "100 ms"},
    "10 Gbit/s": {"flows[0].rtt": "200 us", "bottleneck.aqm.threshold": "65 packets", "duration": "30 ms"},
}


def on_path(rate: str, pacing: str) -> shoal.Scenario:
    """One flow from its first packet on."""
    text = SHORT.replace('overhead = "38 B"', 'overhead = "0 B"').replace("rtt =", 'start = "0 s", rtt =')
    return shoal.Scenario.from_toml(text).override(
        {
            "bottleneck.rate": rate,
            "bottleneck.buffer": "1000 packets",
            "warmup": "0 s",
            "flows[0].host": {"pacing": pacing},
            **PATHS[rate],
        }
    )


@pytest.mark.parametrize(
    ("host", "pacing", "rate", "rtt", "threshold", "duration"),
    [
        ("linux-6-gso", "off", "10 Mbit/s", "25 ms", 10, "3 s"),
        ("linux-6-gso", "off", "1 Gbit/s", "500 us", 20, "100 ms"),
        ("linux-6-gso", "off", "10 Gbit/s", "200 us", 65, "30 ms"),
        ("linux-6-gso", "internal", "10 Mbit/s", "25 ms", 10, "3 s"),
        ("linux-6-gso", "internal", "1 Gbit/s", "500 us", 20, "100 ms"),
        ("linux-6-gso", "internal", "10 Gbit/s", "200 us", 65, "30 ms"),
        ("linux-6-gso", "fq", "10 Mbit/s", "25 ms", 10, "3 s"),
        ("linux-6-gso", "fq", "1 Gbit/s", "500 us", 20, "100 ms"),
        ("linux-6-10g", "off", "1 Gbit/s", "100 us", 20, "500 ms"),
        ("linux-6-10g", "off", "1 Gbit/s", "200 us", 20, "500 ms"),
        ("linux-6-10g", "off", "1 Gbit/s", "500 us", 20, "500 ms"),
    ],
)
def test_the_simulator_sends_the_same_packets(
    host: str, pacing: str, rate: str, rtt: str, threshold: int, duration: str, image: Image, tmp_path: Path
) -> None:
    """Segments, what they wait for, and what the application's writes change: packet by packet as on Linux.

    With cards that wait for interrupts and merge packets, too.
    """
    aqm: Step = {"kind": "step", "threshold": f"{threshold} packets"}
    own: FlowHost = {"preset": host, "pacing": pacing}
    scenario = shoal.Scenario.from_keys(
        {
            "duration": duration,
            "warmup": "0 s",
            "bottleneck": {"rate": rate, "buffer": "1000 packets", "aqm": aqm},
            "flows": [{"cc": "dctcp", "rtt": rtt, "host": own, "start": "0 s"}],
        }
    )
    sent, heard, cards = [], [], []
    for name, run in (("simulator", shoal.run), ("linux", functools.partial(run_on_linux, image=image))):
        result = run(scenario, pcap=tmp_path / name, pcap_payload=True)
        cards.append([(card["host"], card["packets"], card["interrupts"], card["ring_drops"]) for card in result.cards])
        found = [
            packet for packet in packets((tmp_path / name).read_bytes()) if packet.interface == 0 and packet.payload
        ]
        first = found[0].sequence
        acks = [packet for packet in packets((tmp_path / name).read_bytes()) if packet.interface == 1]
        heard.append([((packet.acknowledged - first) % 2**32, packet.flags) for packet in acks])
        sent.append([((packet.sequence - first) % 2**32, packet.payload, packet.flags, packet.ecn) for packet in found])
    simulated, measured = sent
    # A run ends at the same time on both planes, but its last packets may be on either side of it.
    together = min(len(simulated), len(measured))
    assert together > 2000
    assert abs(len(simulated) - len(measured)) <= 2
    differing = next((n for n in range(together) if simulated[n] != measured[n]), None)
    assert differing is None, f"packet {differing}: {simulated[differing]} and {measured[differing]}"
    if host == "linux-6-10g":
        together = min(map(len, heard))
        assert abs(len(heard[0]) - len(heard[1])) <= 2
        assert together > 2000
        assert heard[0][:together] == heard[1][:together]
    assert [card[0] for card in cards[0]] == [card[0] for card in cards[1]]
    assert bool(cards[0]) == (host != "linux-6-gso")
    for expected, measured_card in zip(*cards, strict=True):
        # Interrupts of the last moment are on either side of the end; each takes some packets.
        assert abs(measured_card[2] - expected[2]) <= 2
        assert abs(measured_card[1] - expected[1]) <= 10
        assert measured_card[3] == expected[3] == 0


# By how much of the measured value the simulator may differ: the targets of the comparisons of both planes.
TOLERANCES = {"utilisation": 0.01, "queue": 0.08}


@pytest.mark.parametrize(
    "changes",
    [
        # A round trip of whole microseconds on Linux and of picoseconds here makes a gap of fq differ by 63 ns.
        {**PATHS["10 Gbit/s"], "bottleneck.rate": "10 Gbit/s", "duration": "100 ms", "warmup": "20 ms"},
        {**PATHS["1 Gbit/s"], "flows[0].count": 4, "duration": "1 s", "warmup": "100 ms"},
        {
            **PATHS["1 Gbit/s"],
            "topology": {"kind": "dumbbell", "access_rate": "10 Gbit/s"},
            "duration": "500 ms",
            "warmup": "100 ms",
        },
    ],
    ids=["10 Gbit/s", "four flows", "access lines"],
)
def test_hosts_with_fq_use_a_queue_as_on_linux(changes: dict[str, object], image: Image) -> None:
    scenario = on_path("1 Gbit/s", "fq").override(changes)
    found = []
    for run in (shoal.run(scenario), run_on_linux(scenario, image=image)):
        link = run.bottlenecks[0]
        found.append({"utilisation": link["utilisation"], "queue": link["queue_bytes"]["mean"]})
    simulated, measured = found
    for key, within in TOLERANCES.items():
        assert simulated[key] == pytest.approx(measured[key], rel=within), key


def test_captures_show_packets_of_the_mtu_at_most(image: Image, tmp_path: Path) -> None:
    scenario = shoal.Scenario.from_toml(SHORT).override({"flows[0].host": "linux-6-gso"})
    run_on_linux(scenario, image=image, pcap=tmp_path / "run.pcapng", pcap_payload=True)
    sizes = [len(packet.data) for packet in packets((tmp_path / "run.pcapng").read_bytes())]
    # 100 ms of 1 Gbit/s are 8127 packets of 1538 B.
    assert len(sizes) > 7000
    assert max(sizes) == MTU


def test_receivers_merge_nothing(image: Image, tmp_path: Path) -> None:
    """A receiver that merged the 15 packets and more of a run (GRO) would send one ACK for all of them."""
    scenario = shoal.Scenario.from_toml(SHORT).override({"flows[0].host": "linux-6-gso"})
    run_on_linux(scenario, image=image, pcap=tmp_path / "run.pcapng", pcap_payload=True)
    found = packets((tmp_path / "run.pcapng").read_bytes())
    data = [packet for packet in found if packet.interface == 0 and packet.payload]
    acks = sum(packet.interface == 1 for packet in found)
    # Every second packet, and those with PSH, of which each segment has one at its end (`__tcp_transmit_skb`).
    assert acks >= 0.49 * len(data)
    assert sum(packet.flags & PSH > 0 for packet in data) >= len(data) / 45


def test_explain_says_what_is_set_on_each_host(image: Image, tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text(
        SHORT.replace("flows = [", 'flows = [{ name = "stock", cc = "dctcp", host = "linux-6-gso", rtt = "200 us" }, ')
    )
    command = [sys.executable, "-m", "shoal", "run", str(file), "--on", "linux", "--explain"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "400"})
    lines = said.stdout.splitlines()
    for host, most in (("s0", 65535), ("d0", 65535), ("s1", 1), ("d1", 1)):
        assert sum(host in line.split() and f"gso_max_segs {most}" in line for line in lines) == 1, said.stdout
    # No host has a queue discipline but the delay of the receivers, and offloads are off everywhere.
    assert not any(line.startswith("s") and "tc qdisc" in line for line in lines)
    assert any("ethtool -K tso off gso off gro off" in line for line in lines)


def test_the_same_scenario_gives_the_same_bytes(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(SHORT).override({"flows[0].host": "linux-6-gso"})
    once, again = (run_on_linux(scenario, image=image).json for _ in range(2))
    assert once == again


def test_comparison_is_refused_before_anything_runs(image: Image, tmp_path: Path) -> None:
    file = tmp_path / "stock.toml"
    older = 'rtt = "200 us", stack = "linux-3.18", host = { pacing = "fq" }'
    file.write_text(SHORT.replace('rtt = "200 us"', older))
    command = [sys.executable, "-m", "shoal", "compare", "step-single", str(file), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "`stock`" in done.stderr
    assert "flow group `dctcp`: host.pacing" in done.stderr
    assert "--on linux" in done.stderr
    assert not (tmp_path / "out").exists()
    # What both planes refuse is reported in one message.
    both = shoal.Scenario.from_toml(file.read_text()).override({"flows[0].cwnd_clamp": "20 packets"})
    with pytest.raises(ScenarioError, match=r"(?s)host\.pacing.*no bound of cwnd"):
        compare([("both", both)])
