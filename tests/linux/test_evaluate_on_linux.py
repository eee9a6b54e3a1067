"""Evaluations on the kernel: what it can run it runs, and of the rest each cell has its reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from shoal.evaluate import contenders, rfc7928, rfc9743
from shoal.evaluate.model import Guide, Setting
from shoal.evaluate.running import planned, run_guide
from shoal.evaluate.tables import refusals
from shoal.linux import Image
from shoal.runs.plane import kernel_here

QUEUES = ("fq-codel", "dualpi2", "pie", "red", "fifo")
CONTROLLERS = ("bbr", "cubic", "reno", "dctcp")


def _refused(guide: Guide, some: Sequence[Setting]) -> dict[tuple[str, str], set[str]]:
    """For each experiment that somebody cannot run the reasons, in the first words of the Linux plane."""
    outcomes = [
        planned(clause, experiment, some, 1, kernel_here().identity)[0]
        for clause in guide.clauses
        for experiment in clause.experiments
    ]
    return {
        (outcome.clause.number, outcome.experiment.name): {refusal.why for refusal in outcome.refused}
        for outcome in outcomes
        if outcome.refused
    }


def _said(reasons: set[str], words: str) -> bool:
    return bool(reasons) and all(words in reason for reason in reasons)


def test_queues_of_the_kernel_run_all_but_what_it_lacks(image: Image) -> None:
    some = [contenders.queue(name) for name in QUEUES]
    refused = _refused(rfc7928.guide(some), some)
    assert set(refused) == {("4.4", "packet-sizes"), ("4.5", "ecn"), ("5.4", "ledbat"), *_pages(refused)}
    assert _said(refused["4.4", "packet-sizes"], "mtu of 500 B")
    assert _said(refused["5.4", "ledbat"], "ledbat")
    # Of the queues only `red` with ECN, and weights that tc has not.
    assert _said(refused["4.5", "ecn"], "dualred")


def _pages(refused: dict[tuple[str, str], set[str]]) -> set[tuple[str, str]]:
    """The experiments with pages, if they are refused for being pages."""
    return {where for where, reasons in refused.items() if where[0] in ("7.2", "9.1") and _said(reasons, "page")}


def test_controllers_of_the_kernel_run_all_but_what_it_lacks(image: Image) -> None:
    some = [contenders.controller(name) for name in CONTROLLERS]
    refused = _refused(rfc9743.guide(), some)
    assert set(refused) == {
        ("5.2", "feedback-lost"),
        ("6.2", "tunnels"),
        ("7.6", "receivers"),
        ("7.6", "marks-everything"),
    }
    assert _said(refused["5.2", "feedback-lost"], "misbehaviour")
    assert _said(refused["6.2", "tunnels"], "tunnel")
    assert _said(refused["7.6", "receivers"], "misbehaviour")
    assert _said(refused["7.6", "marks-everything"], "open-loop")


def test_a_section_of_each_guide_has_numbers(image: Image) -> None:
    pie, dctcp = contenders.queue("pie"), contenders.controller("dctcp")
    for guide, some, number in ((rfc7928.guide([pie]), [pie], "5.1.1"), (rfc9743.guide(), [dctcp], "5.1.4")):
        (clause,) = [clause for clause in guide.clauses if clause.number == number]
        (experiment,) = clause.experiments
        short = {"duration": "12 s", "warmup": "4 s"}
        experiment = dataclasses.replace(
            experiment,
            scenario={**experiment.scenario, **short},
            paths=[
                Setting(path.name, {**path.values, **short})
                for path in experiment.paths
                if path.name == "6.1 FIFO of 1 BDP"
            ],
        )
        only = dataclasses.replace(guide, clauses=[dataclasses.replace(clause, experiments=[experiment])])
        evaluation = run_guide(only, some, seeds=1, kernel=kernel_here().identity, workers=1)
        (outcome,) = evaluation
        assert not outcome.refused
        points = evaluation.to_polars().filter(metric="utilisation_percent")
        # A FIFO of one product keeps a link of Reno-like flows full; PIE costs a single flow a part of it.
        assert 60 < points["mean"].item() <= 100
        if number == "5.1.1":
            assert "startup_ms" in outcome.unmeasured
            assert any("traced at both ends" in line for line in refusals(evaluation))


@pytest.mark.parametrize("kernel", ["", "linux"])
def test_columns_are_left_out_on_a_kernel_only(kernel: str, image: Image) -> None:
    some = [contenders.queue("pie")]
    guide = rfc7928.guide(some)
    (clause,) = [clause for clause in guide.clauses if clause.number == "5.1.1"]
    identity = kernel_here().identity if kernel else ""
    outcome, plan = planned(clause, clause.experiments[0], some, 1, identity)
    assert plan is not None
    assert bool(outcome.unmeasured) == bool(kernel)
