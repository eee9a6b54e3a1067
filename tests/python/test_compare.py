"""``shoal compare`` without a kernel: statistics, tables and pages on made-up estimates, messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.compare.quantities import measures
from shoal.compare.tables import markdown
from shoal.stats import difference, holm
from shoal.tabulate import Table


def test_welch_by_hand() -> None:
    # Means 2 and 5, variances 1 and 4, n = 3 each: standard error sqrt(1/3 + 4/3) = 1.2910; degrees of freedom
    # (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.9412; t = -3 / 1.2910 = -2.3238.
    found = difference([1.0, 2.0, 3.0], [3.0, 5.0, 7.0])
    assert found is not None
    assert found.value == -3
    # The 97.5 % quantile of t with 2.9412 degrees lies between those of 2 (4.3027) and 3 (3.1824), near the latter.
    assert found.half_width is not None
    assert found.half_width / 1.2909944 == pytest.approx(3.2189, abs=2e-3)
    # Between P(|t| > 2.3238) with 2 degrees, 1 - 2.3238 / sqrt(2 + 2.3238^2) = 0.1457, and with 3, 0.1027.
    assert found.p is not None
    assert 0.1027 < found.p < 0.1080


def test_nothing_random_is_not_tested() -> None:
    found = difference([2.0, 2.0], [3.0, 3.0])
    assert found is not None
    assert (found.value, found.half_width, found.p) == (-1, 0, None)
    single = difference([2.0], [3.0, 4.0])
    assert single is not None
    assert (single.half_width, single.p) == (None, None)
    assert difference([], [1.0]) is None


def test_equal_samples_do_not_differ() -> None:
    found = difference([0.1, 0.2, 0.3], [0.3, 0.1, 0.2])
    assert found is not None
    assert (found.value, found.p) == (0, 1)


def test_holm_by_hand() -> None:
    # At 5 %: 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2 ends it, although 0.04 <= 0.05/1.
    assert holm([0.04, 0.01, 0.03, 0.013]) == [False, True, False, True]
    assert holm([]) == []


def test_bars_in_cells_do_not_end_them() -> None:
    text = markdown(Table("", ("name", "number"), [("a|b", "1")], words=1))
    assert text == "| name | number |\n| --- | --: |\n| a\\|b | 1 |\n"


def test_measures_have_names_of_their_own(result: shoal.Result) -> None:
    names = [measure.name for measure in measures(result)]
    assert len(set(names)) == len(names)
    assert "utilisation" in names


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["compare"], 2, "--suite"),
        (["compare", "--suite", "small.toml"], 2, "excludes"),
        (["compare", "small.toml", "--seeds", "1"], 2, "--help"),
        (["compare", "step-singel"], 4, "step-single"),
        (["compare", "small.toml", "small.toml"], 2, "two scenarios"),
        (["compare", "small.toml", "--set", "bottleneck.rat=1"], 3, "rate"),
    ],
)
def test_messages(arguments: list[str], code: int, words: str, cli: Cli) -> None:
    done = cli(*arguments)
    assert done.code == code, done.err
    assert words in done.err


def test_without_a_kernel_nothing_is_written(tmp_path: Path, cli: Cli) -> None:
    done = cli("compare", "small.toml", "--out", str(tmp_path / "out"))
    assert done.code == 6
    assert "shoal linux build" in done.err
    assert not (tmp_path / "out").exists()
