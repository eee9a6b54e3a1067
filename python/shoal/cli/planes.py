"""What runs scenarios."""

from __future__ import annotations

from enum import StrEnum


class Plane(StrEnum):
    """What runs the scenario."""

    SIM = "sim"
    LINUX = "linux"
