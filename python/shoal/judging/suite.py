"""What a law is judged by if nothing else is asked for: short episodes, and others that an optimiser never sees.

Each episode takes a few milliseconds of a processor, so that hundreds fit a second. The held-out ones have other
rates, round trips and neighbours, so that a law that only fits the first set shows.
"""

from __future__ import annotations

from typing import Any

from shoal.scenario import Scenario

_start = {"uniform": ["0 ms", "50 ms"]}


def suite(*, of_controller: bool) -> list[Scenario]:
    """The scenarios that make the score; the first is the cheapest."""
    return [
        _episode("alone", of_controller, rate="10 Mbit/s", rtt="20 ms", duration_s=4),
        _episode("beside its like", of_controller, rate="10 Mbit/s", rtt="20 ms", count=2),
        _episode("long round trip", of_controller, rate="5 Mbit/s", rtt="80 ms"),
        _episode("beside Reno", of_controller, rate="10 Mbit/s", rtt="20 ms", other="reno"),
    ]


def held_out(*, of_controller: bool) -> list[Scenario]:
    """The scenarios that only tell whether the score holds elsewhere."""
    return [
        _episode("faster link", of_controller, rate="25 Mbit/s", rtt="10 ms"),
        _episode("four of its like", of_controller, rate="8 Mbit/s", rtt="40 ms", count=4),
        _episode("beside CUBIC", of_controller, rate="15 Mbit/s", rtt="30 ms", other="cubic"),
    ]


def _episode(
    title: str, of_controller: bool, *, rate: str, rtt: str, count: int = 1, other: str = "", duration_s: int = 8
) -> Scenario:
    flows: list[dict[str, Any]] = [{"name": "law", "cc": "dctcp", "rtt": rtt, "count": count, "start": _start}]
    if other:
        flows.append({"name": "other", "cc": other, "rtt": rtt, "start": _start})
    # Laws of hosts are judged behind a queue that marks for those that ask for it and drops for others alike. Its
    # average is ten times as fast as usual, so that the overshoot of slow start is over when the measurement begins.
    aqm: dict[str, Any] = {"kind": "red", "min": "5 packets", "max": "25 packets", "max_probability": 0.1, "ecn": True}
    aqm["weight"] = 0.02
    keys: Any = {
        "title": title,
        "duration": f"{duration_s} s",
        "warmup": f"{duration_s / 4:g} s",
        "bottleneck": {"rate": rate, "buffer": "100 packets", "aqm": aqm if of_controller else {"kind": "fifo"}},
        "flows": flows,
        "trace": {"series": "off"},
    }
    return Scenario.from_keys(keys, name=f"judge: {title}")
