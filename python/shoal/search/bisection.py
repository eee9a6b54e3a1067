"""Finds where on an ordered list a noisy condition begins, or ceases, to hold. Pure: knows nothing of simulations.

A search is a generator that yields the places that it wants to know of and is sent what was found there, so that one
caller can drive many searches side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal._arguments import Word, explained


class Side(Word):
    """Which end of the values that satisfy the condition is looked for."""

    SMALLEST = "smallest"
    LARGEST = "largest"


class Phase(Word):
    """Why a place was looked at."""

    ENDS = "ends"
    PROBE = "probe"
    BISECT = "bisect"
    CONFIRM = "confirm"


@explained
@dataclass(frozen=True, slots=True)
class Decision:
    """What was found at a place.

    Attributes
    ----------
    holds
        Whether the condition holds there.
    clear
        Whether the noise is too small to have decided it.
    """

    holds: bool
    clear: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """A place that was looked at."""

    phase: Phase
    index: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found.

    Attributes
    ----------
    answer
        The outermost place from which on the condition holds; ``None`` if there is none.
    steps
        Every place looked at, in order.
    against
        Places that contradict a condition with one change only: it holds outside the answer, or fails inside.
    fails_at, holds_at
        The nearest places to the answer where the condition clearly fails and clearly holds: the change is between.
    """

    answer: int | None
    steps: tuple[Step, ...]
    against: tuple[int, ...]
    fails_at: int | None
    holds_at: int | None


Asking = Generator[list[int], Mapping[int, Decision], Outcome]
_Lookups = Generator[list[int], Mapping[int, Decision], None]


def search(count: int, *, side: Side = Side.SMALLEST, confirm: int = 2) -> Asking:
    """Search ``count`` places in about log2(count) + 2 + 2 ``confirm`` looks.

    Both ends first; if the condition holds at neither, three places between them. Then bisection. Then the neighbours
    of the answer, ``confirm`` on each side: where one of the inner ones fails, the answer moves on until ``confirm``
    neighbours hold, so that a single lucky place is never the answer.

    Parameters
    ----------
    count
        Number of places, at least 1.
    side
        ``SMALLEST`` looks for the first place from which on the condition holds, ``LARGEST`` for the last one up to
        which it does.
    confirm
        Neighbours on each side that are looked at after the bisection.
    """
    if count < 1:
        raise ValueError("nothing to search")

    def position(index: int) -> int:
        # The largest is the smallest of the reversed list.
        return index if side is Side.SMALLEST else count - 1 - index

    known: dict[int, Decision] = {}
    steps: list[Step] = []

    def look(phase: Phase, wanted: Iterable[int]) -> _Lookups:
        new = [index for index in dict.fromkeys(wanted) if 0 <= index < count and index not in known]
        if not new:
            return
        decisions = yield [position(index) for index in new]
        for index in new:
            known[index] = decisions[position(index)]
            steps.append(Step(phase, position(index), known[index]))

    yield from look(Phase.ENDS, (0, count - 1))
    if not known[0].holds and not known[count - 1].holds:
        yield from look(Phase.PROBE, (count // 4, count // 2, 3 * count // 4))
    answer = min((index for index in known if known[index].holds), default=None)
    if answer is not None:
        fails = max((index for index in known if index < answer), default=answer - 1)
        while answer - fails > 1:
            middle = (fails + answer) // 2
            yield from look(Phase.BISECT, [middle])
            if known[middle].holds:
                answer = middle
            else:
                fails = middle
    while answer is not None:
        yield from look(Phase.CONFIRM, range(max(0, answer - confirm), min(answer + confirm, count - 1) + 1))
        inner = range(answer + 1, min(answer + confirm, count - 1) + 1)
        failing = max((index for index in inner if not known[index].holds), default=None)
        if failing is None:
            break
        answer = None
        for index in range(failing + 1, count):
            yield from look(Phase.CONFIRM, [index])
            if known[index].holds:
                answer = index
                break
    return _outcome(answer, known, steps, position)


def _outcome(
    answer: int | None, known: Mapping[int, Decision], steps: Sequence[Step], position: Callable[[int], int]
) -> Outcome:
    if answer is None:
        held = sorted(position(index) for index, decision in known.items() if decision.holds)
        return Outcome(None, tuple(steps), tuple(held), None, None)
    against = [index for index, decision in known.items() if decision.holds != (index >= answer)]
    fails = [index for index, decision in known.items() if index < answer and decision.clear and not decision.holds]
    holds = [index for index, decision in known.items() if index >= answer and decision.clear and decision.holds]
    return Outcome(
        answer=position(answer),
        steps=tuple(steps),
        against=tuple(sorted(position(index) for index in against)),
        fails_at=position(max(fails)) if fails else None,
        holds_at=position(min(holds)) if holds else None,
    )


def drive(
    searches: Sequence[Asking], answer: Callable[[Sequence[tuple[int, int]]], Sequence[Decision]]
) -> list[Outcome]:
    """Run searches side by side to their ends.

    Parameters
    ----------
    searches
        Fresh searches.
    answer
        Is given ``(number of the search, place)`` for everything that the unfinished searches want to know, and gives
        the decisions in that order.
    """
    outcomes: dict[int, Outcome] = {}
    wanted = {number: next(asking) for number, asking in enumerate(searches)}
    while wanted:
        questions = [(number, index) for number, indices in wanted.items() for index in indices]
        answers = dict(zip(questions, answer(questions), strict=True))
        following = {}
        for number, indices in wanted.items():
            try:
                following[number] = searches[number].send({index: answers[number, index] for index in indices})
            except StopIteration as end:
                outcomes[number] = end.value
        wanted = following
    return [outcomes[number] for number in range(len(searches))]
