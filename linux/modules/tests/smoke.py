#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The modules on a running kernel: load, configure, carry traffic, change, reset, read statistics, unload.

Needs root, iproute2 and a machine that may be disturbed, as a virtual one or the virtual-time kernel is:
    python3 smoke.py --modules .. --plugins ../tc/build
"""

import argparse
import ctypes
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

QDISCS = ("sch_dualred", "sch_coupled", "sch_dualq_coupled")
CONTROLS = ("tcp_dctcp_ikr", "tcp_dctcp_onesided", "tcp_reno_acks")
# Only kernels with accurate ECN have it.
PRAGUE = "tcp_prague_shoal"
# Long enough that one or two retransmission timeouts do not decide about the shares.
SECONDS = 15.0
ECN_PORT, OTHER_PORT = 5001, 5002
# The line is slower by this factor, for processors that are too slow to fill it.
SLOWNESS = [1.0]
# Time limit for the start or the end of a program, in seconds.
PATIENCE = 120.0


def run(*command: str, refuses: bool = False) -> str:
    """Runs a command that must succeed, or with `refuses` must fail; returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if (done.returncode != 0) != refuses:
        sys.exit(f"{' '.join(command)}: {'accepted' if refuses else done.stderr.strip()}")
    return done.stdout + done.stderr


def load(file: Path) -> None:
    """Loads a module as insmod does, by init_module(2): kmod is not installed everywhere."""
    image = file.read_bytes()
    system_call(f"cannot load {file}", "init_module", image, ctypes.c_ulong(len(image)), b"")


def unload(module: str) -> None:
    """Removes a module as rmmod does, by delete_module(2)."""
    system_call(f"cannot unload {module}", "delete_module", module.encode(), os.O_NONBLOCK)


def system_call(trouble: str, name: str, *arguments: object) -> None:
    """Calls a function of the C library that sets errno; ends the program if it fails."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        sys.exit(f"{trouble}: {os.strerror(ctypes.get_errno())}")


def qdisc(verb: str, words: str, refuses: bool = False) -> str:
    """`tc qdisc` on the bottleneck's queue."""
    place = ("dev", "right", "parent", "1:1", "handle", "10:")
    return run("tc", "-n", "r", "qdisc", verb, *place, *words.split(), refuses=refuses)


def line() -> str:
    """Rate of the bottleneck, as tc has it."""
    return f"{10_000 / SLOWNESS[0]:.0f}kbit"


def scaled(milliseconds: float) -> str:
    """A time in which a slower line sends as many packets."""
    return f"{milliseconds * SLOWNESS[0]:.0f}ms"


def build_network() -> None:
    """Three hosts in a row, a - r - b, with a shaper from r to b."""
    for name in "arb":
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.tcp_ecn=1")
    run("ip", "-n", "a", "link", "add", "e", "type", "veth", "peer", "name", "left", "netns", "r")
    run("ip", "-n", "b", "link", "add", "e", "type", "veth", "peer", "name", "right", "netns", "r")
    for name, device, address in (
        ("a", "e", "10.1.0.1/24"),
        ("r", "left", "10.1.0.2/24"),
        ("r", "right", "10.2.0.2/24"),
        ("b", "e", "10.2.0.1/24"),
    ):
        run("ip", "-n", name, "address", "add", address, "dev", device)
        run("ip", "-n", name, "link", "set", device, "up")
    run("ip", "-n", "a", "route", "add", "default", "via", "10.1.0.2")
    run("ip", "-n", "b", "route", "add", "default", "via", "10.2.0.2")
    shaper = f"root handle 1: tbf rate {line()} burst 3028 limit 100000000"
    run("tc", "-n", "r", "qdisc", "add", "dev", "right", *shaper.split())
    # The reverse path has a delay: with a base RTT of 0 the two packets that DCTCP always has in flight fill the line,
    # and behind
    # a queue with priority no other packet is sent.
    run("tc", "-n", "b", "qdisc", "add", "dev", "e", "root", "netem", "delay", "20ms", "limit", "10000")


def remove_network() -> None:
    """Removes the hosts, and with them their links and queues."""
    for name in "arb":
        run("ip", "netns", "delete", name)


def receive(port: int, control: str) -> None:
    """Accept one connection and print the number of bytes received."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        listener.bind(("", port))
        listener.listen(1)
        print("ready", flush=True)
        connection = listener.accept()[0]
        total = 0
        while data := connection.recv(1 << 20):
            total += len(data)
        print(total)


def send(port: int, control: str) -> None:
    """Send as much as possible for SECONDS."""
    with socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        sender.connect(("10.2.0.1", port))
        print("ready", flush=True)
        sender.settimeout(1.0)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                sender.send(bytes(65536))
            except TimeoutError:
                continue


def inside(name: str, *words: str) -> subprocess.Popen[str]:
    """Another instance of this program in a network namespace."""
    command = ["ip", "netns", "exec", name, sys.executable, os.path.abspath(__file__), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    if process.stdout is None or process.stdout.readline() != "ready\n":
        sys.exit(f"{' '.join(words)} did not begin")
    return process


def result_of(process: subprocess.Popen[str]) -> str:
    """Output of another instance after its end."""
    if process.wait(PATIENCE) or process.stdout is None:
        sys.exit("a sender or receiver failed")
    return process.stdout.read()


def carry(
    scalable: tuple[str, str], other: str, meanwhile: Sequence[str] = (), begun: threading.Event | None = None
) -> list[float]:
    """One flow of each kind at once; goodputs in Mbit/s. `meanwhile` are changes of the queue."""
    flows = ((ECN_PORT, *scalable), (OTHER_PORT, other, other))
    receivers = [inside("b", "receive", str(port), receiver) for port, _, receiver in flows]
    senders = []
    # ECN is negotiated when a connection opens; the second one has none.
    for ecn, (port, sender, _) in zip("10", flows, strict=True):
        run("ip", "netns", "exec", "a", "sysctl", "-qw", f"net.ipv4.tcp_ecn={ecn}")
        senders.append(inside("a", "send", str(port), sender))
    if begun:
        begun.set()
    for words in meanwhile:
        time.sleep(0.5)
        qdisc("change", words)
    for sender in senders:
        result_of(sender)
    return [int(result_of(receiver)) * 8e-6 / SECONDS for receiver in receivers]


def statistics() -> dict:
    """Statistics of the bottleneck's queue, with its options."""
    # In a request of its own, as tc writes no JSON for some parents.
    return json.loads(run("tc", "-n", "r", "-s", "-j", "qdisc", "show", "dev", "right", "handle", "10:"))[0]


def expect(condition: bool, what: str) -> None:
    """End the program with the statistics if a condition does not hold."""
    if not condition:
        sys.exit(f"{what}\n{json.dumps(statistics(), indent=1)}")


def prague_on_loopback() -> None:
    """Send to this host with Prague; print the controller of the sender, and the codepoints of its data."""
    every_ip = 0x0800
    codepoints = set()
    with (
        socket.socket() as listener,
        socket.socket() as sender,
        socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(every_ip)) as wire,
    ):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
        wire.bind(("lo", every_ip))
        wire.setblocking(False)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"prague_0_7")
        sender.connect(("127.0.0.1", port))
        with listener.accept()[0] as receiver:
            for _ in range(50):
                sender.sendall(bytes(10_000))
                left = 10_000
                while left:
                    left -= len(receiver.recv(left))
                while packet := arrived(wire):
                    if packet[22:24] == port.to_bytes(2) and int.from_bytes(packet[2:4]) > 1000:
                        codepoints.add(packet[1] & 3)
        control = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    print(control, sorted(codepoints))


def arrived(wire: socket.socket) -> bytes:
    """The next packet of a socket that does not wait; empty if there is none."""
    try:
        return wire.recv(60)
    except BlockingIOError:
        return b""


def check_prague() -> None:
    """Its data are ECT(1) where the server grants accurate ECN. With classic ECN it is Reno, and ECT(0)."""
    for granted, said in (("3", "prague_0_7 [1]"), ("1", "prague-reno [2]"), ("0", "prague-reno [0]")):
        run("ip", "netns", "exec", "b", "sysctl", "-qw", f"net.ipv4.tcp_ecn={granted}")
        command = (sys.executable, os.path.abspath(__file__), "prague")
        was = run("ip", "netns", "exec", "b", *command).strip()
        if was != said:
            sys.exit(f"Prague with tcp_ecn={granted} at the server: {was}, not {said}")
    run("ip", "netns", "exec", "b", "sysctl", "-qw", "net.ipv4.tcp_ecn=1")


def check_dualred(scalable: tuple[str, str], other: str) -> None:
    """One instance marks ECT packets, the other drops the rest."""
    qdisc("add", f"dualred limit 300 rate {line()} not_ect min 15000 max 45000 prob 0.1 weight 1% ect step 15kb")
    options = statistics()["options"]
    expect(options["ect"]["min"] == options["ect"]["max"] == 15360, "options")
    expect(options["limit"] == 300, "limit")
    message = qdisc("change", "dualred ect min 2 max 1", refuses=True)
    expect("minimum threshold is above" in message, message)
    rates = carry(scalable, other, ["dualred average class", "dualred average shared ect gentle"])
    found = statistics()
    ect, not_ect = found["ect_stats"], found["not_ect_stats"]
    expect(ect["marked"] > 50 and not_ect["marked"] == 0, "only ECT packets are marked")
    expect(ect["early"] + ect["forced"] == 0, "no ECT packet is dropped by RED")
    expect(not_ect["early"] + not_ect["forced"] > 0, "others are dropped")
    report("sch_dualred", scalable, rates, ect["marked"], not_ect["early"] + not_ect["forced"])


def check_coupled(scalable: tuple[str, str], other: str) -> None:
    """One queue marks ECT packets and drops others."""
    qdisc("add", f"coupled limit 300 rate {line()} saturation {scaled(200)} coupling 1.63")
    qdisc("change", "coupled threshold 5p", refuses=True)
    rates = carry(scalable, other, ["coupled decide dequeue"])
    found = statistics()
    ect, classic = found["ect_stats"], found["classic_stats"]
    expect(ect["coupled"] > 50 and ect["dropped"] == 0, "ECT packets are marked, never dropped")
    expect(classic["dropped"] > 0 and classic["coupled"] == 0, "others are dropped, never marked")
    report("sch_coupled", scalable, rates, ect["coupled"], classic["dropped"])


def check_dualq_coupled(scalable: tuple[str, str], other: str) -> None:
    """Two queues do the same, and ECT packets wait less."""
    qdisc("add", f"dualq_coupled limit 300 rate {line()} saturation {scaled(40)} coupling 8 threshold 5p")
    changes = ["dualq_coupled scheduler weighted classic_percent 20", "dualq_coupled scheduler priority"]
    rates = carry(scalable, other, changes)
    found = statistics()
    ect, classic = found["ect_stats"], found["classic_stats"]
    expect(ect["coupled"] + ect["threshold"] > 50, "ECT packets are marked")
    expect(classic["dropped"] > 0, "others are dropped")
    wait = [kind["delay_sum_ns"] / kind["sent"] for kind in (ect, classic)]
    expect(wait[0] * 2 < wait[1], f"the low-latency queue waits less: {wait}")
    report("sch_dualq_coupled", scalable, rates, ect["coupled"] + ect["threshold"], classic["dropped"])


def report(kind: str, scalable: tuple[str, str], rates: list[float], marks: int, drops: int) -> None:
    """Check what holds for each queue, and print one line about it."""
    # The share is 1448 of 1514 bytes, less what slow start leaves unused.
    expect(sum(rates) > 8.0 / SLOWNESS[0], f"the line is busy: {rates}")
    expect(min(rates) > 0.3 / SLOWNESS[0], f"nobody starves: {rates}")
    print(f"{kind} with {scalable[0]}: {rates[0]:.2f} and {rates[1]:.2f} Mbit/s, {marks} marks, {drops} drops")


# Command lines that law/bounds.h refuses, each with the message of the kernel. The first two would end in a divide
# error on
# x86-64.
BEYOND_BOUNDS = (
    ("dualq_coupled decide enqueue threshold 1000000000s rate 8000000gbit", "rate must be 8bit to 8000gbit"),
    ("coupled decide enqueue saturation 1ns coupling 0.0000153", "coupling must be 0.001 to 1024"),
    ("dualq_coupled threshold 1000001s", "threshold must be 0 to 10^15"),
    ("dualq_coupled shift 1000001s", "shift must be 0 to 10^15"),
    ("dualq_coupled mtu 65536", "mtu must be at most 65535"),
    ("coupled rate 0bit", "rate must be"),
    ("coupled saturation 0ms", "saturation must be 1 to 10^15"),
    ("coupled saturation 1000001s", "saturation must be 1 to 10^15"),
    ("coupled unit 0p", "unit must be 1 to 10^15"),
    ("coupled unit 1000001s", "unit must be 1 to 10^15"),
    ("coupled coupling 1025", "coupling must be"),
    ("dualred rate 8001gbit", "rate must be"),
    ("dualred mean_packet 0", "mean_packet must be 1 to 65535"),
    ("dualred mean_packet 65536", "mean_packet must be 1 to 65535"),
    ("dualred ect prob 0", "must be 2^-32 to 1"),
    ("dualred not_ect weight 0", "must be 2^-32 to 1"),
)


def check_bounds() -> None:
    """Values outside of the bounds of a law are refused, with the remedy."""
    for words, says in BEYOND_BOUNDS:
        message = qdisc("add", words, refuses=True)
        if says not in message:
            sys.exit(f"{words}: {message}")


# Shapers and schedulers above a queue, as (words of tc, where the queue then goes). drr does not shape, so that it is
# below a shaper.
PARENTS = {
    "tbf": (("root handle 1: tbf rate 2mbit burst 3028 limit 10000000",), "1:1"),
    "htb": (("root handle 1: htb default 1", "class 1: 1:1 htb rate 2mbit burst 3028 cburst 3028"), "1:1"),
    "hfsc": (("root handle 1: hfsc default 1", "class 1: 1:1 hfsc ls rate 2mbit ul rate 2mbit"), "1:1"),
    "drr": (
        (
            "root handle 1: tbf rate 2mbit burst 3028 limit 10000000",
            "parent 1:1 handle 2: drr",
            "class 2: 2:1 drr quantum 1514",
            "filter 2: matchall classid 2:1",
        ),
        "2:1",
    ),
}
# Every packet that is not ECT is dropped on departure, except the last one.
DROPS_ALL = {
    "coupled": "coupled limit 300 decide dequeue saturation 1p coupling 1",
    "dualq_coupled": "dualq_coupled limit 300 decide dequeue saturation 1p coupling 1 input total threshold 300p",
}


def parent_words(words: str) -> tuple[str, ...]:
    """One step of PARENTS as a command."""
    first, rest = words.split(" ", 1)
    if first == "class":
        parent, name, kind = rest.split(" ", 2)
        return ("class", "add", "dev", "right", "parent", parent, "classid", name, *kind.split())
    if first == "filter":
        parent, kind = rest.split(" ", 1)
        return ("filter", "add", "dev", "right", "parent", parent, "protocol", "all", "prio", "1", *kind.split())
    return ("qdisc", "add", "dev", "right", *words.split())


def send_datagrams(count: int, ect: bool) -> None:
    """Datagrams from a to b, as fast as they can be written; no program receives them."""
    program = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        f"s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, {2 if ect else 0}); "
        f"[s.sendto(bytes(1000), ('10.2.0.1', 9)) for _ in range({count})]"
    )
    run("ip", "netns", "exec", "a", sys.executable, "-c", program)


def check_parents() -> None:
    """Below each shaper and scheduler a queue drops as many packets as it can on departure, and never seems empty."""
    run("ip", "netns", "exec", "b", "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv4.icmp_ratemask=0")
    for parent, (steps, place) in PARENTS.items():
        if parent == "hfsc" and not Path("/sys/module/sch_hfsc").exists() and not has_kind("hfsc"):
            print("no hfsc on this kernel: not tried")
            continue
        for kind, words in DROPS_ALL.items():
            subprocess.run(["tc", "-n", "r", "qdisc", "delete", "dev", "right", "root"], check=False)  # noqa: S607
            for step in steps:
                run("tc", "-n", "r", *parent_words(step))
            run("tc", "-n", "r", "qdisc", "add", "dev", "right", "parent", place, "handle", "10:", *words.split())
            for ect in (False, True, False):
                send_datagrams(100, ect)
            wait_until_empty()
            found = statistics()
            classic = found["classic_stats"]
            expect(classic["dropped"] > 20, f"{kind} below {parent} drops")
            expect(classic["sent"] > 0, f"{kind} below {parent} does not drop the last")
            expect(
                found["drops"] == classic["dropped"] + classic["overlimit"] + found["ect_stats"]["overlimit"], "drops"
            )
            marks = sum(
                found[name][what] for name in ("ect_stats", "classic_stats") for what in ("coupled", "threshold")
            )
            expect(found["overlimits"] == classic["dropped"] + marks, "every decision of the law is an overlimit")
            waits = re.findall(r"backlog (\S+)b (\d+)p", run("tc", "-n", "r", "-s", "qdisc", "show", "dev", "right"))
            expect(len(waits) >= 2 and set(waits) == {("0", "0")}, f"counters of the tree add up: {waits}")
    run("tc", "-n", "r", "qdisc", "delete", "dev", "right", "root")
    print("below tbf, htb, hfsc, drr: drops on departure never empty a queue")


def has_kind(kind: str) -> bool:
    """Whether the kernel has a discipline."""
    tried = ["tc", "-n", "r", "qdisc", "replace", "dev", "left", "root", kind]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0  # noqa: S603


def wait_until_empty() -> None:
    """Wait until the bottleneck's queue is empty."""
    for _ in range(200):
        if statistics()["qlen"] == 0:
            time.sleep(0.1)
            return
        time.sleep(0.1)
    expect(False, "the queue does not empty itself")


def seen_states(words: str) -> set[int]:
    """States of a sender's congestion control on the router itself, whose packets the queue drops on arrival."""
    shaper = f"root handle 1: tbf rate {line()} burst 3028 limit 100000000"
    run("tc", "-n", "r", "qdisc", "replace", "dev", "right", *shaper.split())
    qdisc("add", words)
    receiver = inside("b", "receive", str(OTHER_PORT), "reno")
    states = result_of(inside("r", "states", str(OTHER_PORT)))
    result_of(receiver)
    found = statistics()
    expect(found["drops"] > 0, f"{words}: drops")
    run("tc", "-n", "r", "qdisc", "delete", "dev", "right", "root")
    return set(json.loads(states))


def watch_states(port: int) -> None:
    """Sends for a while and prints the states that TCP_INFO shows (enum tcp_ca_state)."""
    states: set[int] = set()
    with socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        sender.connect(("10.2.0.1", port))
        print("ready", flush=True)
        sender.setblocking(False)
        end = time.monotonic() + SECONDS / 3
        while time.monotonic() < end:
            try:
                sender.send(bytes(65536))
            except BlockingIOError:
                time.sleep(0.001)
            states.add(sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[1])
    print(json.dumps(sorted(states)))


def check_verdicts() -> None:
    """TCP on this host hears of a drop on arrival from dualred, as from the kernel's RED, not from coupled queues."""
    cwr, recovery = 2, 3
    # A sender's own queue is two packets long: TCP small queues hold back the rest.
    # Of an aggregate that is split some packets wait, so that it was sent whatever the law said of others.
    run("ip", "-n", "r", "link", "set", "dev", "right", "gso_max_segs", "1")
    run("ip", "netns", "exec", "r", "sysctl", "-qw", "net.ipv4.tcp_ecn=0")
    red = seen_states(f"dualred limit 300 rate {line()} average shared not_ect min 1000 max 6000 prob 0.1 weight 1")
    if cwr not in red:
        sys.exit(f"dualred: no sender in CWR: {red}")
    for kind in ("coupled", "dualq_coupled"):
        states = seen_states(f"{kind} limit 300 rate {line()} decide enqueue saturation 10p coupling 1")
        if cwr in states or recovery not in states:
            sys.exit(f"{kind}: a sender without ECN learns of drops by recovery alone: {states}")
    print("verdicts: CWR after a drop of dualred, recovery alone after one of coupled and dualq_coupled")


def check_kernel_log() -> None:
    """Fail if the kernel has printed a warning, or a scheduler one about a child that seems to be empty."""
    log = ctypes.create_string_buffer(1 << 20)
    length = ctypes.CDLL(None).klogctl(3, log, len(log))
    text = log.raw[: max(length, 0)].decode(errors="replace")
    for complaint in ("WARNING", "BUG", "Oops", "divide error", "Call Trace", "non-work-conserving"):
        if complaint in text:
            sys.exit("\n".join(line for line in text.splitlines() if complaint in line))


def reset_and_remove() -> None:
    """A device that goes down resets the queue, with packets in it."""
    begun = threading.Event()
    thread = threading.Thread(target=carry, args=(("dctcp_ikr", "dctcp_ikr"), "reno", (), begun))
    thread.start()
    if not begun.wait(PATIENCE):
        sys.exit("no flow begins")
    time.sleep(2)
    run("ip", "-n", "r", "link", "set", "right", "down")
    expect(statistics()["qlen"] == 0, "a reset queue is empty")
    run("ip", "-n", "r", "link", "set", "right", "up")
    thread.join()
    qdisc("delete", "")


def check_parameters() -> None:
    """Values without a meaning are refused."""
    for name, value, refused in (("alpha_bits", "15", True), ("gain_shift", "21", True), ("alpha_bits", "20", False)):
        try:
            Path("/sys/module/tcp_dctcp_ikr/parameters", name).write_text(value, encoding="ascii")
        except OSError:
            expect_of_parameter(refused, name, value)
        else:
            expect_of_parameter(not refused, name, value)


def expect_of_parameter(condition: bool, name: str, value: str) -> None:
    """Fail if a value was accepted that should be refused, or refused that should be accepted."""
    if not condition:
        sys.exit(f"parameter {name} = {value}")


def main() -> None:
    """Run all tests in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=Path, required=True, help="folder of the *.ko")
    parser.add_argument("--plugins", type=Path, help="folder of tc's q_*.so")
    parser.add_argument(
        "--slowness", type=float, default=1.0, help="factor by which the line is slower: emulated processors"
    )
    parser.add_argument("--load", action="store_true", help="load the disciplines and do nothing else")
    arguments = parser.parse_args()
    SLOWNESS[0] = arguments.slowness
    if arguments.load:
        for module in QDISCS:
            load(arguments.modules / f"{module}.ko")
        return
    if arguments.plugins:
        os.environ["TC_LIB_DIR"] = str(arguments.plugins.resolve())
    for module in (*QDISCS, *CONTROLS):
        load(arguments.modules / f"{module}.ko")
    has_prague = (arguments.modules / f"{PRAGUE}.ko").exists()
    if has_prague:
        load(arguments.modules / f"{PRAGUE}.ko")
    check_parameters()
    build_network()
    check_bounds()
    if has_prague:
        check_prague()
    checks = (check_dualred, check_coupled, check_dualq_coupled)
    pairs = (("dctcp_ikr", "dctcp_ikr"), ("dctcp_onesided", "cubic"), ("dctcp_onesided", "dctcp_1sided_rx"))
    for check, scalable in zip(checks, pairs, strict=True):
        check(scalable, "reno_acks")
        reset_and_remove()
    check_parents()
    check_verdicts()
    remove_network()
    check_kernel_log()
    for module in QDISCS:
        unload(module)
    print("loaded, configured, used, reset and unloaded")


if __name__ == "__main__":
    if sys.argv[1:2] == ["send"]:
        send(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ["prague"]:
        prague_on_loopback()
    elif sys.argv[1:2] == ["states"]:
        watch_states(int(sys.argv[2]))
    elif sys.argv[1:2] == ["receive"]:
        receive(int(sys.argv[2]), sys.argv[3])
    else:
        main()
