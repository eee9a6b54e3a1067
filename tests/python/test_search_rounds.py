"""The rounds of a search with goals, and what the sampler is told, with runs and proposals that are made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_scenario import tiny_scenario

import shoal
from shoal.errors import ScenarioError, UsageError
from shoal.results import Results
from shoal.runs.cases import Case, run_cases
from shoal.search import (
    Condition,
    FreeParameter,
    Goal,
    Measurement,
    Optimised,
    Phase,
    Schedule,
    Side,
    optimising,
    read_goals,
    sampler,
    tuning,
)
from shoal.search.bisection import Decision, drive, search
from shoal.search.candidates import Candidate, best_of, lesson
from shoal.search.condition import decide
from shoal.search.domination import Order, compared, compromise, dominates, front, judge, spread
from shoal.search.parameters import neighbour_steps
from shoal.search.sampler import Lesson, propose
from shoal.search.tuning import Problem, candidates, solve
from shoal.template import Template

KEY = "bottleneck.aqm.threshold"
DELAY = "delay_ms()"
TINY = shoal.Scenario.from_toml(tiny_scenario("2 s"))
Loss = Callable[[float, int], float]


class Runs:
    """Runs without a simulator: a number for each threshold and seed; keeps what was asked."""

    def __init__(self, **formulas: Loss) -> None:
        self._formulas = {text.replace("_of_", "()"): formula for text, formula in formulas.items()}
        self.asked: list[tuple[str, list[tuple[float, int]]]] = []

    def __call__(self, cases: Sequence[Case], label: str) -> list[Any]:
        pairs = [[(threshold(case.scenario), seed) for seed in case.seeds] for case in cases]
        if pairs:
            self.asked.append((label, [pair for pairs_of_case in pairs for pair in pairs_of_case]))
        return [Results([self._run(pair) for pair in pairs_of_case]) for pairs_of_case in pairs]

    def _run(self, pair: tuple[float, int]) -> Any:
        values = {text: formula(*pair) for text, formula in self._formulas.items()}
        return SimpleNamespace(values=values, seed=pair[1], json=str(pair))


def threshold(scenario: shoal.Scenario) -> float:
    law: Any = scenario.resolved["bottleneck"]["aqm"]
    return float(str(law["threshold"]).partition(" ")[0])


def searched(
    monkeypatch: pytest.MonkeyPatch,
    runs: Runs,
    proposals: Sequence[Sequence[float]],
    *,
    most: int,
    seeds: int = 1,
    such_that: str | None = None,
    minimise: Sequence[str] = (DELAY,),
    scenario: shoal.Scenario = TINY,
) -> tuple[Optimised, list[dict[str, Any]]]:
    """A search over thresholds of 1 to 40 packets, and with what proposals were asked for."""
    asked: list[dict[str, Any]] = []

    def proposed(parameters: Sequence[FreeParameter], known: Sequence[Lesson], **more: Any) -> list[tuple[float, ...]]:
        asked.append({"parameters": parameters, "known": list(known), **more})
        number = len(asked) - 1
        return [(float(value),) for value in proposals[number]] if number < len(proposals) else []

    monkeypatch.setattr(optimising, "propose", proposed)
    parameter = FreeParameter(KEY, 1, 40, "packets", is_whole=True)
    goals = read_goals(minimise, [])
    condition = None if such_that is None else Condition.parse(such_that)
    texts = [goal.expression for goal in goals] + (condition.expressions if condition else [])
    bench = optimising._Bench(Template(scenario, (KEY,), {}), (parameter,), texts, runs, lean=True)
    return optimising._search(bench, goals, condition, Schedule(most, seeds, 1, len(goals))), asked


def test_every_run_of_a_search_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss is the distance from 20 packets. Kept back are 2 x (3 + 4) runs, and 3 second seeds of finalists."""
    runs = Runs(delay_ms_of_=lambda k, _: abs(k - 20))
    # 37 - 14 - 3 = 20 runs are for two rounds of 8 + 2; the third would be too many.
    found, asked = searched(monkeypatch, runs, [range(1, 9), range(15, 23), range(30, 38)], most=37)
    assert runs.asked == [
        ("Round 1: candidates 1 to 8", [(k, 1) for k in range(1, 9)]),
        ("Round 1: candidates 1 to 8", [(8, 2), (7, 2)]),
        ("Round 2: candidates 9 to 16", [(k, 1) for k in range(15, 23)]),
        # 19 and 21 are as good: the earlier one leads.
        ("Round 2: candidates 9 to 16", [(20, 2), (19, 2)]),
        ("Finalists", [(21, 2)]),
        ("Finalists with fresh seeds", [(k, seed) for k in (20, 19, 21) for seed in (3, 4)]),
        # A twentieth of 39 is 2, rounded.
        ("Around the optimum", [(k, seed) for k in (16, 18, 22, 24) for seed in (3, 4)]),
    ]
    assert found.runs == 35
    assert found.values == {KEY: 20.0}
    assert [one.at[0] for one in found.finalists] == [20, 19, 21]
    assert [(one.number, one.round) for one in found.candidates] == [(n, 1 + (n > 8)) for n in range(1, 17)]
    assert [len(one.searched.seeds) for one in found.candidates if one.at[0] in (7, 8, 19, 20, 21)] == [2] * 5
    assert sum(len(one.searched.seeds) for one in found.candidates) == 16 + 5
    assert [one.fresh is not None for one in found.candidates if one.at[0] in (19, 20, 21)] == [True] * 3
    assert found.finalists[0].confirmed.seeds == (3, 4)
    assert found.finalists[0].confirmed.results is not None
    assert found.finalists[0].searched.results is None
    assert [near.value for near in found.neighbours] == [16, 18, 22, 24]
    assert all(near.measured.results is not None for near in found.neighbours)
    # Proposals: numbers of their own for each round, and everything that is known so far.
    assert [(one["count"], one["startup"], one["goals"], one["seed"]) for one in asked] == [
        (8, 16, 1, 10_001), (8, 16, 1, 10_002),
    ]  # fmt: skip
    assert [len(one["known"]) for one in asked] == [0, 8]
    assert asked[1]["known"][-1] == Lesson((8.0,), (12.0,), ())


def test_one_run_less_is_one_round_less(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(delay_ms_of_=lambda k, _: abs(k - 20))
    found, asked = searched(monkeypatch, runs, [range(1, 9), range(15, 23)], most=36)
    assert (len(asked), found.values) == (1, {KEY: 8.0})
    # A large seed of the scenario makes a number that the sampler can take.
    late = TINY.override({"seed": 500_000})
    _, asked = searched(monkeypatch, runs, [range(1, 9)], most=36, scenario=late)
    # 5,000,000,001 less 2^32.
    assert asked[0]["seed"] == 705_032_705
    # Nothing is left to propose.
    found, asked = searched(monkeypatch, runs, [range(1, 9)], most=200)
    assert (len(asked), len(found.candidates)) == (2, 8)


def test_second_seeds_bring_up_others_until_the_runs_are_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever gets its second seed falls by 50, so that those without one lead each time."""
    runs = Runs(delay_ms_of_=lambda k, seed: abs(k - 20) + 100 * (seed == 2))
    # A round uses up to 10; after two, 37 - 14 = 23 leave three second seeds for finalists.
    found, _ = searched(monkeypatch, runs, [range(1, 9), range(15, 23)], most=37)
    assert [pairs for label, pairs in runs.asked if label == "Finalists"] == [[(21, 2), (18, 2), (22, 2)]]
    # Of those with two seeds, 20, 19 and 21 are best.
    assert [one.at[0] for one in found.finalists] == [20, 19, 21]
    assert found.runs == 37
    # With two runs more for finalists two more are tried.
    runs = Runs(delay_ms_of_=lambda k, seed: abs(k - 20) + 100 * (seed == 2))
    searched(monkeypatch, runs, [range(1, 9), range(15, 23)], most=39)
    assert [len(pairs) for label, pairs in runs.asked if label == "Finalists"] == [3, 2]


def test_fresh_seeds_decide_whether_the_condition_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 20 packets it holds with the seeds of the search only, so that 19 is the optimum."""
    runs = Runs(
        delay_ms_of_=lambda k, _: abs(k - 20),
        utilisation_of_=lambda k, seed: 0.5 if k == 20 and seed > 2 else 0.95,
        **{"0.9": lambda *_: 0.9},
    )
    found, asked = searched(monkeypatch, runs, [range(1, 9), range(15, 23)], most=100, such_that="utilisation() >= 0.9")
    assert [one.at[0] for one in found.finalists] == [20, 19, 21]
    assert found.values == {KEY: 19.0}
    assert asked[1]["known"][0].violations == (0.0,)
    runs = Runs(delay_ms_of_=lambda k, _: k, utilisation_of_=lambda *_: 0.5, **{"0.9": lambda *_: 0.9})
    found, asked = searched(monkeypatch, runs, [range(1, 9)], most=100, such_that="utilisation() >= 0.9")
    assert (found.chosen, found.neighbours) == (None, [])
    # 0.4 of 0.9 is missing.
    assert asked[1]["known"][0].violations == (pytest.approx(4 / 9),)


def test_several_goals_have_a_compromise_and_eight_finalists(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(delay_ms_of_=lambda k, _: k, jain_of_=lambda k, _: (40 - k) ** 2 / 100)
    found, asked = searched(monkeypatch, runs, [range(1, 9), range(11, 19)], most=400, minimise=(DELAY, "jain()"))
    assert asked[0]["goals"] == 2
    # Four leaders of each round, and of sixteen on the front eight stand for it.
    assert [len(pairs) for label, pairs in runs.asked if label.startswith("Round 1")] == [8, 4]
    assert len(found.finalists) == 8
    assert {1.0, 18.0} <= {one.at[0] for one in found.finalists}
    losses = {one.at[0]: (one.at[0], (40 - one.at[0]) ** 2 / 100) for one in found.finalists}
    # From 1 to 18 packets, and from 15.21 to 4.84: the nearest to the best of both.
    distance = {k: math.hypot((d - 1) / 17, (j - 4.84) / 10.37) for k, (d, j) in losses.items()}
    assert found.values[KEY] == min(distance, key=lambda k: distance[k])


def test_what_never_has_a_value_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def value(k: float, seed: int) -> float:
        return math.nan if k > 2 or seed == 2 else k

    with pytest.raises(UsageError, match=r"no value in the first round at 8 of 8 candidates"):
        searched(monkeypatch, Runs(delay_ms_of_=value), [range(3, 11)], most=100)
    # One value is enough for a round; with all seeds of the search there is none.
    with pytest.raises(UsageError, match=r"`delay_ms\(\)` has no value with all seeds of the search at 8 of 8"):
        searched(monkeypatch, Runs(delay_ms_of_=value), [range(1, 9)], most=100)
    # That which is missing most is named.
    runs = Runs(delay_ms_of_=lambda k, _: math.nan if k > 2 else k, jain_of_=lambda *_: math.nan)
    with pytest.raises(UsageError, match=r"`jain\(\)` has no value in the first round at 8 of 8"):
        searched(monkeypatch, runs, [range(1, 9)], most=100, such_that="jain() > 0.5")


def test_arithmetic_without_a_value_is_a_missing_number() -> None:
    texts = [DELAY, "1 / 0"]
    bench = optimising._Bench(
        Template(TINY, (KEY,), {}),
        (FreeParameter(KEY, 1, 40, "packets"),),
        texts,
        Runs(delay_ms_of_=lambda k, _: k),
        lean=True,
    )
    (one,) = bench.measure([(7.0,)], [1, 2], "label")
    assert (one.seeds, one.values[DELAY], one.missing) == ((1, 2), (7.0, 7.0), ["1 / 0"])
    assert (one.estimate("1 / 0"), bench.used) == (None, 2)


class Corners(optimising._Bench):
    """A bench that keeps the places that it is asked for, of which those with a fraction are refused if they are."""

    refused = False

    def scenario(self, at: Sequence[float]) -> Any:
        if self.refused and any(value != int(value) for value in at):
            raise ScenarioError("error: no whole number\n")
        return tuple(at)


@pytest.mark.parametrize(("count", "corners"), [(1, 2), (3, 8), (10, 1024), (11, 2)])
def test_every_corner_is_checked_unless_there_are_too_many(count: int, corners: int) -> None:
    parameters = tuple(FreeParameter(f"k{number}", 1, 5) for number in range(count))
    bench = Corners(Template(TINY, (), {}), parameters, [], Runs(), lean=False)
    found: list[Any] = bench.check_corners()
    assert len(found) == len(set(found)) == corners
    assert (found[0], found[-1]) == ((1.0,) * count, (5.0,) * count)
    # 1 + 0.382 x 4 is 2.528, which is no whole number.
    bench.refused = True
    with pytest.raises(UsageError, match="`k0` takes whole numbers only") as caught:
        bench.check_corners()
    assert caught.value.hint == "write 1:5:whole"


# What is taken for what is not said.


def test_a_search_along_one_key_takes_three_seeds_and_two_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(queue_packets_of_=lambda k, _: k, **{"6": lambda *_: 6.0})
    settings: list[dict[str, Any]] = []

    def run_cases(cases: Sequence[Case], label: str, **more: Any) -> list[Any]:
        settings.append(more)
        return runs(cases, label)

    monkeypatch.setattr(tuning, "run_cases", run_cases)
    found = tuning.tune(TINY, key=KEY, low=1, high=9, unit="packets", such_that="queue_packets() >= 6", workers=2)
    # Ends 1 and 9, then 5, 7, 6; then two on each side of 6 that are not known.
    assert [pairs for _, pairs in runs.asked] == [
        [(k, seed) for k in some for seed in (1, 2, 3)] for some in ((1, 9), (5,), (7,), (6,), (4, 8))
    ]
    assert runs.asked[0][0] == "threshold = 1, 9"
    assert (found.answer, found.side, found.unit, found.warnings) == (6, Side.SMALLEST, "packets", ())
    assert settings[0] == {"workers": 2, "cache": None, "progress": False}
    largest = tuning.tune(
        TINY,
        key=KEY,
        low=1,
        high=9,
        unit="packets",
        such_that="queue_packets() <= 6",
        side="largest",
        seeds=1,
        confirm=0,
    )
    assert (largest.answer, largest.side) == (6, Side.LARGEST)
    with pytest.raises(UsageError, match="there is no side `lagest`") as caught:
        tuning.tune(TINY, key=KEY, low=1, high=9, such_that="queue_packets() <= 6", side="lagest")  # type: ignore[arg-type]
    assert caught.value.hint == "did you mean `largest`?"
    fast = TINY.override({"bottleneck.rate": "10 Gbit/s", "bottleneck.buffer": "100 packets"})
    warned = tuning.tune(fast, key=KEY, low=1, high=9, unit="packets", such_that="queue_packets() >= 6")
    assert [text[:15] for text in warned.warnings] == ["Hosts here are "]


def test_a_search_with_goals_takes_four_hundred_runs_and_three_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")
    seen: list[Any] = []

    def kept(bench: Any, goals: Any, condition: Any, schedule: Schedule) -> Optimised:
        seen[:] = [bench, goals, condition, schedule]
        return Optimised(bench.parameters, goals, condition, schedule, [], [], None, [], 0)

    monkeypatch.setattr(optimising, "_search", kept)
    free = {KEY: "1:40:whole packets", "flows.dctcp.rtt": "20:60 ms"}
    found = optimising.optimise(TINY, free=free, minimise=DELAY, maximise=["jain()"], such_that="jain() > 0.5")
    bench, goals, condition, schedule = seen
    assert schedule == Schedule(400, 3, 2, 2)
    assert [goal.text for goal in goals] == ["minimise delay_ms()", "maximise jain()"]
    assert (bench.expressions, bench.lean, condition.text) == ([DELAY, "jain()", "0.5"], False, "jain() > 0.5")
    assert found.warnings == ()
    assert (bench.run.func, bench.run.args) == (run_cases, ())
    assert bench.run.keywords == {"workers": None, "cache": None, "progress": False}
    # Each parameter is checked at its ends and inside.
    at = bench.scenario((7.0, 25.0)).resolved
    assert (at["bottleneck"]["aqm"]["threshold"], at["flows"][0]["rtt"]) == ("7 packets", "25 ms")
    fast = TINY.override({"bottleneck.rate": "10 Gbit/s", "bottleneck.buffer": "100 packets"})
    warned = optimising.optimise(fast, free={KEY: "1:40:whole packets"}, minimise=DELAY)
    assert [text[:15] for text in warned.warnings] == ["Hosts here are "]
    optimising.optimise(TINY, free=free, minimise=DELAY, runs=10_000)
    with pytest.raises(UsageError, match="10,001 runs are too many"):
        optimising.optimise(TINY, free=free, minimise=DELAY, runs=10_001)


# The sampler.


class FakeOptuna:
    """Keeps what Optuna is given, and proposes what it is to."""

    WARNING = 30

    def __init__(self, proposals: Sequence[dict[str, float]]) -> None:
        self.trials: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self._proposals = list(proposals)
        self.asked = 0
        self.logging = SimpleNamespace(WARNING=30, set_verbosity=lambda level: self.settings.update(level=level))
        self.samplers = SimpleNamespace(TPESampler=lambda **more: more)
        self.distributions = SimpleNamespace(
            IntDistribution=lambda low, high, log: ("whole", low, high, log),
            FloatDistribution=lambda low, high, log: ("real", low, high, log),
        )

    def create_study(self, *, directions: list[str], sampler: dict[str, Any]) -> FakeOptuna:
        self.settings |= {"directions": directions, **sampler}
        return self

    def create_trial(self, **trial: Any) -> dict[str, Any]:
        return trial

    def add_trials(self, trials: list[dict[str, Any]]) -> None:
        self.trials = trials

    def ask(self, distributions: dict[str, Any]) -> Any:
        self.settings["distributions"] = distributions
        self.asked += 1
        return SimpleNamespace(params=self._proposals[(self.asked - 1) % len(self._proposals)])


def test_what_the_sampler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeOptuna([{"a": 0.123456, "b": 3}, {"a": 0.1235, "b": 3}, {"a": 0.5, "b": 2}, {"a": 0.75, "b": 5}])
    monkeypatch.setattr(sampler, "require_library", lambda: fake)
    parameters = [FreeParameter("a", 0.1, 0.9), FreeParameter("b", 1, 9, is_whole=True, is_log=True)]
    known = [
        Lesson((0.5, 2.0), (1.0, 7.0), (0.0, 0.25)),
        Lesson((0.25, 4.0), (3.0, 5.0), (0.5, 0.0)),
        Lesson((0.3, 5.0), None, (1.0, 1.0)),
    ]
    found = propose(parameters, known, goals=2, count=2, startup=16, seed=7)
    # Rounded, 0.123456 and 0.1235 are the same; 0.5 is known.
    assert found == [(0.1235, 3.0), (0.75, 5.0)]
    assert fake.asked == 4
    assert fake.settings == {
        "level": 30,
        "directions": ["minimize", "minimize"],
        "seed": 7,
        "multivariate": True,
        "n_startup_trials": 16,
        "distributions": {"a": ("real", 0.1, 0.9, False), "b": ("whole", 1, 9, True)},
    }
    assert [trial["values"] for trial in fake.trials] == [[1.0, 7.0], [3.0, 5.0], [3.0, 7.0]]
    assert [trial["params"] for trial in fake.trials] == [{"a": 0.5, "b": 2}, {"a": 0.25, "b": 4}, {"a": 0.3, "b": 5}]
    assert all(isinstance(trial["params"]["b"], int) for trial in fake.trials)
    # What has no value violates more than anything that has one.
    assert [trial["constraints"] for trial in fake.trials] == [
        {"value": 0.0, "0": 0.0, "1": 0.25},
        {"value": 0.0, "0": 0.5, "1": 0.0},
        {"value": 1e9, "0": 1.0, "1": 1.0},
    ]
    # Nothing has a value: all are equally bad.
    propose(parameters, known[2:], goals=2, count=1, startup=16, seed=7)
    assert [trial["values"] for trial in fake.trials] == [[0.0, 0.0]]


def test_a_sampler_that_repeats_itself_is_asked_eight_times_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeOptuna([{"a": 0.5}])
    monkeypatch.setattr(sampler, "require_library", lambda: fake)
    assert propose([FreeParameter("a", 0, 1)], [], goals=1, count=3, startup=16, seed=1) == [(0.5,)]
    assert fake.asked == 24


# Ranges.


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ((1, 4), [1, 2, 3, 4]),
        ((1, 3.5), [1, 2, 3, 3.5]),
        ((0, 1, 0.25), [0, 0.25, 0.5, 0.75, 1]),
        ((0, 0.3, 0.1), [0, 0.1, 0.2, 0.3]),
        ((-2, 1), [-2, -1, 0, 1]),
        ((5, 5), [5]),
        ((5, 5.5), [5, 5.5]),
        # Candidates are kept that are half of their value away from the last that was kept, and both ends.
        ((2, 8, 1, 0.5), [2, 3, 5, 8]),
        ((2, 6, 1, 0.5), [2, 3, 5, 6]),
        ((4, 4, 1, 0.5), [4]),
        ((4, 4.5, 1, 0.5), [4, 4.5]),
        ((-4, 0, 1, 0.5), [-4, -2, -1, 0]),
    ],
)
def test_candidates_by_hand(arguments: tuple[float, ...], values: list[float]) -> None:
    low, high, *more = arguments
    names = dict(zip(("step", "within"), more, strict=False))
    assert candidates(low, high, **names) == values


@pytest.mark.parametrize("within", [0.0, 1.0, -0.1])
def test_parts_that_leave_nothing_out_or_everything(within: float) -> None:
    with pytest.raises(UsageError, match="is not a part of a value"):
        candidates(1, 9, within=within)


def test_a_million_candidates_are_the_most() -> None:
    assert len(candidates(0, 1_000_000, within=0.5)) > 2
    with pytest.raises(UsageError, match="more than 1,000,000 candidates"):
        candidates(0, 1_000_001, within=0.5)
    for step in (-1.0, math.nan):
        with pytest.raises(UsageError, match="cannot be searched"):
            candidates(0, 1, step=step)


@pytest.mark.parametrize(
    ("text", "value", "rounded"),
    [
        # A thousandth of the range: 0.1 has one place, 0.099 two, and 1 none.
        ("0:100", 12.345, 12.3),
        ("0:99", 12.345, 12.35),
        ("0:1000", 12.345, 12.0),
        ("0:10000", 1234.5, 1230.0),
        ("0:1", 0.98765, 0.988),
        ("0:1", 1.5, 1.0),
        ("2:9:whole", 1.2, 2.0),
        ("2:9:whole", 7.4, 7.0),
        # ln 10 / 1000 is 0.0023: 1 + 3 digits.
        ("1:10:log", 3.14159, 3.142),
        # ln 1e6 / 1000 is 0.0138: 1 + 2 digits; of 10^50 it is 0.115, so 1 + 1, and of 10^500 two at least.
        ("1:1000000:log", 31415.9, 31400.0),
        ("1:1e50:log", 31415.9, 31000.0),
    ],
)
def test_values_are_rounded_to_a_thousandth_of_the_range(text: str, value: float, rounded: float) -> None:
    assert FreeParameter.parse("k", text).rounded(value) == pytest.approx(rounded, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value", "neighbours"),
    [
        # A twentieth of 19 is 0.95, rounded 1; of 59 it is 2.95, rounded 3; of 4 it is 0.2, but one step is the least.
        ("1:20:whole", 10, [8, 9, 11, 12]),
        ("1:60:whole", 10, [4, 7, 13, 16]),
        ("1:5:whole", 3, [1, 2, 4, 5]),
        ("1:5:whole", 5, [3, 4]),
        ("0:1", 0.0, [0.05, 0.1]),
        ("0:1", 1.0, [0.9, 0.95]),
        ("-1:1", 0.0, [-0.2, -0.1, 0.1, 0.2]),
        # 10^(1/10) is 1.2589: 20 / 1.5849, 20 / 1.2589, 20 x 1.2589, 20 x 1.5849.
        ("2:200:log", 20, [12.62, 15.89, 25.18, 31.7]),
        # Of whole numbers in equal ratios, 64^(1/20) = 1.2311: 8 / 1.5157 = 5.28, 6.5, 9.85, 12.13.
        ("1:64:log:whole", 8, [5, 6, 10, 12]),
    ],
)
def test_neighbours_by_hand(text: str, value: float, neighbours: list[float]) -> None:
    assert FreeParameter.parse("k", text).neighbours(value) == neighbours
    assert neighbour_steps == (-2, -1, 1, 2)


@pytest.mark.parametrize(
    ("text", "value", "is_at_end"),
    [
        ("0:1000", 24, True),
        ("0:1000", 25, False),
        ("0:1000", 975, False),
        ("0:1000", 976, True),
        # 100^0.025 is 1.122.
        ("1:100:log", 1.12, True),
        ("1:100:log", 1.13, False),
        ("2:200:log", 2.24, True),
        ("2:200:log", 2.25, False),
        ("2:200:log", 178, False),
        ("2:200:log", 179, True),
    ],
)
def test_the_end_of_a_range_is_half_a_step_wide(text: str, value: float, is_at_end: bool) -> None:
    assert FreeParameter.parse("k", text).is_at_end(value) is is_at_end


def test_positions_and_words_of_parameters() -> None:
    even, log = FreeParameter.parse("a.b", "2:6 ms"), FreeParameter.parse("c", "2:200:log")
    assert [even.position(value) for value in (2, 3, 6)] == [0, 0.25, 1]
    assert [log.position(value) for value in (2, 20, 200)] == [0, pytest.approx(0.5), 1]
    assert [even.at(part) for part in (0, 0.25, 1)] == [2, 3, 6]
    assert [log.at(part) for part in (0, 0.5, 1)] == [2, 20, 200]
    assert (even.name, even.range, even.whole_range, even.text(3)) == ("b", "2:6 ms", "2:6:whole ms", "3 ms")
    assert (log.name, log.range, log.whole_range, log.text(3)) == ("c", "2:200:log", "2:200:log:whole", "3")
    both = FreeParameter.parse("c", "1 packets:8 packets:log:whole packets")
    assert both == FreeParameter("c", 1, 8, "packets", is_log=True, is_whole=True)
    with pytest.raises(UsageError, match="does not end at whole numbers"):
        FreeParameter.parse("c", "1:8.5:whole")
    with pytest.raises(UsageError, match="is not above zero"):
        FreeParameter.parse("c", "-1:8:log")
    with pytest.raises(UsageError) as caught:
        FreeParameter.parse("c", "5:5 ms")
    assert caught.value.hint == "write --set c='5 ms' instead"


@pytest.mark.parametrize(
    ("schedule", "leaders", "finalists", "kept_back", "for_rounds", "round_", "least"),
    [
        # Fresh: 2 x 1 x (3 + 4); a round: 1 x (8 + 2); least: 14 + 3 + 2 x 10.
        (Schedule(100, 1, 1, 1), 2, 3, 14, 83, 10, 37),
        # Fresh: 2 x 2 x (8 + 12) = 80; second seeds: 16; a round: 2 x (8 + 4) = 24; least: 80 + 16 + 48.
        (Schedule(300, 2, 3, 2), 4, 8, 80, 204, 24, 144),
    ],
)
def test_schedules_by_hand(
    schedule: Schedule, leaders: int, finalists: int, kept_back: int, for_rounds: int, round_: int, least: int
) -> None:
    numbers = schedule.leaders, schedule.finalists, schedule.kept_back, schedule.for_rounds, schedule.round
    assert numbers == (leaders, finalists, kept_back, for_rounds, round_)
    assert schedule.startup == 16
    Schedule(least, schedule.seeds, schedule.parameters, schedule.goals).check()
    with pytest.raises(UsageError) as caught:
        Schedule(least - 1, schedule.seeds, schedule.parameters, schedule.goals).check()
    words = {1: "1 free parameter with 1 seed a", 3: "3 free parameters with 2 seeds a"}[schedule.parameters]
    assert str(caught.value) == f"{least - 1} runs are too few: {words} candidate take at least {least}"


# Candidates and their order.


def measured(number: int, *losses: float, used: float = 1.0, at: float | None = None) -> Candidate:
    values = {text: (loss,) * 2 for text, loss in zip((DELAY, "jain()"), losses, strict=False)}
    own = {**values, "utilisation()": (used,) * 2, "0.9": (0.9,) * 2}
    return Candidate(number, 1, (float(number if at is None else at),), Measurement((1, 2), own))


def test_ties_of_the_best_are_decided_by_their_numbers() -> None:
    goals, condition = read_goals([DELAY], []), Condition.parse("utilisation() >= 0.9")
    some = [measured(3, 1.0), measured(2, 1.0), measured(1, 2.0)]
    assert [one.number for one in best_of(some, goals, condition, 2)] == [2, 3]
    failing = [measured(3, 9.0, used=0.6), measured(2, 1.0, used=0.3), measured(1, 5.0, used=0.6)]
    assert [one.number for one in best_of(failing, goals, condition, 2)] == [1, 3]
    assert [one.number for one in best_of([*failing, some[2]], goals, condition, 2)] == [1]
    assert lesson(failing[0], goals, condition) == Lesson((3.0,), (9.0,), (pytest.approx(1 / 3),))


def test_of_several_goals_the_ends_of_the_front_stay() -> None:
    goals = read_goals([DELAY, "jain()"], [])
    some = [measured(n, float(n), float(10 - n)) for n in (1, 2, 3, 7, 9)] + [measured(6, 9.0, 9.0)]
    # Of five on the front the most crowded goes first: 2, between 1 and 3, then 3 or 7.
    assert [one.number for one in best_of(some, goals, None, 4)] == [1, 3, 7, 9]
    assert [one.number for one in best_of(some, goals, None, 2)] == [1, 9]
    assert [one.number for one in best_of(some, goals, None, 9)] == [1, 2, 3, 7, 9]


@pytest.mark.parametrize(
    ("text", "values", "violation"),
    [
        ("delay_ms() <= 4", (5.0, 4.0), 0.2),
        ("delay_ms() >= 5", (4.0, 5.0), 0.2),
        ("delay_ms() >= 0", (-2.0, 0.0), 1.0),
        ("delay_ms() < 4", (4.0, 4.0), 1e-12),
        ("delay_ms() < 0", (0.0, 0.0), 1e-12),
        ("delay_ms() <= 4", (4.0, 4.0), 0.0),
        ("delay_ms() >= 0 - 2", (-4.0, -2.0), 0.5),
    ],
)
def test_a_violation_is_a_part_of_the_larger_side(text: str, values: tuple[float, float], violation: float) -> None:
    condition = Condition.parse(text)
    own = Measurement((1,), {side: (value,) for side, value in zip(condition.expressions, values, strict=True)})
    assert own.violations(condition) == (pytest.approx(violation, rel=1e-9, abs=0),)


def test_measurements_are_joined_in_order() -> None:
    first, second = Measurement((1, 2), {DELAY: (3.0, 4.0)}), Measurement((5,), {DELAY: (6.0,)})
    joined = first.joined(second)
    assert (joined.seeds, joined.values) == ((1, 2, 5), {DELAY: (3.0, 4.0, 6.0)})
    (least,), (greatest,) = read_goals([DELAY], []), read_goals([], [DELAY])
    assert (joined.losses(least), joined.losses(greatest)) == ([3.0, 4.0, 6.0], [-3.0, -4.0, -6.0])
    assert joined.mean_losses((greatest,)) == (pytest.approx(-13 / 3),)
    assert (joined.violations(None), joined.judged(None), joined.decided(None)) == ((), [], Decision(holds=True))
    assert (least.text, greatest.text) == ("minimise delay_ms()", "maximise delay_ms()")
    with pytest.raises(ValueError, match="candidate 4 is no finalist"):
        _ = measured(4, 1.0).confirmed


def test_one_run_without_a_value_is_enough_to_refuse_a_condition() -> None:
    condition = Condition.parse("delay_ms() < 3")
    data = {"scenario": {"title": "Title"}}
    runs: list[Any] = [SimpleNamespace(values={DELAY: value, "3": 3.0}, data=data) for value in (1.0, math.nan, 2.0)]
    with pytest.raises(UsageError, match=r"`delay_ms\(\)` has no value in `Title`"):
        condition.measure(runs)
    (one,) = condition.measure([runs[0], runs[2]])
    assert (one.left.mean, one.right.mean, one.decision.holds) == (1.5, 3.0, True)


def test_conditions_decide_together() -> None:
    def together(*parts: tuple[bool, bool]) -> tuple[bool, bool]:
        both = decide([SimpleNamespace(decision=Decision(holds, clear)) for holds, clear in parts])  # type: ignore[misc]
        return both.holds, both.clear

    assert together((True, True), (True, True)) == (True, True)
    assert together((True, True), (True, False)) == (True, False)
    assert together((True, True), (False, True)) == (False, True)
    assert together((True, True), (False, False)) == (False, False)
    assert together((False, False), (False, True)) == (False, True)
    assert together((True, False), (False, True)) == (False, True)


# Domination.


def test_crowding_by_hand() -> None:
    # The neighbours of the inner ones are 3 and 7 of 9 apart in both goals: the first goes, and then the other one.
    line = [(0.0, 9.0), (2.0, 7.0), (3.0, 6.0), (9.0, 0.0)]
    assert spread(line, 4) == [0, 1, 2, 3]
    assert spread(line, 3) == [0, 2, 3]
    assert spread(line, 2) == [0, 3]
    # Of as crowded ones the last goes.
    assert spread([(0.0, 4.0), (1.0, 3.0), (2.0, 2.0), (3.0, 1.0), (4.0, 0.0)], 4) == [0, 1, 2, 4]
    # The second goal is the same everywhere: it has no range.
    assert spread([(0.0, 1.0), (1.0, 1.0), (5.0, 1.0), (9.0, 1.0)], 3) == [0, 2, 3]
    # Each goal counts as a part of its range: 0.1 of 0.2 is more than 20 of 100.
    assert spread([(0.0, 0.2), (10.0, 0.19), (20.0, 0.1), (100.0, 0.0)], 3) == [0, 2, 3]


def test_fronts_and_compromises_at_equality() -> None:
    assert dominates((1.0, 2.0), (1.0, 3.0))
    assert not dominates((1.0, 2.0), (1.0, 2.0))
    assert not dominates((1.0, 3.0), (2.0, 2.0))
    assert front([(2.0, 2.0), (1.0, 2.0), (1.0, 2.0), (0.0, 5.0)]) == [1, 3]
    assert compromise([(1.0, 0.0), (0.0, 1.0)]) == 0
    # The second goal has no range; the first decides.
    assert compromise([(3.0, 1.0), (2.0, 1.0)]) == 1
    # Ranges are 10 and 1: (0.6, 0.2) is 0.63 away, (0.2, 0.7) is 0.73.
    assert compromise([(0.0, 1.0), (10.0, 0.0), (2.0, 0.7), (6.0, 0.2)]) == 3


def test_orders_at_their_borders() -> None:
    # A mean of 1 with differences 0 and 2 is 12.7 wide; of one pair nothing is known.
    assert compared([1.0, 3.0], [1.0, 1.0]) is Order.UNCLEAR
    assert compared([1.0], [1.0]) is Order.EQUAL
    assert compared([1.0], [2.0]) is Order.BETTER
    # 1 and -1 are no difference in the mean, but not equal.
    assert compared([2.0, 0.0], [1.0, 1.0]) is Order.UNCLEAR
    assert compared([2.0, 2.0], [1.0, 1.0]) is Order.WORSE


def test_a_clear_opponent_counts_before_a_likely_one() -> None:
    better, own, likely = [[1.0, 1.0, 1.0]], [[2.0, 2.0, 2.0]], [[1.0, 2.0, 2.5]]
    judged = judge([better, own, likely])
    assert [one.by for one in judged] == [(2,), (0,), (0, 1)]


def test_what_goes_together_has_as_many_numbers() -> None:
    """Numbers of different seeds or goals are never compared, nor is one of them left out."""
    two, one = Measurement((1,), {DELAY: (1.0,), "3": (3.0, 4.0)}), FreeParameter("k", 0, 1)
    condition = Condition.parse("delay_ms() < 3")
    for call in (
        lambda: dominates((1.0, 2.0), (1.0,)),
        lambda: compromise([(1.0, 2.0), (1.0,)]),
        lambda: compared([1.0, 2.0], [1.0]),
        lambda: judge([[[1.0], [2.0]], [[1.0]]]),
        lambda: condition.judge(two.values),
        lambda: drive([search(3)], lambda _: [Decision(holds=True)]),
        lambda: propose([one], [Lesson((0.5, 0.5), (1.0,), ())], goals=1, count=1, startup=1, seed=1),
        lambda: propose(
            [one], [Lesson((0.5,), (1.0,), ()), Lesson((0.4,), (1.0, 2.0), ())], goals=1, count=1, startup=1, seed=1
        ),
        lambda: optimising._Bench(Template(TINY, (KEY,), {}), (one,), [], Runs(), lean=True).scenario((1.0, 2.0)),
    ):
        with pytest.raises(ValueError, match="zip"):
            call()


# Bisection.


def test_what_is_asked_of_several_searches_is_asked_together() -> None:
    asked: list[list[tuple[int, int]]] = []

    def answer(questions: Sequence[tuple[int, int]]) -> list[Decision]:
        asked.append(list(questions))
        return [Decision(holds=index >= 1) for _, index in questions]

    drive([search(2, confirm=0), search(3, confirm=0)], answer)
    assert asked == [[(0, 0), (0, 1), (1, 0), (1, 2)], [(1, 1)]]
    with pytest.raises(ValueError, match="nothing to search"):
        next(search(0))


@pytest.mark.parametrize(
    ("confirm", "looked"), [(0, [0, 9, 4, 6, 5]), (1, [0, 9, 4, 6, 5, 7]), (3, [0, 9, 4, 6, 5, 3, 7, 8])]
)
def test_neighbours_that_are_confirmed(confirm: int, looked: list[int]) -> None:
    outcome = drive([search(10, confirm=confirm)], lambda asked: [Decision(index >= 6) for _, index in asked])[0]
    assert [step.index for step in outcome.steps] == looked


def test_the_change_is_between_the_nearest_clear_places() -> None:
    def answer(questions: Sequence[tuple[int, int]]) -> list[Decision]:
        return [Decision(holds=index >= 6, clear=index not in (5, 6)) for _, index in questions]

    outcome = drive([search(10)], answer)[0]
    assert (outcome.fails_at, outcome.holds_at) == (4, 7)
    never = drive([search(10)], lambda asked: [Decision(index >= 6, clear=False) for _, index in asked])[0]
    assert (never.answer, never.fails_at, never.holds_at) == (6, None, None)


def test_a_search_along_one_key_by_hand() -> None:
    """Two problems side by side, with two seeds: the queue is as long as the threshold."""
    runs = Runs(queue_packets_of_=lambda k, seed: k + (seed - 1) / 100, **{"6": lambda *_: 6.0})
    problems = [
        Problem(
            f"{high}: ", candidates(1, high), lambda value: TINY.override({KEY: f"{value:.0f} packets"}), KEY, "packets"
        )
        for high in (10, 4)
    ]
    condition = Condition.parse("queue_packets() <= 6")
    long, short = solve(problems, condition, side=Side.LARGEST, seeds=2, confirm=1, run=runs)
    # At 6 packets 6 and 6.01 are 6.005, which fails, but within the noise; 10, 6, 4 and 5 are tried.
    assert (long.answer, long.fails_at, long.holds_at, long.all_hold) == (5, 10, 5, False)
    assert (short.answer, short.all_hold) == (4, True)
    assert runs.asked[0] == ("2 searches", [(k, seed) for k in (10, 1, 4, 1) for seed in (1, 2)])
    assert [trial.phase for trial in short.trials][:2] == [Phase.ENDS, Phase.ENDS]
    assert [trial.value for trial in short.trials] == [4, 1, 3]
    runs.asked.clear()
    (alone,) = solve(problems[1:], condition, side=Side.SMALLEST, seeds=1, confirm=0, run=runs)
    assert [label for label, _ in runs.asked] == ["4: 1, 4"]
    assert (alone.answer, alone.all_hold, alone.results.seeds if alone.results else None) == (1, True, [1])
    assert isinstance(read_goals([DELAY], [])[0], Goal)
