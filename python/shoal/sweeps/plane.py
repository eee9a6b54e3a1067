"""Sweeps on the real kernel: which kernel runs them, so that records of another one are never mixed with theirs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from shoal.errors import ClusterError, ScenarioError
from shoal.linux.errors import LinuxError

if TYPE_CHECKING:
    from shoal._native import Cancel, Run
    from shoal.linux import Image
    from shoal.scenario import Scenario


def kernel_here() -> str:
    """The kernel that ``shoal linux build`` made, with our programs and modules in its guests.

    Raises
    ------
    LinuxError
        There is none.
    """
    return _identity(_image())


def refusal(scenario: Scenario) -> str:
    """What the kernel cannot express of a scenario; empty if it can run it."""
    from shoal.linux import plan

    try:
        plan(scenario, _image())
    except ScenarioError as error:
        return str(error)
    return ""


def run_on(kernel: str, scenario: Scenario, seed: int, cancel: Cancel) -> Run:
    """Run a scenario on the kernel of this machine, which has to be the one that is asked for.

    Raises
    ------
    ClusterError
        It is another one: its bytes may differ.
    GuestError
        The guest failed.
    """
    from shoal.linux.running import finished_on_linux

    image = _checked(kernel)
    return finished_on_linux(scenario, image, seed=seed, cancel=cancel)


@lru_cache(maxsize=1)
def _image() -> Image:
    from shoal.linux import find_image

    return find_image()


def _identity(image: Image) -> str:
    return f"linux {image.folder.name} {image.helpers.name}"


@lru_cache(maxsize=4)
def _checked(kernel: str) -> Image:
    try:
        image = _image()
    except LinuxError as error:
        raise ClusterError(f"the sweep runs on a kernel, and here: {error}", hint=error.hint) from None
    if (here := _identity(image)) != kernel:
        raise ClusterError(
            f"this machine has the kernel `{here}`, the sweep is of `{kernel}`: their bytes may differ",
            hint="run `shoal linux build` of the same build of shoal there",
        )
    return image
