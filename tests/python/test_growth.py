"""How cost grows: with what there is, and not with its square. Ratios of CPU times of one process, least of three."""

from __future__ import annotations

import time

import shoal

#: Four times the hosts. Twice what is linear leaves room for a busy machine; the square would be sixteen.
SIZES = (32, 64)
MOST = 8.0


def setup_s(size: int) -> float:
    """CPU time in s of a leaf-spine network with ``size * size`` hosts in which nothing begins."""
    count = size * size
    ends = f'from = "h1..h{count}"\nto = "h1..h{count}"\npairing = "permutation"'
    scenario = shoal.Scenario.from_toml(
        f"""
title = "A transfer from each host, after the end"
duration = "1 ns"
warmup = "0 s"
[topology]
kind = "leaf-spine"
leaves = {size}
spines = {size}
hosts_per_leaf = {size}
rate = "100 Gbit/s"
delay = "1 us"
buffer = "1000 packets"
aqm = {{ kind = "step", threshold = "65 packets" }}
[trace]
series = "off"
[[flows]]
cc = "dctcp"
{ends}
start = {{ uniform = ["0 s", "1 ms"] }}
app = {{ transfer = "20 kB" }}
"""
    )
    start = time.process_time()
    shoal.run(scenario)
    return time.process_time() - start


def test_a_run_of_a_network_grows_with_its_hosts() -> None:
    """Notices looked at each flow for each link: 3 s of a network of 16,384 hosts, where nothing is simulated."""
    times = [(setup_s(SIZES[0]), setup_s(SIZES[1])) for _ in range(3)]
    small, large = (min(column) for column in zip(*times, strict=True))
    assert large < MOST * small, f"{large / small:.1f} times the CPU time for four times the hosts"
