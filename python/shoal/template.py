"""Scenarios with places left open: keys that are swept or searched, and variables that values are computed from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal import expression
from shoal._toml import parsed, toml_value
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.scenario import Scenario

# An expression in braces; tables have a sign of equality in theirs.
_computed = re.compile(r"\{[^{}=\"']*[A-Za-z_]\w*[^{}=\"']*\}")
# Keys of a scenario that look like the name of a variable.
_plain_keys = ("title", "description", "duration", "warmup", "seed")
# Whole tables of a scenario.
_tables = ("bottleneck", "topology", "reverse", "flows", "trace")


@dataclass(frozen=True)
class Template:
    """How values for some names make a scenario.

    Attributes
    ----------
    scenario
        Where it starts.
    names
        What gets a value: dotted keys of the scenario, or variables, which stand in ``{expressions}`` of ``set``.
    set
        Dotted keys and their values; an expression in braces that names a variable is computed.
    """

    scenario: Scenario
    names: tuple[str, ...]
    set: Mapping[str, object]

    def __post_init__(self) -> None:
        for key, value in self.set.items():
            toml_value(value, key)  # refused are those that are too deep to be looked into
        for name in self.variables:
            if not any(_mentions(value, name) for value in self.set.values()):
                raise UsageError(
                    f"`{name}` is not a key of a scenario, and no value is computed from it",
                    hint=nearest(name, list(_plain_keys)) + f" Or add --set KEY='{{{name}}} ...'",
                )

    @property
    def variables(self) -> list[str]:
        """The names that are no keys."""
        return [name for name in self.names if is_variable(name)]

    @property
    def varied(self) -> list[str]:
        """The dotted keys that do not have the same value everywhere: those named, and those that are computed."""
        computed = [key for key, value in self.set.items() if uses_any(value, self.variables)]
        return [*(name for name in self.names if not is_variable(name)), *computed]

    def at(self, values: Mapping[str, object]) -> Scenario:
        """The scenario with a value for each name."""
        numbers = {name: expression.number(values[name]) for name in self.variables}
        computed = {key: expression.filled(value, numbers, only=True) for key, value in self.set.items()}
        overrides = {**computed, **{key: value for key, value in values.items() if not is_variable(key)}}
        return self.scenario.override(overrides) if overrides else self.scenario


def template_of(scenario: Scenario, settings: Sequence[tuple[str, str]], names: Sequence[str]) -> Template:
    """A template of a scenario in which some values are replaced, of which those that name a variable are computed.

    Parameters
    ----------
    scenario
        Where it starts.
    settings
        Dotted keys and values, written as on the command line.
    names
        What gets a value.
    """
    variables = [name for name in names if is_variable(name)]
    computed = {key: parsed(value) for key, value in settings if uses_any(value, variables)}
    fixed = [(key, value) for key, value in settings if key not in computed]
    for key, value in fixed:
        if (match := _computed.search(value)) is not None:
            name = re.findall(r"[A-Za-z_]\w*", match[0])[0]
            raise UsageError(
                f"`{key}` is computed from `{name}`, which gets no value", hint=f"add an axis or a key `{name}`"
            )
    return Template(scenario.set_text(*fixed) if fixed else scenario, tuple(names), computed)


def is_variable(name: str) -> bool:
    """Whether a name can be no key of a scenario."""
    return name.isidentifier() and name not in (*_plain_keys, *_tables)


def uses_any(value: object, names: Iterable[str]) -> bool:
    """Whether a value is computed from one of the names."""
    return any(_mentions(value, name) for name in names)


def _mentions(value: object, name: str) -> bool:
    match value:
        case str():
            return any(re.search(rf"\b{re.escape(name)}\b", braces) for braces in re.findall(r"\{([^{}]+)\}", value))
        case list():
            return any(_mentions(item, name) for item in value)
        case dict():
            return any(_mentions(item, name) for item in value.values())
    return False
