"""Evaluations on the kernel: what it can run it runs, and of the rest each cell has its reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from shoal.evaluate import contenders, rfc7928, rfc9743
from shoal.evaluate.model import Guide, Setting
from shoal.evaluate.running import planned, run_guide
from shoal.linux import Image
from shoal.runs.plane import kernel_here

QUEUES = ("fq-codel", "dualpi2", "pie", "red", "fifo")
CONTROLLERS = ("bbr", "cubic", "reno", "dctcp")


def _refused(guide: Guide, some: Sequence[Setting], identity: str) -> dict[tuple[str, str], set[str]]:
    """For each experiment that somebody cannot run, who and why."""
    outcomes = [
        planned(clause, experiment, some, 1, identity)[0]
        for clause in guide.clauses
        for experiment in clause.experiments
    ]
    return {
        (outcome.clause.number, outcome.experiment.name): {str(refusal) for refusal in outcome.refused}
        for outcome in outcomes
        if outcome.refused
    }


def test_every_queue_of_the_kernel_runs_nearly_everything(image: Image) -> None:
    some = [contenders.queue(name) for name in QUEUES]
    refused = _refused(rfc7928.guide(some), some, kernel_here().identity)
    for where, reasons in refused.items():
        print(where, reasons)


def test_a_section_of_each_guide_has_numbers(image: Image) -> None:
    identity = kernel_here().identity
    for guide, some, number in (
        (rfc7928.guide([contenders.queue("pie")]), [contenders.queue("pie")], "5.1.1"),
        (rfc9743.guide(), [contenders.controller("dctcp")], "5.1.4"),
    ):
        (clause,) = [clause for clause in guide.clauses if clause.number == number]
        (experiment,) = clause.experiments
        short = {"duration": "6 s", "warmup": "2 s"}
        experiment = dataclasses.replace(
            experiment,
            scenario={**experiment.scenario, **short},
            paths=[Setting(path.name, {**path.values, **short}) for path in experiment.paths[5:6]],
        )
        only = dataclasses.replace(guide, clauses=[dataclasses.replace(clause, experiments=[experiment])])
        evaluation = run_guide(only, some, seeds=1, kernel=identity, workers=1)
        (outcome,) = evaluation
        assert not outcome.refused
        points = evaluation.to_polars().filter(metric="utilisation_percent")
        assert points["mean"].item() == pytest.approx(95, abs=6)
