"""Congestion control of Cumulus Linux: commands of NVUE, and its YAML.

After the documents of Cumulus Linux (CumulusNetworks/docs): the NVUE reference, QoS, at 05e49539, and the chapters
Quality of Service and RoCE up to 5.17 (https://docs.nvidia.com/networking-ethernet-software/). Thresholds are bytes,
the probability is whole percent from 1 on. Above the maximum all ECT packets are marked; others are dropped when the
buffer is full unless RED is on. No document names an average: thresholds are compared with the queue itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from shoal.errors import UsageError
from shoal.switch.amounts import Unit
from shoal.switch.code_points import owners
from shoal.switch.model import Buffer, Law, Queue, Serving
from shoal.switch.options import HasLimit, HasMap, HasPorts, HasProfile, declared
from shoal.switch.platforms._nvue_read import DEFAULT, Reader
from shoal.switch.platforms._nvue_text import is_nvue
from shoal.switch.platforms.base import Platform
from shoal.switch.reading import Document
from shoal.switch.writing import (
    Refusals,
    Writing,
    decides,
    exponent_of_alpha,
    fitted,
    needs_drops_alike,
    needs_thresholds,
    no_weight,
    percent,
    shares,
)

_units = {Unit.BYTES: "bytes"}
_largest_class = 7
# The largest threshold of the reference, and of 32 bits.
_most_bytes = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class NvueOptions(HasMap, HasLimit, HasPorts, HasProfile):
    """The profile, the ports that have it, maps and limits of the switch, and whether commands take effect at once."""

    is_applied: bool = declared(False, "--nvue-apply", "", "End with `nv config apply`.")


_Writing = Writing[NvueOptions]


class Nvue(Platform[NvueOptions]):
    """Traffic classes, which are the egress queues."""

    name = "nvue"
    label = "Cumulus Linux (NVUE)"
    title = "NVUE of Cumulus Linux"
    comment = "#"
    options = NvueOptions

    def recognises(self, text: str) -> bool:
        """Look for commands about queues, or for their YAML."""
        return is_nvue(text)

    def stated_rates_bps(self, document: Document) -> set[int]:
        """Read the speeds of ports."""
        return Reader(document).rates_bps

    def queues(self, document: Document) -> list[Queue]:
        """Read commands or YAML: of what is set twice the last counts."""
        document.refuse_templates()
        return Reader(document).queues()

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write commands for a profile of each group of ports, and those that bind it."""
        for queue in queues:
            if (queue.index or 0) > _largest_class:
                raise UsageError(
                    f"Cumulus Linux has no traffic class {queue.index}", hint=f"--queue 0 to {_largest_class}"
                )
        lines: list[str] = []
        for name, ports, members in _groups(queues, writing.options):
            parts = shares(members, writing)
            lines += [line for queue in members for line in _control(queue, name, members, writing)]
            lines += [line for queue in members for line in _served(queue, name, parts, writing)]
            lines += _map(members, name) if writing.options.has_map else []
            lines += _bindings(members, name, ports, writing.options)
        return "".join(f"{line}\n" for line in [*lines, *(["nv config apply"] if writing.options.is_applied else [])])


def _groups(queues: Sequence[Queue], options: NvueOptions) -> list[tuple[str, Sequence[str], list[Queue]]]:
    """The queues of the same ports, which have one profile, with its name."""
    groups: dict[tuple[str, ...], list[Queue]] = {}
    for queue in queues:
        groups.setdefault(queue.ports, []).append(queue)
    names: list[str] = []
    for members in groups.values():
        profiles = {queue.profile for queue in members} - {""}
        name = profiles.pop() if len(profiles) == 1 else options.profile
        names.append(f"{name}_{len(names)}" if name in names else name)
    return [
        (name, ports or options.ports, members) for name, (ports, members) in zip(names, groups.items(), strict=True)
    ]


def _control(queue: Queue, profile: str, members: Sequence[Queue], writing: _Writing) -> list[str]:
    """Settings of congestion control of a traffic class; none if it has no law, and others of the profile have."""
    refusals = Refusals(queue, Nvue.label)
    needs_thresholds(queue, refusals)
    needs_drops_alike(queue, refusals)
    mark, drop = queue.mark, queue.drop
    law = mark or drop
    settings = {"ecn": "disable", "red": "disable"}
    if law is not None:
        if mark is not None and drop is not None and not drop.same_curve(mark):
            refusals.add(
                "ECT packets and others have different laws, and a traffic class has one",
                "--platform nxos --nxos-non-ecn or --platform eos, which have two",
            )
        settings = _numbers(law, queue, writing, refusals) | {
            "ecn": "disable" if mark is None else "enable",
            "red": "disable" if drop is None else "enable",
        }
    refusals.settle()
    decides(queue, writing)
    if law is None and any(member.laws for member in members):
        return []
    start = f"nv set qos congestion-control {profile} traffic-class {queue.index or 0}"
    return [f"{start} {key} {value}" for key, value in settings.items()]


def _numbers(law: Law, queue: Queue, writing: _Writing, refusals: Refusals) -> dict[str, str]:
    no_weight(law, refusals, "the commands have none")
    rounded = fitted(law, writing, queue, refusals, _units)
    if rounded.max.number > _most_bytes:
        refusals.add(f"a threshold of {rounded.max}: {_most_bytes} bytes are the most", "write less")
    return {
        "min-threshold": str(rounded.min.number),
        "max-threshold": str(rounded.max.number),
        "probability": str(percent(rounded, refusals, least=1)),
    }


def _served(queue: Queue, profile: str, parts: Mapping[str, int], writing: _Writing) -> list[str]:
    """Scheduler, shaper and limit of a traffic class."""
    index, lines = queue.index or 0, []
    if queue.scheduler is not None:
        start = f"nv set qos egress-scheduler {profile} traffic-class {index}"
        if queue.scheduler.serving is Serving.STRICT:
            lines.append(f"{start} mode strict")
            if queue.scheduler.priority is not None:
                writing.remark(queue, "a priority is not written: no document says which of several strict goes first")
        else:
            lines += [f"{start} mode dwrr", f"{start} bw-percent {parts[queue.name]}"]
        writing.remark(
            queue, f"classes that the scheduler {profile} does not name are served when all others are empty"
        )
    if queue.shaping is not None:
        rate = -(-queue.shaping.rate_bps // 1000)
        lines.append(f"nv set qos egress-shaper {profile} traffic-class {index} max-rate {rate}")
        if queue.shaping.burst_bytes is not None:
            writing.remark(queue, f"bursts of {queue.shaping.burst_bytes} bytes are not written: shapers have none")
    if queue.buffer is not None:
        lines += _limit(queue, queue.buffer, writing)
    return lines


def _limit(queue: Queue, buffer: Buffer, writing: _Writing) -> list[str]:
    """What a traffic class may hold, which is so on all ports of the switch."""
    limit = buffer.limit.bytes_at(writing.port) if buffer.limit is not None else None
    values = {}
    if buffer.reserved_bytes:
        values["reserved"] = str(buffer.reserved_bytes)
    if limit is not None:
        values["shared-bytes"] = str(int(limit))
    elif buffer.alpha is not None:
        alpha = Fraction(2) ** exponent_of_alpha(buffer.alpha, -7, 6, queue, writing)
        values["shared-alpha"] = "alpha_" + str(alpha).replace("/", "_")
    if values and not writing.options.has_limit:
        words = " ".join(f"{key} {value}" for key, value in values.items())
        writing.remark(queue, f"`{words}` is not written: it is for all ports of the switch", "--with-limit writes it")
        return []
    if "shared-bytes" in values:
        writing.remark(queue, "the service pool of the class is to be static: in a dynamic one `shared-bytes` is none")
    start = f"nv set qos advance-buffer-config {DEFAULT} egress-lossy-buffer traffic-class {queue.index or 0}"
    return [f"{start} {key} {value}" for key, value in values.items()]


def _map(queues: Sequence[Queue], profile: str) -> list[str]:
    """Code points to switch priorities, which have the numbers of their queues."""
    queue_of = owners(queues)
    lines = [f"nv set qos mapping {profile} trust l3"]
    for queue in queues:
        if points := [str(point) for point, owner in queue_of.items() if owner is queue]:
            index = queue.index or 0
            lines.append(f"nv set qos mapping {profile} dscp {','.join(points)} switch-priority {index}")
            lines.append(f"nv set qos egress-queue-mapping {DEFAULT} switch-priority {index} traffic-class {index}")
    return lines


def _bindings(queues: Sequence[Queue], profile: str, ports: Sequence[str], options: NvueOptions) -> list[str]:
    """Interfaces with their profiles; the default profile is that of all."""
    kinds = {
        "congestion-control": True,
        "egress-scheduler": any(queue.scheduler is not None for queue in queues),
        "egress-shaper": any(queue.shaping is not None for queue in queues),
        "mapping": options.has_map,
    }
    return [
        f"nv set interface {','.join(ports)} qos {kind} profile {profile}"
        for kind, is_written in kinds.items()
        if is_written and profile != DEFAULT
    ]
