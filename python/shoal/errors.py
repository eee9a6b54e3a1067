"""What can go wrong, each with a remedy where there is one. The native module raises these classes, too."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

__all__ = [
    "CacheWarning",
    "Cancelled",
    "LawError",
    "ModuleWarning",
    "OutputError",
    "ScenarioError",
    "ShoalError",
    "StoreWarning",
    "UsageError",
    "nearest",
]


class ShoalError(Exception):
    """Base of all errors that this package raises for what it is given, or finds on disk.

    Parameters
    ----------
    message
        What is wrong.
    hint
        What would be right.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(ShoalError):
    """The call asks for something that does not exist or does not go together."""


class ArgumentError(UsageError):
    """An argument of a call is of a kind that it does not take, or is missing or unknown."""


class OutputError(ShoalError):
    """A file or folder cannot be read or written."""


class ScenarioError(ShoalError, ValueError):
    """A scenario is refused; the message shows every problem with its place and what would be right."""


class Cancelled(ShoalError, RuntimeError):  # noqa: N818
    """A run was ended from another thread."""


class LawError(ShoalError, RuntimeError):
    """A finished run breaks a law of conservation: its numbers are wrong and are not given.

    Parameters
    ----------
    law
        The link or flow, and the numbers that contradict each other.
    """

    def __init__(self, law: str) -> None:
        super().__init__(
            f"the numbers of this run contradict each other, so there is no result: {law}",
            hint="this is an error of shoal or of the kernel it ran, not of the scenario: please report it with the "
            "scenario and the seed",
        )


class OwnLawError(ShoalError, RuntimeError):
    """A law of one's own failed while it ran: it stopped, did not end, or answered what is no decision.

    Parameters
    ----------
    failure
        The law, the flow, the packet and the time, and what happened.
    """

    def __init__(self, failure: str) -> None:
        super().__init__(failure, hint="mend the law; a run with it ends here whenever it is repeated")


class ClusterError(ShoalError, RuntimeError):
    """A cluster does not answer, or its workers cannot be used."""


class SweepFailedError(ShoalError, RuntimeError):
    """Some runs of a sweep failed; the numbers of its other points are complete."""


class CacheWarning(UserWarning):
    """Finished runs could not be kept in the cache; the results are complete."""


class ModuleWarning(UserWarning):
    """What the compiler says of a user's kernel module, or the kernel while it runs; the results are complete."""


class StoreWarning(UserWarning):
    """Some finished runs of a sweep cannot be read again and are repeated; the results are complete."""


def nearest(name: str, known: Sequence[str]) -> str:
    """A hint that names the most similar word, or all of them."""
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean `{close[0]}`?" if close else f"there are: {', '.join(dict.fromkeys(known))}"


def refused_line(path: object, number: int, line: str | None, what: str, hint: str) -> ScenarioError:
    """A line of a file that is refused, shown as errors of scenarios are; with ``None`` only its place is."""
    gutter = " " * len(str(number))
    shown = f"{gutter} |\n{number} | {line}\n{gutter} |\n" if line is not None else ""
    return ScenarioError(f"error: {what}\n{gutter}--> {path}:{number}\n{shown}hint: {hint}\n")
