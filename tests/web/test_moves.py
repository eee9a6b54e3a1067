"""A page's moves are a schedule: the native engine gives the last plan the bytes of the live run in WebAssembly."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

from conftest import run_in_node
from test_same_bytes import native

from shoal._toml import toml_document
from shoal.scenario_keys import BottleneckAqm, ScenarioKeys

SEED = 14
SEQUENCES = 100
MOVES = 25
DURATION_S = 6.0
# A move takes effect so long after the time at which it is made: longer than the transmission of a packet.
AHEAD_S = 0.01
QUEUES: list[BottleneckAqm] = [
    {"kind": "red", "min": "20 packets", "max": "60 packets", "max_probability": 0.1},
    {"kind": "coupled", "saturation": "100 ms"},
    {"kind": "dualq-coupled", "saturation": "100 ms"},
    {"kind": "dualpi2"},
    {"kind": "step", "threshold": "10 packets"},
    {"kind": "fifo"},
    {"kind": "codel"},
    {"kind": "fq-codel"},
]


@dataclass
class Plan:
    """What a page with sliders writes: a pool of flows of each kind, the rate and the delay, each over time."""

    queue: BottleneckAqm
    pools: list[list[list[float | None]]] = field(
        default_factory=lambda: [[[0.0, None], *([None, None] for _ in range(12))] for _ in range(2)]
    )
    rates: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 40)])
    delays: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 3)])

    def move(self, now_s: float, draw: random.Random) -> None:
        """One slider goes somewhere."""
        at_s = round(now_s + AHEAD_S, 6)
        match draw.choice(["flows", "flows", "flows", "rate", "delay"]):
            case "flows":
                self._flows(draw.choice(self.pools), draw.randint(0, 6), at_s)
            case "rate":
                self.rates.append((at_s, draw.randint(5, 60)))
            case "delay":
                self.delays.append((at_s, draw.randint(1, 20)))

    @staticmethod
    def _flows(pool: list[list[float | None]], wanted: int, at_s: float) -> None:
        here = [flow for flow in pool if flow[0] is not None and flow[1] is None]
        waiting = [flow for flow in pool if flow[0] is None]
        for flow in here[wanted:]:
            # A flow that has just been told to join is there for a moment.
            flow[1] = max(at_s, round((flow[0] or 0.0) + 1e-6, 6))
        for flow in waiting[: max(0, wanted - len(here))]:
            flow[0] = at_s

    def text(self) -> str:
        def entries(pool: list[list[float | None]], which: int) -> list[str]:
            return ["never" if flow[which] is None else f"{flow[which]:.6f} s" for flow in pool]

        def changes(values: list[tuple[float, int]], unit: str) -> list[list[str]]:
            return [[f"{at_s:.6f} s", f"{value} {unit}"] for at_s, value in values]

        keys: ScenarioKeys = {
            "duration": f"{DURATION_S} s",
            "warmup": "1 s",
            "trace": {"series": "100 ms"},
            "bottleneck": {
                "rate": "40 Mbit/s",
                "buffer": "200 packets",
                "aqm": self.queue,
                "schedule": {"rates": changes(self.rates, "Mbit/s"), "delays": changes(self.delays, "ms")},
            },
            "flows": [
                {"cc": cc, "rtt": "10 ms", "start": entries(pool, 0), "stop": entries(pool, 1)}
                for cc, pool in zip(("cubic", "dctcp"), self.pools, strict=True)
            ],
        }
        return toml_document(keys)


def sequence(number: int) -> list[tuple[float, str]]:
    """Times of moves, and the plan from each on; the first is that with which the run begins."""
    draw = random.Random(f"{SEED}/{number}")
    plan = Plan(QUEUES[number % len(QUEUES)])
    found = [(0.0, plan.text())]
    for at_s in sorted(round(draw.uniform(0.05, DURATION_S - 0.1), 3) for _ in range(MOVES)):
        # Two moves at one time would be one.
        if at_s - found[-1][0] > AHEAD_S:
            plan.move(at_s, draw)
            found.append((at_s, plan.text()))
    return found


def test_any_sequence_of_moves_has_the_native_bytes_of_its_last_plan(module: Path, tmp_path: Path) -> None:
    print(f"seed {SEED}")
    sequences = {f"moves-{number}": sequence(number) for number in range(SEQUENCES)}
    files = {f"{name}.moves": json.dumps(steps) for name, steps in sequences.items()}
    found = run_in_node(module, files, tmp_path)
    expected = {file: text for name, steps in sequences.items() for file, text in native(name, steps[-1][1]).items()}
    assert not [text for name, text in expected.items() if name.endswith(".error")]
    assert found.keys() == expected.keys(), {name: text for name, text in found.items() if name.endswith(".error")}
    assert not [file for file, text in expected.items() if found[file] != text]
    moves = sum(len(steps) - 1 for steps in sequences.values())
    print(f"{SEQUENCES} sequences of {moves} moves in all: results and tables have the same bytes")
