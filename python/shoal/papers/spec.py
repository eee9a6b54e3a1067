"""The files of a paper: what is swept, measured, drawn and checked. README.md explains every key."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from shoal import expression
from shoal._toml import toml_value
from shoal.errors import OutputError, UsageError
from shoal.models import nearest
from shoal.papers.reader import Reader, read_toml
from shoal.scenario import Scenario
from shoal.search import Side
from shoal.tuning import Problem, candidates

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open."""

    name: str
    title: str
    why: str
    set: dict[str, Any]
    # On Linux: the reading it is like, and what it sets above all else. `flows.*.KEY` means every group.
    like: str | None = None
    on_top: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OnLinux:
    """What an experiment becomes on the real kernel, beside its simulation."""

    why: str
    set: dict[str, Any]
    # Smaller forms of items, where the whole would take hours: keys as in `[quick]`.
    items: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Sweep:
    """A grid of scenarios and what is measured at each point."""

    name: str
    title: str
    scenario: Scenario
    axes: dict[str, list[float]]
    cases: dict[str, dict[str, Any]]
    let: dict[str, str]
    set: dict[str, Any]
    metrics: dict[str, str]
    seeds: int
    keep: bool
    record: list[str]
    where: str | None
    reading_set: dict[str, dict[str, Any]] | None
    reading_without: list[str]
    # Why it sets something otherwise than the paper's reading, by setting.
    because: dict[str, str] = field(default_factory=dict)

    @property
    def all_axes(self) -> tuple[str, ...]:
        """Names of the axes; cases are the first one, called ``case``."""
        return (*(("case",) if self.cases else ()), *self.axes)

    def points(self) -> list[dict[str, Any]]:
        """All combinations for which ``where`` holds, the last axis fastest, with what is computed from them."""
        values: list[list[Any]] = [*([list(self.cases)] if self.cases else []), *self.axes.values()]
        points = [self._with_let(dict(zip(self.all_axes, place, strict=True))) for place in itertools.product(*values)]
        return [point for point in points if self.where is None or expression.evaluate(self.where, point)]

    def _with_let(self, point: dict[str, Any]) -> dict[str, Any]:
        for name, text in self.let.items():
            point[name] = expression.number(text, point)
        return point

    def overrides(self, point: dict[str, Any], reading: Reading) -> dict[str, Any]:
        """What a point sets in the scenario under a reading."""
        own = reading.set if self.reading_set is None else self.reading_set.get(reading.like or reading.name, {})
        own = {key: value for key, value in own.items() if not key.startswith(tuple(self.reading_without))}
        own = {key: expression.filled(value, point, only=True) for key, value in own.items()}
        wanted = {**self.set, **(self.cases[point["case"]] if self.cases else {})}
        filled = {key: expression.filled(value, point) for key, value in wanted.items()}
        tables: dict[str, Any] = {} if self.keep or "series" in self.record else {"trace.series": "off"}
        if "distributions" in self.record:
            tables["trace.distributions"] = True
        on_top = {key: expression.filled(value, point, only=True) for key, value in self._on_top(reading).items()}
        return {**own, **tables, **filled, **on_top}

    def scenarios(self, reading: Reading) -> list[Scenario]:
        """The scenario of every point under a reading."""
        return [self.scenario.override(self.overrides(point, reading)) for point in self.points()]

    def _on_top(self, reading: Reading) -> dict[str, Any]:
        groups = [group["name"] for group in self.scenario.resolved["flows"]]
        found = {}
        for key, value in reading.on_top.items():
            names = [key]
            if key.startswith("flows.*."):
                names = [f"flows.{group}.{key.removeprefix('flows.*.')}" for group in groups]
            for name in names:
                if not name.startswith("flows.") or name.split(".")[1] in groups:
                    found[name] = value
        return found

    @property
    def has_tables(self) -> bool:
        """Whether its runs have more than a summary."""
        return self.keep or bool(self.record)


@dataclass(frozen=True)
class Search:
    """For every combination of the axes, the smallest or largest value of a variable that satisfies a condition.

    ``sweep`` holds what a search shares with one: axes, scenario, and what is measured at the answer. The range's ends
    and step are expressions of the axes.
    """

    sweep: Sweep
    over: str
    first: str
    last: str
    step: str
    within: float | None
    such_that: str
    side: Side
    confirm: int
    columns: dict[str, str]

    @property
    def name(self) -> str:
        """Name of its table; that of everything tried is ``NAME-trials``."""
        return self.sweep.name

    @property
    def because(self) -> dict[str, str]:
        """Why it sets something otherwise than the paper's reading, by setting."""
        return self.sweep.because

    def scenarios(self, reading: Reading) -> list[Scenario]:
        """The first and the last candidate's scenario for every combination of the axes."""
        found = []
        for problem in self.problems(reading):
            found += [problem.scenario(problem.candidates[end]) for end in (0, -1)]
        return found

    def problems(self, reading: Reading) -> list[Problem]:
        """One search a combination of the axes."""
        return [self._problem(point, reading) for point in self.sweep.points()]

    def _problem(self, point: dict[str, Any], reading: Reading) -> Problem:
        first, last, step = (expression.number(text, point) for text in (self.first, self.last, self.step))

        def at(value: float) -> Scenario:
            return self.sweep.scenario.override(self.sweep.overrides({**point, self.over: value}, reading))

        return Problem(self.name, candidates(first, last, step=step, within=self.within), at)


@dataclass(frozen=True)
class Find:
    """Where on an axis a metric has a value, or is largest."""

    name: str
    table: str
    over: str
    metric: str
    equals: float | None
    scale: Scale
    noise: float
    columns: dict[str, str]


@dataclass(frozen=True)
class Join:
    """Columns of two tables in one."""

    name: str
    left: str
    right: str
    on: list[str]


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


@dataclass(frozen=True)
class Check:
    """A claim and how it is tested."""

    claim: str
    role: Role
    what: str
    table: str | None
    value: str | None
    where: str | None
    published: tuple[str, str] | None
    expected: str | None
    tolerance: str | None
    relative: str | None
    factor: str | None
    minimum: str | None
    maximum: str | None
    increasing_in: str | None
    decreasing_in: str | None
    rank_correlation_with: str | None
    # What a row with a rank correlation says in place of "undefined" if the value is zero everywhere.
    all_zero: str
    slack: float
    crossings: int | None
    fit_x: str | None
    slope: tuple[float, float] | None
    r2_min: float | None
    together: bool
    reason: str


@dataclass(frozen=True)
class Overlay:
    """Published points in a panel."""

    data: str
    x: str
    y: str
    series: str | None
    label: str


@dataclass(frozen=True)
class Curve:
    """A formula in a panel."""

    expr: str
    label: str
    range: tuple[float, float]


@dataclass(frozen=True)
class Heat:
    """How a heat map looks."""

    scale: Scale
    range: tuple[float, float] | None
    centre: float | None
    even: bool
    annotate: str | None


@dataclass(frozen=True)
class Cells:
    """What single runs of sweeps show: one distribution, or small multiples over two axes."""

    shows: Literal["queue", "rates"]
    classes: list[str]
    width: int
    rate_mbps: float
    rate_of: Literal["all", "ect"]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    kind: Literal["lines", "points", "bars", "heatmap", "windows", "queue", "sequence", "pdf", "grid"]
    table: str | None
    x: str
    y: str
    z: str | None
    series: str | None
    series_label: str
    where: str | None
    title: str
    x_label: str
    y_label: str
    z_label: str
    x_scale: Scale
    y_scale: Scale
    x_range: tuple[float, float] | None
    y_range: tuple[float, float] | None
    hlines: list[float]
    published: list[Overlay]
    curves: list[Curve]
    sweeps: list[str]
    groups: list[str] | None
    time: tuple[float, float] | None
    events: bool
    heat: Heat
    cells: Cells


@dataclass(frozen=True)
class FigureSpec:
    """A figure of the paper, drawn from our data in the same axes."""

    name: str
    title: str
    columns: int
    height: float
    chosen_only: bool
    panels: list[Panel]


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper."""

    paper: str
    name: str
    title: str
    text: str
    folder: Path
    sweeps: dict[str, Sweep]
    searches: dict[str, Search]
    finds: list[Find]
    joins: list[Join]
    checks: list[Check]
    figures: list[FigureSpec]
    compare: list[str]
    show: list[str]
    readings: list[str] | None
    # As of a sweep, for all its sweeps.
    because: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """A published work."""

    name: str
    title: str
    reference: str
    text: str
    folder: Path
    items: list[str]
    readings: list[Reading]
    chosen: str
    linux: OnLinux | None = None
    # ITEM/SWEEP whose settings are those of the paper's reading; other items' are listed where they differ.
    base: str | None = None
    # Readings whose values and verdicts stand beside those of the chosen one, check by check, in what is kept.
    beside: list[str] = field(default_factory=list)

    def item(self, name: str, *, quick: bool = False, on_linux: bool = False, full: bool = False) -> Item:
        """Read one of the items; ``quick`` reads its smaller form, ``on_linux`` that which the real kernel runs too.

        ``full`` with ``on_linux``: every point and seed of the simulator's form.
        """
        if name not in self.items:
            raise UsageError(f"`{self.name}` has no item `{name}`", hint=nearest(name, self.items))
        if not on_linux:
            return _item(self, name, quick=quick)
        if self.linux is None or name not in self.linux.items:
            known = [] if self.linux is None else [f"{self.name}/{item}" for item in self.linux.items]
            raise UsageError(
                f"`{self.name}/{name}` has no form for Linux",
                hint=f"on Linux: {', '.join(known)}" if known else "leave out --on, or add [linux] to its paper.toml",
            )
        return _item(self, name, quick=quick, small=None if quick or full else self.linux.items[name])

    def on_linux(self, release: str) -> tuple[Reading, Reading]:
        """The chosen reading with what a kernel needs: for the simulator, to tell planes from settings, and for it."""
        assert self.linux is not None  # noqa: S101  (its items have been read)
        chosen = self.reading(self.chosen)

        def reading(name: str, title: str) -> Reading:
            assert self.linux is not None  # noqa: S101
            return Reading(name, title, self.linux.why, chosen.set, like=chosen.name, on_top=self.linux.set)

        there = f"linux-{release.removesuffix('-shoal')}"
        return (
            reading("simulated-alike", "the chosen reading with what the kernel needs, simulated"),
            reading(there, f"the same on Linux {release} in virtual time"),
        )

    def reading(self, name: str) -> Reading:
        """The reading of that name."""
        return next(reading for reading in self.readings if reading.name == name)


def read_paper(folder: str | Path) -> Paper:
    """Read ``paper.toml`` of a folder."""
    folder = Path(folder)
    reader = read_toml(folder / "paper.toml")
    readings = []
    for item in reader.tables("readings"):
        readings.append(
            Reading(
                name=item.get("name", str),
                title=item.get("title", str),
                why=item.get("why", str, ""),
                set=item.get("set", dict, {}),
            )
        )
        item.end()
    readings = readings or [Reading("as-stated", "as stated in the paper", "", {})]
    chosen = reader.get("chosen", str, readings[0].name)
    if chosen not in [reading.name for reading in readings]:
        raise UsageError(
            f"paper.toml: there is no reading `{chosen}`", hint=nearest(chosen, [r.name for r in readings])
        )
    paper = Paper(
        name=folder.resolve().name,
        title=reader.get("title", str),
        reference=reader.get("reference", str, ""),
        text=reader.get("text", str, ""),
        folder=folder,
        items=reader.get("items", list),
        readings=readings,
        chosen=chosen,
        linux=_on_linux(reader),
        base=reader.get("base", str, None),
        beside=_words(reader, "beside", [reading.name for reading in readings if reading.name != chosen], []),
    )
    reader.end()
    for name in paper.linux.items if paper.linux else ():
        if name not in paper.items:
            raise UsageError(f"paper.toml: [linux.items] has `{name}`", hint=nearest(name, paper.items))
    return paper


def _on_linux(reader: Reader) -> OnLinux | None:
    table = reader.get("linux", dict, None)
    if table is None:
        return None
    own = Reader(table, f"{reader.place}: linux")
    found = OnLinux(own.get("why", str, ""), own.get("set", dict, {}), own.get("items", dict, {}))
    own.end()
    return found


def _item(paper: Paper, name: str, *, quick: bool, small: dict[str, Any] | None = None) -> Item:
    path = paper.folder / "items" / f"{name}.toml"
    if not path.exists():
        raise OutputError(f"`{paper.folder}` lists the item `{name}`, but has no items/{name}.toml")
    reader = read_toml(path)
    written, quick = reader.get("quick", dict, {}), quick or small is not None
    smaller = Reader(written if small is None else small, f"{reader.place}: quick")
    seeds = reader.get("seeds", int, 1)
    quick_seeds, quick_set, quick_axes = (
        smaller.get("seeds", int, seeds),
        smaller.get("set", dict, {}),
        smaller.get("axes", dict, {}),
    )
    quick_readings = smaller.get("readings", list, None)
    smaller.end()
    size = _Size(quick_seeds if quick else seeds, quick_set if quick else {}, quick_axes if quick else {})
    sweeps = {key: _sweep(paper, key, table, size) for key, table in reader.named("sweeps").items()}
    searches = {key: _search(paper, key, table, size) for key, table in reader.named("searches").items()}
    finds = [_find(key, table) for key, table in reader.named("finds").items()]
    joins = []
    for key, table in reader.named("joins").items():
        joins.append(Join(key, table.get("left", str), table.get("right", str), table.get("on", list)))
        table.end()
    readings = reader.get("readings", list, None)
    item = Item(
        paper=paper.name,
        name=name,
        title=reader.get("title", str),
        text=reader.get("text", str, ""),
        folder=paper.folder,
        sweeps=sweeps,
        searches=searches,
        finds=finds,
        joins=joins,
        checks=[read_check(table) for table in reader.tables("checks")],
        figures=[_figure(table) for table in reader.tables("figures")],
        compare=reader.get("compare", list, []),
        show=reader.get("show", list, []),
        readings=(quick_readings if quick else None) or readings,
        because=reader.get("because", dict, {}),
    )
    reader.end()
    _check_names(item, paper)
    return item


@dataclass(frozen=True)
class _Size:
    """What the item, or its quick form, says for all its sweeps."""

    seeds: int
    set: dict[str, Any]
    axes: dict[str, Any]


def _sweep(paper: Paper, name: str, reader: Reader, size: _Size) -> Sweep:
    axes = {axis: _axis(value, f"{reader.place}: axes.{axis}") for axis, value in reader.get("axes", dict, {}).items()}
    for key, value in size.axes.items():
        sweep_name, _, axis = key.rpartition(".")
        if sweep_name in ("", name) and axis in axes:
            axes[axis] = _axis(value, f"quick: axes.{key}")
    scenario = _without(Scenario.from_file(paper.folder / reader.get("scenario", str)), reader.get("without", list, []))
    sweep = Sweep(
        name=name,
        title=reader.get("title", str, name),
        scenario=scenario,
        axes=axes,
        cases=reader.get("cases", dict, {}),
        let={key: str(value) for key, value in reader.get("let", dict, {}).items()},
        set={**reader.get("set", dict, {}), **size.set},
        metrics=reader.get("metrics", dict, {}),
        seeds=size.seeds if (own := reader.get("seeds", int, 0)) == 0 or size.set or size.axes else own,
        keep=reader.get("keep", bool, False),
        record=_words(reader, "record", ["distributions", "series"], []),
        where=reader.get("where", str, None),
        reading_set=reader.get("reading_set", dict, None),
        reading_without=reader.get("reading_without", list, []),
        because=reader.get("because", dict, {}),
    )
    reader.end()
    return sweep


def _search(paper: Paper, name: str, reader: Reader, size: _Size) -> Search:
    limits = Reader(reader.get("range", dict), f"{reader.place}: range")
    first, last, step = (
        str(limits.get(key, (int, float, str), *default)) for key, *default in (("from",), ("to",), ("step", 1))
    )
    within = limits.get("within", (int, float), None)
    limits.end()
    over, columns, confirm = reader.get("over", str), reader.get("columns", dict, {}), reader.get("confirm", int, 2)
    wanted = {side: reader.get(side.value, str, None) for side in Side}
    given = [(side, text) for side, text in wanted.items() if text is not None]
    if len(given) != 1:
        raise UsageError(
            f"{reader.place}: needs one of `smallest` and `largest`", hint='as in smallest = "queue_empty() <= 0.05"'
        )
    ((side, such_that),) = given
    sweep = _sweep(paper, name, reader, size)
    if over in sweep.axes:
        raise UsageError(f"{reader.place}: `{over}` is an axis and searched", hint="remove it from the axes")
    return Search(sweep, over, first, last, step, within, such_that, side, confirm, columns)


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
    return Scenario("".join(f"{key} = {toml_value(value)}\n" for key, value in written.items()), scenario.name)


def _words(reader: Reader, key: str, known: list[str], default: list[str]) -> list[str]:
    words: list[str] = reader.get(key, list, default)
    for word in words:
        if word not in known:
            raise UsageError(f"{reader.place}: {key} has no `{word}`", hint=nearest(str(word), known))
    return words


def _word(reader: Reader, key: str, known: Sequence[str], default: str) -> str:
    word: str = reader.get(key, str, default)
    if word not in known:
        raise UsageError(f"{reader.place}: {key} is `{word}`", hint=nearest(word, list(known)))
    return word


def _axis(value: Any, place: str) -> list[float]:
    if isinstance(value, list):
        return [expression.number(item) for item in value]
    reader = Reader(value if isinstance(value, dict) else {}, place)
    first, last = (
        expression.number(reader.get("from", (int, float, str))),
        expression.number(reader.get("to", (int, float, str))),
    )
    steps, scale = reader.get("steps", int), reader.get("scale", str, "linear")
    reader.end()
    if steps < 2 or scale not in ("linear", "log"):
        raise UsageError(f"{place}: needs at least 2 steps, and a scale that is linear or log")
    if scale == "log":
        return [float(f"{first * (last / first) ** (n / (steps - 1)):.12g}") for n in range(steps)]
    return [float(f"{first + (last - first) * n / (steps - 1):.12g}") for n in range(steps)]


def _find(name: str, reader: Reader) -> Find:
    maximum = reader.get("maximum", str, None)
    find = Find(
        name=name,
        table=reader.get("table", str),
        over=reader.get("over", str),
        metric=maximum or reader.get("metric", str),
        equals=None if maximum else expression.number(reader.get("equals", (int, float, str))),
        scale=reader.get("scale", str, "linear"),
        noise=float(reader.get("noise", (int, float), 0.0)),
        columns=reader.get("columns", dict, {}),
    )
    reader.end()
    return find


def _text_or_number(reader: Reader, key: str) -> str | None:
    value = reader.get(key, (int, float, str), None)
    return None if value is None else str(value)


def read_check(reader: Reader) -> Check:
    """Read one check of an item."""
    published = reader.get("published", str, None)
    if published is not None and ":" not in published:
        raise UsageError(f"{reader.place}: published = {published!r}", hint='write "data/FILE.csv:COLUMN"')
    slope = reader.get("slope", list, None)
    check = Check(
        claim=reader.get("claim", str),
        role=Role(_word(reader, "role", list(Role), Role.CLAIM)),
        what=reader.get("what", str),
        table=reader.get("table", str, None),
        value=_text_or_number(reader, "value"),
        where=reader.get("where", str, None),
        published=tuple(published.rsplit(":", 1)) if published else None,
        expected=_text_or_number(reader, "expected"),
        tolerance=_text_or_number(reader, "tolerance"),
        relative=_text_or_number(reader, "relative"),
        factor=_text_or_number(reader, "factor"),
        minimum=_text_or_number(reader, "min"),
        maximum=_text_or_number(reader, "max"),
        increasing_in=reader.get("increasing_in", str, None),
        decreasing_in=reader.get("decreasing_in", str, None),
        rank_correlation_with=reader.get("rank_correlation_with", str, None),
        all_zero=reader.get("all_zero", str, ""),
        slack=float(reader.get("slack", (int, float), 0.0)),
        crossings=reader.get("crossings", int, None),
        fit_x=reader.get("fit_x", str, None),
        slope=(float(slope[0]), float(slope[1])) if slope else None,
        r2_min=reader.get("r2_min", (int, float), None),
        together=reader.get("together", bool, False),
        reason=reader.get("reason", str, ""),
    )
    reader.end()
    return check


def _figure(reader: Reader) -> FigureSpec:
    figure = FigureSpec(
        name=reader.get("name", str),
        title=reader.get("title", str, ""),
        columns=reader.get("columns", int, 1),
        height=float(reader.get("height", (int, float), 2.2)),
        chosen_only=reader.get("chosen_only", bool, False),
        panels=[_panel(panel) for panel in reader.tables("panels")],
    )
    reader.end()
    return figure


def _pair(reader: Reader, key: str) -> tuple[float, float] | None:
    value = reader.get(key, list, None)
    return (float(value[0]), float(value[1])) if value else None


# What panels of recorded traces show if nothing else is asked for: y, and the labels of the axes.
_traces = {
    "windows": ("cwnd_packets", "Time [s]", "cwnd [packets]"),
    "queue": ("packets", "Time [s]", "Queue [packets]"),
    "sequence": ("cwnd_packets", "", ""),
    "pdf": ("cwnd_packets", "Queue [packets]", "Part of the time [%]"),
    "grid": ("cwnd_packets", "", ""),
}
_kinds = ("lines", "points", "bars", "heatmap", *_traces)


def _panel(reader: Reader) -> Panel:
    overlays = []
    for table in reader.tables("published"):
        overlays.append(
            Overlay(
                data=table.get("data", str),
                x=table.get("x", str),
                y=str(table.get("y", (str, int, float))),
                series=table.get("series", str, None),
                label=table.get("label", str, "published"),
            )
        )
        table.end()
    curves = []
    for table in reader.tables("curves"):
        curves.append(
            Curve(expr=table.get("expr", str), label=table.get("label", str), range=_pair(table, "range") or (0.0, 1.0))
        )
        table.end()
    kind = reader.get("kind", str, "lines")
    if kind not in _kinds:
        raise UsageError(f"{reader.place}: there is no kind `{kind}`", hint=nearest(kind, list(_kinds)))
    traces = kind in _traces
    y, *labels = _traces.get(kind, ("", "", ""))
    panel = Panel(
        kind=kind,
        table=reader.get("table", str, None) if traces else reader.get("table", str),
        x=reader.get("x", str, "time_s") if traces else reader.get("x", str),
        y=reader.get("y", str, y) if traces else reader.get("y", str),
        z=reader.get("z", str) if kind == "heatmap" else None,
        series=reader.get("series", str, None),
        series_label=reader.get("series_label", str, ""),
        where=reader.get("where", str, None),
        title=reader.get("title", str, ""),
        x_label=reader.get("x_label", str, labels[0]),
        y_label=reader.get("y_label", str, labels[1]),
        z_label=reader.get("z_label", str, ""),
        x_scale=reader.get("x_scale", str, "linear"),
        y_scale=reader.get("y_scale", str, "linear"),
        x_range=_pair(reader, "x_range"),
        y_range=_pair(reader, "y_range"),
        hlines=[float(value) for value in reader.get("hlines", list, [])],
        published=overlays,
        curves=curves,
        sweeps=reader.get("sweeps", list) if traces else [],
        groups=reader.get("groups", list, None) if traces else None,
        time=_pair(reader, "time") if traces else None,
        events=reader.get("events", bool, False) if traces else False,
        heat=_heat(reader) if kind == "heatmap" else Heat("linear", None, None, False, None),
        cells=_cells(reader) if kind in ("pdf", "grid") else Cells("queue", [], 1, 0.0, "all"),
    )
    reader.end()
    return panel


def _heat(reader: Reader) -> Heat:
    centre = reader.get("z_centre", (int, float), None)
    return Heat(
        scale=reader.get("z_scale", str, "linear"),
        range=_pair(reader, "z_range"),
        centre=None if centre is None else float(centre),
        even=reader.get("even", bool, False),
        annotate=reader.get("annotate", str, None),
    )


def _cells(reader: Reader) -> Cells:
    shows = reader.get("shows", str, "queue")
    if shows not in ("queue", "rates"):
        raise UsageError(f"{reader.place}: a cell cannot show `{shows}`", hint=nearest(shows, ["queue", "rates"]))
    rate_of = reader.get("rate_of", str, "all")
    if rate_of not in ("all", "ect"):
        raise UsageError(f"{reader.place}: rate_of is all or ect, not `{rate_of}`")
    return Cells(
        shows=shows,
        classes=_words(reader, "classes", ["all", "ect", "not_ect"], ["all"]),
        width=reader.get("width", int, 1),
        rate_mbps=float(reader.get("rate_mbps", (int, float), 80.0)),
        rate_of=rate_of,
    )


def _check_names(item: Item, paper: Paper) -> None:
    """Refuse references to tables and readings that do not exist, before anything runs."""
    tables = [*item.sweeps, *item.searches, *(f"{name}-trials" for name in item.searches)]
    tables += [*(find.name for find in item.finds), *(join.name for join in item.joins)]
    panels = [panel for figure in item.figures for panel in figure.panels]
    used = [find.table for find in item.finds] + [name for join in item.joins for name in (join.left, join.right)]
    used += (
        [check.table for check in item.checks if check.table]
        + [panel.table for panel in panels if panel.table]
        + item.show
    )
    for name in used:
        if name not in tables:
            raise UsageError(f"{item.name}.toml: there is no table `{name}`", hint=nearest(name, tables))
    for name in [*item.compare, *(name for panel in panels for name in panel.sweeps)]:
        if name not in item.sweeps:
            raise UsageError(f"{item.name}.toml: there is no sweep `{name}`", hint=nearest(name, list(item.sweeps)))
        if not (item.sweeps[name].keep or (item.sweeps[name].record and name not in item.compare)):
            raise UsageError(f"{item.name}.toml: traces of `{name}` are needed", hint="add keep = true to the sweep")
    for name in item.readings or []:
        if name not in [reading.name for reading in paper.readings]:
            raise UsageError(
                f"{item.name}.toml: there is no reading `{name}`", hint=nearest(name, [r.name for r in paper.readings])
            )


__all__ = [
    "Check",
    "Curve",
    "FigureSpec",
    "Find",
    "Item",
    "Join",
    "Overlay",
    "Panel",
    "Paper",
    "Reading",
    "Role",
    "Search",
    "Sweep",
    "read_check",
    "read_paper",
]
