"""Notices about a scenario or a result, and whether they are true."""

from __future__ import annotations

import html
import importlib
import json
import sys
from pathlib import Path

import pytest
from conftest import Cli
from noticed_scenarios import LOCKED, STORM

import shoal
from shoal.cli.app import ExitCode, guarded
from shoal.errors import LawError
from shoal.runs import host_bursts

NARROW_HOSTS = """
duration = "600 ms"
warmup   = "300 ms"
[bottleneck]
rate   = "1 Gbit/s"
buffer = "500 packets"
aqm    = { kind = "step", threshold = "20 packets" }
[topology]
kind        = "dumbbell"
access_rate = "1 Gbit/s"
[[flows]]
name = "first"
cc   = "dctcp"
rtt  = "200 us"
[[flows]]
name  = "second"
cc    = "dctcp"
rtt   = "200 us"
start = "300 ms"
"""

DUALPI2 = """
duration = "4 s"
warmup   = "1 s"
bottleneck = { rate = "20 Mbit/s", buffer = "1000 packets", aqm = { kind = "dualpi2" } }
[[flows]]
cc  = "cubic"
rtt = "10 ms"
[[flows]]
cc  = "dctcp"
rtt = "10 ms"
"""


def test_check_shows_notes_and_accepts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "dual.toml").write_text(DUALPI2, encoding="utf-8")
    done = cli("check", "dual.toml")
    assert done.code == 0
    assert "note: dctcp sends ECT(0)" in done.err
    assert 'ecn_mask = "any-ect" (mask 3)' in done.err
    silent = cli("check", "dual.toml", "--set", "bottleneck.aqm.ecn_mask=any-ect")
    assert (silent.code, silent.err) == (0, "")


def test_default_mask_puts_dctcp_into_the_classic_queue() -> None:
    """DCTCP waits at the target of 15 ms like CUBIC, as on Linux; with mask 3 the step of 1 ms holds its queue."""
    scenario = shoal.Scenario.from_toml(DUALPI2)
    assert len(scenario.notes) == 1
    classic = shoal.run(scenario).bottlenecks[0]["delay_s"]["ect"]["p50"]
    low = shoal.run(scenario.override({"bottleneck.aqm.ecn_mask": "any-ect"})).bottlenecks[0]["delay_s"]["ect"]["p50"]
    assert classic > 5e-3
    assert low < 1.5e-3


def test_queue_in_an_equally_fast_host_locks_the_second_flow_out() -> None:
    """The first flow grew without a mark for 300 ms; its queue is in its host, and the second gets next to nothing."""
    scenario = shoal.Scenario.from_toml(NARROW_HOSTS)
    assert [("(first/access, ...) are no faster" in note) for note in scenario.notes] == [True]
    first, second = (group["wire_bps"]["mean"] for group in shoal.run(scenario).groups)
    assert second < 0.05 * first
    # A limit in the host prevents this, and there is no notice.
    limited = scenario.override({"topology.access_buffer": "20 packets"})
    assert limited.notes == []
    first, second = (group["wire_bps"]["mean"] for group in shoal.run(limited).groups)
    assert second == pytest.approx(first, rel=0.2)


MIXED = """
duration = "20 s"
warmup   = "5 s"
[bottleneck]
rate   = "10 Mbit/s"
buffer = "200 packets"
aqm    = { kind = "fifo" }
[[flows]]
name = "classic"
cc   = "reno"
rtt  = "20 ms"
[[flows]]
name  = "other"
cc    = "dctcp"
rtt   = "20 ms"
count = 4
"""

DROPS_WHERE_IT_MARKS = {
    "kind": "red",
    "min": "20 packets",
    "max": "21 packets",
    "max_probability": 1.0,
    "weight": 1.0,
    "ecn": True,
}
LOCKS_OUT = {
    "kind": "dual-red",
    "reno": {"min": "5 packets", "max": "15 packets", "max_probability": 0.1, "weight": 0.002},
    "dctcp": {"threshold": "30 packets"},
}
MARKS_ONLY = {"kind": "step", "threshold": "20 packets"}
FAIR = {
    "kind": "dual-red",
    "reno": {"min": "0.5 BDP", "max": "1.5 BDP"},
    "dctcp": {"threshold": "0.67 BDP"},
}
FAR_AND_NEAR = {
    "bottleneck.buffer": "20 packets",
    "flows.classic.rtt": "300 ms",
    "flows.other.rtt": "2 ms",
    "flows.other.cc": "reno",
    "duration": "60 s",
    "warmup": "20 s",
}
MOSTLY_SILENT = {**FAR_AND_NEAR, "flows.classic.app": {"constant_rate": "20 kbit/s"}}


@pytest.mark.parametrize(
    ("change", "starved", "mechanisms"),
    [
        # With one RED for both classes, packets of one class are dropped where those of the other are only marked.
        ({"bottleneck.aqm": DROPS_WHERE_IT_MARKS}, "classic", {"dropped-where-others-are-marked"}),
        # DCTCP's threshold lies above Reno's maximum: the average stays there, and no packet of Reno passes.
        ({"bottleneck.aqm": LOCKS_OUT}, "classic", {"red-lock-out", "timeout-back-off"}),
        # Reno fills a buffer that only marks, and every window of DCTCP is marked whole.
        ({"bottleneck.aqm": MARKS_ONLY}, "other", {"smallest-window"}),
        # 300 ms against 2 ms behind tail drop: no class of packets is treated worse, but windows grow more slowly.
        (FAR_AND_NEAR, "classic", {"longer-round-trip"}),
    ],
)
def test_starved_groups_and_why(change: dict[str, object], starved: str, mechanisms: set[str]) -> None:
    result = shoal.run(shoal.Scenario.from_toml(MIXED).override(change))
    (notice,) = result.notices
    assert (notice.kind, notice.groups, notice.links) == ("starved", (starved,), ("bottleneck",))
    # The numbers are those of the run; the fair share of five flows at 10 Mbit/s is 2 Mbit/s.
    rate = next(group["wire_bps"]["mean"] for group in result.groups if group["name"] == starved)
    assert rate < 0.2e6
    assert f"{100 * rate / 2e6:.1f} % of a fair share of 2.000 Mbit/s" in notice.text
    assert mechanisms <= set(notice.mechanisms)
    assert set(notice.mechanisms) <= mechanisms | {"smallest-window", "timeout-back-off"}


@pytest.mark.parametrize("change", [{"bottleneck.aqm": FAIR, "flows.other.count": 1}, MOSTLY_SILENT])
def test_nobody_starves(change: dict[str, object]) -> None:
    """Where rates are fair, and where a flow gets little because it wants little."""
    assert shoal.run(shoal.Scenario.from_toml(MIXED).override(change)).notices == []


def test_flows_that_differ_in_their_start_only_and_share_unequally() -> None:
    scenario = shoal.Scenario.from_toml(LOCKED)
    (notice,) = shoal.run(scenario).notices
    assert (notice.kind, notice.groups) == ("unequal-shares", ("first", "joins"))
    assert notice.mechanisms == ("uneven-marks",)
    assert "the smallest (joins) gets 1.0" in notice.text
    # Hosts that send packet by packet share equally.
    assert shoal.run(scenario.override({"flows.*.host": "ideal"})).notices == []


def test_a_storm_of_retransmissions_is_named() -> None:
    scenario = shoal.Scenario.from_toml(STORM)
    result = shoal.run(scenario)
    moving, storm = result.notices
    assert (moving.kind, storm.kind) == ("moving-link", "retransmission-storm")
    assert (storm.groups, storm.links) == (("a",), ("bottleneck",))
    assert storm.mechanisms == ("window-out-of-proportion", "timeout-undone-under-ecn")
    (link,) = result.bottlenecks
    assert f"dropped {100 * link['dropped'] / link['arrived']:.1f} % of the packets that arrived" in storm.text
    # The line is back at 2.5 s, and drops follow within a few round trips of 25 ms.
    begins_s = float(storm.text.partition("(from ")[2].partition(" s on)")[0])
    assert 2.5 < begins_s < 2.7
    # Without a series nothing is known of when.
    silent = shoal.run(scenario.override({"trace.series": "off"})).notices[1]
    assert silent.text == storm.text.replace(f" (from {begins_s:.3f} s on)", "")
    # Traffic that does not answer is dropped by design.
    flood = {"name": "flood", "cc": "none", "app": {"unresponsive": "60 Mbit/s"}, "rtt": "25 ms"}
    beside = {"name": "beside", "cc": "reno", "rtt": "25 ms"}
    flooded = shoal.run(scenario.override({"flows": [flood, beside]}))
    assert flooded.bottlenecks[0]["dropped"] > 0.4 * flooded.bottlenecks[0]["arrived"]
    assert [each.kind for each in flooded.notices] == ["moving-link", "starved"]


def test_notices_are_in_json_summary_and_report(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED, encoding="utf-8")
    arguments = ("run", "mixed.toml", "--set", "bottleneck.aqm={ kind = 'step', threshold = '20 packets' }")
    found = json.loads(cli(*arguments, "--json").out)["notices"]
    assert [notice["kind"] for notice in found] == ["starved"]
    out = " ".join(cli(*arguments, "--out", "result").out.split())
    assert f"Notice: {found[0]['text']}." in out
    assert "is starved" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    several = " ".join(cli(*arguments, "--seeds", "2").out.split())
    assert "the same kind in 2 of 2 runs" in several


STEP = ("--set", "bottleneck.aqm={ kind = 'step', threshold = '20 packets' }")


def test_sweeps_and_searches_say_who_starves(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED, encoding="utf-8")
    swept = cli("sweep", "mixed.toml", *STEP, "--axis", "flows.classic.cc=dctcp,reno", "--out", "swept")
    for words in (swept.out, _words(tmp_path / "swept" / "report.html")):
        assert "other is starved" in words
        assert "(at flows.classic.cc = reno; the same kind at 1 of 2 points)." in " ".join(words.split())
    key = ("--key", "flows.other.count", "--from", "3", "--to", "4", "--smallest", "--such-that", "utilisation() > 0")
    tuned = cli("tune", "mixed.toml", *STEP, *key, "--seeds", "2", "--out", "tuned")
    for words in (tuned.out, _words(tmp_path / "tuned" / "report.html")):
        assert "other is starved" in words
        assert "the same kind in 2 of 2 runs)." in " ".join(words.split())


def test_pages_say_that_nothing_is_random(cli: Cli, tmp_path: Path) -> None:
    same = "nothing in this scenario is random: all 2 runs are identical"
    (tmp_path / "step.toml").write_text(_one_flow("10 Mbit/s").to_toml(), encoding="utf-8")
    jitter = {"flows.classic.start": {"uniform": ["0 ms", "20 ms"]}}
    random = shoal.Scenario.from_toml(MIXED).override(jitter)
    (tmp_path / "random.toml").write_text(random.to_toml(), encoding="utf-8")
    seeds = ("--seeds", "2", "--out")
    assert cli("run", "step.toml", *seeds, "run").code == 0
    assert cli("sweep", "step.toml", "--axis", "bottleneck.aqm.threshold=10 packets", *seeds, "sweep").code == 0
    key = ("--key", "bottleneck.aqm.threshold", "--unit", "packets", "--from", "10", "--to", "11", "--smallest")
    assert cli("tune", "step.toml", *key, "--such-that", "utilisation() >= 0", *seeds, "tune").code == 0
    for folder in ("run", "sweep", "tune"):
        assert same in _words(tmp_path / folder / "report.html")
    for folder in ("sweep", "tune"):
        assert "2 seeds (1, 2), all identical" in _words(tmp_path / folder / "report.html")
    both = cli("run", "step.toml", "random.toml", *seeds, "both")
    assert f"Notice (step): {same}." in " ".join(both.out.split())
    assert _words(tmp_path / "both" / "report.html").count(same) == 1


def _words(path: Path) -> str:
    return html.unescape(" ".join(path.read_text(encoding="utf-8").split()))


def test_results_repeat_the_notes_of_the_scenario() -> None:
    result = shoal.run(shoal.Scenario.from_toml(DUALPI2))
    assert "dctcp-in-classic-queue" in [notice.kind for notice in result.notices]


def _one_flow(rate: str) -> shoal.Scenario:
    return shoal.Scenario.from_keys(
        {
            "duration": "20 ms",
            "bottleneck": {"rate": rate, "buffer": "500 packets", "aqm": {"kind": "step", "threshold": "20 packets"}},
            "flows": [{"cc": "dctcp", "rtt": "100 us"}],
        }
    )


@pytest.mark.parametrize(("rate", "warned"), [("1 Gbit/s", False), ("1001 Mbit/s", True), ("10 Gbit/s", True)])
def test_thresholds_above_1_gbit_s_come_with_a_warning(rate: str, warned: bool) -> None:
    scenario = _one_flow(rate)
    key = "bottleneck.aqm.threshold"
    found = shoal.tune(scenario, key=key, low=10, high=20, unit="packets", such_that="utilisation() >= 0", seeds=1)
    assert found.warnings == ((host_bursts.text,) if warned else ())
    assert (host_bursts.text in found.remarks) == warned
    computed_tune = shoal.tune(
        scenario, key="K", low=10, high=20, set={key: "{K} packets"}, such_that="utilisation() >= 0", seeds=1
    )
    assert computed_tune.warnings == found.warnings
    # A number of flows is not a threshold.
    flows = shoal.tune(scenario, key="flows.dctcp.count", low=1, high=2, such_that="utilisation() >= 0", seeds=1)
    assert flows.warnings == ()
    swept = shoal.sweep(scenario, grid={key: ["10 packets", "20 packets"]})
    assert swept.warnings == found.warnings
    computed = shoal.sweep(scenario, grid={"K": [10, 20]}, set={key: "{K} packets"})
    assert computed.warnings == found.warnings
    # Another question than one of thresholds.
    assert shoal.sweep(scenario, grid={"flows.dctcp.count": [1, 2]}).warnings == ()


@pytest.mark.parametrize(
    ("host", "warned"),
    [
        ("ideal", True),
        ({"preset": "ideal", "nic_rate": "40 Gbit/s"}, True),
        ("linux-6-10g", False),
        ({"nic_rate": "40 Gbit/s"}, False),
    ],
)
def test_thresholds_of_hosts_that_send_bursts_come_without_it(host: object, warned: bool) -> None:
    key = "bottleneck.aqm.threshold"
    scenario = _one_flow("10 Gbit/s").override({"flows[0].host": host})
    found = shoal.tune(scenario, key=key, low=10, high=20, unit="packets", such_that="utilisation() >= 0", seeds=1)
    assert found.warnings == ((host_bursts.text,) if warned else ())


def test_warning_is_shown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "fast.toml").write_text(_one_flow("10 Gbit/s").to_toml(), encoding="utf-8")
    swept = cli("sweep", "fast.toml", "--axis", "bottleneck.aqm.threshold=10 packets,20 packets")
    assert "65 packets at 10 Gbit/s" in " ".join(swept.out.split())
    swept = cli("sweep", "fast.toml", "--axis", "bottleneck.aqm.threshold=10 packets,20 packets", "--out", "swept")
    assert "65 packets at 10 Gbit/s" in _words(tmp_path / "swept" / "report.html")
    tuned = cli(
        "tune", "fast.toml", "--key", "bottleneck.aqm.threshold", "--unit", "packets", "--from", "10", "--to", "12",
        "--smallest", "--such-that", "utilisation() >= 0", "--seeds", "1", "--json",
    )  # fmt: skip
    assert json.loads(tuned.out)["warnings"] == [host_bursts.text]


def test_result_that_breaks_a_law_is_an_error_and_not_a_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> shoal.Result:
        raise LawError("link `bottleneck`: 4 packets arrived since the start, 2 were sent or dropped, and 1 wait")

    monkeypatch.setattr(importlib.import_module("shoal.runs.running"), "run", broken)
    monkeypatch.setattr(sys, "argv", ["shoal", "run", "step-single"])
    assert guarded() == ExitCode.INTERNAL
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "4 packets arrived" in " ".join(shown.err.split())
    assert "hint:" in shown.err
