"""``shoal compare``: both planes, resumable, complete or not at all."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

import pytest
from conftest import RANDOM, SINGLE

import shoal
from shoal.compare import Verdict, compare
from shoal.linux import Image
from shoal.runs.plane import Kernel, simulator
from shoal.scenario_keys import BottleneckAqm
from shoal.shipped import comparison_suite


def test_both_planes_agree_and_what_differs_is_named(image: Image, tmp_path: Path) -> None:
    scenario = shoal.Scenario.from_toml(RANDOM)
    fractions: list[float] = []
    found = compare([("random", scenario)], seeds=3, cache=tmp_path, progress=fractions.append)
    # Three seeds on each plane.
    assert fractions == pytest.approx([step / 6 for step in range(1, 7)])
    assert [run.data["on"] for run in (*found[0].sim, *found[0].linux)] == ["sim"] * 3 + ["linux"] * 3
    assert found[0].sim.seeds == found[0].linux.seeds == [1, 2, 3]
    names = [quantity.measure.name for quantity in found[0].quantities]
    assert len(set(names)) == len(names)
    for expected in (
        "utilisation",
        "rate_ratio_reno/dctcp",
        "queue_p99_packets",
        "delay_ect_p50_s",
        "delay_not_ect_p99_s",
        "marked",
        "dropped_not_ect",
        "cwnd_p95_packets_reno",
        "alpha_p5_dctcp",
        "retransmissions_reno",
        "acks_per_packet_dctcp",
        "timeouts_dctcp",
    ):
        assert expected in names
    # A line that is never idle sends at the same rate, whatever the seed.
    utilisation = found[0].quantity("utilisation")
    assert utilisation is not None
    assert utilisation.verdict is not Verdict.DIFFERENT
    queue = found[0].quantity("queue_packets")
    assert queue is not None
    assert abs(queue.relative or 0) < 0.15


@pytest.mark.parametrize(
    ("cc", "ecn", "aqm", "unit"),
    [
        ("reno", "off", {"kind": "fifo"}, "10 Mbit/s"),
        ("dctcp", "on", {"kind": "step", "threshold": "10 packets"}, "40 Mbit/s"),
    ],
)
def test_a_flow_is_the_same_packet_for_packet(
    image: Image, cc: str, ecn: Literal["on", "off"], aqm: BottleneckAqm, unit: str
) -> None:
    """Without delayed ACKs the growth of the receive window does not matter: no mark, drop or arrival is different."""
    scenario = shoal.Scenario.from_keys(
        {
            "title": "One flow",
            "duration": "20 s",
            "warmup": "2 s",
            "bottleneck": {"rate": unit, "buffer": "30 packets", "aqm": aqm},
            "flows": [{"cc": cc, "ecn": ecn, "rtt": "25 ms", "delayed_ack": False}],
        }
    )
    (one,) = compare([("one", scenario)], seeds=2)
    for sim, linux in zip(one.sim, one.linux, strict=True):
        links = [run.bottlenecks[0] for run in (sim, linux)]
        # The handshake's last ACK is a packet of its own on Linux: times are microseconds apart, so an arrival at an
        # end of the measurement may fall on its other side.
        assert abs(links[0]["arrived"] - links[1]["arrived"]) <= 2
        assert [link["marked"] + link["dropped"] > 10 for link in links] == [True, True]
        for key in ("marked", "dropped"):
            assert links[0][key] == links[1][key]
        assert [run.groups[0]["acks_per_packet"] for run in (sim, linux)] == pytest.approx([1, 1], abs=1e-3)
        for key in ("p50", "p99", "max"):
            assert links[0]["queue_packets"][key] == links[1]["queue_packets"][key]


def test_finished_runs_are_found_again(image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = shoal.Scenario.from_toml(SINGLE)
    first = compare([("single", scenario)], seeds=2, cache=tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is left to run")

    monkeypatch.setattr(Kernel, "run", refuse)
    monkeypatch.setattr(type(simulator), "run", refuse)
    again = compare([("single", scenario)], seeds=2, cache=tmp_path)
    assert again.json == first.json


def test_json_is_a_contract(image: Image, tmp_path: Path) -> None:
    found = json.loads(compare([("single", shoal.Scenario.from_toml(SINGLE))], seeds=2, cache=tmp_path).json)
    assert found["schema"] == 2
    assert found["kernel"] == {"release": image.release, "mode": image.mode}
    titles = [headline["title"] for headline in found["headlines"]]
    assert titles == ["utilisation", "mean queue", "delay P99", "marks", "drops", "ACKs per packet", "timeouts"]
    quantity = found["scenarios"][0]["quantities"][0]
    assert list(quantity) == [
        "name", "of", "family", "sim", "linux", "difference", "margin", "exact", "p_within", "p_beyond", "verdict",
        "seeds_needed",
    ]  # fmt: skip
    assert list(quantity["difference"]) == ["value", "sd", "ci95", "relative", "p"]
    assert list(quantity["margin"]) == ["share", "absolute", "value"]


def test_suite_is_large_and_linux_can_express_it(image: Image) -> None:
    from shoal.linux import plan

    scenarios = [shoal.Scenario.from_file(path) for path in comparison_suite()]
    assert len(scenarios) >= 30
    for scenario in scenarios:
        assert scenario.warnings == []
        plan(scenario, image)
    # The ports of a star have the law of the topology.
    tables = [scenario.resolved.get("bottleneck") or scenario.resolved["topology"] for scenario in scenarios]
    kinds = {table["aqm"]["kind"] for table in tables}
    assert kinds == {
        "fifo", "step", "red", "linux-red", "dual-red", "gred", "codel", "fq-codel", "pie", "dualpi2", "coupled",
        "dualq-coupled",
    }  # fmt: skip


def test_interrupted_comparison_goes_on(image: Image, tmp_path: Path) -> None:
    """As from a terminal, every process of the session gets the signal, also the guest."""
    (tmp_path / "single.toml").write_text(SINGLE, encoding="utf-8")
    cache, temporary = tmp_path / "cache", tmp_path / "tmp"
    temporary.mkdir()
    cache.mkdir()
    (cache / "linux").symlink_to(image.folder.parent.parent)
    command = [sys.executable, "-m", "shoal", "compare", "single.toml", "--set", "duration=100 s", "--seeds", "3"]
    command += ["--workers", "1", "--out", "out", "--page", "page.md"]
    environment = os.environ | {"SHOAL_CACHE_DIR": str(cache), "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 120
        # A guest runs, and some runs are finished.
        while not (kept_in(cache) and list(temporary.glob("shoal-linux-*/lines.bin"))):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "error: interrupted\nhint: the same command goes on where it was\n")
    assert not [folder for folder in Path("/proc").glob("[0-9]*") if _session(folder) == process.pid]
    assert not list(temporary.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "single.toml", "tmp"]
    kept = kept_in(cache)
    assert 1 <= len(kept) < 6
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert len(kept_in(cache)) == 6
    assert kept <= kept_in(cache), "nothing was run twice"
    assert {"out", "page.md"} <= {path.name for path in tmp_path.iterdir()}


def kept_in(cache: Path) -> set[tuple[bytes, int, int]]:
    """Scenario, seed and time of every record in a cache."""
    records: set[tuple[bytes, int, int]] = set()
    for path in cache.glob("runs/*/*.sqlite"):
        with closing(sqlite3.connect(path)) as database, suppress(sqlite3.OperationalError):  # there is no table yet
            records |= set(database.execute("SELECT digest, seed, kept_s FROM records"))
    return records


def _session(process: Path) -> int | None:
    """Session of a process, if it is still there (proc(5): the sixth field, after the name in brackets)."""
    try:
        return int((process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[3])
    except OSError:
        return None


def test_page_names_a_command_that_makes_the_same_comparison(image: Image, tmp_path: Path) -> None:
    """The scenarios lie beside the results, so that the file that the user gave may change."""
    given = tmp_path / "single.toml"
    given.write_text(SINGLE, encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "compare", "single.toml", "--set", "duration=10 s", "--seeds", "2"]
    subprocess.run([*command, "--out", "out"], cwd=tmp_path, check=True, capture_output=True)
    given.unlink()
    again = "shoal compare out/scenarios/single.toml --seeds 2 --out out-again"
    page = (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    assert f"<code>{again}</code>" in page
    subprocess.run([sys.executable, "-m", *again.split(), "--fresh"], cwd=tmp_path, check=True, capture_output=True)
    first, second = ((tmp_path / name / "comparison.json").read_bytes() for name in ("out", "out-again"))
    assert first == second
    assert json.loads(first)["scenarios"][0]["notes"][-2:] == [
        f"on {plane}, nothing in this scenario is random: all 2 runs are identical"
        for plane in ("the simulator", "Linux")
    ]
