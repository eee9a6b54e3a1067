"""The findings of docs/findings: what each page claims still happens, and its cure still works."""

from __future__ import annotations

from pathlib import Path

import shoal
from shoal.conformance import run_scripts

STORM = Path(__file__).parents[2] / "docs" / "findings" / "dctcp-storm"


def test_the_script_of_the_storm_fails_on_the_model_of_linux() -> None:
    (verdict,) = run_scripts([STORM / "dctcp_loss_after_spurious_timeout.pkt"])
    assert verdict.outcome == "fail"
    assert verdict.data["wanted"] == "tcpi_snd_cwnd <= 25"
    assert verdict.data["seen"] == "tcpi_snd_cwnd = 85"


def retransmissions(scenario: shoal.Scenario, seed: int) -> int:
    (group,) = shoal.run(scenario, seed=seed).data["groups"]
    return sum(flow["retransmissions"] for flow in group["flows"])


def test_one_outage_makes_a_storm_and_the_cure_does_not() -> None:
    storm = shoal.Scenario.named("dctcp-storm")
    cured = storm.set_text(("flows.dctcp.cc_options.raises_prr_base_on_loss", "true"))
    for seed in (1, 2, 3):
        assert retransmissions(storm, seed) > 100_000
        assert retransmissions(cured, seed) < 50
