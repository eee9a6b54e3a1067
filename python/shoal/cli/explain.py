"""``shoal explain``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from shoal.cli import options
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument
from shoal.progress import Bar
from shoal.results import Result, schema_version


def explain(
    source: Annotated[
        Path,
        argument(
            "RESULT_OR_SCENARIO",
            "A folder that `shoal run --out` wrote, a file of `shoal run --json`, or a scenario, which is run.",
            autocompletion=scenario_names,
        ),
    ],
    set_: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Say which questions a result raises, and the first cause of each that its numbers show.

    Questions are such as why there are no marks, why a link is not full, and why a group gets so little. Causes are
    looked for in the order in which each presupposes that those before it do not hold; where none holds, the answer is
    "not decided". A result that was saved is explained by what its run found.

    The exit code is 0 whether or not there are questions.

    [bold]Examples[/]

      shoal explain results/my
      shoal explain my.toml --set bottleneck.rate='20 Mbit/s'
      shoal explain red-ecn --json
    """
    runs = _runs(source, set_)
    if as_json:
        objects = [_object(name, result) for name, result in runs]
        data.json(json.dumps({"schema": schema_version, "runs": objects}, indent=2, ensure_ascii=False))
        return
    for position, (name, result) in enumerate(runs):
        if position:
            data.blank()
        data.heading(name)
        _print(result)


def _runs(source: Path, settings: list[str] | None) -> list[tuple[str, Result]]:
    """The results, each with its name."""
    if source.suffix == ".json" and source.is_file():
        return [_named(Result.load(source))]
    if source.is_dir():
        from shoal.report import load_entries

        entries = load_entries(source)
        several = len(entries) > 1
        return [
            (f"{entry.label}: {name}" if several else name, run)
            for entry in entries
            for name, run in map(_named, entry.runs)
        ]
    from shoal.runs import running

    scenario = options.read_scenario(source, settings)
    for warning in scenario.native.warnings:
        talk.diagnostics(warning)
    with Bar(scenario.title) as bar:
        return [_named(running.run(scenario, progress=bar.update))]


def _named(result: Result) -> tuple[str, Result]:
    return f"{result.data['scenario']['title']} (seed {result.seed})", result


def _object(name: str, result: Result) -> dict[str, Any]:
    questions = [explanation.to_dict() for explanation in result.explain()]
    return {"name": name, "seed": result.seed, "on": result.data["on"], "questions": questions}


def _print(result: Result) -> None:
    questions = result.explain()
    if not questions:
        data.sentence("The numbers raise no question that shoal knows.")
    for explanation in questions:
        data.blank()
        data.sentence(explanation.question)
        data.pairs(
            [
                ("Cause", explanation.cause or "not decided"),
                ("Evidence", f"{explanation.evidence}."),
                *([("Change", f"{explanation.change}.")] if explanation.change else []),
            ]
        )
