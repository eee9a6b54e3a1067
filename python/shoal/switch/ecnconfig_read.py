"""Reads commands of SONiC's `ecnconfig` and `config ecn`, which change thresholds of a profile that exists.

After scripts/ecnconfig and config/main.py of sonic-utilities (691b1bbc).
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Configuration, Law, Queue
from shoal.switch.reading import Document, Statement, statements

# `ecnconfig -q` binds this profile, whatever others exist.
BOUND_PROFILE = "AZURE_LOSSLESS"
_options = {
    f"-{colour[0]}{end}": (colour, end) for colour in ("green", "yellow", "red") for end in ("min", "max", "drop")
}
_example = "ecnconfig -p AZURE_LOSSLESS -gmin 1048576 -gmax 2097152 -gdrop 5"


def recognises(text: str) -> bool:
    """Whether a text has these commands."""
    return bool(re.search(r"^\s*(sudo\s+)?(ecnconfig|config\s+ecn)\b", text, re.MULTILINE))


def read(document: Document) -> Configuration:
    """Read a list of commands, in their order.

    Raises
    ------
    ScenarioError
        A command cannot be understood, or contradicts the ones before.
    """
    profiles: dict[str, dict[str, int]] = {}
    lines: dict[str, int] = {}
    bound: dict[int, int] = {}
    for statement in statements(document, comments="#"):
        words = [word for word in statement.words if word not in ("sudo", "-vv")]
        if words[:1] == ["ecnconfig"]:
            del words[0]
        elif words[:2] == ["config", "ecn"]:
            del words[:2]
        else:
            continue
        if "-q" in words:
            _bind(document, statement, words, bound)
        elif name := _value(words, ("-p", "-profile", "--profile")):
            _change(document, statement, words, profiles.setdefault(name, {}))
            lines[name] = statement.line
    if not profiles:
        document.refuse(1, "no command sets thresholds", f"as in `{_example}`", shown=False)
    return Configuration("ecnconfig", tuple(_queues(document, profiles, lines, bound)), tuple(document.remarks))


def _value(words: list[str], names: tuple[str, ...]) -> str:
    return next((after for word, after in pairwise(words) if word in names), "")


def _bind(document: Document, statement: Statement, words: list[str], bound: dict[int, int]) -> None:
    numbers = _value(words, ("-q",)).split(",")
    if not all(number.isdecimal() for number in numbers):
        document.refuse(statement.line, "`-q` needs numbers of queues", "as in `ecnconfig -q 3,4 on`")
    for number in map(int, numbers):
        if words[-1] == "on":
            bound[number] = statement.line
        elif words[-1] == "off":
            bound.pop(number, None)


def _change(document: Document, statement: Statement, words: list[str], profile: dict[str, int]) -> None:
    at = 0
    changed = False
    while at < len(words):
        word = words[at]
        if word in _options or word.lstrip("-") in {name.lstrip("-") for name in _options}:
            colour, end = _options["-" + word.lstrip("-")]
            text = words[at + 1] if at + 1 < len(words) else ""
            if not text.isdecimal() or (end == "drop" and int(text) > 100):
                what = "0 to 100" if end == "drop" else "a number of bytes that is not negative"
                document.refuse(statement.line, f"`{word}` needs a whole number", f"write {what}")
            profile[f"{colour} {end}"] = int(text)
            changed = True
            at += 1
        at += 1
    if not changed:
        document.refuse(statement.line, "the command changes nothing", f"as in `{_example}`")
    for colour in ("green", "yellow", "red"):
        least, most = profile.get(f"{colour} min"), profile.get(f"{colour} max")
        if least is not None and most is not None and least > most:
            document.refuse(
                statement.line, f"the minimum of {least} bytes is above the maximum of {most} bytes",
                "ecnconfig refuses this; swap or correct them",
            )  # fmt: skip


def _queues(
    document: Document, profiles: dict[str, dict[str, int]], lines: dict[str, int], bound: dict[int, int]
) -> list[Queue]:
    queues = []
    colour = document.switch.colour
    for name, values in profiles.items():
        ends = values.get(f"{colour} min"), values.get(f"{colour} max")
        source = document.source(lines[name])
        mark = None
        unknown = ""
        if ends[0] is None or ends[1] is None:
            unknown = "a threshold that the commands do not set"
            document.remark(f"the commands set one threshold of `{name}`", hint="give both", line=lines[name])
        else:
            percent = values.get(f"{colour} drop")
            if percent is None:
                document.remark(
                    f"no command sets the probability of `{name}`: read as 100 %, the default of a new profile",
                    hint=f"add -{colour[0]}drop",
                    line=lines[name],
                )
            mark = Law(
                Action.MARK,
                whole_bytes(ends[0]),
                whole_bytes(ends[1]),
                Fraction(100 if percent is None else percent, 100),
                weight=0,
                where=document.switch.where,
                source=source,
            )
            document.remark(
                f"ecnconfig cannot set `ecn` and `wred_{colour}_enable` of `{name}`: read as marking; what becomes of "
                "packets that are not ECT is in the profile itself",
                hint="read the WRED_PROFILE of CONFIG_DB instead; or simulate both: --not-ect drop and --not-ect pass",
                line=lines[name],
            )
        queues += [
            Queue(
                name=name if index is None else str(index), index=index, mark=mark, not_ect_known=mark is None,
                unknown=unknown, profile=name, source=source,
            )
            for index in _indices(name, bound)
        ]  # fmt: skip
    return queues


def _indices(name: str, bound: dict[int, int]) -> list[int] | list[None]:
    """The queues that have a profile; a single one without a number if no command binds it."""
    return sorted(bound) if name == BOUND_PROFILE and bound else [None]
