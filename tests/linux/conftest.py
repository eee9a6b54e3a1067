"""The kernel that ``shoal linux build`` made; without one these tests are skipped, with the reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import shoal
from shoal.linux import Image, LinuxError, find_image

SINGLE = """
title = "One flow"
duration = "10 s"
warmup = "4 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", rtt = "25 ms" }]
trace = { series = "100 ms", controller_flows = 1 }
"""

# Two flows and random marks, so that the seed decides about everything that it can.
RANDOM = """
title = "Two flows"
duration = "20 s"
warmup = "5 s"
trace = { series = "1 s" }
[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"
[bottleneck.aqm]
kind = "linux-red"
min = "15 kB"
max = "45 kB"
avpkt = "1500 B"
burst = "20 packets"
probability = 0.1
ecn = true
[[flows]]
cc = "reno"
rtt = "25 ms"
[[flows]]
cc = "dctcp"
rtt = "25 ms"
start = { uniform = ["0 s", "1 s"] }
"""


def processes_of(folder: Path) -> list[int]:
    """Processes that work in a folder or were started for it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                inside = str(entry.joinpath("cwd").readlink()).startswith(str(folder))
                named = str(folder) in entry.joinpath("cmdline").read_text(errors="replace")
            except OSError:
                continue
            if inside or named:
                found.append(int(entry.name))
    return found


def tables(result: shoal.Result) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a run recorded."""
    return {name: result.table(name).rows() for name in result.table_names}


@pytest.fixture(scope="session")
def image() -> Image:
    try:
        return find_image()
    except LinuxError as error:
        pytest.skip(f"left out: {error} ({error.hint})")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``SHOAL_KERNEL_TESTS=smoke`` a kernel runs each queue twice, and no more: what each commit is tried with."""
    if os.environ.get("SHOAL_KERNEL_TESTS") != "smoke":
        return
    long = [item for item in items if "image" in getattr(item, "fixturenames", ()) and "same_bytes" not in item.nodeid]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


@pytest.fixture
def single() -> shoal.Scenario:
    return shoal.Scenario.from_toml(SINGLE)


@pytest.fixture
def random() -> shoal.Scenario:
    return shoal.Scenario.from_toml(RANDOM)
