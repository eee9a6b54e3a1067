"""``shoal check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument
from shoal.cli.options import Python, Set, Sizes, read_scenario
from shoal.words import count_of


def check(
    files: Annotated[
        list[Path],
        argument("SCENARIO...", "Scenario files, or names.", autocompletion=scenario_names),
    ],
    set_: Set = None,
    sizes: Sizes = None,
    python: Python = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Print the scenario with every default filled in.")
    ] = False,
) -> None:
    """Check scenario files without running them.

    [bold]Examples[/]

      shoal check scenarios/coexistence.toml
      shoal check scenarios/coexistence.toml --set bottleneck.buffer='2 BDP' --resolved
    """
    for file in files:
        scenario = read_scenario(file, set_, sizes=sizes)
        for warning in scenario.native.warnings:
            talk.diagnostics(warning)
        for note in scenario.notes:
            talk.diagnostics(note)
        if resolved:
            data.text(scenario.to_toml())
        else:
            flows = sum(group["flows"] for group in scenario.facts["groups"])
            where = "; on Linux only" if scenario.simulator_refuses else ""
            data.sentence(
                f"{file}: {scenario.title} ({count_of(flows, 'flow')}, {scenario.resolved['duration']}{where})"
            )
