"""TOML: Python values as values of overrides, and texts that are read, neither of them deeper than any key is."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import UsageError, refused_line

# Levels of tables that have headings in a file.
_headings = 2
# No key is as deep. What is deeper takes for ever, or all of the stack.
_most_levels = 64
_deep_hint = "no key lies so deep; is this the right file, or does a value contain itself?"
# What counts for the depth of a text, and what it does not count in: strings and comments.
_token = re.compile(
    r"""(?P<text>\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*)|(?P<mark>[\[\]{}.,=\n])""", re.DOTALL
)


def read_toml(text: str, name: object) -> dict[str, Any]:
    """Read a document.

    Raises
    ------
    tomllib.TOMLDecodeError
        It is none.
    ScenarioError
        It is nested more deeply than any file of ours; the message names file and line.
    """
    refuse_deep(text, name)
    return tomllib.loads(text)


def refuse_deep(text: str, name: object) -> None:
    """Refuse a text whose tables, lists or dotted keys are deeper than any of ours, before anybody reads it.

    Raises
    ------
    ScenarioError
        One is; the message names file and line.
    """
    if text.count("[") + text.count("{") <= _most_levels and text.count(".") <= _most_levels:
        return
    depth = dots = 0
    line = 1
    for match in _token.finditer(text):
        line += match[0].count("\n")
        match match["mark"]:
            case None:
                continue
            case ".":
                dots += 1
            case mark:
                dots = 0
                depth = max(0, depth + (mark in "[{") - (mark in "]}"))
        if max(depth, dots) > _most_levels:
            what = "tables or lists" if depth > dots else "parts of a key"
            raise refused_line(name, line, None, f"more than {_most_levels} {what} inside each other", _deep_hint)


def toml_value(value: object, key: str = "", *, levels: int = _most_levels) -> str:
    """Write a value as it stands to the right of ``=`` in TOML.

    Parameters
    ----------
    value
        Texts, numbers, booleans, lists and dictionaries.
    key
        What it is the value of, for messages.
    levels
        So many tables and lists may be inside each other.

    Raises
    ------
    UsageError
        It is no value for a scenario, or is too deep.
    """
    if not levels:
        of_key = f" of `{key[:99]}`" if key else ""
        raise UsageError(
            f"the value{of_key} has more than {_most_levels} tables or lists inside each other", hint=_deep_hint
        )
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
            inner = (f"{json.dumps(str(k))} = {toml_value(v, key, levels=levels - 1)}" for k, v in value.items())
            return f"{{ {', '.join(inner)} }}"
        case Sequence():
            return f"[{', '.join(toml_value(item, key, levels=levels - 1) for item in value)}]"
        case _:
            if hasattr(value, "item"):  # numpy scalars
                return toml_value(value.item(), key, levels=levels - 1)
            raise UsageError(f"{value!r} is not a value for a scenario", hint="use str, bool, int, float, list or dict")


def toml_document(table: Mapping[str, object]) -> str:
    """Write a table as a document: one key a line."""
    return "".join(f"{key} = {toml_value(value, key)}\n" for key, value in table.items())


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
        value = read_toml(f"value = {text}", "--set")
    except tomllib.TOMLDecodeError:
        return text
    # Dates are no values of scenarios, and a line break would begin another key.
    single = value["value"] if list(value) == ["value"] else text
    return single if isinstance(single, bool | int | float | str | list | dict) else text
