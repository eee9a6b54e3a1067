"""Which packets wait in which queue, where a configuration decides it by more than their code points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.errors import UsageError
from shoal.switch.model import Configuration, Queue
from shoal.switch.simulate import Experiment


def decided(configuration: Configuration, queues: Sequence[Queue], experiment: Experiment) -> list[Queue]:
    """The queues for a scenario: where it is not known what leads to them, each group of flows has to name its queue.

    Raises
    ------
    UsageError
        A statement that decides it is not read, there are several queues, and a group names none.
    """
    if len(queues) < 2 or not configuration.unread:
        return list(queues)
    if not all(group.queue for group in experiment.groups):
        first = configuration.unread[0]
        raise UsageError(
            f"{first}: a scenario of several queues would be another network",
            hint="--queue N for one of them, or --flows CC*COUNT@QUEUE says which flows wait where",
        )
    return [replace(queue, dscp=(), takes_rest=False) for queue in queues]
