"""Forms of NX-OS and EOS that devices have: shares beside strict priority, forwarded packets, what is not written."""

from __future__ import annotations

import itertools

import pytest
from switch_documents import read, said

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
