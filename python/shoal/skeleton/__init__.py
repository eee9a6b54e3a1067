"""What `shoal new` writes: a scenario and a law of one's own, and what a queue or controller needs in a checkout."""

from shoal.skeleton.controller import new_controller
from shoal.skeleton.law import new_law
from shoal.skeleton.queue import new_queue

__all__ = ["new_controller", "new_law", "new_queue"]
