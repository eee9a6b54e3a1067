"""What a guest takes from the machine, and what is left for it beside the guests that run now: a processor and memory.

Who runs claims it by the name of an abstract Unix socket: all users of a machine see these names (``/proc/net/unix``),
nobody can leave one behind, and nothing is written anywhere. Containers with a network of their own do not see each
other's; then guests may share a processor, which costs time and changes no result.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.linux.errors import GuestError

shared_memory = Path("/dev/shm")  # noqa: S108  (the guest makes an unnamed file there)
# The smallest guest (`memory_mib` of a plan).
smallest_guest_mib = 256
_names = "shoal/linux/"


@dataclass(frozen=True)
class MemoryFolder:
    """Where the file may lie that is a guest's memory.

    Attributes
    ----------
    word
        What the launcher calls it.
    folder
        The folder.
    """

    word: str
    folder: Path

    def room_mib(self) -> int:
        """Free space, MiB; 0 if the guest could not use it."""
        try:
            filesystem = os.statvfs(self.folder)
        except OSError:
            return 0
        # The guest's programs run from that memory.
        if filesystem.f_flag & os.ST_NOEXEC or not os.access(self.folder, os.W_OK | os.X_OK):
            return 0
        return filesystem.f_bavail * filesystem.f_frsize >> 20


@contextmanager
def processor() -> Iterator[int]:
    """A CPU that no other guest runs on, if there is one: a guest slows down by a factor of two to six between two."""
    cpus = sorted(os.sched_getaffinity(0))
    for cpu in cpus:
        if (claimed := _claim(f"cpu{cpu}")) is not None:
            with closing(claimed):
                yield cpu
            return
    yield cpus[os.getpid() % len(cpus)]


@contextmanager
def memory(need_mib: int, folder: Path) -> Iterator[str]:
    """Claim memory for a guest and give the word for where its file goes: ``shm``, or ``folder`` (its own).

    Raises
    ------
    GuestError
        It fits nowhere, or not into memory beside the guests that run now.
    """
    since = time.monotonic_ns()
    folders = (MemoryFolder("shm", shared_memory), MemoryFolder("folder", folder))
    others = _claims_before(since)
    available = available_mib() - sum(mib for _, mib in others)
    if need_mib > available:
        beside = f" beside what other guests that run now may take ({len(others)})" if others else ""
        raise GuestError(
            f"the scenario may need {need_mib} MiB for packets and sockets; {max(0, available)} MiB are free{beside}",
            hint="use a smaller buffer or fewer flows"
            + (", or fewer --workers" if others else "")
            + ", or run it on the simulator",
        )
    rooms = [
        (memory_folder, memory_folder.room_mib() - sum(mib for word, mib in others if word == memory_folder.word))
        for memory_folder in folders
    ]
    word = next((memory_folder.word for memory_folder, room in rooms if room >= need_mib), None)
    if word is None:
        spaces = " and ".join(f"{max(0, room)} MiB in {memory_folder.folder}" for memory_folder, room in rooms)
        raise GuestError(
            f"the guest keeps its memory, up to {need_mib} MiB, in a file, for which there are {spaces}",
            hint="give a container more shared memory (docker run --shm-size=1g), or set TMPDIR to a folder with room "
            "that is not mounted noexec",
        )
    with ExitStack() as held:
        if claimed := _claim(f"memory/{since}/{os.getpid()}.{threading.get_native_id()}/{word}/{need_mib}"):
            held.callback(claimed.close)
        yield word


def available_mib() -> int:
    """Memory that programs may still take, MiB."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        text = ""
    match = re.search(r"^MemAvailable: +(\d+) kB", text, flags=re.M)
    if match is None:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return int(match[1]) >> 10


def _claims_before(since: int) -> list[tuple[str, int]]:
    """Words of the folders, and MiB, of the guests that were started earlier."""
    try:
        text = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    claims = re.findall(rf"@{_names}memory/(\d+)/\S+/(shm|folder)/(\d+)$", text, flags=re.M)
    return [(word, int(mib)) for when, word, mib in claims if int(when) < since]


def _claim(name: str) -> socket.socket | None:
    """A socket that has the name until it is closed; nothing if somebody else has it, or there are no such names."""
    try:
        claimed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:
        return None
    try:
        claimed.bind(f"\0{_names}{name}")
    except OSError:
        claimed.close()
        return None
    return claimed
