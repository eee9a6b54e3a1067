"""Code points of packets (RFC 2474 section 3, https://www.rfc-editor.org/rfc/rfc2474#section-3), and whose they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from shoal._native import CODE_POINTS
from shoal.errors import UsageError
from shoal.switch.model import Queue

LARGEST = 63
# Those of scenarios, and voice admit (RFC 5865), which is a word of NX-OS alone.
_names = {**CODE_POINTS, "va": 44}


def code_point(word: str) -> int | None:
    """The code point of a number or a name, such as ``af11``; ``None`` if it is neither."""
    number = _names.get(word.lower(), int(word) if word.isdecimal() else LARGEST + 1)
    return number if number <= LARGEST else None


def code_points(words: Iterable[str]) -> tuple[int, ...] | None:
    """The code points of words such as ``10``, ``af11`` and ``12-14,46``; ``None`` if one of them is none."""
    points: set[int] = set()
    for part in (part for word in words for part in word.split(",") if part):
        ends = [code_point(end) for end in (part.split("-") if re.fullmatch("[0-9]+-[0-9]+", part) else [part])]
        first, last = ends[0], ends[-1]
        if first is None or last is None or last < first:
            return None
        points.update(range(first, last + 1))
    return tuple(sorted(points))


def in_ranges(points: Iterable[int]) -> str:
    """Code points as a list with ranges, such as ``8-10,46``."""
    runs = []
    for _, pairs in groupby(enumerate(sorted(points)), lambda pair: pair[1] - pair[0]):
        run = [point for _, point in pairs]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(runs)


def owners(queues: Sequence[Queue]) -> Mapping[int, Queue]:
    """The queue of each code point that has one.

    Raises
    ------
    UsageError
        Two queues have the same code point, or two take all others.
    """
    rest = [queue for queue in queues if queue.takes_rest]
    if len(rest) > 1:
        names = ", ".join(queue.name for queue in rest)
        raise UsageError(f"the queues {names} both take all other code points", hint="give all but one code points")
    queue_of: dict[int, Queue] = {}
    for queue in queues:
        for point in queue.dscp:
            if queue_of.setdefault(point, queue) is not queue:
                raise UsageError(f"code point {point} belongs to two queues", hint="give each code point one queue")
    return {point: queue_of.get(point, *rest) for point in range(LARGEST + 1) if rest or point in queue_of}
