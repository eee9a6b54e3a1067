"""CPU milliseconds of a short run through the Python API, by what they are spent on.

An episode is what a search does for each candidate: it replaces a value of a scenario, runs it for a second and looks
at the summary. Fails if two runs of one seed differ.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import shoal
from shoal import _native
from shoal_dev.study import Study
from shoal_dev.tables import table

KEY, VALUE = "bottleneck.aqm.threshold", "30 packets"
SEED = 7
# Runs of these lengths give the cost of an event, without what a run costs that has none.
SHORT_S, LONG_S = 2, 8
# A sweep of so many episodes.
POINTS = 100


@dataclass
class Part:
    """Something that is measured: what it does, and its least CPU time in seconds so far."""

    call: Callable[[], object]
    best_s: float = float("inf")

    def measure(self) -> None:
        """Do it once more."""
        start = time.process_time()
        self.call()
        self.best_s = min(self.best_s, time.process_time() - start)


def lasting(seconds: int) -> shoal.Scenario:
    """The scenario of an episode of some length, before a value is replaced."""
    aqm = {"kind": "step", "threshold": "20 packets"}
    flows = [{"cc": "dctcp", "rtt": "10 ms"}, {"cc": "cubic", "rtt": "10 ms"}]
    return shoal.Scenario.from_keys(
        {"duration": f"{seconds} s", "bottleneck": {"rate": "100 Mbit/s", "aqm": aqm}, "flows": flows}
    )


def at(seconds: int) -> shoal.Scenario:
    """The scenario of an episode of some length."""
    return lasting(seconds).override({KEY: VALUE})


def run(scenario: shoal.Scenario) -> _native.Run:
    """What the native module does in a run."""
    return scenario.native.run(seed=SEED)


def events(scenario: shoal.Scenario) -> int:
    """Events of a run."""
    return int(json.loads(run(scenario).json)["events"])


def best(parts: dict[str, Part], repeat: int) -> dict[str, float]:
    """CPU milliseconds of each part, measured in turns, so that a busy machine slows all of them alike."""
    for number in range(repeat):
        for name, part in parts.items():
            # Long parts are measured less often.
            if number % (10 if name in ("short", "long", "sweep") else 1) == 0:
                part.measure()
    return {name: part.best_s * 1e3 for name, part in parts.items()}


def measure(*, repeat: int = 200) -> Iterator[str]:
    """One row a part, best of some times."""
    base = lasting(1)
    point, short, long = at(1), at(SHORT_S), at(LONG_S)
    # Everything is set up, and no packet comes before the run ends.
    idle = point.override({"flows.*.start": "0.999999 s"})
    finished = run(point)
    text = finished.json
    if run(point).json != text:
        raise ValueError("two runs of one seed differ")

    def episode() -> object:
        return shoal.run(base.override({KEY: VALUE}), seed=SEED).summary

    def sweep() -> object:
        grid = {"seed": range(POINTS), KEY: [VALUE]}
        return [point.results[0].summary for point in shoal.sweep(base, grid=grid, workers=1)]

    cpu_ms = best(
        {
            "episode": Part(episode),
            "reading": Part(lambda: _native.Scenario(base.text, base.name, [(KEY, f'"{VALUE}"')])),
            "planning": Part(lambda: point.native.simulator_refuses),
            "run": Part(lambda: run(point)),
            "idle": Part(lambda: run(idle)),
            "text": Part(lambda: finished.json),
            "objects": Part(lambda: json.loads(text)),
            "short": Part(lambda: run(short)),
            "long": Part(lambda: run(long)),
            "sweep": Part(sweep),
        },
        repeat,
    )
    event_ms = (cpu_ms["long"] - cpu_ms["short"]) / (events(long) - events(short))
    packets = event_ms * events(point)
    parts = {
        "Python: override, checks, summary": cpu_ms["episode"]
        - sum(cpu_ms[name] for name in ("reading", "run", "text", "objects")),
        "parsing: the text, its keys, defaults and checks, and the network": cpu_ms["reading"],
        "planning: flows and paths for a seed": cpu_ms["planning"],
        "set-up and series, as of a run whose flows begin at its end": cpu_ms["idle"] - cpu_ms["planning"],
        "first packets, which cost more than later ones": cpu_ms["run"] - cpu_ms["idle"] - packets,
        "result: to JSON and back": cpu_ms["text"] + cpu_ms["objects"],
    }
    above = cpu_ms["episode"] - packets
    rows = [(name, f"{spent:.3f}", f"{spent / above:.0%}") for name, spent in parts.items()]
    rows += [
        ("above the packets", f"{above:.3f}", "100%"),
        (f"packets ({events(point):,} events of {event_ms * 1e6:.0f} ns)", f"{packets:.3f}", ""),
        ("in all", f"{cpu_ms['episode']:.3f}", ""),
        (f"the same in a sweep of {POINTS}", f"{cpu_ms['sweep'] / POINTS:.3f}", ""),
    ]
    yield table(("an episode of 1 s at 100 Mbit/s", "CPU ms", "of what is above the packets"), rows, "lr")


STUDY = Study(
    title="Short episodes",
    about="see [performance](../internals/performance.md#short-episodes)",
    measure=measure,
    takes="about a minute",
    of_a_machine=True,
)
