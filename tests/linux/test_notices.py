"""Notices on the real kernel: the same as on the simulator, from the kernel's own numbers."""

from __future__ import annotations

from planes import both

from shoal.linux import Image
from tests.python.noticed_scenarios import LOCKED, STORM


def test_a_storm_of_retransmissions_is_named_on_both_planes(image: Image) -> None:
    for result in both(STORM, image):
        (link,) = result.bottlenecks
        # How long a storm lasts depends on the packet that CoDel marks last before the outage: in 30 seeds of either
        # plane 11,599 to 760,366 packets were sent again, at the least two thirds of those that arrived.
        assert link["dropped"] > 0.6 * link["arrived"]
        kinds = {notice.kind: notice for notice in result.notices}
        assert set(kinds) == {"moving-link", "retransmission-storm"}
        storm = kinds["retransmission-storm"]
        assert (storm.groups, storm.links) == (("a",), ("bottleneck",))
        assert storm.mechanisms == ("window-out-of-proportion", "timeout-undone-under-ecn")


def test_flows_that_lock_are_named_on_both_planes(image: Image) -> None:
    for result in both(LOCKED, image):
        first, joins = (group["wire_bps"]["mean"] for group in result.groups)
        assert joins < 0.2 * first
        (notice,) = result.notices
        assert (notice.kind, notice.groups) == ("unequal-shares", ("first", "joins"))
        assert notice.mechanisms == ("uneven-marks",)
