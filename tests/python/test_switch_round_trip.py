"""Reading what was written gives the same laws, and writing what was read gives the same statements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from switch_documents import EOS_DUAL, GBIT, NXOS_DUAL, OPENCONFIG_STEP, SONIC_STEP, TC_RED

from shoal.switch import Amount, Document, Law, Port, Queue, Unit, find_platform
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Buffer, Scheduler, Serving, Shaping, Where
from shoal.switch.platforms import options_of
from shoal.switch.writing import Writing

PORT = Port(100 * GBIT)
names = st.from_regex(r"[A-Z][A-Z0-9_-]{0,20}", fullmatch=True)
few = settings(max_examples=60, deadline=None)


@st.composite
def laws(
    draw: st.DrawFn,
    units: Sequence[Unit] = (Unit.BYTES,),
    *,
    weights: int = 0,
    where: Where = Where.DEQUEUE,
    least: int = 0,
) -> Law:
    """A law that marks, with a whole number of percent."""
    unit = draw(st.sampled_from(list(units)))
    ends = sorted(draw(st.tuples(st.integers(1, 2_000_000), st.integers(1, 2_000_000))))
    percent = 100 if ends[0] == ends[1] else draw(st.integers(least, 100))
    both = [Amount(Fraction(end), unit) for end in ends]
    return Law(Action.MARK, both[0], both[1], Fraction(percent, 100), draw(st.integers(0, weights)), where)


def drops(law: Law) -> Law:
    return replace(law, action=Action.DROP)


def written(platform: str, queues: Sequence[Queue], **options: Any) -> str:
    writer = find_platform(platform)
    return writer.write(list(queues), Writing(PORT, options_of(writer, options)))


def read(platform: str, text: str) -> tuple[Queue, ...]:
    return find_platform(platform).read(Document("text", text, PORT)).queues


@st.composite
def queues_of_sonic(draw: st.DrawFn) -> list[Queue]:
    """Queues that SONiC can have, on the same ports."""
    indices = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True))
    ports = tuple(f"Ethernet{4 * number}" for number in range(draw(st.integers(1, 3))))
    found = []
    for index in sorted(indices):
        law = draw(laws())
        mark, drop, drop_ect = draw(
            st.sampled_from([(law, drops(law), None), (law, None, None), (None, drops(law), drops(law)), (None,) * 3])
        )
        weight = draw(st.integers(1, 100))
        shaping = draw(st.none() | st.builds(Shaping, st.integers(1, 10**10).map(lambda n: 8 * n), st.just(8192)))
        scheduler = draw(st.sampled_from([Scheduler(Serving.STRICT), Scheduler(Serving.WEIGHTED, weight=weight)]))
        limit = draw(st.sampled_from([(None, Fraction(1, 4)), (None, Fraction(8)), (whole_bytes(90000), None)]))
        buffer = Buffer(1518, limit[0], limit[1], 10**7, "egress_pool", f"profile_{index}")
        found.append(
            Queue(
                name=str(index),
                index=index,
                ports=ports,
                mark=mark,
                drop=drop,
                drop_ect=drop_ect,
                scheduler=scheduler,
                shaping=shaping,
                buffer=buffer,
                profile=f"P{index}" if mark or drop else "",
            )
        )
    return found


@few
@given(queues_of_sonic())
def test_sonic(queues: list[Queue]) -> None:
    assert read("sonic", written("sonic", queues)) == tuple(queues)


@few
@given(laws(), names)
def test_sonic_names_of_profiles(law: Law, name: str) -> None:
    queue = Queue(name="3", index=3, ports=("Ethernet0",), mark=law, drop=drops(law), profile=name)
    assert read("sonic", written("sonic", [queue])) == (queue,)


@few
@given(laws(), st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)).map(sorted))
def test_ecnconfig_and_every_step_of_it(law: Law, current: list[int]) -> None:
    queue = Queue(name="3", index=3, mark=law, not_ect_known=False, profile="AZURE_LOSSLESS")
    text = written("ecnconfig", [queue], current=f"{current[0]}:{current[1]}")
    assert read("ecnconfig", text) == (queue,)
    # What the profile has at each database write: the command writes its maximum before its minimum.
    now = {"-gmin": current[0], "-gmax": current[1]}
    for words in (line.split() for line in text.splitlines() if "-p" in line):
        given_now = {words[at]: int(words[at + 1]) for at in range(3, len(words), 2)}
        for key in ("-gmax", "-gmin"):
            now[key] = given_now.get(key, now[key])
            assert now["-gmin"] <= now["-gmax"], text


NXOS_UNITS = (Unit.BYTES, Unit.KBYTES, Unit.MBYTES, Unit.PACKETS)


@few
@given(laws(NXOS_UNITS, weights=15), laws(NXOS_UNITS), st.sampled_from(["same", "own", "drop", "none"]))
def test_nxos(law: Law, other: Law, kind: str) -> None:
    own = replace(drops(other), weight=law.weight)
    mark, drop, drop_ect = {
        "same": (law, drops(law), None),
        "own": (law, own, None),
        "drop": (None, drops(law), drops(law)),
        "none": (None, None, None),
    }[kind]
    queue = Queue(
        name="c-out-8q-q3",
        index=3,
        mark=mark,
        drop=drop,
        drop_ect=drop_ect,
        scheduler=Scheduler(Serving.WEIGHTED, weight=40),
        shaping=Shaping(4_000_000_000),
        buffer=Buffer(limit=Amount(Fraction(900), Unit.KBYTES)),
    )
    assert read("nxos", written("nxos", [queue], has_non_ecn=True, has_limit=True)) == (queue,)


@few
@given(
    laws((Unit.SEGMENTS, Unit.BYTES, Unit.KBYTES, Unit.MILLISECONDS), weights=15, least=1),
    laws((Unit.BYTES, Unit.MICROSECONDS), weights=15, least=1),
    st.booleans(),
)
def test_eos(law: Law, other: Law, has_drop: bool) -> None:
    own = drops(other) if has_drop else None
    queue = Queue(
        name="3",
        index=3,
        ports=("Ethernet1",),
        mark=law,
        drop=own,
        drop_ect=own,
        not_ect_known=has_drop,
        scheduler=Scheduler(Serving.WEIGHTED, weight=30),
    )
    assert read("eos", written("eos", [queue])) == (queue,)


@few
@given(laws(weights=15, where=Where.UNKNOWN), st.sampled_from(["same", "mark", "drop"]))
def test_openconfig(law: Law, kind: str) -> None:
    mark, drop, drop_ect = {
        "same": (law, drops(law), None),
        "mark": (law, None, None),
        "drop": (None, drops(law), drops(law)),
    }[kind]
    queue = Queue(name="3", index=3, ports=("et-0/0/1",), mark=mark, drop=drop, drop_ect=drop_ect, profile="P")
    assert read("openconfig", written("openconfig", [queue])) == (queue,)


def words(text: str) -> list[list[str]]:
    """Statements without order and white space."""
    return sorted(line.split() for line in text.splitlines() if line.split())


def test_writing_what_was_read_gives_its_statements() -> None:
    (queue,) = read("sonic", SONIC_STEP)
    again = json.loads(written("sonic", [queue]))
    for name, table in json.loads(SONIC_STEP).items():
        for key, entry in table.items():
            own = again[name][key]
            # The writer gives all colours the law of green, and ecn_all marks green like ecn_green.
            assert {field: own[field] for field in entry if field != "ecn"} == {
                field: value for field, value in entry.items() if field != "ecn"
            }
    nxos = written("nxos", read("nxos", NXOS_DUAL), has_non_ecn=True, profile="OUT")
    assert [line for line in words(nxos) if line[0] not in ("system", "service-policy")] == words(NXOS_DUAL)
    eos = written("eos", read("eos", EOS_DUAL))
    assert [line for line in words(eos) if line != ["no", "priority"]] == words(EOS_DUAL)
    (queue,) = read("openconfig", OPENCONFIG_STEP)
    leaves = json.loads(written("openconfig", [queue]))["openconfig-qos:qos"]["queue-management-profiles"]
    assert (
        leaves["queue-management-profile"][0]["wred"]
        == json.loads(OPENCONFIG_STEP)["openconfig-qos:qos"]["queue-management-profiles"]["queue-management-profile"][
            0
        ]["wred"]
    )


@settings(max_examples=30, deadline=None)
@given(
    st.integers(3_000, 200_000),
    st.integers(0, 200_000),
    st.integers(0, 60),
    st.sampled_from([" ecn", " ecn nodrop", "", " ecn harddrop"]),
    st.sampled_from(["0.02", "0.1", "0.5"]),
)
def test_tc_red(least: int, gap: int, burst: int, flags: str, probability: str) -> None:
    # tc's smallest burst is min / avpkt.
    most = least + gap
    line = (
        f"tc qdisc add dev eth0 root handle 10: red limit {10 * most} min {least} max {most} avpkt 1500 "
        f"burst {least // 1500 + 2 + burst} probability {probability} bandwidth 100000000bit{flags}\n"
    )
    queues = read("tc", line)
    text = written("tc", queues)
    assert text == line
    assert read("tc", text) == queues


def test_tc_writes_what_it_read() -> None:
    lines = TC_RED + (
        "tc qdisc add dev eth0 root handle 1: codel limit 500 target 5ms interval 100ms ecn ce_threshold 1ms\n"
        "tc qdisc add dev eth0 root handle 1: fq_codel limit 900 flows 64 quantum 1500 ecn ce_threshold 1ms "
        "ce_threshold_selector 0x1/0x3 memory_limit 32m drop_batch 64\n"
        "tc qdisc add dev eth0 root handle 1: fq_codel limit 900 ecn ce_threshold 1ms ce_threshold_selector 0x2/0x3\n"
        "tc qdisc add dev eth0 root handle 1: pie limit 700 target 15ms tupdate 15ms alpha 2 beta 20 ecn\n"
        "tc qdisc add dev eth0 root handle 1: dualpi2 limit 2000 target 15ms tupdate 16ms step_thresh 1ms any_ect "
        "coupling_factor 2 classic_protection 10%\n"
        "tc qdisc add dev eth0 root handle 1: dualpi2 max_rtt 60ms typical_rtt 10ms step_thresh 5p overflow "
        "drop_enqueue\n"
        "tc qdisc add dev eth0 root handle 1: pfifo limit 30\n"
        "tc qdisc add dev eth0 root handle 1: bfifo limit 30k\n"
    )
    for line in lines.splitlines():
        (queue,) = read("tc", line)
        text = written("tc", [queue])
        (again,) = read("tc", text)
        # What is written has every default spelled out: the same law, and the same text from then on.
        assert (again.mark, again.drop, again.drop_ect) == (queue.mark, queue.drop, queue.drop_ect), line
        assert written("tc", [again]) == text
