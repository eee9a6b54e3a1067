"""Where runs are made: on the simulator or on a real kernel, which records of another one are never mixed with."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from shoal.errors import ClusterError, ScenarioError
from shoal.linux.errors import LinuxError

if TYPE_CHECKING:
    from shoal._native import Cancel, Run
    from shoal.linux import Image
    from shoal.scenario import Scenario


class Plane(Protocol):
    """Makes runs."""

    @property
    def identity(self) -> str:
        """What tells it from others whose bytes may differ; empty for the simulator of this build."""

    def refusal(self, scenario: Scenario) -> str:
        """What it cannot express of a scenario, with places and remedies; empty if it can run it."""

    def run(self, scenario: Scenario, seed: int, cancel: Cancel) -> Run:
        """Run a scenario.

        Raises
        ------
        GuestError
            The guest of a kernel failed.
        """


class _Simulator:
    """The packet simulator."""

    identity = ""

    def refusal(self, scenario: Scenario) -> str:
        """What the simulator has no model of."""
        return scenario.simulator_refuses

    def run(self, scenario: Scenario, seed: int, cancel: Cancel) -> Run:
        """Run a scenario on the simulator."""
        return scenario.native.run(seed=seed, cancel=cancel)


simulator: Plane = _Simulator()


class Kernel:
    """A kernel in virtual time, with our programs and modules in its guests."""

    def __init__(self, image: Image) -> None:
        self.image = image

    @property
    def identity(self) -> str:
        """Kernel, the guest's programs and modules, and a generator of traffic that is not ours."""
        generator = f" {self.image.iperf3.version}" if self.image.iperf3 else ""
        return f"linux {self.image.folder.name} {self.image.helpers.name}{generator}"

    def refusal(self, scenario: Scenario) -> str:
        """What Linux here cannot express."""
        from shoal.linux import plan

        try:
            plan(scenario, self.image)
        except ScenarioError as error:
            return str(error)
        return ""

    def run(self, scenario: Scenario, seed: int, cancel: Cancel) -> Run:
        """Run a scenario in a guest of its own."""
        from shoal.linux.running import finished_on_linux

        return finished_on_linux(scenario, self.image, seed=seed, cancel=cancel)


@lru_cache(maxsize=1)
def kernel_here() -> Kernel:
    """The kernel that ``shoal linux build`` made.

    Raises
    ------
    LinuxError
        There is none.
    """
    from shoal.linux import find_image

    return Kernel(find_image())


@lru_cache(maxsize=4)
def plane_of(identity: str) -> Plane:
    """The plane of an identity, on this machine.

    Raises
    ------
    ClusterError
        It is a kernel that this machine does not have: the bytes of another one may differ.
    """
    if not identity:
        return simulator
    try:
        kernel = kernel_here()
    except LinuxError as error:
        raise ClusterError(f"the sweep runs on a kernel, and here: {error}", hint=error.hint) from None
    if kernel.identity != identity:
        raise ClusterError(
            f"this machine has the kernel `{kernel.identity}`, the sweep is of `{identity}`: their bytes may differ",
            hint="run `shoal linux build` of the same build of shoal there",
        )
    return kernel
