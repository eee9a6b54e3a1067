"""Metrics of links that change; ``link`` counts monitored links from 0, ``step`` steps of the rate in the measurement.

Changes less than 100 ms apart are one step, and so are an outage and its end. The queue's delay is the time that the
waiting bytes take at the rate of the link, as a mean over a bin of the time series.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal import moving
from shoal._columns import number
from shoal.errors import UsageError
from shoal.metrics.lookup import ratio
from shoal.metrics.registry import Recorded, declare
from shoal.units import Unit

if TYPE_CHECKING:
    from shoal.contract import LinkStep
    from shoal.run_record import RunRecord


def _changes(result: RunRecord, link: int) -> bool:
    return moving.history(result, link) is not None


@declare(*("capacity_used", "Capacity used", Unit.FRACTION), tabled=True, applies=_changes)
def capacity_used(result: RunRecord, link: int = 0) -> float | None:
    """Bytes that left a link that changes over those that it could have carried at the rates that it had."""
    history = moving.history(result, link)
    return None if history is None else history["capacity_used"]


@declare("unused", "Capacity left unused", Unit.FRACTION)
def unused(result: RunRecord, link: int = 0) -> float | None:
    """Part of what a link could have carried that it did not, also where its rate changes."""
    used = result.bottlenecks[link]["utilisation"] if not _changes(result, link) else capacity_used(result, link)
    return None if used is None else 1.0 - used


@declare(*("above_target", "Bytes above the delay target", Unit.FRACTION), tabled=True, applies=_changes)
def above_target(result: RunRecord, link: int = 0) -> float | None:
    """Part of the bytes that waited longer than ``trace.delay_target`` (30 ms at links that change)."""
    bottleneck = result.bottlenecks[link]
    return (
        ratio(bottleneck["above_target"]["bytes"], bottleneck["departed_bytes"])
        if "above_target" in bottleneck
        else None
    )


@declare("steps", "Steps of the rate", Unit.RATIO, digits=0)
def steps(result: RunRecord, link: int = 0) -> float | None:
    """Steps of a link's rate in the measurement; changes less than 100 ms apart are one, an outage and its end too."""
    return len(moving.steps(result, link))


@declare("step_settling_ms", "Queue settled after a step", Unit.MILLISECONDS, needs=Recorded.SERIES)
def step_settling_s(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """Time from a step until the queue's delay stays in its later range; none if it does not before half of its time.

    The later range is that of the second half of the time to the next step, one packet wider on both sides.
    """
    return number(_step(result, step, link)["settling_s"])


@declare("step_overshoot_ms", "Overshoot of the queue after a step", Unit.MILLISECONDS, needs=Recorded.SERIES)
def step_overshoot_s(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """By how much the queue's delay exceeds, in the first half of the time to the next step, all of the second."""
    return number(_step(result, step, link)["overshoot_s"])


@declare("step_undershoot_ms", "Undershoot of the queue after a step", Unit.MILLISECONDS, needs=Recorded.SERIES)
def step_undershoot_s(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """By how much the queue's delay falls, in the first half of the time to the next step, below all of the second."""
    return number(_step(result, step, link)["undershoot_s"])


@declare("step_peak_ms", "Longest queue after a step", Unit.MILLISECONDS, needs=Recorded.SERIES)
def step_peak_s(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """The queue's longest delay from a step to the next one, as a mean over a bin of the time series."""
    return number(_step(result, step, link)["peak_s"])


@declare("step_below_target_ms", "Queue below the target after a step", Unit.MILLISECONDS, needs=Recorded.SERIES)
def step_below_target_s(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """Time from a step until the queue's delay stays at or below ``trace.delay_target``; none if it ends above."""
    return number(_step(result, step, link)["below_target_s"])


@declare("step_recovery_ms", "Throughput recovered after a step", Unit.MILLISECONDS, needs=Recorded.SERIES)
def step_recovery_s(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """Time from a step to the first 100 ms in which the link carries 90 % of its new rate; none if there are none."""
    return number(_step(result, step, link)["recovery_s"])


@declare("step_utilisation", "Utilisation after a step", Unit.FRACTION, needs=Recorded.SERIES)
def step_utilisation(result: RunRecord, step: int = 0, link: int = 0) -> float | None:
    """Part of the new rate that the link carries in the minute after a step, or in what the next step leaves of it.

    ``utilisation_over_s`` of the result says how long that is.
    """
    return number(_step(result, step, link)["utilisation"])


@declare("power", "Power", Unit.POWER, needs=Recorded.SERIES)
def power(result: RunRecord, link: int = 0) -> float | None:
    """Carried rate over round-trip time, mean over the bins of the measurement; zero while the link is down.

    The round-trip time is the mean propagation delay of all flows and the queue's delay.
    """
    start_s, _ = result.window
    rows = moving.power(result, link)
    return number(rows.filter(rows["time_s"] > start_s)["power"].mean())


def _step(result: RunRecord, step: int, link: int) -> LinkStep:
    """The step of this number, of a run that recorded a time series."""
    known = moving.steps(result, link)
    if not 0 <= step < len(known):
        raise UsageError(
            f"the link `{result.bottlenecks[link]['name']}` has {len(known)} steps of its rate in the "
            f"measurement, and no number {step}",
            hint="they are counted from 0; changes less than 100 ms apart are one, and those before warmup none",
        )
    if result.bin_s is None:
        raise UsageError(
            "metrics of steps need a time series, and this run recorded none",
            hint='set trace.series = "auto", or a time (`--trace series=10ms`)',
        )
    return known[step]
