"""What results say without being asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.result import Result


@dataclass(frozen=True)
class Notice:
    """Something that a reader of the numbers has to know.

    Attributes
    ----------
    kind
        Stable name: ``starved``, or that of a note of the scenario.
    text
        One sentence without a full stop.
    groups, links
        Names of the flow groups and links that it is about.
    mechanisms
        With ``starved``: stable names of what the numbers of the run support; empty if no mechanism is determined.
    """

    kind: str
    text: str
    groups: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: dict[str, Any]) -> Notice:
        """The notice of a result object."""
        lists = ("groups", "links", "mechanisms")
        return cls(data["kind"], data["text"], *(tuple(data.get(name, ())) for name in lists))


def notice_lines(runs: Sequence[Result]) -> list[str]:
    """One sentence for each notice of some runs of a scenario: the first run's words, and in how many there is one."""
    first: dict[tuple[str, tuple[str, ...]], tuple[int, Notice]] = {}
    counts: dict[tuple[str, tuple[str, ...]], int] = {}
    for run in runs:
        for notice in run.notices:
            about = (notice.kind, notice.groups)
            first.setdefault(about, (run.seed, notice))
            counts[about] = counts.get(about, 0) + 1
    lines = []
    for about, (seed, notice) in first.items():
        agree = f" (seed {seed}; the same kind in {counts[about]} of {len(runs)} runs)" if len(runs) > 1 else ""
        lines.append(notice.text + agree)
    return lines
