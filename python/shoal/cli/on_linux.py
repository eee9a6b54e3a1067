"""``--on linux`` of the verbs that run scenarios. The plane is imported only where it is used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.console import data, talk
from shoal.errors import UsageError
from shoal.scenario import Scenario
from shoal.tabulate import kernel_table

if TYPE_CHECKING:
    from shoal.linux import Image, Unbuilt


def refuse_limits_without_linux(wall_limit: float | None, stall_limit: float | None, *, on_linux: bool) -> None:
    """Refuse limits where nothing runs on Linux.

    Raises
    ------
    UsageError
        There are some.
    """
    if (wall_limit is not None or stall_limit is not None) and not on_linux:
        raise UsageError("--wall-limit and --stall-limit bound runs on Linux", hint="add --on linux")


def find_linux(
    generator: str | None = None,
    find_leaks: bool = False,
    wall_limit_s: float | None = None,
    stall_limit_s: float | None = None,
) -> Image:
    """The kernel, the program that drives its flows if it is not the guest's own, and how long guests may take."""
    from shoal.linux import Limits, find_image
    from shoal.linux.iperf3 import find_iperf3

    image = find_image().finding_leaks() if find_leaks else find_image()
    limits = Limits(wall_s=wall_limit_s, stall_s=stall_limit_s or Limits.stall_s)
    return replace(image, iperf3=None if generator is None else find_iperf3(generator), limits=limits)


def names_of_modules(files: Sequence[Path]) -> dict[str, Path]:
    """Compile modules of the user; gives the file of each congestion control and queue discipline that they register.

    Raises
    ------
    ModuleError
        One is no module, or two of them register the same.
    """
    if not files:
        return {}
    from shoal.linux import find_image
    from shoal.linux.user_modules import refuse_shared_names, user_module

    image = find_image()
    modules = [user_module(file, image) for file in files]
    refuse_shared_names(modules)
    return {name: module.file.source for module in modules for name in (*module.controllers, *module.disciplines)}


def prepare_linux(scenarios: Iterable[Scenario], image: Image) -> None:
    """Refuse what Linux cannot express before anything runs; say where the kernel stands in for something else."""
    from shoal.linux import plan

    for scenario in scenarios:
        for note in plan(scenario, image).notes:
            talk.note(f"note: {note}")


def explain_linux(scenarios: Iterable[Scenario], generator: str | None = None) -> None:
    """Show what scenarios become on Linux; the kernel need not have been built for that."""
    from shoal.linux import LinuxError, Unbuilt, plan
    from shoal.linux.iperf3 import find_iperf3

    image: Image | Unbuilt
    try:
        image = find_linux(generator)
    except LinuxError:
        image = Unbuilt(iperf3=find_iperf3(generator) if generator is not None else None)
        talk.warning(
            f"no kernel is built: this is for Linux {image.release} as configured here, and that kernel was not asked "
            "whether it takes it",
            hint="run `shoal linux build` once (about 10 minutes) for a kernel that is",
        )
    for scenario in scenarios:
        planned = plan(scenario, image)
        for note in planned.notes:
            talk.note(f"note: {note}")
        data.table(kernel_table(planned.rules))
