"""What can go wrong, each with a remedy where there is one."""

from __future__ import annotations

from shoal._native import Cancelled, ScenarioError

__all__ = ["Cancelled", "OutputError", "ScenarioError", "ShoalError", "UsageError"]


class ShoalError(Exception):
    """Base of the errors that this package raises itself.

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
    """Results cannot be read or written."""
