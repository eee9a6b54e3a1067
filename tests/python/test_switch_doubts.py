"""What readers refuse or doubt, and what writers cannot express: each with its sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from switch_documents import EOS_DUAL, GBIT, OPENCONFIG_STEP, amount, law, only, read, said

import shoal
from shoal.switch import Port, Queue, Unit, find_platform
from shoal.switch.amounts import amount_of_scenario, seconds_of
from shoal.switch.as_json import configuration_json
from shoal.switch.checks import answers, remarks
from shoal.switch.from_scenario import queue_of_law, queues_of
from shoal.switch.model import Action, Buffer, Scheduler, Serving, Shaping, Where
from shoal.switch.plane import disciplines
from shoal.switch.platforms import options_of
from shoal.switch.presets import Switch
from shoal.switch.reading import read_config_text
from shoal.switch.several import scenario_of_queues
from shoal.switch.simulate import Experiment, Group, aqm_of, scenario_text
from shoal.switch.tables import answer_table, law_table, merged, service_table
from shoal.switch.writing import Writing

MARK, DROP = Action.MARK, Action.DROP
STEP, DROPS, LATER = law(MARK, 9000, 9000), law(DROP, 9000, 9000), law(DROP, 10_000, 10_000)


def tables(**more: object) -> str:
    return json.dumps({"WRED_PROFILE": {}, "QUEUE": {"Ethernet0|3": {}}} | more)


TC = "tc qdisc add dev e root "
CHANGE = "tc qdisc change dev e root "
BANDS = TC + "handle 1: ets bands 2 quanta 3000 3000\ntc qdisc add dev e parent 1:1 codel\n"
FILTER = BANDS + "tc filter add dev e parent 1: protocol ip prio 1 u32 "
NXOS = "class type queuing c-out-q1\n  "
EOS = "interface Ethernet1\n  uc-tx-queue 3\n    "


@pytest.mark.parametrize(
    ("platform", "text", "words", "hint"),
    [
        ("sonic", "[]", "CONFIG_DB is an object of tables", "right file"),
        ("sonic", '{"QUEUE": {}}', "no WRED_PROFILE and no QUEUE", "qos.json or config_db.json"),
        ("sonic", tables(QUEUE={"Ethernet0|3": []}), "the entry `Ethernet0|3` is not an object", "wred_profile"),
        ("sonic", tables(WRED_PROFILE={"P": []}), "the profile `P` is not an object", "give its fields"),
        ("sonic", tables(QUEUE={"3": {}}), "`3` is not a key of QUEUE", "Ethernet0|3-4"),
        ("sonic", tables(QUEUE={"Ethernet0|4-3": {}}), "`Ethernet0|4-3` has no such queues", "Ethernet0|3-4"),
        ("sonic", tables(QUEUE={"Ethernet0|64": {}}), "`Ethernet0|64` has no such queues", "Ethernet0|3-4"),
        (
            "sonic",
            tables(QUEUE={"Ethernet0|3": {"wred_profile": "P"}}),
            "there is no WRED_PROFILE `P`",
            "add its table",
        ),
        (
            "sonic",
            tables(QUEUE={"Ethernet0|3": {"scheduler": "s"}}, SCHEDULER={"s": {"type": "FIFO"}}),
            "`FIFO` is not a scheduler",
            "DWRR, WRR or STRICT",
        ),
        (
            "sonic",
            tables(QUEUE={"Ethernet0|3": {"scheduler": "s"}}, SCHEDULER={"s": {"type": "WRR", "weight": "-1"}}),
            "`weight` is not a whole number",
            "1250000000",
        ),
        (
            "sonic",
            tables(BUFFER_QUEUE={"Ethernet0|3": {"profile": "b"}}, BUFFER_PROFILE={"b": {"dynamic_th": "half"}}),
            "`dynamic_th` of `b` is not a whole number",
            '"-2"',
        ),
        ("ecnconfig", "ecnconfig -q 3,x on", "`-q` needs numbers of queues", "ecnconfig -q 3,4 on"),
        ("eos", "hostname a\n", "no transmit queue in this file", "uc-tx-queue"),
        ("eos", f"qos map dscp 64 to traffic-class 1\n{EOS}priority strict\n", "not code points", "qos map dscp 8 9"),
        ("eos", f"{EOS}random-detect wred\n", "expected `ecn` or `drop`", "random-detect ecn"),
        (
            "eos",
            f"{EOS}random-detect ecn minimum-threshold 1 milliseconds maximum-threshold 9 bytes\n",
            "one threshold is a time and the other is not",
            "same unit",
        ),
        (
            "eos",
            f"{EOS}random-detect ecn minimum-threshold 9 bytes maximum-threshold 8 bytes\n",
            "the minimum of 9 bytes is above the maximum of 8 bytes",
            "swap",
        ),
        ("eos", f"{EOS}random-detect ecn minimum-threshold 9\n", "the unit is missing", "there are: segments"),
        ("eos", f"{EOS}bandwidth percent 0\n", "`0` is not a share", "from 1 to 100"),
        ("nxos", "hostname a\n", "no `class type queuing` in this file", "queuing policy"),
        ("nxos", f"class-map type qos a\n match dscp x\n{NXOS}priority\n", "not code points", "match dscp 8-10,af11"),
        ("nxos", f"{NXOS}shape min 1\n", "the line ends too early", "as in `shape min 1 gbps max 4 gbps`"),
        ("nxos", f"{NXOS}shape min 1 tbps\n", "`tbps` is not a unit of a rate", "as in `shape min 1 gbps max 4 gbps`"),
        ("nxos", f"{NXOS}priority level 9\n", "`9` is not a level", "from 1 to 8"),
        ("openconfig", '{"qos": {}}', "no queue-management-profile", "below /qos"),
        (
            "openconfig",
            OPENCONFIG_STEP.replace('"min-threshold": "64000"', '"min-threshold": "64001"'),
            "the minimum of 64001 is above the maximum of 64000",
            "swap",
        ),
        ("openconfig", OPENCONFIG_STEP.replace("true", '"maybe"'), "`enable-ecn` is neither true nor false", "true or"),
        ("openconfig", OPENCONFIG_STEP.replace('"64000"', '"6k"'), "is not a whole number", '"64000"'),
        ("tc", f"{TC}red limit 9000 min 10 avpkt 10 probability 1.01\n", "a probability of 101/100", "from 0 to 1"),
        ("tc", f"{TC}codel target 5min\n", "tc does not read `5min` as target", "codel limit 1000"),
        ("tc", f"{TC}red limit 9000 min 10 avpkt 10 bandwidth 5m\n", "does not read `5m` as bandwidth", "red limit"),
        ("tc", f"{TC}dualpi2 max_rtt 10ms typical_rtt 11ms\n", "typical_rtt is above max_rtt", "tc refuses this"),
        ("tc", f"{TC}codel limit {{{{limit}}}}\n", "variables of a shell or a program", "with numbers"),
        ("tc", "tc qdisc add dev e root\n", "the line names no discipline", "as in"),
        ("tc", f"{FILTER}match ip dsfield x 0xfc flowid 1:1\n", "not a number and a mask", "dsfield 0x28 0xfc"),
        (
            "tc",
            f"{TC}gred setup vqs 2 default 0\n{CHANGE}gred limit 9000 min 10 max 20 vq 0\n",
            "tc needs `avpkt` for a virtual queue",
            "gred vq 0",
        ),
        ("tc", "ls\n", "no queue discipline that has a law", "tc qdisc add dev eth0 root"),
    ],
)
def test_what_readers_refuse(platform: str, text: str, words: str, hint: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(text, platform=platform)
    message = str(refused.value)
    assert words in message
    assert hint in message.partition("hint: ")[2]


SECRET = "Tr0ub4dor"
OPENCONFIG_BOUND = json.dumps(
    {
        "qos": {
            "aaa": "SECRET",
            "queue-management-profiles": {"queue-management-profile": [{"name": "P"}]},
            "interfaces": {
                "interface": [{"output": {"queues": {"queue": [{"config": {"queue-management-profile": "Q"}}]}}}]
            },
        }
    }
)


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        ("sonic", f'["{SECRET}"]'),
        ("sonic", f'{{"TACPLUS": "{SECRET}"}}'),
        ("sonic", f'{{"TACPLUS": "{SECRET}", "QUEUE": {{"Ethernet0|4-3": {{}}}}}}'),
        ("sonic", f'{{"TACPLUS": "{SECRET}", "QUEUE": {{"3": {{}}}}}}'),
        ("sonic", f'{{"TACPLUS": "{SECRET}", "QUEUE": {{"E|3": {{"wred_profile": "P"}}}}}}'),
        (
            "sonic",
            f'{{"TACPLUS": "{SECRET}", "QUEUE": {{"E|3": {{"scheduler": "s"}}}}, '
            '"SCHEDULER": {"s": {"type": "x"}}}',
        ),
        (
            "sonic",
            f'{{"TACPLUS": "{SECRET}", "QUEUE": {{"E|3": {{}}}}, "BUFFER_QUEUE": {{"E|3": {{"profile": "b"}}}}, '
            '"BUFFER_PROFILE": {"b": {"static_th": "1", "dynamic_th": "1"}}}',
        ),
        (
            "sonic",
            f'{{"TACPLUS": "{SECRET}", "QUEUE": {{"E|3": {{}}}}, "BUFFER_QUEUE": {{"E|3": {{"profile": "b"}}}}, '
            '"BUFFER_PROFILE": {"b": {"static_th": "x"}}}',
        ),
        ("sonic", f'{{"TACPLUS": "{SECRET}" "QUEUE": {{}}}}'),
        ("sonic", f'{{"TACPLUS": "{SECRET}{{{{ a }}}}"}}'),
        ("openconfig", f'{{"aaa": "{SECRET}"}}'),
        ("openconfig", OPENCONFIG_BOUND.replace("SECRET", SECRET)),
        (
            "openconfig",
            OPENCONFIG_STEP.replace("{", f'{{"aaa": "{SECRET}", ', 1).replace("\n", "").replace("true", '"x"'),
        ),
        ("ecnconfig", f"tacacs-server key {SECRET}\n"),
        ("nxos", f"tacacs-server key {SECRET}\n"),
        ("eos", f"tacacs-server key {SECRET}\n"),
        ("tc", f"TOKEN={SECRET}\n"),
    ],
)
def test_a_refusal_never_shows_what_is_not_about_queues(platform: str, text: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(text, platform=platform)
    assert SECRET not in str(refused.value)
    # All of these are one line.
    assert "--> text:1\n" in str(refused.value)


@pytest.mark.parametrize(
    ("platform", "text", "words"),
    [
        ("sonic", tables(QUEUE={"Ethernet0|3": {"weight": "3"}}), "`weight` is not a field of QUEUE"),
        (
            "sonic",
            tables(WRED_PROFILE={"P": {"ecn": "ecn_none"}, "Q": {"ecn": "ecn_none"}}),
            "no queue has the profile `Q`",
        ),
        ("eos", EOS_DUAL + "      random-detect drop minimum-threshold 1 kbytes maximum-threshold 2 kbytes "
                           "drop-probability 1\n", "a second `random-detect drop` in uc-tx-queue 3: the last acts"),
        ("eos", f"{EOS}shape rate 5 pps\n", "a shape in `pps` is not read"),
        ("eos", f"{EOS}random-detect ecn minimum-threshold 1 bytes maximum-threshold 9 segments weight 0\n", "208"),
        ("nxos", f"{NXOS}shape min 1 pps max 9 pps\n", "a shape in packets a second is not read"),
        ("nxos", f"{NXOS}random-detect cos 3 minimum-threshold 1 kbytes\n", "a law for each class of service"),
        (
            "nxos",
            f"{NXOS}random-detect minimum-threshold 1 packets maximum-threshold 2 kbytes weight 1 cap-average ecn\n",
            "`cap-average` is not part of the law",
        ),
        ("nxos", f"{NXOS}random-detect minimum-threshold 1 packets maximum-threshold 2 kbytes\n", "1000 bytes"),
        ("openconfig", OPENCONFIG_STEP.replace('"drop"', '"drops"'), "`drops` is not a leaf of a profile"),
        ("openconfig", OPENCONFIG_STEP.replace('"uniform"', '"none"'), "no wred/uniform/config: no law"),
        ("tc", f"{TC}pfifo\n", "no limit: the length of the device's queue"),
        ("tc", f"{TC}cake\n{TC.replace(' e ', ' f ')}codel\n", "`cake` is not read"),
        ("tc", f"{FILTER}match ip sport 80 0xffff flowid 1:1\n", "this filter is not read"),
        ("tc", f"{TC}dualpi2 memlimit 4000000\n", "`memlimit` is not read"),
        ("tc", f"{TC}gred setup\n{CHANGE}gred limit 90k min 9k max 30k avpkt 1k burst 20 vq 0\n", "two virtual queues"),
    ],
)  # fmt: skip
def test_what_readers_doubt(platform: str, text: str, words: str) -> None:
    assert words in said(read(text, platform=platform))


@pytest.mark.parametrize("minor", ["x1", "é2", "1:2"])
def test_tc_classes_that_are_no_numbers_are_refused(minor: str) -> None:
    text = f"{TC}handle 1: ets bands 2 quanta 3000 3000\ntc qdisc add dev e parent 1:{minor} codel\n"
    with pytest.raises(shoal.ScenarioError, match=f"`1:{minor}` is no parent of `tc`"):
        read(text)


@pytest.mark.parametrize("minor", ["", "0", "3", "a"])
def test_tc_classes_that_are_not_there_get_no_discipline(minor: str) -> None:
    text = f"{TC}handle 1: ets bands 2 quanta 3000 3000\ntc qdisc add dev e parent 1:{minor} codel\n"
    assert [queue.name for queue in read(text).queues] == ["e 1:1 pfifo", "e 1:2 pfifo"]
    assert "the kernel refuses this line: `ets` 1: has no class" in said(read(text))


def test_what_is_not_doubted() -> None:
    assert "memlimit" not in said(read(f"{TC}dualpi2 memlimit {2**32 - 1}\n"))
    assert "not a leaf" not in said(read(OPENCONFIG_STEP))
    bits = "tc -s qdisc add dev e root codel\n"
    assert only(bits).exact is not None
    counted = EOS_DUAL + "      random-detect ecn count\n      mtu 9000\n"
    assert read(counted).queues == read(EOS_DUAL).queues


def queue(index: int = 3, **more: Any) -> Queue:
    return Queue(name=str(index), index=index, ports=("Ethernet0",), **more)


def write(platform: str, *queues: Queue, **options: Any) -> tuple[str, str]:
    writer = find_platform(platform)
    writing = Writing(Port(100 * GBIT), options_of(writer, options))
    return writer.write(queues, writing), "\n".join(f"{remark} [{remark.hint}]" for remark in writing.remarks)


ALL = ("sonic", "ecnconfig", "nxos", "openconfig", "tc")


@pytest.mark.parametrize("platform", [*ALL, "eos"])
def test_drops_that_tell_ect_packets_apart_are_refused(platform: str) -> None:
    """No platform drops ECT packets alone, nor by a law of their own; nothing of it may be lost silently."""
    for laws in ({"drop_ect": DROPS}, {"drop": DROPS, "drop_ect": LATER}):
        with pytest.raises(shoal.UsageError, match="drops ECT packets and not the others alike"):
            write(platform, queue(**laws))
    write(platform, queue(drop=DROPS, drop_ect=DROPS))


@pytest.mark.parametrize("platform", ALL)
def test_drops_beside_marks_and_of_others_alone_are_refused(platform: str) -> None:
    with pytest.raises(shoal.UsageError, match="beside the one that marks them"):
        write(platform, queue(mark=STEP, drop=DROPS, drop_ect=LATER))
    with pytest.raises(shoal.UsageError, match="drops only packets that are not ECT"):
        write(platform, queue(drop=DROPS))


@pytest.mark.parametrize(
    ("platform", "one", "words", "hint"),
    [
        ("openconfig", queue(mark=STEP, drop=LATER), "a profile has one", "--platform eos"),
        ("sonic", queue(mark=law(MARK, 9, 99, 1, 1)), "always sets weight 0", "write weight = 0"),
        ("nxos", queue(unknown="a table"), "its law is not known (a table)", "give the thresholds"),
        ("tc", queue(unknown="a table"), "its law is not known (a table)", "give the thresholds"),
        ("nxos", queue(mark=STEP, drop=LATER), "different laws", "--nxos-non-ecn"),
        ("sonic", queue(mark=replace(STEP, min=amount(1, Unit.PERCENT))), "percent of an unknown buffer", "--buffer"),
        ("tc", queue(mark=replace(STEP, min=amount(1, Unit.PERCENT))), "percent of an unknown buffer", "--buffer"),
        (
            "eos",
            queue(mark=law(MARK, amount(1, Unit.NANOSECONDS), amount(1, Unit.NANOSECONDS))),
            "is not in whole milliseconds",
            # 1 ns at 100 Gbit/s are 12.5 bytes.
            "13 B at this port",
        ),
    ],
)
def test_what_writers_refuse(platform: str, one: Queue, words: str, hint: str) -> None:
    with pytest.raises(shoal.UsageError) as refused:
        write(platform, one)
    assert words in str(refused.value)
    assert hint in (refused.value.hint or "")


def test_what_writers_say_is_lost() -> None:
    marks, own = law(MARK, 9000, 9000, 1, 2), law(DROP, 20_000, 20_000, 1, 5)
    for platform, one, words, options in (
        (
            "nxos",
            queue(mark=marks, drop=own),
            "drops follow the average of the marks (weight 2)",
            {"has_non_ecn": True},
        ),
        ("sonic", queue(scheduler=Scheduler(Serving.STRICT, priority=0)), "a priority is not written", {}),
        ("ecnconfig", queue(), "it has no law, and ecnconfig cannot remove one", {}),
        ("openconfig", queue(mark=STEP), "where marks are decided is not part of the model", {}),
        ("nxos", queue(buffer=Buffer(7, alpha=Fraction(1))), "7 bytes reserved are not written", {"has_limit": True}),
        ("tc", queue(mark=STEP, drop=own), "the laws have different weights", {}),
        ("tc", queue(mark=STEP), "decides when packets arrive, not when they leave", {}),
    ):
        assert words in write(platform, one, **options)[1], words
    assert "marks without dropping" in write("sonic", queue(mark=STEP))[1]
    assert "marks without dropping" not in write("sonic", queue(mark=STEP, drop=DROPS))[1]
    # tc keeps 32 bits of bytes a second.
    assert " bandwidth 34000000000bit" in write("tc", queue(mark=STEP))[0]
    same = replace(own, weight=2)
    assert "drops follow" not in write("nxos", queue(mark=marks, drop=same), has_non_ecn=True)[1]


def test_sonic_names_of_profiles_and_schedulers_that_differ_by_queue() -> None:
    """Two queues with one profile's name and different laws: the second gets its number; schedulers their port."""
    first, second = queue(3, mark=STEP, profile="P"), queue(4, mark=law(MARK, 5000, 5000), profile="P")
    found = json.loads(write("sonic", first, second)[0])
    assert {key: one["wred_profile"] for key, one in found["QUEUE"].items()} == {
        "Ethernet0|3": "P",
        "Ethernet0|4": "P_4",
    }
    served = [queue(3, scheduler=Scheduler(Serving.WEIGHTED, weight=weight)) for weight in (1, 2)]
    other = replace(served[1], ports=("Ethernet4",))
    found = json.loads(write("sonic", served[0], other)[0])
    assert {key: one["scheduler"] for key, one in found["QUEUE"].items()} == {
        "Ethernet0|3": "SHOAL_SCHEDULER_3",
        "Ethernet4|3": "SHOAL_SCHEDULER_3.Ethernet4",
    }
    pool = Buffer(0, amount(9, Unit.BYTES), None, 10**6, "pool", "b")
    found = json.loads(write("sonic", queue(buffer=pool))[0])
    assert found["BUFFER_POOL"] == {"pool": {"type": "egress", "mode": "static", "size": "1000000"}}


def test_ports_and_numbers_that_are_not_said() -> None:
    bare = Queue(name="q", mark=STEP, drop=DROPS)
    assert list(json.loads(write("sonic", bare)[0])["QUEUE"]) == ["Ethernet0|0"]
    assert write("eos", bare, ports=["Ethernet7"])[0].startswith("interface Ethernet7\n   uc-tx-queue 0\n")
    assert "c-out-8q-q-default" in write("nxos", bare)[0]


def test_a_queue_without_a_number_is_listed_in_front_of_queue_1() -> None:
    queues = [
        queue(1, drop=DROPS, drop_ect=DROPS, dscp=(1,)),
        Queue(name="a", ports=("Ethernet0",), mark=STEP, dscp=(0,)),
    ]
    experiment = Experiment(Port(10 * GBIT), Fraction(1, 10**4), groups=(Group("reno", 1, "1"), Group("reno", 1, "a")))
    aqm = shoal.Scenario.from_toml(scenario_of_queues(queues, experiment, file="f")).resolved["bottleneck"]["aqm"]
    assert [one["name"] for one in aqm["queues"]] == ["a", "1"]


def test_queues_without_numbers() -> None:
    """OpenConfig names queues: they are served in the order in which they stand, and go into group 0 of NX-OS."""
    marks, drops = (
        Queue(name="AF1", mark=STEP, dscp=(10,)),
        Queue(name="BE1", drop=DROPS, drop_ect=DROPS, takes_rest=True),
    )
    experiment = Experiment(Port(10 * GBIT), Fraction(1, 10**4))
    aqm = shoal.Scenario.from_toml(scenario_of_queues([marks, drops], experiment, file="f")).resolved["bottleneck"][
        "aqm"
    ]
    assert [(one["name"], one["dscp"][0]) for one in aqm["queues"]] == [("AF1", 10), ("BE1", 0)]
    both = replace(marks, drop=replace(DROPS, min=STEP.min, max=STEP.max))
    assert "set qos-group 0\n" in write("nxos", both, has_map=True)[0]
    assert "to traffic-class 0\n" in write("eos", both, has_map=True)[0]
    assert json.loads(write("sonic", both, has_map=True)[0])["DSCP_TO_TC_MAP"]["SHOAL"] == {"10": "0"}


def test_json_of_what_is_known_and_what_is_not() -> None:
    """Sizes are whole cells of 1000 bytes; 9000 bytes at 1 Gbit/s are 72 us."""
    served = queue(mark=STEP, scheduler=Scheduler(Serving.STRICT, priority=2), shaping=Shaping(GBIT, 5), dscp=(1,))
    unknown = Queue(name="u", unknown="a table", takes_rest=True, buffer=Buffer(3, amount(9, Unit.KBYTES), Fraction(1)))
    port = Port(GBIT, cell_bytes=1000)
    content = configuration_json(read(OPENCONFIG_STEP), [served, unknown], [], port, file="f")
    one, two = content["queues"]
    assert (one["served"], one["shape_bps"], one["burst_bytes"], one["dscp"], one["buffer"]) == (
        {"kind": "strict", "weight": None, "priority": 2}, GBIT, 5, [1], None,
    )  # fmt: skip
    (only_law,) = one["laws"]
    assert only_law["minimum"] == {"written": "9000 bytes", "bytes": 9000, "time_s": pytest.approx(72e-6)}
    assert (two["law_unknown"], two["takes_all_other_dscp"], two["served"]) == ("a table", True, None)
    assert two["buffer"] == {
        "reserved_bytes": 3, "limit_bytes": 9000, "alpha": 1.0, "pool_bytes": None, "alone_bytes": 9003,
    }  # fmt: skip
    assert set(two["answers"].values()) == {"unknown"}


def test_tables_of_what_is_known_and_what_is_not() -> None:
    port = Port(GBIT)
    percent = law(MARK, amount(1, Unit.PERCENT), amount(2, Unit.PERCENT), Fraction(1, 8), 3)
    queues = [queue(mark=percent), Queue(name="u", unknown="a table"), Queue(name="f")]
    rows = [tuple(row) for row in law_table(queues, port).rows]
    assert rows[0] == ("3", "ECT", "mark", "1 %", "2 %", "12.5 %", "2^-3", "-", "-", "-", "-")
    assert [row[2] for row in rows[1:]] == ["unknown: a table", "tail drop"]
    assert service_table([Queue(name="f")], port) is None
    served = [Scheduler(Serving.STRICT), Scheduler(Serving.STRICT, 3, 2), Scheduler(Serving.WEIGHTED, 3, 2)]
    assert [str(scheduler) for scheduler in served] == ["strict", "strict 2", "weighted 3"]
    many = queue(buffer=Buffer(1, alpha=Fraction(1), pool_bytes=2000), takes_rest=True)
    service = service_table([replace(many, ports=("a", "b", "c"))], port)
    assert service is not None
    assert tuple(service.rows[0]) == ("3", "-", "-", "alpha 1; alone 1,001 B", "all others", "a and 2 more")
    assert tuple(answer_table([queue(mark=replace(STEP, weight=None))]).rows[0])[3] == (
        "unknown: the platform's average, at departure"
    )
    doubt = read(OPENCONFIG_STEP.replace(', "weight": 0', "")).remarks[0]
    both = merged([replace(doubt, queue="a", source=None), replace(doubt, queue="b", source=None)])
    assert [text for text, _ in both] == [f"queues a, b: {doubt.text}"]


def test_answers_about_what_is_compared_and_what_is_above() -> None:
    for one, expected in (
        (queue(mark=STEP, drop_ect=LATER), "ECT packets are marked, then dropped"),
        (queue(drop=DROPS, drop_ect=DROPS), "all packets are dropped"),
        (queue(drop=DROPS), "all others are dropped"),
        (queue(), "nothing, but for the buffer"),
        (queue(exact={"kind": "codel"}), "`codel` has no maximum"),
    ):
        assert dict(answers(one))["Above the maximum"].startswith(expected)
    for where, words in ((Where.ENQUEUE, "at arrival"), (Where.DEQUEUE, "at departure"), (Where.UNKNOWN, "unknown")):
        assert words in dict(answers(queue(mark=replace(STEP, where=where))))["What is compared"]
    timed = law(MARK, amount(1, Unit.MILLISECONDS), amount(1, Unit.MILLISECONDS))
    assert dict(answers(queue(mark=timed)))["What is compared"] == "the packet's own wait, at departure"
    above = law(MARK, amount(2, Unit.PACKETS), amount(1, Unit.BYTES))
    assert "is above the maximum" in "".join(map(str, remarks(queue(mark=above), Port(GBIT))))


def test_scenarios_of_what_is_only_partly_known() -> None:
    experiment = Experiment(Port(10 * GBIT), Fraction(1, 10**4), host="ideal")
    assert experiment.host_preset == "ideal"
    with pytest.raises(shoal.UsageError, match="thresholds in percent"):
        aqm_of(queue(mark=replace(STEP, min=amount(1, Unit.PERCENT))), experiment)
    assert aqm_of(queue(mark=replace(STEP, weight=None)), experiment)["weight"] == 0
    assert aqm_of(queue(mark=law(MARK, 9, 99, 1, 2), drop=law(DROP, 9, 99, 1, 3)), experiment)["weight"] == 2
    assert "the laws have different weights" in experiment.remarks[-1].text
    text = scenario_text(queue(mark=STEP), Experiment(Port(GBIT), seconds_of("1500ns")), title="t")
    assert '"1500 ns"' in text
    no_point = [queue(1, mark=STEP, dscp=(1,)), queue(2, drop=DROPS, drop_ect=DROPS)]
    with pytest.raises(shoal.UsageError, match="no code point leads to queue 2"):
        scenario_of_queues(no_point, replace(experiment, groups=(Group("cubic", 1, "2"),)), file="f")
    # Half of a ramp lies beyond every buffer: 4 10^11 to 2 10^12 bytes, of which 10^12 is three eighths.
    far = aqm_of(queue(mark=law(MARK, 4 * 10**11 + 1, 2 * 10**12, 1)), experiment)["mark"]
    assert isinstance(far, dict)
    assert (far["min"], far["max"]) == ("400000000001 B", "1000000000000 B")
    assert far["max_probability"] == pytest.approx(0.375)
    # A weight that is left open is read as 0, and is no other than that.
    experiment.remarks.clear()
    aqm_of(queue(mark=replace(STEP, weight=None), drop=DROPS), experiment)
    assert experiment.remarks == []
    celled = replace(experiment, port=Port(10 * GBIT, cell_bytes=2))
    assert (aqm_of(queue(mark=STEP), celled)["cell"], "cell" in aqm_of(queue(mark=STEP), experiment)) == ("2 B", False)
    within = aqm_of(queue(mark=law(MARK, 4 * 10**11, 10**12, 1)), experiment)["mark"]
    assert isinstance(within, dict)
    assert within["max_probability"] == 1.0


def test_laws_of_scenarios_that_have_no_threshold() -> None:
    with pytest.raises(shoal.UsageError, match=r"`bottleneck.aqm.mark.max` is unlimited"):
        queue_of_law({"kind": "wred", "mark": {"min": "9 kB", "max": "unlimited"}}, index=0)
    for wrong in ("9", "9 furlongs", "1 BDP"):
        with pytest.raises(shoal.UsageError, match=r"no amount of a queue|cannot be converted"):
            amount_of_scenario(wrong, bdp_bytes=None)
    with pytest.raises(shoal.UsageError, match="is not a time"):
        seconds_of("0s")
    red = {"min": "9 kB", "max": "9 kB", "weight": 1.0}
    ramp, _ = queue_of_law({"kind": "dual-red", "reno": red, "dctcp": red | {"max": "10 kB"}}, index=0)
    assert ramp.mark == law(MARK, 9000, 10_000, where=Where.ENQUEUE)
    plain, _ = queue_of_law({"kind": "linux-red", "min": "30 packets", "max": "90 packets"}, index=0)
    assert plain.drop is not None
    assert (plain.drop.weight, plain.drop == plain.drop_ect, plain.mark) == (None, True, None)


def test_shapes_of_classes_are_carried_with_their_bursts() -> None:
    keys = {"bottleneck.aqm.queues.rest.shape": "3 Mbit/s", "bottleneck.aqm.queues.rest.burst": "9 kB"}
    queues, _ = queues_of(shoal.Scenario.named("two-classes").override(keys), index=0)
    assert [one.shaping for one in queues if one.shaping] == [Shaping(3_000_000, 9000)]


def test_the_first_bottleneck_alone_has_lines() -> None:
    """A parking lot has a queue at each of its three hops: RED at the first, with its child."""
    given = shoal.Scenario.named("parking-lot")
    assert len(given.facts["bottlenecks"]) == 3
    assert [(one.parent, one.handle) for one in disciplines(given)] == [("1:1", "10"), ("10:1", "11")]


def test_files_are_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.switch.reading._max_bytes", 4)
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfa")
    assert read_config_text(path) == "a"
    path.write_bytes(b"abcd\xff"[:5])
    with pytest.raises(shoal.OutputError, match="more than 4 bytes"):
        read_config_text(path)
    with pytest.raises(shoal.ScenarioError, match="nested too deeply"):
        read('{"QUEUE": ' + "[" * 100_000, platform="sonic")


def test_switches_say_what_is_known_in_a_line() -> None:
    one = Switch("n", "T", Where.ENQUEUE, "red", 256, None, 64, 2, has_steps=False, assumed=("cell_bytes",))
    assert one.summary == (
        "T; decides at enqueue; cells of 256 B; thresholds in 64 cells; thresholds in 2 B; no steps; the red profile "
        "applies; assumed: cell"
    )
    assert Switch("n", "T", Where.UNKNOWN).summary == "T"


@pytest.mark.parametrize(("point", "is_said"), [(48, True), (0, False)])
def test_where_ordinary_packets_wait_is_said_to_be_unknown_if_no_map_has_their_code_point(
    point: int, is_said: bool
) -> None:
    step = law(Action.MARK, 5000, 5000)
    queues = [Queue("1", 1, dscp=(26,), mark=step), Queue("2", 2, dscp=(point,)), Queue("3", 3)]
    experiment = Experiment(Port(10 * GBIT), Fraction(1, 10**4))
    scenario_of_queues(queues, experiment, file="f")
    remarks = "\n".join(map(str, experiment.remarks))
    assert ("no map of the file leads code point 0 to a queue: where cubic would wait" in remarks) is is_said
    assert "flows: dctcp in queue 1; cubic in queue 2" in remarks
