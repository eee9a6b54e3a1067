"""What flows get of the rate that would be fair to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal import moving
from shoal.metrics.registry import declare
from shoal.units import Unit

if TYPE_CHECKING:
    from shoal.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class Demand:
    """Flows of equal demand on the same links.

    Attributes
    ----------
    flows
        How many.
    most_bps
        What each of them wants; infinite if it uses any rate that it gets.
    links
        Indices of the links on their way.
    """

    flows: int
    most_bps: float
    links: tuple[int, ...]


def max_min(capacities_bps: Sequence[float], demands: Sequence[Demand]) -> list[float]:
    """The max-min fair rate in bit/s of a flow of each demand (Bertsekas and Gallager, Data Networks, section 6.5.2).

    All rates rise together until a demand is met or a link is full; those rates then stay, and the others rise further.
    The notices of a run (crates/lab/notices) divide links by the same rule.
    """
    rates: dict[int, float] = {}
    left = list(capacities_bps)
    while len(rates) < len(demands):
        open_ = [index for index in range(len(demands)) if index not in rates]
        rising = [
            sum(demands[index].flows for index in open_ if link in demands[index].links) for link in range(len(left))
        ]
        level, full = min(
            ((max(left[link], 0.0) / rising[link], link) for link in range(len(left)) if rising[link]),
            default=(math.inf, -1),
        )
        settled = [index for index in open_ if demands[index].most_bps <= level]
        settled = settled or [index for index in open_ if full in demands[index].links] or open_
        for index in settled:
            rates[index] = min(demands[index].most_bps, level)
            for link in demands[index].links:
                left[link] -= rates[index] * demands[index].flows
    return [rates[index] for index in range(len(demands))]


def shares(result: RunRecord) -> dict[str, float]:
    """For each group whose flows all have data throughout: mean rate of a flow over its max-min fair rate.

    The demand of every other flow is the mean rate that its group got. Groups are left out that pass no monitored link.
    """
    capacities = [_capacity_bps(result, link) for link in range(len(result.bottlenecks))]
    bundles: list[tuple[str, Demand]] = []
    seen: dict[str, float] = {}
    for group, facts in zip(result.groups, result.facts["groups"], strict=True):
        mean_bps = group["wire_bps"]["mean"]
        if mean_bps is None:
            continue
        always = all(path["always_send"] == path["flows"] and path["links"] for path in facts["paths"])
        if always:
            seen[group["name"]] = mean_bps
        for path in facts["paths"]:
            most_bps = math.inf if always else mean_bps
            bundles.append((group["name"], Demand(path["flows"], most_bps, tuple(path["links"]))))
    fair = max_min(capacities, [demand for _, demand in bundles])
    parts: dict[str, float] = {}
    for name, mean_bps in seen.items():
        of_group = [(demand.flows, rate) for (owner, demand), rate in zip(bundles, fair, strict=True) if owner == name]
        fair_bps = sum(flows * rate for flows, rate in of_group) / sum(flows for flows, _ in of_group)
        if fair_bps > 0:
            parts[name] = mean_bps / fair_bps
    return parts


@declare("least_share", "Least part of a fair share", Unit.RATIO, digits=3)
def least_share(result: RunRecord) -> float | None:
    """Mean rate of a flow over its max-min fair rate, of the group that gets least of it and always has data."""
    return min(shares(result).values(), default=None)


def _capacity_bps(result: RunRecord, link: int) -> float:
    """Mean rate of a monitored link over the measurement."""
    changes = moving.history(result, link)
    return result.bottlenecks[link]["rate_bps"] if changes is None else changes["mean_rate_bps"]
