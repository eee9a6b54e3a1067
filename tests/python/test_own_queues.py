"""Laws of queues in files: those in C give the results of shoal's own, and a scenario says which file ran."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.errors import ScenarioError
from shoal.models import laws_in

_laws = Path(shoal.__file__).parent / "_data" / "law"
_needs_clang = pytest.mark.skipif(
    not shutil.which("clang") or not shutil.which("wasm-ld"), reason="clang and lld are not there"
)

_describe = r"{ \"abi\": 1, \"kind\": \"queue\", \"summary\": \"Drops each packet.\" }"
_drop = f"""(module (memory (export "memory") 1)
    (data (i32.const 4096) "{_describe}\\00")
    (func (export "shoal_io") (result i32) i32.const 1024)
    (func (export "shoal_describe") (result i32) i32.const 4096)
    (func (export "on_arrival") (result i32) i32.const 2))"""

_text = """
duration = "8 s"
bottleneck = { rate = "20 Mbit/s", buffer = "100 packets", aqm = { kind = "fifo" } }
flows = [
    { cc = "dctcp", rtt = "20 ms", count = 2 },
    { cc = "cubic", ecn = "off", rtt = "30 ms", count = 2 },
    { cc = "reno", rtt = "20 ms", app = { on = "300 ms", off = "200 ms" } },
]
"""


def _compiled(name: str, folder: Path) -> str:
    target = folder / f"{name}.wasm"
    flags = ["--target=wasm32", "-O2", "-Wall", "-Werror", "-nostdlib", "-Wl,--no-entry"]
    subprocess.run(["clang", *flags, "-o", str(target), str(_laws / f"{name}.c")], check=True)
    return str(target)


def _measured(aqm: dict[str, object]) -> object:
    result = shoal.run(shoal.Scenario(_text).override({"bottleneck.aqm": aqm}))
    return result.groups, result.bottlenecks


@_needs_clang
def test_laws_in_c_give_the_results_of_those_in_shoal(folder: Path) -> None:
    def own(name: str, **parameters: int) -> object:
        return _measured({"kind": "module", "name": f"file:{_compiled(name, folder)}", "parameters": parameters})

    step = {"kind": "step", "decide": "dequeue", "threshold": "2 ms", "drop_threshold": "2 ms"}
    assert own("step", threshold_us=2000) == _measured(step)
    codel = own("codel", target_us=1000)
    assert codel == _measured({"kind": "codel", "ecn": True, "target": "1 ms"})
    # The check is one: another target gives other results.
    assert codel != _measured({"kind": "codel", "ecn": True, "target": "2 ms"})


@_needs_clang
@pytest.mark.parametrize("like", ["step", "codel"])
def test_the_skeleton_of_a_queue_builds_and_passes_its_test(like: str, folder: Path, inside: Cli) -> None:
    made = inside("new", "law", "my-queue", "--like", like)
    assert made.code == 0, made.err
    subprocess.run(["make", "-C", str(folder / "my-queue")], check=True)
    tests = [sys.executable, "-m", "unittest", "-v"]
    done = subprocess.run(tests, cwd=folder / "my-queue", check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert inside("new", "law", "other", "--python", "--like", like).code == 2


def test_a_scenario_names_the_file_of_a_queue(folder: Path, inside: Cli) -> None:
    (folder / "drop.wat").write_text(_drop, encoding="utf-8")
    text = _text.replace('{ kind = "fifo" }', '{ kind = "module", name = "file:drop.wat" }')
    (folder / "drop.toml").write_text(text, encoding="utf-8")
    result = shoal.run(shoal.Scenario.from_file(folder / "drop.toml"))
    assert len(result.scenario.resolved["laws"]["file:drop.wat"]["simulator_sha256"]) == 64
    assert result.bottlenecks[0]["dropped_by"]["early"] > 0
    assert result.bottlenecks[0]["departed"] == 0
    # Replaced by a command, relative to where it is given, with a name of its own, and in one of several queues.
    replaced = shoal.Scenario(_text).override(
        {"bottleneck.aqm.kind": "module", "bottleneck.aqm.name": f"file:{folder / 'drop.wat'}"}
    )
    named = shoal.Scenario(
        text.replace("file:drop.wat", "drop") + '[laws.drop]\nsimulator = "drop.wat"\n', str(folder / "named.toml")
    )
    for scenario in (replaced, named):
        assert shoal.run(scenario).bottlenecks[0]["dropped_by"] == result.bottlenecks[0]["dropped_by"]
    described = inside("describe", str(folder / "drop.wat"))
    assert "Drops each packet." in described.out
    assert [law.kind for law in laws_in(folder / "drop.wat")] == ["queue"]
    with pytest.raises(ScenarioError, match="it is the law of a queue, and no controller"):
        shoal.Scenario(text.replace('cc = "reno"', 'cc = "file:drop.wat"'), str(folder / "drop.toml"))
    missing = inside("run", str(folder / "drop.toml"), "--set", 'bottleneck.aqm.name="nothing"')
    assert missing.code == 3
    assert "`nothing` is a kernel module" in missing.err
