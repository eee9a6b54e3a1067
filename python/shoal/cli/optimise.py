"""``shoal tune`` with goals: what it says and writes of a search over free parameters."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from typer.exceptions import Exit

from shoal import _native
from shoal.again import keep_source, template_command
from shoal.cli import options
from shoal.cli.console import data
from shoal.cli.out import keep_again, results_in, say_written, write_results
from shoal.errors import UsageError
from shoal.files import writing
from shoal.remarks import Remarks
from shoal.scenario import Scenario
from shoal.search import FreeParameter, Measurement, Optimised, read_goals
from shoal.search import optimise as run_optimise
from shoal.shipped import find_scenario
from shoal.template import Template


@dataclass(frozen=True)
class Wanted:
    """The options of a search with goals, as they were given."""

    free: Sequence[str]
    minimise: Sequence[str]
    maximise: Sequence[str]
    such_that: str | None
    set: Sequence[str] | None
    sizes: Sequence[str] | None
    runs: int
    seeds: int


def optimise(
    scenario: Path,
    wanted: Wanted,
    *,
    out: Path | None,
    figure_width: float | None,
    force: bool,
    as_json: bool,
    workers: int | None,
    fresh: bool,
) -> None:
    """Search, show what was found and write it."""
    free = _free(wanted.free)
    read_goals(wanted.minimise, wanted.maximise)
    settings = {text.partition("=")[0].strip() for text in wanted.set or ()}
    if (both := next((key for key in free if key in settings), None)) is not None:
        raise UsageError(f"`{both}` is free, and is set as well", hint="leave one of them out")
    template = options.read_template(scenario, wanted.set, list(free), wanted.sizes)
    with results_in(out, force=force, figure_width=figure_width) as folder:
        with options.values_of("--free"):
            optimised = run_optimise(
                template.scenario,
                free=free,
                minimise=wanted.minimise,
                maximise=wanted.maximise,
                such_that=wanted.such_that,
                set=template.set,
                runs=wanted.runs,
                seeds=wanted.seeds,
                lean=True,
                workers=workers,
                cache=options.kept_runs(fresh=fresh),
                progress=True,
            )
        text = _as_json(template.scenario, optimised)
        if folder is not None and out is not None:
            given: list[tuple[str, object]] = [
                ("free", wanted.free),
                ("minimise", wanted.minimise),
                ("maximise", wanted.maximise),
            ]
            more = [
                ("such-that", wanted.such_that),
                ("set", wanted.set),
                ("runs", wanted.runs),
                ("seeds", wanted.seeds),
            ]
            again = template_command("tune", wanted.sizes, [*given, *more])
            keep_source(find_scenario(scenario), wanted.sizes, folder)
            _write(folder, template, optimised, text, command=again.shown(out))
            keep_again(again, folder)
    say_written(out)
    if as_json:
        data.json(text)
    else:
        _show(template.scenario, optimised)
    options.say_if_nothing_is_random(template.scenario, Remarks.of_points(optimised.named))
    if optimised.chosen is None:
        raise Exit(5)


def _free(texts: Sequence[str]) -> dict[str, FreeParameter]:
    """Read each ``KEY=RANGE``."""
    free: dict[str, FreeParameter] = {}
    for text in texts:
        key, equals, range_ = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(
                f"`--free {text}` is not KEY=LOW:HIGH", hint="as in --free bottleneck.aqm.dctcp.min='0.1:0.9 BDP'"
            )
        if key in free:
            raise UsageError(f"`{key}` is free twice", hint="give one range")
        free[key] = FreeParameter.parse(key, range_)
    return free


def _show(scenario: Scenario, optimised: Optimised) -> None:
    data.heading(scenario.title)
    for table in optimised.tables():
        data.table(table)
        data.blank()
    data.sentence(optimised.verdict)
    for line in optimised.remarks:
        data.sentence(line)
    options.print_notices(Remarks.of_runs(optimised.results or ()).notices)


def _as_json(scenario: Scenario, optimised: Optimised) -> str:
    chosen = optimised.chosen
    content = {
        "schema": 1,
        "version": _native.__version__,
        "scenario": scenario.resolved,
        "free": [
            {
                "key": parameter.key,
                "low": parameter.low,
                "high": parameter.high,
                "unit": parameter.unit,
                "log": parameter.is_log,
                "whole": parameter.is_whole,
            }
            for parameter in optimised.parameters
        ],
        "goals": [{"direction": goal.direction.value, "expression": goal.expression} for goal in optimised.goals],
        "such_that": None if optimised.condition is None else optimised.condition.text,
        "schedule": {
            "runs": optimised.schedule.runs,
            "runs_used": optimised.runs,
            "seeds_first": optimised.schedule.seeds,
            "seeds_of_the_best": 2 * optimised.schedule.seeds,
            "seeds_fresh": list(optimised.finalists[0].confirmed.seeds),
        },
        "verdict": optimised.verdict,
        "remarks": optimised.remarks,
        "warnings": list(optimised.warnings),
        "optimum": None
        if chosen is None
        else {
            "candidate": chosen.number,
            "values": optimised.values,
            "settings": optimised.settings,
            "searched": _numbers(chosen.searched),
            "fresh": _numbers(chosen.confirmed),
            "not_clearly_worse": {key: list(ends) for key, ends in optimised.plausible.items()},
        },
        "finalists": [
            {
                "candidate": finalist.number,
                "at": list(finalist.at),
                "searched": _numbers(finalist.searched),
                "fresh": _numbers(finalist.confirmed),
                "holds": finalist.confirmed.decided(optimised.condition).holds,
                "clear": finalist.confirmed.decided(optimised.condition).clear,
                "standing": None if (judgement := optimised.standing(finalist)) is None else judgement.standing.value,
                "against": [] if judgement is None else list(judgement.by),
            }
            for finalist in optimised.finalists
        ],
        "around": [
            {
                "key": near.parameter.key,
                "value": near.value,
                "fresh": _numbers(near.measured),
                "holds": near.measured.decided(optimised.condition).holds,
                "clear": near.measured.decided(optimised.condition).clear,
            }
            for near in optimised.neighbours
        ],
        "candidates": [
            {
                "candidate": candidate.number,
                "round": candidate.round,
                "at": list(candidate.at),
                "searched": _numbers(candidate.searched),
                "holds": candidate.searched.decided(optimised.condition).holds,
            }
            for candidate in optimised.candidates
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _numbers(measured: Measurement) -> dict[str, object]:
    """Seeds, and of each expression mean, half-width, number of seeds and the value of each."""
    numbers: dict[str, object] = {"seeds": list(measured.seeds)}
    for text, values in measured.values.items():
        estimate = measured.estimate(text)
        known = [None if math.isnan(value) else value for value in values]
        numbers[text] = {"values": known, **({} if estimate is None else estimate.to_dict())}
    return numbers


def _write(folder: Path, template: Template, optimised: Optimised, text: str, *, command: str) -> None:
    from shoal.report.optimise import write_optimise_report

    with writing(folder):
        write_optimise_report(folder, template, optimised, command=command)
        frames = {
            "candidates": optimised.to_polars(),
            "finalists": optimised.finalists_to_polars(),
            "around": optimised.around_to_polars(),
        }
        write_results(folder, "tune", text, template.scenario, frames)
