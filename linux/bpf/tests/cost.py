#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What markers and congestion controls cost, in ns a packet, as the running kernel counts it.

Datagrams pass each marker and a shaper of 400 Mbit/s; a stream of 20 MB is sent by each congestion control. The kernel
measures every call of a program (kernel.bpf_stats_enabled, which is set for that time); the readings of the clock are
in the numbers, and an empty program tells how much they are. Run as root on an idle machine; needs bpftool.

    cost.py FOLDER [RUNS]    # FOLDER: what prepared.py has made; the median of RUNS (5) is printed, with the range
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import markers
from markers import Pair, Scenario
from transfers import command

from shoal.linux.bpf import compile_program

STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
SHAPER = ("root tbf rate 400mbit burst 100k limit 2mb",)
DATAGRAMS = 50_000
SIZE = 1400
STREAM = 20_000_000
# What is called once for each packet that is sent, or for each segment that has come, at both ends of a stream.
FIRST = ("mark_step", "mark_coupled", "mark_dualred", "dctcp_bpf_in_ack_event", "nothing")
NOTHING = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("tc") int nothing(struct __sk_buff *skb) { return -1; }
char _license[] SEC("license") = "GPL";
"""


def counted() -> dict[int, tuple[str, int, int]]:
    """Name, ns and calls of each program in the kernel."""
    said = json.loads(command("bpftool", "-j", "prog", "show"))
    return {p["id"]: (p.get("name", ""), p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in said}


def receiving(accepted: socket.socket) -> threading.Thread:
    """Read until nothing more comes: a packet that nobody reads is dropped, which costs a call more."""

    def receive() -> None:
        with contextlib.suppress(TimeoutError):
            while accepted.recv(1 << 16):
                pass

    thread = threading.Thread(target=receive)
    thread.start()
    return thread


def send_datagrams(spaces: Pair) -> None:
    """Send datagrams that are ECN-capable, as fast as the shaper takes them."""
    with spaces.socket(1) as receiver, spaces.socket(0) as sender:
        receiver.bind((spaces.address, 5002))
        receiver.settimeout(1.0)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, markers.ECT0)
        sender.connect((spaces.address, 5002))
        thread = receiving(receiver)
        for _ in range(DATAGRAMS):
            sender.send(bytes(SIZE))
        thread.join()


def send_stream(name: str) -> Callable[[Pair], None]:
    """Send a stream with a congestion control."""

    def send(spaces: Pair) -> None:
        with spaces.socket(1) as listener, spaces.socket(0) as sender:
            listener.bind((spaces.address, 5002))
            listener.listen(1)
            for end in (listener, sender):
                # A listener without it takes no SYN that is ECN-capable for one of a connection with ECN.
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            sender.connect((spaces.address, 5002))
            accepted, _ = listener.accept()
            thread = receiving(accepted)
            sender.sendall(bytes(STREAM))
            sender.shutdown(socket.SHUT_WR)
            thread.join()
            accepted.close()

    return send


@contextlib.contextmanager
def loaded(folder: Path, spaces: Pair, name: str) -> Iterator[None]:
    """A program of the project in the sender's namespace, or one that does nothing."""
    inside = ["nsenter", f"--net=/run/netns/{spaces.names[0]}"]
    if name == "nothing":
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch, "nothing.bpf.c")
            source.write_text(NOTHING, encoding="ascii")
            compile_program(source, source.with_suffix(".o"))
            command(*inside, "tc", "qdisc", "add", "dev", "veth0", "clsact")
            object_file = str(source.with_suffix(".o"))
            command(*inside, *f"tc filter add dev veth0 egress bpf da obj {object_file} sec tc".split())
            yield
        return
    request = {"verb": "load", "object": str(folder / f"{name}.bpf.o"), "parameters": {}}
    if name.startswith("mark"):
        request["device"] = "veth0"
    words = [*inside, str(folder / "shoal-bpf"), json.dumps(request)]
    loader = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)  # noqa: S603
    if loader.stdout is None or "loaded" not in (said := loader.stdout.readline()):
        sys.exit(f"{name}: {said if loader.stdout else ''}")
    try:
        yield
    finally:
        loader.send_signal(signal.SIGTERM)
        loader.communicate()


def run(folder: Path, name: str) -> dict[str, tuple[float, float]]:
    """Measure what each function takes: ns a call, and calls a packet; and ns a packet of all together."""
    is_control = name.startswith("dctcp")
    markers.SHAPERS["cost"] = SHAPER
    with Pair(Scenario(name, name, shaper="cost", tcp=is_control)) as spaces, loaded(folder, spaces, name):
        before = counted()
        (send_stream(name) if is_control else send_datagrams)(spaces)
        after = counted()
    changes = {}
    for number, (function, ns, calls) in after.items():
        _, old_ns, old_calls = before.get(number, ("", 0, 0))
        if calls > old_calls and function.startswith(("mark", "dctcp_bpf", "nothing")):
            changes[function] = (ns - old_ns, calls - old_calls)
    packets = next(calls for function, (_, calls) in changes.items() if function in FIRST)
    costs = {function: (ns / calls, calls / packets) for function, (ns, calls) in changes.items()}
    return costs | {"all": (sum(ns for ns, _ in changes.values()) / packets, 1.0)}


def main() -> None:
    """Measure each program, and print a table."""
    folder = Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    setting = STATISTICS.read_text(encoding="ascii")
    STATISTICS.write_text("1", encoding="ascii")
    try:
        print("| program | function | calls for each packet | ns a call (range) |\n|---|---|--:|--:|")
        for name in ("nothing", "mark_step", "mark_coupled", "mark_dualred", "dctcp_ikr", "dctcp_onesided"):
            rows = [run(folder, name) for _ in range(runs)]
            for function in sorted(set.intersection(*map(set, rows)), key=lambda each: (each == "all", each)):
                ns = sorted(row[function][0] for row in rows)
                calls = statistics.median(row[function][1] for row in rows)
                spread = f"{statistics.median(ns):.0f} ({ns[0]:.0f} to {ns[-1]:.0f})"
                print(f"| {name} | {function} | {calls:.2f} | {spread} |", flush=True)
    finally:
        STATISTICS.write_text(setting, encoding="ascii")


if __name__ == "__main__":
    main()
