"""Packets that a queue has marked before they come to the next one, and capacity that transmissions use."""

from __future__ import annotations

import pytest

import shoal
from shoal.tabulate import queue_table

TWO = """
duration = "5 s"
warmup = "0 s"
[topology]
kind = "graph"
nodes = ["a", "b", "c"]
[[topology.links]]
from = "a"
to = "b"
rate = "12 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
monitored = true
aqm = {first}
[[topology.links]]
from = "b"
to = "c"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
monitored = true
aqm = {second}
[[flows]]
cc = "dctcp"
from = "a"
to = "c"
count = 2
[[flows]]
name = "cross"
cc = "dctcp"
from = "b"
to = "c"
"""
STEP = '{ kind = "step", threshold = "%s packets" }'
# Marks every packet that leaves, whatever it carries.
ALWAYS = STEP % 0


def run(first: str, second: str) -> shoal.Result:
    return shoal.run(shoal.Scenario.from_toml(TWO.format(first=first, second=second)))


@pytest.mark.parametrize("second", [STEP % 1, '{ kind = "codel", ecn = true, target = "1 ms", interval = "5 ms" }'])
def test_marks_of_the_queue_before_are_counted_apart(second: str) -> None:
    """Each packet that the first queue marks and sends comes to the second; the rest of the marks are the second's."""
    result = run(STEP % 2, second)
    before, after = result.bottlenecks
    assert "arrived_marked" not in before
    assert 10 < after["arrived_marked"] <= before["marked"] <= after["arrived_marked"] + 5
    assert queue_table([result], 1).title.endswith(
        f"; {after['arrived_marked']} packets came with a mark of a queue before it"
    )
    assert queue_table([result], 0).title == "Queue at a->b"
    # Every mark reaches a sender once, but for those on their way at the end.
    seen = sum(group["totals"]["marks_seen"] for group in result.groups)
    assert 0 <= before["marked"] + after["marked"] - seen <= 50


def test_a_packet_has_one_mark() -> None:
    """A packet that the first queue has marked is not marked again by the second, which marks whatever it can."""
    before, after = run(ALWAYS, ALWAYS).bottlenecks
    assert before["ect"]["mark_fraction"] == pytest.approx(1, abs=0.01)
    assert after["marked"] + after["arrived_marked"] == pytest.approx(after["ect"]["arrived"], abs=3)


SHORT = """
duration = "10 s"
warmup = "1 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "1000 packets"
schedule = {{ {schedule}, repeat = "10 ms" }}
[[flows]]
cc = "none"
rtt = "2 ms"
app = {{ unresponsive = "50 Mbit/s" }}
"""


@pytest.mark.parametrize(
    "schedule",
    [
        # A packet of 1.2 ms begins in each millisecond, and ends in the outage.
        'changes = [{ at = "1 ms", outage = "9 ms" }]',
        # It goes on at 10 Mbit/s where the link has 5 Mbit/s, and in the outage.
        'rates = [["0 s", "10 Mbit/s"], ["900 us", "5 Mbit/s"], ["1 ms", "down"]]',
    ],
)
def test_a_link_that_always_sends_uses_all_of_its_capacity_and_no_more(schedule: str) -> None:
    (link,) = shoal.run(shoal.Scenario.from_toml(SHORT.format(schedule=schedule))).bottlenecks
    assert 0.999 < (link["history"]["capacity_used"] or 0) <= 1
