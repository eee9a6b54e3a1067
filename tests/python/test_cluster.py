"""Sweeps on workers of Dask: a real scheduler and worker processes on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from tiny_scenario import tiny_scenario

from shoal.runs.cluster import Cluster

pytest.importorskip("distributed")

TINY = tiny_scenario("60 s")
AXIS = ["--axis", "bottleneck.aqm.threshold=2:31 packets", "--seeds", "4"]


@dataclass
class Dask:
    """A scheduler and its workers, each a process; `shoal` in one of them may be changed first."""

    environment: dict[str, str]
    port: int
    protocol: str = "tcp"
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"{self.protocol}://127.0.0.1:{self.port}"

    def scheduler(self) -> None:
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        options += ["--protocol", self.protocol]
        self._start("scheduler", ["-m", "distributed.cli.dask_scheduler", *options])
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        raise AssertionError("the scheduler does not answer")

    def worker(self, name: str, before: str = "") -> None:
        """A worker without a nanny: who kills it, kills it."""
        code = (
            f"{before}\nimport sys\nfrom distributed.cli.dask_worker import main\n"
            f"sys.argv = ['worker', {self.address!r}, '--nthreads', '1', '--no-nanny', '--no-dashboard', "
            f"'--host', '127.0.0.1', '--name', {name!r}]\nmain()"
        )
        self._start(name, ["-c", code])

    def _start(self, name: str, arguments: list[str]) -> None:
        self.processes[name] = subprocess.Popen(
            [sys.executable, *arguments],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def dask(folder: Path, environment: dict[str, str]) -> Iterator[Dask]:
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    one = Dask(environment | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}, port)
    try:
        yield one
    finally:
        one.stop()


# Each run on this worker takes as long as it takes, and then some.
SLOW = """
import time
from shoal.runs import execute
own = execute.perform
execute.perform = lambda *given: (time.sleep(0.05), own(*given))[1]
"""
OTHER = """
from shoal.runs import cluster
cluster.simulator_hash = lambda: "f" * 64
"""


def test_a_killed_and_a_slow_worker_change_no_byte(dask: Dask, folder: Path, inside: Cli) -> None:
    whole = inside("sweep", "tiny.toml", *AXIS, "--json", "--fresh", "--workers", "1")
    dask.scheduler()
    dask.worker("killed", SLOW)
    dask.worker("slow", SLOW)
    dask.worker("usual", SLOW.replace("0.05", "0.01"))
    command = [sys.executable, "-m", "shoal", "sweep", "tiny.toml", *AXIS, "--json", "--cluster", dask.address]
    with subprocess.Popen(command, cwd=folder, env=dask.environment, stdout=subprocess.PIPE, text=True) as process:
        from shoal.runs.store import contents

        deadline = time.monotonic() + 60
        while contents(folder / "cache").runs < 6 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
        assert contents(folder / "cache").runs < 120
        dask.processes["killed"].send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, whole.out)
    assert contents(folder / "cache").runs == 120


def test_a_scheduler_that_is_started_again(dask: Dask, folder: Path, inside: Cli) -> None:
    from shoal.runs.store import contents

    whole = inside("sweep", "tiny.toml", *AXIS, "--json", "--fresh")
    dask.scheduler()
    dask.worker("first", SLOW)
    command = [sys.executable, "-m", "shoal", "sweep", "tiny.toml", *AXIS, "--json", "--cluster", dask.address]
    with subprocess.Popen(command, cwd=folder, env=dask.environment, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while contents(folder / "cache").runs < 6 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
        dask.stop()
        dask.scheduler()
        dask.worker("second")
        out, _ = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, whole.out)


def test_workers_of_another_build_are_refused(dask: Dask, inside: Cli) -> None:
    dask.scheduler()
    dask.worker("other", OTHER)
    done = inside("sweep", "tiny.toml", *AXIS, "--cluster", dask.address, "--fresh")
    assert (done.code, done.out) == (7, "")
    assert "error: 1 worker has another build of shoal, first tcp://127.0.0.1:" in done.err
    assert "their bytes may differ" in done.err


def test_an_address_that_does_not_answer(inside: Cli, dask: Dask) -> None:
    done = inside("sweep", "tiny.toml", *AXIS, "--cluster", dask.address, "--fresh")
    assert done.code == 7
    assert f"error: no scheduler answers at `{dask.address}`\nhint: is its address right" in done.err


def test_local_workers_give_the_same_bytes_and_stay_for_all_rounds(
    dask: Dask, folder: Path, inside: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.runs import cluster

    called: list[str] = []

    def counted(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            called.append(name)
            return own(*given)

        return call

    monkeypatch.setattr(cluster, "_local", counted("start", cluster._local))
    monkeypatch.setattr(cluster.Cluster, "run", counted("round", cluster.Cluster.run))
    axis = ["--axis", "bottleneck.aqm.threshold=2:9 packets", "--seeds", "3"]
    more = ["--until", "ci(utilisation()) < 0.00003", "--max-seeds", "12"]
    whole = inside("sweep", "tiny.toml", *axis, *more, "--json", "--fresh")
    done = inside("sweep", "tiny.toml", *axis, *more, "--json", "--fresh", "--cluster", "local:2")
    assert (done.code, done.out) == (0, whole.out), done.err
    assert called.count("start") == 1
    assert called.count("round") > 1


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("locl:4", "did you mean `local`?"),
        ("local", "is no cluster"),
        ("local:0", "is no cluster"),
        ("nowhere.json", "there is no such file"),
        ("kubernetes:4", "is no cluster"),
    ],
)
def test_wrong_clusters(inside: Cli, dask: Dask, where: str, message: str) -> None:
    done = inside("sweep", "tiny.toml", *AXIS, "--cluster", where)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("where", "package"),
    [("slurm:4", "dask_jobqueue"), ("ssh:one,two", "asyncssh")],
)
def test_what_is_not_installed_is_said(
    inside: Cli, dask: Dask, where: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    own = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else own(name))
    done = inside("sweep", "tiny.toml", *AXIS, "--cluster", where)
    assert done.code == 2
    assert f"needs `{package}`, which is not installed" in done.err
    assert "hint: install shoal with its extra `cluster-" in done.err


def certificates(folder: Path) -> dict[str, str]:
    """A key and its certificate, which is its own authority, for all roles; as variables of Dask's configuration."""
    key, certificate = str(folder / "key.pem"), str(folder / "certificate.pem")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    made += ["-subj", "/CN=shoal", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(made, check=True, capture_output=True)
    start = "DASK_DISTRIBUTED__COMM__"
    roles = ("SCHEDULER", "WORKER", "CLIENT")
    return {
        f"{start}REQUIRE_ENCRYPTION": "true",
        f"{start}TLS__CA_FILE": certificate,
        **{f"{start}TLS__{role}__KEY": key for role in roles},
        **{f"{start}TLS__{role}__CERT": certificate for role in roles},
    }


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_certificates_are_those_of_dasks_configuration(cli: Cli, dask: Dask, environment: dict[str, str]) -> None:
    secured = certificates(Path(environment["SHOAL_CACHE_DIR"]).parent)
    dask.environment |= secured
    dask.protocol = "tls"
    dask.scheduler()
    dask.worker("first")
    command = ["sweep", "tiny.toml", "--axis", "seed=1,2", "--fresh", "--cluster", dask.address]
    # Without certificates nobody is let in.
    done = cli(*command)
    assert done.code == 7
    assert done.err.startswith(f"error: `{dask.address}` is encrypted, and Dask has no certificates here\n")
    environment.update(secured)
    assert cli(*command).code == 0
    # What is encrypted is asked for: a scheduler without it is refused.
    done = cli(*command[:-1], dask.address.replace("tls", "tcp"))
    assert done.code == 7
    assert " is not encrypted, and Dask's configuration requires that" in done.err


def listening(process: int) -> set[str]:
    """Addresses of IPv4, in hexadecimal digits, on which a process and those that it has started listen."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    sockets = {os.readlink(path) for path in Path(f"/proc/{process}/fd").iterdir() if path.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    here = {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}
    return here.union(*(listening(int(child)) for child in children))


def test_workers_of_this_machine_listen_on_loopback_only() -> None:
    cluster = Cluster.at("local:2")
    cluster.opened[:] = cluster.start()
    try:
        assert listening(os.getpid()) == {"0100007F"}
    finally:
        cluster.close()
