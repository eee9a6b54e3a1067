"""BBR in whole runs of the simulator: the table of its model, and its draws."""

from __future__ import annotations

import polars as pl
import pytest

import shoal

SCENARIO = """
title = "One flow in front of a buffer of two bandwidth-delay products"
duration = "8 s"
warmup = "1 s"
bottleneck = {{ rate = "{rate}", buffer = "2 BDP" }}
flows = [{{ cc = "{cc}", rtt = "{rtt}" }}]
trace = {{ controller_flows = 1 }}
"""


def run(cc: str, *, rate: str = "20 Mbit/s", rtt: str = "40 ms", seed: int = 1) -> shoal.Result:
    """A run of one flow."""
    return shoal.run(shoal.Scenario.from_toml(SCENARIO.format(cc=cc, rate=rate, rtt=rtt)), seed=seed)


@pytest.mark.parametrize(
    ("cc", "states"),
    [
        ("bbr", ["startup", "drain", "probe_bw"]),
        ("bbr3", ["startup", "drain", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_bw_down"]),
    ],
)
def test_the_table_of_the_model_has_its_states(cc: str, states: list[str]) -> None:
    """States come in their order; bounds that were not found are none."""
    table = run(cc).table("path_model")
    seen = table["state"].to_list()
    first = [state for n, state in enumerate(seen) if n == 0 or seen[n - 1] != state]
    assert first[: len(states)] == states
    assert table["full_bandwidth_reached"].to_list() == sorted(table["full_bandwidth_reached"])
    assert table["inflight_longterm_packets"].null_count() == len(table)
    last = table.row(-1, named=True)
    # 1448 of 1500 B of a packet are payload.
    assert last["bandwidth_bps"] == pytest.approx(20e6 * 1448 / 1500, rel=0.02)
    assert last["min_rtt_s"] == pytest.approx(0.04, rel=0.05)


@pytest.mark.parametrize("cc", ["bbr", "bbr3"])
@pytest.mark.parametrize(("rate_mbps", "rtt"), [(10, "20 ms"), (100, "20 ms"), (10, "100 ms")])
def test_the_bandwidth_is_that_of_the_link(cc: str, rate_mbps: int, rtt: str) -> None:
    """Within two percent of the rate at which the link carries payload, and the link is used."""
    result = run(cc, rate=f"{rate_mbps} Mbit/s", rtt=rtt)
    bandwidth = result.table("path_model")["bandwidth_bps"][-1]
    assert bandwidth == pytest.approx(rate_mbps * 1e6 * 1448 / 1500, rel=0.02)
    assert result.bottlenecks[0]["utilisation"] > 0.9


def test_only_controllers_with_a_model_have_the_table() -> None:
    """CUBIC estimates no path."""
    assert "path_model" not in run("cubic").table_names


def test_the_gain_cycle_begins_where_the_seed_says() -> None:
    """Draws are those of the run's seed and of the flow."""

    def first_probe(seed: int) -> float:
        table = run("bbr", seed=seed).table("path_model").filter(pl.col("state") == "probe_bw")
        probes = table.filter(pl.col("pacing_bps") > 1.2 * pl.col("bandwidth_bps"))
        return round(probes["time_s"][0], 3)

    assert first_probe(1) == first_probe(1)
    assert len({first_probe(seed) for seed in range(1, 9)}) > 2


def test_bbr_needs_a_current_stack() -> None:
    """Older hosts take no rate samples."""
    with pytest.raises(shoal.ScenarioError, match="rate samples"):
        shoal.Scenario.from_toml(SCENARIO.format(cc="bbr", rate="20 Mbit/s", rtt="40 ms")).override(
            {"flows[0].stack": "linux-3.18"}
        )
