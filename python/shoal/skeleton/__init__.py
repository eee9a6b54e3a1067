"""Skeletons that are written into a checkout: what a new queue or controller needs in every room."""

from shoal.skeleton.controller import new_controller
from shoal.skeleton.queue import new_queue

__all__ = ["new_controller", "new_queue"]
