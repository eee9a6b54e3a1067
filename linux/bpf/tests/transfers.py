#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Transfers under each BPF program in two network namespaces, every call of which is replayed in user space.

For each scenario: load the program with a trace, send over a path that marks (and drops), unload it, let replay_trace
give every call to the module's own code, and replay_operations every operation of the law to the model. Run as root
on a machine that may be disturbed for a minute, or in a guest (stock_kernels.py).

    transfers.py FOLDER [NAME ...]    # FOLDER: what prepared.py has made
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

CLONE_NEWNET = 0x40000000
# An emulated machine can send so much.
RATE = "4mbit"


@dataclass(frozen=True)
class Scenario:
    """A program with parameters, and what is sent over which path."""

    name: str
    program: str
    path: str
    parameters: dict[str, int] = field(default_factory=dict)
    #: Congestion controls of sender and listener.
    ends: tuple[str, str] = ("dctcp_ikr", "dctcp_ikr")
    flows: int = 1
    megabytes: float = 1.5
    #: Seconds between two halves of the data.
    pause_s: float = 0.0
    #: Conditions, each of which a row of the trace must fulfil.
    wants: tuple[str, ...] = ()


#: By names of columns in the trace; a call is a number of enum dctcp_call, a state of enum tcp_ca_state.
CUT = "cwnd_after < cwnd"
ALPHA = "alpha_after > 0"
RECOVERY = "ca_state == 3"
LOSS = "ca_state == 4"
TIMEOUT = "call == 3 and argument == 3"
#: The event of Linux before 7.0, and the call since.
RESTART = "(call == 4 or call == 3 and argument == 0) and idle_jiffies > rto_jiffies and cwnd_after < cwnd"
RFC8257 = {
    "alpha_bits": 10,
    "alpha_on_init": 1024,
    "alpha_per_ack": 0,
    "alpha_counting": 0,
    "gain_shift": 4,
    "progressive": 0,
    "grow_in_cwr": 0,
    "ssthresh_minus_one": 0,
    "keep_counter": 0,
    "cut_on_loss_in_cwr": 1,
}
SCENARIOS = (
    Scenario("ikr", "dctcp_ikr", "marks", wants=(CUT, ALPHA)),
    Scenario("rfc8257", "dctcp_ikr", "marks", RFC8257, wants=(CUT, ALPHA)),
    Scenario("count-acks", "dctcp_ikr", "marks", {"ack_counting": 1}, wants=(CUT, ALPHA)),
    Scenario("gain-per-window", "dctcp_ikr", "marks", {"gain_per_window": 1, "gain_shift": 4}, wants=(CUT, ALPHA)),
    Scenario("losses", "dctcp_ikr", "drops", {"cut_on_loss_in_cwr": 1}, wants=(CUT, ALPHA, RECOVERY)),
    Scenario("every-third-lost", "dctcp_ikr", "loses", megabytes=0.1, wants=(RECOVERY, LOSS)),
    # Without marks, as the stack tells of no timeout in CWR.
    Scenario("outage", "dctcp_ikr", "fails", wants=(TIMEOUT, LOSS)),
    Scenario("idle", "dctcp_ikr", "marks", pause_s=3.0, wants=(CUT, RESTART)),
    Scenario("four-flows", "dctcp_ikr", "marks", flows=4, wants=(CUT, ALPHA)),
    Scenario("onesided", "dctcp_onesided", "marks", ends=("dctcp_onesided", "reno"), wants=(CUT, ALPHA)),
    Scenario("onesided-outage", "dctcp_onesided", "fails", ends=("dctcp_onesided", "reno"), wants=(TIMEOUT, LOSS)),
    Scenario(
        "onesided-listener",
        "dctcp_onesided",
        "drops",
        ends=("dctcp_onesided", "dctcp_1sided_rx"),
        wants=(CUT, RECOVERY, "call == 3 and argument == 5"),
    ),
)


class Namespaces:
    """A sender, a router and a receiver in network namespaces, and sockets at either end.

    The queue is the router's: TCP keeps its own host's short.
    """

    def __init__(self, path: Path) -> None:
        self.names = [f"shoal-bpf-{os.getpid()}-{end}" for end in ("sender", "receiver", "router")]
        self.path = path

    def __enter__(self) -> Namespaces:
        sender, receiver, router = self.names
        for name in self.names:
            command("ip", "netns", "add", name)
        for net, name in enumerate((sender, receiver)):
            pair = f"link add veth{net} type veth peer name veth0 netns {name}"
            command("ip", "-n", router, *pair.split())
            self.device(router, f"veth{net}", f"10.99.{net}.1/24")
            self.device(name, "veth0", f"10.99.{net}.2/24")
            command("ip", "-n", name, "route", "add", "default", "via", f"10.99.{net}.1")
            self.set(name, "tcp_ecn", 1)
        self.set(router, "ip_forward", 1)
        tbf = f"root tbf rate {RATE} burst 3100 limit 1mb".split()
        command("tc", "-n", router, "qdisc", "add", "dev", "veth1", *tbf)
        command("tc", "-n", router, "qdisc", "add", "dev", "veth1", "clsact")
        marker = f"egress bpf direct-action object-file {self.path} section tc".split()
        command("tc", "-n", router, "filter", "add", "dev", "veth1", *marker)
        return self

    @staticmethod
    def device(name: str, device: str, address: str) -> None:
        """Give a device an address, and let it carry packets one by one."""
        command("ip", "-n", name, "address", "add", address, "dev", device)
        command("ip", "-n", name, "link", "set", device, "up", "gso_max_segs", "1")

    @staticmethod
    def set(name: str, key: str, value: int) -> None:
        """Set a sysctl of a namespace."""
        command("ip", "netns", "exec", name, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{key}")

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            command("ip", "netns", "delete", name)

    def socket(self, end: int, control: str) -> socket.socket:
        """A socket in one of the namespaces, with a congestion control."""
        libc = ctypes.CDLL(None, use_errno=True)
        with Path("/proc/self/ns/net").open() as home, Path("/run/netns", self.names[end]).open() as there:
            enter(libc, there.fileno())
            try:
                made = socket.socket()
            finally:
                enter(libc, home.fileno())
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        return made


def enter(libc: ctypes.CDLL, namespace: int) -> None:
    """Let this thread make its sockets in a network namespace."""
    if libc.setns(namespace, CLONE_NEWNET):
        sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")


def command(*words: str | Path) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def send(scenario: Scenario, spaces: Namespaces) -> None:
    """Send the data of a scenario, and wait until all of it has arrived."""
    size = int(scenario.megabytes * 1e6 / scenario.flows)
    listener = spaces.socket(1, scenario.ends[1])
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("10.99.1.2", 5001))
    listener.listen(scenario.flows)
    arrived = []

    def receive(connection: socket.socket) -> None:
        count = 0
        while part := connection.recv(1 << 16):
            count += len(part)
        arrived.append(count)

    def transmit(connection: socket.socket) -> None:
        connection.sendall(bytes(size // 2))
        time.sleep(scenario.pause_s)
        connection.sendall(bytes(size - size // 2))
        connection.shutdown(socket.SHUT_WR)

    work = []
    for _ in range(scenario.flows):
        sender = spaces.socket(0, scenario.ends[0])
        sender.connect(("10.99.1.2", 5001))
        work += [(receive, listener.accept()[0]), (transmit, sender)]
    threads = [threading.Thread(target=does, args=(connection,)) for does, connection in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _, connection in work:
        connection.close()
    listener.close()
    if sorted(arrived) != [size] * scenario.flows:
        sys.exit(f"{scenario.name}: {arrived} bytes arrived, not {size} of each connection")


def missing(trace: Path, wants: tuple[str, ...]) -> list[str]:
    """Conditions that no row of a trace fulfils."""
    header, *lines = (line.split("\t") for line in trace.read_text(encoding="ascii").splitlines())
    rows = [dict(zip(header, map(int, line), strict=True)) for line in lines]
    return [want for want in wants if not any(eval(want, {}, row) for row in rows)]  # noqa: S307


def notices_other_gain(scenario: Scenario, folder: Path, trace: Path) -> bool:
    """Whether the replay fails at alpha if the gain is another one than in the kernel."""
    values = {**scenario.parameters, "gain_shift": 3}
    words = [f"{name}={value}" for name, value in values.items()]
    replay = [folder / "replay_trace", trace, scenario.program, os.devnull, *words]
    done = subprocess.run(replay, capture_output=True, text=True, check=False)  # noqa: S603
    return done.returncode == 1 and "alpha" in done.stderr


def verified(log: Path) -> list[str]:
    """Functions in the verifier's log, with the instructions that it followed."""
    text = log.read_text(encoding="utf-8")
    counts = re.findall(r"^== dctcp_bpf_(\w+)\n(?:(?!==).*\n)*?processed (\d+) insns", text, flags=re.M)
    # One of the functions is unknown to kernels before 7.0.
    if len(counts) < 7:
        sys.exit(f"the verifier's log is incomplete:\n{text}")
    return [f"{name} {count}" for name, count in counts]


def run(scenario: Scenario, folder: Path) -> None:
    """Load, send, unload, replay."""
    with tempfile.TemporaryDirectory() as scratch:
        trace, log = Path(scratch, "trace.tsv"), Path(scratch, "verifier.log")
        request = {
            "verb": "load",
            "object": str(folder / f"{scenario.program}.bpf.o"),
            "parameters": scenario.parameters,
            "trace": str(trace),
            "verifier_log": str(log),
        }
        loader = subprocess.Popen(  # noqa: S603
            [folder / "shoal-bpf", json.dumps(request)], stdout=subprocess.PIPE, text=True
        )
        if loader.stdout is None or "loaded" not in (said := loader.stdout.readline()):
            sys.exit(f"{scenario.name}: {said if loader.stdout else ''}")
        try:
            with Namespaces(folder / f"virtual_queue-{scenario.path}.bpf.o") as spaces:
                send(scenario, spaces)
        finally:
            loader.send_signal(signal.SIGTERM)
            said = loader.stdout.read()
            loader.wait()
        if json.loads(said).get("lost") != 0:
            sys.exit(f"{scenario.name}: {said}")
        if keep := os.environ.get("KEEP_TRACES"):
            shutil.copy(trace, Path(keep, f"{scenario.name}.tsv"))
        if absent := missing(trace, scenario.wants):
            sys.exit(f"{scenario.name}: no call with {', '.join(absent)}")
        values = [f"{name}={value}" for name, value in scenario.parameters.items()]
        operations = Path(scratch, "operations.tsv")
        print(
            f"{scenario.name}: {command(folder / 'replay_trace', trace, scenario.program, operations, *values).strip()}"
        )
        print(f"{scenario.name}: {command(folder / 'replay_operations', operations).strip()}")
        if ALPHA in scenario.wants and not notices_other_gain(scenario, folder, trace):
            sys.exit(f"{scenario.name}: replay_trace does not notice another gain")
        print(f"{scenario.name}: the verifier followed {', '.join(verified(log))} instructions")


def main() -> None:
    """Run the scenarios of the command line, or all."""
    folder, *names = sys.argv[1:]
    chosen = [scenario for scenario in SCENARIOS if not names or scenario.name in names]
    for scenario in chosen:
        run(scenario, Path(folder).resolve())
    print(f"Linux {os.uname().release}: {len(chosen)} scenarios agree")


if __name__ == "__main__":
    main()
