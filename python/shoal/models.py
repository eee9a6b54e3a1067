"""What exists: controllers, queues, stacks, hosts, applications and paths, as their own code describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from shoal import _native, errors
from shoal._arguments import explained
from shoal.errors import UsageError

# Most of those that ask for it ask for names of models.
nearest = errors.nearest

Kind = Literal["controller", "queue", "stack", "host", "application", "path"]


@explained
@dataclass(frozen=True, slots=True)
class Parameter:
    """A key of a model in the scenario file."""

    name: str
    unit: str
    default: str
    doc: str
    source: str


@explained
@dataclass(frozen=True, slots=True)
class Difference:
    """A known difference between a model and what it follows, with the test that pins it."""

    text: str
    test: str


@explained
@dataclass(frozen=True, slots=True)
class Model:
    """A controller, queue, stack, host, application, or what a path does to packets.

    Attributes
    ----------
    name, kind
        As in a scenario, and what it is.
    summary, follows
        What it does, and the code or document that it follows.
    parameters, differences
        Its keys in a scenario, and what is known to differ from what it follows.
    uses_ecn
        Whether flows of the controller ask for ECN unless the scenario says otherwise.
    is_scalable
        Whether the controller reacts to the part of packets that are marked, and not to the event of a mark.
    """

    name: str
    kind: Kind
    summary: str
    follows: str
    parameters: tuple[Parameter, ...]
    differences: tuple[Difference, ...]
    uses_ecn: bool = False
    is_scalable: bool = False


@explained
@cache
def models() -> tuple[Model, ...]:
    """All models, in the order of kind and history."""
    return tuple(_model(item) for item in json.loads(_native.models()))


def laws_in(path: Path) -> list[Model]:
    """The models of the laws of one's own in a file: a module has one, and a Python file, which is run, each class.

    Raises
    ------
    OutputError
        The file cannot be read.
    ScenarioError
        It is no law.
    """
    from shoal import python_laws
    from shoal.laws import read_law

    content = read_law(path)
    if path.suffix != ".py":
        return [_model(json.loads(_native.law_model(str(path), content)))]
    laws = python_laws.laws_in(path, content)
    return [_model(json.loads(_native.python_law_model(law.name, law))) for law in laws]


def _model(item: Mapping[str, Any]) -> Model:
    return Model(
        name=item["name"],
        kind=item["kind"],
        summary=item["summary"],
        follows=item["follows"],
        parameters=tuple(Parameter(**parameter) for parameter in item["parameters"]),
        differences=tuple(Difference(**difference) for difference in item["differences"]),
        uses_ecn=item.get("uses_ecn", False),
        is_scalable=item.get("is_scalable", False),
    )


def find_controller(name: str) -> Model | None:
    """The controller of a name in scenarios; ``None`` if there is none, or it is a law of the user's own."""
    return next((model for model in models() if model.kind == "controller" and model.name == name), None)


def unknown_law(what: str, name: str, names: Sequence[str], hint: str) -> UsageError:
    """The refusal of a law that is not there, wherever somebody names one.

    Parameters
    ----------
    what
        What there is none of, as in ``controller``.
    name
        What was written.
    names
        What could have been meant.
    hint
        What else helps.
    """
    return UsageError(f"there is no {what} `{name}`", hint=f"{nearest(name, names)} {hint}")


def controller_names() -> list[str]:
    """The controllers of shoal itself."""
    return [model.name for model in models() if model.kind == "controller"]


def is_controller(name: str) -> bool:
    """Whether a name is that of a controller, or of a law of one's own, which is refused with its scenario."""
    from shoal.laws import names_a_law

    return find_controller(name) is not None or names_a_law(name)


def find_models(name: str) -> list[Model]:
    """Find the models of that name: a queue and a controller may share one.

    Raises
    ------
    UsageError
        There is none; the hint names the nearest.
    """
    matches = [model for model in models() if model.name == name]
    if not matches:
        raise UsageError(f"nothing is called `{name}`", hint=nearest(name, [model.name for model in models()]))
    return matches
