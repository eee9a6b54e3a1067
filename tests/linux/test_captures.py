"""Packets from inside the guest: they agree with the result, change nothing, and tshark reads them."""

from __future__ import annotations

import itertools
import shutil
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import shoal
from shoal.linux import Image, run_on_linux

SYN = 2
# A run with marks, drops at a full buffer and acknowledgements.
MIXED = """
title = "Two flows"
duration = "3 s"
warmup = "0 s"
bottleneck = { rate = "10 Mbit/s", buffer = "30 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", rtt = "25 ms" }, { cc = "cubic", rtt = "25 ms" }]
"""

STAR = """
duration = "100 ms"
warmup = "0 s"
[topology]
kind = "star"
hosts = 3
rate = "100 Mbit/s"
delay = "100 us"
buffer = "100 packets"
[[flows]]
cc = "reno"
from = ["h1", "h2"]
to = "h3"
count = 2
app = { transfer = "14480 B" }
"""


@dataclass(frozen=True)
class Captured:
    """A packet of a capture."""

    interface: int
    time_ns: int
    data: bytes
    comment: str

    @property
    def ecn(self) -> int:
        return self.data[1] & 3

    @property
    def source(self) -> bytes:
        return self.data[12:16]

    @property
    def destination(self) -> bytes:
        return self.data[16:20]

    @property
    def sequence(self) -> int:
        return int.from_bytes(self.data[24:28])

    @property
    def acknowledged(self) -> int:
        return int.from_bytes(self.data[28:32])

    @property
    def flags(self) -> int:
        return self.data[33]

    @property
    def payload(self) -> int:
        return len(self.data) - 20 - (self.data[32] >> 4) * 4


def packets(file: bytes, *, cut: bool = False) -> list[Captured]:
    """Every packet of a pcapng file; blocks must fit together. ``cut``: only headers are kept."""
    found, at = [], 0
    while at < len(file):
        kind, length = struct.unpack_from("<II", file, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", file, at + length - 4) == (length,)
        if kind == 6:
            interface, high, low, kept, whole = struct.unpack_from("<5I", file, at + 8)
            assert kept <= 120 if cut else kept == whole
            data = file[at + 28 : at + 28 + kept]
            options = file[at + 28 + (kept + 3) // 4 * 4 : at + length - 4]
            comment = ""
            if options:
                code, size = struct.unpack_from("<HH", options)
                assert code == 1
                comment = options[4 : 4 + size].decode()
            found.append(Captured(interface, high << 32 | low, data, comment))
        at += length
    assert at == len(file)
    return found


@pytest.fixture(scope="module")
def mixed(image: Image, tmp_path_factory: pytest.TempPathFactory) -> tuple[shoal.Result, Path]:
    file = tmp_path_factory.mktemp("capture") / "run.pcapng"
    return run_on_linux(shoal.Scenario.from_toml(MIXED), image=image, pcap=file, pcap_payload=True), file


def test_capture_agrees_with_the_result(mixed: tuple[shoal.Result, Path]) -> None:
    result, file = mixed
    found = packets(file.read_bytes())
    assert all(before.time_ns <= after.time_ns for before, after in itertools.pairwise(found))
    link = result.bottlenecks[0]
    sent = [packet for packet in found if packet.interface == 0]
    dropped = [packet for packet in found if packet.interface == 2]
    comments = Counter(packet.comment.partition(" at ")[0] for packet in sent + dropped)
    # Two flows on one link; the smaller counts depend on the kernel, but are not zero.
    assert link["dropped"] > 10
    assert link["marked"] > 50
    assert comments["dropped: buffer"] == link["dropped"] == link["dropped_by"]["buffer"]
    # The result counts a mark when it is made, on arrival; the capture shows it when the packet leaves.
    marked = comments["marked: threshold"]
    assert marked == sum(packet.ecn == 3 for packet in sent)
    assert 0 <= link["marked"] - marked <= link["queue_packets"]["max"]
    assert len(sent) == link["departed"]
    # The buffer is full when it drops: each dropped packet stands later, behind those that waited then.
    assert len(dropped) == link["dropped"]
    for packet in dropped:
        at_s = float(packet.comment.partition(" at ")[2].removesuffix(" s"))
        assert 0 < packet.time_ns / 1e9 - at_s <= 1.3e-3 * link["queue_packets"]["max"]
    # The packets of a flow on the wire, and the retransmissions by the count of its sender.
    for group, number in zip(result.groups, (0, 1), strict=True):
        data = [packet for packet in sent if packet.source == bytes([10, 1, number, 2]) and packet.payload]
        assert sum(len(packet.data) for packet in data) * 8 / 3 == pytest.approx(
            group["flows"][0]["wire_bps"], rel=1e-9
        )
    # 10 Mbit/s without framing: back to back full packets are 1.2 ms apart.
    times = [packet.time_ns for packet in sent if len(packet.data) == 1500]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert min(gaps) >= 1_199_999
    assert sorted(gaps)[len(gaps) // 2] in (1_200_000, 1_200_001)
    # Acknowledgements arrive at the senders, without payload: one for at most two segments.
    acks = [packet for packet in found if packet.interface == 1]
    assert {packet.destination for packet in acks} == {bytes([10, 1, number, 2]) for number in (0, 1)}
    assert not any(packet.payload for packet in acks)
    assert len(sent) / 2.2 < len(acks) <= len(sent) + 1
    # The receivers count the packets that crossed the wire; the SYN-ACK is not an ACK of data. At the end the last
    # packets are on the wire and for 12.5 ms behind it, 11 of 1.2 ms, and ACKs are for 25 ms: at most one for each of
    # the 21 packets.
    for group, number in zip(result.groups, (0, 1), strict=True):
        host = bytes([10, 1, number, 2])
        data = sum(packet.source == host and packet.payload > 0 for packet in sent)
        answers = sum(packet.destination == host and not packet.flags & SYN for packet in acks)
        flow = group["flows"][0]
        assert 0 <= data - flow["data_packets"] <= 12
        assert 0 <= flow["acks_sent"] - answers <= 21
        assert flow["acks_per_packet"] == group["acks_per_packet"] == flow["acks_sent"] / flow["data_packets"]


def test_a_capture_shows_what_the_kernel_retransmitted(image: Image, tmp_path: Path) -> None:
    """Data that do not go on where their connection was, once the senders have stopped: the kernel's own count."""
    file = tmp_path / "run.pcapng"
    scenario = shoal.Scenario.from_toml(MIXED).override({"flows.*.stop": "2 s", "warmup": "0 s"})
    result = run_on_linux(scenario, image=image, pcap=file, pcap_payload=True)
    ends: dict[bytes, int] = {}
    again = 0
    for packet in packets(file.read_bytes()):
        if packet.payload:
            sequence = int.from_bytes(packet.data[24:28])
            again += (sequence - ends.setdefault(packet.source, sequence)) % 2**32 >= 2**31
            ends[packet.source] = max(ends[packet.source], sequence + packet.payload)
    assert again == sum(group["totals"]["retransmissions"] for group in result.groups) > 10
    if tshark := shutil.which("tshark"):
        condition = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
        command = [tshark, "-n", "-r", str(file), "-Y", condition]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.count("\n") == again


def test_looking_on_changes_nothing(mixed: tuple[shoal.Result, Path], image: Image, tmp_path: Path) -> None:
    result, file = mixed
    scenario = shoal.Scenario.from_toml(MIXED)
    assert run_on_linux(scenario, image=image).json == result.json
    again = tmp_path / "again.pcapng"
    run_on_linux(scenario, image=image, pcap=again, pcap_payload=True)
    assert again.read_bytes() == file.read_bytes()


def test_headers_are_what_is_kept_by_default(mixed: tuple[shoal.Result, Path], image: Image, tmp_path: Path) -> None:
    file = tmp_path / "headers.pcapng"
    run_on_linux(shoal.Scenario.from_toml(MIXED), image=image, pcap=file)
    headers, whole = packets(file.read_bytes(), cut=True), packets(mixed[1].read_bytes())
    assert [packet.time_ns for packet in headers] == [packet.time_ns for packet in whole]
    for kept, packet in zip(headers, whole, strict=True):
        assert kept.data == packet.data[: len(packet.data) - packet.payload]


@pytest.mark.skipif(not shutil.which("tshark"), reason="needs tshark")
def test_tshark_has_no_complaint(mixed: tuple[shoal.Result, Path]) -> None:
    result, file = mixed
    command = ["tshark", "-r", str(file), "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]

    def lines(shown: str) -> int:
        return subprocess.run([*command, "-Y", shown], capture_output=True, text=True, check=True).stdout.count("\n")

    assert lines("_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0") == 0
    assert lines("tcp.checksum.status == 1") == len(packets(file.read_bytes()))
    assert lines('frame.comment contains "dropped"') == result.bottlenecks[0]["dropped"]
    handshake = subprocess.run([*command, "-c", "1", "-V"], capture_output=True, text=True, check=True).stdout
    for words in (
        "SYN",
        "SACK permitted",
        "Timestamps",
        "Window scale",
        "ECN-Echo: Set",
        "Interface name: bottleneck",
        "Maximum segment size: 1460",
    ):
        assert words in handshake, handshake


def test_data_and_acks_have_the_code_point_of_their_flow(image: Image, tmp_path: Path) -> None:
    """``IP_TOS`` is set on the sockets of both ends; captures of the simulator say the same."""
    file = tmp_path / "codes.pcapng"
    scenario = shoal.Scenario.from_toml(MIXED.replace('cc = "dctcp"', 'cc = "dctcp", dscp = "af11"', 1))
    run_on_linux(scenario.override({"duration": "500 ms"}), image=image, pcap=file, pcap_payload=True)
    found: dict[tuple[str, bytes], set[int]] = {}
    for packet in packets(file.read_bytes()):
        # Packets at the line come from the senders, those at the senders are for them.
        way, host = ("ACKs", packet.destination) if packet.interface == 1 else ("data", packet.source)
        found.setdefault((way, host), set()).add(packet.data[1] >> 2)
    hosts = {bytes([10, 1, 0, 2]): {10}, bytes([10, 1, 1, 2]): {0}}
    assert found == {(way, host): codes for way in ("data", "ACKs") for host, codes in hosts.items()}


def test_star_is_captured_at_its_ports_and_senders(image: Image, tmp_path: Path) -> None:
    file = tmp_path / "star.pcapng"
    run_on_linux(shoal.Scenario.from_toml(STAR), image=image, pcap=file, pcap_payload=True)
    found = packets(file.read_bytes())
    full = [packet for packet in found if packet.interface == 0 and len(packet.data) == 1500]
    # The port towards h3, and the two senders' cards.
    # Both flows send to an address of h3 of their own, and the ACKs come from there.
    assert {packet.interface for packet in found} == {0, 1}
    destinations = {packet.destination for packet in full}
    assert len(destinations) == 2
    assert {packet.source for packet in found if packet.interface == 1} == destinations
