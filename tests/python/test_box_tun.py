"""``shoal box`` with TUN devices, for a machine with one interface.

The bounds were set before the first run: the goodput of a flow is within 5 % of the rate less headers, and what is not
a rate is exact.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from boxed import (
    BURST,
    HAS_TUNS,
    IPV4,
    IPV6,
    TRANSFER,
    TUNS,
    assert_a_changed_byte_is_seen,
    boxed,
    ip,
    joined,
    lines_of_page,
    receiving,
    replayed,
    running_box,
    shown,
    sysctl,
)

from shoal.linux.namespaces import Namespaces

# Makes a device that stays, and leaves it with a header for offload, sums and large segments.
LEFT_WITH_OFFLOAD = """
import fcntl, struct
device = open("/dev/net/tun", "r+b", buffering=0)
fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", b"kept", 0x0001 | 0x1000 | 0x4000))
fcntl.ioctl(device, 0x400454D0, 0x01 | 0x02)
fcntl.ioctl(device, 0x400454CB, 1)
"""


@pytest.fixture(scope="module", autouse=True)
def tuns(namespaces: Namespaces) -> None:
    if not HAS_TUNS:
        pytest.skip("no TUN devices here")
    # Hosts ask for ECN with IPv6, too: the setting is one for both.
    sysctl(namespaces, tcp_ecn=1)


def devices(namespaces: Namespaces, *ends: str) -> set[str]:
    """Names of the TUN devices there are in namespaces."""
    names = set()
    for end in ends:
        command = namespaces.inside(end, "ip", "-j", "-d", "link", "show")
        for link in json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout):
            if link.get("linkinfo", {}).get("info_kind") == "tun":
                names.add(link["ifname"])
    return names


def received(namespaces: Namespaces, counters: str) -> dict[str, int]:
    """What the receiver's kernel counts in a file of its own."""
    command = namespaces.inside("receiver", "cat", f"/proc/net/{counters}")
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    if counters == "snmp6":
        return {name: int(value) for name, value in map(str.split, lines)}
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return {
        name.split()[0][:-1] + key: int(value)
        for name, values in pairs
        for key, value in zip(name.split()[1:], values.split()[1:], strict=True)
    }


@pytest.mark.parametrize(("address", "headers"), [(IPV4, 52), (IPV6, 72)], ids=["IPv4", "IPv6"])
def test_a_flow_has_the_rate_and_every_mark_arrives(namespaces: Namespaces, address: str, headers: int) -> None:
    """The receiver's kernel counts CE, and drops what has a wrong sum."""
    files = ("snmp6",) if address == IPV6 else ("snmp", "netstat")

    def counted() -> dict[str, int]:
        return {name: value for file in files for name, value in received(namespaces, file).items()}

    before = counted() | received(namespaces, "snmp")
    step = '{ kind = "step", threshold = "20 packets" }'
    words = ("--rate", "10Mbit/s", "--rtt", "20 ms", "--set", f"bottleneck.aqm={step}")
    counts, goodput = boxed(namespaces, *words, ends=TUNS, address=address, ready=lambda: joined(namespaces))
    there, back = counts["ways"]
    assert goodput == pytest.approx(10 * (1500 - headers) / 1500, rel=0.05)
    assert there["marked"] > 0
    assert there["dropped"] == there["lost"] == there["refused"] == there["unreadable"] == there["missed"] == 0
    assert back["arrived"] > 0
    after = counted() | received(namespaces, "snmp")
    marks, wrong = ("Ip6InCEPkts", "Ip6InHdrErrors") if address == IPV6 else ("IpExtInCEPkts", "IpInHdrErrors")
    assert after[marks] - before[marks] == there["marked"]
    for name in (wrong, "TcpInCsumErrors", "TcpInErrs"):
        assert after[name] == before[name], name


def test_a_record_of_packets_is_replayed_and_a_changed_byte_is_seen(namespaces: Namespaces, tmp_path: Path) -> None:
    record = tmp_path / "record.pcapng"
    words = ("--rate", "10Mbit/s", "--rtt", "10 ms", "--aqm", "dualpi2", "--seed", "7", "--pcap", str(record))
    loss = ("--set", "bottleneck.impairments.loss=0.01")
    ready = lambda: joined(namespaces)  # noqa: E731
    counts, _ = boxed(namespaces, *words, *loss, ends=TUNS, address=IPV4, ready=ready)
    there, back = counts["ways"]
    assert there["marked"] > 0
    assert there["lost"] > 0
    held = record.read_bytes()
    # The first description of an interface (block 1) has the link type behind its length.
    described = held.index(b"\1\0\0\0", int.from_bytes(held[4:8], "little"))
    assert int.from_bytes(held[described + 8 : described + 10], "little") == 101, "LINKTYPE_RAW"
    code, said = replayed(record)
    assert (code, said["difference"]) == (0, None)
    assert said["frames"] == there["arrived"] + back["arrived"]
    assert_a_changed_byte_is_seen(record)


def test_packets_come_one_by_one_from_a_device_that_was_left_with_offload(
    namespaces: Namespaces, tmp_path: Path
) -> None:
    """It was made by somebody else, so that it stays."""
    subprocess.run(namespaces.inside("box", sys.executable, "-c", LEFT_WITH_OFFLOAD), check=True)
    record = tmp_path / "record.pcapng"
    try:
        counts, goodput = boxed(
            namespaces,
            *("--rate", "10Mbit/s", "--rtt", "20 ms", "--pcap", str(record)),
            seconds=3,
            ends=("tun:kept", "tun:shoal1"),
            address=IPV4,
            ready=lambda: joined(namespaces, "kept"),
        )
        assert devices(namespaces, "box", "sender", "receiver") == {"kept"}
    finally:
        ip(namespaces, "sender", "link", "delete", "dev", "kept")
    assert goodput > 9
    sizes = [int(size) for size in re.findall(rb"came at [0-9.]+ s, ([0-9]+) bytes", record.read_bytes())]
    assert len(sizes) == sum(way["arrived"] for way in counts["ways"])
    assert max(sizes) == 1500


def test_what_the_box_does_not_take_in_time_is_counted(namespaces: Namespaces) -> None:
    """Its device has moved to another namespace, and is found all the same."""
    words = ("--rate", "100Mbit/s", "--json", "--duration", "8 s")
    with running_box(namespaces, *words, ends=TUNS) as box:
        joined(namespaces)
        for end, device in (("sender", "shoal0"), ("receiver", "shoal1")):
            command = namespaces.inside(end, "sysctl", "-qw", f"net.ipv6.conf.{device}.disable_ipv6=1")
            subprocess.run(command, check=True)
        os.kill(box.pid, signal.SIGSTOP)
        try:
            subprocess.run(namespaces.inside("sender", sys.executable, "-c", BURST, IPV4, "2000"), check=True)
        finally:
            os.kill(box.pid, signal.SIGCONT)
        out, err = box.communicate(timeout=60)
    assert box.returncode == 0, err
    there = json.loads(out)["ways"][0]
    (flow,) = (flow for flow in there["flows"] if flow["flow"].endswith(f"{IPV4}:9, UDP"))
    # The room of the device is 500 packets (`txqueuelen`), of which a host may have used some before.
    assert 400 < flow["packets"] <= 500
    assert flow["dropped"] == 0
    assert flow["packets"] + there["missed"] >= 2000


def test_a_killed_box_leaves_no_device(namespaces: Namespaces) -> None:
    with running_box(namespaces, "--rate", "10Mbit/s", ends=TUNS) as box:
        assert devices(namespaces, "box") == {"shoal0", "shoal1"}
        joined(namespaces)
        assert devices(namespaces, "sender", "receiver") == {"shoal0", "shoal1"}
        box.kill()
        box.wait()
        gone(namespaces)


def gone(namespaces: Namespaces) -> None:
    """Wait until there is no device, since the kernel removes those of a process behind its end."""
    end = time.monotonic() + 10
    while left := devices(namespaces, "box", "sender", "receiver"):
        assert time.monotonic() < end, left
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("ends", "code", "said"),
    [
        (("tun:shoal0", "right"), 2, "packets without frames"),
        (("left", "tun:shoal0"), 2, "packets without frames"),
        (("tun:shoal0", "tun:shoal0"), 2, "both sides"),
        (("tun:left", "tun:shoal0"), 6, "`left` is no name for a TUN device"),
        (("tun:shoal0", "tun:"), 6, "`` is no name for a TUN device"),
        (("tun:shoal0", "tun:shoal%d"), 6, "`shoal%d` is no name for a TUN device"),
        (("tun:shoal0", "tun:sixteen-letters-"), 6, "`sixteen-letters-` is no name for a TUN device"),
        (("tun:shoal0", "tun:shoal/1"), 6, "`shoal/1` is no name for a TUN device"),
    ],
)
def test_what_is_no_pair_of_devices_is_refused(
    namespaces: Namespaces, ends: tuple[str, str], code: int, said: str
) -> None:
    refused, err = shown(namespaces, "--in", ends[0], "--out", ends[1])
    assert (refused, said in err, "hint: " in err) == (code, True, True), err
    gone(namespaces)


def test_a_device_of_another_program_is_refused_and_one_that_is_free_is_no_cable(namespaces: Namespaces) -> None:
    with running_box(namespaces, "--rate", "10Mbit/s", ends=TUNS):
        code, err = shown(namespaces, "--in", "tun:other", "--out", "tun:shoal1")
        assert (code, "another program uses the TUN device `shoal1`" in err) == (6, True), err
        for device in ("shoal0", "shoal1"):
            ip(namespaces, "box", "link", "set", "dev", device, "up")
        code, err = shown(namespaces, "--in", "shoal0", "--out", "shoal1")
        assert (code, "`shoal0` is no Ethernet interface" in err) == (6, True), err
    gone(namespaces)


def test_a_device_that_goes_ends_the_box(namespaces: Namespaces) -> None:
    with running_box(namespaces, "--rate", "10Mbit/s", ends=TUNS) as box:
        ip(namespaces, "box", "link", "delete", "dev", "shoal1")
        _, err = box.communicate(timeout=30)
    assert (box.returncode, "the interface at the out side is down or gone" in err) == (6, True), err


def without(namespaces: Namespaces, capabilities: str, *words: str) -> tuple[int, str]:
    """A box of root without capabilities, which carries for a second."""
    dropped = ["--bounding-set", capabilities, "--inh-caps", capabilities]
    command = ["-m", "shoal", "box", "--rate", "10Mbit/s", "--duration", "1 s", *words]
    inside = namespaces.inside("box", "setpriv", *dropped, sys.executable, *command)
    done = subprocess.run(inside, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_to_make_a_device_takes_a_capability_and_to_use_one_takes_none(namespaces: Namespaces) -> None:
    words = ("--in", TUNS[0], "--out", TUNS[1])
    code, err = without(namespaces, "-net_admin", *words)
    assert (code, "CAP_NET_ADMIN" in err, "CAP_NET_RAW" in err) == (6, True, False), err
    for device in ("shoal0", "shoal1"):
        ip(namespaces, "box", "tuntap", "add", "dev", device, "mode", "tun", "user", "0")
    try:
        code, err = without(namespaces, "-net_admin,-net_raw", *words)
        assert code == 0, err
        assert devices(namespaces, "box") == {"shoal0", "shoal1"}
    finally:
        for device in ("shoal0", "shoal1"):
            ip(namespaces, "box", "link", "delete", "dev", device)


def test_a_machine_without_such_devices_says_so(namespaces: Namespaces) -> None:
    command = [sys.executable, "-m", "shoal", "box", "--in", TUNS[0], "--out", TUNS[1], "--rate", "10Mbit/s"]
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/net && exec "$@"', "sh"]
    done = subprocess.run(namespaces.inside("box", *hidden, *command), capture_output=True, text=True, check=False)
    said = ("/dev/net/tun: ENOENT" in done.stderr, "modprobe tun" in done.stderr)
    assert (done.returncode, said) == (6, (True, True)), done.stderr


# A machine with one interface, `a`, and its router, behind which the receiver is.
MACHINE, FAR = "192.0.2.10", "198.51.100.7"
MACHINE_6, FAR_6 = "2001:db8:1::10", "2001:db8:2::7"


@pytest.fixture(scope="module")
def network(namespaces: Namespaces, tuns: None) -> None:
    for end, words in (
        ("sender", f"address add {MACHINE}/24 dev a"),
        ("box", "address add 192.0.2.1/24 dev left"),
        ("box", "address add 198.51.100.1/24 dev right"),
        ("receiver", f"address add {FAR}/24 dev b"),
        ("sender", "route add default via 192.0.2.1"),
        ("receiver", "route add default via 198.51.100.1"),
        ("sender", f"address add {MACHINE_6}/64 dev a nodad"),
        ("box", "address add 2001:db8:1::1/64 dev left nodad"),
        ("box", "address add 2001:db8:2::1/64 dev right nodad"),
        ("receiver", f"address add {FAR_6}/64 dev b nodad"),
        ("sender", "route add default via 2001:db8:1::1"),
        ("receiver", "route add default via 2001:db8:2::1"),
    ):
        ip(namespaces, end, *words.split())
    run_lines(namespaces, "box", "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")


def run_lines(namespaces: Namespaces, end: str, lines: str) -> None:
    """Run lines in the network of a namespace, with the mounts of the machine: some make namespaces."""
    network = Path("/run/netns", namespaces.inside(end)[-1])
    subprocess.run(["nsenter", f"--net={network}", "sh", "-eu", "-c", lines], check=True)


def sent_to_far(namespaces: Namespaces, prefix: list[str], far: str = FAR) -> tuple[int, str]:
    """Bytes that came at the receiver, and the address of their sender, after a second and a half of sending."""
    code = TRANSFER.replace("connection, _ =", "connection, peer =").replace("print(total,", "print(peer[0], total,")
    with receiving(namespaces, far, 1, code) as said:
        sender = [*prefix, sys.executable, "-c", TRANSFER, "send", far, "1.5"]
        subprocess.run(sender, check=True, timeout=60)
        address, total, _ = said.readline().split()
    return int(total), address


def left_for(counts: str, address: str) -> list[int]:
    """Bytes that left the box on both ways to or from an address."""
    return [
        sum(flow["bytes"] for flow in way["flows"] if f"{address}:" in flow["flow"])
        for way in json.loads(counts)["ways"]
    ]


@contextmanager
def box_of_machine(namespaces: Namespaces) -> Iterator[subprocess.Popen[str]]:
    words = ("--rate", "10Mbit/s", "--rtt", "10 ms", "--json")
    with running_box(namespaces, *words, ends=TUNS, where="sender") as box:
        yield box
        gone(namespaces)


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("strict", [0, 1, 2], ids=["no filter", "strict filter", "loose filter"])
def test_what_a_machine_sends_to_an_address_passes_the_box_by_the_lines_of_the_page(
    namespaces: Namespaces, strict: int
) -> None:
    values = {"to": FAR, "from": MACHINE}
    lines = lines_of_page("to=198", **values)
    run_lines(namespaces, "sender", f"sysctl -qw net.ipv4.conf.all.rp_filter={strict}")
    with box_of_machine(namespaces) as box:
        run_lines(namespaces, "sender", lines)
        if strict == 1:
            run_lines(namespaces, "sender", "sysctl -qw net.ipv4.conf.a.rp_filter=2")
        total, address = sent_to_far(namespaces, namespaces.inside("sender"))
        box.send_signal(signal.SIGINT)
        counts, err = box.communicate(timeout=60)
    assert box.returncode == 0, err
    assert address == MACHINE
    there, back = left_for(counts, FAR)
    assert there > total > 0
    assert back == 0
    # The rule that is left leads nowhere.
    assert sent_to_far(namespaces, namespaces.inside("sender"))[0] > 0
    run_lines(namespaces, "sender", lines_of_page("sudo ip rule delete", to=FAR))
    run_lines(namespaces, "sender", "sysctl -qw net.ipv4.conf.a.rp_filter=0")


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("setting", ["all.forwarding", "shoal1.force_forwarding"])
def test_what_a_machine_sends_by_ipv6_passes_the_box_by_the_lines_of_the_page(
    namespaces: Namespaces, setting: str
) -> None:
    if not Path(f"/proc/sys/net/ipv6/conf/default/{setting.partition('.')[2]}").exists():
        pytest.skip("this kernel forwards IPv6 from all interfaces or from none (before Linux 6.17)")
    lines = lines_of_page("to=2001", **{"to": FAR_6, "from": MACHINE_6})
    with box_of_machine(namespaces) as box:
        run_lines(namespaces, "sender", lines.replace("all.forwarding", setting))
        total, address = sent_to_far(namespaces, namespaces.inside("sender"), FAR_6)
        box.send_signal(signal.SIGINT)
        counts, err = box.communicate(timeout=60)
    assert (box.returncode, address) == (0, MACHINE_6), err
    there, back = left_for(counts, FAR_6)
    assert there > total > 0
    assert back == 0
    # The rule that is left leads nowhere.
    assert sent_to_far(namespaces, namespaces.inside("sender"), FAR_6)[0] > 0
    run_lines(namespaces, "sender", lines_of_page("sudo ip -6 rule delete", to=FAR_6))
    run_lines(namespaces, "sender", "sysctl -qw net.ipv6.conf.all.forwarding=0")


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    ("address", "is_translated", "seen", "far"),
    [
        pytest.param("192.0.2.99", False, "192.0.2.99", FAR, id="IPv4"),
        pytest.param("2001:db8:1::99", False, "2001:db8:1::99", FAR_6, id="IPv6"),
        pytest.param("10.254.254.2", True, MACHINE, FAR, id="IPv4, NAT"),
        pytest.param("fd00:7077::2", True, MACHINE_6, FAR_6, id="IPv6, NAT"),
    ],
)
def test_both_directions_of_a_namespace_pass_the_box_by_the_lines_of_the_page(
    namespaces: Namespaces, address: str, is_translated: bool, seen: str, far: str
) -> None:
    if is_translated and shutil.which("nft") is None:
        pytest.skip("NAT needs `nft`, of the package nftables")
    lab, values = f"shoal-{os.getpid()}-lab", {"interface": "a", "address": address}
    family = "2001" if ":" in address else "192"
    begins, ends = (
        lines_of_page(first, **values) for first in (f"interface=eth0 address={family}", "sudo ip netns delete")
    )
    if is_translated:
        begins, ends = (
            "\n".join([*(line for line in lines.splitlines() if "neighbour" not in line), lines_of_page(first)])
            for lines, first in ((begins, "sudo nft add"), (ends, "sudo nft delete"))
        )
        begins = begins.replace("ip saddr", "ip6 saddr") if ":" in address else begins
    begins, ends = (re.sub(r"\blab\b", lab, lines) for lines in (begins, ends))
    run_lines(namespaces, "sender", "sysctl -qw net.ipv4.conf.all.rp_filter=1")
    try:
        with box_of_machine(namespaces) as box:
            run_lines(namespaces, "sender", begins)
            total, source = sent_to_far(namespaces, ["ip", "netns", "exec", lab], far)
            box.send_signal(signal.SIGINT)
            counts, err = box.communicate(timeout=60)
        assert (box.returncode, source) == (0, seen), err
        there, back = left_for(counts, far)
        assert there > total > 0
        assert back > 0
    finally:
        run_lines(namespaces, "sender", f"{ends}\nsysctl -qw net.ipv6.conf.all.forwarding=0")
