"""Seeds of several runs."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence

from shoal import _native
from shoal.errors import UsageError
from shoal.scenario import Scenario

# The results of a call are kept until its end, about 35 kB for each run of a few flows. Means over seeds settle much
# earlier: the confidence interval shrinks with the root of the number of runs.
most_seeds = 10_000


def seed_list(scenario: Scenario, seeds: int | Iterable[int]) -> list[int]:
    """The seeds of several runs.

    Raises
    ------
    UsageError
        There are none, or more than :data:`most_seeds`, or one is out of range or there twice.
    """
    if isinstance(seeds, bool | str | bytes) or not (hasattr(type(seeds), "__index__") or isinstance(seeds, Iterable)):
        raise UsageError(
            f"the seeds are {seeds!r}, expected how many or a list of seeds", hint="as in seeds=5 or seeds=[1, 2, 3]"
        )
    if not isinstance(seeds, Iterable):
        count = operator.index(seeds)
        if count > most_seeds:
            raise too_many_runs(count)
        seeds = range(scenario.seed, scenario.seed + count)
    numbers = list(itertools.islice(seeds, most_seeds + 1))
    if not numbers:
        raise UsageError("no seeds", hint="give at least one")
    if len(numbers) > most_seeds:
        raise too_many_runs(None)
    numbers = [checked_seed(number) for number in numbers]
    refuse_repeated_seeds(numbers)
    return numbers


def refuse_repeated_seeds(seeds: Sequence[int]) -> None:
    """Refuse a seed that is there twice: it gives the same run, and intervals would be narrower than they are.

    Raises
    ------
    UsageError
        One is.
    """
    if len(set(seeds)) < len(seeds):
        seed = next(seed for seed in seeds if seeds.count(seed) > 1)
        raise UsageError(
            f"the seed {seed} is there twice, which would make intervals too narrow",
            hint="give each seed once: the same seed gives the same run",
        )


def too_many_runs(runs: int | None) -> UsageError:
    """What to say of more runs than one call keeps."""
    what = f"{runs:,} runs are" if runs is not None else f"more than {most_seeds:,} runs are"
    return UsageError(
        f"{what} too many at once",
        hint=f"at most {most_seeds:,}, because all results are kept; further seeds begin at --set seed=N",
    )


def checked_seed(seed: int) -> int:
    """A seed, if it is one.

    Raises
    ------
    UsageError
        It is negative, or beyond what a scenario file can hold.
    """
    hint = f"write a whole number from 0 to {_native.MAX_SEED}"
    if isinstance(seed, bool) or not hasattr(type(seed), "__index__"):
        raise UsageError(f"{seed!r} is not a seed", hint=hint)
    seed = operator.index(seed)
    if not 0 <= seed <= _native.MAX_SEED:
        raise UsageError(f"{seed} is not a seed", hint=hint)
    return seed
