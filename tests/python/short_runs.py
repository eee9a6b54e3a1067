"""Runs of advice that are too short to be trusted, for tests of what becomes of their numbers."""

from __future__ import annotations

import pytest

from shoal.advise import traffic


def shorten(monkeypatch: pytest.MonkeyPatch, *, round_trips: int, least_s: float, settling_s: float) -> None:
    """Let runs have few packets and round trips, and last and settle no longer than that."""
    monkeypatch.setattr(traffic, "_packets", 4000)
    monkeypatch.setattr(traffic, "_round_trips", round_trips)
    for name in ("_least_s", "_long_s"):
        monkeypatch.setattr(traffic, name, least_s)
    for name in ("_settling_s", "_look_settling_s"):
        monkeypatch.setattr(traffic, name, settling_s)
