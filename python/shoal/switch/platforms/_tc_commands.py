"""Commands of `tc` in words: of shell scripts, of files for `tc -batch`, and of lines that `tc ... show` printed.

Grammar of iproute2 (tc/tc.c, tc_qdisc.c, tc_class.c, tc_filter.c): objects and verbs may be shortened, handles are
hexadecimal, and the words in front of the kind may stand in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from shoal.models import nearest
from shoal.switch.reading import Document, Statement, commands

ROOT = 0xFFFF_FFFF
# Where arriving packets pass: no queue stands there.
INGRESS = 0xFFFF_FFF1
_objects = ("qdisc", "class", "filter")
_others = ("actions", "monitor", "exec", "chain")
_verbs = ("add", "change", "replace", "link", "delete")
_questions = ("show", "list", "lst", "ls", "get", "help")
# Words that may stand in front of `tc`, besides `ip netns exec NAME` and assignments.
_before = ("sudo", "doas", "exec", "env", "time", "nohup", "if", "then", "else", "do", "!", "{")
_values = {
    "qdisc": ("dev", "parent", "handle", "estimator", "ingress_block", "egress_block"),
    "class": ("dev", "parent", "classid", "estimator"),
    "filter": ("dev", "parent", "handle", "protocol", "prio", "preference", "pref", "chain", "block", "estimator"),
}
_of_size_tables = ("mtu", "mpu", "overhead", "tsize", "linklayer")
_flags = ("root", "ingress", "clsact", "egress", "skip_hw", "skip_sw", "offloaded")
EXAMPLE = "tc qdisc add dev eth0 root handle 1: prio"


@dataclass(frozen=True, slots=True)
class Command:
    """A command that changes the state of a device, or an entry of that state.

    Attributes
    ----------
    statement
        Its line, and its words as errors show them.
    subject
        ``qdisc``, ``class`` or ``filter``.
    verb
        ``add``, ``change``, ``replace``, ``link``, ``delete``; ``show`` for an entry of a state.
    device
        Its device, with the name space in front if it has one.
    parent
        The handle that it hangs below; ``None`` if it is not given.
    handle
        The handle of a discipline, or the number of a class; ``None`` if it is not given.
    kind
        The kind of discipline, class or filter; empty if it is not given.
    options
        The words behind the kind.
    more
        The other words in front of the kind that have a value, as text.
    is_alternative
        Whether it runs only if the command of `tc` in front of it fails.
    """

    statement: Statement
    subject: str
    verb: str
    device: str
    parent: int | None = None
    handle: int | None = None
    kind: str = ""
    options: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)
    is_alternative: bool = False

    @property
    def line(self) -> int:
        """The line on which it begins."""
        return self.statement.line


def label(handle: int) -> str:
    """A handle as people write it: ``1:10``, and ``1`` for that of a discipline."""
    if handle in (ROOT, INGRESS):
        return "root" if handle == ROOT else "ingress"
    major, minor = handle >> 16, handle & 0xFFFF
    return (f"{major:x}" if major else "") + (f":{minor:x}" if minor else "")


def number_of(text: str, *, is_discipline: bool) -> int | None:
    """A handle (``1:``, ``1:0``, ``10``) or the number of a class (``1:10``, ``:1``); ``None`` if it is neither."""
    if text in ("root", "none", "ingress"):
        return {"root": ROOT, "none": 0, "ingress": INGRESS}[text]
    match = re.fullmatch(r"(0x)?([0-9a-fA-F]{0,4})(:?)([0-9a-fA-F]{0,4})", text)
    if match is None or not (match[2] or match[4]):
        return None
    if not match[3] and not is_discipline:
        return int(match[2] + match[4] or "0", 16)
    minor = 0 if is_discipline else int(match[4] or "0", 16)
    return (int(match[2] or "0", 16) << 16) | minor


def commands_of(document: Document) -> Iterator[Command]:
    """The commands of a script or of a file for `tc -batch`, in their order.

    Raises
    ------
    ScenarioError
        tc would not understand a command; the message shows it.
    """
    before: Command | None = None
    for statement in commands(document):
        start = tc_word(statement.words)
        command = _command(document, statement, start) if start is not None else None
        if command is not None:
            yield replace(command, is_alternative=statement.is_alternative and before is not None)
        before = command


# Where a program has commands in strings, and where the words of one are in variables.
_of_strings = re.compile(r"[\"'](?:sudo\s+)?(?:[^\s\"']*/)?tc\s+(?:-\S+\s+)*(?:qdisc|class)\s")
_of_variables = re.compile(r"(?:^|[\s/\"'])tc[\"']?\s+[\"']?\$(?:\{?\w|[@*(])", flags=re.MULTILINE)
_OUTPUTS = "what `tc qdisc show` and `tc class show` print"
_BUILT = ("the words of `tc` are in variables", f"run the script, and give {_OUTPUTS}")


def is_built(text: str) -> bool:
    """Whether a script runs `tc` with words that are in variables."""
    return _of_variables.search(text) is not None


def refuse_built(document: Document) -> None:
    """Refuse a file in which no command stands as it is run, if that is why there is none."""
    for pattern, what, hint in (
        (_of_strings, "commands of `tc` stand in strings of a program", f"give the lines that it runs, or {_OUTPUTS}"),
        (_of_variables, *_BUILT),
    ):
        if (match := pattern.search(document.text)) is not None:
            document.refuse(document.text.count("\n", 0, match.end()) + 1, what, hint)


def tc_word(words: Sequence[str]) -> int | None:
    """Where the words of a command of `tc` begin, behind the name of the program; ``None`` if it is none."""
    if is_object(words[0]) and len(words) > 2 and _whole_word(words[1], (*_verbs, *_questions)) is not None:
        return 0
    at = 0
    while at < len(words):
        word = words[at]
        if is_tc(word):
            return at + 1
        if words[at : at + 3] == ("ip", "netns", "exec"):
            at += 4
        elif word in _before or re.match(r"[A-Za-z_]\w*=|-", word) or word in ("$SUDO", "${SUDO}"):
            at += 1
        else:
            return None
    return None


def is_tc(word: str) -> bool:
    """Whether a word is the name of the program, or the variable that scripts have for it."""
    return PurePosixPath(word).name == "tc" or word in ("$TC", "${TC}")


def is_object(word: str) -> bool:
    """Whether a word is what a line for `tc -batch` begins with."""
    return word in _objects


def _whole_word(word: str, words: Sequence[str]) -> str | None:
    """The word that another one shortens, as in `tc q a`; the first of them if there are several."""
    return next((whole for whole in words if whole.startswith(word)), None) if word else None


def _command(document: Document, statement: Statement, start: int) -> Command | None:
    name_space = _name_space(statement.words[:start])
    words = list(statement.words[start:])
    # The words in front of the program are not shown: they may hold passwords.
    statement = Statement(statement.line, ("tc", *words) if start else tuple(words))
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-n", "-net", "-netns") and words:
            name_space = words.pop(0)
        elif option in ("-b", "-batch"):
            document.remark("a file for `tc -batch` is not opened", hint="read that file", line=statement.line)
            return None
    if not words:
        return None
    subject = _whole_word(words[0], (*_objects, *_others))
    if subject is None and words[0].startswith("$"):
        document.refuse_statement(statement, *_BUILT)
    if subject is None:
        hint = nearest(words[0], list(_objects))
        document.refuse_statement(statement, f"`{words[0]}` is no object of `tc`", hint)
    if subject in _others:
        document.remark(f"`tc {subject}` is not read: it changes no queue", line=statement.line)
        return None
    verb = _whole_word(words[1], (*_verbs, *_questions)) if len(words) > 1 else "show"
    if verb is None:
        hint = nearest(words[1], list(_verbs))
        document.refuse_statement(statement, f"`{words[1]}` is no command of `tc {subject}`", hint)
    return None if verb in _questions else entry(document, statement, subject, verb, words[2:], name_space)


def _name_space(words: Sequence[str]) -> str:
    return words[words.index("netns") + 2] if "netns" in words[:-2] else ""


def entry(
    document: Document, statement: Statement, subject: str, verb: str, words: Sequence[str], name_space: str = ""
) -> Command:
    """A command from the words behind its verb; see :func:`commands_of`."""
    rest = list(words)
    more: dict[str, str] = {}
    parent: int | None = None
    while rest and (rest[0] in (*_values[subject], "stab") or rest[0] in _flags):
        word = rest.pop(0)
        if word == "stab":
            document.remark("tables of sizes (`stab`) are not read: packets count as they are", line=statement.line)
            while rest and rest[0] in _of_size_tables:
                del rest[:2]
            continue
        if word in _flags:
            parent = {"root": ROOT, "ingress": INGRESS, "clsact": INGRESS, "egress": INGRESS}.get(word, parent)
            more[word] = ""
            continue
        if not rest:
            document.refuse_statement(statement, f"`{word}` has no value", f"as in `{EXAMPLE}`")
        more[word] = rest.pop(0)
        if word == "estimator" and rest:
            rest.pop(0)
    if "parent" in more:
        parent = _number(document, statement, more["parent"], "parent")
    name = "classid" if subject == "class" else "handle"
    handle = None
    if name in more and subject != "filter":
        handle = _number(document, statement, more[name], name)
    kind = rest.pop(0) if rest else next((word for word in ("ingress", "clsact") if word in more), "")
    device = more.get("dev", "")
    if "$" in kind:
        what = "the line holds variables of a shell or a program"
        document.refuse_statement(statement, what, "give the line as it is run, with numbers and names")
    return Command(
        statement, subject, verb, f"{name_space}/{device}" if name_space else device, parent, handle, kind,
        tuple(rest), more,
    )  # fmt: skip


def _number(document: Document, statement: Statement, text: str, name: str) -> int:
    number = number_of(text, is_discipline=name == "handle")
    if number is None:
        document.refuse_statement(statement, f"`{text}` is no {name} of `tc`", f"as in `{EXAMPLE}`")
    return number
