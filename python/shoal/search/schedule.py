"""How the runs of a search with goals are divided: fixed numbers, so that the same command does the same. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from shoal._arguments import explained
from shoal.errors import UsageError

#: Candidates that are proposed together; it does not depend on the number of workers, so that results do not either.
batch = 8
# Rounds whose candidates are drawn at random before the sampler learns, and the least number of rounds.
_startup_rounds = 2
# Neighbours of an optimum in the direction of each parameter.
_neighbours = 4


@explained
@dataclass(frozen=True, slots=True)
class Schedule:
    """Who is run how often.

    Every candidate is run with ``seeds`` seeds, the same for all. After each round of :data:`batch` candidates the best
    get as many seeds again; at the end so do all finalists. Then the finalists, and the neighbours of the optimum, are
    run with twice ``seeds`` fresh seeds, which had no part in choosing them.

    Attributes
    ----------
    runs
        All runs together, at most.
    seeds
        Seeds of every candidate.
    parameters, goals
        How many there are.
    """

    runs: int
    seeds: int
    parameters: int
    goals: int

    @property
    def leaders(self) -> int:
        """How many of the best candidates get more seeds after a round."""
        return 2 if self.goals == 1 else 4

    @property
    def finalists(self) -> int:
        """So many candidates are run with fresh seeds: the best, or, of several goals, those that stand for a front."""
        return 3 if self.goals == 1 else 8

    @property
    def startup(self) -> int:
        """Candidates that are drawn at random."""
        return _startup_rounds * batch

    @property
    def kept_back(self) -> int:
        """Runs that are kept for the end: fresh seeds for finalists and neighbours."""
        return 2 * self.seeds * (self.finalists + _neighbours * self.parameters)

    @property
    def for_rounds(self) -> int:
        """Runs that rounds may use; what they leave gives the finalists their second seeds."""
        return self.runs - self.kept_back - self.seeds * self.finalists

    @property
    def round(self) -> int:
        """Runs of a round, at most."""
        return self.seeds * (batch + self.leaders)

    def check(self) -> None:
        """Refuse a search that would have no room to search.

        Raises
        ------
        UsageError
            There are too few runs for two rounds and what follows them.
        """
        least = self.runs - self.for_rounds + _startup_rounds * self.round
        if self.runs < least:
            parameters = f"{self.parameters} free parameter" + "s" * (self.parameters > 1)
            seeds = f"{self.seeds} seed" + "s" * (self.seeds > 1)
            raise UsageError(
                f"{self.runs} runs are too few: {parameters} with {seeds} a candidate take at least {least}",
                hint=f"--runs {least} or more, or fewer --seeds",
            )
