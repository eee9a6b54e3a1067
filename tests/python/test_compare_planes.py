"""``shoal compare`` from the runs to the folder, with a second plane that is the simulator with other seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import shoal
from shoal._native import Cancel, Run
from shoal.compare import figures as drawing
from shoal.compare import run as running
from shoal.compare import write as writing
from shoal.compare.comparison import Compared, Comparison, Ran
from shoal.compare.quantities import Measure, measures
from shoal.errors import ScenarioError, UsageError
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour
from shoal.results import Result, Results
from shoal.scenario_keys import ScenarioKeys


def two_groups(duration: str, warmup: str = "1 s", **more: object) -> shoal.Scenario:
    """Two flows that scale and one that does not, behind a queue that marks and drops, with a record every 100 ms."""
    keys: ScenarioKeys = {
        "title": "Two groups",
        "duration": duration,
        "warmup": warmup,
        "bottleneck": {
            "rate": "10 Mbit/s",
            "buffer": "60 packets",
            "aqm": {"kind": "step", "threshold": "10 packets"},
        },
        "flows": [
            {"name": "scalable", "cc": "dctcp", "rtt": "20 ms", "count": 2, "start": {"uniform": ["0 s", "0.5 s"]}},
            {"name": "classic", "cc": "reno", "rtt": "20 ms"},
        ],
        "trace": {"series": "100 ms", "flows": "all"},
    }
    return shoal.Scenario.from_keys(keys).override(more) if more else shoal.Scenario.from_keys(keys)


def on_linux(result: Result) -> Result:
    """A run as the kernel would have given it."""
    words = {"kernel": "7.3", "mode": "seccomp"}
    return Result(json.dumps({**result.data, "linux": words}), recorded=result._recorded)


def compared_runs(scenario: shoal.Scenario, name: str = "two") -> Compared:
    """Seeds 1 and 2 on one plane, 3 and 4 on the other."""
    sim, linux = ([shoal.run(scenario, seed=seed) for seed in seeds] for seeds in ((1, 2), (3, 4)))
    ran = Ran(name, scenario, Results(sim), Results([on_linux(one) for one in linux]), ("a note",))
    return Comparison.of([ran], [1, 2])[0]


@pytest.fixture(scope="module")
def compared() -> Compared:
    return compared_runs(two_groups("6 s"))


# The runs.


class OtherSeeds:
    """The simulator in the place of a kernel: its seeds are larger by a hundred."""

    identity = "other seeds"

    def __init__(self, image: object) -> None:
        self.image = image

    def refusal(self, scenario: shoal.Scenario) -> str:
        return "" if scenario else "nothing"

    def run(self, scenario: shoal.Scenario, seed: int, cancel: Cancel) -> Run:
        return scenario.native.run(seed=seed + 100, cancel=cancel)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the other plane be there, and refuse what has a title that begins with `No`."""

    def plan(scenario: shoal.Scenario, _image: object) -> SimpleNamespace:
        if scenario.title.startswith("No"):
            raise ScenarioError(f"error: {scenario.title} on Linux\n")
        return SimpleNamespace(notes=(f"{scenario.title}, planned",))

    monkeypatch.setattr(running, "find_image", lambda: SimpleNamespace(helpers=None))
    monkeypatch.setattr(running, "plan", plan)
    monkeypatch.setattr(running, "Kernel", OtherSeeds)


@pytest.mark.usefixtures("planned")
def test_each_scenario_has_its_runs_of_both_planes() -> None:
    random = two_groups("1.5 s", warmup="0.5 s")
    fixed = two_groups("0.5 s", warmup="0.1 s", **{"title": "Fixed", "flows.scalable.start": "0 s", "seed": 7})
    comparison = running.compare([("random", random), ("fixed", fixed)], seeds=2, workers=1)
    assert comparison.seeds == (1, 2)
    assert [one.name for one in comparison] == ["random", "fixed"]
    assert [[run.seed for run in one.sim] for one in comparison] == [[1, 2], [7, 8]]
    assert [[run.seed for run in one.linux] for one in comparison] == [[101, 102], [107, 108]]
    titles = [[run.data["scenario"]["title"] for run in (*one.sim, *one.linux)] for one in comparison]
    assert titles == [["Two groups"] * 4, ["Fixed"] * 4]
    # What is random has a note of the plan alone; without anything random both planes say so.
    assert comparison[0].notes == ("Two groups, planned",)
    planned, on_sim, on_kernel = comparison[1].notes
    assert planned == "Fixed, planned"
    assert on_sim.startswith("on the simulator, ")
    assert on_kernel.startswith("on Linux, ")
    # A thousand records in the whole run: every 1.5 ms is every whole 1 ms, and none is shorter.
    assert [one.scenario.resolved["trace"]["series"] for one in comparison] == ["1 ms", "1 ms"]
    assert all(one.scenario.resolved["trace"]["flows"] == "all" for one in comparison)


def test_a_record_is_a_thousandth_of_the_run_in_whole_milliseconds() -> None:
    # 6 s and 8.7 s are 6000 ms and 8700 ms: a thousandth is 6 ms and 8.7 ms.
    for duration, every in (("6 s", "6 ms"), ("8.7 s", "8 ms"), ("1 s", "1 ms"), ("0.2 s", "1 ms")):
        scenario = running._recorded(two_groups(duration, warmup="0.1 s", **{"trace.packets": True}))
        assert scenario.resolved["trace"]["series"] == every
        assert scenario.resolved["trace"]["packets"] is False
        assert scenario.resolved["trace"]["pcap"] is False


@pytest.mark.usefixtures("planned")
def test_every_refusal_is_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "run_cases", lambda *_, **__: pytest.fail("something ran"))
    fine = two_groups("1.5 s")
    no_one, no_other = (two_groups("1.5 s", title=title) for title in ("No one", "No other"))
    with pytest.raises(ScenarioError) as caught:
        running.compare([("only", no_one)])
    assert str(caught.value) == "error: No one on Linux\n"
    with pytest.raises(ScenarioError) as caught:
        running.compare([("first", no_one), ("fine", fine), ("last", no_other)])
    assert str(caught.value) == "`first`:\nerror: No one on Linux\n`last`:\nerror: No other on Linux\n"
    with pytest.raises(UsageError, match="there is nothing to compare"):
        running.compare([])


@pytest.mark.usefixtures("planned")
def test_twenty_seeds_are_compared_if_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, str, int, bool]] = []

    def run_cases(cases: Sequence[Any], **settings: object) -> list[Any]:
        asked.extend((seed, case.plane.identity, len(cases), case.tables) for case in cases for seed in case.seeds)
        assert settings == {"workers": None, "cache": None, "progress": False}
        raise InterruptedError

    monkeypatch.setattr(running, "run_cases", run_cases)
    with pytest.raises(InterruptedError):
        running.compare([("one", two_groups("1.5 s"))])
    assert asked == [(seed, plane, 2, True) for plane in ("", "other seeds") for seed in range(1, 21)]


# The figures.


def styles_of(lines: Sequence[Line2D]) -> list[tuple[str, str, float, float | None]]:
    """Colour, dash, width and strength of lines."""
    return [(to_hex(one.get_color()), str(one.get_linestyle()), one.get_linewidth(), one.get_alpha()) for one in lines]


# The simulator's lines are whole, wide and pale, the kernel's dashed, thin and on top; each group has its colour.
BOTH = [(to_hex(colour(0)), "-", 1.6, 0.55), (to_hex(colour(1)), "-", 1.6, 0.55)]
BOTH += [(to_hex(colour(0)), "--", 1.0, 1.0), (to_hex(colour(1)), "--", 1.0, 1.0)]


def test_rates_of_both_planes_are_those_of_the_first_seeds(compared: Compared) -> None:
    drawn, *others = drawing.figures(compared)
    assert [one.name for one in (drawn, *others)] == ["rates", "windows", "delay"]
    (axes,) = drawn.figure.axes
    lines = list(axes.lines)
    assert [one.get_label() for one in lines] == [
        f"{group}, {plane}" for plane in ("simulator", "Linux") for group in ("scalable", "classic")
    ]
    assert styles_of(lines) == BOTH
    for line, runs in zip(lines, (compared.sim, compared.sim, compared.linux, compared.linux), strict=True):
        # Bins of 100 ms, 60 of them, are fewer than 300: each is a point, the mean over the flows of the group.
        group = str(line.get_label()).partition(",")[0]
        rows = runs[0].table("flows").filter(pl.col("group") == group).group_by("time_s").agg(pl.col("wire_bps").mean())
        rows = rows.sort("time_s")
        assert line.get_xdata() == pytest.approx(rows["time_s"].to_numpy())
        assert line.get_ydata() == pytest.approx(rows["wire_bps"].to_numpy() / 1e6)
    assert (axes.get_xlim(), axes.get_ylim()[0]) == ((0, 6), 0)
    assert drawn.title == "Rate of a flow on the wire, seed 1"
    assert dict(drawn.data.group_by("plane").len().iter_rows()) == {"simulator": 120, "Linux": 120}
    # What is not measured is shaded, from 0 to 1 s.
    shade: Any = axes.patches[0]
    assert (shade.get_x(), shade.get_width()) == (0, 1)
    assert drawn.figure.get_figwidth() == two_columns
    assert 2 <= drawn.figure.get_figheight() <= 2.5


@pytest.mark.parametrize(("duration", "shown_s"), [("2.5 s", 1.5), ("6 s", 2.0), ("16 s", 3.0)])
def test_windows_are_shown_for_a_fifth_of_the_measurement(duration: str, shown_s: float) -> None:
    """A fifth of 15 s is 3 s; of 5 s it would be less than 2 s, and of 1.5 s there are no 2 s."""
    scenario = two_groups(duration)
    runs = compared_runs(scenario)
    drawn = drawing.windows(runs)
    trace, spread = drawn.figure.axes
    assert trace.get_xlim() == (1.0, 1.0 + shown_s)
    assert (trace.get_ylim()[0], spread.get_xlim()[0], spread.get_ylim()) == (0, 0, (0, 1.02))
    assert styles_of(list(trace.lines)) == styles_of(list(spread.lines)) == BOTH
    assert [one.get_label() for one in trace.lines] == [
        "scalable, simulator", "classic, simulator", "scalable, Linux", "classic, Linux",
    ]  # fmt: skip
    # The mean over the flows of the group in each bin of the shown part: ten bins a second, the first one left out.
    for line, run in zip(trace.lines, [runs.sim[0]] * 2 + [runs.linux[0]] * 2, strict=True):
        group = str(line.get_label()).partition(",")[0]
        rows = run.table("flows").filter((pl.col("group") == group) & pl.col("time_s").is_between(1.05, 1.05 + shown_s))
        means = rows.group_by("time_s").agg(pl.col("cwnd_packets").mean()).sort("time_s")
        assert len(means) == round(10 * shown_s)
        assert line.get_xdata() == pytest.approx(means["time_s"].to_numpy())
        assert line.get_ydata() == pytest.approx(means["cwnd_packets"].to_numpy())
    # The distribution is over all seeds and flows: it ends at 1 with the largest window.
    for line, both in zip(spread.lines, [runs.sim] * 2 + [runs.linux] * 2, strict=True):
        group = "scalable" if line.get_color() == colour(0) else "classic"
        values = [
            run.table("flows").filter((pl.col("group") == group) & (pl.col("time_s") > 1.0))["cwnd_packets"]
            for run in both
        ]
        pooled = np.concatenate([one.drop_nulls().to_numpy() for one in values])
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert (x[0], y[0], x[-1], y[-1]) == (pooled.min(), 0.0, pooled.max(), pytest.approx(1.0))
        for at, part in zip(x[1:], y[1:], strict=True):
            # Equal values make one step, of which any part may be drawn.
            assert (pooled < at).mean() < part <= (pooled <= at).mean() + 1e-9
    assert "seed 1 (mean of a group)" in drawn.title
    assert set(drawn.data["plane"]) == {"simulator", "Linux"}
    assert set(drawn.data["group"]) == {"scalable", "classic"}
    assert 2 <= drawn.figure.get_figheight() <= 2.5
    # The trace is half as wide again as the distribution.
    gridspec: Any = trace.get_gridspec()
    assert list(gridspec.get_width_ratios()) == [3, 2]


def test_delays_have_a_panel_for_each_class(compared: Compared) -> None:
    drawn = drawing.delays(compared)
    panels = drawn.figure.axes
    assert [axes.get_title(loc="left") for axes in panels] == ["ECT packets", "Packets that are not ECT"]
    for index, (axes, word) in enumerate(zip(panels, ("ect", "not_ect"), strict=True)):
        assert [one.get_label() for one in axes.lines] == ["simulator", "Linux"]
        assert styles_of(list(axes.lines)) == [BOTH[index], BOTH[2 + index]]
        assert (axes.get_xlim()[0], axes.get_ylim()) == (0, (0, 1.02))
        for line, plane, runs in zip(axes.lines, ("simulator", "Linux"), (compared.sim, compared.linux), strict=True):
            rows = pl.concat([run.table("delay_distribution").filter(pl.col("class") == word) for run in runs])
            packets = dict.fromkeys(sorted(rows["high_s"]), 0)
            for high, count in rows.select("high_s", "packets").iter_rows():
                packets[high] += count
            shown = drawn.data.filter((pl.col("plane") == plane) & (pl.col("class") == word))
            assert dict(shown.select("high_s", "packets").iter_rows()) == packets
            # The last step is where everything has come, in milliseconds.
            x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            assert (x[-1], y[-1]) == pytest.approx((1e3 * max(high for high, count in packets.items() if count), 1.0))
    assert panels[0].get_ylabel() == "Fraction of packets"
    assert 2 <= drawn.figure.get_figheight() <= 2.5
    alone = two_groups("2 s", **{"flows.classic.cc": "dctcp"})
    other = compared_runs(alone)
    (panel,) = drawing.delays(other).figure.axes
    assert panel.get_title(loc="left") == "ECT packets"
    # A class that only one plane has is shown, too.
    mixed = drawing.delays(replace(compared, linux=other.linux))
    assert [len(axes.lines) for axes in mixed.figure.axes] == [2, 1]


def test_what_ends_before_the_measurement_has_an_empty_panel(tmp_path: Path) -> None:
    # Two packets each are sent in the first second; what is measured begins at two.
    sent = {"flows.scalable.app": {"transfer": "3 kB"}, "flows.classic.app": {"transfer": "3 kB"}}
    compared = compared_runs(two_groups("3 s", warmup="2 s", **sent))
    drawn = drawing.delays(compared)
    (panel,) = drawn.figure.axes
    assert (list(panel.lines), panel.get_title(loc="left"), panel.get_ylabel()) == ([], "", "Fraction of packets")
    assert (drawn.data.columns, drawn.data.height) == (["high_s", "packets", "plane", "class"], 0)
    writing.write_into(Comparison((compared,), (1, 2)), tmp_path, command="shoal compare x", out=Path("out"))
    assert {one.stem for one in (tmp_path / "figures").iterdir()} == {"rates", "windows", "delay"}


def test_a_distribution_function_by_hand() -> None:
    axes = Figure().add_subplot()
    # Weights 1, 3, 4 of 8: 1/8, 1/2 and 1 are reached; the step begins at 0.
    drawing._cumulative(axes, np.array([2.0, 5.0, 7.0]), np.array([1.0, 3.0, 4.0]), color="black")
    (line,) = axes.lines
    assert np.asarray(line.get_xdata()).tolist() == [2.0, 2.0, 5.0, 7.0]
    assert np.asarray(line.get_ydata()).tolist() == [0.0, 0.125, 0.5, 1.0]
    assert line.get_drawstyle() == "steps-post"
    # Nothing is drawn of nothing.
    drawing._cumulative(axes, np.array([]), np.array([]))
    drawing._cumulative(axes, np.array([1.0, 2.0]), np.array([0.0, 0.0]))
    assert len(axes.lines) == 1
    # Of many values some hundred are enough: 400 parts from 0 to 1, and where the step begins.
    drawing._cumulative(axes, np.arange(10_000.0), np.ones(10_000))
    x, y = np.asarray(axes.lines[1].get_xdata()), np.asarray(axes.lines[1].get_ydata())
    assert (len(x), x[-1], y[-1]) == (401, 9999.0, 1.0)


# The folder.


def test_the_folder_has_everything_of_each_scenario(
    compared: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = compared_runs(two_groups("2.5 s", title="Shorter"), "shorter")
    # One figure of each is enough here.
    monkeypatch.setattr(writing, "figures", lambda one: [drawing.delays(one)])
    monkeypatch.setattr(writing, "save", lambda _, folder: folder.mkdir(parents=True, exist_ok=True))
    for some, figures in (([compared], ["figures"]), ([compared, other], ["figures/two", "figures/shorter"])):
        folder = tmp_path / str(len(some))
        folder.mkdir()
        writing.write_into(Comparison(tuple(some), (1, 2)), folder, command="shoal compare x", out=Path("out"))
        for place in figures:
            assert (folder / place).is_dir()
        assert (folder / "command.txt").read_text(encoding="utf-8") == "shoal compare x\n"
        written = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
        assert [one["name"] for one in written["scenarios"]] == [one.name for one in some]
        assert written["kernel"] == {"release": "7.3", "mode": "seccomp"}
        for one in some:
            kept = shoal.Scenario.from_file(folder / "scenarios" / f"{one.name}.toml")
            assert kept.resolved == one.scenario.resolved
        page = (folder / "comparison.html").read_text(encoding="utf-8")
        title = "Simulator and Linux: " + ("Two groups" if len(some) == 1 else "comparison")
        assert f"<title>{title}" in page
        assert "--seeds 2" in page
        assert "a note" in page
        # Of several scenarios one figure has all differences.
        assert page.count("<svg") == len(some) + (len(some) > 1)


# What is compared.


def values_of(result: Result) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures(result)}


def test_names_titles_and_units_of_what_is_compared(compared: Compared) -> None:
    known = values_of(compared.sim[0])
    (link,) = compared.sim[0].bottlenecks
    groups = {group["name"]: group for group in compared.sim[0].groups}
    # Both classes are there, so each has a queue of its own beside that of the link.
    wanted = {
        "queue_ect_packets": ("queue mean", "ECT", link["class_queue_packets"]["ect"]["mean"], "packets"),
        "queue_p50_packets": ("queue P50", "link", link["queue_packets"]["p50"], "packets"),
        "queue_p99_packets": ("queue P99", "link", link["queue_packets"]["p99"], "packets"),
        "delay_ect_p99_s": ("queueing delay P99", "ECT", link["delay_s"]["ect"]["p99"], "ms"),
        "delay_not_ect_mean_s": ("queueing delay mean", "not ECT", link["delay_s"]["not_ect"]["mean"], "ms"),
        "marked": ("marks", "ECT", link["ect"]["marked"], "packets"),
        "dropped_not_ect": ("drops", "not ECT", link["not_ect"]["dropped"], "packets"),
        "timeouts_classic": ("timeouts", "classic", groups["classic"]["totals"]["timeouts"], ""),
        "retransmissions_scalable": (
            "retransmissions", "scalable", groups["scalable"]["totals"]["retransmissions"], "",
        ),
        "reductions_scalable": ("reductions", "scalable", groups["scalable"]["totals"]["reductions"], ""),
    }  # fmt: skip
    for name, (title, of, value, unit) in wanted.items():
        one = known[name]
        assert (one.title, one.of, one.unit, one.factor) == (title, of, unit, 1e3 if unit == "ms" else 1.0)
        assert one.get(compared.sim[0]) == value, name
    assert "reductions_classic" not in known
    pair = next(name for name in known if name.startswith("rate_ratio_"))
    assert pair in ("rate_ratio_scalable/classic", "rate_ratio_classic/scalable")
    assert known["delay_ect_p99_s"].kind == "delay-quantile"
    assert known["delay_ect_mean_s"].kind == "delay"
    assert (known["utilisation"].unit, known["utilisation"].factor) == ("%", 100.0)


def test_nobody_announces_reductions_over_accurate_ecn() -> None:
    for more in ({"flows.scalable.cc": "prague-0.7"}, {"flows.scalable.receiver": {"feedback": "accurate"}}):
        known = values_of(shoal.run(two_groups("2 s", **more)))
        assert "retransmissions_scalable" in known
        assert "reductions_scalable" not in known


def test_completion_times_by_their_kinds() -> None:
    sent = {"transfer": "20 kB", "rounds": 3, "every": "300 ms"}
    known = values_of(shoal.run(two_groups("2 s", warmup="0 s", **{"flows.scalable.app": sent})))
    kinds = {name: (one.kind, one.unit, one.factor) for name, one in known.items() if name.startswith("fct")}
    assert kinds == {
        "fct_mean_s_scalable": ("completion", "ms", 1e3),
        "fct_p50_s_scalable": ("completion", "ms", 1e3),
        "fct_p90_s_scalable": ("completion", "ms", 1e3),
        "fct_p99_s_scalable": ("completion-tail", "ms", 1e3),
    }


def test_a_class_that_is_alone_has_the_queue_of_the_link() -> None:
    alone = shoal.run(two_groups("2 s", **{"flows.classic.cc": "dctcp"}))
    names = set(values_of(alone))
    assert not {name for name in names if name.startswith(("queue_ect", "queue_not", "delay_not", "dropped_not"))}
    assert {"queue_packets", "delay_ect_mean_s", "marked", "dropped_ect"} <= names


def test_quantiles_of_windows_are_between_samples(compared: Compared) -> None:
    run = compared.sim[0]
    rows = run.table("flows").filter((pl.col("group") == "classic") & (pl.col("time_s") > 1.0))
    values = sorted(rows["cwnd_packets"].drop_nulls().cast(pl.Float64))
    known = values_of(run)
    for word, part in (("p5", 0.05), ("p50", 0.5), ("p95", 0.95)):
        # Between the two samples at the place part x (n - 1), in proportion.
        place = part * (len(values) - 1)
        low = int(place)
        high = min(low + 1, len(values) - 1)
        wanted = values[low] + (place - low) * (values[high] - values[low])
        one = known[f"cwnd_{word}_packets_classic"]
        assert one.get(run) == pytest.approx(wanted)
        assert (one.title, one.kind, one.unit, one.factor) == (
            f"cwnd {word.upper()}", "window-quantile", "packets", 1.0,
        )  # fmt: skip
    assert "alpha_mean_scalable" in known
    assert "alpha_p50_scalable" in known
    assert "alpha_mean_classic" not in known
