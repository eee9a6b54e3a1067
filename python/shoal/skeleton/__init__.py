"""What `shoal new` writes: a scenario of one's own, and what a new queue or controller needs in a checkout."""

from shoal.skeleton.controller import new_controller
from shoal.skeleton.queue import new_queue

__all__ = ["new_controller", "new_queue"]
