"""Runs the experiments of a guide."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from shoal.errors import ScenarioError
from shoal.evaluate.evaluation import Evaluation, Outcome, Refusal
from shoal.evaluate.model import Clause, Experiment, Guide, Setting
from shoal.metrics import recording
from shoal.parallel import Progress, counted
from shoal.runs.execute import Executor, Threads, run_plan
from shoal.runs.plan import check
from shoal.scenario import Scenario
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.runs.plan import Plan
    from shoal.runs.recipe import Recipe
    from shoal.runs.record import Record
    from shoal.runs.work import Block, Pace
    from shoal.scenario_keys import ScenarioKeys

#: Runs of every point; with ``quick`` the second.
SEEDS, QUICK_SEEDS = 10, 2


def run_guide(
    guide: Guide,
    contenders: Sequence[Setting],
    *,
    seeds: int,
    kernel: str = "",
    workers: int | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Evaluation:
    """Run all experiments of a guide; parameters as for :func:`shoal.runs.execute.run_plan`."""
    plans = [
        planned(clause, experiment, contenders, seeds, kernel)
        for clause in guide.clauses
        for experiment in clause.experiments
    ]
    count = sum(len(plan.design) * seeds for _, plan in plans if plan is not None)
    outcomes = []
    with (
        closing(executor or Threads(workers)) as shared,
        counted(count, progress, f"{guide.name}: {count_of(count, 'run')}") as on_done,
    ):
        for outcome, plan in plans:
            if plan is None:
                outcomes.append(outcome)
                continue
            rows = run_plan(plan, cache=cache, executor=_Shared(shared), on_record=lambda _: on_done())
            outcomes.append(replace(outcome, rows=rows))
    with_harm = tuple(replace(outcome, alone=_alone(outcome, outcomes)) for outcome in outcomes)
    return Evaluation(guide, tuple(contenders), with_harm, seeds, kernel)


def _alone(outcome: Outcome, outcomes: Sequence[Outcome]) -> Outcome | None:
    """The experiment beside which an experiment counts harm."""
    harm = outcome.experiment.harm
    if harm is None:
        return None
    same_clause = (other for other in outcomes if other.clause is outcome.clause)
    return next((other for other in same_clause if other.experiment.name == harm.alone), None)


def planned(
    clause: Clause, experiment: Experiment, contenders: Sequence[Setting], seeds: int, kernel: str
) -> tuple[Outcome, Plan | None]:
    """What will come out of an experiment, without its numbers, and how they are made if somebody can run it."""
    some = experiment.taking_part(contenders)
    whole, experiment = experiment, _measurable(experiment) if kernel else experiment
    unmeasured = tuple(name for name in whole.metrics if name not in experiment.metrics)
    pairs = list(itertools.product(some, experiment.scenes))

    def refusal(pairs: Sequence[tuple[Setting, Setting]]) -> str:
        try:
            check(experiment.plan(pairs, seeds=seeds, kernel=kernel))
        except ScenarioError as error:
            return str(error).strip().splitlines()[0].removeprefix("error: ")
        return ""

    # Who is refused is looked for only if somebody is.
    whys = [refusal([pair]) for pair in pairs] if refusal(pairs) else [""] * len(pairs)
    able = [pair for pair, why in zip(pairs, whys, strict=True) if not why]
    refused = [
        Refusal(contender.name, path.name, why) for (contender, path), why in zip(pairs, whys, strict=True) if why
    ]
    outcome = Outcome(clause, experiment, some, None, tuple(refused), unmeasured=unmeasured)
    return outcome, experiment.plan(able, seeds=seeds, kernel=kernel) if able else None


def _measurable(experiment: Experiment) -> Experiment:
    """An experiment without the columns for which packets have to be traced at both ends, which no kernel here does."""
    trace = {key: value for key, value in (experiment.scenario.get("trace") or {}).items() if key != "segment_flows"}
    keys = cast("ScenarioKeys", {**experiment.scenario, "trace": trace})
    scenario = Scenario.from_keys(keys, name=f"{experiment.name}.toml")
    kept = {
        name: text
        for name, text in experiment.metrics.items()
        if "trace.segment_flows" not in recording(scenario, [text], lean=True)
    }
    return experiment if len(kept) == len(experiment.metrics) else replace(experiment, metrics=kept, scenario=keys)


@dataclass(frozen=True)
class _Shared:
    """An executor that several plans use one after the other."""

    executor: Executor

    @property
    def block_s(self) -> float:
        return self.executor.block_s

    @property
    def workers(self) -> int:
        return self.executor.workers

    def run(self, recipe: Recipe, blocks: Iterator[Block], pace: Pace) -> Iterator[tuple[Block, list[Record]]]:
        return self.executor.run(recipe, blocks, pace)

    def close(self) -> None:
        """Do nothing: the other plans need it."""
