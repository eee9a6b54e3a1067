"""The platforms whose configurations are read and written: one list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from shoal.errors import ScenarioError, UsageError
from shoal.models import nearest
from shoal.switch.model import Configuration
from shoal.switch.reading import Document


class CodePoints(Enum):
    """When a writer says which packets go to which queue."""

    NEVER = "never"
    # One map is for the whole device, with the queues of other traffic in it.
    ASKED = "asked"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform: the modules that read and write it are loaded when they are used.

    Attributes
    ----------
    name, title
        What the command line and what people call it.
    code_points
        When its writer says which packets go to which queue.
    has_limits
        Whether its writer can say what queues may hold.
    """

    name: str
    title: str
    code_points: CodePoints = CodePoints.NEVER
    has_limits: bool = False

    def recognises(self, text: str) -> bool:
        """Whether a text looks like its configuration."""
        return bool(self._module("read").recognises(text))

    def read(self, document: Document) -> Configuration:
        """Read a configuration."""
        found: Configuration = self._module("read").read(document)
        return found

    @property
    def write(self) -> Callable[..., str]:
        """What writes it; see :mod:`shoal.switch.writing`."""
        written: Callable[..., str] = self._module("write").write
        return written

    def _module(self, what: str) -> Any:
        return import_module(f"shoal.switch.{self.name}_{what}")


# In the order in which a text is tried.
PLATFORMS = (
    Platform("openconfig", "OpenConfig QoS in JSON"),
    Platform("sonic", "SONiC CONFIG_DB", CodePoints.ASKED, has_limits=True),
    Platform("ecnconfig", "commands of SONiC's ecnconfig"),
    Platform("tc", "Linux tc", CodePoints.ALWAYS),
    Platform("nxos", "Cisco NX-OS", CodePoints.ASKED, has_limits=True),
    Platform("eos", "Arista EOS", CodePoints.ASKED),
)
NAMES = tuple(platform.name for platform in PLATFORMS)


def find_platform(name: str) -> Platform:
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


def recognised(document: Document) -> Platform:
    """The platform that a configuration looks like.

    Raises
    ------
    ScenarioError
        It is a template, or looks like none of them.
    """
    document.refuse_templates()
    for platform in PLATFORMS:
        if platform.recognises(document.text):
            return platform
    raise ScenarioError(
        f"error: `{document.name}` looks like the configuration of no platform that is known\n"
        f"hint: name it: --platform {'|'.join(NAMES)}\n"
    )
