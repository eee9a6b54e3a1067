"""What the tables of a paper's files have in common: a field is declared once, and a mistake is told with its place.

The models are pydantic's; this module has the kinds of values that occur, and says in words of the file what is wrong.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, dataclass_transform

from pydantic import BeforeValidator, ConfigDict, Strict, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from shoal import expression
from shoal._toml import read_toml as read_toml_text
from shoal.errors import OutputError, UsageError
from shoal.models import nearest

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def model(cls: type[T]) -> type[T]:
    """Make a class the model of a table: its fields are the table's keys."""
    config = ConfigDict(arbitrary_types_allowed=True)
    return cast(type[T], dataclass(frozen=True, kw_only=True, config=config)(cls))


def mistake(text: str, hint: str | None = None) -> PydanticCustomError:
    """What a validator raises; the place is added to it."""
    # Braces of the text are no places of a template.
    return PydanticCustomError("mistake", "{text}", {"text": text, "hint": hint})


@model
class Table:
    """Refuses keys that are no fields, with the nearest one."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, values: Any) -> Any:
        if isinstance(values, dict):
            known = [entry.name.removesuffix("_") for entry in fields(cls)]
            for key in values:
                if key not in known:
                    raise mistake(f"unknown key `{key}`", nearest(key, known))
            # Words of Python have an underscore behind them.
            return {f"{key}_" if key == "from" else key: value for key, value in values.items()}
        return values


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _computed(value: object) -> object:
    return expression.number(value) if isinstance(value, str) else value


Text = Annotated[str, Strict()]
Whole = Annotated[int, Strict()]
Real = Annotated[float, Strict()]
Switch = Annotated[bool, Strict()]
#: A number, or an expression: both as text.
Formula = Annotated[str, Strict(), BeforeValidator(_as_text)]
#: A number, or an expression that is computed at once.
Number = Annotated[float, Strict(), BeforeValidator(_computed)]
Words = list[Text]
Texts = dict[Text, Text]
Formulas = dict[Text, Formula]
Pair = tuple[Real, Real]
Values = dict[Text, Any]
Scale = Literal["linear", "log"]


def named(value: object) -> object:
    """A table of tables: each one has its key as its name."""
    if not isinstance(value, dict):
        return value
    return {key: {"name": key, **table} if isinstance(table, dict) else table for key, table in value.items()}


Named = BeforeValidator(named)


def model_of(kind: type[T], values: Mapping[str, Any], place: str, *, context: object = None, **given: object) -> T:
    """The model of a table; ``given`` are fields that do not stand in the file.

    Raises
    ------
    UsageError
        A key is missing, unknown or of another kind; the message has its place.
    """
    for key in given.keys() & values.keys():
        raise UsageError(f"{place}: unknown key `{key}`", hint="it follows from the names of the files")
    try:
        return TypeAdapter(kind).validate_python({**values, **given}, context=context)
    except ValidationError as error:
        text, hint = explained(error)
        raise UsageError(f"{place}: {text}", hint=hint) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file."""
    try:
        return read_toml_text(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None


_kinds = {"string": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "list": "a list"}


def explained(refused: ValidationError) -> tuple[str, str | None]:
    """What is wrong in words of the file, behind the place of the table, and a hint."""
    # Unknown keys first: a misspelt key is missing as well.
    error = min(refused.errors(), key=lambda detail: detail["type"] != "mistake")
    *path, key = [step for step in error["loc"] if not str(step).startswith("<")] or [""]
    context, value = error.get("ctx", {}), error["input"]
    match error["type"].removesuffix("_type"):
        case "mistake":
            return _placed([*path, key], error["msg"]), context.get("hint")
        case "missing":
            return _placed(path, f"`{key}` is missing"), "see papers/README.md of the package"
        case "literal_error" | "enum":
            choices = re.findall(r"'([^']*)'", str(context["expected"]))
            return _placed(path, f"{key} is `{value}`"), nearest(str(value), choices)
        case "dataclass" | "dict":
            return _placed([*path, key], f"{value!r} is not a table"), None
        case kind if kind in _kinds:
            return _placed(path, f"`{key}` is {value!r}, expected {_kinds[kind]}"), None
    return _placed([*path, key], error["msg"]), None


def _placed(path: list[int | str], text: str) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"{where}: {text}" if where else text
