"""Workers that are jobs of a batch system, by dask-jobqueue; its own configuration says what a job is.

Dask submits jobs in the background, and leaves it at a line in its log if the batch system refuses them, if they end
before they are workers, or if their time is over. A sweep would wait for them for ever, so this is looked after here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from shoal.errors import ClusterError, UsageError

# Classes of dask-jobqueue and commands that submit, by the word in front of the colon.
systems = {"slurm": ("SLURMCluster", "sbatch"), "pbs": ("PBSCluster", "qsub"), "lsf": ("LSFCluster", "bsub")}

# How long a job that was a worker may be none before another one takes its place, in s: a nanny needs a few to start a
# process again.
_gone_s = 10.0
# How often the batch system is asked about jobs while there is no worker, and how long it may take to answer, in s.
_ask_s, _answer_s = 2.0, 10.0


class Jobs:
    """Jobs that are workers, and others in the place of those that ended.

    Parameters
    ----------
    where
        What the command line said.
    system
        The batch system.
    count
        How many jobs.
    """

    def __init__(self, where: str, system: str, count: int) -> None:
        import dask_jobqueue

        self._where, self._system, self._count = where, system, count
        self._seen_s: dict[str, float] = {}
        self._asked_s = time.monotonic()
        try:
            self.cluster: Any = getattr(dask_jobqueue, systems[system][0])()
        except ValueError as error:
            raise ClusterError(
                f"`{where}` does not know what a job is: {' '.join(str(error).split())}",
                hint=f"write at least `cores` and `memory` under `jobqueue: {system}:` in ~/.config/dask/jobqueue.yaml",
            ) from error
        try:
            self._submit()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Cancel the jobs."""
        from distributed.core import Status

        # Dask cancels jobs, but leaves their status, and does not close a cluster if it comes across one that runs.
        for job in list(self.cluster.workers.values()):
            job.status = Status.closing
        with quiet(), suppress(Exception):  # what is gone cannot be cancelled
            self.cluster.close()

    def look(self) -> None:
        """Submit others for jobs that were workers and have ended.

        Raises
        ------
        ClusterError
            There is no worker, and no job that could become one.
        """
        now_s = time.monotonic()
        workers = [str(one["name"]) for one in list(self.cluster.scheduler_info["workers"].values())]
        gone = []
        for job in list(self.cluster.worker_spec):
            # A job of several processes is several workers.
            if any(name == job or name.startswith(f"{job}-") for name in workers):
                self._seen_s[job] = now_s
            elif now_s - self._seen_s.get(job, now_s) > _gone_s:
                gone.append(job)
        if gone:
            for job in gone:
                del self._seen_s[job]
            try:
                with quiet():
                    self.cluster.sync(self.cluster.scale_down, gone)
                self._submit()
            except ClusterError:
                if not workers:
                    raise
        if not workers and not self._seen_s and now_s - self._asked_s > _ask_s:
            self._asked_s = now_s
            self._refuse_if_all_ended()

    def _submit(self) -> None:
        from distributed.core import Status

        with quiet():
            self.cluster.scale(jobs=self._count)
            while set(self.cluster.worker_spec) - set(self.cluster.workers):
                time.sleep(0.02)
            for job in list(self.cluster.workers.values()):
                if job.status == Status.created:
                    # It was refused. Why is known to the log only, so that it is tried once more.
                    try:
                        self.cluster.sync(job.start)
                    except Exception as error:
                        raise self._refused(error) from error

    def _refused(self, error: Exception) -> ClusterError:
        # The text of dask-jobqueue holds the command, its output, and last what it wrote to stderr.
        reason = str(error).rpartition("stderr:\n")[2].strip() or str(error)
        command = systems[self._system][1]
        return ClusterError(
            f"`{self._where}`: {command} refused a job: {'; '.join(line.strip() for line in reason.splitlines())}",
            hint=f"what is asked for is under `jobqueue: {self._system}:` in ~/.config/dask/jobqueue.yaml",
        )

    def _refuse_if_all_ended(self) -> None:
        # Only of Slurm it is known what its command says of jobs that are over.
        ids = {job.job_id for job in list(self.cluster.workers.values()) if job.job_id}
        if self._system != "slurm" or not ids:
            return
        try:
            known = self.cluster.sync(_squeue)
        except (OSError, TimeoutError):
            return
        if known is not None and not ids & known:
            raise ClusterError(
                f"`{self._where}`: all {len(ids)} jobs ended before they were workers",
                hint=f"their output says why: {self._output(sorted(ids)[0])}; the interpreter that runs this command "
                "has to be there, too, or the one that `python` in ~/.config/dask/jobqueue.yaml names",
            )

    def _output(self, job_id: str) -> str:
        import dask

        folder = dask.config.get("jobqueue.slurm.log-directory", None)
        return f"{folder}/{self.cluster.job_name}-{job_id}.err" if folder else f"slurm-{job_id}.out in this folder"


async def _squeue() -> set[str] | None:
    """Numbers of this user's jobs that wait or run; none if Slurm does not say."""
    command = ("squeue", "--noheader", "--format=%A", f"--user={os.getuid()}")
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=null, stdout=pipe, stderr=null)
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _answer_s)
    except TimeoutError:
        process.kill()
        raise
    return set(out.decode().split()) if process.returncode == 0 else None


def require_command(where: str, system: str) -> None:
    """Refuse a batch system that this machine cannot submit to.

    Raises
    ------
    UsageError
        Its command is not there.
    """
    command = systems[system][1]
    if shutil.which(command) is None:
        raise UsageError(
            f"`--cluster {where}` needs the command `{command}`, which is not here",
            hint="run it where jobs are submitted, as on a login node",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep out of stderr what Dask logs and raises as well, or what does not matter any more."""
    parts = ("batched", "client", "core", "deploy.spec", "deploy.ssh", "scheduler")
    names = ("asyncio", "tornado.application", *(f"distributed.{part}" for part in parts))
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
