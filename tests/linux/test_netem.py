"""Links with impairments: the real netem with the same seed does the same to every packet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from planes import both
from test_captures import packets

import shoal
from shoal.linux import Image, plan, run_on_linux

# Packets of 1500 B every 3 ms over a link that takes 1.2 ms for each: they meet no queue, and each is delayed by netem
# alone. 3,667 of them are sent in the window.
DATAGRAMS = """
duration = "12001 ms"
warmup = "1001 ms"
[bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
impairments = {{ {impairments} }}
[[flows]]
cc = "none"
rtt = "20 ms"
app = {{ unresponsive = "4 Mbit/s" }}
"""


def datagrams(result: shoal.Result) -> dict[str, object]:
    summary = result.groups[0]["flows"][0]["datagrams"]
    assert summary is not None
    return dict(summary)


EXACT = {
    "uniform": 'jitter = "2 ms", keep_order = false',
    "uniform, in order": 'jitter = "4 ms"',
    "normal": 'jitter = "1 ms", jitter_distribution = "normal", keep_order = false',
    "pareto, in order": 'jitter = "1 ms", jitter_distribution = "pareto"',
    "paretonormal": 'jitter = "1 ms", jitter_distribution = "paretonormal", keep_order = false',
    "more than the delay": 'jitter = "9 ms", keep_order = false',
    "random loss": "loss = 0.05",
    "Gilbert and Elliott": "loss = { p = 0.03, r = 0.3, loss_in_bad = 0.8, loss_in_good = 0.01 }",
    "four states": "loss = { p13 = 0.02, p31 = 0.3, p32 = 0.2, p23 = 0.5, p14 = 0.01 }",
    "duplication": "duplicate = 0.1",
    "corruption": "corrupt = 0.1",
    "reordering": "reorder = { probability = 0.5, gap = 5 }",
    "slots of one length": 'slot = { min = "7130 us", packets = 4 }',
    "slots of bytes": 'slot = { min = "20 ms", bytes = "6000 B" }',
    "everything": (
        'jitter = "3 ms", jitter_distribution = "normal", keep_order = false, loss = { p = 0.02, r = 0.4 }, '
        "duplicate = 0.05, corrupt = 0.02, reorder = { probability = 0.3, gap = 3 }, "
        'slot = { min = "4 ms", packets = 8 }'
    ),
}


@pytest.mark.parametrize("impairments", EXACT.values(), ids=EXACT.keys())
def test_netem_with_the_same_seed_does_the_same_to_every_packet(impairments: str, image: Image) -> None:
    sim, linux = both(DATAGRAMS.format(impairments=impairments), image)
    assert linux.paths == sim.paths
    expected, found = datagrams(sim), datagrams(linux)
    # The generator of packets on the kernel may be 2 us late; all delays are drawn alike, so all quantiles agree.
    for what in ("delay_s", "variation_s", "successive_variation_s"):
        delays, kernels = expected.pop(what), found.pop(what)
        assert isinstance(delays, dict)
        assert isinstance(kernels, dict)
        for name in ("mean", "min", "p5", "p50", "p95", "p99", "max"):
            assert kernels[name] == pytest.approx(delays[name], abs=3e-6), (what, name)
    assert found == expected


def test_everything_happens_in_those_runs() -> None:
    (path,) = shoal.run(shoal.Scenario.from_toml(DATAGRAMS.format(impairments=EXACT["everything"]))).paths
    assert min(path["lost"] or 0, path["duplicated"] or 0, path["corrupted"] or 0, path["reordered"] or 0) > 20


RENO = """
duration = "12003 ms"
warmup = "1001 ms"
bottleneck.rate = "20 Mbit/s"
bottleneck.delay = "5 ms"
bottleneck.buffer = "60 packets"
bottleneck.impairments = {{ {impairments} }}
flows = [{{ cc = "reno", rtt = "20 ms" }}]
"""


@pytest.mark.parametrize("impairments", ["loss = 0.001", "loss = { p = 0.0005, r = 0.5 }"], ids=["random", "bursts"])
def test_reno_alone_is_exact_through_the_same_losses(impairments: str, image: Image) -> None:
    sim, linux = both(RENO.format(impairments=impairments), image)
    (expected,), (found,) = sim.bottlenecks, linux.bottlenecks
    assert (sim.paths[0]["lost"] or 0) > 5
    assert linux.paths == sim.paths
    assert abs(found["departed"] - expected["departed"]) <= 2
    flows = [result.groups[0]["flows"][0] for result in (sim, linux)]
    assert flows[0]["retransmissions"] == flows[1]["retransmissions"]
    assert flows[0]["timeouts"] == flows[1]["timeouts"]


def test_uniform_slots_agree_in_distribution(image: Image) -> None:
    # The kernel draws them outside the seed. Packets come every 3 ms and wait for slots of 2 to 10 ms, of which a run
    # has some 1,200. The wait for a slot has a standard deviation of about 3 ms: four standard errors of the difference
    # of two means are 4 x 3 ms x sqrt(2 / 1200) = 0.5 ms. At the quantiles of 5 % and 95 % the density is at least a
    # fifth of 1 / (3 ms), so that their error is at most 4 x sqrt(2 x 0.05 x 0.95 / 1200) x 15 ms = 0.54 ms.
    sim, linux = both(DATAGRAMS.format(impairments='slot = { min = "2 ms", max = "10 ms", packets = 16 }'), image)
    delays, kernels = datagrams(sim)["delay_s"], datagrams(linux)["delay_s"]
    assert isinstance(delays, dict)
    assert isinstance(kernels, dict)
    for name in ("mean", "p5", "p50", "p95"):
        assert kernels[name] == pytest.approx(delays[name], abs=0.54e-3), name
    assert datagrams(linux)["lost"] == datagrams(sim)["lost"] == 0


# A link whose slots take one packet every 4 to 10 ms gets one every 3 ms: its backlog grows, so that each gap between
# two packets at the fast link behind it is one draw of netem, independent of all others.
SLOTS = """
duration = "14 s"
warmup = "0 s"
[topology]
kind = "graph"
nodes = ["a", "s", "t", "b"]
links = [
    { from = "a", to = "s", rate = "1 Gbit/s" },
    { from = "s", to = "t", rate = "1 Gbit/s", impairments = { slot = { min = "4 ms", max = "10 ms", packets = 1 } } },
    { from = "t", to = "b", rate = "1 Gbit/s", monitored = true },
]
[[flows]]
cc = "none"
from = "a"
to = "b"
app = { unresponsive = "4 Mbit/s" }
"""


def slot_gaps(file: Path) -> list[float]:
    """Gaps between packets in milliseconds, in increasing order."""
    times = [packet.time_ns for packet in packets(file.read_bytes(), cut=True) if packet.interface == 0]
    return sorted((after - before) / 1e6 for before, after in itertools.pairwise(times))


def kolmogorov_smirnov(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest distance between the distributions of two sorted samples."""
    values, ranks = sorted({*first, *second}), [0, 0]
    farthest = 0.0
    for value in values:
        for number, sample in enumerate((first, second)):
            while ranks[number] < len(sample) and sample[ranks[number]] <= value:
                ranks[number] += 1
        farthest = max(farthest, abs(ranks[0] / len(first) - ranks[1] / len(second)))
    return farthest


def test_slots_of_both_planes_are_uniform_by_kolmogorov_and_smirnov(image: Image, tmp_path: Path) -> None:
    # At a level of 1 % the distance of n draws from their distribution is at most 1.63 / sqrt(n), and that of two
    # samples 1.63 x sqrt(2 / n). Both seeds are fixed, so the verdict does not change from one run to the next.
    scenario = shoal.Scenario.from_toml(SLOTS)
    files = [tmp_path / "sim.pcapng", tmp_path / "linux.pcapng"]
    shoal.run(scenario, pcap=files[0])
    run_on_linux(scenario, image=image, pcap=files[1])
    sim, linux = (slot_gaps(file) for file in files)
    assert min(len(sim), len(linux)) > 1900
    level = 1.63 / math.sqrt(min(len(sim), len(linux)))
    uniform = [4 + 6 * (rank + 0.5) / 100_000 for rank in range(100_000)]
    distances = {
        "simulator": kolmogorov_smirnov(sim, uniform) / level,
        "netem": kolmogorov_smirnov(linux, uniform) / level,
        "both": kolmogorov_smirnov(sim, linux) / (math.sqrt(2) * level),
    }
    assert max(distances.values()) < 1, distances
    # The test sees a difference: slots that are a twentieth longer are refused.
    assert kolmogorov_smirnov([gap * 1.05 for gap in sim], uniform) > level


def test_two_runs_are_the_same(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(DATAGRAMS.format(impairments=EXACT["everything"]))
    first, second = (run_on_linux(scenario, image=image) for _ in range(2))
    assert first.json == second.json
    other = run_on_linux(scenario, image=image, seed=2)
    assert other.paths != first.paths


def test_explain_has_the_command(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(
        DATAGRAMS.format(
            impairments='jitter = "2 ms", jitter_correlation = 0.25, loss = { p = 0.01, r = 0.5 }, corrupt = 0.001'
        )
    )
    rules = [text for place, text in plan(scenario, image=image).rules if "impairments" in place]
    (command,) = rules
    assert "tc qdisc add dev o0 root netem limit 1000000 delay 5ms 2ms 25% loss gemodel 1% 50% 100% 0%" in command
    assert " corrupt 0.1% rate 8000tbit seed " in command


def test_an_impaired_link_whose_delay_changes_is_refused(image: Image) -> None:
    text = DATAGRAMS.format(impairments="loss = 0.1").replace(
        'buffer = "100 packets"', 'buffer = "100 packets"\nschedule.changes = [{ at = "2 s", delay = "7 ms" }]'
    )
    scenario = shoal.Scenario.from_toml(text)
    assert (shoal.run(scenario).paths[0]["lost"] or 0) > 100
    with pytest.raises(shoal.ShoalError, match="an impaired link whose delay changes"):
        run_on_linux(scenario, image=image)
