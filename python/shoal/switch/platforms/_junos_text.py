"""The two forms of a configuration of Junos: `set` commands, and blocks in braces.

Both become statements ``set PATH``, without what is deleted or inactive, and with what groups bring that are applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.switch.edits import Edits
from shoal.switch.reading import Document, Statement, statements

COS = "class-of-service"
# What may stand in a file of which only the part below `class-of-service` was copied.
_below_cos = (
    *("classifiers", "code-point-aliases", "congestion-notification-profile", "drop-profiles", "forwarding-class-sets"),
    *("forwarding-classes", "interfaces", "rewrite-rules", "scheduler-maps", "schedulers", "traffic-control-profiles"),
)
_roots = (COS, "interfaces", "firewall", "chassis", "groups", "apply-groups", "apply-groups-except")
_commands = re.compile(rf"^[ \t]*(?:set|edit|delete|deactivate)\s+(?:groups\s+\S+\s+)?{COS}\b", re.MULTILINE)
_member = r"(?:\{(?:master|backup|linecard)[^}\n]*\})"
_banner = re.compile(rf"^[ \t]*{_member}?\[edit (?:groups \S+ )?{COS}\b[^\]]*\][ \t]*$", re.MULTILINE)
_set = re.compile(r"^[ \t]*set\s", re.MULTILINE)
_block = re.compile(rf"^[ \t]*(?:(?:inactive|protect|replace):\s*)?(?:{COS}|drop-profiles)\s*\{{", re.MULTILINE)
_whole = re.compile(rf"^[ \t]*(?:(?:inactive|protect|replace):\s*)?(?:{COS}|groups)\s*\{{", re.MULTILINE)
# Lines of a terminal between blocks.
_terminal = re.compile(
    rf"^[ \t]*(?:{_member}?\[edit[^\]\n]*\]|{_member}|(?:show|run|commit|top|exit)\b[^;{{}}\n]*)[ \t\r]*$", re.MULTILINE
)
_token = re.compile(r'/\*.*?(?:\*/|\Z)|#[^\n]*|"(?:[^"\\]|\\.)*"|[{};]|[^\s{};"]+', re.DOTALL)


def is_junos(text: str) -> bool:
    """Whether a text has a configuration of classes of service."""
    return any(pattern.search(text) for pattern in (_commands, _banner, _block))


def junos_statements(document: Document) -> list[Statement]:
    """What a configuration sets about queues, what leads to them, and speeds of ports; words are `set` and a path."""
    edits = Edits()
    text = document.text
    if _commands.search(text) or (_banner.search(text) and _set.search(text)):
        _take_commands(document, edits)
    else:
        _take_blocks(document, edits)
    return _with_groups(document, list(edits.statements()))


def _cleaned(words: Sequence[str]) -> tuple[str, ...]:
    """Words without quotation marks, and without the brackets of lists; those of wildcards stay."""
    bare = [word.strip('"').removeprefix("[") for word in words]
    return tuple(word for word in (word if "[" in word else word.removesuffix("]") for word in bare) if word)


def _is_read(path: Sequence[str]) -> bool:
    """Whether a path is about what is read; nothing else is kept, because it may be secret."""
    if path[:1] == ("groups",):
        return _is_read(path[2:])
    return path[:1] in ((COS,), ("apply-groups",), ("apply-groups-except",)) or _is_beside(path)


def _is_beside(path: Sequence[str]) -> bool:
    """Whether a path outside of classes of service is the speed of a port, or leads packets to a class."""
    match path:
        case ("interfaces", _, "speed", _) | ("interfaces", _, "ether-options" | "gigether-options", "speed", _):
            return True
        case ("chassis", "fpc", _, "pic", _, "port", _, "speed", _):
            return True
        case ("firewall", *_):
            return "then" in path and path[-2:-1] == ("forwarding-class",)
    return False


def _take_commands(document: Document, edits: Edits) -> None:
    """Follow commands of the configuration mode; `edit` says below what the next ones are."""
    levels: list[tuple[str, ...]] = []
    for statement in statements(document, comments="#"):
        words = _cleaned(statement.words)
        if re.match(rf"{_member}?\[edit\b", statement.words[0]):
            levels = [words[1:]] if len(words) > 1 else []
            continue
        if words[:1] == ("top",):
            levels, words = [], words[1:]
        verb, rest = (words[0], words[1:]) if words else ("", ())
        path = (*(word for level in levels for word in level), *rest)
        match verb:
            case "edit":
                levels.append(rest)
            case "up" | "exit":
                levels = levels[:-1]
            case "set" if _is_read(path):
                edits.set(path, Statement(statement.line, ("set", *path)))
            case "delete":
                edits.delete(path)
            case "deactivate" | "activate":
                edits.deactivate(path, is_inactive=verb == "deactivate")
            case "rename" | "copy" | "insert" | "replace" if path[:1] == (COS,):
                document.refuse(statement.line, f"`{verb}` is not followed", "give what `show | display set` prints")


class _Blocks:
    """Blocks in braces that are being read."""

    def __init__(self, document: Document, edits: Edits, *, is_part: bool) -> None:
        self.document, self.edits, self.is_part = document, edits, is_part
        self.around: list[tuple[str, ...]] = []
        # The words of the statement that is being read, and its line.
        self.words: list[str] = []
        self.first = 1
        # How many blocks are around the one that is inactive.
        self.inactive_at: int | None = None

    def take(self, word: str, line: int) -> None:
        """Read a word, a brace or a semicolon."""
        match word:
            case "{":
                self.around.append(tuple(self.words))
            case ";":
                if self.inactive_at is None:
                    self._statement()
                self._end()
            case "}":
                self._close(line)
            case "inactive:" | "delete:":
                self.inactive_at = len(self.around) if self.inactive_at is None else self.inactive_at
            case "protect:" | "replace:":
                pass
            case _:
                self.first = self.first if self.words else line
                self.words.append(word)
                return
        self.words = []

    def _end(self) -> None:
        """The statement or block that was inactive may have ended."""
        self.inactive_at = None if self.inactive_at == len(self.around) else self.inactive_at

    def _close(self, line: int) -> None:
        if self.words:
            self.document.refuse(line, "a statement without `;` before `}`", _complete)
        if not self.around:
            self.document.refuse(line, "a `}` that closes no block", _complete)
        self.around.pop()
        self._end()

    def _statement(self) -> None:
        parts = [*self.around, tuple(self.words)]
        root = next((part[0] for part in parts if part), "")
        if root in (_below_cos if self.is_part else _roots):
            path = _cleaned([*([COS] if self.is_part else []), *(word for part in parts for word in part)])
            if _is_read(path):
                self.edits.set(path, Statement(self.first, ("set", *path)))


_complete = "is this file complete?"


def _take_blocks(document: Document, edits: Edits) -> None:
    text = _terminal.sub("", document.text)
    blocks = _Blocks(document, edits, is_part=_whole.search(text) is None)
    line, before = 1, 0
    for match in _token.finditer(text):
        line += text.count("\n", before, match.start())
        before = match.start()
        if not match[0].startswith(("/*", "#")):
            blocks.take(match[0], line)
    if blocks.around:
        document.refuse(line, "a block is not closed", _complete)
    if blocks.words:
        document.refuse(line, "the last statement has no `;`", _complete)


def _with_groups(document: Document, given: Sequence[Statement]) -> list[Statement]:
    """Statements with those of groups that are applied; what stands outside of groups counts more, so it comes last."""
    groups: dict[str, list[Statement]] = {}
    applied: list[tuple[tuple[str, ...], str, int]] = []
    others: list[Statement] = []
    for statement in given:
        path = statement.words[1:]
        if path[:1] == ("groups",):
            groups.setdefault(path[1], []).append(Statement(statement.line, ("set", *path[2:])))
        elif "apply-groups-except" in path:
            document.refuse_statement(statement, "`apply-groups-except` is not followed", _inheritance)
        elif "apply-groups" in path:
            at = path.index("apply-groups")
            applied += [(path[:at], name, statement.line) for name in path[at + 1 :]]
        else:
            others.append(statement)
    brought: list[Statement] = []
    for below, name, line in reversed(applied):
        if name not in groups:
            document.remark(f"the group `{name}` is applied, and not in this file", hint=_inheritance, line=line)
        brought += _brought(document, groups.get(name, ()), below)
    names = {name for _, name, _ in applied}
    for name in groups:
        if name not in names:
            document.remark(f"the group `{name}` has classes of service, and is not applied", line=groups[name][0].line)
    return brought + others


_inheritance = "give what `show configuration | display inheritance` prints"


def _brought(document: Document, group: Sequence[Statement], below: Sequence[str]) -> Iterator[Statement]:
    for statement in group:
        path = statement.words[1:]
        if path[: len(below)] == tuple(below):
            if any(word.startswith("<") for word in path):
                document.refuse_statement(statement, "a wildcard of a group is not followed", _inheritance)
            yield statement
