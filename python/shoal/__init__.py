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

from shoal import _process  # what comes before it cannot be interrupted in peace

if _process.is_command():
    _process.begin()

from importlib import import_module
from typing import TYPE_CHECKING

from shoal._native import __version__

# Now and not when they are asked for: the function has the name of its module.
from shoal.models import Difference, Kind, Model, Parameter, models

if TYPE_CHECKING:
    from shoal._native import Flow, Port
    from shoal.bottleneck import Arrived, Bottleneck, Counters, Enqueued, Lost
    from shoal.errors import CacheWarning, Cancelled, OutputError, ScenarioError, ShoalError, UsageError
    from shoal.evaluate import Evaluation, evaluate_controller, evaluate_queue
    from shoal.expression import UndefinedError
    from shoal.hunting import Find, Hunted, hunt
    from shoal.judging import Episode, Verdict, judge
    from shoal.metrics import default_metrics
    from shoal.python_laws import Controller, Queue, parameter
    from shoal.results import Result, Results
    from shoal.runs.running import run
    from shoal.scenario import Scenario
    from shoal.search import (
        Candidate,
        Comparison,
        Condition,
        Decision,
        Direction,
        FreeParameter,
        Goal,
        Judgement,
        Measured,
        Measurement,
        Neighbour,
        Optimised,
        Phase,
        Schedule,
        Side,
        Standing,
        Trial,
        Tuned,
        optimise,
        tune,
    )
    from shoal.stats import Estimate, estimate
    from shoal.sweeps import Point, Sweep, sweep

__all__ = [
    "Arrived",
    "Bottleneck",
    "CacheWarning",
    "Cancelled",
    "Candidate",
    "Comparison",
    "Condition",
    "Controller",
    "Counters",
    "Decision",
    "Difference",
    "Direction",
    "Enqueued",
    "Episode",
    "Estimate",
    "Evaluation",
    "Find",
    "Flow",
    "FreeParameter",
    "Goal",
    "Hunted",
    "Judgement",
    "Kind",
    "Lost",
    "Measured",
    "Measurement",
    "Model",
    "Neighbour",
    "Optimised",
    "OutputError",
    "Parameter",
    "Phase",
    "Point",
    "Port",
    "Queue",
    "Result",
    "Results",
    "Scenario",
    "ScenarioError",
    "Schedule",
    "ShoalError",
    "Side",
    "Standing",
    "Sweep",
    "Trial",
    "Tuned",
    "UndefinedError",
    "UsageError",
    "Verdict",
    "__version__",
    "default_metrics",
    "estimate",
    "evaluate_controller",
    "evaluate_queue",
    "hunt",
    "judge",
    "models",
    "optimise",
    "parameter",
    "run",
    "sweep",
    "tune",
]

# Where each name is: importing all of it takes as long as a short run, and most programs need a few names.
_homes = {
    **dict.fromkeys(["Arrived", "Bottleneck", "Counters", "Enqueued", "Lost"], "shoal.bottleneck"),
    **dict.fromkeys(
        ["CacheWarning", "Cancelled", "OutputError", "ScenarioError", "ShoalError", "UsageError"], "shoal.errors"
    ),
    **dict.fromkeys(["Evaluation", "evaluate_controller", "evaluate_queue"], "shoal.evaluate"),
    **dict.fromkeys(["UndefinedError"], "shoal.expression"),
    **dict.fromkeys(["Find", "Hunted", "hunt"], "shoal.hunting"),
    **dict.fromkeys(["Episode", "Verdict", "judge"], "shoal.judging"),
    **dict.fromkeys(["default_metrics"], "shoal.metrics"),
    **dict.fromkeys(["Flow", "Port"], "shoal._native"),
    **dict.fromkeys(["Controller", "Queue", "parameter"], "shoal.python_laws"),
    **dict.fromkeys(["Result", "Results"], "shoal.results"),
    **dict.fromkeys(["run"], "shoal.runs.running"),
    **dict.fromkeys(["Scenario"], "shoal.scenario"),
    **dict.fromkeys(
        [
            "Candidate",
            "Comparison",
            "Condition",
            "Decision",
            "Direction",
            "FreeParameter",
            "Goal",
            "Judgement",
            "Measured",
            "Measurement",
            "Neighbour",
            "Optimised",
            "Phase",
            "Schedule",
            "Side",
            "Standing",
            "Trial",
            "Tuned",
            "optimise",
            "tune",
        ],
        "shoal.search",
    ),
    **dict.fromkeys(["Estimate", "estimate"], "shoal.stats"),
    **dict.fromkeys(["Point", "Sweep", "sweep"], "shoal.sweeps"),
}


def __getattr__(name: str) -> object:
    if name not in _homes:
        raise AttributeError(f"module `shoal` has no attribute `{name}`")
    return getattr(import_module(_homes[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
