"""``shoal doctor``."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import time
from collections.abc import Callable

from typer.exceptions import Exit

from shoal import _native
from shoal.cache import default_folder
from shoal.cli.console import data
from shoal.parallel import default_workers
from shoal.running import run
from shoal.scenario import Scenario
from shoal.tabulate import Table

_probe = """
title = "Self-test"
duration = "20 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "reno", rtt = "25 ms" }, { cc = "dctcp", rtt = "25 ms" }]
"""


def doctor() -> None:
    """Say what this installation is and whether it works.

    [bold]Example[/]

      shoal doctor
    """
    checks: list[tuple[str, Callable[[], str]]] = [
        ("shoal", lambda: f"{_native.__version__} ({_native.build_profile()} build)"),
        ("Python", platform.python_version),
        ("System", lambda: f"{platform.system()} {platform.machine()}, {default_workers()} cores"),
        (
            "Libraries",
            lambda: ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("polars", "matplotlib")),
        ),
        ("Simulator", _simulate),
        ("Determinism", _determinism),
        ("Cache", _cache),
        ("tshark (optional, reads captures)", lambda: shutil.which("tshark") or "not found"),
        ("Real-kernel plane", _linux),
    ]
    rows, failed = [], False
    for name, probe in checks:
        try:
            rows.append((name, "ok", probe()))
        except Exception as error:
            failed = True
            rows.append((name, "FAILS", str(error)))
    data.table(Table("", ("What", "", "Finding"), rows, words=3))
    if failed:
        raise Exit(1)


def _simulate() -> str:
    start = time.perf_counter()
    result = run(Scenario.from_toml(_probe))
    seconds = time.perf_counter() - start
    packets = sum(link["arrived"] for link in result.bottlenecks)
    if not packets:
        raise RuntimeError("no packet arrived in the self-test")
    return f"20 s of 10 Mbit/s in {seconds * 1e3:.0f} ms"


def _determinism() -> str:
    scenario = Scenario.from_toml(_probe)
    if run(scenario).json != run(scenario).json:
        raise RuntimeError("two equal runs differ")
    return "two equal runs give equal bytes"


def _linux() -> str:
    from shoal.linux import LinuxError, find_image

    try:
        image = find_image()
    except LinuxError:
        return "no kernel yet: shoal linux build"
    return f"Linux {image.release}; more: shoal linux doctor"


def _cache() -> str:
    folder = default_folder()
    if not folder.exists():
        return f"{folder} (empty)"
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{folder} ({size / 1e6:.1f} MB)"
