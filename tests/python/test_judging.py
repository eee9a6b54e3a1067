"""Judgements: the same bits everywhere, cheap stages first, scenarios that the score does not see, JSON in and out."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from conftest import Cli, Finished

import shoal
from shoal.judging import usual_score
from shoal.judging.suite import held_out, suite

LAWS = ["dctcp", "reno", "pie"]


def episode(**changes: object) -> shoal.Scenario:
    """Two seconds at 10 Mbit/s."""
    keys: dict[str, object] = {
        "duration": "2 s",
        "bottleneck": {"rate": "10 Mbit/s", "aqm": {"kind": "step", "threshold": "10 packets"}, "buffer": "50 packets"},
        "flows": [{"name": "law", "cc": "dctcp", "rtt": "20 ms"}],
        "trace": {"series": "off"},
    }
    return shoal.Scenario.from_keys({**keys, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("law", LAWS)
def test_scores_are_the_same_for_any_number_of_workers(law: str) -> None:
    assert shoal.judge(law, seeds=2, workers=1).json == shoal.judge(law, seeds=2, workers=3).json


def test_the_score_is_the_mean_of_its_expression() -> None:
    first, second = episode(), episode(title="slower", bottleneck={"rate": "2 Mbit/s", "buffer": "20 packets"})
    verdict = shoal.judge("reno", [first, second], 2, score="utilisation()", metrics={"jain": "jain()"})
    by_hand = [
        sum(shoal.run(each.override({"flows.law.cc": "reno"}), seed=seed).metric("utilisation()") for seed in (1, 2))
        / 2
        for each in (first, second)
    ]
    assert verdict.score == pytest.approx(sum(by_hand) / 2, rel=1e-12)
    assert verdict.metrics["jain"] == 1.0
    assert (verdict.stage, verdict.held_out, verdict.gap) == ("all", None, None)
    # The first run is one of these four, and is not made twice.
    assert verdict.runs == 4


def test_a_bad_law_costs_one_run() -> None:
    verdict = shoal.judge("reno", stop_below=2.0)
    assert (verdict.stage, verdict.runs) == ("first", 1)
    assert verdict.score is not None
    assert shoal.judge("reno", seeds=1, stop_below=0.0).stage == "held-out"


def test_held_out_scenarios_have_no_part_in_the_score() -> None:
    only = shoal.judge("dctcp", [episode()], 2, score="utilisation()")
    slow = episode(title="idle", flows=[{"name": "law", "cc": "dctcp", "rtt": "20 ms", "receive_window": "6000 B"}])
    both = shoal.judge("dctcp", [episode()], 2, held_out=[slow], score="utilisation()")
    assert both.score == only.score
    assert both.held_out is not None
    assert both.held_out < 0.5
    assert both.gap == only.score - both.held_out  # type: ignore[operator]


def test_seeds_of_held_out_scenarios_are_others() -> None:
    chance = [{"name": "law", "cc": "dctcp", "rtt": "20 ms", "start": {"uniform": ["0 s", "1 s"]}}]
    start = "value('groups.0.flows.0.start_s')"
    verdict = shoal.judge("dctcp", [episode(flows=chance)], 1, held_out=[episode(flows=chance)], score=start)
    assert verdict.score != verdict.held_out


def test_time_is_limited_and_gives_no_score() -> None:
    verdict = shoal.judge("dctcp", time_limit_s=0.0)
    assert (verdict.score, verdict.runs) == (None, 0)
    assert "limit of 0 s" in verdict.error


@pytest.mark.parametrize(
    ("law", "error"),
    [
        # The buffers of the usual scenarios hold 100 packets.
        (
            '{ kind = "step", threshold = "200 packets" }',
            "the threshold 200 packets is above the buffer of 100 packets",
        ),
        ('{ cc = "dctcp", cc_options = { gain = { shift = 99 } } }', "not a usable shift"),
    ],
)
def test_a_law_that_a_scenario_refuses_has_no_score(law: str, error: str) -> None:
    verdict = shoal.judge(law)
    assert (verdict.score, verdict.runs) == (None, 0)
    assert error in verdict.error


def test_a_score_without_a_value_is_none() -> None:
    verdict = shoal.judge("dctcp", [episode()], 1, score="1 / drops()")
    assert (verdict.score, verdict.error) == (None, "the score has no value in a scenario")
    assert json.loads(verdict.json)["metrics"]["combined_score"] is None


def test_worse_laws_have_worse_scores() -> None:
    good = shoal.judge("dctcp", [episode()], 1, score=usual_score).score
    tiny = '{ cc = "dctcp", cc_options = { floor_packets = 200 } }'
    worse = shoal.judge(tiny, [episode()], 1, score=usual_score).score
    assert good is not None
    assert worse is not None
    assert worse < good


def test_artifacts_name_the_worst_scenario() -> None:
    verdict = shoal.judge("dctcp", seeds=1)
    rated = {each["title"]: each["score"] for each in verdict.artifacts["scenarios"] if not each["held_out"]}
    assert verdict.artifacts["worst_scenario"] == min(rated, key=rated.__getitem__) == "beside Reno"
    assert any(text.startswith("beside Reno: other ") for text in verdict.artifacts["notices"])


def test_usual_scenarios_differ_from_those_held_out() -> None:
    for of_controller in (True, False):
        seen, unseen = suite(of_controller=of_controller), held_out(of_controller=of_controller)
        rates = [{each.resolved["bottleneck"]["rate"] for each in some} for some in (seen, unseen)]
        assert not rates[0] & rates[1]


def test_five_hundred_episodes_a_second_of_a_processor() -> None:
    """2 s at 10 Mbit/s, in batches; counted is processor time, which neighbours do not change much."""
    shoal.judge("dctcp", [episode()], 20)
    begin_s = time.process_time()
    verdict = shoal.judge("dctcp", [episode()], 600, workers=1)
    took_s = time.process_time() - begin_s
    assert verdict.runs == 600
    assert verdict.runs / took_s >= 500


def asked(cli: Cli, folder: Path, text: str) -> Finished:
    (folder / "requests.json").write_text(text, encoding="utf-8")
    return cli("judge", "requests.json")


def test_programs_ask_in_json(cli: Cli, folder: Path) -> None:
    keys = json.loads(json.dumps(dict(episode().resolved)))
    requests = [
        {"law": "dctcp", "seeds": 1},
        {"law": {"cc": "reno"}, "seeds": 1, "scenarios": [keys], "score": "utilisation()"},
    ]
    done = asked(cli, folder, "\n".join(map(json.dumps, requests)))
    first, second = map(json.loads, done.out.splitlines())
    assert first["metrics"]["combined_score"] == shoal.judge("dctcp", seeds=1).score
    assert second["law"] == '{ "cc" = "reno" }'
    assert 0.5 < second["metrics"]["combined_score"] <= 1


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ('{"seeds": 3}', "names no law"),
        ('{"law": "dctcp", "seed": 3}', "there is no `seed`"),
        ('{"law": "dctcp", "seeds": "three"}', "expected int or list"),
        ('{"law": "dctcp"}\n{"law":', "line 2 is no request"),
        ('{"law": "dctcp", "scenarios": [3]}', "3 is no scenario"),
    ],
)
def test_wrong_requests_are_refused(cli: Cli, folder: Path, request_: str, message: str) -> None:
    done = asked(cli, folder, request_)
    assert done.code == 2
    assert message in done.err


def test_standard_input_is_read(cli: Cli, folder: Path) -> None:
    with (folder / "in").open("w+", encoding="utf-8") as file:
        file.write('{"law": "dctcp", "seeds": 1}')
        file.seek(0)
        assert json.loads(cli("judge", "-", stdin=file).out)["law"] == "dctcp"


def test_people_get_a_table(cli: Cli) -> None:
    out = cli("judge", "--law", "dctcp", "--seeds", "1").out
    assert out.startswith("dctcp: score 0.")
    assert "beside CUBIC" in out
    assert "held out" in out
