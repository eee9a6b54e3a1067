"""Links that change during the run: what results, notices and figures say of them."""

from __future__ import annotations

import pytest

import shoal

ONE_LINK = """
duration = "40 s"
warmup = "10 s"
bottleneck = {{ rate = "{rate}", delay = "1 ms", buffer = "50 packets", schedule = {{ {schedule} }} }}
flows = [{{ cc = "{cc}", rtt = "10 ms", count = {count} }}]
"""


def one_link(schedule: str, *, rate: str = "100 Mbit/s", cc: str = "reno", count: int = 4) -> shoal.Result:
    return shoal.run(shoal.Scenario.from_toml(ONE_LINK.format(schedule=schedule, rate=rate, cc=cc, count=count)))


def kinds(result: shoal.Result) -> list[str]:
    return [notice.kind for notice in result.notices]


def test_a_link_that_becomes_faster_has_a_result() -> None:
    # It carries nine times what its first rate would: that was taken for a contradiction, and no result was given.
    result = one_link('changes = [{ at = "5 s", rate = "100 Mbit/s" }]', rate="10 Mbit/s")
    (link,) = result.bottlenecks
    assert link["departed_bytes"] * 8 / 30 > 80e6
    assert link["history"]["rate"] == [
        {"from_s": 0.0, "rate_bps": 1e7},
        {"from_s": 5.0, "rate_bps": 1e8},
    ]
    assert link["history"]["mean_rate_bps"] == 1e8


def test_fair_shares_are_those_of_the_rates_that_the_link_had() -> None:
    # One flow fills the 5 Mbit/s that remain, which is 5 % of the first rate; it is not starved.
    result = one_link('changes = [{ at = "5 s", rate = "5 Mbit/s" }]', cc="cubic", count=1)
    assert result.groups[0]["wire_bps"]["sum"] == pytest.approx(5e6, rel=0.01)
    assert kinds(result) == ["moving-link"]


def test_windows_that_a_longer_delay_needs_are_no_reason_for_a_notice() -> None:
    # Flows whose windows halve need long to fill the longer path; at 10 ms these windows would allow 7 times the rate.
    result = one_link('changes = [{ at = "5 s", delay = "150 ms" }]')
    assert 0.3 < (result.bottlenecks[0]["utilisation"] or 0) < 0.7
    assert kinds(result) == ["moving-link"]


def test_time_without_a_link_is_not_idle_time() -> None:
    result = one_link('changes = [{ at = "12 s", outage = "15 s" }]', count=1)
    (link,) = result.bottlenecks
    # 15 s of 30 s, and then a timeout that doubled until it was longer than what was left of the outage.
    assert (link["utilisation"] or 0) < 0.5
    assert link["history"]["down_s"] == 15.0
    assert link["history"]["mean_rate_bps"] == 5e7
    assert link["history"]["capacity_used"] == pytest.approx((link["utilisation"] or 0) * 2, rel=1e-3)
    assert kinds(result) == ["moving-link"]


def test_bytes_above_a_delay_target_are_counted_where_asked_or_where_links_change() -> None:
    # 50 packets of 1500 B at 10 Mbit/s take 60 ms: behind 25 packets and more a packet waits longer than 30 ms.
    slow = one_link('changes = [{ at = "5 s", rate = "10 Mbit/s" }]')
    above = slow.bottlenecks[0]["above_target"]
    assert above["target_s"] == 0.03
    assert 0.5 < above["bytes"] / slow.bottlenecks[0]["departed_bytes"] < 1
    assert above["bytes"] == above["packets"] * 1500
    still = shoal.Scenario.named("step-single").override({"duration": "5 s", "warmup": "1 s"})
    assert "above_target" not in shoal.run(still).bottlenecks[0]
    asked = shoal.run(still.override({"trace.delay_target": "1 us"})).bottlenecks[0]
    assert 0.9 * asked["departed"] < asked["above_target"]["packets"] <= asked["departed"]
