"""Forms of NX-OS and EOS that devices have: shares beside strict priority, forwarded packets, what is not written."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from conftest import Cli
from switch_documents import EOS_DUAL, NXOS_DUAL, TC_RED, amount, law, only, read, said

import shoal
from shoal.switch import Unit
from shoal.switch.checks import answers
from shoal.switch.model import Action, Scheduler, Serving, Shaping

RAMP = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes"
NXOS = "policy-map type queuing P\n  class type queuing c-out-8q-q3\n    "
EOS = "interface Ethernet1\n   uc-tx-queue 3\n      "


@pytest.mark.parametrize(
    ("head", "statements", "scheduler"),
    [
        (NXOS, ("priority level 2", "bandwidth remaining percent 50"), Scheduler(Serving.STRICT, priority=7)),
        (EOS, ("priority strict", "bandwidth percent 10"), Scheduler(Serving.STRICT, priority=3)),
        (EOS, ("no priority", "bandwidth percent 10"), Scheduler(Serving.WEIGHTED, weight=10)),
    ],
)
def test_strict_priority_stays_whatever_share_is_beside_it(
    head: str, statements: tuple[str, ...], scheduler: Scheduler
) -> None:
    for order in itertools.permutations(statements):
        (queue,) = read(head + "\n      ".join(order) + "\n").queues
        assert queue.scheduler == scheduler, order


def not_ect(text: str) -> str:
    (queue,) = read(text).queues
    return dict(answers(queue))["Packets that are not ECT"]


def test_nxos_forwards_packets_that_are_not_ect() -> None:
    marks = f"{NXOS}{RAMP} drop-probability 7 weight 0 ecn\n"
    line = "congestion-control random-detect forward-nonecn\n"
    assert not_ect(marks) == "dropped by the law that marks ECT packets"
    for text in (line + marks, marks + line):
        assert not_ect(text) == "dropped only when the buffer is full"
        assert "`forward-nonecn` lets packets that are not ECT pass the law of marks" in said(read(text))
    policy = "policy-map type network-qos N\n  class type network-qos c-nq3\n    "
    assert not_ect(policy + line + marks) == "unknown: the platform decides"
    assert "of which classes is not read" in said(read(policy + line + marks))
    # A law for packets that are not ECT alone stays.
    other = "random-detect non-ecn minimum-threshold 600 kbytes maximum-threshold 900 kbytes drop-probability 20"
    assert not_ect(f"{line}{marks}    {other}\n").startswith("dropped by a law of their own")


def test_probabilities_that_are_not_written_are_said() -> None:
    assert "no `drop-probability` is written: read as 100 %" in said(read(f"{NXOS}{RAMP} weight 0 ecn\n"))
    step = RAMP.replace("3000", "150")
    assert "no `drop-probability`" not in said(read(f"{NXOS}{step} weight 0 ecn\n"))
    eos = f"{EOS}random-detect ecn minimum-threshold 150 kbytes maximum-threshold 300 kbytes"
    assert "no `max-mark-probability` is written: read as 100 %" in said(read(f"{eos} weight 0\n"))
    assert "no `max-mark" not in said(read(f"{eos} max-mark-probability 5 weight 0\n"))


def test_eos_laws_of_drop_precedences_act_each_on_its_own() -> None:
    """Ordinary packets have the lowest one, in whichever order they are written."""
    laws = [
        f"random-detect drop drop-precedence {number} minimum-threshold {100 * (3 - number)} kbytes "
        f"maximum-threshold {200 * (3 - number)} kbytes drop-probability 10 weight 0"
        for number in range(3)
    ]
    for order in itertools.permutations(laws):
        configuration = read(EOS + "\n      ".join(order) + "\n")
        (queue,) = configuration.queues
        assert queue.drop is not None
        assert str(queue.drop.min) == "300 kbytes"
        assert said(configuration).count("is not read: it is for packets of that precedence alone") == 2
        assert "remove the other" not in said(configuration)
    again = read(EOS + "\n      ".join([laws[0], laws[0]]) + "\n")
    assert "the last acts" in said(again)


NEXUS = """class-map type qos match-all R
  match cos 3
policy-map type qos SVC
  class R
    set qos-group 3
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 300 kbytes maximum-threshold 300 kbytes drop-probability 100 weight 0 ecn
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 50
"""
ARISTA = """qos trust cos
qos map cos 3 to traffic-class 3
interface Ethernet1
   uc-tx-queue 3
      random-detect ecn minimum-threshold 300 kbytes maximum-threshold 300 kbytes max-mark-probability 100 weight 0
   uc-tx-queue 0
      bandwidth percent 50
"""


@pytest.mark.parametrize(
    ("text", "what", "line", "names"),
    [
        (NEXUS, "`match cos`", 2, ("c-out-8q-q3", "c-out-8q-q-default")),
        (NEXUS.replace("cos 3", "access-group name RDMA"), "`match access-group`", 2, ("3", "0")),
        (NEXUS.replace("cos 3", "protocol arp"), "`match protocol`", 2, ("3", "0")),
        (ARISTA, "`qos trust cos`", 1, ("3", "0")),
    ],
)
def test_queues_that_something_else_leads_to_are_no_scenario(
    cli: Cli, tmp_path: Path, text: str, what: str, line: int, names: tuple[str, str]
) -> None:
    configuration = read(text)
    assert f"text:{line}: {what} is not read: which packets wait in which queue is not known" in said(configuration)
    file, out = tmp_path / "config.txt", tmp_path / "out.toml"
    file.write_text(text, encoding="utf-8")
    words = ("config", "read", str(file), "--port-speed", "25G", "--out", str(out))
    refused = cli(*words)
    assert (refused.code, out.exists()) == (2, False)
    assert f"config.txt:{line}: {what} is not read" in " ".join(refused.err.split())
    # One queue alone, and flows that say where they wait, need no map.
    assert cli(*words, "--queue", names[0]).code == 0
    assert 'kind = "wred"' in out.read_text(encoding="utf-8")
    told = cli(*words, "--force", "--flows", f"dctcp*4@{names[0]}", "--flows", f"cubic*4@{names[1]}")
    assert told.code == 0, told.err
    assert out.read_text(encoding="utf-8").count("dscp = ") == 4


def test_precedences_are_code_points() -> None:
    text = NEXUS.replace("match cos 3", "match precedence 3,5")
    queue = next(queue for queue in read(text).queues if queue.index == 3)
    assert queue.dscp == (*range(24, 32), *range(40, 48))


@pytest.mark.parametrize(
    ("text", "prompts"),
    [
        (NXOS_DUAL, ("leaf1# ", "leaf1(config-pmap-c-que)# ")),
        (EOS_DUAL, ("spine-2> ", "spine-2(config-if-Et1)# ")),
        (TC_RED, ("root@host:/etc# ", "user@host.example:~$ ")),
        ("ecnconfig -p P -gmin 1000 -gmax 2000 -gdrop 5\n", ("admin@sw:~$ ", "admin@sw:~$ sudo ")),
    ],
)
def test_prompts_of_a_terminal_are_no_words(text: str, prompts: tuple[str, ...]) -> None:
    for prompt in prompts:
        pasted = "".join(f"{prompt}{line.strip()}\n" for line in text.splitlines())
        assert [queue.laws for queue in read(pasted).queues] == [queue.laws for queue in read(text).queues]


# As a session has it: no indents, statements of the interface between those about queues.
EOS_SESSION = """Leaf-1(config)# qos profile P
Leaf-1(config-qos-profile-P)# priority-flow-control on
Leaf-1(config-qos-profile-P)# tx-queue 3
Leaf-1(config-qos-profile-P-txq-3)# bandwidth percent 95
Leaf-1(config-qos-profile-P-txq-3)# random-detect ecn minimum-threshold 100 kbytes maximum-threshold 100 kbytes weight 0
Leaf-1(config-qos-profile-P-txq-3)# tx-queue 6
Leaf-1(config-qos-profile-P-txq-6)# priority strict
Leaf-1(config)# interface Ethernet1
Leaf-1(config-if-Et1)# qos trust dscp
Leaf-1(config-if-Et1)# service-profile P
Leaf-1(config)# interface Ethernet1
Leaf-1(config-if-Et1)# qos cos 3
Leaf-1(config-if-Et1)# tx-queue 3
Leaf-1(config-if-Et1-txq-3)# random-detect ecn count
"""


def test_an_interface_has_the_queues_of_its_profile() -> None:
    marking, strict = read(EOS_SESSION).queues
    step = amount(100, Unit.KBYTES)
    assert (marking.name, marking.ports) == ("3", ("Ethernet1",))
    assert marking.mark == law(Action.MARK, step, step)
    assert marking.scheduler == Scheduler(Serving.WEIGHTED, weight=95)
    assert (strict.name, strict.ports, strict.scheduler) == ("6", ("Ethernet1",), Scheduler(Serving.STRICT, priority=6))


def test_statements_of_an_interface_go_before_those_of_its_profile() -> None:
    own = "interface Ethernet2\nservice-profile P\ntx-queue 3\nrandom-detect ecn minimum-threshold 5 kbytes"
    text = f"{EOS_SESSION}{own} maximum-threshold 5 kbytes weight 0\n"
    queues = {(queue.index, queue.ports): queue for queue in read(text).queues}
    assert set(queues) == {(3, ("Ethernet1",)), (3, ("Ethernet2",)), (6, ("Ethernet1", "Ethernet2"))}
    step = amount(5, Unit.KBYTES)
    assert queues[3, ("Ethernet2",)].mark == law(Action.MARK, step, step)
    assert queues[3, ("Ethernet2",)].scheduler == Scheduler(Serving.WEIGHTED, weight=95)


def test_a_policy_of_transmit_queues_has_the_interfaces_that_it_is_applied_to() -> None:
    text = (
        "policy-map type tx-queue OUT\nclass tx-queue 3\nbandwidth percent 50\n"
        "interface Ethernet1\nqos trust dscp\nservice-policy type tx-queue output OUT\ninterface Ethernet2\n"
    )
    assert only(text).ports == ("Ethernet1",)


NEXUS_7000 = """class-map type queuing match-any 1p7q4t-out-q3
  match cos 3
policy-map type queuing IN
  class type queuing 2q4t-in-q1
    queue-limit percent 50
policy-map type queuing OUT
  class type queuing 1p7q4t-out-pq1
    priority level 1
    queue-limit cos 5 percent 16
  class type queuing 1p7q4t-out-q3
    queue-limit percent 30
    bandwidth remaining percent 40
    random-detect cos-based aggregate percent 60 percent 90
    random-detect cos 3 minimum-threshold percent 70 maximum-threshold percent 90
    shape percent 50
"""


def test_laws_for_each_class_of_service_are_said_to_be_such() -> None:
    configuration = read(NEXUS_7000)
    strict, queue = configuration.queues
    assert (strict.scheduler, strict.buffer) == (Scheduler(Serving.STRICT, priority=8), None)
    assert (queue.unknown, queue.laws, queue.buffer) == ("a law for each class of service", (), None)
    assert queue.shaping == Shaping(50 * 10**9)
    assert queue.undecided is not None
    remarks = said(configuration)
    for words in (
        "`random-detect cos-based` of the Nexus 7000 is not read: it is a law for each class of service",
        "`queue-limit percent` is not read: it is a share of the port's memory",
        "`queue-limit cos` is not read: it is a limit for each class of service",
        "`match cos` of a queue is not read: which packets wait in which queue is not known",
        "the policy `IN` is applied to what comes in: it is not read",
    ):
        assert words in remarks
    assert "the last acts" not in remarks


@pytest.mark.parametrize(("of_class", "of_policy"), [("", ""), ("type qos ", ""), ("", "type qos ")])
def test_classes_and_policies_without_a_type_are_of_qos(of_class: str, of_policy: str) -> None:
    text = (
        f"class-map {of_class}match-any RDMA\n  match dscp 26\npolicy-map {of_policy}IN\n  class RDMA\n"
        "    set qos-group 3\npolicy-map type queuing OUT\n  class type queuing c-out-8q-q3\n    bandwidth percent 40\n"
        "  class type queuing c-out-8q-q-default\n    bandwidth percent 60\n"
    )
    first, rest = read(text).queues
    assert (first.dscp, rest.takes_rest) == ((26,), True)


def test_words_behind_a_shape_are_refused() -> None:
    with pytest.raises(shoal.ScenarioError, match="`burst` is not expected here"):
        read("class type queuing c-out-8q-q3\n  shape min 1 gbps max 4 gbps burst 5\n")


def test_shapers_of_eos_in_percent_and_of_a_port() -> None:
    text = (
        "qos profile P\n   qos trust dscp\n   shape rate 80 percent\n   tx-queue 1\n      shape rate 40 percent\n"
        "   tx-queue 2\n      bandwidth percent 5\ninterface Ethernet1\n   service-profile P\n"
        "interface Ethernet2\n   tx-queue 2\n      bandwidth percent 5\n"
    )
    shaped, other, alone = read(text).queues
    assert (shaped.shaping, other.shaping, alone.shaping) == (Shaping(40 * 10**9), None, None)
    assert [line.rate_bps for line in (*shaped.lines, *other.lines)] == [80 * 10**9] * 2
    assert shaped.lines == other.lines
    assert alone.lines == ()


def test_a_class_of_queues_takes_the_group_of_its_map() -> None:
    text = (
        "class-map type qos match-all RDMA\nmatch dscp 26\nclass-map type queuing RDMA\nmatch qos-group 3\n"
        "policy-map type qos IN\nclass RDMA\nset qos-group 3\npolicy-map type queuing OUT\nclass type queuing RDMA\n"
        "bandwidth percent 50\nclass type queuing class-default\nbandwidth percent 50\n"
    )
    queue, rest = read(text).queues
    assert (queue.name, queue.index, queue.dscp) == ("RDMA", 3, (26,))
    assert (rest.index, rest.takes_rest) == (0, True)
