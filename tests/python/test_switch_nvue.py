"""NVUE of Cumulus Linux: what commands and YAML mean, and what cannot be written."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from switch_documents import GBIT, NVUE_STEP, law, only, read, said

import shoal
from shoal.switch import Document, Law, Port, Queue, find_platform
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Buffer, Scheduler, Serving, Shaping
from shoal.switch.platforms.nvue import NvueOptions
from shoal.switch.several import scenario_of_queues
from shoal.switch.simulate import Experiment
from shoal.switch.writing import Writing

SET = "nv set qos congestion-control default-global traffic-class"
# The example of the reference, with its probability.
EXAMPLE = f"{SET} 4,5 min-threshold 40000\n{SET} 4,5 max-threshold 200000\n{SET} 4,5 probability 80\n"
MARK, DROP = (law(action, 40000, 200000, Fraction(80, 100)) for action in (Action.MARK, Action.DROP))
# What `nv config show` prints has a header, and quotes numbers of classes.
YAML = """- header:
    model: vx
    version: Cumulus Linux 5.9.1
- set:
    interface:
      swp1-2,swp4:
        link:
          speed: 25G
          state:
            up: {}
        qos:
          congestion-control:
            profile: DC
    qos:
      congestion-control:
        DC:
          traffic-class:
            '3':
              ecn: enabled
              max-threshold: 200000
              min-threshold: 40000
              probability: 80
              red: disabled
            '4,5': {ecn: disabled, red: enabled, min-threshold: 40000, max-threshold: 200000, probability: 80}
    system:
      hostname: leaf01
"""
MAPPING = """      mapping:
        default-global:
          trust: l3
          dscp:
            '10': {switch-priority: 3}
      egress-queue-mapping:
        default-global:
          switch-priority:
            '1': {traffic-class: 4}
"""


def test_ecn_marks_and_red_drops_the_others() -> None:
    four, five = read(f"{EXAMPLE}{SET} 4,5 ecn enabled\n{SET} 5 red enabled\n").queues
    assert (four.index, four.mark, four.drop, four.not_ect_known) == (4, MARK, None, True)
    assert (five.index, five.mark, five.drop, five.drop_ect) == (5, MARK, DROP, None)


def test_without_ecn_all_are_dropped_alike() -> None:
    queue = only(f"{EXAMPLE.replace('4,5', '4')}{SET} 4 red enabled\n{SET} 4 ecn disable\n")
    assert (queue.mark, queue.drop, queue.drop_ect) == (None, DROP, DROP)


def test_what_is_left_out_has_the_documents_default_and_is_said() -> None:
    """ECN is on, RED off and the probability 100 % (chapter Quality of Service); thresholds are those of class 0."""
    configuration = read("nv set qos congestion-control default-global traffic-class 0 max-threshold 900000\n")
    (queue,) = configuration.queues
    assert (queue.mark, queue.drop) == (law(Action.MARK, 150_000, 900_000), None)
    words = said(configuration)
    for part in ("`ecn` is not written: read as on", "both thresholds are not written", "`probability` is not written"):
        assert part in words
    explicit = read(f"{EXAMPLE}{SET} 4,5 ecn on\n")
    assert "not written" not in said(explicit)


def test_thresholds_that_no_document_has_are_unknown() -> None:
    configuration = read(f"{SET} 4 ecn enable\n{SET} 4 min-threshold 1000\n")
    (queue,) = configuration.queues
    assert queue.unknown == "no `max-threshold`"
    assert "traffic class 4 of `default-global` has no `max-threshold`" in said(configuration)
    with pytest.raises(shoal.UsageError, match="is not known: no `max-threshold`"):
        scenario_of_queues([queue], Experiment(Port(GBIT), Fraction(1, 10_000)), file="f")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (f"{EXAMPLE}{SET} 4 min-threshold 200001\n{SET} 4 ecn enabled\n", "200001 bytes is above the maximum"),
        (f"{SET} 8 ecn enabled\n", "not a traffic class"),
        (f"{SET} $tc ecn enabled\n", "the line holds variables of a shell"),
        (f"{SET} 4 probability 0\n", "not a probability"),
        (f"{SET} 4 min-threshold 150KB\n", "`150KB` is not a number of bytes"),
        (f"{SET} 4 ecn maybe\n", "neither enable nor disable"),
        (f"{SET} 4 threshold 5\n", "`threshold` is not a setting of a traffic class"),
        (f"{SET} 4 ecn enable now\n", "`now` is not expected here"),
        (NVUE_STEP.replace("profile DC", "profile DCC"), "there is no profile `DCC`"),
        (f"{NVUE_STEP}nv set interface swp1 link speed fast\n", "`fast` is not a speed"),
        (f"{NVUE_STEP}nv set qos egress-scheduler default-global traffic-class 3 mode wrr\n", "`wrr` is not a mode"),
        (f"{NVUE_STEP}nv set qos egress-shaper S mode pps\n", "packets a second"),
        (f"{NVUE_STEP}nv set qos mapping M trust l4\n", "`l4` is not what a port trusts"),
        ("nv set qos roce mode fast\n", "`fast` is not a mode of RoCE"),
        (
            f"{NVUE_STEP}nv set interface swp1-9999 qos congestion-control profile DC\n",
            "more than 4096 statements",
        ),
        ("nv set qos pfc P switch-priority 3\n", "no statement about traffic classes"),
    ],
)
def test_what_is_refused(lines: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=words.replace("$", r"\$")):
        read(lines)


def test_yaml_says_the_same_as_commands() -> None:
    """The line of a law is where its class begins."""
    three, four, five = read(YAML).queues
    assert three == replace(Queue("3", 3, ("swp1", "swp2", "swp4"), mark=MARK), profile="DC")
    assert (four.mark, four.drop, four.drop_ect) == (None, DROP, DROP)
    assert replace(five, name="4", index=4) == four
    assert str(three.source) == "text:19"
    commands = "".join(
        f"nv set qos congestion-control DC traffic-class {rest}\n"
        for rest in (
            *("3 ecn enable", "3 max-threshold 200000", "3 min-threshold 40000", "3 probability 80"),
            *("4,5 ecn disable", "4-5 red enable", "4,5 max-threshold 200000", "4,5 min-threshold 40000"),
            "4,5 probability 80",
        )
    )
    assert read(f"{commands}nv set interface swp1-swp2,swp4 qos congestion-control profile DC").queues == (
        three,
        four,
        five,
    )


def test_yaml_is_read_as_a_mapping_as_a_list_and_as_json() -> None:
    bare = "\n".join(line[4:] for line in YAML.partition("- set:\n")[2].splitlines())
    expected = read(YAML).queues
    assert read(bare).queues == expected
    assert read(f"cumulus@leaf01:mgmt:~$ nv config show\n{YAML}").queues == expected
    assert read(f"set:\n{YAML.partition('- set:')[2]}").queues == expected
    json = '[{"set": {"qos": {"congestion-control": {"DC": {"traffic-class": {"3": {"ecn": "enable", '
    json += '"min-threshold": 40000, "max-threshold": 200000, "probability": 80}}}}}}}]'
    assert only(json).mark == MARK
    patch = f"{YAML}- unset:\n    qos: {{congestion-control: {{DC: {{traffic-class: {{'4': {{}}}}}}}}}}\n"
    assert [queue.index for queue in read(patch).queues] == [3, 5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            YAML.replace("ecn: enabled\n", "ecn: enabled\n              ecn: enabled\n"),
            "a name stands twice in one mapping",
        ),
        (YAML.replace("'3':", "'3': &a").replace("{ecn: disabled", "{x: *a, ecn: disabled"), "an alias of YAML"),
        (f"{YAML}x: {'[' * 70}{']' * 70}\n".replace("- set:", "set:").replace("- header:", "header:"), "nested too"),
        (f"{YAML}  x: [\n", "not YAML"),
        (f"{YAML}\t- x\n", "not YAML"),
        (YAML.replace("'3':", "? [a, b]\n            :"), "a name of YAML that is no word"),
    ],
)
def test_yaml_that_is_not_read(text: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=words):
        read(text)


def test_what_is_unset_is_not_there() -> None:
    """Only what stands before: a profile that is set again is."""
    text = f"{NVUE_STEP}nv unset qos congestion-control DC traffic-class 3\n{EXAMPLE}{SET} 4,5 ecn enable\n"
    configuration = read(f"{text}nv unset interface swp1 qos congestion-control\n")
    assert {queue.index for queue in configuration.queues} == {4, 5}
    again = read(f"nv unset qos congestion-control\n{NVUE_STEP}nv unset interface swp1-2 qos pfc profile\n")
    assert again.queues[0].mark == law(Action.MARK, 150_000, 150_000)
    red = only(f"{NVUE_STEP}nv set qos congestion-control DC traffic-class 3 red enable\n"
               "nv unset qos congestion-control DC traffic-class 3 red\n")  # fmt: skip
    assert red.drop is None


def test_older_forms_are_read() -> None:
    """The chapter of 5.2 has `-bytes`, and binds a profile without the word."""
    text = NVUE_STEP.replace("-threshold", "-threshold-bytes").replace("profile DC", "DC")
    assert read(text).queues == read(NVUE_STEP).queues


def test_groups_of_ports_have_names_of_their_profiles() -> None:
    text = f"{NVUE_STEP}{EXAMPLE}{SET} 4,5 ecn enable\nnv set qos congestion-control NONE traffic-class 1 ecn disable\n"
    configuration = read(text)
    assert [(queue.name, queue.ports) for queue in configuration.queues] == [
        ("3@DC", ("swp1",)),
        ("4@default-global", ()),
        ("5@default-global", ()),
        ("1@NONE", ()),
    ]
    assert "no interface has the profile `NONE`" in said(configuration)
    split = f"{NVUE_STEP}nv set interface swp2 qos congestion-control profile DC\n"
    split += "nv set qos egress-scheduler S traffic-class 3 bw-percent 60\n"
    split += "nv set interface swp2 qos egress-scheduler profile S\n"
    assert [(queue.name, queue.scheduler) for queue in read(split).queues] == [
        ("3@swp1", None),
        ("3@swp2", Scheduler(Serving.WEIGHTED, weight=60)),
    ]


def test_ports_that_no_statement_names_have_the_default_profile() -> None:
    text = f"{EXAMPLE}{SET} 4,5 ecn enable\nnv set qos egress-scheduler S traffic-class 4 bw-percent 60\n"
    queues = read(f"{text}nv set interface swp1 qos egress-scheduler profile S\n").queues
    assert [(queue.name, queue.ports, queue.scheduler is None) for queue in queues] == [
        ("4@swp1", ("swp1",), False),
        ("5@swp1", ("swp1",), True),
        ("4@default-global", (), True),
        ("5@default-global", (), True),
    ]


def test_scheduler_shaper_and_buffer() -> None:
    """Rates of shapers are kbit/s; 2147483647 is no limit."""
    text = NVUE_STEP + "".join(
        f"nv set {line}\n"
        for line in (
            "qos egress-scheduler default-global traffic-class 0,3 mode dwrr",
            "qos egress-scheduler default-global traffic-class 0 bw-percent 40",
            "qos egress-scheduler default-global traffic-class 3 bw-percent 60",
            "qos egress-scheduler default-global traffic-class 7 mode strict",
            "qos egress-shaper SH traffic-class 3 max-rate 500000",
            "qos egress-shaper SH traffic-class 0 max-rate 2147483647",
            "qos egress-shaper SH port-max-rate 2000000",
            "interface swp1 qos egress-shaper profile SH",
            "qos advance-buffer-config default-global egress-lossy-buffer traffic-class 3 reserved 10000",
            "qos advance-buffer-config default-global egress-lossy-buffer traffic-class 3 shared-alpha alpha_1_4",
            "qos advance-buffer-config default-global egress-lossy-buffer traffic-class 0 shared-bytes 500000",
            "qos advance-buffer-config default-global egress-service-pool 0 memory-percent 50",
        )
    )
    zero, three, seven = read(text).queues
    assert three.scheduler == Scheduler(Serving.WEIGHTED, weight=60)
    assert seven.scheduler == Scheduler(Serving.STRICT)
    assert three.shaping == Shaping(500_000_000)
    assert (zero.shaping, zero.buffer) == (None, Buffer(limit=whole_bytes(500_000)))
    assert three.buffer == Buffer(reserved_bytes=10_000, alpha=Fraction(1, 4))
    assert [(line.name, line.rate_bps) for line in zero.lines] == [("the shaper SH", 2_000_000_000)]


def test_code_points_lead_to_classes() -> None:
    """Eight code points have a switch priority: 8 to 15 are of 1, which class 4 has; 10 is set to 3."""
    points = {queue.index: queue.dscp for queue in read(YAML.replace("    system:", f"{MAPPING}    system:")).queues}
    assert points[3] == (10, *range(24, 32))
    assert points[4] == (8, 9, *range(11, 16), *range(32, 40))
    rest = read(f"{NVUE_STEP}nv set qos mapping default-global trust port\n"
                "nv set qos mapping default-global port-default-sp 3\n").queues[0]  # fmt: skip
    assert (rest.takes_rest, rest.dscp) == (True, ())
    assert only(NVUE_STEP).dscp == ()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("nv set qos mapping default-global trust l2\n", "`trust l2` is not read"),
        ("nv set qos mapping default-global dscp 10 switch-priority 3\n", "without `trust`"),
        ("nv set qos mapping M trust l3\nnv set interface swp2 qos mapping profile M\n", "which of several profiles"),
    ],
)
def test_what_leads_by_something_else_is_undecided(lines: str, words: str) -> None:
    configuration = read(NVUE_STEP + lines)
    assert words in said(configuration)
    assert configuration.queues[0].undecided is not None


@pytest.mark.parametrize("mode", ["nv set qos roce\n", "nv set qos roce mode lossless\nnv set qos roce enable on\n"])
def test_roce_mode_has_the_thresholds_of_the_documents(mode: str) -> None:
    """Chapter RoCE: classes 0 and 3 with 146.48 KB and 1.43 MB, 50 % each; 6 is strict, and 3 is paused."""
    configuration = read(mode)
    zero, three, six = configuration.queues
    assert zero.mark == three.mark == law(Action.MARK, 150_000, 1_500_000)
    assert zero.scheduler == three.scheduler == Scheduler(Serving.WEIGHTED, weight=50)
    assert (six.scheduler, six.mark) == (Scheduler(Serving.STRICT), None)
    assert (three.dscp, six.dscp) == (tuple(range(24, 32)), tuple(range(48, 56)))
    assert len(zero.dscp) == 48
    assert "RoCE mode brings thresholds" in said(configuration)
    assert "queue 3: priority flow control is on" in said(configuration)
    assert "priority flow control" not in said(read("nv set qos roce mode lossy\n"))
    own = read(f"{mode}{SET} 3 min-threshold 40000\n").queues
    assert own[1].mark == law(Action.MARK, 40_000, 1_500_000)
    off = "qos:\n  congestion-control: {default-global: {traffic-class: {'1': {ecn: off}}}}\n"
    assert "RoCE" not in said(read(f"{off}  roce: {{enable: off, mode: lossless}}\n"))


def test_a_mode_whose_thresholds_are_rounded_in_the_documents() -> None:
    """Classes 1 to 3 mark 5 %, and where is unknown; code points 5 and 6 are of class 3, and 22 % are for it."""
    queues = read("nv set qos roce mode lossy-multi-tc\n").queues
    assert [queue.unknown for queue in queues] == ["", *3 * ["no `min-threshold`"], "", "", ""]
    assert (queues[3].dscp, queues[3].scheduler) == ((5, 6), Scheduler(Serving.WEIGHTED, weight=22))
    both = f"nv set qos roce mode lossy-multi-tc\n{SET} 3 min-threshold 40000\n{SET} 3 max-threshold 80000\n"
    assert read(both).queues[3].mark == law(Action.MARK, 40_000, 80_000, Fraction(5, 100))


def test_speeds_of_ports_with_queues() -> None:
    platform = find_platform("nvue")
    assert platform.stated_rates_bps(Document("text", YAML, Port(GBIT))) == {25 * GBIT}
    assert "have 25 Gbit/s" in said(read(YAML, rate_bps=GBIT))
    assert "Gbit/s" not in said(read(YAML, rate_bps=25 * GBIT))
    others = "nv set interface eth0 link speed 1G\nnv set interface swp9 link speed 10G\n"
    assert platform.stated_rates_bps(Document("text", NVUE_STEP + others, Port(GBIT))) == set()
    everywhere = f"{EXAMPLE}{SET} 4,5 ecn enable\n{others}nv set interface swp8 link speed auto\n"
    assert platform.stated_rates_bps(Document("text", everywhere, Port(GBIT))) == {10 * GBIT}


def write(queues: list[Queue], **options: object) -> tuple[str, str]:
    writing = Writing(Port(100 * GBIT), NvueOptions(**options))  # type: ignore[arg-type]
    text = find_platform("nvue").write(queues, writing)
    return text, "\n".join(f"{remark.text} [{remark.hint}]" for remark in writing.remarks)


@pytest.mark.parametrize(
    ("mark", "drop", "drop_ect"), [(MARK, None, None), (MARK, DROP, None), (None, DROP, DROP), (None, None, None)]
)
def test_what_is_written_is_read_again(mark: Law | None, drop: Law | None, drop_ect: Law | None) -> None:
    queue = Queue("3", 3, ("swp1", "swp2"), mark=mark, drop=drop, drop_ect=drop_ect, profile="SHOAL")
    assert only(write([queue])[0]) == queue


thresholds = st.lists(st.integers(1, 2_000_000), min_size=2, max_size=2).map(sorted)


@settings(max_examples=60, deadline=None)
@given(thresholds, st.integers(1, 100), st.integers(1, 99), st.booleans(), st.booleans())
def test_several_queues_are_written_with_their_scheduler(
    ends: list[int], percent: int, share: int, has_red: bool, is_strict: bool
) -> None:
    mark = law(Action.MARK, ends[0], ends[1], Fraction(100 if ends[0] == ends[1] else percent, 100))
    three = Queue(
        "3",
        3,
        ("swp1",),
        mark=mark,
        drop=replace(mark, action=Action.DROP) if has_red else None,
        scheduler=Scheduler(Serving.STRICT) if is_strict else Scheduler(Serving.WEIGHTED, weight=share),
        shaping=Shaping(4_000_000_000),
        buffer=Buffer(reserved_bytes=9000, alpha=Fraction(1, 2)),
        dscp=(10, 18),
        profile="SHOAL",
    )
    other = Queue("0", 0, ("swp1",), scheduler=Scheduler(Serving.WEIGHTED, weight=100 - share), dscp=tuple(range(10)))
    queues = read(write([other, three], has_map=True, has_limit=True)[0]).queues
    assert [replace(queue, dscp=()) for queue in queues] == [replace(queue, dscp=()) for queue in (other, three)]
    assert set(three.dscp) <= set(queues[1].dscp)
    assert set(other.dscp) <= set(queues[0].dscp)


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        (Queue("3", 3, mark=replace(MARK, weight=3)), "an average"),
        (Queue("3", 3, mark=MARK, drop=law(Action.DROP, 1, 2)), "have different laws"),
        (Queue("3", 3, mark=replace(MARK, pmax=Fraction(1, 1000))), "only whole percent"),
        (Queue("3", 3, mark=law(Action.MARK, 1, 2**32)), "4294967295 bytes are the most"),
        (Queue("3", 3, unknown="no thresholds"), "its law is not known"),
        (Queue("8", 8, mark=MARK), "no traffic class 8"),
    ],
)
def test_what_cannot_be_written_is_refused(queue: Queue, words: str) -> None:
    with pytest.raises(shoal.UsageError, match=words):
        write([queue])


def test_what_is_lost_or_changed_is_said() -> None:
    """Weights become percent of the port, and a shaper has no burst."""
    served = [
        Queue(str(index), index, scheduler=Scheduler(Serving.WEIGHTED, weight=weight), mark=MARK)
        for index, weight in ((0, 3000), (3, 1000))
    ]
    served.append(Queue("7", 7, scheduler=Scheduler(Serving.STRICT, priority=7), shaping=Shaping(1500, 9000)))
    text, words = write([replace(served[0], buffer=Buffer(limit=whole_bytes(9))), *served[1:]])
    assert "traffic-class 0 bw-percent 75\n" in text
    assert "traffic-class 3 bw-percent 25\n" in text
    # 1500 bit/s are 2 kbit/s, never less than asked.
    assert "egress-shaper SHOAL traffic-class 7 max-rate 2\n" in text
    assert "advance-buffer-config" not in text
    for part in (
        "`shared-bytes 9` is not written",
        "a priority is not written",
        "bursts of 9000 bytes",
        "does not name",
    ):
        assert part in words
    assert "is to be static" in write([Queue("3", 3, buffer=Buffer(limit=whole_bytes(9)))], has_limit=True)[1]


def test_ports_with_different_queues_have_profiles_of_their_own() -> None:
    queues = [
        Queue("3", 3, ("swp1",), mark=MARK, profile="A"),
        Queue("4", 4, ("swp1",), mark=MARK, profile="B"),
        Queue("3", 3, ("swp2",), mark=law(Action.MARK, 5, 6), profile="C"),
        Queue("3", 3, ("swp3",), mark=MARK),
    ]
    text, _ = write(queues)
    bound = [line.split()[-1] for line in text.splitlines() if " interface " in line]
    assert bound == ["SHOAL", "C", "SHOAL_2"]
    assert "nv config apply" not in text
    assert write(queues, is_applied=True)[0].endswith("nv config apply\n")
    default = write([Queue("3", 3, mark=MARK, profile="default-global")])[0]
    assert "interface" not in default


def test_reading_takes_time_in_proportion_to_the_text() -> None:
    """4000 interfaces with profiles take at most a few times as long for each as 500."""

    def seconds(count: int) -> float:
        lines = [f"nv set interface swp{number} qos congestion-control profile DC" for number in range(count)]
        text = NVUE_STEP + "\n".join([*lines, *(line.replace("set", "unset", 1) for line in lines[1::2])])
        start = time.process_time()
        read(text)
        return (time.process_time() - start) / count

    few, many = (min(seconds(count) for _ in range(3)) for count in (500, 4000))
    assert many < 4 * few
