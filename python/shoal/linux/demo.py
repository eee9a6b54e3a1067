"""The demonstration on one machine: hosts in network namespaces whose own kernel sends through the box."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from shoal.linux.errors import LinuxError
from shoal.linux.namespaces import RECEIVER, RECEIVER_ECN, Namespaces

#: Frames of the videos, as in the scenario `video`.
frame_bytes, every_s, deadline_s = 20_000, 0.04, 0.05
#: Scalable controls that kernels may have, with their names, the best known first; the other one is a BPF program.
scalable_controls = {"dctcp": "DCTCP", "dctcp_ikr": "DCTCP (IKR)"}


@dataclass
class Video:
    """Frames of a video that have arrived.

    Attributes
    ----------
    of
        How many.
    late
        How many came after their deadline.
    recent
        Whether each of the last frames was late.
    """

    of: int = 0
    late: int = 0
    recent: list[bool] = field(default_factory=list)


class Hosts:
    """A sender and a receiver with two bulk flows and two videos, as long as the context lasts.

    Parameters
    ----------
    namespaces
        Where they are.

    Raises
    ------
    LinuxError
        They do not begin.
    """

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces = namespaces
        self._processes: list[subprocess.Popen[str]] = []
        self._rest = ""
        #: The control of the flows that are to have a short queue, and their name.
        self.control, self.name = scalable()
        self._flows = flows(self.control, self.name)
        self.videos = {flow["name"]: Video() for flow in self._flows if "frame_bytes" in flow}

    def __enter__(self) -> Self:
        receiver = self._begin("receiver", "receive")
        assert receiver.stdout is not None  # noqa: S101
        if not receiver.stdout.readline():
            raise self._failure(receiver)
        os.set_blocking(receiver.stdout.fileno(), False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()

    def send(self) -> None:
        """Let the sender begin."""
        self._begin("sender", "send")

    def look(self) -> None:
        """Take in which frames have come.

        Raises
        ------
        LinuxError
            A host has ended.
        """
        for process in self._processes:
            if process.poll() is not None:
                raise self._failure(process)
        receiver = self._processes[0].stdout
        assert receiver is not None  # noqa: S101
        try:
            said = os.read(receiver.fileno(), 1 << 16).decode()
        except BlockingIOError:
            return
        *lines, self._rest = (self._rest + said).split("\n")
        for frame in map(json.loads, lines):
            self.count(frame["flow"], frame["took_s"])

    def count(self, name: str, took_s: float) -> None:
        """A frame has come, so many seconds after it was due to be sent."""
        video = self.videos[name]
        is_late = took_s > deadline_s
        video.of += 1
        video.late += is_late
        video.recent = [*video.recent, is_late][-50:]

    def label(self, flow: str) -> str:
        """The name of a flow that the box knows by its addresses and ports."""
        for each in self._flows:
            if f" > {each['address']}:{each['port']}, " in flow:
                return str(each["name"])
        return flow

    def _begin(self, end: str, role: str) -> subprocess.Popen[str]:
        command = self._namespaces.inside(end, sys.executable, "-m", "shoal.linux.demo_hosts", role)
        pipe = subprocess.PIPE
        process = subprocess.Popen(  # noqa: S603
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=0, start_new_session=True
        )
        self._processes.append(process)
        assert process.stdin is not None  # noqa: S101
        process.stdin.write(json.dumps(self._flows) + "\n")
        process.stdin.flush()
        return process

    def _failure(self, process: subprocess.Popen[str]) -> LinuxError:
        process.kill()
        assert process.stderr is not None  # noqa: S101
        said = process.stderr.read().strip().splitlines()
        return LinuxError(f"a host of the demonstration has ended: {said[-1] if said else 'it said nothing'}")


def scalable() -> tuple[str, str]:
    """The scalable control of this kernel, which may load a module for it, and its name; else CUBIC with ECN."""
    for control, name in scalable_controls.items():
        with socket.socket() as asking:
            try:
                asking.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            except OSError:
                continue
            return control, name
    return "cubic", "CUBIC with ECN"


def flows(control: str, name: str) -> list[dict[str, Any]]:
    """What is sent: a bulk flow and a video over a control with ECN, and the same over CUBIC without."""
    video = {"frame_bytes": frame_bytes, "every_s": every_s}
    ends = ((RECEIVER_ECN, control, name), (RECEIVER, "cubic", "CUBIC"))
    bulk = [{"name": who, "address": address, "port": 5001, "control": by} for address, by, who in ends]
    return bulk + [
        {"name": f"video over {who}", "address": address, "port": 5002, "control": by} | video
        for address, by, who in ends
    ]


def queue(control: str) -> dict[str, str]:
    """The queue that is shown if none is asked for: DualPI2 needs a scalable control."""
    return {"kind": "fq-codel"} if control == "cubic" else {"kind": "dualpi2", "ecn_mask": "any-ect"}
