"""Classes of service of Junos: what commands and blocks in braces mean, and what cannot be written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from switch_documents import GBIT, JUNOS_ECN, amount, only, read, said
from switch_documents import law as law_of

import shoal
from shoal.switch import Configuration, Document, Law, Port, Queue, Unit, find_platform, read_configuration
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Buffer, Scheduler, Serving, Shaping
from shoal.switch.platforms.junos import JunosOptions
from shoal.switch.several import scenario_of_queues
from shoal.switch.simulate import Experiment
from shoal.switch.writing import Writing

COS = "set class-of-service"
BLOCKS = """## Last changed: by nobody
class-of-service {
    drop-profiles {
        dp1 {
            interpolate {
                fill-level [ 30 60 ];
                drop-probability [ 0 80 ];
            }
        }
    }
    forwarding-classes {
        class RDMA queue-num 4; /* a queue
                                   of its own */
    }
    interfaces {
        et-0/0/1 {
            scheduler-map sm1;
        }
    }
    scheduler-maps {
        sm1 {
            forwarding-class RDMA scheduler s1;
        }
    }
    schedulers {
        s1 {
            transmit-rate percent 40;
            drop-profile-map loss-priority any protocol any drop-profile dp1;
            explicit-congestion-notification;
        }
    }
}
"""


def law(action: Action, least: int, most: int, pmax: Fraction | int = 1) -> Law:
    """A law in percent of the buffer, whose average is that of the device."""
    return law_of(action, amount(least, Unit.PERCENT), amount(most, Unit.PERCENT), pmax, weight=None)


MARK, DROP = (law(action, 30, 60, Fraction(80, 100)) for action in (Action.MARK, Action.DROP))
RDMA = Queue(
    "RDMA", 4, ("et-0/0/1",), mark=MARK, not_ect_known=False,
    scheduler=Scheduler(Serving.WEIGHTED, weight=40), profile="dp1",
)  # fmt: skip


def changed(old: str, new: str, *, count: int = -1) -> Configuration:
    """The commands with a part that is another."""
    assert old in JUNOS_ECN
    return read(JUNOS_ECN.replace(old, new, count))


def with_profile(*lines: str) -> Configuration:
    """The commands with another drop profile."""
    others = [line for line in JUNOS_ECN.splitlines() if "drop-profiles" not in line]
    return read("\n".join([*(f"{COS} drop-profiles dp1 {line}" for line in lines), *others]))


def test_both_forms_say_the_same() -> None:
    configuration = read(JUNOS_ECN)
    assert configuration.queues == read(BLOCKS).queues == (RDMA,)
    assert str(configuration.queues[0].source) == "text:5"
    assert str(read(BLOCKS).queues[0].source) == "text:27"
    words = said(configuration)
    for part in ("depends on the device", "devices compare an average", "as by QFX switches other than QFX10000"):
        assert part in words


def test_without_ecn_all_are_dropped_alike() -> None:
    (queue,) = changed(f"{COS} schedulers s1 explicit-congestion-notification\n", "").queues
    assert (queue.mark, queue.drop, queue.drop_ect, queue.not_ect_known) == (None, DROP, DROP, True)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["interpolate fill-level [ 20 60 ] drop-probability [ 0 100 ]"], (20, 60, 1)),
        (
            ["interpolate fill-level 30 drop-probability 0", "interpolate fill-level 90 drop-probability 100"],
            (30, 90, 1),
        ),
        # Lines from (0, 0) and to (100, 100) are drawn: here one line from 0 on, and one to the full buffer.
        (["interpolate fill-level 50 drop-probability 100"], (0, 50, 1)),
        (["interpolate fill-level 50 drop-probability 0"], (50, 100, 1)),
        # What lies on a line, and what is 0 or 100 anyway, changes nothing.
        (["interpolate fill-level [ 0 20 40 60 100 ] drop-probability [ 0 0 50 100 100 ]"], (20, 60, 1)),
        (["interpolate fill-level [ 40 40 ] drop-probability [ 0 100 ]"], (40, 40, 1)),
        # Pairs are steps up.
        (["fill-level 30 drop-probability 0", "fill-level 60 drop-probability 100"], (60, 60, 1)),
        (["fill-level 70 drop-probability 100"], (70, 70, 1)),
    ],
)
def test_profiles_that_are_laws(lines: Sequence[str], expected: tuple[int, int, int]) -> None:
    (queue,) = with_profile(*lines).queues
    assert queue.mark == law(Action.MARK, *expected)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ["fill-level 30 drop-probability 1", "fill-level 60 drop-probability 100"],
            "a staircase: 1 % from 30 % on, 100 % from 60 % on",
        ),
        (["fill-level 0 drop-probability 5"], "a staircase: 5 % from 0 % on"),
        (
            ["interpolate fill-level [ 50 75 ] drop-probability [ 25 50 ]"],
            "a curve of several lines: 25 % at 50 %, 50 % at 75 %",
        ),
    ],
)
def test_profiles_that_are_no_laws_are_unknown_with_the_reason(lines: Sequence[str], words: str) -> None:
    configuration = with_profile(*lines)
    (queue,) = configuration.queues
    assert (queue.unknown, queue.laws) == (words, ())
    assert f"`dp1` is {words}" in said(configuration)
    with pytest.raises(shoal.UsageError, match="is not known"):
        scenario_of_queues([queue], Experiment(Port(GBIT), Fraction(1, 10_000)), file="f")
    never = with_profile("fill-level 100 drop-probability 0").queues[0]
    assert (never.laws, never.unknown) == ((), "")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("fill-level 60", "fill-level 101", "not a percentage"),
        ("fill-level 60", "fill-level 20", "fill levels that do not rise"),
        ("drop-probability 80", "fill-level 80", "3 fill levels and 1 drop probabilities"),
        ("interpolate fill-level 60", "fill-level 60 drop-probability 9", "steps and points of a line"),
        ("loss-priority any", "loss-priority some", "not a loss priority"),
        ("protocol any", "protocol udp", "not a protocol"),
        ("drop-profile dp1", "drop-profile dp2", "there is no drop profile `dp2`"),
        ("scheduler s1", "scheduler s2", "there is no scheduler `s2`"),
        ("scheduler-map sm1", "scheduler-map sm2", "there is no scheduler map `sm2`"),
        ("scheduler-map sm1", "output-traffic-control-profile t", "there is no traffic control profile `t`"),
        ("percent 40", "percent", "the line ends too early"),
        ("percent 40", "fast", "`fast` is not a rate"),
        ("queue-num 4", "queue-num x", "not a queue"),
        ("transmit-rate percent 40", "priority highest", "`highest` is not a priority"),
    ],
)
def test_what_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=words):
        changed(old, new)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dp1 {\n", "dp1 \n", "a `}` that closes no block"),
        ("            scheduler-map sm1;\n        }\n", "            scheduler-map sm1;\n", "a block is not closed"),
        ("scheduler-map sm1;", "scheduler-map sm1", "a statement without `;` before `}`"),
        ("## Last changed: by nobody", "", ""),
    ],
)
def test_blocks_that_do_not_fit_are_refused(old: str, new: str, words: str) -> None:
    """Where a brace is missing it is not known what belongs to queues."""
    text = BLOCKS.replace(old, new)
    if not words:
        assert read(text).queues == (RDMA,)
        return
    with pytest.raises(shoal.ScenarioError, match=words):
        read(text)
    with pytest.raises(shoal.ScenarioError, match="the last statement has no `;`"):
        read(f"{BLOCKS}version 20")


def test_fill_levels_are_percent_of_a_buffer() -> None:
    """30 and 60 % of 2 MB; without it a scenario is refused with the remedy."""
    experiment = Experiment(Port(10 * GBIT, buffer_bytes=2_000_000), Fraction(1, 10_000), buffer_bytes=2_000_000)
    text = scenario_of_queues(read(JUNOS_ECN).queues, experiment, file="f")
    assert 'mark = { min = "600000 B", max = "1200000 B", max_probability = 0.8 }' in text
    with pytest.raises(shoal.UsageError, match="thresholds in percent") as caught:
        scenario_of_queues(read(JUNOS_ECN).queues, Experiment(Port(10 * GBIT), Fraction(1, 10_000)), file="f")
    assert caught.value.hint == "--buffer BYTES"


def test_a_buffer_in_time_is_what_the_port_sends_meanwhile() -> None:
    """1 ms at 10 Gbit/s are 1.25 MB, of which 30 % are 375 kB."""
    configuration = changed("schedulers s1 transmit-rate percent 40", "schedulers s1 buffer-size temporal 1k")
    (queue,) = configuration.queues
    assert queue.buffer == Buffer(limit=amount(1000, Unit.MICROSECONDS))
    text = scenario_of_queues([queue], Experiment(Port(10 * GBIT), Fraction(1, 10_000)), file="f")
    assert 'mark = { min = "375000 B", max = "750000 B"' in text
    assert 'buffer = "1000 us"' in text
    percent = changed("schedulers s1 transmit-rate", "schedulers s1 buffer-size").queues[0]
    assert percent.buffer is None


def test_how_schedulers_are_served() -> None:
    """Percent, a rate of a port of 100 Gbit/s, the rest in equal parts, and strict ones."""
    lines = {
        "RDMA": ["transmit-rate percent 40"],
        "A": ["transmit-rate 10g exact"],
        "B": ["transmit-rate remainder"],
        "C": ["transmit-rate remainder 20", "shaping-rate percent 5"],
        "D": ["priority strict-high", "shaping-rate 2.5g"],
        "E": [],
        "F": ["priority low-latency", "excess-rate percent 5"],
    }
    text = JUNOS_ECN.replace(f"{COS} schedulers s1 transmit-rate percent 40\n", "")
    for name, words in lines.items():
        scheduler = "s1" if name == "RDMA" else f"s{name}"
        text += "".join(f"{COS} schedulers {scheduler} {each}\n" for each in (*words, "buffer-size percent 5"))
        text += f"{COS} scheduler-maps sm1 forwarding-class {name} scheduler {scheduler}\n"
    configuration = read(text)
    queues = {queue.name: queue for queue in configuration.queues}
    weights = {name: queue.scheduler.weight for name, queue in queues.items() if queue.scheduler is not None}
    assert weights == {"RDMA": 40, "A": 10, "B": 25, "C": 25, "D": None, "F": None}
    assert queues["D"].scheduler == queues["F"].scheduler == Scheduler(Serving.STRICT)
    rates = {name: queue.shaping.rate_bps for name, queue in queues.items() if queue.shaping is not None}
    assert rates == {"A": 10 * GBIT, "C": 5 * GBIT, "D": 5 * GBIT // 2}
    assert "the rate of the scheduler `sA` is 10 % of the port" in said(configuration)
    assert "`priority high` is read as weighted" in said(changed("transmit-rate percent 40", "priority high"))
    assert "`ecn-enhanced` of a scheduler is not read" in said(changed("transmit-rate percent 40", "ecn-enhanced head"))


def test_several_drop_profiles() -> None:
    """Packets have the loss priority that the classifier gives their class, else `low`; flows are TCP."""
    line = f"{COS} schedulers s1 drop-profile-map loss-priority any protocol any drop-profile dp1\n"
    maps = "".join(
        f"{COS} schedulers s1 drop-profile-map loss-priority {loss} protocol {protocol} drop-profile {name}\n"
        f"{COS} drop-profiles {name} fill-level {level} drop-probability 100\n"
        for loss, protocol, name, level in (
            ("low", "tcp", "l", 91), ("low", "non-tcp", "n", 92),
            ("medium-high", "any", "m", 93), ("any", "any", "a", 94),
        )
    )  # fmt: skip
    configuration = read(JUNOS_ECN.replace(line, maps))
    assert configuration.queues[0].mark == law(Action.MARK, 91, 91)
    assert "of several drop profiles that of TCP packets with loss priority low is read" in said(configuration)
    for loss, level in (("medium-high", 93), ("high", 94)):
        entry = f"{COS} classifiers dscp c forwarding-class RDMA loss-priority {loss} code-points 001010\n"
        assert read(JUNOS_ECN.replace(line, maps) + entry).queues[0].mark == law(Action.MARK, level, level)
    none = read(JUNOS_ECN.replace(line, ""))
    assert none.queues[0].unknown == "ECN without a drop profile"
    assert "no drop profile says from where" in said(none)


def test_what_is_bound_to_interfaces() -> None:
    """Wildcards stay as written; units other than 0 are queues of their own; control profiles have a map and a rate."""
    text = f"""{JUNOS_ECN}{COS} interfaces et-* scheduler-map sm1
{COS} interfaces xe-0/0/[0-7] unit 0 scheduler-map sm1
{COS} interfaces ge-0/0/9 unit 100 scheduler-map sm1
{COS} interfaces et-0/0/2 output-traffic-control-profile tcp
{COS} traffic-control-profiles tcp scheduler-map sm1
{COS} traffic-control-profiles tcp shaping-rate 20g
{COS} interfaces et-0/0/3 scheduler-map sm1
{COS} interfaces et-0/0/3 shaping-rate percent 10
{COS} scheduler-maps other forwarding-class best-effort scheduler s1
"""
    configuration = read(text)
    plain, shaped, by_percent, unbound = configuration.queues
    assert plain.name == "RDMA@et-0/0/1"
    assert plain.ports == ("et-0/0/1", "et-*", "xe-0/0/[0-7]", "ge-0/0/9.100")
    assert (shaped.ports, shaped.lines[0].rate_bps) == (("et-0/0/2",), 20 * GBIT)
    assert by_percent.lines[0].rate_bps == 10 * GBIT
    assert (unbound.name, unbound.index, unbound.ports) == ("best-effort@other", 0, ())
    assert "no interface has the scheduler map `other`" in said(configuration)


def test_of_what_is_set_twice_the_last_counts() -> None:
    text = f"""{JUNOS_ECN}{COS} interfaces et-0/0/1 scheduler-map other
{COS} scheduler-maps other forwarding-class RDMA scheduler s2
{COS} schedulers s2 drop-profile-map loss-priority any protocol any drop-profile dp2
{COS} drop-profiles dp2 fill-level 70 drop-probability 1
{COS} drop-profiles dp2 fill-level 70 drop-probability 100
"""
    queues = read(text).queues
    assert [(queue.name, queue.ports) for queue in queues] == [("RDMA@other", ("et-0/0/1",)), ("RDMA@sm1", ())]
    assert queues[0].drop == law(Action.DROP, 70, 70)


def test_priority_groups_are_read_as_queues_of_one_port() -> None:
    text = JUNOS_ECN.replace(
        "interfaces et-0/0/1 scheduler-map sm1",
        "interfaces et-0/0/1 forwarding-class-set g1 output-traffic-control-profile t1\n"
        f"{COS} interfaces et-0/0/1 forwarding-class-set g2 output-traffic-control-profile t2\n"
        f"{COS} traffic-control-profiles t1 scheduler-map sm1\n{COS} traffic-control-profiles t1 shaping-rate 1g\n"
        f"{COS} traffic-control-profiles t2 scheduler-map sm2\n"
        f"{COS} scheduler-maps sm2 forwarding-class no-loss scheduler s1",
    )
    configuration = read(text)
    assert [(queue.name, queue.index, queue.lines) for queue in configuration.queues] == [
        ("RDMA", 4, ()),
        ("no-loss", 4, ()),
    ]
    assert "rates of priority groups" in said(configuration)


def test_schedulers_without_a_map_are_queues_of_their_names() -> None:
    lines = [line for line in JUNOS_ECN.splitlines() if "scheduler-map" not in line]
    configuration = read("\n".join(lines))
    assert [(queue.name, queue.mark) for queue in configuration.queues] == [("s1", MARK)]
    assert "no scheduler map is in this file" in said(configuration)
    profiles = "\n".join(line for line in lines if "schedulers" not in line)
    with pytest.raises(shoal.ScenarioError, match="no scheduler in this file"):
        read(profiles)


CLASSIFIER = f"""{COS} classifiers dscp c forwarding-class RDMA loss-priority low code-points [ 011010 af41 mine nc1 ]
{COS} classifiers dscp c forwarding-class best-effort loss-priority high code-points be
{COS} code-point-aliases dscp mine 000101
{COS} interfaces et-* unit * classifiers dscp c
"""


def test_code_points_lead_to_classes() -> None:
    """Bits, names of Junos (nc1 is 110000) and names that the file defines."""
    assert only(JUNOS_ECN + CLASSIFIER).dscp == (5, 26, 34, 48)
    precedence = f"{COS} classifiers inet-precedence p forwarding-class RDMA loss-priority low code-points 101\n"
    assert only(JUNOS_ECN + precedence).dscp == tuple(range(40, 48))
    standard = read(f"{JUNOS_ECN}{COS} interfaces et-0/0/1 unit 0 classifiers dscp default\n")
    assert (standard.queues[0].dscp, "the classifier `default` is not in this file" in said(standard)) == ((), True)
    imported = read(f"{JUNOS_ECN}{CLASSIFIER}{COS} classifiers dscp c import default\n")
    assert "`import` of a classifier is not read" in said(imported)
    for word in ("26", "0110100", "nothing"):
        with pytest.raises(shoal.ScenarioError, match=f"`{word}` is not a code point"):
            read(JUNOS_ECN + CLASSIFIER.replace("af41", word))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (f"{COS} interfaces et-0/0/1 unit 0 classifiers ieee-802.1 x\n", "a classifier of `ieee-802.1`"),
        (f"{COS} interfaces et-0/0/1 unit 0 forwarding-class RDMA\n", "`forwarding-class` of an interface"),
        ("set firewall family inet filter f term t then forwarding-class RDMA\n", "of a firewall filter"),
        (CLASSIFIER + CLASSIFIER.replace("dscp c", "dscp d"), "which of several classifiers"),
    ],
)
def test_what_leads_by_something_else_is_undecided(lines: str, words: str) -> None:
    configuration = read(JUNOS_ECN + lines)
    assert words in said(configuration)
    assert configuration.queues[0].undecided is not None
    both = read(f"{JUNOS_ECN}{CLASSIFIER}{COS} interfaces et-0/0/1 unit 0 classifiers ieee-802.1 x\n")
    assert both.queues[0].undecided is None


def test_what_is_deleted_or_inactive_is_not_there() -> None:
    ecn = f"{COS} schedulers s1 explicit-congestion-notification"
    for verb in ("delete", "deactivate"):
        (queue,) = read(f"{JUNOS_ECN}{ecn.replace('set', verb)}\n").queues
        assert (queue.mark, queue.drop) == (None, DROP)
    again = f"{JUNOS_ECN}{ecn.replace('set', 'deactivate')}\n{ecn.replace('set', 'activate')}\n"
    assert read(again).queues == (RDMA,)
    assert read(f"delete class-of-service\n{JUNOS_ECN}").queues == (RDMA,)
    for old in ("explicit-congestion", "scheduler-map sm1"):
        assert read(BLOCKS.replace(old, f"inactive: {old}", 1)).queues != (RDMA,)
    (queue,) = read(BLOCKS.replace("        et-0/0/1 {", "        inactive: et-0/0/1 {")).queues
    assert queue.ports == ()
    assert read(BLOCKS.replace("    schedulers", "    protect: schedulers")).queues == (RDMA,)
    with pytest.raises(shoal.ScenarioError, match="`rename` is not followed"):
        read(f"{JUNOS_ECN}rename class-of-service schedulers s1 to schedulers s2\n")


def test_groups_are_applied() -> None:
    """What stands outside of groups counts more."""
    grouped = JUNOS_ECN.replace(COS, "set groups g class-of-service")
    assert read(f"{grouped}set apply-groups g\n").queues == (RDMA,)
    assert read(f"{grouped}set class-of-service apply-groups [ g other ]\n").queues == (RDMA,)
    own = read(f"{grouped}set apply-groups g\n{COS} schedulers s1 transmit-rate percent 7\n")
    assert own.queues[0].scheduler == Scheduler(Serving.WEIGHTED, weight=7)
    blocks = f"groups {{\n  g {{\n{BLOCKS}}}\n}}\napply-groups g;\n"
    assert read(blocks).queues == (RDMA,)
    other = read(f"{grouped}set apply-groups [ g other ]\n")
    assert "the group `other` is applied, and not in this file" in said(other)
    loose = read(f"{JUNOS_ECN}set groups g class-of-service schedulers s9 priority low\n")
    assert "the group `g` has classes of service, and is not applied" in said(loose)
    below = f"{JUNOS_ECN}set groups g class-of-service interfaces et-0/0/5 scheduler-map sm1\n"
    assert only(f"{below}{COS} interfaces apply-groups g\n").ports == ("et-0/0/5", "et-0/0/1")
    for line, words in (
        ("set groups g class-of-service interfaces <*> scheduler-map sm1", "a wildcard of a group"),
        ("set class-of-service apply-groups-except g", "`apply-groups-except`"),
    ):
        with pytest.raises(shoal.ScenarioError, match=words):
            read(f"{JUNOS_ECN}{line}\nset apply-groups g\n")


def test_sessions_of_a_terminal_are_read() -> None:
    """Prompts, banners and `edit` say where commands stand; a part of the blocks is known by its names."""
    rest = JUNOS_ECN.replace(f"{COS} ", "user@leaf# set ")
    assert read(f"{{master:0}}[edit]\nuser@leaf# edit class-of-service\n\n[edit class-of-service]\n{rest}").queues == (
        RDMA,
    )
    assert read(f"[edit class-of-service]\n{rest}user@leaf# top\nuser@leaf# commit\n").queues == (RDMA,)
    lines = rest.splitlines()
    below = "\n".join(line.replace(" set schedulers s1", " set") for line in lines if "schedulers s1" in line)
    others = "\n".join(line for line in lines if "schedulers s1" not in line)
    session = f"edit class-of-service\nedit schedulers s1\n{below}\nup\n{others}\ntop set system host-name x\n"
    assert read(session).queues == (RDMA,)
    part = "\n".join(line[4:] for line in BLOCKS.splitlines()[2:-1])
    assert read(f"user@leaf> show configuration class-of-service | no-more\n{part}\n\n{{master:0}}\n").queues == (RDMA,)


def test_speeds_of_ports_with_queues() -> None:
    platform = find_platform("junos")
    speeds = "set interfaces et-0/0/1 speed 400g\nset interfaces et-0/0/2 ether-options speed 100g\n"
    speeds += (
        "set interfaces fxp0 speed 1g\nset interfaces et-0/0/8 speed auto\nset chassis fpc 0 pic 0 port 3 speed 25g\n"
    )

    def rates(interface: str) -> set[int]:
        text = JUNOS_ECN.replace("interfaces et-0/0/1", f"interfaces {interface}") + speeds
        return platform.stated_rates_bps(Document("text", text, Port(GBIT)))

    assert rates("et-0/0/1") == {400 * GBIT}
    assert rates("et-0/0/[12]") == {400 * GBIT, 100 * GBIT}
    assert rates("et-*") == {400 * GBIT, 100 * GBIT, 25 * GBIT}
    assert rates("et-0/0/3 unit 7") == {25 * GBIT}
    assert rates("all") == {400 * GBIT, 100 * GBIT, 25 * GBIT, GBIT}
    assert "have 400 Gbit/s" in said(read(JUNOS_ECN + speeds))
    with pytest.raises(shoal.ScenarioError, match="`fast` is not a speed"):
        read(f"{JUNOS_ECN}set interfaces et-0/0/1 speed fast\n")


def test_classes_that_lose_nothing_are_paused() -> None:
    assert "priority flow control is on" in said(changed("queue-num 4", "queue-num 4 no-loss"))
    older = changed("class RDMA queue-num 4", "queue 5 RDMA")
    assert older.queues[0].index == 5
    assert "priority flow control" not in said(older)


def write(queues: list[Queue], *, port: Port | None = None, **options: object) -> tuple[str, str]:
    writing = Writing(port or Port(100 * GBIT), JunosOptions(**options))  # type: ignore[arg-type]
    text = find_platform("junos").write(queues, writing)
    return text, "\n".join(f"{remark.text} [{remark.hint}]" for remark in writing.remarks)


levels = st.lists(st.integers(0, 100), min_size=2, max_size=2).map(sorted)


@settings(max_examples=60, deadline=None)
@given(levels, st.integers(0, 100), st.booleans(), st.integers(1, 100), st.booleans())
def test_what_is_written_is_read_again(ends: list[int], percent: int, marks: bool, share: int, is_strict: bool) -> None:
    pmax = Fraction(100 if ends[0] == ends[1] else percent, 100)
    mark, drop = (law(action, ends[0], ends[1], pmax) for action in (Action.MARK, Action.DROP))
    queue = Queue(
        "RDMA",
        4,
        ("et-0/0/1", "et-0/0/2"),
        mark=mark if marks else None,
        drop=None if marks else drop,
        drop_ect=None if marks else drop,
        not_ect_known=not marks,
        scheduler=Scheduler(Serving.STRICT) if is_strict else Scheduler(Serving.WEIGHTED, weight=share),
        shaping=Shaping(4_000_000_000),
        dscp=(10, 18),
        profile="dp1",
    )
    assert only(write([queue], has_map=True)[0]) == queue


def test_bytes_become_percent_of_the_buffer() -> None:
    """32768 bytes are 1.6 % of 2 MB, which become 2 %; never less than asked."""
    mark = law_of(Action.MARK, 32768, 600_000)
    for queue, given_options in (
        (Queue("3", 3, mark=mark, buffer=Buffer(limit=whole_bytes(2_000_000))), {}),
        (Queue("3", 3, mark=mark), {"buffer_bytes": 2_000_000}),
        (Queue("3", 3, mark=mark, buffer=Buffer(limit=whole_bytes(5))), {"buffer_bytes": 2_000_000}),
    ):
        text, words = write([queue], **given_options)
        assert f"{COS} drop-profiles SHOAL interpolate fill-level 2\n" in text
        assert f"{COS} drop-profiles SHOAL interpolate fill-level 30\n" in text
        assert "32768 bytes becomes 2 %, in whole percent of the buffer" in words
        assert "1 % is 20000 bytes" in words
    ramp, _ = write([Queue("3", 3, mark=law_of(Action.MARK, 1, 2))], buffer_bytes=10**6)
    assert read(ramp).queues[0].mark == law(Action.MARK, 1, 2)


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        (Queue("3", 3, mark=law_of(Action.MARK, 1, 2)), "percent of the queue's memory, whose size is not known"),
        (
            Queue("3", 3, mark=law_of(Action.MARK, 1, 200), buffer=Buffer(limit=whole_bytes(100))),
            "above the queue's memory",
        ),
        (Queue("3", 3, mark=MARK, drop=law(Action.DROP, 50, 90)), "a queue has one drop profile"),
        (Queue("3", 3, mark=MARK, drop_ect=DROP), "beside the one that marks them"),
        (Queue("3", 3, drop=DROP), "drops only packets that are not ECT"),
        (Queue("3", 3, mark=replace(MARK, pmax=Fraction(1, 1000))), "only whole percent"),
        (Queue("3", 3, unknown="a staircase"), "its law is not known"),
        (Queue("16", 16, mark=MARK), "no queue 16"),
    ],
)
def test_what_cannot_be_written_is_refused(queue: Queue, words: str) -> None:
    with pytest.raises(shoal.UsageError, match=words):
        write([queue])


def test_what_is_lost_or_left_to_the_device_is_said() -> None:
    step = Queue("3", 3, mark=law_of(Action.MARK, 30, 30), drop=law_of(Action.DROP, 30, 30), shaping=Shaping(9, 9))
    text, words = write([step], buffer_bytes=100)
    assert f"{COS} drop-profiles SHOAL fill-level 30 drop-probability 100\n" in text
    assert f"{COS} forwarding-classes class SHOAL_Q3 queue-num 3\n" in text
    for part in (
        "interpolate fill-level [ 30 31 ] drop-probability [ 0 100 ] is the steepest line",
        "they should be dropped by the same law",
        "an average of its own, not the queue itself",
        "bursts of 9 bytes are not written",
        "that the map SHOAL does not name",
    ):
        assert part in words
    slow = Queue("3", 3, mark=replace(MARK, weight=4), scheduler=Scheduler(Serving.STRICT, priority=3))
    words = write([slow])[1]
    for part in ("the weight 2^-4 is not written", "a priority is not written", "they should pass", "from 60 % on"):
        assert part in words
    empty = read(write([Queue("0", 0)])[0]).queues[0]
    assert (empty.name, empty.laws) == ("SHOAL_Q0", ())
    with pytest.raises(shoal.UsageError, match="`many` is not a size in bytes"):
        JunosOptions.declarations()["buffer_bytes"].field_of("many")


def test_several_queues_have_shares_of_the_port() -> None:
    queues = [
        Queue(str(index), index, mark=law_of(Action.MARK, 10 + index, 20), scheduler=served)
        for index, served in ((0, Scheduler(Serving.WEIGHTED, 300)), (3, Scheduler(Serving.WEIGHTED, 100)))
    ]
    text, words = write(queues, buffer_bytes=100)
    written = read(text).queues
    assert [queue.scheduler and queue.scheduler.weight for queue in written] == [75, 25]
    assert [queue.profile for queue in written] == ["SHOAL_0", "SHOAL_3"]
    assert "the weights" not in words


def test_reading_takes_time_in_proportion_to_the_text() -> None:
    """4000 interfaces take at most a few times as long for each as 500, in both forms."""

    def seconds(count: int, *, is_block: bool) -> float:
        ports = [f"et-0/0/{number}" for number in range(count)]
        if is_block:
            text = BLOCKS.replace(
                "et-0/0/1 {", "".join(f"{port} {{ scheduler-map sm1; }}\n" for port in ports) + "et-9 {"
            )
        else:
            text = JUNOS_ECN + "".join(f"{COS} interfaces {port} scheduler-map sm1\n" for port in ports)
            text += "".join(f"delete class-of-service interfaces {port}\n" for port in ports[::2])
        start = time.process_time()
        read_configuration(Document("text", text, Port(GBIT)), None)
        return (time.process_time() - start) / count

    for is_block in (True, False):
        few, many = (min(seconds(count, is_block=is_block) for _ in range(3)) for count in (500, 4000))
        assert many < 4 * few
