"""Completion times in leaf-spine networks, beside a calculation that knows nothing of the simulator."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from studies.fabric_fct import bounds as fabric_bounds
from studies.fabric_fct import study as fabric_fct
from studies.fabric_fct.bounds import (
    Fluid,
    Job,
    bounds,
    busy_periods,
    ideal_ps,
    ideal_s,
    least_slack_s,
    max_min_rates,
    shortest_first_s,
    train_ps,
    transfers_of,
)

ROOT = Path(__file__).parents[2]
LEAVES, HOSTS_PER_LEAF, SPINES = 8, 8, 2
HOSTS = LEAVES * HOSTS_PER_LEAF
# Rates of the links between hosts of one leaf, and between hosts of two, in bit/s.
NEAR, FAR = [25 * 10**9] * 2, [25 * 10**9, 100 * 10**9, 100 * 10**9, 25 * 10**9]
DELAY_PS = 1_000_000


def web(**more: object) -> shoal.Scenario:
    """`fabric-web` with 64 hosts: as many links between switches for each host, and flows that are all listed."""
    whole = shoal.Scenario.from_file(ROOT / "scenarios" / "bench" / "fabric-web.toml")
    shape = {"leaves": LEAVES, "spines": SPINES, "hosts_per_leaf": HOSTS_PER_LEAF}
    hosts = {"flows.*.from": f"h1..h{HOSTS}", "flows.*.to": f"h1..h{HOSTS}", "trace.flows": "all"}
    return whole.override({**{f"topology.{key}": value for key, value in shape.items()}, **hosts, **more})


@dataclass(frozen=True)
class Case:
    fabric: fabric_bounds.Fabric
    result: shoal.Result
    found: list[fabric_bounds.Transfer]


@pytest.fixture(scope="module", params=[1, 2], ids=["seed-1", "seed-2"])
def case(request: pytest.FixtureRequest) -> Case:

    fabric = fabric_bounds.Fabric(LEAVES, HOSTS_PER_LEAF, SPINES)
    scenario = web(duration="6 ms", **{"flows.*.start": {"load": 0.25, "until": "6 ms"}})
    fabric_fct.check_facts(scenario, fabric)
    result = shoal.run(scenario, seed=request.param)
    return Case(fabric, result, fabric_bounds.transfers_of(result, fabric))


def test_no_transfer_breaks_a_bound(case: Case) -> None:

    held = bounds(case.fabric, case.found, case.result)
    assert [bound for bound in held if bound.broken] == []
    ended = [one for one in case.found if one.fct_s is not None]
    assert held[0].cases == len(ended) > 200
    # The bounds are close: some transfer takes its ideal time, and the link of some host all the time that it had.
    assert abs(held[0].closest_s) < 1e-12
    assert all(bound.closest_s < 1e-6 for bound in held[1:3]), held[1:3]


def test_a_transfer_that_is_too_fast_is_found(case: Case) -> None:

    fastest = min(
        (one for one in case.found if one.fct_s is not None),
        key=lambda one: (one.fct_s or 0) - ideal_s(case.fabric, one),
    )
    others = [one for one in case.found if one is not fastest]
    earlier = replace(fastest, fct_s=(fastest.fct_s or 0) - 1e-9)
    broken = [bound.broken for bound in bounds(case.fabric, [*others, earlier], case.result)]
    assert broken[0] == 1
    # More data from one host than its link carries in the run: transfers alone are fine, all together are not.
    flood = [replace(fastest, size=12_000_000, delivered=0, fct_s=0.0045, start_s=0.0) for _ in range(2)]
    broken = [bound.broken for bound in bounds(case.fabric, flood, case.result)]
    assert broken[:4] == [0, 2, 2, 2]
    # More payload than the port has sent, and hosts that are not those of the run.
    late = [replace(one, delivered=one.delivered + 10**9) for one in case.found]
    assert bounds(case.fabric, late, case.result)[4].broken > 0
    other = replace(case.fabric, leaves=LEAVES // 2, hosts_per_leaf=2 * HOSTS_PER_LEAF)
    with pytest.raises(ValueError, match="is not between hosts"):
        transfers_of(case.result, other)


def test_short_transfers_are_slower_than_with_processor_sharing(case: Case) -> None:

    shared = Fluid(case.fabric).run(case.found)
    rows = list(zip(case.found, shared, strict=True))
    assert all(time >= ideal_s(case.fabric, one) - 1e-12 for one, time in rows), "the fluid keeps the bound, too"
    short = [
        (one.fct_s / ideal_s(case.fabric, one), time / ideal_s(case.fabric, one))
        for one, time in rows
        if one.fct_s is not None and one.size < 10_000
    ]
    own, fluid = (statistics.fmean(values) for values in zip(*short, strict=True))
    # At most one pass through the longest queue of a port, 1.28 ms, on average: 80 ideal times of 16 us.
    assert 1 <= fluid < own < 80


@pytest.mark.parametrize("controller", ["dctcp", "cubic"])
@pytest.mark.parametrize(("to", "links"), [("h2", NEAR), ("h9", FAR)], ids=["one leaf", "two leaves"])
def test_a_transfer_that_is_alone_takes_its_ideal_time(controller: str, to: str, links: list[int]) -> None:

    sizes = (1, 1447, 1448, 1449, 2897, 10_000, 14_480, 14_481, 15_928, 28_961, 100_000, 10_000_000)
    alone = web(
        **{"flows[0].from": "h1", "flows[0].to": to, "flows[0].pairing": "in-turn", "flows[0].cc": controller},
        **{"flows[0].start": "0 s", "flows[1].start": "11 ms", "flows[1].count": 1},
    )
    for size in sizes:
        result = shoal.run(alone.override({"flows[0].app.transfer": f"{size} B"}))
        (took,) = result.groups[0]["flows"][0]["fct_s"]
        assert round(took * 1e12) == ideal_ps(size, links, DELAY_PS), size


def test_ideal_times_by_hand() -> None:

    # In one leaf a byte takes 2 x 320 ps and a way 2 us. SYN and SYN/ACK: 4 us + 2 x 60 B; the ACK of the handshake on
    # the first link: 52 x 320 ps; one packet of 53 B and an acknowledgement of 52 B: 4 us + 105 B. 8 us + 225 x 640 ps.
    ack = 52 * 320
    assert ideal_ps(1, NEAR, DELAY_PS) == 8_144_000 + ack
    # Between leaves a byte takes 800 ps and a way 4 us: 16 us + 225 x 800 ps.
    assert ideal_ps(1, FAR, DELAY_PS) == 16_180_000 + ack
    # Two full packets: 16 us + (120 + 52) x 800 ps, the first packet's 1500 x 800 ps, and 1500 x 320 ps of the second
    # at the last link.
    assert ideal_ps(2896, FAR, DELAY_PS) == 16_000_000 + 137_600 + ack + 1_200_000 + 480_000
    # The eleventh packet leaves after the first acknowledgement, at 8 us + 1552 x 800 ps after the handshake.
    assert ideal_ps(11 * 1448, FAR, DELAY_PS) == 16_000_000 + 137_600 + ack + 8_000_000 + 1_241_600 + 1_200_000


def test_a_train_of_packets_by_simulation() -> None:

    # Each packet begins on a link when it is there and the link has sent the one before.
    for links in (NEAR, FAR, FAR[::-1], [100 * 10**9, 25 * 10**9]):
        for count, last in ((1, 53), (2, 1500), (2, 53), (7, 700), (30, 1499)):
            there = [0] * count
            for bps in links:
                free = 0
                for number in range(count):
                    free = max(free, there[number]) + (last if number == count - 1 else 1500) * (8 * 10**12 // bps)
                    there[number] = free
            assert train_ps(count, last, links) == there[-1], (links, count, last)


def test_max_min_rates_by_hand() -> None:

    # Senders 0 and 1, receivers 2 and 3, all of capacity 12. Three flows share receiver 2, which gives each 4; sender 1
    # has 8 left for its flow to receiver 3.
    links = np.array([[0, 2], [0, 2], [1, 2], [1, 3]])
    assert max_min_rates(links, 12.0, 4).tolist() == [4.0, 4.0, 4.0, 8.0]


def test_shortest_first_and_busy_periods_by_hand() -> None:

    own = [Job(0.0, 9.0, 4.0, complete=True), Job(1.0, 3.0, 1.0, complete=True), Job(8.0, 9.5, 1.0, complete=True)]
    # The second goes before what remains of the first: ends at 2, 5 and 9.
    assert shortest_first_s(own) == 16.0
    assert list(busy_periods(own)) == [(5.0, 9.0), (9.0, 9.5)]
    # From 8 to 9.5 there is work of 1; from 1 to 3 of 1; from 0 to 9 of 5.
    assert least_slack_s(own) == 0.5
