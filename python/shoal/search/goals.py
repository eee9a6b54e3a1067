"""What a search is to make small or large: metrics of runs, decided on means over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal._arguments import Word, explained
from shoal.errors import UsageError
from shoal.metrics import check_metric


class Direction(Word):
    """Which values of a goal are better."""

    MINIMISE = "minimise"
    MAXIMISE = "maximise"


@explained
@dataclass(frozen=True, slots=True)
class Goal:
    """A metric, and which of its values are better."""

    direction: Direction
    expression: str

    @property
    def text(self) -> str:
        """As in ``minimise delay_ms()``."""
        return f"{self.direction.value} {self.expression}"

    @property
    def sign(self) -> float:
        """What a value is multiplied with so that less is better."""
        return 1.0 if self.direction is Direction.MINIMISE else -1.0


def read_goals(minimise: Sequence[str], maximise: Sequence[str]) -> tuple[Goal, ...]:
    """The goals of a search, those that are minimised first.

    Raises
    ------
    UsageError
        There is none, one is there twice, or one uses a metric that does not exist.
    """
    goals = [Goal(Direction.MINIMISE, text.strip()) for text in minimise]
    goals += [Goal(Direction.MAXIMISE, text.strip()) for text in maximise]
    if not goals:
        raise UsageError("there is no goal", hint="as in --minimise 'delay_ms()' or --maximise 'jain()'")
    for number, goal in enumerate(goals):
        check_metric(goal.expression)
        for other in goals[:number]:
            if goal == other:
                raise UsageError(f"the goal `{goal.expression}` is there twice", hint="leave one out")
            if goal.expression == other.expression:
                raise UsageError(f"`{goal.expression}` is to be both minimised and maximised", hint="leave one out")
    return tuple(goals)
