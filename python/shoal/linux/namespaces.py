"""Three network namespaces in a row for the demonstration: a sender, a box and a receiver on one machine.

The namespaces have names, so that a process that is killed leaves them behind; the next one removes them. An address
that the kernel itself gives up with the process says whether somebody uses them.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import socket
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.linux.commands import output
from shoal.linux.errors import LinuxError

_folder = Path("/run/netns")
# Their numbers in the masks of /proc/self/status (include/uapi/linux/capability.h).
_capabilities = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21}
_ends = ("sender", "box", "receiver")

SENDER = "10.9.0.1"
#: Two addresses of the receiver: senders ask for ECN on the way to the second.
RECEIVER, RECEIVER_ECN = "10.9.0.2", "10.9.0.3"


class Namespaces:
    """The namespaces, as long as the context lasts.

    The box is between the interfaces ``left`` and ``right`` of its namespace. Hosts send packets that are not merged.

    Parameters
    ----------
    name
        How their names begin; a machine has each once.

    Raises
    ------
    LinuxError
        A capability or `ip` lacks, somebody else has the namespaces, or the system refuses to make them.
    """

    def __init__(self, name: str = "shoal-demo") -> None:
        self._name = name
        self._names = {end: f"{name}-{end}" for end in _ends}

    def __enter__(self) -> Self:
        _check()
        self._claim = socket.socket(socket.AF_UNIX)
        try:
            self._claim.bind(f"\0{self._name}")
        except OSError as error:
            self._claim.close()
            if error.errno == errno.EADDRINUSE:
                raise LinuxError("another demonstration runs on this machine", hint="end it first") from None
            raise
        try:
            self._remove()
            self._build()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._remove()
        finally:
            self._claim.close()

    @property
    def box(self) -> Path:
        """The namespace of the box, as a file."""
        return _folder / self._names["box"]

    def inside(self, end: str, *words: str) -> list[str]:
        """A command in the namespace of an end: ``sender``, ``box`` or ``receiver``."""
        return ["ip", "netns", "exec", self._names[end], *words]

    def _build(self) -> None:
        for name in self._names.values():
            _ip("netns", "add", name)
        sender, box, receiver = self._names.values()
        for name, mine, theirs in ((sender, "a", "left"), (receiver, "b", "right")):
            _ip("-n", box, "link", "add", "name", theirs, "type", "veth", "peer", "name", mine, "netns", name)
            _ip("-n", box, "link", "set", "dev", theirs, "up")
            # Hosts that speak IPv4 alone need not talk about addresses of IPv6.
            _ip("-n", name, "link", "set", "dev", mine, "addrgenmode", "none")
            _ip("-n", name, "link", "set", "dev", mine, "gso_max_segs", "1", "up")
        _ip("-n", sender, "address", "add", f"{SENDER}/24", "dev", "a")
        for address in (RECEIVER, RECEIVER_ECN):
            _ip("-n", receiver, "address", "add", f"{address}/24", "dev", "b")
        _ip("-n", sender, "route", "add", f"{RECEIVER_ECN}/32", "dev", "a", "features", "ecn")

    def _remove(self) -> None:
        """Remove the namespaces that there are; interfaces go with them."""
        for name in self._names.values():
            if (_folder / name).exists():
                _ip("netns", "delete", name)


def _check() -> None:
    if shutil.which("ip") is None:
        raise LinuxError("`ip` is missing", hint="it is in the package iproute2 of most distributions")
    status = Path("/proc/self/status").read_text(encoding="ascii")
    held = int(next(line for line in status.splitlines() if line.startswith("CapEff:")).split()[1], 16)
    if lacking := [name for name, number in _capabilities.items() if not held >> number & 1]:
        raise LinuxError(
            f"network namespaces and the box need {', '.join(lacking)}",
            # `sudo` does not look into an environment of Python.
            hint=f"run it as root: sudo {shlex.quote(sys.executable)} -m shoal demo",
        )


def _ip(*words: str) -> None:
    try:
        output(["ip", *words], env=os.environ | {"LC_ALL": "C"})
    except LinuxError as error:
        raise LinuxError(f"`ip {' '.join(words)}`: {error}", hint="a container may forbid network namespaces") from None
