"""Points of sweeps: ranges, samples, files, seeds, and the numbers of rows, from values and records made by hand."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tiny_scenario import tiny_scenario

import shoal
from shoal import _native
from shoal.errors import ScenarioError, UsageError
from shoal.expression import UndefinedError
from shoal.frames import value_columns
from shoal.results import Results
from shoal.runs.design import Design, axis, pairs
from shoal.runs.plan import Plan, check
from shoal.runs.record import Record, Said, Undefined
from shoal.runs.rows import Failure, Rows
from shoal.runs.until import Until
from shoal.scenario import is_sweep
from shoal.seeds import checked_seed, most_seeds, seed_list
from shoal.stats import Estimate
from shoal.sweeps import file as files
from shoal.sweeps import kept, sampling, short_names
from shoal.sweeps import values as ranges
from shoal.sweeps.kept import Point, Sweep, refuse_bad_axis
from shoal.sweeps.sampling import Method, axis_of, method, sample
from shoal.sweeps.tables import failure_lines, json_of, omitted, points_frame, runs_frame, table_of
from shoal.sweeps.values import Interval, assignment, listed, most_values, refuse_repeated
from shoal.template import Template

K = "bottleneck.aqm.threshold"
TINY = shoal.Scenario.from_toml(tiny_scenario("2 s"), name="tiny.toml")

# Ranges.


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1:2", [1, 2]),
        ("-0.5:0.5", [-0.5, 0.5]),
        ("1e1:12", [10, 11, 12]),
        (".5:1.5", [0.5, 1.5]),
        ("0:0.3:4", [0, 0.1, 0.2, 0.3]),
        ("1:3:2", [1, 3]),
        ("2:4:log:2", [2, 4]),
        # One factor of ten has 1 + 3 values, half of one 1 + 2, in ratios of sqrt(3.2), and a tenth of one two.
        ("1:10:log", [1, 2, 5, 10]),
        ("1:3.2:log", [1, 1.79, 3.2]),
        ("1:1.3:log", [1, 1.3]),
        ("1:8:log:4", [1, 2, 4, 8]),
        ("0.5:4:log:4", [0.5, 1, 2, 4]),
        ("1:2 ms", ["1 ms", "2 ms"]),
        ("1 ms:2", ["1 ms", "2 ms"]),
        ("1:4:2 ms", ["1 ms", "4 ms"]),
        ("1:4:log:2 ms", ["1 ms", "4 ms"]),
        ("1:10:log ms", ["1 ms", "2 ms", "5 ms", "10 ms"]),
        ("1 ms:4 ms:2 ms", ["1 ms", "4 ms"]),
        ("1, 2 ,3", [1, 2, 3]),
        ("true,x,'a,b'", [True, "x", "a,b"]),
        ('"a,b",c', ["a,b", "c"]),
        ("[1,2],[3]", [[1, 2], [3]]),
        ('{ a = "x,y" },2', [{"a": "x,y"}, 2]),
        ("1:2,5 ms", [1, 2, "5 ms"]),
    ],
)
def test_lists_and_ranges(text: str, values: list[object]) -> None:
    assert listed(text, "the axis", "key") == values


@pytest.mark.parametrize("text", ["", "1,,2", "1,", ",1", "1, ,2"])
def test_a_list_has_no_empty_values(text: str) -> None:
    with pytest.raises(UsageError, match="the axis has an empty value") as caught:
        listed(text, "the axis", "key")
    assert caught.value.hint == "as in key=1,2,4"


def test_as_many_values_as_there_may_be() -> None:
    assert len(ranges._stepped("", 0, most_values - 1)) == most_values
    assert len(ranges._even("", 0, 1, most_values)) == most_values
    for text in (f"0:{most_values}", f"0:1:{most_values + 1}", f"1:2:log:{most_values + 1}"):
        with pytest.raises(UsageError, match="more than 100,000 values"):
            listed(text, "the axis", "key")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("2:1", "is empty", "smaller end first"),
        ("2:2", "has one value", "write 2 alone"),
        ("1:9:0", "fewer than two values", "as in 1:10"),
        ("1:9:log:1", "fewer than two values", "as in 1:10"),
        ("0:9:log:3", "is not above zero", "first value above 0"),
        ("1:9:3:4", "`3` is neither a number of values nor log", "as in 1:10"),
        ("1:9:log:3:4", "`log` is neither", "as in 1:10"),
        ("1:9:log:lot", "`lot` is neither", "did you mean `log`?"),
        ("1:9:1.5", "`1.5` is neither", "as in 1:10"),
        ("0:2.5", "does not end after whole steps of 1", "as in 0:2.5:5"),
        ("1 ms:2 s", "one end is in ms, the other in s", "same unit"),
        ("1:2 ms:3 s", "one end is in", "same unit"),
    ],
)
def test_ranges_that_are_none(text: str, message: str, hint: str) -> None:
    if text == "1:2 ms:3 s":
        # The end has its unit already; the last one is not taken.
        assert listed(text, "the axis", "key") == ["1 ms", "1.5 ms", "2 ms"]
        return
    with pytest.raises(UsageError) as caught:
        listed(text, "the axis", "key")
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_assignments_and_repetitions() -> None:
    assert assignment(" a.b = 1,2=3", "--axis") == ("a.b", " 1,2=3")
    for text in ("a", "=1", " = 1", ""):
        with pytest.raises(UsageError, match="is not KEY=V1,V2"):
            assignment(text, "--axis")
    refuse_repeated([1, 2, 1.5], "the axis")
    with pytest.raises(UsageError, match="the axis has a value twice"):
        refuse_repeated(["x", "y", "x"], "the axis")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        # From 0.5 to 4.5 whole numbers are equally likely; on an edge the even one is nearest.
        ("1:4:whole", {0.0: 1, 0.24: 1, 0.26: 2, 0.51: 3, 0.76: 4, 1.0: 4}),
        # From 0.5 to 8.5 is a factor of 17: a part of 0.5 is sqrt(0.5 x 8.5) = 2.06.
        ("1:8:log:whole", {0.0: 1, 0.5: 2, 1.0: 8}),
        ("1:8:whole:log", {0.5: 2}),
        ("4:64:log", {0.0: 4, 0.5: 16, 0.25: 8, 1.0: 64}),
        ("1:3", {0.0: 1, 0.25: 1.5, 1.0: 3}),
        ("0:1", {1 / 3: 0.333333}),
        ("-2:2", {0.0: -2, 0.75: 1, 1.0: 2}),
        ("1:3:whole ms", {0.0: "1 ms", 1.0: "3 ms"}),
        ("1 ms:3 ms", {0.25: "1.5 ms"}),
    ],
)
def test_parts_of_a_range(text: str, parts: dict[float, object]) -> None:
    interval = Interval.parse(text)
    assert interval is not None
    values = {part: interval.at(part) for part in parts}
    assert values == parts
    assert [type(value) for value in values.values()] == [type(value) for value in parts.values()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1:1", "is empty"),
        ("2:1", "is empty"),
        ("0:1:log", "is not above zero"),
        ("1.5:3:whole", "are not whole numbers"),
        ("1:3.5:whole", "are not whole numbers"),
        ("1:9:lot", "`lot` has no meaning"),
        ("1:9:log:log", "`log` has no meaning"),
        ("1:9:log:lot", "`lot` has no meaning"),
    ],
)
def test_ranges_of_samples_that_are_none(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Interval.parse(text)
    assert Interval.parse("a,b") is None


# Samples.


def test_a_sample_draws_each_axis_in_turn() -> None:
    axes: dict[str, Interval | Sequence[object]] = {"a": Interval(0, 100, False, True, ""), "kind": ["x", "y", "z"]}
    numbers = random.Random(5)
    parts = [(numbers.random(), numbers.random()) for _ in range(9)]
    drawn = sample(Method.RANDOM, 9, 5, axes)
    assert drawn.keys == ("a", "kind")
    # From -0.5 to 100.5, rounded; and one of three words, equally likely.
    assert drawn.rows == [(round(-0.5 + 101 * first), "xyz"[int(3 * second)]) for first, second in parts]
    assert {kind for _, kind in drawn.rows} == {"x", "y", "z"}


def test_shifted_points_of_sobol() -> None:
    pytest.importorskip("scipy")
    numbers = random.Random(3)
    shifts = [numbers.getrandbits(30), numbers.getrandbits(30)]
    # The first points of the sequence are (0, 0), (1/2, 1/2), (3/4, 1/4) and (1/4, 3/4).
    cells = [(0, 0), (1 << 29, 1 << 29), (3 << 28, 1 << 28), (1 << 28, 3 << 28)]
    wanted = [tuple((((x ^ shift) + 0.5) / (1 << 30)) for x, shift in zip(cell, shifts, strict=True)) for cell in cells]
    axes = {name: Interval(0, 1, False, False, "") for name in "ab"}
    drawn = sample(Method.SOBOL, 4, 3, axes).rows
    assert drawn == [tuple(float(f"{part:.6g}") for part in row) for row in wanted]


def test_coordinates_of_sobol_are_shifted_in_thirty_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    qmc = pytest.importorskip("scipy.stats.qmc")
    numbers = random.Random(9)
    shift = numbers.getrandbits(30)
    # The first two points are 0 and 1/2; each lies in the middle of its cell.
    assert sampling._sobol(2, 1, 9) == [[(shift + 0.5) / 2**30], [((1 << 29 ^ shift) + 0.5) / 2**30]]
    monkeypatch.setattr(qmc.Sobol, "MAXDIM", 2)
    assert len(sampling._sobol(1, 2, 1)[0]) == 2
    with pytest.raises(UsageError, match="at most 2 axes"):
        sampling._sobol(1, 3, 1)


def test_what_a_sample_cannot_be() -> None:
    axes = {"a": Interval(0, 1, False, False, "")}
    assert len(sample(Method.RANDOM, 1, 1, axes).rows) == 1
    for points in (0, 10_000_001):
        with pytest.raises(UsageError, match="a sample of"):
            sample(Method.RANDOM, points, 1, axes)
    with pytest.raises(UsageError, match="needs axes"):
        sample(Method.RANDOM, 1, 1, {})
    with pytest.raises(UsageError) as caught:
        method("sobel")
    assert caught.value.hint == "did you mean `sobol`?"
    assert axis_of("1:2", "place", "key") == Interval(1, 2, False, False, "")
    assert axis_of("1,2", "place", "key") == [1, 2]


# Files.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(tiny_scenario("2 s"), encoding="utf-8")
    return tmp_path


def read(folder: Path, **content: object) -> Plan:
    """The plan of a sweep file of these keys."""
    return files._read({"scenario": "tiny.toml", **content}, folder).plan


def points_of(plan: Plan) -> list[tuple[object, ...]]:
    return [tuple(plan.design.at(number).values()) for number in range(len(plan.design))]


def test_what_a_file_takes_for_what_it_does_not_say(folder: Path) -> None:
    plan = read(folder, axes={K: "5 packets,6 packets"})
    assert points_of(plan) == [("5 packets",), ("6 packets",)]
    assert (plan.seeds, plan.until, plan.max_seeds, plan.kernel) == (1, None, 100, "")
    assert plan.metrics == shoal.default_metrics(TINY)
    until = read(folder, axes={K: ["5 packets"]}, until="ci(jain()) < 1%")
    assert (until.seeds, until.max_seeds) == (3, 100)
    more = read(
        folder, axes={K: ["5 packets"]}, until="ci(u) < 1", seeds=4, metrics={"u": "jain()"}, **{"max-seeds": 9}
    )
    assert (more.seeds, more.max_seeds, more.metrics) == (4, 9, {"u": "jain()"})
    assert more.until is not None
    assert more.until.goals[0].metric == "jain()"
    assert read(folder, axes={K: ["5 packets"]}, seeds=[7, 3], on="sim").seeds == (7, 3)
    one = files._read({"scenario": "tiny.toml", "axes": {K: 5}}, folder)
    assert (one.scenario, one.sizes) == (folder / "tiny.toml", {})


def test_a_file_may_ask_for_the_kernel(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "kernel_here", lambda: SimpleNamespace(identity="linux 7"))
    axes = {K: ["5 packets"]}
    assert [read(folder, axes=axes, on=on).kernel for on in ("sim", "linux")] == ["", "linux 7"]


def test_tables_of_a_file_that_have_no_quotes(folder: Path) -> None:
    axes = {
        "bottleneck": {"aqm": {"threshold": ["5 packets"]}, "rate": ["10 Mbit/s", "20 Mbit/s"]},
        "flows": {"dctcp": {"rtt": ["25 ms"], "start": [{"uniform": ["0 s", "1 s"]}]}},
        "k": [1],
    }
    plan = read(folder, axes=axes, set={"bottleneck": {"buffer": "{30 * k} packets"}})
    assert plan.design.keys == (K, "bottleneck.rate", "flows.dctcp.rtt", "flows.dctcp.start", "k")
    assert len(plan.design) == 2
    assert plan.recipe.at(plan.design.at(0)).resolved["bottleneck"]["buffer"] == "30 packets"
    # A table that is no section of a scenario is a value; and one that is a value of a section stays whole.
    start = {"uniform": ["0 s", "1 s"]}
    assert files._flat({"a": {"b": 1}, "flows": {"x": {"start": start}}, "bottleneck": {"loss": {"rate": 1}}}) == {
        "a": {"b": 1},
        "flows.x.start": start,
        "bottleneck.loss": {"rate": 1},
    }
    assert files._flat({"bottleneck": {"dctcp-aqm": {"a": {"b": 2}}}}) == {"bottleneck.dctcp-aqm.a.b": 2}


def test_pairs_and_samples_of_a_file(folder: Path) -> None:
    two = {"bottleneck.rate": ["10 Mbit/s", "20 Mbit/s"], "flows.dctcp.rtt": "25 ms,12.5 ms"}
    rows = [("10 Mbit/s", "25 ms"), ("20 Mbit/s", "12.5 ms")]
    assert points_of(read(folder, pairs=two)) == points_of(read(folder, pairs=[two])) == rows
    three = read(folder, pairs=[two, {"flows.dctcp.count": [1, 2], K: "5 packets,6 packets"}])
    assert points_of(three) == [(*row, *more) for row in rows for more in ((1, "5 packets"), (2, "6 packets"))]
    drawn = {"method": "random", "points": 3, "axes": {K: "5:9:whole packets", "flows.dctcp.count": [1, 2]}}
    axes: dict[str, Interval | Sequence[object]] = {
        K: Interval(5, 9, False, True, "packets"),
        "flows.dctcp.count": [1, 2],
    }
    assert points_of(read(folder, sample=drawn)) == sample(Method.RANDOM, 3, 1, axes).rows
    assert points_of(read(folder, sample=drawn | {"seed": 0})) == sample(Method.RANDOM, 3, 0, axes).rows
    pytest.importorskip("scipy")
    del drawn["method"]
    assert points_of(read(folder, sample=drawn)) == sample(Method.SOBOL, 3, 1, axes).rows


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ({"scenario": 1}, "`scenario` is 1, expected text", None),
        ({"seeds": True}, "`seeds` is True, expected how many", None),
        ({"seeds": 0}, "`seeds` is 0, expected how many", None),
        ({"seeds": []}, "`seeds` is [], expected how many", None),
        ({"seeds": [1, True]}, "expected how many or a list of seeds", None),
        ({"seeds": [1, "2"]}, "expected how many or a list of seeds", None),
        ({"seeds": [1, 1]}, "the seed 1 is there twice", None),
        ({"seeds": 1.5}, "expected how many or a list of seeds", None),
        ({"max-seeds": True}, "`max-seeds` is True, expected a whole number", None),
        ({"max-seeds": 5}, "`max-seeds` bounds what `until` asks for", None),
        ({"on": "lnux"}, "`on` is 'lnux'", "`sim` or `linux`"),
        ({"metrics": {"u": 1}}, "`metrics.u` is 1, expected an expression", None),
        ({"metrics": []}, "`metrics` is [], expected a table", None),
        ({"pairs": [1]}, "`pairs` is not a table", None),
        ({"pairs": 1}, "`pairs` is not a table", None),
        ({"axes": {K: []}}, f"`{K}` has no values", f'as in "{K}" = [10, 20]'),
        ({"axes": {K: "5 packets,5 packets"}}, f"the axis `{K}` has a value twice", None),
        ({"axes": {K: "1,,2"}}, f"`axes.{K}` has an empty value", None),
        ({"pairs": {K: "1,,2"}}, f"`pairs.{K}` has an empty value", None),
        ({"sample": {"points": 2, "axes": {K: "1,,2"}}}, f"`sample.axes.{K}` has an empty value", None),
        ({"sample": {"axes": {K: "1:2"}}}, "`sample.points` is missing", None),
        ({"sample": {"point": 1}}, "unknown key `sample.point`", "did you mean `points`?"),
        ({"axis": {}}, "unknown key `axis`", "did you mean `axes`?"),
    ],
)
def test_keys_of_a_file_that_are_wrong(
    folder: Path, content: dict[str, object], message: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        read(folder, **({"axes": {K: ["5 packets"]}} | content))
    assert message in str(caught.value)
    assert caught.value.hint
    assert hint is None or caught.value.hint == hint


def test_a_file_names_itself_and_its_scenario(folder: Path) -> None:
    with pytest.raises(UsageError, match="`scenario` is missing"):
        files._read({}, folder)
    path = folder / "sweep.toml"
    for text, message in (("seeds = ", "Invalid value"), ("seed = 1", "unknown key `seed`")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=message) as caught:
            files.read_sweep(path)
        assert str(caught.value).startswith(f"{path}: ")
    assert is_sweep('scenario = "x"', "file")
    assert not is_sweep("title = 'x'", "file")
    assert not is_sweep("scenario = ", "file")
    sizes = folder / "sizes.csv"
    sizes.write_text("bytes,part\n1000,0.5\n2000,1\n", encoding="utf-8")
    content = {"scenario": "tiny.toml", "axes": {K: ["5 packets"]}, "sizes": {"mine": "sizes.csv"}}
    assert files._read(content, folder).sizes == {"mine": sizes}
    # A ready-made scenario is one that is not beside the file.
    assert files._read({"scenario": "coexistence", "axes": {"duration": ["1 s"]}}, folder).scenario.is_file()


# Seeds.


def test_seeds_of_runs() -> None:
    assert seed_list(TINY, 3) == [1, 2, 3]
    assert seed_list(TINY.override({"seed": 5}), 2) == [5, 6]
    assert seed_list(TINY, [4, 2]) == [4, 2]
    assert len(seed_list(TINY, most_seeds)) == len(seed_list(TINY, range(most_seeds))) == most_seeds
    for seeds, message in (
        (most_seeds + 1, "10,001 runs are too many"),
        (range(most_seeds + 1), "more than 10,000 runs are too many"),
        (0, "no seeds"),
        ([], "no seeds"),
        ([1, -1, 2], "-1 is not a seed"),
        (range(-1, 3), "-1 is not a seed"),
        ([1, True], "True is not a seed"),
        ([1.0], "1.0 is not a seed"),
    ):
        with pytest.raises(UsageError, match=message):
            seed_list(TINY, seeds)
    assert (checked_seed(0), checked_seed(_native.MAX_SEED)) == (0, _native.MAX_SEED)
    with pytest.raises(UsageError, match="is not a seed"):
        checked_seed(_native.MAX_SEED + 1)
    assert seed_list(TINY.override({"seed": _native.MAX_SEED}), 1) == [_native.MAX_SEED]
    with pytest.raises(UsageError, match="is not a seed"):
        seed_list(TINY.override({"seed": _native.MAX_SEED}), 2)


# Of 1, 2, 3 the half-width is 4.302653 / sqrt(3).
WIDTH = 4.302653 / math.sqrt(3)
VALUES: dict[str, Sequence[float | None]] = {"jain()": [1.0, 2.0, 3.0], "utilisation()": [5.0, 5.0, 5.0]}


@pytest.mark.parametrize(
    ("text", "is_met", "missing"),
    [
        (f"ci(jain()) < {WIDTH * 1.001}", True, 1),
        # 3 x 1.1^2 is 3.63, one more; 3 x 1.2^2 is 4.32, two more; 3 x 1.5^2 is 6.75, but three more at most.
        (f"ci(jain()) < {WIDTH / 1.1}", False, 1),
        (f"ci(jain()) < {WIDTH / 1.2}", False, 2),
        (f"ci(jain()) < {WIDTH / 1.5}", False, 3),
        ("ci(jain()) < 1e-9", False, 3),
        # Of the mean, 2.
        (f"ci(jain()) < {50 * WIDTH * 1.001}%", True, 1),
        (f"ci(jain()) < {50 * WIDTH / 1.2} %", False, 2),
        ("ci(utilisation()) < 1e-9", True, 1),
        (f"ci(utilisation()) < 1 and ci(jain()) < {WIDTH / 1.2}", False, 2),
        (f"ci(jain()) < {WIDTH / 1.2} and ci(utilisation()) <= 1", False, 2),
        (f"ci(jain()) < {WIDTH / 1.2} and ci(jain()) < {WIDTH / 1.1}", False, 2),
    ],
)
def test_how_many_more_seeds_are_needed(text: str, is_met: bool, missing: int) -> None:
    until = Until.parse(text, {})
    assert (until.is_met(VALUES), until.missing(VALUES)) == (is_met, missing)


def test_intervals_around_nothing_and_around_negative_numbers() -> None:
    relative = Until.parse("ci(jain()) < 200%", {})
    # Around zero no part of the mean is wide enough; of -2 it is as wide as of 2.
    assert not relative.is_met({"jain()": [-1.0, 0.0, 1.0]})
    assert relative.missing({"jain()": [-1.0, 0.0, 1.0]}) == 3
    assert relative.is_met({"jain()": [-1.0, -2.0, -3.0]})
    # One seed has no width, and none at all no mean; where a run has no number more of them say nothing.
    assert not relative.is_met({"jain()": [1.0]})
    assert relative.missing({"jain()": [1.0]}) == 1
    assert not relative.is_met({"jain()": []})
    assert relative.is_met({"jain()": [None, 1.0]})
    assert Until.parse("ci( q ) < 1", {"q": "jain()"}).goals[0].metric == "jain()"
    for text in ("ci(jain()) < 0", "ci(jain()) < 1e999", "ci(jain()) < 1-2", "ci(jain()) > 1", "jain() < 1"):
        with pytest.raises(UsageError, match="does not say when an interval is narrow enough"):
            Until.parse(text, {})


# Plans.


def plan_of(*factors: Any, metrics: Mapping[str, str] | None = None, **more: Any) -> Plan:
    design = Design(factors or (axis(K, ["5 packets", "6 packets"]), axis("flows.dctcp.count", [1, 2])))
    template = Template(more.pop("scenario", TINY), design.keys, more.pop("set", {}))
    return Plan(template, design, metrics or {"q": "queue_packets()", "u": "utilisation()"}, **more)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seeds": most_seeds + 1}, "10,001 runs are too many"),
        ({"max_seeds": most_seeds + 1}, "10,001 runs are too many"),
        ({"until": Until.parse("ci(jain()) < 1", {}), "seeds": (1, 2, 3)}, "a list of seeds cannot grow"),
        ({"until": Until.parse("ci(jain()) < 1", {}), "seeds": 2}, "an interval of 2 seeds says little"),
        ({"until": Until.parse("ci(jain()) < 1", {}), "seeds": 5, "max_seeds": 4}, "at most 4 seeds, and at least 5"),
        ({"metrics": {"x": "jane()"}}, "there is no function `jane`"),
    ],
)
def test_plans_that_cannot_be(more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(**more)


def test_plans_at_their_borders(tmp_path: Path) -> None:
    until = Until.parse("ci(jain()) < 1 and ci(q) < 2", {"q": "queue_packets()"})
    plan = plan_of(until=until, seeds=3, max_seeds=3)
    assert plan.expressions == ("queue_packets()", "utilisation()", "jain()")
    assert plan_of(seeds=most_seeds, max_seeds=most_seeds).seeds == most_seeds
    assert not plan.varies_seed
    assert plan_of(axis("seed", [1, 9])).varies_seed
    for one in (plan, plan_of(seeds=(4, 2)), plan_of(kernel="")):
        path = tmp_path / "plan.json"
        path.write_text(one.text, encoding="utf-8")
        again = Plan.read(path)
        assert (again.text, again.digest) == (one.text, one.digest)
        assert (again.seeds, again.until, again.max_seeds) == (one.seeds, one.until, one.max_seeds)
    assert plan.digest != plan_of(until=until, seeds=3, max_seeds=4).digest


def test_all_points_are_checked_before_anything_runs() -> None:
    seen: list[int] = []
    checked = check(plan_of(), on_point=lambda: seen.append(1))
    assert len(seen) == len(checked.digests) == len(set(checked.digests)) == 4
    assert (checked.first_seeds, list(checked.seeds), checked.warnings) == (None, [1], ())
    assert len(check(plan_of(), points=[1, 3]).digests) == 2
    own = check(plan_of(axis("seed", [4, 9]), seeds=2))
    assert [list(own.seeds_of(point)) for point in (0, 1)] == [[4, 5], [9, 10]]
    with pytest.raises(ScenarioError) as caught:
        check(plan_of(axis(K, ["5 packets", "6 packts"])))
    assert "note: at point 2 of 2: bottleneck.aqm.threshold = 6 packts\n" in str(caught.value)
    with pytest.raises(ScenarioError) as caught:
        check(plan_of(axis(K, ["6 packts"])))
    assert "note: at point" not in str(caught.value)
    for key in ("packets", "pcap"):
        with pytest.raises(UsageError, match=f"trace.{key} = true"):
            check(plan_of(scenario=TINY.override({f"trace.{key}": True})))
        with pytest.raises(UsageError, match=f"trace.{key} = true"):
            check(plan_of(axis(f"trace.{key}", [False, True])))


@pytest.mark.parametrize(
    ("keys", "is_warned"),
    [
        ({K: ["5 packets", "6 packets"]}, True),
        ({"flows.dctcp.count": [1, 2]}, False),
        # Only with hosts that are fast does the warning apply; it is found wherever the point is.
        ({K: ["5 packets"], "bottleneck.rate": ["10 Mbit/s", "10 Gbit/s"]}, True),
    ],
)
def test_the_warning_of_bursts_is_about_thresholds(keys: dict[str, list[object]], is_warned: bool) -> None:
    rate = "10 Mbit/s" if "bottleneck.rate" in keys else "10 Gbit/s"
    scenario = TINY.override({"bottleneck.rate": rate, "bottleneck.buffer": "100 packets", "flows.dctcp.rtt": "100 us"})
    checked = check(plan_of(*(axis(key, values) for key, values in keys.items()), scenario=scenario))
    assert bool(checked.warnings) == is_warned


def test_designs_at_their_borders() -> None:
    design = Design((axis("a", [1, 2, 3]), pairs({"b": [4, 5], "c": ["x", "y"]}), axis("d", [True, False])))
    assert (len(design), design.keys) == (12, ("a", "b", "c", "d"))
    # The last changes fastest: 7 = 1 x 4 + 1 x 2 + 1.
    assert design.at(7) == {"a": 2, "b": 5, "c": "y", "d": False}
    assert design.name(7) == "a = 2, b = 5, c = y, d = false"
    with pytest.raises(UsageError, match="nothing is varied"):
        Design(())
    with pytest.raises(UsageError, match="`a` is an axis twice"):
        Design((axis("a", [1]), axis("a", [2])))
    with pytest.raises(UsageError, match="have a row twice"):
        pairs({"b": [4, 4], "c": ["x", "x"]})
    assert len(pairs({"b": [4, 4], "c": ["x", "y"]}).rows) == 2
    many = range(10_000)
    assert len(Design((axis("a", many), axis("b", range(1000))))) == 10_000_000
    with pytest.raises(UsageError, match="10,010,000 points are too many"):
        Design((axis("a", many), axis("b", range(1001))))


# Rows.

Q, U = "queue_packets()", "utilisation()"


def record(q: float | Undefined | None, u: float | None = 1.0, *, said: tuple[Said, ...] = (), mark: int = 0) -> Record:
    return Record({Q: q, U: u}, said, mark, b"")


def failed(message: str) -> Record:
    return Record({}, (), 0, b"", message)


LATE, EARLY = Said("late", ("dctcp",), "late in a run"), Said("early", (), "early in a run")
UNDEFINED = Undefined("1 / 0", "division by zero")


@pytest.fixture
def rows() -> Rows:
    """Four points with two seeds: numbers, a gap, an undefined number, and a failure."""
    plan = plan_of(seeds=2)
    made = Rows(plan, range(4), check(plan))
    records = [
        [record(2.0, 0.5, mark=7), record(4.0, 0.5, mark=7)],
        [record(1.0, None, said=(LATE,), mark=7), record(1.0, 1.0, said=(EARLY, LATE), mark=8)],
        [record(UNDEFINED, said=(LATE,)), record(3.0)],
        [failed("Panic: first"), failed("Panic: second")],
    ]
    # Runs come in any order.
    for place in (3, 1, 0, 2):
        for index in (1, 0):
            made.put(place, index, records[place][index])
        made.count(place, 2)
    return made


def test_numbers_of_rows(rows: Rows) -> None:
    assert (len(rows), rows.runs, rows.seeds(0)) == (4, 8, [1, 2])
    assert rows[1] == {K: "5 packets", "flows.dctcp.count": 2}
    assert rows.name(2) == f"{K} = 6 packets, flows.dctcp.count = 1"
    assert rows.series(0, Q) == [2.0, 4.0]
    assert rows.series(0, Q, seeds=1) == [2.0]
    assert rows.series(1, U) == [None, 1.0]
    assert rows.series(2, Q) == [None, 3.0]
    # 2 and 4: 3, with 12.706 x sqrt(2) / sqrt(2) around it.
    cell = rows.cell(0, Q)
    assert isinstance(cell, Estimate)
    assert (cell.mean, cell.half_width, cell.n) == (3.0, pytest.approx(12.7062047), 2)
    assert rows.cell(0, U) == Estimate(0.5, 0.0, 2)
    assert rows.cell(1, U) is None
    assert rows.cell(2, Q) == UNDEFINED
    assert rows.cell(2, U) == Estimate(1.0, 0.0, 2)
    assert rows.cell(3, Q) is None
    assert (rows.undefined_at(2, Q), rows.undefined_at(2, U), rows.undefined_at(3, Q)) == (UNDEFINED, None, None)


def test_failures_of_rows(rows: Rows) -> None:
    assert rows.failed == 1
    # The first of the seeds that failed is named, whichever came first.
    assert list(rows.failures) == [(3, Failure(1, "Panic: first"))]
    assert rows.failure(3) == Failure(1, "Panic: first")
    assert rows.failure(0) is None
    assert failure_lines(rows) == [f"Failed at {K} = 6 packets, flows.dctcp.count = 2, seed 1: Panic: first"]
    plan = plan_of(axis(K, [f"{k} packets" for k in range(1, 9)]))
    many = Rows(plan, range(8), check(plan))
    for place in range(7):
        many.put(place, 0, failed("no"))
    assert len(failure_lines(many)) == 6
    assert failure_lines(many)[-1] == "2 more points failed"
    assert failure_lines(many, most=7)[-1].startswith(f"Failed at {K} = 7 packets")
    assert len(failure_lines(many, most=7)) == 7


def test_what_runs_say_and_whether_their_seeds_differ(rows: Rows) -> None:
    # Early was said at point 1 with the second seed, late there with the first, and at point 2.
    assert rows.notices == [("late in a run", 1, 2), ("early in a run", 1, 1)]
    assert rows.identical == [0, 2]
    assert [rows.is_identical(place) for place in range(4)] == [True, False, True, False]
    rows.count(0, 1)
    assert not rows.is_identical(0)
    assert (rows.has(0, 1), rows.has(0, 2), rows.has_all(0, 2), rows.has_all(0, 3)) == (True, False, True, False)
    fresh = Rows(rows.plan, range(4), check(rows.plan))
    assert (fresh.has(0, 0), fresh.has_all(0, 1), fresh.is_identical(0), fresh.identical) == (False, False, False, [])
    assert fresh.series(0, Q, seeds=2) == [None, None]
    fresh.put(0, 1, record(1.0))
    assert (fresh.has(0, 0), fresh.has(0, 1), fresh.has_all(0, 2)) == (False, True, False)


def test_seeds_beyond_those_that_a_point_begins_with() -> None:
    plan = plan_of(axis("seed", [4, 9]), seeds=2)
    made = Rows(plan, range(2), check(plan))
    made.count(1, 4)
    assert made.seeds(1) == [9, 10, 11, 12]
    listed_ones = plan_of(seeds=(7, 3))
    other = Rows(listed_ones, range(4), check(listed_ones))
    assert [other.seed(0, index) for index in range(4)] == [7, 3, 4, 5]


def test_a_shard_has_its_own_points() -> None:
    plan = plan_of(seeds=1)
    part = Rows(plan, [1, 3], check(plan, points=[1, 3]))
    assert [part.name(place) for place in range(2)] == [plan.design.name(1), plan.design.name(3)]
    assert part[1] == plan.design.at(3)


# Tables, frames and JSON.


def test_the_table_of_rows(rows: Rows) -> None:
    table = table_of(rows)
    assert (table.columns, table.words) == (("threshold", "count", "q", "u"), 2)
    assert table.rows == [
        ("5 packets", "1", "3 ± 13", "0.5"),
        ("5 packets", "2", "1", "-"),
        ("6 packets", "1", "undefined", "1"),
        ("6 packets", "2", "failed", "failed"),
    ]
    assert len(table_of(rows, most=3).rows) == 3
    assert omitted(rows) is None
    assert omitted(range(1000)) is None  # type: ignore[arg-type]
    assert str(omitted(range(1001))).startswith("The table shows the first 1,000 of 1,001 points")  # type: ignore[arg-type]
    assert omitted(rows, most=4) is None
    assert omitted(rows, most=3) == "The table shows the first 3 of 4 points; points.csv and sweep.json have all."


def test_the_frames_of_rows(rows: Rows) -> None:
    frame = points_frame(rows)
    assert frame.columns == [K, "flows.dctcp.count", "q", "q_ci95", "u", "u_ci95", "error"]
    assert frame["q"].to_list() == [3.0, 1.0, None, None]
    assert frame["q_ci95"].to_list() == [pytest.approx(12.7062047), 0.0, None, None]
    assert frame["u"].to_list() == [0.5, None, 1.0, None]
    assert frame["error"].to_list() == [None, None, None, "Panic: first"]
    assert frame["flows.dctcp.count"].dtype == pl.Int64
    runs = runs_frame(rows)
    assert runs.columns == [K, "flows.dctcp.count", "seed", "q", "u"]
    assert runs["seed"].to_list() == [1, 2] * 4
    assert runs["flows.dctcp.count"].to_list() == [1, 1, 2, 2] * 2
    assert runs["q"].to_list() == [2.0, 4.0, 1.0, 1.0, None, 3.0, None, None]


def test_the_json_of_rows(rows: Rows) -> None:
    data = json.loads("".join(json_of(rows)))
    assert data["axes"] == {K: ["5 packets", "6 packets"], "flows.dctcp.count": [1, 2]}
    assert data["seeds"] == [1, 2]
    assert data["schema"] == 1
    assert not {"joint", "until", "kernel"} & set(data)
    assert [point["values"] for point in data["points"]] == [rows[place] for place in range(4)]
    assert [point["metrics"]["u"] for point in data["points"]] == [
        {"mean": 0.5, "ci95": 0.0, "n": 2}, None, {"mean": 1.0, "ci95": 0.0, "n": 2}, None,
    ]  # fmt: skip
    assert [point.get("error") for point in data["points"]] == [None] * 3 + [{"seed": 1, "message": "Panic: first"}]
    assert not any("seeds" in point for point in data["points"])


def test_columns_of_pairs_and_of_seeds_that_differ() -> None:
    until = Until.parse("ci(u) < 1", {"u": U})
    together = pairs({K: ["5 packets", "6 packets"], "flows.dctcp.count": [1, 2]})
    plan = plan_of(together, axis("trace.series", ["off", "1 s"]), until=until, seeds=3)
    made = Rows(plan, range(4), check(plan))
    for place in range(4):
        made.count(place, 3 + place)
        for index in range(3 + place):
            made.put(place, index, record(1.0))
    assert table_of(made).columns == ("threshold", "count", "series", "q", "u", "seeds")
    assert [row[-1] for row in table_of(made).rows] == ["3", "4", "5", "6"]
    assert points_frame(made)["seeds"].to_list() == [3, 4, 5, 6]
    assert "error" not in points_frame(made).columns
    assert runs_frame(made)["seed"].to_list() == [*range(1, 4), *range(1, 5), *range(1, 6), *range(1, 7)]
    data = json.loads("".join(json_of(made)))
    assert (data["joint"], data["axes"]) == ([[K, "flows.dctcp.count"]], {"trace.series": ["off", "1 s"]})
    assert [point["seeds"] for point in data["points"]] == [3, 4, 5, 6]
    assert data["until"] == "ci(u) < 1"


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 2.5], [1.0, 2.5]),
        ([True, False], [True, False]),
        (["x", 1], ["x", "1"]),
        ([True, 1], ["true", "1"]),
        ([[1, 2], [3]], ["[1, 2]", "[3]"]),
    ],
)
def test_values_of_different_kinds_are_texts_in_frames(values: list[object], column: list[object]) -> None:
    plan = plan_of(axis("k", values), set={"flows.dctcp.count": 1, "title": "{k}"}, scenario=TINY)
    made = Rows(plan, range(2), SimpleNamespace(warnings=(), seeds_of=lambda _: [1]))  # type: ignore[arg-type]
    assert points_frame(made)["k"].to_list() == column
    for place in range(2):
        made.count(place, 1)
    assert runs_frame(made)["k"].to_list() == column
    assert value_columns({"k": value} for value in values)["k"] == column


# Sweeps whose results are kept.


def a_result(seed: int, **known: float) -> Any:
    summary, data = {"jain": known["a"]}, {"scenario": {"title": "Title"}}
    return SimpleNamespace(seed=seed, values=known, summary=summary, data=data, json=str((seed, known)))


def test_frames_of_kept_results() -> None:
    runs = [[a_result(1, a=1.0, b=math.nan), a_result(2, a=3.0, b=1.0)], [a_result(1, a=5.0, b=2.0)]]

    class Some(Results):
        """Results that look their numbers up."""

        def metric(self, expression: str, **_: Any) -> Estimate | None:
            values = [one.values[expression] for one in self]
            return None if any(map(math.isnan, values)) else Estimate(sum(values) / len(values), 0.5, len(values))

    points = Sweep(
        [Point({"x.k": k, "y.k": "z"}, Some(own)) for k, own in zip((1, 2), runs, strict=True)], warnings=["w"]
    )
    means = points.means(metrics={"first": "a", "second": "b"})
    assert means.columns == ["x.k", "y.k", "first", "first_ci95", "second", "second_ci95"]
    assert means.rows() == [(1, "z", 2.0, 0.5, None, None), (2, "z", 5.0, 0.5, 2.0, 0.5)]
    frame = points.to_polars(metrics={"first": "a", "second": "b"})
    assert frame.rows() == [(1, "z", 1, 1.0, None), (1, "z", 2, 3.0, 1.0), (2, "z", 1, 5.0, 2.0)]
    assert points.to_polars().columns == ["x.k", "y.k", "seed", "jain"]
    assert (len(points), repr(points)) == (2, "<shoal.Sweep of 2 points, 2 seeds each, over x.k, y.k>")
    assert repr(points[0]) == "<shoal.Point x.k = 1, y.k = z: 2 seeds>"
    part = points[1:]
    assert isinstance(part, Sweep)
    assert (len(part), part.warnings, part[0].values) == (1, ("w",), {"x.k": 2, "y.k": "z"})
    assert [name for name, _ in points.named] == ["x.k = 1, y.k = z", "x.k = 2, y.k = z"]
    nothing = Sweep([])
    assert (repr(nothing), nothing.means().is_empty(), nothing._metrics()) == ("<shoal.Sweep of no points>", True, {})
    assert "A sweep of no points" in nothing._repr_html_()
    assert repr(Sweep([Point({}, Some(runs[1]))])) == "<shoal.Sweep of 1 point, 1 seed each, over no key>"


def test_arithmetic_without_a_value_is_told_or_refused() -> None:
    points = Sweep([Point({"k": 1}, Results([a_result(1, a=1.0)]))])
    metrics = {"x": "1 / 0", "y": "1 + 1"}
    with pytest.raises(UndefinedError):
        points.to_polars(metrics=metrics)
    told: list[UndefinedError] = []
    assert points.to_polars(metrics=metrics, undefined=told.append).rows() == [(1, 1, None, 2.0)]
    assert [error.text for error in told] == ["1 / 0"]


@pytest.mark.parametrize(
    ("grid", "rate", "is_warned"),
    [
        ({K: ["5 packets"]}, "10 Gbit/s", True),
        ({K: ["5 packets"]}, "10 Mbit/s", False),
        ({"flows.dctcp.count": [1]}, "10 Gbit/s", False),
    ],
)
def test_thresholds_on_fast_links_come_with_a_warning(grid: dict[str, Any], rate: str, is_warned: bool) -> None:
    fast = TINY.override(
        {"bottleneck.rate": rate, "bottleneck.buffer": "100 packets", "duration": "1 ms", "warmup": "0 s"}
    )
    found = shoal.sweep(fast, grid=grid, workers=1)
    assert [text[:15] for text in found.warnings] == ["Hosts here are "] * is_warned


def test_a_page_of_kept_results() -> None:
    points = shoal.sweep(TINY, grid={K: ["5 packets", "6 packets"]}, seeds=1, workers=1)
    page = points._repr_html_()
    assert "2 points" in page
    assert "1 seed" in page
    assert "confidence interval" not in page
    assert page.count("<tr>") == 3
    two = shoal.sweep(TINY, grid={K: ["5 packets"]}, seeds=2, workers=1)._repr_html_()
    assert "2 seeds, mean ± 95 % confidence interval" in two


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["a.b", "c.d"], ["b", "d"]),
        (["a.b", "c.b"], ["a.b", "c.b"]),
        (["x.a.b", "y.a.b", "a.c"], ["x.a.b", "y.a.b", "c"]),
        (["b", "a.b"], ["b", "a.b"]),
        (["k"], ["k"]),
    ],
)
def test_short_names_tell_keys_apart(keys: list[str], names: list[str]) -> None:
    assert list(short_names(keys).values()) == names


def test_axes_are_lists_of_something() -> None:
    assert refuse_bad_axis("k", (1, 2)) == [1, 2]
    for values in ("12", b"12", {"a": 1}, 5):
        with pytest.raises(UsageError, match="are no list"):
            refuse_bad_axis("k", values)  # type: ignore[arg-type]
    with pytest.raises(UsageError) as caught:
        refuse_bad_axis("k", [])
    assert caught.value.hint == "give at least one"


def test_what_a_sweep_takes_for_what_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_cases(cases: Sequence[Any], **settings: object) -> list[Any]:
        assert settings == {"workers": None, "cache": None, "progress": False}
        assert [(case.seeds, case.metrics) for case in cases] == [([1], ()), ([1], ())]
        raise InterruptedError

    monkeypatch.setattr(kept, "run_cases", run_cases)
    with pytest.raises(InterruptedError):
        shoal.sweep(TINY, grid={K: ["5 packets", "6 packets"]})


def test_a_sweep_records_only_what_its_metrics_need() -> None:
    grid = {K: ["5 packets", "6 packets"]}
    lean = shoal.sweep(TINY, grid=grid, metrics=["jain()"], workers=1, seeds=[3, 5])
    assert [run.scenario.resolved["trace"]["series"] for point in lean for run in point.results] == ["off"] * 4
    assert [run.seed for point in lean for run in point.results] == [3, 5, 3, 5]
    as_it_is = shoal.sweep(TINY, grid=grid, workers=1)
    assert as_it_is[0].results[0].scenario.resolved["trace"]["series"] != "off"
    assert as_it_is[0].results.seeds == [1]
    assert lean.warnings == ()
