"""``shoal compare`` without a kernel: statistics by hand and by simulation, tables and pages, messages."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

import numpy as np
import pytest

import shoal
from shoal.cli.layout import lines
from shoal.compare import Comparison, Margin, Verdict
from shoal.compare.comparison import Ran
from shoal.compare.headline import headlines
from shoal.compare.kinds import Family, kinds
from shoal.compare.quantities import Measure, measures
from shoal.compare.tables import details, head, margins, overview, verdicts
from shoal.compare.verdicts import Levels, Pairs, decide, judge, level, power
from shoal.compare.write import page
from shoal.metrics import metrics
from shoal.results import Result, Results
from shoal.stats import benjamini_hochberg, holm, paired_difference, student_t_tail
from shoal.table import Table
from shoal.table_formats import markdown

TENS = (10.0, 10.0, 10.0)


def test_pairs_by_hand() -> None:
    # Differences -2, -1, -3: mean -2, variance 1, standard error 1 / sqrt(3) = 0.57735; t = -3.4641 with 2 degrees.
    found = paired_difference([1.0, 4.0, 6.0], [3.0, 5.0, 9.0])
    assert (found.value, found.sd, found.n) == (-2, 1, 3)
    # 4.302653 / sqrt(3).
    assert found.half_width == pytest.approx(2.484138, abs=1e-6)
    # With 2 degrees of freedom P(|T| > t) is 1 - t / sqrt(2 + t^2) = 1 - 3.4641 / sqrt(14).
    assert found.p == pytest.approx(1 - 3.4641016 / 14**0.5, abs=1e-7)


def test_what_pairs_share_cancels() -> None:
    # Means 1 apart within a scatter of hundreds, but in every pair nearly 1.
    found = paired_difference([101.1, 501.0, 900.9], [100.0, 500.0, 900.0])
    assert found.value == pytest.approx(1)
    assert found.sd == pytest.approx(0.1)


def test_nothing_to_test() -> None:
    always = paired_difference([3.0, 4.0], [2.0, 3.0])
    assert (always.value, always.sd, always.half_width, always.p) == (1, 0, 0, None)
    single = paired_difference([3.0], [2.0])
    assert (single.value, single.sd, single.half_width, single.p) == (1, None, None, None)
    with pytest.raises(shoal.UsageError):
        paired_difference([], [])


def test_tails_of_students_t() -> None:
    # With 2 degrees P(T > t) is 1/2 - t / (2 sqrt(2 + t^2)); with 1 degree, 1/4 beyond 1.
    assert student_t_tail(2, 2) == pytest.approx(0.5 - 1 / 6**0.5)
    assert student_t_tail(-2, 2) == pytest.approx(0.5 + 1 / 6**0.5)
    assert student_t_tail(1, 1) == pytest.approx(0.25)


def test_holm_by_hand() -> None:
    # At 5 %: 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2 ends it, although 0.04 <= 0.05/1.
    assert holm([0.04, 0.01, 0.03, 0.013]) == [False, True, False, True]
    assert holm([]) == []


def test_benjamini_and_hochberg_by_hand() -> None:
    # At 5 %: the second of four, 0.024 <= 0.05 * 2/4, takes the first along, although 0.02 > 0.05 * 1/4.
    assert benjamini_hochberg([0.9, 0.024, 0.04, 0.02]) == [False, True, False, True]
    # Nothing after the last that passes: 0.04 > 0.05 * 3/4.
    assert benjamini_hochberg([0.03, 0.03, 0.03]) == [True, True, True]
    assert benjamini_hochberg([]) == []


def test_within_a_margin_by_hand() -> None:
    # Margin 10 % of 10 and 1: 2. Differences 0.9, 1.0, 1.1: 1.0 below it, standard error 0.1 / sqrt(3), t = 17.3205;
    # with 2 degrees 1/2 - 17.3205 / (2 sqrt(302)) = 0.0016584. The other bound is 3 away and further.
    inside = Pairs((10.9, 11.0, 11.1), TENS, Margin(0.1, 1.0))
    assert inside.p_within == pytest.approx(0.5 - 300**0.5 / (2 * 302**0.5), rel=1e-6)
    assert inside.p_beyond > 0.99
    # Beyond the margin on either side the values are not the same.
    outside = Pairs((12.9, 13.0, 13.1), TENS, Margin(0.1, 1.0))
    assert outside.p_beyond == pytest.approx(2 * inside.p_within, rel=1e-6)
    assert outside.p_within > 0.99
    # On the margin neither can be decided.
    edge = Pairs((11.0, 12.0, 13.0), TENS, Margin(0.1, 1.0))
    assert (edge.p_within, edge.p_beyond) == (0.5, 1)


def test_a_share_is_as_uncertain_as_its_mean() -> None:
    # 10 % more with every seed, although the values are far apart: 20 % less 10 % is 1, 2, 3 below the margin.
    one = Pairs((11.0, 22.0, 33.0), (10.0, 20.0, 30.0), Margin(0.2, 0.0))
    # Mean 2, standard error 1 / sqrt(3), t = 3.4641; the other bound: 3, 6, 9, the same t.
    assert one.p_within == pytest.approx(0.5 - 3.4641016 / (2 * 14**0.5), rel=1e-6)


@pytest.mark.parametrize(
    ("sim", "linux", "expected"),
    [
        (517.0, 840.0, Verdict.DIFFERENT),
        (0.02503, 0.02504, Verdict.SAME),
        (99.0, 99.0, Verdict.EQUAL),
    ],
)
def test_what_no_seed_changes_is_compared_exactly(sim: float, linux: float, expected: Verdict) -> None:
    one = Pairs((sim,) * 3, (linux,) * 3, Margin(0.1, 0.0))
    assert one.is_exact
    assert [decision.verdict for decision in decide([one])] == [expected]


def test_a_single_run_shows_nothing() -> None:
    (decision,) = decide([Pairs((1.0,), (9.0,), Margin(0.1, 0.0))])
    assert (decision.verdict, decision.seeds) == (Verdict.UNDECIDED, None)


def test_verdicts_are_corrected_over_everything() -> None:
    # Beyond the margin with p = 0.0033 as above: alone it is different, among 40 it is not (0.05 / 40 = 0.00125).
    far = Pairs((12.9, 13.0, 13.1), TENS, Margin(0.1, 1.0))
    unclear = Pairs((9.0, 12.0, 15.0), TENS, Margin(0.1, 1.0))
    assert judge([far])[0] == [Verdict.DIFFERENT]
    assert judge([far] + [unclear] * 39)[0][0] is Verdict.UNDECIDED
    # An exact quantity is not a test: 39 of them do not change the threshold.
    assert judge([far] + [Pairs(TENS, TENS, Margin(0.1, 1.0))] * 39)[0][0] is Verdict.DIFFERENT
    # Within the margin with p = 0.0017: enough among 30 (0.05 / 30), not among 31.
    near = Pairs((10.9, 11.0, 11.1), TENS, Margin(0.1, 1.0))
    assert judge([near] + [unclear] * 29)[0][0] is Verdict.SAME
    assert judge([near] + [unclear] * 30)[0][0] is Verdict.UNDECIDED


def _correlated(random: np.random.Generator, true: Sequence[float], n: int) -> list[Pairs]:
    """Quantities of 10 +- 1 on Linux; families of five share most of their noise, pairs share the start times."""
    families = len(true) // 5
    noise = 0.8 * np.repeat(random.normal(size=(families, n)), 5, axis=0) + 0.6 * random.normal(size=(len(true), n))
    linux = 10 + random.normal(size=(len(true), n))
    sim = linux + np.array(true)[:, None] + noise
    return [Pairs(tuple(x), tuple(y), Margin(0.05, 0.5)) for x, y in zip(sim.tolist(), linux.tolist(), strict=True)]


def test_false_verdicts_are_as_rare_as_said() -> None:
    """A third does not differ, a third is right on the margin (1), where errors are likeliest, one is beyond."""
    seed, runs = 20_261_121, 400
    random = np.random.default_rng(seed)
    true = [0.0] * 15 + [1.0] * 15 + [4.0] * 15
    falsely_different, falsely_same, right = 0, [], 0
    for _ in range(runs):
        found, _ = judge(_correlated(random, true, 20))
        falsely_different += any(
            verdict is Verdict.DIFFERENT for verdict, apart in zip(found, true, strict=True) if apart <= 1
        )
        same = [apart for verdict, apart in zip(found, true, strict=True) if verdict is Verdict.SAME]
        # On the margin and beyond, the same is wrong.
        falsely_same.append(sum(apart >= 1 for apart in same) / max(1, len(same)))
        right += sum(verdict is Verdict.DIFFERENT for verdict in found[30:])
    # Standard error of a probability of 5 % over 400 comparisons: 1.1 %.
    assert falsely_different / runs <= 0.05 + 3 * 0.011, seed
    assert sum(falsely_same) / runs <= 0.05 + 3 * 0.011, seed
    # The procedure also finds differences.
    assert right / (15 * runs) > 0.95, seed


def test_without_a_difference_hardly_anything_is_called_different() -> None:
    seed = 7
    random = np.random.default_rng(seed)
    alarms = sum(Verdict.DIFFERENT in judge(_correlated(random, [0.0] * 40, 20))[0] for _ in range(200))
    assert alarms / 200 <= 0.05, seed


@pytest.mark.parametrize("apart", [0.0, 0.4, 1.8, -1.8])
def test_as_many_seeds_as_said_decide(apart: float) -> None:
    """The number comes from twenty pairs with a mean and a scatter that are known; the rest is simulated."""
    # Ten values at -1 and ten at 1 have a standard deviation of sqrt(20 / 19).
    sd = 1.5
    values = [10 + apart + sign * sd * (19 / 20) ** 0.5 for sign in (-1, 1) for _ in range(10)]
    levels = Levels(within=0.03, beyond=0.001)
    seeds = Pairs(tuple(values), (10.0,) * 20, Margin(0.05, 0.5)).seeds_needed(levels)
    assert seeds is not None
    assert seeds > 20
    random = np.random.default_rng(1)
    reached = 0
    for _ in range(1000):
        sample = random.normal(10 + apart, sd, seeds)
        one = Pairs(tuple(sample.tolist()), (10.0,) * seeds, Margin(0.05, 0.5))
        reached += one.p_within <= levels.within if abs(apart) < 1 else one.p_beyond <= levels.beyond
    # Standard error 1.3 %; the shifted normal distribution is not exactly the noncentral t.
    assert reached / 1000 == pytest.approx(power, abs=0.05)


def test_what_lies_on_its_margin_is_never_decided() -> None:
    edge = Pairs((11.0, 12.0, 13.0), TENS, Margin(0.1, 1.0))
    assert edge.seeds_needed(Levels(within=level, beyond=level)) is None


def test_bars_in_cells_do_not_end_them() -> None:
    text = markdown(Table("", ("name", "number"), [("a|b", "1")], words=1))
    assert text == "| name | number |\n| --- | --: |\n| a\\|b | 1 |\n"


def test_measures_have_names_of_their_own_and_margins(result: shoal.Result) -> None:
    found = list(measures(result))
    names = [measure.name for measure in found]
    assert len(set(names)) == len(names)
    assert {"utilisation", "acks_per_packet_dctcp", "timeouts_reno", "reductions_dctcp"} <= set(names)
    # Quantities that the planes count differently are not compared.
    assert not {"losses_reno", "losses_dctcp", "reductions_reno"} & set(names)
    for measure in found:
        margin = kinds[measure.kind].margin(result)
        assert margin.share or margin.absolute
        assert measure.get(result) is not None
    # A packet of 1500 B takes 1.2 ms at 10 Mbit/s.
    assert kinds["delay-quantile"].margin(result).absolute == pytest.approx(1.2e-3)
    # Of two flows at 10 Mbit/s, each has 5 if it is fair.
    assert kinds["rate"].margin(result).absolute == pytest.approx(5e4)


def test_flows_without_a_number_are_left_out_of_means(result: shoal.Result) -> None:
    data = json.loads(result.json)
    starved = {
        **data["groups"][1]["flows"][0],
        **{name: {"mean": None} for name in ("alpha", "cwnd_packets", "srtt_s")},
    }
    data["groups"][1]["flows"].append(starved)
    with_one = Result(json.dumps(data), recorded=result._recorded)
    for measure in measures(result):
        if "mean" in measure.name:
            assert measure.get(with_one) == measure.get(result), measure.name
    assert math.isnan(metrics["alpha"].written(with_one, "dctcp"))


def test_completion_times_are_those_of_all_flows() -> None:
    scenario = shoal.Scenario.from_toml("""
        duration = "3 s"
        warmup = "0 s"
        bottleneck = { rate = "10 Mbit/s", buffer = "20 packets", aqm = { kind = "fifo" } }
        flows = [{ cc = "reno", rtt = "10 ms", count = 12, app = { transfer = "20 kB", rounds = 3, every = "300 ms" } }]
        trace = { flows = "all" }
    """)
    result = shoal.run(scenario)
    values = {measure.name: measure.get(result) for measure in measures(result)}
    (group,) = result.groups
    times = sorted(time for flow in group["flows"] for time in flow["fct_s"])
    assert len(times) == 36
    # Order statistics: the result has two of them; 0.9 of 36 is 32.4, so the 33rd.
    assert values["fct_p50_s_reno"] == group["fct_s"]["p50"] == times[17]
    assert values["fct_p90_s_reno"] == times[32]
    assert values["fct_p99_s_reno"] == group["fct_s"]["p99"] == times[35]


def test_head_names_the_worst_scenario() -> None:
    def measure(name: str) -> Measure:
        return Measure(name, "mean queue", "link", "packets", 1, "queue", lambda _: None)

    # Ten scenarios, 1 to 10 %; one of them twice, of which the larger counts.
    sizes = [(f"s{number}", measure("queue_packets"), number / 100) for number in range(1, 11)]
    (found,) = headlines([*sizes, ("s3", measure("queue_packets"), 0.2)])
    # In order: 1 2 4 5 6 7 8 9 10 20. Median between 6 and 7; nine of ten are at most 10 %.
    assert (found.scenarios, found.worst_in, found.worst) == (10, "s3", 0.2)
    assert found.median == pytest.approx(0.065)
    assert found.p90 == pytest.approx(0.10)
    assert not found.is_missed


def _ran(name: str, scenario: shoal.Scenario, sim: Sequence[int], linux: Sequence[int]) -> Ran:
    """The second plane is the simulator, too, with other seeds."""

    def on_linux(result: Result) -> Result:
        own = {"kernel": "7.3", "mode": "seccomp"}
        return Result(json.dumps({**result.data, "linux": own}), recorded=result._recorded)

    recorded = scenario.override({"trace.series": "100 ms"})
    runs = [Results([shoal.run(recorded, seed=seed) for seed in seeds]) for seeds in (sim, linux)]
    return Ran(name, scenario, runs[0], Results([on_linux(run) for run in runs[1]]), ())


@pytest.fixture(scope="module")
def comparison(scenario: shoal.Scenario) -> Comparison:
    # The second comparison has no randomness: with two thresholds every number is exact, and many differ.
    fixed = shoal.Scenario.from_toml("""
        duration = "6 s"
        warmup = "1 s"
        bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "10 packets" } }
        flows = [{ cc = "dctcp", rtt = "25 ms" }]
    """)
    other = fixed.override({"bottleneck.aqm.threshold": "20 packets"})
    sim, linux = _ran("sim", fixed, [1, 2], [1]).sim, _ran("linux", other, [1], [1, 2]).linux
    return Comparison.of(
        [_ran("random", scenario, [1, 2, 3], [4, 5, 6]), Ran("exact", fixed, sim, linux, ())], [1, 2, 3]
    )


def test_json_has_the_words_of_the_tables(comparison: Comparison) -> None:
    found = json.loads(comparison.json)
    assert found["schema"] == 2
    assert found["tests"] == comparison.tests
    words = {str(verdict) for verdict in Verdict}
    assert words == {"equal", "same", "different", "not decided"}
    for one, compared in zip(found["scenarios"], comparison, strict=True):
        shown = [row[1].removesuffix(", exactly") for table in details(compared) for row in table.rows]
        # Tables are grouped, the object is in the order of measures.
        assert sorted(shown) == sorted(quantity["verdict"] for quantity in one["quantities"])
        assert set(shown) <= words
    quantity = found["scenarios"][1]["quantities"][0]
    assert quantity["exact"] is True
    assert quantity["p_within"] is None
    (undecided, *_) = [one for one in found["scenarios"][0]["quantities"] if one["verdict"] == "not decided"]
    assert undecided["seeds_needed"] is None or undecided["seeds_needed"] > 3
    assert set(found["headlines"][0]) == {"title", "scenarios", "median", "p90", "worst", "target"}


def test_unequal_exact_quantities_are_listed(comparison: Comparison) -> None:
    exact = comparison[1]
    assert all(quantity.pairs.is_exact for quantity in exact.quantities)
    assert exact.having(Verdict.DIFFERENT)
    (row,) = [row for row in verdicts(comparison).rows if row[0] == "exact"]
    marks = exact.quantity("marked")
    assert marks is not None
    assert marks.verdict is Verdict.DIFFERENT
    # One quantity of each family, the one with the largest difference in margins.
    families = {quantity.measure.family for quantity in exact.having(Verdict.DIFFERENT)}
    for family in Family:
        assert (f"{family}: " in row[-1]) == (family in families)
    assert ", exactly" in row[-1]
    cells = [cells for table in details(exact) for cells in table.rows]
    assert ("marks (ECT) [packets]", "different, exactly", f"{marks.sim.mean:.0f}", f"{marks.linux.mean:.0f}") in [
        cells[:4] for cells in cells
    ]


def test_what_only_one_plane_has_is_said(comparison: Comparison, scenario: shoal.Scenario) -> None:
    sim = comparison[0].sim
    data = json.loads(sim[0].json)
    data["groups"][0]["acks_per_packet"] = None
    ran = Ran(
        "some",
        scenario,
        Results([Result(json.dumps(data), recorded=sim[0]._recorded), sim[1]]),
        comparison[0].linux[:2],
        (),
    )  # type: ignore[arg-type]
    (one,) = Comparison.of([ran], [1, 2])
    assert one.quantity("acks_per_packet_reno") is None
    assert one.notes == (
        "ACKs per data packet (reno) is not compared: 1 of 2 runs of the simulator have it, and 2 of 2 on Linux",
    )


@pytest.mark.parametrize("width", [80, 100])
def test_tables_fit_a_terminal(comparison: Comparison, width: int) -> None:
    tables = [overview(comparison), verdicts(comparison), head(comparison), *details(comparison[0])]
    for table in tables:
        for line in lines(table, width):
            assert len(line.text) <= width, line.text


def test_page_explains_itself(comparison: Comparison) -> None:
    text = page(comparison, command="shoal compare", today=date(2026, 11, 22), version="0")
    assert f"all {comparison.tests} tests of this comparison" in text
    assert " ".join(text.split()).count("seed by seed") == 1
    sections = [line for line in text.split("\n") if line.startswith("## ")]
    assert sections == ["## How far apart", "## What differs", "## Numbers", "## Margins"]
    for kind in comparison.kinds:
        assert f"| {kind.title} |" in text
    assert len(margins(comparison.kinds).rows) == len(comparison.kinds)
    # Every row of a table has as many cells as its head.
    rows = [line for line in text.split("\n") if line.startswith("|")]
    for one, other in pairwise(text.split("\n")):
        if one.startswith("|") and other.startswith("|"):
            assert one.replace("\\|", "").count("|") == other.replace("\\|", "").count("|")
    assert len(rows) > 10


def test_a_notebook_shows_all_differences(comparison: Comparison) -> None:
    frame = comparison.to_polars()
    assert frame.height == sum(len(compared.quantities) for compared in comparison)
    page = comparison._repr_html_()
    assert page.count("src='data:image/png;base64,") == 1
    for compared in comparison:
        counts = [len(compared.having(verdict)) for verdict in Verdict]
        assert sum(counts) == frame.filter(frame["scenario"] == compared.name).height
        assert f"<td style='text-align:left'>{compared.name}</td>" in page
        assert "".join(f"<td style='text-align:right'>{count}</td>" for count in counts) in page
    assert repr(comparison).startswith("<shoal.compare.Comparison: 2 scenarios, 3 seeds; ")


def test_marks_stand_where_the_margins_are(comparison: Comparison) -> None:
    (axes,) = comparison.drawn.figure.axes
    frame = comparison.to_polars().drop_nulls("margins")
    marks = sorted((x, y) for line in axes.get_lines() for x, y in zip(*line.get_data(), strict=True))
    heights = {"random": 1, "exact": 0}
    rows = zip(frame["margins"], frame["scenario"], strict=True)
    assert marks == sorted((margin, heights[name]) for margin, name in rows)
    for verdict in Verdict:
        beyond = frame.filter(frame["verdict"] == verdict)["margins"].abs()
        assert verdict is not Verdict.DIFFERENT or (beyond > 1).all()
