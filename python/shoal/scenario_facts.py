"""What is computed of a scenario in base units: the shape of :attr:`shoal.Scenario.facts`.

Written by crates/lab/scenario/src/facts.rs; tests/python/test_scenarios.py compares both.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ThresholdFacts(TypedDict):
    """A level of a queue at which its law changes what it does."""

    label: str
    bytes: float
    #: The level in seconds if it is a time.
    time_s: NotRequired[float]


class LinkFacts(TypedDict):
    """A monitored link."""

    name: str
    rate_bps: int
    #: ``None`` if the scenario has no round-trip time for it.
    bdp_bytes: float | None
    #: The largest packet of any flow; 1,500 without flows.
    mtu_bytes: int
    thresholds: list[ThresholdFacts]


class PathFacts(TypedDict):
    """A way that data of some flows of a group take."""

    #: Indices of the monitored links on it, in the order of the result.
    links: list[int]
    #: How many flows take it.
    flows: int
    #: How many of them have data to send during the whole measurement.
    always_send: int


class GroupFacts(TypedDict):
    """A flow group; times are those of its first flow unless their name says otherwise."""

    name: str
    #: How many flows it has.
    flows: int
    base_rtt_s: float | None
    longest_rtt_s: float | None
    #: Of a frame; ``None`` for applications other than frames.
    deadline_s: float | None
    #: Whether data is sent as ECN-capable; ``None`` without flows.
    ect: bool | None
    paths: list[PathFacts]


class TracedFacts(TypedDict):
    """Numbers of the flows that are traced."""

    controller: list[int]
    segments: list[int]


class ScenarioFacts(TypedDict):
    """Facts of a scenario; links are in the order of the result, groups in that of the file."""

    duration_s: float
    warmup_s: float
    bottlenecks: list[LinkFacts]
    groups: list[GroupFacts]
    #: Bin of the time series; ``None`` if none is recorded.
    series_s: float | None
    traced: TracedFacts
