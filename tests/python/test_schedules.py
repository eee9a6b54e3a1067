"""Links that change during the run: what results, notices and figures say of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import moving
from shoal.plots import path, queue, rates
from shoal.tabulate import comparison_table, step_tables

ONE_LINK = """
duration = "40 s"
warmup = "10 s"
bottleneck = {{ rate = "{rate}", delay = "1 ms", buffer = "50 packets", schedule = {{ {schedule} }} }}
flows = [{{ cc = "{cc}", rtt = "10 ms", count = {count} }}]
"""


def one_link(schedule: str, *, rate: str = "100 Mbit/s", cc: str = "reno", count: int = 4) -> shoal.Result:
    return shoal.run(shoal.Scenario.from_toml(ONE_LINK.format(schedule=schedule, rate=rate, cc=cc, count=count)))


def kinds(result: shoal.Result) -> list[str]:
    return [notice.kind for notice in result.notices]


def test_a_link_that_becomes_faster_has_a_result() -> None:
    # It carries nine times what its first rate would: that was taken for a contradiction, and no result was given.
    result = one_link('changes = [{ at = "5 s", rate = "100 Mbit/s" }]', rate="10 Mbit/s")
    (link,) = result.bottlenecks
    assert link["departed_bytes"] * 8 / 30 > 80e6
    assert link["history"]["rate"] == [
        {"from_s": 0.0, "rate_bps": 1e7},
        {"from_s": 5.0, "rate_bps": 1e8},
    ]
    assert link["history"]["mean_rate_bps"] == 1e8


def test_fair_shares_are_those_of_the_rates_that_the_link_had() -> None:
    # One flow fills the 5 Mbit/s that remain, which is 5 % of the first rate; it is not starved.
    result = one_link('changes = [{ at = "5 s", rate = "5 Mbit/s" }]', cc="cubic", count=1)
    assert result.groups[0]["wire_bps"]["sum"] == pytest.approx(5e6, rel=0.01)
    assert kinds(result) == ["moving-link"]


def test_windows_that_a_longer_delay_needs_are_no_reason_for_a_notice() -> None:
    # Flows whose windows halve need long to fill the longer path; at 10 ms these windows would allow 7 times the rate.
    result = one_link('changes = [{ at = "5 s", delay = "150 ms" }]')
    assert 0.3 < (result.bottlenecks[0]["utilisation"] or 0) < 0.7
    assert kinds(result) == ["moving-link"]


def test_time_without_a_link_is_not_idle_time() -> None:
    result = one_link('changes = [{ at = "12 s", outage = "15 s" }]', count=1)
    (link,) = result.bottlenecks
    # 15 s of 30 s, and then a timeout that doubled until it was longer than what was left of the outage.
    assert (link["utilisation"] or 0) < 0.5
    assert link["history"]["down_s"] == 15.0
    assert link["history"]["mean_rate_bps"] == 5e7
    assert link["history"]["capacity_used"] == pytest.approx((link["utilisation"] or 0) * 2, rel=1e-3)
    assert kinds(result) == ["moving-link"]


def test_bytes_above_a_delay_target_are_counted_where_asked_or_where_links_change() -> None:
    # 50 packets of 1500 B at 10 Mbit/s take 60 ms: behind 25 packets and more a packet waits longer than 30 ms.
    slow = one_link('changes = [{ at = "5 s", rate = "10 Mbit/s" }]')
    above = slow.bottlenecks[0]["above_target"]
    assert above["target_s"] == 0.03
    assert 0.5 < above["bytes"] / slow.bottlenecks[0]["departed_bytes"] < 1
    assert above["bytes"] == above["packets"] * 1500
    still = shoal.Scenario.named("step-single").override({"duration": "5 s", "warmup": "1 s"})
    assert "above_target" not in shoal.run(still).bottlenecks[0]
    asked = shoal.run(still.override({"trace.delay_target": "1 us"})).bottlenecks[0]
    assert 0.9 * asked["departed"] < asked["above_target"]["packets"] <= asked["departed"]


# 10 Mbit/s of datagrams. At 5 Mbit/s, from 2 s to 3 s, 5 Mbit too many arrive; at 20 Mbit/s these are 250 ms, and while
# 10 Mbit/s keep coming, they are gone after 500 ms.
DATAGRAMS = """
duration = "10 s"
warmup = "1 s"
bottleneck.rate = "20 Mbit/s"
bottleneck.buffer = "unlimited"
bottleneck.schedule.changes = [{ at = "2 s", rate = "5 Mbit/s" }, { at = "3 s", rate = "20 Mbit/s" }]
flows = [{ name = "video", cc = "none", rtt = "20 ms", app = { unresponsive = "10 Mbit/s", packet = "1250 B" } }]
trace.series = "10 ms"
"""


@pytest.fixture(scope="module")
def datagrams() -> shoal.Result:
    return shoal.run(shoal.Scenario.from_toml(DATAGRAMS))


def test_what_followed_a_step(datagrams: shoal.Result) -> None:
    def metric(expression: str) -> float:
        return datagrams.metric(expression) or 0.0

    assert metric("steps()") == 2
    # Until 3 s the queue only grows: it keeps no level, and is half of its end at the end of the first half.
    assert datagrams.metric("step_settling_ms(0)") is None
    assert metric("step_peak_ms(0)") == pytest.approx(1000, abs=10)
    assert metric("step_overshoot_ms(0)") == 0
    assert metric("step_undershoot_ms(0)") == pytest.approx(500, abs=12)
    assert metric("step_utilisation(0)") == pytest.approx(1, abs=1e-3)
    assert metric("step_settling_ms(1)") == pytest.approx(500, abs=12)
    assert metric("step_peak_ms(1)") == metric("step_overshoot_ms(1)") == pytest.approx(250, abs=5)
    assert metric("step_undershoot_ms(1)") == 0
    assert metric("step_recovery_ms(1)") == 0
    # At 20 Mbit/s 30 ms are 0.6 of 5 Mbit, which are gone after 440 of 500 ms.
    assert metric("step_below_target_ms(1)") == pytest.approx(440, abs=12)
    assert datagrams.metric("step_below_target_ms(0)") is None
    # Half a second of all and 6.5 s of half of the rate.
    assert metric("step_utilisation(1)") == pytest.approx((0.5 + 6.5 / 2) / 7, abs=1e-3)
    # 10 Mbit/s of 20, 5 and 20 Mbit/s in 1, 1 and 7 s.
    assert metric("capacity_used()") == pytest.approx(90 / 165, abs=1e-3)
    # Behind 30 ms waits what comes from 2.03 s on, until the queue is shorter than that again.
    assert 0.1 < metric("above_target()") < 0.2
    # 10 Mbit/s over 20 ms where nothing waits are 0.5 Mbit/s per ms; 5 Mbit/s over a long queue are little.
    assert 0.35 < metric("power()") < 0.5


def test_steps_are_shown(datagrams: shoal.Result) -> None:
    (table,) = step_tables([datagrams])
    assert table.title == "Steps of the rate of bottleneck"
    falls, rises = table.rows
    assert falls[:4] == ("2 s", "20.00 Mbit/s", "5.00 Mbit/s", "not within 1 s")
    assert falls[-1] == "100.00 % (1 s)"
    assert rises[:3] == ("3 s", "5.00 Mbit/s", "20.00 Mbit/s")
    assert (
        step_tables([shoal.run(shoal.Scenario.named("step-single").override({"duration": "2 s", "warmup": "1 s"}))])
        == []
    )


def test_steps_without_a_time_series_say_so() -> None:
    scenario = shoal.Scenario.from_toml(DATAGRAMS).override({"trace.series": "off"})
    result = shoal.run(scenario)
    (table,) = step_tables([result])
    assert table.title.endswith("; what followed is known with a time series only (trace.series)")
    assert [set(row[3:]) for row in table.rows] == [{"-"}, {"-"}]
    assert result.metric("steps()") == 2
    with pytest.raises(shoal.UsageError, match="metrics of steps need a time series"):
        result.metric("step_settling_ms(1)")
    with pytest.raises(shoal.UsageError, match="has 2 steps of its rate"):
        result.metric("step_settling_ms(2)")


def test_figures_show_the_schedule(datagrams: shoal.Result) -> None:
    drawn = path.draw(datagrams)
    assert "rate of the link" in drawn.description
    assert "Power" in drawn.description
    rate_axes, delay_axes = drawn.figure.axes[:2]
    line = next(line for line in rate_axes.get_lines() if line.get_label() == "rate of the link")
    assert list(line.get_xdata()) == [0.0, 2.0, 3.0, 10.0]
    assert list(line.get_ydata()) == [20.0, 5.0, 20.0, 20.0]
    assert max(delay_axes.get_lines()[0].get_ydata()) == pytest.approx(1000, abs=10)
    # Equal shares follow the rate.
    result = one_link('changes = [{ at = "12 s", rate = "20 Mbit/s" }, { at = "20 s", outage = "1 s" }]')
    lines = rates.draw(result).figure.axes[0].get_lines()
    shares = next(line for line in lines if line.get_label() == "equal shares")
    assert list(shares.get_ydata()) == [25.0, 5.0, 0.0, 5.0, 5.0]
    assert "link down" in queue.draw(result).description
    assert "link down" in path.draw(result).description


def test_a_trace_is_its_changes(tmp_path: Path) -> None:
    text = ONE_LINK.format(schedule="SCHEDULE", rate="100 Mbit/s", cc="cubic", count=2)
    (tmp_path / "train.csv").write_text(
        "time_s,rate_mbit_s,delay_ms\n12,20,5\n20.5,down,5\n21,1e1,20\n", encoding="utf-8"
    )
    (tmp_path / "demo.toml").write_text(text.replace("SCHEDULE", 'trace = "train.csv"'), encoding="utf-8")
    scenario = shoal.Scenario.from_file(tmp_path / "demo.toml")
    traced = shoal.run(scenario)
    changes = (
        'changes = [{ at = "12 s", rate = "20 Mbit/s", delay = "5 ms" }, { at = "20.5 s", outage = "500 ms" }, '
        '{ at = "21 s", rate = "10 Mbit/s", delay = "20 ms" }]'
    )
    written = shoal.run(shoal.Scenario.from_toml(text.replace("SCHEDULE", changes)))
    assert counts(traced) == counts(written)
    # The resolved scenario needs the file no more, from wherever it is read.
    (tmp_path / "train.csv").unlink()
    (tmp_path / "again.toml").write_text(traced.scenario.to_toml(), encoding="utf-8")
    assert json.loads(shoal.run(shoal.Scenario.from_file(tmp_path / "again.toml")).json) == traced.data


def counts(result: shoal.Result) -> list[object]:
    (link,) = result.bottlenecks
    return [link["departed"], link["dropped"], link["delay_s"], link["history"]["mean_rate_bps"]]


def test_a_sine_carries_its_mean() -> None:
    sine = 'rate_sine = { mean = "60 Mbit/s", amplitude = "40 Mbit/s", period = "2 s" }'
    result = one_link(sine, rate="60 Mbit/s", cc="cubic", count=8)
    (link,) = result.bottlenecks
    # The measurement has 15 whole periods.
    assert link["history"]["mean_rate_bps"] == pytest.approx(60e6, rel=1e-6)
    assert link["history"]["means_over_s"] == 0.04
    assert len(link["history"]["rate"]) == 1000
    highest = max(one["rate_bps"] for one in link["history"]["rate"])
    # A mean over 40 ms of a sine of 2 s.
    assert highest == pytest.approx(60e6 + 40e6 * math.sin(0.02 * math.pi) / (0.02 * math.pi), rel=1e-3)
    assert link["history"]["steps"] == []
    assert 0.8 < (result.metric("capacity_used()") or 0) < 1 + 1e-6


def test_runs_of_the_same_schedule_are_compared_over_time(datagrams: shoal.Result) -> None:
    drawn = path.compare([("a", datagrams), ("b", datagrams)])
    assert "shown: a, b, rate changes" in drawn.description
    longest = drawn.data.filter(drawn.data["run"] == "b")["delay_s"].max()
    assert longest == pytest.approx(1, abs=0.01)
    cells = dict(comparison_table([("a", [datagrams]), ("b", [datagrams])]).rows[-8:][i][:2] for i in range(8))
    assert cells["After 2 s (20.00 Mbit/s to 5.00 Mbit/s): below 30 ms after"] == "not within 1 s"
    assert cells["After 3 s (5.00 Mbit/s to 20.00 Mbit/s): utilisation after"].endswith("(7 s)")


def test_the_figure_is_of_the_link_that_changes(tmp_path: Path) -> None:
    text = """
duration = "3 s"
[topology]
kind = "graph"
nodes = ["a", "b", "c"]
links = [
  { from = "a", to = "b", rate = "20 Mbit/s", buffer = "50 packets", monitored = true },
  { from = "b", to = "c", rate = "10 Mbit/s", buffer = "50 packets", monitored = true, schedule.trace = "b-c.csv" },
]
[[flows]]
cc = "reno"
from = "a"
to = "c"
"""
    (tmp_path / "b-c.csv").write_text("time_s,rate_mbit_s\n1,5\n2,down\n2.5,10\n", encoding="utf-8")
    (tmp_path / "graph.toml").write_text(text, encoding="utf-8")
    result = shoal.run(shoal.Scenario.from_file(tmp_path / "graph.toml"))
    still, moves = result.bottlenecks
    assert "history" not in still
    drawn = path.draw(result)
    assert drawn.title.startswith(f"The link {moves['name']} over time")
    line = next(line for line in drawn.figure.axes[0].get_lines() if line.get_label() == "rate of the link")
    assert list(line.get_ydata()) == [10.0, 5.0, 0.0, 10.0, 10.0]
    assert result.metric("steps(1)") == 2
    assert [table.title for table in step_tables([result])] == [f"Steps of the rate of {moves['name']}"]


def test_steps_that_follow_each_other_closely_have_no_level() -> None:
    result = one_link('repeat = "200 ms", rates = [["0 s", "10 Mbit/s"], ["100 ms", "20 Mbit/s"]]')
    (link,) = result.bottlenecks
    # 300 steps in 30 s, of which the first hundred are listed.
    assert len(link["history"]["steps"]) == 100
    (table,) = step_tables([result])
    assert table.title == "Steps of the rate of bottleneck, the first 8"
    assert len(table.rows) == 8
    assert {row[3] for row in table.rows} == {"-"}


def test_a_fair_share_is_that_of_each_time() -> None:
    # One of two links in a row always has 1 Mbit/s, and each has 50.5 on average: a flow that gets 1 has its share.
    scenario = shoal.Scenario.from_toml("""
duration = "40 s"
warmup = "4 s"
[topology]
kind = "graph"
nodes = ["a", "b", "c"]
[[topology.links]]
from = "a"
to = "b"
rate = "100 Mbit/s"
buffer = "20 packets"
monitored = true
schedule = { repeat = "2 s", rates = [["0 s", "100 Mbit/s"], ["1 s", "1 Mbit/s"]] }
[[topology.links]]
from = "b"
to = "c"
rate = "100 Mbit/s"
buffer = "20 packets"
monitored = true
schedule = { repeat = "2 s", rates = [["0 s", "1 Mbit/s"], ["1 s", "100 Mbit/s"]] }
[[flows]]
cc = "cubic"
from = "a"
to = "c"
""")
    result = shoal.run(scenario)
    assert [link["history"]["mean_rate_bps"] for link in result.bottlenecks] == [50.5e6, 50.5e6]
    assert (result.groups[0]["wire_bps"]["sum"] or 0) < 0.1 * 50.5e6
    assert kinds(result) == ["moving-link"]


# A packet of 1250 B each millisecond, the first at the start, and three opportunities every two milliseconds.
OPPORTUNITIES = """
duration = "10 s"
warmup = "1 s"
bottleneck.rate = "18 Mbit/s"
bottleneck.buffer = "unlimited"
bottleneck.schedule.opportunity_gaps = "2x3"
flows = [{ name = "video", cc = "none", rtt = "20 ms", app = { unresponsive = "10 Mbit/s", packet = "1250 B" } }]
trace.series = "10 ms"
"""


def test_opportunities_that_nobody_takes_are_lost() -> None:
    result = shoal.run(shoal.Scenario.from_toml(OPPORTUNITIES))
    (link,) = result.bottlenecks
    # A packet that comes at an instant waits for the next one, the packet between two of them for half of that time.
    delay = link["delay_s"]["all"]
    assert (delay["mean"], delay["max"]) == (pytest.approx(1.5e-3, rel=1e-3), pytest.approx(2e-3, rel=1e-2))
    assert link["queue_packets"]["max"] == 2
    # Both ends of the measurement are instants.
    assert link["departed"] == 9002
    history = link["history"]
    assert history["mean_rate_bps"] == 3 * 1504 * 8 / 2e-3
    assert link["utilisation"] == history["capacity_used"] == pytest.approx(2 * 1250 / (3 * 1504), rel=1e-3)
    assert (history["means_over_s"], history["down_s"], history["steps"]) == (0.1, 0.0, [])
    # The first mean lacks the opportunity at the start of the run.
    assert [one["rate_bps"] for one in history["rate"][1:]] == [18.048e6] * 99
    assert len(history["rate"]) == 100
    series = moving.series(result).filter(pl.col("time_s") > 1.001)
    assert series["carried_bps"].to_list() == pytest.approx([10e6] * len(series), rel=1e-6)
    assert kinds(result) == ["moving-link"]


def test_a_trace_of_opportunities_is_read_with_the_scenario(tmp_path: Path) -> None:
    lines = "0\n2\n2\n2\n4\n4\n"
    (tmp_path / "lte.up").write_text(lines, encoding="utf-8")
    text = OPPORTUNITIES.replace('opportunity_gaps = "2x3"', 'opportunities = "lte.up"')
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    scenario = shoal.Scenario.from_file(tmp_path / "run.toml")
    schedule = scenario.resolved["bottleneck"]["schedule"]
    assert (schedule["opportunities"], schedule["opportunity_gaps"]) == ("lte.up", "0 2x3 2x2")
    # The one at 0 comes back at the end of each lap, so that three are there every 2 ms.
    result = shoal.run(scenario)
    assert result.bottlenecks == shoal.run(shoal.Scenario.from_toml(OPPORTUNITIES)).bottlenecks
    # A result needs no other file.
    (tmp_path / "lte.up").unlink()
    assert shoal.run(shoal.Scenario.from_resolved(result.scenario.resolved)).json == result.json


def test_traces_of_opportunities_have_a_limit(tmp_path: Path) -> None:
    times = range(1, 200_002)
    (tmp_path / "lte.up").write_text("".join(f"{time}\n" for time in times), encoding="utf-8")
    text = OPPORTUNITIES.replace('opportunity_gaps = "2x3"', 'opportunities = "lte.up"')
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    with pytest.raises(shoal.ScenarioError, match=r"more than 200000 different times\n.*lte.up:200001\n") as refused:
        shoal.Scenario.from_file(tmp_path / "run.toml")
    assert "hint: take a shorter part of it" in str(refused.value)
    with pytest.raises(shoal.ScenarioError, match="there are 200001 instants, more than 200000"):
        shoal.Scenario.from_toml(OPPORTUNITIES.replace('"2x3"', f'"{"1 " * len(times)}"'))
    # The longest trace that is read can be resolved and run.
    (tmp_path / "lte.up").write_text("".join(f"{time}\n" for time in times[:-1]), encoding="utf-8")
    longest = shoal.Scenario.from_file(tmp_path / "run.toml")
    assert shoal.run(shoal.Scenario.from_resolved(longest.resolved)).bottlenecks[0]["departed"] > 8000
