"""``shoal sweep``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal import _native
from shoal.again import keep_source, template_command
from shoal.cli import options
from shoal.cli.axes import grid_of
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.cli.out import results_in, say_written, write_results
from shoal.errors import ScenarioError, UsageError
from shoal.expression import UndefinedError
from shoal.files import unwritable
from shoal.remarks import point_notice_lines, seeds_in_words
from shoal.results import Undefined
from shoal.running import most_seeds, too_many_runs
from shoal.scenario import Scenario
from shoal.shipped import find_scenario
from shoal.sweeps import Point, Sweep, as_text, short_names
from shoal.sweeps import sweep as run_sweep
from shoal.tabulate import Table
from shoal.template import Template

if TYPE_CHECKING:
    from shoal.stats import Estimate

_many_runs = 100_000


_Axis = Annotated[
    list[str],
    option(
        "--axis",
        "KEY=V1,V2,...",
        "A key and its values, e.g. [cyan]bottleneck.aqm.threshold='10 packets,20 packets'[/], or a "
        "range: [cyan]1:10[/] in steps of 1, [cyan]1:10:4[/] four values, [cyan]1:1000:log[/] three for each "
        "factor of 10, [cyan]1:1000:log:5[/], [cyan]'1:10 packets'[/]. Repeatable: "
        "all combinations run. A name that is not a key is a variable for --set.",
    ),
]
_Seeds = Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Runs of every point.")]
_Metric = Annotated[
    list[str] | None,
    option(
        "--metric",
        "NAME=EXPR",
        "A column, e.g. [cyan]empty='queue_empty()'[/]; [cyan]shoal list metrics[/] shows "
        "the functions. Repeatable. Default: utilisation, queue, delay, shares.",
    ),
]


def sweep(
    scenario: options.ScenarioFile,
    axis: _Axis,
    set_: options.SetComputed = None,
    sizes: options.Sizes = None,
    seeds: _Seeds = 1,
    metric: _Metric = None,
    out: options.Out = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    fresh: options.Fresh = False,
) -> None:
    """Run a scenario at every combination of some values, and print a table.

    An interrupted sweep goes on where it was: finished points are kept in the cache.

    [bold]Examples[/]

      shoal sweep step-single --axis bottleneck.aqm.threshold='5 packets,10 packets,20 packets' --seeds 3
      shoal sweep my.toml --axis flows.dctcp.count=1,2,4 --axis bottleneck.rate='10 Mbit/s,100 Mbit/s' --out results/s
      shoal sweep step-single --axis bottleneck.aqm.threshold='2:200:log packets'
      shoal sweep my.toml --axis K=10,20 --set bottleneck.aqm.min='{1500*K} B' --set bottleneck.aqm.max='{1500*(K+1)} B'
    """
    from shoal.metrics import default_metrics

    grid = grid_of(axis)
    template = options.read_template(scenario, set_, list(grid), sizes)
    metrics = _metrics(metric) if metric else default_metrics(template.scenario)
    if seeds > most_seeds:
        raise too_many_runs(seeds)
    if (runs := seeds * math.prod(len(values) for values in grid.values())) > _many_runs:
        raise UsageError(f"{runs:,} runs are too many for one sweep", hint=f"at most {_many_runs:,}; split the axes")
    with results_in(out, force=force) as folder:
        try:
            points = run_sweep(
                template.scenario,
                grid=grid,
                set=template.set,
                seeds=seeds,
                metrics=metrics.values(),
                workers=workers,
                cache=options.kept_runs(fresh=fresh),
                progress=True,
            )
        except ScenarioError as error:
            # Everything else was checked when it was read.
            raise ScenarioError(str(error).replace("--> --set:", "--> --axis:")) from None
        gaps = _Gaps()
        estimates = [
            {name: point.estimate(text, undefined=gaps.of(name, point)) for name, text in metrics.items()}
            for point in points
        ]
        text = _as_json(template.scenario, grid, metrics, points, estimates)
        if folder is not None and out is not None:
            command = template_command(
                "sweep", out, sizes, [("axis", axis), ("set", set_), ("seeds", seeds), ("metric", metric)]
            )
            keep_source(find_scenario(scenario), sizes, folder)
            table = _table(points, metrics, estimates, gaps)
            _write(folder, template, points, metrics, text, table=table, command=command)
    say_written(out)
    if as_json:
        data.json(text)
        options.say_if_nothing_is_random(template.scenario, points.named)
        _finish(gaps, metrics, estimates)
        return
    data.heading(template.scenario.title)
    data.sentence(f"{len(points)} points, {seeds_in_words([point.results for point in points])}")
    data.blank()
    data.table(_table(points, metrics, estimates, gaps))
    for line in points.warnings:
        data.blank()
        data.text(line)
    options.print_notices(point_notice_lines(points.named))
    options.say_if_nothing_is_random(template.scenario, points.named)
    _finish(gaps, metrics, estimates)


class _Gaps:
    """Metrics whose arithmetic had no value, and where."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], UndefinedError] = {}
        self._first: dict[str, tuple[Point, UndefinedError]] = {}

    def of(self, name: str, point: Point) -> Undefined:
        """What to do with an error of this metric at this point."""

        def note(error: UndefinedError) -> None:
            self.found[name, id(point)] = error
            self._first.setdefault(name, (point, error))

        return note

    def raise_if_any(self, points: int) -> None:
        """End with an error that names the first expression, and where it has no value."""
        for name, (point, error) in self._first.items():
            count = sum(other == name for other, _ in self.found)
            raise UsageError(
                f"the metric `{name}` is undefined at {count} of {points} points, first at {point.name}: "
                f"`{error.text}`: {error.reason}",
                hint="the table shows `undefined` there; the other numbers are right",
            )


def _finish(gaps: _Gaps, metrics: Mapping[str, str], estimates: Sequence[Mapping[str, Estimate | None]]) -> None:
    """Say where a cell has no number, and why."""
    undefined = {name: sum(other == name for other, _ in gaps.found) for name in metrics}
    for name in metrics:
        missing = sum(own[name] is None for own in estimates) - undefined[name]
        if missing:
            talk.note(
                f"note: `{name}` has no value at {missing} of {len(estimates)} points: the runs have no such number"
            )
    gaps.raise_if_any(len(estimates))


def _metrics(texts: Sequence[str]) -> dict[str, str]:
    from shoal.metrics import check_metric

    metrics: dict[str, str] = {}
    for text in texts:
        name, equals, expression = text.partition("=")
        # `queue_empty(link=1)` has an equals sign, but no name.
        if not equals or not re.fullmatch(r"\s*[A-Za-z_][A-Za-z0-9_]*\s*", name):
            name, expression = text, text
        name = name.strip()
        if name in metrics:
            raise UsageError(f"the metric `{name}` is there twice", hint="give each its own name: --metric NAME=EXPR")
        check_metric(expression)
        metrics[name] = expression.strip()
    return metrics


def _table(
    points: Sweep, metrics: Mapping[str, str], estimates: Sequence[Mapping[str, Estimate | None]], gaps: _Gaps
) -> Table:
    keys = list(points[0].values)
    names = short_names(keys)
    rows = [
        (
            *(as_text(point.values[key]) for key in keys),
            *("undefined" if (name, id(point)) in gaps.found else _cell(own[name]) for name in metrics),
        )
        for point, own in zip(points, estimates, strict=True)
    ]
    return Table("", (*(names[key] for key in keys), *metrics), rows, words=len(keys))


def _cell(value: Estimate | None) -> str:
    if value is None:
        return "-"
    return f"{value.mean:.4g}" + (f" ± {value.half_width:.2g}" if value.half_width else "")


def _as_json(
    scenario: Scenario,
    grid: Mapping[str, list[object]],
    metrics: Mapping[str, str],
    points: Sweep,
    estimates: Sequence[Mapping[str, Estimate | None]],
) -> str:
    content = {
        "schema": 1,
        "version": _native.__version__,
        "scenario": scenario.resolved,
        "axes": grid,
        "metrics": metrics,
        "seeds": points[0].results.seeds,
        "warnings": list(points.warnings),
        "points": [
            {
                "values": point.values,
                "metrics": {name: value and value.to_dict() for name, value in own.items()},
            }
            for point, own in zip(points, estimates, strict=True)
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _write(
    folder: Path,
    template: Template,
    points: Sweep,
    metrics: Mapping[str, str],
    text: str,
    *,
    table: Table,
    command: str,
) -> None:
    from shoal.plots import save
    from shoal.report.sweep import write_sweep_report
    from shoal.report.sweep_figure import draw

    try:
        # The command ends with an error that tells of these cells; in the files they are empty.
        means = points.means(metrics=metrics, undefined=lambda _: None)
        runs = points.to_polars(metrics=metrics, undefined=lambda _: None)
        drawn = draw(points, metrics, title="Metrics over the swept values")
        save(drawn, folder / "figures")
        write_sweep_report(folder, template, points, metrics, table=table, figure=drawn, command=command)
        write_results(folder, "sweep", text, template.scenario, {"points": means, "runs": runs})
    except OSError as error:
        raise unwritable(error.filename or folder, error) from error
