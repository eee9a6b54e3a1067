"""Confidence intervals against printed tables, and their invariants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.stats import estimate, student_t_quantile

# Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10.
PRINTED = [
    (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.975, 29, 2.045),
    (0.975, 120, 1.980), (0.95, 1, 6.314),
    (0.95, 10, 1.812), (0.995, 5, 4.032), (0.995, 60, 2.660), (0.9995, 3, 12.924),
]  # fmt: skip


@pytest.mark.parametrize(("p", "degrees", "printed"), PRINTED)
def test_quantiles_of_students_t(p: float, degrees: int, printed: float) -> None:
    assert student_t_quantile(p, degrees) == pytest.approx(printed, abs=6e-4)


def test_median_is_zero() -> None:
    assert student_t_quantile(0.5, 7) == pytest.approx(0, abs=1e-9)


def test_by_hand() -> None:
    # Mean 2, variance 1, n = 3: 4.302653 * 1 / sqrt(3).
    value = estimate([1.0, 2.0, 3.0])
    assert value is not None
    assert value.mean == 2
    assert value.half_width == pytest.approx(2.484138, abs=1e-6)


def test_too_few() -> None:
    assert estimate([]) is None
    one = estimate([5.0])
    assert one is not None
    assert (one.mean, one.half_width, one.n) == (5.0, None, 1)


numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers, min_size=2, max_size=20), numbers)
def test_shift(values: list[float], by: float) -> None:
    first, second = estimate(values), estimate([value + by for value in values])
    assert first is not None
    assert second is not None
    assert second.mean == pytest.approx(first.mean + by, abs=1e-6)
    assert second.half_width == pytest.approx(first.half_width, rel=1e-6, abs=1e-4)


@given(st.lists(numbers, min_size=2, max_size=20))
def test_wider_with_more_confidence(values: list[float]) -> None:
    narrow, wide = estimate(values, confidence=0.9), estimate(values, confidence=0.99)
    assert narrow is not None
    assert wide is not None
    assert (narrow.half_width or 0) <= (wide.half_width or 0)
