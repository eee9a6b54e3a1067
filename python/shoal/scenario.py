"""Scenarios: what to run."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal import _native
from shoal._toml import toml_value
from shoal.errors import ScenarioError

# A scenario file is a few kilobytes; reading a device by accident must end.
_max_bytes = 1 << 20


@dataclass(frozen=True)
class Scenario:
    """The description of an experiment, checked when it is made.

    Make one with :meth:`from_file` or :meth:`from_toml`; change it with :meth:`override`, which gives a new one.

    Attributes
    ----------
    text
        The scenario file, in TOML.
    name
        Where it comes from, for messages.
    overrides
        ``(dotted key, value in TOML)`` pairs that replace values of the text, in order.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "20 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms" }]
    ... ''')
    >>> scenario.override({"bottleneck.rate": "20 Mbit/s"}).resolved["bottleneck"]["rate"]
    '20 Mbit/s'
    """

    text: str
    name: str = "<scenario>"
    overrides: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        _ = self._checked

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Read a scenario file.

        Raises
        ------
        OSError
            The file cannot be read.
        ScenarioError
            It is no scenario; the message shows every problem with its place.
        """
        return cls(read_text(path), str(path))

    @classmethod
    def from_toml(cls, text: str, *, name: str = "<string>") -> Scenario:
        """Read a scenario from a text in TOML; ``name`` is for messages."""
        return cls(text, name)

    @classmethod
    def from_resolved(cls, resolved: Mapping[str, Any], *, name: str = "<resolved scenario>") -> Scenario:
        """Make the scenario of a result's ``scenario`` object."""
        return cls(_native.json_to_toml(json.dumps(resolved), name), name)

    def override(self, values: Mapping[str, object]) -> Scenario:
        """Replace values by dotted keys, as ``--set`` does; the order counts.

        Parameters
        ----------
        values
            Keys such as ``bottleneck.rate``, ``flows[0].cc`` or ``flows.reno.cc``; values as in the file:
            ``"20 Mbit/s"``, numbers, booleans, lists, dictionaries.
        """
        return self.set_text(*((key, toml_value(value)) for key, value in values.items()))

    with_ = override

    def set_text(self, *overrides: tuple[str, str]) -> Scenario:
        """Replace values that are written as on the command line: TOML, or else a plain string."""
        return Scenario(self.text, self.name, (*self.overrides, *overrides))

    @cached_property
    def _checked(self) -> _native.Checked:
        return _native.check(self.text, self.name, list(self.overrides))

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The scenario with every default filled in; quantities in the units of the file."""
        return dict(json.loads(self._checked.json))

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Base units: rates in bit/s, the bandwidth-delay product and thresholds in bytes, times in seconds."""
        return dict(json.loads(self._checked.facts))

    @property
    def warnings(self) -> list[str]:
        """What is doubtful but allowed, each with its place."""
        return self._checked.warnings

    @property
    def notes(self) -> list[str]:
        """What the scenario does that its author may not expect, each with its place; results repeat it as notices."""
        return self._checked.notes

    @property
    def title(self) -> str:
        """Title for reports."""
        return str(self.resolved["title"])

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.resolved["seed"])

    def to_toml(self) -> str:
        """Write the resolved scenario as a scenario file."""
        return self._checked.toml

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.title)}</b><pre>{html.escape(self.to_toml())}</pre>"


def read_text(path: str | Path) -> str:
    """Read a small UTF-8 file; errors name the file and what is wrong with it."""
    with Path(path).open("rb") as file:
        content = file.read(_max_bytes + 1)
    if len(content) > _max_bytes:
        raise ScenarioError(
            f"error: `{path}` has more than {_max_bytes} bytes\n"
            "hint: a scenario file is a few kilobytes; is this the right file?\n"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"error: `{path}` is not UTF-8 text (byte {error.start})\nhint: is this a scenario file?\n"
        ) from None
