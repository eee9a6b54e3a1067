"""Which notices the shipped scenarios and those of the papers have: a new one is a finding or a false alarm."""

from __future__ import annotations

from pathlib import Path

import pytest
from beginnings import FABRICS

import shoal

ROOT = Path(__file__).parents[2]
PAPERS = [path for path in ROOT.glob("papers/*/*.toml") if path.name != "paper.toml"]
FILES = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("scenarios/**/*.toml"), *PAPERS])
# Of the scenario, not of its numbers.
NOTES = {"moving-link", "impaired-link", "controller-replaced", "dctcp-in-classic-queue", "queue-in-hosts"}

# Runs that are shortened: fabrics. Without any drop the window of the open loop would grow without end.
SHORTER = {f"scenarios/{name}": dict(keys) for name, keys in FABRICS.items()}
SHORTER["papers/deschepper-2015/open-loop.toml"] = {"duration": "25 s", "bottleneck.aqm.drop": 0.01}

DROPPED = "dropped-where-others-are-marked"
# Kind, group and first mechanism; every other scenario has none. Each is true, and said by the scenario's own sentences
# or shown by its numbers: one RED for both classes drops packets of one where it marks those of the other; a step marks
# whole windows of DCTCP that classic traffic holds above it; a flow that answers nothing sends more than the link has;
# the long flow of the parking lot passes three queues; 83 packets for a hundred flows; Prague waits behind packets that
# take three times the step, and keeps its lowest rate; CUBIC behind DualPI2 waits in the longer queue, so that its
# round trip is longer; the only flow that asks for marks behind FQ-CoDel sends little. Three have no mechanism:
# DCTCP behind dual RED, ten flows of which some began without ECN, and DCTCP beside BBR, which answers no marks and
# holds the queue above the step.
EXPECTED: dict[str, list[tuple[str, str, str]]] = {
    "papers/deschepper-2015/red.toml": [("below-fair-share", "cubic", DROPPED)],
    "papers/kuehlewind-2014/one-red.toml": [("below-fair-share", "reno", DROPPED)],
    "scenarios/bench/s1.toml": [("starved", "dctcp", "smallest-window")],
    "scenarios/bench/s2.toml": [("below-fair-share", "dctcp", ""), ("unequal-shares", "dctcp", "without-ecn")],
    "scenarios/compare/bbr-dctcp-step-40m.toml": [("starved", "dctcp", "")],
    "scenarios/compare/cubic-prague-dualpi2-4m.toml": [("starved", "prague-0.7", "smallest-window")],
    "scenarios/compare/dctcp-rtts-step-100m.toml": [("below-half-share", "far", "longer-round-trip")],
    "scenarios/compare/dctcp-x50-cubic-x50-dualpi2-100m.toml": [("below-half-share", "cubic", "smallest-window")],
    "scenarios/compare/mix-codel-40m.toml": [("starved", "reno", DROPPED)],
    "scenarios/compare/mix-cubic-ikr-dual-red-40m.toml": [("below-fair-share", "cubic", DROPPED)],
    "scenarios/compare/mix-dual-red-10m.toml": [("below-half-share", "dctcp", "")],
    "scenarios/compare/mix-linux-red-10m.toml": [("below-fair-share", "reno", DROPPED)],
    "scenarios/compare/mix-pie-ecn-40m.toml": [("below-fair-share", "reno", DROPPED)],
    "scenarios/compare/mix-red-ecn-20m.toml": [("below-fair-share", "reno", DROPPED)],
    "scenarios/compare/prague-rtts-dualpi2-40m.toml": [("below-half-share", "far", "longer-round-trip")],
    "scenarios/dctcp-storm.toml": [("retransmission-storm", "dctcp", "window-out-of-proportion")],
    "scenarios/dualpi2.toml": [("below-half-share", "cubic", "longer-round-trip")],
    "scenarios/fq-codel.toml": [("no-marks", "sparse", "application-limited")],
    "scenarios/locked-flows.toml": [("unequal-shares", "first", "joins", "uneven-marks")],
    "scenarios/parking-lot.toml": [("below-fair-share", "through", "several-queues")],
    "scenarios/queue-protection.toml": [
        ("starved", "scalable", "unresponsive-traffic"),
        ("starved", "classic", "unresponsive-traffic"),
    ],
    "scenarios/rate-step/dual-red.toml": [("below-fair-share", "cubic", DROPPED)],
    "scenarios/rate-step/pie.toml": [("below-fair-share", "cubic", DROPPED)],
    "scenarios/rate-step/step.toml": [("starved", "dctcp", "smallest-window")],
    "scenarios/red-ecn.toml": [("below-fair-share", "reno", DROPPED)],
    "scenarios/switch-wred.toml": [("starved", "cubic", DROPPED)],
}


@pytest.mark.parametrize("name", FILES)
def test_notices_of_a_scenario(name: str) -> None:
    scenario = shoal.Scenario.from_file(ROOT / name)
    result = shoal.run(scenario.override(SHORTER.get(name, {})))
    notices = [each for each in result.notices if each.kind not in NOTES]
    assert [(each.kind, *each.groups, *(each.mechanisms[:1] or [""])) for each in notices] == EXPECTED.get(name, [])
