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
    for standing in advice.ranking:
        family = families[standing.candidate.family]
        if family.uses_ecn and family.is_shared:
            missed = "; ".join(standing.judged.missed)
            what = f"it misses: {missed}" if missed else "it meets what the goal requires, too"
            return [f"The best shared queue with marks is {standing.candidate.name}; {what}."]
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
        f"{unresponsive_share:.0%} of the link, the delay of scalable packets is {milliseconds(means.scalable_p99_s)} "
        f"(99th percentile), and {percent(means.classic_lost)} of the classic packets are lost."
        for situation, means in advice.recommended.measured.items()
        if situation.is_flooded
    ]


def ranking_table(advice: Advice) -> Table:
    """The best candidate of each kind, best first."""
    has_incast = any(standing.judged.incast_s is not None for standing in advice.ranking)
    columns = ("Law", "Parameters", "Misses", "Unequal", "Busy", "Scalable P99", "Classic P99")
    rows = [_ranked(standing, has_incast=has_incast) for standing in advice.ranking]
    return Table(
        "The best of each kind, by its worst situation",
        (*columns, "Incast P99") if has_incast else columns,
        rows,
        words=3,
    )


def _ranked(standing: Standing, *, has_incast: bool) -> tuple[str, ...]:
    judged = standing.judged
    cells = (
        standing.candidate.family,
        ", ".join(f"{key} {value}" for key, value in standing.candidate.parameters.items()),
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
    rows = [
        (situation.name, f"{situation.scalable} + {situation.classic}", *_cells(means))
        for situation, means in standing.measured.items()
    ]
    return Table(f"{standing.candidate.name}, in each situation", ("Situation", "Flows", *_measured), rows, words=2)


def around_table(advice: Advice) -> Table:
    """The recommended law when something is otherwise."""
    rows = [(change.what, _fate(change), *_cells(change.measured)) for change in advice.around]
    return Table("The recommended law if something is otherwise", ("Otherwise", "Misses", *_measured), rows, words=2)


def _fate(change: Around) -> str:
    return "; ".join(change.judged.missed) or "nothing"


def _cells(means: Means) -> tuple[str, ...]:
    return (
        _ratio(means.ratio),
        percent(means.utilisation),
        milliseconds(means.scalable_p99_s),
        milliseconds(means.classic_p99_s),
        percent(means.classic_lost),
    )


def _ratio(value: Estimate | None) -> str:
    if value is None:
        return _none
    # Beyond that an interval of a ratio is about seeds in which one kind got nothing.
    is_noisy = value.half_width is not None and value.half_width > value.mean
    return f"{value.mean:.3g}, noisy" if is_noisy else significant(value)


def fails(advice: Advice) -> str:
    """When the recommended law does not hold, in a sentence."""
    failing = [change.what for change in advice.around if change.judged.missed]
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
