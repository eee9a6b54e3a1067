"""RFC 9743, specifying new congestion control algorithms (BCP 133), as experiments."""

from __future__ import annotations

from shoal.evaluate.model import Guide, in_order
from shoal.evaluate.rfc9743 import collapse, constrained, criteria, discussion, misbehaviour, mixed, paths, tunnels


def guide() -> Guide:
    """The guide: the criteria of section 5 on the paths of sections 6 and 7."""
    return Guide(
        "RFC 9743",
        "Specifying New Congestion Control Algorithms",
        "https://www.rfc-editor.org/rfc/rfc9743",
        in_order(
            [
                clause
                for part in (collapse, criteria, mixed, discussion, paths, tunnels, constrained, misbehaviour)
                for clause in part.clauses()
            ]
        ),
    )
