"""The smallest proof of the kernel plane: one shipped scenario of each queue, shortened, twice with the same bytes."""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import ScenarioError
from shoal.linux import Image, find_image, plan, run_on_linux
from shoal.linux.errors import LinuxError
from shoal.shipped import all_scenarios

# Long enough for slow start and some rounds of each law.
SHORT = {"duration": "3 s", "warmup": "1 s"}


def law_of(scenario: shoal.Scenario) -> str:
    """Kind of the queue at the bottleneck; empty without one."""
    return scenario.resolved.get("bottleneck", {}).get("aqm", {}).get("kind", "")


def of_each_law() -> dict[str, str]:
    """For each queue the name of the first shipped scenario that the kernel can run; step-single before all others."""
    try:
        image = find_image()
    except LinuxError:
        return {"step": "step-single"}  # skipped, with the reason
    found: dict[str, str] = {}
    names = sorted((shipped.name for shipped in all_scenarios()), key=lambda name: (name != "step-single", name))
    for name in names:
        if name.startswith("bench/"):
            continue
        try:
            scenario = shoal.Scenario.named(name).override(SHORT)
            if (law := law_of(scenario)) and law not in found:
                plan(scenario, image)
                found[law] = name
        except ScenarioError:
            continue  # too short for what it does, or beyond Linux
    return found


@pytest.mark.parametrize("name", of_each_law().values())
def test_a_scenario_of_each_queue_twice_has_the_same_bytes(image: Image, name: str) -> None:
    scenario = shoal.Scenario.named(name).override(SHORT)
    first, again = (run_on_linux(scenario, seed=1, image=image) for _ in range(2))
    assert first.json == again.json
    assert sum(link["arrived"] for link in first.bottlenecks) > 50


def test_every_queue_that_the_kernel_has_is_among_them(image: Image) -> None:
    # No kernel has RED as published, marks at a given rate, or the queue of a switch.
    laws = {law_of(shoal.Scenario.named(shipped.name)) for shipped in all_scenarios()} - {""}
    missing = laws - set(of_each_law())
    assert missing <= {"red", "open-loop", "wred"}, missing
