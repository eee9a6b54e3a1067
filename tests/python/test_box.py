"""``shoal box`` between network namespaces: delay and queue are the box's own."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from boxed import (
    BURST,
    CABLES,
    HAS_TUNS,
    IPV4,
    TRANSFER,
    TUNS,
    assert_a_changed_byte_is_seen,
    begun,
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

from shoal.cli.box import verdict
from shoal.linux.namespaces import RECEIVER, Namespaces
from shoal.wire_box import WireBox

# Sends a datagram ten times a second, for some seconds.
DATAGRAMS = """
import socket, sys, time
sender = socket.socket(type=socket.SOCK_DGRAM)
sender.bind(("10.9.0.1", 4000))
for _ in range(10 * int(sys.argv[1])):
    sender.sendto(b"x" * 1000, ("10.9.0.2", 9))
    time.sleep(0.1)
"""


@pytest.mark.usefixtures("namespaces")
def test_the_lines_of_the_page_make_a_box_that_carries() -> None:
    """They are run with names of this process, and with the shoal that is tested."""
    name = f"shoal-{os.getpid()}-hand"
    text = lines_of_page("for name in sender").replace('"$(command -v shoal)"', f"{sys.executable} -m shoal")
    lines = re.sub(r"\b(?<!shoal )(sender|receiver|box)\b", rf"{name}-\1", text).splitlines()
    assert "--in left" in lines[-1]
    try:
        subprocess.run(["sh", "-eu", "-c", "\n".join(lines[:-1])], check=True)
        begins = ["sh", "-c", f"exec {lines[-1]} --json --duration '3 s'"]
        with subprocess.Popen(begins, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as box:
            assert box.stderr is not None
            while "carrying" not in (said := box.stderr.readline()):
                assert said, "the box did not begin"
            sender = ["ip", "netns", "exec", f"{name}-sender", sys.executable, "-c", BURST, RECEIVER, "10"]
            subprocess.run(sender, check=True)
            out, err = box.communicate(timeout=60)
        assert box.returncode == 0, err
        (flow,) = (flow for flow in json.loads(out)["ways"][0]["flows"] if f"{RECEIVER}:9, UDP" in flow["flow"])
        assert flow["packets"] == 10
    finally:
        for end in ("sender", "box", "receiver"):
            subprocess.run(["ip", "netns", "delete", f"{name}-{end}"], check=False)


def test_a_flow_has_the_rate_of_the_bottleneck_and_its_drops(namespaces: Namespaces) -> None:
    sysctl(namespaces, tcp_ecn=0)
    counts, goodput = boxed(namespaces, "--rate", "10Mbit/s", "--rtt", "20 ms", "--set", "bottleneck.buffer=10 packets")
    there, back = counts["ways"]
    # 1448 of 1500 bytes are data.
    assert goodput == pytest.approx(10 * 1448 / 1500, rel=0.05)
    assert there["dropped"] > 0
    assert there["marked"] == back["dropped"] == 0
    assert there["refused"] == there["unreadable"] == 0


def test_what_the_law_marks_arrives_marked(namespaces: Namespaces) -> None:
    """CE is answered by ECE, so that the sender slows down without a drop; a wrong sum would stop the flow."""
    sysctl(namespaces, tcp_ecn=1)
    step = '{ kind = "step", threshold = "20 packets" }'
    counts, goodput = boxed(namespaces, "--rate", "10Mbit/s", "--rtt", "20 ms", "--set", f"bottleneck.aqm={step}")
    there = counts["ways"][0]
    assert goodput > 9
    assert there["marked"] > 0
    assert there["dropped"] == 0


def test_a_record_is_replayed_and_a_changed_byte_is_seen(namespaces: Namespaces, tmp_path: Path) -> None:
    """The simulator's link takes the same decisions about the frames of two real hosts, to the picosecond."""
    sysctl(namespaces, tcp_ecn=1)
    record = tmp_path / "record.pcapng"
    words = ("--rate", "10Mbit/s", "--rtt", "10 ms", "--aqm", "dualpi2", "--seed", "7", "--pcap", str(record))
    counts, _ = boxed(namespaces, *words)
    there, back = counts["ways"]
    assert there["marked"] > 0
    code, said = replayed(record)
    assert (code, said["difference"]) == (0, None)
    assert said["frames"] == there["arrived"] + back["arrived"]
    assert all(way["arrived"] == way["left"] + way["dropped"] + way["inside"] for way in (there, back))
    assert_a_changed_byte_is_seen(record)


# Moves a control of a page whose address it is given, and prints the answer and the first events.
READER = """
import http.client, json, sys
_, _, host, token, _ = sys.argv[1].split("/")
events = http.client.HTTPConnection(host, timeout=10)
events.request("GET", f"/{token}/events")
lines = (line for line in events.getresponse() if line.startswith(b"data: "))
print(next(lines)[6:].decode().strip())
print(next(lines)[6:].decode().strip())
for key, value in zip(sys.argv[2::2], sys.argv[3::2]):
    mover = http.client.HTTPConnection(host, timeout=10)
    headers = {"Origin": f"http://{host}", "Content-Type": "application/json"}
    mover.request("POST", f"/{token}/move", json.dumps({"key": key, "value": value}), headers)
    assert mover.getresponse().status == 204
"""
# The command, with a page that is no more than a file.
WITH_PAGE = """
import pathlib, sys
import shoal.linux.box_page
shoal.linux.box_page.page_file = pathlib.Path(sys.argv.pop(1))
from shoal.cli.app import main
main()
"""


@pytest.mark.parametrize(
    ("ends", "address"),
    [
        pytest.param(CABLES, RECEIVER, id="cables"),
        pytest.param(
            TUNS, IPV4, id="TUN devices", marks=pytest.mark.skipif(not HAS_TUNS, reason="no TUN devices here")
        ),
    ],
)
def test_a_box_that_is_moved_on_its_page_is_replayed(
    namespaces: Namespaces, tmp_path: Path, ends: tuple[str, str], address: str
) -> None:
    """The rate is halved, and the law made to signal more, while a flow goes on; the record has both changes."""
    sysctl(namespaces, tcp_ecn=1)
    page, record = tmp_path / "box.html", tmp_path / "record.pcapng"
    page.write_text("<!doctype html>")
    words = ("--rate", "20Mbit/s", "--aqm", "dualpi2", "--rtt", "10 ms", "--duration", "7 s", "--json", "--page")
    command = ("box", "--in", ends[0], "--out", ends[1], *words, "--pcap", str(record))
    with begun(namespaces, "box", "-c", WITH_PAGE, str(page), *command) as box:
        try:
            assert box.stderr is not None
            while "the page: " not in (said := box.stderr.readline()):
                assert said, "there is no page"
            if ends == TUNS:
                joined(namespaces)
            with (
                receiving(namespaces, address, 6),
                begun(namespaces, "sender", "-c", TRANSFER, "send", address, "6") as sender,
            ):
                time.sleep(2)
                moves = (
                    "bottleneck.rate",
                    "10 Mbit/s",
                    "bottleneck.aqm.target",
                    "2 ms",
                    "bottleneck.buffer",
                    "1 packets",
                )
                served_at = said.split("the page: ")[1].strip()
                done = subprocess.run(
                    namespaces.inside("box", sys.executable, "-c", READER, served_at, *moves),
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
                counts, err = box.communicate(timeout=60)
                sender.kill()
        finally:
            box.kill()
    about, news = map(json.loads, done.stdout.splitlines())
    assert [control["key"] for control in about["controls"]] == [
        "bottleneck.rate",
        "flows[0].rtt",
        "bottleneck.aqm.target",
    ]
    assert news["flows"][0]["flow"].endswith(f"{address}:5201, TCP")
    assert (news["bytes"] > 0, sum(news["delays"][0][2::3]) > 0) == (True, True)
    assert "moved: bottleneck.rate=10 Mbit/s" in err
    assert "moved: bottleneck.aqm.target=2 ms" in err
    assert "no control of this page" in err
    # About 2 of 6 s at 20 Mbit/s.
    assert json.loads(counts)["ways"][0]["left_bytes"] < 0.8 * 6 * 20e6 / 8
    code, again = replayed(record)
    assert (code, again["difference"], again["cut"]) == (0, None, None)
    held = record.read_bytes()
    assert b"s: bottleneck.rate=10 Mbit/s" in held
    record.write_bytes(held.replace(b"s: bottleneck.rate=10 Mbit/s", b"s: bottleneck.rate=11 Mbit/s"))
    assert replayed(record)[0] == 1


def test_what_a_killed_box_has_left_of_a_record_is_replayed(namespaces: Namespaces, tmp_path: Path) -> None:
    record = tmp_path / "record.pcapng"
    words = ("--rate", "10Mbit/s", "--rtt", "10 ms", "--aqm", "codel", "--pcap", str(record))
    with (
        running_box(namespaces, *words),
        receiving(namespaces, RECEIVER, 2),
        begun(namespaces, "sender", "-c", TRANSFER, "send", RECEIVER, "2") as sender,
    ):
        sender.wait()
    command = [sys.executable, "-m", "shoal", "box", "--replay"]
    done = subprocess.run([*command, str(record)], capture_output=True, text=True, check=False)
    (part,) = tmp_path.glob(".record.pcapng.*.partial")
    assert (done.returncode, str(part) in done.stderr) == (4, True), done.stderr
    done = subprocess.run([*command, str(part), "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, "the record breaks off" in done.stderr) == (0, True), done.stderr
    said = json.loads(done.stdout)
    assert said["frames"] > 1000
    assert said["difference"] is None
    assert said["cut"]["at_s"] > 1


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "record.pcapng"
    command = [sys.executable, "-m", "shoal", "box", "--replay", str(record)]
    for content in (None, b"nothing", b""):
        if content is not None:
            record.write_bytes(content)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "record.pcapng" in done.stderr) == (4, True), done.stderr


def test_a_terminal_gets_a_table_and_a_pipe_lines(namespaces: Namespaces) -> None:
    words = ("-m", "shoal", "box", "--in", "left", "--out", "right", "--rate", "10Mbit/s", "--duration", "2500 ms")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        namespaces.inside("box", sys.executable, *words),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    ) as box:
        os.close(theirs)
        # Longer than the box takes to begin and to end on a machine with much other work.
        with begun(namespaces, "sender", "-c", DATAGRAMS, "60") as sender:
            shown = b""
            with suppress(OSError):
                while part := os.read(ours, 4096):
                    shown += part
            assert box.wait() == 0
            sender.kill()
    os.close(ours)
    assert b"Flow" in shown
    assert b"10.9.0.1:4000 > 10.9.0.2:9, UDP" in shown
    done = subprocess.run(namespaces.inside("box", sys.executable, *words), capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if "packets wait" in line]
    assert "Flow" not in done.stderr


def test_a_killed_box_leaves_no_part_of_a_record_for_long(namespaces: Namespaces, tmp_path: Path) -> None:
    record = tmp_path / "record.pcapng"
    words = ("--rate", "10Mbit/s", "--pcap", str(record))
    with running_box(namespaces, *words):
        pass  # It is killed.
    assert not record.exists()
    assert shown(namespaces, "--in", "left", "--out", "right", "--pcap", str(record))[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["record.pcapng"]


def test_what_is_no_pair_of_interfaces_is_refused(namespaces: Namespaces) -> None:
    assert shown(namespaces, "--in", "left", "--out", "left")[0] == 2
    code, said = shown(namespaces, "--in", "left", "--out", "nowhere")
    assert (code, "no interface `nowhere`" in said) == (6, True)
    ip(namespaces, "box", "link", "set", "dev", "right", "down")
    code, said = shown(namespaces, "--in", "left", "--out", "right")
    ip(namespaces, "box", "link", "set", "dev", "right", "up")
    assert (code, "`right` is down" in said, "ip link set dev right up" in said) == (6, True, True)
    ip(namespaces, "box", "link", "set", "dev", "right", "mtu", "1400")
    code, said = shown(namespaces, "--in", "left", "--out", "right")
    ip(namespaces, "box", "link", "set", "dev", "right", "mtu", "1500")
    assert (code, "MTU of 1400" in said) == (6, True)


@pytest.mark.parametrize(
    ("impairment", "said"),
    [("duplicate=0.1", "a box sends no packet twice"), ("clear_ecn=true", "a box clears no codepoint")],
)
def test_an_impairment_that_no_box_has_is_refused(namespaces: Namespaces, impairment: str, said: str) -> None:
    change = ("--set", f"bottleneck.impairments.{impairment}")
    code, err = shown(namespaces, "--in", "left", "--out", "right", *change)
    assert (code, said in err) == (3, True), err
    assert f"hint: leave `{impairment.partition('=')[0]}` out" in err
    assert shown(namespaces, "--in", "left", "--out", "right", "--set", "bottleneck.impairments.loss=0.1")[0] == 0


def test_a_second_box_is_refused_and_a_killed_one_leaves_nothing(namespaces: Namespaces) -> None:
    state = [namespaces.inside("box", "ip", "-d", "-o", "link", "show", "dev", name) for name in ("left", "right")]

    def states() -> list[str]:
        return [subprocess.run(words, check=True, capture_output=True, text=True).stdout for words in state]

    before = states()
    with running_box(namespaces, "--rate", "10Mbit/s"):
        code, said = shown(namespaces, "--in", "right", "--out", "left")
    assert (code, "another box uses" in said) == (6, True)
    assert states() == before
    assert shown(namespaces, "--in", "left", "--out", "right")[0] == 0


def test_what_frames_wait_for_a_box_that_pauses_is_lateness(namespaces: Namespaces) -> None:
    """It is 200 ms at least, of nearly all frames; the link itself is idle when the box takes them."""
    burst = namespaces.inside("sender", sys.executable, "-c", BURST, RECEIVER)
    with running_box(namespaces, "--rate", "100Mbit/s", "--json", "--duration", "6 s") as box:
        subprocess.run([*burst, "1"], check=True)  # hosts learn each other's address
        time.sleep(0.2)
        os.kill(box.pid, signal.SIGSTOP)
        try:
            subprocess.run([*burst, "200"], check=True)
            time.sleep(0.2)
        finally:
            os.kill(box.pid, signal.SIGCONT)
        out, err = box.communicate(timeout=60)
    assert box.returncode == 0, err
    there = json.loads(out)["ways"][0]
    assert there["left"] >= 201
    assert 200e3 <= there["late_us"]["p50"] <= there["late_us"]["max"] < 6e6


def test_lateness_beyond_what_is_trusted_is_said() -> None:
    """The verdict is a function of the counts; a machine that is loaded enough for it would load the other tests."""
    way = {"late_us": {"p50": 5.0, "p99": 100.0, "max": 900.0}, "refused": 0, "missed": 0, "unreadable": 0}
    none = way | {"late_us": {"p50": None, "p99": None, "max": None}}
    assert "trusted" not in verdict({"ways": [way, none]})
    assert verdict({"ways": [none, none]}) == "No frame has left: nothing was carried."
    late = way | {"late_us": {"p50": 5.0, "p99": 100.5, "max": 900.0}}
    for ways in ([late, way], [way, late]):
        assert verdict({"ways": ways}).endswith(
            "(P99; at most 900 us). That is too late to be trusted: beyond 100 us."
        ), verdict({"ways": ways})
    lost = verdict({"ways": [way | {"missed": 3, "refused": 2}, none]})
    assert "no room for 2 of them" in lost
    assert "3 came faster" in lost


def test_counts_are_made_once_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is carried meanwhile, and there may be thousands of flows."""

    class Native:
        at_s = made = 0

        def run_for(self, seconds: float) -> None:
            self.at_s += seconds

        def counts(self) -> str:
            self.made += 1
            return json.dumps({"at_s": self.at_s})

    box, native = WireBox.__new__(WireBox), Native()
    monkeypatch.setattr(box, "_box", native, raising=False)
    slices = list(box.run(1.0))
    assert (slices[-1]["at_s"], native.made) == (1.0, len(slices) + 1)


def test_merged_segments_end_the_box(namespaces: Namespaces) -> None:
    ip(namespaces, "sender", "link", "set", "dev", "a", "gso_max_segs", "64")
    try:
        with pytest.raises(AssertionError, match="packets come merged"):
            boxed(namespaces, "--rate", "100Mbit/s", seconds=2)
    finally:
        ip(namespaces, "sender", "link", "set", "dev", "a", "gso_max_segs", "1")


def test_it_takes_a_capability(namespaces: Namespaces) -> None:
    words = ("-m", "shoal", "box", "--in", "left", "--out", "right", "--rate", "10Mbit/s")
    as_nobody = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", sys.executable, *words]
    done = subprocess.run(namespaces.inside("box", *as_nobody), capture_output=True, text=True, check=False)
    assert (done.returncode, "CAP_NET_RAW" in done.stderr) == (6, True)
