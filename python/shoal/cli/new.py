"""``shoal new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import new_scenario
from shoal.cli.console import data, talk
from shoal.errors import UsageError
from shoal.skeleton.law import Language, Like

app = typer.Typer(
    name="new",
    help="A scenario or a law of your own, and skeletons of what can be added to shoal's source.",
    no_args_is_help=True,
    add_completion=False,
)

app.command("scenario")(new_scenario.scenario)


@app.command("law")
def law(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The law, in kebab-case, and its folder.", show_default=False),
    ],
    in_wasm: Annotated[
        bool, typer.Option("--wasm", help="In C for WebAssembly, which the simulator runs: so without an option.")
    ] = False,
    in_python: Annotated[bool, typer.Option("--python", help="In Python, for teaching and trying.")] = False,
    for_kernel: Annotated[bool, typer.Option("--kernel", help="In C as a module of the Linux kernel.")] = False,
    like: Annotated[Like, typer.Option("--like", help="The law to begin with.")] = Like.RENO,
) -> None:
    """Write a congestion control or a queue of your own, with a scenario and a test, into a new folder.

    In C it is compiled to WebAssembly by clang, and a scenario names the file as cc = "file:NAME.wasm". In Python it is
    a class that `shoal run --python FILE` runs. Both are begun like reno, dctcp or, in Python, cubic; a queue in C is
    begun like step or codel. A kernel module runs with --on linux. docs/how-to/write-your-own-law.md goes on from
    there.

    [bold]Examples[/]

      shoal new law my-law
      shoal new law my-law --like dctcp
      shoal new law my-queue --like codel
      shoal new law my-law --python --like cubic
      shoal new law my-law --kernel
    """
    from shoal.skeleton import new_law

    chosen = [
        language for language, is_chosen in zip(Language, (in_wasm, in_python, for_kernel), strict=True) if is_chosen
    ]
    if len(chosen) > 1:
        raise UsageError("a law is written in one language", hint="leave all but one of --wasm, --python, --kernel out")
    language = chosen[0] if chosen else Language.WASM
    for path in new_law(name, where=Path(), language=language, like=like):
        data.text(f"{path}\n")
    module = name.replace("-", "_")
    talk.note(
        {
            Language.WASM: f"`make -C {name}` builds it (clang and lld), `shoal run {name}/{name}.toml` runs it",
            Language.PYTHON: f"`shoal run {name}/{name}.toml --python {name}/{module}.py` runs it",
            Language.KERNEL: f"`shoal run {name}/{name}.toml --on linux` compiles and runs it",
        }[language]
    )


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
