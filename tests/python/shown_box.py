"""A page of a box that carries nothing: what it shows is made up, so that the page is tested without privileges.

`python shown_box.py` prints the address and what is moved, and ends with its input.
"""

from __future__ import annotations

import json
import select
import sys
from typing import Any

from shoal.errors import ScenarioError
from shoal.linux import box_page
from shoal.scenario import Scenario
from shoal.wire_box import trusted_us

STEP_S = 0.1
QUEUE = {"rate": "40 Mbit/s", "aqm": {"kind": "dualpi2", "target": "15 ms"}}


def scenario(**bottleneck: object) -> Scenario:
    return Scenario.from_keys(
        {"duration": "1 s", "bottleneck": QUEUE | bottleneck, "flows": [{"cc": "cubic", "rtt": "20 ms"}]}
    )


class MadeUpBox:
    """Two flows of 10 Mbit/s with packets that wait 1 ms, and others that wait 15 ms."""

    def __init__(self) -> None:
        self.moved: list[tuple[str, str]] = []
        self.steps = 0

    def counts(self) -> dict[str, Any]:
        sent = int(10e6 / 8 * STEP_S) * self.steps
        flows = [
            {"flow": f"10.9.0.1:{port} > 10.9.0.2:443, TCP", "bytes": sent, "marked": marked, "dropped": dropped}
            for port, marked, dropped in ((5001, 4 * self.steps, 0), (5002, 0, self.steps))
        ]
        way = {
            "flows": flows,
            "left_bytes": 2 * sent,
            "marked": 4 * self.steps,
            "dropped": self.steps,
            "waiting_packets": 12,
            "late_us": {"p99": 7.0},
            "refused": 0,
            "missed": 0,
        }
        return {"at_s": self.steps * STEP_S, "ways": [way, way | {"flows": []}]}

    def waits(self) -> tuple[list[float], list[float]]:
        return [0.0009, 0.001, 20.0], [0.014, 0.015, 20.0]

    def change(self, key: str, value: str) -> None:
        if value.startswith("13 "):
            raise ScenarioError("error: not this number\n --> --set:1:1\n")
        self.moved.append((key, value))


def main() -> None:
    box: Any = MadeUpBox()
    page = box_page.BoxPage(scenario(), "left and right", trusted_us=trusted_us)
    print(page.address, flush=True)
    while not select.select([sys.stdin], [], [], STEP_S)[0]:
        box.steps += 1
        video = {"of": box.steps, "late": box.steps // 2, "recent": [False, True] * min(25, box.steps)}
        page.show(box, box.counts(), {"video over CUBIC": video})
        for _ in page.move(box):
            print(json.dumps(box.moved), flush=True)
    page.close()


if __name__ == "__main__":
    sys.exit(main())
