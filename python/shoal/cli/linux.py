"""``shoal linux``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Exit

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.on_linux import explain_linux
from shoal.progress import Bar
from shoal.table import Table

app = typer.Typer(
    name="linux",
    help="The real Linux kernel in virtual time: what `shoal run --on linux` runs on.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("build")
def build(
    version: Annotated[
        str | None, option("--version", "VERSION", "Kernel version, e.g. 7.3 (default) or 6.12.")
    ] = None,
    source: Annotated[Path | None, option("--source", "DIR", "A kernel tree of your own instead.")] = None,
    find_leaks: Annotated[
        bool,
        typer.Option(
            "--find-leaks",
            help="A second one, which remembers who allocated what: `shoal run --module FILE --find-leaks` takes it.",
        ),
    ] = False,
    jobs: Annotated[int | None, option(("--jobs", "-j"), "N", "Compilers at once.", min=1)] = None,
) -> None:
    """Fetch and build the kernel, once; later calls find it.

    The source comes from the distribution's archive through its own package client; nothing is installed, no root is
    needed. About 10 minutes and 2.5 GB in the user's cache folder.

    [bold]Examples[/]

      shoal linux build
      shoal linux build --version 6.12
      shoal linux build --source ~/src/linux
      shoal linux build --find-leaks
    """
    from shoal.errors import UsageError
    from shoal.linux import Image, kernel

    if version is not None and source is not None:
        raise UsageError("--version and --source exclude each other", hint="a tree has its own version")
    with Bar("kernel") as bar:

        def say(text: str) -> None:
            bar.describe(text)
            talk.note(text)

        image = Image(
            kernel.build(version=version, source=source, find_leaks=find_leaks, jobs=jobs, say=say, progress=bar.update)
        )
        _ = image.helpers
    talk.note(f"Linux {image.release} ({image.mode} mode) is ready: {image.folder}")
    data.text(str(image.folder))


@app.command("doctor")
def doctor() -> None:
    """Say what the Linux plane needs, and whether it works here.

    [bold]Example[/]

      shoal linux doctor
    """
    from shoal.linux import checks

    rows = checks.rows()
    data.table(Table("", ("What", "", "Finding"), rows, words=3))
    if any(state == "FAILS" for _, state, _ in rows):
        raise Exit(1)


@app.command("explain")
def explain(scenario: options.ScenarioFile, set_: options.Set = None) -> None:
    """Show what a scenario becomes on Linux: queue disciplines, sysctls, hosts. Needs no kernel.

    [bold]Example[/]

      shoal linux explain step-single
    """
    explain_linux([options.read_scenario(scenario, set_)])


@app.command("load")
def load(file: Annotated[Path, argument("FILE", "Lines as in: tc qdisc add dev eth0 root codel.")]) -> None:
    """Load lines of `tc` into the kernel in virtual time, and show what it made of them.

    The real `tc` reads them, and the real kernel takes or refuses them; no device of this machine is touched:
    devices of the names in the lines are made in a guest. A `tc` that knows all the disciplines is fetched if that of
    this machine does not.

    [bold]Example[/]

      shoal config write coexistence --platform tc > lines.txt && shoal linux load lines.txt
    """
    from shoal.linux import find_image
    from shoal.linux import tc as real
    from shoal.scenario import read_text

    image = find_image()
    loaded = real.load(real.lines_of(read_text(file)), image)
    data.text(loaded.shown.rstrip())
    talk.note(f"loaded by Linux {image.release} with {loaded.tc}")


@app.command("clean")
def clean() -> None:
    """Remove kernels, sources and packages from the cache.

    [bold]Example[/]

      shoal linux clean
    """
    from shoal.linux.places import cache

    shutil.rmtree(cache(), ignore_errors=True)
    talk.note(f"removed {cache()}")
