"""Python values as TOML values, for overrides."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence

from shoal.errors import UsageError


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
