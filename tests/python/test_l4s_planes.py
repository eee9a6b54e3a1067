"""Verdicts of the study of L4S on both planes: whole intervals within a bound or beyond it, else nothing is said."""

from __future__ import annotations

import pytest

from studies.l4s_planes.verdicts import DIFFERENT, SAME, UNDECIDED, Compared, Quantity

LINUX = (40.0, 50.0, 60.0)
SHARE = Quantity("share, %", lambda result: 0.0, 0.0, 2.0, 1)
DELAY = Quantity("delay, ms", lambda result: 0.0, 0.05, 0.0, 2)


@pytest.mark.parametrize(
    ("quantity", "apart", "verdict", "is_open"),
    [
        # What seeds have in common cancels: Linux's own scatter is 10.
        (SHARE, (0.9, 1.0, 1.1), SAME, False),
        (SHARE, (2.9, 3.0, 3.1), DIFFERENT, False),
        (SHARE, (-2.9, -3.0, -3.1), DIFFERENT, False),
        # Student's t for two degrees of freedom is 4.30: 1 +- 2.5, and 3 +- 2.5.
        (SHARE, (0.0, 1.0, 2.0), UNDECIDED, True),
        (SHARE, (2.0, 3.0, 4.0), UNDECIDED, False),
        # 5 % of a mean of 50 are 2.5.
        (DELAY, (2.3, 2.3, 2.4), SAME, False),
        (DELAY, (2.6, 2.7, 2.7), DIFFERENT, False),
    ],
)
def test_an_interval_is_within_or_beyond_or_neither(
    quantity: Quantity, apart: tuple[float, ...], verdict: str, is_open: bool
) -> None:
    compared = Compared(quantity, tuple(x + d for x, d in zip(LINUX, apart, strict=True)), LINUX)
    assert (compared.verdict, compared.is_open) == (verdict, is_open)


def test_one_seed_decides_nothing() -> None:
    compared = Compared(SHARE, (50.0,), (50.0,))
    assert compared.verdict == UNDECIDED


def test_cells_say_what_follows() -> None:
    compared = Compared(SHARE, (43.0, 53.0, 63.0), LINUX)
    assert compared.cells() == {"share, Linux": "50.0", "share: difference": "+3.0 ± 0.0 different"}
