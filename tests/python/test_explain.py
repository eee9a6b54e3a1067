"""``shoal explain`` and ``Result.explain``: questions of results, and the first cause of each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Cli
from reported_setups import DCTCP, SETUPS, STEP, scenario
from test_shipped_notices import ROOT

import shoal


@pytest.mark.parametrize("name", SETUPS)
def test_what_people_report(name: str) -> None:
    setup = SETUPS[name]
    questions = shoal.run(shoal.Scenario.from_toml(setup.toml, name="reported.toml")).explain()
    causes = {explanation.kind: explanation.cause for explanation in questions}
    assert causes.get(setup.kind, "not asked") == setup.cause, questions
    (meant,) = [explanation for explanation in questions if explanation.kind == setup.kind]
    assert meant.question.endswith("?")
    assert meant.change is not None


def test_a_healthy_run_raises_no_question(cli: Cli) -> None:
    done = cli("explain", "step-single", "--set", "duration=20 s")
    assert done.code == 0
    assert done.out.endswith("The numbers raise no question that shoal knows.\n")


@pytest.fixture(scope="module")
def unmarked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explain") / "unmarked.toml"
    path.write_text(SETUPS["a threshold that the buffer behind it does not reach"].toml, encoding="utf-8")
    return path


def test_question_cause_evidence_and_change(cli: Cli, unmarked: Path) -> None:
    done = cli("explain", str(unmarked))
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "Why are there no marks? Cause threshold-above-buffer Evidence none of the" in text
    assert "marks begin at 100000 B, and the queue holds 75000 B" in text
    assert "Change a threshold below the buffer, or a larger buffer." in text


def test_a_folder_a_file_and_a_scenario_are_explained_alike(cli: Cli, unmarked: Path, tmp_path: Path) -> None:
    assert cli("run", str(unmarked), "--out", "kept").code == 0
    saved = cli("run", str(unmarked), "--json")
    (tmp_path / "saved.json").write_text(saved.out, encoding="utf-8")
    answers = [json.loads(cli("explain", source, "--json").out) for source in ("kept", "saved.json", str(unmarked))]
    assert answers[0] == answers[1] == answers[2]
    (run,) = answers[0]["runs"]
    (question,) = run["questions"]
    assert (run["seed"], run["on"]) == (1, "sim")
    assert (question["kind"], question["cause"]) == ("no-marks", "threshold-above-buffer")
    assert set(question) == {"question", "kind", "cause", "evidence", "change", "groups", "links"}


def test_what_is_not_decided_is_said(cli: Cli) -> None:
    from shoal.explain import explanations
    from shoal.notices import Notice

    (explanation,) = explanations([Notice("starved", "a is starved", ("a",))])
    assert (explanation.cause, explanation.change) == (None, None)
    assert explanation.question == "Why does a get so little?"


def test_no_result_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}", encoding="utf-8")
    assert cli("explain", "empty.json").code == 4
    assert cli("explain", "no-such-scenario").code in {2, 3, 4}


def test_every_change_is_of_a_cause_that_exists() -> None:
    folder = ROOT / "crates/lab"
    table = (folder / "notices/src/explanation.rs").read_text(encoding="utf-8")
    names = re.findall(r'^    \("([a-z-]+)"|^        "([a-z-]+)",$', table, re.MULTILINE)
    files = [path for path in folder.glob("*/src/**/*.rs") if "explanation" not in str(path)]
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    assert len(names) > 40
    for name in map("".join, names):
        assert f'"{name}"' in source, name


# Causes that no report in a public tracker has shown so far.
CLEARED = """
duration = "20 s"
warmup = "5 s"
[topology]
kind = "graph"
nodes = ["h1", "r1", "r2", "h2"]
links = [
    { from = "h1", to = "r1", rate = "1 Gbit/s", delay = "1 ms", impairments = { clear_ecn = true } },
    { from = "r1", to = "r2", rate = "40 Mbit/s", delay = "4 ms", aqm = STEP, buffer = "200 packets" },
    { from = "r2", to = "h2", rate = "1 Gbit/s", delay = "1 ms" },
]
[[flows]]
name = "a"
cc = "dctcp"
from = "h1"
to = "h2"
""".replace("STEP", STEP)
CLAMPED = scenario(STEP, 'cc = "dctcp"\nrtt = "28 ms"\ncwnd_clamp = "20 packets"', rate="1 Gbit/s")
SHALLOW = scenario('{ kind = "fifo" }', 'cc = "reno"\nrtt = "100 ms"', buffer="10 packets").replace("20 s", "60 s")


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        (CLEARED, "no-marks", "ecn-cleared"),
        (CLAMPED, "no-marks", "window-clamp"),
        (CLAMPED, "link-not-full", "window-clamp"),
        (SHALLOW, "link-not-full", "buffer-below-bdp"),
    ],
)
def test_causes_of_constructed_setups(text: str, kind: str, cause: str) -> None:
    questions = shoal.run(shoal.Scenario.from_toml(text, name="constructed.toml")).explain()
    assert (kind, cause) in {(each.kind, each.cause) for each in questions}


def test_data_that_pass_no_reported_link_are_not_called_starved() -> None:
    aside = '{ from = "h1", to = "h2", rate = "1 Gbit/s", delay = "4 ms", monitored = false },\n]\n[[flows]]'
    text = CLEARED.replace("]\n[[flows]]", f"    {aside}")
    result = shoal.run(shoal.Scenario.from_toml(text, name="aside.toml"))
    assert result.groups[0]["flows"][0]["goodput_bps"] > 900e6
    kinds = [notice.kind for notice in result.notices]
    assert "out-of-sight" in kinds
    assert "starved" not in kinds


def test_redirected_packets_are_counted() -> None:
    """The flow that builds a queue is redirected, inside the measurement window."""
    whole = shoal.Scenario.named("queue-protection").override({"duration": "12 s", "warmup": "4 s"})
    result = shoal.run(whole)
    (link,) = result.bottlenecks
    assert 0 < link["redirected"] < link["arrived"]
    assert result.metric("redirected()") == link["redirected"]
    # Twice the window has about twice as many.
    longer = shoal.run(whole.override({"duration": "20 s"})).bottlenecks[0]["redirected"]
    assert 1.7 < longer / link["redirected"] < 2.3


def test_a_paced_flow_of_a_hundredth_is_never_redirected() -> None:
    paced = scenario(
        '{ kind = "dualpi2", protection = {} }',
        'cc = "none"\nrtt = "20 ms"\napp = { unresponsive = "400 kbit/s", ecn = "ect1" }',
        'cc = "cubic"\nrtt = "20 ms"',
    )
    (link,) = shoal.run(shoal.Scenario.from_toml(paced, name="paced.toml")).bottlenecks
    assert "redirected" not in link
    assert link["ect"]["arrived"] > 100


def test_redirected_packets_stand_in_the_table_and_with_any_threads(cli: Cli, tmp_path: Path) -> None:
    """Ten Prague flows whose hosts segment."""
    flows = 'cc = "prague-0.7"\nrtt = "10 ms"\nhost = "linux-6-gso"\ncount = 10'
    text = scenario('{ kind = "dualpi2", protection = {} }', flows).replace('"20 s"', '"6 s"').replace('"5 s"', '"1 s"')
    (tmp_path / "ten.toml").write_text(text, encoding="utf-8")
    assert "packets were redirected by queue protection" in cli("run", "ten.toml").out
    first, second = (json.loads(cli("run", "ten.toml", "--json", "--threads", n).out)["bottlenecks"] for n in "12")
    assert first[0]["redirected"] > 100
    assert first == second


def test_redirected_packets_of_traffic_classes_add_up() -> None:
    text = scenario(
        '{ kind = "classes", queues = ['
        ' { name = "l4s", dscp = ["af41"], weight = 1, aqm = { kind = "dualpi2", protection = {} } },'
        ' { name = "rest", weight = 1, aqm = { kind = "fifo" } } ] }',
        'cc = "prague-0.7"\nrtt = "10 ms"\nhost = "linux-6-gso"\ncount = 10\ndscp = "af41"',
    )
    (link,) = shoal.run(shoal.Scenario.from_toml(text, name="classes.toml")).bottlenecks
    l4s, rest = link["classes"]
    assert link["redirected"] == l4s["redirected"] > 100
    assert "redirected" not in rest


def test_a_controller_that_runs_as_reno_is_said_in_the_result(cli: Cli, tmp_path: Path) -> None:
    text = scenario(STEP, f'{DCTCP}\necn = "off"').replace('"20 s"', '"6 s"').replace('"5 s"', '"1 s"')
    (tmp_path / "off.toml").write_text(text, encoding="utf-8")
    done = cli("run", "off.toml")
    assert "Notice: dctcp runs as Reno without ECN" in " ".join(done.out.split())
    assert "warning" not in done.err
