"""Reads the tables of SONiC's CONFIG_DB that are about queues; all other tables are passed over and never copied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn, Protocol

from shoal.models import nearest
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Buffer, Law, Queue, Scheduler, Serving, Shaping
from shoal.switch.platforms import _sonic_fields as fields
from shoal.switch.platforms._sonic_tables import Tables
from shoal.switch.presets import COLOURS, Switch, find_switch
from shoal.switch.reading import Document, say_paused, say_speeds, table


def queues(document: Document) -> list[Queue]:
    """The queues of a file, and the profiles that no queue has.

    Raises
    ------
    ScenarioError
        It is a template or no JSON, or a profile contradicts itself or has a field that orchagent does not know.
    """
    tables = Tables(document)
    queues = _Reader(_of_device(document, tables), tables).queues()
    if not queues:
        document.refuse(
            1, "no WRED_PROFILE and no QUEUE in this file", "give the file that has them: qos.json or config_db.json",
        )  # fmt: skip
    return queues


def _of_device(document: Document, tables: Tables) -> Document:
    """The document, with what its own word for the kind of switch says if the command line names none.

    A switch whose ports queue at their input (``voq``) is a Broadcom DNX, unless it says that it is another maker's.
    """
    device = table(tables["DEVICE_METADATA"], "localhost")
    makers = " ".join(_text(device.get(key, "")) for key in ("hwsku", "platform", "asic_type")).lower()
    is_other = any(maker in makers for maker in ("cisco", "8000", "nokia-ixr7250e-sup"))
    if _text(device.get("switch_type", "")) != "voq" or document.switch.name or is_other:
        return document
    line = tables.line("DEVICE_METADATA", "localhost", "switch_type")
    named = find_switch("broadcom-dnx")
    document.remark(
        f"`switch_type` is voq: read as {named.title}, whose {named.colour} profile applies and which decides at "
        f"{named.where.value}",
        hint="--switch names another device, --colour another colour",
        line=line,
    )
    colour = document.switch.colour if document.switch.colour != Switch().colour else named.colour
    return replace(document, switch=replace(named, colour=colour))


_Laws = tuple[Law | None, Law | None, Law | None]
# Several ports in a key; only commas separate them (tokenize in handleQueueTable of orchagent/qosorch.cpp and in
# processQueue of bufferorch.cpp), so that a range is the name of a port that there is not.
_ports = re.compile(r"([A-Za-z]+)([0-9]+)-(?:\1)?([0-9]+)")
# SAI (inc/saiwred.h): a threshold of 0 is the size of the largest buffer.
_largest_buffer = "a threshold of 0 stands for the largest buffer, whose size the configuration does not have"


def stated_rates_bps(tables: Tables) -> set[int]:
    """The speeds of the ports that have queues; the table has Mbit/s."""
    with_queues = {port.strip() for key in tables["QUEUE"] for port in key.rpartition("|")[0].split(",")}
    ports = tables["PORT"]
    speeds = {name: _text(table(ports, name).get("speed", "")) for name in ports}
    return {10**6 * int(text) for name, text in speeds.items() if name in with_queues and text.isdecimal()}


class Lines(Protocol):
    """What knows where the fields of tables stand."""

    def line(self, name: str, key: str, /, *members: str) -> int:
        """The line of an entry of a table, or of a field of it."""


class Profile:
    """An entry of WRED_PROFILE, read for the colour of ordinary packets."""

    def __init__(self, document: Document, tables: Lines, name: str, entry: Any) -> None:
        self.document, self.tables, self.name = document, tables, name
        self.colour = document.switch.colour
        # Why there is no law although the profile acts; empty if there is one, or none at all.
        self.unknown = ""
        # Whether it says what becomes of packets that are not ECT; commands may leave that to what a device has.
        self.not_ect_known = True
        self.line = tables.line("WRED_PROFILE", name)
        if not isinstance(entry, Mapping):
            document.refuse(self.line, f"the profile `{name}` is not an object", "give its fields")
        self.values = {key: _text(value) for key, value in entry.items()}
        for key in self.values:
            if key not in fields.PROFILE_FIELDS:
                what = f"`{key}` is not a field of WRED_PROFILE: orchagent rejects the whole profile `{name}`"
                self.refuse(key, what, nearest(key, fields.PROFILE_FIELDS))

    def refuse(self, key: str, what: str, hint: str) -> NoReturn:
        """Refuse a field."""
        self.document.refuse(self.tables.line("WRED_PROFILE", self.name, key), what, hint)

    def laws(self) -> _Laws:
        """What marks, what drops others, and what drops ECT packets."""
        ecn = self.values.get("ecn", "ecn_none")
        if ecn not in fields.ECN_MODES:
            self.refuse("ecn", f"`{ecn}` is not a mode of ECN", nearest(ecn, list(fields.ECN_MODES)))
        self.compare_colours()
        marks, drops = self.colour in fields.ECN_MODES[ecn], self.is_enabled(self.colour)
        if (marks or drops) and self.never_acts():
            return None, None, None
        drop = self.law(Action.DROP, self.values) if marks or drops else None
        mark = self.ect_law() if marks else None
        if marks and not drops and isinstance(self.tables, Tables) and self.tables.is_partial:
            self.not_ect_known = fields.ENABLE.format(self.colour) in self.values
        if not self.not_ect_known:
            self.document.remark(
                f"no command sets `{fields.ENABLE.format(self.colour)}` of `{self.name}`: whether packets that are not "
                "ECT are dropped by its law is not in this file",
                hint="simulate both: --not-ect drop and --not-ect pass",
                line=self.line,
            )
        if marks and not drops and self.not_ect_known:
            self.document.remark(
                f"`{self.name}` marks without dropping (`{fields.ENABLE.format(self.colour)}` is not true): some SAIs "
                "do not mark then either (sonic-buildimage#4545)",
                hint="look at the counter of marked packets on the device",
                line=self.line,
            )
        return mark, drop if drops else None, drop if drops and not marks else None

    def never_acts(self) -> bool:
        """Whether the thresholds are 0, or none is written: the law begins where nothing fits any more.

        One of them alone has no number.
        """
        ends = [self.values.get(pattern.format(self.colour)) for pattern in (fields.MIN, fields.MAX)]
        if ends == [None, None]:
            others = [colour for colour in COLOURS if fields.MIN.format(colour) in self.values]
            self.document.remark(
                f"`{self.name}` has no thresholds for {self.colour} packets: the device takes the largest buffer, so "
                "it never acts on them",
                hint=f"--colour {others[0]} reads those for {others[0]} ones" if others else "write both thresholds",
                line=self.line,
            )
            return True
        zeros = [end is not None and end.isdecimal() and int(end) == 0 for end in ends]
        if any(zeros):
            self.unknown = "" if all(zeros) else _largest_buffer
            text = "thresholds of 0 stand for the largest buffer, so it never acts" if all(zeros) else _largest_buffer
            self.document.remark(f"`{self.name}`: {text}", hint="write both thresholds", line=self.line)
        return any(zeros)

    def is_enabled(self, colour: str) -> bool:
        key = fields.ENABLE.format(colour)
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
        if chance not in values and least < most:
            self.document.remark(
                f"`{self.name}` has no `{chance}`: orchagent takes 100 %", hint="write it", line=self.line
            )
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
                line=self.tables.line("WRED_PROFILE", self.name, key),
            )
        return value

    def compare_colours(self) -> None:
        """Say when the colours have different laws: nothing in these tables makes packets yellow or red."""
        patterns = (fields.MIN, fields.MAX, fields.PROBABILITY)
        laws = {tuple(self.values.get(pattern.format(colour)) for pattern in patterns) for colour in COLOURS}
        if len(laws - {(None, None, None)}) > 1:
            self.document.remark(
                f"the colours of `{self.name}` have different laws; {self.colour} is read",
                hint="no rule of these tables colours packets (sonic-buildimage#7773); Broadcom DNX applies red: "
                "--switch broadcom-dnx; --colour reads another",
                line=self.line,
            )
        marked = fields.ECN_MODES[self.values.get("ecn", "ecn_none")]
        acting = [colour for colour in COLOURS if colour in marked or self.is_enabled(colour)]
        if acting and self.colour not in acting:
            self.document.remark(
                f"`{self.name}` acts on {' and '.join(acting)} packets, not on {self.colour} ones, which are read",
                hint=f"--colour {acting[0]} reads what it does",
                line=self.line,
            )


@dataclass(frozen=True, order=True, slots=True)
class _State:
    """What a queue is: ports whose queues of a number agree in it are named together."""

    index: int
    profile: str
    scheduler: str
    buffer: str
    dscp: tuple[int, ...]
    is_lossless: bool


class _Reader:
    def __init__(self, document: Document, tables: Tables) -> None:
        self.document = document
        self.tables = tables
        self._code_points: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {}

    def queues(self) -> list[Queue]:
        profiles = {}
        for name, entry in self.tables["WRED_PROFILE"].items():
            profile = Profile(self.document, self.tables, name, entry)
            profiles[name] = profile.laws(), profile
        say_speeds(self.document, stated_rates_bps(self.tables))
        self.leave_undecided()
        ports_of: dict[_State, list[str]] = {}
        line_of: dict[_State, int] = {}
        for key, entry in self.tables["QUEUE"].items():
            line = self.tables.line("QUEUE", key)
            if not isinstance(entry, Mapping):
                self.document.refuse(line, f"the entry `{key}` is not an object", 'as in {"wred_profile": "NAME"}')
            for name in entry:
                if name not in fields.QUEUE_FIELDS:
                    self.document.remark(
                        f"`{name}` is not a field of QUEUE", hint=nearest(name, fields.QUEUE_FIELDS), line=line
                    )
            for port, index in self.places(key, "QUEUE"):
                state = self.state(port, index, entry)
                ports_of.setdefault(state, []).append(port)
                line_of.setdefault(state, line)
        queues = []
        for state, ports in sorted(ports_of.items()):
            alone = sum(other.index == state.index for other in ports_of) == 1
            serving, shaping = self.scheduler(state.scheduler)
            queue = Queue(
                name=str(state.index) if alone else f"{state.index}@{ports[0]}",
                index=state.index,
                ports=tuple(ports),
                scheduler=serving,
                shaping=shaping,
                buffer=self.buffer(state.buffer),
                dscp=state.dscp,
                profile=state.profile,
                source=self.document.source(line_of[state]),
            )
            if state.is_lossless:
                say_paused(self.document, queue)
            queues.append(self.with_laws(queue, state.profile, profiles, line_of[state]))
        bound = {queue.profile for queue in queues}
        for name in profiles:
            if name not in bound:
                line = self.tables.line("WRED_PROFILE", name)
                if self.tables["QUEUE"]:
                    self.document.remark(
                        f"no queue has the profile `{name}`", hint="name it in QUEUE, or remove it", line=line
                    )
                queue = Queue(name=name, profile=name, source=self.document.source(line))
                queues.append(self.with_laws(queue, name, profiles, line))
        return queues

    def with_laws(self, queue: Queue, name: str, profiles: Mapping[str, tuple[_Laws, Profile]], line: int) -> Queue:
        """The queue with the laws of its profile."""
        if name and name not in profiles:
            self.document.refuse(
                line,
                f"there is no WRED_PROFILE `{name}`",
                "name one that the file has, or add its table",
            )
        if not name:
            return queue
        laws, profile = profiles[name]
        pool = queue.buffer.pool_bytes if queue.buffer else None
        if pool is not None and any(law and law.min.number >= pool for law in laws):
            self.document.remark(
                f"the thresholds of `{name}` are as large as the pool of {pool} bytes, so it never acts",
                queue=queue.name,
            )
            return queue
        mark, drop, drop_ect = laws
        known, unknown = profile.not_ect_known, profile.unknown
        return replace(queue, mark=mark, drop=drop, drop_ect=drop_ect, not_ect_known=known, unknown=unknown)

    def places(self, key: str, table_name: str) -> Iterator[tuple[str, int]]:
        """Ports and indices of a key such as ``Ethernet0|3-4`` or ``host|asic0|Ethernet0|3``."""
        *names, last = key.split("|")
        indices = re.fullmatch(r"\s*([0-9]+)(?:-([0-9]+))?\s*", last)
        if not names or indices is None:
            what, hint = f"`{key}` is not a key of {table_name}", "as in Ethernet0|3 or Ethernet0|3-4"
            self.document.refuse(self.tables.line(table_name, key), what, hint)
        first, end = int(indices[1]), int(indices[2] or indices[1])
        if end < first or end > 63:
            line = self.tables.line(table_name, key)
            self.document.refuse(line, f"`{key}` has no such queues", "as in Ethernet0|3-4")
        for port in self.ports("|".join(names), key, table_name):
            for index in range(first, end + 1):
                yield port, index

    def ports(self, text: str, key: str, table_name: str) -> Iterator[str]:
        """The ports of a list with commas, which is a key or the first part of one."""
        for port in map(str.strip, text.split(",")):
            if (several := _ports.fullmatch(port)) is not None and port not in self.tables["PORT"]:
                self.refuse_range(key, table_name, several)
            yield port

    def refuse_range(self, key: str, table_name: str, several: re.Match[str]) -> NoReturn:
        """Refuse a range of ports, with those of the file that are in it."""
        start, least, most = several[1], int(several[2]), int(several[3])
        numbers = [name.removeprefix(start) for name in self.tables["PORT"] if name.startswith(start)]
        inside = [int(number) for number in numbers if number.isdecimal() and least <= int(number) <= most]
        written = ",".join(f"{start}{number}" for number in sorted(inside)) or f"{start}{least},...,{start}{most}"
        self.document.refuse(
            self.tables.line(table_name, key),
            f"`{several[0]}` is a range of ports, which orchagent takes for the name of one that there is not",
            f"write the ports with commas, as in {written}{''.join(key.rpartition('|')[1:]) if '|' in key else ''}",
        )

    def scheduler(self, name: str) -> tuple[Scheduler | None, Shaping | None]:
        entry = table(self.tables["SCHEDULER"], name)
        if not entry:
            if name and name not in self.tables["SCHEDULER"]:
                text = f"there is no SCHEDULER `{name}` in this file: how its queues are served is not known"
                self.document.remark(text, hint="add its table")
            return None, None
        line = self.tables.line("SCHEDULER", name)
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
                self.tables.line("SCHEDULER", name, key), f"`{key}` is not a whole number", 'as in "1250000000"'
            )
        return int(text) if text else None

    def buffer_name(self, port: str, index: int) -> str:
        """The buffer profile of a queue; empty if it has none."""
        return self._buffer_names.get((port, index), "")

    @cached_property
    def _buffer_names(self) -> dict[tuple[str, int], str]:
        names: dict[tuple[str, int], str] = {}
        for key, entry in self.tables["BUFFER_QUEUE"].items():
            if isinstance(entry, Mapping):
                for queue in self.places(key, "BUFFER_QUEUE"):
                    names.setdefault(queue, _name(entry.get("profile")))
        return names

    def buffer(self, name: str) -> Buffer | None:
        entry = table(self.tables["BUFFER_PROFILE"], name)
        if not entry:
            return None
        line = self.tables.line("BUFFER_PROFILE", name)
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

    def leave_undecided(self) -> None:
        """Say where 802.1p priorities lead to queues; where a port has both, code points decide about IP packets."""
        for name, entry in self.tables["PORT_QOS_MAP"].items():
            if isinstance(entry, Mapping) and "dot1p_to_tc_map" in entry and "dscp_to_tc_map" not in entry:
                self.document.leave_undecided("`dot1p_to_tc_map`", self.tables.line("PORT_QOS_MAP", name))

    def state(self, port: str, index: int, entry: Mapping[str, Any]) -> _State:
        """What a queue of a port is; priority and queue are taken to have the same number."""
        maps = self._maps(port)
        names = (_name(maps.get("dscp_to_tc_map")), _name(maps.get("tc_to_queue_map")))
        if names not in self._code_points:
            self._code_points[names] = self.code_points(*names)
        paused = [part.strip() for part in str(maps.get("pfc_enable", "")).split(",")]
        return _State(
            index,
            _name(entry.get("wred_profile")),
            _name(entry.get("scheduler")),
            self.buffer_name(port, index),
            self._code_points[names].get(str(index), ()),
            str(index) in paused,
        )

    def code_points(self, to_class: str, to_queue: str) -> dict[str, tuple[int, ...]]:
        """The code points that two maps lead to each queue, by its number."""
        classes, queues = (
            table(self.tables["DSCP_TO_TC_MAP"], to_class),
            table(self.tables["TC_TO_QUEUE_MAP"], to_queue),
        )
        points: dict[str, list[int]] = {}
        for dscp, traffic_class in classes.items():
            if str(dscp).isdecimal() and str(traffic_class) in queues:
                points.setdefault(str(queues[str(traffic_class)]), []).append(int(dscp))
        return {queue: tuple(sorted(column)) for queue, column in points.items()}

    def _maps(self, port: str) -> dict[str, Any]:
        """The maps of a port: its own entry, else that of all ports."""
        return self._maps_of_ports.get(port) or self._maps_of_ports.get("global", {})

    @cached_property
    def _maps_of_ports(self) -> dict[str, dict[str, Any]]:
        entries = self.tables["PORT_QOS_MAP"].items()
        return {
            port: dict(entry)
            for key, entry in entries
            if isinstance(entry, Mapping)
            for port in self.ports(key, key, "PORT_QOS_MAP")
        }


def _text(value: Any) -> str:
    """The text of a field; JSON's own true and false are those of the database."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _name(reference: Any) -> str:
    """The name in a reference: older files write ``[WRED_PROFILE|NAME]``."""
    text = str(reference or "").strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].rpartition("|")[2]
    return text
