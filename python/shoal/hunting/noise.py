"""Scenarios beside a little random traffic, without which packets of long flows may keep a common beat for good."""

from __future__ import annotations

from typing import Any, cast

from shoal.hunting.axes import Point
from shoal.hunting.bench import Make
from shoal.scenario import Scenario

#: Part of the slowest bottleneck that the random traffic takes.
part = 0.01
_ends = ("from", "to", "rtt")


def beside_noise(make: Make) -> Make:
    """Make scenarios with the random traffic."""

    def make_noisy(point: Point, full: bool) -> Scenario:
        return with_noise(make(point, full))

    return make_noisy


def with_noise(scenario: Scenario) -> Scenario:
    """Add Poisson traffic on the path of the first group, whose packets take the queue of a flow without ECN."""
    flows = cast("list[dict[str, Any]]", scenario.resolved["flows"])
    rate_bps = min(link["rate_bps"] for link in scenario.facts["bottlenecks"])
    ends = {key: flows[0][key] for key in _ends if key in flows[0]}
    app = {"unresponsive": f"{part * rate_bps:.0f} bit/s", "arrivals": "poisson"}
    name = "noise" if all(group["name"] != "noise" for group in flows) else "random-noise"
    return scenario.override({"flows": [*flows, {"name": name, "cc": "none", **ends, "app": app}]})
