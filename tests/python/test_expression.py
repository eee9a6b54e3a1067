"""Arithmetic of paper files."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.expression import UndefinedError, check, evaluate, fill, filled, number, plain


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("m/0", "division by zero"),
        ("m**99999999", "the number is too large"),
        ("9**m**9**9", "the number is too large"),
        ("9**9**9**9", "the number is too large"),
        ("m*1e400", "the number is too large"),
        ("1e308*10", "the number is too large"),
        ("2**1023 * 4", "the number is too large"),
        ("(-m)**0.5", "a negative number has no such power"),
        ("sqrt(-m)", "sqrt: math domain error"),
        ("log(m - m)", "log: math domain error"),
        ("round(m, -10**9)", "numbers are rounded to at most 400 places"),
    ],
)
def test_arithmetic_without_a_value_names_the_expression(text: str, reason: str) -> None:
    with pytest.raises(UndefinedError) as caught:
        evaluate(text, {"m": 3})
    assert str(caught.value) == f"`{text}` is undefined: {reason}"
    assert caught.value.hint == (None if "m" not in text.replace("round", "") else "it was computed with m = 3")
    assert math.isnan(evaluate(text, {"m": 3}, gaps=True))


def test_large_numbers_that_fit_are_exact() -> None:
    # 2^1023 has 1024 bits: the largest power of two in the range of floating point.
    assert evaluate("2**1023") == 2**1023
    with pytest.raises(UndefinedError):
        evaluate("2**1024")
    assert evaluate("3**(0 - 2)") == pytest.approx(1 / 9)


def test_constants_without_a_value_are_found_without_a_run() -> None:
    functions = {"f": lambda: 1.0}
    for text in ("1/0", "f() + 9**9**9**9", "f() * sqrt(1 - 2)"):
        with pytest.raises(UndefinedError, match="is undefined") as caught:
            check(text, [], functions)
        assert caught.value.text == text
    check("f()/(1 - f())", [], functions)


@pytest.mark.parametrize("text", ["'a' * 9**9", "'a' * 3", "-'a'", "'a' + 'b'"])
def test_texts_are_no_numbers(text: str) -> None:
    with pytest.raises(shoal.UsageError, match="is not a number"):
        evaluate(text)


@pytest.mark.parametrize("text", ["-" * 5000 + "1", "(" * 5000 + "1" + ")" * 5000, "1+" * 60_000 + "1", "9" * 5000])
def test_monstrous_texts_are_refused(text: str) -> None:
    with pytest.raises(shoal.UsageError) as caught:
        evaluate(text)
    assert len(str(caught.value)) < 600
    with pytest.raises(shoal.UsageError):
        check(text, [], {})


def test_formats_stay_small() -> None:
    with pytest.raises(shoal.UsageError, match="no format of a number"):
        fill("{m:999999999d}", {"m": 1})
    assert fill("{m:6.2f}", {"m": 1}) == "  1.00"
    with pytest.raises(UndefinedError, match="a number is missing"):
        fill("{m}", {"m": math.nan})


def test_small_numbers_are_not_lost() -> None:
    assert plain(1.5e-20) == "0.000000000000000000015"
    assert plain(35.28) == "35.28"  # not 35.280000000000001, the number that it is in binary
    for value in (math.nan, math.inf):
        with pytest.raises(shoal.UsageError):
            plain(value)


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
        ("f()", "`f` lacks `a`"),
        ("f(1, c=2)", "`f` takes no `c`"),
        ("g(1)", "there is no function `g`"),
        ("n", "there is no `n`"),
        ("f + 1", "`f` is a function"),
        ("1 +", "not an expression"),
    ):
        with pytest.raises(shoal.UsageError, match=message):
            check(text, ["m"], functions)
