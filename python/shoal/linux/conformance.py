"""Conformance scripts on the kernel: one guest a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from shoal import _native
from shoal.linux.errors import GuestError
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.images import Image, find_image
from shoal.linux.limits import Limits

# A script holds a few packets and one connection.
_memory_mib = 256
# Scripts last seconds of virtual time, in which little happens; they do not report progress.
_limits = Limits(stall_s=120)

# How the guest says that a parameter could not be set, with the line of its program.
_unset = re.compile(r"config line (\d+): \w+: cannot set (\S+) to `(.*)`: (.+)", flags=re.DOTALL)

Play = Callable[[Path, str, _native.Cancel], dict[str, Any]]


def player(kernel: str | None = None) -> Play:
    """A function that plays a script and gives its verdict; that a guest stops is one, too.

    Parameters
    ----------
    kernel
        Version of the kernel; the one that was built last if not given.

    Raises
    ------
    LinuxError
        There is no such kernel.
    """
    image = find_image(kernel)
    _ = image.helpers
    return partial(_play, image)


def _play(image: Image, script: Path, text: str, cancel: _native.Cancel) -> dict[str, Any]:
    translated = json.loads(_native.conformance_program(text, script.parent))
    if "program" not in translated:
        return dict(translated)
    with guest_folder() as folder:
        files = ["fine_clock.ko", *(path.name for path in sorted(image.helpers.glob("tcp_*.ko")))]
        modules = "".join(f"module /{name}\n" for name in files)
        config = modules + translated["program"]
        try:
            run_guest(config, image, folder, memory_mib=_memory_mib, cancel=cancel, limits=_limits)
        except GuestError as error:
            return _stopped(error, [0] * modules.count("\n") + translated["lines"])
        records = (folder / "script.bin").read_bytes()
    return dict(json.loads(_native.conformance_on_kernel(text, script.parent, records)))


def _stopped(error: GuestError, lines: list[int]) -> dict[str, Any]:
    """What became of a script whose guest stopped; ``lines`` has the script's line for each line of the program.

    A parameter that the kernel does not have, or a value that it does not take, is an error of the script.
    """
    if (unset := _unset.search(str(error))) is None:
        return {"verdict": "stopped", "line": None, "reason": str(error), "hint": error.hint}
    number, path, value, why = unset.groups()
    return {
        "verdict": "wrong",
        "line": lines[int(number) - 1] or None,
        "reason": f"the kernel cannot set `{path.replace('/', '.')}` to `{value}`: {why.strip()}",
        "hint": "correct the name or the value; `sysctl -e` goes on without a parameter that the kernel lacks",
    }
