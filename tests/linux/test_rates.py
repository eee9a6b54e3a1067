"""Fast lines: the guest's clock and its program bound no rate.

With a clock that costs 256 ns whenever it is read a testbed took one packet of 1500 B per 256 ns, which is 47 Gbit/s.
"""

from __future__ import annotations

import pytest

import shoal
from shoal.linux import Image, run_on_linux
from shoal.scenario_keys import Step


@pytest.mark.parametrize(
    ("rate", "rtt", "threshold", "duration"),
    [("10 Gbit/s", "103 us", 65, "50 ms"), ("100 Gbit/s", "21 us", 60, "4 ms"), ("400 Gbit/s", "11 us", 200, "4 ms")],
)
def test_fast_line_is_busy_and_marks_what_the_simulator_marks(
    rate: str, rtt: str, threshold: int, duration: str, image: Image
) -> None:
    # With every packet acknowledged both planes send the same packets at the same times.
    aqm: Step = {"kind": "step", "threshold": f"{threshold} packets"}
    scenario = shoal.Scenario.from_keys(
        {
            "duration": duration,
            "warmup": "1 ms",
            "bottleneck": {"rate": rate, "buffer": "4000 packets", "aqm": aqm},
            "flows": [{"cc": "dctcp", "rtt": rtt, "delayed_ack": False}],
            "trace": {"series": "off"},
        }
    )
    sim, linux = shoal.run(scenario), run_on_linux(scenario, image=image)
    expected, link = sim.bottlenecks[0], linux.bottlenecks[0]
    assert expected["utilisation"] > 0.99
    assert expected["marked"] > 100
    assert link["utilisation"] == pytest.approx(expected["utilisation"], abs=0.001)
    # The packets of one congestion window, for the ends of the measurement.
    assert link["arrived"] == pytest.approx(expected["arrived"], rel=0.001)
    assert link["marked"] == pytest.approx(expected["marked"], rel=0.02)
    assert link["queue_packets"]["mean"] == pytest.approx(expected["queue_packets"]["mean"], rel=0.02)
    assert link["dropped"] == expected["dropped"] == 0
    assert linux.groups[0]["flows"][0]["retransmissions"] == 0


def test_records_between_two_samples_may_be_more_than_the_kernel_keeps(image: Image) -> None:
    # 200 Gbit/s are 16.7 packets a microsecond, each with two records: 333,000 in the 10 ms between samples. The kernel
    # keeps 262,144.
    scenario = shoal.Scenario.from_toml(
        """
duration = "12 ms"
warmup = "1 ms"
bottleneck = { rate = "200 Gbit/s", buffer = "4000 packets" }
flows = [{ cc = "reno", rtt = "10 us", initial_window = "500 packets" }]
trace = { series = "off" }
"""
    )
    link = run_on_linux(scenario, image=image).bottlenecks[0]
    # 11 ms of 200 Gbit/s in packets of 1500 B.
    assert link["departed"] == pytest.approx(183_333, abs=2)
