"""Runs scenarios on both planes, on all cores, resumably."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from shoal._native import LinuxPlan
from shoal.compare.comparison import Comparison, Ran
from shoal.errors import ScenarioError, UsageError
from shoal.linux import Image, find_image, plan
from shoal.parallel import Progress
from shoal.remarks import Remarks
from shoal.runs.cases import Case, run_cases
from shoal.runs.plane import Kernel, simulator
from shoal.scenario import Scenario
from shoal.seeds import seed_list

# Pairs of runs: with fewer, hardly any difference can be shown to be within its margin.
default_seeds = 20
# Points of the time series that distributions of cwnd and alpha are made of.
_points = 1000


def compare(
    scenarios: Iterable[tuple[str, Scenario]],
    *,
    seeds: int | Iterable[int] = default_seeds,
    image: Image | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
) -> Comparison:
    """Run scenarios on the simulator and on the real kernel.

    Parameters
    ----------
    scenarios
        Names and scenarios.
    seeds
        The seeds of every scenario, or how many, counted from the scenario's.
    image
        The kernel; that of ``shoal linux build`` if not given.
    workers
        Threads; all cores if not given. Results do not depend on it.
    cache
        Folder of finished runs: an interrupted comparison goes on where it was.
    progress
        True shows a bar on stderr; a function is called with the finished fraction.

    Raises
    ------
    ScenarioError
        Linux or the simulator cannot express some of the scenarios; the message lists everything. Nothing ran.
    LinuxError
        There is no kernel.
    """
    named = [(name, _recorded(scenario)) for name, scenario in scenarios]
    if not named:
        raise UsageError("there is nothing to compare", hint="name a scenario, or write --suite")
    chosen = [seed_list(scenario, seeds) for _, scenario in named]
    image = image or find_image()
    plans = _plans(named, image)
    _ = image.helpers
    cases = [
        Case(scenario, chosen_seeds, tables=True, plane=plane)
        for plane in (simulator, Kernel(image))
        for (_, scenario), chosen_seeds in zip(named, chosen, strict=True)
    ]
    results = run_cases(cases, workers=workers, cache=cache, progress=progress)
    ran = []
    for number, ((name, scenario), planned) in enumerate(zip(named, plans, strict=True)):
        sides = results[number], results[len(named) + number]
        planes = zip(("the simulator", "Linux"), sides, strict=True)
        notes = [f"on {plane}, {line}" for plane, runs in planes if (line := Remarks.of_runs(runs).nothing_is_random)]
        ran.append(Ran(name, scenario, *sides, (*planned.notes, *notes)))
    return Comparison.of(ran, chosen[0])


def _recorded(scenario: Scenario) -> Scenario:
    """With the series and flows that figures and distributions need, and no files that one plane cannot write."""
    millis = max(1, int(scenario.facts["duration_s"] * 1000 / _points))
    recorded = {"trace.series": f"{millis} ms", "trace.flows": "all", "trace.packets": False, "trace.pcap": False}
    return scenario.override(recorded)


def _plans(named: Sequence[tuple[str, Scenario]], image: Image) -> list[LinuxPlan]:
    """Every refusal of every scenario by either plane, before anything runs."""
    plans, refused = [], []
    for name, scenario in named:
        texts = [scenario.simulator_refuses] if scenario.simulator_refuses else []
        try:
            plans.append(plan(scenario, image))
        except ScenarioError as error:
            texts.append(str(error))
        if texts:
            text = "\n".join(texts)
            refused.append(text if len(named) == 1 else f"`{name}`:\n{text}")
    if refused:
        raise ScenarioError("\n".join(text.rstrip() for text in refused) + "\n")
    return plans
