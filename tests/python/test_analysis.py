"""Analysis of recorded tables beyond the summary."""

from __future__ import annotations

import math

import polars as pl
import pytest

import shoal
from shoal import analysis


@pytest.fixture(scope="module")
def run() -> shoal.Result:
    scenario = shoal.Scenario.from_toml(
        """
        duration = "20 s"
        warmup   = "5 s"
        bottleneck = { rate = "10 Mbit/s", aqm = { kind = "fifo" }, buffer = "40 packets" }
        flows = [{ cc = "reno", rtt = "25 ms" }]
        trace = { series = "20 ms", windows = "1 s" }
        """
    )
    return shoal.run(scenario)


def test_the_distribution_is_that_of_the_summary(run: shoal.Result) -> None:
    pdf = analysis.backlog_pdf(run, "all")
    assert pdf["share"].sum() == pytest.approx(1)
    queue = run.bottlenecks[0]["queue_packets"]
    assert (pdf["low_packets"] * pdf["share"]).sum() == pytest.approx(queue["mean"], rel=1e-9)
    assert pdf.filter(pl.col("share") > 0)["low_packets"].max() == queue["max"]
    assert analysis.backlog_between(run, "all", 0, queue["max"]) == pytest.approx(1)
    assert analysis.backlog_between(run, "all", 0, 0) == pytest.approx(run.bottlenecks[0]["queue_empty"])
    # No packet is ECN-capable, so that none of that class waits.
    assert analysis.backlog_between(run, "ect", 0, 0) == pytest.approx(1)
    assert analysis.backlog_pdf(run, "not_ect").equals(pdf)


def test_wider_bars_add_up(run: shoal.Result) -> None:
    narrow, wide = analysis.backlog_pdf(run, "all"), analysis.backlog_pdf(run, "all", width=5)
    assert wide["share"][2] == pytest.approx(narrow["share"][10:15].sum())


def test_windows_partition_the_measurement(run: shoal.Result) -> None:
    starts = analysis.window_starts(run)
    assert starts == [float(second) for second in range(5, 20)]
    means = []
    for start_s in starts:
        pdf = analysis.backlog_pdf(run, "all", start_s=start_s)
        assert pdf["share"].sum() == pytest.approx(1)
        means.append((pdf["low_packets"] * pdf["share"]).sum())
    # Equal windows: the mean of the means is the mean.
    assert sum(means) / len(means) == pytest.approx(run.bottlenecks[0]["queue_packets"]["mean"], rel=1e-9)


def test_delays_have_a_distribution(run: shoal.Result) -> None:
    rows = run.table("delay_distribution").filter(pl.col("class") == "not_ect")
    mean = ((rows["low_s"] + rows["high_s"]) / 2 * rows["packets"]).sum() / rows["packets"].sum()
    assert mean == pytest.approx(run.bottlenecks[0]["delay_s"]["not_ect"]["mean"], abs=0.5e-3)


def test_a_sawtooth_has_its_period(run: shoal.Result) -> None:
    # BDP 20.8 packets, buffer 40: the window grows from about 31 to 62 packets by one each two RTTs (delayed ACKs
    # count one) or each RTT, so a period lasts seconds, not milliseconds.
    found = analysis.oscillation(run)
    assert found.period_s is not None
    assert 0.5 < found.period_s < 5
    queue = run.bottlenecks[0]["queue_packets"]
    assert found.amplitude == pytest.approx((queue["p95"] - queue["p5"]) / 2, abs=1.5)


def test_oscillation_of_a_sine_in_seconds() -> None:
    values = [math.sin(2 * math.pi * n * 0.01 / 0.25) for n in range(1000)]
    assert analysis.oscillation_of(values, 0.01).period_s == pytest.approx(0.25, rel=0.01)


def test_convergence_counts_from_the_start_of_the_group() -> None:
    scenario = shoal.Scenario.from_toml(
        """
        duration = "30 s"
        warmup   = "10 s"
        bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
        flows = [
          { name = "first", cc = "dctcp", rtt = "25 ms" },
          { name = "late",  cc = "dctcp", rtt = "25 ms", start = "5 s" },
        ]
        """
    )
    run = shoal.run(scenario)
    late_s = analysis.convergence_s(run, "late", within=0.2, target_bps=5e6)
    assert late_s is not None
    assert 0 < late_s < 20
    # The first flow loses half of its rate after 5 s: it converges to the fair share only then.
    first_s = analysis.convergence_s(run, "first", within=0.2, target_bps=5e6)
    assert first_s is not None
    assert first_s > 5
    assert analysis.convergence_s(run, "first", within=0.2, target_bps=9e6) is None
    with pytest.raises(shoal.UsageError, match="no flow group"):
        analysis.convergence_s(run, "none")


def test_a_class_that_does_not_exist(run: shoal.Result) -> None:
    with pytest.raises(shoal.UsageError, match="there is no class"):
        analysis.backlog_pdf(run, "ecn")
