"""What leads packets to forwarding classes of Junos: classifiers, and names of code points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.switch.code_points import LARGEST, code_point
from shoal.switch.reading import Document, Statement
from shoal.switch.words import Words

# Names that a file need not define, beyond those of scenarios.
_usual_aliases = {"nc1": 48, "nc2": 56}
# Kinds whose code points are in packets of a scenario; those of IPv6 are usually the same again.
_of_packets = ("dscp", "inet-precedence", "dscp-ipv6")
_example = "set class-of-service classifiers dscp c forwarding-class best-effort loss-priority low code-points 001010"


@dataclass(frozen=True)
class _Entry:
    """Code points that lead to a forwarding class, as written."""

    class_name: str
    loss: str
    words: tuple[str, ...]
    statement: Statement


@dataclass
class _Classifier:
    line: int
    entries: list[_Entry] = field(default_factory=list)
    has_import: bool = False


class Classifiers:
    """The classifiers of a device, and which of them interfaces have."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._classifiers: dict[tuple[str, str], _Classifier] = {}
        self._bound: dict[tuple[str, str], Statement] = {}
        self._aliases: dict[str, str] = {}

    def take(self, words: Words) -> None:
        """Read the words of a classifier."""
        words.example = _example
        kind = words.any()
        if kind not in ("dscp", "inet-precedence") or not words.next:
            return
        classifier = self._classifiers.setdefault((kind, words.any()), _Classifier(words.statement.line))
        if words.take("import"):
            classifier.has_import = True
        elif words.take("forwarding-class"):
            name = words.any()
            words.expect("loss-priority")
            loss = words.any()
            words.expect("code-points")
            points = [words.any()]
            while words.next:
                points.append(words.any())
            classifier.entries.append(_Entry(name, loss, tuple(points), words.statement))

    def take_alias(self, words: Words) -> None:
        """Read the words of a name of a code point."""
        if words.take("dscp") and words.next:
            name = words.any()
            self._aliases[name] = words.any()
            words.end()

    def bind(self, words: Words) -> None:
        """Note the classifier of an interface."""
        if words.next:
            self._bound.setdefault((words.any(), words.next and words.any()), words.statement)

    def loss_priority(self, class_name: str) -> str:
        """The loss priority that packets of a forwarding class have; `low` if they have several, or none is said."""
        in_force = self._in_force().values()
        losses = {entry.loss for each in in_force for entry in each.entries if entry.class_name == class_name}
        return losses.pop() if len(losses) == 1 else "low"

    def _in_force(self) -> Mapping[tuple[str, str], _Classifier]:
        """The classifiers that interfaces have; all where none is bound."""
        return {key: each for key, each in self._classifiers.items() if not self._bound or key in self._bound}

    def code_points(self) -> dict[str, tuple[int, ...]]:
        """The code points that lead to each forwarding class."""
        others = [key for key in self._bound if key[0] not in _of_packets]
        if others and not {kind for kind, _ in self._bound} & {"dscp", "inet-precedence"}:
            self.document.leave_undecided(f"a classifier of `{others[0][0]}`", self._bound[others[0]].line)
        for (kind, name), statement in self._bound.items():
            if kind == "dscp" and (kind, name) not in self._classifiers:
                text = (
                    f"the classifier `{name}` is not in this file: which code points lead to which queue is not known"
                )
                self.document.remark(text, line=statement.line)
        in_force = self._in_force()
        if len(in_force) > 1:
            line = list(in_force.values())[1].line
            self.document.leave_undecided("which of several classifiers a packet meets", line)
            return {}
        points: dict[str, set[int]] = {}
        for (kind, _), classifier in in_force.items():
            if classifier.has_import:
                self.document.remark(
                    "`import` of a classifier is not read: code points that it does not name are of no queue here",
                    line=classifier.line,
                )
            for entry in classifier.entries:
                column = points.setdefault(entry.class_name, set())
                column.update(point for word in entry.words for point in self._points(kind, word, entry.statement))
        return {name: tuple(sorted(column)) for name, column in points.items()}

    def _points(self, kind: str, word: str, statement: Statement) -> Sequence[int]:
        """The code points of bits or a name; a precedence has the upper three bits of eight."""
        bits = self._aliases.get(word, word)
        if kind == "inet-precedence" and re.fullmatch("[01]{3}", bits):
            return range(8 * int(bits, 2), 8 * int(bits, 2) + 8)
        if kind == "dscp" and re.fullmatch("[01]{6}", bits):
            return [int(bits, 2)]
        point = None if bits.isdecimal() else _usual_aliases.get(bits, code_point(bits))
        if kind != "dscp" or point is None or point > LARGEST:
            what = f"`{word}` is not a code point"
            self.document.refuse_statement(statement, what, "bits or a name, as in 001010 or af11")
        return [point]
