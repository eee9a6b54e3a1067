"""``shoal sweep SWEEP.toml``: a sweep as a file. One table says what its keys are; the reference is made of it."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from shoal._toml import read_toml, toml_value
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.runs.design import Design, Factor, axis, pairs
from shoal.runs.plan import Plan
from shoal.runs.plane import kernel_here
from shoal.runs.until import Until, least_seeds
from shoal.scenario import Scenario, read_text
from shoal.seeds import refuse_repeated_seeds
from shoal.shipped import find_scenario
from shoal.sizes import scenario_with_sizes
from shoal.sweeps.kept import refuse_bad_axis
from shoal.sweeps.sampling import axis_of, method, sample
from shoal.sweeps.values import Interval, listed, refuse_repeated
from shoal.template import template_of


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the file: what kind of value it has, as errors say it, and what it means."""

    name: str
    kind: str
    meaning: str


_text, _whole, _table = "text", "a whole number", "a table"

#: Keys of the file.
keys = [
    Key("scenario", _text, "A scenario file, beside this file, or the name of a ready-made one. Required."),
    Key("title", _text, "What it shows, above its tables and its report. The scenario's title if not given."),
    Key(
        "on",
        _text,
        "`sim`, the simulator, or `linux`: the real kernel (docs/linux.md), which has to be built. `sim` if not given.",
    ),
    Key(
        "seeds",
        "a whole number or a list of them",
        "Replications of every point: how many, counted from the scenario's seed, or which. All points have the same: "
        "what they draw at random is common to them (common random numbers), so that they differ in nothing else. "
        "1 if not given, or 3 with `until`.",
    ),
    Key(
        "until",
        _text,
        "More seeds until a 95 % confidence interval is narrow enough: `ci(METRIC) < WIDTH` with the half-width in the "
        "metric's unit, or `ci(METRIC) < 2%` of the mean; several are joined by `and`. METRIC is an expression or the "
        "name of a column. Decided for each point by itself, on its seeds in their order.",
    ),
    Key("max-seeds", _whole, "How many replications `until` may lead to; 100 if not given."),
    Key(
        "sizes",
        _table,
        "Distributions of transfer sizes: a name and a CSV file beside this file for each.",
    ),
    Key(
        "set",
        _table,
        "Values that replace those of the scenario at every point. An expression in braces is computed from a "
        'variable: `"bottleneck.aqm.min" = "{1500*K} B"`.',
    ),
    Key(
        "axes",
        _table,
        "For each key its values, of which all combinations run; the last axis changes fastest. A list, or a text as "
        'for `--axis`: `"1:10"` in steps of 1, `"1:10:4"` four values, `"1:1000:log"` three for each factor of 10, '
        '`"1:1000:log:5"`, `"1:10 packets"`. A name that is no key of a scenario is a variable for `set`.',
    ),
    Key(
        "pairs",
        "a table, or several: [[pairs]]",
        "Axes that go together: the first values of all keys make a point, the second ones the next, and so on. "
        "Combined with every other axis, and with the other tables of pairs.",
    ),
    Key("sample", _table, "Points that are drawn instead of laid on a grid; combined with every other axis."),
    Key(
        "metrics",
        _table,
        "Columns: for each name an expression over the metrics that `shoal list metrics` shows. Utilisation, queue, "
        "delay and shares if not given.",
    ),
]

#: Keys of ``[sample]``.
sample_keys = [
    Key(
        "method",
        _text,
        "`sobol`: Sobol's sequence, which fills the space evenly (best with 2, 4, 8, ... points; needs the extra "
        "`sampling`), or `random`.",
    ),
    Key("points", _whole, "How many. Required."),
    Key("seed", _whole, "Seed of the sample, which has nothing to do with the seeds of runs; 1 if not given."),
    Key(
        "axes",
        _table,
        'For each key a range to draw from, `"1:100 packets"`, in equal ratios `"1:1000:log"`, or of whole numbers '
        '`"1:64:whole"`, `"1:64:log:whole"`; or a list of values, which are equally likely. Required.',
    ),
]


@dataclass(frozen=True)
class SweepFile:
    """A sweep file that was read.

    Attributes
    ----------
    plan
        What to run.
    scenario
        The file of the scenario.
    sizes
        Files of distributions of transfer sizes, by name.
    notes
        How these files were understood.
    """

    plan: Plan
    scenario: Path
    sizes: Mapping[str, Path]
    notes: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What replaces parts of a sweep file for one command.

    Attributes
    ----------
    axes
        Values of axes, which replace those of the file, and further axes.
    set
        Keys and values, written as on the command line, that are the same at every point.
    metrics
        Columns instead of those of the file; those of the file if empty.
    seeds, until, max_seeds, on
        Replace the keys of the file; ``None`` leaves them.
    """

    axes: Mapping[str, list[object]] = field(default_factory=dict)
    set: Sequence[tuple[str, str]] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    seeds: int | None = None
    until: str | None = None
    max_seeds: int | None = None
    on: str | None = None

    def applied_to(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The content of a file with the changes; those of ``set`` come later, as they are written differently.

        Raises
        ------
        UsageError
            A key that is to be changed is paired or drawn in the file, or is one of its axes and has one value now.
        """
        axes = _flat(_of(content, "axes", dict, _table) or {})
        groups = content.get("pairs", [])
        together = [group for group in (groups if isinstance(groups, list) else [groups]) if isinstance(group, dict)]
        sampled = content.get("sample")
        drawn = sampled.get("axes") if isinstance(sampled, dict) else None
        fixed = {key for table in [*together, drawn] if isinstance(table, dict) for key in _flat(table)}
        for key in [*self.axes, *(key for key, _ in self.set)]:
            if key in fixed:
                raise UsageError(f"`{key}` is paired or drawn in the file", hint="change a copy of the file")
        for key, value in self.set:
            if (covering := next((name for name in {**axes, **self.axes} if _covers(name, key)), None)) is not None:
                raise UsageError(
                    f"`{key}` has the values of the axis `{covering}`, which --set does not change",
                    hint=f"--axis {covering}={shlex.quote(value) if covering == key else '...'}",
                )
        named = {"seeds": self.seeds, "until": self.until, "max-seeds": self.max_seeds, "on": self.on}
        return {
            **content,
            **({"axes": {**axes, **self.axes}} if self.axes else {}),
            **({"metrics": dict(self.metrics)} if self.metrics else {}),
            **{key: value for key, value in named.items() if value is not None},
        }


def _covers(name: str, key: str) -> bool:
    """Whether an axis writes a key, too: by a pattern such as `flows.*.rtt`, or as the table above it."""
    return fnmatchcase(key, name) or key.startswith(f"{name}.")


def read_sweep(path: Path, changes: Changes | None = None) -> SweepFile:
    """Read a sweep file.

    Parameters
    ----------
    path
        The file.
    changes
        What replaces parts of it.

    Raises
    ------
    OutputError
        It, or a file that it names, cannot be read.
    UsageError
        A key is unknown, missing, or has a value of another kind; the message names it.
    ScenarioError
        The scenario is refused.
    """
    try:
        content = read_toml(read_text(path), path)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}", hint="docs/reference/sweep.md shows a complete file") from None
    try:
        return _read(content, path.parent, changes)
    except UsageError as error:
        # Inside an expression the place is that of the expression.
        raise UsageError(f"{path}: {error}", hint=error.hint) from None


def _read(content: Mapping[str, Any], folder: Path, changes: Changes | None = None) -> SweepFile:
    _refuse_unknown(content, keys, "")
    changes = changes or Changes()
    content = changes.applied_to(content)
    source = _of(content, "scenario", str, _text)
    if source is None:
        raise UsageError("`scenario` is missing", hint='as in scenario = "coexistence"')
    beside = folder / source
    scenario_file = beside if beside.exists() else find_scenario(source)
    sizes = {name: folder / str(file) for name, file in (_of(content, "sizes", dict, _table) or {}).items()}
    scenario, notes = scenario_with_sizes(scenario_file, sizes)
    if (title := _of(content, "title", str, _text)) is not None:
        scenario = scenario.override({"title": title})
    design = Design(tuple(_factors(content)))
    settings = {key: toml_value(value) for key, value in _flat(_of(content, "set", dict, _table) or {}).items()}
    for key, text in changes.set:
        # A later setting counts, in its own place: a queue comes before the keys below it.
        settings.pop(key, None)
        settings[key] = text
    template = template_of(scenario, list(settings.items()), design.keys)
    metrics = _metrics(_of(content, "metrics", dict, _table) or {}, template.scenario)
    until_text = _of(content, "until", str, _text)
    until = Until.parse(until_text, metrics) if until_text is not None else None
    seeds = _seeds(content.get("seeds", least_seeds if until else 1))
    most = _of(content, "max-seeds", int, _whole)
    if most is not None and until is None:
        raise UsageError("`max-seeds` bounds what `until` asks for, and there is none", hint="leave it out")
    on = _of(content, "on", str, _text) or "sim"
    if on not in ("sim", "linux"):
        raise UsageError(f"`on` is {on!r}", hint="`sim` or `linux`")
    kernel = kernel_here().identity if on == "linux" else ""
    plan = Plan(template, design, metrics, seeds, until, **({} if most is None else {"max_seeds": most}), kernel=kernel)
    return SweepFile(plan, scenario_file, sizes, notes)


def _factors(content: Mapping[str, Any]) -> list[Factor]:
    factors = []
    for key, values in _flat(_of(content, "axes", dict, _table) or {}).items():
        column = _column(key, values, "axes")
        refuse_repeated(column, f"the axis `{key}`")
        factors.append(axis(key, column))
    groups = content.get("pairs", [])
    for group in groups if isinstance(groups, list) else [groups]:
        if not isinstance(group, dict):
            raise UsageError("`pairs` is not a table", hint="begin it with [[pairs]]")
        factors.append(pairs({key: _column(key, values, "pairs") for key, values in _flat(group).items()}))
    sample_table = _of(content, "sample", dict, _table)
    if sample_table is not None:
        _refuse_unknown(sample_table, sample_keys, "sample.")
        points = _of(sample_table, "points", int, _whole)
        if points is None:
            raise UsageError("`sample.points` is missing", hint="as in points = 256")
        seed = _of(sample_table, "seed", int, _whole)
        axes = {
            key: _sampled(key, values) for key, values in _flat(_of(sample_table, "axes", dict, _table) or {}).items()
        }
        how = method(_of(sample_table, "method", str, _text) or "sobol")
        factors.append(sample(how, points, 1 if seed is None else seed, axes))
    return factors


def _column(key: str, values: object, table: str) -> list[object]:
    if isinstance(values, str):
        return listed(values, f"`{table}.{key}`", f'"{key}" ')
    return refuse_bad_axis(key, values if isinstance(values, list) else [values], example=f'"{key}" = [10, 20]')


def _sampled(key: str, values: object) -> Interval | list[object]:
    if isinstance(values, str):
        return axis_of(values, f"`sample.axes.{key}`", f'"{key}" ')
    return _column(key, values, "sample.axes")


def _flat(table: Mapping[str, Any]) -> dict[str, object]:
    """Keys and values of a table; `bottleneck.rate = ...` without quotes, which TOML reads as a table, as one key."""
    values: dict[str, object] = {}
    for key, value in table.items():
        # Nobody sweeps over a whole `bottleneck` or all `flows`: a table there is what is below the dot.
        if isinstance(value, dict) and key in _sections:
            values.update(_below(key, value))
        else:
            values[key] = value
    return values


_sections = ("bottleneck", "flows", "trace", "reverse", "topology")


def _below(prefix: str, table: Mapping[str, Any]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in table.items():
        # A queue means the keys below it as well; other tables are values, such as { uniform = [...] }.
        deeper = isinstance(value, dict) and (key.endswith("aqm") or prefix == "flows" or prefix.endswith("aqm"))
        values.update(_below(f"{prefix}.{key}", value) if deeper else {f"{prefix}.{key}": value})
    return values


def _metrics(table: Mapping[str, Any], scenario: Scenario) -> dict[str, str]:
    from shoal.metrics import default_metrics

    for name, text in table.items():
        if not isinstance(text, str):
            raise UsageError(
                f"`metrics.{name}` is {text!r}, expected an expression", hint='as in empty = "queue_empty()"'
            )
    return dict(table) or default_metrics(scenario)


def _seeds(value: object) -> int | tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(seed, int) and not isinstance(seed, bool) for seed in value)
    ):
        refuse_repeated_seeds(value)
        return tuple(value)
    raise UsageError(f"`seeds` is {value!r}, expected how many or a list of seeds", hint="as in seeds = 5")


def _of(table: Mapping[str, Any], name: str, kind: type, words: str) -> Any:
    """The value of a key, ``None`` if it is not there."""
    value = table.get(name)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise UsageError(
            f"`{name}` is {value!r}, expected {words}", hint="docs/reference/sweep.md shows a complete file"
        )
    return value


def _refuse_unknown(table: Mapping[str, Any], known: list[Key], prefix: str) -> None:
    names = [key.name for key in known]
    for name in table:
        if name not in names:
            raise UsageError(f"unknown key `{prefix}{name}`", hint=nearest(name, names))
