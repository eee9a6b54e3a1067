"""Hunts for scenarios in which a law does worst: search, fresh seeds, and the smallest scenario that shows it."""

from shoal.hunting.causes import Cause
from shoal.hunting.goals import Target, targets
from shoal.hunting.hunted import Find, Hunted
from shoal.hunting.running import hunt

__all__ = ["Cause", "Find", "Hunted", "Target", "hunt", "targets"]
