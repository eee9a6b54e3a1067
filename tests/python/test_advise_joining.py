"""Advice runs a flow that joins another one, and says what becomes of the smaller of both."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from shoal.advise import Candidate, Question
from shoal.advise.joining import Joined, cures, joining, sentence
from shoal.scenario_keys import BottleneckAqm

K_BYTES = 135_000
MARKS: BottleneckAqm = {
    "kind": "wred",
    "mark": {"min": f"{K_BYTES} B", "max": f"{K_BYTES} B", "max_probability": 1.0},
}
# The port of the cards of `linux-6-25g`, at less than their rate: bursts meet the queue as they were sent.
PORT = Question(rate="10 Gbit/s", rtt="300 us", hosts="linux-6-25g")


def advice(question: Question, family: str = "marks only", aqm: BottleneckAqm = MARKS) -> Any:
    judged = SimpleNamespace(delay_s=K_BYTES * 8 / question.rate_bps)
    candidate = Candidate(family, {"K": "135 kB"}, aqm, separate=family == "two queues")
    return SimpleNamespace(question=question, recommended=SimpleNamespace(candidate=candidate, judged=judged))


def test_a_flow_that_stays_small_is_seen_and_cured() -> None:
    joined = joining(advice(PORT), workers=2)
    assert joined is not None
    assert joined.share is not None
    # The first flow keeps 7 x 45 of about 345 packets in flight: the other one 0.2 of the mean. Without the wait for
    # segments both have half. How much smaller segments help depends on when a flow starts: the least of three counts.
    assert 0.1 < joined.share < 0.3
    assert joined.is_locked
    assert list(joined.cured) == list(cures)
    no_wait, small_segments, no_wait_at_once = joined.cured.values()
    assert min(no_wait, no_wait_at_once) > 0.9
    assert small_segments > 2 * joined.share
    assert joined.to_dict()["is_locked"] is True
    # 1000 round trips of 300 us and 108 us of K.
    assert joined.measured_s == pytest.approx(0.408)


def test_a_flow_that_gets_its_part_needs_no_cure() -> None:
    slow = advice(replace(PORT, rate="100 Mbit/s", rtt="1 ms"))
    joined = joining(slow, workers=2)
    assert joined is not None
    assert joined.share is not None
    assert joined.share > 0.5
    assert (joined.is_locked, joined.cured) == (False, {})


@pytest.mark.parametrize(
    ("change", "family"),
    [({"hosts": "ideal"}, "marks only"), ({"scalable_share": 0.0}, "marks only"), ({}, "no ECN")],
)
def test_nothing_joins_where_nothing_can_lock(change: dict[str, Any], family: str) -> None:
    assert joining(advice(replace(PORT, **change), family)) is None


def test_a_run_with_too_many_packets_is_not_made() -> None:
    # 9100 round trips of half a millisecond at 100 Gbit/s have 39 million packets.
    fast = advice(replace(PORT, rate="100 Gbit/s", rtt="500 us"))
    joined = joining(fast)
    assert joined is not None
    assert joined.share is None
    assert sentence(fast, joined) == (
        "Whether a dctcp flow that joins another one gets its part was not tried: its run would have more than 20 "
        "million packets."
    )


@pytest.mark.parametrize(
    ("share", "cured", "words"),
    [
        (0.9, {}, "the smaller of both gets 0.90 of the mean rate."),
        (0.2, {"a": 0.4, "b": 0.99}, "stays there (docs/findings/locked-flows). With `b`, it gets 0.99."),
        (0.2, {"a": 0.4, "b": 0.3}, "With `a`, the best of what was tried at hosts, it still gets 0.40."),
    ],
)
def test_what_it_says(share: float, cured: dict[str, float], words: str) -> None:
    said = sentence(advice(PORT), Joined(share, cured, 1.0))
    assert said.startswith("When a dctcp flow joins another one, the smaller of both gets")
    assert said.endswith(words)
