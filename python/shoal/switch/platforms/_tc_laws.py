"""Disciplines of `tc` as laws: which options each has, how tc reads them, and their keys in a scenario.

Each becomes the law of a scenario that follows it (`linux-red`, `codel`, ...), whose defaults are in one place with its
model; the normal form beside it is what the Linux plane says that tc computes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

from shoal.errors import ScenarioError
from shoal.models import nearest
from shoal.switch.amounts import Amount, Unit, decimal, whole_bytes
from shoal.switch.model import Action, Buffer, Law, Queue, Where
from shoal.switch.plane import burst_for, solved_red
from shoal.switch.platforms import _tc_units as units
from shoal.switch.reading import Document

# Kinds that shoal has no model of, with what they do.
UNMODELLED = {
    "cake": "a shaper with queues for flows",
    "fq": "a queue for each flow, with pacing",
    "fq_pie": "queues for flows with PIE",
    "sfq": "queues for flows",
    "hhf": "queues for heavy flows and others",
    "choke": "a law that compares arriving packets with waiting ones",
    "sfb": "a law for each flow",
    "noqueue": "no queue at all",
}
RED_EXAMPLE = "red limit 1000000 min 30000 max 90000 avpkt 1500 burst 55 probability 0.1 ecn"


@dataclass(frozen=True, slots=True)
class Node:
    """A discipline with the words behind its name.

    Attributes
    ----------
    name
        Its device, and its handle or its parent.
    words
        As commands have them.
    statement
        The command, as errors show it.
    is_stored
        Whether the words are those of `tc qdisc show`: what the kernel keeps.
    """

    line: int
    device: str
    name: str
    kind: str
    words: tuple[str, ...]
    statement: tuple[str, ...] = ()
    is_stored: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """An option of a discipline.

    Attributes
    ----------
    read
        How tc reads its value; ``None`` for a flag.
    unit
        What a scenario writes behind the value.
    key
        Its key in a scenario if that is not its own name; ``None`` if the model has none.
    value
        What the key is if the word is a flag.
    more
        How many words follow that are passed over.
    remark
        Why it has no effect on a scenario, for a word that is not read.
    """

    read: Callable[[str], object] | None = None
    unit: str = ""
    key: str | None = ""
    value: object = True
    more: int = 0
    remark: str = ""

    def is_same(self, word: str, other: _Word, other_word: str) -> bool:
        """Whether two words, each with its option, set the same key, so that the later one counts."""
        return self.key is not None and (self.key or word) == (other.key or other_word)

    def in_scenario(self, given: object) -> object:
        """The value of the key."""
        if self.unit == "us":
            return _time(given)
        if self.unit:
            return f"{given} {self.unit}"
        return float(given) if isinstance(given, Fraction) else given


_Words = Mapping[str, _Word]
EXAMPLES = {
    "codel": "codel limit 1000 target 5ms interval 100ms ecn",
    "fq_codel": "fq_codel limit 10240 target 5ms interval 100ms",
    "pie": "pie limit 1000 target 15ms tupdate 15ms",
    "dualpi2": "dualpi2 limit 10000 target 15ms tupdate 16ms",
    "pfifo": "pfifo limit 1000",
    "bfifo": "bfifo limit 1000000",
    "tbf": "tbf rate 100mbit burst 32kb latency 50ms",
    "netem": "netem delay 10ms 1ms loss 0.1%",
    "htb": "htb rate 100mbit ceil 100mbit",
}


class Options:
    """The words behind the name of a discipline."""

    def __init__(self, document: Document, node: Node) -> None:
        self.document = document
        self.node = node
        if any("$" in word or "{" in word for word in node.words):
            self.refuse("the line holds variables of a shell or a program", "give the line as it is run, with numbers")

    def refuse(self, what: str, hint: str) -> NoReturn:
        """Refuse the line."""
        self.document.refuse(self.node.line, what, hint, words=self.node.statement)

    def remark(self, text: str, hint: str = "") -> None:
        """Note something about the line."""
        self.document.remark(text, hint=hint, line=self.node.line)

    def parsed(self, known: _Words) -> dict[str, object]:
        """What the line gives, by word; of words for the same key the last counts, as for tc."""
        values: dict[str, object] = {}
        words = iter(self.node.words)
        for word in words:
            option = known.get(word)
            if option is None:
                self.refuse(f"`{word}` is not an option of `{self.node.kind}`", nearest(word, list(known)))
            value = option.value
            if option.read is not None:
                text = next(words, None)
                if text is None:
                    self.refuse(f"`{word}` has no value", "give it, or leave the word out")
                value = option.read(text)
                if value is None:
                    self.refuse(f"tc does not read `{text}` as {word}", self.example)
            for _ in range(option.more):
                if next(words, None) is None:
                    self.refuse(f"`{word}` ends too early", self.example)
            if option.remark:
                self.remark(f"`{word}` is not read: {option.remark}")
            for other in [other for other in values if option.is_same(word, known[other], other)]:
                del values[other]
            values[word] = value
        return values

    @property
    def example(self) -> str:
        """A line of its kind that tc takes."""
        return EXAMPLES.get(self.node.kind, RED_EXAMPLE)

    def queue(self, **more: Any) -> Queue:
        """The queue of the line."""
        source = self.document.source(self.node.line)
        ports = (self.node.device,) if self.node.device else ()
        queue = Queue(name=f"{self.node.name} {self.node.kind}".strip(), ports=ports, source=source)
        return replace(queue, **more)


def _keys(given: Mapping[str, object], known: _Words) -> dict[str, object]:
    """What was given as keys of a scenario, in the order of the options."""
    return {
        option.key or word: option.in_scenario(given[word])
        for word, option in known.items()
        if word in given and option.key is not None
    }


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _fraction(text: str) -> Fraction | None:
    return Fraction(text) if re.fullmatch(r"[0-9]*\.?[0-9]+([eE]-?[0-9]+)?|[0-9]+\.", text) else None


def _time(seconds: object) -> str:
    """A time as a scenario has it; tc counts whole microseconds."""
    return f"{decimal(Fraction(int(Fraction(str(seconds)) * 10**6)))} us"


_packets, _number, _flag = _Word(_whole, "packets"), _Word(_whole), _Word()
_size, _duration = _Word(units.size_bytes, "B"), _Word(units.time_seconds, "us")
_ecn: _Words = {"ecn": _flag, "noecn": _Word(key="ecn", value=False)}

_red_values: _Words = {
    **dict.fromkeys(("limit", "min", "max", "avpkt"), _size),
    "burst": _packets,
    "probability": _Word(_fraction),
    "bandwidth": _Word(units.rate_bps, "bit/s"),
}
_red_flags: _Words = {
    **dict.fromkeys(("ecn", "harddrop", "nodrop", "adaptive"), _flag),
    "adaptative": _Word(key="adaptive"),
    "qevent": _Word(key=None, more=3, remark="a scenario has no blocks of filters that see early drops or marks"),
}
_gred_flags: _Words = {"ecn": _flag, "harddrop": _flag}
_gred_setup: _Words = {
    **dict.fromkeys(("vqs", "DPs", "default"), _number),
    "limit": _size,
    "grio": _flag,
    **_gred_flags,
}
_gred_part: _Words = {**_red_values, **dict.fromkeys(("vq", "DP", "prio"), _number), **_gred_flags}


_red_stored: _Words = {
    **dict.fromkeys(("limit", "min", "max"), _size),
    **dict.fromkeys(("ewma", "Plog", "Scell_log"), _number),
    "probability": _Word(_fraction),
    **_red_flags,
}


def _red(options: Options) -> Queue:
    return _shown_red(options) if options.node.is_stored else _written_red(options)


def _shown_red(options: Options) -> Queue:
    """RED as the kernel keeps it: the weight stands there, and what tc computed it from does not."""
    given = options.parsed(_red_stored)
    buffer = Buffer(limit=whole_bytes(int(str(given.get("limit", 0)))))
    if "ewma" not in given:
        return options.queue(
            unknown="`tc qdisc show` leaves weight and probability out, `tc -d qdisc show` has them", buffer=buffer
        )
    least, most = int(str(given.get("min", 0))), int(str(given.get("max", 0)))
    probability = given.get("probability", Fraction(max(1, most - least), 2 ** int(str(given.get("Plog", 0)))))
    aqm: dict[str, object] = {
        "kind": "linux-red",
        "limit": f"{given.get('limit', 0)} B",
        "min": f"{least} B",
        "max": f"{most} B",
        "avpkt": f"{max(1, min(_usual_avpkt, least))} B",
        "probability": float(min(Fraction(str(probability)), Fraction(999_999, 10**6))),
    }
    aqm["burst"] = f"{burst_for(aqm, max(1, int(str(given['ewma']))))} packets"
    options.remark(
        f"`avpkt` and `bandwidth` are not shown: read as {aqm['avpkt']} and tc's default of 10 Mbit/s, which matters "
        "for an idle line only"
    )
    aqm |= _keys(given, _red_flags)
    return _with_red_laws(options, aqm, options.queue(exact=aqm, buffer=buffer))


def _written_red(options: Options) -> Queue:
    given = options.parsed({**_red_values, **_red_flags})
    for word in ("limit", "avpkt"):
        if not given.get(word):
            options.refuse(f"tc needs `{word}`", f"as in `{RED_EXAMPLE}`")
    aqm = _red_table(options, given) | {"kind": "linux-red"} | _keys(given, _red_flags)
    return _with_red_laws(
        options, aqm, options.queue(exact=aqm, buffer=Buffer(limit=whole_bytes(int(str(given["limit"])))))
    )


def _red_table(options: Options, given: Mapping[str, object]) -> dict[str, object]:
    """The keys of RED in a scenario. Thresholds that are left out follow q_red.c; the model has the other defaults."""
    limit = int(str(given["limit"]))
    least, most = int(str(given.get("min", 0))), int(str(given.get("max", 0)))
    most = most or (3 * least if least else limit // 4)
    probability = given.get("probability")
    if isinstance(probability, Fraction) and probability > 1:
        options.refuse(f"a probability of {probability}", "write a number from 0 to 1")
    if probability == 1:
        options.remark(
            "probability 1 does not fit into what tc sends: on x86-64 it becomes 0, and the kernel takes the power of "
            "two below",
            "write 0.999999",
        )
    return _keys({**given, "min": least or most // 3, "max": most}, _red_values)


def _with_red_laws(options: Options, aqm: Mapping[str, object], queue: Queue) -> Queue:
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


# Where the average packet is not known.
_usual_avpkt = 1500
# The length of a device's queue unless `ip link set txqueuelen` changes it, and a frame of Ethernet.
TXQUEUELEN, _frame_bytes = 1000, 1514


def _tail_drop(options: Options) -> Queue:
    is_bytes = options.node.kind == "bfifo"
    given = options.parsed({"limit": _size if is_bytes else _packets})
    if "limit" not in given:
        options.remark(
            f"no limit: the length of the device's queue, which is {TXQUEUELEN} packets by default",
            f"as in `{options.node.kind} limit 1000`, or look at `ip link show`",
        )
    usual = TXQUEUELEN * (_frame_bytes if is_bytes else 1)
    limit = Amount(Fraction(int(str(given.get("limit", usual)))), Unit.BYTES if is_bytes else Unit.PACKETS)
    return options.queue(exact={"kind": "fifo"}, buffer=Buffer(limit=limit))


_times_of_codel: _Words = {**dict.fromkeys(("target", "interval", "ce_threshold"), _duration), **_ecn}
_codel: _Words = {"limit": _packets, **_times_of_codel}
_fq_codel: _Words = {
    "limit": _packets,
    "flows": _number,
    "quantum": _size,
    "memory_limit": _size,
    "drop_batch": _packets,
    "ce_threshold_selector": _Word(lambda text: text),
    **_times_of_codel,
}


def _sojourn(options: Options) -> Queue:
    """CoDel, with its step of marks if there is one."""
    is_fair = options.node.kind == "fq_codel"
    known = _fq_codel if is_fair else _codel
    given = options.parsed(known)
    selector = _selector(options, given.pop("ce_threshold_selector", None))
    usual = {"kind": "fq-codel", "limit": "10240 packets"} if is_fair else {"kind": "codel", "limit": "1000 packets"}
    aqm = usual | _keys(given, known)
    if "ce_threshold" not in given:
        return options.queue(exact=aqm)
    if selector == (1, 3):
        aqm["ce_threshold_for"] = "ect1"
    elif selector is not None:
        aqm["ce_threshold_selector"] = "{:#x}/{:#x}".format(*selector)
    queue = options.queue(exact=aqm)
    only = _selected(selector)
    if only is None:
        options.remark(
            "ce_threshold_selector selects packets that are never marked: the step of ce_threshold has no effect",
            "0x1/0x3 selects ECT(1), 0x2/0x3 ECT(0)",
        )
        return queue
    # The kernel counts units of 1024 ns.
    ticks = int(Fraction(str(given["ce_threshold"])) * 10**9) // 1024
    threshold = Amount(Fraction(ticks * 1024, 1000), Unit.MICROSECONDS)
    source = options.document.source(options.node.line)
    step = Law(Action.MARK, threshold, threshold, Fraction(1), where=Where.DEQUEUE, only=only, source=source)
    options.remark(
        "beside the step of ce_threshold CoDel stays active: it acts on packets that wait longer than target"
    )
    return replace(queue, mark=step)


def _selector(options: Options, text: object) -> tuple[int, int] | None:
    """The value and the mask of `ce_threshold_selector`; ``None`` if it selects all packets."""
    if text is None:
        return None
    match = re.fullmatch(r"(0x[0-9a-fA-F]{1,2}|[0-9]{1,3})/(0x[0-9a-fA-F]{1,2}|[0-9]{1,3})", str(text))
    value, mask = (int(part, 16 if part.startswith("0x") else 10) for part in match.groups()) if match else (0, 256)
    if value == mask == 0:
        return None
    if mask & ~_ecn_bits or value & ~mask:
        options.refuse(f"`ce_threshold_selector {text}` has no model", "0x1/0x3 selects ECT(1), 0x2/0x3 ECT(0)")
    return value, mask


# The bits of ECN in the DS field (RFC 3168 section 5, https://www.rfc-editor.org/rfc/rfc3168#section-5), and the code
# points of packets that may be marked.
_ecn_bits = 0b11
_markable = {0b10: "ECT(0)", 0b01: "ECT(1)"}


def _selected(selector: tuple[int, int] | None) -> str | None:
    """Which packets a step marks; empty if it marks all ECT packets, ``None`` if it marks none."""
    if selector is None:
        return ""
    value, mask = selector
    names = [name for bits, name in _markable.items() if bits & mask == value]
    # A selector of bits of ECN that both have would be that of no bits.
    return names[0] if names else None


_pie_words: _Words = {
    "limit": _packets,
    "target": _duration,
    "tupdate": _duration,
    "alpha": _number,
    "beta": _number,
    **_ecn,
    "bytemode": _flag,
    "nobytemode": _Word(key="bytemode", value=False),
    "dq_rate_estimator": _flag,
    "no_dq_rate_estimator": _Word(key="dq_rate_estimator", value=False),
}


def _pie(options: Options) -> Queue:
    given = options.parsed(_pie_words)
    for key in ("alpha", "beta"):
        if given.get(key) == 0:
            del given[key]
            options.remark(f"`{key} 0` is not sent: the default stays", "write at least 1")
    return options.queue(exact={"kind": "pie", "limit": "1000 packets"} | _keys(given, _pie_words))


def _step(text: str) -> object:
    """A threshold of packets or a time, as a scenario has it."""
    if (match := re.fullmatch(r"([0-9]+)(p|pkts?|packets?)", text)) is not None:
        return f"{match[1]} packets"
    seconds = units.time_seconds(text)
    return None if seconds is None else _time(seconds)


_dualpi2_words: _Words = {
    "limit": _packets,
    "drop_on_overload": _Word(key="overload", value="drop"),
    "overflow": _Word(key="overload", value="overflow"),
    "drop_enqueue": _Word(key="decide", value="enqueue"),
    "drop_dequeue": _Word(key="decide", value="dequeue"),
    "l4s_ect": _Word(key="ecn_mask", value="l4s-ect"),
    "any_ect": _Word(key="ecn_mask", value="any-ect"),
    "coupling_factor": _Word(_whole, key="coupling"),
    "step_thresh": _Word(_step, key="step_threshold"),
    "classic_protection": _Word(lambda text: _whole(text.removesuffix("%")), key="classic_percent"),
    "min_qlen_step": _number,
    "target": _duration,
    "tupdate": _duration,
    "alpha": _Word(_fraction),
    "beta": _Word(_fraction),
    **dict.fromkeys(("max_rtt", "typical_rtt"), _Word(units.time_seconds, key=None)),
    "split_gso": _Word(key=None),
    "no_split_gso": _Word(key=None, remark="packets of a scenario are never larger than the MTU"),
    "memlimit": _Word(_whole, key=None),
}


def _dualpi2(options: Options) -> Queue:
    given = options.parsed(_dualpi2_words)
    aqm = {"kind": "dualpi2", "limit": "10000 packets"} | _keys(given, _dualpi2_words)
    if "max_rtt" in given or "typical_rtt" in given:
        aqm |= _gains(options, given)
    # What the kernel takes without it is beyond the limit in packets: two frames for each (sch_dualpi2.c).
    packets = int(str(aqm["limit"]).removesuffix(" packets"))
    if int(str(given.get("memlimit", 2**32 - 1))) < (
        2 * _frame_bytes * packets if options.node.is_stored else 2**32 - 1
    ):
        options.remark("`memlimit` is not read: the kernel counts the memory of buffers, a scenario bytes of packets")
    return options.queue(exact=aqm)


def _gains(options: Options, given: Mapping[str, object]) -> dict[str, object]:
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


LAWS: Mapping[str, Callable[[Options], Queue]] = {
    "red": _red,
    "codel": _sojourn,
    "fq_codel": _sojourn,
    "pie": _pie,
    "dualpi2": _dualpi2,
    "pfifo": _tail_drop,
    "bfifo": _tail_drop,
}


def gred(table: Options, parts: Sequence[Options]) -> Queue:
    """The queue of GRED, from the line for its table and those for its virtual queues."""
    given = table.parsed(_gred_setup)
    tables: dict[int, dict[str, object]] = {}
    laws: dict[int, Queue] = {}
    for part in parts:
        words = part.parsed(_gred_part)
        for word in ("limit", "min", "max", "avpkt"):
            if not words.get(word):
                part.refuse(f"tc needs `{word}` for a virtual queue", f"as in `gred vq 0 {RED_EXAMPLE[4:]}`")
        number = int(str(words.get("vq", words.get("DP", 0))))
        flags = {flag: True for flag in _gred_flags if flag in words or flag in given}
        tables[number] = _red_table(part, words) | flags
        laws[number] = _with_red_laws(part, tables[number] | {"kind": "linux-red"}, part.queue())
        if "prio" in words:
            tables[number]["prio"] = words["prio"]
    if set(tables) != {0, 1}:
        table.remark("GRED has a model with two virtual queues: 0 for packets that are not ECT, 1 for ECT")
        return table.queue(unknown=f"{len(tables)} virtual queues, of which only filters say whose they are")
    table.remark("virtual queue 0 is read as that of packets that are not ECT, 1 as that of ECT: filters decide that")
    aqm: dict[str, object] = {"kind": "gred", "grio": "grio" in given, "not_ect": tables[0], "ect": tables[1]}
    ect = laws[1]
    return table.queue(
        exact=aqm | ({"limit": f"{given['limit']} B"} if "limit" in given else {}),
        drop=laws[0].drop,
        mark=ect.mark,
        drop_ect=None if ect.mark else ect.drop_ect,
    )
