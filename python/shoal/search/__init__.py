"""Searches: for the end of the values of a key that satisfy a condition, and for values of several that serve goals."""

from shoal.search.bisection import Decision, Phase, Side
from shoal.search.candidates import Candidate, Measurement
from shoal.search.condition import Comparison, Condition, Measured, decide
from shoal.search.domination import Judgement, Standing
from shoal.search.goals import Direction, Goal, read_goals
from shoal.search.optimised import Neighbour, Optimised
from shoal.search.optimising import optimise
from shoal.search.parameters import FreeParameter
from shoal.search.schedule import Schedule
from shoal.search.tuning import Problem, Trial, Tuned, candidates, solve, tune, written

__all__ = [
    "Candidate",
    "Comparison",
    "Condition",
    "Decision",
    "Direction",
    "FreeParameter",
    "Goal",
    "Judgement",
    "Measured",
    "Measurement",
    "Neighbour",
    "Optimised",
    "Phase",
    "Problem",
    "Schedule",
    "Side",
    "Standing",
    "Trial",
    "Tuned",
    "candidates",
    "decide",
    "optimise",
    "read_goals",
    "solve",
    "tune",
    "written",
]
