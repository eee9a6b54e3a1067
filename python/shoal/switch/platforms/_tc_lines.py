"""What stands between a queue and its device: rates of `tbf`, of classes of `htb` and `hfsc`, paths of `netem`.

After tc/q_tbf.c, q_htb.c, q_hfsc.c and q_netem.c of iproute2, and what net/sched of Linux does with their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from shoal.switch.amounts import decimal
from shoal.switch.model import Line
from shoal.switch.platforms import _tc_units as units
from shoal.switch.platforms._tc_commands import label
from shoal.switch.platforms._tc_state import Class, Discipline
from shoal.switch.reading import Document, Statement

# Words of shapers that do not change what a queue gets, each with a value.
_passed = (
    "mtu", "minburst", "mpu", "overhead", "linklayer", "cburst", "cbuffer", "cmaxburst", "quantum", "level", "prio",
    "limit", "latency", "lat", "r2q", "leaf",
)  # fmt: skip


_CLASSES = "rates of classes are not in what `tc qdisc show` prints: add `tc class show dev NAME`"


def is_without_options(each: Class) -> bool:
    """Whether only a discipline below a class shows that there is one."""
    return each.command.subject == "qdisc"


class _Words:
    """The words of a discipline or a class, taken from the front."""

    def __init__(self, document: Document, statement: Statement, kind: str, words: Sequence[str], device: str) -> None:
        self.document, self.statement, self.kind = document, statement, kind
        self.words = list(words)
        self.device = device

    def refuse(self, what: str, hint: str) -> NoReturn:
        self.document.refuse_statement(self.statement, what, hint)

    def value(self, name: str) -> str:
        if not self.words:
            self.refuse(f"`{name}` has no value", "give it, or leave the word out")
        text = self.words.pop(0)
        if "$" in text or "{" in text:
            self.refuse("the line holds variables of a shell or a program", "give the line as it is run, with numbers")
        return text

    def rate(self, name: str) -> int:
        text = self.value(name)
        rate = units.rate_bps(text)
        if re.fullmatch(r"[0-9]+(\.[0-9]*)?%", text):
            # Of the speed of the device.
            rate = int(Fraction(text.rstrip("%")) / 100 * self.document.port.rate_bps)
        if not rate:
            self.refuse(f"tc does not read `{text}` as {name}", "as in `100mbit`")
        return rate

    def rate_or_nothing(self, name: str) -> int:
        """A rate that may be 0."""
        text = self.value(name)
        rate = units.rate_bps(text)
        if rate is None:
            self.refuse(f"tc does not read `{text}` as {name}", "as in `100mbit`")
        return rate

    def size(self, name: str) -> int:
        """A size, of which a cell may stand behind a slash."""
        text = self.value(name)
        size = units.size_bytes(text.partition("/")[0])
        if size is None:
            self.refuse(f"tc does not read `{text}` as {name}", "as in `32kb`")
        return size

    def time(self, name: str) -> Fraction:
        text = self.value(name)
        time = units.time_seconds(text)
        if time is None:
            self.refuse(f"tc does not read `{text}` as {name}", "as in `10ms`")
        return time

    def share(self, name: str) -> Fraction:
        """A percentage; a number without a sign is one, too."""
        text = self.value(name)
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?(e-?[0-9]+)?%?", text) or Fraction(text.rstrip("%")) > 100:
            self.refuse(f"tc does not read `{text}` as {name}", "as in `0.1%`")
        return Fraction(text.rstrip("%")) / 100

    def is_number(self) -> bool:
        """Whether the next word begins like a number."""
        return bool(self.words) and self.words[0][:1].isdigit()

    def unknown(self, name: str) -> NoReturn:
        self.refuse(f"`{name}` is not an option of `{self.kind}`", f"see `man tc-{self.kind}`")


def tbf(document: Document, shaper: Discipline, device: str) -> tuple[Line, int]:
    """The line of a `tbf`, and the limit of its own queue in bytes."""
    words = _Words(document, shaper.command.statement, "tbf", shaper.options, device)
    rate = burst = limit = None
    latency = None
    while words.words:
        word = words.value("")
        if word == "rate":
            rate = words.rate(word)
        elif word in ("burst", "buffer", "maxburst"):
            burst = words.size(word)
        elif word == "limit":
            limit = words.size(word)
        elif word in ("latency", "lat"):
            latency = words.time(word)
        elif word == "peakrate":
            words.rate(word)
            document.remark("`peakrate` is not read: the scenario's line has one rate", line=shaper.command.line)
        elif word in _passed:
            words.value(word)
        else:
            words.unknown(word)
    if not rate or not burst or (limit is None and latency is None):
        words.refuse(
            "tc needs `rate`, `burst`, and `latency` or `limit`", "as in `tbf rate 1gbit burst 1mb latency 5ms`"
        )
    if limit is None:
        limit = int((latency or 0) * rate / 8) + burst
    return replace(_line(document, shaper, device), rate_bps=rate, burst_bytes=burst), limit


def _line(document: Document, discipline: Discipline, device: str) -> Line:
    """A line with the name of a discipline."""
    where = discipline.handle if discipline.command.handle else discipline.parent
    return Line(f"{device} {label(where)} {discipline.kind}", source=document.source(discipline.command.line))


def htb_class(document: Document, htb: Discipline, minor: int, device: str) -> Line:
    """The line of a leaf of `htb`: what it sends while no other class sends.

    A class has its rate in any case; what it sends beyond, up to ceil, it borrows from the class above it, and one at
    the top borrows from nobody (htb_class_mode and htb_activate_prios in net/sched/sch_htb.c).
    """
    rates: list[tuple[int, int]] = []
    leaf = htb.classes[minor]
    at: Class | None = leaf
    if is_without_options(leaf):
        return Line(f"{device} {label(leaf.number)} htb", refusal=_CLASSES, source=document.source(leaf.command.line))
    while at is not None:
        rates.append(_rate_and_ceil(document, at, device))
        at = htb.classes.get(at.parent & 0xFFFF) if at.parent & 0xFFFF and len(rates) < 9 else None
    most = 0
    for rate, ceil in reversed(rates):
        most = max(rate, min(ceil, most))
    source = document.source(leaf.command.line)
    return Line(f"{device} {label(leaf.number)} htb", rate_bps=most, borrows=most > rates[0][0], source=source)


def _rate_and_ceil(document: Document, leaf: Class, device: str) -> tuple[int, int]:
    words = _Words(document, leaf.command.statement, "htb", leaf.options, device)
    rate = ceil = 0
    while words.words:
        word = words.value("")
        if word == "rate":
            rate = words.rate(word)
        elif word == "ceil":
            ceil = words.rate(word)
        elif word in ("burst", "buffer", "maxburst") or word in _passed:
            words.value(word)
        else:
            words.unknown(word)
    if not rate:
        words.refuse("tc needs the `rate` of a class of htb", "as in `htb rate 100mbit ceil 1gbit`")
    return rate, max(rate, ceil)


def hfsc_class(document: Document, hfsc: Discipline, minor: int, device: str) -> Line:
    """The line of a leaf of `hfsc`: its upper limit and those above it, or its real-time curve if it has no other."""
    limits: list[int] = []
    leaf = hfsc.classes[minor]
    at: Class | None = leaf
    only = None
    if is_without_options(leaf):
        return Line(f"{device} {label(leaf.number)} hfsc", refusal=_CLASSES, source=document.source(leaf.command.line))
    while at is not None:
        curves = _curves(document, at, device)
        if at is leaf and "ls" not in curves:
            only = curves.get("rt")
        limits += [curves["ul"]] if "ul" in curves else []
        at = hfsc.classes.get(at.parent & 0xFFFF) if at.parent & 0xFFFF and len(limits) < 99 else None
    limits += [only] if only else []
    source = document.source(leaf.command.line)
    name = f"{device} {label(leaf.number)} hfsc"
    return Line(name, rate_bps=min(limits) if limits else None, borrows=True, source=source)


def _curves(document: Document, leaf: Class, device: str) -> dict[str, int]:
    """The rates of the curves of a class in the long run, in bit/s; 0 is none."""
    words = _Words(document, leaf.command.statement, "hfsc", leaf.options, device)
    curves: dict[str, int] = {}
    while words.words:
        name = words.value("")
        if name in ("level", "leaf"):
            words.value(name)
            continue
        if name not in ("sc", "rt", "ls", "ul"):
            words.unknown(name)
        rate = None
        while words.words and words.words[0] in ("m1", "m2", "rate", "d", "dmax", "umax"):
            word = words.value("")
            if word in ("m2", "rate"):
                rate = words.rate_or_nothing(word)
            elif word == "m1":
                words.rate_or_nothing(word)
                document.remark("the first part of a curve of hfsc is not read", line=leaf.command.line)
            else:
                words.value(word)
        if rate is None:
            words.refuse(f"`{name}` has no rate", "as in `hfsc sc rate 10mbit ul rate 100mbit`")
        for curve in ("rt", "ls") if name == "sc" else (name,):
            curves[curve] = rate
    return {name: rate for name, rate in curves.items() if rate}


def cake_rate(words: Sequence[str]) -> int | None:
    """The bandwidth of a `cake` in bit/s; ``None`` if it is not limited."""
    given = dict(pairwise(words)).get("bandwidth", "")
    return units.rate_bps(given)


def netem(document: Document, path: Discipline, device: str) -> tuple[Line, int]:
    """The line of a `netem`, and the limit of its own queue in packets."""
    path_words = _Netem(_Words(document, path.command.statement, "netem", path.options, device))
    path_words.read()
    refusal = f"netem's {path_words.refusals[0]}" if path_words.refusals else ""
    line = replace(
        _line(document, path, device),
        rate_bps=path_words.rate_bps,
        delay_s=path_words.delay_s,
        overhead_bytes=path_words.overhead,
        impairments=path_words.impairments(),
        refusal=refusal,
    )
    return line, path_words.limit


class _Netem:
    """The options of `netem` as impairments of a scenario."""

    def __init__(self, words: _Words) -> None:
        self.words = words
        self.limit = 1000
        self.delay_s = Fraction(0)
        self.rate_bps: int | None = None
        self.overhead = 0
        self.keys: dict[str, object] = {}
        self.refusals: list[str] = []

    def read(self) -> None:
        readers = {
            "limit": self._limit, "delay": self._delay, "latency": self._delay, "loss": self._loss, "drop": self._loss,
            "distribution": self._distribution, "duplicate": self._duplicate, "corrupt": self._corrupt,
            "reorder": self._reorder, "gap": self._gap, "rate": self._rate, "slot": self._slot, "seed": self._seed,
            "ecn": self._ecn,
        }  # fmt: skip
        words = self.words
        while words.words:
            word = words.value("")
            name = next((name for name in readers if name.startswith(word) and len(word) > 1), None)
            if name is None:
                words.unknown(word)
            readers[name]()
        reordering = self._reordering()
        if reordering and ("probability" not in reordering or not self.delay_s):
            words.refuse("packets are reordered by a probability and a delay", "as in `delay 10ms reorder 25% gap 5`")

    def impairments(self) -> dict[str, object]:
        """The table of a scenario; with a jitter packets overtake each other, but for a netem with a rate."""
        keys = dict(self.keys)
        if "jitter" in keys and self.rate_bps is None:
            keys["keep_order"] = False
        if "jitter" not in keys:
            keys.pop("jitter_distribution", None)
        return keys

    def _limit(self) -> None:
        text = self.words.value("limit").removesuffix("p")
        if not text.isdecimal():
            self.words.refuse(f"tc does not read `{text}` as limit", "as in `limit 1000`")
        self.limit = int(text)

    def _delay(self) -> None:
        words = self.words
        self.delay_s = words.time("delay")
        if words.is_number():
            jitter = words.time("jitter")
            if jitter:
                self.keys["jitter"] = f"{decimal(jitter * 10**6)} us"
            if words.is_number():
                self._key("jitter_correlation", words.share("correlation"))

    def _key(self, name: str, share: Fraction) -> None:
        if share:
            self.keys[name] = float(share)

    def _distribution(self) -> None:
        name = self.words.value("distribution")
        if name in ("uniform", "normal", "pareto", "paretonormal"):
            self.keys["jitter_distribution"] = name
        else:
            self.refusals.append(f"distribution `{name}` is a table that a scenario does not have")

    def _loss(self) -> None:
        words = self.words
        form = words.value("loss") if words.words and not words.is_number() else "random"
        if form == "random":
            self._key("loss", words.share("loss"))
            if words.is_number():
                self._key("loss_correlation", words.share("correlation"))
        elif form == "state":
            names = ("p13", "p31", "p32", "p23", "p14")
            given = self._shares(names)
            self.keys["loss"] = {"p31": 1 - given.get("p13", 0.0), **given}
        elif form == "gemodel":
            given = self._shares(("p", "r", "1-h", "1-k"))
            renamed = {"1-h": "loss_in_bad", "1-k": "loss_in_good"}
            loss = {renamed.get(name, name): share for name, share in given.items()}
            self.keys["loss"] = {"r": 1 - given.get("p", 0.0), **loss}
        else:
            words.refuse(f"`loss {form}` is none of netem", "`loss 1%`, `loss state` or `loss gemodel`")

    def _shares(self, names: Sequence[str]) -> dict[str, float]:
        """Percentages in their order, as commands have them, or each behind its name, as `show` prints them."""
        words = self.words
        given: dict[str, float] = {}
        for name in names:
            if words.words and words.words[0] == name:
                del words.words[0]
            if not words.is_number():
                break
            given[name] = float(words.share(name))
        if not given:
            words.refuse(f"`{names[0]}` is missing", "as in `loss gemodel 1% 10%`")
        return given

    def _with_correlation(self, key: str, what: str) -> None:
        self._key(key, self.words.share(key))
        if self.words.is_number() and self.words.share("correlation"):
            self.refusals.append(f"correlation of {what} is none of a scenario")

    def _duplicate(self) -> None:
        self._with_correlation("duplicate", "duplicates")

    def _corrupt(self) -> None:
        self._with_correlation("corrupt", "corruption")

    def _reorder(self) -> None:
        share = self.words.share("reorder")
        if self.words.is_number() and self.words.share("correlation"):
            self.refusals.append("correlation of reordering is none of a scenario")
        if share:
            self.keys["reorder"] = {**self._reordering(), "probability": float(share)}

    def _gap(self) -> None:
        text = self.words.value("gap")
        if not text.isdecimal():
            self.words.refuse(f"tc does not read `{text}` as gap", "as in `gap 5`")
        if int(text):
            self.keys["reorder"] = {**self._reordering(), "gap": int(text)}

    def _reordering(self) -> dict[str, object]:
        present = self.keys.get("reorder")
        return dict(present) if isinstance(present, dict) else {}

    def _rate(self) -> None:
        words = self.words
        self.rate_bps = words.rate("rate")
        parts = ("packetoverhead", "cellsize", "celloverhead")
        for name in parts:
            if words.words and words.words[0] == name:
                del words.words[0]
            if not words.words or not re.fullmatch(r"-?[0-9]+b?", words.words[0]):
                break
            number = int(words.value(name).rstrip("b"))
            if name == "packetoverhead" and number >= 0:
                self.overhead = number
            elif number:
                self.refusals.append(f"{name} of {number} is none of a scenario")

    def _slot(self) -> None:
        words = self.words
        if words.words and words.words[0] == "distribution":
            self.refusals.append("slots that follow a distribution are none of a scenario")
            words.words = [word for word in words.words[1:] if word in ("ecn",)]
            return
        slot: dict[str, object] = {"min": f"{decimal(words.time('slot') * 10**6)} us"}
        if words.is_number():
            slot["max"] = f"{decimal(words.time('slot') * 10**6)} us"
        while words.words and words.words[0] in ("packets", "bytes"):
            name = words.value("")
            text = words.value(name)
            if not text.isdecimal():
                words.refuse(f"tc does not read `{text}` as {name}", "as in `slot 1ms packets 32`")
            if int(text):
                slot[name] = int(text) if name == "packets" else f"{text} B"
        self.keys["slot"] = slot

    def _seed(self) -> None:
        self.words.value("seed")

    def _ecn(self) -> None:
        self.refusals.append("`ecn` marks instead of dropping, which a path of a scenario does not")
