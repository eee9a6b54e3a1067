"""Evaluations of a queue or of a controller by the experiments that RFCs ask for.

``model`` is what guides and experiments are, ``rfc7928`` and ``rfc9743`` have those of these texts, ``contenders`` what
can be evaluated, ``harm`` what flows do to others, ``running`` runs them on the engine of sweeps, ``evaluation`` is
what came out, and ``tables``, ``figures`` and ``write`` show it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from shoal._arguments import explained
from shoal._toml import toml_value
from shoal.evaluate.contenders import alike, controller, named_apart, queue
from shoal.evaluate.evaluation import Evaluation
from shoal.evaluate.model import Setting
from shoal.evaluate.rfc7928 import guide as queue_guide
from shoal.evaluate.rfc9743 import guide as controller_guide
from shoal.evaluate.running import QUICK_SEEDS, SEEDS, run_guide
from shoal.parallel import Progress
from shoal.runs.execute import Executor

__all__ = ["Evaluation", "evaluate_controller", "evaluate_queue"]


@explained
def evaluate_queue(
    subject: str | Mapping[str, object],
    *,
    beside: Sequence[str | Mapping[str, object]] = ("fifo",),
    quick: bool = False,
    seeds: int | None = None,
    kernel: str = "",
    workers: int | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Evaluation:
    """Evaluate a queue as RFC 7928 asks (https://www.rfc-editor.org/rfc/rfc7928).

    Parameters
    ----------
    subject
        A kind of ``shoal list queues``, a table as in a scenario file, or a scenario, whose bottleneck's law is taken.
    beside
        Queues whose numbers stand beside it; the subject itself is left out of them.
    quick
        Few seeds.
    seeds
        Runs of every point, if not as many as usual.
    kernel
        Which kernel runs what it can, by its identity; empty: the simulator does.
    workers, cache, executor, progress
        As for :func:`shoal.sweep`.

    Raises
    ------
    UsageError
        There is no such queue, or one is there twice.
    """
    contenders = _contenders(queue, subject, beside)
    return run_guide(
        queue_guide(contenders),
        contenders,
        seeds=_count(seeds, quick=quick),
        kernel=kernel,
        workers=workers,
        cache=cache,
        executor=executor,
        progress=progress,
    )


@explained
def evaluate_controller(
    subject: str | Mapping[str, object],
    *,
    beside: Sequence[str | Mapping[str, object]] = ("reno", "cubic"),
    quick: bool = False,
    seeds: int | None = None,
    kernel: str = "",
    workers: int | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Evaluation:
    """Evaluate a congestion control as RFC 9743 asks (https://www.rfc-editor.org/rfc/rfc9743).

    Parameters
    ----------
    subject
        A controller of ``shoal list controllers``, or a table as in a scenario's flow group:
        ``{"cc": "dctcp", "cc_options": {"gain": {"shift": 2}}}``.
    beside
        Controllers whose numbers stand beside it; the subject itself is left out of them.
    quick, seeds, kernel, workers, cache, executor, progress
        As for :func:`evaluate_queue`.

    Raises
    ------
    UsageError
        There is no such controller, or one is there twice.
    """
    contenders = _contenders(controller, subject, beside)
    return run_guide(
        controller_guide(),
        contenders,
        seeds=_count(seeds, quick=quick),
        kernel=kernel,
        workers=workers,
        cache=cache,
        executor=executor,
        progress=progress,
    )


def _contenders(
    read: Callable[[str], Setting], subject: str | Mapping[str, object], beside: Sequence[str | Mapping[str, object]]
) -> list[Setting]:
    """The subject and what stands beside it, which it does not itself."""
    first, *texts = (text.strip() if isinstance(text, str) else toml_value(text) for text in (subject, *beside))
    others = [text for text in texts if text != first]
    return alike(named_apart([read(text) for text in (first, *others)]))


def _count(seeds: int | None, *, quick: bool) -> int:
    return seeds if seeds is not None else QUICK_SEEDS if quick else SEEDS
