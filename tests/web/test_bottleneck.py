"""A link alone in WebAssembly hears what it hears natively (tests/bottleneck)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

FOLDER = ROOT / "tests" / "bottleneck"
TRACES = sorted((FOLDER / "traces").iterdir())


@pytest.fixture(scope="session")
def bottleneck_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bottleneck")
    subprocess.run([ROOT / "tools" / "shoal-dev", "web-bottleneck", folder], check=True)
    return folder / "shoal.wasm"


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_golden_traces(bottleneck_module: Path, trace: Path) -> None:
    node = shutil.which("node")
    assert node, "node is missing\nhint: on Debian or Ubuntu: sudo apt-get install nodejs"
    done = subprocess.run(
        [node, FOLDER / "drive.mjs", bottleneck_module, trace], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == trace.read_text(encoding="utf-8").partition("\noutput\n")[2]
