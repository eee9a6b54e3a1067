"""What is said about a scenario or a result without being asked, and what is true of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

import shoal

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
    # A limit in the host ends it, and the note.
    limited = scenario.override({"topology.access_buffer": "20 packets"})
    assert limited.notes == []
    first, second = (group["wire_bps"]["mean"] for group in shoal.run(limited).groups)
    assert second == pytest.approx(first, rel=0.2)
