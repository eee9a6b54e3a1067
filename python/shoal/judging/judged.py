"""What a judgement says: numbers for an optimiser, and words for whoever writes the next law."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal import _native
from shoal._arguments import explained
from shoal.table import Table
from shoal.words import count_of

schema_version = 1


@explained
@dataclass(frozen=True)
class Episode:
    """Means over the seeds of a scenario.

    Attributes
    ----------
    title
        Title of the scenario.
    score
        Value of the score's expression; ``None`` if it has no value.
    metrics
        By their names.
    notices
        What the runs say, each sentence once, without a full stop.
    is_held_out
        Whether it has no part in the score.
    """

    title: str
    score: float | None
    metrics: Mapping[str, float | None]
    notices: tuple[str, ...]
    is_held_out: bool


@explained
@dataclass(frozen=True, repr=False)
class Verdict:
    """How good a law is.

    Attributes
    ----------
    law
        As it was given.
    score
        Mean over the scenarios of the last stage that ran; ``None`` if the law failed or ran out of time.
    held_out
        Such a mean over the held-out scenarios; ``None`` if they did not run.
    stage
        The last stage that ran: ``first`` (one scenario, one seed), ``all`` or ``held-out``.
    episodes
        One a scenario of that stage.
    runs
        How many runs were made.
    error
        Why there is no score; empty if there is one.
    """

    law: str
    score: float | None
    held_out: float | None
    stage: str
    episodes: list[Episode]
    runs: int
    error: str = ""

    @property
    def gap(self) -> float | None:
        """By how much the score is better than that of the held-out scenarios: large where a law was over-fitted."""
        return None if self.score is None or self.held_out is None else self.score - self.held_out

    @property
    def metrics(self) -> dict[str, float | None]:
        """Numbers alone: ``combined_score``, ``held_out_score``, ``gap``, and the mean of each metric."""
        shown = [episode for episode in self.episodes if not episode.is_held_out]
        names = dict.fromkeys(name for episode in shown for name in episode.metrics)
        means = {name: _mean([episode.metrics[name] for episode in shown]) for name in names}
        return {"combined_score": self.score, "held_out_score": self.held_out, "gap": self.gap, **means}

    @property
    def artifacts(self) -> dict[str, Any]:
        """Words and details: each scenario, the worst of them, and what their notices say."""
        known = [episode for episode in self.episodes if episode.score is not None and not episode.is_held_out]
        worst = min(known, key=lambda episode: episode.score or 0.0, default=None)
        return {
            "worst_scenario": None if worst is None else worst.title,
            "notices": [f"{episode.title}: {text}." for episode in self.episodes for text in episode.notices],
            "scenarios": [
                {
                    "title": episode.title,
                    "held_out": episode.is_held_out,
                    "score": episode.score,
                    "metrics": dict(episode.metrics),
                }
                for episode in self.episodes
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """The object of ``shoal judge``."""
        return {
            "schema": schema_version,
            "version": _native.__version__,
            "law": self.law,
            "stage": self.stage,
            "runs": self.runs,
            "error": self.error or None,
            "metrics": self.metrics,
            "artifacts": self.artifacts,
        }

    @property
    def json(self) -> str:
        """:meth:`to_dict` on a line."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def table(self) -> Table:
        """One row a scenario."""
        names = list(self.episodes[0].metrics) if self.episodes else []
        rows = [
            (
                episode.title,
                "held out" if episode.is_held_out else "",
                _text(episode.score),
                *(_text(episode.metrics[name]) for name in names),
            )
            for episode in self.episodes
        ]
        return Table("", ("Scenario", "", "Score", *names), rows, words=2)

    def __repr__(self) -> str:
        said = self.error or f"{_text(self.score)}, held out {_text(self.held_out)}"
        return f"<shoal.Verdict of {self.law}: {said}; {count_of(self.runs, 'run')}>"


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
