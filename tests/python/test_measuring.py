"""What expressions over metrics let a run record, and how they are evaluated at their borders."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import SMALL

import shoal
from shoal import expression
from shoal.errors import UsageError
from shoal.expression import UndefinedError, evaluate, fill, filled, number, parsed, plain
from shoal.metrics import check_metric, default_metrics, metric, recording
from shoal.metrics.language import measured
from shoal.stats import (
    Difference,
    benjamini_hochberg,
    estimate,
    holm,
    paired_difference,
    single,
    standard_deviation,
    student_t_quantile,
    student_t_tail,
)

# What is recorded.

OFF = {"trace.series": "off", "trace.flows": 0}


@pytest.fixture(scope="module")
def small() -> shoal.Scenario:
    return shoal.Scenario.from_toml(SMALL)


@pytest.mark.parametrize(
    ("recorded", "texts", "lean", "added"),
    [
        ({}, ["jain()"], False, {}),
        ({}, ["jain()"], True, {"trace.series": "off"}),
        (OFF, ["jain()"], True, {}),
        (OFF, ["jain()"], False, {}),
        ({}, ["oscillation_ms()"], True, {}),
        (OFF, ["oscillation_ms()"], True, {"trace.series": "auto"}),
        ({}, ["queue_peak()"], False, {"trace.distributions": True}),
        ({"trace.distributions": True}, ["queue_peak()"], False, {}),
        ({"trace.windows": "1 s"}, ["window_peak()"], False, {}),
        # Two flows in all: those of reno stand first.
        ({}, ["cuts_in_step()"], False, {"trace.controller_flows": 2}),
        ({"trace.controller_flows": 1}, ["cuts_in_step()"], False, {"trace.controller_flows": 2}),
        ({"trace.controller_flows": 2}, ["cuts_in_step()"], False, {}),
        ({}, ["mean_cut('reno')"], False, {"trace.controller_flows": 1}),
        ({}, ["mean_cut('dctcp')"], False, {"trace.controller_flows": 2}),
        ({}, ["mean_cut('dctcp')", "mean_cut('reno')"], False, {"trace.controller_flows": 2}),
        ({}, ["mean_cut('reno')", "mean_cut('dctcp')"], False, {"trace.controller_flows": 2}),
        ({"trace.controller_flows": 1}, ["mean_cut('reno')"], False, {}),
        ({"trace.controller_flows": 1}, ["mean_cut('dctcp')"], False, {"trace.controller_flows": 2}),
        # A group that nobody knows is named when the run is asked.
        ({}, ["mean_cut('cubic')"], False, {}),
        ({}, ["alpha('dctcp')"], False, {}),
        ({"trace.flows": 2}, ["alpha('dctcp')"], False, {}),
        ({"trace.flows": 1}, ["alpha('dctcp')"], False, {"trace.flows": "all"}),
        ({"trace.flows": "all"}, ["alpha('dctcp')"], False, {}),
        ({"trace.flows": 1}, ["alpha(group='dctcp')"], False, {"trace.flows": "all"}),
        # A group's share needs nothing, however few flows are recorded.
        ({"trace.flows": 1}, ["share('dctcp')"], False, {}),
    ],
)
def test_a_run_records_what_an_expression_needs_and_no_more(
    small: shoal.Scenario, recorded: dict[str, object], texts: list[str], lean: bool, added: dict[str, object]
) -> None:
    scenario = small.override(recorded) if recorded else small
    assert recording(scenario, texts, lean=lean) == added


def test_windows_whose_length_is_not_said_are_named(small: shoal.Scenario) -> None:
    with pytest.raises(UsageError, match="`window_peak` needs the length of its windows"):
        recording(small, ["jain() + window_peak()"])


def test_a_sweep_of_one_group_has_no_shares(small: shoal.Scenario) -> None:
    both = ["share_reno", "share_dctcp"]
    assert [name for name in default_metrics(small) if name.startswith("share")] == both
    assert default_metrics(small)["share_dctcp"] == 'share("dctcp")'
    assert default_metrics(small)["delay_p99_ms"] == "delay_ms('all', 'p99')"
    alone = small.override({"flows.reno.cc": "dctcp-ikr"})
    flows = json.loads(json.dumps(alone.resolved["flows"]))
    one = shoal.Scenario.from_keys(
        {
            "duration": "1 s",
            "bottleneck": {"rate": "10 Mbit/s", "aqm": {"kind": "step", "threshold": "9 packets"}},
            "flows": [{"cc": flows[0]["cc"], "rtt": "25 ms"}],
        }
    )
    assert [name for name in default_metrics(one) if name.startswith("share")] == []
    assert "utilisation" in default_metrics(one)


# What is evaluated.


def a_run(**known: float) -> Any:
    """A run of which some expressions have been measured already."""
    return SimpleNamespace(values=known)


def test_what_was_measured_is_not_measured_again() -> None:
    run = a_run(**{"jain()": 0.25})
    assert metric(run, "jain()") == 0.25
    assert metric(run, "1 + 1") == 2.0
    assert measured(run, ["1 + 1", "2 * 3"]) == {"1 + 1": 2.0, "2 * 3": 6.0}


def test_arithmetic_without_a_value_is_kept_or_a_gap() -> None:
    found = measured(a_run(), ["1 / 0", "1 + 1"])
    assert isinstance(found["1 / 0"], UndefinedError)
    assert found["1 + 1"] == 2.0
    assert math.isnan(metric(a_run(), "1 / 0", gaps=True))
    with pytest.raises(UndefinedError):
        metric(a_run(), "1 / 0")
    with pytest.raises(UsageError, match="`'x'` is not a number"):
        metric(a_run(), "'x'")
    # A comparison is 1 or 0, and these words are known.
    assert (metric(a_run(), "1 < 2"), metric(a_run(), "true"), metric(a_run(), "False")) == (1.0, 1.0, 0.0)
    assert (metric(a_run(), "True"), metric(a_run(), "false")) == (1.0, 0.0)


def test_metrics_are_checked_without_their_run() -> None:
    check_metric("utilisation() + delay_ms('all', 'p99')")
    with pytest.raises(UsageError, match="`share` lacks `group`"):
        check_metric("share()")
    with pytest.raises(UsageError, match="`jain` takes no values without a name"):
        check_metric("jain(1)")


# Arithmetic at its borders.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 ** 1023", 2**1023),
        ("2 ** -1", 0.5),
        ("2 ** 0", 1.0),
        ("0 ** 1", 0),
        ("1 ** 5000", 1),
        ("(-2) ** 3", -8),
        ("2.0 ** 3", 8.0),
        ("4 ** 0.5", 2.0),
        ("7 - 2 - 1", 4),
        ("7 / 2", 3.5),
        ("round(2.5)", 2),
        ("round(0.125, 2)", 0.12),
        ("round(1234.5, -2)", 1200.0),
        ("round(1.5, 400)", 1.5),
        ("round(1.5, -400)", 0.0),
        ("round(1.26, 1)", 1.3),
        ("log(8, 2)", 3),
        ("log2(8)", 3),
        ("abs(-3)", 3),
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 2)", 3),
        ("not 1 > 2", True),
        ("1 < 2 and 2 < 1", False),
        ("1 < 2 and 1 < 3", True),
        ("1 < 2 or 2 < 1", True),
        ("2 < 1 or 3 < 1", False),
    ],
)
def test_values_at_their_borders(text: str, value: float) -> None:
    found = evaluate(text)
    assert found == pytest.approx(value)
    assert isinstance(found, int) == isinstance(value, int) or text.startswith("log")


def test_whole_powers_stay_whole_and_others_do_not() -> None:
    assert [type(evaluate(text)) for text in ("3 ** 2", "3 ** -2", "3 ** 2.0", "3 ** 0")] == [int, float, float, float]
    assert type(evaluate("round(2.4)")) is int
    assert type(evaluate("round(2.4, 1)")) is float


@pytest.mark.parametrize("text", ["2 ** 1025", "4 ** 513", "2 ** 1023 * 2", "round(1.5, 401)", "round(1.5, -401)"])
def test_values_beyond_their_borders(text: str) -> None:
    with pytest.raises(UndefinedError):
        evaluate(text)
    assert math.isnan(evaluate(text, gaps=True))


def test_infinity_that_was_given_stays() -> None:
    for text in ("x + 1", "1 + x", "x * 2", "-x * (0 - 1)"):
        assert evaluate(text, {"x": math.inf}) == math.inf
    assert math.isnan(evaluate("x - x", {"x": math.inf}))
    with pytest.raises(UndefinedError, match="the number is too large"):
        evaluate("x * 1e308", {"x": 1e308})


def test_rounding_takes_whole_places() -> None:
    with pytest.raises(UndefinedError, match="at most 400 places"):
        evaluate("round(1.5, 1.0)")


def test_the_numbers_of_an_undefined_expression_are_named_in_its_order() -> None:
    with pytest.raises(UndefinedError) as caught:
        evaluate("b / (a - a)", {"a": 2, "b": 0.1, "c": 5})
    assert caught.value.hint == "it was computed with b = 0.1, a = 2"
    assert (caught.value.text, caught.value.reason) == ("b / (a - a)", "division by zero")
    with pytest.raises(UndefinedError) as caught:
        evaluate("1 / 0", {"a": 2})
    assert caught.value.hint is None


def test_long_texts_are_shortened_in_messages() -> None:
    for count, shortened in ((200, False), (201, True)):
        text = "=" * count
        with pytest.raises(UsageError) as caught:
            parsed(text)
        words = "=" * 200 + " ..." if shortened else text
        assert str(caught.value).startswith(f"`{words}` is not an expression")
    with pytest.raises(UsageError, match="is too long for an expression"):
        parsed("1" + "+1" * 50_000)
    # A hundred thousand characters are not too many.
    assert ast_name(parsed("x" * 100_000)) == "x" * 100_000
    with pytest.raises(UsageError, match="is not a condition"):
        parsed("=", what="condition", example="as in x")
    with pytest.raises(UsageError, match="null"):
        parsed("1\0")


def ast_name(node: Any) -> str:
    """The name that an expression consists of."""
    return str(node.id)


@pytest.mark.parametrize(("value", "expected"), [("1 / 0", math.nan), ("m", 2.0), (3, 3.0), (0.5, 0.5)])
def test_numbers_of_papers(value: object, expected: float) -> None:
    assert number(value, {"m": 2}) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("value", [True, None, "1 < 2", "'a'", [1]])
def test_what_is_no_number_of_a_paper(value: object) -> None:
    with pytest.raises(UsageError, match="is not a number"):
        number(value)
    assert math.isnan(number(10**400))


def test_functions_are_suggested_and_constants_are_checked() -> None:
    with pytest.raises(UsageError) as caught:
        expression.check("utilization()", ["x"], {"utilisation": lambda: 1})
    assert caught.value.hint == "did you mean `utilisation`?"
    with pytest.raises(UsageError) as caught:
        expression.check("thresold", ["threshold"], {})
    assert caught.value.hint == "did you mean `threshold`?"
    with pytest.raises(UsageError) as caught:
        expression.check("x + sqrt", ["x"], {})
    assert caught.value.hint == "write `sqrt()`"
    with pytest.raises(UsageError) as caught:
        evaluate("sqr(4)")
    assert caught.value.hint == "did you mean `sqrt`?"
    # A name may be a text of a call, and a number that depends on a name is not known before.
    expression.check("share('x') + 1 / k", ["k"], {"share": len})
    with pytest.raises(UndefinedError) as caught:
        expression.check("k + log(0)", ["k"], {})
    assert (caught.value.text, caught.value.hint) == (
        "k + log(0)",
        "correct the expression: no run can give it a value",
    )


# Texts that are filled.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{k}", "3"),
        ("{k / 4}", "0.75"),
        ("{k:.2f} of {n:d}", "3.00 of 4"),
        ("{k / n:.0%}", "75%"),
        ("{k:>4.1f}|{k:<4.1f}|{k:^5.1f}|", " 3.0|3.0 | 3.0 |"),
        ("{k:+.1f} {k: .1f} {1000 * k:,.0f}", "+3.0  3.0 3,000"),
        ("{word}", "text"),
        ("{1e30 * k:.3g}", "3e+30"),
    ],
)
def test_formats_of_numbers(text: str, expected: str) -> None:
    assert fill(text, {"k": 3, "n": 4, "word": "text"}) == expected


def test_what_has_no_value_is_missing_or_refused() -> None:
    assert fill("{1 / k} and {x}", {"k": 0, "x": None}, missing="-") == "- and -"
    assert fill("{k}", {"k": 2}, missing="-") == "2"
    with pytest.raises(UndefinedError, match="division by zero"):
        fill("{1 / k}", {"k": 0})
    # Infinity is no gap.
    with pytest.raises(UndefinedError, match="the number is too large"):
        fill("{x}", {"x": math.inf}, missing="-")
    for template in ("{k:d}", "{k:x}", "{k:=4}"):
        with pytest.raises(UsageError) as caught:
            fill(template, {"k": 0.5})
        assert caught.value.hint == "as in {K:.3g} or {K:.0f}"


def test_a_text_that_is_an_expression_becomes_a_number() -> None:
    names = {"k": 2, "x": 0.5}
    for text, expected in (
        ("{k}", 2),
        ("{k * x}", 1),
        ("{x}", 0.5),
        ("{k:.2f}", "2.00"),
        ("{k}{x}", "20.5"),
        ("{k} B", "2 B"),
        ("a {k}", "a 2"),
        ("k", "k"),
    ):
        found = filled(text, names)
        assert (found, type(found)) == (expected, type(expected)), text
    assert filled({"a": ["{k}", {"b": "{x} s"}], "c": 7}, names) == {"a": [2, {"b": "0.5 s"}], "c": 7}
    assert filled("{y}", names, only=True) == "{y}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-2.0, "-2"), (0.1 + 0.2, "0.3"), (1234567890123.4, "1234567890120"), (1e20, "1" + "0" * 20)],
)
def test_plain_numbers_have_twelve_digits(value: float, text: str) -> None:
    assert plain(value) == text


# Numbers of statistics.


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.1])
def test_a_confidence_is_between_zero_and_one(confidence: float) -> None:
    with pytest.raises(UsageError, match="is not a probability between 0 and 1"):
        estimate([1.0, 2.0], confidence=confidence)


def test_equal_values_have_no_width_and_their_very_mean() -> None:
    found = estimate([0.1, 0.1, 0.1])
    assert found is not None
    assert (found.mean, found.half_width, found.n) == (0.1, 0.0, 3)
    assert found.to_dict() == {"mean": 0.1, "ci95": 0.0, "n": 3}
    assert single(None) is None
    assert standard_deviation([0.1, 0.1, 0.1]) == 0.0
    # 1 and 4 are 1.5 from their mean, so the variance is 2 x 2.25 / 1.
    assert standard_deviation([1.0, 4.0]) == pytest.approx(math.sqrt(4.5))
    # With one degree of freedom 95 % are 12.706 wide, and the standard error is 1.5.
    two = estimate([1.0, 4.0])
    assert two is not None
    assert two.half_width == pytest.approx(12.7062047 * 1.5)
    # At 90 % it is tan(0.45 pi) = 6.3138.
    less = estimate([1.0, 4.0], confidence=0.9)
    assert less is not None
    assert less.half_width == pytest.approx(math.tan(0.45 * math.pi) * 1.5)


def test_pairs_of_two_seeds_by_hand() -> None:
    # Differences 1 and 3: mean 2, standard deviation sqrt(2), t = 2 / 1; with one degree P(|T| > t) is
    # 1 - 2 atan(t) / pi.
    found = paired_difference([2.0, 5.0], [1.0, 2.0])
    assert (found.value, found.sd, found.n) == (2.0, pytest.approx(math.sqrt(2)), 2)
    assert found.p == pytest.approx(1 - 2 * math.atan(2.0) / math.pi)
    assert found.half_width == pytest.approx(12.7062047)


def test_pairs_without_noise() -> None:
    assert paired_difference([3.0], [2.0]) == Difference(1.0, None, None, None, 1)
    assert paired_difference([3.0, 5.0], [2.0, 4.0]) == Difference(1.0, 0.0, 0.0, None, 2)
    with pytest.raises(UsageError, match="no pairs"):
        paired_difference([], [])
    with pytest.raises(ValueError, match="zip"):
        paired_difference([1.0, 2.0], [1.0])


@pytest.mark.parametrize("t", [0.0, 0.1, 0.7, 1.0, 1.5, 3.0, 40.0, -0.4, -2.0])
def test_tails_and_quantiles_by_closed_forms(t: float) -> None:
    """One degree of freedom is Cauchy's distribution; two, three and four have closed forms, too."""
    root = math.sqrt(2 + t * t)
    tails = {
        1: 0.5 - math.atan(t) / math.pi,
        2: 0.5 - t / (2 * root),
        3: 0.5 - (math.atan(t / math.sqrt(3)) + t * math.sqrt(3) / (t * t + 3)) / math.pi,
        4: 0.5 - t * (t * t + 6) / (2 * (t * t + 4) ** 1.5),
    }
    for degrees, tail in tails.items():
        assert student_t_tail(t, degrees) == pytest.approx(tail, rel=1e-9)
        if t >= 0:
            assert student_t_quantile(1 - tail, degrees) == pytest.approx(t, rel=1e-6, abs=1e-9)


def test_the_ends_of_tails_and_quantiles() -> None:
    assert (student_t_tail(math.inf, 3), student_t_tail(-math.inf, 3)) == (0.0, 1.0)
    assert student_t_quantile(0.5, 3) == pytest.approx(0.0, abs=1e-9)
    for p in (0.49, 1.0):
        with pytest.raises(UsageError, match="is not a quantile"):
            student_t_quantile(p, 3)
    # Many degrees are the normal distribution: 1.959964, and a correction of (z^3 + z) / (4 n).
    z = 1.959963985
    assert student_t_quantile(0.975, 100_000) == pytest.approx(z + (z**3 + z) / 400_000, abs=1e-8)


@pytest.mark.parametrize(
    ("p_values", "by_holm", "by_benjamini"),
    [
        # On the threshold a test is significant: 0.025 = 0.05 / 2, and 0.05 = 0.05 / 1.
        ([0.025, 0.05], [True, True], [True, True]),
        ([0.05, 0.06], [False, False], [False, False]),
        # 0.03 is not among Holm's, 0.05 / 2; of Benjamini and Hochberg's it is the second, 0.05 x 2 / 2.
        ([0.05, 0.03], [False, False], [True, True]),
        ([0.05], [True], [True]),
        ([0.051], [False], [False]),
        ([0.9, 0.001], [False, True], [False, True]),
    ],
)
def test_corrections_at_their_thresholds(p_values: list[float], by_holm: list[bool], by_benjamini: list[bool]) -> None:
    assert holm(p_values) == by_holm
    assert benjamini_hochberg(p_values) == by_benjamini
    # At 10 % all thresholds are twice as high.
    assert holm([2 * p for p in p_values], level=0.1) == by_holm
    assert benjamini_hochberg([2 * p for p in p_values], level=0.1) == by_benjamini
