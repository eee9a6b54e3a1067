"""The scenario of tests of sweeps: one flow behind one queue."""

from __future__ import annotations

from shoal._toml import toml_file
from shoal.scenario_keys import ScenarioKeys


def tiny_scenario(duration: str) -> str:
    """The text of the scenario, with a duration such as ``2 s``."""
    keys: ScenarioKeys = {
        "title": "Tiny",
        "duration": duration,
        "bottleneck": {"rate": "10 Mbit/s", "aqm": {"kind": "step", "threshold": "20 packets"}},
        "flows": [{"cc": "dctcp", "rtt": "25 ms", "start": {"uniform": ["0 s", "1 s"]}}],
    }
    return toml_file(keys)
