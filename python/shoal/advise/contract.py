"""Advice as one JSON object."""

from __future__ import annotations

from typing import Any

from shoal import _native
from shoal.advise import wording
from shoal.advise.advising import Advice, Standing
from shoal.advise.candidates import families
from shoal.advise.judging import Judged, Means
from shoal.stats import Estimate


def as_dict(advice: Advice) -> dict[str, Any]:
    """Everything that was asked, tried and found; times in s, rates in bit/s."""
    return {
        "schema": 1,
        "version": _native.__version__,
        "question": advice.question.to_dict(),
        "assumptions": advice.question.assumptions,
        "verdict": str(advice.verdict),
        "answer": wording.verdict(advice),
        "recommended": _standing(advice.recommended),
        "ranking": [_standing(standing) for standing in advice.ranking],
        "around": [
            {"what": change.what, "judged": _judged(change.judged), "found": _means(change.measured)}
            for change in advice.around
        ],
        "not_modelled": wording.not_modelled(advice),
        "scenario": advice.scenario.resolved,
        "screened": advice.screened,
        "runs": advice.runs,
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "law": standing.candidate.family,
        "summary": families[standing.candidate.family].summary,
        "parameters": dict(standing.candidate.parameters),
        "bottleneck": {"aqm": standing.candidate.aqm},
        "judged": _judged(standing.judged),
        "situations": [
            {
                "name": situation.name,
                "scalable_flows": situation.scalable,
                "classic_flows": situation.classic,
                "incast": situation.incast,
                "flooded": situation.is_flooded,
                **_means(means),
            }
            for situation, means in standing.measured.items()
        ],
    }


def _judged(judged: Judged) -> dict[str, Any]:
    return {
        "unequal": judged.unequal,
        "utilisation": judged.utilisation,
        "scalable_p99_s": judged.delay_s,
        "classic_p99_s": judged.classic_delay_s,
        "incast_p99_s": judged.incast_s,
        "missed": list(judged.missed),
    }


def _means(means: Means) -> dict[str, Any]:
    numbers: dict[str, Estimate | None] = {
        "ratio": means.ratio,
        "utilisation": means.utilisation,
        "scalable_p99_s": means.scalable_p99_s,
        "classic_p99_s": means.classic_p99_s,
        "classic_lost": means.classic_lost,
        "incast_p99_s": means.incast_p99_s,
        "timeouts": means.timeouts,
    }
    return {name: None if value is None else value.to_dict() for name, value in numbers.items()}
