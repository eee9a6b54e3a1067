"""Queue management profiles of OpenConfig QoS in JSON.

After openconfig-qos-mem-mgmt.yang 2.2.0 (openconfig/public at 94f58962) and the encoding of RFC 7951, in which 64-bit
numbers are strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

from shoal.models import nearest
from shoal.switch.amounts import Amount, Unit
from shoal.switch.code_points import LARGEST
from shoal.switch.model import Action, Law, Queue, Scheduler, Serving, Where
from shoal.switch.options import HasPorts, HasProfile
from shoal.switch.platforms.base import Platform
from shoal.switch.reading import Document, JsonFile, table
from shoal.switch.writing import Refusals, Writing, fitted, needs_drops_alike, needs_thresholds, percent, weight_of

_leaf_names = [
    "min-threshold",
    "max-threshold",
    "min-threshold-percent",
    "max-threshold-percent",
    "enable-ecn",
    "drop",
    "max-drop-probability-percent",
    "weight",
]


_units = {Unit.BYTES: "bytes"}


@dataclass(frozen=True, kw_only=True)
class OpenConfigOptions(HasPorts, HasProfile):
    """Profiles, and the ports that have them."""


_Writing = Writing[OpenConfigOptions]


class OpenConfig(Platform[OpenConfigOptions]):
    """The tree below /qos."""

    name = "openconfig"
    label = "OpenConfig"
    title = "OpenConfig QoS in JSON"
    options = OpenConfigOptions

    def recognises(self, text: str) -> bool:
        """Look for the names of the model."""
        return "queue-management-profile" in text or '"openconfig-qos:' in text

    def queues(self, document: Document) -> list[Queue]:
        """Read queue management profiles and the queues that they are bound to."""
        file = JsonFile(document)
        file.say_repeated(lambda name: "qos" in name or "queue-management" in name)
        tree = _tree(file.content)
        reader = _Reader(document, file)
        profiles = {
            _name(entry): entry for entry in _list(tree, "queue-management-profiles", "queue-management-profile")
        }
        if not profiles:
            document.refuse(
                1,
                "no queue-management-profile in this file",
                "give the tree below /qos, in JSON",
            )
        laws = {name: reader.laws(name, entry) for name, entry in profiles.items()}
        ports_of: dict[tuple[str, str], list[str]] = {}
        for interface in _list(tree, "interfaces", "interface"):
            port = str(interface.get("interface-id") or _config(interface).get("interface-id") or "")
            for entry in _list(interface.get("output", {}), "queues", "queue"):
                name = _name(entry)
                profile = str(_config(entry).get("queue-management-profile") or "")
                if profile and profile not in laws:
                    document.refuse(
                        file.line(name), f"there is no queue-management-profile `{profile}`",
                        nearest(profile, list(laws)),
                    )  # fmt: skip
                ports_of.setdefault((name, profile), []).append(port)
        points = reader.code_points(tree)
        queues = [
            replace(
                laws.get(profile, Queue(name=name)),
                name=name,
                dscp=points.get(name, ()),
                index=int(name) if name.isdecimal() else None,
                ports=tuple(ports),
                scheduler=reader.scheduler(tree, name),
                profile=profile,
            )
            for (name, profile), ports in ports_of.items()
        ]
        bound = {queue.profile for queue in queues}
        queues += [queue for name, queue in laws.items() if name not in bound]
        return queues

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write the tree below /qos."""
        profiles: dict[str, dict[str, Any]] = {}
        ports: dict[str, list[dict[str, Any]]] = {}
        for queue in queues:
            leaves = _leaves(queue, writing)
            name = writing.options.profile_of(queue, len(queues))
            config: dict[str, Any] = {"name": queue.name}
            if leaves is not None:
                profiles[name] = {"name": name, "config": {"name": name}, "wred": {"uniform": {"config": leaves}}}
                config["queue-management-profile"] = name
            for port in queue.ports or writing.options.ports:
                ports.setdefault(port, []).append({"name": queue.name, "config": config})
        schedulers = _schedulers(queues)
        policy = f"{writing.options.profile}_SCHEDULER"
        bound = {"scheduler-policy": {"config": {"name": policy}}} if schedulers else {}
        tree: dict[str, Any] = {
            "queue-management-profiles": {"queue-management-profile": list(profiles.values())},
            "interfaces": {
                "interface": [
                    {
                        "interface-id": port,
                        "config": {"interface-id": port},
                        "output": {"queues": {"queue": entries}, **bound},
                    }
                    for port, entries in ports.items()
                ]
            },
        }
        if schedulers:
            named = {"name": policy, "config": {"name": policy}, "schedulers": {"scheduler": schedulers}}
            tree["scheduler-policies"] = {"scheduler-policy": [named]}
        for queue in queues:
            if queue.shaping is not None:
                writing.remark(queue, "its shaper is not written", "set max-rate-percent of its scheduler")
        return json.dumps({"openconfig-qos:qos": tree}, indent=2) + "\n"


@dataclass(frozen=True, slots=True)
class _Reader:
    document: Document
    file: JsonFile

    def laws(self, name: str, entry: Mapping[str, Any]) -> Queue:
        """A queue with the law of a profile."""
        line = self.file.line("queue-management-profiles", name) if name else 1
        kind = "wred" if "wred" in entry else "red"
        leaves = _config(_inside(entry, kind, "uniform"))
        queue = Queue(name=name, profile=name, source=self.document.source(line))
        for leaf in leaves:
            if leaf not in _leaf_names:
                self.document.remark(f"`{leaf}` is not a leaf of a profile", hint=nearest(leaf, _leaf_names), line=line)
        if not leaves:
            self.document.remark(f"the profile `{name}` has no {kind}/uniform/config: no law", line=line)
            return queue
        if not _inside(entry, kind, "uniform", "config"):
            self.document.remark(
                f"`{name}` is read from `state`: what the device had then, whatever its configuration says", line=line
            )
        marks, drops = self._flag(leaves, "enable-ecn", name), self._flag(leaves, "drop", name)
        law = self._law(leaves, name, line)
        if not marks and not drops:
            self.document.remark(f"the profile `{name}` neither marks nor drops (both default to false)", line=line)
            return queue
        drop = replace(law, action=Action.DROP)
        return replace(
            queue,
            mark=law if marks else None,
            drop=drop if drops else None,
            # The leaf `drop` is about packets that are not ECT; without ECN the algorithm tells none apart.
            drop_ect=drop if drops and not marks else None,
        )

    def _flag(self, leaves: Mapping[str, Any], leaf: str, name: str) -> bool:
        value = str(leaves.get(leaf, "false")).lower()
        if value not in ("true", "false"):
            self._refuse(name, leaf, f"`{leaf}` is neither true nor false", "write true or false")
        return value == "true"

    def _law(self, leaves: Mapping[str, Any], name: str, line: int) -> Law:
        unit, suffix = Unit.BYTES, ""
        if any(leaf.endswith("threshold-percent") for leaf in leaves):
            if "min-threshold" in leaves or "max-threshold" in leaves:
                self._refuse(
                    name, "min-threshold", f"`{name}` has thresholds in bytes and in percent", "give one of the pairs"
                )
            unit, suffix = Unit.PERCENT, "-percent"
        ends = []
        for leaf in (f"min-threshold{suffix}", f"max-threshold{suffix}"):
            if leaf not in leaves:
                self._refuse(name, "config", f"`{name}` has no `{leaf}`", "give both thresholds")
            ends.append(self._number(leaves, leaf, name))
        least, most = ends
        if least > most:
            self._refuse(
                name, f"min-threshold{suffix}", f"`{name}`: the minimum of {least} is above the maximum of {most}",
                "swap or correct them",
            )  # fmt: skip
        if "max-drop-probability-percent" in leaves:
            percent = self._number(leaves, "max-drop-probability-percent", name)
        elif least == most:
            percent = 100
        else:
            self._refuse(
                name, "config", f"`{name}` has no `max-drop-probability-percent`", "give the probability at the maximum"
            )
        if percent > 100:
            self._refuse(name, "max-drop-probability-percent", f"a probability of {percent} %", "0 to 100")
        weight = self._number(leaves, "weight", name) if "weight" in leaves else None
        if weight is None:
            self.document.remark(
                f"`{name}` has no weight: read as 0, though the default is that of the implementation",
                hint="write weight 0, so that marks follow the queue itself",
                line=line,
            )
        return Law(
            Action.MARK,
            Amount(Fraction(least), unit),
            Amount(Fraction(most), unit),
            Fraction(percent, 100),
            weight=weight,
            where=Where.UNKNOWN,
            source=self.document.source(line),
        )

    def _number(self, leaves: Mapping[str, Any], leaf: str, name: str) -> int:
        text = str(leaves[leaf]).strip()
        if not text.isdecimal():
            self._refuse(name, leaf, f"`{leaf}` of `{name}` is not a whole number", 'as in "64000"')
        return int(text)

    def _refuse(self, name: str, leaf: str, what: str, hint: str) -> NoReturn:
        self.document.refuse(self.file.line("queue-management-profiles", name, leaf), what, hint)

    def code_points(self, tree: Any) -> dict[str, tuple[int, ...]]:
        """The code points that classifiers lead to each queue, by its name.

        Those of IPv4 are read, or those of IPv6 if there are no such; where interfaces have some classifiers, only
        these count. A term leads to a forwarding group, and this to its output queue (openconfig-qos-elements.yang);
        the first that matches counts.
        """
        groups = _list(tree, "forwarding-groups", "forwarding-group")
        queue_of = {_name(group): str(_config(group).get("output-queue") or "") for group in groups}
        ports = _list(tree, "interfaces", "interface")
        applied = {_name(entry) for port in ports for entry in _list(port, "input", "classifiers", "classifier")}
        classifiers = _list(tree, "classifiers", "classifier")
        acting = [each for each in classifiers if not applied or _name(each) in applied]
        for version in ("ipv4", "ipv6"):
            maps = [
                self._map(each, queue_of) for each in acting if str(_config(each).get("type", "")).lower() == version
            ]
            if any(each != maps[0] for each in maps):
                line = self.file.line("classifiers", _name(acting[-1]))
                self.document.leave_undecided("a second classifier, of other ports,", line)
                return {}
            if maps:
                names = set(maps[0].values())
                return {name: tuple(sorted(point for point in maps[0] if maps[0][point] == name)) for name in names}
        return {}

    def _map(self, classifier: Mapping[str, Any], queue_of: Mapping[str, str]) -> dict[int, str]:
        """The queue of each code point that a classifier names."""
        points: dict[int, str] = {}
        name = _name(classifier)
        for term in _list(classifier, "terms", "term"):
            line = self.file.line("classifiers", name, "term", "conditions")
            conditions = [entry for _, entry in sorted(table(term, "conditions").items()) if entry]
            leaves = _config(next(iter(conditions), {}))
            several = leaves.get("dscp-set")
            given = [*(several if isinstance(several, list) else ()), leaves.get("dscp")]
            numbers = [int(str(point)) for point in given if str(point).isdecimal() and int(str(point)) <= LARGEST]
            if len(conditions) > 1 or not numbers or leaves.keys() - {"dscp", "dscp-set"}:
                self.document.leave_undecided(f"a condition of the classifier `{name}` that is no code point", line)
                continue
            group = str(_config(_inside(term, "actions")).get("target-group") or "")
            if group not in queue_of:
                what = f"the classifier `{name}` leads to the forwarding group `{group}`, which the file does not have,"
                self.document.leave_undecided(what, line)
                continue
            for point in numbers:
                points.setdefault(point, queue_of[group])
        return points

    def scheduler(self, tree: Any, queue: str) -> Scheduler | None:
        """How a queue is served, by the scheduler policy that has it as an input."""
        for policy in _list(tree, "scheduler-policies", "scheduler-policy"):
            for entry in _list(policy, "schedulers", "scheduler"):
                strict = str(_config(entry).get("priority", "")).endswith("STRICT")
                for given in _list(entry, "inputs", "input"):
                    config = _config(given)
                    if str(config.get("queue", "")) == queue:
                        text = str(config.get("weight", ""))
                        weight = int(text) if text.isdecimal() else None
                        if strict:
                            return Scheduler(Serving.STRICT, priority=weight)
                        return Scheduler(Serving.WEIGHTED, weight=weight)
        return None


def _schedulers(queues: Sequence[Queue]) -> list[dict[str, Any]]:
    """The schedulers of a policy (openconfig-qos.yang): one for each strict queue, then one for all weights."""
    served = [(queue, queue.scheduler) for queue in queues if queue.scheduler is not None]
    strict = [(queue, how) for queue, how in served if how.serving is Serving.STRICT]
    strict.sort(key=lambda pair: -(pair[1].priority or 0))
    groups = [[pair] for pair in strict]
    groups += [weighted] if (weighted := [pair for pair in served if pair[1].serving is Serving.WEIGHTED]) else []
    schedulers = []
    for sequence, group in enumerate(groups):
        config: dict[str, Any] = {"sequence": sequence}
        if group[0][1].serving is Serving.STRICT:
            config["priority"] = "STRICT"
        inputs = []
        for queue, how in group:
            number = how.priority if how.serving is Serving.STRICT else how.weight
            leaves = {"id": queue.name, "input-type": "QUEUE", "queue": queue.name}
            inputs.append({"id": queue.name, "config": leaves if number is None else {**leaves, "weight": str(number)}})
        schedulers.append({"sequence": sequence, "config": config, "inputs": {"input": inputs}})
    return schedulers


def _tree(content: Any) -> Any:
    """The tree below /qos: plain names, whatever encloses it; paths of gNMI are put together first."""
    content = _updates(content) or content
    content = _plain(_from_paths(content) if _has_paths(content) else content)
    for _ in range(3):
        if isinstance(content, Mapping) and "qos" in content:
            return content["qos"]
        if isinstance(content, Mapping) and len(content) == 1:
            content = next(iter(content.values()))
    return content


def _updates(content: Any) -> dict[str, Any]:
    """The values of the notifications that gnmic prints, by their paths; empty for another file."""
    notifications = content if isinstance(content, list) else [content]
    updates = [
        update
        for notification in notifications
        if isinstance(notification, Mapping) and isinstance(notification.get("updates"), list)
        for update in notification["updates"]
    ]
    values = [update["values"] for update in updates if isinstance(update, Mapping) and "values" in update]
    return {
        f"/{path.lstrip('/')}": value for each in values if isinstance(each, Mapping) for path, value in each.items()
    }


def _plain(content: Any) -> Any:
    """A tree without the prefixes of modules."""
    if isinstance(content, Mapping):
        return {str(name).rpartition(":")[2]: _plain(value) for name, value in content.items()}
    return [_plain(item) for item in content] if isinstance(content, list) else content


def _has_paths(content: Any) -> bool:
    return isinstance(content, Mapping) and any(str(name).startswith("/") for name in content)


def _from_paths(content: Mapping[str, Any]) -> dict[str, Any]:
    """A tree from paths such as ``/qos/.../queue-management-profile[name=X]/wred/uniform/config/drop``."""
    root: dict[str, Any] = {}
    for path, value in content.items():
        at: Any = root
        parts = [
            (name.rpartition(":")[2], key, chosen)
            for name, key, chosen in re.findall(r"([^/\[\]]+)(?:\[([^=\]]+)=([^\]]*)\])?", path)
        ]
        for position, (name, key, chosen) in enumerate(parts):
            last = position == len(parts) - 1
            if key:
                entries = at.setdefault(name, [])
                entry = next((candidate for candidate in entries if candidate.get(key) == chosen), None)
                if entry is None:
                    entry = {key: chosen}
                    entries.append(entry)
                at = entry
                if last and isinstance(value, Mapping):
                    at.update(value)
            elif last and isinstance(value, Mapping) and isinstance(at.get(name), dict):
                at[name] |= value
            elif last:
                at[name] = dict(value) if isinstance(value, Mapping) else value
            else:
                at = at.setdefault(name, {})
    return root


def _inside(entry: Any, *names: str) -> Any:
    for name in names:
        entry = entry.get(name, {}) if isinstance(entry, Mapping) else {}
    return entry


def _config(entry: Any) -> Mapping[str, Any]:
    """What an entry is configured as; telemetry has what it is (``state``) instead."""
    return next(
        (leaves for kind in ("config", "state") if isinstance(leaves := _inside(entry, kind), Mapping) and leaves), {}
    )


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or _config(entry).get("name") or "")


def _list(tree: Any, *names: str) -> Iterator[Mapping[str, Any]]:
    entries = _inside(tree, *names)
    yield from (entry for entry in (entries if isinstance(entries, list) else []) if isinstance(entry, Mapping))


def _leaves(queue: Queue, writing: _Writing) -> dict[str, Any] | None:
    refusals = Refusals(queue, "OpenConfig")
    needs_thresholds(queue, refusals)
    needs_drops_alike(queue, refusals)
    mark, drop = queue.mark, queue.drop
    common = mark or drop
    leaves: dict[str, Any] | None = None
    if common is not None:
        if mark is not None and drop is not None and not drop.same_curve(mark):
            refusals.add(
                "ECT packets and others have different laws, and a profile has one",
                "--platform nxos --nxos-non-ecn or --platform eos, which have two",
            )
        law = fitted(common, writing, queue, refusals, _units)
        leaves = {
            "min-threshold": str(law.min.number),
            "max-threshold": str(law.max.number),
            "enable-ecn": mark is not None,
            "drop": drop is not None,
            "max-drop-probability-percent": percent(law, refusals),
        }
        if (weight := weight_of(law, writing, refusals)) is not None:
            leaves["weight"] = weight
        writing.remark(queue, "where marks are decided is not part of the model: the device decides")
    refusals.settle()
    return leaves
