"""Advice: which law and which parameters a port needs, by trying them in the traffic that it has."""

from shoal.advise.advising import Advice, Around, Standing, Verdict, advise
from shoal.advise.candidates import Candidate, Family, families
from shoal.advise.question import Device, Goal, Question

__all__ = [
    "Advice",
    "Around",
    "Candidate",
    "Device",
    "Family",
    "Goal",
    "Question",
    "Standing",
    "Verdict",
    "advise",
    "families",
]
