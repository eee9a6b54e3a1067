"""Receivers: no setting of the testbed decides when they acknowledge."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest
from test_captures import SYN, packets

import shoal
from shoal.linux import Image, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan

RENO = """
title = "One Reno flow"
duration = "6 s"
warmup = "1 s"
bottleneck = { rate = "10 Mbit/s", buffer = "60 packets", aqm = { kind = "fifo" } }
flows = [{ cc = "reno", rtt = "25 ms" }]
"""

LOW_WINDOWS = """
title = "Sixty flows with windows of a few packets"
duration = "4 s"
warmup = "1 s"
bottleneck = { rate = "200 Mbit/s", buffer = "150 packets", aqm = { kind = "step", threshold = "40 packets" } }
flows = [{ cc = "dctcp", rtt = "5 ms", count = 60, start = { uniform = ["0 s", "500 ms"] } }]
"""

# A receiver with DCTCP's echo beside a whole DCTCP flow. Their RTTs differ by no whole number of packet times of
# 200 us: otherwise packets of both arrive at the same instants, and the planes differ in who comes first.
ONE_SIDED = """
title = "One receiver with the echo of DCTCP, and DCTCP"
duration = "3.5 s"
warmup = "1 s"
bottleneck = { rate = "60 Mbit/s", buffer = "300 packets", aqm = { kind = "step", threshold = "20 packets" } }
[[flows]]
name = "receiver"
cc = "ecn-reno"
rtt = "10.03 ms"
start = { uniform = ["0 s", "300 ms"] }
receiver = { feedback = "dctcp" }
[[flows]]
name = "both"
cc = "dctcp"
rtt = "10.7 ms"
start = { uniform = ["0 s", "300 ms"] }
"""


def acks_per_thousand(file: Path) -> list[int]:
    """How many ACKs arrive at the sender while the line sends a thousand packets, thousand by thousand."""
    counts, sent = [0], 0
    for packet in packets(file.read_bytes()):
        if packet.interface == 1:
            counts[-1] += 1
        elif packet.payload and not packet.comment.startswith("dropped"):
            sent += 1
            if sent % 1000 == 0:
                counts.append(0)
    return counts[:-1]


def test_acks_are_delayed_from_the_start(image: Image, tmp_path: Path) -> None:
    """As on the simulator, whose receivers have no window that grows; with one, the first thousands are near 1000."""
    scenario = shoal.Scenario.from_toml(RENO)
    run_on_linux(scenario, image=image, pcap=tmp_path / "linux.pcapng", pcap_payload=True)
    shoal.run(scenario, pcap=tmp_path / "sim.pcapng", pcap_payload=True)
    real, simulated = (acks_per_thousand(tmp_path / f"{plane}.pcapng") for plane in ("linux", "sim"))
    assert len(real) == len(simulated) == 4
    assert real == pytest.approx(simulated, abs=5)
    # Slow start and its losses are in the first thousands; a window that grows adds up to 400 in each of three.
    assert min(real) < 600


def data(file: Path) -> list[tuple[int, int, int]]:
    """Number of the sender, relative sequence number and ECN field of all data that leave the queue."""
    sent = [packet for packet in packets(file.read_bytes()) if packet.payload and packet.interface == 0]
    first: dict[bytes, int] = {}
    for packet in sent:
        first.setdefault(packet.source, packet.sequence)
    senders = list(first)
    return [(senders.index(p.source), (p.sequence - first[p.source]) % 2**32, p.ecn) for p in sent]


def test_two_flows_have_the_same_packets_on_both_planes(image: Image, tmp_path: Path) -> None:
    """The first 21 MB, after which a sender of the plane sets PSH (`forced_push`), which has an ACK of its own."""
    scenario = shoal.Scenario.from_toml(ONE_SIDED)
    run_on_linux(scenario, image=image, pcap=tmp_path / "linux.pcapng", pcap_payload=True)
    shoal.run(scenario, pcap=tmp_path / "sim.pcapng", pcap_payload=True)
    real, simulated = (data(tmp_path / f"{plane}.pcapng") for plane in ("linux", "sim"))
    assert len(simulated) > 15_000
    assert real == simulated


# Losses, timeouts that were needless and others, ACKs that wait for others, the first window lost with the ACK of the
# handshake. The RTT of the flow beside bursts keeps its packets and theirs from meeting at the same instant.
OUTAGE = """
title = "An outage"
duration = "1 s"
bottleneck = { rate = "30 Mbit/s", buffer = "BUFFER packets", schedule = { changes = [
    { at = "AT ms", outage = "250 ms" }
] } }
flows = [{ cc = "reno", rtt = "5 ms" }]
"""
BURSTS = """
title = "A flow beside bursts that fill the buffer again and again"
duration = "12 s"
bottleneck = { rate = "30 Mbit/s", buffer = "30 packets" }
[[flows]]
cc = "reno"
rtt = "5.0137 ms"
start = "1.6 ms"
[[flows]]
cc = "none"
rtt = "5 ms"
count = 40
start = { every = "0.3 s" }
stop = STOPS
app = { unresponsive = "90 Mbit/s" }
"""
SHORT = """
title = "Two flows behind six packets"
duration = "1 s"
bottleneck = { rate = "43.6 Mbit/s", buffer = "6 packets" }
[[flows]]
cc = "reno"
rtt = "2.396 ms"
[[flows]]
cc = "cubic"
rtt = "1.731 ms"
start = "0.7 ms"
"""
ALIKE = {
    "a short buffer": OUTAGE.replace("BUFFER", "3").replace("AT", "5.2"),
    "a longer buffer": OUTAGE.replace("BUFFER", "12").replace("AT", "5.2"),
    "later": OUTAGE.replace("BUFFER", "12").replace("AT", "9"),
    "bursts": BURSTS.replace("STOPS", json.dumps([f"{0.3 * burst + 0.1:.1f} s" for burst in range(40)])),
    "six packets": SHORT,
}


def seen(file: Path) -> list[tuple[int, int, int, int, int]]:
    """All TCP packets but SYNs: flow, interface, relative position or what an ACK acknowledges, payload, time in ns."""
    flows: list[frozenset[bytes]] = []
    first = dict[tuple[int, bytes, bool], int]()
    rows = []
    for packet in packets(file.read_bytes()):
        if packet.data[9] != socket.IPPROTO_TCP or packet.flags & SYN or not packet.flags:
            continue
        ends = frozenset([packet.source + packet.data[20:22], packet.destination + packet.data[22:24]])
        if ends not in flows:
            flows.append(ends)
        flow = flows.index(ends)
        position = packet.sequence if packet.payload else packet.acknowledged
        position = (position - first.setdefault((flow, packet.source, packet.payload > 0), position)) % 2**32
        rows.append((flow, packet.interface, position, packet.payload, packet.time_ns))
    return sorted(rows)


@pytest.mark.parametrize("name", ALIKE)
def test_planes_have_the_same_packets_after_losses(name: str, image: Image, tmp_path: Path) -> None:
    """Every packet and every ACK, within a microsecond."""
    scenario = shoal.Scenario.from_toml(ALIKE[name])
    run_on_linux(scenario, image=image, pcap=tmp_path / "linux.pcapng", pcap_payload=True)
    shoal.run(scenario, pcap=tmp_path / "sim.pcapng", pcap_payload=True)
    real, simulated = (seen(tmp_path / f"{plane}.pcapng") for plane in ("linux", "sim"))
    assert sum(interface == 2 for _, interface, *_ in simulated) > 10, "losses"
    assert len(simulated) > 1000
    assert [row[:4] for row in real] == [row[:4] for row in simulated]
    assert max(abs(one[4] - other[4]) for one, other in zip(real, simulated, strict=True)) <= 1000


def test_many_small_windows_are_marked_as_on_the_simulator(image: Image) -> None:
    """Marks of flows with four packets each depend on every ACK: receivers that delay none get a fifth more."""
    scenario = shoal.Scenario.from_toml(LOW_WINDOWS)
    real, simulated = run_on_linux(scenario, image=image).bottlenecks[0], shoal.run(scenario).bottlenecks[0]
    assert real["marked"] == pytest.approx(simulated["marked"], rel=0.02)
    assert real["queue_packets"]["mean"] == pytest.approx(simulated["queue_packets"]["mean"], rel=0.02)
    at_once = shoal.run(scenario.override({"flows.dctcp.delayed_ack": False})).bottlenecks[0]
    assert at_once["marked"] > 1.1 * simulated["marked"]


@pytest.mark.parametrize("text", [RENO, LOW_WINDOWS])
def test_size_of_the_buffers_does_not_matter(image: Image, text: str) -> None:
    scenario = shoal.Scenario.from_toml(text)
    found = {factor: with_buffers(scenario, factor, image) for factor in (0.5, 1, 2)}
    assert found[0.5] == found[1] == found[2]


def with_buffers(scenario: shoal.Scenario, factor: float, image: Image) -> dict[str, object]:
    """The result with receive buffers of another size, without what it shows of the hosts: that size."""
    planned = plan(scenario, image)

    def scaled(match: re.Match[str]) -> str:
        size = int(int(match[2]) * factor)
        return f"{match[1]} 4096 {size} {size}"

    config, count = re.subn(r"(net/ipv4/tcp_rmem) 4096 (\d+) \d+", scaled, planned.config)
    assert count == 2
    with guest_folder() as folder:
        run_guest(config, image, folder, memory_mib=planned.memory_mib, seed=planned.seed)
        result: dict[str, object] = json.loads(planned.result(folder).json)
    assert isinstance(kernel := result["linux"], dict)
    assert kernel.pop("shown")
    return result
