"""Reads `tc qdisc` lines: the disciplines that shoal has as laws, and the schedulers above them.

Each becomes the law of a scenario that follows it (`linux-red`, `gred`, `codel`, ...), whose defaults are in one place
with its model; the normal form beside it is what the Linux plane says that tc computes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn

from shoal.errors import ScenarioError
from shoal.models import nearest
from shoal.switch.amounts import Amount, Unit, decimal, whole_bytes
from shoal.switch.code_points import LARGEST
from shoal.switch.model import Action, Buffer, Law, Queue, Scheduler, Serving, Where
from shoal.switch.plane import solved_red
from shoal.switch.platforms import _tc_units as units
from shoal.switch.reading import Document, Statement, statements


def queues(document: Document) -> list[Queue]:
    """The disciplines of a script that have laws.

    Raises
    ------
    ScenarioError
        tc would refuse a line, or a line holds variables of a shell; the message shows it.
    """
    nodes = [node for one in statements(document, comments="#") if (node := _node(document, one)) is not None]
    filters = [
        one for statement in statements(document, comments="#") if (one := _filter(document, statement)) is not None
    ]
    queues: list[Queue] = []
    for node in nodes:
        if node.kind in _schedulers or node.kind == "gred":
            continue
        if node.kind in _laws:
            queue = _scheduled(_laws[node.kind](_Options(document, node)), node, nodes)
            queues.append(_led(queue, node, filters))
        elif node.is_discipline:
            document.remark(f"`{node.kind}` is not read", line=node.line)
    queues += [_led(_scheduled(queue, node, nodes), node, filters) for queue, node in _virtual_queues(document, nodes)]
    if not queues:
        document.refuse(
            1, "no queue discipline that has a law", f"lines such as `tc qdisc add dev eth0 root {_red_example}`",
            shown=False,
        )  # fmt: skip
    return queues


@dataclass(frozen=True, slots=True)
class _Node:
    """A discipline or a class with its words."""

    line: int
    is_discipline: bool
    device: str
    parent: str
    handle: str
    kind: str
    words: tuple[str, ...]


def _node(document: Document, statement: Statement) -> _Node | None:
    words = list(statement.words)
    while words and words[0] in ("sudo", "tc", "&&"):
        if words.pop(0) == "tc":
            break
    else:
        return None
    while words and words[0].startswith("-"):
        del words[0]
    if len(words) < 2 or words[0] not in ("qdisc", "class") or words[1] not in ("add", "replace", "change"):
        return None
    is_discipline = words[0] == "qdisc"
    del words[:2]
    at = {"dev": "", "parent": "", "handle": "", "classid": ""}
    while words and (words[0] in at or words[0] == "root"):
        name = words.pop(0)
        if name == "root":
            at["parent"] = "root"
        elif words:
            at[name] = words.pop(0)
    if not words:
        document.refuse(statement.line, "the line names no discipline", f"as in `{_red_example}`")
    handle = (at["handle"] or at["classid"]).rstrip(":")
    return _Node(statement.line, is_discipline, at["dev"], at["parent"], handle, words[0], tuple(words[1:]))


@dataclass(frozen=True, slots=True)
class _Filter:
    """A filter that leads packets with some code points, or all others, to a class of a device."""

    device: str
    target: str
    points: tuple[int, ...] | None


_dsfield_example = "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1"


def _filter(document: Document, statement: Statement) -> _Filter | None:
    """A filter by code point, or one that takes all packets; others are passed over, and said."""
    words = statement.words
    if "tc" not in words or not {"add", "replace"} & set(words) or words[words.index("tc") + 1 :][:1] != ("filter",):
        return None
    text = " ".join(words)
    target = re.search(r"\b(?:flowid|classid) (\S+)", text)
    device = re.search(r"\bdev (\S+)", text)
    field = re.search(r"\bmatch (?:ip (?:dsfield|tos)|ip6 priority) (\S+) (\S+)", text)
    if target is None or device is None or (field is None and "matchall" not in words):
        document.remark(
            "this filter is not read",
            hint=f"those are that match a code point: {_dsfield_example}",
            line=statement.line,
        )
        return None
    if field is None:
        return _Filter(device[1], _number_of(target[1]), None)
    try:
        value, mask = (int(part, 0) for part in field.groups())
    except ValueError:
        document.refuse(statement.line, "the field to match is not a number and a mask", f"as in `{_dsfield_example}`")
    if text.count(" match ") > 1 or mask & 0x3:
        document.remark("this filter looks at more than the code point: not read", line=statement.line)
        return None
    points = tuple(point for point in range(LARGEST + 1) if (point << 2) & mask == value & mask)
    return _Filter(device[1], _number_of(target[1]), points)


def _number_of(text: str) -> str:
    """A handle such as ``1:a`` without leading zeros."""
    return ":".join(part.lstrip("0").lower() for part in text.split(":"))


def _led(queue: Queue, node: _Node, filters: list[_Filter]) -> Queue:
    """The queue with the code points that filters lead to it."""
    own = [one for one in filters if (one.device, one.target) == (node.device, _number_of(node.parent))]
    points = {point for one in own for point in one.points or ()}
    return replace(queue, dscp=tuple(sorted(points)), takes_rest=any(one.points is None for one in own))


class _Options:
    """The words behind the name of a discipline."""

    def __init__(self, document: Document, node: _Node) -> None:
        self.document = document
        self.node = node
        self.place = f"{node.device} {node.handle or node.parent}".strip()
        if any("$" in word or "{" in word for word in node.words):
            self.refuse("the line holds variables of a shell or a program", "give the line as it is run, with numbers")

    def refuse(self, what: str, hint: str) -> NoReturn:
        """Refuse the line."""
        self.document.refuse(self.node.line, what, hint)

    def remark(self, text: str, hint: str = "") -> None:
        """Note something about the line."""
        self.document.remark(text, hint=hint, line=self.node.line)

    def parsed(self, values: Mapping[str, Callable[[str], object]], flags: Mapping[str, object]) -> dict[str, object]:
        """Options with a value and flags; of what stands twice the last counts, as for tc."""
        found: dict[str, object] = {}
        words = list(self.node.words)
        while words:
            word = words.pop(0)
            if word in flags:
                found[word] = flags[word]
            elif word in values:
                if not words:
                    self.refuse(f"`{word}` has no value", "give it, or leave the word out")
                text = words.pop(0)
                value = values[word](text)
                if value is None:
                    self.refuse(f"tc does not read `{text}` as {word}", _red_example)
                found[word] = value
            else:
                self.refuse(f"`{word}` is not an option of `{self.node.kind}`", nearest(word, [*values, *flags]))
        return found

    def queue(self, **more: Any) -> Queue:
        """The queue of the line."""
        source = self.document.source(self.node.line)
        ports = (self.node.device,) if self.node.device else ()
        queue = Queue(name=f"{self.place} {self.node.kind}".strip(), ports=ports, source=source)
        return replace(queue, **more)


_red_example = "red limit 1000000 min 30000 max 90000 avpkt 1500 burst 55 probability 0.1 ecn"
_red_sizes = {"limit": units.size_bytes, "min": units.size_bytes, "max": units.size_bytes,
              "avpkt": units.size_bytes}  # fmt: skip


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _fraction(text: str) -> Fraction | None:
    return Fraction(text) if re.fullmatch(r"[0-9]*\.?[0-9]+([eE]-?[0-9]+)?|[0-9]+\.", text) else None


_red_values: dict[str, Callable[[str], object]] = {
    **_red_sizes, "burst": _whole, "probability": _fraction, "bandwidth": units.rate_bps,
}  # fmt: skip


def _red(options: _Options) -> Queue:
    flags = dict.fromkeys(("ecn", "harddrop", "nodrop", "adaptive"), True) | {"adaptative": True}
    given = options.parsed(_red_values, flags)
    if "adaptative" in given:
        given["adaptive"] = given.pop("adaptative")
    for word in ("limit", "avpkt"):
        if not given.get(word):
            options.refuse(f"tc needs `{word}`", f"as in `{_red_example}`")
    aqm = _red_table(options, given) | {"kind": "linux-red"}
    aqm |= {flag: True for flag in ("ecn", "harddrop", "nodrop", "adaptive") if flag in given}
    return _with_red_laws(
        options, aqm, options.queue(exact=aqm, buffer=Buffer(limit=whole_bytes(int(str(given["limit"])))))
    )


def _red_table(options: _Options, given: Mapping[str, object]) -> dict[str, object]:
    """The keys of RED in a scenario. Thresholds that are left out follow q_red.c; the model has the other defaults."""
    limit = int(str(given["limit"]))
    least, most = int(str(given.get("min", 0))), int(str(given.get("max", 0)))
    most = most or (3 * least if least else limit // 4)
    least = least or most // 3
    table: dict[str, object] = {
        "limit": f"{limit} B",
        "min": f"{least} B",
        "max": f"{most} B",
        "avpkt": f"{given['avpkt']} B",
    }
    if "burst" in given:
        table["burst"] = f"{given['burst']} packets"
    if "probability" in given:
        probability = given["probability"]
        if not isinstance(probability, Fraction) or probability > 1:
            options.refuse(f"a probability of {probability}", "write a number from 0 to 1")
        table["probability"] = float(probability)
        if probability == 1:
            options.remark(
                "probability 1 does not fit into what tc sends: on x86-64 it becomes 0, and the kernel takes the power "
                "of two below",
                "write 0.999999",
            )
    if "bandwidth" in given:
        table["bandwidth"] = f"{given['bandwidth']} bit/s"
    return table


def _with_red_laws(options: _Options, aqm: Mapping[str, object], queue: Queue) -> Queue:
    """The normal form of a law of kind ``linux-red``."""
    try:
        solved = solved_red(aqm)
    except ScenarioError as error:
        first = str(error).splitlines()[0].removeprefix("error: ")
        options.refuse(first, "the message is that of tc or the kernel; change min, max, burst, avpkt or probability")
    ends = [whole_bytes(int(str(aqm[key]).removesuffix(" B"))) for key in ("min", "max")]
    law = Law(
        Action.DROP, ends[0], ends[1], solved.pmax, weight=solved.weight, where=Where.ENQUEUE,
        source=options.document.source(options.node.line),
    )  # fmt: skip
    if "ecn" not in aqm:
        return replace(queue, drop=law, drop_ect=law)
    return replace(
        queue,
        mark=replace(law, action=Action.MARK),
        drop=None if "nodrop" in aqm else law,
        drop_ect=replace(law, min=law.max) if "harddrop" in aqm else None,
    )


def _tail_drop(options: _Options) -> Queue:
    is_bytes = options.node.kind == "bfifo"
    given = options.parsed({"limit": units.size_bytes if is_bytes else _whole}, {})
    limit = None
    if "limit" in given:
        limit = Amount(Fraction(int(str(given["limit"]))), Unit.BYTES if is_bytes else Unit.PACKETS)
    else:
        options.remark("no limit: the length of the device's queue", f"as in `{options.node.kind} limit 1000`")
    return options.queue(exact={"kind": "fifo"}, buffer=Buffer(limit=limit) if limit else None)


_codel_values: dict[str, Callable[[str], object]] = {
    "limit": _whole, "target": units.time_seconds, "interval": units.time_seconds,
    "ce_threshold": units.time_seconds,
}  # fmt: skip
_ecn_flags: dict[str, object] = {"ecn": True, "noecn": False}


def _codel(options: _Options) -> Queue:
    given = options.parsed(_codel_values, _ecn_flags)
    return _sojourn(options, {"kind": "codel", "limit": "1000 packets"}, given)


def _fq_codel(options: _Options) -> Queue:
    values = _codel_values | {
        "flows": _whole, "quantum": units.size_bytes, "memory_limit": units.size_bytes, "drop_batch": _whole,
        "ce_threshold_selector": lambda text: text,
    }  # fmt: skip
    given = options.parsed(values, _ecn_flags)
    aqm: dict[str, object] = {"kind": "fq-codel", "limit": "10240 packets"}
    if "flows" in given:
        aqm["flows"] = given["flows"]
    for key, unit in (("quantum", "B"), ("memory_limit", "B"), ("drop_batch", "packets")):
        if key in given:
            aqm[key] = f"{given[key]} {unit}"
    selector = str(given.get("ce_threshold_selector", ""))
    if selector:
        if not re.fullmatch(r"(0x0?1|1)/(0x0?3|3)", selector):
            options.refuse(f"`ce_threshold_selector {selector}` has no model", "0x1/0x3 selects ECT(1)")
        aqm["ce_threshold_for"] = "ect1"
    return _sojourn(options, aqm, given)


def _sojourn(options: _Options, aqm: dict[str, object], given: Mapping[str, object]) -> Queue:
    """CoDel, with its step of marks if there is one."""
    if "limit" in given:
        aqm["limit"] = f"{given['limit']} packets"
    for key in ("target", "interval", "ce_threshold"):
        if key in given:
            aqm[key] = _time(given[key])
    for flag, value in _ecn_flags.items():
        if flag in given:
            aqm["ecn"] = value
    queue = options.queue(exact=aqm)
    if "ce_threshold" not in given:
        return queue
    # The kernel counts units of 1024 ns.
    ticks = int(Fraction(str(given["ce_threshold"])) * 10**9) // 1024
    threshold = Amount(Fraction(ticks * 1024, 1000), Unit.MICROSECONDS)
    source = options.document.source(options.node.line)
    step = Law(Action.MARK, threshold, threshold, Fraction(1), where=Where.DEQUEUE, source=source)
    options.remark(
        "beside the step of ce_threshold CoDel stays active: it acts on packets that wait longer than target"
    )
    return replace(queue, mark=step)


def _pie(options: _Options) -> Queue:
    values: dict[str, Callable[[str], object]] = {
        "limit": _whole, "target": units.time_seconds, "tupdate": units.time_seconds, "alpha": _whole,
        "beta": _whole,
    }  # fmt: skip
    flags = {**_ecn_flags, "bytemode": True, "nobytemode": False, "dq_rate_estimator": True,
             "no_dq_rate_estimator": False}  # fmt: skip
    given = options.parsed(values, flags)
    aqm: dict[str, object] = {"kind": "pie", "limit": f"{given.get('limit', 1000)} packets"}
    for key in ("target", "tupdate"):
        if key in given:
            aqm[key] = _time(given[key])
    for key in ("alpha", "beta"):
        if given.get(key):
            aqm[key] = given[key]
        elif key in given:
            options.remark(f"`{key} 0` is not sent: the default stays", "write at least 1")
    aqm |= {re.sub("^no_?", "", flag): value for flag, value in given.items() if flag in flags}
    return options.queue(exact=aqm)


def _dualpi2(options: _Options) -> Queue:
    def step(text: str) -> object:
        if (match := re.fullmatch(r"([0-9]+)(p|pkts?|packets?)", text)) is not None:
            return f"{match[1]} packets"
        seconds = units.time_seconds(text)
        return None if seconds is None else _time(seconds)

    times = ("target", "tupdate", "max_rtt", "typical_rtt")
    values: dict[str, Callable[[str], object]] = {
        "limit": _whole, "memlimit": _whole, "coupling_factor": _whole, "min_qlen_step": _whole,
        "step_thresh": step, "alpha": _fraction, "beta": _fraction,
        "classic_protection": lambda text: _whole(text.removesuffix("%")),
        **dict.fromkeys(times, units.time_seconds),
    }  # fmt: skip
    flags: dict[str, object] = {
        "drop_on_overload": "drop", "overflow": "overflow", "drop_enqueue": "enqueue", "drop_dequeue": "dequeue",
        "l4s_ect": "l4s-ect", "any_ect": "any-ect", "split_gso": None, "no_split_gso": None,
    }  # fmt: skip
    keys = {
        "drop_on_overload": "overload", "overflow": "overload", "drop_enqueue": "decide", "drop_dequeue": "decide",
        "l4s_ect": "ecn_mask", "any_ect": "ecn_mask", "coupling_factor": "coupling", "step_thresh": "step_threshold",
        "classic_protection": "classic_percent",
    }  # fmt: skip
    given = options.parsed(values, flags)
    aqm: dict[str, object] = {"kind": "dualpi2", "limit": f"{given.get('limit', 10000)} packets"}
    aqm |= {key: given[word] for word, key in keys.items() if word in given}
    if "min_qlen_step" in given:
        aqm["min_qlen_step"] = given["min_qlen_step"]
    aqm |= {key: _time(given[key]) for key in ("target", "tupdate") if key in given}
    aqm |= {key: float(Fraction(str(given[key]))) for key in ("alpha", "beta") if key in given}
    if "max_rtt" in given or "typical_rtt" in given:
        aqm |= _gains(options, given)
    if given.get("memlimit", 2**32 - 1) != 2**32 - 1:
        options.remark("`memlimit` is not read: the kernel counts the memory of buffers, a scenario bytes of packets")
    return options.queue(exact=aqm)


def _gains(options: _Options, given: Mapping[str, object]) -> dict[str, object]:
    """What tc computes from the round trips (q_dualpi2.c), which goes before target, tupdate and gains."""
    times = {key: Fraction(str(given[key])) for key in ("max_rtt", "typical_rtt") if given.get(key)}
    longest = times.get("max_rtt") or times["typical_rtt"] * 6
    typical = times.get("typical_rtt") or Fraction(int(longest * 10**6) // 6, 10**6)
    if not 0 < typical <= longest:
        options.refuse("typical_rtt is above max_rtt", "tc refuses this")
    update = Fraction(int(min(typical, longest / 3) * 10**6), 10**6)
    alpha, beta = update / longest**2 / 10, Fraction(3, 10) / longest
    return {
        "target": _time(typical),
        "tupdate": _time(update),
        "alpha": int(alpha * 256) / 256,
        "beta": int(beta * 256) / 256,
    }


def _time(seconds: object) -> str:
    """A time as a scenario has it; tc counts whole microseconds."""
    return f"{decimal(Fraction(int(Fraction(str(seconds)) * 10**6)))} us"


_laws: dict[str, Callable[[_Options], Queue]] = {
    "red": _red,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "dualpi2": _dualpi2,
    "pfifo": _tail_drop,
    "bfifo": _tail_drop,
}
_schedulers = ("ets", "prio", "drr")


def _scheduled(queue: Queue, node: _Node, nodes: list[_Node]) -> Queue:
    """The queue with how the scheduler above it serves it."""
    above, _, minor = node.parent.partition(":")
    if not minor.isalnum():
        return queue
    band = int(minor, 16)
    for one in nodes:
        if one.device != node.device:
            continue
        if one.kind in ("ets", "prio") and one.is_discipline and one.handle == above:
            return replace(queue, index=band, scheduler=_band(one, band))
        if one.kind == "drr" and not one.is_discipline and one.handle == node.parent:
            quantum = dict(pairwise(one.words)).get("quantum", "")
            return replace(queue, index=band, scheduler=Scheduler(Serving.WEIGHTED, units.size_bytes(quantum)))
    return queue


def _band(node: _Node, band: int) -> Scheduler:
    """How a band of `ets` or `prio` is served; the first band goes first."""
    if node.kind == "prio":
        return Scheduler(Serving.STRICT, priority=-band)
    lists: dict[str, list[str]] = {}
    name = ""
    for word in node.words:
        if word in ("bands", "strict", "quanta", "priomap"):
            name = word
        lists.setdefault(name, []).append(word)
    strict = int(lists["strict"][1]) if len(lists.get("strict", [])) > 1 else 0
    if band <= strict:
        return Scheduler(Serving.STRICT, priority=-band)
    quanta = [units.size_bytes(word) for word in lists.get("quanta", [])[1:]]
    place = band - strict - 1
    return Scheduler(Serving.WEIGHTED, weight=quanta[place] if place < len(quanta) else None)


def _virtual_queues(document: Document, nodes: list[_Node]) -> list[tuple[Queue, _Node]]:
    """GRED, with the line for its table: there is another one for each virtual queue."""
    found = []
    for setup in (node for node in nodes if node.kind == "gred" and "setup" in node.words):
        same = [
            node
            for node in nodes
            if node.kind == "gred"
            and (node.device, node.parent) == (setup.device, setup.parent)
            and "setup" not in node.words
        ]
        options = _Options(document, setup)
        table = _Options(document, replace(setup, words=tuple(word for word in setup.words if word != "setup")))
        given = table.parsed({"vqs": _whole, "DPs": _whole, "default": _whole, "limit": units.size_bytes},
                             {"grio": True, "ecn": True, "harddrop": True})  # fmt: skip
        parts: dict[int, dict[str, object]] = {}
        laws: dict[int, Queue] = {}
        for node in same:
            own = _Options(document, node)
            words = own.parsed(
                {**_red_values, "vq": _whole, "DP": _whole, "prio": _whole}, {"ecn": True, "harddrop": True}
            )
            for word in ("limit", "min", "max", "avpkt"):
                if not words.get(word):
                    own.refuse(f"tc needs `{word}` for a virtual queue", f"as in `gred vq 0 {_red_example[4:]}`")
            number = int(str(words.get("vq", words.get("DP", 0))))
            flags = {flag: True for flag in ("ecn", "harddrop") if flag in words or flag in given}
            parts[number] = _red_table(own, words) | flags
            laws[number] = _with_red_laws(own, parts[number] | {"kind": "linux-red"}, own.queue())
            if "prio" in words:
                parts[number]["prio"] = words["prio"]
        if set(parts) != {0, 1}:
            document.remark(
                "GRED has a model with two virtual queues: 0 for packets that are not ECT, 1 for ECT", line=setup.line
            )
            unknown = f"{len(parts)} virtual queues, of which only filters say whose they are"
            found.append((options.queue(unknown=unknown), setup))
            continue
        options.remark(
            "virtual queue 0 is read as that of packets that are not ECT, 1 as that of ECT: filters decide that"
        )
        aqm: dict[str, object] = {"kind": "gred", "grio": "grio" in given, "not_ect": parts[0], "ect": parts[1]}
        if "limit" in given:
            aqm["limit"] = f"{given['limit']} B"
        ect = laws[1]
        drop_ect = None if ect.mark else ect.drop_ect
        found.append((options.queue(exact=aqm, drop=laws[0].drop, mark=ect.mark, drop_ect=drop_ect), setup))
    return found
