"""Queues for traffic classes are bands of `ets` with a discipline each: shares, priority, and the simulator's numbers.

The bounds were written before the kernel ran any of this.
"""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import ScenarioError
from shoal.linux import Image, plan, run_on_linux

WEIGHTED = """
duration = "6 s"
warmup = "2 s"
[bottleneck]
rate = "100 Mbit/s"
buffer = "200 packets"
[bottleneck.aqm]
kind = "classes"
[[bottleneck.aqm.queues]]
name = "scalable"
dscp = ["af11"]
weight = 3
aqm = { kind = "step", threshold = "20 packets" }
[[bottleneck.aqm.queues]]
name = "rest"
weight = 1
aqm = { kind = "codel", target = "2 ms", interval = "20 ms" }
[[flows]]
cc = "dctcp"
rtt = "2 ms"
count = 2
dscp = "af11"
start = { uniform = ["0 s", "100 ms"] }
[[flows]]
cc = "cubic"
rtt = "2 ms"
count = 2
start = { uniform = ["0 s", "100 ms"] }
"""

# The urgent queue stands second in the list of weighted and strict ones, and is the first band.
STRICT = """
duration = "4 s"
warmup = "1 s"
[bottleneck]
rate = "100 Mbit/s"
buffer = "200 packets"
[bottleneck.aqm]
kind = "classes"
[[bottleneck.aqm.queues]]
name = "rest"
[[bottleneck.aqm.queues]]
name = "urgent"
dscp = ["ef"]
priority = "strict"
[[flows]]
name = "calls"
cc = "none"
app = { unresponsive = "30 Mbit/s" }
rtt = "2 ms"
dscp = "ef"
[[flows]]
cc = "cubic"
rtt = "2 ms"
count = 2
"""


def classes_of(result: shoal.Result) -> dict[str, dict[str, object]]:
    (link,) = result.bottlenecks
    found = {one["name"]: dict(one) for one in link["classes"]}
    # Nothing is counted in no class or in two.
    for key in ("arrived", "departed", "dropped", "marked", "departed_bytes"):
        assert sum(one[key] for one in found.values()) == link[key], key
    return found


def share(result: shoal.Result, name: str) -> float:
    found = classes_of(result)
    return float(found[name]["departed_bytes"]) / sum(float(one["departed_bytes"]) for one in found.values())


def test_weights_divide_the_line(image: Image) -> None:
    """The two queues always hold packets, so each sends its quantum in turn: 3 to 1 but for a turn at the ends."""
    result = run_on_linux(shoal.Scenario.from_toml(WEIGHTED), image=image)
    found = classes_of(result)
    assert result.bottlenecks[0]["utilisation"] > 0.999
    assert found["scalable"]["queue_empty"] < 0.01
    assert found["rest"]["queue_empty"] < 0.01
    # A turn is 4 packets of 25,000 to 33,000.
    assert share(result, "scalable") == pytest.approx(0.75, abs=0.002)
    # Each law acts on its own packets alone: step marks, CoDel drops.
    assert found["scalable"]["marked"] > 0
    assert found["rest"]["marked"] == 0
    assert found["rest"]["dropped"] > 0


def test_simulator_gives_the_same_classes(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(WEIGHTED)
    kernel, simulator = run_on_linux(scenario, image=image), shoal.run(scenario)
    assert share(kernel, "scalable") == pytest.approx(share(simulator, "scalable"), abs=0.003)
    of_kernel, of_simulator = classes_of(kernel), classes_of(simulator)
    for name in ("scalable", "rest"):
        ours, theirs = of_simulator[name]["delay_s"]["all"], of_kernel[name]["delay_s"]["all"]
        assert ours["p50"] == pytest.approx(theirs["p50"], rel=0.25), name
        assert ours["p99"] == pytest.approx(theirs["p99"], rel=0.25), name


def test_strict_queue_waits_for_one_packet_at_most(image: Image) -> None:
    """30 Mbit/s of 100 go first: all of it is carried, and each packet waits for the one in transmission, 0.12 ms."""
    result = run_on_linux(shoal.Scenario.from_toml(STRICT), image=image)
    found = classes_of(result)
    assert found["urgent"]["dropped"] == 0
    assert found["urgent"]["delay_s"]["all"]["max"] <= 1500 * 8 / 100e6 + 2e-6
    assert share(result, "urgent") == pytest.approx(0.3, abs=0.003)
    assert result.bottlenecks[0]["utilisation"] > 0.999


def test_runs_repeat(image: Image) -> None:
    scenario = shoal.Scenario.from_toml(WEIGHTED).override({"duration": "3 s"})
    one, two = (run_on_linux(scenario, seed=3, image=image) for _ in range(2))
    assert one.json == two.json


def test_plan_says_how_packets_find_their_band(image: Image) -> None:
    rules = [text for _, text in plan(shoal.Scenario.from_toml(STRICT), image).rules]
    assert any(text.endswith("handle 10: ets bands 2 strict 1 quanta 1500") for text in rules)
    assert any("u32 match ip dsfield 0xb8 0xfc flowid 10:1; all others are of class 10:2" in text for text in rules)
    assert any(text.startswith("r1: tc qdisc add dev b0 parent 10:1 handle 20: ") for text in rules)


def test_filters_name_the_device_of_the_queue(image: Image) -> None:
    """With a link for ACKs the testbed is built link by link, and the queue is at another device than in a dumbbell."""
    scenario = shoal.Scenario.from_toml(STRICT).override({"reverse": {"rate": "100 Mbit/s"}})
    rules = [text for _, text in plan(scenario, image).rules]
    (place,) = [text.partition(" parent ")[0] for text in rules if " ets bands " in text]
    device = place.split(" dev ")[1]
    assert device != "b0"
    (filters,) = [text for text in rules if "as these filters would" in text]
    assert f"tc filter add dev {device} parent 10:" in filters


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("bottleneck.aqm.queues[1].shape", "10 Mbit/s", "a shaper would be tbf"),
        (
            "bottleneck.aqm.queues[1].aqm",
            {"kind": "fq-codel", "classifier": "flow", "limit": "100 packets"},
            "a packet has one class, that of its band",
        ),
        ("bottleneck.aqm.queues[1].aqm", {"kind": "pi2"}, "bottleneck.aqm.queues[1].aqm"),
    ],
)
def test_what_bands_cannot_do_is_refused(key: str, value: object, words: str, image: Image) -> None:
    scenario = shoal.Scenario.from_toml(WEIGHTED).override({key: value})
    with pytest.raises(ScenarioError) as found:
        plan(scenario, image)
    assert words in str(found.value)
