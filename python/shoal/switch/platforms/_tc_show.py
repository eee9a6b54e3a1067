"""What `tc qdisc show` and `tc class show` print, as text or as JSON, with `-s`, `-d` or without: the stored state.

Lines of statistics are indented and passed over. Units of the output become those of commands: `1000p` is 1000.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from shoal.switch.platforms._tc_commands import ROOT, Command, entry, number_of
from shoal.switch.platforms._tc_state import WITH_CLASSES
from shoal.switch.reading import Document, Statement

_line = re.compile(
    r"^(?:(deleted|added|replaced) )?(qdisc|class) (\S+) ([0-9a-fA-F]*:[0-9a-fA-F]*) "
    r"(?=dev |root|parent |ingress|refcnt )"
)
_asked = re.compile(r"\btc\b.*\b(?:qdisc|class|q|c)\b.*\b(?:show|ls|list)\b.*?\bdev (\S+)")
_packets = re.compile(r"(\d+)p")
# The kernel shows gains of dualpi2 one step of 1/256 below those that are set: it rounds down twice.
_gain = Fraction(1, 256)
# Names in JSON that are not those of commands, by kind.
_names = {
    "dualpi2": {
        "memory-limit": "memlimit", "step-thresh-us": "step_thresh", "step-thresh-pkts": "step_thresh",
        "min-qlen-step": "min_qlen_step", "coupling": "coupling_factor", "c-protection": "classic_protection",
    },
    "tbf": {"lat": "latency"},
}  # fmt: skip
_not_options = ("refcnt", "leaf", "direct_packets_stat", "ver", "ingress_block", "egress_block", "debug")


def is_shown(text: str) -> bool:
    """Whether a text looks like an output of `tc ... show`."""
    return any(_line.match(line) for line in text.splitlines()) or _content(text) is not None


def _content(text: str) -> list[dict[str, Any]] | None:
    """The entries of an output of `tc -j`, or of several one behind the other; ``None`` if a text is none."""
    decoder, rest = json.JSONDecoder(), text.strip()
    entries: list[dict[str, Any]] = []
    while rest:
        if not rest.startswith("["):
            return None
        try:
            content, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return None
        entries += content
        rest = rest[end:].lstrip()
    entries = [each for each in entries if each != {}]
    return entries if entries and all(map(_is_entry, entries)) else None


def _is_entry(each: object) -> bool:
    return isinstance(each, dict) and isinstance(each.get("kind", each.get("class")), str) and "handle" in each


def shown(document: Document) -> list[Command]:
    """The entries of an output, each behind those above it.

    `show dev NAME` does not print the device: without its command in front it is called ``dev``, a second one ``dev2``.
    """
    content = _content(document.text)
    commands = list(_of_text(document) if content is None else _of_json(document, content))
    devices = {command.device for command in commands if command.device}
    unnamed = next(iter(devices)) if len(devices) == 1 else "dev"
    named: list[Command] = []
    roots = 0
    for command in commands:
        if command.subject == "class" and command.kind not in WITH_CLASSES:
            # Of these the discipline says all.
            continue
        if not command.device:
            roots += command.subject == "qdisc" and command.parent == ROOT
        name = unnamed if roots < 2 else f"{unnamed}{roots}"
        named.append(command if command.device else _on(command, name))
    return _in_order(named)


def _on(command: Command, device: str) -> Command:
    return Command(
        command.statement, command.subject, command.verb, device, command.parent, command.handle, command.kind,
        command.options, command.more,
    )  # fmt: skip


def _in_order(commands: Sequence[Command]) -> list[Command]:
    """Disciplines before what hangs below them: the kernel lists them by handle."""
    classes = {(command.device, command.handle) for command in commands if command.subject == "class"}
    waiting: dict[tuple[str, int | None, bool], list[Command]] = {}
    ordered: list[Command] = []
    for command in commands:
        parent = command.parent or 0
        on_class = bool(parent & 0xFFFF) and (command.device, parent) in classes and parent >> 16 != 0xFFFF
        if command.verb == "delete" or (parent >> 16 == 0xFFFF and command.subject == "qdisc"):
            ordered.append(command)
        elif command.subject == "class" and not on_class:
            waiting.setdefault((command.device, (command.handle or 0) >> 16 << 16, False), []).append(command)
        else:
            key = parent if on_class else parent >> 16 << 16
            waiting.setdefault((command.device, key, on_class), []).append(command)
    for command in ordered:
        if command.verb != "delete":
            ordered += waiting.pop((command.device, command.handle, command.subject == "class"), [])
    return ordered + [command for rest in waiting.values() for command in rest]


def _of_text(document: Document) -> Iterator[Command]:
    device = ""
    for number, line in enumerate(document.text.splitlines(), start=1):
        match = _line.match(line)
        if match is None:
            asked = _asked.search(line)
            device = asked[1] if asked is not None else device
            if line.startswith("filter "):
                document.remark("outputs of `tc filter show` are not read: give the commands", line=number)
            continue
        statement = Statement(number, tuple(line.split()))
        subject, kind, handle = match[2], match[3], match[4]
        # `tc -d` leaves out a blank.
        words = [*_without(re.sub(r"(/[0-9]+)mpu ", r"\1 mpu ", line[match.end() :]).split()), kind]
        at = words[:-1]
        front = _front(at)
        verb = "delete" if match[1] == "deleted" else "show"
        command = entry(document, statement, subject, verb, [*front, kind, *_as_written(kind, at[len(front) :])])
        number_read = number_of(handle, is_discipline=subject == "qdisc")
        yield Command(
            statement, subject, verb, command.device or device, command.parent, number_read, kind, command.options,
            command.more,
        )  # fmt: skip


def _without(words: Sequence[str]) -> list[str]:
    """The words without those that are of no discipline."""
    rest: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in _not_options and words:
            words.pop(0)
        else:
            rest.append(word)
    return rest


def _front(words: Sequence[str]) -> list[str]:
    """The words that say where it stands."""
    at = 0
    while at < len(words) and words[at] in ("dev", "root", "parent", "ingress", "clsact", "offloaded"):
        at += 2 if words[at] in ("dev", "parent") else 1
    return list(words[:at])


def _as_written(kind: str, words: Sequence[str]) -> Iterator[str]:
    """Options in the units of commands."""
    before = ""
    for word in words:
        match = _packets.fullmatch(word)
        if match is not None and before != "step_thresh":
            yield match[1]
        elif kind == "dualpi2" and before in ("alpha", "beta"):
            yield _stored_gain(word)
        elif kind == "dualpi2" and before == "memlimit":
            yield word.removesuffix("B")
        else:
            yield word
        before = word


def _stored_gain(word: str) -> str:
    try:
        return str(float(round(Fraction(word) / _gain) * _gain + _gain))
    except ValueError:
        return word


def _of_json(document: Document, content: Sequence[Mapping[str, Any]]) -> Iterator[Command]:
    lines = [
        document.text.count("\n", 0, match.start()) + 1
        for match in re.finditer(r'"(?:kind|class)"\s*:\s*"', document.text)
    ]
    for number, each in enumerate(content):
        subject = "class" if "class" in each else "qdisc"
        kind = str(each.get("class", each.get("kind")))
        line = lines[number] if number < len(lines) else 1
        handle = number_of(str(each["handle"]), is_discipline=subject == "qdisc")
        front = ["root"] if each.get("root") else []
        if "parent" in each:
            front = ["parent", str(each["parent"])]
        if isinstance(each.get("dev"), str):
            front = ["dev", each["dev"], *front]
        if kind in ("ingress", "clsact"):
            front.append("ingress")
        options = each.get("options", {key: value for key, value in each.items() if key not in _places})
        words = list(_words(kind, options)) if isinstance(options, Mapping) else []
        statement = Statement(line, (subject, kind, str(each["handle"]), *front, *words))
        command = entry(document, statement, subject, "show", [*front, kind, *words])
        yield Command(
            statement, subject, "show", command.device, command.parent, handle, kind, command.options, command.more
        )


_places = ("kind", "class", "handle", "dev", "root", "parent", "refcnt", "leaf", "stats", "offloaded", "deleted")


def _words(kind: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Options of JSON as words: times are microseconds, sizes bytes, rates bytes a second."""
    for key, value in options.items():
        name = _names.get(kind, {}).get(key, key)
        if value is False or key in (*_not_options, "ce_threshold_mask"):
            continue
        if kind == "netem":
            yield from _netem(key, value) if value else ()
        elif kind == "dualpi2":
            yield from _dualpi2(key, name, value)
        elif value is True or value is None:
            yield name
        elif isinstance(value, list):
            yield from (name, *map(str, value))
        elif key == "ce_threshold_selector":
            yield from (name, f"{value:#x}/{options.get('ce_threshold_mask', 0):#x}")
        elif key in ("rate", "ceil", "bandwidth", "peakrate") and isinstance(value, int):
            yield from (name, f"{value * 8}bit")
        elif not isinstance(value, Mapping):
            yield from (name, str(value))


def _dualpi2(key: str, name: str, value: Any) -> Iterator[str]:
    """Words of dualpi2, of which some are values in JSON."""
    if key in ("drop-overload", "drop-early", "ecn-mask", "split-gso"):
        yield {"drop": "drop_on_overload", None: "split_gso"}.get(value, str(value).replace("-", "_"))
    elif key in ("alpha", "beta"):
        yield from (key, _stored_gain(str(value)))
    else:
        yield from (name, f"{value}p" if key == "step-thresh-pkts" else str(value))


def _netem(key: str, value: Any) -> Iterator[str]:
    """Tables of netem, whose times are seconds and whose shares are fractions."""

    def share(name: str) -> list[str]:
        number = value.get(name)
        return [f"{float(number) * 100:.10g}%"] if number else []

    if not isinstance(value, Mapping):
        if key in ("limit", "gap", "ecn"):
            yield from (key,) if value is True else (key, str(value))
    elif key == "delay":
        yield from ("delay", f"{float(value.get('delay', 0))}s")
        if value.get("jitter"):
            yield from (f"{float(value['jitter'])}s", *share("correlation"))
    elif key == "loss-random":
        yield from ("loss", *(share("loss") or ["0%"]), *share("correlation"))
    elif key in ("loss-state", "loss-gemodel"):
        yield from ("loss", key.removeprefix("loss-"), *(word for name in value for word in (name, *share(name))))
    elif key in ("duplicate", "corrupt", "reorder"):
        yield from (key, *(share(key) or ["0%"]), *share("correlation"))
    elif key == "rate":
        yield from ("rate", f"{int(value.get('rate', 0)) * 8}bit")
        yield from (str(value[name]) for name in ("packetoverhead", "cellsize", "celloverhead") if name in value)
