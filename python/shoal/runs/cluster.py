"""Sweeps on workers of Dask: the same blocks of runs, the same records, and so the same bytes.

The client is the same wherever workers are; what differs is who starts them. A task is a block of runs that takes about
a second, against a millisecond or less that a scheduler spends on a task. It holds all that it needs, so that it may
run again elsewhere if its worker dies. Records travel back to the client, which alone writes the store: workers need
no common file system. They need the same build of shoal, because another one may give other bytes, and are refused
otherwise.
"""

from __future__ import annotations

import logging
import queue
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import _native, python_laws
from shoal._native import Cancel
from shoal.cache import simulator_hash
from shoal.errors import ClusterError, UsageError
from shoal.models import nearest
from shoal.runs import cluster_ssh
from shoal.runs.execute import run_block
from shoal.runs.recipe import Recipe
from shoal.runs.record import Record
from shoal.runs.work import Block, Pace
from shoal.words import count_of

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

# How long there may be no worker where there was one until all jobs are given up, in s.
_gone_s = 20.0
# How often somebody who waits for a worker is told so, in s.
_told_s = 60.0

_examples = "as in local:4, tcp://HOST:8786, a scheduler.json, slurm:16, pbs:16, lsf:16 or ssh:HOST1,HOST2"
# Batch systems: their classes in dask-jobqueue, and their commands that submit.
_systems = {"slurm": ("SLURMCluster", "sbatch"), "pbs": ("PBSCluster", "qsub"), "lsf": ("LSFCluster", "bsub")}
# Extras and packages that start workers, by the word in front of the colon.
_extras = {**dict.fromkeys(_systems, ("cluster-jobs", "dask_jobqueue")), "ssh": ("cluster-ssh", "asyncssh")}


@dataclass(frozen=True)
class Cluster:
    """Where workers are.

    Attributes
    ----------
    where
        What the command line said.
    start
        Connects, and starts workers where that has to be done; gives the client and what it has started.
    wait_s
        How long there may be no worker.
    workers
        How many there may be.
    block_s
        How long a block of runs takes.
    keep
        Asks for workers in the place of those that have ended, where something may end them.
    note
        Is told what somebody who waits wants to know.
    opened
        The client and what has to be closed, while there are any.
    """

    where: str
    start: Callable[[], list[Any]] = field(repr=False)
    wait_s: float
    workers: int = 16
    block_s: float = 1.0
    keep: Callable[[Any], object] = field(default=lambda _: None, repr=False)
    note: Callable[[str], object] = field(default=lambda _: None, repr=False)
    opened: list[Any] = field(default_factory=list, repr=False)

    @classmethod
    def at(cls, where: str, *, note: Callable[[str], object] = lambda _: None) -> Cluster:
        """Read what ``--cluster`` says; nothing is started yet.

        Parameters
        ----------
        where
            Such as ``local:4``.
        note
            Is told what somebody who waits wants to know.

        Raises
        ------
        UsageError
            It says nothing that is known, or a package is missing.
        """
        _require("distributed", "cluster", where)
        word, colon, rest = where.partition(":")
        if re.fullmatch(r"(tcp|tls|ws|wss|ucx)://.+", where):
            return cls(where, lambda: [_reached(where)], _workers_s["tcp"], note=note)
        if where.endswith(".json"):
            if not Path(where).is_file():
                raise UsageError(f"`--cluster {where}`: there is no such file", hint="dask scheduler writes it")
            return cls(where, lambda: [_client(where, scheduler_file=where)], _workers_s["tcp"], note=note)
        if word == "local" and colon and rest.isdecimal() and 1 <= int(rest) <= 1024:
            return cls(where, lambda: _local(where, int(rest)), _workers_s["local"], int(rest), note=note)
        if word in _extras and colon and rest:
            extra, package = _extras[word]
            _require(package, extra, where)
            if word == "ssh":
                hosts = rest.split(",")
                if not all(hosts):
                    raise UsageError(f"`--cluster {where}` has a host without a name", hint="as in ssh:HOST1,HOST2")
                return cls(where, lambda: _by_ssh(where, hosts), _workers_s["ssh"], note=note)
            if not rest.isdecimal() or not int(rest):
                raise UsageError(f"`--cluster {where}` does not say how many workers", hint=f"as in {word}:16")
            count = int(rest)
            _require_command(where, word)
            # Jobs that have ended, because their time was over, are submitted again.
            return cls(where, lambda: _jobs(where, word, count), _jobs_s, max(16, count), keep=_Jobs(count), note=note)
        known = ["local", "tcp", *_extras]
        raise UsageError(f"`--cluster {where}` is no cluster", hint=f"{nearest(word, known)} It is written {_examples}")

    def run(self, recipe: Recipe, blocks: Iterator[Block], pace: Pace) -> Iterator[tuple[Block, list[Record]]]:
        """Run blocks on the workers.

        Raises
        ------
        ClusterError
            The scheduler or its workers do not answer, or workers are of another build.
        UsageError
            The runs have a law in Python.
        """
        _refuse_python(recipe)
        session = _Session(recipe, chain(blocks), pace)
        attempts = 0
        try:
            if self.opened and self.opened[0].status != "running":
                self.close()
            while True:
                if not self.opened:
                    self.opened[:] = self.start() if attempts == 0 else self._again()
                client, *started = self.opened
                done = session.done
                try:
                    self._wait_for_workers(client, started)
                    _refuse_other_builds(client)
                    yield from session.run(client, partial(self._keep, started))
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
        with quiet():
            for resource in opened:
                with suppress(Exception):  # what is gone cannot be closed, and the records are here
                    resource.close()

    def _keep(self, started: list[Any]) -> None:
        for cluster in started:
            self.keep(cluster)

    def _again(self) -> list[Any]:
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
        begun_s = told_s = time.monotonic()
        while True:
            try:
                client.wait_for_workers(1, timeout=_look_s)
                break
            except Exception as error:
                now_s = time.monotonic()
                if now_s > begun_s + self.wait_s or not isinstance(error, TimeoutError):
                    raise ClusterError(
                        f"the cluster `{self.where}` has no worker after {self.wait_s:g} s",
                        hint="do its workers reach the scheduler, or does a firewall keep them from it?"
                        if started
                        else "start some, as in: dask worker SCHEDULER --nthreads 1 --nworkers 4",
                    ) from error
                if now_s > told_s + _told_s:
                    self.note(f"`{self.where}` has no worker yet; `squeue` and its like say what jobs wait for")
                    told_s = now_s
            self._keep(started)


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

    def run(self, client: Client, keep: Callable[[], object]) -> Iterator[tuple[Block, list[Record]]]:
        """Run what is left."""
        finished: queue.SimpleQueue[str] = queue.SimpleQueue()
        left = [block for _, block in self._handed.values()]
        self._blocks, self._handed = chain(left, self._blocks), {}
        expected = simulator_hash()
        threads, looked_s = _threads(client), time.monotonic()
        while True:
            if time.monotonic() - looked_s > _look_s:  # workers come and go
                keep()
                threads, looked_s = _threads(client), time.monotonic()
            for block in islice(self._blocks, max(0, _ahead * threads - len(self._handed))):
                # Not pure: equal blocks of different rounds are different tasks.
                future = client.submit(work_off, self._text, block, expected, pure=False)
                self._handed[future.key] = (future, block)
                future.add_done_callback(lambda task: finished.put(task.key))
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


def _refuse_python(recipe: Recipe) -> None:
    """Refuse laws in Python: workers elsewhere do not have the class."""
    laws = recipe.template.scenario.resolved.get("laws", {})
    names = [name for name, files in laws.items() if "python" in files] or list(python_laws.given())
    if names:
        raise UsageError(
            f"the law `{names[0]}` is a class in Python, which workers of a cluster do not have",
            hint="leave the cluster out: threads of this process run it, and --shard divides a sweep",
        )


def _refuse_other_builds(client: Client) -> None:
    try:
        builds = client.run(build, on_error="return")
    except Exception as error:
        raise ClusterError(f"the workers do not answer: {error}", hint="is shoal installed there?") from error
    expected = simulator_hash()
    broken = {name: answer for name, answer in builds.items() if isinstance(answer, BaseException)}
    if broken:
        name, reason = next(iter(broken.items()))
        raise ClusterError(
            f"shoal does not run on {len(broken)} of {len(builds)} workers, first {name}: {reason}",
            hint="install the same build of shoal there",
        )
    if other := {name: version for name, (simulator, version) in builds.items() if simulator != expected}:
        raise ClusterError(_other_build(other), hint="install the same build of shoal on all of them")


def _other_build(versions: dict[str, str]) -> str:
    name, version = next(iter(versions.items()))
    workers = f"{count_of(len(versions), 'worker')} {'has' if len(versions) == 1 else 'have'}"
    return (
        f"{workers} another build of shoal, first {name} (version {version}, here "
        f"{_native.__version__}): their bytes may differ"
    )


def _reason(client: Client, future: Any) -> Exception:
    """What to raise for a block that came back without records."""
    if future.status in ("lost", "cancelled") or client.status != "running":
        return _SchedulerLostError()
    import distributed

    error = future.exception(timeout=_answer_s)
    if isinstance(error, UsageError | ClusterError):
        return error
    if isinstance(error, distributed.KilledWorker):
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


def _client(where: str, **target: Any) -> Client:
    from distributed import Client

    _configured()
    try:
        return Client(timeout=_answer_s, set_as_default=False, **target)
    except Exception as error:
        raise _silent(where) from error


def _with_client(where: str, cluster: Any) -> list[Any]:
    try:
        return [_client(where, address=cluster), cluster]
    except BaseException:
        with quiet(), suppress(Exception):  # what cannot be reached cannot be closed
            cluster.close()
        raise


def _reached(where: str) -> Client:
    """The client of an address. That nobody listens there is known at once, but Dask would try for a while."""
    _require_certificates(where)
    match = re.fullmatch(r"tcp://(?P<host>.+):(?P<port>[0-9]{1,5})", where)
    if match is not None:
        try:
            socket.create_connection((match["host"].strip("[]"), int(match["port"])), timeout=_answer_s).close()
        except (OSError, OverflowError) as error:
            raise _silent(where) from error
    return _client(where, address=where)


def _require_certificates(where: str) -> None:
    """Refuse an address that Dask's own configuration cannot reach: it would try for a while, and not say why."""
    import dask
    import distributed  # noqa: F401  (it reads its part of the configuration)

    is_encrypted = where.startswith(("tls://", "wss://"))
    if is_encrypted and not dask.config.get("distributed.comm.tls.ca-file", None):
        raise ClusterError(
            f"`{where}` is encrypted, and Dask has no certificates here",
            hint="write `ca-file`, and `cert` and `key` of `client`, under `distributed: comm: tls:` in ~/.config/dask",
        )
    if not is_encrypted and dask.config.get("distributed.comm.require-encryption", None):
        raise ClusterError(
            f"`{where}` is not encrypted, and Dask's configuration requires that",
            hint="start the scheduler with `--protocol tls`, and name it as in tls://HOST:8786",
        )


def _silent(where: str) -> ClusterError:
    return ClusterError(
        f"no scheduler answers at `{where}`", hint="is its address right, and does `dask scheduler` run there?"
    )


def _local(where: str, workers: int) -> list[Any]:
    import dask
    from distributed import LocalCluster

    _configured()
    # Forks of one process: four of them start faster than four interpreters.
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    # One thread a process: a run is pure computation, and no two of them share an interpreter's lock.
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    return _with_client(where, cluster)


def _jobs(where: str, system: str, count: int) -> list[Any]:
    """Let a batch system start workers; the configuration of dask-jobqueue says how (``~/.config/dask``).

    What the system refuses, and why, dask-jobqueue writes into its log on stderr.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    import dask_jobqueue

    if threading.current_thread() is threading.main_thread():
        # Its import makes an interrupt a success: it replaces the handlers by ones that exit with 0.
        for number, handler in before.items():
            signal.signal(number, handler)
    _configured()
    try:
        cluster = getattr(dask_jobqueue, _systems[system][0])()
        cluster.scale(jobs=count)
    except ValueError as error:
        raise ClusterError(
            f"`{where}` does not know what a job is: {' '.join(str(error).split())}",
            hint=f"write at least `cores` and `memory` under `jobqueue: {system}:` in ~/.config/dask/jobqueue.yaml",
        ) from error
    except Exception as error:
        raise _not_started(where, error) from error
    return _with_client(where, cluster)


class _Jobs:
    """Keeps the number of a batch system's jobs, of which some end because their time is over."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._seen_s: float | None = None

    def __call__(self, cluster: Any) -> None:
        """Ask for jobs in the place of those that have ended."""
        now_s = time.monotonic()
        if cluster.scheduler_info["workers"]:
            self._seen_s = now_s
        elif self._seen_s is not None and now_s - self._seen_s > _gone_s:
            # Dask may not have noticed that jobs are gone: all of them are given up, and as many begun again.
            self._seen_s = None
            with quiet():
                cluster.scale(0)
        cluster.scale(jobs=self._count)


def _require_command(where: str, system: str) -> None:
    command = _systems[system][1]
    if shutil.which(command) is None:
        raise UsageError(
            f"`--cluster {where}` needs the command `{command}`, which is not here",
            hint="run it where jobs are submitted, as on a login node",
        )


def _by_ssh(where: str, hosts: list[str]) -> list[Any]:
    """Let other hosts start workers; the first has the scheduler, too."""
    _configured()
    try:
        with quiet():
            cluster = cluster_ssh.start(where, hosts)
    except ClusterError:
        raise
    except Exception as error:
        hint = f"the scheduler on {hosts[0]} has to be reachable over the network, from here and from the other hosts"
        raise _not_started(where, error, hint) from error
    return _with_client(where, cluster)


def _not_started(
    where: str, error: Exception, hint: str = "see the documentation of Dask's deployment for it"
) -> ClusterError:
    return ClusterError(f"`{where}` could not start workers: {error}", hint=hint)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep out of stderr what Dask logs of what it raises as well, or of what does not matter any more."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
