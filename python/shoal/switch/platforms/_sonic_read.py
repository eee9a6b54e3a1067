"""Reads the tables of SONiC's CONFIG_DB that are about queues; all other tables are passed over and never copied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

from shoal.models import nearest
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Buffer, Law, Queue, Scheduler, Serving, Shaping
from shoal.switch.platforms import _sonic_fields as fields
from shoal.switch.reading import Document, JsonFile, table


def queues(document: Document) -> list[Queue]:
    """The queues of a file, and the profiles that no queue has.

    Raises
    ------
    ScenarioError
        It is a template or no JSON, or a profile contradicts itself or has a field that orchagent does not know.
    """
    file = JsonFile(document)
    if not isinstance(file.content, Mapping):
        document.refuse(1, "CONFIG_DB is an object of tables", "is this the right file?")
    file.say_repeated(lambda name: name in (*fields.TABLES, *fields.MAPS))
    queues = _Reader(document, file).queues()
    if not queues:
        document.refuse(
            1, "no WRED_PROFILE and no QUEUE in this file", "give the file that has them: qos.json or config_db.json",
        )  # fmt: skip
    return queues


_Laws = tuple[Law | None, Law | None, Law | None]


class _Profile:
    """An entry of WRED_PROFILE, read for the colour of ordinary packets."""

    def __init__(self, document: Document, file: JsonFile, name: str, entry: Any) -> None:
        self.document, self.file, self.name = document, file, name
        self.colour = document.switch.colour
        self.line = file.line("WRED_PROFILE", name)
        if not isinstance(entry, Mapping):
            document.refuse(self.line, f"the profile `{name}` is not an object", "give its fields")
        self.values = {key: str(value).strip() for key, value in entry.items()}
        for key in self.values:
            if key not in fields.PROFILE_FIELDS:
                what = f"`{key}` is not a field of WRED_PROFILE: orchagent rejects the whole profile `{name}`"
                self.refuse(key, what, nearest(key, fields.PROFILE_FIELDS))

    def refuse(self, key: str, what: str, hint: str) -> NoReturn:
        """Refuse a field."""
        self.document.refuse(self.file.line("WRED_PROFILE", self.name, key), what, hint)

    def laws(self) -> _Laws:
        """What marks, what drops others, and what drops ECT packets."""
        ecn = self.values.get("ecn", "ecn_none")
        if ecn not in fields.ECN_MODES:
            self.refuse("ecn", f"`{ecn}` is not a mode of ECN", nearest(ecn, list(fields.ECN_MODES)))
        self.compare_colours()
        marks, drops = self.colour in fields.ECN_MODES[ecn], self.is_enabled()
        drop = self.law(Action.DROP, self.values) if marks or drops else None
        mark = self.ect_law() if marks else None
        if marks and not drops:
            self.document.remark(
                f"`{self.name}` marks without dropping (`{fields.ENABLE.format(self.colour)}` is not true): some SAIs "
                "do not mark then either (sonic-buildimage#4545)",
                hint="look at the counter of marked packets on the device",
                line=self.line,
            )
        return mark, drop if drops else None, drop if drops and not marks else None

    def is_enabled(self) -> bool:
        key = fields.ENABLE.format(self.colour)
        value = self.values.get(key, "false")
        if value not in ("true", "false"):
            self.refuse(key, f"`{key}` is neither true nor false", 'write "true" or "false", in lower case')
        return value == "true"

    def ect_law(self) -> Law:
        """The law of ECT packets; what thresholds of ECT packets alone leave out is that of all packets."""
        pairs = {fields.ECT_MIN: fields.MIN, fields.ECT_MAX: fields.MAX, fields.ECT_PROBABILITY: fields.PROBABILITY}
        keys = {ect.format(self.colour): common.format(self.colour) for ect, common in pairs.items()}
        merged = self.values | {common: self.values[ect] for ect, common in keys.items() if ect in self.values}
        if not keys.keys().isdisjoint(self.values):
            self.document.remark(
                f"`{self.name}` has thresholds for ECT packets alone, which no released SONiC knows (sonic-swss#4718)",
                hint="a device with a released SONiC rejects the profile",
                line=self.line,
            )
        return self.law(Action.MARK, merged)

    def law(self, action: Action, values: Mapping[str, str]) -> Law:
        lowest, highest, chance = (
            pattern.format(self.colour) for pattern in (fields.MIN, fields.MAX, fields.PROBABILITY)
        )
        for key in (lowest, highest):
            if key not in values:
                self.document.refuse(
                    self.line,
                    f"the profile `{self.name}` acts on this colour and has no `{key}`",
                    "give both thresholds; without one the device takes the largest buffer",
                )
        least, most = self.number(values[lowest], lowest), self.number(values[highest], highest)
        if least > most:
            what = f"`{self.name}`: the minimum of {least} bytes is above the maximum of {most} bytes"
            self.refuse(lowest, what, "orchagent refuses this; swap or correct them")
        percent = self.number(values.get(chance, "100"), chance)
        if percent > 100:
            what = f"`{self.name}`: a probability of {percent} %"
            self.refuse(chance, what, "write a whole number from 0 to 100")
        where, source = self.document.switch.where, self.document.source(self.line)
        ends = whole_bytes(least), whole_bytes(most)
        return Law(action, *ends, Fraction(percent, 100), weight=0, where=where, source=source)

    def number(self, text: str, key: str) -> int:
        if not re.fullmatch(r"[0-9]+", text):
            what = f"`{key}` of `{self.name}` is not a whole number"
            self.refuse(key, what, 'write digits in quotes, as in "98304"')
        value = int(text)
        if value > fields.LARGEST_THRESHOLD:
            self.document.remark(
                f"`{key}` of `{self.name}` is beyond 2^31 - 1, where orchagent's conversion fails",
                hint="write less than 2 GiB",
                line=self.file.line("WRED_PROFILE", self.name, key),
            )
        return value

    def compare_colours(self) -> None:
        """Say when the colours have different laws: nothing in these tables makes packets yellow or red."""
        patterns = (fields.MIN, fields.MAX, fields.PROBABILITY)
        laws = {tuple(self.values.get(pattern.format(colour)) for pattern in patterns) for colour in fields.COLOURS}
        if len(laws - {(None, None, None)}) > 1:
            self.document.remark(
                f"the colours of `{self.name}` have different laws; {self.colour} is read",
                hint="no rule of these tables colours packets (sonic-buildimage#7773); Broadcom DNX applies red: "
                "--switch broadcom-dnx",
                line=self.line,
            )


class _Reader:
    def __init__(self, document: Document, file: JsonFile) -> None:
        self.document = document
        self.file = file
        self.tables: dict[str, dict[str, Any]] = {
            name: table(file.content, name) for name in (*fields.TABLES, *fields.MAPS)
        }

    def queues(self) -> list[Queue]:
        profiles = {
            name: _Profile(self.document, self.file, name, entry).laws()
            for name, entry in self.tables["WRED_PROFILE"].items()
        }
        ports_of: dict[tuple[int, str, str, str], list[str]] = {}
        line_of: dict[tuple[int, str, str, str], int] = {}
        for key, entry in self.tables["QUEUE"].items():
            line = self.file.line("QUEUE", key)
            if not isinstance(entry, Mapping):
                self.document.refuse(line, f"the entry `{key}` is not an object", 'as in {"wred_profile": "NAME"}')
            for name in entry:
                if name not in fields.QUEUE_FIELDS:
                    self.document.remark(
                        f"`{name}` is not a field of QUEUE", hint=nearest(name, fields.QUEUE_FIELDS), line=line
                    )
            for port, index in self.places(key, line):
                buffer = self.buffer_name(port, index)
                state = (index, _name(entry.get("wred_profile")), _name(entry.get("scheduler")), buffer)
                ports_of.setdefault(state, []).append(port)
                line_of.setdefault(state, line)
        queues = []
        for state, ports in sorted(ports_of.items()):
            index, wred, scheduler, buffer = state
            alone = sum(other[0] == index for other in ports_of) == 1
            serving, shaping = self.scheduler(scheduler)
            queue = Queue(
                name=str(index) if alone else f"{index}@{ports[0]}",
                index=index,
                ports=tuple(ports),
                scheduler=serving,
                shaping=shaping,
                buffer=self.buffer(buffer),
                dscp=self.code_points(ports[0], index),
                profile=wred,
                source=self.document.source(line_of[state]),
            )
            queues.append(self.with_laws(queue, wred, profiles, line_of[state]))
        bound = {queue.profile for queue in queues}
        for name in profiles:
            if name not in bound:
                line = self.file.line("WRED_PROFILE", name)
                if self.tables["QUEUE"]:
                    self.document.remark(
                        f"no queue has the profile `{name}`", hint="name it in QUEUE, or remove it", line=line
                    )
                queue = Queue(name=name, profile=name, source=self.document.source(line))
                queues.append(self.with_laws(queue, name, profiles, line))
        return queues

    def with_laws(self, queue: Queue, name: str, profiles: Mapping[str, _Laws], line: int) -> Queue:
        """The queue with the laws of its profile, and whether it pauses instead of dropping."""
        if name and name not in profiles:
            self.document.refuse(
                line,
                f"there is no WRED_PROFILE `{name}`",
                "name one that the file has, or add its table",
            )
        if queue.index is not None and self.is_lossless(queue.ports, queue.index):
            self.document.remark(
                "priority flow control is on: senders are paused before packets are dropped",
                hint="the scenario drops what does not fit",
                queue=queue.name,
            )
        if not name:
            return queue
        laws = profiles[name]
        pool = queue.buffer.pool_bytes if queue.buffer else None
        if pool is not None and any(law and law.min.number >= pool for law in laws):
            self.document.remark(
                f"the thresholds of `{name}` are as large as the pool of {pool} bytes, so it never acts",
                queue=queue.name,
            )
            return queue
        return replace(queue, mark=laws[0], drop=laws[1], drop_ect=laws[2])

    def places(self, key: str, line: int) -> Iterator[tuple[str, int]]:
        """Ports and indices of a key such as ``Ethernet0|3-4`` or ``host|asic0|Ethernet0|3``."""
        *names, last = key.split("|")
        indices = re.fullmatch(r"\s*([0-9]+)(?:-([0-9]+))?\s*", last)
        if not names or indices is None:
            self.document.refuse(
                line,
                f"`{key}` is not a key of QUEUE",
                "as in Ethernet0|3 or Ethernet0|3-4",
            )
        first, end = int(indices[1]), int(indices[2] or indices[1])
        if end < first or end > 63:
            self.document.refuse(line, f"`{key}` has no such queues", "as in Ethernet0|3-4")
        for port in "|".join(names).split(","):
            for index in range(first, end + 1):
                yield port.strip(), index

    def scheduler(self, name: str) -> tuple[Scheduler | None, Shaping | None]:
        entry = table(self.tables["SCHEDULER"], name)
        if not entry:
            return None, None
        line = self.file.line("SCHEDULER", name)
        kind = str(entry.get("type", "WRR")).strip().upper()
        if kind not in ("DWRR", "WRR", "STRICT"):
            self.document.refuse(line, f"`{kind}` is not a scheduler", "write DWRR, WRR or STRICT")
        numbers = {key: self._scheduler_number(entry, key, name) for key in ("weight", "pir", "pbs")}
        serving = (
            Scheduler(Serving.STRICT)
            if kind == "STRICT"
            else Scheduler(Serving.WEIGHTED, weight=1 if numbers["weight"] is None else numbers["weight"])
        )
        if numbers["pir"] and str(entry.get("meter_type", "bytes")).strip() == "bytes":
            # pir counts bytes a second.
            return serving, Shaping(8 * numbers["pir"], numbers["pbs"])
        return serving, None

    def _scheduler_number(self, entry: Mapping[str, Any], key: str, name: str) -> int | None:
        text = str(entry.get(key, "")).strip()
        if text and not text.isdecimal():
            self.document.refuse(
                self.file.line("SCHEDULER", name, key), f"`{key}` is not a whole number", 'as in "1250000000"'
            )
        return int(text) if text else None

    def buffer_name(self, port: str, index: int) -> str:
        for key, entry in self.tables["BUFFER_QUEUE"].items():
            line = self.file.line("BUFFER_QUEUE", key)
            if (port, index) in set(self.places(key, line)) and isinstance(entry, Mapping):
                return _name(entry.get("profile"))
        return ""

    def buffer(self, name: str) -> Buffer | None:
        entry = table(self.tables["BUFFER_PROFILE"], name)
        if not entry:
            return None
        line = self.file.line("BUFFER_PROFILE", name)
        pool_name = _name(entry.get("pool"))
        pool = table(self.tables["BUFFER_POOL"], pool_name)
        numbers = {}
        for key, content in (("size", entry), ("static_th", entry), ("dynamic_th", entry), ("pool", pool)):
            text = str(content.get("size" if key == "pool" else key, "")).strip()
            if text and not re.fullmatch(r"-?[0-9]+", text):
                self.document.refuse(line, f"`{key}` of `{name}` is not a whole number", 'as in "-2"')
            numbers[key] = int(text) if text else None
        fixed, dynamic = numbers["static_th"], numbers["dynamic_th"]
        if fixed is not None and dynamic is not None:
            self.document.refuse(
                line,
                f"`{name}` has static_th and dynamic_th",
                "give one of them: a profile has one limit",
            )
        return Buffer(
            reserved_bytes=numbers["size"] or 0,
            # A static threshold of 0 is none.
            limit=whole_bytes(fixed) if fixed else None,
            alpha=None if dynamic is None else Fraction(2) ** dynamic,
            pool_bytes=numbers["pool"],
            pool=pool_name,
            profile=name,
        )

    def code_points(self, port: str, index: int) -> tuple[int, ...]:
        """DSCPs that end in a queue of a port."""
        maps = self._maps(port)
        to_class = table(self.tables["DSCP_TO_TC_MAP"], _name(maps.get("dscp_to_tc_map")))
        to_queue = table(self.tables["TC_TO_QUEUE_MAP"], _name(maps.get("tc_to_queue_map")))
        points = [
            int(dscp)
            for dscp, traffic_class in to_class.items()
            if str(dscp).isdecimal() and str(to_queue.get(str(traffic_class), "")) == str(index)
        ]
        return tuple(sorted(points))

    def is_lossless(self, ports: tuple[str, ...], index: int) -> bool:
        """Whether the queue belongs to a priority that pauses; priority and queue are taken to have the same number."""
        enabled = str(self._maps(ports[0]).get("pfc_enable", "")) if ports else ""
        return str(index) in [part.strip() for part in enabled.split(",")]

    def _maps(self, port: str) -> dict[str, Any]:
        for key, entry in self.tables["PORT_QOS_MAP"].items():
            if isinstance(entry, Mapping) and (key == "global" or port in key.split(",")):
                return dict(entry)
        return {}


def _name(reference: Any) -> str:
    """The name in a reference: older files write ``[WRED_PROFILE|NAME]``."""
    text = str(reference or "").strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].rpartition("|")[2]
    return text
