"""Configurations of switches and of ``tc``: read into laws, and written from the law of a scenario.

A reader fills the normal form (:mod:`shoal.switch.model`), one file a platform; a writer starts from it.
:mod:`shoal.switch.platforms` lists the platforms, ``switches.toml`` what public documents state about devices.
"""

from shoal.switch.amounts import Amount, Port, Unit
from shoal.switch.model import Configuration, Law, Queue, Remark
from shoal.switch.platforms import PLATFORMS, find_platform, recognised
from shoal.switch.presets import COLOURS, Switch, find_switch, switches
from shoal.switch.reading import Document

__all__ = [
    "COLOURS",
    "PLATFORMS",
    "Amount",
    "Configuration",
    "Document",
    "Law",
    "Port",
    "Queue",
    "Remark",
    "Switch",
    "Unit",
    "find_platform",
    "find_switch",
    "read_configuration",
    "recognised",
    "switches",
]


def read_configuration(document: Document, platform: str | None = None) -> Configuration:
    """Read a configuration of a platform, or of the one that it looks like.

    Raises
    ------
    ScenarioError
        It cannot be read; the message shows the line and what would be right.
    UsageError
        There is no such platform.
    """
    chosen = recognised(document) if platform is None else find_platform(platform)
    return chosen.read(document)
