"""One run on several threads, from Python and from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.errors import ScenarioError, UsageError

fabric = """
duration = "1 ms"
warmup = "0 s"
[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 2
rate = "10 Gbit/s"
delay = "1 us"
buffer = "60 packets"
aqm = { kind = "step", threshold = "20 packets" }
[[flows]]
cc = "dctcp"
from = "h1..h8"
to = "h1..h8"
pairing = "permutation"
"""


@pytest.fixture
def scenario() -> shoal.Scenario:
    return shoal.Scenario.from_toml(fabric)


@pytest.mark.parametrize("threads", [2, 4])
def test_the_bytes_do_not_depend_on_threads(scenario: shoal.Scenario, threads: int) -> None:
    assert shoal.run(scenario, threads=threads).json == shoal.run(scenario).json


def test_what_cannot_be_divided_is_refused_with_the_reason(scenario: shoal.Scenario) -> None:
    with pytest.raises(ScenarioError, match="8 parts at most"):
        shoal.run(scenario, threads=9)
    with pytest.raises(ScenarioError, match=r"trace\.controller_flows"):
        shoal.run(scenario.override({"trace.controller_flows": 1}), threads=2)


def test_arguments_that_do_not_go_together(scenario: shoal.Scenario, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one run"):
        shoal.run(scenario, seeds=2, threads=2)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="order of all events"):
        shoal.run(scenario, pcap=tmp_path / "a.pcapng", threads=2)
    with pytest.raises(UsageError, match="0 threads"):
        shoal.run(scenario, threads=0)
    assert not list(tmp_path.iterdir())


def test_an_error_of_the_progress_function_ends_all_threads(scenario: shoal.Scenario) -> None:
    def progress(_: float) -> None:
        raise RuntimeError("enough")

    longer = scenario.override({"duration": "2 s"})
    with pytest.raises(RuntimeError, match="enough"):
        shoal.run(longer, threads=2, progress=progress)
