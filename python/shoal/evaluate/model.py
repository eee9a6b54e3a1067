"""What an evaluation is made of: a guide's clauses, and the experiments that carry one out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from shoal._toml import as_text
from shoal.evaluate.harm import Harm
from shoal.runs.design import Design, Factor, axis
from shoal.runs.plan import Plan
from shoal.runs.rows import Rows
from shoal.scenario import Scenario
from shoal.template import Template

if TYPE_CHECKING:
    from shoal.scenario_keys import ScenarioKeys


#: Quantiles of which a distribution is drawn, as expressions call them, and the parts of the values that they bound.
QUANTILES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}


class Level(Enum):
    """How strongly a guide asks for something, in its own words."""

    MUST = "must"
    RECOMMENDED = "recommended"
    SHOULD = "should"
    OUGHT = "ought to"
    MAY = "may"
    NONE = "-"


@dataclass(frozen=True)
class Setting:
    """Something with a name that can be put into a scenario: a queue, a controller, a path.

    Attributes
    ----------
    name
        What tables and figures call it.
    values
        Dotted keys of a scenario and their values.
    """

    name: str
    values: Mapping[str, object]

    @property
    def described(self) -> str:
        """Its values in words."""
        return ", ".join(filter(None, map(_in_words, self.values.values())))

    def is_in(self, values: Mapping[str, object]) -> bool:
        """Whether a point has it."""
        return all(as_text(values.get(key)) == as_text(value) for key, value in self.values.items())


def _in_words(value: object) -> str:
    if not isinstance(value, Mapping):
        return as_text(value)
    rest = ", ".join(f"{key} {_in_words(part)}" for key, part in value.items() if key != "kind")
    return " with ".join(part for part in (str(value.get("kind", "")), rest) if part)


@dataclass(frozen=True)
class Experiment:
    """A scenario with every contender, at some points, measured by the same metrics.

    Attributes
    ----------
    name
        Tells it from the others of its clause, in names of files.
    title
        What it is, in a sentence.
    scenario
        The keys that all its points have.
    metrics
        Columns: names, which end with a unit, and expressions.
    axes
        Keys that vary beside the contenders, with their values.
    paths
        Where each contender runs, with names; all set the same keys.
    contenders
        Who takes part, if those of the evaluation do not.
    adapt
        Makes of a contender of the evaluation what it is here.
    headline
        The metric that the table of all paths shows; it has no place there without one.
    finding
        Makes a sentence of the numbers, which stands above their table.
    tradeoff
        The metrics of a figure that sets delay against goodput, one point a seed (RFC 7928, section 2.7).
    harm
        What the evaluated flows do to others; further columns.
    curves
        Distributions that a figure shows: names with units, and expressions with ``{}`` for a quantile.
    """

    name: str
    title: str
    scenario: ScenarioKeys
    metrics: Mapping[str, str]
    axes: Sequence[Factor] = ()
    paths: Sequence[Setting] = ()
    contenders: Sequence[Setting] | None = None
    adapt: Callable[[Setting], Setting] | None = None
    headline: str = ""
    finding: Callable[[Rows], str] | None = None
    tradeoff: tuple[str, str] | None = None
    harm: Harm | None = None
    curves: Mapping[str, str] = field(default_factory=dict)

    def taking_part(self, contenders: Sequence[Setting]) -> tuple[Setting, ...]:
        """Who takes part, if these are evaluated."""
        if self.contenders is not None:
            return tuple(self.contenders)
        return tuple(map(self.adapt, contenders) if self.adapt is not None else contenders)

    @property
    def measured(self) -> dict[str, str]:
        """All that is measured in a run: the columns, and the quantiles of the distributions."""
        points = {
            f"{name} {quantile}": text.format(f"'{quantile}'")
            for name, text in self.curves.items()
            for quantile in QUANTILES
        }
        return {**self.metrics, **points}

    @property
    def scenes(self) -> Sequence[Setting]:
        """The paths, or a single one that sets nothing."""
        return self.paths or (Setting("", {}),)

    def plan(self, pairs: Sequence[tuple[Setting, Setting]], *, seeds: int, kernel: str = "") -> Plan:
        """The runs of some contenders, each on a path, at each point of the axes.

        Raises
        ------
        ScenarioError
            The keys make no scenario.
        """
        both = [{**contender.values, **path.values} for contender, path in pairs]
        keys = tuple(dict.fromkeys(key for values in both for key in values))
        design = Design((Factor(keys, [tuple(values[key] for key in keys) for values in both]), *self.axes))
        template = Template(Scenario.from_keys(self.scenario, name=f"{self.name}.toml"), design.keys, {})
        return Plan(template, design, self.measured, seeds, kernel=kernel)


@dataclass(frozen=True)
class Clause:
    """A section of a guide.

    Attributes
    ----------
    number
        As in the text.
    title
        In our words.
    level
        How strongly the guide asks for it.
    experiments
        What is run for it.
    reason
        Why not all of it is run, or where else it is; empty if all of it is.
    """

    number: str
    title: str
    level: Level = Level.NONE
    experiments: Sequence[Experiment] = ()
    reason: str = ""


@dataclass(frozen=True)
class Guide:
    """A text that says how something is to be evaluated.

    Attributes
    ----------
    name
        As people cite it.
    title
        Its title.
    url
        Where it is; sections are anchors below it.
    clauses
        Its sections, in their order.
    """

    name: str
    title: str
    url: str
    clauses: Sequence[Clause]

    def link(self, number: str) -> str:
        """The address of a section."""
        return f"{self.url}#section-{number}"


def in_order(clauses: Sequence[Clause]) -> list[Clause]:
    """Sections in the order of their numbers."""
    return sorted(clauses, key=lambda clause: tuple(map(int, clause.number.split("."))))


def varied(key: str, values: Sequence[object]) -> Factor:
    """An axis of an experiment."""
    return axis(key, values)


def name_of(settings: Sequence[Setting], values: Mapping[str, object]) -> str:
    """What tables call the one of some settings that a point has.

    Raises
    ------
    KeyError
        It has none of them.
    """
    for setting in settings:
        if setting.is_in(values):
            return setting.name
    raise KeyError(f"no setting of {dict(values)}")


def group(name: str, **keys: Any) -> dict[str, Any]:
    """A flow group whose flows do not begin at the same instant."""
    return {"name": name, "start": {"uniform": ["0 s", "1 s"]}, **keys}
