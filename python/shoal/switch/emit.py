"""From a scenario to the configuration of a platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.switch.amounts import Port
from shoal.switch.code_points import in_ranges
from shoal.switch.from_scenario import queues_of
from shoal.switch.model import Queue
from shoal.switch.options import HasLimit, HasMap, Options
from shoal.switch.platforms.base import OptionsT, Platform
from shoal.switch.presets import Switch
from shoal.switch.tables import merged
from shoal.switch.writing import Writing

if TYPE_CHECKING:
    from shoal.scenario import Scenario


def write_configuration(
    scenario: Scenario,
    platform: Platform[OptionsT],
    options: OptionsT,
    *,
    index: int = 0,
    cell_bytes: int | None = None,
    switch: Switch | None = None,
) -> tuple[str, list[tuple[str, str]]]:
    """Write the configuration of a scenario's queue, or of its queues for traffic classes.

    Parameters
    ----------
    scenario
        It has one bottleneck.
    platform, options
        Whose configuration it is to be, and what the platform is told.
    index
        Number of the queue on the device.
    cell_bytes
        Thresholds are rounded up to whole cells of this size; by default those of the switch.
    switch
        What is known of the device.

    Returns
    -------
    The configuration, and what was rounded or is lost, as texts and hints.

    Raises
    ------
    UsageError
        The platform cannot express the queue; the message says why.
    """
    device = switch or Switch()
    queues, lost = queues_of(scenario, index=index)
    facts = scenario.facts["bottlenecks"][0]
    port = Port(facts["rate_bps"], mtu_bytes=facts["mtu_bytes"], cell_bytes=cell_bytes or device.cell_bytes or 1)
    writing = Writing(port, options, switch=device, scenario=scenario)
    text = platform.write(queues, writing)
    if not platform.always_leads:
        _say_what_leads_to_them(queues, writing)
    for queue in queues:
        buffer = queue.buffer
        if buffer is not None and buffer.alpha is not None and not isinstance(options, HasLimit):
            writing.remark(
                queue,
                f"what it may hold of the memory that queues share is not written (alpha {float(buffer.alpha):g}, "
                f"{buffer.reserved_bytes} bytes reserved)",
                "dynamic thresholds belong to the pools of the device: set them there",
            )
    return text, merged([*lost, *writing.remarks])


def _say_what_leads_to_them(queues: Sequence[Queue], writing: Writing[Options]) -> None:
    """Say which packets the queues are for, unless that is written."""
    options = writing.options
    for queue in queues:
        if not queue.dscp:
            continue
        points = in_ranges(queue.dscp)
        if isinstance(options, HasMap) and options.has_map:
            writing.remark(queue, f"the map is that of the whole device: code points {points} are of this queue")
        else:
            writing.remark(
                queue,
                f"that packets with the code point {points} go to this queue is not written",
                "--with-map writes a map of all code points, which is one for the whole device"
                if isinstance(options, HasMap)
                else "",
            )
