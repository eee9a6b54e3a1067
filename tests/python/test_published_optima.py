"""Published optima, found by short searches; `tools/shoal-dev record tuned-optima` runs all of them, and longer.

What is accepted was written down in studies/tuned_optima/study.py before any of the searches had been run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from studies.tuned_optima import study as tuned_optima

ROOT = Path(__file__).parents[2]
# Runs of 80 s instead of 300 s, and two seeds instead of three.
SHORT = {"duration": "80 s", "warmup": "20 s"}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, tuned_optima.Case]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))

        yield {case.name: case for case in tuned_optima.all_cases()}


@pytest.mark.parametrize(
    ("name", "claim", "overrides"),
    [
        ("threshold-0.5", "A6", SHORT),
        ("slope-0.5", "A20", SHORT),
        # The path is shorter than the paper's, so shorter runs have as many round trips.
        ("smallest-k-8ms-0.05", "A40", {"duration": "30 s", "warmup": "10 s"}),
        ("coupling-5", "A26", {"duration": "40 s", "warmup": "10 s"}),
    ],
)
def test_a_published_optimum_is_found(
    cases: Mapping[str, tuned_optima.Case], name: str, claim: str, overrides: Mapping[str, object]
) -> None:
    found = cases[name].search(runs=90, seeds=2, overrides=overrides)
    checks = [check for check in cases[name].checks if check.claim == claim]
    assert checks
    for check in checks:
        assert check.is_met(found), (check.what, check.value(found), check.low, check.high, found.verdict)


def test_a_search_agrees_with_bisection(cases: Mapping[str, tuned_optima.Case]) -> None:
    """Two ways to the smallest K: the shortest queue, and the first K at which the condition holds."""
    import shoal

    case = cases["smallest-k-8ms-0.05"]
    overrides = {"duration": "30 s", "warmup": "10 s"}
    found = case.search(runs=90, seeds=2, overrides=overrides)
    assert case.such_that is not None
    first = shoal.tune(
        case.scenario.override(overrides),
        key="k",
        low=2,
        high=48,
        such_that=case.such_that,
        set=case.set,
        seeds=2,
        lean=True,
    )
    assert first.answer is not None
    assert abs(found.values["k"] - first.answer) <= 1
