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
        "ranking": [_standing(one) for one in advice.ranking],
        "around": [
            {"what": one.what, "judged": _judged(one.judged), "found": _means(one.found)} for one in advice.around
        ],
        "not_modelled": wording.not_modelled(advice),
        "scenario": advice.scenario.resolved,
        "screened": advice.screened,
        "runs": advice.runs,
    }


def _standing(one: Standing) -> dict[str, Any]:
    return {
        "law": one.candidate.family,
        "summary": families[one.candidate.family].summary,
        "parameters": dict(one.candidate.parameters),
        "bottleneck": {"aqm": one.candidate.aqm},
        "judged": _judged(one.judged),
        "situations": [
            {
                "name": situation.name,
                "scalable_flows": situation.scalable,
                "classic_flows": situation.classic,
                "incast": situation.incast,
                "flooded": situation.is_flooded,
                **_means(own),
            }
            for situation, own in one.found.items()
        ],
    }


def _judged(one: Judged) -> dict[str, Any]:
    return {
        "unequal": one.unequal,
        "utilisation": one.utilisation,
        "scalable_p99_s": one.delay_s,
        "classic_p99_s": one.classic_delay_s,
        "incast_p99_s": one.incast_s,
        "missed": list(one.missed),
    }


def _means(own: Means) -> dict[str, Any]:
    numbers: dict[str, Estimate | None] = {
        "ratio": own.ratio,
        "utilisation": own.utilisation,
        "scalable_p99_s": own.scalable_p99_s,
        "classic_p99_s": own.classic_p99_s,
        "classic_lost": own.classic_lost,
        "incast_p99_s": own.incast_p99_s,
        "timeouts": own.timeouts,
    }
    return {name: None if value is None else value.to_dict() for name, value in numbers.items()}
