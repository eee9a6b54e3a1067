"""Searches with goals: the parts alone, by hand and at random, and the whole on small scenarios."""

from __future__ import annotations

import html
import itertools
import json
import math
import random
import re
import shlex
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, Cli

import shoal
from shoal.errors import UsageError
from shoal.search import Condition, FreeParameter, Measurement, Schedule, Standing, read_goals
from shoal.search.candidates import Candidate, best_of
from shoal.search.domination import Order, compared, compromise, dominates, front, judge, spread
from shoal.search.sampler import Lesson, propose

NOTHING = 5
P = "bottleneck.aqm.dctcp.threshold"
SHORT = SMALL.replace('"12 s"', '"6 s"').replace('"2 s"', '"1 s"')


# Ranges.


def test_ranges_are_read() -> None:
    assert FreeParameter.parse("p", "0.05:1:log") == FreeParameter("p", 0.05, 1, is_log=True)
    assert FreeParameter.parse("k", "0.1:0.9 BDP") == FreeParameter("k", 0.1, 0.9, "BDP")
    assert FreeParameter.parse("k", "1 ms:5 ms") == FreeParameter("k", 1, 5, "ms")
    whole = FreeParameter.parse("k", "1:60:whole packets")
    assert whole == FreeParameter("k", 1, 60, "packets", is_whole=True)
    assert FreeParameter.parse("k", "1:64:log:whole") == FreeParameter("k", 1, 64, is_log=True, is_whole=True)
    for text in ("0.05:1:log", "0.1:0.9 BDP", "1:60:whole packets", "-1:1"):
        assert FreeParameter.parse("k", FreeParameter.parse("k", text).range) == FreeParameter.parse("k", text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "is not a range"),
        ("a:b", "`a` is not a number"),
        ("1:", "`` is not a number"),
        ("1:1e999", "is not a number"),
        ("2:1", "from 2 to 1 is empty"),
        ("2:2", "from 2 to 2 is one value"),
        ("0:1:log", "is not above zero"),
        ("0.5:3:whole", "does not end at whole numbers"),
        ("1:2:lug", "there is no `lug`"),
        ("1:2:", "there is no ``"),
        ("1 ms:2 s", "has two units: ms, s"),
    ],
)
def test_what_is_no_range(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        FreeParameter.parse("k", text)


def test_values_have_the_digits_that_the_range_is_worth() -> None:
    # 0.8 / 1000 is 8e-4, so four places; ln 20 / 1000 is 3e-3, so 1 + 3 digits.
    assert FreeParameter.parse("k", "0.1:0.9").rounded(0.123456) == 0.1235
    assert FreeParameter.parse("k", "0.05:1:log").rounded(0.123456) == 0.1235
    assert FreeParameter.parse("k", "1:60:whole").rounded(7.5) == 8
    # ln 1.002 / 1000 is 2e-6, so 1 + 6 digits.
    assert FreeParameter.parse("k", "1000:1002:log").rounded(1000.1234567) == 1000.123
    for text in ("0.1:0.9", "3:4000:log", "-5:5", "2:90:whole"):
        parameter = FreeParameter.parse("k", text)
        assert (parameter.at(0.0), parameter.at(1.0)) == (parameter.low, parameter.high)


def test_neighbours_are_a_twentieth_of_the_range_apart() -> None:
    assert FreeParameter.parse("k", "0:1").neighbours(0.5) == [0.4, 0.45, 0.55, 0.6]
    # A factor of 100^(1/20) is 1.2589.
    assert FreeParameter.parse("k", "1:100:log").neighbours(10) == [6.31, 7.943, 12.59, 15.85]
    assert FreeParameter.parse("k", "0:1").neighbours(0.03) == [0.0, 0.08, 0.13]
    assert FreeParameter.parse("k", "1:20:whole").neighbours(2) == [1, 3, 4]
    assert FreeParameter.parse("k", "0:1").is_at_end(0.98)
    assert not FreeParameter.parse("k", "0:1").is_at_end(0.9)


# Goals, schedule, candidates.


@pytest.mark.parametrize(
    ("minimise", "maximise", "message"),
    [
        ([], [], "there is no goal"),
        (["jain()"], ["jain()"], "both minimised and maximised"),
        (["jain()", "jain() "], [], "`jain\\(\\)` is there twice"),
        (["jane()"], [], "there is no function `jane`"),
    ],
)
def test_what_are_no_goals(minimise: list[str], maximise: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_goals(minimise, maximise)


def test_the_schedule_by_hand() -> None:
    # One goal, two parameters, three seeds. Fresh: 6 seeds of 3 finalists and 8 neighbours, 66. Second seeds of 3
    # finalists: 9. A round: 3 seeds of 8 candidates and 2 leaders, 30. Least: 66 + 9 + 2 x 30.
    schedule = Schedule(400, 3, 2, 1)
    assert (schedule.kept_back, schedule.for_rounds, schedule.round) == (66, 325, 30)
    Schedule(135, 3, 2, 1).check()
    with pytest.raises(
        UsageError, match=r"134 runs are too few: 2 free parameters with 3 seeds a candidate take .* 135"
    ):
        Schedule(134, 3, 2, 1).check()


def candidate(number: int, loss: float, used: float, *, seeds: int = 3) -> Candidate:
    values = {"delay_ms()": (loss,) * seeds, "utilisation()": (used,) * seeds, "0.98": (0.98,) * seeds}
    return Candidate(number, 1, (float(number),), Measurement(tuple(range(seeds)), values))


def test_the_best_satisfy_the_condition_or_fail_it_by_least() -> None:
    goals, condition = read_goals(["delay_ms()"], []), Condition.parse("utilisation() >= 0.98")
    some = [candidate(1, 5, 0.99), candidate(2, 3, 0.9), candidate(3, 4, 0.98), candidate(4, 1, 0.97)]
    some.append(candidate(5, math.nan, 1.0))
    assert [one.number for one in best_of(some, goals, condition, 3)] == [3, 1]
    assert [one.number for one in best_of(some, goals, None, 2)] == [4, 2]
    failing = [one for one in some if one.number in (2, 4, 5)]
    assert [one.number for one in best_of(failing, goals, condition, 3)] == [4, 2]


# Domination.


def test_domination_by_hand() -> None:
    losses = [(1.0, 5.0), (2.0, 4.0), (2.0, 5.0), (3.0, 1.0), (1.0, 5.0)]
    assert dominates(losses[0], losses[2])
    assert not dominates(losses[0], losses[4])
    assert front(losses) == [0, 1, 3]
    # Goals scaled to 0 ... 1: (0, 1), (1/2, 3/4), (1, 0) are 1, 0.90 and 1 away from the best of both.
    assert compromise([losses[place] for place in (0, 1, 3)]) == 1


def test_ends_of_a_front_stay() -> None:
    line = [(float(n), float(10 - n)) for n in range(11)]
    kept = spread([*line, (4.9, 5.1)], 5)
    assert {0, 10} <= set(kept)
    # Even spacing: gaps of a front of eleven that five stand for are at most 4.
    assert max(b - a for a, b in itertools.pairwise(kept)) <= 4


def test_random_fronts_dominate_the_rest() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        losses = [(rng.randrange(9) * 1.0, rng.randrange(9) * 1.0) for _ in range(rng.randrange(1, 30))]
        on = front(losses)
        assert on, seed
        for place, own in enumerate(losses):
            covered = any(losses[other] == own or dominates(losses[other], own) for other in on)
            assert covered, seed
            assert not (place in on and any(dominates(other, own) for other in losses)), seed


def test_noise_leaves_domination_open() -> None:
    assert compared([1.0, 1.0], [1.0, 1.0]) is Order.EQUAL
    assert compared([1.0, 2.0], [2.0, 3.0]) is Order.BETTER  # the pairs differ by the same
    assert compared([1.0, 2.0], [1.5, 1.4]) is Order.UNCLEAR
    assert compared([3.0], [1.0]) is Order.WORSE
    clear = [[1.0, 1.1, 1.2], [5.0, 5.1, 5.2]]
    better = [[0.5, 0.6, 0.7], [4.0, 4.1, 4.2]]
    other = [[9.0, 9.1, 9.2], [1.0, 1.1, 1.2]]
    noisy = [[0.9, 1.3, 1.1], [5.0, 5.1, 5.2]]
    judged = judge([better, clear, other])
    assert [one.standing for one in judged] == [Standing.ON_FRONT, Standing.DOMINATED, Standing.ON_FRONT]
    assert judged[1].by == (0,)
    # In one goal within the noise, in the other equal: neither is clearly on the front.
    both = judge([clear, noisy])
    assert [(one.standing, one.by) for one in both] == [(Standing.UNCLEAR, (1,)), (Standing.UNCLEAR, (0,))]
    # The same twice is no contradiction.
    assert [one.standing for one in judge([clear, clear])] == [Standing.ON_FRONT] * 2


# The sampler.


def test_proposals_are_a_function_of_what_is_known() -> None:
    parameters = [
        FreeParameter.parse("a", "0:1"),
        FreeParameter.parse("b", "1:100:log"),
        FreeParameter("c", 1, 9, is_whole=True),
    ]
    rng = random.Random(7)
    known = [
        Lesson((rng.random(), float(rng.randrange(1, 100)), float(rng.randrange(1, 10))), (rng.random(),), (0.0,))
        for _ in range(20)
    ]
    known.append(Lesson((0.5, 5.0, 5.0), None, (1.0,)))
    first = propose(parameters, known, goals=1, count=8, startup=16, seed=1)
    assert first == propose(parameters, known, goals=1, count=8, startup=16, seed=1)
    assert first != propose(parameters, known, goals=1, count=8, startup=16, seed=2)
    assert len(set(first)) == 8
    assert all(0 <= a <= 1 <= b <= 100 and c == int(c) for a, b, c in first)


def test_a_small_range_is_exhausted() -> None:
    parameters = [FreeParameter("c", 1, 3, is_whole=True)]
    first = propose(parameters, [], goals=1, count=8, startup=16, seed=1)
    assert sorted(first) == [(1.0,), (2.0,), (3.0,)]
    known = [Lesson(at, (at[0],), ()) for at in first]
    assert propose(parameters, known, goals=1, count=8, startup=16, seed=2) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_proposals_approach_an_optimum_with_a_constraint(seed: int) -> None:
    # (a - 0.2)^2 + (b - 0.7)^2 such that a >= 0.4: the optimum is (0.4, 0.7), where the goal is 0.04.
    parameters = [FreeParameter("a", 0, 1), FreeParameter("b", 0, 1)]
    known: list[Lesson] = []
    for round_ in range(12):
        for a, b in propose(parameters, known, goals=1, count=8, startup=16, seed=100 * seed + round_):
            known.append(Lesson((a, b), ((a - 0.2) ** 2 + (b - 0.7) ** 2,), (max(0.0, 0.4 - a),)))
    best = min(one.losses[0] for one in known if one.losses and one.violations[0] == 0)
    assert 0.04 <= best < 0.05, seed


# The whole.


@pytest.fixture(scope="module")
def small() -> shoal.Scenario:
    return shoal.Scenario.from_toml(SHORT, name="small.toml")


@pytest.fixture(scope="module")
def single(small: shoal.Scenario) -> shoal.Optimised:
    return shoal.optimise(
        small,
        free={P: "2:40:whole packets"},
        minimise="delay_ms()",
        such_that="utilisation() >= 0.97",
        runs=150,
        seeds=2,
    )


@pytest.fixture(scope="module")
def double(small: shoal.Scenario) -> shoal.Optimised:
    free = {"k": "0.1:1.4", "flows.dctcp.rtt": "20:60 ms"}
    return shoal.optimise(
        small, free=free, minimise="delay_ms()", maximise="jain()", set={P: "{k} BDP"}, runs=150, seeds=1
    )


def test_the_optimum_is_what_a_full_sweep_finds(small: shoal.Scenario, single: shoal.Optimised) -> None:
    fresh = single.schedule.seeds * 2
    seeds = range(small.seed + fresh, small.seed + 2 * fresh)
    points = shoal.sweep(small, grid={P: [f"{k} packets" for k in range(2, 41)]}, seeds=seeds)
    holding = {
        k: delay.mean
        for k, point in enumerate(points, 2)
        if (used := point.estimate("utilisation()")) and used.mean >= 0.97 and (delay := point.estimate("delay_ms()"))
    }
    least = min(holding.values())
    found = single.estimate("delay_ms()")
    assert found is not None
    assert found.mean == pytest.approx(holding[int(single.values[P])], rel=1e-12)
    # Noise may choose a neighbour; what it gives is within the interval of the true least.
    assert found.mean <= least + (found.half_width or 0.0) + 0.5
    assert single.settings == {P: f"{int(single.values[P])} packets"}
    assert small.override(single.settings).resolved["bottleneck"]["aqm"]["dctcp"]["threshold"]


def test_fresh_seeds_had_no_part_in_the_choice(single: shoal.Optimised) -> None:
    for one in single.finalists:
        assert not set(one.searched.seeds) & set(one.confirmed.seeds)
        assert len(one.searched.seeds) == len(one.confirmed.seeds) == 4
    assert {one.measured.seeds for one in single.neighbours} == {single.finalists[0].confirmed.seeds}
    assert {one.searched.seeds[:2] for one in single.candidates} == {(1, 2)}  # the same for all
    assert single.runs <= 150
    assert [one.number for one in single.candidates] == list(range(1, len(single.candidates) + 1))
    assert len({one.at for one in single.candidates}) == len(single.candidates)


def test_both_numbers_of_the_optimum_are_said(single: shoal.Optimised) -> None:
    text = "\n".join([single.verdict, *single.remarks])
    assert re.search(rf"Least delay_ms\(\) = [\d.]+( ± [\d.]+)? at {re.escape(P)} = \d+ packets", text)
    assert re.search(r"delay_ms\(\) of the optimum with the seeds that chose it: .*; with fresh seeds: ", text)
    low, high = single.plausible[P]
    assert low <= single.values[P] <= high
    assert f"Not clearly worse, of all that was tried: {P} " in text


def test_a_notebook_shows_the_search(single: shoal.Optimised, double: shoal.Optimised) -> None:
    for optimised, names in ((single, ["history"]), (double, ["front", "history"])):
        assert [drawn.name for drawn in optimised.drawn] == names
        assert optimised._repr_html_().count("src='data:image/png;base64,") == 1
    front = double.drawn[0].figure
    tried = [line for line in front.axes[0].get_lines() if str(line.get_label()).startswith("tried")]
    assert sum(len(line.get_xdata()) for line in tried) == len(double.candidates)


def test_the_front_stands_in_the_order_of_its_goals(double: shoal.Optimised) -> None:
    assert double.chosen is not None
    assert double.chosen in double.front
    frame = double.finalists_to_polars()
    assert frame.columns[:4] == ["candidate", "round", "k", "flows.dctcp.rtt"]
    assert set(frame["standing"].str.extract(r"^(on the front|not clear|dominated)", 1)) <= {
        *("on the front", "not clear", "dominated")
    }
    losses = [one.confirmed.mean_losses(double.goals) for one in double.front]
    assert None not in losses
    assert double.plausible == {}
    places = double.around_to_polars()
    assert places.filter(pl.col("is_optimum")).height == 2
    assert double.to_polars().height == len(double.candidates)
    assert "Front of minimise delay_ms() and maximise jain()" in double.verdict
    page = double._repr_html_()
    assert "<table" in page
    assert repr(double).startswith("<shoal.Optimised: Front of")


def test_nothing_satisfies_the_condition(small: shoal.Scenario) -> None:
    found = shoal.optimise(
        small, free={P: "2:40:whole packets"}, maximise="utilisation()", such_that="jain() >= 2", runs=60, seeds=1
    )
    assert (found.chosen, found.values, found.neighbours, found.results) == (None, {}, [], None)
    assert re.search(
        r"No candidate satisfies jain\(\) >= 2\. The nearest, .*: jain\(\) = .* misses >= 2 by [\d.]+\.", found.verdict
    )


def test_what_has_no_value_is_named(small: shoal.Scenario) -> None:
    with pytest.raises(UsageError, match=r"`fct_ms\('dctcp'\)` has no value in the first round at 8 of 8 candidates"):
        shoal.optimise(small, free={P: "2:40:whole packets"}, minimise="fct_ms('dctcp')", runs=60, seeds=1)


def test_what_is_free_is_checked_before_anything_runs(small: shoal.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.search.optimising.run_cases", lambda *_, **__: pytest.fail("something ran"))

    def refused(message: str, **more: object) -> None:
        arguments: dict[str, object] = {
            "free": {P: "2:40:whole packets"},
            "minimise": "delay_ms()",
            "runs": 100,
            "seeds": 1,
        }
        with pytest.raises(shoal.ShoalError, match=message):
            shoal.optimise(small, **(arguments | more))  # type: ignore[arg-type]

    refused("unknown key `treshold`", free={"bottleneck.aqm.dctcp.treshold": "2:40 packets"})
    refused("is above max", free={"bottleneck.aqm.reno.min": "0.1:5 BDP"})
    refused("`flows.dctcp.count` takes whole numbers only", free={"flows.dctcp.count": "1:5"})
    refused("takes whole numbers only", free={P: "2:40 packets"})
    refused("nothing is free", free={})
    refused("is free, and is set as well", set={P: "5 packets"})
    refused("the seed cannot be free", free={"seed": "1:9:whole"})
    refused("`k` is a variable, which has no unit", free={"k": "1:2 ms"}, set={P: "{k} packets"})
    refused("no value is computed from it", free={"k": "1:2"})
    refused("10,001 runs are too many", runs=10_001)
    refused("is not a comparison", such_that="jain()")
    refused("no seeds", seeds=0, runs=100)


def test_optuna_may_be_missing(small: shoal.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UsageError, match="needs Optuna, which is not installed") as error:
        shoal.optimise(small, free={P: "2:40:whole packets"}, minimise="delay_ms()", runs=60, seeds=1)
    assert "pip install 'shoal[tune]'" in str(error.value.hint)


# The command line.

COMMAND = (
    *("tune", "small.toml", "--free", f"{P}=0.1:1.4 BDP", "--free", "flows.dctcp.rtt=20:60 ms", "--runs", "90"),
    *("--minimise", "delay_ms()", "--maximize", "jain()", "--such-that", "utilisation() >= 0.9", "--seeds", "1"),
)


def test_the_command_gives_the_same_bytes_for_any_workers_and_after_an_interruption(cli: Cli, folder: Path) -> None:
    (folder / "small.toml").write_text(SHORT, encoding="utf-8")
    done = cli(*COMMAND, "--out", "out")
    assert (done.code, done.err) == (0, "wrote out (report: out/report.html)\n")
    text = (folder / "out" / "tune.json").read_text(encoding="utf-8")
    # Half of what was finished is lost, and the other half found again.
    for place in sorted((folder / "cache").glob("*/*/result.json"))[::2]:
        place.unlink()
    assert cli(*COMMAND, "--json", "--workers", "1").out == text
    assert cli(*COMMAND, "--json", "--workers", "2", "--fresh").out == text
    data = json.loads(text)
    assert data["goals"] == [
        {"direction": "minimise", "expression": "delay_ms()"},
        {"direction": "maximise", "expression": "jain()"},
    ]
    assert data["schedule"]["runs_used"] <= 90
    assert data["optimum"]["candidate"] in {one["candidate"] for one in data["finalists"]}
    assert pl.read_csv(folder / "out" / "candidates.csv").height == len(data["candidates"])
    assert pl.read_parquet(folder / "out" / "around.parquet").height == len(data["around"]) + 2
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    for wanted in (
        "Front of the goals",
        "Candidates in the order of the search",
        "Around the compromise",
        "--maximise",
    ):
        assert wanted in page, wanted
    # The command of the report needs nothing but the folder.
    command = re.search(r"<pre><code>shoal (tune .*?)</code></pre>", page)
    assert command is not None
    (folder / "small.toml").unlink()
    assert cli(*shlex.split(html.unescape(command[1]))).code == 0
    assert (folder / "out-again" / "tune.json").read_text(encoding="utf-8") == text


def test_the_terminal_at_80_columns(cli: Cli, folder: Path, environment: dict[str, str]) -> None:
    (folder / "small.toml").write_text(SHORT, encoding="utf-8")
    environment["COLUMNS"] = "80"
    done = cli(*COMMAND)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert done.out.splitlines()[0] == "Small"


def test_the_exit_code_says_that_nothing_satisfies(cli: Cli, folder: Path) -> None:
    (folder / "small.toml").write_text(SHORT, encoding="utf-8")
    command = ("tune", "small.toml", "--free", f"{P}=2:40:whole packets", "--minimise", "delay_ms()", "--runs", "60")
    done = cli(*command, "--seeds", "1", "--such-that", "jain() > 1", "--out", "out")
    assert done.code == NOTHING
    assert "No candidate satisfies jain() > 1. The nearest, " in done.out
    assert json.loads((folder / "out" / "tune.json").read_text(encoding="utf-8"))["optimum"] is None
