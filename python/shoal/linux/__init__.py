"""The real Linux kernel in virtual time: built once, then scenarios run on it without root and repeatably.

One user-mode kernel holds all hosts of a testbed as network namespaces; its clock is virtual. Nothing here decides what
a scenario means: :class:`shoal._native.LinuxPlan` does.
"""

from shoal.linux.errors import GuestError, LinuxError
from shoal.linux.images import Image, Unbuilt, find_image
from shoal.linux.limits import Limits
from shoal.linux.running import plan, run_on_linux

__all__ = ["GuestError", "Image", "Limits", "LinuxError", "Unbuilt", "find_image", "plan", "run_on_linux"]
