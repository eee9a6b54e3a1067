"""One guest: started, watched, cleaned up."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from shoal import _native
from shoal.errors import Cancelled, ModuleWarning
from shoal.files import is_full
from shoal.linux.errors import GuestError
from shoal.linux.faults import crashed, kernel_warnings, left_behind
from shoal.linux.faults import stopped as stopped_by_module
from shoal.linux.images import Image
from shoal.linux.limits import Limits
from shoal.linux.module_file import ModuleFile
from shoal.linux.places import no_room, temporary
from shoal.linux.resources import memory, processor
from shoal.linux.stacks import StackWatch
from shoal.linux.watch import Watch

# What a kernel says of a fault, with its call trace, is longer than what is shown of the console.
_lines_with_modules = 400
_reproducible = "the scenario and seed reproduce this exactly; please report it"


def run_guest(
    config: str,
    image: Image,
    folder: Path,
    *,
    memory_mib: int,
    seed: int = 1,
    progress: Callable[[float], object] | None = None,
    cancel: _native.Cancel | None = None,
    limits: Limits | None = None,
    modules: Sequence[ModuleFile] = (),
) -> list[str]:
    """Run a guest in a folder; its records are there afterwards. Gives what it said of a user's modules.

    Parameters
    ----------
    config, folder
        Instructions for the guest, and its root.
    memory_mib, seed
        Memory of the guest, MiB: what packets, queues and sockets can hold. Seed of its randomness.
    image, progress, cancel, limits
        As for :func:`shoal.linux.run_on_linux`.
    modules
        Modules of the user that the instructions load; warnings of the kernel are shown if there are some.

    Raises
    ------
    ModuleError
        A user's module crashed the kernel, hangs, or leaves something behind.
    GuestError
        The guest failed, or took too long.
    Cancelled
        Another thread has asked for that.
    """
    if cancel is not None and cancel.cancelled:
        raise Cancelled("the run was cancelled")
    _fill(folder, config, image, modules)
    limits = limits or image.limits
    watch = Watch(limits, progress, cancel, console_lines=_lines_with_modules if modules else None)
    with memory(memory_mib, folder) as word, processor() as cpu:
        start = [image.helpers / "launch", folder, cpu, word, seed, image.helpers / "seeded_random.so", image.linux]
        command = [*map(str, start), *_arguments(memory_mib, image)]
        # The launcher sees to it that nothing is left when we are killed: our end of its standard input closes then.
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # noqa: S603
        try:
            assert child.stdout is not None  # noqa: S101
            if modules:
                limit_s = min(limits.module_s, limits.stall_s)
                watch.look = StackWatch(child.pid, image, modules, watch, limit_s=limit_s).look
            watch.listen(child.stdout)
            code = child.wait()
        finally:
            if child.poll() is None:
                child.terminate()
                # Whoever stopped the guest may have stopped its launcher, too.
                child.send_signal(signal.SIGCONT)
                child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
    _judge(watch, modules, crashes=code != 0, root=folder.parent)
    return watch.heard


def _judge(watch: Watch, modules: Sequence[ModuleFile], *, crashes: bool, root: Path) -> None:
    """Raise what went wrong in a guest that has ended, by what it said."""
    if crashes:
        raise crashed(watch.console, modules, watch.reached) or watch.failed(
            "the guest's kernel crashed", _reproducible
        )
    said = next((line for line in reversed(watch.console) if line.startswith("shoal-guest: ")), None)
    if said is not None:
        stopped = f"the guest stopped: {said.removeprefix('shoal-guest: ')}"
        if "No space left on device" in said:
            # It writes its records into its root.
            full = no_room(root)
            raise GuestError(f"{stopped}: {full}", hint=full.hint)
        raise stopped_by_module(said, modules) or GuestError(stopped)
    for text in kernel_warnings(watch.console, modules) if modules else ():
        warnings.warn(text, ModuleWarning, stacklevel=3)
    if fault := left_behind(watch.heard, watch.console, modules):
        raise fault


def _fill(folder: Path, config: str, image: Image, modules: Sequence[ModuleFile]) -> None:
    """Put what the guest runs into its root."""
    shutil.copyfile(image.helpers / "init", folder / "init")
    (folder / "init").chmod(0o755)
    for name in re.findall(r"^module /(\S+)", config, flags=re.M):
        shutil.copyfile(image.helpers / name, folder / name)
    for module in modules:
        shutil.copyfile(module.path, folder / module.path.name)
    if image.iperf3 is not None:
        image.iperf3.copy_into(folder)
    (folder / "config").write_text(config, encoding="utf-8")
    (folder / "proc").mkdir()


def _arguments(memory_mib: int, image: Image) -> list[str]:
    """The command line is an input of the guest's random numbers: nothing in it may name a place of this machine."""
    return [
        f"mem={memory_mib}M",
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


@contextmanager
def guest_folder() -> Iterator[Path]:
    """A folder that is the guest's root; gone afterwards.

    Raises
    ------
    LinuxError
        There is no room for what is written there.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="shoal-linux-", ignore_cleanup_errors=True) as name:
            yield Path(name)
    except OSError as error:
        if not is_full(error):
            raise
        raise no_room(temporary()) from error
