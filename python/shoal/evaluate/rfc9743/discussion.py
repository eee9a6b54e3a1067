"""Sections of RFC 9743 that ask for a text of the authors, or for what no model here covers."""

from __future__ import annotations

from shoal.evaluate.model import Clause, Level

_described = "a text of its authors; `shoal describe` lists what a model follows, and each known difference"


def clauses() -> list[Clause]:
    """The sections, in their order."""
    return [
        Clause(
            "4",
            "Controlled environments",
            reason="a text of its authors: where it may run; section 5.2.1 shows what it does to others if it leaves",
        ),
        Clause("5.3.1", "Deviations from the principles of RFC 2914 and RFC 7141", Level.MUST, reason=_described),
        Clause(
            "5.3.2",
            "Incremental deployment",
            Level.MUST,
            reason="a text of its authors; section 6.2 has a path that clears the ECN field; left out: transparent "
            "proxies and other equipment that ends connections",
        ),
        Clause("7.2", "Network circuit breakers", Level.OUGHT, reason="left out: no model of one"),
        Clause("7.10", "Multipath", Level.MUST, reason="left out: no model of multipath transport"),
    ]
