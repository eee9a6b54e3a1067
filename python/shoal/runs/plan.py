"""A sweep, ready to run: its points, seeds and metrics. Everything that its results depend on, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from shoal.errors import OutputError, ScenarioError, UsageError
from shoal.metrics import check_metric
from shoal.runs import host_bursts
from shoal.runs.design import Design, Factor
from shoal.runs.recipe import Recipe
from shoal.runs.store import digest_of
from shoal.runs.until import Until, least_seeds
from shoal.scenario import Scenario
from shoal.seeds import most_seeds, seed_list, too_many_runs
from shoal.template import Template

_format = 2


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    template
        The scenario, and what gets a value.
    design
        The points.
    metrics
        Columns: names and expressions.
    seeds
        Replications of every point: how many, counted from the scenario's seed, or which. All points have the same, so
        that what they draw at random is common to them, and differences between points are those of the points (common
        random numbers).
    until
        When a point has replications enough; ``None`` if every point has the same number.
    max_seeds
        How many it may become.
    kernel
        Which kernel runs it, by its identity; empty: the simulator does.
    """

    template: Template
    design: Design
    metrics: Mapping[str, str]
    seeds: int | tuple[int, ...] = 1
    until: Until | None = None
    max_seeds: int = 100
    kernel: str = ""

    def __post_init__(self) -> None:
        for text in self.metrics.values():
            check_metric(text)
        for number in (self.seeds, self.max_seeds):
            if isinstance(number, int) and number > most_seeds:
                raise too_many_runs(number)
        if self.until is None:
            return
        if not isinstance(self.seeds, int):
            raise UsageError("a list of seeds cannot grow", hint="say how many there are at least, as in seeds = 5")
        if self.seeds < least_seeds:
            raise UsageError(
                f"an interval of {self.seeds} seeds says little about its width", hint=f"at least {least_seeds}"
            )
        if self.max_seeds < self.seeds:
            raise UsageError(
                f"at most {self.max_seeds} seeds, and at least {self.seeds}", hint="give more with --max-seeds"
            )

    @cached_property
    def recipe(self) -> Recipe:
        """What makes and measures a run."""
        goals = [goal.metric for goal in self.until.goals] if self.until else []
        return Recipe(self.template, tuple(dict.fromkeys([*self.metrics.values(), *goals])), self.kernel)

    @property
    def expressions(self) -> tuple[str, ...]:
        """What is measured in each run: columns and goals."""
        return self.recipe.metrics

    def seeds_of(self, scenario: Scenario) -> list[int]:
        """The seeds with which a point begins."""
        return seed_list(scenario, self.seeds)

    @cached_property
    def varies_seed(self) -> bool:
        """Whether points begin with seeds of their own."""
        return "seed" in self.template.varied

    @cached_property
    def text(self) -> str:
        """All of it as JSON, from which :meth:`read` makes it again."""
        design = [{"keys": factor.keys, "rows": list(factor.rows)} for factor in self.design.factors]
        content = {
            "format": _format,
            "recipe": json.loads(self.recipe.json),
            "design": design,
            "metrics": self.metrics,
            "seeds": self.seeds,
            "until": self.until.text if self.until else None,
            "max_seeds": self.max_seeds,
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    @property
    def digest(self) -> str:
        """Tells plans apart."""
        return sha256(self.text.encode()).hexdigest()

    @classmethod
    def read(cls, path: Path) -> Plan:
        """The plan of a file.

        Raises
        ------
        OutputError
            It cannot be read, or is no plan of this version.
        """
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != _format:
                raise OutputError(
                    f"`{path}` has format {content['format']}, this version reads {_format}",
                    hint="run all parts with one version of shoal",
                )
            recipe = Recipe.from_json(json.dumps(content["recipe"]))
            factors = tuple(
                Factor(tuple(factor["keys"]), [tuple(row) for row in factor["rows"]]) for factor in content["design"]
            )
            seeds, metrics = content["seeds"], content["metrics"]
            return cls(
                recipe.template,
                Design(factors),
                metrics,
                tuple(seeds) if isinstance(seeds, list) else seeds,
                Until.parse(content["until"], metrics) if content["until"] else None,
                content["max_seeds"],
                recipe.kernel,
            )
        except OSError as error:
            raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="is this a part of a sweep?") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OutputError(f"`{path}` is no plan of a sweep: {error}", hint="is it damaged?") from None


@dataclass(frozen=True)
class Checked:
    """What the scenarios of a plan's points are, once all of them were found to be right.

    Attributes
    ----------
    digests
        For each point what its records are found by. Points of the same scenario have the same.
    first_seeds
        For each point the seeds that it begins with, where points differ in that.
    warnings
        What the simulator leaves out and the comparison of the points depends on.
    """

    digests: Sequence[bytes]
    first_seeds: Sequence[Sequence[int]] | None
    seeds: Sequence[int]
    warnings: tuple[str, ...]

    def seeds_of(self, point: int) -> Sequence[int]:
        """The seeds that a point begins with."""
        return self.seeds if self.first_seeds is None else self.first_seeds[point]


def check(plan: Plan, *, points: Sequence[int] | None = None, on_point: Callable[[], object] | None = None) -> Checked:
    """Make the scenario of every point, so that what is wrong shows before anything runs.

    Parameters
    ----------
    plan
        What shall run.
    points
        Only these, as far as the digests are concerned.
    on_point
        Called for each point.

    Raises
    ------
    ScenarioError
        A point makes no scenario, or one that the simulator has no model of; the message names the point.
    """
    recipe, design = plan.recipe, plan.design
    digests: list[bytes] = []
    first_seeds: list[Sequence[int]] = []
    refused: dict[str, int] = {}
    warning: str | None = None
    varies_trace = any(key.startswith("trace") for key in plan.template.varied)
    sets_a_threshold = recipe.sets_a_threshold
    # Rates and hosts, on which the warning depends, are the same at all points if only queues are varied.
    varies_more = not all(host_bursts.sets_a_threshold([key]) for key in plan.template.varied)
    common = plan.seeds_of(plan.template.scenario)
    for number in points if points is not None else range(len(design)):
        try:
            scenario = recipe.at(design.at(number))
        except ScenarioError as error:
            raise _placed(str(error), plan, number) from None
        if text := recipe.plane.refusal(scenario):
            refused.setdefault(text, number)
        if not digests or varies_trace:
            _refuse_packets(scenario)
        digests.append(digest_of(scenario.native.json, plan.kernel))
        if plan.varies_seed:
            first_seeds.append(plan.seeds_of(scenario))
        if warning is None and sets_a_threshold and (len(digests) == 1 or varies_more):
            warning = host_bursts.warning([scenario])
        if on_point is not None:
            on_point()
    if refused:
        raise ScenarioError("\n".join(str(_placed(text, plan, number)) for text, number in refused.items()))
    return Checked(digests, first_seeds if plan.varies_seed else None, common, (warning,) if warning else ())


def _placed(text: str, plan: Plan, number: int) -> ScenarioError:
    """The error of a point, with the point if there are several."""
    if len(plan.design) == 1:
        return ScenarioError(text)
    note = f"note: at point {number + 1:,} of {len(plan.design):,}: {plan.design.name(number)}"
    return ScenarioError(f"{text.rstrip()}\n{note}\n")


def _refuse_packets(scenario: Scenario) -> None:
    trace = scenario.resolved["trace"]
    for wanted, is_wanted in (("packets", trace["packets"]), ("pcap", trace["pcap"])):
        if is_wanted:
            raise UsageError(
                f"the scenario has trace.{wanted} = true, but a sweep keeps no packets of its runs",
                hint=f"set trace.{wanted} = false, and run single points with `shoal run`",
            )
