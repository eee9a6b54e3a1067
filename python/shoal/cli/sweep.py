"""``shoal sweep``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from shoal import _native
from shoal.again import keep_source, template_command
from shoal.cli import options
from shoal.cli.axes import grid_of
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.cli.out import results_in, say_written, write_results
from shoal.errors import UsageError
from shoal.expression import UndefinedError
from shoal.files import writing
from shoal.remarks import point_notice_lines, seeds_in_words
from shoal.running import most_seeds, too_many_runs
from shoal.scenario import Scenario
from shoal.shipped import find_scenario
from shoal.stats import Estimate
from shoal.sweeps import Point, Sweep, as_text, short_names
from shoal.sweeps import sweep as run_sweep
from shoal.tabulate import Table
from shoal.template import Template
from shoal.words import significant

_many_runs = 100_000
# A number, nothing where a run has no such number, or why its arithmetic has no value.
_Cell = Estimate | UndefinedError | None

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
    _refuse_too_many(seeds, grid)
    with results_in(out, force=force) as folder:
        with options.values_of("--axis"):
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
        cells = [{name: _cell(point, text) for name, text in metrics.items()} for point in points]
        text = _as_json(template.scenario, grid, metrics, points, cells)
        if folder is not None and out is not None:
            command = template_command(
                "sweep", out, sizes, [("axis", axis), ("set", set_), ("seeds", seeds), ("metric", metric)]
            )
            keep_source(find_scenario(scenario), sizes, folder)
            _write(folder, template, points, metrics, text, table=_table(points, cells), command=command)
    say_written(out)
    if as_json:
        data.json(text)
    else:
        _show(template.scenario, points, _table(points, cells))
    options.say_if_nothing_is_random(template.scenario, points.named)
    _finish(points, metrics, cells)


def _refuse_too_many(seeds: int, grid: Mapping[str, Sequence[object]]) -> None:
    if seeds > most_seeds:
        raise too_many_runs(seeds)
    if (runs := seeds * math.prod(len(values) for values in grid.values())) > _many_runs:
        raise UsageError(f"{runs:,} runs are too many for one sweep", hint=f"at most {_many_runs:,}; split the axes")


def _cell(point: Point, expression: str) -> _Cell:
    """Mean of a metric, ``None`` if a run has no such number, or the error of arithmetic that has no value."""
    try:
        return point.estimate(expression)
    except UndefinedError as error:
        return error


def _show(scenario: Scenario, points: Sweep, table: Table) -> None:
    data.heading(scenario.title)
    data.sentence(f"{len(points)} points, {seeds_in_words([point.results for point in points])}")
    data.blank()
    data.table(table)
    for line in points.warnings:
        data.blank()
        data.text(line)
    options.print_notices(point_notice_lines(points.named))


def _finish(points: Sweep, metrics: Iterable[str], cells: Sequence[Mapping[str, _Cell]]) -> None:
    """Say where a cell has no number, and end with an error if that is because arithmetic has no value."""
    failed: dict[str, list[tuple[Point, UndefinedError]]] = {name: [] for name in metrics}
    for point, own in zip(points, cells, strict=True):
        for name, value in own.items():
            if isinstance(value, UndefinedError):
                failed[name].append((point, value))
    for name in metrics:
        if missing := sum(own[name] is None for own in cells):
            talk.note(f"note: `{name}` has no value at {missing} of {len(cells)} points: the runs have no such number")
    for name, places in failed.items():
        for point, error in places[:1]:
            raise UsageError(
                f"the metric `{name}` is undefined at {len(places)} of {len(cells)} points, first at {point.name}: "
                f"`{error.text}`: {error.reason}",
                hint="the table shows `undefined` there; the other numbers are right",
            )


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


def _table(points: Sweep, cells: Sequence[Mapping[str, _Cell]]) -> Table:
    names = short_names(list(points[0].values))
    rows = [
        (*map(as_text, point.values.values()), *map(_written, own.values()))
        for point, own in zip(points, cells, strict=True)
    ]
    return Table("", (*names.values(), *cells[0]), rows, words=len(names))


def _written(value: _Cell) -> str:
    if isinstance(value, UndefinedError):
        return "undefined"
    return "-" if value is None else significant(value)


def _as_json(
    scenario: Scenario,
    grid: Mapping[str, list[object]],
    metrics: Mapping[str, str],
    points: Sweep,
    cells: Sequence[Mapping[str, _Cell]],
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
                "metrics": {
                    name: value.to_dict() if isinstance(value, Estimate) else None for name, value in own.items()
                },
            }
            for point, own in zip(points, cells, strict=True)
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
    from shoal.report.sweep import write_sweep_report

    # The command ends with an error that tells of cells whose arithmetic has no value; in the files they are empty.
    means = points.means(metrics=metrics, undefined=lambda _: None)
    runs = points.to_polars(metrics=metrics, undefined=lambda _: None)
    with writing(folder):
        write_sweep_report(folder, template, points, metrics, table=table, command=command)
        write_results(folder, "sweep", text, template.scenario, {"points": means, "runs": runs})
