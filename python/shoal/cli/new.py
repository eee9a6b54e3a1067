"""``shoal new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import new_scenario
from shoal.cli.console import data, talk

app = typer.Typer(
    name="new",
    help="A scenario of your own, and skeletons of what can be added to a checkout of shoal's source.",
    no_args_is_help=True,
    add_completion=False,
)

app.command("scenario")(new_scenario.scenario)


@app.command("queue")
def queue(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its kind in a scenario, in kebab-case.", show_default=False),
    ],
) -> None:
    """Write the skeleton of a queue into the checkout around the current folder.

    The skeleton compiles, passes its tests and runs in a scenario: it marks above a threshold.
    docs/internals/add-a-queue.md goes on from there. Either all files are written or none.

    [bold]Examples[/]

      shoal new queue double-threshold
    """
    from shoal.skeleton import new_queue

    for path in new_queue(name, where=Path.cwd()):
        data.text(f"{path}\n")
    talk.note("the law is the first of these files; `make setup` builds it, docs/internals/add-a-queue.md goes on")


@app.command("controller")
def controller(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its name in a scenario, in kebab-case.", show_default=False),
    ],
) -> None:
    """Write the skeleton of a congestion controller into the checkout around the current folder.

    The skeleton compiles, passes its tests and runs in a scenario: additive increase and multiplicative decrease.
    docs/internals/add-a-controller.md goes on from there. Either all files are written or none.

    [bold]Examples[/]

      shoal new controller scalable-aimd
    """
    from shoal.skeleton import new_controller

    for path in new_controller(name, where=Path.cwd()):
        data.text(f"{path}\n")
    talk.note("the law is the first of these files; `make setup` builds it, docs/internals/add-a-controller.md goes on")
