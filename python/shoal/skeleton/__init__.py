"""Skeletons that are written into a checkout: what a new queue needs in every room."""

from shoal.skeleton.queue import new_queue

__all__ = ["new_queue"]
