"""Reads tables of TOML: every key once, unknown ones refused with the nearest known one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from shoal.errors import OutputError, UsageError
from shoal.models import nearest

T = TypeVar("T")
_missing: Any = object()


class Reader:
    """A table that remembers which of its keys were asked for."""

    def __init__(self, table: dict[str, Any], place: str) -> None:
        self._table = table
        self._asked: list[str] = []
        self.place = place

    def get(self, key: str, kinds: type[T] | tuple[type[T], ...], default: Any = _missing) -> Any:
        """Give a value of one of the kinds; required if there is no default."""
        self._asked.append(key)
        if key not in self._table:
            if default is _missing:
                raise UsageError(f"{self.place}: `{key}` is missing", hint="see papers/README.md of the package")
            return default
        value = self._table[key]
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            names = " or ".join(kind.__name__ for kind in wanted)
            raise UsageError(f"{self.place}: `{key}` is {value!r}, expected {names}")
        return value

    def tables(self, key: str) -> list[Reader]:
        """Readers of an array of tables."""
        items = self.get(key, list, [])
        return [
            Reader(_table(item, f"{self.place}: {key}[{n}]"), f"{self.place}: {key}[{n}]")
            for n, item in enumerate(items)
        ]

    def named(self, key: str) -> dict[str, Reader]:
        """Readers of a table of tables."""
        items = self.get(key, dict, {})
        return {
            name: Reader(_table(item, f"{self.place}: {key}.{name}"), f"{self.place}: {key}.{name}")
            for name, item in items.items()
        }

    def end(self) -> None:
        """Refuse what nobody asked for."""
        for key in self._table:
            if key not in self._asked:
                raise UsageError(f"{self.place}: unknown key `{key}`", hint=nearest(key, self._asked))


def read_toml(path: Path) -> Reader:
    """Read a file."""
    try:
        return Reader(tomllib.loads(path.read_text(encoding="utf-8")), str(path.name))
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None


def _table(item: Any, place: str) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise UsageError(f"{place} is {item!r}, expected a table")
    return item
