"""docs/findings/locked-flows on the kernel: a flow that joins stays small while senders wait for whole segments."""

from __future__ import annotations

import pytest

import shoal
from shoal.linux import Image, run_on_linux


@pytest.mark.parametrize(("divisor", "least", "most"), [(3, 0.0, 0.3), (0, 0.9, 1.1)])
def test_the_joining_flow_has_its_part_without_the_wait_alone(
    image: Image, divisor: int, least: float, most: float
) -> None:
    scenario = shoal.Scenario.named("locked-flows").override({"flows.*.host.tso_win_divisor": divisor})
    first, joins = (group["wire_bps"]["mean"] for group in run_on_linux(scenario, image=image).data["groups"])
    assert least < 2 * joins / (first + joins) < most
