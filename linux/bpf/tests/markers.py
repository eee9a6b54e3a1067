#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Packets through each marker and a shaped queue in network namespaces, every decision replayed in user space.

For each scenario: load the marker with a trace, send, unload it, and let replay_marker give every packet to the same
law. Marks must arrive as CE, with IPv4 checksums that the receiver's kernel accepts. Run as root on a machine that may
be disturbed for a minute.

    markers.py FOLDER [NAME ...]    # FOLDER: what prepared.py has made
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from transfers import command, enter

SEED = 43
# An emulated machine can send so much.
RATE_BIT_S = 4_000_000
PACKETS = 2000
SHAPERS = {
    "tbf": ("root tbf rate 4mbit burst 3100 limit 22kb",),
    "htb": ("root handle 1: htb default 1",),
}
# A class of its own, whose queue takes whole aggregates.
CLASS = "parent 1: classid 1:1 htb rate 4mbit burst 15k"
ECT0, NOT_ECT = 2, 0
# There are kernels that run no program on tracepoints in the time of some process: see ../README.md.
SEEN_SHARE = 0.02


@dataclass(frozen=True)
class Scenario:
    """A marker with parameters, and what is sent through which shaper."""

    name: str
    marker: str
    parameters: dict[str, int] = field(default_factory=dict)
    shaper: str = "tbf"
    #: 4 or 6.
    version: int = 4
    tcp: bool = False
    #: A parameter with which the replay must differ.
    other: str = ""
    #: Counts of the replay that must not be zero.
    wants: tuple[str, ...] = ("marked", "late")


SCENARIOS = (
    Scenario("step", "mark_step", other="threshold_us=7000"),
    Scenario("step-6", "mark_step", {"threshold_us": 20000}, version=6, other="threshold_us=22000"),
    Scenario(
        "step-aggregates",
        "mark_step",
        shaper="htb",
        tcp=True,
        other="threshold_us=1000000",
        wants=("marked", "aggregates"),
    ),
    Scenario("coupled", "mark_coupled", other="coupling_percent=50", wants=("marked", "dropped", "late")),
    Scenario("coupled-6", "mark_coupled", {"saturation_us": 60000}, version=6, other="saturation_us=50000"),
    Scenario("dualred", "mark_dualred", other="min_us=2000", wants=("marked", "dropped", "late")),
    Scenario("dualred-fast", "mark_dualred", {"weight_ppm": 20000}, other="weight_ppm=2000", wants=("dropped", "late")),
)


class Pair:
    """A sender and a receiver in network namespaces, with a shaper between them."""

    def __init__(self, scenario: Scenario) -> None:
        self.names = [f"shoal-marker-{os.getpid()}-{end}" for end in ("sender", "receiver")]
        self.scenario = scenario

    def __enter__(self) -> Pair:
        sender, receiver = self.names
        for name in self.names:
            command("ip", "netns", "add", name)
            command("ip", "netns", "exec", name, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_ecn")
        command("ip", "-n", sender, *f"link add veth0 type veth peer name veth0 netns {receiver}".split())
        for end, name in enumerate(self.names, 1):
            command("ip", "-n", name, "address", "add", f"10.98.0.{end}/24", "dev", "veth0")
            command("ip", "-n", name, "address", "add", f"fd98::{end}/64", "dev", "veth0", "nodad")
            command(
                "ip",
                "-n",
                name,
                "link",
                "set",
                "veth0",
                "up",
                "addrgenmode",
                "none",
                "address",
                f"02:00:00:00:00:0{end}",
            )
            # Nobody has to ask where the other end is.
            for address in (f"10.98.0.{3 - end}", f"fd98::{3 - end}"):
                command("ip", "-n", name, *f"neigh add {address} lladdr 02:00:00:00:00:0{3 - end} dev veth0".split())
        for words in SHAPERS[self.scenario.shaper]:
            command("tc", "-n", sender, "qdisc", "add", "dev", "veth0", *words.split())
        if self.scenario.shaper == "htb":
            command("tc", "-n", sender, "class", "add", "dev", "veth0", *CLASS.split())
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            command("ip", "netns", "delete", name)

    @property
    def address(self) -> str:
        """The receiver's."""
        return "10.98.0.2" if self.scenario.version == 4 else "fd98::2"

    def socket(self, end: int) -> socket.socket:
        """A socket in a namespace."""
        libc = ctypes.CDLL(None, use_errno=True)
        family = socket.AF_INET if self.scenario.version == 4 else socket.AF_INET6
        with Path("/proc/self/ns/net").open() as home, Path("/run/netns", self.names[end]).open() as there:
            enter(libc, there.fileno())
            try:
                return socket.socket(family, socket.SOCK_STREAM if self.scenario.tcp else socket.SOCK_DGRAM)
            finally:
                enter(libc, home.fileno())

    def overflowed(self) -> int:
        """Packets that the shaper has dropped itself."""
        said = command("tc", "-s", "-j", "-n", self.names[0], "qdisc", "show", "dev", "veth0", "root")
        return int(json.loads(said)[0]["drops"])

    def received(self) -> dict[str, int]:
        """What the receiver's kernel counts of packets with CE, and with wrong checksums in IPv4's header."""
        cat = command("ip", "netns", "exec", self.names[1], "cat", "/proc/net/netstat", "/proc/net/snmp6")
        lines = [line.split() for line in cat.splitlines()]
        heads, values = [line for line in lines if line[0] == "IpExt:"]
        counts = dict(zip(heads[1:], map(int, values[1:]), strict=True))
        counts |= {name: int(value) for name, value in (line for line in lines if line[0].startswith("Ip6"))}
        ce = counts["InCEPkts" if self.scenario.version == 4 else "Ip6InCEPkts"]
        return {"ce": ce, "wrong": counts["InCsumErrors"]}


def send_datagrams(spaces: Pair) -> None:
    """Send packets of both classes, faster and slower than the line in turn."""
    draws = random.Random(SEED)  # noqa: S311
    receiver = spaces.socket(1)
    receiver.bind((spaces.address, 5002))
    senders = []
    for ecn in (ECT0, NOT_ECT):
        sender = spaces.socket(0)
        level, name = (socket.IPPROTO_IP, socket.IP_TOS)
        if spaces.scenario.version == 6:
            level, name = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)
        sender.setsockopt(level, name, ecn)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        sender.connect((spaces.address, 5002))
        senders.append(sender)
    due = time.monotonic()
    for number in range(PACKETS):
        size = draws.randrange(100, 1400)
        # The queue's own drop, or the marker's, is told at once.
        with contextlib.suppress(OSError):
            draws.choice(senders).send(bytes(size))
        load = 2.0 if number // 200 % 2 == 0 else 0.6
        due += 8 * size / (load * RATE_BIT_S)
        time.sleep(max(0.0, due - time.monotonic()))
    time.sleep(0.3)
    for each in (*senders, receiver):
        each.close()


def send_stream(spaces: Pair) -> None:
    """Send a stream, in aggregates as the host makes them."""
    listener = spaces.socket(1)
    listener.bind((spaces.address, 5002))
    listener.listen(1)
    sender = spaces.socket(0)
    sender.connect((spaces.address, 5002))
    accepted, _ = listener.accept()

    def receive() -> None:
        while accepted.recv(1 << 16):
            pass

    thread = threading.Thread(target=receive)
    thread.start()
    sender.sendall(bytes(1_000_000))
    sender.shutdown(socket.SHUT_WR)
    thread.join()
    # The last ones may still wait.
    time.sleep(0.3)
    for each in (sender, accepted, listener):
        each.close()


def replayed(folder: Path, scenario: Scenario, trace: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    """What the law in user space says of a trace."""
    replay = [folder / f"replay_{scenario.marker}", trace, *words]
    return subprocess.run(replay, capture_output=True, text=True, check=False)  # noqa: S603


def run(scenario: Scenario, folder: Path) -> None:
    """Load, send, unload, replay."""
    with tempfile.TemporaryDirectory() as scratch, Pair(scenario) as spaces:
        trace = Path(scratch, "trace.tsv")
        request = {
            "verb": "load",
            "object": str(folder / f"{scenario.marker}.bpf.o"),
            "device": "veth0",
            "parameters": scenario.parameters,
            "trace": str(trace),
        }
        loader = subprocess.Popen(  # noqa: S603
            ["nsenter", f"--net=/run/netns/{spaces.names[0]}", folder / "shoal-bpf", json.dumps(request)],  # noqa: S607
            stdout=subprocess.PIPE,
            text=True,
        )
        if loader.stdout is None or "loaded" not in (said := loader.stdout.readline()):
            sys.exit(f"{scenario.name}: {said if loader.stdout else ''}")
        try:
            (send_stream if scenario.tcp else send_datagrams)(spaces)
        finally:
            loader.send_signal(signal.SIGTERM)
            end = loader.stdout.read()
            loader.wait()
        answer = json.loads(end)
        received, overflowed = spaces.received(), spaces.overflowed()
        words = [f"{name}={value}" for name, value in scenario.parameters.items()]
        done = replayed(folder, scenario, trace, words)
        if done.returncode:
            sys.exit(f"{scenario.name}, seed {SEED}: {done.stderr}")
        counts = json.loads(done.stdout)
        for name in ("packets", "marked", "dropped"):
            if answer["lost"] or counts[name] != answer["counts"][name]:
                sys.exit(f"{scenario.name}: the loader says {answer}, the trace {counts}")
        # One that came before the marker may leave after it.
        if answer["counts"]["unseen"] > 1:
            sys.exit(f"{scenario.name}: packets were not seen: {answer}")
        if absent := [name for name in scenario.wants if not counts[name]]:
            sys.exit(f"{scenario.name}, seed {SEED}: no {', '.join(absent)}: {counts}")
        missed = counts["packets"] - counts["dropped"] - counts["left"] - overflowed
        if not 0 <= missed <= SEEN_SHARE * counts["packets"]:
            sys.exit(f"{scenario.name}: {missed} packets left past the marker: {counts}, {overflowed} overflowed")
        # An aggregate is one decision, and as many packets with CE as the receiver counts.
        least = counts["marked"] - overflowed
        most = counts["marked"] * (45 if scenario.tcp else 1)
        if not least <= received["ce"] <= most or received["wrong"]:
            sys.exit(f"{scenario.name}: {counts}, {overflowed} overflowed, but the receiver counts {received}")
        if not replayed(folder, scenario, trace, [*words, scenario.other]).returncode:
            sys.exit(f"{scenario.name}: the replay does not notice {scenario.other}")
        print(f"{scenario.name}: {done.stdout.strip()}, {received['ce']} with CE, {overflowed} lost, {missed} missed")


def main() -> None:
    """Run the scenarios of the command line, or all."""
    folder, *names = sys.argv[1:]
    # On one CPU packets come and leave one after the other, as the trace has them.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    chosen = [scenario for scenario in SCENARIOS if not names or scenario.name in names]
    for scenario in chosen:
        run(scenario, Path(folder).resolve())
    print(f"Linux {os.uname().release}, seed {SEED}: {len(chosen)} scenarios agree")


if __name__ == "__main__":
    main()
