"""Counts verdicts: what a headline may say of a reproduction.

Headlines count the claims of the paper. A claim is met if every one of its cells is inside its tolerance; checks of our
own, other readings and repetitions are counted apart, and derivations are not counted at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.papers.spec import Role
from shoal.words import count_of


@dataclass
class Score:
    """How many cells are inside their tolerance, and how many there are."""

    inside: int = 0
    cells: int = 0

    @property
    def met(self) -> bool:
        """Whether every cell is inside."""
        return self.inside == self.cells

    def __str__(self) -> str:
        return f"{self.inside}/{self.cells}"


@dataclass(frozen=True)
class Tally:
    """Scores by claim for each role, and the derivations that are only shown."""

    by_role: dict[Role, dict[str, Score]] = field(default_factory=dict)
    derivations: int = 0

    def score(self, role: Role) -> Score:
        """All cells of a role together."""
        scores = self.by_role.get(role, {}).values()
        return Score(sum(score.inside for score in scores), sum(score.cells for score in scores))

    @property
    def claims(self) -> dict[str, Score]:
        """The score of every claim that was measured."""
        return self.by_role.get(Role.CLAIM, {})

    @property
    def headline(self) -> str:
        """One sentence about the claims, one about the rest."""
        met, cells = sum(score.met for score in self.claims.values()), self.score(Role.CLAIM)
        text = "No claim of the paper was measured."
        if self.claims:
            are = "measured claim is" if len(self.claims) == 1 else "measured claims are"
            inside = f"{cells.inside} of {count_of(cells.cells, 'cell')}"
            text = f"{met} of {len(self.claims)} {are} met in every cell ({inside})."
        names = {Role.OWN: "checks of our own", Role.READING: "other readings", Role.REPETITION: "repetitions"}
        rest = [
            f"{name}: {score.inside} of {score.cells} cells"
            for role, name in names.items()
            if (score := self.score(role)).cells
        ]
        rest += [f"derivations, shown without a verdict: {self.derivations}"] if self.derivations else []
        return text + (f" Counted apart: {'; '.join(rest)}." if rest else "")


def tally(rows: Iterable[Mapping[str, Any]]) -> Tally:
    """Count the rows of a table of verdicts, all of one reading.

    Parameters
    ----------
    rows
        With ``claim``, ``role``, ``cells`` and ``inside``, as text or as numbers.
    """
    by_role: dict[Role, dict[str, Score]] = {}
    shown = 0
    for row in rows:
        role = Role(row["role"])
        if role is Role.DERIVATION:
            shown += 1
            continue
        score = by_role.setdefault(role, {}).setdefault(row["claim"], Score())
        score.inside += int(row["inside"])
        score.cells += int(row["cells"])
    return Tally(by_role, shown)
