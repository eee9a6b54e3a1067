"""How long a guest may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """When a run on the kernel is given up. Only time in which it could run counts, not that of a stopped caller.

    Attributes
    ----------
    stall_s
        Real time, in seconds, in which virtual time may stand still. A guest reports every thousandth of its scenario.
    wall_s
        Real time, in seconds, that the whole run may take; without limit if ``None``.
    module_s
        Processor time, in seconds, that a user's module may take at one instant of virtual time; not more than
        ``stall_s`` in any case.
    """

    stall_s: float = 600.0
    wall_s: float | None = None
    module_s: float = 10.0
