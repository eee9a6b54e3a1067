"""The findings of docs/findings on the kernel in which they were made: what is claimed still happens there."""

from __future__ import annotations

from pathlib import Path

from shoal.conformance import run_scripts
from shoal.linux import Image

STORM = Path(__file__).parents[2] / "docs" / "findings" / "dctcp-storm"


def test_a_loss_after_a_spurious_timeout_multiplies_the_window(image: Image) -> None:
    (verdict,) = run_scripts([STORM / "dctcp_loss_after_spurious_timeout.pkt"], on="linux")
    assert verdict.outcome == "fail"
    assert verdict.data["seen"] == "tcpi_snd_cwnd = 85"
