"""Laws of one's own in Python: the same bytes as the laws that are built in, and what is said of what is wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal import python_laws
from shoal.errors import OwnLawError, ScenarioError, UsageError
from shoal.runs import cluster

LAWS = Path(shoal.__file__).parent / "_data" / "law"

BESIDE_CUBIC = """
duration = "12 s"
seed = 3
bottleneck = { rate = "20 Mbit/s", buffer = "100 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [
    { cc = "reno", name = "law", rtt = "20 ms", count = 2, ecn = "on" },
    { cc = "cubic", name = "other", rtt = "20 ms" },
]
"""
STEP: dict[str, object] = {"kind": "step", "threshold": "20 packets"}
FIFO: dict[str, object] = {"kind": "fifo"}

MINE = '''
import shoal

class Mine(shoal.Controller):
    """Grows as Reno,
    and keeps a part.

    This is more than a summary."""

    part = shoal.parameter(0.5, least=0.1, most=0.9, text="What is left after a loss.")

    def __init__(self):
        self.losses = 0

    def on_growth(self, flow):
        flow.reno()

    def on_loss(self, flow):
        self.losses += 1
        flow.ssthresh = max(int(flow.cwnd * self.part), 2)
'''
SCENARIO = """
duration = "4 s"
bottleneck = { rate = "10 Mbit/s", buffer = "50 packets", aqm = { kind = "fifo" } }
flows = [{ cc = "Mine", name = "mine", rtt = "20 ms" }]
"""


class Plain(shoal.Controller):
    """A law that others change."""

    def on_growth(self, flow: shoal.Flow) -> None:
        flow.reno()

    def on_loss(self, flow: shoal.Flow) -> None:
        flow.ssthresh = flow.part(1, 2)


@pytest.fixture
def laws(folder: Path) -> Path:
    """A folder with a law and a scenario that names it."""
    (folder / "mine.py").write_text(MINE, encoding="utf-8")
    (folder / "mine.toml").write_text(SCENARIO, encoding="utf-8")
    return folder


@pytest.mark.parametrize("aqm", [STEP, FIFO], ids=["step", "fifo"])
@pytest.mark.parametrize(
    ("like", "stack"),
    [
        *(("reno", stack) for stack in ("linux-6", "linux-3.2", "freebsd-14")),
        *(("dctcp", stack) for stack in ("linux-6", "linux-3.2", "freebsd-14")),
        # The built-in CUBIC counts packets, which FreeBSD does not, and this one is that of Linux 6.
        ("cubic", "linux-6"),
    ],
)
def test_the_laws_of_linux_give_the_same_bytes_in_python(like: str, stack: str, aqm: dict[str, object]) -> None:
    scenario = shoal.Scenario.from_toml(BESIDE_CUBIC).override({"bottleneck.aqm": aqm, "flows.law.stack": stack})
    built_in = shoal.run(scenario.override({"flows.law.cc": like}))
    own = shoal.run(scenario.with_laws(LAWS / f"{like}.py").override({"flows.law.cc": like.capitalize()}))
    assert [group | {"cc": ""} for group in own.groups] == [group | {"cc": ""} for group in built_in.groups]
    assert own.bottlenecks == built_in.bottlenecks
    # The law has something to decide, or nothing would be compared.
    assert sum(flow["reductions"] for flow in own.groups[0]["flows"]) > 2


@pytest.mark.parametrize("like", ["reno", "dctcp", "cubic"])
def test_a_run_takes_at_most_thirty_times_the_processors_time(like: str) -> None:
    scenario = shoal.Scenario.from_toml(BESIDE_CUBIC).override(
        {"bottleneck.rate": "100 Mbit/s", "duration": "10 s", "flows.other.cc": like, "flows.law.cc": like}
    )
    name = like.capitalize()
    own = scenario.with_laws(LAWS / f"{like}.py").override({"flows.other.cc": name, "flows.law.cc": name})
    least_s = [float("inf"), float("inf")]
    for _ in range(3):
        for number, each in enumerate((scenario, own)):
            begun_s = time.process_time()
            shoal.run(each)
            least_s[number] = min(least_s[number], time.process_time() - begun_s)
    assert least_s[1] < 30 * least_s[0], least_s


def test_a_class_is_a_value_of_a_scenario() -> None:
    scenario = shoal.Scenario.from_toml(BESIDE_CUBIC).override({"flows.law.cc": Plain})
    (files,) = scenario.resolved["laws"].values()
    assert files["python"] == "test_python_laws.py"
    assert scenario.resolved["flows"][0]["cc"] == "Plain"
    assert shoal.run(scenario).groups[0]["cc"] == "Plain"
    assert shoal.run(shoal.Scenario.from_resolved(scenario.resolved)).groups == shoal.run(scenario).groups


def test_parameters_are_keys_of_the_scenario_with_its_checks(laws: Path) -> None:
    scenario = shoal.Scenario.from_file(laws / "mine.toml", laws=[laws / "mine.py"])
    assert scenario.resolved["flows"][0]["cc_options"] == {"part": 0.5}
    gentle = scenario.override({"flows.mine.cc_options.part": 0.9})
    assert shoal.run(gentle).groups != shoal.run(scenario).groups
    with pytest.raises(ScenarioError, match=r"2 is not from 0\.1 to 0\.9"):
        scenario.override({"flows.mine.cc_options.part": 2})


def test_the_words_explain_themselves() -> None:
    assert shoal.Flow.srtt_ps.__doc__ == "Smoothed round-trip time; 0 before the first sample."


def test_a_scenario_runs_nothing_unless_the_command_names_the_file(laws: Path, inside: Cli) -> None:
    refused = inside("run", "mine.toml")
    assert refused.code == 3
    assert "a class in Python needs --python FILE" in refused.err
    (laws / "named.toml").write_text(SCENARIO + '[laws.Mine]\npython = "mine.py"\n', encoding="utf-8")
    named = inside("run", "named.toml")
    assert named.code == 3
    assert "runs only if the command names its file" in named.err
    assert inside("run", "named.toml", "--python", "mine.py").code == 0
    # What one command was given the next one does not have.
    assert inside("run", "named.toml").code == 3


def test_results_name_the_file_and_are_repeated_with_it_alone(laws: Path, inside: Cli, cli: Cli) -> None:
    first = inside("run", "mine.toml", "--python", "mine.py", "--out", "kept")
    assert first.code == 0, first.err
    kept = laws / "kept"
    assert (kept / "mine.py").read_text(encoding="utf-8") == MINE
    command = json.loads((kept / "again.json").read_text(encoding="utf-8"))
    assert command["command"] == ["run", "scenario.toml", "--python", "mine.py"]
    assert cli("report", "kept").code == 0, "results are read without the law"
    refused = cli("run", "kept/scenario.toml")
    assert refused.code == 3
    assert "add --python FILE" in refused.err
    again = inside("run", "kept/scenario.toml", "--python", "kept/mine.py", "--json")
    assert json.loads(again.out)["groups"] == json.loads((kept / "result.json").read_text("utf-8"))["groups"]
    (laws / "mine.py").write_text(MINE + "\n", encoding="utf-8")
    changed = cli("run", "kept/scenario.toml", "--python", "mine.py")
    assert changed.code == 3
    assert "is not the file that the scenario was run with" in changed.err
    packed = inside("pack", "kept", "--out", "packed.tar.gz")
    assert packed.code != 0
    assert "a law in Python" in packed.err


def test_workers_and_threads_do_not_change_what_a_law_does(laws: Path, inside: Cli) -> None:
    given = ("--python", "mine.py", "--json")
    seeds = [inside("run", "mine.toml", "--seeds", "4", "--workers", workers, *given) for workers in ("1", "3")]
    assert seeds[0].code == 0, seeds[0].err
    assert seeds[0].out == seeds[1].out
    scenario = shoal.Scenario.from_toml(BESIDE_CUBIC).override({"flows.law.cc": Plain, "trace.series": "off"})
    assert shoal.run(scenario, threads=2).groups == shoal.run(scenario).groups


def test_whatever_makes_many_runs_takes_a_law(laws: Path, inside: Cli) -> None:
    given = ("--python", "mine.py")
    buffer = ("--key", "K", "--from", "20", "--to", "40", "--step", "20", "--set", "bottleneck.buffer={K} packets")
    for command in (
        ("check", "mine.toml"),
        ("sweep", "mine.toml", "--axis", "flows[0].cc=Mine,reno", "--seeds", "1", "--out", "swept"),
        ("tune", "mine.toml", *buffer, "--such-that", "utilisation() > 0.5", "--largest", "--seeds", "1"),
        ("judge", "--law", "Mine", "--seeds", "1"),
        ("hunt", "--law", "Mine", "--delay", "--runs", "64", "--finds", "1", "--no-kernel"),
    ):
        done = inside(*command, *given)
        assert done.code == 0, done.err
    assert (laws / "swept" / "mine.py").is_file()
    again = json.loads((laws / "swept" / "again.json").read_text(encoding="utf-8"))
    assert again["command"][-2:] == ["--python", "mine.py"]


def test_a_cluster_is_refused_before_it_is_asked(laws: Path, inside: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cluster.Cluster, "at", lambda *_, **__: cluster.Cluster("here", lambda: pytest.fail("started"), 1)
    )
    refused = inside(
        "sweep", "mine.toml", "--axis", "seed=1,2", "--cluster", "local:2", "--python", "mine.py", "--seeds", "1"
    )
    assert refused.code == 2
    assert "workers of a cluster do not have" in refused.err


# What a law does when its window may grow, and what is said of it.
BROKEN = [
    ("1 / 0", r"ZeroDivisionError: division by zero \(.*mine\.py, line 9, in on_growth\)"),
    ("helper()", r"KeyError: 'no' \(.*mine\.py, line 4, in helper\)"),
    ("flow.cwnd = flow.cwnd * 1.5", r"`cwnd` is a whole number, and 15\.0 is of the type float: .* line 9"),
    ("flow.cwnd = float('nan')", "`cwnd` is a whole number, and nan is of the type float"),
    ("flow.cwnd = -3", r"`cwnd` = -3 is not from 0 to 18446744073709551615 \(.*mine\.py, line 9"),
    ("flow.cwnd = 1 << 70", "`cwnd` = 1180591620717411303424 is not from 0 to"),
    ("flow.cwnd = 1 << 40", "it answered cwnd = 1099511627776, which is not from 1 to 4294967295"),
    ("flow.cwnd = 0", "it answered cwnd = 0, which is not from 1 to"),
    ("flow.cwnd = 1 << 33; flow.reno()", "`cwnd` = 8589934592 is too large for a window"),
    ("flow.alpha = 2", "it answered alpha = 2, which is not from 0 to 1"),
    ("flow.alpha = 'all'", "`alpha` is a number, and not 'all'"),
    ("flow.srtt_ps = 1", "`srtt_ps` is what the host says; a law sets cwnd, ssthresh"),
    ("flow.cwdn = 1", "has no attribute 'cwdn'"),
    ("flow.linear(2.5, 1)", "'float' object cannot be interpreted as an integer"),
    ("self.on_growth(flow)", "RecursionError"),
    ("return 7", "`on_growth` returned 7, and is asked for nothing"),
    ("sys.exit(7)", r"SystemExit: 7 \(.*mine\.py, line 9"),
]


@pytest.mark.parametrize(("line", "message"), BROKEN, ids=[line for line, _ in BROKEN])
def test_a_failure_names_flow_packet_time_and_the_line_of_the_file(
    line: str, message: str, laws: Path, inside: Cli
) -> None:
    text = "import shoal, sys\n\ndef helper():\n    return {}['no']\n\nclass Mine(shoal.Controller):\n"
    text += "    def on_loss(self, flow): flow.ssthresh = 2\n    def on_growth(self, flow):\n        LINE\n"
    (laws / "mine.py").write_text(text.replace("LINE", line), encoding="utf-8")
    with pytest.raises(OwnLawError, match=message) as caught:
        shoal.run(shoal.Scenario.from_file(laws / "mine.toml", laws=[laws / "mine.py"]))
    assert str(caught.value).startswith("the law `Mine` of flow 0 (`mine`) failed at packet 1, 0.04")
    if line == "1 / 0":
        failed = inside("run", "mine.toml", "--python", "mine.py")
        assert failed.code == 3
        assert "(mine.py, line 9, in on_growth)" in failed.err
        assert "Traceback" not in failed.err


ANSWERS = [
    ("rate_halving_floor", "pass", "`rate_halving_floor` returned None, and is asked for a window"),
    ("rate_halving_floor", "return 2.5", r"`rate_halving_floor` returned 2\.5, and is asked for a window"),
    ("on_ecn", "return 7", "`on_ecn` returned 7, and is asked for True or False"),
]


@pytest.mark.parametrize(("call", "line", "message"), ANSWERS)
def test_what_a_method_returns_is_what_it_is_asked_for(call: str, line: str, message: str) -> None:
    scope: dict[str, object] = {"Plain": Plain, "__name__": __name__}
    source = f"class Asked(Plain):\n    def {call}(self, flow):\n        {line}\n"
    exec(source, scope)
    # This kernel halves its rate over a window.
    scenario = shoal.Scenario.from_toml(BESIDE_CUBIC).override(
        {"flows.law.cc": scope["Asked"], "flows.law.stack": "linux-3.2"}
    )
    with pytest.raises(OwnLawError, match=message):
        shoal.run(scenario)


REFUSED = [
    ("def on_groth(self, flow): pass", "`Mine.on_groth` is called on no occasion\nhint: did you mean `on_growth`"),
    ("seen = []", "`Mine.seen` would be shared by all flows and runs"),
    ("ecn = 'some'", "its description is not what shoal expects: unknown variant `some`"),
    ("gain = shoal.parameter(2, least=0, most=1)", 'the default of its parameter "gain" is no value of it'),
    ("Gain = shoal.parameter(1, least=0, most=1)", 'its parameter "Gain" has a name that is no key'),
    ("def __init__(self): {}['no']", r"`on_init` failed: KeyError: 'no' \(.*mine\.py, line 10, in __init__\)"),
    ("def on_init(self, flow): return 'too large'", "it refuses its parameters: too large"),
    ("on_loss = None", r"`Mine\.on_loss` is no method"),
    ("x = 1 +", r"mine\.py`, line 10: SyntaxError: invalid syntax"),
    ("x = {}['no']", r"mine\.py`, line 10: KeyError: 'no'"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_a_class_that_cannot_be_is_refused_before_it_runs(line: str, message: str, laws: Path) -> None:
    (laws / "mine.py").write_text(
        "import shoal\n\nclass Base(shoal.Controller):\n    def on_growth(self, flow): flow.reno()\n"
        "    def on_loss(self, flow): flow.ssthresh = 2\n\n\nclass Mine(Base):\n"
        f'    """A law."""\n    {line}\n',
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError, match=message):
        shoal.Scenario.from_file(laws / "mine.toml", laws=[laws / "mine.py"])


def test_a_law_depends_on_its_file_alone(laws: Path) -> None:
    def of(gain: float) -> type[shoal.Controller]:
        class Closed(Plain):
            def on_loss(self, flow: shoal.Flow) -> None:
                flow.ssthresh = max(int(flow.cwnd * gain), 2)

        return Closed

    with pytest.raises(ScenarioError, match=r"`Closed\.on_loss` uses `gain` of the function around its class"):
        python_laws.law_of(of(0.5))
    with pytest.raises(UsageError, match="is no law"):
        shoal.Scenario.from_toml(BESIDE_CUBIC).with_laws(shoal.Controller)
    (laws / "none.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="defines no law"):
        shoal.Scenario.from_toml(BESIDE_CUBIC).with_laws(laws / "none.py")


def test_a_class_of_the_same_text_takes_the_place_of_the_one_before(laws: Path) -> None:
    before = python_laws.laws_in(laws / "mine.py", MINE.encode())[0]
    (laws / "other").mkdir()
    after = python_laws.laws_in(laws / "other" / "mine.py", MINE.encode())[0]
    assert (before.sha256, before.identity != after.identity) == (after.sha256, True)


def test_a_law_is_described(laws: Path, inside: Cli) -> None:
    described = inside("describe", str(laws / "mine.py"))
    assert described.code == 0, described.err
    assert "Mine (controller)\nGrows as Reno, and keeps a part.\n" in described.out
    assert "What is left after a loss. From 0.1 to 0.9." in described.out


@pytest.mark.parametrize("more", [(), ("--seeds", "2")], ids=["one", "several"])
def test_a_law_that_never_returns_can_be_interrupted(
    more: tuple[str, ...], laws: Path, environment: dict[str, str]
) -> None:
    # One write each: two runs that print at once would mix what `print` writes in parts.
    here = "        __import__('os').write(1, b'here\\n')\n        while True: pass"
    text = MINE.replace("        flow.reno()", here)
    (laws / "mine.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "run", "mine.toml", "--python", "mine.py", *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=laws, env=environment, stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "here\n"
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in said


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_law_that_never_begins_can_be_interrupted(command: str, laws: Path, environment: dict[str, str]) -> None:
    """Its object is made while the scenario is read, before anything runs."""
    here = "        self.losses = 0\n        __import__('os').write(1, b'here\\n')\n        while True: pass"
    text = MINE.replace("        self.losses = 0", here)
    (laws / "mine.py").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "shoal", command, "mine.toml", "--python", "mine.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=laws, env=environment, stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "here\n"
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in said


@pytest.mark.parametrize("like", ["reno", "dctcp", "cubic"])
def test_the_skeleton_runs_and_passes_its_test(like: str, folder: Path, inside: Cli) -> None:
    made = inside("new", "law", "my-law", "--python", "--like", like)
    assert made.code == 0, made.err
    assert "`shoal run my-law/my-law.toml --python my-law/my_law.py` runs it" in made.err
    assert inside("run", "my-law/my-law.toml", "--python", "my-law/my_law.py").code == 0
    tests = [sys.executable, "-m", "unittest", "-v"]
    done = subprocess.run(tests, cwd=folder / "my-law", check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Ran 2 tests" in done.stderr


def test_a_law_is_written_in_one_language(folder: Path, inside: Cli) -> None:
    assert inside("new", "law", "for-linux", "--kernel").code == 0
    text = (folder / "for-linux" / "tcp_for_linux.c").read_text(encoding="utf-8")
    assert all(part in text for part in ('= "for-linux"', "= THIS_MODULE", "&for_linux)", 'MODULE_LICENSE("GPL")'))
    both = inside("new", "law", "my-law", "--python", "--kernel")
    assert (both.code, "written in one language" in both.err) == (2, True)
    for language, like in (("--wasm", "cubic"), ("--kernel", "dctcp")):
        absent = inside("new", "law", "my-law", language, "--like", like)
        assert absent.code == 2
        assert f"there is no `{like}` to begin with for {language}" in absent.err
