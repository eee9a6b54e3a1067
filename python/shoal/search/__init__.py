"""Searches for the smallest or largest value of a key that satisfies a condition on metrics."""

from shoal.search.bisection import Decision, Phase, Side
from shoal.search.condition import Comparison, Condition, Measured, decide
from shoal.search.tuning import Problem, Trial, Tuned, candidates, solve, tune, written

__all__ = [
    "Comparison",
    "Condition",
    "Decision",
    "Measured",
    "Phase",
    "Problem",
    "Side",
    "Trial",
    "Tuned",
    "candidates",
    "decide",
    "solve",
    "tune",
    "written",
]
