"""One guest: started, watched, cleaned up."""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from shoal import _native
from shoal.errors import Cancelled
from shoal.linux.errors import GuestError
from shoal.linux.images import Image
from shoal.linux.places import cache
from shoal.linux.plan import Plan

# A run that takes longer hangs: guests do not wait for anything.
default_wall_limit_s = 3600
_console_lines = 20
# How long a cancelled run may go unnoticed.
_pulse_s = 0.1
_progress = re.compile(r"^shoal-progress (\d+)$")
# Exit codes of linux/host/launch.c.
_crashed, _too_slow = 2, 3


def run_guest(
    plan: Plan,
    image: Image,
    folder: Path,
    *,
    progress: Callable[[float], object] | None = None,
    cancel: _native.Cancel | None = None,
    wall_limit_s: int = default_wall_limit_s,
) -> None:
    """Run a plan in a folder; the guest's records are there afterwards.

    Raises
    ------
    GuestError
        The guest failed, or did not end in time.
    Cancelled
        Another thread has asked for that.
    """
    if cancel is not None and cancel.cancelled:
        raise Cancelled("the run was cancelled")
    _check_memory(plan)
    helpers = image.helpers
    shutil.copyfile(helpers / "init", folder / "init")
    (folder / "init").chmod(0o755)
    for name in re.findall(r"^module /(\S+)", plan.config, flags=re.M):
        shutil.copyfile(helpers / name, folder / name)
    if image.iperf3 is not None:
        image.iperf3.copy_into(folder)
    (folder / "config").write_text(plan.config, encoding="utf-8")
    (folder / "proc").mkdir()
    console: deque[str] = deque(maxlen=_console_lines)
    with _cpu() as cpu:
        command = [
            str(helpers / "launch"),
            str(folder),
            str(cpu),
            str(wall_limit_s),
            str(plan.seed),
            str(helpers / "seeded_random.so"),
            str(image.linux),
            *_arguments(plan, image),
        ]
        # The launcher sees to it that nothing is left when we are killed: our end of its standard input closes then.
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # noqa: S603
        try:
            assert child.stdout is not None  # noqa: S101
            _listen(child.stdout, console, progress, cancel)
            code = child.wait()
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
    if code == _too_slow:
        raise _failed(f"the guest did not end within {wall_limit_s} s and was stopped", console)
    if code:
        raise _failed("the guest's kernel crashed", console)
    if said := next((line for line in reversed(console) if line.startswith("shoal-guest: ")), None):
        raise GuestError(f"the guest stopped: {said.removeprefix('shoal-guest: ')}")


def _arguments(plan: Plan, image: Image) -> list[str]:
    """The command line is an input of the guest's random numbers: nothing in it may name a place of this machine."""
    return [
        f"mem={plan.memory_mib}M",
        *(["seccomp=on"] if image.mode == "seccomp" else []),
        "time-travel=inf-cpu",
        "time-travel-start=1000000000000000000",
        "rootfstype=hostfs",
        "rootflags=/proc/self/cwd",
        "rw",
        "init=/init",
        "con=null",
        "con0=null,fd:1",
        "ssl=null",
        "quiet",
        "panic=-1",
    ]


def _listen(
    output: IO[bytes],
    console: deque[str],
    progress: Callable[[float], object] | None,
    cancel: _native.Cancel | None,
) -> None:
    rest = b""
    while True:
        # A guest may be silent for long; whoever has had enough must not wait for its next line.
        ready, _, _ = select.select([output], [], [], _pulse_s)
        if cancel is not None and cancel.cancelled:
            raise Cancelled("the run was cancelled")
        if not ready:
            continue
        read = os.read(output.fileno(), 1 << 16)
        *lines, rest = (rest + read).split(b"\n")
        for raw in lines if read else [*lines, rest]:
            _hear(raw.decode("utf-8", "replace").rstrip(), console, progress)
        if not read:
            return


def _hear(line: str, console: deque[str], progress: Callable[[float], object] | None) -> None:
    if found := _progress.match(line):
        if progress is not None:
            progress(int(found[1]) / 100)
    elif line:
        console.append(line)


def _failed(what: str, console: deque[str]) -> GuestError:
    text = "\n".join(f"  | {line}" for line in console) or "  | (nothing)"
    return GuestError(
        f"{what}; its console showed last:\n{text}",
        hint="the scenario and seed reproduce this exactly; please report it",
    )


def _check_memory(plan: Plan) -> None:
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        available = int(re.search(r"^MemAvailable: +(\d+) kB", text, flags=re.M)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    if plan.memory_mib << 20 > available:
        raise GuestError(
            f"the scenario may need {plan.memory_mib} MiB for packets and sockets; {available >> 20} MiB are free",
            hint="use a smaller buffer or fewer flows, or run it on the simulator",
        )


@contextmanager
def _cpu() -> Iterator[int]:
    """A CPU that no other guest of this user runs on, if there is one."""
    cpus = sorted(os.sched_getaffinity(0))
    cache().mkdir(parents=True, exist_ok=True)
    for cpu in cpus:
        with cache(f".cpu{cpu}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield cpu
            return
    yield cpus[os.getpid() % len(cpus)]


@contextmanager
def guest_folder() -> Iterator[Path]:
    """A folder that is the guest's root; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="shoal-linux-", ignore_cleanup_errors=True) as name:
        yield Path(name)
