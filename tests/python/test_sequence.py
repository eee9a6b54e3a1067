"""Sequence diagrams: packets matched between the ends, the excerpt, labels, and lists of flows that are cut."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal import metrics
from shoal.plots import sequence
from shoal.plots.sequence import Label, clustered
from shoal.tabulate import group_table

ONE_SIDED = """\
duration = "300 ms"
warmup = "0 s"
trace = { series = "off", controller_flows = 1, segment_flows = 1 }

[bottleneck]
rate = "100 Mbit/s"
buffer = "40 packets"
aqm = { kind = "step", threshold = "10 packets" }

[[flows]]
name = "classic"
cc = "ecn-newreno"
stack = "freebsd-2015"
rtt = "2 ms"
receiver = { feedback = "dctcp", delays_cwr_acks = false }
"""
OTHERS = """
[[flows]]
name = "others"
cc = "reno"
rtt = "2 ms"
count = 3
"""


@pytest.fixture(scope="module")
def scenario() -> shoal.Scenario:
    return shoal.Scenario.from_toml(ONE_SIDED, name="one-sided.toml")


@pytest.fixture(scope="module")
def result(scenario: shoal.Scenario) -> shoal.Result:
    return shoal.run(scenario)


def test_packets_are_matched_between_the_ends(result: shoal.Result) -> None:
    packets = sequence.packets(result, 0)
    known = packets.filter(pl.col("received_s").is_not_null())
    # 2 ms in both directions: 1 ms each, and the reverse path is only a delay.
    delay_s = known["received_s"] - known["sent_s"]
    assert (delay_s.filter(known["data"]) > 1e-3).all()
    assert ((delay_s.filter(~known["data"]) - 1e-3).abs() < 1e-12).all()
    assert known.filter("data")["segment"].drop_nulls().min() == 1
    assert known.filter(pl.col("data") & pl.col("ce")).height == result.groups[0]["totals"]["marks_seen"] > 0


def test_lost_packets_have_no_arrival(scenario: shoal.Scenario) -> None:
    lossy = shoal.run(scenario.override({"flows.classic.ecn": "off"}))
    last = lossy.window[1] - 0.02
    lost = sequence.packets(lossy, 0).filter(pl.col("received_s").is_null() & (pl.col("sent_s") < last))
    assert 0 < lost.height <= lossy.bottlenecks[0]["dropped"]
    assert lost["data"].all()
    texts = sequence.draw(lossy, start_s=float(lost["sent_s"][0]) - 1e-3, end_s=float(lost["sent_s"][0]) + 1e-3)
    crosses = [line for line in texts.figure.axes[0].lines if line.get_marker() == "x"]
    assert crosses


def test_the_excerpt_is_around_a_reduction(scenario: shoal.Scenario) -> None:
    drawn = sequence.draw(shoal.run(scenario.override({"warmup": "50 ms"})))
    shown = drawn.data
    assert shown.filter(pl.col("data") & pl.col("cwr")).height == 1
    assert shown.filter("ece").height >= 1
    assert shown["sent_s"].min() > 0.04
    texts = [text.get_text() for text in drawn.figure.axes[0].texts]
    cuts = [text.removeprefix("cwnd ").split(" → ") for text in texts if text.startswith("cwnd")]
    assert any(int(cut[1].split(",")[0]) < int(cut[0]) for cut in cuts)
    assert any("CWR" in text for text in texts)
    assert any("ECE" in text for text in texts)
    # The harm of figure 1: the ACK of CWR counts one segment.
    cwr = shown.filter(pl.col("data") & pl.col("cwr")).row(0, named=True)
    answer = shown.filter(~pl.col("data") & (pl.col("sent_s") >= cwr["received_s"])).row(0, named=True)
    assert answer["next"] == cwr["segment"] + 1


def test_untraced_flows_are_explained(result: shoal.Result, scenario: shoal.Scenario) -> None:
    with pytest.raises(shoal.UsageError, match="no packets of flow 3"):
        result.plot_sequence(3)
    with pytest.raises(shoal.UsageError, match="did not trace packets"):
        shoal.run(scenario.override({"trace.segment_flows": 0})).plot_sequence()


def test_labels_that_would_overlap_are_joined() -> None:
    labels = [Label(0.0, "1", False), Label(0.01, "2 ECE", True), Label(0.5, "3", False), Label(0.5, "", True)]
    assert clustered(labels, 0.1) == [Label(0.0, "1, 2 ECE", True), Label(0.5, "3", False)]
    many = [Label(n / 1000, f"{n} ECE", True) for n in range(5)]
    assert clustered(many, 0.1) == [Label(0.0, "0 ECE … 4 ECE", True)]
    assert clustered(many[:2], 0.1)[0].text == "0, 1 ECE"


def test_cut_lists_of_flows_do_not_change_tables() -> None:
    crowd = shoal.Scenario.from_toml(ONE_SIDED + OTHERS, name="crowd.toml")
    whole, cut = shoal.run(crowd), shoal.run(crowd.override({"trace.flows": 2}))
    listed = [len(group["flows"]) for group in cut.groups]
    assert sum(listed) == 2
    assert group_table([cut]) == group_table([whole])
    assert metrics.metric(cut, "count('others', 'losses')") == metrics.metric(whole, "count('others', 'losses')") > 0
    with pytest.raises(shoal.UsageError, match="of the 3 flows of `others`"):
        metrics.metric(cut, "cwnd_packets('others')")
    # Flows in the list keep their numbers.
    rows = {row["flow"]: row for row in whole.to_polars().to_dicts()}
    assert all(rows[row["flow"]] == row for row in cut.to_polars().to_dicts())
