"""Captures of the simulator: headers unless payload is asked for, and what SYN announces."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from conftest import Cli

import shoal

SYN = 2


def scenario(cc: str = "dctcp", stack: str = "linux-6", mtu: str = "1500 B") -> shoal.Scenario:
    return shoal.Scenario.from_toml(f"""
        duration = "1 s"
        warmup = "0 s"
        bottleneck = {{ rate = "10 Mbit/s", aqm = {{ kind = "step", threshold = "20 packets" }} }}
        flows = [{{ cc = "{cc}", stack = "{stack}", rtt = "25 ms", mtu = "{mtu}" }}]
    """)


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
    assert (snaps, no_limit) == ([120, 120], [0, 0])
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
