"""Commands that set fields of SONiC's CONFIG_DB: scripts of `redis-cli` and `sonic-db-cli`, and outputs of MONITOR.

Commands of https://redis.io/commands: HSET, HMSET, HDEL, DEL. CONFIG_DB is the database 4 (database_config.json of
sonic-swss-common).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from shoal.switch.platforms import _sonic_fields as fields
from shoal.switch.reading import Document

_database = "4"
_names = "|".join((*fields.TABLES, *fields.MAPS, *fields.OF_DEVICES))
_command = re.compile(rf"^[^{{\n]*\b(HM?SET|HDEL|DEL)\b\W+({_names})\|", flags=re.MULTILINE | re.IGNORECASE)
# What MONITOR prints in front of a command: a time, the database and the client.
_client = re.compile(r"^[0-9.]+ \[([0-9]+) [^\]]*\]\s")


class Commands:
    """The entries that commands leave in tables about queues, by names such as ``QUEUE|Ethernet0|3``.

    Attributes
    ----------
    content
        The fields of each entry; of a field that is set twice the last counts.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.content: dict[str, dict[str, str]] = {}
        self._lines: dict[tuple[str, ...], int] = {}
        for number, words in _commands(document.text):
            self._apply(number, words)
        first = min(self._lines.values(), default=1)
        document.remark(
            "commands change a database whose other fields are not in this file: entries are read as if they had none",
            hint="`show runningconfiguration all` prints what the device has",
            line=first,
        )

    @staticmethod
    def are_in(text: str) -> bool:
        """Whether a text has a command that changes a table about queues."""
        return _command.search(text) is not None

    def _apply(self, number: int, words: Sequence[str]) -> None:
        verb, key, *rest = words
        if verb == "DEL":
            for name in (key, *rest):
                self.content.pop(name, None)
        elif verb == "HDEL":
            for name in rest:
                self.content.get(key, {}).pop(name, None)
        elif len(rest) % 2 or not rest:
            # The words are those of a statement about queues: _commands yields no others.
            self.document.refuse(number, f"`{verb}` needs a value for each field", 'as in HSET "QUEUE|Ethernet0|3" '
                "wred_profile NAME", words=words)  # fmt: skip
        else:
            self.content.setdefault(key, {}).update(zip(rest[::2], rest[1::2], strict=True))
            self._lines.setdefault((key,), number)
            self._lines |= {(key, name): number for name in rest[::2]}

    def line(self, *names: str) -> int:
        """The line of an entry, or of a field of it; 1 if no command sets it."""
        return self._lines.get(names, self._lines.get(names[:1], 1))


def _commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """The commands that change a table about queues, from the verb on, with their lines."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        first, line = number + 1, lines[number]
        while line.rstrip().endswith("\\") and number + 1 < len(lines):
            number += 1
            line = line.rstrip().removesuffix("\\") + " " + lines[number]
        number += 1
        if _command.search(line) is None:
            continue
        client = _client.match(line)
        try:
            words = shlex.split(line[client.end() if client else 0 :], comments=True)
        except ValueError:
            # A quotation that does not end.
            words = line.replace('"', " ").split()
        at = next((at for at, word in enumerate(words) if word.upper() in ("HSET", "HMSET", "HDEL", "DEL")), None)
        if at is None or len(words) < at + 2:
            continue
        before = words[:at]
        database = client[1] if client else before[before.index("-n") + 1] if "-n" in before[:-1] else _database
        if database == _database:
            yield first, [words[at].upper(), *words[at + 1 :]]
