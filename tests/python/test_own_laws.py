"""Laws of one's own in files: from the skeleton to a run, and what is said when something is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal import laws as laws_module
from shoal.conformance import run_scripts
from shoal.errors import OutputError, OwnLawError, ScenarioError
from shoal.evaluate import contenders
from shoal.models import laws_in

_describe = r"{ \"abi\": 1, \"kind\": \"controller\", \"summary\": \"A window that stays.\" }"
_numbers = r"""{ \"abi\": 1, \"kind\": \"controller\", \"parameters\": [
    { \"name\": \"window\", \"default\": 4, \"least\": 1, \"most\": 100, \"whole\": true, \"unit\": \"packets\",
      \"text\": \"Window that stays.\" }] }""".replace("\n", " ")


def _law(growth: str = "i32.const 0", *, describe: str = _describe, loss: str = "i32.const 0") -> str:
    """A law in the text form of WebAssembly; its words are from address 1024 on."""
    return f"""(module (memory (export "memory") 1)
        (data (i32.const 4096) "{describe}\\00")
        (func (export "shoal_io") (result i32) i32.const 1024)
        (func (export "shoal_describe") (result i32) i32.const 4096)
        (func (export "on_growth") (result i32) {growth})
        (func (export "on_loss") (result i32) {loss}))"""


_fixed = _law("i32.const 1024 i32.const 1472 f64.load i64.trunc_f64_u i64.store i32.const 0", describe=_numbers)

_text = """
duration = "4 s"
bottleneck = { rate = "10 Mbit/s", buffer = "50 packets", aqm = { kind = "fifo" } }
flows = [{ cc = "file:mine.wat", name = "mine", rtt = "20 ms" }]
"""


@pytest.fixture
def laws(folder: Path) -> Path:
    """A folder with a law and a scenario that names it."""
    (folder / "mine.wat").write_text(_fixed, encoding="utf-8")
    (folder / "mine.toml").write_text(_text, encoding="utf-8")
    return folder


def _goodput(scenario: shoal.Scenario) -> float:
    return shoal.run(scenario).groups[0]["goodput_bps"]["mean"]


def test_a_law_is_run_and_its_file_is_in_the_scenario(laws: Path) -> None:
    scenario = shoal.Scenario.from_file(laws / "mine.toml")
    (files,) = scenario.resolved["laws"].values()
    assert files["simulator"] == "mine.wat"
    assert len(files["simulator_sha256"]) == 64
    assert scenario.resolved["flows"][0]["cc_options"] == {"window": 4}
    # Nothing waits: a window of eight packets has twice the rate of four.
    wider = scenario.override({"flows.mine.cc_options.window": 8})
    assert _goodput(wider) == pytest.approx(2 * _goodput(scenario), rel=0.1)


def test_a_result_is_repeated_from_its_own_folder(laws: Path, inside: Cli, cli: Cli) -> None:
    first = inside("run", "mine.toml", "--json")
    assert first.code == 0, first.err
    assert inside("run", "mine.toml", "--out", "kept").code == 0
    (laws / "mine.wat").unlink()
    again = inside("run", "kept/scenario.toml", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["groups"] == json.loads(first.out)["groups"]
    # A process that has not read the file reads it where the results are.
    laws_module._kept.clear()
    (laws / "elsewhere").mkdir()
    kept = str(laws / "kept")
    reported = inside("report", kept, "--out", str(laws / "elsewhere" / "report"))
    assert reported.code == 0, reported.err
    # Another file of that name is another law.
    (laws / "kept" / "mine.wat").write_text(_law(), encoding="utf-8")
    changed = cli("run", "kept/scenario.toml")
    assert changed.code == 3
    assert "is not the file that the scenario was run with" in changed.err


def test_what_a_command_replaces_is_relative_to_where_it_is_given(laws: Path, inside: Cli) -> None:
    replaced = inside(
        "run",
        "step-single",
        "--set",
        "flows[0].cc=file:mine.wat",
        "--set",
        "duration=3 s",
        "--set",
        "warmup=1 s",
        "--json",
    )
    assert replaced.code == 0, replaced.err
    assert json.loads(replaced.out)["groups"][0]["cc"] == "file:mine.wat"


def test_a_law_may_have_a_name(laws: Path) -> None:
    text = _text.replace("file:mine.wat", "mine") + '[laws.mine]\nsimulator = "mine.wat"\n'
    named = shoal.Scenario(text, str(laws / "named.toml"))
    assert named.resolved["flows"][0]["cc"] == "mine"
    assert _goodput(named) == _goodput(shoal.Scenario.from_file(laws / "mine.toml"))
    taken = text.replace("laws.mine", "laws.reno")
    with pytest.raises(ScenarioError, match='"reno" is a controller that shoal has itself'):
        shoal.Scenario(taken, str(laws / "taken.toml"))


def test_kept_runs_are_those_of_the_file(laws: Path) -> None:
    scenario = shoal.Scenario.from_file(laws / "mine.toml")
    before = scenario.native.json
    (laws / "mine.wat").write_text(_fixed + "\n", encoding="utf-8")
    assert shoal.Scenario.from_file(laws / "mine.toml").native.json != before


def test_what_is_wrong_is_said(laws: Path) -> None:
    text = (laws / "mine.toml").read_text(encoding="utf-8")
    with pytest.raises(OutputError, match=r"cannot read the law `.*none\.wat`: No such file"):
        shoal.Scenario(text.replace("mine.wat", "none.wat"), str(laws / "x.toml"))
    for content, message in (
        (b"", "the file is empty"),
        (b"\x7fELF", "it is no WebAssembly"),
        (_law(describe="{").encode(), "its description is not what shoal expects"),
    ):
        (laws / "wrong.wat").write_bytes(content)
        with pytest.raises(ScenarioError, match=message):
            shoal.Scenario(text.replace("mine.wat", "wrong.wat"), str(laws / "x.toml"))
        with pytest.raises(ScenarioError, match=message):
            laws_in(laws / "wrong.wat")
    with pytest.raises(ScenarioError, match="unknown congestion controller"):
        shoal.Scenario(text.replace("file:mine.wat", "mine"), str(laws / "x.toml"))


def test_a_failure_names_law_flow_packet_and_time(laws: Path, inside: Cli) -> None:
    (laws / "mine.wat").write_text(_law("i32.const 1 i32.const 0 i32.div_u"), encoding="utf-8")
    with pytest.raises(
        OwnLawError, match=r"the law `file:mine.wat` of flow 0 \(`mine`\) failed at packet \d+, .* zero"
    ):
        shoal.run(shoal.Scenario.from_file(laws / "mine.toml"))
    failed = inside("run", str(laws / "mine.toml"))
    assert failed.code == 3
    assert "it divided by zero" in failed.err
    assert "mend the law" in failed.err
    assert "Traceback" not in failed.err


def test_a_law_is_described(laws: Path, inside: Cli) -> None:
    described = inside("describe", str(laws / "mine.wat"))
    assert described.code == 0, described.err
    assert "window" in described.out
    assert "From 1 to 100." in described.out


def test_seeds_and_workers_do_not_change_what_a_law_does(laws: Path, inside: Cli) -> None:
    scenario = str(laws / "mine.toml")
    runs = [inside("run", scenario, "--seeds", "3", "--workers", workers, "--json") for workers in ("1", "2")]
    assert runs[0].out == runs[1].out
    assert runs[0].code == 0, runs[0].err


def test_an_evaluation_takes_the_file_of_a_law(laws: Path) -> None:
    name = f"file:{laws / 'mine.wat'}"
    assert contenders.controller(name).values == {"flows.subject.cc": name}
    with pytest.raises(OutputError, match="cannot read the law"):
        contenders.controller("file:none.wat")


def test_a_hunt_beside_another_law_leaves_files_that_run(laws: Path, inside: Cli, cli: Cli) -> None:
    still = ("--fix", "path.kind=still", "--fix", "flows.load.kind=none", "--runs", "64", "--finds", "1")
    done = inside("hunt", "--law", "file:mine.wat", "--unlike", "reno", *still, "--out", "finds")
    assert done.code == 0, done.err
    # A window of four packets, whatever the path holds.
    assert "with difference from reno in margins > 1" in done.out
    assert "with mine.wat" in done.out
    assert "with reno" in done.out
    assert (laws / "finds" / "mine.wat").is_file()
    (laws / "mine.wat").unlink()
    again = cli("run", str(laws / "finds" / "find-1.toml"), "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["groups"][0]["cc"] == "file:mine.wat"
    assert json.loads((laws / "finds" / "again.json").read_text(encoding="utf-8"))["refusal"]


_script = """\
`sysctl -q net.ipv4.tcp_congestion_control=file:mine.wat`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.01 < . 1:1(0) ack 1 win 320
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 20000) = 20000
+0 > . 1:10001(10000) ack 1
+.01 < . 1:1(0) ack 10001 win 320
+0 > . 10001:14001(4000) ack 1
+0 %{ assert tcpi_snd_cwnd == 4 }%
"""


def test_a_conformance_script_may_name_the_file_of_a_law(laws: Path) -> None:
    def verdict(text: str) -> str:
        (laws / "mine.pkt").write_text(text, encoding="utf-8")
        (played,) = run_scripts([laws / "mine.pkt"])
        return f"{played.outcome} {played.data.get('reason', '')}"

    assert verdict(_script) == "pass "
    assert verdict(_script.replace("file:mine.wat", "reno")).startswith("fail")
    assert "is no controller: No such file" in verdict(_script.replace("mine.wat", "none.wat"))
    (laws / "mine.wat").write_text(_law("unreachable"), encoding="utf-8")
    assert "failed at packet 10, 1.02 s into the run" in verdict(_script)


@pytest.mark.skipif(not shutil.which("clang") or not shutil.which("wasm-ld"), reason="clang and lld are not there")
@pytest.mark.parametrize("like", ["reno", "dctcp"])
def test_the_skeleton_builds_passes_its_test_and_is_the_law_that_it_is_like(
    like: str, folder: Path, inside: Cli
) -> None:
    made = inside("new", "law", "my-law", "--like", like)
    assert made.code == 0, made.err
    assert inside("new", "law", "my-law").code == 2
    subprocess.run(["make", "-C", str(folder / "my-law")], check=True)
    tests = [sys.executable, "-m", "unittest", "-v"]
    done = subprocess.run(tests, cwd=folder / "my-law", check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scenario = shoal.Scenario(_beside_cubic).override({"flows.law.cc": like})
    own = scenario.override({"flows.law.cc": f"file:{folder / 'my-law' / 'my-law.wasm'}"})
    # The built-in DCTCP has other policies on other stacks, which the file leaves out.
    for stack in ("linux-6", "linux-3.2", "freebsd-14") if like == "reno" else ("linux-6",):
        built_in, of_file = (shoal.run(plan.override({"flows.law.stack": stack})).groups for plan in (scenario, own))
        assert [group | {"cc": ""} for group in of_file] == [group | {"cc": ""} for group in built_in]


_beside_cubic = """
duration = "10 s"
bottleneck = { rate = "20 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [
    { cc = "reno", name = "law", rtt = "20 ms", count = 2, ecn = "on" },
    { cc = "cubic", rtt = "20 ms" },
]
"""
