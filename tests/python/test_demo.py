"""`shoal demo`: a box on one machine, between namespaces that are gone afterwards, however it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from shoal.linux import demo
from shoal.linux.demo import Hosts
from shoal.linux.namespaces import Namespaces

COMMAND = [sys.executable, "-m", "shoal", "demo", "--no-page"]
NAMES = [f"shoal-demo-{end}" for end in ("sender", "box", "receiver")]


def left() -> list[str]:
    return [name for name in NAMES if Path("/run/netns", name).exists()]


def inside(end: str) -> list[int]:
    """Processes in a namespace."""
    said = subprocess.run(["ip", "netns", "pids", f"shoal-demo-{end}"], capture_output=True, text=True, check=False)
    return [int(pid) for pid in said.stdout.split()]


@pytest.fixture
def machine() -> None:
    """A machine that has namespaces."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("namespaces need root and iproute2")
    made = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("no namespaces here")


@contextmanager
def begun(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A demonstration that sends."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *words], stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stderr is not None
            while "1 s: " not in (said := process.stderr.readline()):
                assert said, "the demonstration did not begin"
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures("machine")
def test_four_flows_share_the_bottleneck_and_nothing_is_left() -> None:
    command = [*COMMAND, "--seconds", "5", "--rate", "20Mbit/s", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    way = said["ways"][0]
    scalable = demo.scalable_controls.get(said["control"], "CUBIC with ECN")
    assert ("the kernel has no DCTCP" in done.stderr) == (said["control"] == "cubic")
    assert f"{scalable} and CUBIC without ECN" in done.stderr
    volumes = {flow["flow"]: flow["bytes"] for flow in way["flows"]}
    names = {scalable, "CUBIC", f"video over {scalable}", "video over CUBIC"}
    assert names <= set(volumes)
    # Two of its five seconds are enough to fill most of the link.
    assert 0.4 * 5 * 20e6 / 8 < way["left_bytes"] < 5.3 * 20e6 / 8
    assert set(said["videos"]) == {f"video over {scalable}", "video over CUBIC"}
    for video in said["videos"].values():
        # At most 25 frames a second, some of which are on their way in the end.
        assert 25 < video["of"] <= 126
        assert 0 <= video["late"] <= video["of"]
    assert left() == []


@pytest.mark.usefixtures("machine")
def test_an_interrupt_ends_it_and_a_second_one_is_refused_meanwhile() -> None:
    with begun() as process:
        assert left() == NAMES
        again = subprocess.run([*COMMAND, "--seconds", "1"], capture_output=True, text=True, check=False)
        assert (again.returncode, "another demonstration runs" in again.stderr) == (6, True)
        assert left() == NAMES, "the refused one removes nothing"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "frames late" in out
    assert left() == []


@pytest.mark.usefixtures("machine")
def test_what_a_killed_one_has_left_is_removed_by_the_next() -> None:
    with begun() as process:
        assert len(inside("sender")) == len(inside("receiver")) == 1
        process.kill()
        process.wait()
    assert left() == NAMES
    end = time.monotonic() + 10
    while inside("sender") + inside("receiver"):
        assert time.monotonic() < end, "the hosts are still there"
        time.sleep(0.05)
    done = subprocess.run([*COMMAND, "--seconds", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert left() == []


@pytest.mark.usefixtures("machine")
def test_a_host_that_ends_is_said() -> None:
    with begun() as process:
        for pid in inside("receiver"):
            os.kill(pid, signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, "a host of the demonstration has ended" in err) == (6, True), err
    assert left() == []


@pytest.mark.usefixtures("machine")
def test_the_capabilities_are_named() -> None:
    lacking = ["setpriv", "--bounding-set", "-sys_admin,-net_raw", "--inh-caps", "-sys_admin,-net_raw"]
    done = subprocess.run([*lacking, *COMMAND], capture_output=True, text=True, check=False)
    assert (done.returncode, "need CAP_NET_RAW, CAP_SYS_ADMIN" in done.stderr) == (6, True), done.stderr
    assert left() == []


def hosts(control: str, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    name = "DCTCP" if control == "dctcp" else "CUBIC with ECN"
    monkeypatch.setattr(demo, "scalable", lambda: (control, name))
    return Hosts(Namespaces())


def test_flows_are_known_by_their_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    known = hosts("dctcp", monkeypatch)
    for flow, name in (
        ("10.9.0.1:40000 > 10.9.0.3:5001, TCP", "DCTCP"),
        ("10.9.0.1:40000 > 10.9.0.2:5001, TCP", "CUBIC"),
        ("10.9.0.1:5001 > 10.9.0.3:5002, TCP", "video over DCTCP"),
        ("10.9.0.1:40000 > 10.9.0.2:5002, TCP", "video over CUBIC"),
        ("10.9.0.1:40000 > 10.9.0.2:50020, TCP", "10.9.0.1:40000 > 10.9.0.2:50020, TCP"),
    ):
        assert known.label(flow) == name


def test_a_frame_is_late_beyond_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    known = hosts("cubic", monkeypatch)
    for took_s in (0.049, 0.05, 0.0501, 2.0):
        known.count("video over CUBIC with ECN", took_s)
    video = known.videos["video over CUBIC with ECN"]
    assert (video.of, video.late, video.recent) == (4, 2, [False, False, True, True])
    assert known.videos["video over CUBIC"].of == 0
    for _ in range(100):
        known.count("video over CUBIC", 0.01)
    assert len(known.videos["video over CUBIC"].recent) == 50


def test_without_a_scalable_control_the_queue_is_another() -> None:
    assert demo.queue("cubic") == {"kind": "fq-codel"}
    assert demo.queue("dctcp")["kind"] == "dualpi2"
    controls: list[Any] = [flow["control"] for flow in demo.flows("dctcp", "DCTCP")]
    assert controls == ["dctcp", "cubic", "dctcp", "cubic"]
