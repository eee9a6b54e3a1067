"""Whether a user's module hangs: looked at from outside, as nothing in a guest runs until its kernel returns."""

from __future__ import annotations

import bisect
import os
import re
import signal
import struct
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import IO

from shoal.linux.elf import ends_with_call
from shoal.linux.faults import hung
from shoal.linux.images import Image
from shoal.linux.module_file import ModuleFile, Spot
from shoal.linux.watch import Watch

# Stack of a thread of user-mode Linux: four pages (KERNEL_STACK_ORDER is 2).
_stack_bytes = 4 * 4096
# A module hangs if so many looks in a row find it on the stack, and what called it unchanged to the last byte.
_looks = 10
_longest_stop_s = 2.0


class StackWatch:
    """Looks at the kernel of a guest now and then.

    The kernel is a process of this machine: what is on its stack can be read. Virtual time says little: it stands still
    in a loop, and passes in one that waits by ``cpu_relax``.

    Parameters
    ----------
    launcher
        Number of the process whose child it is.
    image, modules
        The kernel, and the modules in it.
    watch
        What the guest says.
    limit_s
        Processor time after which a guest that says nothing is looked at.
    """

    def __init__(
        self, launcher: int, image: Image, modules: Sequence[ModuleFile], watch: Watch, *, limit_s: float
    ) -> None:
        self._launcher = launcher
        self._image = image
        self._modules = modules
        self._watch = watch
        self._limit_s = limit_s
        self._said: tuple[int, str] | None = None
        self._since_s = 0.0
        self._callers = b""
        self._seen = 0

    def look(self) -> None:
        """Look once.

        Raises
        ------
        ModuleError
            A module hangs.
        """
        try:
            kernel = self._kernel()
            used_s = _used_s(kernel)
        except (OSError, ValueError, IndexError):
            return  # It has not begun, or has ended.
        said = (len(self._watch.heard), self._watch.reached)
        if said != self._said:
            self._said, self._since_s, self._seen = said, used_s, 0
        if used_s - self._since_s < self._limit_s:
            return
        if (module := self._being_loaded()) and (spot := module.called_for("init")):
            raise hung([(spot.function, spot)], "its loading", used_s - self._since_s)
        trace, callers = self._trace(kernel)
        if not callers or callers != self._callers:
            self._callers, self._seen = callers, 0
        self._seen += bool(callers)
        if self._seen >= _looks:
            raise hung(trace, self._watch.reached, used_s - self._since_s)

    def _kernel(self) -> int:
        children = Path(f"/proc/{self._launcher}/task/{self._launcher}/children").read_text(encoding="ascii")
        return int(children.split()[0])

    @cached_property
    def _map(self) -> list[tuple[int, str]]:
        """Addresses and names of the kernel's own functions and variables, in the order of the addresses."""
        text = (self._image.tree / "System.map").read_text(encoding="ascii")
        return sorted((int(line[:16], 16), line[19:]) for line in text.splitlines())

    @cached_property
    def _code(self) -> range:
        """Addresses of the kernel's own code."""
        ends = {name: address for address, name in self._map if name in ("_stext", "_etext")}
        return range(ends["_stext"], ends["_etext"])

    def _trace(self, kernel: int) -> tuple[list[tuple[str, Spot | None]], bytes]:
        """Where the kernel is and who called, by the words on its stack that stand behind a call.

        The second part is the stack of what called the module, empty if the kernel is in none.
        """
        os.kill(kernel, signal.SIGSTOP)
        try:
            with Path(f"/proc/{kernel}/mem").open("rb", buffering=0) as memory:
                at, pointer = _registers(kernel)
                stack = _read(memory, pointer & ~7, _stack_bytes - (pointer & ~7) % _stack_bytes)
                words = [(slot, word) for slot, (word,) in enumerate(struct.iter_unpack("<Q", stack))]
                calls = [(slot, word) for slot, word in words if self._is_call(memory, word)]
        except OSError:
            return [], b""
        finally:
            os.kill(kernel, signal.SIGCONT)
        frames = [(0, at), *((slot, word - 1) for slot, word in calls)]
        named = [(slot, name) for slot, address in frames if (name := self._named(address))]
        outermost = max((slot for slot, (_, spot) in named if spot), default=None)
        return [name for _, name in named], b"" if outermost is None else stack[8 * (outermost + 1) :]

    def _being_loaded(self) -> ModuleFile | None:
        heard = self._watch.heard
        name = heard[-1].removeprefix("loading ") if heard and heard[-1].startswith("loading ") else None
        return next((module for module in self._modules if module.name == name), None)

    @property
    def _loaded(self) -> list[tuple[int, ModuleFile]]:
        lines = (re.match(r"loaded (\w+) ([0-9a-f]+)$", line) for line in self._watch.heard)
        bases = {match[1]: int(match[2], 16) for match in lines if match}
        return [(bases[module.name], module) for module in self._modules if module.name in bases]

    def _is_call(self, memory: IO[bytes], word: int) -> bool:
        """Whether a word is an address behind a call."""
        if word not in self._code and all(module.elf.locate(word - base) is None for base, module in self._loaded):
            return False
        before = _read(memory, word - 7, 7)
        return len(before) == 7 and ends_with_call(before)

    def _named(self, address: int) -> tuple[str, Spot | None] | None:
        for base, module in self._loaded:
            if spot := module.at(address - base):
                return f"{spot.function} [{module.name}]", spot
        if address not in self._code:
            return None
        number = bisect.bisect_right(self._map, (address, "\U0010ffff")) - 1
        return self._map[number][1], None


def _used_s(process: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _registers(process: int) -> tuple[int, int]:
    """Where a stopped process is, and the end of its stack."""
    until = time.monotonic() + _longest_stop_s
    while time.monotonic() < until:
        fields = Path(f"/proc/{process}/syscall").read_text(encoding="ascii").split()
        if fields[0] != "running":
            return int(fields[-1], 16), int(fields[-2], 16)
        time.sleep(0.005)
    raise ProcessLookupError


def _read(memory: IO[bytes], address: int, size: int) -> bytes:
    try:
        return os.pread(memory.fileno(), size, address)
    except OSError:
        return b""
