"""Judges laws for programs that improve them: a reproducible score, and scenarios that it does not see."""

from shoal.judging.judged import Episode, Verdict
from shoal.judging.running import judge, usual_metrics, usual_score

__all__ = ["Episode", "Verdict", "judge", "usual_metrics", "usual_score"]
