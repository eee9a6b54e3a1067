"""docs/findings/locked-flows: the flow that joins stays small, for the reason that the page gives."""

from __future__ import annotations

from typing import Any

import pytest

import shoal

SEGMENT_PACKETS = 45


def flows(**changes: Any) -> list[dict[str, Any]]:
    scenario = shoal.Scenario.named("locked-flows").override(changes)
    return [group["flows"][0] for group in shoal.run(scenario).data["groups"]]


def share(first: dict[str, Any], joins: dict[str, Any]) -> float:
    """The rate of the joining flow over the mean of both."""
    return float(joins["wire_bps"] / (first["wire_bps"] + joins["wire_bps"]) * 2)


@pytest.mark.parametrize(("k_packets", "segments"), [(90, 7), (180, 9), (360, 13)])
def test_the_first_flow_keeps_whole_segments(k_packets: int, segments: int) -> None:
    first, joins = flows(**{"bottleneck.aqm.threshold": f"{k_packets} packets"})
    assert share(first, joins) < 0.25
    # The window rests 9 to 16 packets above so many segments; any place would be as likely without the wait.
    assert 9 <= first["cwnd_packets"]["mean"] - segments * SEGMENT_PACKETS <= 16


@pytest.mark.parametrize(
    ("changes", "least", "most"),
    [
        ({"flows.*.host.tso_win_divisor": 0}, 0.95, 1.05),
        ({"flows.first.host.tso_win_divisor": 0}, 0.95, 1.05),
        ({"flows.*.host.gso_max_segs": 4}, 0.9, 1.1),
        # What is not the reason. Pacing moves the first flow to another number of whole segments, on the kernel, too.
        ({"flows.*.cc_options.alpha_resolution": "exact"}, 0.0, 0.25),
        ({"flows.*.host.coalescing": "off", "flows.*.host.interrupt_delay": "0 us"}, 0.0, 0.25),
        ({"flows.*.host.pacing": "fq"}, 0.0, 0.6),
    ],
)
def test_only_the_wait_for_whole_segments_is_the_reason(changes: dict[str, Any], least: float, most: float) -> None:
    assert least < share(*flows(**changes)) < most
