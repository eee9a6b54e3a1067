"""What the Linux plane makes of a law: its words for `tc`, and the numbers that tc and the kernel compute from them.

The Linux plane is the owner of what `tc` lines mean; reader and writer of `tc` ask it. It needs no kernel for this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from shoal._toml import toml_document
from shoal.errors import ScenarioError, UsageError
from shoal.scenario import Scenario

_line = re.compile(r"^\S+: tc qdisc (add|change) dev \S+ parent ([0-9]+:[0-9]+) handle ([0-9]+): (.+)$")
_solved = re.compile(r"linux-red: Wlog ([0-9]+), Plog ([0-9]+), Scell_log [0-9]+, max_P ([0-9]+) ")


@dataclass(frozen=True, slots=True)
class Discipline:
    """A queue discipline as the plane configures it below its line."""

    verb: str
    parent: str
    handle: str
    words: str


@dataclass(frozen=True, slots=True)
class SolvedRed:
    """What tc computes for RED: the weight n of 2^-n, and the probability at the maximum that the kernel uses."""

    weight: int
    pmax: Fraction


def disciplines(scenario: Scenario) -> list[Discipline]:
    """The disciplines of a scenario's first bottleneck.

    Raises
    ------
    ScenarioError
        Linux has no discipline for its law; the message has the reason.
    """
    name = scenario.facts["bottlenecks"][0]["name"]
    qdiscs = []
    for owner, text in _rules(scenario):
        match = _line.match(text)
        # Routers carry the name of the link's place or of the queue's key.
        if match and owner in (name, "bottleneck.aqm", "bottleneck"):
            qdiscs.append(Discipline(match[1], match[2], match[3], match[4]))
    return qdiscs


def solved_red(aqm: Mapping[str, object]) -> SolvedRed:
    """What tc computes for a law of kind ``linux-red``.

    Raises
    ------
    ScenarioError
        tc or the kernel refuses its numbers; the message is theirs.
    """
    for _, text in _rules(scenario_of(aqm)):
        if (match := _solved.search(text)) is not None:
            weight, plog, max_p = map(int, match.groups())
            if max_p:
                return SolvedRed(weight, Fraction(max_p, 2**32))
            # A zero makes the kernel use the power of two: (max - min) / 2^Plog at the maximum.
            ends = [int(str(aqm[key]).removesuffix(" B")) for key in ("min", "max")]
            return SolvedRed(weight, min(Fraction(1), Fraction(max(1, ends[1] - ends[0]), 2**plog)))
    raise AssertionError("the Linux plane names no weight of RED")


def burst_for(table: Mapping[str, object], exponent: int) -> int:
    """The smallest burst, in packets, from which tc computes a weight of 2^-exponent.

    Raises
    ------
    UsageError
        There is none that the kernel takes.
    """
    least = int(str(table["min"]).removesuffix(" B"))
    avpkt = int(str(table["avpkt"]).removesuffix(" B"))

    def weight(burst: int) -> int:
        try:
            return solved_red({**table, "kind": "linux-red", "burst": f"{burst} packets"}).weight
        except ScenarioError as error:
            first = str(error).splitlines()[0]
            if "too small" in first:
                return 0
            if "scaled by the weight" in first:
                return 32  # The kernel finds it too large.
            raise

    low, high = max(1, least // avpkt), least // avpkt + 2 ** (exponent + 2)
    while low < high:
        middle = (low + high) // 2
        if weight(middle) >= exponent:
            high = middle
        else:
            low = middle + 1
    if weight(low) != exponent:
        raise UsageError(
            f"tc cannot express this queue: with min = {least} B no burst gives a weight of 2^-{exponent} that the "
            "kernel takes",
            hint="write a smaller weight; from 2^-9 on the kernel takes thresholds below 4 MiB only",
        )
    return low


def scenario_of(
    aqm: Mapping[str, object], *, link: Mapping[str, object] | None = None, mtu_bytes: int = 1500
) -> Scenario:
    """The smallest scenario with a law; ``link`` has the other keys of its bottleneck."""
    keys: dict[str, object] = {
        "duration": "1 s",
        "bottleneck": {"rate": "10 Gbit/s", "buffer": "1000 packets", **(link or {}), "aqm": aqm},
        "flows": [{"cc": "reno", "rtt": "1 ms", "mtu": f"{mtu_bytes} B"}],
    }
    return Scenario.from_toml(toml_document(keys), name="tc")


def _rules(scenario: Scenario) -> list[tuple[str, str]]:
    from shoal.linux.images import Unbuilt

    return scenario.native.linux_plan(Unbuilt().description).rules
