"""Flows of this machine's own kernel through a box between network namespaces, and what its record says of them."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import shoal
from shoal.linux.namespaces import RECEIVER, Namespaces

SECONDS, WARMUP = 20.0, 5.0
QUEUES = {"step": {"kind": "step", "threshold": "20 packets"}, "dualpi2": {"kind": "dualpi2"}}
SENDERS = (("cubic",), ("cubic", "reno"))
# Sends with a controller for some seconds, or takes what comes. Its priority, and buffers of 8 MB whatever the limit
# (SO_SNDBUFFORCE, SO_RCVBUFFORCE), keep other work of the machine from making a pause in what a greedy flow sends.
_TRANSFER = """
import os, socket, sys, time
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
role, address, port, seconds, controller = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
if role == "receive":
    listener = socket.create_server((address, port))
    listener.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
    print("ready", flush=True)
    connection, _ = listener.accept()
    while connection.recv(1 << 20):
        pass
else:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, 32, 8 << 20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
    connection.connect((address, port))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.send(b"x" * 65536)
    connection.close()
"""
# The program that sends full frames at a rate.
_FRAMES = Path(__file__).with_name("frames.c")
# Rate of the link through which they go in Mbit/s, above that of all of them, so that none waits in a queue.
_LINK_MBPS = 2000
#: Interfaces between which the box is, and where packets are sent to come into the first.
PORTS = {"AF_PACKET": (("left", "right"), ("sender", "a")), "TUN": (("tun:shoal0", "tun:shoal1"), ("box", "shoal0"))}
_COMMENT = re.compile(
    rb"came at ([0-9.]+) s, ([0-9]+) bytes, [^,]+, flow ([0-9]+): (?:passes|marked), leaves at ([0-9.]+) s"
)


def scenario(queue: str, controllers: tuple[str, ...]) -> shoal.Scenario:
    """Flows of these controllers, with ECN, behind a queue of 20 Mbit/s."""
    start = {"uniform": ["0 s", "0.1 s"]}
    flows: Any = [
        {"name": f"{number} {cc}", "cc": cc, "rtt": "30 ms", "ecn": "on", "start": start}
        for number, cc in enumerate(controllers, 1)
    ]
    bottleneck: Any = {"rate": "20 Mbit/s", "aqm": QUEUES[queue]}
    return shoal.Scenario.from_keys(
        {
            "duration": f"{SECONDS:g} s",
            "warmup": f"{WARMUP:g} s",
            "seed": 1,
            "flows": flows,
            "bottleneck": bottleneck,
        }
    )


def carried(
    namespaces: Namespaces, case: shoal.Scenario, controllers: tuple[str, ...], folder: Path
) -> tuple[list[float], float]:
    """Shares of flows, and the mean queueing delay in s, as the box's record has them."""
    for end in ("sender", "receiver"):
        subprocess.run(namespaces.inside(end, "sysctl", "-qw", "net.ipv4.tcp_ecn=1"), check=True)
    (folder / "box.toml").write_text(case.to_toml(), encoding="utf-8")
    record = folder / "record.pcapng"
    flows = [(RECEIVER, str(5201 + number), str(SECONDS), cc) for number, cc in enumerate(controllers)]
    words = (str(folder / "box.toml"), "--duration", f"{SECONDS + 4} s", "--pcap", str(record))
    with box(namespaces, *words) as running, ExitStack() as ends:
        for flow in flows:
            receiver = ends.enter_context(_python(namespaces, "receiver", _TRANSFER, "receive", *flow))
            _await(receiver.stdout, "ready")
        for flow in flows:
            ends.enter_context(_python(namespaces, "sender", _TRANSFER, "send", *flow))
        counted(running)
    return measured(record.read_bytes())


@dataclass(frozen=True)
class Load:
    """What became of full frames that were sent through a box at a rate.

    Attributes
    ----------
    sent
        Frames that the sender gave to the interface.
    carried
        Frames of these that have left the box.
    way
        What the box counts on the way there.
    cpu_s
        CPU seconds of the box from the first to the last, those in which it waits awake for the next one among them.
    """

    sent: int
    carried: int
    way: dict[str, Any]
    cpu_s: float


def sender_of_frames(folder: Path) -> Path:
    """The program that sends full frames, compiled."""
    program = folder / "frames"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-o", str(program), str(_FRAMES)], check=True)
    return program


def lateness(namespaces: Namespaces, program: Path, port: str, mbps: float, seconds: float) -> Load:
    """Full frames at a rate through a box that has a processor for itself, if there are two."""
    ends, (where, interface) = PORTS[port]
    words = ("--rate", f"{_LINK_MBPS}Mbit/s", "--duration", f"{seconds + 2} s")
    processors = sorted(os.sched_getaffinity(0))
    with box(namespaces, *words, ends=ends, processor=processors[-1]) as running:
        if port == "TUN":
            for end in reversed(ends):  # the second device has to take what the first one gets from its host
                device = end.removeprefix("tun:")
                link = ("ip", "link", "set", "dev", device, "addrgenmode", "none", "up")
                subprocess.run(namespaces.inside("box", *link), check=True)
        send = ("taskset", "--cpu-list", str(processors[0]), str(program), interface, str(mbps), str(seconds))
        began_s = _cpu_s(running.pid)
        done = subprocess.run(namespaces.inside(where, *send), input=_packet(), stdout=subprocess.PIPE, check=True)
        cpu_s = _cpu_s(running.pid) - began_s
        way: dict[str, Any] = counted(running)["ways"][0]
    (flow,) = (flow for flow in way["flows"] if flow["flow"] == "192.0.2.1:4000 > 198.51.100.1:9, UDP")
    return Load(int(done.stdout), flow["packets"], way, cpu_s)


def _packet() -> bytes:
    """A full packet of UDP that is for nobody here; its addresses are those of documentation (RFC 5737)."""
    addresses = socket.inet_aton("192.0.2.1") + socket.inet_aton("198.51.100.1")
    words = struct.pack("!BBHHHBBH", 0x45, 0, 1500, 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses
    total = sum(struct.unpack("!10H", words))
    total = (total & 0xFFFF) + (total >> 16)
    words = words[:10] + struct.pack("!H", ~total & 0xFFFF) + words[12:]
    return words + struct.pack("!HHHH", 4000, 9, 1480, 0) + bytes(1472)


def _cpu_s(process: int) -> float:
    """CPU seconds of another process so far, by its clock (clock_getcpuclockid, which Python has for threads alone)."""
    return time.clock_gettime((~process << 3) | 2)


@contextmanager
def box(
    namespaces: Namespaces, *words: str, ends: tuple[str, str] = ("left", "right"), processor: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A box that carries, on one processor if that is given."""
    on = () if processor is None else ("taskset", "--cpu-list", str(processor))
    shoal_box = (sys.executable, "-m", "shoal", "box", "--in", ends[0], "--out", ends[1], "--json")
    command = namespaces.inside("box", *on, *shoal_box, *words)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as running:
        try:
            _await(running.stderr, "carrying")
            yield running
        finally:
            running.kill()


def counted(running: subprocess.Popen[str]) -> dict[str, Any]:
    """What a box has counted when it ends."""
    out, err = running.communicate(timeout=600)
    if running.returncode != 0:
        raise ChildProcessError(err)
    counts: dict[str, Any] = json.loads(out)
    return counts


def measured(record: bytes) -> tuple[list[float], float]:
    """Bytes of each flow and waits of its packets, from when the first full packet came and the warm-up was over."""
    packets = [
        (float(came), int(size), int(flow), float(leaves))
        for came, size, flow, leaves in _COMMENT.findall(record)
        if int(size) == 1500
    ]
    began = packets[0][0]
    # A packet that finds the link idle waits for nothing, such as the first.
    others = min(leaves - came for came, _, _, leaves in packets)
    counts = [packet for packet in packets if began + WARMUP <= packet[3] < began + SECONDS]
    waits = [leaves - came - others for came, _, _, leaves in counts]
    volumes: dict[int, int] = {}
    for _, size, flow, _ in counts:
        volumes[flow] = volumes.get(flow, 0) + size
    return [volume / sum(volumes.values()) for _, volume in sorted(volumes.items())], sum(waits) / len(waits)


def _await(said: IO[str] | None, word: str) -> None:
    """Read lines up to one with this word."""
    if said is None or not any(word in line for line in iter(said.readline, "")):
        raise ChildProcessError(f"a process has ended without saying `{word}`")


@contextmanager
def _python(namespaces: Namespaces, end: str, code: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = namespaces.inside(end, sys.executable, "-c", code, *words)
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
