"""``shoal new``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import new_scenario
from shoal.cli.console import data, talk

app = typer.Typer(
    name="new",
    help="A scenario or a law of your own, and skeletons of what can be added to shoal's source.",
    no_args_is_help=True,
    add_completion=False,
)

app.command("scenario")(new_scenario.scenario)


class Like(StrEnum):
    """Laws with which one may begin."""

    RENO = "reno"
    DCTCP = "dctcp"


@app.command("law")
def law(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The law, in kebab-case, and its folder.", show_default=False),
    ],
    like: Annotated[Like, typer.Option("--like", help="The law to begin with.")] = Like.RENO,
) -> None:
    """Write a congestion control of your own in C, with a scenario and a test, into a new folder.

    It is compiled to WebAssembly by clang, and the simulator runs the file that the scenario names as
    cc = "file:NAME.wasm". docs/how-to/write-your-own-law.md goes on from there.

    [bold]Examples[/]

      shoal new law my-law
      shoal new law my-law --like dctcp
    """
    from shoal.skeleton import new_law

    for path in new_law(name, where=Path(), like=like):
        data.text(f"{path}\n")
    talk.note(f"`make -C {name}` builds it (clang and lld), `shoal run {name}/{name}.toml` runs it")


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
