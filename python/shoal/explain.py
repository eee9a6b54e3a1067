"""Which questions a result raises, and the first cause of each.

Causes are those of the notices, which the engine finds; it owns the questions to them, and what to change, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal import _native
from shoal.notices import Notice


@dataclass(frozen=True)
class Explanation:
    """A question that a result raises, with the first cause that its numbers show.

    Attributes
    ----------
    question
        One sentence with a question mark.
    kind
        Stable name of the notice that raises it.
    cause
        Stable name of the cause; ``None`` if it is not decided.
    evidence
        What the numbers show, with units: the text of the notice.
    change
        What to change, one sentence without a full stop; ``None`` if there is nothing to advise.
    groups, links
        Names of the flow groups and links that it is about.
    """

    question: str
    kind: str
    cause: str | None
    evidence: str
    change: str | None
    groups: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return asdict(self)


def explanations(notices: Sequence[Notice]) -> list[Explanation]:
    """The questions of a result, in the order of its notices."""
    raised = json.loads(_native.explanations(json.dumps([asdict(notice) for notice in notices])))
    return [
        Explanation(
            each["question"], notice.kind, each["cause"], notice.text, each["change"], notice.groups, notice.links
        )
        for each in raised
        for notice in [notices[each["notice"]]]
    ]
