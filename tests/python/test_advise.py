"""Advice: what is asked, tried, judged and said."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Cli
from short_runs import shorten

from shoal.advise import Advice, Device, Goal, Question, Verdict, advise
from shoal.advise import candidates as laws
from shoal.advise.candidates import Knob, candidates, knobs, scaled, thresholds_bytes
from shoal.advise.judging import Means, Numbers, judge, means
from shoal.advise.traffic import Situation, ideal_incast_s, look, mix, scenario, situations, thorough
from shoal.errors import UsageError
from shoal.scenario_keys import Classes, Wred
from shoal.stats import Estimate

ASKED = Situation("as asked", 2, 2)
FEW = Situation("one flow each", 1, 1)
ALONE = Situation("scalable alone", 2, 0)


def found(ratio: float | None, busy: float, delay_s: float | None) -> Means:
    def one(value: float | None) -> Estimate | None:
        return None if value is None else Estimate(value, 0.0, 3)

    return Means(one(ratio), Estimate(busy, 0.0, 3), one(delay_s), one(0.01), one(0.0), None, Estimate(0.0, 0.0, 3))


def test_units_are_read_as_scenarios_read_them() -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", buffer="2 MB")
    # 10^10 bit/s x 10^-4 s / 8 = 125,000 B.
    assert (question.rate_bps, question.rtt_s, question.bdp_bytes, question.buffer_bytes) == (1e10, 1e-4, 125e3, 2e6)


def test_what_is_not_said_is_named() -> None:
    switch, gateway = Question(rate="100 Gbit/s", rtt="50 us"), Question(rate="40 Mbit/s", rtt="20 ms")
    assert (switch.kind, switch.hosts_name, switch.buffer_text) == (Device.SWITCH, "linux-6-100g", "1 ms")
    assert (gateway.kind, gateway.hosts_name, gateway.buffer_text) == (Device.LINUX, "linux-6-10g", "100 ms")
    assert len(switch.assumptions) == 3
    said = Question(rate="1 Gbit/s", rtt="1 ms", buffer="1 MB", hosts="ideal", device=Device.LINUX)
    assert said.assumptions == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rate": "10 Gbi/s"}, "unknown unit `Gbi/s`"),
        ({"rtt": "soon"}, "soon"),
        ({"hosts": "linux-5"}, 'unknown host "linux-5"'),
        ({"scalable": "dtcp"}, "dtcp"),
        ({"classic": "vegas"}, "vegas"),
        ({"buffer": "unlimited"}, "an unlimited buffer"),
        ({"scalable_share": 1.5}, "a share of 1.5"),
        ({"flows": 0}, "0 flows"),
        ({"incast": -1}, "an incast of -1"),
        ({"response": "3 bytes", "incast": 2}, "3 bytes"),
    ],
)
def test_a_wrong_question_is_refused_with_a_remedy(change: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        Question(**{"rate": "10 Gbit/s", "rtt": "100 us", **change})  # type: ignore[arg-type]
    assert caught.value.hint


def test_flows_of_both_kinds_are_there_unless_the_share_says_otherwise() -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", flows=8)
    shares = {share: replace(question, scalable_share=share).groups for share in (0.0, 0.01, 0.5, 0.75, 0.99, 1.0)}
    assert shares == {0.0: (0, 8), 0.01: (1, 8), 0.5: (4, 4), 0.75: (6, 2), 0.99: (8, 1), 1.0: (8, 0)}


def test_situations_follow_the_question() -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", incast=16, is_trusted=False)
    names = [one.name for one in situations(question)]
    usual = ["as asked", "scalable alone", "classic alone", "one flow each", "four times the flows"]
    assert names == [*usual, "incast", "flood of ECT"]
    alone = [one.name for one in situations(replace(question, scalable_share=1.0, incast=0, is_trusted=True))]
    assert alone == ["as asked", "one flow", "four times the flows"]


def test_runs_that_decide_are_longer_unless_their_packets_are_too_many() -> None:
    slow, fast = Question(rate="10 Gbit/s", rtt="100 us"), Question(rate="100 Gbit/s", rtt="100 us")
    # 120,000 packets of 12,000 bit at 10 Gbit/s take 0.144 s, at 100 Gbit/s 0.0144 s, less than 0.1 s.
    assert (round(look(slow).measured_s, 6), look(fast).measured_s) == (0.144, 0.1)
    assert thorough(slow, 10e6).measured_s == 2.0
    # 6 million packets take 0.72 s, of which 0.25 s are not measured.
    assert math.isclose(thorough(fast, 6e6).measured_s, 0.47)
    assert thorough(fast, 1e6).measured_s == look(fast).measured_s
    assert (look(fast).warmup_s, thorough(fast, 1e6).warmup_s) == (0.1, 0.25)


def test_an_incast_needs_a_round_trip_and_its_bytes_at_least() -> None:
    question = Question(rate="10 Gbit/s", rtt="100 us", incast=16)
    # 100 us + 16 x 32,000 B x 8 / 10^10 bit/s = 100 + 409.6 us.
    assert math.isclose(ideal_incast_s(question), 509.6e-6)
    resolved = scenario(question, situations(question)[-1], {"kind": "fifo"}, look(question), separate=False).resolved
    (incast,) = [group for group in resolved["flows"] if group["name"] == "incast"]
    assert (incast["count"], incast["app"]["rounds"] > 1) == (16, True)


@pytest.mark.parametrize("rate", ["1 Gbit/s", "10 Gbit/s", "100 Gbit/s", "10 Mbit/s", "1000 Mbit/s"])
@pytest.mark.parametrize("rtt", ["100 us", "20 ms"])
def test_every_candidate_is_a_scenario(rate: str, rtt: str) -> None:
    question = Question(rate=rate, rtt=rtt, may_separate=False)
    tried = candidates(question)
    assert len({one.name for one in tried}) == len(tried) > 10
    for one in tried:
        known = scenario(question, mix(question), one.aqm, look(question), separate=one.separate)
        assert known.resolved["bottleneck"]["buffer"] == question.buffer_text
        assert not known.simulator_refuses


def test_thresholds_are_whole_cells_below_half_of_the_buffer_and_apart() -> None:
    for rate, buffer in (("1 Gbit/s", "100 kB"), ("100 Gbit/s", "4 MB")):
        question = Question(rate=rate, rtt="100 us", buffer=buffer)
        values = thresholds_bytes(question)
        assert all(value % 256 == 0 and value <= question.buffer_bytes / 2 + 256 for value in values)
        assert all(later >= 1.25 * earlier for earlier, later in pairwise(values))


def test_what_is_scaled_is_one_kind_of_parameter() -> None:
    law: Wred = {"kind": "wred", "mark": {"min": "100 B", "max": "100 B"}, "drop": {"min": "3 kB", "max": "9 packets"}}
    assert knobs(law) == [Knob.MARKS, Knob.DROPS]
    # Whatever the unit is: 3 kB x 3 = 9 kB, 9 packets x 3 = 27 packets.
    changed = {"kind": "wred", "mark": law["mark"], "drop": {"min": "9 kB", "max": "27 packets"}}
    assert scaled(law, Knob.DROPS, 3.0) == changed
    assert scaled(law, Knob.STEP, 3.0) == law
    assert knobs({"kind": "fifo"}) == []
    inside: Classes = {"kind": "classes", "queues": [{"name": "a", "aqm": law}, {"name": "b", "aqm": {"kind": "fifo"}}]}
    assert knobs(inside) == [Knob.MARKS, Knob.DROPS]
    changed_inside = scaled(inside, Knob.DROPS, 3.0)
    assert changed_inside["kind"] == "classes"
    assert changed_inside["queues"][0]["aqm"] == changed


def test_means_of_ratios_are_geometric() -> None:
    runs = [Numbers(ratio, 1.0, 0.001, 0.002, 0.0, None, 0) for ratio in (0.5, 2.0)]
    own = means(runs)
    assert own.ratio is not None
    assert math.isclose(own.ratio.mean, 1.0)
    assert own.incast_p99_s is None


def test_a_candidate_is_judged_by_its_worst_situation() -> None:
    good = {ASKED: found(1.1, 0.99, 0.001), FEW: found(1 / 1.5, 0.98, 0.003), ALONE: found(None, 0.96, 0.002)}
    judged = judge(good, Goal.BALANCED)
    assert (judged.unequal, judged.utilisation, judged.delay_s, judged.missed) == (1.5, 0.96, 0.003, ())
    # Delay counts where both kinds are there; alone a kind cannot be delayed by the other.
    assert judge({**good, ALONE: found(None, 0.96, 0.009)}, Goal.BALANCED).delay_s == 0.003


def test_what_is_missed_is_said_and_comes_after_all_that_meets_the_goal() -> None:
    starved = judge({ASKED: found(0.1, 0.99, 1e-6)}, Goal.BALANCED)
    idle = judge({ASKED: found(1.0, 0.90, 1e-6)}, Goal.BALANCED)
    slow = judge({ASKED: found(1.9, 0.96, 1.0)}, Goal.BALANCED)
    assert "classic flows get 10 times" in starved.missed[0]
    assert "90.0% busy" in idle.missed[0]
    assert slow.missed == ()
    assert sorted([starved, idle, slow], key=lambda one: one.key)[0] is slow


def test_goals_choose_differently() -> None:
    quick, equal = {ASKED: found(1.8, 0.97, 1e-5)}, {ASKED: found(1.01, 0.97, 1e-3)}
    for goal, better in ((Goal.BALANCED, quick), (Goal.DELAY, quick), (Goal.FAIR, equal)):
        both = [quick, equal]
        assert min(both, key=lambda one: judge(one, goal).key) is better


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Question:
    """A question that is answered in seconds: fewer packets a run, few candidates."""
    shorten(monkeypatch, round_trips=20, least_s=0.0, settling_s=0.0)
    everything = laws._on_linux
    monkeypatch.setattr(laws, "_on_linux", lambda question: list(everything(question))[::4])
    return Question(rate="40 Mbit/s", rtt="20 ms", flows=2, hosts="ideal")


def test_advice_does_not_depend_on_the_number_of_workers(short: Question) -> None:
    from shoal.advise.contract import as_dict

    one, two = (as_dict(advise(short, workers=workers)) for workers in (1, 2))
    assert json.dumps(one) == json.dumps(two)


def test_advice_is_complete(short: Question) -> None:
    advice: Advice = advise(short)
    assert advice.ranking[0] is advice.recommended
    assert [one.candidate.family for one in advice.ranking] == list(
        dict.fromkeys(one.candidate.family for one in advice.tried)
    )
    keys = [one.judged.key for one in advice.ranking]
    assert keys == sorted(keys)
    assert set(advice.recommended.measured) == set(situations(short))
    assert {one.what for one in advice.around} >= {
        "round trip 10000 us",
        "round trip 40000 us",
        "classic flows are Reno",
    }
    assert advice.verdict is not Verdict.SEPARATE
    # A look at every law, the best in all of them with three seeds, and what is otherwise.
    kept = len(advice.tried)
    looks = sum(not one.is_crowded for one in situations(short))
    assert advice.runs == looks * advice.screened + 3 * kept * len(situations(short)) + 3 * len(advice.around)


def test_the_file_of_the_page_is_a_question(tmp_path: Path) -> None:
    from shoal.cli.advise import _from_file, _platforms, _question

    page = Path(__file__).parents[2] / "docs/how-to/ask-for-advice.md"
    text = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    file = tmp_path / "port.toml"
    file.write_text(text, encoding="utf-8")
    given = _from_file(file)
    assert _platforms(given.pop("platform")) == ["sonic", "eos"]
    question = _question(given)
    assert (question.rtt, question.other_rtts, question.groups, question.incast) == ("50 us", ("200 us",), (4, 12), 32)


WRONG = (
    (["advise"], "the speed of the port is not known"),
    (["advise", "--rate", "10 Gbit/s"], "the round trip without queueing is not known"),
    (["advise", "--rate", "10 Gbit/s", "--rtt", "100 us", "--goal", "speed"], "there is no goal `speed`"),
    (["advise", "--rate", "10 Gbit/s", "--rtt", "100 us", "--device", "swich"], "there is no device `swich`"),
    (["advise", "--rate", "10 Gbit/s", "--rtt", "100 us", "--platform", "vrp"], "there is no platform `vrp`"),
    (["advise", "--rate", "10 Gbit/s", "--rtt", "100 us", "--share", "2"], "a share of 2.0"),
)


@pytest.mark.parametrize(("command", "what"), WRONG)
def test_the_command_line_refuses_with_a_remedy(cli: Cli, command: list[str], what: str) -> None:
    finished = cli(*command)
    assert finished.code == 2
    assert what in finished.err
    assert "hint:" in finished.err


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("rate = 10", "`rate` is 10"),
        ("rat = '1 Gbit/s'", "there is no key `rat`"),
        ("rate = ", "is not TOML"),
        ("rate = '1 Gbit/s'\nrtt = [1]", "`rtt` is [1]"),
        ("rate = '1 Gbit/s'\nrtt = '1 ms'\nflows = true", "`flows` is True"),
        ("", "the speed of the port is not known"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_key(cli: Cli, tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "port.toml"
    file.write_text(text, encoding="utf-8")
    finished = cli("advise", str(file))
    assert finished.code == 2
    assert what in finished.err


def test_what_a_joint_law_costs_is_measured() -> None:
    """EOS drops ECT packets by the law for the others, too: a remark says what that costs; NX-OS tells them apart."""
    from shoal.advise.configuring import configuration

    question = Question(rate="1 Gbit/s", rtt="200 us", incast=16)
    aqm: Wred = {
        "kind": "wred",
        "mark": {"min": "15104 B", "max": "15104 B", "max_probability": 1.0},
        "drop": {"min": "15104 B", "max": "45312 B", "max_probability": 0.1},
        "weight": 0,
    }
    candidate = laws.Candidate("own laws", {}, aqm)
    asked = scenario(question, mix(question), aqm, look(question), separate=False)
    advice: Any = SimpleNamespace(question=question, scenario=asked, recommended=SimpleNamespace(candidate=candidate))
    remarks = {name: configuration(advice, name)[1] for name in ("eos", "nxos")}
    assert not any("what it costs" in remark for remark in remarks["nxos"])
    (effect,) = (remark for remark in remarks["eos"] if "what it costs" in remark)
    counts = re.findall(r"have ([0-9,]+) lost packets? and ([0-9,]+) timeouts?", effect)
    whole = [tuple(int(count.replace(",", "")) for count in pair) for pair in counts]
    (lost, timeouts), (advised_lost, advised_timeouts) = whole
    assert lost > 3 * advised_lost > 0
    assert timeouts >= advised_timeouts
    # The page says these numbers.
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "ask-for-advice.md").read_text(encoding="utf-8")
    assert effect.partition(": ")[2] in " ".join(page.split())
