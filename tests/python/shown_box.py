"""A page of a box that carries nothing: what it shows is made up, so that the page is tested without privileges.

`python shown_box.py` prints the address and what is moved, and ends with its input. With `changing` behind it a move
ends a flow, and another begins when the first is not shown any more.
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
    """Two flows of 10 Mbit/s with packets that wait 1 ms, and others that wait 15 ms.

    If they change, a step is a second of the box, a move ends the first flow, and another begins 60 s later.
    """

    def __init__(self, *, changes: bool = False) -> None:
        self.moved: list[tuple[str, str]] = []
        self.steps = 0
        self._step_s = 1.0 if changes else STEP_S
        self._changes = changes
        self._moved_at: int | None = None

    def counts(self) -> dict[str, Any]:
        end = self.steps if self._moved_at is None else self._moved_at
        sending = {5001: end, 5002: self.steps, 6001: max(0, self.steps - end - 60)}
        flows = [
            {
                "flow": f"10.9.0.1:{port} > 10.9.0.2:443, TCP",
                "bytes": int(10e6 / 8 * self._step_s) * steps,
                "marked": 4 * steps if port == 5001 else 0,
                "dropped": steps if port == 5002 else 0,
            }
            for port, steps in sending.items()
            if steps > 0
        ]
        way = {
            "flows": flows,
            "left_bytes": sum(flow["bytes"] for flow in flows),
            "marked": 4 * self.steps,
            "dropped": self.steps,
            "waiting_packets": 12,
            "late_us": {"p99": 7.0},
            "refused": 0,
            "missed": 0,
        }
        return {"at_s": self.steps * self._step_s, "ways": [way, way | {"flows": []}]}

    def waits(self) -> tuple[list[float], list[float]]:
        return [0.0009, 0.001, 20.0], [0.014, 0.015, 20.0]

    def change(self, key: str, value: str) -> None:
        if value.startswith("13 "):
            raise ScenarioError("error: not this number\n --> --set:1:1\n")
        self.moved.append((key, value))
        if self._changes:
            self._moved_at = self.steps


def main() -> None:
    box: Any = MadeUpBox(changes=sys.argv[1:] == ["changing"])
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
