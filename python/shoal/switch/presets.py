"""Named switches: what public documents state about them, beyond what a configuration says."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shoal.errors import UsageError
from shoal.models import nearest
from shoal.switch.model import Where

# Of packets (RFC 2697), in the order of drop precedences.
COLOURS = ("green", "yellow", "red")


@dataclass(frozen=True, slots=True)
class Switch:
    """What a device adds to its configuration, of which the configuration says nothing.

    Attributes
    ----------
    name
        As in ``shoal list switches``; empty for a device that nothing is known of.
    title
        What it is.
    where
        When it decides to mark.
    colour
        The colour of ordinary packets, whose thresholds apply (SONiC, drop precedences of EOS).
    cell_bytes, segment_bytes
        Sizes in bytes; ``None`` if they are not known.
    threshold_cells, threshold_bytes
        Thresholds are multiples of so many cells, or bytes.
    has_steps
        Whether both thresholds may be the same.
    largest_weight
        Largest n of the average's weight 2^-n.
    assumed
        Keys that no document states that was read.
    sources
        Where the others are stated.
    """

    name: str = ""
    title: str = ""
    where: Where = Where.DEQUEUE
    colour: str = "green"
    cell_bytes: int | None = None
    segment_bytes: int | None = None
    threshold_cells: int = 1
    threshold_bytes: int = 1
    has_steps: bool = True
    largest_weight: int = 15
    assumed: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What is known, in words; assumptions are named."""
        parts = [self.title, f"decides at {self.where.value}" if self.where is not Where.UNKNOWN else ""]
        if self.cell_bytes:
            parts.append(f"cells of {self.cell_bytes} B")
        if self.threshold_cells > 1:
            parts.append(f"thresholds in {self.threshold_cells} cells")
        if self.threshold_bytes > 1:
            parts.append(f"thresholds in {self.threshold_bytes} B")
        if not self.has_steps:
            parts.append("no steps")
        if self.colour != "green":
            parts.append(f"the {self.colour} profile applies")
        if self.assumed:
            parts.append(f"assumed: {', '.join(name.removesuffix('_bytes') for name in self.assumed)}")
        return "; ".join(part for part in parts if part)


@cache
def switches() -> tuple[Switch, ...]:
    """All named switches, in the order of the table."""
    text = (Path(__file__).parent / "switches.toml").read_text(encoding="utf-8")
    presets = []
    for name, entry in tomllib.loads(text).items():
        values = dict(entry)
        values["where"] = Where(values.get("where", Where.UNKNOWN.value))
        values["assumed"], values["sources"] = tuple(values.get("assumed", ())), tuple(values["sources"])
        presets.append(Switch(name=name, **values))
    return tuple(presets)


def find_switch(name: str) -> Switch:
    """The switch of a name.

    Raises
    ------
    UsageError
        There is none; the hint has the nearest.
    """
    known = {switch.name: switch for switch in switches()}
    if name not in known:
        raise UsageError(f"no switch is called `{name}`", hint=nearest(name, list(known)))
    return known[name]
