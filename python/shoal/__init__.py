"""Runs DCTCP and ordinary TCP through one bottleneck.

Examples
--------
>>> import shoal
>>> scenario = shoal.Scenario.from_toml('''
... duration = "20 s"
... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
... flows = [{ cc = "dctcp", rtt = "25 ms" }]
... ''')
>>> shoal.run(scenario).groups[0]["name"]
'dctcp'
"""

from shoal._native import __version__
from shoal.errors import OutputError, ScenarioError, ShoalError, UsageError
from shoal.models import Model, models
from shoal.result import Result
from shoal.results import Results
from shoal.running import run
from shoal.scenario import Scenario
from shoal.stats import Estimate, estimate
from shoal.sweeps import Point, Sweep, sweep
from shoal.tuning import Tuned, tune

__all__ = [
    "Estimate",
    "Model",
    "OutputError",
    "Point",
    "Result",
    "Results",
    "Scenario",
    "ScenarioError",
    "ShoalError",
    "Sweep",
    "Tuned",
    "UsageError",
    "__version__",
    "estimate",
    "models",
    "run",
    "sweep",
    "tune",
]
