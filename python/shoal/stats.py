"""Mean and confidence interval of repeated runs; the difference of two sets of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import UsageError


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
        raise UsageError(f"a confidence of {confidence} is no probability between 0 and 1", hint="as in 0.95")
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
    """How much the means of two sets of independent values differ.

    Attributes
    ----------
    value
        First mean minus second mean.
    half_width
        Half of the two-sided confidence interval by Welch's t; ``None`` for fewer than two values on a side.
    p
        Probability of a difference at least as large if the means were equal (Welch's t test); ``None`` if neither side
        varies or one has fewer than two values: then there is nothing to test.
    """

    value: float
    half_width: float | None
    p: float | None


def difference(first: Sequence[float], second: Sequence[float], *, confidence: float = 0.95) -> Difference | None:
    """Difference of two means whose variances may differ (Welch 1947); ``None`` if a side is empty."""
    if not first or not second:
        return None
    means = [math.fsum(values) / len(values) for values in (first, second)]
    value = 0.0 if sorted(first) == sorted(second) else means[0] - means[1]
    if min(len(first), len(second)) < 2:
        return Difference(value, None, None)
    if min(first) == max(first) and min(second) == max(second):
        return Difference(first[0] - second[0], 0.0, None)
    parts = [
        math.fsum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values)
        for values, mean in zip((first, second), means, strict=True)
    ]
    error = math.sqrt(sum(parts))
    # Welch and Satterthwaite.
    degrees = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for values, part in zip((first, second), parts, strict=True)
    )
    p = _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + (value / error) ** 2))
    return Difference(value, student_t_quantile((1 + confidence) / 2, degrees) * error, p)


def holm(p_values: Sequence[float], *, level: float = 0.05) -> list[bool]:
    """Which tests are significant, so that a false alarm among all of them has probability ``level`` (Holm 1979)."""
    significant = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if p_values[index] > level / (len(p_values) - rank):
            break
        significant[index] = True
    return significant


def student_t_quantile(p: float, degrees: float) -> float:
    """Quantile of Student's t distribution, for 0.5 <= p < 1, to 1e-10.

    P(|T| > t) is the regularised incomplete beta function I_x(degrees/2, 1/2) at x = degrees / (degrees + t^2)
    (Abramowitz and Stegun 26.7.1); it falls in t, so bisection finds t.
    """
    if not 0.5 <= p < 1:
        raise UsageError(f"{p} is no quantile that can be computed", hint="a number from 0.5 to below 1")
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
