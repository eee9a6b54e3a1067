"""Runs on the real kernel: exact rates, repeatable bytes, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import SINGLE, processes_of, tables

import shoal
from shoal.linux import GuestError, Image, Limits, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan
from shoal.scenario_keys import Fifo, Step


def test_line_that_is_never_idle_gives_its_exact_rate(single: shoal.Scenario, image: Image) -> None:
    result = run_on_linux(single, image=image)
    assert result.data["on"] == "linux"
    assert result.data["linux"]["kernel"] == image.release
    assert result.bottlenecks[0]["utilisation"] == pytest.approx(1, abs=1e-6)
    # 1448 of every 1500 bytes; one packet of 1448 B more or less in 6 s of 10 Mbit/s is 2e-4.
    assert result.groups[0]["flows"][0]["goodput_bps"] == pytest.approx(10e6 * 1448 / 1500, rel=2.1e-4)
    assert result.groups[0]["flows"][0]["losses"] == 0


def test_queue_stays_around_the_threshold(single: shoal.Scenario, image: Image) -> None:
    link = run_on_linux(single, image=image).bottlenecks[0]
    # Marks begin above 20 packets and reach the sender an RTT later, in which the window grows by one packet.
    assert 5 < link["queue_packets"]["mean"] < 21
    assert link["queue_packets"]["max"] <= 22
    assert link["marked"] == link["marked_by"]["threshold"] > 0
    assert link["dropped"] == 0
    # Sojourn times are exact: no packet waits longer than the largest queue takes (1.2 ms a packet), to a microsecond.
    assert link["delay_s"]["all"]["max"] <= link["queue_packets"]["max"] * 1.2e-3 * 1.001 + 1e-6


def test_same_seed_gives_same_bytes(random: shoal.Scenario, image: Image) -> None:
    first = run_on_linux(random, image=image)
    second = run_on_linux(random, image=image)
    assert first.json == second.json
    assert tables(first) == tables(second)


def test_runs_at_once_give_the_same_bytes(random: shoal.Scenario, image: Image) -> None:
    alone = run_on_linux(random, image=image)
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(lambda _: run_on_linux(random, image=image), range(2)))
    assert [result.json for result in at_once] == [alone.json, alone.json]


def test_another_seed_gives_another_path(random: shoal.Scenario, image: Image) -> None:
    first, second = run_on_linux(random, image=image, seed=1), run_on_linux(random, image=image, seed=2)
    assert first.bottlenecks[0]["marked"] != second.bottlenecks[0]["marked"]


def test_place_of_the_run_does_not_matter(
    random: shoal.Scenario, image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = run_on_linux(random, image=image)
    place = tmp_path / "a rather long name of a folder"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    assert run_on_linux(random, image=image).json == here.json
    assert list(place.iterdir()) == []


def test_transfers_complete_in_the_time_of_their_rounds(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(
        """
duration = "5 s"
warmup = "0 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
flows = [{ cc = "reno", rtt = "100 ms", app = { transfer = "14480 B", rounds = 3, every = "1 s" } }]
"""
    )
    flow = run_on_linux(scenario, image=image).groups[0]["flows"][0]
    # Ten packets fit the initial window. The first transfer: a round trip of handshake (60 B of IP there: 48 us; an ACK
    # of 52 B before the data: 42 us), a round trip of data, and what ten packets of 1500 B take on the line: 12 ms.
    assert len(flow["fct_s"]) == 3
    assert flow["fct_s"][0] == pytest.approx(0.1 + 0.00009 + 0.1 + 0.012, abs=1e-4)
    assert flow["fct_s"][1:] == [pytest.approx(0.112, abs=1e-4)] * 2
    assert flow["transfers_begun"] == 3


def test_stopped_flow_ends(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(
        """
duration = "6 s"
warmup = "0 s"
bottleneck = { rate = "10 Mbit/s", buffer = "50 packets" }
[[flows]]
cc = "cubic"
rtt = "20 ms"
stop = "3 s"
[[flows]]
name = "on-off"
cc = "reno"
rtt = "20 ms"
app = { on = "500 ms", off = "500 ms" }
"""
    )
    result = run_on_linux(scenario, image=image)
    assert 3 <= result.groups[0]["flows"][0]["stop_s"] < 3.2
    assert result.groups[1]["flows"][0]["delivered_bytes"] > 500_000


def test_guest_that_fails_says_why(single: shoal.Scenario, image: Image) -> None:
    planned = plan(single, image)
    wrong = planned.config.replace("dctcp", "dctcq")
    with guest_folder() as folder, pytest.raises(GuestError, match="no congestion control `dctcq`"):
        run_guest(wrong, image, folder, memory_mib=planned.memory_mib)


def test_panic_shows_the_console(single: shoal.Scenario, image: Image) -> None:
    with guest_folder() as folder, pytest.raises(GuestError) as caught:
        # A kernel without room for its programs cannot go on.
        run_guest(plan(single, image).config, image, folder, memory_mib=20, limits=Limits(stall_s=30))
    assert "panic" in str(caught.value).lower()


def test_kill_of_the_runner_leaves_nothing(image: Image, tmp_path: Path) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(SINGLE.replace("10 s", "100000 s"))
    place = tmp_path / "tmp"
    place.mkdir()
    runner = subprocess.Popen(
        [sys.executable, "-m", "shoal", "run", str(scenario), "--on", "linux"],
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not list(place.glob("*/flows.bin")) and time.monotonic() < deadline:
        assert runner.poll() is None
        time.sleep(0.05)
    assert processes_of(place)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    deadline = time.monotonic() + 20
    while (processes_of(place) or list(place.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(place) == []
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("aqm", ["step", "fifo"])
def test_simulator_agrees_on_a_single_flow(aqm: str, image: Image) -> None:
    law: Step | Fifo = {"kind": "step", "threshold": "20 packets"} if aqm == "step" else {"kind": "fifo"}
    scenario = shoal.Scenario.from_keys(
        {
            "duration": "60 s",
            "warmup": "20 s",
            "bottleneck": {"rate": "10 Mbit/s", "buffer": "40 packets", "aqm": law},
            "flows": [{"cc": "dctcp" if aqm == "step" else "reno", "rtt": "25 ms"}],
        }
    )
    linux, sim = run_on_linux(scenario, image=image).bottlenecks[0], shoal.run(scenario).bottlenecks[0]
    assert linux["utilisation"] == pytest.approx(sim["utilisation"], abs=0.01)
    assert linux["queue_packets"]["mean"] == pytest.approx(sim["queue_packets"]["mean"], rel=0.08)
