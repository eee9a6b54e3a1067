"""A scenario on both planes."""

from __future__ import annotations

import shoal
from shoal.linux import Image, run_on_linux


def both(text: str, image: Image) -> tuple[shoal.Result, shoal.Result]:
    """The results of the simulator and of Linux."""
    scenario = shoal.Scenario.from_toml(text)
    return shoal.run(scenario), run_on_linux(scenario, image=image)
