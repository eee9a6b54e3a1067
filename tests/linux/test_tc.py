"""Lines for `tc` that are written for a queue make the same queue when the real program loads them into the kernel."""

from __future__ import annotations

import pytest
from test_queues import scenario

import shoal
from shoal.errors import UsageError
from shoal.linux import GuestError, Image, LinuxError, plan
from shoal.linux.tc import Loaded, Queue, as_planned, configured, lines_of, load
from shoal.scenario_keys import BottleneckAqm
from shoal.switch import Document, Port, find_platform, read_configuration
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


def loaded(lines: str, image: Image, *, has_queues: bool = True) -> Loaded:
    try:
        return load(lines_of(lines), image, has_queues=has_queues)
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


def test_refused_line_is_named_by_its_number_in_the_file(image: Image) -> None:
    lines = lines_of("# my port\n\ntc qdisc add dev eth0 root handle 1: prio\ntc qdisc add dev eth0 parent 7:1 codel\n")
    with pytest.raises(
        GuestError, match=r"^line 4: `tc qdisc add dev eth0 parent 7:1 codel`: tc ended with exit code 2: "
    ):
        load(lines, image)
    with pytest.raises(LinuxError, match=r"^line 3: no `tc` here knows codle|cannot be fetched|does not know"):
        load(lines_of("\n\ntc qdisc add dev eth0 root codle"), image)
    # `tc` knows the discipline and the kernel does not: the hint has what it knows.
    with pytest.raises(GuestError, match=r"^line 2: .*qdisc kind is unknown") as caught:
        load(lines_of("# shaped\ntc qdisc add dev eth0 root hfsc default 1"), image)
    assert f"Linux {image.release} here has " in (caught.value.hint or "")
    assert "fq_codel, gred, htb" in (caught.value.hint or "")


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


REPLAYED = {
    "replace-changes": "qdisc add dev eth0 root fq_codel limit 1000 flows 256; "
                       "qdisc replace dev eth0 root fq_codel limit 2000",
    "replace-replaces": "qdisc add dev eth0 root handle 1: fq_codel limit 1000; qdisc replace dev eth0 root pie",
    "another-handle": "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1:1 codel; "
                      "qdisc replace dev eth0 root handle 2: prio",
    "change-merges": "qdisc add dev eth0 root codel ecn target 2ms; qdisc change dev eth0 root codel noecn limit 50",
    "red-is-set-anew": "qdisc add dev eth0 root red limit 1000000 min 30000 max 90000 avpkt 1500 burst 40 ecn "
                       "bandwidth 1gbit; qdisc replace dev eth0 root red limit 900000 min 20000 max 60000 avpkt 1500 "
                       "burst 30 probability 0.1 bandwidth 1gbit",
    "delete": "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1:1 codel; qdisc del dev eth0 root; "
              "qdisc add dev eth0 root pie",
    "delete-a-child": "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1:1 codel; "
                      "qdisc add dev eth0 parent 1:2 pie; qdisc del dev eth0 parent 1:1",
    "fewer-bands": "qdisc add dev eth0 root handle 1: prio bands 4; qdisc add dev eth0 parent 1:4 codel; "
                   "qdisc add dev eth0 parent 1:1 pie; qdisc change dev eth0 root handle 1: prio bands 3",
    "ets": "qdisc add dev eth0 root handle 1: ets bands 4 strict 1 quanta 3000 6000 priomap 3 2 1; "
           "qdisc add dev eth0 parent 1:3 codel; class change dev eth0 classid 1:2 ets quantum 4500",
    "priomap": "qdisc add dev eth0 root handle 1: prio bands 2 priomap 0 0 1 1 0 1 1 1 0 0 0 0 0 0 0 0",
    "shaped": "qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 16kb latency 50ms; "
              "qdisc add dev eth0 parent 1: handle 10: fq_codel",
    "any-minor-of-tbf": "qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 16kb limit 50000; "
                        "qdisc add dev eth0 parent 1:7 handle 10: codel",
    "netem": "qdisc add dev eth0 root handle 1: netem delay 10ms loss 1% rate 5mbit limit 300; "
             "qdisc change dev eth0 root handle 1: netem delay 20ms 1ms 25%",
    "hexadecimal": "qdisc add dev eth0 root handle 1: ets bands 12 strict 12; qdisc add dev eth0 parent 1:a handle a: "
                   "codel; qdisc add dev eth0 parent 1:c handle 10: pie",
    "automatic": "qdisc add dev eth0 root prio; qdisc add dev eth0 parent 8001:2 ets bands 2; "
                 "qdisc add dev eth0 parent 8002:1 codel",
    "htb": "qdisc add dev eth0 root handle 1: htb default 20; class add dev eth0 parent 1: classid 1:1 htb rate 9mbit; "
           "class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 9mbit; "
           "qdisc add dev eth0 parent 1:20 handle 20: codel; class del dev eth0 classid 1:20; "
           "class add dev eth0 parent 1:1 classid 1:20 htb rate 6mbit; qdisc add dev eth0 parent 1:20 pie",
    "add-another-kind": "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1:1 codel; "
                        "qdisc add dev eth0 root pie",
    "change-to-another-kind": "qdisc add dev eth0 root codel; qdisc change dev eth0 root pie",
    "drr": "qdisc add dev eth0 root handle 5: drr; class add dev eth0 parent 5: classid 5:1 drr quantum 2k; "
           "qdisc add dev eth0 parent 5:1 codel",
}  # fmt: skip
# Lines of which the kernel, or tc, refuses the last.
REFUSED = [
    "qdisc add dev eth0 root codel; qdisc add dev eth0 root handle 1: pie",
    "qdisc add dev eth0 root codel; qdisc add dev eth0 root codel",
    "qdisc change dev eth0 root codel limit 10",
    "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1:4 codel",
    "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1: codel",
    "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 2:1 codel",
    "qdisc add dev eth0 root handle 1: prio bands 2",
    "qdisc add dev eth0 root handle 1: ets bands 2 strict 3",
    "qdisc add dev eth0 root handle 1: prio; qdisc add dev eth0 parent 1:1 handle 9: codel; "
    "qdisc add dev eth0 parent 1:2 handle 9: codel",
    "qdisc add dev eth0 root handle 1: htb default 1; qdisc replace dev eth0 root handle 1: htb default 2",
    "qdisc add dev eth0 root handle 1: htb; class add dev eth0 parent 1: classid 1:1 htb rate 1mbit; "
    "class add dev eth0 parent 1: classid 1:1 htb rate 2mbit",
    "qdisc add dev eth0 root handle 1: htb; qdisc add dev eth0 parent 1:1 codel",
    "qdisc add dev eth0 root handle 1: htb; class change dev eth0 classid 1:1 htb rate 1mbit",
    "qdisc add dev eth0 root handle 1: codel; qdisc add dev eth0 parent 1:1 pie",
    "qdisc add dev eth0 root handle 1: fq_codel flows 64; qdisc replace dev eth0 root fq_codel flows 32",
    "qdisc add dev eth0 root handle 1: codel; qdisc del dev eth0 root handle 2:",
    "qdisc add dev eth0 root tbf rate 1mbit burst 10k",
    "qdisc add dev eth0 root netem reorder 25%",
    "qdisc add dev eth0 root handle 1: htb; class add dev eth0 parent 1: classid 1:1 htb rate 1mbit; "
    "class add dev eth0 parent 1:1 classid 1:2 htb rate 1mbit; class del dev eth0 classid 1:1",
]


def as_script(commands: str) -> str:
    return "".join(f"tc {command.strip()}\n" for command in commands.split(";"))


def seen(text: str) -> list[list[str]]:
    """What is read of queues, but for their names: the kernel gives handles to those that have none."""
    queues = read_configuration(Document("text", text, Port(10**9))).queues
    rows = []
    for queue in queues:
        lines = [
            (line.rate_bps, float(line.delay_s), sorted(map(str, line.impairments.items()))) for line in queue.lines
        ]
        exact = dict(queue.exact or {})
        usual = {"flows": 1024, "ecn": exact.get("kind") == "fq-codel"}
        law = [exact.get("kind"), exact.get("limit"), *(exact.get(key, default) for key, default in usual.items())]
        rows.append([str(each) for each in (queue.index, queue.scheduler, queue.dscp, queue.buffer, lines, law)])
    return sorted(rows)


@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_ends_in_the_state_of_the_kernel(name: str, image: Image) -> None:
    script = as_script(REPLAYED[name])
    replayed, shown = (seen(text) for text in (script, loaded(script, image, has_queues=False).shown))
    if name in ("htb", "drr"):
        # Rates and quanta are those of classes, which `tc qdisc show` does not print.
        replayed, shown = [[row[-1] for row in rows] for rows in (replayed, shown)]
    assert replayed == shown


@pytest.mark.parametrize("commands", REFUSED)
def test_what_the_kernel_refuses_is_refused_in_a_replay(commands: str, image: Image) -> None:
    *before, _ = commands.split(";")
    if before:
        loaded(as_script(";".join(before)), image, has_queues=False)
    with pytest.raises(GuestError):
        load(lines_of(as_script(commands)), image, has_queues=False)
    try:
        configuration = read_configuration(Document("text", as_script(commands), Port(10**9)))
    except shoal.ScenarioError:
        return
    assert any("the kernel refuses this line" in remark.text for remark in configuration.remarks)
