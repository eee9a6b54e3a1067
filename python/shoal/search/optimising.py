"""Finds the values of free parameters at which goals are best and a condition holds."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from shoal._arguments import explained
from shoal.errors import ScenarioError, UsageError
from shoal.metrics import metric, recording
from shoal.runs import host_bursts
from shoal.runs.cases import Case, RunCases, run_cases
from shoal.scenario import Scenario
from shoal.search.candidates import Candidate, Measurement, best_of, lesson
from shoal.search.condition import Condition
from shoal.search.domination import compromise
from shoal.search.goals import Goal, read_goals
from shoal.search.optimised import Neighbour, Optimised
from shoal.search.parameters import FreeParameter
from shoal.search.sampler import propose, require_library
from shoal.search.schedule import Schedule, batch
from shoal.search.tuning import written
from shoal.seeds import most_seeds, seed_list, too_many_runs
from shoal.template import Template, is_variable

# With up to so many parameters every corner of the ranges is checked before anything runs.
_corners_checked = 10
# A place in a range that is no whole number if both ends are: the golden section.
_inside = 0.382


@explained
def optimise(
    scenario: Scenario | str | Path,
    *,
    free: Mapping[str, str | FreeParameter],
    minimise: str | Iterable[str] = (),
    maximise: str | Iterable[str] = (),
    such_that: str | None = None,
    set: Mapping[str, object] | None = None,
    runs: int = 400,
    seeds: int = 3,
    lean: bool = False,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool = False,
) -> Optimised:
    """Search free parameters for the best value of a goal, or for the front of several goals.

    Candidates are proposed in rounds of eight by Optuna's tree-structured Parzen estimator. All are run with the same
    seeds, the best with more; the finalists are run again with fresh seeds, and so is what is around the optimum.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file, or the name of a ready-made one.
    free
        For each dotted key its range, as in ``{"bottleneck.aqm.dctcp.min": "0.1:0.9 BDP"}``; ``:log`` behind the range
        makes it logarithmic, ``:whole`` keeps to whole numbers. A name that is not a key is a variable of the
        expressions in ``set``.
    minimise, maximise
        The goals: metrics such as ``delay_ms()``. Several goals have a front instead of an optimum.
    such_that
        What must hold, e.g. ``utilisation() >= 0.98``.
    set
        Other keys and values; ``{expressions}`` in them are computed from the variables.
    runs
        All runs together, at most.
    seeds
        Runs of every candidate at first; the seed of the scenario is the first, and that of the sampler, too.
    lean
        Record only what goals and condition need, and no time series if they need none.
    workers, cache, progress
        As for :func:`shoal.sweep`. With a cache, an interrupted search goes on where it was.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "10 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms", start = { uniform = ["0 s", "1 s"] } }]
    ... ''')
    >>> found = shoal.optimise(
    ...     scenario,
    ...     free={"bottleneck.aqm.threshold": "1:40:whole packets"},
    ...     minimise="delay_ms()",
    ...     such_that="utilisation() >= 0.99",
    ...     runs=100,
    ...     seeds=1,
    ... )
    >>> found.values["bottleneck.aqm.threshold"] < 20
    True
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    parameters = _parameters(free)
    goals = read_goals(_texts(minimise), _texts(maximise))
    condition = None if such_that is None else Condition.parse(such_that)
    schedule = Schedule(runs, seeds, len(parameters), len(goals))
    if runs > most_seeds:
        raise too_many_runs(runs)
    schedule.check()
    require_library()
    if (both := next((p.key for p in parameters if p.key in (set or {})), None)) is not None:
        raise UsageError(f"`{both}` is free, and is set as well", hint="leave one of them out")
    template = Template(scenario, tuple(parameter.key for parameter in parameters), set or {})
    expressions = [*(goal.expression for goal in goals), *(condition.expressions if condition else ())]
    bench = _Bench(
        template,
        parameters,
        list(dict.fromkeys(expressions)),
        lean=lean,
        run=partial(run_cases, workers=workers, cache=cache, progress=progress),
    )
    corners = bench.check_corners()
    optimised = _search(bench, goals, condition, schedule)
    bursts = host_bursts.warning(corners) if host_bursts.sets_a_threshold(template.varied) else None
    return replace(optimised, warnings=(bursts,)) if bursts else optimised


def _texts(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _parameters(free: Mapping[str, str | FreeParameter]) -> tuple[FreeParameter, ...]:
    if not free:
        raise UsageError("nothing is free", hint="as in --free bottleneck.aqm.dctcp.max_probability=0.05:1:log")
    parameters = []
    for key, range_ in free.items():
        parameter = range_ if isinstance(range_, FreeParameter) else FreeParameter.parse(key, range_)
        parameter.check()
        if parameter.unit is not None and is_variable(key):
            raise UsageError(
                f"`{key}` is a variable, which has no unit",
                hint=f"write the unit in --set, as in KEY='{{{key}}} {parameter.unit}'",
            )
        if key == "seed":
            raise UsageError("the seed cannot be free", hint="seeds are repetitions: see --seeds")
        parameters.append(parameter)
    return tuple(parameters)


@dataclass
class _Bench:
    """Runs candidates and reads from their results what the search is about."""

    template: Template
    parameters: tuple[FreeParameter, ...]
    expressions: list[str]
    run: RunCases
    lean: bool
    used: int = field(default=0, init=False)

    def scenario(self, at: Sequence[float]) -> Scenario:
        values = {p.key: written(value, p.unit) for p, value in zip(self.parameters, at, strict=True)}
        point = self.template.at(values)
        keys = recording(point, self.expressions, lean=self.lean)
        return point.override(keys) if keys else point

    def check_corners(self) -> list[Scenario]:
        """Let a wrong key, unit or end of a range, or one that takes whole numbers, show before anything runs."""
        ends = [(parameter.low, parameter.high) for parameter in self.parameters]
        corners = itertools.product(*ends) if len(ends) <= _corners_checked else zip(*ends, strict=True)
        scenarios = [self.scenario(corner) for corner in corners]
        for index, parameter in enumerate(self.parameters):
            inside = [low for low, _ in ends]
            inside[index] = parameter.at(_inside)
            try:
                self.scenario(inside)
            except ScenarioError:
                inside[index] = float(round(inside[index]))
                self.scenario(inside)
                raise UsageError(
                    f"`{parameter.key}` takes whole numbers only", hint=f"write {parameter.whole_range}"
                ) from None
        return scenarios

    def measure(
        self, wanted: Sequence[tuple[float, ...]], seeds: Sequence[int], label: str, *, keep: bool = False
    ) -> list[Measurement]:
        cases = [Case(self.scenario(at), seeds, tuple(self.expressions)) for at in wanted]
        self.used += len(wanted) * len(seeds)
        return [
            Measurement(
                tuple(seeds),
                {text: tuple(metric(run, text, gaps=True) for run in runs) for text in self.expressions},
                runs if keep else None,
            )
            for runs in self.run(cases, label)
        ]


def _search(bench: _Bench, goals: tuple[Goal, ...], condition: Condition | None, schedule: Schedule) -> Optimised:
    start = bench.template.scenario
    seeds = seed_list(start, 4 * schedule.seeds)
    first, second, fresh = (
        seeds[: schedule.seeds],
        seeds[schedule.seeds : 2 * schedule.seeds],
        seeds[-len(seeds) // 2 :],
    )
    candidates: list[Candidate] = []

    def refine(some: Iterable[Candidate], limit: int, label: str) -> bool:
        wanted = [candidate for candidate in some if len(candidate.searched.seeds) == len(first)]
        wanted = wanted[: max(0, (limit - bench.used) // len(second))]
        for candidate, more in zip(
            wanted, bench.measure([candidate.at for candidate in wanted], second, label), strict=True
        ):
            candidates[candidate.number - 1] = replace(candidate, searched=candidate.searched.joined(more))
        return bool(wanted)

    round_ = 0
    while bench.used + schedule.round <= schedule.for_rounds:
        round_ += 1
        proposed = propose(
            bench.parameters,
            [lesson(candidate, goals, condition) for candidate in candidates],
            goals=len(goals),
            count=batch,
            startup=schedule.startup,
            # Every round needs numbers of its own.
            seed=(start.seed * 10_000 + round_) % 2**32,
        )
        if not proposed:
            break
        label = f"Round {round_}: candidates {len(candidates) + 1} to {len(candidates) + len(proposed)}"
        for at, measured in zip(proposed, bench.measure(proposed, first, label), strict=True):
            candidates.append(Candidate(len(candidates) + 1, round_, at, measured))
        _refuse_without_values(candidates, goals, condition)
        refine(best_of(candidates, goals, condition, schedule.leaders), schedule.for_rounds, label)
    limit = schedule.runs - schedule.kept_back
    while refine(best_of(candidates, goals, condition, schedule.finalists), limit, "Finalists"):
        pass
    refined = [candidate for candidate in candidates if len(candidate.searched.seeds) > len(first)]
    finalists = best_of(refined, goals, condition, schedule.finalists)
    if not finalists:
        raise _without_values(
            goals, condition, [candidate.searched for candidate in candidates], "with all seeds of the search"
        )
    confirmed = bench.measure([finalist.at for finalist in finalists], fresh, "Finalists with fresh seeds", keep=True)
    finalists = [replace(finalist, fresh=measured) for finalist, measured in zip(finalists, confirmed, strict=True)]
    for finalist in finalists:
        candidates[finalist.number - 1] = finalist
    chosen = _chosen(finalists, goals, condition)
    return Optimised(
        parameters=bench.parameters,
        goals=goals,
        condition=condition,
        schedule=schedule,
        candidates=candidates,
        finalists=finalists,
        chosen=chosen,
        neighbours=[] if chosen is None else _around(bench, chosen, fresh),
        runs=bench.used,
    )


def _refuse_without_values(candidates: Sequence[Candidate], goals: Sequence[Goal], condition: Condition | None) -> None:
    """Stop where nothing that was tried has a value of something."""
    if any(not candidate.searched.missing for candidate in candidates):
        return
    raise _without_values(goals, condition, [candidate.searched for candidate in candidates], "in the first round")


def _without_values(
    goals: Sequence[Goal], condition: Condition | None, measured: Sequence[Measurement], where: str
) -> UsageError:
    """What to say where there is no candidate with a value of every goal and of the condition."""
    texts = [*(goal.expression for goal in goals), *(condition.expressions if condition else ())]
    count, text = max((sum(text in measurement.missing for measurement in measured), text) for text in texts)
    return UsageError(
        f"`{text}` has no value {where} at {count} of {len(measured)} candidates",
        hint="is the run long enough, and does the group or link do what is asked for?",
    )


def _chosen(finalists: Sequence[Candidate], goals: Sequence[Goal], condition: Condition | None) -> Candidate | None:
    """The best finalist at which the condition holds with fresh seeds; of several goals the compromise."""
    holding = [
        (finalist, losses)
        for finalist in finalists
        if finalist.confirmed.decided(condition).holds and (losses := finalist.confirmed.mean_losses(goals)) is not None
    ]
    if not holding:
        return None
    if len(goals) == 1:
        # In the order of the search: fresh seeds must not choose among those that they are to judge.
        return holding[0][0]
    return holding[compromise([losses for _, losses in holding])][0]


def _around(bench: _Bench, chosen: Candidate, fresh: Sequence[int]) -> list[Neighbour]:
    """What happens next to the optimum, one parameter at a time."""
    places = [
        (index, value)
        for index, parameter in enumerate(bench.parameters)
        for value in parameter.neighbours(chosen.at[index])
    ]
    wanted = [(*chosen.at[:index], value, *chosen.at[index + 1 :]) for index, value in places]
    measured = bench.measure(wanted, fresh, "Around the optimum", keep=True)
    return [
        Neighbour(bench.parameters[index], value, measurement)
        for (index, value), measurement in zip(places, measured, strict=True)
    ]
