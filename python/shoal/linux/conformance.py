"""Conformance scripts on the kernel: one guest a script."""

from __future__ import annotations

import json
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

Play = Callable[[Path, str, _native.Cancel], dict[str, Any]]


def player(kernel: str | None = None) -> Play:
    """A function that plays a script and gives its verdict.

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
            raise GuestError(f"`{script}`: {error}", hint=error.hint) from error
        records = (folder / "script.bin").read_bytes()
    return dict(json.loads(_native.conformance_on_kernel(text, script.parent, records)))
