"""What can go wrong, each with a remedy where there is one. The native module raises these classes, too."""

from __future__ import annotations

__all__ = ["CacheWarning", "Cancelled", "OutputError", "ScenarioError", "ShoalError", "UsageError"]


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


class OutputError(ShoalError):
    """A file or folder cannot be read or written."""


class ScenarioError(ShoalError, ValueError):
    """A scenario is refused; the message shows every problem with its place and what would be right."""


class Cancelled(ShoalError, RuntimeError):  # noqa: N818
    """A run was ended from another thread."""


class CacheWarning(UserWarning):
    """Finished runs could not be kept in the cache; the results are complete."""
