"""What can go wrong on the Linux plane."""

from __future__ import annotations

from shoal.errors import ShoalError


class LinuxError(ShoalError):
    """The kernel or its helpers cannot be built or found."""


class GuestError(ShoalError):
    """A run on the kernel failed; the message ends with what its console showed last."""
