"""Which candidates to try next: Optuna's tree-structured Parzen estimator, as a pure function of what is known.

Every round has a study of its own, made from what has been measured so far and a seed. So the proposals depend neither
on the number of workers nor on an interruption, and means that more seeds have improved replace what was told before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from shoal.errors import UsageError
from shoal.search.parameters import FreeParameter

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

# A sampler may repeat itself where there are few values; so often it is asked for each candidate that is wanted.
_patience = 8


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is known of a candidate.

    Attributes
    ----------
    at
        Its values, one a parameter.
    losses
        Means of the goals, of which less is better; ``None`` if one of them has no value there.
    violations
        By how much each comparison of the condition fails; not above zero where it holds.
    """

    at: tuple[float, ...]
    losses: tuple[float, ...] | None
    violations: tuple[float, ...]


def require_library() -> ModuleType:
    """Give Optuna, which is an extra.

    Raises
    ------
    UsageError
        It is not installed.
    """
    try:
        import optuna
    except ModuleNotFoundError as error:
        if error.name != "optuna":
            raise
        raise UsageError(
            "a search over free parameters needs Optuna, which is not installed",
            hint="install the extra `tune`: pip install 'shoal[tune]', or pip install 'optuna>=5,<6' beside it",
        ) from None
    return optuna


def propose(
    parameters: Sequence[FreeParameter], lessons: Sequence[Lesson], *, goals: int, count: int, startup: int, seed: int
) -> list[tuple[float, ...]]:
    """Up to ``count`` candidates that are not known yet; fewer if there are no others, as far as can be told.

    Parameters
    ----------
    parameters
        What is free.
    lessons
        Everything known, in the order in which it was proposed.
    goals
        Number of goals.
    count
        How many candidates are wanted.
    startup
        So many candidates are drawn at random before the sampler learns.
    seed
        Seed of the sampler.
    """
    optuna = require_library()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    distributions = {parameter.key: _distribution(optuna, parameter) for parameter in parameters}
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=startup)
    study = optuna.create_study(directions=["minimize"] * goals, sampler=sampler)
    valued = [lesson.losses for lesson in lessons if lesson.losses is not None]
    # A candidate without a value is worse than all others.
    worst = tuple(max(column) for column in zip(*valued, strict=True)) if valued else (0.0,) * goals
    study.add_trials(
        [
            optuna.create_trial(
                params={p.key: int(v) if p.is_whole else v for p, v in zip(parameters, lesson.at, strict=True)},
                distributions=distributions,
                values=list(worst if lesson.losses is None else lesson.losses),
                constraints={
                    "value": 1e9 if lesson.losses is None else 0.0,
                    **{str(number): violation for number, violation in enumerate(lesson.violations)},
                },
            )
            for lesson in lessons
        ]
    )
    known = {lesson.at for lesson in lessons}
    candidates: list[tuple[float, ...]] = []
    for _ in range(_patience * count):
        asked = study.ask(distributions).params
        candidate = tuple(parameter.rounded(float(asked[parameter.key])) for parameter in parameters)
        if candidate not in known:
            known.add(candidate)
            candidates.append(candidate)
        if len(candidates) == count:
            break
    return candidates


def _distribution(optuna: ModuleType, parameter: FreeParameter) -> BaseDistribution:
    if parameter.is_whole:
        whole: BaseDistribution = optuna.distributions.IntDistribution(
            int(parameter.low), int(parameter.high), log=parameter.is_log
        )
        return whole
    real: BaseDistribution = optuna.distributions.FloatDistribution(parameter.low, parameter.high, log=parameter.is_log)
    return real
