"""Advice in words and tables: what the command line and the report show."""

from __future__ import annotations

from shoal.advise.advising import Advice, Around, Standing, Verdict
from shoal.advise.candidates import families
from shoal.advise.judging import Means, goal_words, requirements
from shoal.advise.question import Device
from shoal.advise.traffic import scalable_code_point, unresponsive_share
from shoal.stats import Estimate, single
from shoal.table import Table
from shoal.words import milliseconds, percent, significant

_none = "-"


def verdict(advice: Advice) -> list[str]:
    """The answer, in sentences; the first says what to do."""
    best = advice.recommended
    law = f"{best.candidate.name}"
    family = families[best.candidate.family]
    scalable, classic = advice.question.scalable, advice.question.classic
    match advice.verdict:
        case Verdict.SHARE:
            lines = [f"{scalable} and {classic} can share this port behind: {law}. {_sentence(family.summary)}"]
        case Verdict.SEPARATE:
            lines = [
                f"Do not let {scalable} and {classic} share a queue here. Give {scalable} a queue of its own by its "
                f"code point ({scalable_code_point}): {law}.",
                *_shared(advice),
            ]
        case Verdict.LEAVE:
            lines = [
                f"Do not enable {scalable} with marks at this port: {law} serves this goal better than every law with "
                "marks that was tried.",
                *_shared(advice),
            ]
        case Verdict.NONE:
            lines = [
                f"Nothing that was tried meets what the goal requires, so do not enable {scalable} here as things are. "
                f"Nearest to it: {law}. It misses: {'; '.join(best.judged.missed)}."
            ]
    return [*lines, _goal(advice), *_trust(advice)]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _shared(advice: Advice) -> list[str]:
    """The best law of a shared queue, where another kind of answer is recommended."""
    for one in advice.ranking:
        family = families[one.candidate.family]
        if family.uses_ecn and family.is_shared:
            missed = "; ".join(one.judged.missed)
            what = f"it misses: {missed}" if missed else "it meets what the goal requires, too"
            return [f"The best shared queue with marks is {one.candidate.name}; {what}."]
    return []


def _goal(advice: Advice) -> str:
    goal = advice.question.goal
    wanted = requirements[goal]
    return (
        f"Goal {goal}: in every situation the link is at least {wanted.least_utilisation:.0%} busy, and no kind of "
        f"flow gets more than {wanted.most_unequal:g} times the rate of the other in the traffic as asked, and "
        f"{wanted.most_unequal_elsewhere:g} times elsewhere; of what meets that, {goal_words[goal]}."
    )


def _trust(advice: Advice) -> list[str]:
    return [
        "Senders are not trusted: with traffic that is ECN-capable, answers no mark and takes "
        f"{unresponsive_share:.0%} of the link, the delay of scalable packets is {milliseconds(own.scalable_p99_s)} "
        f"(99th percentile), and {percent(own.classic_lost)} of the classic packets are lost."
        for one, own in advice.recommended.found.items()
        if one.is_flooded
    ]


def ranking_table(advice: Advice) -> Table:
    """The best candidate of each kind, best first."""
    has_incast = any(one.judged.incast_s is not None for one in advice.ranking)
    columns = ("Law", "Parameters", "Misses", "Unequal", "Busy", "Scalable P99", "Classic P99")
    rows = [_ranked(one, has_incast=has_incast) for one in advice.ranking]
    return Table(
        "The best of each kind, by its worst situation",
        (*columns, "Incast P99") if has_incast else columns,
        rows,
        words=3,
    )


def _ranked(one: Standing, *, has_incast: bool) -> tuple[str, ...]:
    judged = one.judged
    cells = (
        one.candidate.family,
        ", ".join(f"{key} {value}" for key, value in one.candidate.parameters.items()),
        "; ".join(judged.missed) or "nothing",
        _none if judged.unequal is None else f"{judged.unequal:.2f} x",
        percent(single(judged.utilisation)),
        milliseconds(single(judged.delay_s)),
        milliseconds(single(judged.classic_delay_s)),
    )
    return (*cells, milliseconds(single(judged.incast_s))) if has_incast else cells


_measured = ("Scalable/classic", "Busy", "Scalable P99", "Classic P99", "Classic lost")


def situation_table(standing: Standing) -> Table:
    """A candidate in each situation: means over the seeds."""
    rows = [(one.name, f"{one.scalable} + {one.classic}", *_cells(own)) for one, own in standing.found.items()]
    return Table(f"{standing.candidate.name}, in each situation", ("Situation", "Flows", *_measured), rows, words=2)


def around_table(advice: Advice) -> Table:
    """The recommended law when something is otherwise."""
    rows = [(one.what, _fate(one), *_cells(one.found)) for one in advice.around]
    return Table("The recommended law if something is otherwise", ("Otherwise", "Misses", *_measured), rows, words=2)


def _fate(one: Around) -> str:
    return "; ".join(one.judged.missed) or "nothing"


def _cells(own: Means) -> tuple[str, ...]:
    return (
        _ratio(own.ratio),
        percent(own.utilisation),
        milliseconds(own.scalable_p99_s),
        milliseconds(own.classic_p99_s),
        percent(own.classic_lost),
    )


def _ratio(value: Estimate | None) -> str:
    if value is None:
        return _none
    # Beyond that an interval of a ratio is about seeds in which one kind got nothing.
    is_noisy = value.half_width is not None and value.half_width > value.mean
    return f"{value.mean:.3g}, noisy" if is_noisy else significant(value)


def fails(advice: Advice) -> str:
    """When the recommended law does not hold, in a sentence."""
    failing = [one.what for one in advice.around if one.judged.missed]
    if not failing:
        return f"It still meets the goal in all {len(advice.around)} ways in which something was otherwise."
    return f"It does not meet the goal any more with: {'; '.join(failing)}."


def not_modelled(advice: Advice) -> list[str]:
    """What the runs leave out, so that nobody takes them for more than they are."""
    question = advice.question
    lines = [
        "All flows have the same round trip, and send as fast as they may for the whole run.",
        "Pauses of links (priority flow control), other ports of the path and the CPUs of hosts.",
    ]
    if question.kind is Device.SWITCH:
        lines.append(
            f"Memory that ports share: the port has its buffer of {question.buffer_text} for itself. What a chip "
            "rounds beyond cells of 1 B, and traffic of several colours."
        )
    if not question.incast:
        lines.append("Incast: no number of senders was given.")
    if question.is_trusted:
        lines.append(
            "Senders that mark their packets as ECN-capable and do not answer marks: they were taken to be trusted."
        )
    return lines
