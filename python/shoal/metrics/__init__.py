"""The metrics of runs: one declaration each, and the expressions over them.

A metric is a function of a result below :func:`shoal.metrics.registry.declare`; ``links`` has those of a queue,
``groups`` those of flows, ``cuts`` those of traced windows, ``steps`` those of links that change, ``flow_quality``
and ``phases`` those that RFC 7928 asks for, ``fair_share`` what flows get of what would be fair. Everything else reads
the list that they make.
"""

from shoal.metrics import links, groups, cuts, steps, flow_quality, phases, fair_share  # noqa: F401, I001  (in this order)
from shoal.metrics.language import check_metric, default_metrics, measured, metric, recording
from shoal.metrics.registry import (
    Metric,
    Of,
    Recorded,
    classes,
    metrics,
    quantity,
    statistics,
    summary,
    unit_of,
)
from shoal.units import Unit

__all__ = [
    "Metric",
    "Of",
    "Recorded",
    "Unit",
    "check_metric",
    "classes",
    "default_metrics",
    "measured",
    "metric",
    "metrics",
    "quantity",
    "recording",
    "statistics",
    "summary",
    "unit_of",
]
