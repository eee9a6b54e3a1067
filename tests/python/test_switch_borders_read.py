"""Readers at their borders: worked cases from the documents that each platform's module names."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from switch_documents import GBIT, SONIC_PROFILE, amount, law, only, read, said

import shoal
from shoal.switch import Port, Queue, Unit
from shoal.switch.checks import answers
from shoal.switch.model import Action, NotEct, Packets, Serving, Where
from shoal.switch.platforms import _tc_units as units

MARK, DROP = Action.MARK, Action.DROP


def sonic(**tables: Any) -> str:
    """CONFIG_DB with a profile of all colours' usual fields on queue 3 of Ethernet0."""
    profile = SONIC_PROFILE | tables.pop("profile", {})
    usual = {"WRED_PROFILE": {"P": profile}, "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}}}
    return json.dumps(usual | tables)


def queue_named(text: str, name: str) -> Queue:
    (queue,) = [queue for queue in read(text).queues if queue.name == name]
    return queue


@pytest.mark.parametrize(
    ("mode", "marks"),
    [
        ("ecn_none", False),
        ("ecn_green", True),
        ("ecn_yellow", False),
        ("ecn_red", False),
        ("ecn_green_yellow", True),
        ("ecn_yellow_red", False),
        ("ecn_green_red", True),
        ("ecn_all", True),
    ],
)
def test_sonic_marks_packets_of_its_colour_only(mode: str, marks: bool) -> None:
    """Ordinary packets are green: a mode that names other colours marks none of them, and WRED drops ECT alike."""
    queue = only(sonic(profile={"ecn": mode}))
    drop = law(DROP, 200000, 400000, Fraction(1, 10))
    mark = law(MARK, 200000, 400000, Fraction(1, 10)) if marks else None
    assert (queue.mark, queue.drop, queue.drop_ect) == (mark, drop, None if marks else drop)


def test_sonic_wred_of_another_colour_does_not_drop() -> None:
    queue = only(sonic(profile={"wred_green_enable": "false", "wred_yellow_enable": "true"}))
    assert (queue.mark is not None, queue.drop) == (True, None)


def test_sonic_profiles_that_no_queue_has_are_read_by_their_names() -> None:
    tables = json.loads(sonic()) | {"QUEUE": {}}
    queue = only(json.dumps(tables, indent=1))
    assert (queue.name, queue.index, queue.ports, queue.profile) == ("P", None, (), "P")
    assert queue.mark == law(MARK, 200000, 400000, Fraction(1, 10))
    # The profile is on the third line.
    assert queue.source is not None
    assert str(queue.source) == "text:3"


def test_sonic_code_points_go_through_both_maps() -> None:
    """DSCP 10 -> class 5 -> queue 3 and DSCP 46 -> class 3 -> queue 6: a class has not the number of its queue."""
    text = sonic(
        QUEUE={"Ethernet0|3": {"wred_profile": "P"}, "Ethernet0|6": {}, "Ethernet4|3": {"wred_profile": "P"}},
        DSCP_TO_TC_MAP={"D": {"10": "5", "46": "3", "0": "1", "8": "5"}, "OTHER": {"20": "5"}},
        TC_TO_QUEUE_MAP={"T": {"5": "3", "3": "6", "1": "0"}},
        PORT_QOS_MAP={"Ethernet0,Ethernet4": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|D]", "tc_to_queue_map": "T"}},
    )
    assert queue_named(text, "3").dscp == (8, 10)
    assert queue_named(text, "6").dscp == (46,)


def test_sonic_maps_of_the_whole_device_and_of_a_port() -> None:
    maps = {"DSCP_TO_TC_MAP": {"D": {"10": "3"}}, "TC_TO_QUEUE_MAP": {"T": {"3": "3"}}}
    own = {"dscp_to_tc_map": "D", "tc_to_queue_map": "T"}
    assert only(sonic(**maps, PORT_QOS_MAP={"global": own})).dscp == (10,)
    assert only(sonic(**maps, PORT_QOS_MAP={"Ethernet4": own})).dscp == ()


def test_sonic_pauses_are_those_of_the_priority_of_the_queue() -> None:
    for priorities, pauses in (("3,4", True), ("4", False), ("13,30", False)):
        text = sonic(PORT_QOS_MAP={"Ethernet0": {"pfc_enable": priorities}})
        assert ("priority flow control" in said(read(text))) is pauses, priorities


def buffers(**profile: str) -> str:
    return sonic(
        BUFFER_POOL={"lossy": {"type": "egress", "mode": "static", "size": "12000000"}},
        BUFFER_PROFILE={"b": {"pool": "lossy", **profile}},
        BUFFER_QUEUE={"Ethernet0|3-4": {"profile": "b"}},
    )


def test_sonic_limits_are_beside_what_is_reserved() -> None:
    """A profile's `size` is reserved, and a static threshold is of the shared part: 1518 + 64000 bytes in all."""
    port = Port(GBIT)
    static = only(buffers(size="1518", static_th="64000")).buffer
    assert static is not None
    assert (static.reserved_bytes, static.tail_drop_bytes(port), static.alpha) == (1518, 65518, None)
    dynamic = only(buffers(size="0", dynamic_th="3")).buffer
    assert dynamic is not None
    # alpha 2^3: alone 8/9 of 12 MB.
    assert (dynamic.alpha, dynamic.tail_drop_bytes(port)) == (8, 10_666_666)
    # A static threshold of 0 is none; nothing is known then.
    none = only(buffers(size="1518", static_th="0")).buffer
    assert none is not None
    assert (none.limit, none.tail_drop_bytes(port)) == (None, None)
    with pytest.raises(shoal.ScenarioError, match="static_th and dynamic_th"):
        read(buffers(size="0", static_th="1", dynamic_th="1"))


def test_sonic_thresholds_just_below_the_pool_act() -> None:
    """A minimum of the pool's size never acts, one of a byte less does."""
    for least, acts in ((12_000_000, False), (11_999_999, True)):
        text = json.loads(buffers(size="0", dynamic_th="0"))
        text["WRED_PROFILE"]["P"] |= {"green_min_threshold": str(least), "green_max_threshold": "12000000"}
        assert bool(only(json.dumps(text)).laws) is acts, least


def test_sonic_schedulers_and_shapers() -> None:
    """`pir` counts bytes a second; without a weight DWRR has 1; a meter of packets is no rate in bit/s."""
    schedulers = {
        "a": {"type": "DWRR", "pir": "125000000"},
        "b": {"type": "STRICT", "weight": "7", "pir": "1", "meter_type": "packets"},
        "c": {"type": "WRR", "weight": "25", "pir": "0"},
    }
    queues = {f"Ethernet0|{index}": {"scheduler": name} for index, name in enumerate(schedulers)}
    a, b, c = read(sonic(QUEUE=queues, SCHEDULER=schedulers)).queues[:3]
    assert a.scheduler is not None
    assert a.shaping is not None
    assert (a.scheduler.serving, a.scheduler.weight) == (Serving.WEIGHTED, 1)
    assert (a.shaping.rate_bps, a.shaping.burst_bytes) == (GBIT, None)
    assert b.scheduler is not None
    assert (b.scheduler.serving, b.scheduler.weight, b.shaping) == (Serving.STRICT, None, None)
    assert c.scheduler is not None
    assert (c.scheduler.weight, c.shaping) == (25, None)


def test_sonic_conversion_fails_beyond_31_bits() -> None:
    most = 2**31 - 1
    assert "2^31 - 1" not in said(read(sonic(profile={"green_max_threshold": str(most)})))
    assert "2^31 - 1" in said(read(sonic(profile={"green_max_threshold": str(most + 1)})))


def test_sonic_probability_is_at_most_100_percent() -> None:
    assert only(sonic(profile={"green_drop_probability": "100"})).mark == law(MARK, 200000, 400000)
    with pytest.raises(shoal.ScenarioError, match="101 %"):
        read(sonic(profile={"green_drop_probability": "101"}))


def test_ecnconfig_binds_queues_to_the_bound_profile_alone() -> None:
    text = "ecnconfig -p AZURE_LOSSLESS -gmin 1000 -gmax 1000\necnconfig -p OTHER -ymin 5 -gmin 7 -gmax 9 -gdrop 100\n"
    bound, other = read(text + "ecnconfig -q 4 on\n").queues
    assert (bound.name, bound.index, bound.mark) == ("4", 4, law(MARK, 1000, 1000))
    assert (other.name, other.index, other.mark) == ("OTHER", None, law(MARK, 7, 9))
    # A profile of which one threshold is set is not known; the probability of a new one is 100 %.
    half = only("ecnconfig -p P -gmin 1000\n")
    assert (half.mark, half.unknown != "") == (None, True)
    assert only("ecnconfig -p P -gmin 1 -gmax 9\n").mark == law(MARK, 1, 9)


def nxos(*lines: str, name: str = "c-out-8q-q3") -> str:
    return f"class type queuing {name}\n" + "".join(f"  {line}\n" for line in lines)


@pytest.mark.parametrize(("level", "priority"), [("", 8), (" level 1", 8), (" level 2", 7), (" level 8", 1)])
def test_nxos_priority_level_1_goes_first(level: str, priority: int) -> None:
    scheduler = only(nxos(f"priority{level}")).scheduler
    assert scheduler is not None
    assert (scheduler.serving, scheduler.priority) == (Serving.STRICT, priority)


@pytest.mark.parametrize(
    ("index", "alpha"), [(0, Fraction(1, 128)), (6, Fraction(1, 2)), (7, Fraction(1)), (10, Fraction(8))]
)
def test_nxos_dynamic_limits_are_powers_of_two(index: int, alpha: Fraction) -> None:
    buffer = only(nxos(f"queue-limit dynamic {index}")).buffer
    assert buffer is not None
    assert buffer.alpha == alpha


def test_nxos_limits_and_shapes_in_their_units() -> None:
    queue = only(nxos("queue-limit 900 kbytes", "shape min 1 mbps max 40 mbps"))
    assert queue.buffer is not None
    assert queue.buffer.tail_drop_bytes(Port(GBIT)) == 900_000
    assert queue.shaping is not None
    assert queue.shaping.rate_bps == 40_000_000
    bare = only(nxos("queue-limit 9000")).buffer
    assert bare is not None
    assert bare.tail_drop_bytes(Port(GBIT)) == 9000
    assert only(nxos("shape min 5 gbps")).shaping is None


def test_nxos_the_second_law_has_the_average_of_the_first() -> None:
    queue = only(
        nxos(
            "random-detect minimum-threshold 1 mbytes maximum-threshold 2 mbytes weight 4 ecn",
            "random-detect non-ecn minimum-threshold 3 mbytes maximum-threshold 4 mbytes",
        )
    )
    ends = [amount(number, Unit.MBYTES) for number in (1, 2, 3, 4)]
    assert queue.mark == law(MARK, ends[0], ends[1], weight=4)
    assert (queue.drop, queue.drop_ect) == (law(DROP, ends[2], ends[3], weight=4), None)
    assert ends[0].bytes_at(Port(GBIT)) == 1_000_000


@pytest.mark.parametrize(("name", "index"), [("c-out-8q-q-default", 0), ("c-out-8q-q7", 7), ("mine", None)])
def test_nxos_queue_numbers_are_in_the_names_of_classes(name: str, index: int | None) -> None:
    assert only(nxos("bandwidth percent 10", name=name)).index == index


NXOS_MAP = """class-map type qos match-any SCALABLE
  match dscp 8-10,af11
class-map type qos match-any VOICE
  match dscp ef 8 63
policy-map type qos IN
  class SCALABLE
    set qos-group 5
  class VOICE
    set qos-group 6
{default}policy-map type queuing OUT
  class type queuing c-out-8q-q5
    bandwidth remaining percent 40
  class type queuing c-out-8q-q6
    priority level 1
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 60
"""


def test_nxos_the_first_class_takes_a_code_point_and_group_0_the_rest() -> None:
    """DSCP 8 is of both classes: the class that stands first has it. af11 is 10, ef is 46, 63 the last."""
    five, six, rest = read(NXOS_MAP.format(default="")).queues
    assert (five.dscp, six.dscp) == ((8, 9, 10), (46, 63))
    assert (five.takes_rest, rest.takes_rest, rest.dscp) == (False, True, ())
    moved = read(NXOS_MAP.format(default="  class class-default\n    set qos-group 6\n")).queues
    assert [queue.takes_rest for queue in moved] == [False, True, False]


def eos(*lines: str, start: str = "interface Ethernet1\n  uc-tx-queue 3\n") -> str:
    return start + "".join(f"    {line}\n" for line in lines)


def test_eos_probability_that_is_left_out_is_100_percent() -> None:
    ramp = "random-detect ecn minimum-threshold 100 kbytes maximum-threshold 300 kbytes"
    ends = amount(100, Unit.KBYTES), amount(300, Unit.KBYTES)
    assert only(eos(f"{ramp} weight 0")).mark == law(MARK, *ends)
    assert only(eos(f"{ramp} max-mark-probability 1 weight 0")).mark == law(MARK, *ends, Fraction(1, 100))


def test_eos_code_points_go_through_both_maps() -> None:
    """DSCP 10 -> class 1 -> queue 5; class 3 has the queue of its own number, as no line says otherwise."""
    text = (
        "qos map dscp 10 12-14 to traffic-class 1\nqos map dscp 46 to traffic-class 3\n"
        "qos map dscp 20 to traffic-class 5\nqos map traffic-class 1 2 to uc-tx-queue 5\n"
        "qos map traffic-class 5 to tx-queue 0\n"
    )
    queues = read(text + eos("bandwidth percent 10", start="interface Ethernet1\n uc-tx-queue 5\n")
                  + eos("bandwidth percent 20", start=" uc-tx-queue 3\n")
                  + eos("bandwidth percent 20", start=" uc-tx-queue 1\n")
                  + eos("bandwidth percent 50", start=" uc-tx-queue 0\n")).queues  # fmt: skip
    assert {queue.index: queue.dscp for queue in queues} == {5: (10, 12, 13, 14), 3: (46,), 1: (), 0: (20,)}


def test_eos_lines_within_an_interface_leave_it_as_it_is() -> None:
    """`qos trust` below an interface is one of its lines; `qos profile` begins a place of its own, without ports."""
    text = "interface Ethernet1\n   qos trust dscp\n   uc-tx-queue 3\n      priority strict\n"
    text += "qos profile P\n   tx-queue 2\n      bandwidth percent 7\n"
    three, two = read(text).queues
    assert (three.name, three.ports, two.name, two.ports) == ("3@Ethernet1", ("Ethernet1",), "2@P", ())


def test_eos_serves_the_higher_strict_queue_first_and_shapes_in_kbps() -> None:
    text = eos("priority strict", "shape rate 500000")
    queue = only(text)
    assert queue.scheduler is not None
    assert (queue.scheduler.serving, queue.scheduler.priority) == (Serving.STRICT, 3)
    assert queue.shaping is not None
    assert queue.shaping.rate_bps == 500_000_000
    rate = only(eos("shape rate 2 gbps")).shaping
    assert rate is not None
    assert rate.rate_bps == 2 * GBIT
    share = only(eos("no priority", "bandwidth guaranteed percent 30")).scheduler
    assert share is not None
    assert (share.serving, share.weight) == (Serving.WEIGHTED, 30)


def test_eos_packets_that_are_not_ect() -> None:
    line = "random-detect ecn minimum-threshold 9 kbytes maximum-threshold 9 kbytes weight 0"
    left, allowed = eos(line), "qos random-detect ecn allow non-ect\n" + eos(line)
    assert only(left).not_ect is NotEct.PLATFORM
    assert only(allowed).not_ect is NotEct.TAIL_ONLY
    assert ("--not-ect" in said(read(left)), "allow non-ect" in said(read(allowed))) == (True, True)
    assert "no weight is written" not in said(read(left))
    assert "no weight is written" in said(read(left.replace(" weight 0", "")))
    precedence = eos("random-detect drop drop-precedence 1 minimum-threshold 1 kbytes maximum-threshold 2 kbytes "
                     "drop-probability 10")  # fmt: skip
    assert "drop precedence 1" in said(read(precedence))


def openconfig(leaves: dict[str, object], *, kind: str = "wred", **trees: Any) -> str:
    profile = {"name": "P", kind: {"uniform": {"config": leaves}}}
    return json.dumps({"qos": {"queue-management-profiles": {"queue-management-profile": [profile]}, **trees}})


RAMP = {"min-threshold": "1000", "max-threshold": "9000", "enable-ecn": True, "weight": 0}


def test_openconfig_probabilities_and_weights() -> None:
    ramp = only(openconfig(RAMP | {"max-drop-probability-percent": 100, "weight": 7}))
    assert ramp.mark == law(MARK, 1000, 9000, 1, 7, Where.UNKNOWN)
    # Of a step a probability that is left out is 100 %; of a ramp it cannot be guessed.
    assert only(openconfig(RAMP | {"min-threshold": "9000"})).mark == law(MARK, 9000, 9000, where=Where.UNKNOWN)
    with pytest.raises(shoal.ScenarioError, match="has no `max-drop-probability-percent`"):
        read(openconfig(RAMP))
    with pytest.raises(shoal.ScenarioError, match="101 %"):
        read(openconfig(RAMP | {"max-drop-probability-percent": 101}))
    with pytest.raises(shoal.ScenarioError, match="in bytes and in percent"):
        read(openconfig(RAMP | {"min-threshold-percent": "1"}))


def test_openconfig_the_leaf_drop_alone_drops_all() -> None:
    leaves = {**RAMP, "enable-ecn": False, "drop": True, "max-drop-probability-percent": 50}
    queue = only(openconfig(leaves, kind="red"))
    drop = law(DROP, 1000, 9000, Fraction(1, 2), where=Where.UNKNOWN)
    assert (queue.mark, queue.drop, queue.drop_ect) == (None, drop, drop)


def classified(terms: list[object], *, version: str = "IPV4", name: str = "C", **more: object) -> dict[str, object]:
    """Two queues of a port, and a classifier that leads to them."""
    queues = [{"name": queue, "config": {"queue-management-profile": "P"}} for queue in ("AF", "BE")]
    groups = [{"name": f"group-{queue}", "config": {"output-queue": queue}} for queue in ("AF", "BE")]
    classifier = {"name": name, "config": {"name": name, "type": version}, "terms": {"term": terms}}
    output = {"interface-id": "et0", "output": {"queues": {"queue": queues}}}
    return {
        "classifiers": {"classifier": [classifier]},
        "forwarding-groups": {"forwarding-group": groups},
        "interfaces": {"interface": [output]},
        **more,
    }


def term(queue: str, version: str = "ipv4", /, **conditions: object) -> dict[str, object]:
    leaves = {name.replace("_", "-"): value for name, value in conditions.items()}
    target = {"config": {"target-group": f"group-{queue}"}}
    return {"id": queue, "conditions": {version: {"config": leaves}}, "actions": target}


STEP = RAMP | {"min-threshold": "9000"}


@pytest.mark.parametrize("version", ["ipv4", "ipv6"])
def test_openconfig_classifiers_lead_to_the_queues_of_their_groups(version: str) -> None:
    terms: list[object] = [
        term("AF", version, dscp_set=[8, 9]),
        term("BE", version, dscp=9),
        term("BE", version, dscp=0),
    ]
    first, second = read(openconfig(STEP, **classified(terms, version=version.upper()))).queues
    assert (first.name, first.dscp, second.name, second.dscp) == ("AF", (8, 9), "BE", (0,))
    assert first.undecided is None


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (term("AF", dscp=8, protocol=6), "a condition of the classifier `C` that is no code point"),
        (term("AF", "l2", source_mac="0:0:0:0:0:0"), "a condition of the classifier `C` that is no code point"),
        ({"id": "1", "conditions": [], "actions": 5}, "a condition of the classifier `C` that is no code point"),
        (term("AF", dscp_set=5), "a condition of the classifier `C` that is no code point"),
        (term("XX", dscp=8), "leads to the forwarding group `group-XX`, which the file does not have"),
    ],
)
def test_openconfig_classifiers_that_look_at_more_are_said(one: object, words: str) -> None:
    configuration = read(openconfig(STEP, **classified([one, term("BE", dscp=0)])))
    assert words in said(configuration)
    assert configuration.queues[1].dscp == (0,)
    assert configuration.queues[0].undecided is not None


def test_openconfig_classifiers_of_ports_count_where_ports_have_some() -> None:
    trees: Any = classified([term("AF", dscp=8)])
    other = {"name": "D", "config": {"type": "IPV4"}, "terms": {"term": [term("BE", dscp=8)]}}
    trees["classifiers"]["classifier"].append(other)
    both = read(openconfig(STEP, **trees))
    assert "a second classifier, of other ports, is not read" in said(both)
    assert both.queues[0].undecided is not None
    given = {"classifiers": {"classifier": [{"type": "IPV4", "config": {"name": "D", "type": "IPV4"}}]}}
    trees["interfaces"]["interface"].append({"interface-id": "et1", "input": given})
    assert [queue.dscp for queue in read(openconfig(STEP, **trees)).queues] == [(), (8,)]


def test_openconfig_schedulers_are_those_of_their_inputs() -> None:
    def entry(queue: str, weight: str, priority: str = "") -> dict[str, object]:
        given = {"id": queue, "config": {"queue": queue, "weight": weight}}
        return {"config": {"priority": priority}, "inputs": {"input": [given]}}

    policy = {"schedulers": {"scheduler": [entry("NC1", "6", "STRICT"), entry("AF1", "4")]}}
    bound = {"config": {"queue-management-profile": "P"}}
    entries = [{"name": name, **bound} for name in ("NC1", "AF1")]
    # The name may stand in the configuration alone.
    entries.append({"config": {"name": "3", "queue-management-profile": "P"}})
    text = openconfig(
        RAMP | {"max-drop-probability-percent": 1},
        interfaces={"interface": [{"config": {"interface-id": "et0"}, "output": {"queues": {"queue": entries}}}]},
        **{"scheduler-policies": {"scheduler-policy": [policy]}},
    )
    strict, weighted, three = read(text).queues
    assert strict.scheduler is not None
    assert (strict.scheduler.serving, strict.scheduler.priority) == (Serving.STRICT, 6)
    assert weighted.scheduler is not None
    assert (weighted.scheduler.serving, weighted.scheduler.weight) == (Serving.WEIGHTED, 4)
    assert (three.scheduler, three.index, weighted.index, three.ports) == (None, 3, None, ("et0",))


def tc(words: str, parent: str = "root") -> str:
    return f"tc qdisc add dev e {parent} {words}\n"


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        # q_red.c: without max three times min; without min a third of max; without both max is a quarter of limit.
        ("min 30000", (30000, 90000)),
        ("max 90000", (30000, 90000)),
        ("", (33333, 100000)),
        ("min 30000 max 60000", (30000, 60000)),
    ],
)
def test_tc_red_thresholds_that_are_left_out(words: str, ends: tuple[int, int]) -> None:
    queue = only(tc(f"red limit 400000 {words} avpkt 1000 burst 60 probability 0.1"))
    assert queue.drop is not None
    assert (queue.drop.min.number, queue.drop.max.number) == ends
    assert queue.drop == queue.drop_ect
    assert queue.buffer is not None
    assert queue.buffer.tail_drop_bytes(Port(GBIT)) == 400_000


def test_tc_red_flags_are_laws() -> None:
    red = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 60 probability 0.1"
    plain, no_drop, hard = (only(tc(f"{red} {words}")) for words in ("ecn", "ecn nodrop", "ecn harddrop"))
    assert plain.mark is not None
    assert (plain.drop is not None, plain.drop_ect, no_drop.drop) == (True, None, None)
    # harddrop drops what a full ramp would mark: above the maximum.
    assert hard.drop_ect is not None
    assert (hard.drop_ect.min.number, hard.drop_ect.max.number) == (90000, 90000)


@pytest.mark.parametrize(
    ("rate", "bps"), [("1gbit", GBIT), ("125mbps", GBIT), ("125000kbps", GBIT), ("1000000000", GBIT), ("8kibit", 8192)]
)
def test_tc_rates_in_bps_are_bytes_a_second(rate: str, bps: int) -> None:
    queue = only(tc(f"red limit 400000 min 30000 max 90000 avpkt 1000 burst 60 bandwidth {rate}"))
    assert queue.exact is not None
    assert queue.exact["bandwidth"] == f"{bps} bit/s"


def test_tc_sizes_times_and_rates_in_all_their_units() -> None:
    """lib/utils_math.c: sizes in powers of 1024 and bits of them, bare times in microseconds, rates of 1000."""
    for power, prefix in enumerate(("", "k", "m", "g")):
        assert {units.size_bytes(f"3{prefix}{end}") for end in ("", "b")} == {3 * 1024**power}
    for power, word in enumerate(("kbit", "mbit", "gbit"), start=1):
        assert units.size_bytes(f"16{word}") == 16 * 1024**power // 8
    # A size has 32 bits.
    assert (units.size_bytes("4294967295"), units.size_bytes("4g"), units.size_bytes("1.5k")) == (2**32 - 1, None, 1536)
    times = {1: ("s", "sec", "secs"), 10**3: ("ms", "msec", "msecs"), 10**6: ("us", "usec", "usecs", ""),
             10**9: ("ns", "nsec", "nsecs")}  # fmt: skip
    for divisor, words in times.items():
        assert {units.time_seconds(f"7{word}") for word in words} == {Fraction(7, divisor)}
    for power, letter in enumerate("kmgt", start=1):
        assert units.rate_bps(f"2{letter}bit") == 2 * 1000**power
        assert units.rate_bps(f"2{letter.upper()}bps") == 16 * 1000**power
        assert units.rate_bps(f"2{letter}ibit") == 2 * 1024**power
    assert (units.rate_bps("2.5mbit"), units.rate_bps("2m"), units.rate_bps("bit")) == (2_500_000, None, None)


def test_tc_pie_counts_packets_and_ignores_gains_of_0() -> None:
    configuration = read(tc("pie limit 700 target 20ms alpha 0 beta 21 noecn bytemode no_dq_rate_estimator"))
    (queue,) = configuration.queues
    assert queue.exact == {
        "kind": "pie",
        "limit": "700 packets",
        "target": "20000 us",
        "beta": 21,
        "ecn": False,
        "bytemode": True,
        "dq_rate_estimator": False,
    }
    assert "`alpha 0` is not sent" in said(configuration)


def test_tc_dualpi2_gains_follow_the_round_trips() -> None:
    """q_dualpi2.c: update = min(typical, max / 3), alpha = 0.1 update / max^2, beta = 0.3 / max, in steps of 1/256.

    With max 60 ms and typical 10 ms: update 10 ms, alpha = 0.001 / 0.0036 = 71.1/256, beta = 5 = 1280/256.
    """
    queue = only(tc("dualpi2 max_rtt 60ms typical_rtt 10ms step_thresh 5p overflow any_ect classic_protection 15%"))
    assert queue.exact == {
        "kind": "dualpi2",
        "limit": "10000 packets",
        "overload": "overflow",
        "ecn_mask": "any-ect",
        "step_threshold": "5 packets",
        "classic_percent": 15,
        "target": "10000 us",
        "tupdate": "10000 us",
        "alpha": 71 / 256,
        "beta": 5.0,
    }
    # Of one round trip the other is a sixth or six times of it, and the update at most a third of the longest.
    for words in ("max_rtt 60ms", "typical_rtt 10ms"):
        exact = only(tc(f"dualpi2 {words}")).exact
        assert exact is not None
        assert (exact["target"], exact["tupdate"], exact["beta"]) == ("10000 us", "10000 us", 5.0)
    slow = only(tc("dualpi2 max_rtt 60ms typical_rtt 30ms")).exact
    assert slow is not None
    assert (slow["target"], slow["tupdate"]) == ("30000 us", "20000 us")


def test_tc_bands_in_hexadecimal_and_classes_of_drr() -> None:
    ets = tc("ets bands 12 strict 2 quanta 3000 6000", "root handle 1:")
    bands = "".join(tc(f"pfifo limit {minor}", f"parent 1:{minor:x}") for minor in (1, 2, 3, 10))
    served = {queue.index: queue.scheduler for queue in read(ets + bands).queues if "0:" not in queue.name}
    assert {index: each and (each.serving, each.priority, each.weight) for index, each in served.items()} == {
        1: (Serving.STRICT, -1, None),
        2: (Serving.STRICT, -2, None),
        3: (Serving.WEIGHTED, None, 3000),
        4: (Serving.WEIGHTED, None, 6000),
        # Without a quantum it is that of a frame.
        **dict.fromkeys(range(5, 13), (Serving.WEIGHTED, None, 1514)),
    }
    prio = read(tc("prio bands 3", "root handle 1:") + tc("codel", "parent 1:3")).queues[2].scheduler
    assert prio is not None
    assert (prio.serving, prio.priority) == (Serving.STRICT, -3)
    drr = tc("drr", "root handle 1:") + "tc class add dev e parent 1: classid 1:4 drr quantum 2k\n"
    shared = only(drr + tc("codel", "parent 1:4")).scheduler
    assert shared is not None
    assert (shared.serving, shared.weight) == (Serving.WEIGHTED, 2048)


def test_tc_filters_compare_the_code_point_and_not_the_ecn_field() -> None:
    """0x28 without the lower two bits is 10; under the mask 0xe0 it is the class selector 1: 8 to 15."""
    start = tc("ets bands 2 quanta 3000 3000", "root handle 1:") + tc("codel", "parent 1:1") + tc("pie", "parent 1:2")
    line = "tc filter add dev e parent 1: protocol {} prio 1 u32 match {} {} flowid 1:1\n"
    exact, ranged = line.format("ip", "ip dsfield", "0x28 0xfc"), line.format("ipv6", "ip6 priority", "0x28 0xe0")
    others = "tc filter add dev e parent 1: protocol all prio 3 matchall classid 1:2\n"
    codel, pie = read(start + exact + others).queues
    assert (codel.dscp, codel.takes_rest, pie.dscp, pie.takes_rest) == ((10,), False, (), True)
    assert read(start + ranged).queues[0].dscp == tuple(range(8, 16))
    with_ecn = read(start + line.format("ip", "ip dsfield", "0x29 0xff"))
    assert (with_ecn.queues[0].dscp, "compares the ECN field, too" in said(with_ecn)) == ((), True)


def test_statements_go_on_behind_a_backslash_and_end_before_a_comment() -> None:
    queue = only(
        "# a\ntc qdisc add dev e root \\\n  red limit 400000 min 30000 max 90000 \\\n avpkt 1000 burst 60 # ecn\n"
    )
    assert queue.mark is None
    assert queue.source is not None
    assert queue.source.line == 2


def test_answers_of_laws_that_touch() -> None:
    """Drops that begin where all ECT packets are marked do not overlap the marks; a byte less does."""
    for begin, words in ((9000, "above that of the marks"), (8999, "a law of their own")):
        text = nxos("random-detect minimum-threshold 1 packets maximum-threshold 2 packets ecn")
        (queue,) = read(text).queues
        own = Queue(name="q", mark=law(MARK, 1000, 9000), drop=law(DROP, begin, 20000))
        assert words in dict(answers(own))["Packets that are not ECT"]
        assert ("above that" in dict(answers(own))["Packets that are not ECT"]) is (begin == 9000)
        assert [packets for packets, _ in queue.laws] == [Packets.ECT, Packets.NOT_ECT]


@pytest.mark.parametrize("other", [{"pmax": Fraction(1, 3)}, {"weight": 1}, {"where": Where.ENQUEUE}])
def test_laws_with_the_same_thresholds_are_the_same_only_if_all_else_is(other: dict[str, Any]) -> None:
    mark, drop = law(MARK, 1000, 9000, Fraction(1, 2)), law(DROP, 1000, 9000, Fraction(1, 2))
    assert Queue(name="q", mark=mark, drop=drop).not_ect is NotEct.SAME_LAW
    assert Queue(name="q", mark=mark, drop=replace(drop, **other)).not_ect is NotEct.OWN_LAW
