"""The tables of CONFIG_DB in the forms in which devices and tools give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.switch.platforms import _sonic_fields as fields
from shoal.switch.platforms._sonic_redis import Commands
from shoal.switch.reading import Document, JsonFile, table

_names = (*fields.TABLES, *fields.MAPS, *fields.OF_DEVICES)


class Tables:
    """The tables about queues of a file, by table, name and field.

    A file has objects in objects, as `config_db.json` and `sonic-cfggen` have them, or one object of names such as
    ``QUEUE|Ethernet0|3``, as the database itself and `redis-dump` have them, or commands that set their fields. What
    else a file may be is refused with what it is.

    Attributes
    ----------
    is_partial
        Whether commands change a database, so that what they do not set may be there all the same.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.is_partial = Commands.are_in(document.text)
        self.file: JsonFile | Commands = Commands(document) if self.is_partial else JsonFile(document)
        content: Any = self.file.content
        if isinstance(content, list) and any(isinstance(step, Mapping) and "op" in step for step in content):
            hint = "give the whole configuration: `show runningconfiguration all`"
            document.refuse(1, "a patch (RFC 6902) changes what a device has, which is not in this file", hint)
        if not isinstance(content, Mapping):
            document.refuse(1, "CONFIG_DB is an object of tables", "is this the right file?")
        if isinstance(self.file, JsonFile):
            self.file.say_repeated(lambda name: name.partition("|")[0] in _names)
        self._is_flat = any(name.partition("|")[0] in _names and "|" in name for name in content)
        asics = [name for name, member in content.items() if not table(content, "QUEUE") and _is_database(member)]
        if len(asics) > 1:
            hint = f"give one of them, as in `jq '.{asics[-1]}'`"
            document.refuse(1, f"this file has the databases of several ASICs: {', '.join(asics)}", hint)
        self._tables = _grouped(content) if self._is_flat else {name: table(content, name) for name in _names}

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._tables.get(name, {})

    def line(self, name: str, key: str, *members: str) -> int:
        """The line of an entry of a table, or of a field of it."""
        return self.file.line(*((f"{name}|{key}",) if self._is_flat else (name, key)), *members)


def _is_database(member: Any) -> bool:
    return isinstance(member, Mapping) and any(name in member for name in _names)


def _grouped(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of each table; `redis-dump` puts their fields below ``value``."""
    tables: dict[str, dict[str, Any]] = {}
    for name, entry in content.items():
        head, bar, key = name.partition("|")
        if bar and head in _names:
            is_dump = isinstance(entry, Mapping) and isinstance(entry.get("value"), Mapping) and "type" in entry
            members = entry["value"] if is_dump else entry
            if isinstance(members, Mapping):
                # An entry without fields has this one in the database.
                members = {field: value for field, value in members.items() if field != "NULL"}
            tables.setdefault(head, {})[key] = members
    return tables
