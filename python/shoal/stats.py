"""Mean and confidence interval of repeated runs; differences of pairs of them; many tests at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from shoal._arguments import explained
from shoal.errors import UsageError


@explained
@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds.

    Attributes
    ----------
    mean
        Arithmetic mean.
    half_width
        Half of the two-sided confidence interval by Student's t; ``None`` for fewer than two values.
    n
        Number of values.
    """

    mean: float
    half_width: float | None
    n: int

    def to_dict(self) -> dict[str, float | int | None]:
        """As JSON has it: ``mean``, ``ci95`` (the half-width) and ``n``."""
        return {"mean": self.mean, "ci95": self.half_width, "n": self.n}


@explained
def estimate(values: Sequence[float], *, confidence: float = 0.95) -> Estimate | None:
    """Mean and confidence interval of independent values; ``None`` if there are none.

    Parameters
    ----------
    values
        One value a seed.
    confidence
        Probability that the interval covers the mean of normally distributed values.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence of {confidence} is not a probability between 0 and 1", hint="as in 0.95")
    n = len(values)
    if n == 0:
        return None
    if n == 1:
        return single(values[0])
    if min(values) == max(values):
        return Estimate(values[0], 0.0, n)  # exactly, whatever rounding makes of the sum
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Estimate(mean, student_t_quantile((1 + confidence) / 2, n - 1) * math.sqrt(variance / n), n)


def single(value: float | None) -> Estimate | None:
    """One value, of whose noise nothing is known."""
    return None if value is None else Estimate(value, None, 1)


@dataclass(frozen=True, slots=True)
class Difference:
    """How much the means of pairs of values differ.

    Attributes
    ----------
    value
        Mean of first minus second.
    sd
        Standard deviation of first minus second over the pairs; ``None`` for fewer than two.
    half_width
        Half of the two-sided confidence interval by Student's t; ``None`` for fewer than two pairs.
    p
        Probability of a difference at least as large if the means were equal (paired t test); ``None`` if there is
        nothing to test: fewer than two pairs, or the same difference in each.
    n
        Number of pairs.
    """

    value: float
    sd: float | None
    half_width: float | None
    p: float | None
    n: int


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Mean difference of pairs (Student 1908), of which there is at least one.

    What both values of a pair have in common, such as start times that were drawn from the same seed, cancels.
    """
    apart = [value - other for value, other in zip(first, second, strict=True)]
    interval = estimate(apart)
    if interval is None:
        raise UsageError("no pairs have no difference", hint="at least one value on each side")
    if interval.half_width is None:
        return Difference(interval.mean, None, None, None, 1)
    if interval.half_width == 0:
        return Difference(interval.mean, 0.0, 0.0, None, interval.n)
    sd = standard_deviation(apart)
    p = 2 * student_t_tail(abs(interval.mean) / (sd / math.sqrt(interval.n)), interval.n - 1)
    return Difference(interval.mean, sd, interval.half_width, p, interval.n)


def standard_deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample (n - 1) of at least two values; exactly 0 if they are equal."""
    if min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def benjamini_hochberg(p_values: Sequence[float], *, level: float = 0.05) -> list[bool]:
    """Which tests are significant, so that a share of ``level`` of them is expected to be false (the authors, 1995)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    passed = [rank for rank, index in enumerate(order, 1) if p_values[index] <= level * rank / len(p_values)]
    significant = [False] * len(p_values)
    for index in order[: max(passed, default=0)]:
        significant[index] = True
    return significant


def holm(p_values: Sequence[float], *, level: float = 0.05) -> list[bool]:
    """Which tests are significant, so that a false alarm among all of them has probability ``level`` (Holm 1979)."""
    significant = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if p_values[index] > level / (len(p_values) - rank):
            break
        significant[index] = True
    return significant


def normal_tail(z: float) -> float:
    """Probability that a standard normal variable exceeds ``z``."""
    return math.erfc(z / math.sqrt(2)) / 2


def student_t_tail(t: float, degrees: float) -> float:
    """Probability that a variable of Student's t distribution exceeds ``t`` (Abramowitz and Stegun 26.7.1)."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    both = _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))
    return both / 2 if t >= 0 else 1 - both / 2


# A table of many points asks for the same few.
@cache
def student_t_quantile(p: float, degrees: float) -> float:
    """Quantile of Student's t distribution, for 0.5 <= p < 1, to 1e-10.

    P(|T| > t) is the regularised incomplete beta function I_x(degrees/2, 1/2) at x = degrees / (degrees + t^2)
    (Abramowitz and Stegun 26.7.1); it falls in t, so bisection finds t.
    """
    if not 0.5 <= p < 1:
        raise UsageError(f"{p} is not a quantile that can be computed", hint="a number from 0.5 to below 1")
    tail = 2 * (1 - p)
    low, high = 0.0, 1.0
    while _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + high * high)) > tail:
        high *= 2
    while high - low > 1e-11 * max(1.0, high):
        middle = (low + high) / 2
        if _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + middle * middle)) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    # Modified Lentz: value = front / (1 + d1 x / (1 + d2 x / ...)).
    tiny = 1e-300
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, 400):
        m = step // 2
        if step == 1:
            term = 1.0
        elif step % 2 == 1:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        d = 1 / _away_from_zero(1 + term * d, tiny)
        c = _away_from_zero(1 + term / c, tiny)
        value *= c * d
        if step > 1 and abs(c * d - 1) < 1e-15:
            break
    return front * (value - 1)


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
