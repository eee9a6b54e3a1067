"""`tc` in the guest: lines for queue disciplines, loaded by the real program into the real kernel."""

from __future__ import annotations

import re
import shlex
import shutil
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import UsageError
from shoal.linux.archive import Client, libraries_in, unpack
from shoal.linux.commands import fetching, missing
from shoal.linux.errors import GuestError, LinuxError
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.images import Image
from shoal.linux.places import cache, filling_cache, locked
from shoal.linux.programs import Program, Start

# A release of the distribution whose `tc` knows the disciplines of the newest kernels, and what the program needs.
_suite = "forky"
_packages = ("libc6", "libbpf1", "libelf1t64", "libmnl0", "libcap2", "zlib1g", "libzstd1", "libxtables12", "iproute2")
_root = 0xFFFFFFFF
# The class of the line, below which queues are, and its attribute with the link's number (linux/testbed/sch_line.h).
_below_line = 1 << 16 | 1
_line_number = 3
_most_devices = 8
_objects = ("qdisc", "class", "filter")
_memory_mib = 64


@dataclass(frozen=True)
class Queue:
    """A queue discipline as the kernel has it.

    Attributes
    ----------
    kind
        Such as ``red``.
    options
        Content of its ``TCA_OPTIONS``, in hexadecimal.
    """

    kind: str
    options: str


@dataclass(frozen=True)
class Loaded:
    """What the kernel made of lines for `tc`.

    Attributes
    ----------
    queues
        The disciplines that the lines add or change, in order.
    shown
        What ``tc -d qdisc show`` prints of the devices.
    tc
        Version of the program.
    """

    queues: tuple[Queue, ...]
    shown: str
    tc: str


@dataclass(frozen=True)
class Line:
    """A line for `tc`, in words.

    Attributes
    ----------
    words
        Without ``tc``.
    device
        Whose queue it changes.
    number
        Its number in its file, from 1.
    """

    words: tuple[str, ...]
    device: str
    number: int

    @property
    def kind(self) -> str | None:
        """The kind of the discipline that it adds or changes."""
        if self.words[0] != "qdisc" or self.words[1] in ("del", "delete", "show", "ls", "list"):
            return None
        rest = list(self.words[2:])
        while rest:
            if rest[0] in ("root", "ingress", "clsact"):
                rest = rest[1:]
            elif rest[0] in ("dev", "parent", "handle", "estimator"):
                rest = rest[2:]
            else:
                return rest[0]
        return None

    @property
    def parent_and_handle(self) -> tuple[int, int]:
        """Numbers of parent and handle; `tc` has them in hexadecimal."""
        return self._number("parent", _root), self._number("handle", 0)

    def _number(self, name: str, absent: int) -> int:
        if name not in self.words[:-1]:
            return absent
        major, _, minor = self.words[self.words.index(name) + 1].partition(":")
        try:
            return int(major or "0", 16) << 16 | int(minor or "0", 16)
        except ValueError:
            raise UsageError(f"`{major}:{minor}` is no {name} of `tc`", hint=f"as in {name} 1:") from None


def lines_of(text: str) -> list[Line]:
    """The lines of a file; empty ones and comments count for nothing.

    Raises
    ------
    UsageError
        One is no line for `tc` that changes the queue of a device; the message has its number.
    """
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(f"line {number}: {error}") from None
        if words[:1] == ["sudo"]:
            words = words[1:]
        if not words:
            continue
        if Path(words[0]).name != "tc" or len(words) < 3 or words[1] not in _objects:
            raise UsageError(
                f"line {number}: `{line.strip()}` changes no queue",
                hint="lines as in: tc qdisc add dev eth0 root codel",
            )
        if "dev" not in words[:-1]:
            raise UsageError(f"line {number}: it names no device", hint="add dev eth0")
        device = words[words.index("dev") + 1]
        if not re.fullmatch(r"[A-Za-z0-9_.@:-]{1,15}", device):
            raise UsageError(f"line {number}: `{device}` is no name of a device", hint="up to 15 letters and digits")
        if any(re.search(r"\s", word) for word in words):
            raise UsageError(f"line {number}: a word with a blank", hint="leave the quotes out")
        lines.append(Line(tuple(words[1:]), device, number))
    if not lines:
        raise UsageError("there is no line for `tc`", hint="lines as in: tc qdisc add dev eth0 root codel")
    return lines


def load(lines: Sequence[Line], image: Image, *, has_queues: bool = True) -> Loaded:
    """Have lines loaded by the real `tc` into the kernel of a guest, on devices of their names.

    Without ``has_queues`` what was made of single lines is left out: lines may then take away what others made.

    Raises
    ------
    GuestError
        `tc` or the kernel refuses a line; the message has its number and what `tc` says.
    LinuxError
        There is no `tc` that knows all of their disciplines.
    """
    tc = find_tc({line.kind: f"line {line.number}: " for line in reversed(lines) if line.kind})
    devices = _devices(lines)
    instructions = [f"tc r1 {' '.join(line.words)}" for line in lines]
    instructions += _shown(
        (line.device, *line.parent_and_handle)
        for line in lines
        if has_queues and line.kind and not {"ingress", "clsact"} & {*line.words}
    )
    instructions += [f"tc r1 -d qdisc show dev {device}" for device in devices]
    try:
        queues, said = _made(devices, instructions, image, tc)
    except GuestError as error:
        raise _of_line(error, lines, len(_testbed(devices)), image) from error
    return Loaded(queues, said, tc.version)


def _of_line(error: GuestError, lines: Sequence[Line], before: int, image: Image) -> GuestError:
    """The error with the number of the user's line in place of that of the guest's instruction."""
    match = re.search(r"config line (\d+): (.*)", str(error))
    at = int(match[1]) - before - 1 if match else -1
    if match is None or not 0 <= at < len(lines):
        return error
    line, said, hint = lines[at], match[2], error.hint
    if "qdisc kind is unknown" in said:
        hint = f"Linux {image.release} here has {', '.join(image.disciplines)}"
    return GuestError(f"line {line.number}: `tc {' '.join(line.words)}`: {said}", hint=hint)


def configured(given: Sequence[tuple[int, int, str, str]], image: Image) -> tuple[Queue, ...]:
    """What the kernel makes of disciplines that this project configures itself.

    ``given`` has the parent, the handle, the kind and the hexadecimal options of each.
    """
    instructions = [f"qdisc r1 eth0 {parent} {handle} {kind} {options}" for parent, handle, kind, options in given]
    instructions += _shown(("eth0", parent, handle) for parent, handle, _, _ in given)
    return _made(["eth0"], instructions, image, None)[0]


def as_planned(config: str) -> list[tuple[int, int, str, str]]:
    """The disciplines below the line of a plan's first monitored link, each as :func:`configured` takes it."""
    disciplines = re.findall(r"^qdisc (\S+) (\S+) (\d+) (\d+) (\S+) (\S+)$", config, flags=re.M)
    devices = [
        (host, device)
        for host, device, _, _, kind, options in disciplines
        if kind == "line" and _attributes(bytes.fromhex(options)).get(_line_number) == bytes(4)
    ]
    return [
        (_root if int(parent) == _below_line else int(parent), int(handle), kind, options)
        for host, device, parent, handle, kind, options in disciplines
        if kind != "line" and devices[:1] == [(host, device)]
    ]


def _attributes(data: bytes) -> dict[int, bytes]:
    """Netlink attributes by their types: length and type, 16 bits each, and the value, padded to four bytes."""
    attributes = {}
    while data:
        size, kind = struct.unpack_from("=HH", data)
        attributes[kind] = data[4:size]
        data = data[(size + 3) // 4 * 4 :]
    return attributes


def find_tc(kinds: Mapping[str, str]) -> Program:
    """A `tc` that knows some disciplines: this machine's, or one of a newer release of the distribution.

    ``kinds`` has the disciplines, each with the place at which it is asked for, for the message.

    Raises
    ------
    LinuxError
        There is none.
    """
    starts = [Start(Path(path)) for path in (shutil.which("tc"), shutil.which("tc", path="/usr/sbin:/sbin")) if path]
    for start in starts:
        if _knows(start, kinds):
            return _described(start)
    root = cache("tools", f"tc-{_suite}")
    with locked("tc", "fetches tc"), filling_cache():
        if not (root / "done").exists():
            _fetch(root)
    start = _fetched(root)
    if unknown := [kind for kind in kinds if not _knows(start, [kind])]:
        raise LinuxError(
            f"{kinds[unknown[0]]}no `tc` here knows {', '.join(unknown)}",
            hint="is the name of the discipline misspelt?",
        )
    return _described(start)


def _fetched(root: Path) -> Start:
    loader = next(iter(sorted(root.glob("usr/lib*/**/ld-linux*.so.*"))), None)
    if loader is None:
        raise LinuxError(f"the packages in {root} have no loader", hint="remove that folder and try again")
    program = next(
        (path for path in (root / "usr/sbin/tc", root / "sbin/tc", root / "usr/bin/tc") if path.exists()), None
    )
    if program is None:
        raise LinuxError(f"the packages in {root} have no tc", hint="remove that folder and try again")
    return Start(program.resolve(), libraries_in(root), loader.resolve())


def _fetch(root: Path) -> None:
    hint = "install iproute2 6.17 or newer"
    if missing(fetching):
        raise LinuxError("this machine's `tc` does not know these disciplines", hint=hint)
    try:
        unpack(_packages, root, Client(_suite))
    except LinuxError as error:
        raise LinuxError(f"a newer `tc` cannot be fetched: {error}", hint=hint) from error
    (root / "done").touch()


def _knows(start: Start, kinds: Iterable[str]) -> bool:
    return all("Unknown qdisc" not in start.says("qdisc", "add", "dev", "lo", "root", kind, "help") for kind in kinds)


def _described(start: Start) -> Program:
    version = re.search(r"iproute2-[0-9][^\s,]*", start.says("-V"))
    if version is None:
        raise LinuxError(f"`{start.path}` is not the tc of iproute2", hint="install iproute2")
    return start.program("tc", version[0], package="iproute2")


def _devices(lines: Sequence[Line]) -> list[str]:
    devices = list(dict.fromkeys(line.device for line in lines))
    if len(devices) > _most_devices:
        raise UsageError(f"lines for {len(devices)} devices", hint=f"at most {_most_devices}")
    return devices


def _shown(places: Iterable[tuple[str, int, int]]) -> list[str]:
    return [f"queue r1 {device} {parent} {handle}" for device, parent, handle in dict.fromkeys(places)]


def _testbed(devices: Sequence[str]) -> list[str]:
    """Instructions that make the devices."""
    pairs = [f"veth r1 {name} 10.3.{at}.1 r2 p{at} 10.3.{at}.2 1500" for at, name in enumerate(devices)]
    return ["host r1", "host r2", *pairs]


def _made(
    devices: Sequence[str], instructions: Sequence[str], image: Image, tc: Program | None
) -> tuple[tuple[Queue, ...], str]:
    """What a guest with these devices has after some instructions."""
    with guest_folder() as folder:
        if tc is not None:
            tc.copy_into(folder)
        run_guest("\n".join([*_testbed(devices), *instructions, "halt", ""]), image, folder, memory_mib=_memory_mib)
        queues, said = folder / "queues", folder / "said"
        rows = [line.split(" ") for line in queues.read_text(encoding="utf-8").splitlines()] if queues.exists() else []
        return tuple(Queue(kind, options) for _, kind, options in rows), (
            said.read_text(encoding="utf-8") if said.exists() else ""
        )
