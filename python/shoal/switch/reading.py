"""What readers share: the text with its name, statements with their lines, JSON with the places of its names."""

from __future__ import annotations

import json
import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from shoal.errors import OutputError, ScenarioError, refused_line
from shoal.switch.amounts import Port, Unit
from shoal.switch.model import Queue, Remark, Source
from shoal.switch.presets import Switch

# A string of JSON, with the colon behind it if it is a name.
_string = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?')
# Such as `leaf1(config-pmap-que)# `, `switch> ` and `admin@sw:~$ `.
_prompt = re.compile(r"^[\w.-]+(?:@[\w.-]+)?(?::[^\s#$>]*)?(?:\([\w-]+\))?[#>$] +(?=\S)", re.MULTILINE)
# Where JSON begins, and not a banner of Junos such as `[edit]` or `{master:0}`.
_json = re.compile(r'\s*[{\[]\s*["{\[\]}]')
_jinja = re.compile(r"\{%|\{\{")
# Actions of Go's text/template, which has no `{%`; a name without a dot in front is one of Jinja.
_go = re.compile(r"\{\{-?\s*(define|template|block|range|with|if|else|end|\.|\$|/\*)")


@dataclass(frozen=True)
class Document:
    """A configuration that is being read, and the remarks on it so far."""

    name: str
    text: str
    port: Port
    switch: Switch = field(default_factory=Switch)
    segment_known: bool = False
    remarks: list[Remark] = field(default_factory=list)
    undecided: list[Remark] = field(default_factory=list)
    _said: set[Remark] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Take the prompts of a terminal off its lines, which keep their numbers."""
        if _json.match(self.text) is None:
            object.__setattr__(self, "text", _prompt.sub("", self.text))

    def source(self, line: int) -> Source:
        """A place in it."""
        return Source(self.name, line)

    def remark(self, text: str, *, hint: str = "", line: int = 0, queue: str = "") -> None:
        """Note something doubtful, once."""
        remark = Remark(text, hint, self.source(line) if line else None, queue)
        if remark not in self._said:
            self._said.add(remark)
            self.remarks.append(remark)

    def leave_undecided(self, what: str, line: int) -> None:
        """Note a statement that decides which packets wait where, and is not read."""
        text = f"{what} is not read: which packets wait in which queue is not known"
        hint = "--queue N for one of them, or --flows CC*COUNT@QUEUE says which flows wait where"
        self.remark(text, hint=hint, line=line)
        self.undecided.append(Remark(text, hint, self.source(line)))

    def refuse(self, line: int, what: str, hint: str, *, words: Sequence[str] = ()) -> NoReturn:
        """Refuse a line, of which only ``words`` are shown: those of a statement about queues.

        A line itself is never shown: JSON may be one line with every password of the device, and comments and other
        commands may stand behind a statement.
        """
        raise refused_line(self.name, line, " ".join(words) or None, what, hint)

    def refuse_statement(self, statement: Statement, what: str, hint: str) -> NoReturn:
        """Refuse a statement about queues, which is shown."""
        self.refuse(statement.line, what, hint, words=statement.words)

    def refuse_templates(self) -> None:
        """Refuse a template of Jinja, or of another language with such braces, which is no configuration yet."""
        if (match := _jinja.search(self.text)) is not None:
            line = self.text.count("\n", 0, match.start()) + 1
            is_go = _go.search(self.text) is not None and "{%" not in self.text
            hint = "as in `sonic-cfggen -d -t qos.json.j2 > qos.json`"
            self.refuse(
                line,
                f"this is a template of {'Go' if is_go else 'Jinja'}, not a configuration",
                "render it first, " + ("with the program that it belongs to" if is_go else hint),
            )


def say_kbytes(document: Document, queues: Iterable[Queue]) -> None:
    """Say how kbytes are read, if a threshold has them."""
    units = {amount.unit for queue in queues for _, law in queue.laws for amount in (law.min, law.max)}
    if units & {Unit.KBYTES, Unit.MBYTES}:
        document.remark(
            "kbytes are read as 1000 bytes: the documents that were read do not say whether they are 1024",
            hint="the difference is 2.4 %",
        )


def say_paused(document: Document, queue: Queue) -> None:
    """Say that a queue pauses its senders, which scenarios do not."""
    document.remark(
        "priority flow control is on: senders are paused before packets are dropped",
        hint="the scenario drops what does not fit",
        queue=queue.name,
    )


def say_speeds(document: Document, rates_bps: Iterable[int]) -> None:
    """Say when ports that have queues have another speed than the one that thresholds are shown for."""
    if others := sorted(set(rates_bps) - {document.port.rate_bps}):
        document.remark(
            f"ports of this file have {', '.join(f'{rate / 1e9:g}' for rate in others)} Gbit/s: times, and what is "
            "simulated, are of the given speed",
            hint="give that of the port as --port-speed",
        )


# Such as `100g-4`, `25gfull` and `10000`, which is in Mbit/s.
_speed = re.compile(r"([0-9]+)(g?)(full|-[0-9]+)?")


def speeds_of_interfaces(document: Document) -> dict[str, int]:
    """The speeds in bit/s that lines of interfaces give (`speed 100g-4`, `speed forced 25gfull`, `speed 25000`)."""
    speeds: dict[str, int] = {}
    name = ""
    for statement in statements(document):
        if statement.words[0] == "interface":
            name = " ".join(statement.words[1:])
        elif not statement.indent:
            name = ""
        elif name and statement.words[0] == "speed" and (match := _speed.fullmatch(statement.words[-1])) is not None:
            speeds[name] = int(match[1]) * (10**9 if match[2] else 10**6)
    return speeds


def say_speeds_of_interfaces(document: Document, queues: Iterable[Queue]) -> None:
    """Say when interfaces that have queues, or any where queues have none, are not of the given speed."""
    ports = {port for queue in queues for port in queue.ports}
    speeds = speeds_of_interfaces(document)
    say_speeds(document, (speed for name, speed in speeds.items() if not ports or name in ports))


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a configuration in words.

    Attributes
    ----------
    is_alternative
        Whether it stands behind `||` in a script, so that it runs only if the command in front fails.
    """

    line: int
    words: tuple[str, ...]
    indent: int = 0
    is_alternative: bool = False

    def starts(self, *words: str) -> bool:
        """Whether it begins with these words."""
        return self.words[: len(words)] == words


# Statements about queues, which a terminal or an editor may have broken before one of the words that none begins with.
_of_queues = ("random-detect", "bandwidth", "shape", "queue-limit")
_inside = re.compile(
    r"(minimum-|maximum-)?threshold|(drop-|max-mark-)probability|drop-precedence|weight|ecn|[0-9.]+"
    r"|[kmg]?bytes|[kmg]bps|packets|segments|(milli|micro)seconds|percent|remaining|guaranteed"
)


def statements(document: Document, *, comments: str = "!") -> Iterator[Statement]:
    """The lines of a configuration in words, without comments.

    A backslash at the end of a line joins the next, and so does a line that goes on with the words of a law.
    """
    before: Statement | None = None
    for statement in _lines(document, comments):
        if before is not None and before.words[0] in _of_queues and _inside.fullmatch(statement.words[0]):
            before = replace(before, words=(*before.words, *statement.words))
            continue
        if before is not None:
            yield before
        before = statement
    if before is not None:
        yield before


def _lines(document: Document, comments: str) -> Iterator[Statement]:
    words: list[str] = []
    first = indent = 0
    comment = re.compile(rf"(^|\s)[{re.escape(comments)}].*")
    for number, line in enumerate(document.text.splitlines(), start=1):
        text = comment.sub("", line)
        goes_on = text.rstrip().endswith("\\")
        if not words:
            first, indent = number, len(line) - len(line.lstrip())
        words += text.rstrip().removesuffix("\\").split()
        if not goes_on:
            if words:
                yield Statement(first, tuple(words), indent)
            words = []
    if words:
        yield Statement(first, tuple(words), indent)


def commands(document: Document) -> Iterator[Statement]:
    """The commands of a shell script in words: separators end them, redirections and comments belong to none."""
    lines = document.text.splitlines()
    number = 0
    while number < len(lines):
        first, text = number + 1, lines[number]
        while text.rstrip().endswith(("\\", "||")) and number + 1 < len(lines):
            number += 1
            text = text.rstrip().removesuffix("\\") + " " + lines[number]
        number += 1
        for words, is_alternative in _split_commands(text.rstrip().removesuffix("\\")):
            yield Statement(first, words, is_alternative=is_alternative)


# What a shell would split at or take out of a line.
_of_shell = re.compile(r"[;&|()<>'\"\\#]")
# The number of a file in front of a redirection, as in `2>/dev/null`.
_of_file = re.compile(r"(?<=\s)[0-9]+(?=>)")
# What documents write for a word that everybody has another one for, as in `dev <interface>`.
_placeholder = re.compile(r"(?<=\s)<[A-Za-z][\w-]*>(?=\s|$)")


def _split_commands(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The words of each command of a line, and whether it stands behind `||`."""
    if _of_shell.search(text) is None:
        if words_of_line := text.split():
            yield tuple(words_of_line), False
        return
    lexer = shlex.shlex(_placeholder.sub(r"'\g<0>'", _of_file.sub("", text)), posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words: list[str] = []
    try:
        parts = list(lexer)
    except ValueError:
        # A quotation that does not end.
        parts = text.split()
    is_alternative = is_redirected = False
    for part in parts:
        if not set(part) <= set(";&|()<>") or not part:
            if not is_redirected:
                words.append(part)
            is_redirected = False
        elif ">" in part:
            # Its file, or the number of one, is the next word.
            is_redirected = True
        else:
            if words:
                yield tuple(words), is_alternative
            is_alternative = part == "||" or (is_alternative and part == "(" and not words)
            words = []
    if words:
        yield tuple(words), is_alternative


class _Object(dict[str, Any]):
    """An object of JSON that knows which of its names stand in it more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs] if len(self) < len(pairs) else []
        self.repeated = sorted({name for name in names if names.count(name) > 1})


def _of_json(error: json.JSONDecodeError) -> tuple[str, str]:
    """What is wrong with a text that is not JSON, and what to do; nothing of the text is shown."""
    rest = error.doc[error.pos :].lstrip()
    start = error.doc.lstrip()[:1]
    if not rest:
        return error.msg, "is this file complete?"
    if rest.startswith(("//", "/*", "#")):
        return "a comment begins here, and JSON has none", "take the comments out"
    if rest.startswith(("}", "]")) or (rest.startswith(",") and start in ("{", "[") and error.msg != "Extra data"):
        return "a comma stands behind the last entry", "take it out"
    if rest.startswith(("'", "True", "False", "None")):
        return error.msg, 'JSON has double quotes, "true", "false" and null'
    if error.msg == "Extra data" and start == '"':
        return "the braces around the tables are missing", "put `{` in front of the first and `}` behind the last"
    if error.msg == "Extra data":
        return "something stands behind its end", "give one document, and nothing else"
    if error.msg.startswith("Expecting ','") and rest.startswith(('"', "{", "[")):
        return "a comma is missing in front of this", "write one between two entries"
    if start not in ("{", "["):
        return error.msg, "give the JSON alone, without what stands around it"
    return error.msg, "`python3 -m json.tool FILE` says the same of it"


class JsonFile:
    """JSON with the lines on which names stand, and what is said twice."""

    def __init__(self, document: Document) -> None:
        self.document = document
        document.refuse_templates()
        try:
            self.content: Any = json.loads(document.text, object_pairs_hook=_Object)
        except json.JSONDecodeError as error:
            what, hint = _of_json(error)
            document.refuse(error.lineno, f"not JSON: {what} (column {error.colno})", hint)
        except RecursionError:
            raise ScenarioError(
                f"error: `{document.name}` is nested too deeply\nhint: is this the right file?\n"
            ) from None

    def say_repeated(self, is_about_queues: Callable[[str], bool]) -> None:
        """Note names that stand twice in an object, if they or one above them are about queues; others are secret."""
        waiting: list[tuple[Any, bool]] = [(self.content, False)]
        while waiting:
            content, inside = waiting.pop()
            for name in content.repeated if isinstance(content, _Object) else ():
                if inside or is_about_queues(name):
                    self.document.remark(
                        f"`{name}` stands twice in one object: the last counts",
                        hint="remove the other, so that every tool reads the same",
                        line=self.line(name),
                    )
            if isinstance(content, Mapping):
                waiting += [(member, inside or is_about_queues(name)) for name, member in content.items()]
            elif isinstance(content, list):
                waiting += [(member, inside) for member in content]

    def line(self, *names: str) -> int:
        """The line of the last of these names, each looked for behind the one before; 1 if it is not found."""
        at = 0
        for name in names:
            starts = self._starts.get(name, [])
            index = bisect_left(starts, at)
            if index == len(starts):
                break
            at = starts[index]
        return bisect_left(self._ends_of_lines, at) + 1

    @cached_property
    def _starts(self) -> dict[str, list[int]]:
        """Where each name of an object begins, in rising order."""
        starts: dict[str, list[int]] = {}
        for match in _string.finditer(self.document.text):
            if match[1] is not None:
                text = match[0].removesuffix(match[1])
                starts.setdefault(json.loads(text) if "\\" in text else text[1:-1], []).append(match.start())
        return starts

    @cached_property
    def _ends_of_lines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.document.text)]


def table(content: Any, name: str) -> dict[str, Any]:
    """A table of an object; an empty one if it is not there or no table."""
    entry = content.get(name) if isinstance(content, Mapping) else None
    return dict(entry) if isinstance(entry, Mapping) else {}


# Configurations of large switches have megabytes; reading a device by accident must end.
_max_bytes = 1 << 26


def read_config_text(path: Path) -> str:
    """Read a configuration, of which bytes that are no UTF-8 are replaced: they can only stand in descriptions.

    Raises
    ------
    OutputError
        It cannot be read, or it is too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_max_bytes + 1)
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="name a file that you may read") from error
    if len(content) > _max_bytes:
        raise OutputError(f"`{path}` has more than {_max_bytes} bytes", hint="give the part that is about queues")
    return content.decode("utf-8-sig", errors="replace")
