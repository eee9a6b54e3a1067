"""Tables, verdicts and the head of comparisons, from quantities that are made by hand."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import pytest

import shoal
from shoal.compare.comparison import Compared, Comparison, Quantity, Ran, _size, worst_of_families
from shoal.compare.headline import headlines
from shoal.compare.kinds import Family, Per, kinds
from shoal.compare.quantities import Measure
from shoal.compare.tables import details, head, margins, overview, shown, verdicts
from shoal.compare.verdicts import Decision, Levels, Margin, Pairs, Verdict, decide, judge, most_seeds
from shoal.results import Result, Results
from shoal.stats import student_t_quantile

NONE = Margin(0.0, 0.0)


def quantity(
    name: str,
    sim: Sequence[float],
    linux: Sequence[float],
    verdict: Verdict = Verdict.SAME,
    *,
    kind: str = "queue",
    margin: Margin = NONE,
    seeds: int | None = None,
    **more: object,
) -> Quantity:
    measure = Measure(name, name, "link", "", 1.0, kind, lambda _: None)
    return Quantity(
        replace(measure, **more),  # type: ignore[arg-type]
        Pairs(tuple(sim), tuple(linux), margin),
        Decision(verdict, seeds),
    )


@pytest.fixture
def compare(scenario: shoal.Scenario, result: shoal.Result) -> object:
    """Makes a comparison of one scenario of some quantities."""

    def made(*quantities: Quantity) -> Comparison:
        runs = Results([result])
        return Comparison((Compared("one", scenario, runs, runs, (), quantities),), (1,))

    return made


# One quantity.


@pytest.mark.parametrize(
    ("sim", "linux", "relative", "margin", "in_margins"),
    [
        # The means are 6 and 5: 1 of 5 is a fifth, and twice a margin of a tenth.
        ((5.5, 6.5), (4.5, 5.5), 0.2, Margin(0.1, 0.0), 2.0),
        ((4.5, 5.5), (5.5, 6.5), -1 / 6, Margin(0.0, 0.25), 4.0),
        ((5.0, 5.0), (5.0, 5.0), 0.0, NONE, 0.0),
        ((0.0, 0.0), (0.0, 0.0), 0.0, NONE, 0.0),
        ((1.0, 1.0), (0.0, 0.0), None, NONE, math.inf),
    ],
)
def test_differences_relative_to_linux_and_to_the_margin(
    sim: Sequence[float], linux: Sequence[float], relative: float | None, margin: Margin, in_margins: float
) -> None:
    one = quantity("q", sim, linux, margin=margin)
    assert one.relative == (None if relative is None else pytest.approx(relative))
    assert one.in_margins == pytest.approx(in_margins)
    assert (one.sim.mean, one.linux.mean) == (sum(sim) / 2, sum(linux) / 2)


def test_what_linux_has_almost_none_of_is_related_to_the_absolute_part_of_the_margin() -> None:
    # A difference of 3 over a mean of 2 is 1.5; with 6 as the absolute part it is a half.
    assert _size(quantity("q", (5.0, 5.0), (2.0, 2.0))) == 1.5
    assert _size(quantity("q", (5.0, 5.0), (2.0, 2.0), margin=Margin(0.0, 6.0))) == 0.5
    assert _size(quantity("q", (-1.0, -1.0), (-4.0, -4.0))) == 0.75
    assert _size(quantity("q", (0.0, 0.0), (0.0, 0.0))) == 0.0


def test_the_worst_of_each_family_stands_in_the_order_of_families() -> None:
    small, large = (quantity("q", (1.0 + by,) * 2, (1.0, 1.0), margin=Margin(0.1, 0.0)) for by in (0.2, 0.4))
    rate = quantity("r", (1.3, 1.3), (1.0, 1.0), kind="rate", margin=Margin(0.1, 0.0))
    worst = worst_of_families([small, large, rate])
    assert list(worst.items()) == [(Family.RATES, rate), (Family.DELAY, large)]


def test_margins_of_a_single_run_come_from_that_run(scenario: shoal.Scenario, result: shoal.Result) -> None:
    runs = Results([result])
    (one,) = Comparison.of([Ran("one", scenario, runs, runs, ())], [1])
    used = one.quantity("utilisation")
    assert used is not None
    assert used.margin == kinds["utilisation"].margin(result)
    assert used.difference.value == 0
    # Of one run nothing is tested, whether it is exact or not.
    (row, *_) = json.loads(replace_kernel(one, scenario).json)["scenarios"][0]["quantities"]
    assert (row["exact"], row["p_within"], row["p_beyond"], row["seeds_needed"]) == (False, None, None, None)


def replace_kernel(one: Compared, scenario: shoal.Scenario) -> Comparison:
    """The comparison of one scenario whose second plane says that it is a kernel."""
    runs = [
        Result(json.dumps({**run.data, "linux": {"kernel": "7.3", "mode": "x"}}), recorded=run._recorded)
        for run in one.linux
    ]
    return Comparison((replace(one, scenario=scenario, linux=Results(runs)),), (1,))


def test_what_is_tested_has_its_probabilities(scenario: shoal.Scenario, result: shoal.Result) -> None:
    runs = Results([result])
    margin = Margin(0.1, 1.0)
    tested = quantity("q", (10.9, 11.0, 11.1), (10.0, 10.0, 10.0), margin=margin, of="x", kind="rate")
    exact = quantity("e", (11.0, 11.0), (10.0, 10.0), Verdict.EQUAL, margin=margin)
    compared = Compared("one", scenario, runs, runs, ("note",), (tested, exact))
    data = json.loads(replace_kernel(compared, scenario).json)
    (one,) = data["scenarios"]
    assert (data["confidence"], data["level"], data["power"], data["seeds"]) == (0.95, 0.05, 0.8, [1])
    assert (one["name"], one["notes"], one["title"]) == ("one", ["note"], scenario.title)
    row, other = one["quantities"]
    # Differences 0.9, 1.0, 1.1: mean 1, standard deviation 0.1; the margin is 10 % of 10 and 1.
    assert (row["name"], row["of"], row["family"], row["verdict"]) == ("q", "x", "rates", "same")
    difference = row["difference"]
    assert (difference["value"], difference["sd"], difference["relative"]) == (
        pytest.approx(1.0), pytest.approx(0.1), pytest.approx(0.1),
    )  # fmt: skip
    assert difference["ci95"] == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-6)
    assert row["margin"] == {"share": 0.1, "absolute": 1.0, "value": 2.0}
    assert (row["sim"]["mean"], row["linux"]["mean"]) == (pytest.approx(11.0), 10.0)
    assert row["p_within"] == pytest.approx(0.5 - 300**0.5 / (2 * 302**0.5), rel=1e-6)
    assert row["p_beyond"] == 1.0
    assert (other["exact"], other["p_within"], other["p_beyond"]) == (True, None, None)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (((0, 1), ()), "0 of 2 runs of the simulator have it, and 2 of 2 on Linux"),
        (((), (0, 1)), "2 of 2 runs of the simulator have it, and 0 of 2 on Linux"),
        (((1,), ()), "1 of 2 runs of the simulator have it, and 2 of 2 on Linux"),
        (((0, 1), (0, 1)), None),
    ],
)
def test_what_one_plane_lacks_is_said_and_what_both_lack_is_not(
    scenario: shoal.Scenario, missing: tuple[Sequence[int], Sequence[int]], words: str | None
) -> None:
    runs = shoal.run(scenario.override({"duration": "3 s"}), seeds=2)

    def lacking(indices: Sequence[int]) -> Results:
        changed = []
        for number, run in enumerate(runs):
            data = json.loads(run.json)
            if number in indices:
                data["groups"][0]["acks_per_packet"] = None
            changed.append(Result(json.dumps(data), recorded=run._recorded))
        return Results(changed)

    (one,) = Comparison.of([Ran("one", scenario, lacking(missing[0]), lacking(missing[1]), ("before",))], [1, 2])
    notes = [] if words is None else [f"ACKs per data packet (reno) is not compared: {words}"]
    assert list(one.notes) == ["before", *notes]
    assert one.quantity("acks_per_packet_reno") is None
    assert one.quantity("acks_per_packet_dctcp") is not None


# Verdicts.


def test_levels_of_the_next_verdicts_by_hand() -> None:
    tens = (10.0, 10.0, 10.0)
    near, far = Pairs((10.9, 11.0, 11.1), tens, Margin(0.1, 1.0)), Pairs((15.9, 16.0, 16.1), tens, Margin(0.1, 1.0))
    unclear = Pairs((9.0, 12.0, 15.0), tens, Margin(0.1, 1.0))
    exact = Pairs(tens, (11.0,) * 3, Margin(0.1, 1.0))
    # Of five tests two are the same and one is different: the third would need 3/5 of 5 %, the second one of four.
    found, levels = judge([near, far, unclear, near, unclear, exact])
    assert found == [
        Verdict.SAME, Verdict.DIFFERENT, Verdict.UNDECIDED, Verdict.SAME, Verdict.UNDECIDED, Verdict.SAME,
    ]  # fmt: skip
    assert (levels.within, levels.beyond) == (pytest.approx(0.05 * 3 / 5), pytest.approx(0.05 / 4))
    # All tests have a verdict, and there is no test at all: neither level is above 5 %.
    for some in ([near], [far], [exact], []):
        assert judge(some)[1] == Levels(0.05, 0.05)


@pytest.mark.parametrize(("linux", "expected"), [(11.0, Verdict.SAME), (11.5, Verdict.SAME), (13.0, Verdict.DIFFERENT)])
def test_exact_quantities_on_their_margin_are_the_same(linux: float, expected: Verdict) -> None:
    # The margin is 1.5: 10 and 11.5 differ by just that.
    (decision,) = decide([Pairs((10.0, 10.0), (linux, linux), Margin(0.0, 1.5))])
    assert (decision.verdict, decision.seeds) == (expected, None)


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        (1.0, Verdict.SAME),
        (2.0, Verdict.SAME),
        (3.0, Verdict.DIFFERENT),
        (-2.0, Verdict.SAME),
        (-3.0, Verdict.DIFFERENT),
    ],
)
def test_differences_that_are_the_same_with_every_seed(apart: float, expected: Verdict) -> None:
    """The margin is 2, and the values differ from seed to seed, but not their difference."""
    linux = (10.0, 11.0, 13.0)
    pairs = Pairs(tuple(value + apart for value in linux), linux, Margin(0.0, 2.0))
    assert (pairs.is_exact, pairs.is_within) == (False, expected is Verdict.SAME)
    assert (pairs.p_within, pairs.p_beyond) == ((0.0, 1.0) if expected is Verdict.SAME else (1.0, 0.0))
    assert judge([pairs])[0] == [expected]


def test_one_seed_is_neither_exact_nor_equal() -> None:
    one, two = Pairs((1.0,), (1.0,), NONE), Pairs((1.0, 1.0), (1.0, 1.0), NONE)
    assert (one.is_exact, one.is_equal) == (False, False)
    assert (two.is_exact, two.is_equal) == (True, True)
    assert Pairs((1.0, 1.0), (1.0, 2.0), NONE).is_exact is False
    # Seeds of one plane alone are no pairs.
    for bound in ("_lower", "_upper"):
        with pytest.raises(ValueError, match="zip"):
            getattr(Pairs((1.0, 2.0, 3.0), (1.0, 2.0), NONE), bound)


@pytest.mark.parametrize(("apart", "is_within"), [(0.0, True), (0.3, True), (2.5, False), (-2.5, False)])
def test_seeds_needed_are_the_fewest_with_which_a_verdict_is_likely(apart: float, is_within: bool) -> None:
    """The power of n seeds by the normal distribution, one n after the other."""
    levels, margin, spread = Levels(0.02, 0.01), 1.0, (-2.0, -1.0, 0.0, 1.0, 2.0)
    pairs = Pairs(tuple(10.0 + apart + by for by in spread), (10.0,) * 5, Margin(0.0, margin))
    assert pairs.is_within is is_within
    sd, normal = math.sqrt(10 / 4), NormalDist()

    def reached(n: int) -> float:
        upper, lower = ((margin - sign * apart) / (sd / math.sqrt(n)) for sign in (1, -1))
        if is_within:
            quantile = student_t_quantile(1 - levels.within, n - 1)
            return 1 - normal.cdf(quantile - upper) - normal.cdf(quantile - lower)
        quantile = student_t_quantile(1 - levels.beyond / 2, n - 1)
        return 1 - normal.cdf(min(upper, lower) + quantile)

    wanted = next(n for n in itertools.count(6) if reached(n) >= 0.8)
    assert 6 < wanted < 100
    assert pairs.seeds_needed(levels) == wanted


def test_seeds_needed_are_offered_up_to_ten_thousand() -> None:
    def needed(apart: float) -> int | None:
        values = tuple(10.0 + apart + by for by in (-1.0, 0.0, 1.0))
        return Pairs(values, (10.0,) * 3, Margin(0.0, 1.0)).seeds_needed(Levels(0.05, 0.05))

    # The standard deviation is 1. Within by d it takes about ((1.645 + 0.842) / d)^2 seeds: 6330 if d is a part of 32,
    # and 25,300 if it is a part of 64.
    few = needed(1 - 1 / 32)
    assert few is not None
    assert few == pytest.approx((32 * 2.4865) ** 2, rel=0.01)
    assert needed(1 - 1 / 64) is None
    assert most_seeds == 10_000


# The head.


def measured(name: str, size: float, scenario: str, title: str = "") -> tuple[str, Measure, float]:
    return scenario, Measure(name, title, "link", "", 1.0, "queue", lambda _: None), size


@pytest.mark.parametrize(("count", "p90"), [(1, 1), (9, 9), (10, 9), (11, 10), (19, 18), (20, 18)])
def test_nine_of_ten_scenarios_do_not_exceed_the_percentile(count: int, p90: int) -> None:
    (found,) = headlines([measured("marked", number, f"s{number}") for number in range(count, 0, -1)])
    assert (found.p90, found.worst, found.worst_in, found.scenarios) == (p90, count, f"s{count}", count)
    assert found.median == (count + 1) / 2


def test_of_several_quantities_of_a_scenario_the_largest_counts() -> None:
    some = [measured("marked", 0.3, "a"), measured("marked", 0.2, "a"), measured("marked", 0.0, "b")]
    (found,) = headlines(some)
    assert (found.worst, found.worst_in, found.p90, found.median, found.target) == (0.3, "a", 0.3, 0.15, None)
    assert not found.is_missed
    # Delays and completion times count at the 99th percentile only; a queue does whatever its title is.
    some = [
        measured("delay_ect_mean_s", 9.0, "a", "queueing delay mean"),
        measured("delay_ect_p99_s", 0.1, "a", "queueing delay P99"),
        measured("fct_p99_s_x", 0.2, "a", "completion time P99"),
        measured("queue_packets", 0.3, "a", "mean queue"),
    ]
    assert {one.title: one.worst for one in headlines(some)} == {
        "mean queue": 0.3,
        "delay P99": 0.1,
        "completion time P99": 0.2,
    }


@pytest.mark.parametrize(("name", "target"), [("utilisation", 0.01), ("queue_packets", 0.08), ("rate_ratio_a/b", 0.12)])
def test_a_target_is_missed_by_more_than_it(name: str, target: float) -> None:
    for size, is_missed in ((target, False), (target + 0.001, True)):
        (found,) = headlines([measured(name, size, "a")])
        assert (found.target, found.is_missed) == (target, is_missed)
        assert found.json == {
            "title": found.title,
            "scenarios": 1,
            "median": size,
            "p90": size,
            "worst": {"value": size, "scenario": "a"},
            "target": target,
        }


def test_the_table_of_the_head(compare) -> None:  # type: ignore[no-untyped-def]
    comparison = compare(
        quantity("utilisation", (0.95, 0.95), (1.0, 1.0)),
        quantity("queue_packets", (4.2, 4.2), (4.0, 4.0)),
        quantity("marked", (33.0, 33.0), (3.0, 3.0)),
        quantity("dropped_ect", (3.0, 3.0), (3.0, 3.0)),
    )
    # 5 % is above the target of 1 %, 5 % is below 8 %; from ten times on there are no decimals.
    assert head(comparison).rows == [
        ("utilisation (1)", "one", "5.00%", "5.00%", "5.00%", "1%, missed"),
        ("mean queue (1)", "one", "5.00%", "5.00%", "5.00%", "8%, met"),
        ("marks (1)", "one", "1000%", "1000%", "1000%", "-"),
        ("drops (1)", "-", "0.00%", "0.00%", "0.00%", "-"),
    ]
    assert comparison.missed == ["utilisation"]
    assert head(comparison).words == 2


# Tables of a scenario.


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (1.0, 2.0, ("1", "2")),
        (1.23456, 1.23456, ("1.235", "1.235")),
        # Four digits would be the same: five tell them apart.
        (1.23411, 1.23444, ("1.2341", "1.2344")),
        (1.00000001, 1.00000002, ("1.00000001", "1.00000002")),
        # Nine digits at most, although they look the same.
        (1.000000001, 1.000000002, ("1", "1")),
        (123456.0, 98765.0, ("123456", "98765")),
        (0.000012344, 0.5, ("1.234e-05", "0.5")),
    ],
)
def test_digits_that_tell_two_means_apart(first: float, second: float, expected: tuple[str, str]) -> None:
    assert shown(quantity("q", (first, first), (second, second))) == expected


def test_means_are_shown_in_their_unit() -> None:
    assert shown(quantity("q", (0.001, 0.001), (0.002, 0.002), factor=1e3)) == ("1", "2")


def test_rows_of_the_details_by_hand(compare) -> None:  # type: ignore[no-untyped-def]
    comparison = compare(
        # Differences 1 and 3 of a mean of 10: 20 %, and 12.706 x sqrt(2) / sqrt(2) = 12.7 are 127 %; the margin is
        # 10 % of 10 and 0.5, 15 %.
        quantity("noisy", (11.0, 13.0), (10.0, 10.0), Verdict.UNDECIDED, margin=Margin(0.1, 0.5), seeds=40, unit="ms"),
        quantity("many", (9.0, 9.5), (10.0, 10.0), Verdict.UNDECIDED, of="classic", margin=Margin(0.1, 0.0)),
        quantity("equal", (3.0, 3.0), (3.0, 3.0), Verdict.EQUAL, margin=Margin(0.1, 0.0)),
        # Nothing on Linux: the difference and the margin are in the unit, a thousand times what is stored.
        quantity("none", (0.002, 0.002), (0.0, 0.0), Verdict.DIFFERENT, margin=Margin(0.1, 0.001), factor=1e3),
        quantity("rate", (2.0, 4.0), (4.0, 4.0), Verdict.SAME, kind="rate", margin=Margin(0.5, 0.0)),
    )
    rates, delays = details(comparison[0])
    assert rates.columns == ("Rates", "Verdict", "Simulator", "Linux", "Difference", "Margin")
    # Differences -2 and 0: -1, a quarter of 4, with 12.706 x 1.41421 / sqrt(2) around it, 318 %.
    assert rates.rows == [("rate", "same", "3", "4", "-25 ± 318 %", "50 %")]
    assert delays.columns[0] == "Queue and delay"
    assert delays.columns[-1] == "Seeds"
    assert [table.words for table in (rates, delays)] == [2, 2]
    # Differences -1 and -0.5: -0.75, with 12.706 x 0.353553 / sqrt(2) = 3.18 around it, in per cent of 10.
    assert delays.rows == [
        ("noisy [ms]", "not decided", "12", "10", "+20 ± 127 %", "15 %", "about 40"),
        ("many (classic)", "not decided", "9.25", "10", "-7.5 ± 32 %", "10 %", "> 10000"),
        ("equal", "equal", "3", "3", "0 %", "10 %", ""),
        ("none", "different, exactly", "2", "0", "+2", "1", ""),
    ]


def test_the_overview_adds_drops_and_lists_the_others(compare) -> None:  # type: ignore[no-untyped-def]
    comparison = compare(
        quantity("utilisation", (99.0,), (98.0,)),
        quantity("rate_ratio_a/b", (1.5,), (2.5,)),
        quantity("rate_ratio_a/c", (3.5,), (4.5,)),
        quantity("dropped_ect", (10.0,), (1.0,)),
        quantity("dropped_not_ect", (20.0,), (5.0,)),
        quantity("marked", (7.0,), (8.0,)),
    )
    table = overview(comparison)
    # Means of 30 and 6 drops; two ratios; no queue and no delays here.
    assert table.rows == [("one", "99 / 98", "", "", "", "7 / 8", "30 / 6", "1.5 / 2.5; 3.5 / 4.5")]
    assert table.columns[:2] == ("Scenario", "utilisation %")
    assert table.words == 1


def test_the_verdicts_of_a_scenario_in_a_row(compare) -> None:  # type: ignore[no-untyped-def]
    margin = Margin(0.5, 0.0)
    comparison = compare(
        quantity("equal", (1.0, 1.0), (1.0, 1.0), Verdict.EQUAL, margin=margin),
        quantity("a little", (1.1, 1.1), (1.0, 1.0), Verdict.SAME, margin=margin),
        quantity("some", (1.2, 1.2), (1.0, 1.0), Verdict.SAME, margin=margin),
        quantity("noise", (1.1, 1.3), (1.0, 1.0), Verdict.SAME, margin=margin),
        quantity("far", (9.0, 9.5), (1.0, 1.0), Verdict.DIFFERENT, margin=margin, unit="ms"),
        quantity("delay", (9.0, 9.0), (1.0, 1.0), Verdict.DIFFERENT, margin=margin, of="ECT", kind="rate"),
        *(quantity(f"q{n}", (1.0, 2.0), (1.0, 1.0), Verdict.UNDECIDED, margin=margin, seeds=n) for n in (50, 30, 40)),
    )
    table = verdicts(comparison)
    # Four are equal or the same, three not decided, two different; half of the three, two, need 40 seeds at most.
    # Two of the same differ exactly, of which 1.2 is the worst.
    assert table.rows == [
        (
            "one", "4", "3", "2",
            "rates: delay (ECT) 9 / 1, exactly; queue and delay: far 9.25 / 1 ms; "
            "within the margin, exactly: some 1.2 / 1 and 1 more; not decided: half of them need 40 seeds",
        )
    ]  # fmt: skip
    assert table.words == len(table.columns) == 5
    # Exact quantities are no tests: noise, far and the three that are not decided are.
    assert comparison.tests == 5
    assert [kind.title for kind in comparison.kinds] == ["rates of flows", "mean queues"]


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        ([7], "7 seeds"),
        ([7, 9], "7 seeds"),
        ([9, 7, None], "9 seeds"),
        ([7, None, None], "more than 10000 seeds"),
        ([7, 8, None, None], "8 seeds"),
        ([10_000], "10000 seeds"),
        ([None], "more than 10000 seeds"),
    ],
)
def test_with_how_many_seeds_half_would_be_decided(compare, needed: list[int | None], words: str) -> None:  # type: ignore[no-untyped-def]
    comparison = compare(*(quantity("q", (1.0, 2.0), (1.0, 1.0), Verdict.UNDECIDED, seeds=n) for n in needed))
    assert verdicts(comparison).rows[0][-1] == f"not decided: half of them need {words}"


def test_one_that_differs_exactly_has_no_others(compare) -> None:  # type: ignore[no-untyped-def]
    comparison = compare(quantity("some", (1.2, 1.2), (1.0, 1.0), Verdict.SAME, margin=Margin(0.5, 0.0)))
    assert verdicts(comparison).rows[0][-1] == "within the margin, exactly: some 1.2 / 1"


# Margins, as docs/records/validation/linux.md explains them: share, absolute part, and what that is counted in.
MARGINS = {
    "utilisation": (0.0, 0.005, Per.UNIT, Family.RATES),
    "ratio": (0.05, 0.0, Per.UNIT, Family.RATES),
    "rate": (0.05, 0.01, Per.FAIR_RATE, Family.RATES),
    "queue": (0.05, 0.5, Per.UNIT, Family.DELAY),
    "queue-quantile": (0.05, 1.0, Per.UNIT, Family.DELAY),
    "delay": (0.05, 0.5, Per.PACKET_TIME, Family.DELAY),
    "delay-quantile": (0.05, 1.0, Per.PACKET_TIME, Family.DELAY),
    "marks": (0.05, 5.0, Per.UNIT, Family.SIGNALS),
    "drops": (0.10, 5.0, Per.UNIT, Family.SIGNALS),
    "alpha": (0.05, 4 / 1024, Per.UNIT, Family.SIGNALS),
    "acks": (0.0, 0.02, Per.UNIT, Family.FEEDBACK),
    "retransmissions": (0.10, 5.0, Per.UNIT, Family.FEEDBACK),
    "timeouts": (0.20, 2.0, Per.UNIT, Family.FEEDBACK),
    "window": (0.05, 0.1, Per.UNIT, Family.WINDOWS),
    "window-quantile": (0.05, 1.0, Per.UNIT, Family.WINDOWS),
    "reductions": (0.10, 5.0, Per.UNIT, Family.WINDOWS),
    "completion": (0.05, 1.0, Per.PACKET_TIME, Family.COMPLETION),
    "completion-tail": (0.10, 1.0, Per.PACKET_TIME, Family.COMPLETION),
}


def test_every_margin_is_the_one_that_was_set_beforehand(result: shoal.Result) -> None:
    assert {name: (one.share, one.absolute, one.per, one.family) for name, one in kinds.items()} == MARGINS
    # Two flows at 10 Mbit/s: a packet of 1500 B takes 1.2 ms, and each flow has 5 Mbit/s if they are fair.
    unit = {Per.UNIT: 1.0, Per.PACKET_TIME: 1.2e-3, Per.FAIR_RATE: 5e6}
    for name, (share, absolute, per, _) in MARGINS.items():
        margin = kinds[name].margin(result)
        assert (margin.share, margin.absolute) == (share, pytest.approx(absolute * unit[per])), name


def test_margins_in_words() -> None:
    rows = margins([kinds[name] for name in ("utilisation", "ratio", "rate", "delay", "drops")]).rows
    assert [row[:2] for row in rows] == [
        ("utilisation", "0.005"),
        ("rate ratios", "5% of Linux's mean"),
        ("rates of flows", "5% of Linux's mean + 0.01 of the fair rate"),
        ("mean delays, smoothed RTT", "5% of Linux's mean + 0.5 transmission of a packet"),
        ("drops", "10% of Linux's mean + 5"),
    ]
    assert margins([]).words == 3
