"""The page of a running box: what it shows goes to a process of its own, and what readers move comes from there.

The box is to send frames when they are due, so that it waits for no reader: what the other process does not take at
once comes with the next news.
"""

from __future__ import annotations

import json
import math
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shoal.errors import OutputError, ScenarioError

if TYPE_CHECKING:
    from shoal.scenario import Scenario

#: The page, which `make page` builds.
page_file = Path(__file__).parents[1] / "_data" / "page" / "box.html"
# The longest message between both processes, in bytes.
longest = 1 << 20
# So long the other process may take to begin, in s.
_patience_s = 20.0
# Flows that the page gets by themselves, those that send most.
_most_flows = 12
# The parameter of a queue that the page can move, by its kind: that of laws which take others while packets wait.
_targets = {"step": "threshold", "codel": "target", "fq-codel": "target", "pi2": "target", "dualpi2": "target"}


class Box(Protocol):
    """What the page asks of a box: see :class:`shoal.wire_box.WireBox`."""

    def waits(self) -> tuple[list[float], list[float]]: ...  # noqa: D102
    def change(self, key: str, value: str) -> None: ...  # noqa: D102


class BoxPage:
    """The page of a box, for as long as it runs.

    Parameters
    ----------
    scenario
        The scenario of the box.
    title
        What the page says above all.
    trusted_us
        Lateness of the 99th percentile up to which rates and delays are those of the scenario.

    Raises
    ------
    OutputError
        There is no page, or the process that serves it does not begin.
    """

    def __init__(self, scenario: Scenario, title: str, *, trusted_us: float) -> None:
        if not page_file.is_file():
            raise OutputError(
                "this checkout has no page yet", hint="`make page` builds it (needs node and npm); the table needs none"
            )
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "shoal.linux.box_server", str(theirs.fileno()), str(page_file)]
        # An interrupt of the terminal is for the box, which ends the server by closing their connection.
        self._server = subprocess.Popen(  # noqa: S603
            command, pass_fds=[theirs.fileno()], start_new_session=True
        )
        theirs.close()
        kind = _bottleneck(scenario).get("aqm", {}).get("kind", "of the first link")
        self._about: dict[str, Any] = {
            "type": "about",
            "title": title,
            "queue": kind,
            "controls": controls(scenario),
            "trusted_us": trusted_us,
        }
        self._keys = {control["key"] for control in self._about["controls"]}
        self._before: dict[str, Any] = {"at_s": 0.0, "ways": [{"flows": []}]}
        self._delays: list[list[float]] = [[], []]
        self._socket.settimeout(_patience_s)
        try:
            self._socket.send(json.dumps(self._about).encode())
            #: Where the page is: an address that only this machine has, with a part that nobody guesses.
            self.address: str = json.loads(self._socket.recv(longest))["address"]
        except (OSError, ValueError):
            self.close()
            raise OutputError("the page cannot be served", hint="leave --page out, and look at the table") from None
        self._socket.setblocking(False)

    def show(self, box: Box, counts: dict[str, Any], videos: Mapping[str, Any] | None = None) -> None:
        """Show what has happened since the last time, and what is known of videos that go through the box."""
        for delays, gained in zip(self._delays, box.waits(), strict=True):
            delays.extend(gained)
        if self._send({**news(counts, self._before, self._delays), "videos": videos or {}}):
            self._before, self._delays = counts, [[], []]

    def move(self, box: Box) -> Iterator[str]:
        """Change the box as readers have moved its controls, and say what was changed, or why not."""
        for key, value in self._moved():
            error = None
            try:
                if key not in self._keys:
                    raise ScenarioError(f"`{key}` is no control of this page")
                box.change(key, value)
                yield f"moved: {key}={value}"
            except ScenarioError as refused:
                # Where it stands in a file means nothing to whoever has moved a slider.
                error = str(refused).splitlines()[0].removeprefix("error: ")
                yield f"not moved: {key}={value}: {error}"
            self._send({"type": "moved", "key": key, "value": value, "error": error})

    def close(self) -> None:
        """End the page."""
        self._socket.close()
        try:
            self._server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    def _moved(self) -> Iterator[tuple[str, str]]:
        """The last value of each key that was moved since the last time."""
        moved: dict[str, str] = {}
        try:
            while message := self._socket.recv(longest):
                read = json.loads(message)
                moved[str(read["key"])] = str(read["value"])
        except OSError:  # nothing more, or the server is gone, without which the box goes on
            pass
        yield from moved.items()

    def _send(self, message: dict[str, Any]) -> bool:
        try:
            self._socket.send(json.dumps(message).encode())
        except OSError:
            return False
        return True


def news(counts: dict[str, Any], before: dict[str, Any], delays: list[list[float]]) -> dict[str, Any]:
    """What the page shows of the time between two counts.

    Parameters
    ----------
    counts, before
        What :meth:`shoal.wire_box.WireBox.counts` has given.
    delays
        Queueing delays of that time: of ECN-capable packets and of all others.
    """
    way, past = counts["ways"][0], before["ways"][0]
    earlier = {flow["flow"]: flow for flow in past["flows"]}
    flows = []
    for flow in way["flows"]:
        past_flow = earlier.get(flow["flow"], {})
        gained = {key: flow[key] - past_flow.get(key, 0) for key in ("bytes", "marked", "dropped")}
        if any(gained.values()):
            flows.append({"flow": flow["flow"], **gained})
    flows.sort(key=lambda flow: -flow["bytes"])
    rest = flows[_most_flows:]
    return {
        "type": "news",
        "at_s": counts["at_s"],
        "over_s": counts["at_s"] - before["at_s"],
        "flows": flows[:_most_flows],
        "others": {"flows": len(rest), "bytes": sum(flow["bytes"] for flow in rest)},
        "bytes": way["left_bytes"] - past.get("left_bytes", 0),
        "marked": way["marked"] - past.get("marked", 0),
        "dropped": way["dropped"] - past.get("dropped", 0),
        "waiting_packets": way["waiting_packets"],
        "delays": delays,
        "late_us": max((late for each in counts["ways"] if (late := each["late_us"]["p99"]) is not None), default=None),
        "lost_by_box": sum(each["refused"] + each["missed"] for each in counts["ways"]),
    }


def controls(scenario: Scenario) -> list[dict[str, Any]]:
    """What can be moved while a box of this scenario runs: keys with labels, units, values and ranges."""
    bottleneck = _bottleneck(scenario)
    round_trip = scenario.resolved["flows"][0].get("rtt")
    there, trip = _quantity(bottleneck.get("delay")), _quantity(round_trip)
    # The way there is a part of the round trip.
    least = there[0] if there and trip and there[1] == trip[1] else 0.0
    moved = [
        _control("bottleneck.rate", "Rate", bottleneck.get("rate")),
        _control("flows[0].rtt", "Round trip", round_trip, least),
    ]
    law = bottleneck.get("aqm", {})
    if target := _targets.get(law.get("kind", "")):
        moved.append(_control(f"bottleneck.aqm.{target}", target.capitalize(), law.get(target)))
    return [control for control in moved if control is not None]


def _bottleneck(scenario: Scenario) -> dict[str, Any]:
    """The keys of the bottleneck; none in a topology of nodes and links, where the box has the first link."""
    keys: Any = scenario.resolved.get("bottleneck")
    return dict(keys or {})


def _quantity(value: Any) -> tuple[float, str] | None:
    """A number and its unit, if it is both."""
    read = re.fullmatch(r"([0-9.]+) ([A-Za-z/]+)", str(value))
    return None if read is None else (float(read[1]), read[2])


def _control(key: str, label: str, value: Any, least: float | None = None) -> dict[str, Any] | None:
    """A slider around a quantity; none if it is no number with a unit, or nothing."""
    number, unit = _quantity(value) or (0.0, "")
    if not number > 0:
        return None
    # Steps of 1, 2 or 5 of a power of ten, about a hundred of them to twice the value.
    power = 10.0 ** math.floor(math.log10(number / 50))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= number / 50)
    if unit == "packets":
        step = max(1.0, step)
    most = math.ceil(4 * number / step) * step
    return {
        "key": key,
        "label": label,
        "unit": unit,
        "value": number,
        "min": step if least is None else least,
        "max": most,
        "step": step,
    }
