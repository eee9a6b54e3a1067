"""Writes queue management profiles of OpenConfig QoS in JSON (RFC 7951: 64-bit numbers are strings)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shoal.switch.amounts import Unit
from shoal.switch.model import Queue
from shoal.switch.writing import Refusals, Writing, fitted, needs_thresholds, percent, weight_of

_units = {Unit.BYTES: "bytes"}


def write(queues: Sequence[Queue], writing: Writing) -> str:
    """The tree below /qos for some queues.

    Raises
    ------
    UsageError
        OpenConfig cannot express one of them.
    """
    profiles: dict[str, dict[str, Any]] = {}
    ports: dict[str, list[dict[str, Any]]] = {}
    for queue in queues:
        leaves = _leaves(queue, writing)
        name = writing.name_of_profile(queue, len(queues))
        config: dict[str, Any] = {"name": queue.name}
        if leaves is not None:
            profiles[name] = {"name": name, "config": {"name": name}, "wred": {"uniform": {"config": leaves}}}
            config["queue-management-profile"] = name
        for port in queue.ports or writing.ports:
            ports.setdefault(port, []).append({"name": queue.name, "config": config})
    tree: dict[str, Any] = {
        "queue-management-profiles": {"queue-management-profile": list(profiles.values())},
        "interfaces": {
            "interface": [
                {"interface-id": port, "config": {"interface-id": port}, "output": {"queues": {"queue": entries}}}
                for port, entries in ports.items()
            ]
        },
    }
    return json.dumps({"openconfig-qos:qos": tree}, indent=2) + "\n"


def _leaves(queue: Queue, writing: Writing) -> dict[str, Any] | None:
    refusals = Refusals(queue, "OpenConfig")
    needs_thresholds(queue, refusals)
    mark, drop, drop_ect = queue.mark, queue.drop, queue.drop_ect
    common = mark or drop
    found: dict[str, Any] | None = None
    if common is not None:
        if mark is not None and drop is not None and not drop.same_curve(mark):
            refusals.add(
                "ECT packets and others have different laws, and a profile has one",
                "--platform nxos --nxos-non-ecn or --platform eos, which have two",
            )
        if mark is not None and drop_ect is not None:
            refusals.add("a law that drops ECT packets beside the one that marks them", "leave drop_ect out")
        if mark is None and (drop_ect is None or not drop_ect.same_curve(common)):
            refusals.add("a law that drops only packets that are not ECT", "add a law that marks the others")
        law = fitted(common, writing, queue, refusals, _units)
        found = {
            "min-threshold": str(law.min.number),
            "max-threshold": str(law.max.number),
            "enable-ecn": mark is not None,
            "drop": drop is not None,
            "max-drop-probability-percent": percent(law, refusals),
        }
        if (weight := weight_of(law, writing, refusals)) is not None:
            found["weight"] = weight
        writing.remark(queue, "where marks are decided is not part of the model: the device decides")
    refusals.settle()
    return found
