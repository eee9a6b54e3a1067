"""Captures of the simulator: headers unless payload is asked for, what SYN announces, and code points."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from conftest import Cli

import shoal

SYN = 2
# Flows are numbered in this order from 0; the connection that carries the requests of `asked`, flow 3, is 4.
CLASSES = """
duration = "500 ms"
warmup = "0 s"
[bottleneck]
rate = "20 Mbit/s"
buffer = "30 packets"
[bottleneck.aqm]
kind = "classes"
queues = [
  { name = "scalable", dscp = ["af11"], aqm = { kind = "step", threshold = "10 packets" } },
  { name = "urgent", dscp = ["ef"] },
  { name = "rest" },
]
[reverse]
rate = "20 Mbit/s"
[[flows]]
name = "dctcp"
cc = "dctcp"
rtt = "5 ms"
dscp = "af11"
[[flows]]
name = "calls"
cc = "none"
rtt = "5 ms"
dscp = "ef"
app = { unresponsive = "1 Mbit/s" }
[[flows]]
name = "cubic"
cc = "cubic"
rtt = "5 ms"
[[flows]]
name = "asked"
cc = "dctcp"
rtt = "5 ms"
dscp = 63
app = { request = "100 B", response = "20 kB" }
"""


def scenario(cc: str = "dctcp", stack: str = "linux-6", mtu: str = "1500 B") -> shoal.Scenario:
    return shoal.Scenario.from_keys(
        {
            "duration": "1 s",
            "warmup": "0 s",
            "bottleneck": {"rate": "10 Mbit/s", "aqm": {"kind": "step", "threshold": "20 packets"}},
            "flows": [{"cc": cc, "stack": stack, "rtt": "25 ms", "mtu": mtu}],
        }
    )


def packets(file: bytes) -> tuple[list[int], list[tuple[bytes, int]]]:
    """Snap lengths of the interfaces, and of every packet what is kept and its original length."""
    snaps, found, at = [], [], 0
    while at < len(file):
        kind, length = struct.unpack_from("<II", file, at)
        if kind == 1:
            snaps.append(struct.unpack_from("<I", file, at + 12)[0])
        if kind == 6:
            kept, whole = struct.unpack_from("<II", file, at + 20)
            found.append((file[at + 28 : at + 28 + kept], whole))
        at += length
    return snaps, found


def test_headers_are_kept_by_default(tmp_path: Path) -> None:
    shoal.run(scenario(), pcap=tmp_path / "headers.pcapng")
    shoal.run(scenario(), pcap=tmp_path / "whole.pcapng", pcap_payload=True)
    snaps, headers = packets((tmp_path / "headers.pcapng").read_bytes())
    no_limit, whole = packets((tmp_path / "whole.pcapng").read_bytes())
    # IP and TCP headers are at most 60 B each; 0 is not a limit.
    assert (snaps, no_limit) == ([120] * 3, [0] * 3)
    assert [length for _, length in headers] == [length for _, length in whole]
    for (kept, length), (packet, _) in zip(headers, whole, strict=True):
        assert len(packet) == length
        assert len(kept) == 20 + (packet[32] >> 4) * 4
        assert packet[: len(kept)] == kept
    # A data packet: 52 of 1500 B.
    assert (52, 1500) in {(len(kept), length) for kept, length in headers}
    assert (tmp_path / "headers.pcapng").stat().st_size < (tmp_path / "whole.pcapng").stat().st_size / 5


# The option leaves the 12 B of the timestamps out of account (RFC 6691): MTU less 20 B for IP and 20 B for TCP.
@pytest.mark.parametrize(
    ("cc", "stack", "mtu", "announced"),
    [
        ("dctcp", "linux-6", "1500 B", 1460),
        ("reno", "linux-3.2", "1500 B", 1460),
        ("dctcp-freebsd-14", "freebsd-14", "1500 B", 1460),
        ("dctcp", "linux-6", "9000 B", 8960),
    ],
)
def test_mss_that_syn_announces(cc: str, stack: str, mtu: str, announced: int, tmp_path: Path) -> None:
    shoal.run(scenario(cc, stack, mtu), pcap=tmp_path / "x.pcapng")
    _, found = packets((tmp_path / "x.pcapng").read_bytes())
    opening = [packet for packet, _ in found if packet[33] & SYN]
    assert len(opening) == 2  # SYN and SYN/ACK
    for packet in opening:
        # The first option: kind 2, 4 bytes long.
        assert packet[40:44] == struct.pack(">BBH", 2, 4, announced)


def code_points(file: Path) -> dict[tuple[int, str], set[int]]:
    """Code points by flow and direction: the upper six bits of a packet's second byte (RFC 2474, section 3)."""
    found: dict[tuple[int, str], set[int]] = {}
    for packet, _ in packets(file.read_bytes())[1]:
        # 10.0.0.0/9 opens connections to 10.128.0.0/9; flow n has the hosts numbered n + 1.
        direction = "forward" if packet[13] < 128 else "backward"
        assert sum(struct.unpack(">10H", packet[:20])) % 0xFFFF == 0, "IP checksum"
        found.setdefault((packet[15] - 1, direction), set()).add(packet[1] >> 2)
    return found


def test_packets_of_both_directions_have_the_code_point_of_their_flow(tmp_path: Path) -> None:
    result = shoal.run(shoal.Scenario.from_toml(CLASSES), pcap=tmp_path / "x.pcapng")
    # The traffic that the code points sort: what a queue sends is what the capture shows of its flows.
    assert all(found["departed"] > 10 for found in result.bottlenecks[0]["classes"])
    expected = {0: 10, 1: 46, 2: 0, 3: 63, 4: 63}
    both = {(flow, direction): {code} for flow, code in expected.items() for direction in ("forward", "backward")}
    del both[1, "backward"]  # nobody answers
    assert code_points(tmp_path / "x.pcapng") == both


def test_a_code_point_changes_its_bits_of_a_capture_alone(tmp_path: Path) -> None:
    """Where no queue looks at it, and in groups without one nothing at all."""
    base = shoal.Scenario.from_keys(
        {
            "duration": "200 ms",
            "warmup": "0 s",
            "bottleneck": {"rate": "10 Mbit/s", "aqm": {"kind": "step", "threshold": "5 packets"}},
            "flows": [{"cc": "dctcp", "rtt": "5 ms"}, {"cc": "cubic", "rtt": "5 ms"}],
        }
    )
    for name, point in (("plain", None), ("best effort", "be"), ("marked", "af11")):
        shoal.run(base if point is None else base.override({"flows[0].dscp": point}), pcap=tmp_path / name)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "best effort").read_bytes()
    _, plain = packets((tmp_path / "plain").read_bytes())
    _, marked = packets((tmp_path / "marked").read_bytes())
    assert len(plain) > 100
    for (without, _), (packet, _) in zip(plain, marked, strict=True):
        # Flow 0 has the hosts numbered 1. AF11 is 10, which is 40 above the two bits of ECN.
        code = 40 if without[15] == 1 else 0
        assert packet[:10] == bytes([without[0], without[1] | code]) + without[2:10]
        assert packet[12:] == without[12:]


def test_payload_on_the_command_line(cli: Cli, folder: Path) -> None:
    short = ("--set", "duration='3 s'")
    assert cli("run", "small.toml", *short, "--pcap", "a.pcapng").code == 0
    assert cli("run", "small.toml", *short, "--pcap", "b.pcapng", "--pcap-payload").code == 0
    sizes = [(folder / name).stat().st_size for name in ("a.pcapng", "b.pcapng")]
    assert sizes[0] < sizes[1] / 5


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_reads_shortened_packets(tmp_path: Path) -> None:
    shoal.run(scenario(), pcap=tmp_path / "x.pcapng")
    command = ["tshark", "-n", "-r", str(tmp_path / "x.pcapng"), "-T", "fields"]

    def shown(condition: str, *fields: str) -> list[str]:
        extra = [word for field in fields for word in ("-e", field)]
        done = subprocess.run([*command, "-Y", condition, *extra], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert shown("tcp.flags.syn == 1", "tcp.options.mss_val") == ["1460", "1460"]
    assert "52\t1500\t1448" in shown("tcp.len > 0", "frame.cap_len", "frame.len", "tcp.len")
    assert shown("_ws.malformed", "frame.number") == []


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_shows_the_code_point_of_each_group(tmp_path: Path) -> None:
    shoal.run(shoal.Scenario.from_toml(CLASSES), pcap=tmp_path / "x.pcapng")
    fields = ("-T", "fields", "-e", "ip.src", "-e", "ip.dsfield.dscp")
    done = subprocess.run(
        ["tshark", "-n", "-r", str(tmp_path / "x.pcapng"), *fields], capture_output=True, text=True, check=True
    )
    shown = {tuple(line.split("\t")) for line in done.stdout.splitlines()}
    codes = {1: "10", 2: "46", 3: "0", 4: "63", 5: "63"}
    # Hosts of both ends, but the one that unresponsive traffic goes to.
    assert shown == {(f"10.{end}.0.{host}", codes[host]) for host in codes for end in (0, 128)} - {("10.128.0.2", "46")}


def scenario_of(name: str, stop: str) -> shoal.Scenario:
    """A ready-made scenario whose senders stop early enough for their last packets to pass the link."""
    short = {"duration": f"{float(stop.removesuffix(' s')) + 3} s", "warmup": "0 s"}
    return shoal.Scenario.named(name).override({**short, "flows.*.stop": stop, "trace.series": "off"})


def retransmissions(result: shoal.Result) -> int:
    return sum(group["totals"]["retransmissions"] for group in result.groups)


def sent_again(file: bytes) -> int:
    """Data packets of a capture that do not go on where their connection was: what any reader takes for sent again."""
    ends: dict[bytes, int] = {}
    count = 0
    for packet, length in packets(file)[1]:
        if packet[9] != 6 or length == 20 + (packet[32] >> 4) * 4:
            continue
        connection = packet[12:24]
        sequence = int.from_bytes(packet[24:28])
        end = sequence + length - 20 - (packet[32] >> 4) * 4
        count += sequence < ends.get(connection, 0)
        ends[connection] = max(end, ends.get(connection, 0))
    return count


# Laws that drop on arrival, on departure and from the head; queues that overtake each other; requests; ACKs that wait.
COUNTED = [
    ("coexistence", "20 s"),
    ("codel", "4 s"),
    ("fq-codel", "4 s"),
    ("dualpi2", "10 s"),
    ("two-classes", "1 s"),
    ("requests", "3 s"),
    ("shared-buffer-incast", "0.3 s"),
    ("compare/fq-codel-small-limit-40m", "3 s"),
    ("compare/mix-dualq-40m", "3 s"),
]


@pytest.mark.parametrize(("name", "duration"), COUNTED)
def test_a_capture_shows_what_senders_retransmitted(name: str, duration: str, tmp_path: Path) -> None:
    result = shoal.run(scenario_of(name, duration), pcap=tmp_path / "x.pcapng")
    file = (tmp_path / "x.pcapng").read_bytes()
    assert sent_again(file) == retransmissions(result) > 0
    if tshark := shutil.which("tshark"):
        condition = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
        command = [tshark, "-n", "-r", str(tmp_path / "x.pcapng"), "-Y", condition]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.count("\n") == retransmissions(result)


def test_dropped_packets_have_an_interface_of_their_own(tmp_path: Path) -> None:
    """Every drop is there and says its time, at or before that of its frame; the times of the file do not fall."""
    result = shoal.run(scenario_of("coexistence", "20 s"), pcap=tmp_path / "x.pcapng")
    file = (tmp_path / "x.pcapng").read_bytes()
    at, last, drops, late = 0, 0, 0, 0
    while at < len(file):
        kind, length = struct.unpack_from("<II", file, at)
        if kind == 6:
            interface, high, low = struct.unpack_from("<III", file, at + 8)
            time_ns = high << 32 | low
            assert time_ns >= last
            last = time_ns
            comment = file[at : at + length].partition(b"dropped: ")[2].partition(b"\0")[0].decode()
            assert (interface == 2) == bool(comment)
            drops += interface == 2
            if " at " in comment:
                seconds, nanoseconds = comment.partition(" at ")[2].removesuffix(" s").split(".")
                assert int(seconds) * 10**9 + int(nanoseconds) <= time_ns
                late += 1
        at += length
    assert drops == result.bottlenecks[0]["dropped"] > late > 0


def test_each_link_of_a_path_shows_its_own_view(tmp_path: Path) -> None:
    """Three monitored links in a row see the packets of the long flow three times."""
    result = shoal.run(scenario_of("parking-lot", "2 s"), pcap=tmp_path / "x.pcapng")
    file = (tmp_path / "x.pcapng").read_bytes()
    assert sent_again(file) > retransmissions(result)
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed")
    condition = 'frame.interface_name matches "^(bottleneck2|senders)"'
    command = [tshark, "-n", "-r", str(tmp_path / "x.pcapng"), "-Y", condition, "-w", str(tmp_path / "y.pcapng")]
    subprocess.run(command, capture_output=True, check=True)
    assert sent_again((tmp_path / "y.pcapng").read_bytes()) == 0 == retransmissions(result)
