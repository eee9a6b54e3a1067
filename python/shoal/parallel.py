"""Many runs on all cores. Threads are enough: a run releases the interpreter's lock."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from shoal import python_laws
from shoal._native import Cancel, interrupt_thread
from shoal.errors import Cancelled, UsageError

T = TypeVar("T")
# True shows a bar on stderr; a function is called with the finished fraction.
Progress = bool | Callable[[float], object]

# Threads that wait for each other cost more than they bring, long before that.
most_workers = 1024
# How long an interrupt may go unnoticed.
_pulse_s = 0.1
# How long a run may take to end that is told to.
_patience_s = 1.0


def default_workers() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_workers(workers: int | None) -> int:
    """How many threads make runs; all cores if it is not said.

    Raises
    ------
    UsageError
        It is no number of threads.
    """
    if workers is None:
        return default_workers()
    if not 1 <= workers <= most_workers:
        raise UsageError(f"{workers} workers", hint=f"give a number from 1 to {most_workers}, or none for all cores")
    return workers


@contextmanager
def counted(total: int, progress: Progress, label: str) -> Iterator[Callable[[], None]]:
    """Give a function to call for each of ``total`` finished tasks, and show how many they are."""
    numbers = itertools.count(1)
    with ExitStack() as stack:
        if progress is True:
            from shoal.progress import Bar

            progress = stack.enter_context(Bar(label)).update

        def on_done() -> None:
            fraction = next(numbers) / total
            if callable(progress):
                progress(fraction)

        yield on_done


def run_all(
    tasks: Iterable[Callable[[Cancel], T]],
    *,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> list[T]:
    """Run tasks and give their results in the order of the tasks, whatever the number of workers.

    Parameters
    ----------
    tasks, workers
        As for :func:`finished`.
    on_done
        Called in this thread for each finished task.
    """
    results: dict[int, T] = {}
    for number, result in finished(tasks, workers=workers):
        results[number] = result
        if on_done is not None:
            on_done()
    return [results[number] for number in range(len(results))]


def finished(tasks: Iterable[Callable[[Cancel], T]], *, workers: int | None = None) -> Iterator[tuple[int, T]]:
    """Run tasks and give the number and the result of each as soon as it is there.

    Tasks are taken from the iterable when there is a worker for them, so that only those that run take memory. The
    first error, an interrupt, or whoever closes the generator, ends the running tasks.

    Parameters
    ----------
    tasks
        Each is called with a token that it passes on to its run.
    workers
        Threads; all cores if not given.
    """
    cancel = Cancel()
    running: set[int] = set()

    def noted(task: Callable[[Cancel], T]) -> T:
        running.add(thread := threading.get_ident())
        try:
            if cancel.cancelled:  # it began as all were told to end
                raise Cancelled("the run was cancelled")
            return task(cancel)
        finally:
            running.discard(thread)

    count = checked_workers(workers)
    executor = ThreadPoolExecutor(max_workers=count, thread_name_prefix="shoal")
    waiting = enumerate(tasks)
    pending: dict[Future[T], int] = {}
    try:
        while True:
            # A second task for each worker, so that none waits for this thread.
            for number, task in itertools.islice(waiting, max(0, 2 * count - len(pending))):
                pending[executor.submit(noted, task)] = number
            if not pending:
                return
            done, _ = wait(pending, timeout=_pulse_s, return_when=FIRST_COMPLETED)
            # In the order of the tasks: which error is reported does not depend on luck.
            for future in sorted(done, key=pending.__getitem__):
                yield pending.pop(future), future.result()
    finally:
        cancel.cancel()
        executor.shutdown(wait=False, cancel_futures=True)
        told_s = time.monotonic()
        while running and python_laws.are_there():
            time.sleep(_pulse_s)
            # A law in Python that never returns does not see the token; a simulator sees it at once.
            for thread in tuple(running) if time.monotonic() > told_s + _patience_s else ():
                interrupt_thread(thread)
        executor.shutdown(wait=True)
