"""The three sentences about a queue, over all combinations of laws: they say what the laws do at each length."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from shoal.switch import Amount, Law, Queue, Unit
from shoal.switch.checks import answers
from shoal.switch.model import Action, Where

LENGTHS = range(0, 60_000, 500)
# Steps and ramps that begin at, below, within and above each other; kbytes and bytes, and a step with a probability.
CURVES = [
    None,
    (Unit.BYTES, 10_000, 10_000, Fraction(1)),
    (Unit.KBYTES, 10, 10, Fraction(1, 2)),
    (Unit.BYTES, 10_000, 20_000, Fraction(1, 10)),
    (Unit.KBYTES, 10, 20, Fraction(1, 10)),
    (Unit.BYTES, 10_000, 20_000, Fraction(1)),
    (Unit.KBYTES, 15, 30, Fraction(1, 10)),
    (Unit.BYTES, 20_000, 40_000, Fraction(1, 10)),
    (Unit.BYTES, 40_000, 40_000, Fraction(1)),
]
Curve = tuple[Unit, int, int, Fraction] | None


def law(action: Action, curve: Curve) -> Law | None:
    if curve is None:
        return None
    unit, least, most, pmax = curve
    return Law(action, Amount(Fraction(least), unit), Amount(Fraction(most), unit), pmax)


def probability(curve: Curve, length: int) -> Fraction:
    """How likely the action is at a length of the queue in bytes: 0 below the minimum, then on a line, then 1."""
    if curve is None:
        return Fraction(0)
    unit, least, most, pmax = curve
    factor = 1000 if unit is Unit.KBYTES else 1
    if length >= most * factor:
        return Fraction(1)
    return (
        pmax * max(0, length - least * factor) / ((most - least) * factor) if length > least * factor else Fraction(0)
    )


def expected_not_ect(mark: Curve, drop: Curve, drop_ect: Curve) -> str:
    """From the probabilities alone."""
    marks, drops, ect = ([probability(curve, at) for at in LENGTHS] for curve in (mark, drop, drop_ect))
    if not any(drops):
        return "dropped only when the buffer is full"
    if not any(marks):
        return f"dropped by {'the law, like ECT packets' if drops == ect else 'a law of their own'}: nothing is marked"
    if drops == marks:
        return "dropped by the law that marks ECT packets"
    if all(marked == 1 for marked, dropped in zip(marks, drops, strict=True) if dropped):
        return "dropped by a law of their own, above that of the marks"
    if all(dropped == 1 for marked, dropped in zip(marks, drops, strict=True) if marked):
        return "dropped by a law of their own, below that of the marks"
    return "dropped by a law of their own"


def expected_above(mark: Curve, drop: Curve, drop_ect: Curve) -> str:
    if mark is None and drop is not None and drop_ect is not None:
        return "all packets are dropped"
    marks, ect = ([probability(curve, at) for at in LENGTHS] for curve in (mark, drop_ect))
    is_behind = all(marked == 1 for marked, dropped in zip(marks, ect, strict=True) if dropped)
    parts = {
        (True, True): f"ECT packets are marked, {'then' if is_behind else 'or'} dropped",
        (True, False): "all ECT packets are marked",
        (False, True): "all ECT packets are dropped",
        (False, False): "",
    }[mark is not None, drop_ect is not None]
    return ", ".join(filter(None, [parts, "all others are dropped" if drop else ""])) or "nothing, but for the buffer"


@pytest.mark.parametrize("drop_ect", CURVES)
def test_sentences_are_what_the_laws_do(drop_ect: Curve) -> None:
    for mark, drop in itertools.product(CURVES, CURVES):
        queue = Queue(
            "q", mark=law(Action.MARK, mark), drop=law(Action.DROP, drop), drop_ect=law(Action.DROP, drop_ect)
        )
        sentences = dict(answers(queue))
        assert sentences["Packets that are not ECT"] == expected_not_ect(mark, drop, drop_ect), (mark, drop)
        assert sentences["Above the maximum"] == expected_above(mark, drop, drop_ect), (mark, drop)


def test_laws_that_compare_different_things_are_both_named() -> None:
    step = Law(Action.MARK, Amount(Fraction(9), Unit.KBYTES), Amount(Fraction(9), Unit.KBYTES), Fraction(1))
    average = Law(Action.DROP, step.min, Amount(Fraction(90), Unit.KBYTES), Fraction(1, 10), 9, Where.ENQUEUE)
    compared = dict(answers(Queue("q", mark=step, drop=average)))["What is compared"]
    assert compared == (
        "the queue itself, at departure (mark of ECT); an average with weight 2^-9, at arrival (drop of Not-ECT)"
    )
