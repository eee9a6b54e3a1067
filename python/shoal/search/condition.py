"""Conditions on the metrics of runs, such as ``queue_empty() <= 0.05``, decided on the means over seeds."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal import expression
from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.metrics import check_metric, metric
from shoal.results import Result
from shoal.search.bisection import Decision
from shoal.stats import Estimate, estimate

_operators: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_example = "as in queue_empty() <= 0.05, or utilisation() >= 0.98 and delay_ms() < 5"


@explained
@dataclass(frozen=True, slots=True)
class Comparison:
    """Two metrics and how they shall compare; either may be a number."""

    left: str
    operator: str
    right: str

    @property
    def text(self) -> str:
        """The comparison as it was written."""
        return f"{self.left} {self.operator} {self.right}"


@explained
@dataclass(frozen=True, slots=True)
class Measured:
    """A comparison at one place: means over the seeds of its two sides, and whether it holds beyond the noise."""

    left: Estimate
    right: Estimate
    decision: Decision


@explained
@dataclass(frozen=True, slots=True)
class Condition:
    """Comparisons that must all hold."""

    text: str
    comparisons: tuple[Comparison, ...]

    @property
    def expressions(self) -> list[str]:
        """The two sides of every comparison."""
        return [side for comparison in self.comparisons for side in (comparison.left, comparison.right)]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition.

        Raises
        ------
        UsageError
            It is none, or uses a metric that does not exist.
        """
        tree = expression.parsed(text, what="condition", example=_example)
        parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
        comparisons = []
        for part in parts:
            match part:
                case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _operators:
                    comparisons.append(Comparison(ast.unparse(left), _operators[type(op)], ast.unparse(right)))
                case _:
                    raise UsageError(f"`{text}`: `{ast.unparse(part)}` is not a comparison", hint=_example)
        for comparison in comparisons:
            check_metric(comparison.left)
            check_metric(comparison.right)
        return cls(text, tuple(comparisons))

    def measure(self, runs: Sequence[Result]) -> list[Measured]:
        """Decide each comparison on the mean of its left side less its right side.

        A comparison is clear if the 95 % confidence interval of that mean does not contain zero, or if nothing varied;
        of a single run nothing is known of the noise, so it counts as clear.
        """
        values = {text: [metric(run, text) for run in runs] for text in dict.fromkeys(self.expressions)}
        for text, numbers in values.items():
            if any(math.isnan(value) for value in numbers):
                raise UsageError(
                    f"`{text}` has no value in `{runs[0].data['scenario']['title']}`",
                    hint="is the run long enough, and does the group or link do what is asked for?",
                )
        return self.judge(values)

    def judge(self, values: Mapping[str, Sequence[float]]) -> list[Measured]:
        """Decide each comparison on the values of :attr:`expressions`, one a seed, none of them missing."""
        return [
            _measured(comparison, values[comparison.left], values[comparison.right]) for comparison in self.comparisons
        ]


def decide(measured: Sequence[Measured]) -> Decision:
    """All comparisons together: clearly so if all hold clearly, clearly not if one clearly fails."""
    decisions = [part.decision for part in measured]
    holds = all(decision.holds for decision in decisions)
    if holds:
        return Decision(holds=True, clear=all(decision.clear for decision in decisions))
    return Decision(holds=False, clear=any(decision.clear for decision in decisions if not decision.holds))


def _measured(comparison: Comparison, left: Sequence[float], right: Sequence[float]) -> Measured:
    gaps = [a - b for a, b in zip(left, right, strict=True)]
    gap, first, second = estimate(gaps), estimate(left), estimate(right)
    assert gap is not None  # noqa: S101  (there is at least one run)
    assert first is not None  # noqa: S101
    assert second is not None  # noqa: S101
    holds = {"<": gap.mean < 0, "<=": gap.mean <= 0, ">": gap.mean > 0, ">=": gap.mean >= 0}[comparison.operator]
    clear = gap.half_width is None or gap.half_width == 0 or abs(gap.mean) > gap.half_width
    return Measured(first, second, Decision(holds=holds, clear=clear))
