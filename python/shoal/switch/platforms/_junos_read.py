"""Classes of service of Junos as queues: schedulers with their drop profiles, and what leads packets to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import NoReturn

from shoal.models import nearest
from shoal.switch.amounts import Amount, Unit
from shoal.switch.model import Action, Buffer, Law, Line, Queue, Scheduler, Serving, Shaping
from shoal.switch.platforms._junos_classifiers import Classifiers
from shoal.switch.platforms._junos_profiles import DropProfile
from shoal.switch.platforms._junos_text import COS, junos_statements
from shoal.switch.reading import Document, Statement, say_paused, say_speeds
from shoal.switch.words import Words

_example = "set class-of-service schedulers s1 drop-profile-map loss-priority any protocol any drop-profile dp1"
_units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_losses = ("low", "medium-low", "medium-high", "high")
_strict = ("strict-high", "low-latency")
_priorities = ("low", "medium-low", "medium-high", "high", *_strict)
# Queues of forwarding classes that need no statement; those of others differ between devices.
_usual_queues = {"best-effort": 0, "fcoe": 3, "no-loss": 4, "mcast": 8}
# What schedulers, interfaces and profiles of them have that is of no weight here.
_passed_of_schedulers = ("excess-rate", "excess-priority", "adjust-minimum", "adjust-percent", "apply-macro")
_passed_of_interfaces = (
    *(
        "rewrite-rules",
        "congestion-notification-profile",
        "exclude-queue-overhead-bytes",
        "apply-macro",
        "member-link-scheduler",
    ),
    *(
        "description",
        "logical-interface-aggregate-statistics",
        "scheduler-map-chassis",
        "input-scheduler-map",
        "input-shaping-rate",
    ),
    *("input-traffic-control-profile", "irb", "multi-destination", "host-outbound-traffic"),
)


@dataclass
class _Rate:
    """A rate as written: in bit/s, or in percent of the port."""

    bps: int | None = None
    percent: int | None = None

    def at(self, port_bps: int) -> int:
        """In bit/s, at a port."""
        return self.bps if self.bps is not None else port_bps * (self.percent or 0) // 100

    def percent_of(self, port_bps: int) -> Fraction:
        """In percent of a port."""
        return Fraction(self.percent) if self.percent is not None else Fraction(100 * (self.bps or 0), port_bps)


@dataclass
class _Scheduler:
    line: int
    transmit: _Rate | None = None
    is_remainder: bool = False
    is_exact: bool = False
    priority: str = "low"
    shaping: _Rate | None = None
    temporal_us: int | None = None
    has_ecn: bool = False
    # The drop profile of each loss priority and protocol.
    profiles: dict[tuple[str, str], tuple[str, Statement]] = field(default_factory=dict)


@dataclass
class _ControlProfile:
    map_name: str = ""
    shaping: _Rate | None = None
    statement: Statement | None = None


@dataclass
class _Port:
    """What is bound to an interface."""

    map: tuple[str, Statement] | None = None
    # One for each set of forwarding classes, or one without a name.
    control_profiles: dict[str, tuple[str, Statement]] = field(default_factory=dict)
    shaping: _Rate | None = None
    line: int = 0


@dataclass(frozen=True)
class _Group:
    """Ports with the same queues."""

    maps: tuple[str, ...]
    shaping_bps: int | None
    ports: tuple[str, ...]
    line: int


class Reader:
    """Everything that a configuration says, sorted by what it is about."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.profiles: dict[str, DropProfile] = {}
        self.schedulers: dict[str, _Scheduler] = {}
        # The scheduler of each forwarding class, by maps.
        self.maps: dict[str, dict[str, tuple[str, Statement]]] = {}
        self.control_profiles: dict[str, _ControlProfile] = {}
        self.queue_of: dict[str, int] = {}
        self.lossless: set[str] = set()
        self.ports: dict[str, _Port] = {}
        self.classifiers = Classifiers(document)
        self.speeds_bps: dict[str, int] = {}
        for statement in junos_statements(document):
            self._take(statement)

    def _take(self, statement: Statement) -> None:
        words = Words(self.document, statement, 1, _example)
        root = words.any()
        if root == "firewall":
            self.document.leave_undecided("`then forwarding-class` of a firewall filter", statement.line)
        elif root != COS:
            self._speed(words, statement)
        elif words.next:
            kinds: Mapping[str, Callable[[Words], None]] = {
                "drop-profiles": self._drop_profile,
                "schedulers": self._scheduler,
                "scheduler-maps": self._map,
                "traffic-control-profiles": self._control_profile,
                "forwarding-classes": self._class,
                "classifiers": self.classifiers.take,
                "code-point-aliases": self.classifiers.take_alias,
                "interfaces": self._interface,
            }
            kind = words.any()
            if kind in kinds and words.next:
                kinds[kind](words)

    def _drop_profile(self, words: Words) -> None:
        self.profiles.setdefault(words.any(), DropProfile(words.statement.line)).take(words)

    def _scheduler(self, words: Words) -> None:
        scheduler = self.schedulers.setdefault(words.any(), _Scheduler(words.statement.line))
        match key := words.next and words.any():
            case "transmit-rate":
                self._transmit(scheduler, words)
            case "shaping-rate":
                scheduler.shaping = self._rate(words)
                words.take("exact")
            case "priority":
                scheduler.priority = words.any()
                if scheduler.priority not in _priorities:
                    words.refuse(
                        f"`{scheduler.priority}` is not a priority", nearest(scheduler.priority, list(_priorities))
                    )
                if scheduler.priority not in ("low", *_strict):
                    text = f"`priority {scheduler.priority}` is read as weighted: devices serve it before lower ones"
                    self.document.remark(text, line=words.statement.line)
            case "buffer-size":
                self._buffer_size(scheduler, words)
            case "drop-profile-map":
                self._drop_profile_map(scheduler, words)
                return
            case "explicit-congestion-notification":
                scheduler.has_ecn = True
            case _:
                if key and key not in _passed_of_schedulers:
                    self.document.remark(f"`{key}` of a scheduler is not read", line=words.statement.line)
                return
        words.end()

    def _transmit(self, scheduler: _Scheduler, words: Words) -> None:
        while words.next:
            if words.take("exact", "rate-limit"):
                scheduler.is_exact = True
            elif words.take("remainder"):
                scheduler.is_remainder = True
                if words.next.isdecimal():
                    words.whole("a percentage", 0, 100)
            else:
                scheduler.transmit = self._rate(words)

    @staticmethod
    def _rate(words: Words) -> _Rate:
        """A rate such as ``percent 40``, ``10g`` or ``2500000``."""
        if words.take("percent"):
            return _Rate(percent=words.whole("a percentage", 0, 100))
        word = words.any()
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kmgt]?)", word)
        if match is None:
            words.refuse(f"`{word}` is not a rate", "as in percent 40, 10g or 2500000")
        return _Rate(bps=int(Fraction(match[1]) * _units[match[2]]))

    def _buffer_size(self, scheduler: _Scheduler, words: Words) -> None:
        """Time is what a port sends meanwhile; percent are of memory that the configuration does not have."""
        while words.next:
            if words.take("temporal"):
                scheduler.temporal_us = self._rate(words).bps
            elif not words.take("exact", "remainder", "shared"):
                words.expect("percent")
                words.whole("a percentage", 0, 100)

    @staticmethod
    def _drop_profile_map(scheduler: _Scheduler, words: Words) -> None:
        words.expect("loss-priority")
        loss = words.any()
        if loss not in (*_losses, "any"):
            words.refuse(f"`{loss}` is not a loss priority", nearest(loss, [*_losses, "any"]))
        words.expect("protocol")
        protocol = words.any()
        if protocol not in ("any", "tcp", "non-tcp"):
            words.refuse(f"`{protocol}` is not a protocol", "any, tcp or non-tcp")
        words.expect("drop-profile")
        scheduler.profiles[loss, protocol] = words.any(), words.statement
        words.end()

    def _map(self, words: Words) -> None:
        schedulers = self.maps.setdefault(words.any(), {})
        if words.take("forwarding-class"):
            name = words.any()
            words.expect("scheduler")
            schedulers[name] = words.any(), words.statement
            words.end()

    def _control_profile(self, words: Words) -> None:
        profile = self.control_profiles.setdefault(words.any(), _ControlProfile())
        if words.take("scheduler-map"):
            profile.map_name, profile.statement = words.any(), words.statement
        elif words.take("shaping-rate"):
            profile.shaping = self._rate(words)

    def _class(self, words: Words) -> None:
        """Queues of forwarding classes: `class NAME queue-num N no-loss`, or `queue N NAME`."""
        if words.take("class"):
            name = words.any()
            if words.take("queue-num"):
                self.queue_of[name] = words.whole("a queue", 0, 15)
            if words.take("no-loss"):
                self.lossless.add(name)
        elif words.take("queue"):
            index = words.whole("a queue", 0, 15)
            if words.next:
                self.queue_of[words.any()] = index

    def _interface(self, words: Words) -> None:
        name = words.any()
        if words.take("unit"):
            unit = words.any()
            name = name if unit in ("*", "0") else f"{name}.{unit}"
        set_name = words.any() if words.take("forwarding-class-set") else ""
        if set_name and words.next == "output-traffic-control-profile":
            text = "rates of priority groups (`forwarding-class-set`) are not read"
            self.document.remark(text, line=words.statement.line)
        key = words.next and words.any()
        match key:
            case "scheduler-map":
                self._port(name, words).map = words.any(), words.statement
            case "output-traffic-control-profile":
                self._port(name, words).control_profiles[set_name] = words.any(), words.statement
            case "shaping-rate":
                self._port(name, words).shaping = self._rate(words)
            case "classifiers":
                self.classifiers.bind(words)
            case "forwarding-class":
                self.document.leave_undecided(
                    "`forwarding-class` of an interface, which all its packets join,", words.statement.line
                )
            case _:
                if key and key not in _passed_of_interfaces:
                    self.document.remark(f"`{key}` of an interface is not read", line=words.statement.line)

    def _port(self, name: str, words: Words) -> _Port:
        port = self.ports.setdefault(name, _Port())
        port.line = port.line or words.statement.line
        return port

    def _speed(self, words: Words, statement: Statement) -> None:
        path = statement.words[1:]
        name = path[1] if path[0] == "interfaces" else f"et-{path[2]}/{path[4]}/{path[6]}"
        match = re.fullmatch(r"([0-9]+)([mg])", path[-1].lower())
        if match is not None:
            self.speeds_bps[name] = int(match[1]) * _units[match[2]]
        elif path[-1] != "auto":
            words.refuse(f"`{path[-1]}` is not a speed", "as in 100g")

    @property
    def rates_bps(self) -> set[int]:
        """The speeds of the ports that have queues."""
        names = {name.partition(".")[0] for name in self.ports}
        patterns = [name for name in names if set(name) & set("*?[") or name == "all"]
        return {
            rate
            for name, rate in self.speeds_bps.items()
            if name in names or any(pattern == "all" or fnmatchcase(name, pattern) for pattern in patterns)
        }

    def queues(self) -> list[Queue]:
        """The queues of each group of ports."""
        say_speeds(self.document, self.rates_bps)
        if not self.schedulers:
            self.document.refuse(1, "no scheduler in this file", f"as in `{_example}`")
        points = self.classifiers.code_points()
        groups = self._groups()
        names = [group.maps for group in groups]
        queues = []
        for group in groups:
            label = ""
            if len(groups) > 1:
                label = f"@{'+'.join(group.maps) if names.count(group.maps) == 1 else group.ports[0]}"
            members = {name: entry for map_name in group.maps for name, entry in self.maps[map_name].items()}
            for scheduler, statement in members.values():
                if scheduler not in self.schedulers:
                    self._refuse_unknown(statement, "scheduler", scheduler, self.schedulers)
            weights = self._weights([scheduler for scheduler, _ in members.values()])
            for name, (scheduler, _) in members.items():
                queue = Queue(
                    name=f"{name}{label}",
                    index=self.queue_of.get(name, _usual_queues.get(name)),
                    ports=group.ports,
                    dscp=points.get(name, ()),
                    lines=self._lines(group),
                )
                if name in self.lossless:
                    say_paused(self.document, queue)
                queues.append(self._queue(queue, name, scheduler, weights))
        if not self.maps:
            weights = self._weights(list(self.schedulers))
            self.document.remark("no scheduler map is in this file: each scheduler is shown as a queue of its name")
            queues = [self._queue(Queue(name=name), "", name, weights) for name in self.schedulers]
        if not queues:
            self.document.refuse(1, "no scheduler map has a forwarding class", f"as in `{_example}`")
        return queues

    def _refuse_unknown(self, statement: Statement, what: str, name: str, known: Iterable[str]) -> NoReturn:
        self.document.refuse_statement(statement, f"there is no {what} `{name}`", nearest(name, list(known)))

    def _groups(self) -> list[_Group]:
        """Ports with the same maps and the same rate; maps that no port has come last."""
        groups: dict[tuple[tuple[str, ...], int | None], list[str]] = {}
        lines: dict[tuple[tuple[str, ...], int | None], int] = {}
        for name, port in self.ports.items():
            maps, shaping = [port.map] if port.map is not None else [], port.shaping
            for profile_name, statement in port.control_profiles.values():
                if profile_name not in self.control_profiles:
                    self._refuse_unknown(statement, "traffic control profile", profile_name, self.control_profiles)
                profile = self.control_profiles[profile_name]
                if len(port.control_profiles) == 1:
                    shaping = shaping or profile.shaping
                if profile.map_name:
                    maps.append((profile.map_name, profile.statement or statement))
            for map_name, statement in maps:
                if map_name not in self.maps:
                    self._refuse_unknown(statement, "scheduler map", map_name, self.maps)
            if maps:
                rate = shaping.at(self.document.port.rate_bps) if shaping is not None else None
                key = tuple(dict.fromkeys(map_name for map_name, _ in maps)), rate
                groups.setdefault(key, []).append(name)
                lines.setdefault(key, port.line)
        used = {map_name for maps, _ in groups for map_name in maps}
        for map_name in self.maps:
            if map_name not in used:
                self.document.remark(f"no interface has the scheduler map `{map_name}`", hint="bind it, or remove it")
                groups[(map_name,), None] = []
        return [_Group(maps, rate, tuple(ports), lines.get((maps, rate), 0)) for (maps, rate), ports in groups.items()]

    def _lines(self, group: _Group) -> tuple[Line, ...]:
        """The rate of the whole port, if it has one."""
        if group.shaping_bps is None:
            return ()
        return (Line("`shaping-rate` of the port", group.shaping_bps, source=self.document.source(group.line)),)

    def _weights(self, names: Sequence[str]) -> Mapping[str, int]:
        """The shares of schedulers, in percent of the port: those with `remainder` have the rest in equal parts."""
        shares = [(name, self._share(name)) for name in names]
        weights = {name: share for name, share in shares if share is not None}
        rest = [name for name, share in shares if share is None and self.schedulers[name].is_remainder]
        left = max(0, 100 - sum(share for _, share in shares if share is not None))
        return weights | {name: max(1, left // len(rest)) for name in rest}

    def _share(self, name: str) -> int | None:
        rate = self.schedulers[name].transmit
        if rate is None:
            return None
        exact = rate.percent_of(self.document.port.rate_bps)
        if rate.percent is None:
            text = f"the rate of the scheduler `{name}` is {float(exact):.3g} % of the port: its weight"
            self.document.remark(text, line=self.schedulers[name].line)
        return max(1, round(exact))

    def _queue(self, queue: Queue, class_name: str, name: str, weights: Mapping[str, int]) -> Queue:
        """A queue with its scheduler, what it may hold, and its laws."""
        scheduler = self.schedulers[name]
        serving = None
        if scheduler.priority in _strict:
            serving = Scheduler(Serving.STRICT)
        elif name in weights:
            serving = Scheduler(Serving.WEIGHTED, weight=weights[name])
        port_bps = self.document.port.rate_bps
        limits = [rate.at(port_bps) for rate in (scheduler.shaping,) if rate is not None]
        if scheduler.is_exact and scheduler.transmit is not None:
            limits.append(scheduler.transmit.at(port_bps))
        held = scheduler.temporal_us
        queue = replace(
            queue,
            scheduler=serving,
            shaping=Shaping(min(limits)) if limits else None,
            # What the port sends in that time.
            buffer=Buffer(limit=Amount(Fraction(held), Unit.MICROSECONDS)) if held is not None else None,
            source=self.document.source(scheduler.line),
        )
        return self._with_laws(queue, class_name, scheduler)

    def _with_laws(self, queue: Queue, class_name: str, scheduler: _Scheduler) -> Queue:
        chosen = self._profile(queue, class_name, scheduler)
        if chosen is None:
            if scheduler.has_ecn:
                self.document.remark(
                    "ECN is on, and no drop profile says from where packets are marked",
                    hint="add a drop-profile-map",
                    line=scheduler.line,
                    queue=queue.name,
                )
                return replace(queue, unknown="ECN without a drop profile", not_ect_known=False)
            return queue
        name, statement = chosen
        if name not in self.profiles:
            self._refuse_unknown(statement, "drop profile", name, self.profiles)
        profile = self.profiles[name]
        if profile.mistake:
            self.document.refuse(profile.line, f"the drop profile `{name}` has {profile.mistake}", "correct it")
        curve = profile.curve()
        if isinstance(curve, str):
            self.document.remark(
                f"the drop profile `{name}` is {curve}: no law with two thresholds is like it",
                hint="`interpolate` with two points is one",
                line=profile.line,
                queue=queue.name,
            )
            return replace(queue, unknown=curve, profile=name, not_ect_known=False)
        if curve is None:
            return replace(queue, profile=name)
        if curve.is_of_qfx:
            self.document.remark(
                f"from {curve.most} % on all packets are selected, as by QFX switches other than QFX10000; others "
                "go on with a line to 100 % at the full buffer",
                line=profile.line,
                queue=queue.name,
            )
        where, source = self.document.switch.where, self.document.source(profile.line)
        # Devices compare an average; no document that was read has its weight.
        law = Law(Action.DROP, *curve.ends, curve.pmax, weight=None, where=where, source=source)
        self.document.remark(
            "devices compare an average of the fill level, whose weight no statement sets: read as the queue itself",
            hint="a device with a slow average marks and drops later",
        )
        queue = replace(queue, profile=name)
        if not scheduler.has_ecn:
            return replace(queue, drop=law, drop_ect=law)
        self.document.remark(
            "what becomes of packets that are not ECT depends on the device: QFX5100, QFX3500, QFX3600 and EX4600 drop "
            "them by the law of marks, the guide of other QFX switches has them dropped only when the buffer is full",
            hint="simulate both: --not-ect drop and --not-ect pass",
            queue=queue.name,
        )
        return replace(queue, mark=replace(law, action=Action.MARK), not_ect_known=False)

    def _profile(self, queue: Queue, class_name: str, scheduler: _Scheduler) -> tuple[str, Statement] | None:
        """The drop profile of TCP packets with the loss priority that a class has, with the statement that names it."""
        loss = self.classifiers.loss_priority(class_name)
        keys = [(loss, "tcp"), (loss, "any"), ("any", "tcp"), ("any", "any")]
        chosen = next((scheduler.profiles[key] for key in keys if key in scheduler.profiles), None)
        others = {name for name, _ in scheduler.profiles.values()} - {chosen[0] if chosen else ""}
        if others:
            self.document.remark(
                f"of several drop profiles that of TCP packets with loss priority {loss} is read",
                hint="classifiers and policers give packets their loss priority",
                line=scheduler.line,
                queue=queue.name,
            )
        return chosen
