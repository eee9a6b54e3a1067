"""RFC 7928, characterization guidelines for active queue management, as experiments."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.evaluate.model import Guide, Setting, in_order
from shoal.evaluate.rfc7928 import mixes, paths, rtts, stability, transports


def guide(contenders: Sequence[Setting]) -> Guide:
    """The guide with all of its sections that ask for something, for some queues."""
    return Guide(
        "RFC 7928",
        "Characterization Guidelines for Active Queue Management (AQM)",
        "https://www.rfc-editor.org/rfc/rfc7928",
        in_order(
            [
                *transports.clauses(contenders),
                *rtts.clauses(),
                *mixes.clauses(),
                *stability.clauses(contenders),
                *paths.clauses(contenders),
            ]
        ),
    )
