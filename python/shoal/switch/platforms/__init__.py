"""The platforms whose configurations are read and written: one list of classes, one file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.errors import ScenarioError, UsageError
from shoal.models import nearest
from shoal.switch.foreign import what_else
from shoal.switch.options import Declaration, Options
from shoal.switch.platforms.base import Platform
from shoal.switch.platforms.ecnconfig import Ecnconfig
from shoal.switch.platforms.eos import Eos
from shoal.switch.platforms.junos import Junos
from shoal.switch.platforms.nvue import Nvue
from shoal.switch.platforms.nxos import Nxos
from shoal.switch.platforms.openconfig import OpenConfig
from shoal.switch.platforms.sonic import Sonic
from shoal.switch.platforms.tc import Tc
from shoal.switch.reading import Document

# In the order in which a text is tried.
PLATFORMS: tuple[Platform[Any], ...] = (
    OpenConfig(),
    Sonic(),
    Ecnconfig(),
    Nvue(),
    Junos(),
    Tc(),
    Nxos(),
    Eos(),
)
NAMES = tuple(platform.name for platform in PLATFORMS)


def find_platform(name: str) -> Platform[Any]:
    """The platform of a name.

    Raises
    ------
    UsageError
        There is none; the hint has the nearest.
    """
    for platform in PLATFORMS:
        if platform.name == name:
            return platform
    raise UsageError(f"there is no platform `{name}`", hint=nearest(name, list(NAMES)))


def recognised(document: Document) -> Platform[Any]:
    """The platform that a configuration looks like.

    Raises
    ------
    ScenarioError
        It is a template, or looks like none of them.
    """
    document.refuse_templates()
    what = what_else(document.text, is_alike=True)
    if not what:
        for platform in PLATFORMS:
            if platform.recognises(document.text):
                return platform
        what = what_else(document.text, is_alike=False)
    raise ScenarioError(
        f"error: `{document.name}` {what or 'looks like the configuration of no platform that is known'}\n"
        f"hint: these are read, and --platform names them: {', '.join(f'{p.name} ({p.title})' for p in PLATFORMS)}\n"
    )


def declared_options() -> Mapping[str, tuple[Declaration, tuple[str, ...]]]:
    """The options of all writers by the names of their fields, with the labels of the platforms that have them."""
    options: dict[str, tuple[Declaration, tuple[str, ...]]] = {}
    for platform in PLATFORMS:
        for name, declaration in platform.options.declarations().items():
            _, labels = options.get(name, (declaration, ()))
            options[name] = declaration, (*labels, platform.label)
    return options


def options_of(platform: Platform[Any], given: Mapping[str, object]) -> Options:
    """The options of a platform from what a command line has for the names of fields.

    Raises
    ------
    UsageError
        A value is none, or the platform does not have the option; the message names it.
    """
    known = declared_options()
    for name in given:
        if name not in platform.options.declarations():
            declaration, labels = known[name]
            raise UsageError(
                f"`{declaration.flag}` is no option of {platform.name}", hint=f"it is one of {', '.join(labels)}"
            )
    values = {name: known[name][0].field_of(value) for name, value in given.items()}
    options: Options = platform.options(**values)
    return options
