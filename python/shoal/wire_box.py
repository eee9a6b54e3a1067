"""A box on the wire: the bottleneck of a scenario between two interfaces of this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal import _native
from shoal.errors import OutputError, UsageError
from shoal.files import unfinished
from shoal.linux.errors import LinuxError
from shoal.scenario import Scenario

#: Lateness of the 99th percentile up to which rates and delays are those of the scenario, in us.
trusted_us = 100.0
#: What stands before the name of a TUN device.
tun_prefix = "tun:"
# So long the native loop runs between two looks at signals, in s.
_slice_s = 0.2
_interfaces = Path("/sys/class/net")
_hints = {
    "absent": "`ip link` lists those that there are",
    "privilege": "run it as root, or give it the capability: setcap cap_net_raw+ep on a copy of the interpreter",
    "tun-privilege": "run it as root, or name a device that root has made: ip tuntap add dev NAME mode tun user YOU",
    "tun-name": "name a device that there is not yet, or one of `ip tuntap list`, in at most 15 bytes",
    "no-tun": "load the module: modprobe tun; a container needs the device from its host",
    "no-ethernet": "name Ethernet interfaces, or let the box make TUN devices: --in tun:NAME --out tun:NAME",
    "taken": "end the other program, or name another interface",
    "merged": "where they come from: ethtool -K IF tso off gso off, or, on a virtual link, ip link set dev IF "
    "gso_max_segs 1; at the box: ethtool -K IF gro off lro off",
    "down": "ip link set dev IF up",
}


class WireBox:
    """Frames that come in at one interface leave at the other through the bottleneck of a scenario, and back.

    The bottleneck's queue, rate, schedule, delay and impairments are those of the scenario, by the same functions as
    in the simulator. What comes back waits for what is left of the round trip of the scenario's first group of flows,
    none of which are run: hosts bring theirs.

    Parameters
    ----------
    scenario
        Its bottleneck is the box.
    inside, outside
        Names of interfaces: what comes in at the first passes the queue. ``tun:NAME`` is a TUN device, through which
        this machine sends to itself: it is made if there is none of the name, and gone when the box ends. Of a device
        there are packets of IP to see, and no frames, so that both sides are of one kind.
    seed
        Seed of the queue and the impairments; that of the scenario if not given.
    pcap
        A file for a record: a capture in pcapng with the headers of all frames that come, each with a comment that says
        what was decided about it. It gets its name on :meth:`close`; see :func:`replay`.
    namespace
        Path of the network namespace in which the interfaces are, such as ``/run/netns/box``; that of this process if
        not given, and always for TUN devices.

    Raises
    ------
    UsageError
        The names are the same, or only one is that of a TUN device, or these are to be in another namespace.
    ScenarioError
        The scenario has no bottleneck, or impairments that send packets twice.
    LinuxError
        An interface does not exist, is down, has another MTU, or cannot be opened or made.
    OutputError
        The record cannot be made.
    """

    def __init__(
        self,
        scenario: Scenario,
        inside: str,
        outside: str,
        *,
        seed: int | None = None,
        pcap: str | Path | None = None,
        namespace: str | Path | None = None,
    ) -> None:
        if inside == outside:
            raise UsageError(f"both sides of the box are `{inside}`", hint="name two interfaces")
        tuns = [name for name in (inside, outside) if name.startswith(tun_prefix)]
        if len(tuns) == 1:
            raise UsageError(
                f"`{tuns[0]}` has packets without frames, and the other side has frames",
                hint="name two interfaces, or two TUN devices: --in tun:NAME --out tun:NAME",
            )
        if tuns and namespace is not None:
            raise UsageError(
                "TUN devices are of the network namespace of this process",
                hint="run it there: ip netns exec NAME, or move the devices: ip link set dev NAME netns NAME",
            )
        # The system says of the interfaces of this process's namespace only what they are; a TUN device is down until
        # its user is ready, and takes packets beyond its MTU.
        if namespace is None and not tuns:
            _check(inside, outside)
        try:
            self._box = scenario.native.wire_box(inside, outside, pcap=pcap, seed=seed, namespace=namespace)
        except OSError as error:
            raise _refused(error) from None

    def run(self, duration_s: float | None = None) -> Iterator[dict[str, Any]]:
        """Carry frames, and give the counts about five times a second, until so many seconds have gone by.

        Raises
        ------
        LinuxError
            An interface goes down, or packets come merged.
        OutputError
            The record cannot be written.
        """
        # Nothing is carried while the counts are made: they take longer the more flows there are.
        counts = self.counts()
        while duration_s is None or counts["at_s"] < duration_s:
            left_s = _slice_s if duration_s is None else duration_s - counts["at_s"]
            try:
                self._box.run_for(min(_slice_s, left_s))
            except OSError as error:
                raise _refused(error) from None
            counts = self.counts()
            yield counts

    def change(self, key: str, value: str) -> None:
        """Change the box while it runs; a record notes when, so that its replay takes the same decisions.

        Parameters
        ----------
        key
            ``bottleneck.rate``, ``flows[0].rtt``, or a parameter of the queue, such as ``bottleneck.aqm.target``, if
            its law takes another one while packets wait: step marking, CoDel alone or with fair queueing, PI2 and
            DualPI2 do. Changes that the scenario's schedule plans for later do not happen any more.
        value
            As a scenario has it, such as ``20 Mbit/s``.

        Raises
        ------
        ScenarioError
            The box cannot change so; it goes on as before.
        LinuxError
            An interface is down.
        OutputError
            The record cannot be written.
        """
        try:
            self._box.change(f"{key}={value}")
        except OSError as error:
            raise _refused(error) from None

    def waits(self) -> tuple[list[float], list[float]]:
        """How long packets have waited in the queue that have left it since the last call.

        Returns
        -------
        tuple
            Two lists, that of ECN-capable packets and that of all others: three numbers for each range of waits, which
            are its ends in s and the number of packets.
        """
        return self._box.waits()

    def close(self) -> None:
        """End the record, if there is one, with what would have become of the frames that are still inside.

        Raises
        ------
        OutputError
            It cannot be written; nothing is left of it then.
        """
        self._box.end_record()

    def counts(self) -> dict[str, Any]:
        """What has come and gone so far: the time, and both ways, each with its flows and how late frames left."""
        counts: dict[str, Any] = json.loads(self._box.counts())
        return counts


@dataclass(frozen=True)
class Difference:
    """The first frame of a record about which something else is decided when it is replayed.

    Attributes
    ----------
    number
        Its number in the file, from 1, as Wireshark counts.
    recorded
        What the record says of it.
    decided
        What is decided now.
    """

    number: int
    recorded: str
    decided: str


@dataclass(frozen=True)
class Cut:
    """Where a record breaks off.

    Attributes
    ----------
    at_s
        When the last frame came that is whole in the record, in s since the box began.
    inside
        Frames that were in the box then. They are not compared: what is missing may decide what became of them.
    """

    at_s: float
    inside: int


@dataclass(frozen=True)
class Replayed:
    """What the replay of a record has found.

    Attributes
    ----------
    scenario
        The scenario of the box, with its seed; it stands in the record.
    frames
        Frames about which the same was decided.
    difference
        The first frame about which something else is decided, at which the replay ends.
    cut
        Where the record breaks off, if it does, since its box was killed.
    """

    scenario: Scenario
    frames: int
    difference: Difference | None
    cut: Cut | None


def replay(record: str | Path) -> Replayed:
    """Bring the frames of a box's record to the same link at the times at which they came, and compare what it decides.

    Marks, drops and the times at which frames leave are compared to the last digit. What no queue reads of a frame is
    not: its addresses of Ethernet, and what TCP or UDP say beyond ports. A record that breaks off is compared up to
    there.

    Raises
    ------
    OutputError
        The file cannot be read, or is no record of a box.
    """
    try:
        about = json.loads(_native.box_record(str(record)))
    except ValueError:
        raise OutputError(
            f"`{record}` is no record of a box", hint="name a file that `shoal box --pcap FILE` has written"
        ) from None
    except OutputError as error:
        if parts := unfinished(Path(record)):
            raise OutputError(str(error), hint=f"a box that was killed has left what it had: `{parts[0]}`") from None
        raise
    scenario = Scenario.from_resolved(about, name=str(record))
    frames, difference, cut = scenario.native.replay_box(str(record))
    return Replayed(
        scenario,
        frames,
        None if difference is None else Difference(*difference),
        None if cut is None else Cut(*cut),
    )


def become_punctual() -> bool:
    """Give this process real-time priority; false if the system does not let it (CAP_SYS_NICE).

    Processes that it begins do not have it.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(50))
    except PermissionError:
        return False
    return True


def _check(*interfaces: str) -> None:
    """Refuse what is no pair of interfaces that carry the same frames."""
    mtus = {}
    for name in interfaces:
        folder = _interfaces / name
        if "/" in name or not (folder / "mtu").exists():
            raise LinuxError(f"there is no interface `{name}`", hint=_hints["absent"])
        if not int((folder / "flags").read_text(), 16) & 1:
            raise LinuxError(f"the interface `{name}` is down", hint=f"ip link set dev {name} up")
        mtus[name] = int((folder / "mtu").read_text())
    if len(set(mtus.values())) > 1:
        said = " and ".join(f"`{name}` has an MTU of {mtu}" for name, mtu in mtus.items())
        raise LinuxError(f"{said}: large packets would not pass", hint="ip link set dev IF mtu BYTES")


def _refused(error: OSError) -> LinuxError:
    kind, message = error.args
    return LinuxError(str(message), hint=_hints.get(str(kind)))
