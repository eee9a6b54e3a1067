"""What results say without being asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal import contract


@dataclass(frozen=True)
class Notice:
    """Something that a reader of the numbers has to know.

    Attributes
    ----------
    kind
        Stable name: ``starved``, ``below-fair-share``, ``below-half-share``, ``unequal-shares``,
        ``retransmission-storm``, ``heavy-loss``, ``no-marks``, ``marks-not-seen``, ``link-not-full``,
        ``idle-despite-windows``, ``retransmissions-without-drops``, ``ect-in-both-queues``, ``stalls-left-out``,
        ``out-of-sight``, ``threshold-in-bytes``, or that of a note of the scenario.
    text
        One sentence without a full stop.
    groups, links
        Names of the flow groups and links that it is about.
    mechanisms
        Stable names of what the numbers of the run support, for the first nine kinds, the one to look at first at the
        front; empty if no mechanism is determined.
    """

    kind: str
    text: str
    groups: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: contract.Notice) -> Notice:
        """The notice of a result object."""
        named = (data["groups"], data["links"], data.get("mechanisms", []))
        return cls(data["kind"], data["text"], *map(tuple, named))
