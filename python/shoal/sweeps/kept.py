"""Sweeps of which every result is kept, as a notebook wants them: a grid of overrides times seeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from shoal._arguments import explained, shown
from shoal._toml import as_text
from shoal.errors import UsageError
from shoal.expression import UndefinedError
from shoal.frames import interval_columns, to_pandas, value_columns
from shoal.results import Result, Results, Undefined
from shoal.runs import host_bursts
from shoal.runs.cases import Case, run_cases
from shoal.scenario import Scenario
from shoal.seeds import seed_list
from shoal.stats import Estimate
from shoal.template import Template
from shoal.words import count_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure


@explained
@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep.

    Attributes
    ----------
    values
        What was swept: dotted keys, or variables, and their values.
    results
        One run a seed.
    """

    values: dict[str, object]
    results: Results

    @property
    def name(self) -> str:
        """What sentences call it: the swept keys and their values."""
        return ", ".join(f"{key} = {as_text(value)}" for key, value in self.values.items())

    def estimate(self, expression: str, *, undefined: Undefined | None = None) -> Estimate | None:
        """Mean of a metric over the seeds; ``None`` if one of them has no such number.

        Parameters
        ----------
        expression
            An expression over the functions that ``shoal list metrics`` shows.
        undefined
            Called with the error where the arithmetic has no value, such as a division by zero; ``None`` is given then.

        Raises
        ------
        UndefinedError
            The arithmetic has no value, and ``undefined`` is not given.
        """
        return self.results.metric(expression, undefined=undefined)

    def __repr__(self) -> str:
        return f"<shoal.Point {self.name}: {count_of(len(self.results), 'seed')}>"


@explained
class Sweep(Sequence[Point]):
    """Points in the order of the grid: the last key changes fastest."""

    def __init__(self, points: Sequence[Point], *, warnings: Sequence[str] = ()) -> None:
        self._points = tuple(points)
        #: What the simulator leaves out and the comparison of the points depends on; to be read with it.
        self.warnings = tuple(warnings)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Sweep: ...
    def __getitem__(self, index: int | slice) -> Point | Sweep:
        return Sweep(self._points[index], warnings=self.warnings) if isinstance(index, slice) else self._points[index]

    def __len__(self) -> int:
        return len(self._points)

    @property
    def named(self) -> list[tuple[str, Results]]:
        """The runs of every point, each with what sentences call it."""
        return [(point.name, point.results) for point in self]

    def to_polars(
        self, *, metrics: Mapping[str, str] | None = None, undefined: Undefined | None = None
    ) -> pl.DataFrame:
        """Give one row a point and seed: the point's values, ``seed``, and numbers.

        Parameters
        ----------
        metrics
            Names and expressions such as ``queue_empty()``; every number of :attr:`Result.summary` if not given.
        undefined
            As for :meth:`Point.estimate`.
        """
        import polars as pl

        columns = value_columns((point.values for point in self), (len(point.results) for point in self))
        runs = [result for point in self for result in point.results]
        numbers = pl.DataFrame([_numbers(result, metrics, undefined) for result in runs], infer_schema_length=None)
        seeds = pl.Series("seed", [result.seed for result in runs])
        return pl.DataFrame({**columns, "seed": seeds, **numbers.to_dict()}, strict=False)

    def to_pandas(
        self, *, metrics: Mapping[str, str] | None = None, undefined: Undefined | None = None
    ) -> pd.DataFrame:
        """Give :meth:`to_polars` as a pandas frame; needs the extra ``pandas``."""
        return to_pandas(self.to_polars(metrics=metrics, undefined=undefined))

    def means(self, *, metrics: Mapping[str, str] | None = None, undefined: Undefined | None = None) -> pl.DataFrame:
        """Give one row a point: its values, and mean and half-width of the 95 % confidence interval (``NAME_ci95``).

        Parameters
        ----------
        metrics
            Names and expressions; those of ``shoal sweep`` if not given (:func:`shoal.default_metrics`).
        undefined
            As for :meth:`Point.estimate`.
        """
        import polars as pl

        metrics = self._metrics() if metrics is None else metrics
        cells = {name: [point.estimate(text, undefined=undefined) for point in self] for name, text in metrics.items()}
        columns = value_columns(point.values for point in self)
        return pl.DataFrame({**columns, **interval_columns(cells)}, strict=False)

    def plot_map(self, metric: str, *, x: str | None = None, y: str | None = None, panels: str | None = None) -> Figure:
        """Draw a metric as colours over two swept keys; with a third one, a panel for each of its values.

        Parameters
        ----------
        metric
            An expression over the functions that ``shoal list metrics`` shows; its mean over the seeds is drawn, in the
            unit that its name ends with. Cells are empty where it has no value.
        x, y, panels
            The keys of the axes, and that of the panels, which share their colours; those with the most values are the
            axes if not given.

        Raises
        ------
        UsageError
            Fewer than two keys vary, more than three do, or one has no such name.
        """
        from shoal.plots.maps import draw_map

        if not len(self):
            raise UsageError("this sweep has no points", hint="`shoal.sweep` with a grid makes some")
        labels = short_names(list(self[0].values))
        return draw_map(self._cells(metric), metric, labels, x=x, y=y, panels=panels).figure

    def _cells(self, metric: str) -> list[tuple[Mapping[str, object], Estimate | None]]:
        return [(point.values, point.estimate(metric, undefined=lambda _: None)) for point in self]

    def _metrics(self) -> dict[str, str]:
        from shoal.metrics import default_metrics

        return default_metrics(self[0].results[0].scenario) if len(self) else {}

    def __repr__(self) -> str:
        if not len(self):
            return "<shoal.Sweep of no points>"
        keys = ", ".join(self[0].values) or "no key"
        each = count_of(len(self[0].results), "seed")
        return f"<shoal.Sweep of {count_of(len(self), 'point')}, {each} each, over {keys}>"

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.metrics import quantity

        if not len(self):
            return notebook.heading("A sweep of no points")
        metrics, names = self._metrics(), short_names(list(self[0].values))
        rows = [
            (
                *(as_text(value) for value in point.values.values()),
                *(quantity(name, point.estimate(text, undefined=lambda _: None)) for name, text in metrics.items()),
            )
            for point in self
        ]
        count = len(self[0].results)
        seeds = "1 seed" if count == 1 else f"{count} seeds, mean ± 95 % confidence interval"
        return (
            notebook.heading(self[0].results[0].data["scenario"]["title"], count_of(len(self), "point"), seeds)
            + notebook.table(rows, heads=(*names.values(), *metrics), words=len(names))
            + self._picture(metrics)
        )

    def _picture(self, metrics: Mapping[str, str]) -> str:
        """A map of the first metric over two or three axes, or the first two over one."""
        from shoal.pictures import picture
        from shoal.plots.maps import draw_lines, draw_map, varied

        labels, count = short_names(list(self[0].values)), varied([point.values for point in self])
        shown = dict(list(metrics.items())[: 2 if count == 1 else 1])
        if not shown or not 1 <= count <= 3:
            return ""
        if count == 1:
            return picture(draw_lines({name: self._cells(text) for name, text in shown.items()}, labels))
        ((name, text),) = shown.items()
        try:
            return picture(draw_map(self._cells(text), name, labels))
        except UsageError:  # there are too many panels for a picture
            return ""


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """For each dotted key as many of its last words as tell it from the others."""
    names = {}
    for key in keys:
        words = key.split(".")
        for count in range(1, len(words) + 1):
            name = ".".join(words[-count:])
            if sum(other == name or other.endswith(f".{name}") for other in keys) == 1:
                break
        names[key] = name
    return names


def _numbers(
    result: Result, metrics: Mapping[str, str] | None, undefined: Undefined | None
) -> Mapping[str, float | None]:
    if metrics is None:
        return result.summary
    from shoal.metrics import metric

    numbers: dict[str, float | None] = {}
    for name, text in metrics.items():
        try:
            value = metric(result, text)
        except UndefinedError as error:
            if undefined is None:
                raise
            undefined(error)
            value = math.nan
        numbers[name] = None if math.isnan(value) else value
    return numbers


@explained
def sweep(
    scenario: Scenario | str | Path,
    *,
    grid: Mapping[str, Iterable[object]],
    set: Mapping[str, object] | None = None,
    seeds: int | Iterable[int] = 1,
    metrics: Iterable[str] | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Sweep:
    """Run a scenario at every point of a grid.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file, or the name of a ready-made one.
    grid
        For each dotted key its values, e.g. ``{"bottleneck.aqm.threshold": ["10 packets", "20 packets"]}``. A name
        that is not a key is a variable.
    set
        Dotted keys and values; ``{expressions}`` in them are computed from the variables, as in
        ``{"bottleneck.aqm.min": "{1500 * k} B"}``.
    seeds
        The seeds of every point, or how many, counted from the scenario's.
    metrics
        Expressions that the runs will be asked for: they record what these need, and no time series if none needs it.
        If not given, the scenario alone says what is recorded.
    workers
        Threads; all cores if not given. Results do not depend on it.
    cache
        Folder of finished points: an interrupted sweep goes on where it was, a changed one runs only what is new.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "20 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms" }]
    ... ''')
    >>> points = shoal.sweep(scenario, grid={"bottleneck.aqm.threshold": ["5 packets", "40 packets"]})
    >>> low, high = (point.results[0].summary["queue_packets"] for point in points)
    >>> low < high
    True
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    axes = {key: refuse_bad_axis(key, values) for key, values in grid.items()}
    combinations = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    template = Template(scenario, tuple(grid), set or {})
    # All points are checked before the first runs.
    scenarios = [template.at(values) for values in combinations]
    if metrics is not None:
        scenarios = [_recording(point, list(metrics)) for point in scenarios]
    wanted = tuple(metrics or ())
    cases = [Case(point, seed_list(point, seeds), wanted) for point in scenarios]
    results = run_cases(cases, workers=workers, cache=cache, progress=progress)
    points = [Point(values, runs) for values, runs in zip(combinations, results, strict=True)]
    bursts = host_bursts.warning(scenarios) if host_bursts.sets_a_threshold(template.varied) else None
    return Sweep(points, warnings=[bursts] if bursts else ())


def _recording(scenario: Scenario, metrics: Sequence[str]) -> Scenario:
    from shoal.metrics import recording

    keys = recording(scenario, metrics, lean=True)
    return scenario.override(keys) if keys else scenario


def refuse_bad_axis(key: str, values: Iterable[object], *, example: str | None = None) -> list[object]:
    """The values of a key; a text has letters, and a mapping keys, which nobody means.

    Raises
    ------
    UsageError
        They are no list, or an empty one.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(
            f"the values of `{key}` are no list, but {shown(values)}",
            hint=f'write a list, as in grid={{"{key}": [{shown(values)}]}}',
        )
    entries = list(values)
    if not entries:
        raise UsageError(f"`{key}` has no values", hint=f"as in {example}" if example else "give at least one")
    return entries
