"""The search alone: every kind of condition, by hand and at random."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

import pytest

from shoal.errors import UsageError
from shoal.search import Decision, Phase, Side, candidates, written
from shoal.search.bisection import Outcome, drive, search


def run(count: int, holds: Callable[[int], bool], *, side: Side = Side.SMALLEST, confirm: int = 2) -> Outcome:
    def answer(questions: Sequence[tuple[int, int]]) -> list[Decision]:
        return [Decision(holds=holds(index)) for _, index in questions]

    return drive([search(count, side=side, confirm=confirm)], answer)[0]


def test_every_step_by_hand() -> None:
    # 0 ... 9, holds from 6 on: ends 0 and 9; middles (0 + 9)/2 = 4, (4 + 9)/2 = 6, (4 + 6)/2 = 5; then 7 and 8, as 4
    # and 5 are known.
    outcome = run(10, lambda index: index >= 6)
    assert [(step.phase, step.index) for step in outcome.steps] == [
        (Phase.ENDS, 0),
        (Phase.ENDS, 9),
        (Phase.BISECT, 4),
        (Phase.BISECT, 6),
        (Phase.BISECT, 5),
        (Phase.CONFIRM, 7),
        (Phase.CONFIRM, 8),
    ]
    assert (outcome.answer, outcome.against, outcome.fails_at, outcome.holds_at) == (6, (), 5, 6)


def test_the_largest_is_the_mirror_image() -> None:
    outcome = run(10, lambda index: index <= 3, side=Side.LARGEST)
    assert [step.index for step in outcome.steps] == [9, 0, 5, 3, 4, 2, 1]
    assert (outcome.answer, outcome.against, outcome.fails_at, outcome.holds_at) == (3, (), 4, 3)


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 100])
def test_every_monotone_condition(count: int, side: Side) -> None:
    for change in range(count + 1):  # at `count` nothing holds
        truth = [index >= change for index in range(count)]
        answer = change
        if side is Side.LARGEST:
            truth, answer = truth[::-1], count - 1 - change
        outcome = run(count, truth.__getitem__, side=side)
        assert outcome.answer == (None if change == count else answer)
        assert outcome.against == ()
        looked = [step.index for step in outcome.steps]
        assert len(looked) == len(set(looked)) <= 2 + math.ceil(math.log2(count)) + 4
        assert all(0 <= index < count for index in looked)


def test_all_hold() -> None:
    outcome = run(50, lambda _: True)
    assert (outcome.answer, outcome.against, outcome.fails_at) == (0, (), None)
    assert [step.index for step in outcome.steps] == [0, 49, 1, 2]


def test_none_holds() -> None:
    outcome = run(100, lambda _: False)
    assert (outcome.answer, outcome.against) == (None, ())
    assert [step.index for step in outcome.steps] == [0, 99, 25, 50, 75]


@pytest.mark.parametrize(("holds", "answer"), [(True, 0), (False, None)])
def test_a_single_place(holds: bool, answer: int | None) -> None:
    outcome = run(1, lambda _: holds)
    assert (outcome.answer, len(outcome.steps)) == (answer, 1)


def test_a_lucky_place_is_not_the_answer() -> None:
    # 20 holds by chance, 21 and 22 do not: the answer moves to 23, from where two neighbours hold.
    outcome = run(41, lambda index: index == 20 or index >= 23)
    assert outcome.answer == 23
    assert outcome.against == (20,)


def test_a_range_inside_is_found_and_called_what_it_is() -> None:
    outcome = run(101, lambda index: 40 <= index <= 60)
    assert outcome.answer == 40
    assert outcome.against == (75, 100)


def test_the_wrong_direction_shows() -> None:
    # Holds for small values: the smallest is the first, and the other end contradicts.
    outcome = run(11, lambda index: index <= 4)
    assert (outcome.answer, outcome.against) == (0, (10,))


def test_nothing_up_to_the_end() -> None:
    # Holds only in a few places that nothing confirms.
    outcome = run(9, lambda index: index == 4)
    assert (outcome.answer, outcome.against) == (None, (4,))


def test_noise_widens_the_place_of_the_change() -> None:
    def answer(questions: Sequence[tuple[int, int]]) -> list[Decision]:
        return [Decision(holds=index >= 10, clear=abs(index - 10) > 1) for _, index in questions]

    outcome = drive([search(64)], answer)[0]
    assert (outcome.answer, outcome.fails_at, outcome.holds_at) == (10, 8, 12)


def test_noisy_conditions_end_near_the_change() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        change = rng.randrange(20, 180)
        truth = [index + rng.gauss(0, 3) >= change for index in range(200)]
        outcome = run(200, truth.__getitem__)
        assert outcome.answer is not None, seed
        assert all(truth[outcome.answer : outcome.answer + 3]), seed
        assert abs(outcome.answer - change) < 15, seed


def test_random_conditions_never_lie() -> None:
    for seed in range(2000):
        rng = random.Random(seed)
        count, confirm = rng.randrange(1, 40), rng.randrange(4)
        truth = [rng.random() < 0.6 for _ in range(count)]
        outcome = run(count, truth.__getitem__, confirm=confirm)
        looked = {step.index: step.decision.holds for step in outcome.steps}
        assert looked == {index: truth[index] for index in looked}, seed
        if outcome.answer is None:
            assert set(outcome.against) == {index for index, held in looked.items() if held}, seed
        else:
            assert all(truth[outcome.answer : outcome.answer + confirm + 1]), seed
            wrong = {index for index, held in looked.items() if held != (index >= outcome.answer)}
            assert set(outcome.against) == wrong, seed


def test_searches_side_by_side_are_those_alone() -> None:
    changes = [3, 60, 0, 99, 31]
    rounds = 0

    def answer(questions: Sequence[tuple[int, int]]) -> list[Decision]:
        nonlocal rounds
        rounds += 1
        return [Decision(holds=index >= changes[number]) for number, index in questions]

    together = drive([search(100) for _ in changes], answer)
    assert together == [run(100, lambda index, c=change: index >= c) for change in changes]  # type: ignore[misc]
    assert rounds < 12


def test_candidates() -> None:
    assert candidates(2, 5) == [2, 3, 4, 5]
    assert candidates(0.1, 0.5, step=0.1) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert candidates(1, 4, step=2) == [1, 3, 4]  # the last value is tried, wherever the steps end
    assert candidates(7, 7) == [7]
    apart = candidates(2, 1000, within=0.1)
    assert (apart[0], apart[-1], len(apart)) == (2, 1000, 54)
    assert all(b - a >= 0.1 * a for a, b in itertools.pairwise(apart[:-1]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 5, "high": 2}, "from 5 to 2 is empty"),
        ({"low": 1, "high": 2, "step": 0}, "cannot be searched"),
        ({"low": 1, "high": math.inf}, "cannot be searched"),
        ({"low": 0, "high": 1e9}, "more than 1,000,000 candidates"),
        ({"low": 0, "high": 1, "within": 2}, "not a part of a value"),
    ],
)
def test_empty_and_endless_ranges(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        candidates(**arguments)


def test_written() -> None:
    assert [written(5, "packets"), written(2.5, "ms"), written(5, None), written(0.25, None)] == [
        "5 packets",
        "2.5 ms",
        5,
        0.25,
    ]
