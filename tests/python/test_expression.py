"""Arithmetic of paper files."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.expression import check, evaluate, fill, filled, number, plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("2 ** 3 ** 2", 512),
        ("-m / (1 - x)", -4),
        ("1/sqrt(2)", math.sqrt(0.5)),
        ("max(m, 3)", 3),
        ("m < 3 and not x > 1", True),
        ("f(1, b=2)", 12),
        ("log10(100)", 2),
    ],
)
def test_values(text: str, value: float) -> None:
    functions = {"f": lambda a, b: 10 * a + b}
    assert evaluate(text, {"m": 2, "x": 0.5}, functions) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "m.real",
        "[1][0]",
        "lambda: 1",
        "f'{m}'",
        "(m := 1)",
        "open('x')",
        "1 if m else 2",
        "",
        "m +",
        "unknown",
        "'a' + 1",
        "1 < 2 < 3",
    ],
)
def test_nothing_else_is_allowed(text: str) -> None:
    with pytest.raises(shoal.UsageError):
        evaluate(text, {"m": 1.0})


def test_missing_numbers_and_zero() -> None:
    assert math.isnan(number("1 / m", {"m": 0.0}))
    assert math.isnan(number("m + 1", {"m": None}))


def test_fill() -> None:
    assert fill("{3 * m} BDP", {"m": 0.125}) == "0.375 BDP"
    assert fill("{m:.3g} of {n}", {"m": 1 / 3, "n": 4.0}) == "0.333 of 4"
    assert fill("nothing", {}) == "nothing"


@given(st.floats(1e-6, 1e9))
def test_plain_numbers_are_decimals_that_read_back(value: float) -> None:
    text = plain(value)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=1e-9, abs=1e-14)


def test_only_what_names_a_variable_is_filled() -> None:
    text = 'x{k} { uniform = ["0 s", "1 s"] } {2 * k + 1}'
    assert fill(text, {"k": 3}, only=True) == 'x3 { uniform = ["0 s", "1 s"] } 7'
    assert filled({"a": ["{k}", "{k} B", "{b}"], "c": 1}, {"k": 0.5}, only=True) == {
        "a": [0.5, "0.5 B", "{b}"],
        "c": 1,
    }


def test_what_shows_without_values_is_found_without_them() -> None:
    functions = {"f": lambda a, b=1: a + b}
    check("f(1) + f(2, b=3) * m - abs(m)", ["m"], functions)
    for text, message in (
        ("f()", "missing a required argument"),
        ("f(1, c=2)", "unexpected keyword argument"),
        ("g(1)", "there is no function `g`"),
        ("n", "there is no `n`"),
        ("f + 1", "`f` is a function"),
        ("1 +", "no expression"),
    ):
        with pytest.raises(shoal.UsageError, match=message):
            check(text, ["m"], functions)
