"""Laws as modules: Reno, DCTCP and CUBIC from files give the bytes of those that are built in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from shoal_dev import ROOT
from shoal_dev.law_modules import build

_queues: dict[str, dict[str, object]] = {
    "fifo": {"kind": "fifo"},
    "step": {"kind": "step", "threshold": "20 packets"},
    "pie": {"kind": "pie", "ecn": True},
}
# Stacks count ACKs in three ways, and FreeBSD's windows are bytes.
_stacks = ("linux-6", "linux-3.2", "freebsd-14")


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = ROOT / "target" / "web" / "laws"
    build(folder)
    return folder


_text = """
duration = "12 s"
bottleneck = { rate = "20 Mbit/s", buffer = "100 packets", aqm = { kind = "fifo" } }

[[flows]]
cc = "reno"
name = "law"
rtt = "30 ms"
count = 2

[[flows]]
cc = "cubic-rfc9438"
name = "other"
rtt = "30 ms"
start = "2 s"
stop = "9 s"

[[flows]]
cc = "reno"
name = "short"
rtt = "30 ms"
app = { transfer = "200 kB", rounds = 4, every = "2 s" }

[trace]
controller_flows = 4
"""


def _scenario(cc: str, queue: str, stack: str) -> shoal.Scenario:
    ecn = "off" if queue == "fifo" else "on"
    of_law = {"cc": cc, "stack": stack, "ecn": ecn}
    values = {f"flows.{group}.{key}": value for group in ("law", "short") for key, value in of_law.items()}
    return shoal.Scenario(_text).override({"bottleneck.aqm": _queues[queue], **values})


def _numbers(scenario: shoal.Scenario) -> str:
    run = scenario.native.run()
    result = json.loads(run.json)
    del result["scenario"]
    # Every change of window, threshold and estimate of the traced flows is in the tables.
    tables = {
        name: {column: [*map(str, values)] for column, values in columns.items()}
        for name, columns in run.tables().items()
    }
    assert tables["controller"]
    return json.dumps([result, tables])


@pytest.mark.parametrize(
    ("law", "queue", "stack"),
    [
        (law, queue, stack)
        for law in ("reno", "dctcp", "cubic")
        for queue in _queues
        for stack in _stacks
        # Linux' CUBIC counts packets.
        if (law, stack) != ("cubic", "freebsd-14")
    ],
)
def test_a_module_gives_the_bytes_of_the_law_that_is_built_in(law: str, queue: str, stack: str, modules: Path) -> None:
    built_in = _scenario(law, queue, stack)
    cc = f"file:{modules / law}.wasm"
    module = _scenario(cc, queue, stack)
    assert _numbers(built_in) == _numbers(module).replace(cc, law)
