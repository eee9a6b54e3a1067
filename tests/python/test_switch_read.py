"""Readers of configurations: the examples of the specification mean what it says, and bad lines are named."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from switch_documents import (
    EOS_DUAL,
    GBIT,
    NXOS_DUAL,
    OPENCONFIG_STEP,
    SONIC_PROFILE,
    SONIC_STEP,
    TC_RED,
    amount,
    law,
    only,
    read,
    said,
)

import shoal
from shoal.switch import Port, Unit, find_switch
from shoal.switch.as_json import configuration_json
from shoal.switch.checks import answers, remarks
from shoal.switch.model import Action, NotEct, Serving, Where
from shoal.switch.plane import scenario_of
from shoal.switch.tables import law_table

MARK, DROP = Action.MARK, Action.DROP


def profile(**fields: str) -> str:
    given = {name: value for name, value in (SONIC_PROFILE | fields).items() if value}
    tables = {"WRED_PROFILE": {"P": given}, "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}}}
    return json.dumps(tables, indent=1)


def test_sonic_step_for_dctcp_with_tail_drop_for_others() -> None:
    configuration = read(SONIC_STEP)
    (queue,) = configuration.queues
    assert (queue.name, queue.ports, queue.profile) == ("1", ("Ethernet0",), "DC_STEP")
    assert queue.mark == law(MARK, 98304, 98304)
    assert queue.drop is None
    assert queue.not_ect is NotEct.TAIL_ONLY
    assert "sonic-buildimage#4545" in said(configuration)
    # 98304 bytes are 384 cells of 256 bytes, exactly.
    assert queue.mark is not None
    assert queue.mark.min.whole_bytes_at(Port(GBIT, cell_bytes=256)) == 384 * 256


def test_sonic_same_knee_for_both_classes() -> None:
    queue = only(profile())
    assert queue.mark == law(MARK, 200000, 400000, Fraction(1, 10))
    assert queue.drop == law(DROP, 200000, 400000, Fraction(1, 10))
    assert queue.not_ect is NotEct.SAME_LAW
    assert dict(answers(queue)) == {
        "Packets that are not ECT": "dropped by the law that marks ECT packets",
        "Above the maximum": "all ECT packets are marked, all others are dropped",
        "What is compared": "the queue itself, at departure",
    }


def test_sonic_without_ecn_drops_all_alike() -> None:
    queue = only(profile(ecn="ecn_none"))
    assert queue.mark is None
    assert queue.drop == queue.drop_ect == law(DROP, 200000, 400000, Fraction(1, 10))
    off = only(profile(ecn="ecn_none", wred_green_enable="false"))
    assert off.laws == ()


def test_sonic_probability_that_is_left_out_is_100() -> None:
    queue = only(profile(green_drop_probability=""))
    assert queue.mark == law(MARK, 200000, 400000, 1)


def test_sonic_numbers_may_have_white_space_or_be_numbers() -> None:
    text = profile(green_min_threshold=" 166912 ").replace('"400000"', "400000")
    assert only(text).mark == law(MARK, 166912, 400000, Fraction(1, 10))


def test_sonic_references_in_brackets_and_lists_of_ports() -> None:
    tables = json.loads(profile())
    tables["QUEUE"] = {
        "Ethernet0,Ethernet4|3-4": {"wred_profile": "[WRED_PROFILE|P]", "scheduler": "[SCHEDULER|S]"},
        "Ethernet8|3": {"wred_profile": "P", "scheduler": "S"},
    }
    tables["SCHEDULER"] = {"S": {"type": "DWRR", "weight": "15", "pir": "1250000000", "pbs": "8192"}}
    queues = read(json.dumps(tables)).queues
    assert [(queue.name, queue.ports) for queue in queues] == [
        ("3", ("Ethernet0", "Ethernet4", "Ethernet8")),
        ("4", ("Ethernet0", "Ethernet4")),
    ]
    # pir counts bytes a second: 1.25 GB/s are 10 Gbit/s.
    assert queues[0].shaping is not None
    assert (queues[0].shaping.rate_bps, queues[0].shaping.burst_bytes) == (10 * GBIT, 8192)
    assert queues[0].scheduler is not None
    assert (queues[0].scheduler.serving, queues[0].scheduler.weight) == (Serving.WEIGHTED, 15)


def test_sonic_queue_that_is_not_the_same_on_all_ports_has_two_names() -> None:
    tables = json.loads(profile())
    tables["QUEUE"]["Ethernet4|3"] = {}
    assert sorted(queue.name for queue in read(json.dumps(tables)).queues) == ["3@Ethernet0", "3@Ethernet4"]


def test_sonic_buffer_that_ends_before_the_ramp_is_said() -> None:
    tables = json.loads(profile())
    tables |= {
        "BUFFER_POOL": {"pool": {"type": "egress", "mode": "dynamic", "size": "8000000"}},
        "BUFFER_PROFILE": {"b": {"pool": "pool", "size": "1000", "dynamic_th": "-5"}},
        "BUFFER_QUEUE": {"Ethernet0|0-3": {"profile": "b"}},
    }
    (queue,) = read(json.dumps(tables)).queues
    assert queue.buffer is not None
    # alpha = 1/32: alone alpha / (1 + alpha) = 1/33 of the pool, and what is reserved.
    assert queue.buffer.tail_drop_bytes(Port(GBIT)) == 1000 + 8_000_000 // 33
    # Of two that fill alike 1 / (32 + 2).
    assert queue.buffer.tail_drop_bytes(Port(GBIT), queues=2) == 1000 + 8_000_000 // 34
    assert "the ramp is never completed" in "".join(map(str, remarks(queue, Port(GBIT))))


def test_sonic_thresholds_as_large_as_the_pool_are_never_reached() -> None:
    tables = json.loads(profile(green_min_threshold="8000000", green_max_threshold="8000000"))
    tables |= {
        "BUFFER_POOL": {"pool": {"size": "8000000"}},
        "BUFFER_PROFILE": {"b": {"pool": "pool", "size": "0", "dynamic_th": "1"}},
        "BUFFER_QUEUE": {"Ethernet0|3": {"profile": "b"}},
    }
    configuration = read(json.dumps(tables))
    assert configuration.queues[0].laws == ()
    assert "it never acts" in said(configuration)


def test_sonic_code_points_and_pauses() -> None:
    tables = json.loads(profile())
    tables |= {
        "DSCP_TO_TC_MAP": {"AZURE": {"3": "3", "10": "3", "0": "1"}},
        "TC_TO_QUEUE_MAP": {"AZURE": {"1": "1", "3": "3"}},
        "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "pfc_enable": "3,4"}},
    }
    configuration = read(json.dumps(tables))
    assert configuration.queues[0].dscp == (3, 10)
    assert "priority flow control" in said(configuration)


def test_sonic_colours_that_differ_are_said_and_dnx_takes_red() -> None:
    text = profile(red_min_threshold="5000", red_max_threshold="6000", red_drop_probability="1", wred_red_enable="true")
    assert "the colours of `P` have different laws; green is read" in said(read(text))
    queue = only(text, switch=find_switch("broadcom-dnx"))
    assert queue.mark == law(MARK, 5000, 6000, Fraction(1, 100), where=Where.ENQUEUE)


def test_sonic_thresholds_of_ect_alone_are_a_proposal() -> None:
    configuration = read(profile(green_ect_min_threshold="50000", green_ect_max_threshold="50000"))
    (queue,) = configuration.queues
    assert queue.mark == law(MARK, 50000, 50000, Fraction(1, 10))
    assert queue.drop == law(DROP, 200000, 400000, Fraction(1, 10))
    assert queue.not_ect is NotEct.OWN_LAW
    assert "sonic-swss#4718" in said(configuration)


@pytest.mark.parametrize(
    ("fields", "words", "hint"),
    [
        ({"green_min_threshold": "500000"}, "the minimum of 500000 bytes is above", "swap"),
        ({"green_min_threshold": ""}, "has no `green_min_threshold`", "both thresholds"),
        ({"green_max_threshold": "1e5"}, "not a whole number", "98304"),
        ({"green_drop_probability": "101"}, "a probability of 101 %", "0 to 100"),
        ({"ecn": "ecn_gren"}, "`ecn_gren` is not a mode of ECN", "did you mean `ecn_green`?"),
        ({"wred_green_enable": "True"}, "neither true nor false", "lower case"),
        ({"green_min_treshold": "1"}, "orchagent rejects the whole profile", "did you mean `green_min_threshold`?"),
    ],
)
def test_sonic_profiles_that_contradict_themselves_are_refused(fields: dict[str, str], words: str, hint: str) -> None:
    text = profile(**fields)
    with pytest.raises(shoal.ScenarioError) as refused:
        read(text)
    message = str(refused.value)
    assert words in message
    assert hint in message
    # The place is the line of the field, or of the profile that lacks it.
    line = int(message.partition("--> text:")[2].partition("\n")[0])
    key = next((name for name, value in fields.items() if value), "P")
    assert f'"{key}"' in text.splitlines()[line - 1]


def test_templates_are_refused_with_what_to_do() -> None:
    with pytest.raises(shoal.ScenarioError, match="sonic-cfggen"):
        read('{\n"WRED_PROFILE": {% for a in b %}\n}')


def test_broken_json_names_its_line_and_not_its_text() -> None:
    text = (
        '{"TACPLUS": {"global": {"passkey": "hunter2"}},\n'
        '"WRED_PROFILE": {"P": {"ecn": "ecn_all" "passkey": "hunter2"}}}'
    )
    with pytest.raises(shoal.ScenarioError) as refused:
        read(text)
    assert "text:2" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_what_stands_twice_is_said() -> None:
    text = profile().replace('"green_min_threshold"', '"green_min_threshold": "7",\n"green_min_threshold"')
    configuration = read(text)
    assert configuration.queues[0].mark == law(MARK, 200000, 400000, Fraction(1, 10))
    assert "`green_min_threshold` stands twice" in said(configuration)


def test_ecnconfig_merges_commands_and_leaves_the_rest_open() -> None:
    configuration = read("ecnconfig -p AZURE_LOSSLESS -gmin 1000 -gmax 2000\nsudo config ecn -profile AZURE_LOSSLESS "
                         "-gdrop 5 -gmax 3000\necnconfig -q 3,4 on\necnconfig -q 4 off\n")  # fmt: skip
    (queue,) = configuration.queues
    assert (queue.name, queue.mark) == ("3", law(MARK, 1000, 3000, Fraction(5, 100)))
    assert queue.not_ect is NotEct.PLATFORM
    assert "cannot set `ecn`" in said(configuration)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ecnconfig -p P -gmin 3000 -gmax 2000", "above the maximum"),
        ("ecnconfig -p P -gmin 1000\necnconfig -p P -gmax 900", "above the maximum"),
        ("ecnconfig -p P -gdrop 101", "needs a whole number"),
        ("ecnconfig -p P", "changes nothing"),
        ("ecnconfig -q 3 on", "no command sets thresholds"),
    ],
)
def test_ecnconfig_refuses_what_the_command_refuses(text: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=words):
        read(text)


def test_nxos_two_laws_are_dual_red() -> None:
    configuration = read(NXOS_DUAL)
    queue, strict = configuration.queues
    knee = amount(120, Unit.KBYTES)
    assert queue.mark == law(MARK, knee, knee)
    assert queue.drop == law(DROP, amount(600, Unit.KBYTES), amount(900, Unit.KBYTES), Fraction(1, 5))
    assert (queue.index, queue.scheduler and queue.scheduler.weight) == (3, 50)
    assert strict.scheduler is not None
    assert (strict.scheduler.serving, strict.scheduler.priority) == (Serving.STRICT, 8)
    assert "1000 bytes" in said(configuration)
    assert dict(answers(queue))["Packets that are not ECT"] == "dropped by a law of their own, above that of the marks"


def test_nxos_units_of_both_thresholds_may_differ_and_the_last_line_acts() -> None:
    text = (
        "class type queuing c-out-q-default\n"
        "  random-detect minimum-threshold 1 mbytes maximum-threshold 2 mbytes\n"
        "  random-detect minimum-threshold 100 packets maximum-threshold 1 mbytes drop-probability 7 weight 3\n"
        "  queue-limit dynamic 7\n"
    )
    configuration = read(text)
    (queue,) = configuration.queues
    assert (
        queue.drop
        == queue.drop_ect
        == law(DROP, amount(100, Unit.PACKETS), amount(1, Unit.MBYTES), Fraction(7, 100), 3)
    )
    assert queue.index == 0
    assert queue.buffer is not None
    assert queue.buffer.alpha == 1
    assert "the last acts" in said(configuration)


@pytest.mark.parametrize("line", ["random-detect", "random-detect threshold mesh-optimized ecn", "afd queue-desired 9"])
def test_nxos_laws_whose_numbers_are_not_written_are_unknown(line: str) -> None:
    queue = only(f"class type queuing c-out-q1\n  {line}\n")
    assert queue.unknown
    assert queue.laws == ()
    assert {answer for _, answer in answers(queue)} == {"unknown"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("random-detect minimum-threshold 100 maximum-threshold 200", "`maximum-threshold` is not a unit"),
        ("random-detect ecn", "`ecn` is the last word"),
        ("random-detect minimum-threshold 9 kbytes maximum-threshold 8 kbytes", "above the maximum"),
        ("random-detect minimum-threshold 1 kbytes maximum-threshold 8 kbytes drop-probability 101", "0 to 100"),
        ("random-detect minimum-threshold 1 kbytes maximum-threshold 8 kbytes drop-probability 1 weight 16", "0 to 15"),
        ("random-detect minimum-threshold 1 kbytes maximum-threshold 8 kbytes ecn drop-probability 1", "not expected"),
        ("random-detect maximum-threshold 8 kbytes", "expected `minimum-threshold`"),
    ],
)
def test_nxos_lines_that_the_device_would_refuse_are_named(line: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(f"class type queuing c-out-q1\n  {line}\n")
    assert words in str(refused.value)
    assert "text:2" in str(refused.value)
    assert f"2 | {line}" in str(refused.value)


def test_eos_two_statements_are_two_laws() -> None:
    configuration = read(EOS_DUAL)
    (queue,) = configuration.queues
    knee = amount(500, Unit.SEGMENTS)
    own = law(DROP, amount(800, Unit.KBYTES), amount(1600, Unit.KBYTES), Fraction(1, 10))
    assert queue.mark == law(MARK, knee, knee)
    assert queue.drop == queue.drop_ect == own
    # 500 segments of 208 bytes are 104 kB, of 256 bytes 128 kB.
    assert knee.bytes_at(Port(GBIT)) == 104_000
    assert knee.bytes_at(Port(GBIT, segment_bytes=256)) == 128_000
    assert "segments are read as 208 bytes" in said(configuration)
    assert "segments" not in said(read(EOS_DUAL, switch=find_switch("broadcom-trident3")))


def test_eos_latency_is_a_law_in_time() -> None:
    configuration = read(
        "interface Ethernet1\n tx-queue 3\n  random-detect ecn minimum-threshold 2 milliseconds maximum-threshold 4 "
        "milliseconds max-mark-probability 50\n",
        rate_bps=10 * GBIT,
    )
    (queue,) = configuration.queues
    assert queue.mark == law(
        MARK, amount(2, Unit.MILLISECONDS), amount(4, Unit.MILLISECONDS), Fraction(1, 2), weight=None
    )
    # 2 ms at 10 Gbit/s are 2.5 MB.
    assert queue.mark is not None
    assert queue.mark.min.bytes_at(Port(10 * GBIT)) == 2_500_000
    assert queue.not_ect is NotEct.PLATFORM
    assert "--not-ect drop" in said(configuration)


def test_openconfig_states_what_others_imply() -> None:
    queue = only(OPENCONFIG_STEP)
    assert queue.mark == law(MARK, 64000, 64000, where=Where.UNKNOWN)
    assert queue.not_ect is NotEct.TAIL_ONLY
    both = only(OPENCONFIG_STEP.replace('"drop": false', '"drop": true'))
    assert both.not_ect is NotEct.SAME_LAW
    neither = read(OPENCONFIG_STEP.replace('"enable-ecn": true', '"enable-ecn": false'))
    assert neither.queues[0].laws == ()


def test_openconfig_prefixes_paths_and_64_bits() -> None:
    base = "/qos/queue-management-profiles/queue-management-profile[name=P]/wred/uniform/config/"
    leaves = {"min-threshold": "80000", "max-threshold": str(2**64 - 1), "enable-ecn": "true",
              "max-drop-probability-percent": "1"}  # fmt: skip
    configuration = read(json.dumps({base + leaf: value for leaf, value in leaves.items()}))
    assert configuration.queues[0].mark == law(MARK, 80000, 2**64 - 1, Fraction(1, 100), None, Where.UNKNOWN)
    assert "no weight" in said(configuration)
    plain = OPENCONFIG_STEP.replace("openconfig-qos:qos", "qos")
    assert only(plain) == only(OPENCONFIG_STEP)


def test_openconfig_percent_needs_the_buffer() -> None:
    text = OPENCONFIG_STEP.replace('-threshold"', '-threshold-percent"').replace('"64000"', "2")
    (queue,) = read(text).queues
    assert queue.mark is not None
    assert queue.mark.min.bytes_at(Port(GBIT)) is None
    assert queue.mark.min.bytes_at(Port(GBIT, buffer_bytes=1_000_000)) == 20_000
    assert "--buffer" in "".join(remark.hint for remark in remarks(queue, Port(GBIT)))


def test_tc_red_is_what_tc_computes() -> None:
    (queue,) = read(TC_RED).queues
    # The smallest burst: tc's weight is never 0, and 1 is an average over about two packets.
    assert queue.mark is not None
    assert (queue.mark.weight, queue.mark.where) == (1, Where.ENQUEUE)
    assert queue.drop is None
    assert queue.exact is not None
    assert queue.exact["kind"] == "linux-red"
    with pytest.raises(shoal.ScenarioError, match="burst of 19 packets is too small"):
        read(TC_RED.replace("burst 20", "burst 19"))


@pytest.mark.parametrize(("ends", "pmax"), [((30000, 90000), 0.916), ((150000, 1500000), 0.644)])
def test_tc_probability_1_does_not_fit_and_becomes_a_power_of_two(ends: tuple[int, int], pmax: float) -> None:
    # (max - min) / 2^Plog: 60000 / 65536 and 1350000 / 2^21.
    least, most = ends
    configuration = read(f"tc qdisc add dev e root red limit 9m min {least} max {most} avpkt 1500 probability 1 ecn\n")
    (queue,) = configuration.queues
    assert queue.mark is not None
    assert float(queue.mark.pmax) == pytest.approx(pmax, abs=0.001)
    assert "0.999999" in said(configuration)


def test_tc_sizes_count_in_1024_and_times_in_microseconds() -> None:
    (red,) = read("tc qdisc add dev e root red limit 1.5mb min 30k max 90kb avpkt 1500b ecn bandwidth 1gbit\n").queues
    assert red.exact is not None
    assert (red.exact["limit"], red.exact["min"], red.exact["max"]) == ("1572864 B", "30720 B", "92160 B")
    assert red.exact["bandwidth"] == "1000000000 bit/s"
    (codel,) = read("tc qdisc add dev e root codel target 500 interval 10ms ecn\n").queues
    assert codel.exact == {
        "kind": "codel",
        "limit": "1000 packets",
        "target": "500 us",
        "interval": "10000 us",
        "ecn": True,
    }


def test_tc_ce_threshold_counts_units_of_1024_ns() -> None:
    configuration = read("tc qdisc replace dev e root fq_codel ce_threshold 500us ce_threshold_selector 0x1/0x3\n")
    (queue,) = configuration.queues
    assert queue.mark is not None
    # 500 us are 488 units: 499.712 us.
    assert queue.mark.min.seconds_at(Port(GBIT)) == Fraction(499_712, 10**9)
    assert queue.exact is not None
    assert queue.exact["ce_threshold_for"] == "ect1"
    assert "CoDel stays active" in said(configuration)
    assert dict(answers(queue))["Packets that are not ECT"].startswith("by `fq-codel`")


@pytest.mark.parametrize(
    ("selector", "packets", "above"),
    [
        ("", "ECT", "all ECT packets are marked"),
        ("ce_threshold_selector 0/0", "ECT", "all ECT packets are marked"),
        ("ce_threshold_selector 0x1/0x3", "ECT(1)", "all ECT(1) packets are marked, and no others by this step"),
        ("ce_threshold_selector 1/1", "ECT(1)", "all ECT(1) packets are marked, and no others by this step"),
        ("ce_threshold_selector 0x02/0x03", "ECT(0)", "all ECT(0) packets are marked, and no others by this step"),
    ],
)
def test_tc_ce_threshold_says_for_which_code_points_it_is(selector: str, packets: str, above: str) -> None:
    configuration = read(f"tc qdisc replace dev e root fq_codel ce_threshold 500us {selector}\n")
    (queue,) = configuration.queues
    assert dict(answers(queue))["Above the maximum"] == above
    assert [row[1] for row in law_table([queue], Port(GBIT)).rows] == ["all", packets]
    (law,) = configuration_json(configuration, [queue], [], Port(GBIT), file="e")["queues"][0]["laws"]
    assert law["code_points"] == (None if packets == "ECT" else packets)


def test_tc_ce_threshold_of_packets_that_cannot_be_marked_is_no_law() -> None:
    configuration = read("tc qdisc replace dev e root fq_codel ce_threshold 500us ce_threshold_selector 3/3\n")
    assert configuration.queues[0].mark is None
    assert "selects packets that are never marked" in said(configuration)


def test_tc_ets_serves_its_bands() -> None:
    text = (
        "tc qdisc add dev e root handle 1: ets bands 3 strict 1 quanta 6000 3000 priomap 0 1 2\n"
        "tc qdisc add dev e parent 1:1 handle 10: pfifo limit 100\n"
        "tc qdisc add dev e parent 1:2 handle 20: codel\n"
        "tc qdisc add dev e parent 1:3 handle 30: bfifo limit 1000000\n"
    )
    served = [(queue.index, queue.scheduler and (queue.scheduler.serving, queue.scheduler.weight))
              for queue in read(text).queues]  # fmt: skip
    assert served == [
        (1, (Serving.STRICT, None)),
        (2, (Serving.WEIGHTED, 6000)),
        (3, (Serving.WEIGHTED, 3000)),
    ]


def test_tc_gred_has_a_law_for_each_class() -> None:
    text = (
        "tc qdisc add dev e root handle 10: gred setup vqs 2 default 0 grio limit 400000\n"
        "tc qdisc change dev e root handle 10: gred limit 400000 min 15000 max 45000 avpkt 1500 burst 20 "
        "probability 0.1 vq 0 prio 8\n"
        "tc qdisc change dev e root handle 10: gred limit 400000 min 30000 max 60000 avpkt 1500 burst 30 "
        "probability 0.2 vq 1 prio 8 ecn\n"
    )
    (queue,) = read(text).queues
    assert queue.exact is not None
    assert queue.exact["kind"] == "gred"
    assert queue.mark is not None
    assert queue.drop is not None
    assert (int(queue.mark.min.number), int(queue.drop.min.number)) == (30000, 15000)
    # The table is a law of a scenario.
    assert scenario_of(queue.exact, link={"buffer": "400 kB"}).resolved["bottleneck"]["aqm"]["grio"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("red limit 1000000 min 30000 max $MAX avpkt 1500", "variables of a shell"),
        ("red min 30000 avpkt 1500", "tc needs `limit`"),
        ("red limit 100000 min 30x avpkt 1500", "does not read `30x`"),
        ("red limit 100000 avpkt 1500 nodorp ecn", "did you mean `nodrop`?"),
        ("red limit 100000 min 9000 max 3000 avpkt 1500 burst 9", "max of 3000 B"),
        ("fq_codel ce_threshold 1ms ce_threshold_selector 0x4/0xfc", "has no model"),
        ("pie target", "`target` has no value"),
    ],
)
def test_tc_lines_that_are_refused(line: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(f"# comment\nsudo tc qdisc add dev e root {line}\n")
    assert words in str(refused.value)
    assert "text:2" in str(refused.value)


def test_unknown_files_are_refused_and_platforms_named() -> None:
    with pytest.raises(shoal.ScenarioError, match="--platform names them: openconfig"):
        read("hello\n")
    with pytest.raises(shoal.UsageError, match="no platform `sonik`"):
        read("hello\n", platform="sonik")


DOCUMENTS = {
    "sonic": SONIC_STEP,
    "ecnconfig": "ecnconfig -p AZURE_LOSSLESS -gmin 1000 -gmax 2000 -gdrop 5\necnconfig -q 3,4 on\n",
    "nxos": NXOS_DUAL,
    "eos": EOS_DUAL,
    "openconfig": OPENCONFIG_STEP,
    "tc": TC_RED + "tc qdisc add dev e parent 1:2 handle 2: fq_codel ce_threshold 1ms\n",
}


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(DOCUMENTS)), st.data())
def test_broken_documents_are_refused_or_read_and_never_crash(platform: str, data: st.DataObject) -> None:
    text = DOCUMENTS[platform]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        piece = data.draw(
            st.sampled_from(["", "0", "-1", '"', "{}", "[]", "null", " ", "\n", "99999999999", "é", "x", "1:"])
        )
        text = text[:start] + piece + text[end:]
    message = "hint: "
    try:
        read(text, platform=platform)
    except shoal.ScenarioError as refused:
        message = str(refused)
    assert "hint: " in message
