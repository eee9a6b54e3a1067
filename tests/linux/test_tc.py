"""Lines for `tc` that are written for a queue make the same queue when the real program loads them into the kernel."""

from __future__ import annotations

import pytest
from test_queues import scenario

import shoal
from shoal.errors import UsageError
from shoal.linux import GuestError, Image, LinuxError, plan
from shoal.linux.tc import Loaded, Queue, as_planned, configured, lines_of, load
from shoal.scenario_keys import BottleneckAqm
from shoal.switch import Port, find_platform
from shoal.switch.from_scenario import queues_of
from shoal.switch.platforms.tc import TcOptions
from shoal.switch.writing import Writing

# Besides those of test_queues: laws that it has no need of.
MORE: dict[str, BottleneckAqm] = {
    "linux-red": {
        "kind": "linux-red",
        "min": "15 kB",
        "max": "45 kB",
        "avpkt": "1500 B",
        "probability": 0.1,
        "ecn": True,
    },
    "red-nodrop": {"kind": "linux-red", "min": "15 kB", "max": "60 kB", "avpkt": "1 kB", "ecn": True, "nodrop": True},
    "codel-threshold": {"kind": "codel", "limit": "500 packets", "ecn": True, "ce_threshold": "1 ms"},
    "fq-codel-few": {"kind": "fq-codel", "limit": "500 packets", "flows": 64, "quantum": "1500 B"},
    "dualpi2-step": {"kind": "dualpi2", "limit": "200 packets", "target": "20 ms", "step_threshold": "2400 us"},
    "fifo": {"kind": "fifo"},
}
SAME = ("codel", "codel-ecn", "fq-codel", "pie", "pie-ecn", "gred", "dualpi2", "dualpi2-enqueue")


def loaded(lines: str, image: Image) -> Loaded:
    try:
        return load(lines_of(lines), image)
    except LinuxError as error:
        if isinstance(error, GuestError):
            raise
        pytest.skip(f"left out: {error} ({error.hint})")


def with_law(aqm: BottleneckAqm) -> shoal.Scenario:
    return shoal.Scenario.from_keys(
        {
            "duration": "1 s",
            "flows": [{"cc": "reno", "rtt": "10 ms"}],
            "bottleneck": {"rate": "100 Mbit/s", "buffer": "400 kB", "aqm": aqm},
        }
    )


@pytest.mark.parametrize("name", [*SAME, *MORE])
def test_written_lines_make_the_queue_of_the_scenario(name: str, image: Image) -> None:
    given = with_law(MORE[name]) if name in MORE else scenario(name)
    facts = given.facts["bottlenecks"][0]
    (queue,), _ = queues_of(given, index=0)
    lines = find_platform("tc").write(
        [queue], Writing(Port(facts["rate_bps"], mtu_bytes=facts["mtu_bytes"]), TcOptions(), scenario=given)
    )
    made = loaded(lines, image)
    own = configured(as_planned(plan(given, image).config), image)
    assert [queue.kind for queue in made.queues] == [queue.kind for queue in own]
    assert made.queues == own
    assert all(queue.options for queue in made.queues)


def test_other_numbers_are_another_queue(image: Image) -> None:
    """The comparison can fail: one packet more of limit is seen."""
    one, other = (loaded(f"tc qdisc add dev eth0 root handle 1: codel limit {limit}", image) for limit in (100, 101))
    assert one.queues != other.queues


def test_bands_have_the_queues_that_were_given_to_them(image: Image) -> None:
    lines = (
        "tc qdisc add dev eth0 root handle 1: ets bands 2 strict 1 quanta 3028\n"
        "tc qdisc add dev eth0 parent 1:1 handle 10: codel limit 100 target 8ms\n"
        "tc qdisc add dev eth0 parent 1:2 handle 20: red limit 1500000 min 30000 max 90000 avpkt 1500 burst 40 "
        "probability 0.1 bandwidth 100Mbit ecn\n"
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1\n"
    )
    made = loaded(lines, image)
    assert [queue.kind for queue in made.queues] == ["ets", "codel", "red"]
    assert "bands 2 strict 1 quanta 3028" in made.shown
    assert "qdisc codel 10: parent 1:1 limit 100p" in made.shown
    # Each band has the queue that the same lines make at the root.
    alone = loaded("tc qdisc add dev eth0 root handle 10: codel limit 100 target 8ms", image)
    assert made.queues[1] == alone.queues[0]


def test_written_bands_and_their_filters_are_taken(image: Image) -> None:
    given = shoal.Scenario.named("two-classes")
    facts = given.facts["bottlenecks"][0]
    queues, _ = queues_of(given, index=0)
    lines = find_platform("tc").write(
        queues, Writing(Port(facts["rate_bps"], mtu_bytes=facts["mtu_bytes"]), TcOptions(), scenario=given)
    )
    filters = [line for line in lines.splitlines() if line.startswith("tc filter")]
    # AF11 is 10, 0x28 with the ECN field, for both versions of IP; then all others.
    assert [line.partition("protocol ")[2] for line in filters] == [
        "ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1",
        "ipv6 prio 2 u32 match ip6 priority 0x28 0xfc flowid 1:1",
        "all prio 3 matchall flowid 1:2",
    ]
    made = loaded(lines, image)
    assert [queue.kind for queue in made.queues] == ["ets", "red", "codel"]


def test_what_tc_refuses_is_told_in_its_words(image: Image) -> None:
    with pytest.raises(GuestError, match='What is "nonsense"'):
        load(lines_of("tc qdisc add dev eth0 root codel nonsense 3"), image)
    with pytest.raises(LinuxError, match=r"no `tc` here knows codle|cannot be fetched|does not know"):
        load(lines_of("tc qdisc add dev eth0 root codle"), image)


def test_kernel_and_not_only_tc_takes_them(image: Image) -> None:
    """The program lets a child of a parent that does not exist pass; the kernel does not."""
    with pytest.raises(GuestError, match="tc ended with exit code 2"):
        load(lines_of("tc qdisc add dev eth0 parent 7:1 handle 10: codel"), image)


def test_same_lines_make_the_same_queue_twice(image: Image) -> None:
    one, two = (loaded("tc qdisc add dev eth0 root handle 1: fq_codel", image) for _ in range(2))
    assert one == two
    assert isinstance(one.queues[0], Queue)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no line"),
        ("ip link set eth0 up", "line 1: `ip link set eth0 up` changes no queue"),
        ("# only this\ntc qdisc add root codel", "line 2: it names no device"),
        ("tc qdisc add dev ../../etc root codel", "is no name of a device"),
        ("tc qdisc add dev eth0 'root codel' x", "a word with a blank"),
    ],
)
def test_other_lines_are_refused_before_anything_runs(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        lines_of(text)
