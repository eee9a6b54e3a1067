"""What ``shoal hunt --planes`` found, told by the mechanism of each; docs/linux.md lists them as definitions."""

from __future__ import annotations

import pytest
from planes import both

import shoal
from shoal.linux import Image
from shoal.runs.cases import Case, run_cases
from shoal.runs.plane import Kernel, simulator

_moving = """
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets", schedule = { rates = [
    ["0 s", "10 Mbit/s"], ["2 s", "2 Mbit/s"]
], repeat = "4 s" } }
flows = [{ cc = "dctcp", rtt = "20 ms" }]
trace = { series = "10 ms", flows = "all" }
"""


def test_the_smoothed_round_trip_is_averaged_over_samples_that_are_denser_at_high_rates(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(_moving)
    ran = run_cases([Case(scenario, [1], tables=True, plane=plane) for plane in (simulator, Kernel(image))])
    results = [runs[0] for runs in ran]
    reported = [result.groups[0]["flows"][0]["srtt_s"]["mean"] or 0.0 for result in results]
    assert reported[0] < 0.75 * reported[1]
    # Over time both planes have the same.
    rows = [result.table("flows") for result in results]
    means = [float(table.filter(table["time_s"] > 5)["srtt_s"].mean()) for table in rows]  # type: ignore[arg-type]
    assert means[0] == pytest.approx(means[1], rel=0.01)


_ended = """
duration = "10 s"
warmup = "1 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets", aqm = { kind = "step", threshold = "2 packets" } }
flows = [{ cc = "dctcp", rtt = "20 ms", count = 20, start = { every = "0.4 s" }, app = { transfer = "SIZE" } }]
"""


@pytest.mark.parametrize(("size", "is_announced"), [("9 kB", False), ("60 kB", True)])
def test_a_transfer_that_sends_nothing_more_announces_no_reduction(size: str, is_announced: bool, image: Image) -> None:
    sim, linux = both(_ended.replace("SIZE", size), image)
    on_simulator, on_linux = (run.groups[0]["totals"]["reductions"] for run in (sim, linux))
    assert sim.groups[0]["totals"]["marks_seen"] == linux.groups[0]["totals"]["marks_seen"] > 0
    assert on_simulator > 0
    assert (on_linux > 0) is is_announced


_connecting = """
duration = "10 s"
warmup = "1 s"
bottleneck = { rate = "10 Mbit/s", schedule = { changes = [{ at = "0.1 s", outage = "9.9 s" }] } }
flows = [{ cc = "cubic", rtt = "20 ms", start = "0.5 s" }]
"""


def test_a_window_without_a_connection_is_that_of_the_repeated_syn(image: Image) -> None:
    windows = [run.groups[0]["flows"][0]["cwnd_packets"]["mean"] or 0.0 for run in both(_connecting, image)]
    assert windows[0] == pytest.approx(windows[1], abs=0.01)
    assert windows[0] < 2


_tail = """
duration = "40 s"
warmup = "0.5 s"
bottleneck = { rate = "10 Mbit/s", buffer = "5 packets" }
flows = [{ cc = "reno", rtt = "RTT ms", start = "START s", app = { transfer = "14 kB" } }]
"""


@pytest.mark.parametrize("rtt_ms", [20, 200, 600, 2500])
def test_timers_of_both_planes_take_the_same_slot_of_the_kernel_s_wheel(rtt_ms: int, image: Image) -> None:
    """The end of the initial window is dropped, and a probe is sent two round trips later: slots of 1 to 512 ms."""
    for step in range(8):
        text = _tail.replace("RTT", str(rtt_ms)).replace("START", f"{0.6 + step / 100:.2f}")
        sim, linux = (run.groups[0]["flows"][0]["fct_s"][0] for run in both(text, image))
        assert sim == pytest.approx(linux, abs=1e-5)


_overshooting = """
duration = "DURATION s"
warmup = "WARMUP s"
bottleneck = { rate = "40 Mbit/s", buffer = "100 packets", aqm = { kind = "fq-codel", target = "9 ms" } }
flows = [{ cc = "dctcp", name = "law", rtt = "5 ms", start = "START s" }]
"""


# The clock of 32 bits, in units of 1024 ns, began a few seconds before the scenario in a guest, and 100 s before it on
# the simulator.
@pytest.mark.parametrize(
    ("start_s", "is_recent"), [(0, False), (2090, False), (2210, True), (4280, True), (4402, False)]
)
def test_what_overflowed_before_the_first_signal_is_recent_by_the_uptime_of_the_kernel(
    start_s: int, is_recent: bool, image: Image
) -> None:
    text = _overshooting.replace("START", str(start_s)).replace("WARMUP", str(start_s + 5))
    sim, linux = both(text.replace("DURATION", str(start_s + 10)), image)
    marks = sim.bottlenecks[0]["marked"]
    assert marks == linux.bottlenecks[0]["marked"]
    assert (marks > 2000) is is_recent
    assert marks > 500


_hops = """
duration = "20 s"
warmup = "5 s"

[topology]
kind = "parking-lot"
bottlenecks = 2
rate = "4 Mbit/s"
delay = "2.5 ms"
buffer = "100 packets"
aqm = { kind = "fq-codel", target = "2 ms" }

[[flows]]
cc = "cubic"
from = "in"
to = "out"
start = { uniform = ["0 s", "0.02 s"] }

[[flows]]
cc = "dctcp"
from = ["in1", "in2"]
to = ["out1", "out2"]
count = 2
start = { uniform = ["1.8 s", "1.82 s"] }
"""


def test_an_empty_queue_forgets_that_packets_waited_too_long(image: Image) -> None:
    """CUBIC's queues run empty. With the CoDel of kernels before 7.0 it had 1.05 Mbit/s of 4."""
    rates_bps = [run.groups[0]["wire_bps"]["mean"] for run in both(_hops, image)]
    assert rates_bps[0] == pytest.approx(rates_bps[1], rel=0.001)
    assert rates_bps[0] > 1.9e6
