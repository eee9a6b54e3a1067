"""Commands of SONiC's `ecnconfig` and `config ecn`, which change thresholds of a profile that exists, and its listing.

They are written in an order in which no step has its minimum above its maximum. After scripts/ecnconfig and
config/main.py of sonic-utilities (691b1bbc).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from shoal.errors import UsageError
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Law, Queue
from shoal.switch.options import HasProfile, declared
from shoal.switch.platforms._sonic_read import Profile
from shoal.switch.platforms.base import Platform
from shoal.switch.platforms.sonic import wred_profile
from shoal.switch.presets import COLOURS
from shoal.switch.reading import Document, Statement, commands
from shoal.switch.writing import Writing

# `ecnconfig -q` binds this profile, whatever others exist.
BOUND_PROFILE = "AZURE_LOSSLESS"
_options = {
    f"-{colour[0]}{end}": (colour, end) for colour in ("green", "yellow", "red") for end in ("min", "max", "drop")
}
_example = "ecnconfig -p AZURE_LOSSLESS -gmin 1048576 -gmax 2097152 -gdrop 5"


# The community template's profile (sonic-buildimage, files/build_templates/qos_config.j2).
_template = (1_048_576, 2_097_152)


def _thresholds(text: str) -> tuple[int, int]:
    least, colon, most = text.partition(":")
    if not (colon and least.isdecimal() and most.isdecimal() and int(least) <= int(most)):
        raise UsageError(f"`--current {text}` is not MIN:MAX", hint="two numbers of bytes, as in 1048576:2097152")
    return int(least), int(most)


@dataclass(frozen=True, kw_only=True)
class EcnconfigOptions(HasProfile):
    """The profile, and its thresholds in bytes before the change."""

    current: tuple[int, int] | None = declared(
        None, "--current", "MIN:MAX", "Thresholds in bytes that the profile has now, for the order of commands.",
        parse=_thresholds,
    )  # fmt: skip


_Writing = Writing[EcnconfigOptions]


class Ecnconfig(Platform[EcnconfigOptions]):
    """The command that changes a profile of SONiC."""

    name = "ecnconfig"
    label = "ecnconfig"
    title = "commands of SONiC's ecnconfig"
    comment = "#"
    options = EcnconfigOptions

    def recognises(self, text: str) -> bool:
        """Look for the command at the beginning of a line, or for the head of its listing."""
        return bool(re.search(r"^\s*(sudo\s+)?(ecnconfig|config\s+ecn)\b|^Profile: \S+\s*$", text, re.MULTILINE))

    def queues(self, document: Document) -> list[Queue]:
        """Read a list of commands, in their order, or what `ecnconfig -l` and `show ecn` print."""
        if (listed := _Listing.of(document)) is not None:
            return listed.queues()
        profiles: dict[str, dict[str, int]] = {}
        lines: dict[str, int] = {}
        bound: dict[int, int] = {}
        for statement in commands(document):
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
            document.refuse(1, "no command sets thresholds", f"as in `{_example}`")
        return _queues(document, profiles, lines, bound)

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write commands for a profile that exists."""
        lines: list[str] = []
        for queue in queues:
            fields = wred_profile(queue, writing)
            if fields is None:
                writing.remark(queue, "it has no law, and ecnconfig cannot remove one", "--platform sonic")
                continue
            name = queue.profile or writing.options.profile
            if name == HasProfile.profile:
                name = BOUND_PROFILE
            least, most = int(fields["green_min_threshold"]), int(fields["green_max_threshold"])
            lines += _commands(name, least, most, int(fields["green_drop_probability"]), writing, queue)
            if queue.index is not None and name == BOUND_PROFILE:
                lines.append(f"ecnconfig -q {queue.index} on")
            elif queue.index is not None:
                writing.remark(
                    queue, f"`ecnconfig -q` binds {BOUND_PROFILE} only: `{name}` is bound by QUEUE in CONFIG_DB",
                    "--platform sonic writes it",
                )  # fmt: skip
            writing.remark(
                queue,
                f"ecnconfig cannot set `ecn` and `wred_*_enable`: `{name}` must have ecn = {fields['ecn']} and "
                f"wred_green_enable = {fields['wred_green_enable']}",
                "--platform sonic writes the whole profile",
            )
        return "".join(f"{line}\n" for line in dict.fromkeys(lines))


@dataclass
class _Listing:
    """Profiles as `ecnconfig -l` prints them, with the lines of their fields."""

    document: Document
    profiles: dict[str, dict[str, str]] = field(default_factory=dict)
    lines: dict[tuple[str, ...], int] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document) -> _Listing | None:
        """The listing that a text is; ``None`` if it has none."""
        listing = cls(document)
        name = of_asic = ""
        for number, line in enumerate(document.text.splitlines(), start=1):
            words = line.replace(": ", " ").split()
            if words[:2] == ["For", "namespace"] and len(words) == 3:
                of_asic = f"@{words[2].rstrip(':')}"
            elif words[:1] == ["Profile"] and len(words) == 2:
                name = words[1] + of_asic
                listing.profiles[name] = {}
                listing.lines[name,] = number
            elif name and len(words) == 2 and not words[0].startswith("-"):
                listing.profiles[name][words[0]] = words[1]
                listing.lines[name, words[0]] = number
        return listing if listing.profiles else None

    def line(self, _table: str, name: str, /, *members: str) -> int:
        """The line of a profile, or of a field of it."""
        return self.lines.get((name, *members), self.lines[name,])

    def queues(self) -> list[Queue]:
        """The profiles, which no queue of the listing has."""
        queues = []
        for name, entry in self.profiles.items():
            source = self.document.source(self.lines[name,])
            queue = Queue(name=name, profile=name, source=source)
            if not any(key == "ecn" or key.startswith("wred_") for key in entry):
                # Older versions list thresholds alone.
                self.document.remark(
                    f"the listing does not say whether `{name}` marks or drops",
                    hint="read the WRED_PROFILE of CONFIG_DB instead",
                    line=self.lines[name,],
                )
                queues.append(replace(queue, unknown="whether it marks or drops, which the listing does not say"))
                continue
            profile = Profile(self.document, self, name, entry)
            mark, drop, drop_ect = profile.laws()
            queues.append(replace(queue, mark=mark, drop=drop, drop_ect=drop_ect, unknown=profile.unknown))
        return queues


def _value(words: list[str], names: tuple[str, ...]) -> str:
    return next((after for word, after in pairwise(words) if word in names), "")


def _bind(document: Document, statement: Statement, words: list[str], bound: dict[int, int]) -> None:
    numbers = _value(words, ("-q",)).split(",")
    if not all(number.isdecimal() for number in numbers):
        document.refuse_statement(statement, "`-q` needs numbers of queues", "as in `ecnconfig -q 3,4 on`")
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
                document.refuse_statement(statement, f"`{word}` needs a whole number", f"write {what}")
            profile[f"{colour} {end}"] = int(text)
            changed = True
            at += 1
        at += 1
    if not changed:
        document.refuse_statement(statement, "the command changes nothing", f"as in `{_example}`")
    for colour in ("green", "yellow", "red"):
        least, most = profile.get(f"{colour} min"), profile.get(f"{colour} max")
        if least is not None and most is not None and least > most:
            document.refuse_statement(statement, f"the minimum of {least} bytes is above the maximum of {most} bytes",
                "ecnconfig refuses this; swap or correct them")  # fmt: skip


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
            others = [other for other in COLOURS if {f"{other} min", f"{other} max"} <= values.keys()]
            few = "no threshold" if ends == (None, None) else "one threshold"
            document.remark(
                f"the commands set {few} of `{name}` for {colour} packets",
                hint=f"--colour {others[0]} reads those for {others[0]} ones" if others else "give both",
                line=lines[name],
            )
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


def _commands(name: str, least: int, most: int, percent: int, writing: _Writing, queue: Queue) -> list[str]:
    """One command if the maximum rises above the present minimum, else the minimum goes first.

    ecnconfig writes the maximum before the minimum, and orchagent sees each step by itself.
    """
    if writing.options.current is None:
        writing.remark(
            queue,
            f"the order of steps assumes that `{name}` has {_template[0]} and {_template[1]} bytes now",
            "--current MIN:MAX says what it has",
        )
    present = writing.options.current or _template
    whole = f"ecnconfig -p {name} -gmin {least} -gmax {most} -gdrop {percent}"
    if most >= present[0]:
        return [whole]
    return [f"ecnconfig -p {name} -gmin {least}", f"ecnconfig -p {name} -gmax {most} -gdrop {percent}"]
