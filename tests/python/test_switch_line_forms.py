"""Forms of NX-OS and EOS that devices have: shares beside strict priority, forwarded packets, what is not written."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from conftest import Cli
from switch_documents import EOS_DUAL, NXOS_DUAL, TC_RED, read, said

from shoal.switch.checks import answers
from shoal.switch.model import Scheduler, Serving

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
    law = f"{NXOS}{RAMP} drop-probability 7 weight 0 ecn\n"
    line = "congestion-control random-detect forward-nonecn\n"
    assert not_ect(law) == "dropped by the law that marks ECT packets"
    for text in (line + law, law + line):
        assert not_ect(text) == "dropped only when the buffer is full"
        assert "`forward-nonecn` lets packets that are not ECT pass the law of marks" in said(read(text))
    policy = "policy-map type network-qos N\n  class type network-qos c-nq3\n    "
    assert not_ect(policy + line + law) == "unknown: the platform decides"
    assert "of which classes is not read" in said(read(policy + line + law))
    # A law for packets that are not ECT alone stays.
    other = "random-detect non-ecn minimum-threshold 600 kbytes maximum-threshold 900 kbytes drop-probability 20"
    assert not_ect(f"{line}{law}    {other}\n").startswith("dropped by a law of their own")


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
