"""Options of writers: fields of a platform's own class, from which the command line is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from shoal.errors import UsageError
from shoal.switch.model import Queue


@dataclass(frozen=True, slots=True)
class Name:
    """What a platform takes as a name; nothing that a shell or the command line of a device reads otherwise.

    Attributes
    ----------
    what
        What has the name.
    pattern
        A regular expression that matches all of a name.
    words
        What it matches, for messages.
    """

    what: str
    pattern: str
    words: str

    def refuse(self, name: object, flag: str) -> None:
        """Refuse what is none.

        Raises
        ------
        UsageError
            It is none; the hint says what a name is.
        """
        if not isinstance(name, str) or re.fullmatch(self.pattern, name) is None:
            raise UsageError(f"`{name}` is not a name of a {self.what}", hint=f"{flag} takes {self.words}")


PROFILE = Name(
    "profile", r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}", "1 to 32 letters, digits, dashes and underscores, as in DC_STEP"
)
POOL = Name("pool", PROFILE.pattern, "1 to 32 letters, digits, dashes and underscores, as in egress_lossy_pool")
PORT = Name(
    "port", r"[a-zA-Z][a-zA-Z0-9/:._-]{0,63}", "letters, digits and / : . _ - behind a letter, as in Ethernet1/1"
)
# IFNAMSIZ of Linux.
DEVICE = Name("device", r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,14}", "1 to 15 letters, digits and . _ -, as in eth0 or br-lan")


@dataclass(frozen=True, slots=True)
class Declaration:
    """How the command line has a field.

    Attributes
    ----------
    flag
        Its name there, such as ``--pool``.
    value
        What stands for its value in help; empty if the option has none and is there or not.
    help
        A sentence.
    parse
        Makes the field of the text, or of the list of texts if the option is repeatable.
    is_repeatable
        Whether it may be given several times.
    name
        What it takes, if that is a name, or several.
    """

    flag: str
    value: str
    help: str
    parse: Callable[[Any], object] | None = None
    is_repeatable: bool = False
    name: Name | None = None

    def field_of(self, given: object) -> object:
        """The field for what the command line was given."""
        return given if self.parse is None else self.parse(given)


def declared(
    default: object,
    flag: str,
    value: str,
    help: str,
    *,
    parse: Callable[[Any], object] | None = None,
    is_repeatable: bool = False,
    name: Name | None = None,
) -> Any:
    """A field of options with its default; the other parameters are those of :class:`Declaration`."""
    return field(default=default, metadata={"option": Declaration(flag, value, help, parse, is_repeatable, name)})


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a writer can be told beside the queues: nothing, as long as a platform adds no field.

    Raises
    ------
    UsageError
        What is to be a name is none.
    """

    def __post_init__(self) -> None:
        for field_name, declaration in self.declarations().items():
            if declaration.name is not None:
                given = getattr(self, field_name)
                for each in given if declaration.is_repeatable else [given]:
                    declaration.name.refuse(each, declaration.flag)

    @classmethod
    def declarations(cls) -> Mapping[str, Declaration]:
        """The options by the names of their fields."""
        return {each.name: each.metadata["option"] for each in fields(cls)}


@dataclass(frozen=True, kw_only=True)
class HasProfile(Options):
    """Laws stand in profiles or policies that have names."""

    profile: str = declared(
        "SHOAL", "--profile", "NAME", "Name of the profile or policy; SHOAL by default.", name=PROFILE
    )

    def profile_of(self, queue: Queue, queues: int) -> str:
        """The name of a queue's profile, which platforms restrict to letters, digits, dashes and underscores.

        Raises
        ------
        UsageError
            It has other letters, or too many.
        """
        name = queue.profile or (self.profile if queues == 1 else f"{self.profile}_{queue.index or 0}")
        if not re.fullmatch(PROFILE.pattern, name):
            raise UsageError(f"`{name}` is not a name of a profile", hint=PROFILE.words)
        return name


@dataclass(frozen=True, kw_only=True)
class HasPorts(Options):
    """Queues are those of ports that are named."""

    ports: tuple[str, ...] = declared(
        ("Ethernet0",), "--port", "NAME", "A port that gets it, Ethernet0 by default. Repeatable.", parse=tuple,
        is_repeatable=True, name=PORT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class HasLimit(Options):
    """What queues may hold can be written, and is not unless that is asked for: the memory of a switch is shared."""

    has_limit: bool = declared(
        False, "--with-limit", "", "Write what queues may hold, as limits or dynamic thresholds."
    )


@dataclass(frozen=True, kw_only=True)
class HasMap(Options):
    """The map from code points to queues, which is one for the whole device, can be written when asked for."""

    has_map: bool = declared(
        False, "--with-map", "", "Write which code points go to which queue: a map for the whole device."
    )
