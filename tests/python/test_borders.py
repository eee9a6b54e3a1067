"""Searches, sweeps, comparisons and expressions at their borders, worked out by hand: where a small change of a
condition, a constant or an order would answer otherwise."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import SMALL
from tiny_scenario import tiny_scenario

import shoal
from shoal import expression
from shoal._native import Cancel, Run
from shoal.compare.comparison import Comparison, Ran
from shoal.compare.kinds import kinds
from shoal.errors import OutputError, ScenarioError
from shoal.results import Result, Results
from shoal.runs import host_bursts
from shoal.runs.cases import Case, run_cases
from shoal.runs.design import Design, axis
from shoal.runs.execute import run_plan
from shoal.runs.parts import _digest, read_parts, write_part
from shoal.runs.plan import Plan, check
from shoal.runs.record import Record
from shoal.runs.rows import Rows
from shoal.runs.store import digest_of
from shoal.runs.until import Until
from shoal.search import Condition, FreeParameter, Measurement, Neighbour, Optimised, Schedule, read_goals
from shoal.search.candidates import Candidate
from shoal.search.domination import Order, compared
from shoal.stats import estimate, normal_tail
from shoal.template import Template

K = "bottleneck.aqm.threshold"
TINY = tiny_scenario("60 s")


# Conditions.


@pytest.mark.parametrize(("shift", "clear"), [(-0.6, False), (0.4, False), (0.6, True), (-4.4, False), (-4.6, True)])
def test_clearly_is_beyond_the_whole_half_width(shift: float, clear: bool) -> None:
    # Of 1, 2, 3 the standard deviation is 1: the half-width is 4.303 / sqrt(3) = 2.484, around a mean of 2 + shift.
    condition = Condition.parse("delay_ms() >= 0")
    (measured,) = condition.judge({"delay_ms()": [1 + shift, 2 + shift, 3 + shift], "0": [0.0] * 3})
    assert measured.decision.holds == (shift > -2)
    assert measured.decision.clear == clear


def test_a_condition_without_a_value_does_not_hold() -> None:
    condition = Condition.parse("utilisation() >= 0.5 and delay_ms() < 100")
    values = {"utilisation()": (0.9, math.nan), "0.5": (0.5, 0.5), "delay_ms()": (1.0, 1.0), "100": (100.0, 100.0)}
    missing = Measurement((1, 2), values)
    assert missing.decided(condition).holds is False
    assert missing.judged(condition) == []
    assert missing.violations(condition) == (1.0, 1.0)
    known = Measurement((1, 2), {**values, "utilisation()": (0.9, 0.4)})
    # The mean, 0.65, is above 0.5.
    assert known.decided(condition).holds is True
    assert known.violations(condition) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("operator", "below", "equal", "above"),
    [("<", True, False, False), ("<=", True, True, False), (">", False, False, True), (">=", False, True, True)],
)
def test_comparisons_of_conditions_at_equality(operator: str, below: bool, equal: bool, above: bool) -> None:
    condition = Condition.parse(f"delay_ms() {operator} 2")
    found = [condition.judge({"delay_ms()": [value], "2": [2.0]})[0].decision.holds for value in (1.0, 2.0, 3.0)]
    assert found == [below, equal, above]


# Pairs of runs.


def test_pairs_stay_pairs() -> None:
    # Seed by seed the losses differ by -4.1, 1.9 and 1.9; sorted, each first one would be smaller by 0.1.
    assert compared([1.0, 5.0, 3.0], [5.1, 3.1, 1.1]) is Order.UNCLEAR
    assert compared([1.0, 3.0, 5.0], [1.1, 3.1, 5.1]) is Order.BETTER


def optimised(candidates: Sequence[tuple[float, float]], neighbours: Sequence[tuple[float, float]]) -> Optimised:
    """A search for the least delay over `k`: places and delays of what was tried, and of what is around the first."""

    def measured(delay: float, seeds: int) -> Measurement:
        return Measurement(tuple(range(seeds)), {"delay_ms()": tuple(delay + seed for seed in range(seeds))})

    free = FreeParameter("k", 0, 100)
    tried = [Candidate(n, 1, (at,), measured(delay, 3)) for n, (at, delay) in enumerate(candidates, 1)]
    chosen = Candidate(1, 1, (candidates[0][0],), measured(candidates[0][1], 3), measured(candidates[0][1], 6))
    return Optimised(
        parameters=(free,),
        goals=read_goals(["delay_ms()"], []),
        condition=None,
        schedule=Schedule(400, 3, 1, 1),
        candidates=[chosen, *tried[1:]],
        finalists=[chosen],
        chosen=chosen,
        neighbours=[Neighbour(free, at, measured(delay, 6)) for at, delay in neighbours],
        runs=100,
    )


def test_around_the_optimum_better_is_less_delay() -> None:
    found = optimised([(50, 10.0)], [(45, 9.0), (55, 11.0), (60, 10.0)])
    words = {row[1]: row[-1] for row in found.around_table().rows}
    assert words == {"45": "better", "50": "optimum", "55": "worse", "60": "the same"}
    frame = found.around_to_polars()
    assert dict(zip(frame["value"], frame["against_optimum"], strict=True)) == {
        45.0: "better",
        50.0: "",
        55.0: "worse",
        60.0: "the same",
    }


def test_plausible_is_what_is_not_clearly_worse() -> None:
    # The same noise in every seed: a difference is clear however small it is, and equal ones are not worse.
    found = optimised([(50, 10.0), (20, 10.0), (30, 9.5), (70, 10.5), (90, 12.0)], [])
    assert found.plausible == {"k": (20.0, 50.0)}


# Numbers.


def test_tails_of_the_normal_distribution() -> None:
    # From a table: 2.5 % lie above 1.959964, 15.8655 % above 1, half above 0.
    assert normal_tail(1.959963985) == pytest.approx(0.025)
    assert normal_tail(1.0) == pytest.approx(0.1586552539)
    assert (normal_tail(0.0), normal_tail(-1.0)) == (0.5, pytest.approx(1 - 0.1586552539))


def test_an_interval_that_is_as_wide_as_allowed_is_not_narrow_enough() -> None:
    values = {"jain()": [1.0, 2.0, 3.0]}
    width = estimate(values["jain()"])
    assert width is not None
    assert width.half_width is not None
    for bound, is_met in ((width.half_width, False), (width.half_width * 1.000001, True)):
        assert Until.parse(f"ci(jain()) < {bound!r}", {}).is_met(values) is is_met


def test_why_a_text_cannot_be_filled() -> None:
    with pytest.raises(expression.UndefinedError, match="a number is missing"):
        expression.fill("{x}", {"x": None})
    with pytest.raises(expression.UndefinedError, match="the number is too large"):
        expression.fill("{x}", {"x": math.inf})


# Sweeps.


def plan_of(*values: str, seeds: int = 1, until: Until | None = None, metrics: dict[str, str] | None = None) -> Plan:
    design = Design((axis(K, list(values)),))
    template = Template(shoal.Scenario.from_toml(TINY), design.keys, {})
    return Plan(template, design, metrics or {"q": "queue_packets()"}, seeds, until, 12)


def test_added_seeds_are_counted_on_from_the_last_one() -> None:
    rows = run_plan(plan_of("5 packets", seeds=3, until=Until.parse("ci(queue_packets()) < 0.000001", {})), workers=2)
    assert rows.seeds(0) == list(range(1, 13))
    values = rows.series(0, "queue_packets()")
    alone = run_plan(plan_of("5 packets", seeds=12), workers=2)
    assert values == alone.series(0, "queue_packets()")


def test_a_run_without_a_number_leaves_the_point_without_a_mean() -> None:
    plan = plan_of("5 packets", "6 packets", seeds=3)
    rows = Rows(plan, range(2), check(plan))
    for place, values in enumerate(([1.0, None, 3.0], [1.0, 2.0, 3.0])):
        for index, value in enumerate(values):
            rows.put(place, index, Record({"queue_packets()": value}, (), index, b""))
        rows.count(place, 3)
    assert rows.cell(0, "queue_packets()") is None
    cell = rows.cell(1, "queue_packets()")
    assert isinstance(cell, shoal.Estimate)
    assert (cell.mean, cell.n) == (2.0, 3)


class OtherPlane:
    """The simulator under another name, as a kernel has one."""

    identity = "other"

    def __init__(self) -> None:
        self.runs = 0

    def refusal(self, scenario: shoal.Scenario) -> str:
        return "error: it cannot do that\n" if scenario.seed == 7 else ""

    def run(self, scenario: shoal.Scenario, seed: int, cancel: Cancel) -> Run:
        self.runs += 1
        return scenario.native.run(seed=seed, cancel=cancel)


def test_records_of_a_plane_are_for_that_plane(tmp_path: Path) -> None:
    assert len({digest_of("{}"), digest_of("{}", "linux a"), digest_of("{}", "linux b")}) == 3
    scenario, other = shoal.Scenario.from_toml(TINY), OtherPlane()
    run_cases([Case(scenario, [1])], cache=tmp_path)
    run_cases([Case(scenario, [1], plane=other)], cache=tmp_path)
    assert other.runs == 1
    run_cases([Case(scenario, [1], plane=other), Case(scenario, [1])], cache=tmp_path)
    assert other.runs == 1
    refused = Case(scenario.override({"seed": 7}), [7], plane=other)
    with pytest.raises(ScenarioError, match="it cannot do that"):
        run_cases([Case(scenario, [2], plane=other), refused], cache=tmp_path)
    assert other.runs == 1


def test_parts_that_were_changed_or_lack_runs_are_refused(tmp_path: Path) -> None:
    plan = plan_of("5 packets", "6 packets", "7 packets")
    folders = [tmp_path / f"part-{number}" for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        folder.mkdir()
        write_part(plan, (number, 2), folder)
    assert len(read_parts(folders)) == 3
    about = folders[0] / "part.json"
    said = about.read_text(encoding="utf-8")
    with sqlite3.connect(folders[0] / "records.sqlite") as database:
        database.execute("DELETE FROM records WHERE rowid = 1")
    database.close()
    with pytest.raises(OutputError, match="is damaged: it does not agree with its checksum"):
        read_parts(folders)
    # Somebody wrote the right checksum of records that lack a run.
    digest = _digest(folders[0] / "records.sqlite")
    about.write_text(json.dumps(json.loads(said) | {"records": digest}), encoding="utf-8")
    with pytest.raises(OutputError, match="1 run is missing in the parts"):
        read_parts(folders)
    changed = folders[0] / "plan.json"
    changed.write_text(changed.read_text(encoding="utf-8").replace("7 packets", "8 packets"), encoding="utf-8")
    with pytest.raises(OutputError, match="has been changed"):
        read_parts(folders)


def test_a_record_whose_values_are_no_table_is_refused_as_one() -> None:
    head = json.dumps({"values": 1, "said": [], "fingerprint": 0, "error": None}).encode()
    with pytest.raises(OutputError, match="a record cannot be read"):
        Record.unpacked(head, b"")


# Comparisons.


def test_margins_are_those_of_the_page(result: Result) -> None:
    # The base is 5 %; what is allowed beside it is five marks, half a packet, a hundredth of the fair rate.
    at = {name: kind.margin(result).at(1000.0) for name, kind in kinds.items()}
    assert at["marks"] == pytest.approx(0.05 * 1000 + 5)
    assert at["drops"] == pytest.approx(0.10 * 1000 + 5)
    assert at["queue"] == pytest.approx(0.05 * 1000 + 0.5)
    assert at["utilisation"] == pytest.approx(0.005)
    assert at["window"] == pytest.approx(0.05 * 1000 + 0.1)
    assert at["timeouts"] == pytest.approx(0.20 * 1000 + 2)


def test_the_fair_rate_is_that_of_a_flow_not_of_a_group() -> None:
    scenario = shoal.Scenario.from_toml(SMALL).override({"duration": "4 s", "warmup": "1 s", "flows.dctcp.count": 4})
    # Five flows at 10 Mbit/s: 2 Mbit/s each, of which a hundredth is 20 kbit/s.
    assert kinds["rate"].margin(shoal.run(scenario)).absolute == pytest.approx(20e3)


def test_what_some_runs_of_both_planes_lack_is_not_compared(scenario: shoal.Scenario) -> None:
    runs = shoal.run(scenario, seeds=2)

    def lacking(index: int) -> Results:
        changed = []
        for number, run in enumerate(runs):
            data = json.loads(run.json)
            data["linux"] = {"kernel": "7", "mode": "time-travel"}
            if number == index:
                data["groups"][0]["acks_per_packet"] = None
            changed.append(Result(json.dumps(data), recorded=run._recorded))
        return Results(changed)

    # As many values on both planes, but of different seeds: no pair.
    (one,) = Comparison.of([Ran("some", scenario, lacking(0), lacking(1), ())], [1, 2])
    assert one.quantity("acks_per_packet_reno") is None
    assert one.notes == (
        "ACKs per data packet (reno) is not compared: 1 of 2 runs of the simulator have it, and 1 of 2 on Linux",
    )


# Expressions.


@pytest.mark.parametrize(
    ("text", "below", "equal", "above"),
    [
        ("x < 2", True, False, False),
        ("x <= 2", True, True, False),
        ("x > 2", False, False, True),
        ("x >= 2", False, True, True),
        ("x == 2", False, True, False),
        ("x != 2", True, False, True),
    ],
)
def test_comparisons_at_equality(text: str, below: bool, equal: bool, above: bool) -> None:
    assert [expression.evaluate(text, {"x": x}) for x in (1.0, 2.0, 3.0)] == [below, equal, above]


@pytest.mark.parametrize("text", ["min(x, 1)", "min(1, x)", "max(x, 1)", "max(1, x)", "x + 1", "sqrt(x)", "abs(x)"])
def test_what_is_computed_from_a_missing_number_is_missing(text: str) -> None:
    assert math.isnan(expression.evaluate(text, {"x": None}))


# The warning of bursts.


def test_one_flow_between_ideal_hosts_is_enough_for_the_warning_of_bursts() -> None:
    def warned(*hosts: str, rate: str = "10 Gbit/s") -> bool:
        scenario = shoal.Scenario.from_keys(
            {
                "duration": "20 ms",
                "bottleneck": {"rate": rate, "buffer": "500 packets", "aqm": {"kind": "step", "threshold": "1 ms"}},
                "flows": [{"name": f"{n}", "cc": "dctcp", "rtt": "100 us", "host": h} for n, h in enumerate(hosts)],
            }
        )
        return host_bursts.warning([scenario]) is not None

    assert warned("ideal", "linux-6-10g")
    assert warned("linux-6-10g", "ideal")
    assert not warned("linux-6-10g", "linux-6-10g")
    assert not warned("ideal", rate="1 Gbit/s")
