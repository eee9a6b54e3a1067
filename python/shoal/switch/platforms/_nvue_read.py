"""Statements of NVUE as queues: classes of congestion control, how they are served, and what leads to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from shoal.errors import UsageError
from shoal.models import nearest
from shoal.switch.amounts import rate_of, whole_bytes
from shoal.switch.code_points import LARGEST
from shoal.switch.model import Action, Buffer, Law, Line, Queue, Scheduler, Serving, Shaping
from shoal.switch.platforms._nvue_text import statements
from shoal.switch.reading import Document, Statement, say_paused, say_speeds
from shoal.switch.words import Words

DEFAULT = "default-global"
# Names of the field that the word sets; `-bytes` in Cumulus Linux up to 5.2.
_thresholds = {
    "min-threshold": "least", "min-threshold-bytes": "least", "max-threshold": "most", "max-threshold-bytes": "most",
}  # fmt: skip
_switches = {"enable": True, "enabled": True, "on": True, "disable": False, "disabled": False, "off": False}
_example = "nv set qos congestion-control default-global traffic-class 3 min-threshold 40000"
_largest_class = 7
# What a shaper has that does not shape.
_no_rate = 2147483647
# Thresholds of traffic class 0 of the default profile, and of the classes of RoCE mode.
_usual_thresholds = (150_000, 1_500_000)
# Statements about queues that change nothing of what is read here.
_passed = ("remark", "link-pause", "traffic-pool", "pfc-watchdog", "headroom", "shared-headroom-pool")


def _weighted(weights: Mapping[int, int]) -> dict[int, Scheduler]:
    return {index: Scheduler(Serving.WEIGHTED, weight=weight) for index, weight in weights.items()}


@dataclass(frozen=True)
class _Mode:
    """What a mode of RoCE brings, as `nv show qos roce` prints it in the documents.

    Attributes
    ----------
    marking
        The traffic classes with ECN.
    usual
        The classes among them whose thresholds are stated in bytes.
    probability
        Probability of marks at the maximum, in percent.
    paused
        The switch priorities with priority flow control.
    classes
        The traffic classes of switch priorities; they have their own number where none is said.
    priorities
        The switch priorities of code points; eight have one where none is said.
    served
        The schedulers of traffic classes.
    """

    marking: tuple[int, ...] = (0, 3)
    usual: tuple[int, ...] = (0, 3)
    probability: int = 100
    paused: tuple[int, ...] = ()
    classes: Mapping[int, int] = field(default_factory=lambda: dict.fromkeys(range(8), 0) | {3: 3, 6: 6})
    priorities: Mapping[int, int] = field(default_factory=dict)
    served: Mapping[int, Scheduler] = field(
        default_factory=lambda: {**_weighted({0: 50, 3: 50}), 6: Scheduler(Serving.STRICT)}
    )


_lossless = _Mode(paused=(3,))
_modes = {
    "lossless": _lossless,
    "lossless-single-ipool": _lossless,
    "lossy": _Mode(),
    # Its thresholds, 163.00 and 234.00 KB, are rounded there.
    "lossy-multi-tc": _Mode(
        marking=(1, 2, 3),
        usual=(),
        probability=5,
        classes={},
        priorities={
            **dict.fromkeys((0, *range(7, 11), *range(41, 64)), 0),
            **dict.fromkeys((1, 2), 1),
            **dict.fromkeys((3, 4), 2),
            **dict.fromkeys((5, 6), 3),
            **dict.fromkeys(range(11, 41), 4),
        },
        served=_weighted({0: 4, 1: 8, 2: 18, 3: 22, 4: 22, 5: 22, 6: 4}),
    ),
}


@dataclass
class _Class:
    """What is set for a traffic class; what is left out has a default."""

    line: int
    least: int | None = None
    most: int | None = None
    probability: int | None = None
    ecn: bool | None = None
    red: bool = False


@dataclass
class _Served:
    """A profile of a scheduler, or of a shaper."""

    modes: dict[int, str] = field(default_factory=dict)
    shares: dict[int, int] = field(default_factory=dict)
    rates_bps: dict[int, int] = field(default_factory=dict)
    port_rate_bps: int | None = None
    line: int = 0

    def scheduler(self, index: int) -> Scheduler | None:
        """How a class is served."""
        if self.modes.get(index) == "strict":
            return Scheduler(Serving.STRICT)
        share = self.shares.get(index)
        return None if share is None else Scheduler(Serving.WEIGHTED, weight=share)


@dataclass
class _Mapping:
    """What leads packets to switch priorities."""

    line: int
    trust: str = ""
    default: int = 0
    priorities: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Bound:
    """The profiles that a port has."""

    control: str = DEFAULT
    scheduler: str = DEFAULT
    shaper: str = DEFAULT
    paused: str = DEFAULT


class Reader:
    """Everything that a configuration says, sorted by what it is about."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.classes: dict[str, dict[int, _Class]] = {}
        self.served: dict[str, dict[str, _Served]] = {"egress-scheduler": {}, "egress-shaper": {}}
        self.mappings: dict[str, _Mapping] = {}
        self.class_of: dict[int, int] = {}
        self.paused: dict[str, set[int]] = {}
        self.buffers: dict[int, Buffer] = {}
        self.roce: Statement | None = None
        self.has_roce = True
        # The mode; the usual one where RoCE is on without one, and `None` where it is off.
        self.mode: _Mode | None = None
        self.bound: dict[str, dict[str, str]] = {}
        self.bound_lines: dict[str, Statement] = {}
        self.speeds_bps: dict[str, int] = {}
        for statement in statements(document):
            self._take(statement)
        self._check()

    def _take(self, statement: Statement) -> None:
        words = Words(self.document, statement, 2, _example)
        if words.take("interface"):
            self._interface(words)
            return
        words.expect("qos")
        kinds: Mapping[str, Callable[[Words], None]] = {
            "congestion-control": self._control,
            "egress-scheduler": self._scheduler,
            "egress-shaper": self._shaper,
            "mapping": self._mapping,
            "egress-queue-mapping": self._queue_mapping,
            "pfc": self._pfc,
            "advance-buffer-config": self._buffer,
            "roce": self._roce,
        }
        if words.next in kinds:
            kinds[words.any()](words)
        elif words.next and words.next not in _passed:
            self.document.remark(f"`qos {words.next}` is not read", line=statement.line)

    def _interface(self, words: Words) -> None:
        port = words.any()
        if words.take("link"):
            words.expect("speed")
            if words.next not in ("auto", ""):
                try:
                    self.speeds_bps[port] = rate_of(words.next)
                except UsageError:
                    words.refuse(f"`{words.next}` is not a speed", "as in 100G")
            return
        words.expect("qos")
        kind = words.next and words.any()
        if kind not in ("congestion-control", "egress-scheduler", "egress-shaper", "mapping", "pfc") or not words.next:
            return
        # Older documents name the profile without the word.
        words.take("profile")
        if words.next:
            self.bound.setdefault(port, {})[kind] = words.any()
            self.bound_lines[f"{port} {kind}"] = words.statement
        words.end()

    def _control(self, words: Words) -> None:
        profile = words.any() if words.next else DEFAULT
        if not words.take("traffic-class"):
            words.end()
            self.classes.setdefault(profile, {})
            return
        index = words.whole("a traffic class", 0, _largest_class)
        current = self.classes.setdefault(profile, {}).setdefault(index, _Class(words.statement.line))
        key = words.next
        if key in _thresholds:
            words.any()
            setattr(current, _thresholds[key], self._bytes(words))
        elif words.take("probability"):
            current.probability = words.whole("a probability", 1, 100)
        elif words.take("ecn"):
            current.ecn = self._switch(words)
        elif words.take("red"):
            current.red = self._switch(words)
        elif key:
            words.refuse(
                f"`{key}` is not a setting of a traffic class",
                nearest(key, [*_thresholds, "probability", "ecn", "red"]),
            )
        words.end()

    @staticmethod
    def _bytes(words: Words) -> int:
        word = words.any()
        if not word.isdecimal():
            words.refuse(f"`{word}` is not a number of bytes", "write the threshold in bytes, without a unit")
        return int(word)

    @staticmethod
    def _switch(words: Words) -> bool:
        word = words.any()
        if word not in _switches:
            words.refuse(f"`{word}` is neither enable nor disable", nearest(word, list(_switches)))
        return _switches[word]

    def _profile(self, kind: str, words: Words) -> tuple[_Served, int | None]:
        """The profile of a scheduler or shaper that the words go on about, and the class if they name one."""
        name = words.any() if words.next else DEFAULT
        profile = self.served[kind].setdefault(name, _Served(line=words.statement.line))
        if not words.take("traffic-class"):
            return profile, None
        return profile, words.whole("a traffic class", 0, _largest_class)

    def _scheduler(self, words: Words) -> None:
        profile, index = self._profile("egress-scheduler", words)
        if index is not None and words.take("mode"):
            mode = words.any()
            if mode not in ("strict", "dwrr"):
                words.refuse(f"`{mode}` is not a mode", "strict or dwrr")
            profile.modes[index] = mode
        elif index is not None and words.take("bw-percent"):
            profile.shares[index] = words.whole("a share", 0, 100)
        words.end()

    def _shaper(self, words: Words) -> None:
        profile, index = self._profile("egress-shaper", words)
        if words.take("mode"):
            if words.any() != "kbps":
                words.refuse("a shaper in packets a second is not read", "write it in kbps")
        elif index is None and words.take("port-max-rate"):
            rate = words.number()
            profile.port_rate_bps = None if rate >= _no_rate else 1000 * rate
        elif index is not None and words.take("max-rate"):
            rate = words.number()
            if rate < _no_rate:
                profile.rates_bps[index] = 1000 * rate
        elif words.take("min-rate") and words.number():
            self.document.remark("`min-rate` of a shaper is not read", line=words.statement.line)
        words.end()

    def _mapping(self, words: Words) -> None:
        name = words.any() if words.next else DEFAULT
        mapping = self.mappings.setdefault(name, _Mapping(words.statement.line))
        mapping.line = words.statement.line
        if words.take("trust"):
            mapping.trust = words.any()
            if mapping.trust not in ("l2", "l3", "port", "both"):
                words.refuse(f"`{mapping.trust}` is not what a port trusts", "l2, l3, both or port")
        elif words.take("port-default-sp"):
            mapping.default = words.whole("a switch priority", 0, _largest_class)
        elif words.take("dscp"):
            point = words.whole("a code point", 0, LARGEST)
            if words.next:
                words.expect("switch-priority")
                mapping.priorities[point] = words.whole("a switch priority", 0, _largest_class)
        else:
            # What a tag of a VLAN says is not in the packets of a scenario.
            return
        words.end()

    def _queue_mapping(self, words: Words) -> None:
        if words.next and words.any() and words.take("switch-priority"):
            priority = words.whole("a switch priority", 0, _largest_class)
            if words.take("traffic-class"):
                self.class_of[priority] = words.whole("a traffic class", 0, _largest_class)
        words.end()

    def _pfc(self, words: Words) -> None:
        if words.next and (profile := words.any()) and words.take("switch-priority"):
            self.paused.setdefault(profile, set()).add(words.whole("a switch priority", 0, _largest_class))

    def _buffer(self, words: Words) -> None:
        if words.statement.words[4:7] != (DEFAULT, "egress-lossy-buffer", "traffic-class"):
            return
        words = Words(self.document, words.statement, 7, "nv set qos advance-buffer-config ... shared-bytes 10000")
        index = words.whole("a traffic class", 0, _largest_class)
        buffer = self.buffers.get(index, Buffer())
        if words.take("reserved"):
            self.buffers[index] = replace(buffer, reserved_bytes=words.number())
        elif words.take("shared-bytes"):
            self.buffers[index] = replace(buffer, limit=whole_bytes(words.number()))
        elif words.take("shared-alpha"):
            self.buffers[index] = replace(buffer, alpha=self._alpha(words))
        elif words.take("service-pool"):
            self.buffers[index] = replace(buffer, pool=str(words.number()))
        words.end()

    @staticmethod
    def _alpha(words: Words) -> Fraction | None:
        """Alpha of a word such as ``alpha_8`` or ``alpha_1_4``; ``None`` for `alpha_infinity`."""
        word = words.any()
        head, *numbers = word.split("_")
        if word == "alpha_infinity":
            return None
        if (
            head != "alpha"
            or len(numbers) not in (1, 2)
            or not all(map(str.isdecimal, numbers))
            or numbers[1:] == ["0"]
        ):
            words.refuse(f"`{word}` is not an alpha", "as in alpha_8 or alpha_1_4")
        return Fraction(*map(int, numbers))

    def _roce(self, words: Words) -> None:
        if words.take("enable", "state"):
            self.has_roce = self._switch(words)
        elif words.take("mode"):
            mode = words.any()
            if mode not in _modes:
                words.refuse(f"`{mode}` is not a mode of RoCE", nearest(mode, list(_modes)))
            self.mode = _modes[mode]
        elif words.next:
            return
        self.roce = words.statement if self.roce is None or self.mode is not None else self.roce

    def _check(self) -> None:
        """Apply what RoCE mode brings, and refuse profiles that are bound and not defined."""
        self.mode = (self.mode or _lossless) if self.has_roce and self.roce is not None else None
        if self.mode is not None and self.roce is not None:
            self.document.remark(
                "RoCE mode brings thresholds, maps and weights that the configuration does not have: those of "
                "documents of Cumulus Linux are taken",
                hint="nv show qos roce has those of the device",
                line=self.roce.line,
            )
            default = self.classes.setdefault(DEFAULT, {})
            for index in self.mode.marking:
                current = default.setdefault(index, _Class(self.roce.line))
                current.ecn = True if current.ecn is None else current.ecn
                current.probability = current.probability or self.mode.probability
            self.class_of = {**self.mode.classes, **self.class_of}
            self.paused.setdefault(DEFAULT, set()).update(self.mode.paused)
        known: dict[str, Collection[str]] = {"congestion-control": self.classes, **self.served}
        for port, profiles in self.bound.items():
            for kind, profile in profiles.items():
                if kind in known and profile != DEFAULT and profile not in known[kind]:
                    self.document.refuse_statement(
                        self.bound_lines[f"{port} {kind}"],
                        f"there is no profile `{profile}`",
                        nearest(profile, [DEFAULT, *known[kind]]),
                    )

    @property
    def rates_bps(self) -> set[int]:
        """The speeds of the ports that have queues: those with profiles, or all where the default profile has some."""
        is_default_used = bool(self.classes.get(DEFAULT))
        return {
            rate
            for port, rate in self.speeds_bps.items()
            # Other ports are for management.
            if port in self.bound or (is_default_used and port.startswith("swp"))
        }

    def groups(self) -> list[tuple[_Bound, tuple[str, ...]]]:
        """Ports with the same profiles; those that no statement names come last, without names."""
        ports: dict[_Bound, list[str]] = {}
        for port, profiles in self.bound.items():
            if profiles.keys() != {"mapping"}:
                bound = _Bound(
                    profiles.get("congestion-control", DEFAULT),
                    profiles.get("egress-scheduler", DEFAULT),
                    profiles.get("egress-shaper", DEFAULT),
                    profiles.get("pfc", DEFAULT),
                )
                ports.setdefault(bound, []).append(port)
        for profile in self.classes:
            is_bound = any(bound.control == profile for bound in ports)
            if not is_bound or (profile == DEFAULT and self.classes[profile]):
                ports.setdefault(_Bound(profile), [])
        if not ports:
            ports[_Bound()] = []
        return [(bound, tuple(names)) for bound, names in ports.items()]

    def queues(self) -> list[Queue]:
        """The queues of each group of ports."""
        if not self.classes and not self.served["egress-scheduler"]:
            self.document.refuse(1, "no statement about traffic classes", f"as in `{_example}`")
        say_speeds(self.document, self.rates_bps)
        points = self._code_points()
        groups = self.groups()
        controls = [bound.control for bound, _ in groups]
        queues = []
        for bound, ports in groups:
            label = ""
            if len(groups) > 1:
                is_alone = controls.count(bound.control) == 1 or not ports
                label = f"@{bound.control if is_alone else ports[0]}"
            if not ports and bound.control != DEFAULT:
                self.document.remark(f"no interface has the profile `{bound.control}`", hint="bind it, or remove it")
            queues += [self._queue(index, bound, ports, label, points) for index in self._indices(bound)]
        if not queues:
            self.document.refuse(1, "no statement about traffic classes", f"as in `{_example}`")
        return queues

    def _indices(self, bound: _Bound) -> Sequence[int]:
        scheduler, shaper = self._served(bound)
        indices = {*self.classes.get(bound.control, {}), *scheduler.modes, *scheduler.shares, *shaper.rates_bps}
        return sorted(indices | self._usual_served(bound).keys())

    def _usual_served(self, bound: _Bound) -> Mapping[int, Scheduler]:
        """How RoCE mode serves the classes of ports without a scheduler of their own."""
        return self.mode.served if self.mode is not None and bound.scheduler == DEFAULT else {}

    def _served(self, bound: _Bound) -> tuple[_Served, _Served]:
        return (
            self.served["egress-scheduler"].get(bound.scheduler, _Served()),
            self.served["egress-shaper"].get(bound.shaper, _Served()),
        )

    def _queue(
        self,
        index: int,
        bound: _Bound,
        ports: tuple[str, ...],
        label: str,
        points: Mapping[int, tuple[int, ...] | None],
    ) -> Queue:
        scheduler, shaper = self._served(bound)
        served = scheduler.scheduler(index) or self._usual_served(bound).get(index)
        settings = self.classes.get(bound.control, {}).get(index)
        rate, dscp = shaper.rates_bps.get(index), points.get(index, ())
        line = settings.line if settings is not None else scheduler.line or shaper.line
        queue = Queue(
            name=f"{index}{label}",
            index=index,
            ports=ports,
            scheduler=served,
            shaping=Shaping(rate) if rate is not None else None,
            buffer=self.buffers.get(index),
            dscp=dscp or (),
            takes_rest=dscp is None,
            profile=bound.control if settings is not None else "",
            lines=_lines(bound, shaper, self.document),
            source=self.document.source(line),
        )
        if any(self.class_of.get(priority, priority) == index for priority in self.paused.get(bound.paused, ())):
            say_paused(self.document, queue)
        return queue if settings is None else self._with_laws(queue, bound.control, settings)

    def _with_laws(self, queue: Queue, profile: str, settings: _Class) -> Queue:
        marks = settings.ecn is not False
        if not marks and not settings.red:
            return queue
        if settings.ecn is None:
            self._say_default(queue, settings, "ecn", "on")
        least, most = settings.least, settings.most
        if least is None or most is None:
            usual = (0,) if self.mode is None else self.mode.usual
            if profile != DEFAULT or queue.index not in usual:
                missing = "min-threshold" if least is None else "max-threshold"
                self.document.remark(
                    f"traffic class {queue.index} of `{profile}` has no `{missing}`, and its default is in no document",
                    hint="nv show qos congestion-control has those of the device: write both thresholds",
                    line=settings.line,
                    queue=queue.name,
                )
                return replace(queue, unknown=f"no `{missing}`", not_ect_known=False)
            if self.mode is None:
                self._say_default(queue, settings, "both thresholds", "150000 and 1500000 bytes where one is missing")
            least = _usual_thresholds[0] if least is None else least
            most = _usual_thresholds[1] if most is None else most
        if least > most:
            self.document.refuse(
                settings.line, f"the minimum of {least} bytes is above the maximum of {most} bytes", "swap them"
            )
        if settings.probability is None and least != most:
            self._say_default(queue, settings, "probability", "100 %")
        where, source = self.document.switch.where, self.document.source(settings.line)
        chance = Fraction(settings.probability or 100, 100)
        law = Law(Action.MARK, whole_bytes(least), whole_bytes(most), chance, where=where, source=source)
        drop = replace(law, action=Action.DROP) if settings.red else None
        return replace(queue, mark=law if marks else None, drop=drop, drop_ect=None if marks else drop)

    def _say_default(self, queue: Queue, settings: _Class, what: str, value: str) -> None:
        self.document.remark(
            f"`{what}` is not written: read as {value}, the default of the documents"
            if " " not in what
            else f"{what} are not written: read as {value}, the defaults of the documents",
            hint="write it, or see nv show qos congestion-control",
            line=settings.line,
            queue=queue.name,
        )

    def _code_points(self) -> dict[int, tuple[int, ...] | None]:
        """The code points that lead to each class: ``None`` if all packets do."""
        names = {profiles.get("mapping", DEFAULT) for profiles in self.bound.values()} or {DEFAULT}
        if len(names) > 1:
            line = min(mapping.line for mapping in self.mappings.values()) if self.mappings else 1
            self.document.leave_undecided("which of several profiles of `qos mapping` a packet meets", line)
            return {}
        mapping = self.mappings.get(names.pop())
        if mapping is None and self.roce is not None and self.mode is not None:
            # RoCE mode trusts both.
            mapping = _Mapping(self.roce.line, "both")
        if mapping is None:
            return {}
        if mapping.trust == "port":
            return {self.class_of.get(mapping.default, mapping.default): None}
        if mapping.trust not in ("l3", "both") and self.mode is None:
            what = "`trust l2`" if mapping.trust else "`qos mapping` without `trust`, which is that of VLAN tags,"
            self.document.leave_undecided(what, mapping.line)
            return {}
        usual = self.mode.priorities if self.mode is not None else {}
        points: dict[int, list[int]] = {}
        for point in range(LARGEST + 1):
            # Eight code points have a switch priority, which has the class of its number.
            priority = mapping.priorities.get(point, usual.get(point, point // 8))
            points.setdefault(self.class_of.get(priority, priority), []).append(point)
        return {index: tuple(column) for index, column in points.items()}


def _lines(bound: _Bound, shaper: _Served, document: Document) -> tuple[Line, ...]:
    """The rate of the whole port, if it has a shaper."""
    if shaper.port_rate_bps is None:
        return ()
    return (Line(f"the shaper {bound.shaper}", shaper.port_rate_bps, source=document.source(shaper.line)),)
