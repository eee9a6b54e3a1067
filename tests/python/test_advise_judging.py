"""What a run becomes in advice, at its borders: results by hand, and ports where each verdict is the right one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from short_runs import shorten

import shoal
from shoal.advise import Advice, Device, Goal, Question, Verdict, advise, wording
from shoal.advise import candidates as laws
from shoal.advise.advising import _variations
from shoal.advise.candidates import Candidate, candidates
from shoal.advise.judging import Means, judge, numbers, requirements
from shoal.advise.traffic import Situation, look, mix, scenario, situations
from shoal.stats import Estimate


def quantiles(mean: float) -> dict[str, float]:
    """Quantiles that are all different, so that each shows which one was read."""
    return {name: mean * factor for name, factor in (("mean", 1), ("p50", 2), ("p90", 3), ("p99", 4), ("p999", 5))}


def group(name: str, cc: str, rate_bps: float | None, *, timeouts: int = 0, fct_s: Sequence[float] = ()) -> Any:
    return {
        "name": name,
        "cc": cc,
        "wire_bps": {"mean": rate_bps},
        "flows": [{"timeouts": timeouts, "fct_s": list(fct_s)}],
    }


def run_of(*groups: Mapping[str, Any], seconds: float = 2.0) -> shoal.Result:
    link = {
        "utilisation": 0.9,
        "delay_s": {"all": quantiles(0.5), "ect": quantiles(0.001), "not_ect": quantiles(0.01)},
        "ect": {"arrived": 1000, "dropped": 500},
        "not_ect": {"arrived": 200, "dropped": 10},
    }
    window = {"start_s": 1.0, "end_s": 1.0 + seconds}
    return shoal.Result(json.dumps({"bottlenecks": [link], "groups": list(groups), "window": window}))


def test_a_run_is_read_by_hand() -> None:
    measured = numbers(run_of(group("scalable", "dctcp", 6e6, timeouts=1), group("classic", "cubic", 2e6, timeouts=2)))
    # 6 Mbit/s over 2 Mbit/s; 99th percentiles of the classes; 10 of 200 packets; timeouts of all groups.
    assert (measured.ratio, measured.utilisation, measured.timeouts) == (3.0, 0.9, 3)
    assert (measured.scalable_p99_s, measured.classic_p99_s) == (0.004, 0.04)
    assert (measured.classic_lost, measured.incast_p99_s) == (0.05, None)


def test_a_starved_flow_counts_as_one_that_got_a_packet() -> None:
    # A packet of 1500 B in 2 s is 6,000 bit/s: 6 Mbit/s are 1,000 times that.
    starved = group("classic", "cubic", None)
    assert numbers(run_of(group("scalable", "dctcp", 6e6), starved)).ratio == pytest.approx(1000.0)
    assert numbers(run_of(group("scalable", "dctcp", 0.0), group("classic", "cubic", 6e6))).ratio == pytest.approx(1e-3)
    # In 4 s it is half of that rate.
    assert numbers(run_of(group("scalable", "dctcp", 6e6), starved, seconds=4.0)).ratio == pytest.approx(2000.0)


def test_packets_of_classic_flows_that_ask_for_ecn_are_not_told_apart() -> None:
    measured = numbers(run_of(group("scalable", "dctcp", 6e6), group("classic", "ecn-reno", 2e6)))
    assert measured.ratio == 3.0
    assert (measured.scalable_p99_s, measured.classic_p99_s, measured.classic_lost) == (None, None, None)


def test_answers_of_an_incast_are_read_at_the_99th_percentile_and_a_flood_has_no_timeouts_of_ours() -> None:
    times = [float(n) for n in range(200, 0, -1)]
    measured = numbers(
        run_of(
            group("scalable", "dctcp", 1e6, timeouts=1),
            group("incast", "dctcp", 1e6, timeouts=2, fct_s=times),
            group("flood", "none", 1e6, timeouts=4),
        )
    )
    # 99 % of 200 times are 198: the 198th in rising order.
    assert (measured.incast_p99_s, measured.timeouts, measured.ratio) == (198.0, 3, None)
    (one,) = (numbers(run_of(group("incast", "dctcp", 1e6, fct_s=[7.0]))).incast_p99_s,)
    assert one == 7.0


ASKED, FEW = Situation("as asked", 2, 2), Situation("one flow each", 1, 1)


def means_of(ratio: float) -> Means:
    exact = Estimate(0.99, 0.0, 3)
    return Means(Estimate(ratio, 0.0, 3), exact, exact, exact, None, None, Estimate(0.0, 0.0, 3))


@pytest.mark.parametrize("goal", list(Goal))
def test_the_traffic_as_asked_has_the_stricter_bound_and_all_other_traffic_the_laxer_one(goal: Goal) -> None:
    strict, lax = requirements[goal].most_unequal, requirements[goal].most_unequal_elsewhere
    assert strict < lax
    between = (strict + lax) / 2
    for ratio in (between, 1 / between):
        assert judge({ASKED: means_of(1.0), FEW: means_of(ratio)}, goal).missed == ()
        (missed,) = judge({ASKED: means_of(ratio), FEW: means_of(1.0)}, goal).missed
        assert missed.startswith("scalable" if ratio > 1 else "classic")
        assert missed.endswith("(as asked)")
    (missed,) = judge({ASKED: means_of(1.0), FEW: means_of(1.01 * lax)}, goal).missed
    assert missed.endswith("(one flow each)")
    # On the bound it is met.
    assert judge({ASKED: means_of(strict), FEW: means_of(lax)}, goal).missed == ()


def test_two_queues_have_the_weights_of_their_flows() -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", flows=8, scalable_share=0.75)
    both = [one for one in candidates(question) if one.family == "two queues"]
    assert both
    for one in both:
        assert one.aqm["kind"] == "classes"
        first, second = one.aqm["queues"]
        # 6 scalable and 2 classic flows: 3 to 1.
        assert ((first["name"], first["weight"]), (second["name"], second["weight"])) == (
            ("scalable", 3),
            ("classic", 1),
        )
        assert "dscp" in first
        assert "dscp" not in second
        assert one.parameters["weights"] == "3:1"


@pytest.mark.parametrize(("share", "may_separate"), [(0.5, False), (1.0, True), (0.0, True)])
def test_queues_are_separated_only_where_both_kinds_are_there_and_hosts_can_set_a_code_point(
    share: float, may_separate: bool
) -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", scalable_share=share, may_separate=may_separate)
    assert "two queues" not in {one.family for one in candidates(question)}


def test_thresholds_in_time_are_those_in_bytes_at_the_rate_of_the_port() -> None:
    question = Question(rate="100 Mbit/s", rtt="20 ms", device=Device.LINUX)
    # Rate times round trip is 250,000 B; a fourteenth of it, 17,857 B, in cells of 256 B is 17,920 B: 1,434 us.
    steps = [one.parameters["ce_threshold"] for one in candidates(question) if one.family == "fair queueing"]
    assert steps[0] == "1434 us"
    assert steps[-1] == "none"


def test_the_step_of_a_dual_queue_is_two_packets_at_least() -> None:
    def steps(rate: str) -> set[str | None]:
        question = Question(rate=rate, rtt="20 ms", device=Device.LINUX)
        duals = [one for one in candidates(question) if one.family == "coupled dual queue"]
        found = {law.get("step_threshold") for one in duals if (law := one.aqm)["kind"] == "dualpi2"}
        assert all(one.parameters.get("step") in found for one in duals)
        return found

    # Two packets of 1500 B take 2.4 ms at 10 Mbit/s; at 24 Mbit/s they take 1 ms, which is the usual step.
    assert steps("10 Mbit/s") == {"2400 us"}
    assert steps("24 Mbit/s") == {None}
    assert steps("23 Mbit/s") == {"1043 us"}


def test_a_flood_is_half_of_the_rate_and_does_not_answer() -> None:
    question = Question(rate="40 Mbit/s", rtt="20 ms", is_trusted=False)
    flooded = next(one for one in situations(question) if one.is_flooded)
    resolved = scenario(question, flooded, {"kind": "fifo"}, look(question), separate=False).resolved
    (flood,) = [flow for flow in resolved["flows"] if flow["name"] == "flood"]
    assert flood["cc"] == "none"
    assert flood["app"] == {
        "unresponsive": "20000000 bit/s",
        "packet": "1500 B",
        "arrivals": "constant",
        "ecn": "ect0",
    }


def test_what_is_otherwise_is_otherwise_in_one_thing() -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", other_rtts=("1 ms",))
    law = Candidate(
        "marks only", {}, {"kind": "wred", "mark": {"min": "10 kB", "max": "20 kB", "max_probability": 1.0}}
    )
    varied = {what: (other, candidate) for what, other, candidate in _variations(question, law)}
    assert list(varied) == [
        "thresholds of marks x 0.5",
        "thresholds of marks x 2",
        "round trip 1 ms",
        "25% of the flows scalable",
        "75% of the flows scalable",
        "hosts send packet by packet",
        "classic flows are Reno",
        "classic flows ask for ECN",
    ]
    halved = varied["thresholds of marks x 0.5"][1].aqm
    assert halved == {"kind": "wred", "mark": {"min": "5 kB", "max": "10 kB", "max_probability": 1.0}}
    fixed = replace(question, device=Device.SWITCH, buffer=question.buffer_text, hosts=question.hosts_name)
    assert varied["round trip 1 ms"] == (replace(fixed, rtt="1 ms"), law)
    assert varied["25% of the flows scalable"][0].groups == (2, 6)
    assert varied["hosts send packet by packet"][0] == replace(fixed, hosts="ideal")
    assert varied["classic flows ask for ECN"][0] == replace(fixed, classic="ecn-reno")


# Advice to its end, with few candidates and short runs: what is recommended is what the traffic decides.


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of about 50 ms at 1 Gbit/s: not to be trusted, but each kind of law does what it does."""
    shorten(monkeypatch, round_trips=100, least_s=0.04, settling_s=0.02)


on_switch = laws._on_switch


def only(monkeypatch: pytest.MonkeyPatch, *families: str) -> None:
    """Let candidates be one of each of some families: that with the middle parameters."""

    def some(question: Question) -> list[Candidate]:
        whole = list(on_switch(question))
        of = {family: [one for one in whole if one.family == family] for family in families}
        return [own[len(own) // 2] for own in of.values()]

    monkeypatch.setattr(laws, "_on_switch", some)


PORT = Question(rate="1 Gbit/s", rtt="200 us", flows=4, hosts="ideal", incast=8, is_trusted=False)


def asked(question: Question) -> Advice:
    return advise(question, workers=2)


@pytest.mark.usefixtures("short")
def test_where_sharing_starves_the_queues_are_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "one knee", "two queues")
    advice = asked(PORT)
    # Behind one law for both, marks and drops are as likely, which starves CUBIC; two queues have their weights.
    assert advice.verdict is Verdict.SEPARATE
    assert advice.recommended.candidate.family == "two queues"
    assert advice.recommended.judged.missed == ()
    knee = next(one for one in advice.ranking if one.candidate.family == "one knee")
    assert any(text.startswith("scalable flows get") for text in knee.judged.missed)
    sentence = next(line for line in wording.verdict(advice) if line.startswith("The best shared queue with marks is"))
    assert sentence.startswith(f"The best shared queue with marks is {knee.candidate.name}; it misses: scalable flows")
    # The law, its parameters and what it misses are words; all else are numbers.
    table = wording.ranking_table(advice)
    assert (len(table.rows), table.words, table.columns[-1]) == (2, 3, "Incast P99")
    # Each situation was run: an incast has completion times, a flood leaves less than half of the port to others.
    by_name = {situation.name: own for situation, own in advice.recommended.measured.items()}
    assert {"as asked", "incast", "flood of ECT", "four times the flows"} <= set(by_name)
    incast = by_name["incast"].incast_p99_s
    assert incast is not None
    # Eight answers of 32 kB take 2.05 ms at 1 Gbit/s, and the round trip.
    assert incast.mean > 2.05e-3
    assert by_name["as asked"].incast_p99_s is None
    # What is otherwise was really run: a round trip of half the length is not the traffic as asked.
    others = {change.what: change.measured for change in advice.around}
    assert len({repr(own) for own in others.values()}) == len(others)
    # Both laws once in four situations, then with three seeds in all seven, and everything that is otherwise.
    assert len(by_name) == 7
    assert (advice.screened, advice.runs) == (2, 2 * 4 + 3 * 2 * 7 + 3 * len(others))


@pytest.mark.usefixtures("short")
def test_where_nothing_meets_the_goal_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "one knee")
    advice = asked(PORT)
    assert advice.verdict is Verdict.NONE
    assert advice.recommended.judged.missed
    assert not math.isinf(advice.recommended.judged.key[0])
    assert advice.recommended.judged.key[0] > 0


@pytest.mark.usefixtures("short")
def test_where_a_law_of_their_own_is_fair_the_queue_is_shared_and_without_ecn_it_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = replace(PORT, scalable_share=1.0, incast=0, is_trusted=True)
    only(monkeypatch, "marks only")
    assert asked(alone).verdict is Verdict.SHARE
    only(monkeypatch, "no ECN")
    assert asked(alone).verdict is Verdict.LEAVE


@pytest.mark.usefixtures("short")
def test_the_scenario_of_advice_is_the_traffic_as_asked_behind_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "two queues")
    advice = asked(PORT)
    resolved = advice.scenario.resolved
    assert {flow["name"]: flow["count"] for flow in resolved["flows"]} == {"scalable": 2, "classic": 2}
    assert resolved["bottleneck"]["aqm"]["kind"] == "classes"
    assert advice.scenario.facts["bottlenecks"][0]["rate_bps"] == 1_000_000_000
    assert mix(PORT) in advice.recommended.measured
