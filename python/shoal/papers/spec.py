"""The files of a paper: what is swept, measured, drawn and checked. README.md explains every key."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, TypeAdapter, ValidationError, ValidationInfo

from shoal import expression
from shoal._toml import toml_document
from shoal.errors import OutputError, UsageError
from shoal.models import nearest
from shoal.papers.model import (
    Formula,
    Formulas,
    Named,
    Number,
    Pair,
    Real,
    Scale,
    Switch,
    Table,
    Text,
    Texts,
    Values,
    Whole,
    Words,
    explained,
    mistake,
    model,
    model_of,
    read_toml,
)
from shoal.papers.panels import FigureSpec, Traces
from shoal.scenario import Scenario
from shoal.search import Problem, Side, candidates


@model
class Reading(Table):
    """One way to read what the paper leaves open."""

    name: Text
    title: Text
    why: Text = ""
    set: Values = field(default_factory=dict)
    # On Linux, and with other hosts: the reading it is like, and what it sets above all else. `flows.*.KEY` means
    # every group.
    like: Text | None = None
    on_top: Values = field(default_factory=dict)
    # The preset that replaces the host of every flow group.
    host: Text | None = None

    def with_host(self, preset: str) -> Reading:
        """The reading with a preset in place of the host of every flow group."""
        return replace(
            self,
            name=f"{self.name}+{preset}",
            title=f"{self.title}, with hosts {preset}",
            like=self.like or self.name,
            on_top={**self.on_top, "flows.*.host": preset},
            host=preset,
        )


@model
class OnLinux(Table):
    """What an experiment becomes on the real kernel, beside its simulation."""

    why: Text = ""
    set: Values = field(default_factory=dict)
    # Smaller forms of items, where the whole would take hours: keys as in `[quick]`.
    items: dict[Text, Values] = field(default_factory=dict)


@model
class WithHosts(Table):
    """What an experiment becomes if other hosts take the place of its own, beside its own."""

    why: Text = ""
    # Readings that are run with hosts only, such as that with the stacks that hosts belong to.
    readings: list[Reading] = field(default_factory=list)
    # Forms of items for that, on the simulator and on the real kernel: keys as in `[quick]`.
    items: dict[Text, Values] = field(default_factory=dict)
    linux: dict[Text, Values] = field(default_factory=dict)


@model
class Steps(Table):
    """An axis as a range."""

    from_: Number
    to: Number
    steps: Whole
    scale: Scale = "linear"

    def values(self) -> list[float]:
        """From the first to the last, both included."""
        if self.steps < 2:
            raise mistake("needs at least 2 steps")
        parts = [number / (self.steps - 1) for number in range(self.steps)]
        if self.scale == "log":
            return [float(f"{self.from_ * (self.to / self.from_) ** part:.12g}") for part in parts]
        return [
            float(f"{self.from_ + (self.to - self.from_) * number / (self.steps - 1):.12g}")
            for number in range(self.steps)
        ]


def _axis(value: object) -> object:
    if not isinstance(value, dict):
        return value
    try:
        return TypeAdapter(Steps).validate_python(value).values()
    except ValidationError as error:
        raise mistake(*explained(error)) from None


Axis = Annotated[list[Number], BeforeValidator(_axis)]


def _scenario(value: object, info: ValidationInfo) -> object:
    """The scenario of a file in the paper's folder, without some of its flow groups."""
    if not isinstance(value, str) or not isinstance(info.context, Path):
        return value
    return _without(Scenario.from_file(info.context / value), info.data.get("without", []))


def _without(scenario: Scenario, groups: list[str]) -> Scenario:
    """The scenario without some of its flow groups."""
    if not groups:
        return scenario
    names = [group["name"] for group in scenario.resolved["flows"]]
    for name in groups:
        if name not in names:
            raise UsageError(f"{scenario.name} has no flow group `{name}`", hint=nearest(name, names))
    # The file as it is written, not with defaults filled in: readings may change what defaults depend on.
    written = tomllib.loads(scenario.text)
    written["flows"] = [group for group, name in zip(written["flows"], names, strict=True) if name not in groups]
    return Scenario(toml_document(written), scenario.name)


@model
class Sweep(Table):
    """A grid of scenarios and what is measured at each point."""

    name: Text
    title: Text = ""
    # Before the scenario, which is read without these groups.
    without: Words = field(default_factory=list)
    scenario: Annotated[Scenario, BeforeValidator(_scenario)]
    axes: dict[Text, Axis] = field(default_factory=dict)
    cases: dict[Text, Values] = field(default_factory=dict)
    let: Formulas = field(default_factory=dict)
    set: Values = field(default_factory=dict)
    metrics: Formulas = field(default_factory=dict)
    seeds: Whole = 1
    keep: Switch = False
    record: list[Literal["distributions", "series"]] = field(default_factory=list)
    where: Text | None = None
    reading_set: dict[Text, Values] | None = None
    reading_without: Words = field(default_factory=list)
    # Why it sets something otherwise than the paper's reading, by setting.
    because: Texts = field(default_factory=dict)

    @property
    def all_axes(self) -> tuple[str, ...]:
        """Names of the axes; cases are the first one, called ``case``."""
        return (*(("case",) if self.cases else ()), *self.axes)

    def points(self) -> list[dict[str, Any]]:
        """All combinations for which ``where`` holds, the last axis fastest, with what is computed from them."""
        values: list[list[Any]] = [*([list(self.cases)] if self.cases else []), *self.axes.values()]
        points = [
            self._with_let(dict(zip(self.all_axes, combination, strict=True)))
            for combination in itertools.product(*values)
        ]
        return [point for point in points if self.where is None or expression.evaluate(self.where, point)]

    def _with_let(self, point: dict[str, Any]) -> dict[str, Any]:
        for name, text in self.let.items():
            point[name] = expression.number(text, point)
        return point

    def overrides(self, point: dict[str, Any], reading: Reading) -> dict[str, Any]:
        """What a point sets in the scenario under a reading."""
        settings = reading.set if self.reading_set is None else self.reading_set.get(reading.like or reading.name, {})
        settings = {key: value for key, value in settings.items() if not key.startswith(tuple(self.reading_without))}
        settings = {key: expression.filled(value, point, only=True) for key, value in settings.items()}
        wanted = {**self.set, **(self.cases[point["case"]] if self.cases else {})}
        filled = {key: expression.filled(value, point) for key, value in wanted.items()}
        tables: dict[str, Any] = {} if self.keep or "series" in self.record else {"trace.series": "off"}
        if "distributions" in self.record:
            tables["trace.distributions"] = True
        on_top = {key: expression.filled(value, point, only=True) for key, value in self._on_top(reading).items()}
        return {**settings, **tables, **filled, **on_top}

    def scenarios(self, reading: Reading) -> list[Scenario]:
        """The scenario of every point under a reading."""
        return [self.scenario.override(self.overrides(point, reading)) for point in self.points()]

    def _on_top(self, reading: Reading) -> dict[str, Any]:
        groups = [group["name"] for group in self.scenario.resolved["flows"]]
        return {
            key: value
            for key, value in reading.on_top.items()
            if not key.startswith("flows.") or key.split(".")[1] in {"*", *groups}
        }

    @property
    def has_tables(self) -> bool:
        """Whether its runs have more than a summary."""
        return self.keep or bool(self.record)


@model
class Range(Table):
    """The values that a search may try; the ends and the step are expressions of the axes."""

    from_: Formula
    to: Formula
    step: Formula = "1"
    within: Real | None = None

    @property
    def ends(self) -> tuple[str, str, str]:
        """First value, last value, and distance."""
        return self.from_, self.to, self.step


@model
class Search(Sweep):
    """For every combination of the axes, the smallest or largest value of a variable that satisfies a condition."""

    over: Text
    range: Range
    smallest: Text | None = None
    largest: Text | None = None
    confirm: Whole = 2
    columns: Formulas = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a search of both ends, or of an axis."""
        if (self.smallest is None) == (self.largest is None):
            raise mistake("needs one of `smallest` and `largest`", 'as in smallest = "queue_empty() <= 0.05"')
        if self.over in self.axes:
            raise mistake(f"`{self.over}` is an axis and searched", "remove it from the axes")

    @property
    def side(self) -> Side:
        """Which end is searched."""
        return Side.LARGEST if self.smallest is None else Side.SMALLEST

    @property
    def such_that(self) -> str:
        """The condition."""
        return self.smallest or self.largest or ""

    def scenarios(self, reading: Reading) -> list[Scenario]:
        """The first and the last candidate's scenario for every combination of the axes."""
        return [problem.scenario(problem.candidates[end]) for problem in self.problems(reading) for end in (0, -1)]

    def problems(self, reading: Reading) -> list[Problem]:
        """One search a combination of the axes."""
        return [self._problem(point, reading) for point in self.points()]

    def _problem(self, point: dict[str, Any], reading: Reading) -> Problem:
        first, last, step = (expression.number(text, point) for text in self.range.ends)

        def at(value: float) -> Scenario:
            return self.scenario.override(self.overrides({**point, self.over: value}, reading))

        return Problem(self.name, candidates(first, last, step=step, within=self.range.within), at)


@model
class Find(Table):
    """Where on an axis a metric has a value, or is largest."""

    name: Text
    table: Text
    over: Text
    metric: Text = ""
    maximum: Text | None = None
    equals: Number | None = None
    scale: Scale = "linear"
    noise: Real = 0.0
    columns: Formulas = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a search of nothing."""
        wanted = (bool(self.metric), self.equals is not None, self.maximum is not None)
        if wanted not in ((True, True, False), (False, False, True)):
            raise mistake("needs `metric` and `equals`, or `maximum` alone", "as in maximum = 'ratio'")

    @property
    def column(self) -> str:
        """What it looks at."""
        return self.maximum or self.metric


@model
class Join(Table):
    """Columns of two tables in one."""

    name: Text
    left: Text
    right: Text
    on: Words


class Role(StrEnum):
    """What a check is, and so what it counts as: headlines count claims only."""

    # A statement of the paper, tested under the paper's reading.
    CLAIM = "claim"
    # Something that the paper does not say: a mechanism behind a difference, or a bound of our own.
    OWN = "own"
    # A claim once more, under settings other than the paper's reading.
    READING = "reading"
    # A claim once more, in another item.
    REPETITION = "repetition"
    # What follows from the paper's numbers without a measurement: shown, never judged.
    DERIVATION = "derivation"


def _published(value: object) -> object:
    if not isinstance(value, str):
        return value
    file, colon, column = value.rpartition(":")
    if not colon:
        raise mistake(f"{value!r} is not a column", 'write "data/FILE.csv:COLUMN"')
    return file, column


@model
class Check(Table):
    """A claim and how it is tested."""

    claim: Text
    role: Role = Role.CLAIM
    what: Text
    table: Text | None = None
    value: Formula | None = None
    where: Text | None = None
    published: Annotated[tuple[Text, Text] | None, BeforeValidator(_published)] = None
    expected: Formula | None = None
    tolerance: Formula | None = None
    relative: Formula | None = None
    factor: Formula | None = None
    min: Formula | None = None
    max: Formula | None = None
    increasing_in: Text | None = None
    decreasing_in: Text | None = None
    rank_correlation_with: Text | None = None
    # What a row with a rank correlation says in place of "undefined" if the value is zero everywhere.
    all_zero: Text = ""
    slack: Real = 0.0
    crossings: Whole | None = None
    fit_x: Text | None = None
    slope: Pair | None = None
    r2_min: Real | None = None
    together: Switch = False
    reason: Text = ""


@model
class Quick(Table):
    """What a smaller form of an item changes in all its sweeps."""

    seeds: Whole | None = None
    set: Values = field(default_factory=dict)
    # Keys are AXIS or .AXIS, of every sweep that has it, or SWEEP.AXIS.
    axes: dict[Text, Any] = field(default_factory=dict)
    # What searches try, by the name of the search: keys of its `range`.
    ranges: dict[Text, Values] = field(default_factory=dict)
    readings: Words | None = None

    def applied(self, item: Values) -> Values:
        """An item as it is written in its file, in this form."""
        form = dict(item)
        _check_words("ranges", list(self.ranges), list(item.get("searches", {})))
        for what in ("sweeps", "searches"):
            # What is not a table is refused when the item is read.
            if isinstance(sweeps := item.get(what), dict):
                seeds = self.seeds or item.get("seeds", 1)
                form[what] = {
                    name: self._of(name, sweep, seeds) if isinstance(sweep, dict) else sweep
                    for name, sweep in sweeps.items()
                }
        return form

    def _of(self, name: str, written: Values, seeds: int) -> Values:
        axes = dict(written.get("axes", {}))
        for key, value in self.axes.items():
            sweep, _, axis = key.rpartition(".")
            if sweep in ("", name) and axis in axes:
                axes[axis] = value
        seeding = {} if "seeds" in written and not (self.set or self.axes) else {"seeds": seeds}
        if name in self.ranges and isinstance(tried := written.get("range"), dict):
            tried = {**tried, **self.ranges[name]}
            return {**written, "axes": axes, "set": {**written.get("set", {}), **self.set}, "range": tried, **seeding}
        return {**written, "axes": axes, "set": {**written.get("set", {}), **self.set}, **seeding}


@model
class Item(Table):
    """A table or figure of a paper."""

    paper: Text
    name: Text
    title: Text
    text: Text = ""
    folder: Path
    seeds: Whole = 1
    quick: Quick = field(default_factory=Quick)
    sweeps: Annotated[dict[Text, Sweep], Named] = field(default_factory=dict)
    searches: Annotated[dict[Text, Search], Named] = field(default_factory=dict)
    finds: Annotated[dict[Text, Find], Named] = field(default_factory=dict)
    joins: Annotated[dict[Text, Join], Named] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    figures: list[FigureSpec] = field(default_factory=list)
    compare: Words = field(default_factory=list)
    show: Words = field(default_factory=list)
    readings: Words | None = None
    # As of a sweep, for all its sweeps.
    because: Texts = field(default_factory=dict)


@model
class Paper(Table):
    """A published work."""

    name: Text
    title: Text
    reference: Text = ""
    text: Text = ""
    folder: Path
    items: Words
    readings: list[Reading] = field(default_factory=lambda: [Reading(name="as-stated", title="as stated in the paper")])
    # That which verdicts are about: the first one unless it is named.
    chosen: Text = ""
    linux: OnLinux | None = None
    hosts: WithHosts | None = None
    # ITEM/SWEEP whose settings are those of the paper's reading; other items' are listed where they differ.
    base: Text | None = None
    # Readings whose values and verdicts stand beside those of the chosen one, check by check, in what is kept.
    beside: Words = field(default_factory=list)

    def item(
        self, name: str, *, quick: bool = False, on_linux: bool = False, full: bool = False, with_hosts: bool = False
    ) -> Item:
        """Read one of the items; ``quick`` reads its smaller form, ``on_linux`` that which the real kernel runs too.

        ``with_hosts`` reads the form that other hosts take part in. ``full`` with either of both: every point and seed
        of the usual form.
        """
        if name not in self.items:
            raise UsageError(f"`{self.name}` has no item `{name}`", hint=nearest(name, self.items))
        hosts = (self.hosts or WithHosts()) if with_hosts else WithHosts()
        if not on_linux:
            item = _item(self, name, quick=quick, small=None if quick or full else hosts.items.get(name))
            return _for_hosts(item, self, hosts.items.get(name, {})) if with_hosts else item
        if self.linux is None or name not in self.linux.items:
            known = [] if self.linux is None else [f"{self.name}/{item}" for item in self.linux.items]
            raise UsageError(
                f"`{self.name}/{name}` has no form for Linux",
                hint=f"on Linux: {', '.join(known)}" if known else "leave out --on, or add [linux] to its paper.toml",
            )
        form = hosts.linux.get(name, self.linux.items[name])
        item = _item(self, name, quick=quick, small=None if quick or full else form)
        return _for_hosts(item, self, {}) if with_hosts else item

    def on_linux(self, release: str) -> tuple[Reading, Reading]:
        """The chosen reading with what a kernel needs: for the simulator, to tell planes from settings, and for it."""
        if self.linux is None:
            raise UsageError(f"`{self.name}` has no form for Linux", hint="add [linux] to its paper.toml")
        chosen, why, on_top = self.reading(self.chosen), self.linux.why, self.linux.set

        def reading(name: str, title: str) -> Reading:
            return Reading(name=name, title=title, why=why, set=chosen.set, like=chosen.name, on_top=on_top)

        there = f"linux-{release.removesuffix('-shoal')}"
        return (
            reading("simulated-alike", "the chosen reading with what the kernel needs, simulated"),
            reading(there, f"the same on Linux {release} in virtual time"),
        )

    def reading(self, name: str) -> Reading:
        """The reading of that name."""
        return next(reading for reading in self.known_readings if reading.name == name)

    @property
    def known_readings(self) -> list[Reading]:
        """All readings, those that are run with hosts only at the end."""
        usual = {reading.name: reading.set for reading in self.readings}
        more = self.hosts.readings if self.hosts else []
        return [
            *self.readings,
            *(replace(reading, set={**usual.get(reading.like or "", {}), **reading.set}) for reading in more),
        ]


def read_paper(folder: str | Path) -> Paper:
    """Read ``paper.toml`` of a folder."""
    folder = Path(folder)
    written = read_toml(folder / "paper.toml")
    name = folder.resolve().name
    paper = model_of(Paper, written, "paper.toml", name=name, folder=folder)
    if not paper.chosen:
        paper = replace(paper, chosen=paper.readings[0].name)
    readings = [reading.name for reading in paper.readings]
    if paper.chosen not in readings:
        raise UsageError(f"paper.toml: there is no reading `{paper.chosen}`", hint=nearest(paper.chosen, readings))
    _check_words("paper.toml: beside", paper.beside, [name for name in readings if name != paper.chosen])
    _check_words("paper.toml: [linux.items]", list(paper.linux.items) if paper.linux else [], paper.items)
    if paper.hosts is not None:
        _check_words("paper.toml: [hosts.items]", list(paper.hosts.items), paper.items)
        _check_words(
            "paper.toml: [linux.items]", list(paper.hosts.linux), list(paper.linux.items) if paper.linux else []
        )
    _check_new_readings(paper)
    return paper


def _check_new_readings(paper: Paper) -> None:
    """Refuse a reading of [[hosts.readings]] that has the name of another one, and a reading that names a host."""
    names = [reading.name for reading in paper.known_readings]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"paper.toml: there are two readings `{name}`", hint="give them names of their own")
    for reading in paper.known_readings:
        if reading.host is not None:
            raise UsageError(
                f"paper.toml: the reading `{reading.name}` names a host",
                hint="hosts are those of --host; remove the key",
            )
    likes = [reading.like for reading in (paper.hosts.readings if paper.hosts else []) if reading.like is not None]
    _check_words("paper.toml: hosts.readings: like", likes, [reading.name for reading in paper.readings])


def _for_hosts(item: Item, paper: Paper, form: Values) -> Item:
    """The item with the readings of its form, if it has hosts that others can take the place of."""
    if not any(sweep.scenario.resolved["flows"] for sweep in (*item.sweeps.values(), *item.searches.values())):
        raise UsageError(f"`{paper.name}/{item.name}` runs no flow groups, so it has no hosts", hint="leave out --host")
    usual = item.readings or [paper.chosen]
    readings = form.get("readings", [paper.chosen] if paper.chosen in usual else usual[:1])
    _check_words(f"paper.toml: [hosts.items.{item.name}] readings", readings, [r.name for r in paper.known_readings])
    return replace(item, readings=readings)


def _check_words(what: str, words: list[str], known: list[str]) -> None:
    for word in words:
        if word not in known:
            raise UsageError(f"{what} has no `{word}`", hint=nearest(word, known))


def _item(paper: Paper, name: str, *, quick: bool, small: dict[str, Any] | None = None) -> Item:
    path = paper.folder / "items" / f"{name}.toml"
    if not path.exists():
        raise OutputError(f"`{paper.folder}` lists the item `{name}`, but has no items/{name}.toml")
    written = read_toml(path)

    def read(form: Quick) -> Item:
        given = {"paper": paper.name, "name": name, "folder": paper.folder}
        return model_of(Item, form.applied(written), path.name, context=paper.folder, **given)

    item = read(Quick())
    # What a smaller form leaves out has been checked by then.
    if quick or small is not None:
        size = item.quick if small is None else model_of(Quick, small, f"{path.name}: quick")
        item = replace(read(size), readings=size.readings or item.readings)
    _check_names(item, paper)
    return item


def _check_names(item: Item, paper: Paper) -> None:
    """Refuse references to tables and readings that do not exist, before anything runs."""
    tables = [*item.sweeps, *item.searches, *(f"{name}-trials" for name in item.searches)]
    tables += [*item.finds, *item.joins]
    panels = [panel for figure in item.figures for panel in figure.panels]
    used = [find.table for find in item.finds.values()]
    used += [name for join in item.joins.values() for name in (join.left, join.right)]
    used += (
        [check.table for check in item.checks if check.table]
        + [panel.table for panel in panels if panel.table]
        + item.show
    )
    for name in used:
        if name not in tables:
            raise UsageError(f"{item.name}.toml: there is no table `{name}`", hint=nearest(name, tables))
    for name in [*item.compare, *(name for panel in panels if isinstance(panel, Traces) for name in panel.sweeps)]:
        if name not in item.sweeps:
            raise UsageError(f"{item.name}.toml: there is no sweep `{name}`", hint=nearest(name, list(item.sweeps)))
        if not (item.sweeps[name].keep or (item.sweeps[name].record and name not in item.compare)):
            raise UsageError(f"{item.name}.toml: traces of `{name}` are needed", hint="add keep = true to the sweep")
    for name in item.readings or []:
        known = [reading.name for reading in paper.known_readings]
        if name not in known:
            raise UsageError(f"{item.name}.toml: there is no reading `{name}`", hint=nearest(name, known))
