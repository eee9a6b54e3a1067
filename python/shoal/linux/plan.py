"""What a scenario becomes on the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from shoal import _native
from shoal.linux.images import Image, Unbuilt
from shoal.scenario import Scenario
from shoal.tabulate import Table, kernel_table


@dataclass(frozen=True)
class Plan:
    """A translated scenario.

    Attributes
    ----------
    config
        Instructions for the guest.
    rules
        ``(part of the scenario, what it became)``.
    notes
        Where the kernel stands in for something else.
    memory_mib
        Memory of the guest, MiB: an upper bound of what packets, queues and sockets can hold.
    seed
        Seed of the guest's randomness.
    """

    config: str
    rules: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    memory_mib: int
    seed: int

    @classmethod
    def of(cls, native: _native.LinuxPlan) -> Plan:
        """What the Rust side has planned."""
        return cls(native.config, tuple(native.rules), tuple(native.notes), native.memory_mib, native.seed)

    def table(self) -> Table:
        """The rules, for people."""
        return kernel_table(self.rules)


def plan(scenario: Scenario, image: Image | Unbuilt, *, seed: int | None = None, captures: bool = False) -> Plan:
    """Translate a scenario; with ``captures`` packets are captured even if it does not ask for that.

    Raises
    ------
    ScenarioError
        The message lists everything that Linux cannot express, and why.
    """
    return Plan.of(scenario.native.linux_plan(image.description, seed=seed, captures=captures))
