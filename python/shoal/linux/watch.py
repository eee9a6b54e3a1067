"""A running guest: what it says, and whether it still gets on."""

from __future__ import annotations

import os
import re
import select
import time
from collections import deque
from collections.abc import Callable
from typing import IO

from shoal import _native
from shoal.errors import Cancelled
from shoal.linux.errors import GuestError
from shoal.linux.limits import Limits

_console_lines = 20
# How long a cancelled run may go unnoticed.
_pulse_s = 0.1
# A caller that was stopped (Ctrl-Z), or had no processor, has watched for no longer than this between two looks.
_longest_look_s = 1.0
_of_modules = "shoal-module "
# Thousandths of the scenario's virtual time.
_progress = re.compile(r"^shoal-progress (\d+)$")


class Watch:
    """Listens to a guest until its output ends.

    Attributes
    ----------
    console
        The last lines that were not about progress.
    heard
        What the guest said of a user's modules.
    look
        Called a few times a second; raises what it finds.
    """

    def __init__(
        self,
        limits: Limits,
        progress: Callable[[float], object] | None,
        cancel: _native.Cancel | None,
        *,
        console_lines: int | None = None,
    ) -> None:
        self.console: deque[str] = deque(maxlen=console_lines or _console_lines)
        self.heard: list[str] = []
        self.look: Callable[[], object] = lambda: None
        self._limits = limits
        self._progress = progress
        self._cancel = cancel
        self._done = 0
        self._watched_s = 0.0
        self._still_s = 0.0

    def listen(self, output: IO[bytes]) -> None:
        """Read what the guest says until it says nothing any more.

        Raises
        ------
        GuestError
            It takes too long.
        Cancelled
            Another thread has asked for that.
        """
        rest = b""
        before = time.monotonic()
        while True:
            # A guest may be silent for long; whoever has had enough must not wait for its next line.
            ready, _, _ = select.select([output], [], [], _pulse_s)
            if self._cancel is not None and self._cancel.cancelled:
                raise Cancelled("the run was cancelled")
            now = time.monotonic()
            self._watched_s += min(now - before, _longest_look_s)
            self._still_s += min(now - before, _longest_look_s)
            before = now
            if ready:
                read = os.read(output.fileno(), 1 << 16)
                *lines, rest = (rest + read).split(b"\n")
                for raw in lines if read else [*lines, rest]:
                    self._hear(raw.decode("utf-8", "replace").rstrip())
                if not read:
                    return
            self._check()
            self.look()

    @property
    def reached(self) -> str:
        """How far the guest has come."""
        return f"{self._done / 10:g} % of the scenario"

    def failed(self, what: str, hint: str) -> GuestError:
        """An error that shows the console."""
        text = "\n".join(f"  | {line}" for line in list(self.console)[-_console_lines:]) or "  | (nothing)"
        return GuestError(f"{what}; its console showed last:\n{text}", hint=hint)

    def _hear(self, line: str) -> None:
        if match := _progress.match(line):
            if (done := int(match[1])) > self._done:
                self._done = done
                self._still_s = 0.0
            if self._progress is not None:
                self._progress(done / 1000)
        elif line.startswith(_of_modules):
            self.heard.append(line.removeprefix(_of_modules))
        elif line:
            self.console.append(line)

    def _check(self) -> None:
        limits = self._limits
        where = self.reached
        if limits.wall_s is not None and self._watched_s >= limits.wall_s:
            raise self.failed(
                f"the guest was stopped after {limits.wall_s:g} s, the limit for the whole run, at {where}",
                hint="raise or drop the limit (--wall-limit SECONDS, in Python Limits(wall_s=...)): the run got on",
            )
        if self._still_s >= limits.stall_s:
            raise self.failed(
                f"the guest was stopped: its virtual time stood still for {limits.stall_s:g} s at {where}",
                hint="if the machine is very busy or the scenario very large, raise the limit (--stall-limit SECONDS; "
                "in Python Limits(stall_s=...)); a guest that hangs does so at the same place again: please report "
                "that with scenario and seed",
            )
