"""What is wrong with the arguments of a public call, in plain words: Python's own errors speak of its types.

Kinds are those of the annotations, so that whatever is public says what it takes, and says it once.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import numbers
import os
import reprlib
import sys
import typing
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from enum import Enum, StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin

from shoal.errors import ArgumentError, ShoalError, UsageError, nearest

# Stands for a value that is not known yet.
unknown = object()
# How deep arguments are looked into: what is deeper is the matter of those that read it.
_argument_levels = 3

T = TypeVar("T", bound=Callable[..., Any])

# What Python raises for a value that is not of the kind that is needed.
_failures = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, RecursionError)
_words: dict[object, str] = {
    bool: "True or False",
    bytes: "bytes",
    dict: "a dictionary",
    float: "a number",
    int: "a whole number",
    None: "None",
    NoneType: "None",
    Path: "a path",
    str: "a text",
}


class Word(StrEnum):
    """Words that say what is meant; any other is refused with the nearest."""

    @classmethod
    def _missing_(cls, value: object) -> Word:
        name = value if isinstance(value, str) else shown(value)
        words = [str(word) for word in cls]
        raise UsageError(f"there is no {cls.__name__.lower()} `{name[:99]}`", hint=nearest(name[:99], words))


def explained(target: T) -> T:
    """Let a function, or all that is public of a class, say which of its arguments is wrong when it fails.

    It costs nothing as long as nothing fails. What fails though every argument is of its kind is left as it is, unless
    the object knows what is wrong with itself (``_damage``).
    """
    if isinstance(target, type):
        for name, member in list(vars(target).items()):
            if not name.startswith("_") or name == "__init__":
                _explain_member(target, name, member)
        return target

    @functools.wraps(target)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return target(*arguments, **keywords)
        except _failures as error:
            if isinstance(error, ShoalError) or (answer := _answer(target, arguments, keywords)) is None:
                raise
            raise answer from None
        except ArgumentError as error:
            # What was called with our arguments has refused one: the name that our caller knows is ours.
            raise _answer(target, arguments, keywords) or error from None

    return typing.cast(T, call)


def misfit(value: object, kind: Any, label: str = "", *, levels: int = 99) -> tuple[str, object, Any] | None:
    """The first part of a value that is not of its kind: its label, the part, and the kind; ``None`` if there is none.

    Parameters
    ----------
    value
        Any value.
    kind
        An annotation.
    label
        How the value is called.
    levels
        How deep it is looked into lists and tables.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if value is unknown:
        return None
    if origin is NotRequired:
        return misfit(value, parts[0], label, levels=levels)
    if origin in (Union, UnionType):
        is_misfit = all(misfit(value, part, label, levels=levels) for part in parts) or _is_broken_path(value, parts)
        return (label, value, kind) if is_misfit else None
    if not _is_a(value, origin or kind):
        return label, value, kind
    if not levels:
        return None
    if typing.is_typeddict(kind):
        return next(_misfits_of_table(typing.cast(Mapping[Any, Any], value), kind, label), None)
    return next(_misfits_of_parts(value, origin, parts, label, levels=levels - 1), None)


def in_words(kind: Any) -> str:
    """A kind of values in plain words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        # `None` is what is meant if nothing is given.
        options = [in_words(part) for part in parts if part is not NoneType]
        return " or ".join(dict.fromkeys(options))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    base = origin or kind
    if base is collections.abc.Callable:
        return "a function"
    if isinstance(base, type) and issubclass(base, Enum):
        return " or ".join(repr(member.value) for member in base)
    if isinstance(base, type) and (issubclass(base, Mapping) or typing.is_typeddict(base)):
        return "a dictionary"
    if isinstance(base, type) and issubclass(base, Iterable) and base is not str and parts:
        return f"a list ({in_words(parts[0])} each)"
    return _words.get(base) or f"a {getattr(base, '__name__', base)}"


def shown(value: object) -> str:
    """A value for a message, however long or deep it is."""
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


def _explain_member(owner: type, name: str, member: Any) -> None:
    match member:
        case classmethod() | staticmethod():
            setattr(owner, name, type(member)(explained(member.__func__)))
        case property(fget=read) if read is not None:
            setattr(owner, name, property(explained(read), member.fset, member.fdel, member.__doc__))
        case functools.cached_property():
            member.func = explained(member.func)
        case _ if inspect.isfunction(member):
            setattr(owner, name, explained(member))


def _answer(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> ShoalError | None:
    """What is wrong with a call that failed: an argument, or else the object itself."""
    return _refusal(function, arguments, keywords) or _damage_of(arguments)


def _damage_of(arguments: Sequence[Any]) -> ShoalError | None:
    damage = getattr(arguments[0], "_damage", None) if arguments and not isinstance(arguments[0], type) else None
    return damage() if callable(damage) else None


def _refusal(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> ArgumentError | None:
    """What is wrong with the arguments of a call."""
    name = inspect.unwrap(function).__qualname__.removesuffix(".__init__")
    wrong = wrong_call(name, parameters_of(function), arguments, keywords)
    return ArgumentError(wrong, hint=f"help(shoal.{name}) says what it takes") if wrong is not None else None


def wrong_call(
    name: str, parameters: Sequence[inspect.Parameter], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> str | None:
    """What is wrong with a call, in words; ``None`` if nothing is.

    Parameters
    ----------
    name
        What is called.
    parameters
        What it takes, as :func:`parameters_of` gives it.
    arguments, keywords
        What it is given; :data:`unknown` stands for what is not known yet.
    """
    by_position = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    rest = next((each for each in parameters if each.kind is each.VAR_POSITIONAL), None)
    known = {each.name: each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    if len(arguments) > len(by_position) and rest is None:
        count = len([each for each in by_position if each.name not in ("self", "cls")])
        return f"`{name}` takes {f'at most {count}' if count else 'no'} values without a name"
    given = [(each.name, each.annotation, value) for each, value in zip(by_position, arguments, strict=False)]
    names = {each for each, _, _ in given}
    for each in keywords:
        if each not in known or each in names:
            return f"`{name}` is given `{each}` twice" if each in names else f"`{name}` takes no `{each}`"
    given += [(each, known[each].annotation, value) for each, value in keywords.items()]
    names |= set(keywords)
    for parameter in (*by_position, *known.values()):
        if parameter.default is parameter.empty and parameter.name not in names:
            return f"`{name}` lacks `{parameter.name}`: {in_words(parameter.annotation)}"
    if rest is not None:
        given += [(rest.name, rest.annotation, value) for value in arguments[len(by_position) :]]
    for each, kind, value in given:
        if (wrong := misfit(value, kind, each, levels=_argument_levels)) is not None:
            label, part, wanted = wrong
            return f"`{label}` of `{name}` is {shown(part)}, expected {in_words(wanted)}"
    return None


@functools.cache
def parameters_of(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """What a function takes, with kinds that are values."""
    function = inspect.unwrap(function)
    kinds = {**vars(typing), **vars(collections.abc), "Path": Path, "ScenarioKeys": Mapping}
    package = sys.modules["shoal"]  # which imports this module: its names are there by now
    kinds |= {name: getattr(package, name) for name in (*package.__all__, "_native")}
    names = ChainMap(getattr(function, "__globals__", {}), kinds)

    def with_kind(parameter: inspect.Parameter) -> inspect.Parameter:
        kind = parameter.annotation
        if kind is parameter.empty or parameter.name in ("self", "cls"):
            return parameter.replace(annotation=Any)
        try:
            return parameter.replace(annotation=eval(kind, {}, names) if isinstance(kind, str) else kind)  # noqa: S307
        except (NameError, TypeError, AttributeError):
            return parameter.replace(annotation=Any)  # the type of a package that is not always there

    return tuple(with_kind(parameter) for parameter in inspect.signature(function).parameters.values())


def _is_a(value: object, kind: Any) -> bool:
    """Whether a value is of a kind, whatever it holds."""
    if kind is Any or kind is object:
        return True
    if kind is None or kind is NoneType:
        return value is None
    if kind is Literal:
        return isinstance(value, str)  # which words there are is said by who reads them
    if kind is bool or not isinstance(kind, type):
        return not isinstance(kind, type) or isinstance(value, bool)
    if kind is int:
        return hasattr(type(value), "__index__") and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)
    if kind is Path:
        return isinstance(value, os.PathLike) and "\0" not in str(value)
    if kind is collections.abc.Callable:
        return callable(value)
    if typing.is_typeddict(kind):
        return isinstance(value, Mapping)
    if kind is Sequence:
        # Arrays and columns of frames are lists for our purposes.
        return (
            isinstance(value, Sized) and hasattr(value, "__getitem__") and not isinstance(value, str | bytes | Mapping)
        )
    return isinstance(value, kind) and not (kind is Iterable and isinstance(value, str | bytes))


def _is_broken_path(value: object, kinds: Sequence[Any]) -> bool:
    return isinstance(value, str) and "\0" in value and Path in kinds


def _misfits_of_table(table: Mapping[Any, Any], kind: Any, label: str) -> Iterator[tuple[str, object, Any]]:
    for key, wanted in _keys(kind).items():
        inner = f"{label}.{key}" if label else key
        if key in table:
            if (wrong := misfit(table[key], wanted, inner)) is not None:
                yield wrong
        elif get_origin(wanted) is not NotRequired:
            yield inner, None, wanted


@functools.cache
def _keys(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _misfits_of_parts(
    value: Any, origin: Any, parts: tuple[Any, ...], label: str, *, levels: int
) -> Iterator[tuple[str, object, Any]]:
    if not isinstance(value, list | tuple | dict) or not isinstance(origin, type) or not parts:
        return
    if isinstance(value, dict):
        sides: list[tuple[str, object, Any]] = [(label, key, parts[0]) for key in value]
        sides += [(f"{label}[{shown(key)}]", item, parts[-1]) for key, item in value.items()]
    elif origin is tuple and parts[-1] is not Ellipsis:
        sides = [
            (f"{label}[{index}]", item, part) for index, (item, part) in enumerate(zip(value, parts, strict=False))
        ]
    else:
        sides = [(f"{label}[{index}]", item, parts[0]) for index, item in enumerate(value)]
    for inner, item, kind in sides:
        if (wrong := misfit(item, kind, inner, levels=levels)) is not None:
            yield wrong
