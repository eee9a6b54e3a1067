"""What is hunted for: a metric with its sign, where trouble begins, and which notices say why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.errors import UsageError
from shoal.metrics import check_metric
from shoal.notices import Notice
from shoal.search import Direction, Goal

_shares = ("starved", "below-fair-share", "below-half-share", "unequal-shares")
_losses = ("retransmission-storm", "heavy-loss")
_idle = ("link-not-full", "idle-despite-windows", *_losses)


@dataclass(frozen=True, slots=True)
class Target:
    """What makes a scenario bad, and from where on it is.

    Attributes
    ----------
    name
        As on the command line.
    goal
        The metric, and which of its values are worse: those that the search goes for.
    beyond
        The value from which on a scenario counts.
    neutral
        The value at which nothing is wrong: how far a scenario is from it is its effect.
    notices
        Kinds of notices that say why, the most telling first. Where none of them names a mechanism,
        :mod:`shoal.hunting.causes` looks at the numbers.
    unit
        Unit of the metric, for people.
    """

    name: str
    goal: Goal
    beyond: float
    neutral: float
    notices: tuple[str, ...]
    unit: str = ""

    @property
    def metric(self) -> str:
        """The expression."""
        return self.goal.expression

    def loss(self, value: float) -> float:
        """A value with the sign with which less is worse for the law."""
        return self.goal.sign * value

    def counts(self, value: float) -> bool:
        """Whether a value lies beyond where trouble begins."""
        return self.loss(value) < self.loss(self.beyond)

    def effect(self, value: float) -> float:
        """How far a value is from the one at which nothing is wrong; negative on the good side."""
        return self.loss(self.neutral) - self.loss(value)

    def why(self, notices: tuple[Notice, ...]) -> Notice | None:
        """The notice that says why, if there is one."""
        by_kind = [notice for kind in self.notices for notice in notices if notice.kind == kind]
        return next(iter(by_kind), None)

    def from_value(self, beyond: float | None) -> Target:
        """A target with another value from which on a scenario counts."""
        return self if beyond is None else replace(self, beyond=beyond)


#: The goals that have names. Where trouble begins is where notices of a run begin: half of a fair share
#: (``below-half-share``), and a link that is busy for less than 80 % (``link-not-full``); a tenth of a second is what
#: interactive traffic notices (ITU-T G.114 puts the whole path at 150 ms), and a quarter of that is a swing.
targets = {
    "starve": Target("starve", Goal(Direction.MINIMISE, "least_share()"), 0.5, 1.0, _shares, "of a fair share"),
    "delay": Target("delay", Goal(Direction.MAXIMISE, "delay_ms(quantile='p99')"), 100.0, 0.0, _losses, "ms"),
    "idle": Target("idle", Goal(Direction.MAXIMISE, "unused()"), 0.2, 0.0, _idle, "of the capacity"),
    "oscillate": Target(
        "oscillate",
        Goal(Direction.MAXIMISE, "(delay_ms(quantile='p95') - delay_ms(quantile='p5')) / 2"),
        25.0,
        0.0,
        (),
        "ms",
    ),
}


def own_target(expression: str, *, maximise: bool, beyond: float | None) -> Target:
    """A goal of the user's own.

    Raises
    ------
    UsageError
        It is no metric, or it does not say where trouble begins.
    """
    check_metric(expression)
    word = "maximise" if maximise else "minimise"
    if beyond is None:
        raise UsageError(f"`{expression}` does not say from where on a scenario counts", hint="add --beyond VALUE")
    goal = Goal(Direction.MAXIMISE if maximise else Direction.MINIMISE, expression)
    # Nobody knows where nothing is wrong: the effect is counted from zero, or from twice the value to be below.
    neutral = 0.0 if maximise else 2 * beyond
    return Target(word, goal, beyond, neutral, (*_shares, *_idle, "no-marks", "marks-not-seen"))
