"""Workers on hosts that are reached by ssh.

Dask starts them, but says no more than that a worker failed to start, or waits without end. So each host is looked at
before: whether it answers, lets this user in, and has a Python with shoal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from shoal.errors import ClusterError

# How long a host may not answer, and how long its Python may take to import shoal, in s.
_answer_s, _import_s = 8.0, 60.0
# A scheduler whose client has died closes after that, with its workers, and so does a worker that never reaches its
# scheduler. They would run for ever.
_idle_s, _lonely_s = 300, 60
_settings = "`shoal: ssh:` in a file in ~/.config/dask"


def start(where: str, hosts: Sequence[str]) -> Any:
    """Start the scheduler on the first host and a worker on each.

    Raises
    ------
    ClusterError
        A host cannot be used.
    """
    import sys

    import dask
    from distributed import SSHCluster

    given = {name: dask.config.get(f"shoal.ssh.{name}", None) or {} for name in ("connect", "scheduler", "worker")}
    python = dask.config.get("shoal.ssh.python", None) or sys.executable
    connect = {"connect_timeout": _answer_s, "login_timeout": _answer_s, **given["connect"]}
    # A loop of asyncio may run in this thread already, as in a notebook.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _look_at_all(where, hosts, python, connect)).result()
    # Workers have as many threads as their hosts have cores, if their options do not say otherwise.
    return SSHCluster(
        [hosts[0], *hosts],
        connect_options=connect,
        worker_options={"death_timeout": f"{_lonely_s}s", **given["worker"]},
        scheduler_options={"idle_timeout": f"{_idle_s}s", **given["scheduler"]},
        remote_python=python,
    )


async def _look_at_all(where: str, hosts: Sequence[str], python: str, connect: dict[str, Any]) -> None:
    # One after the other would add up what hosts take that do not answer; the first that cannot be used is told.
    names = list(dict.fromkeys(hosts))
    answers = await asyncio.gather(*(_look_at(where, host, python, connect) for host in names), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer


async def _look_at(where: str, host: str, python: str, connect: dict[str, Any]) -> None:
    import asyncssh

    try:
        async with asyncssh.connect(host, **connect) as connection:
            command = f"{python} -c 'import distributed, shoal'"
            done = await connection.run(command, timeout=_import_s)
    except asyncssh.HostKeyNotVerifiable as error:
        raise ClusterError(
            f"`{where}`: the key of the host {host} is not known here",
            hint=f"`ssh {host}` shows it, and writes it to ~/.ssh/known_hosts",
        ) from error
    except asyncssh.PermissionDenied as error:
        raise ClusterError(
            f"`{where}`: the host {host} refuses the login: {error.reason}",
            hint=f"`ssh -o BatchMode=yes {host} true` has to work: with a key, and the user of ~/.ssh/config",
        ) from error
    except TimeoutError as error:  # asyncssh has no text for it
        raise _silent(where, host, "it does not answer in time") from error
    except (OSError, asyncssh.Error) as error:
        raise _silent(where, host, str(error)) from error
    if done.exit_status != 0:
        lines = str(done.stderr).strip().splitlines() or ["no reason given"]
        raise ClusterError(
            f"`{where}`: on the host {host}, {python} does not run shoal: {lines[-1]}",
            hint=f"install the same build there; `python` under {_settings} names another interpreter",
        )


def _silent(where: str, host: str, reason: str) -> ClusterError:
    return ClusterError(
        f"`{where}`: the host {host} cannot be reached: {reason}",
        hint=f"`ssh -o BatchMode=yes {host} true` has to work; ports, users and keys are those of ~/.ssh/config",
    )
