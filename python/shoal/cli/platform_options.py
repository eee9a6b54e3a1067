"""The options of platforms of switches in a command: each platform declares its own, and a command has all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from shoal.cli.declare import option
from shoal.switch.platforms import NAMES, declared_options

#: The names of all platforms, for help texts.
listed = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"


def with_platform_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all platforms; those that are given are its argument ``platform_options``."""
    signature = inspect.signature(command, eval_str=True)
    options = list(_parameters())
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "platform_options"]

    def call(**given: Any) -> None:
        values = {parameter.name: given.pop(parameter.name) for parameter in options}
        command(**given, platform_options={name: value for name, value in values.items() if value or value == ""})

    # The file that is written stays last.
    ordered = [*parameters[:-1], *options, parameters[-1]]
    call.__doc__ = command.__doc__
    vars(call)["__signature__"] = signature.replace(parameters=[_named(parameter) for parameter in ordered])
    return call


def _parameters() -> list[inspect.Parameter]:
    parameters = []
    for name, (each, labels) in declared_options().items():
        words = f"{each.help} For {' and '.join(filter(None, [', '.join(labels[:-1]), labels[-1]]))}."
        kind: Any = Annotated[bool, typer.Option(each.flag, help=words)]
        if each.value:
            value = list[str] | None if each.is_repeatable else str | None
            kind = Annotated[value, option(each.flag, each.value, words)]
        default = None if each.value else False
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    return parameters


def _named(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter as one that is given by its name, which is how the library gives all of them."""
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
