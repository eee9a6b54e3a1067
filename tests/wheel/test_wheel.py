"""The wheel in clean environments outside the checkout: a newcomer's path, on each supported Python of this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Versions of Python that the classifiers name.
SUPPORTED = [
    version
    for classifier in PROJECT["classifiers"]
    if (version := classifier.removeprefix("Programming Language :: Python :: ")).startswith("3.")
]
OWN = """
duration = "5 s"
[bottleneck]
rate = "20 Mbit/s"
aqm = { kind = "dualpi2" }
[[flows]]
cc = "dctcp"
rtt = "10 ms"
[[flows]]
cc = "cubic"
rtt = "10 ms"
"""


def interpreter(version: str) -> str | None:
    """A Python of this version: in the path, or among those of pyenv."""
    for path in (
        shutil.which(f"python{version}"),
        *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ):
        # A shim of pyenv is in the path even if its version is not switched on.
        if path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return str(path)
    return None


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The one wheel that `make wheel` has built."""
    found = list((ROOT / "target" / "wheels").glob("shoal-*.whl"))
    assert len(found) == 1, f"`make wheel` builds one wheel; there are {found}"
    return found[0]


def test_the_wheel_runs_on_old_distributions_and_carries_everything_but_the_kernel(wheel: Path) -> None:
    assert "manylinux_2_17" in wheel.name
    # One wheel for all versions from the oldest on.
    assert f"-cp{SUPPORTED[0].replace('.', '')}-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    shipped = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("scenarios/**/*.toml"))]
    assert not [name for name in shipped if f"shoal/_data/{name}" not in names]
    assert "shoal/_data/page/shoal.html" in names
    assert "shoal/_data/CITATION.cff" in names
    assert "shoal/py.typed" in names
    assert f"Requires-Python: {PROJECT['requires-python']}" in metadata
    # The README is the page of the package: what it links to is not there, but its text is.
    assert "who gets what rate at what delay" in metadata


@pytest.mark.parametrize("version", SUPPORTED)
def test_a_newcomers_path(wheel: Path, version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    begin = time.monotonic()
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    own = {"PATH": f"{tmp_path / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), "MPLBACKEND": "Agg"}
    # How packages are found is the machine's business.
    own |= {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_", "HTTP", "http", "NO_PROXY"))
    }
    work = tmp_path / "work"
    work.mkdir()

    def call(*arguments: str) -> str:
        done = subprocess.run(arguments, cwd=work, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
        return done.stdout

    pip_settings = Path.home() / ".config" / "pip"
    if pip_settings.is_dir():
        shutil.copytree(pip_settings, tmp_path / ".config" / "pip")
    call("python", "-m", "pip", "install", "--quiet", str(wheel))
    installed = time.monotonic()
    assert re.fullmatch(r"shoal [0-9.]+ \(commit [0-9a-f]{10}\)\n?", call("shoal", "--version"))
    call("shoal", "run", "coexistence", "--set", "duration=5 s", "--set", "warmup=1 s", "--out", "shipped")
    assert (work / "shipped" / "report.html").is_file()
    (work / "own.toml").write_text(OWN, encoding="utf-8")
    call("shoal", "check", "own.toml")
    result = json.loads(call("shoal", "run", "own.toml", "--json", "--out", "own"))
    assert [group["cc"] for group in result["groups"]] == ["dctcp", "cubic"]
    assert all(group["wire_bps"]["mean"] > 1e6 for group in result["groups"])
    done = time.monotonic()
    call("shoal", "page", "--out", "page.html")
    assert (work / "page.html").stat().st_size > 500_000
    found = call("python", "-c", "import shoal; print(shoal.__file__)")
    assert str(tmp_path / "venv") in found
    print(
        f"Python {version} ({sys.platform}): installed after {installed - begin:.0f} s, "
        f"a shipped scenario, a check and an own result {done - installed:.0f} s later"
    )
