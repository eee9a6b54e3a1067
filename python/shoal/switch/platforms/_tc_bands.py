"""Bands of `prio`, `ets` and `pfifo_fast`: how each is served, and which the priority of a packet chooses.

The priority follows from the code point when Linux forwards a packet of IPv4 (ip_tos2prio in net/ipv4/route.c), or
when a program sets the field; man tc-prio has the table. Packets of IPv6 have priority 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import NoReturn

from shoal.switch.model import Scheduler, Serving
from shoal.switch.platforms import _tc_units as units
from shoal.switch.platforms._tc_commands import Command
from shoal.switch.reading import Document

# Bands for the 16 priorities, of q_prio.c and sch_generic.c.
_usual = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
# Priorities for the lower three bits of the code point, which are those of the old type of service: best effort, bulk,
# interactive, interactive bulk. The ECN field changes none.
_priorities = (0, 0, 2, 2, 6, 6, 4, 4)
MOST = 16
_frame_bytes = 1514


def priority_of(point: int, *, is_ipv6: bool) -> int:
    """The priority of packets with a code point."""
    return 0 if is_ipv6 else _priorities[point & 7]


@dataclass(frozen=True, slots=True)
class Bands:
    """The bands of a discipline.

    Attributes
    ----------
    served
        How each is served, the first first.
    priomap
        The band for each of the 16 priorities, from 0.
    """

    served: tuple[Scheduler, ...]
    priomap: tuple[int, ...]


def read_bands(document: Document, command: Command) -> Bands:
    """The bands that a command gives a discipline.

    Raises
    ------
    ScenarioError
        tc or the kernel refuses them; the message shows the line.
    """
    reader = _Reader(document, command)
    return reader.ets() if command.kind == "ets" else reader.prio()


class _Reader:
    def __init__(self, document: Document, command: Command) -> None:
        self.document, self.command = document, command

    def refuse(self, what: str, hint: str = "") -> NoReturn:
        self.document.refuse_statement(self.command.statement, what, hint or f"as in `{self.command.kind} bands 3`")

    def lists(self, *names: str) -> dict[str, list[str]]:
        """The words behind each of some names."""
        words = list(self.command.options)
        lists: dict[str, list[str]] = {}
        while words:
            name = words.pop(0)
            if name == "multiqueue":
                continue
            if name not in names:
                self.refuse(f"`{name}` is not an option of `{self.command.kind}`")
            values = list(takewhile(lambda word: word[:1].isdigit(), words))
            lists[name] = values
            del words[: len(values)]
        return lists

    def number(self, lists: dict[str, list[str]], name: str) -> int | None:
        if name not in lists:
            return None
        if len(lists[name]) != 1 or not lists[name][0].isdecimal():
            self.refuse(f"`{name}` needs one number")
        return int(lists[name][0])

    def priomap(self, words: list[str], bands: int, usual: tuple[int, ...]) -> tuple[int, ...]:
        if len(words) > len(usual) or any(not word.isdecimal() for word in words):
            self.refuse("`priomap` has up to 16 bands, one for each priority", "as in `priomap 1 2 2 2 1 2 0 0`")
        written = tuple(int(word) for word in words)
        priomap = written + usual[len(written) :]
        if (band := max(priomap)) >= bands:
            self.refuse(
                f"the priomap leads to band {band}, and there are {bands}, counted from 0",
                "write a priomap of 16 bands; that which is left out is `1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1`",
            )
        return priomap

    def prio(self) -> Bands:
        lists = self.lists("bands", "priomap")
        bands = self.number(lists, "bands")
        bands = 3 if bands is None else bands
        if not 2 <= bands <= MOST:
            self.refuse(f"`prio` cannot have {bands} bands", "from 2 to 16, as in `prio bands 3`")
        served = tuple(Scheduler(Serving.STRICT, priority=-band) for band in range(1, bands + 1))
        return Bands(served, self.priomap(lists.get("priomap", []), bands, _usual))

    def ets(self) -> Bands:
        lists = self.lists("bands", "strict", "quanta", "priomap")
        quanta = [units.size_bytes(word) or 0 for word in lists.get("quanta", [])]
        strict = self.number(lists, "strict") or 0
        bands = self.number(lists, "bands")
        bands = strict + len(quanta) if bands is None else bands
        if not 1 <= bands <= MOST or strict + len(quanta) > bands or 0 in quanta:
            self.refuse(
                f"{bands} bands, of which {strict} are strict and {len(quanta)} have a quantum",
                "as in `ets bands 3 strict 1 quanta 3000 1500`",
            )
        # Bands without a quantum have that of the device: a frame.
        shares = quanta + [_frame_bytes] * (bands - strict - len(quanta))
        served = [Scheduler(Serving.STRICT, priority=-band) for band in range(1, strict + 1)]
        served += [Scheduler(Serving.WEIGHTED, weight=share) for share in shares]
        return Bands(tuple(served), self.priomap(lists.get("priomap", []), bands, (bands - 1,) * 16))
