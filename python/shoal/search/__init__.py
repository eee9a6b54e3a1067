"""Searches for the smallest or largest value of a key that satisfies a condition on metrics."""

from shoal.search.bisection import Decision, Outcome, Phase, Side, drive, search
from shoal.search.condition import Comparison, Condition, Measured, decide
from shoal.search.tuning import Problem, Trial, Tuned, candidates, solve, tune, written

__all__ = [
    "Comparison",
    "Condition",
    "Decision",
    "Measured",
    "Outcome",
    "Phase",
    "Problem",
    "Side",
    "Trial",
    "Tuned",
    "candidates",
    "decide",
    "drive",
    "search",
    "solve",
    "tune",
    "written",
]
