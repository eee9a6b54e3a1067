"""Representations in notebooks, metrics on results, and the types that a user's own code sees."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.metrics import quantity

KEY = "bottleneck.aqm.threshold"


@pytest.fixture(scope="module")
def step() -> shoal.Scenario:
    return shoal.Scenario.from_toml("""
title = "Step <1>"
duration = "4 s"
warmup = "1 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }

[[flows]]
name = "dctcp"
cc = "dctcp"
rtt = "25 ms"
start = { uniform = ["0 s", "1 s"] }

[[flows]]
name = "reno"
cc = "reno"
ecn = "on"
rtt = "25 ms"
""")


@pytest.fixture(scope="module")
def points(step: shoal.Scenario) -> shoal.Sweep:
    return shoal.sweep(step, grid={KEY: ["5 packets", "30 packets"]}, seeds=2)


@pytest.fixture(scope="module")
def tuned(step: shoal.Scenario) -> shoal.Tuned:
    return shoal.tune(step, key=KEY, low=1, high=4, unit="packets", such_that="utilisation() >= 0", side="largest")


def cells(page: str) -> list[list[str]]:
    """Rows of the tables of a page."""
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows]


def test_scenario_shows_what_it_is(step: shoal.Scenario) -> None:
    assert repr(step) == "<shoal.Scenario `Step <1>` from <string>>"
    assert repr(step.override({"seed": 2})) == "<shoal.Scenario `Step <1>` from <string>, 1 value replaced>"
    page = step._repr_html_()
    assert "<b>Step &lt;1&gt;</b>, measured from 1 s to 4 s" in page
    # 10 Mbit/s x 25 ms = 31,250 B; 20 packets of 1500 B are 30 kB; the buffer holds 4 BDP.
    assert ["bottleneck", "10.00 Mbit/s", "31.25 kB", "K = 30.00 kB, limit = 125.00 kB"] in cells(page)
    assert ["dctcp", "dctcp", "linux-6", "1", "25.00 ms"] in cells(page)
    # The page-long text shows when it is asked for.
    before, folded = page.split("<details>")
    assert "duration" not in before
    assert "duration" in folded


@pytest.mark.parametrize("name", ["leaf-spine-websearch", "parking-lot", "incast-star", "unresponsive"])
def test_other_topologies_are_shown_as_well(name: str) -> None:
    assert "<table>" in shoal.Scenario.named(name)._repr_html_()


def test_sweep_shows_its_means(points: shoal.Sweep) -> None:
    assert repr(points) == f"<shoal.Sweep of 2 points, 2 seeds each, over {KEY}>"
    assert repr(points[0]) == f"<shoal.Point {KEY} = 5 packets: 2 seeds>"
    page = points._repr_html_()
    assert "2 points, 2 seeds, mean ± 95 % confidence interval" in page
    head, low, high = cells(page)
    assert head[:2] == ["threshold", "utilisation"]
    assert (low[0], high[0]) == ("5 packets", "30 packets")
    assert low[1] == quantity("utilisation", points[0].estimate("utilisation()"))
    assert re.fullmatch(r"[0-9.]+ packets|[0-9.]+ ± [0-9.]+ packets", low[head.index("queue_packets")])
    assert "no points" in shoal.Sweep([])._repr_html_()
    assert "no points" in repr(shoal.Sweep([]))


def test_tuned_shows_its_answer_and_trail(tuned: shoal.Tuned) -> None:
    assert tuned.side is shoal.Side.LARGEST
    assert repr(tuned) == f"<shoal.Tuned: {tuned.verdict}; {len(tuned.trials)} values tried>"
    assert len(repr(tuned)) < 200
    page = tuned._repr_html_()
    assert "utilisation() &gt;= 0" in page
    assert cells(page)[0][0] == "threshold [packets]"
    assert len(cells(page)) == 1 + len(tuned.trials)
    assert tuned.verdict.startswith(f"Largest {KEY} = 4 packets (the last value of the range")


def test_results_have_units_and_digits(points: shoal.Sweep) -> None:
    results = points[0].results
    rows = dict(cells(results._repr_html_()))
    one = dict(cells(results[0]._repr_html_()))
    for shown in (rows, one):
        assert re.fullmatch(r"[0-9.]+( ± [0-9.]+)? (ms|µs)", shown["delay_all_p99_s"])
        assert shown["goodput_dctcp_bps"].endswith(" Mbit/s")
        assert shown["utilisation"].endswith(" %")
        assert shown["queue_packets"].endswith(" packets")
    assert "± " in rows["share_reno"]
    assert repr(results) == "<shoal.Results of `Step <1>`, 2 seeds: 1, 2>"
    assert re.fullmatch(
        r"<shoal.Result seed 1: dctcp [0-9.]+ Mbit/s, reno [0-9.]+ Mbit/s; utilisation [0-9.]+ %>", repr(results[0])
    )


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("delay_all_p99_s", 0.00072378, "723.8 µs"),
        ("delay_mean_ms", 12.3456, "12.35 ms"),
        ("round_x_p99_s", 2.0, "2.00 s"),
        ("goodput_x_bps", 9.56e6, "9.56 Mbit/s"),
        ("rate_mbps", 2500.0, "2.500 Gbit/s"),
        ("queue_packets", 12.3456, "12.35 packets"),
        ("share_x", 0.25, "25.00 %"),
        ("dropped", 12345.0, "12,345 packets"),
        ("jain", 0.98765, "0.9877"),
    ],
)
def test_quantities(name: str, value: float, shown: str) -> None:
    assert quantity(name, shoal.Estimate(value, None, 1)) == shown
    assert quantity(name, None) == "-"


def test_metrics_of_results(points: shoal.Sweep) -> None:
    results = points[1].results
    one = results[0]
    assert one.metric("queue_packets()") == one.summary["queue_packets"]
    assert one.metric("rate_ratio('reno', 'dctcp')") == pytest.approx(
        one.groups[1]["wire_bps"]["mean"] / one.groups[0]["wire_bps"]["mean"]
    )
    assert one.metric("fct_ms('reno')") is None  # an endless transfer has no completion time
    mean = results.metric("queue_packets()")
    assert mean == points[1].estimate("queue_packets()") == results.summary["queue_packets"]
    assert mean is not None
    assert (mean.n, mean.half_width is None) == (2, False)
    assert results.metric("fct_ms('reno')") is None
    with pytest.raises(shoal.UsageError, match="no function `queue`"):
        one.metric("queue()")
    with pytest.raises(shoal.UndefinedError):
        results.metric("1 / (queue_packets() - queue_packets())")
    told: list[shoal.UndefinedError] = []
    assert results.metric("1 / (queue_packets() - queue_packets())", undefined=told.append) is None
    assert len(told) == 1


def test_a_path_that_does_not_exist_is_what_the_message_is_about(points: shoal.Sweep) -> None:
    one = points[0].results[0]
    with pytest.raises(shoal.UsageError) as refused:
        one.metric("value('groups.9.name')")
    assert str(refused.value) == "`groups.9.name`: there is no entry `9`"
    assert refused.value.hint == "entries are 0 to 1"
    with pytest.raises(shoal.UsageError, match="no such monitored link: the run has 1"):
        one.metric("utilisation(link=3)")


def test_means_have_the_defaults_of_the_command_line(points: shoal.Sweep, step: shoal.Scenario) -> None:
    frame = points.means()
    names = ["utilisation", "queue_packets", "delay_mean_ms", "delay_p99_ms", "share_dctcp", "share_reno", "jain"]
    assert list(shoal.default_metrics(step)) == names
    assert frame.columns == [KEY, *(f"{name}{end}" for name in names for end in ("", "_ci95"))]
    assert frame.equals(points.means(metrics=shoal.default_metrics(step)))


@pytest.mark.parametrize("values", ["5 packets", b"5", 5, {"5 packets": 1}])
def test_axes_are_lists(step: shoal.Scenario, values: object) -> None:
    with pytest.raises(shoal.UsageError) as refused:
        shoal.sweep(step, grid={KEY: values})  # type: ignore[dict-item]
    assert str(refused.value) == f"the values of `{KEY}` are no list, but {values!r}"
    assert refused.value.hint == f'write a list, as in grid={{"{KEY}": [{values!r}]}}'


def test_axes_have_values(step: shoal.Scenario) -> None:
    with pytest.raises(shoal.UsageError, match=r"threshold` has no values"):
        shoal.sweep(step, grid={KEY: []})


def test_sides(step: shoal.Scenario) -> None:
    with pytest.raises(shoal.UsageError, match="no side `largets`") as refused:
        shoal.tune(step, key=KEY, low=1, high=2, such_that="utilisation() > 0", side="largets")  # type: ignore[arg-type]
    assert refused.value.hint == "did you mean `largest`?"


def test_numbers_that_are_missing_everywhere_are_numbers(points: shoal.Sweep) -> None:
    results = points[0].results
    frame = results[0].to_polars()
    assert frame["stop_s"].dtype == pl.Float64  # no flow ends
    assert frame["stop_s"].to_list() == [None, None]
    assert frame["alpha_mean"].to_list()[1] is None
    assert results.to_polars()["stop_s"].dtype == pl.Float64
    other = results[0].to_pandas()
    assert other["stop_s"].dtype == "float64"
    assert all(math.isnan(value) for value in other["stop_s"])


def test_ratios_are_columns_by_their_text(points: shoal.Sweep) -> None:
    frame = points.to_polars()
    assert frame["rate_ratio_dctcp/reno"].to_list() == [
        result.metrics["rate_ratio"]["dctcp/reno"] for point in points for result in point.results
    ]


def test_importing_the_package_is_cheap() -> None:
    """Polars, matplotlib and the command line are imported where they are used."""
    heavy = ("polars", "pandas", "matplotlib", "typer", "jinja2", "shoal.papers", "shoal.cli")
    code = f"import sys, shoal; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_command_line_begins_without_what_only_results_need() -> None:
    """Besides the time: threads of these libraries may take the signal of Ctrl-C away from a question."""
    heavy = ("polars", "pandas", "numpy", "matplotlib", "jinja2", "scipy", "optuna", "distributed")
    code = f"import sys, shoal.cli.app; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_one_way_to_replace_values() -> None:
    assert not hasattr(shoal.Scenario, "with_")


USER = """
from pathlib import Path
import shoal

def wait(result: shoal.Result) -> float | None:
    return result.metric("delay_ms('all', 'p99')")

def study(folder: Path) -> tuple[shoal.Side, float | None]:
    scenario = shoal.Scenario.named("coexistence").override({"duration": "20 s"})
    one: shoal.Result = shoal.run(scenario, seed=1)
    many: shoal.Results = shoal.run("coexistence", seeds=3)
    points: shoal.Sweep = shoal.sweep(scenario, grid={"bottleneck.rate": ["5 Mbit/s"]}, metrics=["jain()"])
    point: shoal.Point = points[0]
    part: shoal.Sweep = points[:1]
    mean: shoal.Estimate | None = point.estimate("jain()")
    other: shoal.Estimate | None = many.metric("jain()")
    found: shoal.Tuned = shoal.tune(
        scenario, key="bottleneck.rate", low=1, high=5, unit="Mbit/s", such_that="utilisation() > 0.5", side="largest"
    )
    trial: shoal.Trial = found.trials[0]
    kinds: list[shoal.Kind] = [model.kind for model in shoal.models()]
    try:
        one.save(folder)
    except shoal.ShoalError as error:
        hint: str | None = error.hint
        print(hint, mean, other, part.means().height, trial.phase is shoal.Phase.ENDS, kinds, wait(one))
    return found.side, found.answer
"""


def mypy(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "user.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(folder / "cache"), "user.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_strict_user_code_type_checks(tmp_path: Path) -> None:
    done = mypy(tmp_path, USER)
    assert done.returncode == 0, done.stdout
    done = mypy(tmp_path, USER.replace('side="largest"', 'side="large"').replace("[:1]", "[1]"))
    assert done.returncode == 1
    assert len(re.findall("error:", done.stdout)) == 2, done.stdout


def test_names_are_not_those_of_modules(environment: dict[str, str]) -> None:
    # A module that is imported becomes an attribute of the package, and would take the place of a name that is lazy.
    code = """
import importlib, pkgutil, types, shoal
for module in pkgutil.walk_packages(shoal.__path__, "shoal."):
    if "_data" not in module.name and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*(name for name in shoal.__all__ if isinstance(getattr(shoal, name), types.ModuleType)))
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
