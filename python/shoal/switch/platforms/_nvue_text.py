"""The two forms of a configuration of NVUE: commands, and the YAML of `nv config show` and `startup.yaml`.

Both become statements ``nv set PATH VALUE``, one for each member of a list, without those that `nv unset` takes back.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NoReturn

from shoal.switch.edits import Edits
from shoal.switch.reading import Document, Statement, commands

_command = re.compile(r"^[ \t]*(?:sudo\s+)?nv\s+(?:un)?set\s+(?:qos|interface\s+\S+\s+qos)\b", re.MULTILINE)
_head = re.compile(r"\bqos['\"]?\s*:")
_part = re.compile(r"\b(?:congestion-control|egress-scheduler|roce)['\"]?\s*:")
# Behind these words stand lists such as `4,5,7` and `0-3`.
_lists = ("interface", "traffic-class", "dscp", "pcp", "switch-priority")
_range = re.compile(r"([A-Za-z0-9_./-]{0,32}?)([0-9]{1,5})-(?:\1)?([0-9]{1,5})")
_most_members = 4096
# NVUE nests less than ten deep.
_most_depth = 64


def is_nvue(text: str) -> bool:
    """Whether a text has commands of NVUE about queues, or their YAML."""
    return bool(_command.search(text) or (_head.search(text) and _part.search(text)))


def statements(document: Document) -> list[Statement]:
    """What a configuration sets about queues and speeds of ports."""
    edits = Edits()
    is_yaml = _command.search(document.text) is None
    for verb, words, line in _leaves(document) if is_yaml else _commands(document):
        if words[:1] == ("qos",) or (words[:1] == ("interface",) and (verb == "unset" or _is_read(words))):
            for path in _expanded(document, words, line):
                if verb == "set":
                    edits.set(path, Statement(line, ("nv", "set", *path)))
                else:
                    edits.delete(path)
    return list(edits.statements())


def _is_read(words: Sequence[str]) -> bool:
    """Whether a path below an interface is about queues, or its speed."""
    return words[2:3] == ("qos",) or words[2:4] == ("link", "speed")


def _commands(document: Document) -> Iterator[tuple[str, tuple[str, ...], int]]:
    for statement in commands(document):
        words = statement.words[1:] if statement.starts("sudo") else statement.words
        if words[:2] in (("nv", "set"), ("nv", "unset")):
            yield words[1], words[2:], statement.line


def _expanded(document: Document, words: Sequence[str], line: int) -> Iterator[tuple[str, ...]]:
    """A path for each combination of the members of its lists."""
    members = [
        _members(word) if before in _lists else [word] for before, word in zip(("", *words), words, strict=False)
    ]
    if prod(map(len, members)) > _most_members:
        document.refuse(line, f"the lists of this line stand for more than {_most_members} statements", "write fewer")
    return itertools.product(*members)


def _members(word: str) -> Sequence[str]:
    """The members of a list such as ``swp1-3,swp5`` or ``4,5``; what is none is its only member."""
    members: list[str] = []
    for part in word.split(","):
        match = _range.fullmatch(part)
        first, last = (int(match[2]), int(match[3])) if match is not None else (0, -1)
        if not part or (match is not None and last < first):
            return [word]
        members += [part] if match is None else [f"{match[1]}{number}" for number in range(first, last + 1)]
        if len(members) > _most_members:
            break
    return members


class _Mapping:
    """A mapping of YAML that is being read."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.name: str | None = None


def _leaves(document: Document) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """The leaves of YAML as verb, path with value, and line; a list of one mapping each (`- set:`) or a mapping.

    Events are read and no objects are made, so that nothing of the text is executed, and depth costs nothing.
    """
    for path, line in _paths(document):
        if path[:1] in (("set",), ("unset",)):
            yield path[0], path[1:], line
        elif path[:1] != ("header",):
            yield "set", path, line


def _paths(document: Document) -> Iterator[tuple[tuple[str, ...], int]]:
    import yaml

    text = re.sub(r"(?m)^[ \t]*nv config show\b.*$", "", document.text)
    # The mappings and lists that are open; a list is `None`.
    around: list[_Mapping | None] = []
    was_empty = False
    for event in _events(document, text):
        line = event.start_mark.line + 1
        top = around[-1] if around else None
        match event:
            case yaml.AliasEvent():
                document.refuse(line, "an alias of YAML (`*`) is not read", "write out what it stands for")
            case yaml.ScalarEvent() if top is not None and top.name is None:
                if event.value in top.names:
                    # What the name is may be a secret.
                    document.refuse(line, "a name stands twice in one mapping", "remove one of them")
                top.names.add(event.value)
                top.name = event.value
            case yaml.ScalarEvent():
                yield (*_names(around), event.value), line
                _end_value(top)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if top is not None and top.name is None:
                    document.refuse(line, "a name of YAML that is no word", "is this a configuration of NVUE?")
                if len(around) == _most_depth:
                    document.refuse(line, "nested too deeply", "is this a configuration of NVUE?")
                around.append(_Mapping() if isinstance(event, yaml.MappingStartEvent) else None)
                was_empty = True
                continue
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                around.pop()
                if was_empty:
                    yield _names(around), line
                _end_value(around[-1] if around else None)
        was_empty = False


def _names(around: Sequence[_Mapping | None]) -> tuple[str, ...]:
    return tuple(each.name for each in around if each is not None and each.name is not None)


def _end_value(mapping: _Mapping | None) -> None:
    if mapping is not None:
        mapping.name = None


def _events(document: Document, text: str) -> Iterator[Any]:
    import yaml

    try:
        # The parser in C where it is there: large configurations take a tenth of the time.
        yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        _refuse_yaml(document, error)


def _refuse_yaml(document: Document, error: Exception) -> NoReturn:
    """Refuse what is no YAML; what the library says of it may have a piece of the text."""
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    document.refuse(line, "not YAML", "give commands, or all that `nv config show` prints")
