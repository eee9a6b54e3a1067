"""Ports with queues for traffic classes: shares, priorities and shaping as results show them."""

from __future__ import annotations

import pytest

import shoal
from shoal.tabulate import class_tables

PORT = """
duration = "{duration}"
warmup = "1 s"
bottleneck = {{ rate = "100 Mbit/s", buffer = "200 packets", aqm = {{ kind = "classes", queues = [{queues}] }} }}
flows = [
  {{ name = "one", cc = "dctcp", rtt = "2 ms", count = 2, dscp = "af11" }},
  {{ name = "other", cc = "cubic", rtt = "2 ms", count = 2 }},
]
"""
STEP = 'aqm = { kind = "step", threshold = "20 packets" }'


def run(*queues: str, duration: str = "4 s", threads: int = 1, seed: int = 1) -> shoal.Result:
    text = PORT.format(queues=", ".join(f"{{ {queue} }}" for queue in queues), duration=duration)
    return shoal.run(shoal.Scenario.from_toml(text), seed=seed, threads=threads)


def shares(result: shoal.Result) -> list[float]:
    """Part of the line's time that each queue had."""
    return [found["utilisation"] or 0.0 for found in result.bottlenecks[0]["classes"]]


@pytest.mark.parametrize("weight", [1, 3])
def test_backlogged_queues_share_by_weight(weight: int) -> None:
    result = run(f'name = "low", dscp = [10], weight = {weight}, {STEP}', 'name = "rest"')
    # DCTCP at 20 packets never lets its queue run dry at 2 ms, and CUBIC fills its buffer.
    assert shares(result) == pytest.approx([weight / (weight + 1), 1 / (weight + 1)], abs=0.002)
    low, rest = result.bottlenecks[0]["classes"]
    assert [low["name"], rest["name"]] == ["low", "rest"]
    assert (low["dropped"], rest["marked"]) == (0, 0)
    assert min(low["marked"], rest["dropped"]) > 0
    # 20 packets at half or three quarters of the line are far below the 200 of the other queue.
    assert (low["delay_s"]["all"]["p99"] or 1) < (rest["delay_s"]["all"]["p50"] or 0) / 2


def test_a_strict_queue_starves_the_other() -> None:
    result = run(f'name = "low", dscp = [10], priority = "strict", {STEP}', 'name = "rest"')
    first, second = shares(result)
    assert first > 0.98
    assert first + second == pytest.approx(1.0, abs=0.01)


def test_a_shaped_queue_leaves_the_line_to_others_and_idle() -> None:
    # 30 Mbit/s of 100: the other queue takes the rest. Alone, the line idles for 70 % of the time, and packets wait.
    shaped = f'name = "low", dscp = [10], priority = "strict", shape = "30 Mbit/s", burst = "15 kB", {STEP}'
    assert shares(run(shaped, 'name = "rest"')) == pytest.approx([0.3, 0.7], abs=0.005)
    all_flows = shaped.replace("[10]", "[0, 10]")
    alone = run(all_flows)
    link = alone.bottlenecks[0]
    # The burst may fall on either side of the measurement's 3 s: 15 kB are 0.04 % of them.
    assert link["utilisation"] == pytest.approx(0.3, abs=0.001)
    assert (link["queue_packets"]["mean"] or 0) > 5


def test_counts_of_the_queues_add_up_to_those_of_the_link() -> None:
    result = run(f'name = "low", dscp = [10], {STEP}', 'name = "rest", aqm = { kind = "codel", target = "1 ms" }')
    link = result.bottlenecks[0]
    assert sum(found["arrived"] for found in link["classes"]) == link["arrived"]
    assert sum(found["dropped"] for found in link["classes"]) == link["dropped"]
    assert sum(found["departed_bytes"] for found in link["classes"]) == link["departed_bytes"]
    waiting = [found["queue_bytes"]["mean"] or 0.0 for found in link["classes"]]
    assert sum(waiting) == pytest.approx(link["queue_bytes"]["mean"], rel=1e-9)


def test_the_same_bytes_again_and_on_threads() -> None:
    shaped = f'name = "low", dscp = [10], shape = "30 Mbit/s", {STEP}'
    first = run(shaped, 'name = "rest"', duration="2 s")
    assert run(shaped, 'name = "rest"', duration="2 s").json == first.json
    assert run(shaped, 'name = "rest"', duration="2 s", threads=2).json == first.json


def test_a_port_of_one_queue_is_that_queue() -> None:
    text = PORT.format(queues=f'{{ name = "all", {STEP} }}', duration="3 s")
    plain = text.replace('kind = "classes", queues = [{ name = "all", ' + STEP + " }]", STEP[7:-2])
    assert "classes" not in plain
    one, other = (shoal.run(shoal.Scenario.from_toml(each)) for each in (text, plain))
    assert one.groups == other.groups
    assert {**one.bottlenecks[0], "classes": []} == {**other.bottlenecks[0], "classes": []}


def test_the_table_has_a_row_a_queue() -> None:
    result = run(f'name = "low", dscp = [10], {STEP}', 'name = "rest"')
    (table,) = class_tables([result])
    assert table.title == "Traffic classes at bottleneck"
    assert [row[0] for row in table.rows] == ["low", "rest"]
    assert table.rows[0][1].endswith("%")
    fifo = shoal.Scenario.named("step-single").override({"duration": "1 s", "warmup": "0 s"})
    assert class_tables([shoal.run(fifo)]) == []


def test_levels_have_the_names_of_their_queues() -> None:
    facts = run(f'name = "low", dscp = [10], {STEP}', 'name = "rest"', duration="2 s").scenario.facts
    labels = [level["label"] for level in facts["bottlenecks"][0]["thresholds"]]
    assert labels == ["low: K", "low: limit", "rest: limit"]


def test_metrics_take_a_queue_by_its_name() -> None:
    result = run(f'name = "low", dscp = [10], weight = 3, {STEP}', 'name = "rest"')
    low, rest = result.bottlenecks[0]["classes"]
    assert result.metric("utilisation(queue='low') / utilisation(queue='rest')") == pytest.approx(3, abs=0.03)
    assert result.metric("delay_ms(quantile='p99', queue='low')") == (low["delay_s"]["all"]["p99"] or 0) * 1e3
    assert result.metric("class_queue_packets('all', 'max', queue='rest')") == rest["queue_packets"]["max"]
    # Where packets of one kind pass a queue, the class of ECN is the traffic class.
    assert result.metric("marked(queue='low')") == low["ect"]["mark_fraction"]
    assert result.metric("dropped(queue='rest')") == rest["not_ect"]["drop_fraction"]
    for name in ("marks", "drops"):
        assert result.metric(f"{name}(queue='low') + {name}(queue='rest') - {name}()") == 0
