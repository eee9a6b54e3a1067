"""Boxes between the namespaces of a test, and a flow through them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from shoal.linux.namespaces import RECEIVER, Namespaces

# Sends or takes bytes for some seconds; the receiver prints how many came, with the seconds from the first to the last.
TRANSFER = """
import socket, sys, time
role, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
if role == "receive":
    listener = socket.create_server((address, 5201), family=family)
    print("ready", flush=True)
    # Nothing comes through a box that breaks packets.
    listener.settimeout(60)
    connection, _ = listener.accept()
    connection.settimeout(60)
    total, begun = 0, time.monotonic()
    while part := connection.recv(1 << 16):
        total += len(part)
    print(total, time.monotonic() - begun)
else:
    connection = socket.create_connection((address, 5201))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.send(b"x" * 65536)
    connection.close()
"""
# Sends so many datagrams at once.
BURST = """
import socket, sys
sender = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(int(sys.argv[2])):
    sender.sendto(bytes(100), (sys.argv[1], 9))
"""
#: The page about boxes.
PAGE = Path(__file__).parents[2] / "docs/how-to/put-a-box-on-the-wire.md"
#: Interfaces of the box that the namespaces have.
CABLES = ("left", "right")
#: Whether this machine has TUN devices.
HAS_TUNS = Path("/dev/net/tun").exists()
#: TUN devices that the box makes, and addresses of the receiver behind the second.
TUNS = ("tun:shoal0", "tun:shoal1")
IPV4, IPV6 = "10.9.1.2", "fd09::2"


def sysctl(namespaces: Namespaces, **values: object) -> None:
    for end in ("sender", "receiver"):
        for name, value in values.items():
            subprocess.run(namespaces.inside(end, "sysctl", "-qw", f"net.ipv4.{name}={value}"), check=True)


def ip(namespaces: Namespaces, end: str, *words: str) -> None:
    subprocess.run(namespaces.inside(end, "ip", *words), check=True)


def joined(namespaces: Namespaces, first: str = "shoal0", second: str = "shoal1") -> None:
    """Give the devices to the hosts, as if they were cables; a host speaks when its device is up, the sender last."""
    for end, device, number in (("receiver", second, 2), ("sender", first, 1)):
        ip(namespaces, "box", "link", "set", "dev", device, "netns", namespaces.inside(end)[-1])
        ip(namespaces, end, "address", "add", f"10.9.1.{number}/24", "dev", device)
        ip(namespaces, end, "address", "add", f"fd09::{number}/64", "dev", device, "nodad")
        ip(namespaces, end, "link", "set", "dev", device, "addrgenmode", "none", "up")


def begun(namespaces: Namespaces, end: str, *words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(namespaces.inside(end, sys.executable, *words), stdout=pipe, stderr=pipe, text=True)


@contextmanager
def receiving(namespaces: Namespaces, address: str, seconds: float, code: str = TRANSFER) -> Iterator[IO[str]]:
    """What a receiver says that is ready."""
    with begun(namespaces, "receiver", "-c", code, "receive", address, str(seconds)) as receiver:
        try:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == "ready\n"
            yield receiver.stdout
        finally:
            receiver.kill()


@contextmanager
def running_box(
    namespaces: Namespaces, *words: str, ends: tuple[str, str] = CABLES, where: str = "box"
) -> Iterator[subprocess.Popen[str]]:
    with begun(namespaces, where, "-m", "shoal", "box", "--in", ends[0], "--out", ends[1], *words) as box:
        try:
            assert box.stderr is not None
            while "carrying" not in (said := box.stderr.readline()):
                assert said, "the box did not begin"
            yield box
        finally:
            box.kill()


def boxed(
    namespaces: Namespaces,
    *words: str,
    seconds: float = 5,
    ends: tuple[str, str] = CABLES,
    address: str = RECEIVER,
    ready: Callable[[], None] = lambda: None,
) -> tuple[dict[str, Any], float]:
    """What the box counted, and the goodput in Mbit/s of a flow that begins when the box is there and all is ready."""
    lasts = ("--json", "--duration", f"{seconds + 3} s")
    with running_box(namespaces, *lasts, *words, ends=ends) as box:
        ready()
        with receiving(namespaces, address, seconds) as received:
            with begun(namespaces, "sender", "-c", TRANSFER, "send", address, str(seconds)) as sender:
                out, err = box.communicate(timeout=60)
                sender.kill()
            assert box.returncode == 0, err
            total, took_s = map(float, received.readline().split())
    return json.loads(out), 8e-6 * total / took_s


def replayed(record: Path) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "shoal", "box", "--replay", str(record), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def assert_a_changed_byte_is_seen(record: Path) -> None:
    """The replay of a record in which a decision was changed names the frame."""
    held = record.read_bytes()
    place = held.rindex(b": marked, leaves at")
    record.write_bytes(held[: place + 2] + b"n" + held[place + 3 :])
    code, said = replayed(record)
    assert code == 1
    assert "narked" in said["difference"]["recorded"]
    assert "marked" in said["difference"]["decided"]
    assert said["difference"]["number"] == said["frames"] + 1


def shown(namespaces: Namespaces, *words: str) -> tuple[int, str]:
    command = namespaces.inside(
        "box", sys.executable, "-m", "shoal", "box", "--rate", "10Mbit/s", "--duration", "1 s", *words
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def lines_of_page(begins: str, **values: str) -> str:
    """The block of the page that begins so, for root, with other values than those in its first line."""
    blocks = [block.partition("```")[0] for block in PAGE.read_text(encoding="utf-8").split("```sh\n")[1:]]
    (block,) = (block for block in blocks if block.startswith(begins))
    lines = [line for line in block.replace("sudo ", "").splitlines() if re.match(r"[a-z]+=", line) is None]
    return "\n".join([*(f"{name}={value}" for name, value in values.items()), *lines])
