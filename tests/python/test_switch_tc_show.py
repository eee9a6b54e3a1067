"""Outputs of `tc qdisc show` and `tc class show`, as text and as JSON, are read as the state that they print."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from switch_documents import only, read, said

import shoal
from shoal.switch import Port, Queue, find_platform, recognised
from shoal.switch.reading import Document
from shoal.switch.several import scenario_of_queues
from shoal.switch.simulate import Experiment

# As iproute2 7.2 prints them.
FQ_CODEL = (
    "qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms "
    "memory_limit 32Mb ecn drop_batch 64 \n"
)
STATISTICS = (
    " Sent 120 bytes 2 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n"
    "  maxpacket 0 drop_overlimit 0 new_flow_count 0 ecn_mark 0\n  new_flows_len 0 old_flows_len 0\n"
)
RED = (
    "qdisc red 10: dev eth0 root refcnt 2 limit 1000000b min 30000b max 90000b ecn ewma 5 probability 0.1 "
    "Scell_log 12\n"
)
DUALPI2 = (
    "qdisc dualpi2 8002: dev eth1 root refcnt 2 limit 10000p memlimit 30280000B target 15ms tupdate 16ms "
    "alpha 0.156250 beta 3.195312 step_thresh 1ms min_qlen_step 0p coupling_factor 2 drop_on_overload drop_dequeue "
    "classic_protection 10% l4s_ect split_gso \n"
)
FIVE_MS = {"target": "5000 us", "interval": "100000 us"}


def test_units_of_the_output_are_those_of_the_kernel() -> None:
    for text in (FQ_CODEL, FQ_CODEL + STATISTICS, f"$ tc -s qdisc show dev eth0\n{FQ_CODEL.replace('dev eth0 ', '')}"):
        queue = only(text)
        assert queue.exact == {
            "kind": "fq-codel", "limit": "10240 packets", "flows": 1024, "quantum": "1514 B", **FIVE_MS,
            "memory_limit": "33554432 B", "ecn": True, "drop_batch": "64 packets",
        }  # fmt: skip
        assert queue.ports == ("eth0",)
    # What is not printed is not set.
    assert only(FQ_CODEL.replace("ecn ", "")).exact != only(FQ_CODEL).exact


def test_red_shows_its_weight_only_with_details() -> None:
    queue = only(RED)
    assert queue.mark is not None
    assert (queue.mark.weight, round(float(queue.mark.pmax), 6), queue.mark.min.number) == (5, 0.1, 30000)
    assert "`avpkt` and `bandwidth` are not shown" in said(read(RED))
    hidden = only(RED.partition(" ewma")[0] + "\n")
    assert "`tc -d qdisc show` has them" in hidden.unknown


def test_dualpi2_is_that_of_the_command() -> None:
    """The kernel prints gains one step too low: the defaults are 41/256 and 819/256."""
    exact = only(DUALPI2).exact
    assert exact is not None
    assert (exact["alpha"], exact["beta"], exact["limit"]) == (41 / 256, 819 / 256, "10000 packets")
    assert (exact["step_threshold"], exact["classic_percent"], exact["ecn_mask"]) == ("1000 us", 10, "l4s-ect")


def test_a_tree_is_read_in_whatever_order_it_is_printed() -> None:
    text = (
        "qdisc red 8007: dev eth1 parent 10:1 limit 1000000b min 30000b max 30001b ecn nodrop ewma 1 "
        "probability 0.999999 Scell_log 8\n"
        "qdisc ets 10: dev eth1 parent 1:10 bands 2 strict 1 quanta 3000 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 \n"
        "qdisc htb 1: dev eth1 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n"
        "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 30Mbit ceil 100Mbit burst 1593b cburst 1600b \n"
        "class htb 1:1 root rate 100Mbit ceil 100Mbit burst 1600b cburst 1600b \n"
    )
    configuration = read(text)
    red, fifo = configuration.queues
    assert (red.name, red.lines[0].rate_bps, red.mark is not None, red.drop) == ("eth1 8007 red", 10**8, True, None)
    assert (fifo.name, fifo.takes_rest, red.takes_rest) == ("eth1 10:2 pfifo", True, False)
    assert "filters are not in what `tc qdisc show` prints" in said(configuration)
    without = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("class"))
    with pytest.raises(shoal.UsageError, match="rates of classes are not in what `tc qdisc show` prints"):
        scenario_of_queues(read(without).queues, Experiment(Port(10**9), Fraction(1, 1000)), file="f")


def test_equal_queues_of_a_card_are_one() -> None:
    card = "qdisc mq 0: dev eth0 root \n"
    child = FQ_CODEL.replace("8001: dev eth0 root refcnt 2", "0: dev eth0 parent :{}")
    alike = read(card + "".join(child.format(f"{number:x}") for number in range(1, 13)))
    assert len(alike.queues) == 1
    assert "12 queues of the card have the same `fq_codel`" in said(alike)
    assert scenario_of_queues(alike.queues, Experiment(Port(10**9), Fraction(1, 1000)), file="f")
    other = read(card + child.format(1) + child.format(2).replace("limit 10240p", "limit 5p"))
    assert len(other.queues) == 2
    with pytest.raises(shoal.UsageError, match="a hash spreads flows over the queues of the card, which differ"):
        scenario_of_queues(other.queues, Experiment(Port(10**9), Fraction(1, 1000)), file="f")
    with pytest.raises(shoal.ScenarioError, match="`fq` has no model"):
        read(card + "qdisc fq 0: dev eth0 parent :1 limit 10000p flow_limit 100p buckets 1024\n")


def test_a_default_device_has_three_bands() -> None:
    text = "qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"
    # Every output begins with `lo`, which has no queue.
    configuration = read(f"qdisc noqueue 0: dev lo root refcnt 2 \n{text}")
    assert [queue.takes_rest for queue in configuration.queues] == [False, True, False]
    assert "noqueue" not in said(configuration)
    assert scenario_of_queues(configuration.queues, Experiment(Port(10**9), Fraction(1, 1000)), file="f")
    with pytest.raises(shoal.ScenarioError, match="`noqueue` has no model: no queue at all"):
        read("qdisc noqueue 0: dev lo root refcnt 2 \n")
    listed = f"{text}filter parent 1: protocol ip pref 1 u32 chain 0 \n"
    assert "outputs of `tc filter show` are not read" in said(read(listed))
    gone = f"{FQ_CODEL}deleted qdisc fq_codel 8001: dev eth0 root refcnt 2 \n"
    with pytest.raises(shoal.ScenarioError, match="no queue discipline that has a law"):
        read(gone)


JSON = [
    {"kind": "prio", "handle": "1:", "dev": "eth0", "root": True, "refcnt": 2,
     "options": {"bands": 3, "priomap": [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], "multiqueue": False}},
    {"kind": "codel", "handle": "10:", "dev": "eth0", "parent": "1:1",
     "options": {"limit": 1000, "target": 4999, "interval": 99999, "ce_threshold": 999, "ecn": True}},
    {"kind": "netem", "handle": "20:", "dev": "eth0", "parent": "1:2",
     "options": {"limit": 300, "delay": {"delay": 0.01, "jitter": 0.001, "correlation": 0},
                 "loss-random": {"loss": 0.005, "correlation": 0}, "rate": {"rate": 1250000, "packetoverhead": 0,
                 "cellsize": 0, "celloverhead": 0}, "seed": 5, "ecn": False, "gap": 0}},
    {"kind": "red", "handle": "30:", "dev": "eth0", "parent": "1:3",
     "options": {"limit": 1000000, "min": 30000, "max": 90000, "ecn": True, "harddrop": False, "adaptive": False,
                 "nodrop": True, "ewma": 5, "probability": 0.1, "Scell_log": 12}},
]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 4])
def test_json_is_the_same_state(indent: int | None) -> None:
    codel, netem, red = read(json.dumps(JSON, indent=indent)).queues
    assert codel.exact is not None
    assert (codel.name, codel.exact["target"], codel.exact["limit"], codel.exact["ecn"]) == (
        "eth0 10 codel", "4999 us", "1000 packets", True,
    )  # fmt: skip
    line = netem.lines[0]
    assert (line.delay_s, line.rate_bps, dict(line.impairments)) == (
        Fraction(1, 100), 10**7, {"jitter": "1000 us", "loss": 0.005},
    )  # fmt: skip
    assert (netem.takes_rest, red.mark is not None, red.drop) == (True, True, None)


def test_outputs_are_recognised() -> None:
    for text in (FQ_CODEL, json.dumps(JSON), "tc class show dev e\nclass htb 1:1 root rate 1Mbit ceil 1Mbit\n",
                 "qdisc add dev e root codel\n", "tc q a dev e root codel\n"):  # fmt: skip
        document = Document("text", text, Port(10**9))
        assert recognised(document) is find_platform("tc")


def test_queues_of_text_and_json_and_commands_are_alike() -> None:
    command = only("tc qdisc add dev eth0 root handle 8001: fq_codel limit 10240 quantum 1514 flows 1024 target 5ms "
                   "interval 100ms memory_limit 32mb ecn drop_batch 64\n")  # fmt: skip
    options = {"limit": 10240, "flows": 1024, "quantum": 1514, "target": 5000, "interval": 100000,
               "memory_limit": 33554432, "ecn": True, "drop_batch": 64}  # fmt: skip
    entry = {"kind": "fq_codel", "handle": "8001:", "dev": "eth0", "root": True, "options": options}
    queues: list[Queue] = [command, only(FQ_CODEL), only(json.dumps([entry]))]
    assert queues[0] == queues[1] == queues[2]
