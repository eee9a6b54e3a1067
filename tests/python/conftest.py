"""Fixtures: small scenarios, and the command line as a user runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.linux import LinuxError
from shoal.linux.namespaces import Namespaces

# Wrong commands with what is said to them, and the scenarios that they are about.
TABLES = Path(__file__).parent / "errors"

SMALL = """\
title = "Small"
duration = "12 s"
warmup = "2 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "4 BDP"
aqm = { kind = "dual-red", reno = { min = "0.5 BDP", max = "1.5 BDP" }, dctcp = { threshold = "0.67 BDP" } }

[[flows]]
cc = "reno"
stack = "linux-3.2"
rtt = "25 ms"

[[flows]]
name = "dctcp"
cc = "dctcp-ikr"
stack = "linux-3.2"
rtt = "25 ms"
start = { uniform = ["0 s", "1 s"] }
"""


@dataclass(frozen=True)
class Finished:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


Cli = Callable[..., Finished]


@pytest.fixture(scope="module")
def namespaces() -> Iterator[Namespaces]:
    """Namespaces of this process alone, since several run tests at once; `lo` of the box is up for its page."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("namespaces need root and iproute2")
    made = Namespaces(f"shoal-{os.getpid()}")
    with ExitStack() as left:
        try:
            left.enter_context(made)
        except LinuxError as error:
            pytest.skip(f"no namespaces here: {error}")
        subprocess.run(made.inside("box", "ip", "link", "set", "dev", "lo", "up"), check=True)
        yield made


@pytest.fixture(scope="session")
def scenario() -> shoal.Scenario:
    return shoal.Scenario.from_toml(SMALL, name="small.toml")


@pytest.fixture(scope="session")
def result(scenario: shoal.Scenario) -> shoal.Result:
    return shoal.run(scenario.override({"trace.controller_flows": 2}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("SHOAL_", "COLUMNS", "FORCE_COLOR"))
    }
    return kept | {"SHOAL_CACHE_DIR": str(tmp_path / "cache"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def inside(folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Cli:
    """Run `shoal ARGUMENTS` like `cli`, in this process: faster, for what needs no process of its own."""
    from shoal import progress
    from shoal.cli import app, console

    monkeypatch.chdir(folder)
    for name in set(os.environ) - set(environment) - {"PYTEST_CURRENT_TEST"}:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def call(*arguments: str, **variables: str) -> Finished:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["shoal", *arguments])
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "reconfigure", lambda **_: None, raising=False)
        monkeypatch.setattr(console.talk, "_said", set())
        monkeypatch.setattr(console.talk, "is_resumable", False)
        monkeypatch.setattr(progress, "is_quiet", False)
        capfd.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            code = app.guarded()
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return Finished(code, out, err)

    return call


@pytest.fixture
def cli(folder: Path, environment: dict[str, str]) -> Cli:
    """Run `shoal ARGUMENTS` in a folder that holds small.toml."""

    def call(*arguments: str, **more: object) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "shoal", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **more,  # type: ignore[call-overload]
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return call
