"""Sweeps on workers of Dask: the same blocks of runs, the same records, and so the same bytes.

The client is the same wherever workers are; what differs is who starts them. A task is a block of runs that takes about
a second, against a millisecond or less that a scheduler spends on a task. It holds all that it needs, so that it may
run again elsewhere if its worker dies. Records travel back to the client, which alone writes the store: workers need
no common file system. They need the same build of shoal, because another one may give other bytes, and are refused
otherwise.
"""

from __future__ import annotations

import multiprocessing
import queue
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import _native
from shoal._native import Cancel
from shoal.cache import simulator_hash
from shoal.errors import ClusterError, UsageError
from shoal.models import nearest
from shoal.runs import cluster_jobs as jobs
from shoal.runs import cluster_ssh as ssh
from shoal.runs.execute import run_block
from shoal.runs.recipe import Recipe
from shoal.runs.record import Record
from shoal.runs.work import Block, Pace

if TYPE_CHECKING:
    from distributed import Client

# How long an address may not answer, and how long a cluster may have no worker, in s.
_answer_s = 8.0
_workers_s = {"local": 60.0, "ssh": 60.0, "tcp": 30.0}
# A batch system may let a job wait.
_jobs_s = 24 * 3600.0
# A worker that dies may have been killed for what it ran (memory), but a block that kills so many is to blame.
_deaths = 5
# How often a scheduler may be lost without a block in between, and how long it may be away, in s.
_attempts = 3
_back_s = 30.0
# How often it is looked whether workers or the scheduler have gone, in s.
_look_s = 1.0
# Blocks for each thread that are handed out ahead, so that none waits for this process.
_ahead = 2

_examples = (
    "as in local:4, tcp://HOST:8786, a scheduler.json, slurm:16, pbs:16, lsf:16, ssh:HOST1,HOST2 or kubernetes:16"
)
# Extras and packages that start workers, by the word in front of the colon.
_extras = {**dict.fromkeys(jobs.systems, ("cluster-jobs", "dask_jobqueue")), "ssh": ("cluster-ssh", "asyncssh")}
_extras["kubernetes"] = ("cluster-kubernetes", "dask_kubernetes")


@dataclass(frozen=True)
class Cluster:
    """Where workers are.

    Attributes
    ----------
    where
        What the command line said.
    start
        Connects, and starts workers where that has to be done; gives the client and what has to be closed.
    wait_s
        How long there may be no worker.
    workers
        How many there may be.
    block_s
        How long a block of runs takes.
    opened
        The client and what has to be closed, while there are any.
    """

    where: str
    start: Callable[[], tuple[Client, list[Any]]] = field(repr=False)
    wait_s: float
    workers: int = 16
    block_s: float = 1.0
    opened: list[Any] = field(default_factory=list, repr=False)

    @classmethod
    def at(cls, where: str) -> Cluster:
        """Read what ``--cluster`` says; nothing is started yet.

        Raises
        ------
        UsageError
            It says nothing that is known, or a package is missing.
        """
        _require("distributed", "cluster", where)
        word, colon, rest = where.partition(":")
        if re.fullmatch(r"(tcp|tls|ws|wss|ucx)://.+", where):
            return cls(where, lambda: (_reached(where), []), _workers_s["tcp"])
        if where.endswith(".json"):
            if not Path(where).is_file():
                raise UsageError(f"`--cluster {where}`: there is no such file", hint="dask scheduler writes it")
            return cls(where, lambda: (_client(where, scheduler_file=where), []), _workers_s["tcp"])
        if word == "local" and colon and rest.isdecimal() and 1 <= int(rest) <= 1024:
            return cls(where, lambda: _local(where, int(rest)), _workers_s["local"], int(rest))
        if word in _extras and colon and rest:
            extra, package = _extras[word]
            _require(package, extra, where)
            if word == "ssh":
                hosts = rest.split(",")
                if not all(hosts):
                    raise UsageError(f"`--cluster {where}` has a host without a name", hint="as in ssh:HOST1,HOST2")
                return cls(where, lambda: _by_ssh(where, hosts), _workers_s["ssh"])
            if not rest.isdecimal() or not int(rest):
                raise UsageError(f"`--cluster {where}` does not say how many workers", hint=f"as in {word}:16")
            if word == "kubernetes":
                return cls(where, lambda: _pods(where, int(rest)), _jobs_s)
            jobs.require_command(where, word)
            return cls(where, lambda: _jobs(where, word, int(rest)), _jobs_s, max(16, int(rest)))
        known = ["local", "tcp", *_extras]
        raise UsageError(f"`--cluster {where}` is no cluster", hint=f"{nearest(word, known)} It is written {_examples}")

    def run(self, recipe: Recipe, blocks: Iterator[Block], pace: Pace) -> Iterator[tuple[Block, list[Record]]]:
        """Run blocks on the workers.

        Raises
        ------
        ClusterError
            The scheduler or its workers do not answer, or workers are of another build.
        """
        session = _Session(recipe, chain(blocks), pace)
        attempts = 0
        try:
            if self.opened and self.opened[0].status != "running":
                self.close()
            while True:
                if not self.opened:
                    client, started = self.start() if attempts == 0 else self._again()
                    self.opened[:] = [client, *started]
                client, *started = self.opened
                done = session.done
                try:
                    self._wait_for_workers(client, started)
                    _refuse_other_builds(client)
                    yield from session.run(client, started)
                    return
                except _SchedulerLostError:
                    # One that is started again knows nothing of what was handed out.
                    attempts = 1 if session.done > done else attempts + 1
                    if attempts > _attempts or started:
                        raise _lost(self.where) from None
                    self.close()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End what was started. Until then further rounds of runs find their workers: jobs may wait for hours."""
        opened = list(self.opened)
        self.opened.clear()
        with jobs.quiet():
            for one in opened:
                with suppress(Exception):  # what is gone cannot be closed, and the records are here
                    one.close()

    def _again(self) -> tuple[Client, list[Any]]:
        """Connect to a scheduler that was lost, as soon as it is there again."""
        deadline_s = time.monotonic() + _back_s
        while True:
            try:
                return self.start()
            except ClusterError:
                if time.monotonic() > deadline_s:
                    raise _lost(self.where) from None
                time.sleep(0.5)

    def _wait_for_workers(self, client: Client, started: list[Any]) -> None:
        deadline_s = time.monotonic() + self.wait_s
        while True:
            try:
                client.wait_for_workers(1, timeout=_look_s)
                break
            except Exception as error:
                if time.monotonic() > deadline_s or not isinstance(error, TimeoutError):
                    raise ClusterError(
                        f"the cluster `{self.where}` has no worker after {self.wait_s:g} s",
                        hint="do its workers reach the scheduler, or does a firewall keep them from it?"
                        if started
                        else "start some, as in: dask worker SCHEDULER --nthreads 1 --nworkers 4",
                    ) from error
            _look_after(started)
        _look_after(started)


class _SchedulerLostError(Exception):
    """The scheduler does not know of this client any more."""


def _lost(where: str) -> ClusterError:
    return ClusterError(
        f"the scheduler at `{where}` was lost", hint="finished runs are kept, and the same command goes on where it was"
    )


class _Session:
    """Blocks that are handed out to a scheduler, and taken back from it if it is lost."""

    def __init__(self, recipe: Recipe, blocks: Iterator[Block], pace: Pace) -> None:
        self._text, self._blocks, self._pace = recipe.json, blocks, pace
        self._handed: dict[str, tuple[Any, Block]] = {}
        self.done = 0

    def run(self, client: Client, started: list[Any]) -> Iterator[tuple[Block, list[Record]]]:
        """Run what is left."""
        finished: queue.SimpleQueue[str] = queue.SimpleQueue()
        left = [block for _, block in self._handed.values()]
        self._blocks, self._handed = chain(left, self._blocks), {}
        expected = simulator_hash()
        threads, looked_s = _threads(client), time.monotonic()
        while True:
            if time.monotonic() - looked_s > _look_s:  # workers come and go
                _look_after(started)
                threads, looked_s = _threads(client), time.monotonic()
            for block in islice(self._blocks, max(0, _ahead * threads - len(self._handed))):
                # Not pure: equal blocks of different rounds are different tasks.
                future = client.submit(work_off, self._text, block, expected, pure=False)
                self._handed[future.key] = (future, block)
                future.add_done_callback(lambda one: finished.put(one.key))
            if not self._handed:
                return
            try:
                key = finished.get(timeout=_look_s)
            except queue.Empty:
                if client.status != "running":
                    raise _SchedulerLostError from None
                continue
            future, block = self._handed[key]
            if future.status != "finished":
                raise _reason(client, future)
            seconds, records = future.result()
            del self._handed[key]
            future.release()
            self._pace.took(len(records), seconds)
            self.done += 1
            yield block, records


def work_off(recipe: str, block: Block, expected: str) -> tuple[float, list[Record]]:
    """Run a block on a worker.

    Raises
    ------
    ClusterError
        This worker has another build of shoal than the client.
    """
    if simulator_hash() != expected:
        raise ClusterError(_other_build({"this worker": _native.__version__}))
    start_s = time.monotonic()
    records = run_block(Recipe.from_json(recipe), block, Cancel())
    return time.monotonic() - start_s, records


def build() -> tuple[str, str]:
    """The build of a worker: its hash, and its version."""
    return simulator_hash(), _native.__version__


def _refuse_other_builds(client: Client) -> None:
    try:
        builds = client.run(build, on_error="return")
    except Exception as error:
        raise ClusterError(f"the workers do not answer: {error}", hint="is shoal installed there?") from error
    expected = simulator_hash()
    broken = {name: one for name, one in builds.items() if isinstance(one, BaseException)}
    if broken:
        name, reason = next(iter(broken.items()))
        raise ClusterError(
            f"shoal does not run on {len(broken)} of {len(builds)} workers, first {name}: {reason}",
            hint="install the same build of shoal there",
        )
    if other := {name: version for name, (own, version) in builds.items() if own != expected}:
        raise ClusterError(_other_build(other), hint="install the same build of shoal on all of them")


def _other_build(versions: dict[str, str]) -> str:
    name, version = next(iter(versions.items()))
    return (
        f"{len(versions)} workers have another build of shoal, first {name} (version {version}, here "
        f"{_native.__version__}): their bytes may differ"
    )


def _reason(client: Client, future: Any) -> Exception:
    """What to raise for a block that came back without records."""
    if future.status in ("lost", "cancelled") or client.status != "running":
        return _SchedulerLostError()
    error = future.exception(timeout=_answer_s)
    if isinstance(error, UsageError | ClusterError):
        return error
    if type(error).__name__ == "KilledWorker":
        return ClusterError(
            f"{_deaths} workers died one after the other while they ran the same runs",
            hint="give them more memory; finished runs are kept, and the same command goes on where it was",
        )
    return ClusterError(f"the cluster failed: {type(error).__name__}: {error}", hint="see the logs of the workers")


def _threads(client: Client) -> int:
    try:
        return max(1, sum(int(count) for count in client.nthreads().values()))
    except Exception:  # the next block says what is the matter
        return 1


def _require(package: str, extra: str, where: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise UsageError(
            f"`--cluster {where}` needs `{package}`, which is not installed",
            hint=f"install shoal with its extra `{extra}` (pip install 'shoal[{extra}]')",
        )


def _configured() -> None:
    import dask

    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": _deaths,
            "distributed.comm.timeouts.connect": f"{_answer_s:g}s",
            # A block holds no reference to anything that a worker could keep.
            "distributed.worker.memory.terminate": 0.98,
            # What Dask watches itself for takes a tenth of a core for four workers, and says nothing about blocks of a
            # second each: statistical profiles (10 ms), ticks of event loops (20 ms), memory (100 ms), load (500 ms).
            "distributed.worker.profile.enabled": False,
            "distributed.admin.tick.interval": "1s",
            "distributed.worker.memory.monitor-interval": "1s",
            "distributed.admin.system-monitor.interval": "5s",
            "distributed.scheduler.active-memory-manager.start": False,
        }
    )


def _client(where: str, **place: Any) -> Client:
    from distributed import Client

    _configured()
    try:
        return Client(timeout=_answer_s, set_as_default=False, **place)
    except Exception as error:
        raise _silent(where) from error


def _with_client(where: str, cluster: Any, started: Any) -> tuple[Client, list[Any]]:
    try:
        return _client(where, address=cluster), [started]
    except BaseException:
        with jobs.quiet(), suppress(Exception):  # what cannot be reached cannot be closed
            started.close()
        raise


def _reached(where: str) -> Client:
    """The client of an address. That nobody listens there is known at once, but Dask would try for a while."""
    found = re.fullmatch(r"tcp://(?P<host>.+):(?P<port>[0-9]{1,5})", where)
    if found is not None:
        try:
            socket.create_connection((found["host"].strip("[]"), int(found["port"])), timeout=_answer_s).close()
        except (OSError, OverflowError) as error:
            raise _silent(where) from error
    return _client(where, address=where)


def _silent(where: str) -> ClusterError:
    return ClusterError(
        f"no scheduler answers at `{where}`", hint="is its address right, and does `dask scheduler` run there?"
    )


def _local(where: str, workers: int) -> tuple[Client, list[Any]]:
    from distributed import LocalCluster

    _configured()
    _fork_workers()
    # One thread a process: a run is pure computation, and no two of them share an interpreter's lock.
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    return _with_client(where, cluster, cluster)


def _fork_workers() -> None:
    """Let workers here be forks of one process that has imported what they need, so that four start as fast as one."""
    import dask
    from distributed.utils import get_mp_context

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    # Dask would import every package it can work with, whether it is needed or not.
    get_mp_context().set_forkserver_preload(["distributed.nanny", __name__])


def _jobs(where: str, system: str, count: int) -> tuple[Client, list[Any]]:
    """Let a batch system start workers; the configuration of dask-jobqueue says how (``~/.config/dask``)."""
    _configured()
    try:
        started = jobs.Jobs(where, system, count)
    except ClusterError:
        raise
    except Exception as error:
        raise _not_started(where, error) from error
    return _with_client(where, started.cluster, started)


def _by_ssh(where: str, hosts: list[str]) -> tuple[Client, list[Any]]:
    """Let other hosts start workers; the first has the scheduler, too."""
    _configured()
    try:
        cluster = ssh.start(where, hosts)
    except ClusterError:
        raise
    except Exception as error:
        hint = f"the scheduler on {hosts[0]} has to be reachable over the network, from here and from the other hosts"
        raise _not_started(where, error, hint) from error
    return _with_client(where, cluster, cluster)


def _pods(where: str, count: int) -> tuple[Client, list[Any]]:
    """Let Kubernetes start workers; the configuration of dask-kubernetes says how (``~/.config/dask``)."""
    _configured()
    try:
        from dask_kubernetes.operator import KubeCluster

        cluster = KubeCluster(name="shoal", n_workers=count)
    except Exception as error:
        raise _not_started(where, error) from error
    return _with_client(where, cluster, cluster)


def _not_started(
    where: str, error: Exception, hint: str = "see the documentation of Dask's deployment for it"
) -> ClusterError:
    return ClusterError(f"`{where}` could not start workers: {error}", hint=hint)


def _look_after(started: list[Any]) -> None:
    for one in started:
        if isinstance(one, jobs.Jobs):
            one.look()
