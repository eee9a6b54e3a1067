"""Many runs on all cores. Threads are enough: a run releases the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from shoal._native import Cancel

T = TypeVar("T")

# How long an interrupt may go unnoticed.
_pulse_s = 0.1


def default_workers() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    tasks: Sequence[Callable[[Cancel], T]],
    *,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> list[T]:
    """Run tasks and give their results in the order of the tasks, whatever the number of workers.

    The first error, or an interrupt, ends the running tasks and is raised.

    Parameters
    ----------
    tasks
        Each is called with a token that it passes on to its run.
    workers
        Threads; all cores if not given.
    on_done
        Called in this thread for each finished task.
    """
    cancel = Cancel()
    executor = ThreadPoolExecutor(max_workers=workers or default_workers(), thread_name_prefix="shoal")
    futures: list[Future[T]] = []
    try:
        futures = [executor.submit(task, cancel) for task in tasks]
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=_pulse_s, return_when=FIRST_COMPLETED)
            # In the order of the tasks: which error is reported does not depend on luck.
            for future in sorted(done, key=futures.index):
                future.result()
                if on_done is not None:
                    on_done()
        return [future.result() for future in futures]
    finally:
        cancel.cancel()
        executor.shutdown(wait=True, cancel_futures=True)
