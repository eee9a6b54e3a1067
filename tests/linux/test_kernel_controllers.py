"""BBR of the kernel."""

from __future__ import annotations

import shoal
from shoal.linux import Image, run_on_linux

SCENARIO = """
title = "One flow in front of a buffer of four bandwidth-delay products"
duration = "20 s"
warmup = "8 s"
bottleneck = {{ rate = "20 Mbit/s", buffer = "4 BDP" }}
flows = [{{ cc = "{cc}", rtt = "40 ms" }}]
trace = {{ series = "off" }}
"""


def test_bbr_fills_the_line_and_not_the_buffer(image: Image) -> None:
    """Its window is twice the bandwidth-delay product: at most one waits, of the four that CUBIC fills in parts."""
    bbr, cubic = (
        run_on_linux(shoal.Scenario.from_toml(SCENARIO.format(cc=cc)), image=image) for cc in ("bbr", "cubic")
    )
    link = bbr.bottlenecks[0]
    bdp_packets = 20e6 * 0.04 / 8 / 1500
    assert link["utilisation"] > 0.9
    assert link["dropped"] == 0
    assert link["queue_packets"]["mean"] < bdp_packets
    assert cubic.bottlenecks[0]["queue_packets"]["mean"] > 1.5 * bdp_packets
    # Its pacing and its phases are random, of the guest's seed: the same bytes again.
    again = run_on_linux(shoal.Scenario.from_toml(SCENARIO.format(cc="bbr")), image=image)
    assert again.json == bbr.json
