"""Every metric on a result made by hand, with the arithmetic beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.metrics import metric, metrics
from shoal.results.recorded import InFiles

# BDP: 10 Mbit/s x 24 ms = 240,000 bit = 30,000 B = 20 packets of 1500 B.
SCENARIO = """
duration = "30 s"
warmup   = "10 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [
  { name = "reno", cc = "reno", rtt = "24 ms", count = 2 },
  { name = "dctcp", cc = "dctcp", rtt = "24 ms" },
]
trace = { controller_flows = 3 }
"""


def flow(wire: float, cwnd: float, alpha: float | None, srtt: float, **counters: int) -> dict[str, Any]:
    return {
        "wire_bps": wire,
        "goodput_bps": wire * 0.9,
        "cwnd_packets": {"mean": cwnd},
        "alpha": {"mean": alpha},
        "srtt_s": {"mean": srtt, "min": srtt / 2, "max": srtt * 2},
        **counters,
    }


def group(name: str, flows: list[dict[str, Any]], totals: dict[str, int], **more: Any) -> dict[str, Any]:
    wire = [flow["wire_bps"] for flow in flows]
    return {
        "name": name,
        "flows": flows,
        "flow_count": len(flows),
        "flows_omitted": 0,
        "wire_bps": {"mean": sum(wire) / len(wire), "sum": sum(wire)},
        "goodput_bps": {"mean": 0.9 * sum(wire) / len(wire)},
        "fct_s": {"mean": 0.25, "p50": 0.2, "p99": 0.5},
        "totals": totals,
        **more,
    }


def traffic_class(name: str, factor: int) -> dict[str, Any]:
    """A queue for a traffic class, all of whose numbers are so many times those of another."""
    return {
        "name": name,
        "utilisation": 0.2 * factor,
        "queue_packets": {"mean": 2.0 * factor, "sd": 0.5 * factor, "p95": 4.0 * factor},
        "queue_empty": 0.1 * factor,
        "arrived": 1000,
        "marked": 40 * factor,
        "dropped": factor,
        "delay_s": {"all": {"mean": 0.003 * factor, "p99": 0.005 * factor}, "ect": {"mean": 0.002 * factor}},
        "ect": {"marked": 30 * factor, "mark_fraction": 0.06 * factor, "dropped": 0, "drop_fraction": 0.0},
        "not_ect": {"marked": 10 * factor, "mark_fraction": 0.02 * factor, "drop_fraction": 0.002 * factor},
    }


def hand_made() -> dict[str, Any]:
    delay = {"mean": 0.012, "p50": 0.01, "p99": 0.02}
    return {
        "schema": 1,
        "version": "0",
        "scenario": shoal.Scenario.from_toml(SCENARIO).resolved,
        "seed": 1,
        "on": "sim",
        "window": {"start_s": 10.0, "end_s": 30.0},
        "bottlenecks": [
            {
                "name": "bottleneck",
                "utilisation": 0.9,
                "queue_bytes": {"mean": 15000.0},
                "queue_packets": {"mean": 10.0, "sd": 2.0, "p95": 14.0},
                "class_queue_packets": {"ect": {"mean": 6.0, "p99": 9.0}, "not_ect": {"mean": 4.0, "p99": 7.0}},
                "queue_empty": 0.05,
                "marked": 200,
                "dropped": 5,
                "queue_empty_sampled": 0.04,
                "delay_s": {"all": delay, "ect": {**delay, "p99": 0.03}, "not_ect": {**delay, "mean": None}},
                "ect": {"mark_fraction": 0.2, "drop_fraction": 0.0},
                "not_ect": {"mark_fraction": 0.0, "drop_fraction": 0.01},
                "classes": [traffic_class("scalable", 1), traffic_class("rest", 3)],
            }
        ],
        "groups": [
            group(
                "reno",
                [flow(1e6, 8.0, None, 0.03, losses=3), flow(3e6, 12.0, None, 0.05, losses=5)],
                {"reductions": 40, "timeouts": 1},
            ),
            group(
                "dctcp",
                [flow(5e6, 20.0, 0.25, 0.04, losses=0)],
                {"reductions": 100, "timeouts": 0},
                exchanges={"time_s": {"mean": 0.1, "p50": 0.1, "p99": 0.4}},
                rounds={"time_s": {"mean": 0.2, "p50": 0.2, "p99": 0.8}},
                pages={"time_s": {"mean": 0.3, "p50": 0.3, "p99": 1.2}},
                frames={"on_time_fraction": 0.75, "stalled_s": 1.5},
            ),
        ],
        "metrics": {"jain": 0.8, "rate_ratio": {"reno/dctcp": 0.4}},
    }


# Windows of the DCTCP flow, number 2: two Reno flows come before it. Slow start ends at 4 s.
CONTROLLER = [
    # time_s, cwnd, ssthresh
    (1.0, 10, None),
    (2.0, 40, None),
    (4.0, 60, 50.0),
    (5.0, 30, 50.0),  # a fall outside the measurement
    (6.5, 25, 50.0),
    (7.0, 23, 50.0),  # |23 - 20| = 3: the first within 20 % of the mean of 20
    (9.0, 21, 50.0),
    (10.0, 20, 20.0),
    (12.0, 22, 20.0),
    (13.0, 11, 11.0),  # a fall from 22 to 11: 1/2
    (14.0, 12, 11.0),
    (15.0, 16, 11.0),
    (16.0, 12, 12.0),  # one fall in two steps from 16 to 10: 3/8
    (17.0, 10, 10.0),
    (18.0, 11, 10.0),
    (30.0, 5, 5.0),  # a fall that is not over at the end does not count
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> shoal.Result:
    return saved(hand_made(), tmp_path_factory.mktemp("run"))


def saved(data: dict[str, Any], folder: Path) -> shoal.Result:
    (folder / "tables").mkdir()
    other = [(time_s, 0, 100 + row % 2, 7.0) for row, (time_s, _, _) in enumerate(CONTROLLER)]
    rows = [*other, *((time_s, 2, cwnd, ssthresh) for time_s, cwnd, ssthresh in CONTROLLER)]
    schema = {"time_s": pl.Float64, "flow": pl.UInt32, "cwnd_packets": pl.UInt32, "ssthresh_packets": pl.Float64}
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(folder / "tables" / "controller.parquet")
    # 20 s of measurement: 1 s without a waiting packet, 9 s with 10, 6 s with 11, 4 s with 20.
    lengths = [(0, 1.0), (10, 9.0), (11, 6.0), (20, 4.0)]
    write_lengths(folder, "backlog_distribution", [(n, n, seconds) for n, seconds in lengths])
    return shoal.Result(json.dumps(data), recorded=InFiles.of_folder(folder / "tables"))


def write_lengths(folder: Path, name: str, rows: list[tuple[Any, ...]], **first: type[pl.DataType]) -> None:
    """A table of the bottleneck's queue lengths and how long each lasted; windows have their start before them."""
    schema = {
        "link": pl.String,
        "class": pl.String,
        **first,
        "low_packets": pl.UInt64,
        "high_packets": pl.UInt64,
        "time_s": pl.Float64,
    }
    table = pl.DataFrame([("bottleneck", "all", *row) for row in rows], schema=schema, orient="row")
    table.write_parquet(folder / "tables" / f"{name}.parquet")


BY_HAND = {
    "utilisation()": 0.9,
    "queue_packets()": 10.0,
    "queue_sd_packets()": 2.0,
    "queue_empty()": 0.05,
    "queue_empty_sampled()": 0.04,
    "class_queue_packets('ect')": 6.0,
    "class_queue_packets('not_ect', 'p99')": 7.0,
    "class_queue_packets('all', 'p95')": 14.0,
    # 15,000 B wait, half a BDP; the packet in service adds 0.9 x 1500 B, 0.045 BDP.
    "queue_bdp()": 0.5,
    "queue_bdp(in_service=True)": 0.545,
    # Of 20 s: 9 + 6 with 10 to 11 packets; the largest single length is 10 with 9 s.
    "queue_between('all', 10, 11)": 0.75,
    "queue_between('all', 0, 0)": 0.05,
    "queue_peak('all')": 0.45,
    "delay_ms()": 12.0,
    "delay_ms('ect', 'p99')": 30.0,
    "jain()": 0.8,
    # (1 + 3) / 2 Mbit/s over 5 Mbit/s.
    "rate_ratio('reno', 'dctcp')": 0.4,
    # Both flows of a group: 4 of 9 Mbit/s.
    "share('reno')": 4 / 9,
    "share('dctcp')": 5 / 9,
    "rate_mbps('reno')": 2.0,
    "goodput_mbps('reno')": 1.8,
    "cwnd_packets('reno')": 10.0,
    "alpha('dctcp')": 0.25,
    "srtt_ms('reno')": 40.0,
    "srtt_ms('reno', 'max')": 80.0,
    "fct_ms('reno')": 250.0,
    "fct_ms('reno', 'p99')": 500.0,
    "exchange_ms('dctcp')": 100.0,
    "round_ms('dctcp', 'p99')": 800.0,
    "page_ms('dctcp', 'p99')": 1200.0,
    "frames_on_time('dctcp')": 0.75,
    "stalled_s('dctcp')": 1.5,
    "marks()": 200.0,
    "drops()": 5.0,
    "marked()": 0.2,
    "dropped()": 0.01,
    "dropped('ect')": 0.0,
    # 40 reductions of two flows in a measurement of 20 s, not in the 30 s of the run.
    "reductions_per_s('reno')": 1.0,
    "reductions_per_s('dctcp')": 5.0,
    # A total over its flows; without a total, the mean over the flows.
    "count('reno', 'timeouts')": 0.5,
    "count('reno', 'losses')": 4.0,
    # Falls to 1/2 and 5/8 of the window: cuts of 1/2 and 3/8, two in 20 s.
    "mean_cut('dctcp')": 0.4375,
    "cuts_per_s('dctcp')": 0.1,
    # From the end of slow start at 4 s: within 20 % of 20 from 7 s on, within 10 % from 9 s on.
    "settling_s('dctcp')": 3.0,
    "settling_s('dctcp', within=0.1)": 5.0,
    # Queues for traffic classes: the numbers of `rest` are three times those of `scalable`.
    "utilisation(queue='scalable')": 0.2,
    "utilisation(0, 'rest') / utilisation(0, 'scalable')": 3.0,
    "queue_packets(queue='rest')": 6.0,
    "queue_sd_packets(queue='scalable')": 0.5,
    "queue_empty(queue='rest')": 0.3,
    "class_queue_packets('all', 'p95', queue='rest')": 12.0,
    "delay_ms(queue='rest')": 9.0,
    "delay_ms('all', 'p99', 0, 'scalable')": 5.0,
    "delay_ms('ect', queue='scalable')": 2.0,
    "marks(queue='rest')": 120.0,
    "marks('ect', queue='scalable')": 30.0,
    "drops(queue='rest')": 3.0,
    "marked(queue='scalable')": 0.06,
    # 120 of 1000.
    "marked('all', queue='rest')": 0.12,
    "dropped(queue='rest')": 0.006,
    "dropped('all', queue='scalable')": 0.001,
    "value('bottlenecks.0.queue_packets.p95')": 14.0,
    "value('groups.1.flows.0.wire_bps')": 5e6,
}


@pytest.mark.parametrize(("text", "expected"), BY_HAND.items(), ids=BY_HAND)
def test_by_hand(run: shoal.Result, text: str, expected: float) -> None:
    assert metric(run, text) == pytest.approx(expected, rel=1e-12)


# Metrics that look at series, windows or several flows have tests of their own.
ELSEWHERE = {
    "window_peak": "test_metrics.py",
    "convergence_s": "test_analysis.py",
    "oscillation_ms": "test_analysis.py",
    "oscillation_packets": "test_analysis.py",
    "cuts_in_step": "test_cuts_in_step.py",
    "acks_per_packet": "test_feedback_metrics.py",
    "queue_mode": "test_feedback_metrics.py",
    "redirected": "test_explain.py",
    "least_share": "test_hunting.py",
    "unused": "test_hunting.py",
    **dict.fromkeys(
        (
            "capacity_used",
            "above_target",
            "power",
            "steps",
            "step_settling_ms",
            "step_overshoot_ms",
            "step_undershoot_ms",
        ),
        "test_schedules.py",
    ),
    **dict.fromkeys(
        (
            "startup_ms",
            "loss_interval_ms",
            "loss_synchronisation",
            "goodput_window_mbps",
            "one_way_delay_ms",
            "delay_variation_ms",
            "successive_variation_ms",
        ),
        "test_flow_quality.py",
    ),
    **dict.fromkeys(("phase_goodput_mbps", "phase_delay_ms", "loss_ratio", "acks_per_megabyte"), "test_phases.py"),
    **dict.fromkeys(
        ("step_peak_ms", "step_below_target_ms", "step_recovery_ms", "step_utilisation"), "test_schedules.py"
    ),
}


def test_every_metric_has_a_value_by_hand() -> None:
    named = {text.partition("(")[0] for text in BY_HAND}
    assert set(metrics) - named == set(ELSEWHERE)
    for name, file in ELSEWHERE.items():
        # `oscillation_ms` and `oscillation_packets` are units of what `analysis.oscillation` gives.
        tested = name if file != "test_analysis.py" else name.partition("_")[0]
        assert tested in (Path(__file__).parent / file).read_text(encoding="utf-8"), name


def test_missing_numbers_are_not_zero(run: shoal.Result, tmp_path: Path) -> None:
    assert math.isnan(metric(run, "delay_ms('not_ect')"))
    assert math.isnan(metric(run, "alpha('reno')"))
    data = hand_made()
    data["groups"][1]["wire_bps"] = {"mean": 0.0, "sum": 0.0}
    data["groups"][0]["flows"][1]["cwnd_packets"]["mean"] = None
    odd = saved(data, tmp_path)
    assert math.isnan(metric(odd, "rate_ratio('reno', 'dctcp')"))
    # One of two flows has no mean: the mean of the other is not that of the group.
    assert math.isnan(metric(odd, "cwnd_packets('reno')"))


def test_a_group_without_falls_has_no_mean_cut(tmp_path: Path) -> None:
    data = hand_made()
    data["window"] = {"start_s": 18.0, "end_s": 29.0}
    still = saved(data, tmp_path)
    assert math.isnan(metric(still, "mean_cut('dctcp')"))
    assert metric(still, "cuts_per_s('dctcp')") == 0


def test_the_median_of_windows_is_that_of_their_peaks(tmp_path: Path) -> None:
    result = saved(hand_made(), tmp_path)
    # Three windows of 2 s: the most frequent length has 1, 2 and 1.5 s: shares of 0.5, 1 and 0.75.
    rows = [
        (10.0, 4, 1.0),
        (10.0, 5, 0.5),
        (10.0, 6, 0.5),
        (12.0, 4, 2.0),
        (14.0, 4, 0.5),
        (14.0, 9, 1.5),
    ]
    lengths = [(start_s, n, n, seconds) for start_s, n, seconds in rows]
    write_lengths(tmp_path, "backlog_windows", lengths, start_s=pl.Float64)
    assert metric(result, "window_peak('all')") == pytest.approx(0.75)


def test_groups_and_counters_that_do_not_exist_are_refused(run: shoal.Result) -> None:
    for text in ("rate_mbps('renno')", "count('reno', 'lossses')", "value('bottleneck')", "exchange_ms('reno')"):
        with pytest.raises(shoal.UsageError):
            metric(run, text)


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("delay_ms(queue='scalabel')", "the link `bottleneck` has no queue `scalabel`", "did you mean `scalable`?"),
        ("class_queue_packets('ect', queue='rest')", "what of `ect` waits in the queue `rest`", "write 'all'"),
    ],
)
def test_queues_that_do_not_exist_are_refused(run: shoal.Result, text: str, words: str, hint: str) -> None:
    with pytest.raises(shoal.UsageError, match=words) as found:
        metric(run, text)
    assert found.value.hint == hint


def test_a_link_without_traffic_classes_has_no_queue_to_name(tmp_path: Path) -> None:
    data = hand_made()
    del data["bottlenecks"][0]["classes"]
    plain = saved(data, tmp_path)
    assert metric(plain, "utilisation()") == 0.9
    with pytest.raises(shoal.UsageError, match="the link `bottleneck` has no queues for traffic classes"):
        metric(plain, "utilisation(queue='rest')")
