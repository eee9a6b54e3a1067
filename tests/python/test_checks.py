"""Verdicts on rows made by hand: which values each kind of check accepts, and what it counts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.papers.checks import Finding, findings_of
from shoal.papers.model import model_of
from shoal.papers.spec import Check
from shoal.papers.tables import Grid, Row
from shoal.papers.tally import tally


def table(name: str = "t", *, axis: str = "k", **columns: list[float]) -> dict[str, Grid]:
    """A table with one axis; its values are 1, 2, 3, ... unless they are given."""
    count = len(next(iter(columns.values())))
    axes = columns.pop(axis, [float(n + 1) for n in range(count)])
    rows = [Row({axis: axes[n], **{key: values[n] for key, values in columns.items()}}) for n in range(count)]
    return {name: Grid(name, (axis,), tuple(columns), rows)}


def judge(tables: dict[str, Grid], folder: Path = Path(), **keys: Any) -> list[Finding]:
    """The findings of a check with these keys, as in an item's file."""
    written = {"claim": "A1", "what": "at {k:.0f}", **keys}
    if "in" not in written and "table" not in written:
        written["table"] = next(iter(tables))
    return findings_of(model_of(Check, {k: v for k, v in written.items() if v is not None}, "test"), tables, folder)


def verdicts(found: list[Finding]) -> list[str]:
    return [finding.verdict.value for finding in found]


def test_bounds_include_their_ends() -> None:
    found = judge(table(x=[0.999, 1.0, 1.5, 2.0, 2.001]), value="x", min=1, max=2)
    assert verdicts(found) == ["outside", "inside", "inside", "inside", "outside"]
    assert [finding.inside for finding in found] == [0, 1, 1, 1, 0]
    assert {finding.tolerance for finding in found} == {"1 … 2"}
    assert verdicts(judge(table(x=[-5.0, 2.1]), value="x", max=2)) == ["inside", "outside"]
    assert verdicts(judge(table(x=[5.0, 1.9]), value="x", min=2)) == ["inside", "outside"]


def test_bounds_may_be_computed_from_the_row() -> None:
    # At k = 1, 2, 3 the limit is 10, 5, 3.33.
    assert verdicts(judge(table(x=[6.0, 6.0, 3.0]), value="x", max="10 / k")) == ["inside", "outside", "inside"]


@pytest.mark.parametrize(
    ("tolerance", "inside", "outside", "shown"),
    [
        # Around an expected value of 10: 2 up and down; 20 % up and down; between 10 / 1.25 and 10 * 1.25.
        ({"tolerance": 2}, [8.0, 12.0], [7.99, 12.01], "± 2"),
        ({"relative": 0.2}, [8.0, 12.0], [7.99, 12.01], "± 20 %"),
        ({"factor": 1.25}, [8.0, 12.5], [7.99, 12.51], "factor 1.25"),
    ],
)
def test_tolerances(tolerance: dict[str, float], inside: list[float], outside: list[float], shown: str) -> None:
    assert verdicts(judge(table(x=inside), value="x", expected=10, **tolerance)) == ["inside"] * 2
    found = judge(table(x=outside), value="x", expected=10, **tolerance)
    assert verdicts(found) == ["outside"] * 2
    assert {finding.tolerance for finding in found} == {shown}


def test_a_relative_tolerance_of_a_negative_value_has_two_sides() -> None:
    assert verdicts(judge(table(x=[-11.0, -9.0, -8.9]), value="x", expected=-10, relative=0.1)) == [
        "inside",
        "inside",
        "outside",
    ]


def test_published_values_are_matched_by_the_axes_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("# made up\nk, y\n1, 10\n3, 30\n2,\n", encoding="utf-8")
    found = judge(table(x=[10.4, 99.0, 31.6]), tmp_path, value="x", published="p.csv:y", relative=0.05)
    # 10.4 is 4 % off, 31.6 is 5.3 %; nothing is published at 2.
    assert [(f.what, f.published, f.verdict.value) for f in found] == [
        ("at 1", "10", "inside"),
        ("at 3", "30", "outside"),
    ]


def test_a_published_value_may_stand_beside_bounds_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("y\n10\n", encoding="utf-8")
    limits = {"min": "-1.5 * published('p.csv', 'y')", "max": "1.5 * published('p.csv', 'y')"}
    # "Less than 10", with half as much again on both sides: -15 to 15.
    found = judge(table(x=[-15.0, 15.0, 15.1, -15.1]), tmp_path, value="x", published="p.csv:y", **limits)
    assert verdicts(found) == ["inside", "inside", "outside", "outside"]
    assert {(f.published, f.tolerance) for f in found} == {("10", "-15 … 15")}
    # A tolerance is one around the published value; bounds do not replace it.
    (finding,) = judge(table(x=[12.0]), tmp_path, value="x", published="p.csv:y", tolerance=1, max=20)
    assert (finding.tolerance, finding.verdict.value) == ("± 1", "outside")


def test_many_rows_in_one_line_count_the_cells_and_name_the_farthest() -> None:
    (finding,) = judge(table(x=[1.0, 2.5, 1.9, 4.0]), value="x", min=1, max=2, together=True)
    assert (finding.cells, finding.inside, finding.verdict.value) == (4, 2, "outside")
    assert finding.measured == "2 of 4 inside; farthest out: 4"
    assert finding.what == "at 4"


def test_many_rows_in_one_line_are_inside_if_all_are() -> None:
    (finding,) = judge(table(x=[1.5, 1.9, 1.2]), value="x", min=1, max=2, together=True)
    # 1.9 is nearest to a bound: 0.1 inside of it; 1.2 is 0.2 inside.
    assert (finding.cells, finding.inside, finding.verdict.value) == (3, 3, "inside")
    assert finding.measured == "3 of 3 inside; farthest out: 1.9"


def test_a_missing_value_is_never_inside() -> None:
    assert verdicts(judge(table(x=[math.nan]), value="x", min=0)) == ["no value"]
    (finding,) = judge(table(x=[1.0, math.nan]), value="x", min=0, together=True)
    assert (finding.cells, finding.inside, finding.verdict.value) == (2, 1, "no value")


def test_no_rows_have_no_verdict() -> None:
    (finding,) = judge(table(x=[1.0]), value="x", min=0, where="k > 5")
    assert (finding.verdict.value, finding.measured, finding.inside) == ("no value", "no rows", 0)


def test_rows_are_kept_by_a_condition() -> None:
    assert [f.what for f in judge(table(x=[1.0, 2.0, 3.0]), value="x", min=0, where="k != 2")] == ["at 1", "at 3"]


@pytest.mark.parametrize(
    ("values", "slack", "verdict"),
    [
        ([3.0, 2.0, 1.0], 0.0, "inside"),
        ([3.0, 3.0, 1.0], 0.0, "inside"),
        ([3.0, 2.0, 2.1], 0.0, "outside"),
        # The step against the direction is 0.4.
        ([3.0, 2.0, 2.4, 1.0], 0.4, "inside"),
        ([3.0, 2.0, 2.4, 1.0], 0.3, "outside"),
    ],
)
def test_a_fall_may_be_interrupted_by_no_more_than_the_slack(values: list[float], slack: float, verdict: str) -> None:
    (falls,) = judge(table(x=values), what="x", value="x", decreasing_in="k", slack=slack)
    assert falls.verdict.value == verdict
    (rises,) = judge(table(x=[-value for value in values]), what="x", value="x", increasing_in="k", slack=slack)
    assert rises.verdict.value == verdict


def test_monotone_rows_are_in_the_order_of_the_axis_and_by_the_other_axes() -> None:
    rows = [Row({"k": k, "n": n, "x": x}) for k, n, x in [(2, 1, 5), (1, 1, 6), (3, 1, 4), (1, 2, 1), (2, 2, 2)]]
    found = judge({"t": Grid("t", ("k", "n"), ("x",), rows)}, what="n = {n}", value="x", decreasing_in="k")
    assert [(f.what, f.verdict.value) for f in found] == [("n = 1", "inside"), ("n = 2", "outside")]
    assert found[1].measured == "1 … 2, a step of 1 against it"


def test_rank_correlation_by_hand() -> None:
    # Ranks of y: 4 3 1 2 against 1 2 3 4: d = 3 1 -2 -2, 1 - 6 * 18 / (4 * 15) = -0.8.
    tables = table(x=[9.0, 7.0, 1.0, 2.0])
    (finding,) = judge(tables, what="x", value="x", rank_correlation_with="k", max=-0.8)
    assert (finding.measured, finding.verdict.value) == ("-0.8", "inside")
    (finding,) = judge(tables, what="x", value="x", rank_correlation_with="k", max=-0.9)
    assert finding.verdict.value == "outside"
    # Ties share their rank: 3.5 3.5 1.5 1.5; r = -4 / sqrt(5 * 4) = -0.894.
    (finding,) = judge(table(x=[2.0, 2.0, 1.0, 1.0]), what="x", value="x", rank_correlation_with="k", max=-0.9)
    assert (finding.measured, finding.verdict.value) == ("-0.8944", "outside")


def test_a_value_that_never_changes_has_no_rank_correlation() -> None:
    for bounds in ({"max": -0.9}, {"min": -1, "max": 1}):
        (finding,) = judge(table(x=[0.0, 0.0, 0.0]), what="x", value="x", rank_correlation_with="k", **bounds)
        assert finding.verdict.value == "outside"
        assert finding.measured == "undefined: 0 at every k"


def test_a_row_says_what_a_value_of_zero_everywhere_means() -> None:
    check = {"what": "x", "value": "x", "rank_correlation_with": "k", "max": -0.9, "all_zero": "never empty"}
    (finding,) = judge(table(x=[0.0, 0.0, 0.0]), **check)
    assert (finding.measured, finding.verdict.value) == ("never empty (0 at every k)", "outside")
    (finding,) = judge(table(x=[2.0, 2.0, 2.0]), **check)
    assert finding.measured == "undefined: 2 at every k"


def test_crossings_are_exact() -> None:
    tables = table(axis="m", crossings=[0.0, 1.0, 2.0], x=[1.0, 1.0, 1.0])
    assert verdicts(judge(tables, what="x", crossings=1)) == ["outside", "inside", "outside"]


def test_a_line_needs_its_slope_and_its_fit() -> None:
    # x = 2 k + 1 exactly; then with residuals of +-1 around it: slope 2 - 0.6, r2 below 1.
    exact, noisy = table(x=[3.0, 5.0, 7.0, 9.0]), table(x=[4.0, 4.0, 8.0, 8.0])
    keys: dict[str, Any] = {"what": "x", "value": "x", "fit_x": "k"}
    assert verdicts(judge(exact, slope=[2, 2], r2_min=1.0, **keys)) == ["inside"]
    assert verdicts(judge(exact, slope=[1, 1.9], **keys)) == ["outside"]
    # Slope: sum((k - 2.5)(x - 6)) / sum((k - 2.5)^2) = 8 / 5; r2 = 8^2 / (5 * 16) = 0.8.
    (finding,) = judge(noisy, slope=[1.6, 1.6], r2_min=0.8, **keys)
    assert (finding.measured, finding.verdict.value) == ("slope 1.6, R² 0.8000", "inside")
    assert verdicts(judge(noisy, slope=[1.6, 1.6], r2_min=0.81, **keys)) == ["outside"]


def test_functions_of_whole_tables() -> None:
    tables = {**table(x=[1.0, 2.0, 6.0]), **table("u", y=[1.0, math.e**2, math.nan])}
    by_hand = {
        "at('t', 'x', k=2)": 2.0,
        "smallest('t', 'x')": 1.0,
        "largest('t', 'x')": 6.0,
        "mean('t', 'x')": 3.0,
        "median('t', 'x')": 2.0,
        "part('t', 'x', 1, 2)": 2 / 3,
        "median('u', 'y')": (1 + math.e**2) / 2,
        # ln y is 0 and 2: a standard deviation of 1 around 1.
        "log_sd('u', 'y')": 1.0,
        "part('u', 'y', 0, 1)": 0.5,
    }
    for text, value in by_hand.items():
        (finding,) = judge(tables, what="x", table=None, value=text, expected=value, tolerance=1e-12)
        assert finding.verdict.value == "inside", text


def test_a_derivation_is_shown_and_never_judged() -> None:
    for value in (9.52, 1000):
        (finding,) = judge({}, what="x", role="derivation", table=None, value=value, expected=9.52, tolerance=0.01)
        assert (finding.verdict.value, finding.cells, finding.inside) == ("shown", 0, 0)


def test_checks_without_a_test_or_a_bound_are_refused() -> None:
    with pytest.raises(shoal.ShoalError, match="tests nothing"):
        judge(table(x=[1.0]), what="x")
    with pytest.raises(shoal.ShoalError, match="has no bound"):
        judge(table(x=[1.0]), what="x", value="x")
    with pytest.raises(shoal.ShoalError, match="has no tolerance"):
        judge(table(x=[1.0]), what="x", value="x", expected=1)
    with pytest.raises(shoal.ShoalError, match="role is `repetiton`") as refused:
        judge(table(x=[1.0]), what="x", value="x", min=0, role="repetiton")
    assert refused.value.hint == "did you mean `repetition`?"


def test_a_headline_counts_claims_apart_from_everything_else() -> None:
    def row(claim: str, role: str, inside: int, cells: int) -> dict[str, str]:
        return {"claim": claim, "role": role, "inside": str(inside), "cells": str(cells)}

    found = tally(
        [
            row("A1", "claim", 1, 1),
            row("A1", "claim", 99, 100),
            row("A2", "claim", 3, 3),
            row("A2", "reading", 0, 1),
            row("A2", "repetition", 1, 2),
            row("A9", "own", 5, 5),
            row("A3", "derivation", 0, 0),
        ]
    )
    assert {claim: str(score) for claim, score in found.claims.items()} == {"A1": "100/101", "A2": "3/3"}
    assert found.headline == (
        "1 of 2 measured claims are met in every cell (103 of 104 cells). "
        "Counted apart: checks of our own: 5 of 5 cells; other readings: 0 of 1 cells; repetitions: 1 of 2 cells; "
        "derivations, shown without a verdict: 1."
    )


@pytest.mark.parametrize(
    ("tables", "keys"),
    [
        (table(x=[1.0, 2.0]), {"value": "x", "decreasing_in": "k"}),
        (table(x=[1.0, 2.0]), {"value": "x", "rank_correlation_with": "k", "max": -0.9}),
        (table(x=[1.0, 2.0]), {"value": "x", "fit_x": "k", "slope": [2, 3]}),
        (table(crossings=[2.0], x=[1.0]), {"crossings": 1}),
    ],
)
def test_every_kind_of_check_may_look_tables_up_in_its_sentences(tables: dict[str, Grid], keys: dict[str, Any]) -> None:
    (finding,) = judge(tables, what="x: {at('t', 'x', k=1):.1f}", reason="{largest('t', 'x')} is too much", **keys)
    assert (finding.what, finding.verdict.value) == ("x: 1.0", "outside")
    assert finding.reason == ("2 is too much" if "crossings" not in keys else "1 is too much")


def test_sentences_about_a_row_with_a_gap_show_the_gap() -> None:
    # A search that finds nothing has no answer, here x.
    (finding,) = judge(
        table(x=[math.nan]), what="K = {x:.0f}", value="x", min=0, reason="{1 / x:.2f} and {1 / (k - 1)}"
    )
    assert (finding.what, finding.verdict.value, finding.reason) == ("K = -", "no value", "- and -")
