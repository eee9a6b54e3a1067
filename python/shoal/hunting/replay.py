"""Replays of what was found on the real Linux kernel, where it is built and can express the scenario."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.errors import ShoalError
from shoal.hunting.causes import Cause, cause_of
from shoal.hunting.hunted import Hunted
from shoal.linux.errors import LinuxError
from shoal.metrics import metric
from shoal.runs.cases import Case, run_cases
from shoal.runs.plane import kernel_here
from shoal.stats import Estimate
from shoal.words import significant


@dataclass(frozen=True, slots=True)
class Replay:
    """What the kernel made of a find.

    Attributes
    ----------
    value
        The metric; ``None`` if it did not run.
    kernel
        Its identity; empty if there is none.
    cause
        What the notices of the run say.
    why_not
        Why it did not run; empty if it did.
    simulated
        The metric of the same seed on the simulator.
    """

    value: float | None
    kernel: str = ""
    cause: Cause = field(default_factory=Cause)
    why_not: str = ""
    simulated: float | None = None

    @property
    def sentence(self) -> str:
        """The outcome in a sentence."""
        if self.value is None or self.simulated is None:
            return f"Not replayed on Linux: {self.why_not}."
        name = self.kernel.split()[1].split("-")[0] if " " in self.kernel else self.kernel
        both = f"{significant(Estimate(self.value, None, 1))}, where the simulator has"
        mechanism = f" ({self.cause.mechanism})" if self.cause.mechanism else ""
        return f"Linux {name}, the same seed: {both} {significant(Estimate(self.simulated, None, 1))}{mechanism}."


def replay(hunted: Hunted, number: int = 1) -> Replay:
    """Run a find on the kernel of this machine, with the first of its seeds.

    Parameters
    ----------
    hunted
        What was found.
    number
        Which find, counted from 1.
    """
    find = hunted.finds[number - 1]
    try:
        plane = kernel_here()
        if refusal := plane.refusal(find.scenario):
            return Replay(None, why_not=refusal.strip().splitlines()[0].removeprefix("error: "))
        case = Case(find.scenario, [find.seeds[0]], (hunted.target.metric,), plane=plane)
        result = run_cases([case], "Replaying on Linux")[0][0]
    except LinuxError as error:
        return Replay(None, why_not=str(error))
    except ShoalError as error:
        return Replay(None, why_not=str(error).strip().splitlines()[0])
    cause = cause_of(hunted.target, result)
    return Replay(metric(result, hunted.target.metric, gaps=True), plane.identity, cause, "", find.values[0])
