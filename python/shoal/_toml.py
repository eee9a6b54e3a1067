"""Python values as TOML values, for overrides."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence

from shoal.errors import UsageError

# Levels of tables that have headings in a file.
_headings = 2


def toml_value(value: object) -> str:
    """Write a value as it stands to the right of ``=`` in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                raise UsageError(f"{value} is not a value for a scenario", hint="write a finite number")
            return repr(value)
        case str():
            # JSON strings are TOML strings, but for the characters that JSON may leave unescaped.
            return json.dumps(value).replace("\x7f", "\\u007F")
        case Mapping():
            return "{ " + ", ".join(f"{json.dumps(str(k))} = {toml_value(v)}" for k, v in value.items()) + " }"
        case Sequence():
            return "[" + ", ".join(toml_value(item) for item in value) + "]"
        case _:
            if hasattr(value, "item"):  # numpy scalars
                return toml_value(value.item())
            raise UsageError(f"{value!r} is not a value for a scenario", hint="use str, bool, int, float, list or dict")


def toml_document(table: Mapping[str, object]) -> str:
    """Write a table as a document: one key a line."""
    return "".join(f"{key} = {toml_value(value)}\n" for key, value in table.items())


def toml_file(table: Mapping[str, object], *above: str) -> str:
    """Write a table as a file for people: two levels of tables and lists of tables have headings."""
    lines, below = [], []
    for key, value in table.items():
        name = ".".join((*above, key))
        if isinstance(value, Mapping) and len(above) < _headings:
            below.append(f"\n[{name}]\n{toml_file(value, *above, key)}")
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            below += [f"\n[[{name}]]\n{''.join(_line(*pair) for pair in item.items())}" for item in value]
        else:
            lines.append(_line(key, value))
    return "".join([*lines, *below])


def _line(key: str, value: object) -> str:
    return f"{key} = {_inline(value)}\n"


def _inline(value: object) -> str:
    """A value with bare keys in its tables."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + " }"
    return toml_value(value)


def as_text(value: object) -> str:
    """A value as it is written in a scenario, strings without quotes."""
    return value if isinstance(value, str) else toml_value(value)


def parsed(text: str) -> object:
    """Read a value as the command line takes it: TOML, or else a plain string."""
    try:
        value = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    # Dates are no values of scenarios, and a line break would begin another key.
    single = value["value"] if list(value) == ["value"] else text
    return single if isinstance(single, bool | int | float | str | list | dict) else text
