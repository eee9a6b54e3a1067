"""``shoal doctor``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass

from typer.exceptions import Exit

from shoal import _native
from shoal.build import described
from shoal.cache import default_folder
from shoal.cli.cache import megabytes
from shoal.cli.console import data
from shoal.errors import OutputError
from shoal.files import new_folder
from shoal.parallel import default_workers
from shoal.runs.running import run
from shoal.runs.store import contents
from shoal.scenario import Scenario
from shoal.table import Table

_probe = """
title = "Self-test"
duration = "20 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "reno", rtt = "25 ms" }, { cc = "dctcp", rtt = "25 ms" }]
"""


@dataclass(frozen=True, slots=True)
class Optional:
    """A finding about something that most work does not need and that is not there."""

    finding: str


def doctor() -> None:
    """Say what this installation is and whether it works.

    [bold]Example[/]

      shoal doctor
    """
    checks: list[tuple[str, Callable[[], str | Optional]]] = [
        ("shoal", lambda: f"{described()}, {_native.build_profile()} build"),
        ("Python", platform.python_version),
        ("System", lambda: f"{platform.system()} {platform.machine()}, {default_workers()} cores"),
        (
            "Libraries",
            lambda: ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("polars", "matplotlib")),
        ),
        ("Simulator", _simulate),
        ("Determinism", _determinism),
        ("Cache", _cache),
        ("tshark (reads captures)", lambda: shutil.which("tshark") or Optional("not found; not needed otherwise")),
        ("Real-kernel plane", _linux),
    ]
    rows, failed = [], False
    for name, probe in checks:
        try:
            outcome = probe()
            rows.append((name, "optional", outcome.finding) if isinstance(outcome, Optional) else (name, "ok", outcome))
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


def _linux() -> str | Optional:
    from shoal.linux import LinuxError, find_image

    try:
        image = find_image()
    except LinuxError:
        return Optional("no kernel yet; `--on linux` needs one: shoal linux build")
    return f"Linux {image.release}; more: shoal linux doctor"


def _cache() -> str | Optional:
    folder = default_folder()
    try:
        tried = folder / f"doctor-{os.getpid()}"
        with new_folder(tried):
            pass
        shutil.rmtree(tried)
    except (OutputError, OSError):
        return Optional(f"{folder} cannot be written: sweeps run without it, but do not go on where they were")
    held = contents(folder)
    return f"{folder} ({held.runs:,} runs, {megabytes(held.bytes)}; shoal cache clear)"
