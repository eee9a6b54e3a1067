"""What can go wrong on the Linux plane."""

from __future__ import annotations

from shoal.errors import ShoalError


class LinuxError(ShoalError):
    """The kernel or its helpers cannot be built or found."""


class ModuleError(LinuxError):
    """A user's kernel module is none, does not compile, or does something wrong; the message shows the place in it."""


class GuestError(ShoalError):
    """A run on the kernel failed; the message ends with what its console showed last."""
