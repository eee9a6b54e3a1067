"""Ready-made scenarios by name, and errors that one `except shoal.ShoalError` catches."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SMALL, Cli

import shoal
from shoal import errors, shipped

ROOT = Path(__file__).parents[2]


def test_names_are_resolved_alike_everywhere(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("coexistence", "compare/dctcp-step-10m"):
        named = shoal.Scenario.named(name)
        assert shoal.Scenario.from_file(name) == named
        assert named.text == (ROOT / "scenarios" / f"{name}.toml").read_text(encoding="utf-8")
        assert cli("check", name).code == 0


def test_every_shipped_file_has_a_name() -> None:
    names = {item.name for item in shipped.all_scenarios()}
    files = {
        path.relative_to(ROOT / "scenarios").with_suffix("").as_posix() for path in ROOT.glob("scenarios/**/*.toml")
    }
    assert names == files
    assert {item.name for item in shipped.scenarios()} == {name for name in names if "/" not in name}


def test_a_file_comes_before_a_name_unless_the_name_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coexistence").write_text(SMALL, encoding="utf-8")
    assert shoal.Scenario.from_file("coexistence").title == "Small"
    assert shoal.Scenario.named("coexistence").title != "Small"


def test_sweep_tune_and_run_take_names() -> None:
    duration: dict[str, object] = {"duration": "20 s", "bottleneck.rate": "2 Mbit/s"}
    points = shoal.sweep("step-single", grid={"bottleneck.aqm.threshold": ["5 packets"]}, set=duration)
    assert points[0].results[0].data["scenario"]["duration"] == "20 s"
    with pytest.raises(shoal.OutputError, match="no ready-made scenario"):
        shoal.run("step-singel")


def test_unknown_names() -> None:
    with pytest.raises(shoal.UsageError) as refused:
        shoal.Scenario.named("coexistense")
    assert refused.value.hint == "did you mean `coexistence`?"
    with pytest.raises(shoal.OutputError, match="no ready-made scenario of that name") as missing:
        shoal.Scenario.from_file("coexistense")
    assert missing.value.hint == "did you mean `coexistence`?"


def test_readme_example_runs_outside_a_checkout(tmp_path: Path) -> None:
    example = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert example is not None
    # The same lines on a shorter run: what is tested is that nothing of them needs the repository.
    lines, count = re.subn(r"^(scenario = .*)$", r'\1.override({"duration": "40 s"})', example[1], flags=re.M)
    assert count == 1
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", lines],
        cwd=tmp_path,
        env={"PATH": "", "MPLBACKEND": "agg", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("A flow of reno gets ")


def exceptions() -> list[type[BaseException]]:
    """Every exception class that the package defines."""
    modules = [shoal] + [
        importlib.import_module(name)
        for _, name, _ in pkgutil.walk_packages(shoal.__path__, "shoal.")
        if name != "shoal.__main__"
    ]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, BaseException) and value.__module__.startswith("shoal")
    }
    return sorted(found, key=lambda kind: kind.__name__)


# Never leave the module that defines them.
INTERNAL = {"_NoValueError", "_DamagedError", "_SchedulerLostError"}


def test_every_exception_is_a_shoal_error() -> None:
    found = exceptions()
    assert {"ScenarioError", "Cancelled", "UsageError", "OutputError", "LinuxError", "GuestError"} <= {
        kind.__name__ for kind in found
    }
    # A warning is given and not raised: the run goes on.
    raised = [kind for kind in found if not issubclass(kind, Warning)]
    assert [kind for kind in raised if not issubclass(kind, shoal.ShoalError) and kind.__name__ not in INTERNAL] == []
    assert issubclass(shoal.ScenarioError, ValueError)  # as before
    public = [name for name in shoal.__all__ if name.endswith("Error") or name == "Cancelled"]
    assert {getattr(shoal, name) for name in public} <= set(found)


STEP = """
duration = "2 s"
warmup = "1 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", rtt = "25 ms" }]
"""
STEP_SCENARIO = shoal.Scenario.from_toml(STEP)
KEY = "bottleneck.aqm.threshold"

BAD: dict[str, Callable[[Path], object]] = {
    "no scenario": lambda _: shoal.Scenario.from_toml("nothing = 1"),
    "a folder": shoal.Scenario.from_file,
    "no text": lambda folder: shoal.Scenario.from_file(sys.executable),
    "no result": lambda folder: shoal.Result.load(folder / "none"),
    "bad override": lambda _: STEP_SCENARIO.override({"bottleneck.rat": 1}),
    "no value": lambda _: STEP_SCENARIO.override({"bottleneck.rate": object()}),
    "no seeds": lambda _: shoal.run(STEP_SCENARIO, seeds=[]),
    "seed and seeds": lambda _: shoal.run(STEP_SCENARIO, seed=1, seeds=2),  # type: ignore[call-overload]
    "packets nowhere": lambda folder: shoal.run(STEP_SCENARIO, packets=folder / "none" / "x.parquet"),
    "pcap nowhere": lambda folder: shoal.run(STEP_SCENARIO, pcap=folder / "none" / "x.pcapng"),
    "pcap is a folder": lambda folder: shoal.run(STEP_SCENARIO, pcap=folder),
    "payload of nothing": lambda _: shoal.run(STEP_SCENARIO, pcap_payload=True),
    "no table": lambda _: shoal.run(STEP_SCENARIO).table("segments"),
    "no plot": lambda _: shoal.run(STEP_SCENARIO).plot_sequence(),
    "no key": lambda _: shoal.sweep(STEP_SCENARIO, grid={"bottleneck.aqm.treshold": ["1 packets"]}),
    "no condition": lambda _: shoal.tune(STEP_SCENARIO, key=KEY, low=1, high=2, such_that="nonsense"),
    "empty range": lambda _: shoal.tune(STEP_SCENARIO, key=KEY, low=2, high=1, such_that="utilisation() > 0"),
    "no metric": lambda _: shoal.sweep(STEP_SCENARIO, grid={KEY: ["1 packets"]})[0].estimate("nonsense()"),
    "no confidence": lambda _: shoal.estimate([1.0, 2.0], confidence=2),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_a_shoal_error(what: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(shoal.ShoalError) as refused:
        BAD[what](folder)
    assert "Errno" not in str(refused.value)
    assert sorted(folder.iterdir()) == before  # nothing half-written


def test_unwritable_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "x.pcapng"
    with pytest.raises(shoal.OutputError) as refused:
        shoal.run(STEP_SCENARIO, pcap=path)
    assert str(refused.value) == f"cannot write `{path}`: No such file or directory"
    assert "check permissions and free space" in (refused.value.hint or "")


def test_errors_of_progress_functions_pass() -> None:
    """An error of the caller's own function is not turned into one of this package."""

    def fail(_: float) -> None:
        raise BrokenPipeError("mine")

    with pytest.raises(BrokenPipeError, match="mine"):
        shoal.run(STEP_SCENARIO.override({"duration": "100000 s", "trace.series": "off"}), progress=fail)


def test_native_errors_are_those_of_the_package() -> None:
    with pytest.raises(errors.ScenarioError) as refused:
        shoal.Scenario.from_toml("nothing = 1")
    assert type(refused.value) is shoal.ScenarioError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("advise", "--rate", "10 Mbit/s", "--rtt", "20 ms", "--scalable", "cubic"),
            "both kinds of flows have `cubic`",
        ),
        (("advise", "--rate", "10 Mbit/s", "--rtt", "20 ms", "--response", "0 B"), "a transfer needs a size above 0"),
        (("advise", "--rate", "1 bit/s", "--rtt", "20 ms"), "a port of 1 bit/s\nhint: from 100 kbit/s on"),
        (("reproduce", "/etc/passwd"), "there is no paper `/etc/passwd`"),
        (
            (
                *("sweep", "step-single", "--axis", "bottleneck.aqm.threshold=10 packets"),
                *("--set", "bottleneck.rate={K} Mbit/s"),
            ),
            "`bottleneck.rate` is computed from `K`, which gets no value",
        ),
        (("run", "coexistence", "--nope"), "No such option: --nope\nhint: see `shoal run --help`"),
        (("check", "coexistence", "--set", "bottleneck.buffer=1 EB"), "unknown unit `EB`"),
    ],
)
def test_errors_speak_of_what_was_written(words: tuple[str, ...], message: str, cli: Cli) -> None:
    done = cli(*words)
    assert done.code in (2, 3)
    assert message in done.err
