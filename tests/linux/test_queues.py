"""Every queue that both planes have, on the kernel: packets are accounted for, and the simulator agrees."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_captures import packets

import shoal
from shoal.linux import Image, plan, run_on_linux
from shoal.scenario_keys import BottleneckAqm

# Queue, controllers of the two flows.
QUEUES: dict[str, tuple[BottleneckAqm, str]] = {
    "codel": ({"kind": "codel"}, "reno cubic"),
    "codel-ecn": ({"kind": "codel", "ecn": True}, "reno dctcp"),
    "fq-codel": ({"kind": "fq-codel"}, "reno dctcp"),
    "fq-codel-flow": ({"kind": "fq-codel", "classifier": "flow"}, "reno dctcp"),
    "pie": ({"kind": "pie"}, "reno reno"),
    "red-adaptive": (
        {"kind": "linux-red", "min": "15 kB", "max": "60 kB", "avpkt": "1500 B", "probability": 0.1, "adaptive": True},
        "reno reno reno",
    ),
    "pie-ecn": ({"kind": "pie", "ecn": True}, "reno dctcp"),
    "gred": (
        {
            "kind": "gred",
            "limit": "400 kB",
            "not_ect": {"min": "15 kB", "max": "45 kB", "avpkt": "1500 B", "burst": "20 packets", "probability": 0.1},
            "ect": {
                "min": "15 kB",
                "max": "45 kB",
                "avpkt": "1500 B",
                "burst": "20 packets",
                "probability": 0.2,
                "ecn": True,
            },
        },
        "reno dctcp",
    ),
    "dualpi2": ({"kind": "dualpi2", "ecn_mask": "any-ect"}, "cubic dctcp"),
    "dualpi2-enqueue": ({"kind": "dualpi2", "ecn_mask": "any-ect", "decide": "enqueue"}, "cubic dctcp"),
    "coupled": ({"kind": "coupled", "saturation": "200 ms", "coupling": 1.63}, "reno dctcp"),
    "dualq-coupled": ({"kind": "dualq-coupled", "saturation": "100 ms", "coupling": 8.0}, "reno dctcp"),
    "red": (
        {"kind": "red", "min": "10 packets", "max": "30 packets", "spacing": "independent", "ecn": True},
        "reno dctcp",
    ),
    "wred": (
        {
            "kind": "wred",
            "decide": "enqueue",
            "mark": {"min": "15 kB", "max": "45 kB", "max_probability": 0.2},
            "drop": {"min": "15 kB", "max": "45 kB", "max_probability": 0.1},
        },
        "reno dctcp",
    ),
}


def scenario(queue: str, *, buffer: str = "1000 packets", seconds: int = 20) -> shoal.Scenario:
    aqm, controllers = QUEUES[queue]
    return shoal.Scenario.from_keys(
        {
            "duration": f"{seconds} s",
            "warmup": f"{seconds // 4} s",
            "bottleneck": {"rate": "20 Mbit/s", "buffer": buffer, "aqm": aqm},
            "flows": [{"cc": cc, "name": f"{cc} {i}", "rtt": "10 ms"} for i, cc in enumerate(controllers.split())],
        }
    )


@pytest.mark.parametrize("queue", QUEUES)
def test_packets_are_accounted_for(queue: str, image: Image, tmp_path: Path) -> None:
    # Without a warm-up every packet of the run counts.
    capture = tmp_path / "linux.pcapng"
    whole = scenario(queue).override({"warmup": "0 s"})
    linux = run_on_linux(whole, image=image, pcap=capture, pcap_payload=True)
    link = linux.bottlenecks[0]
    waiting = link["arrived"] - link["departed"] - link["dropped"]
    assert 0 <= waiting <= link["queue_packets"]["max"]
    assert link["dropped"] > 0
    assert link["dropped"] == sum(flow["losses"] for group in linux.groups for flow in group["flows"])
    # The ACK that ends the handshake of DCTCP may be marked, which is not seen with data.
    sent = [packet for packet in packets(capture.read_bytes()) if packet.interface == 0]
    bare = sum(packet.ecn == 3 and not packet.payload for packet in sent)
    assert link["marked"] - bare == sum(flow["marks_seen"] for group in linux.groups for flow in group["flows"])
    # A drop by the law is not counted as one of a full buffer.
    assert link["dropped_by"]["buffer"] == 0
    if "dctcp" in QUEUES[queue][1]:
        assert link["marked"] > 0
    # A line of 20 Mbit/s sends a packet of 1500 B in 0.6 ms: no packet waits longer than the longest queue takes,
    # except where a scheduler prefers others.
    if queue not in {"fq-codel", "fq-codel-flow", "dualpi2", "dualpi2-enqueue", "dualq-coupled"}:
        assert link["delay_s"]["all"]["max"] <= link["queue_packets"]["max"] * 0.6e-3 * 1.001 + 2e-6


@pytest.mark.parametrize("queue", QUEUES)
def test_simulator_agrees(queue: str, image: Image) -> None:
    seeds = (1, 2, 3)
    long = scenario(queue, seconds=40)
    # By the hash the two flows collide with the probability 1/1024, and then on one plane only.
    linux = [run_on_linux(long, image=image, seed=seed).bottlenecks[0] for seed in seeds]
    sim = [shoal.run(long, seed=seed).bottlenecks[0] for seed in seeds]

    def mean(links: list[dict], *keys: str) -> float:
        total = 0.0
        for link in links:
            value = link
            for key in keys:
                value = value[key]
            total += value
        return total / len(links)

    assert mean(linux, "utilisation") == pytest.approx(mean(sim, "utilisation"), abs=0.01)
    assert mean(linux, "queue_packets", "mean") == pytest.approx(mean(sim, "queue_packets", "mean"), rel=0.15)
    assert mean(linux, "dropped") == pytest.approx(mean(sim, "dropped"), rel=0.3, abs=10)
    assert mean(linux, "marked") == pytest.approx(mean(sim, "marked"), rel=0.3, abs=10)


@pytest.mark.parametrize("queue", ["codel", "fq-codel", "pie", "dualpi2", "coupled", "dualq-coupled"])
def test_full_buffer_is_told_from_the_law(queue: str, image: Image) -> None:
    # Ten packets are fewer than any of these laws needs to act.
    small = scenario(queue, buffer="10 packets").override({"warmup": "0 s"})
    link = run_on_linux(small, image=image).bottlenecks[0]
    assert link["dropped_by"]["buffer"] > 0
    assert link["queue_packets"]["max"] <= 10
    assert link["arrived"] - link["departed"] - link["dropped"] in range(11)


def test_tc_lines_are_shown(image: Image) -> None:
    rules = [text for _, text in plan(scenario("gred"), image).rules if text.startswith("r1: tc")]
    # The line, the table, two virtual queues.
    assert [rule.split(" ")[3] for rule in rules] == ["add", "add", "change", "change"]
    assert all("gred" in rule for rule in rules[1:])


def test_adaptive_red_adapts(image: Image) -> None:
    """Its timer runs: the kernel starts it only for the flag of the older structure, which tc leaves empty."""
    adapting = scenario("red-adaptive")
    one, other = (
        run_on_linux(adapting.override({"bottleneck.aqm.adaptive": flag}), image=image).bottlenecks[0]["arrived"]
        for flag in (True, False)
    )
    assert one != other
