"""Which code points lead to which queue of a script of `tc`, and the scenario of what stands above the queues."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from switch_documents import read, said

import shoal
from shoal.switch import Port
from shoal.switch.several import scenario_of_queues
from shoal.switch.simulate import Experiment, chosen, groups_of
from shoal.switch.tables import law_table, service_table

PRIO = "tc qdisc add dev e root handle 1: prio\n"
HTB = "tc qdisc add dev e root handle 1: htb default 20\n"
RED = "red limit 1000000 min 30000 max 30001 avpkt 1500 burst 21 probability 0.99 bandwidth 1gbit ecn\n"
MARKING = f"tc qdisc add dev e parent 1:1 handle 10: {RED}"
FAIR = "tc qdisc add dev e parent 1:2 handle 20: fq_codel\n"
FILTER = "tc filter add dev e parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1\n"


def filtered(words: str) -> str:
    return f"tc filter add dev e parent 1: {words}\n"


def points(text: str) -> dict[str, tuple[int, ...] | str]:
    """The code points of each queue."""
    return {queue.name: "others" if queue.takes_rest else queue.dscp for queue in read(text).queues}


def keys(text: str, *flows: str, rate: int = 10**9, rtt: str = "1/1000", queue: str | None = None) -> dict[str, Any]:
    """The scenario of a script, which is checked."""
    experiment = Experiment(Port(rate), Fraction(rtt), groups_of(flows))
    queues = chosen(read(text, rate_bps=rate).queues, queue)
    scenario = shoal.Scenario.from_toml(scenario_of_queues(queues, experiment, file="text"), name="text")
    resolved: dict[str, Any] = scenario.resolved
    resolved["said"] = "\n".join(remark.text for remark in experiment.remarks)
    return resolved


def refused(text: str, *flows: str) -> str:
    with pytest.raises(shoal.UsageError) as error:
        keys(text, *flows)
    return f"{error.value} [{error.value.hint}]"


def codes(*low: int) -> tuple[int, ...]:
    """All code points whose lower three bits are one of these."""
    return tuple(point for point in range(64) if point & 7 in low)


def test_prio_sends_code_points_to_bands_by_the_old_type_of_service() -> None:
    """man tc-prio: best effort and interactive bulk to 1:2, interactive to 1:1, bulk to 1:3."""
    assert points(PRIO + MARKING + FAIR) == {
        "e 10 red": codes(4, 5),
        "e 20 fq_codel": "others",
        "e 1:3 pfifo": codes(2, 3),
    }
    written = PRIO.replace("prio\n", "prio bands 2 priomap 0 0 1 1 0 0 1 1 0 0 0 0 0 0 0 0\n")
    assert points(written + MARKING) == {"e 10 red": "others", "e 1:2 pfifo": codes(2, 3, 4, 5)}
    # The first filter that matches goes before the priority.
    assert 10 in points(PRIO + MARKING + FAIR + FILTER)["e 10 red"]
    # Packets of IPv6 have priority 0.
    assert "packets of IPv6 join other queues" in said(read(PRIO + MARKING))


def test_ets_sends_all_to_the_last_band_but_for_a_priomap() -> None:
    ets = "tc qdisc add dev e root handle 1: ets strict 1 quanta 3000 1500"
    assert points(f"{ets}\n{MARKING}") == {"e 10 red": (), "e 1:2 pfifo": (), "e 1:3 pfifo": "others"}
    mapped = points(f"{ets} priomap 1 2 0\n{MARKING}")
    assert mapped == {"e 10 red": codes(2, 3), "e 1:2 pfifo": codes(0, 1), "e 1:3 pfifo": "others"}
    with_filters = f"{ets}\n{MARKING}{FILTER}{filtered('protocol all prio 9 matchall flowid 1:2')}"
    assert points(with_filters) == {"e 10 red": (10,), "e 1:2 pfifo": "others", "e 1:3 pfifo": ()}


def test_cubic_is_where_the_kernel_puts_it_and_every_queue_with_code_points_can_be_named() -> None:
    text = PRIO + MARKING + FAIR + FILTER
    resolved = keys(text)
    assert {flow["cc"]: flow["dscp"] in codes(0, 1, 6, 7) for flow in resolved["flows"]} == {
        "dctcp": False,
        "cubic": True,
    }
    for queue in read(text).queues:
        named = keys(text, f"cubic*4@{queue.name}")["bottleneck"]["aqm"]["queues"]
        assert [each["name"] for each in named] == [queue.name]
    assert "no code point leads to queue e 10 red" in refused(
        f"tc qdisc add dev e root handle 1: ets bands 2\n{MARKING}", "cubic*4@e 10 red"
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:1", (46,)),
        ("protocol ip prio 1 u32 match ip dsfield 0x20 e0 flowid 1:1", tuple(range(8, 16))),
        ("protocol ip prio 1 u32 match u8 0x28 0xfc at 1 flowid 1:1", (10,)),
        ("protocol ip prio 1 u32 match u32 0x00280000 0x00fc0000 at 0 flowid 1:1", (10,)),
        ("protocol ip prio 1 u32 match ip dst 0.0.0.0/0 match ip tos 0x28 0xfc flowid 1:1", (10,)),
        ("protocol ipv6 prio 1 u32 match ip6 priority 0x28 0xfc flowid 1:1", (10,)),
        ("protocol ip pref 1 flower ip_tos 0x28/0xfc classid 1:1", (10,)),
        ("protocol ip prio 1 flower ip_tos 40/fc action ok classid 1:1", None),
        ("prio 1 matchall classid 1:1", "others"),
        ("protocol ip u32 match u32 0 0 flowid 1:1", "others"),
        ("protocol arp matchall flowid 1:1", ()),
        ("protocol ip prio 1 u32 match ip tos 0x28 0xff flowid 1:1", None),
        ("protocol ip prio 1 u32 match ip dport 80 0xffff flowid 1:1", None),
        ("protocol ip prio 1 u32 match ip tos 0x28 0xfc match ip protocol 6 0xff flowid 1:1", None),
        ("protocol ip prio 1 handle 5 fw flowid 1:1", None),
        ("protocol ip prio 1 flower ip_proto tcp flowid 1:1", None),
        ("protocol ip prio 1 bpf obj x.o flowid 1:1", None),
        ("protocol ip prio 1 matchall action skbedit priority 1:1", None),
    ],
)
def test_filters_say_which_code_points_they_take_or_that_it_cannot_be_said(words: str, expected: object) -> None:
    ets = "tc qdisc add dev e root handle 1: ets bands 2 quanta 3000 3000\n"
    text = ets + MARKING + FAIR + filtered(words)
    if expected is None:
        assert "text:4: this filter is not read" in said(read(text))
        reason = r"text:4: .* (looks at more|compares the ECN) .* \[--queue NAME"
        assert re.search(f"a scenario of 2 queues: {reason}", refused(text))
        assert keys(text, queue="e 10 red")["bottleneck"]["aqm"]["kind"] == "linux-red"
    else:
        assert points(text)["e 10 red"] == expected


def test_filters_are_tried_by_prio_and_can_be_deleted() -> None:
    ets = "tc qdisc add dev e root handle 1: ets bands 3 quanta 3000 3000 3000\n"
    later = filtered("protocol ip prio 9 u32 match ip tos 0x28 0xfc flowid 1:1")
    first = filtered("protocol all prio 2 matchall flowid 1:2")
    assert points(ets + later + first)["e 1:1 pfifo"] == ()
    deleted = ets + later + first + "tc filter del dev e parent 1: prio 2\n"
    assert points(deleted) == {"e 1:1 pfifo": (10,), "e 1:2 pfifo": (), "e 1:3 pfifo": "others"}
    assert points(f"{deleted}tc filter del dev e parent 1:\n")["e 1:1 pfifo"] == ()
    # Without a prio a later filter goes before an earlier one (tcf_auto_prio).
    unordered = [filtered(f"protocol ip u32 match ip tos 0x28 0xfc flowid 1:{band}") for band in (1, 2)]
    assert points(ets + "".join(unordered))["e 1:2 pfifo"] == (10,)
    other = ets + later + filtered("protocol ipv6 prio 9 u32 match ip6 priority 0 0xfc flowid 1:2")
    assert "filters with prio 9 are for ip (line 2)" in said(read(other))


def classes(*words: str) -> str:
    return "".join(f"tc class add dev e parent {each}\n" for each in words)


def test_htb_has_a_default_or_packets_pass_beside_its_classes() -> None:
    two = classes("1: classid 1:10 htb rate 30mbit", "1: classid 1:20 htb rate 70mbit")
    leaf = f"tc qdisc add dev e parent 1:10 handle 10: {RED}"
    ten = filtered("protocol ip prio 1 u32 match ip tos 0x28 0xfc flowid 1:10")
    assert points(HTB + two + leaf + ten) == {"e 10 red": (10,), "e 1:20 pfifo": "others"}
    shaped = keys(HTB + two + leaf + ten)["bottleneck"]
    assert (shaped["rate"], [queue["shape"] for queue in shaped["aqm"]["queues"]]) == (
        "1 Gbit/s", ["30 Mbit/s", "70 Mbit/s"],
    )  # fmt: skip
    no_default = HTB.replace(" default 20", "") + two + leaf + ten
    assert points(no_default) == {"e 1 direct": "others", "e 10 red": (10,), "e 1:20 pfifo": ()}
    direct = keys(no_default)["bottleneck"]["aqm"]["queues"]
    assert [(queue["name"], queue.get("priority"), queue.get("shape")) for queue in direct] == [
        ("e 1 direct", "strict", None), ("e 10 red", None, "30 Mbit/s"),
    ]  # fmt: skip
    # The default is hexadecimal, and classes of which only one is reached make the link.
    only_default = HTB.replace("20", "0x20") + two
    assert keys(only_default)["bottleneck"]["rate"] == "70 Mbit/s"


def test_drr_drops_what_no_filter_takes() -> None:
    drr = "tc qdisc add dev e root handle 1: drr\n" + classes(
        "1: classid 1:1 drr quantum 3000", "1: classid 1:2 drr quantum 1500"
    )
    assert "no filter and no default leads packets to a class: `drr` drops all" in refused(drr)
    half = drr + filtered("protocol ip prio 1 u32 match ip tos 0x00 0xfc flowid 1:2") + FILTER
    assert points(half) == {"e 1:1 pfifo": (10,), "e 1:2 pfifo": (0,)}


def test_one_rate_above_the_queues_is_that_of_the_link() -> None:
    red = f"tc qdisc add dev e parent 1:1 handle 10: {RED}"
    for root, rate in (
        ("tc qdisc add dev e root handle 1: tbf rate 50mbit burst 32kb latency 50ms\n", "50 Mbit/s"),
        ("tc qdisc add dev e root handle 1: netem rate 50mbit\n", "50 Mbit/s"),
        ("tc qdisc add dev e root handle 1: htb default 1\n" + classes("1: classid 1:1 htb rate 50mbit"), "50 Mbit/s"),
        ("tc qdisc add dev e root handle 1: tbf rate 5% burst 32kb latency 50ms\n", "50 Mbit/s"),
        # A class at the top borrows from nobody; one below borrows what the one above it has.
        ("tc qdisc add dev e root handle 1: htb default 1\n"
         + classes("1: classid 1:1 htb rate 50mbit ceil 90mbit"), "50 Mbit/s"),
        ("tc qdisc add dev e root handle 1: htb default 1\n"
         + classes("1: classid 1:9 htb rate 60mbit", "1:9 classid 1:1 htb rate 5mbit ceil 90mbit"), "60 Mbit/s"),
        ("tc qdisc add dev e root handle 1: hfsc default 1\n"
         + classes("1: classid 1:1 hfsc sc rate 10mbit ul m1 90mbit d 10ms m2 50mbit"), "50 Mbit/s"),
        ("tc qdisc add dev e root handle 1: hfsc default 1\n"
         + classes("1: classid 1:1 hfsc rt rate 20mbit"), "20 Mbit/s"),
        ("tc qdisc add dev e root handle 1: hfsc default 1\n"
         + classes("1: classid 1:1 hfsc ls rate 20mbit"), "1 Gbit/s"),
        ("tc qdisc add dev e root handle 1: tbf rate 50gbit burst 32mb limit 1mb\n", "1 Gbit/s"),
    ):  # fmt: skip
        resolved = keys(root + red)
        assert resolved["bottleneck"]["rate"] == rate, root
        assert resolved["bottleneck"]["aqm"]["kind"] == "linux-red"
    slow = read("tc qdisc add dev e root handle 1: tbf rate 100mbit burst 32kb latency 50ms\n" + red).queues
    # 30000 bytes at 100 Mbit/s are 2.4 ms.
    assert law_table(slow, Port(10**9)).rows[0][9] == "2.40 ms"
    service = service_table(slow, Port(10**9))
    assert service is not None
    assert service.rows[0][2] == "100.00 Mbit/s"


def test_shapers_of_single_bands_are_shapers_of_queues() -> None:
    text = PRIO + FAIR + (
        "tc qdisc add dev e parent 1:1 handle 10: tbf rate 50mbit burst 32kb latency 50ms\n"
        f"tc qdisc add dev e parent 10: handle 11: {RED}"
    ) + FILTER  # fmt: skip
    red, fair = keys(text)["bottleneck"]["aqm"]["queues"]
    assert (red["name"], red["shape"], red["burst"], fair.get("shape")) == ("e 11 red", "50 Mbit/s", "32768 B", None)
    above = "tc qdisc add dev e root handle 9: tbf rate 300mbit burst 32kb latency 50ms\n"
    below = above + PRIO.replace("root", "parent 9:1") + FAIR + FILTER
    assert keys(below)["bottleneck"]["rate"] == "300 Mbit/s"


def test_what_a_scenario_does_not_have_above_queues_is_refused_with_its_place() -> None:
    borrowing = HTB + classes(
        "1: classid 1:1 htb rate 100mbit", "1:1 classid 1:10 htb rate 30mbit ceil 100mbit",
        "1:1 classid 1:20 htb rate 70mbit ceil 100mbit",
    ) + filtered("protocol ip prio 1 u32 match ip tos 0x28 0xfc flowid 1:10")  # fmt: skip
    flows = ("dctcp*2@e 1:10 pfifo", "cubic*2@e 1:20 pfifo")
    assert re.search(r"text:\d: the class of queue e 1:10 pfifo borrows .*up to 100 Mbit/s", refused(borrowing, *flows))
    assert keys(borrowing, queue="e 1:10 pfifo")["bottleneck"]["rate"] == "100 Mbit/s"
    nested = PRIO + MARKING + "tc qdisc add dev e parent 1:2 handle 20: ets bands 2 priomap 0 1\n" + FILTER
    assert "`ets` below `prio`: a scenario has one scheduler" in refused(nested)
    path = PRIO + FAIR + "tc qdisc add dev e parent 1:1 handle 10: netem delay 5ms\n" + FILTER
    flows = ("dctcp*2@e 10 netem", "cubic*2@e 20 fq_codel")
    assert "text:3: e 10 netem is the path of one queue of several" in refused(path, *flows)
    assert "text:1: netem's `ecn` marks" in refused("tc qdisc add dev e root netem loss 1% ecn\n")
    assert "text:1: netem's correlation of duplicates" in refused("tc qdisc add dev e root netem duplicate 1% 5%\n")


def test_netem_is_the_path_of_the_link() -> None:
    text = "tc qdisc add dev e root netem delay 10ms 1ms 25% distribution normal loss 0.1% duplicate 1% corrupt 2% " \
           "reorder 5% gap 3 limit 500\n"  # fmt: skip
    link = keys(text, rtt="4/1000")
    assert link["bottleneck"]["delay"] == "10 ms"
    assert {key: value for key, value in link["bottleneck"]["impairments"].items() if value} == {
        "jitter": "1000 us", "jitter_distribution": "normal", "jitter_correlation": 0.25, "loss": 0.001,
        "duplicate": 0.01, "corrupt": 0.02, "reorder": {"probability": 0.05, "gap": 3},
    }  # fmt: skip
    assert (link["bottleneck"]["buffer"], link["flows"][0]["rtt"]) == ("500 packets", "14 ms")
    assert "the delay of e root netem, 10 ms, is added to the round trip of 4 ms" in link["said"]
    for words, loss in (
        ("loss random 1% 20%", 0.01),
        ("loss gemodel 1% 10% 70% 0.1%", {"p": 0.01, "r": 0.1, "loss_in_bad": 0.7, "loss_in_good": 0.001}),
        ("loss gemodel 1%", {"p": 0.01, "r": 0.99, "loss_in_bad": 1.0, "loss_in_good": 0.0}),
        ("loss state 1% 90%", {"p13": 0.01, "p31": 0.9, "p32": 0.0, "p23": 1.0, "p14": 0.0}),
        ("loss 1", 0.01),
    ):
        assert keys(f"tc qdisc add dev e root netem {words}\n")["bottleneck"]["impairments"]["loss"] == loss
    slots = keys("tc qdisc add dev e root netem slot 800us 1ms packets 32\n")["bottleneck"]["impairments"]["slot"]
    assert (slots["min"], slots["max"], slots["packets"]) == ("800 us", "1000 us", 32)
    rate = keys("tc qdisc add dev e root netem delay 1ms 100us rate 10mbit 20\n")["bottleneck"]
    assert (rate["rate"], rate["overhead"], rate["impairments"]["keep_order"]) == ("10 Mbit/s", "20 B", True)


@pytest.mark.parametrize("rate", [10**7, 2 * 10**7, 10**8, 10**9, 10**10, 10**11])
@pytest.mark.parametrize("rtt", ["1/100000", "1/10000", "1/100"])
def test_a_law_is_limited_by_its_own_limit_at_every_rate(rate: int, rtt: str) -> None:
    for words in ("dualpi2", "dualpi2 limit 2000 step_thresh 20ms", "dualpi2 limit 100 step_thresh 50p", "fq_codel",
                  "codel", "pie", "codel ce_threshold 5ms", "pfifo", "bfifo limit 9000", RED.strip()):  # fmt: skip
        resolved = keys(f"tc qdisc add dev e root {words}\n", rate=rate, rtt=rtt)
        assert resolved["bottleneck"]["aqm"]["kind"].replace("-", "_") in f"{words} fifo linux_red"
        in_band = keys(PRIO + f"tc qdisc add dev e parent 1:1 {words}\n" + FAIR + FILTER, rate=rate, rtt=rtt)
        assert in_band["bottleneck"]["aqm"]["kind"] == "classes" or words[:2] == "pf"
