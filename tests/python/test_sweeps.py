"""Sweeps of any size: files, pairs, samples, adaptive seeds, the store, failing points, parts."""

from __future__ import annotations

import filecmp
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from conftest import Cli
from tiny_scenario import tiny_scenario

import shoal
from shoal._native import Cancel, Run
from shoal.report.sweep_views import front
from shoal.runs import execute, record, store
from shoal.runs.design import Design, axis, pairs
from shoal.runs.execute import run_plan
from shoal.runs.plan import Plan, check
from shoal.runs.recipe import Recipe
from shoal.runs.record import Record, Said, Undefined
from shoal.runs.rows import Rows
from shoal.runs.until import Until
from shoal.stats import estimate
from shoal.sweeps.sampling import Method, sample
from shoal.sweeps.values import Interval
from shoal.template import Template
from shoal.units import common_unit

# What one run takes is a few milliseconds.
TINY = tiny_scenario("2 s")
K = "bottleneck.aqm.threshold"
SWEEP = f"""\
scenario = "tiny.toml"
seeds = 2
[axes]
"{K}" = ["5 packets", "10 packets", "20 packets"]
"flows.dctcp.count" = [1, 2]
[metrics]
u = "utilisation()"
q = "queue_packets()"
"""


def plan_of(values: list[str], **more: object) -> Plan:
    design = Design((axis(K, values),))
    template = Template(shoal.Scenario.from_toml(TINY), design.keys, {})
    return Plan(template, design, {"q": "queue_packets()"}, **more)  # type: ignore[arg-type]


def numbers(rows: Rows) -> list[list[float | None]]:
    return [rows.series(place, "queue_packets()") for place in range(len(rows))]


@pytest.fixture
def tiny(folder: Path) -> Path:
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return folder


def same_files(first: Path, second: Path) -> list[str]:
    """Names of results that differ; those that hold the command and its folder do by nature."""
    names = {str(path.relative_to(one)) for one in (first, second) for path in one.rglob("*") if path.is_file()}
    names -= {"command.txt", "report.html"}
    assert "sweep.json" in names
    return filecmp.cmpfiles(first, second, sorted(names), shallow=False)[1] + sorted(
        name for name in names if not ((first / name).exists() and (second / name).exists())
    )


# Points.


def test_a_design_is_the_product_of_its_factors() -> None:
    design = Design((axis("a", [1, 2]), pairs({"b": ["x", "y", "z"], "c": [7, 8, 9]}), axis("d", [True])))
    expected = [{"a": a, "b": b, "c": c, "d": True} for a in (1, 2) for b, c in zip("xyz", (7, 8, 9), strict=True)]
    assert [design.at(number) for number in range(len(design))] == expected
    assert design.name(5) == "a = 2, b = z, c = 9, d = true"


def test_pairs_have_as_many_values_each() -> None:
    with pytest.raises(shoal.UsageError, match="as many values each: `a` has 2, `b` has 1"):
        pairs({"a": [1, 2], "b": [3]})
    with pytest.raises(shoal.UsageError, match="`a` is an axis twice"):
        Design((axis("a", [1]), pairs({"a": [1], "b": [2]})))


@pytest.mark.parametrize(
    ("text", "part", "value"),
    [
        ("1:3 ms", 0.25, "1.5 ms"),
        # The middle of equal ratios is the root of the product.
        ("1:100:log", 0.5, 10),
        ("0:1", 0.125, 0.125),
        # Of four whole numbers each has a quarter of the range from 0.5 to 4.5.
        ("1:4:whole", 0.24, 1),
        ("1:4:whole", 0.26, 2),
        ("1:4:whole", 1.0, 4),
        ("10:20:log packets", 0.0, "10 packets"),
    ],
)
def test_ranges_of_samples(text: str, part: float, value: object) -> None:
    interval = Interval.parse(text)
    assert interval is not None
    assert interval.at(part) == value


@pytest.mark.parametrize("text", ["3:1", "0:9:log", "1:2.5:whole", "1:9:lgo", "1:9:4"])
def test_wrong_ranges_of_samples(text: str) -> None:
    with pytest.raises(shoal.UsageError, match=text):
        Interval.parse(text)


def test_sobol_points_are_balanced() -> None:
    pytest.importorskip("scipy")
    axes = {"a": Interval(0, 1, False, False, ""), "b": Interval(0, 1, False, False, "")}
    for seed in (1, 2, 77):
        rows = sample(Method.SOBOL, 64, seed, axes).rows
        # 64 = 2^6 points of a (0, 6, 2)-net: one in each box of 1/8 x 1/8, as of 1/64 x 1 and 1 x 1/64.
        for across, down in ((8, 8), (64, 1), (1, 64), (16, 4)):
            boxes = {(int(float(str(a)) * across), int(float(str(b)) * down)) for a, b in rows}
            assert len(boxes) == 64, seed
    assert sample(Method.SOBOL, 8, 1, axes) != sample(Method.SOBOL, 8, 2, axes)


def test_random_points_are_those_of_the_seed() -> None:
    axes = {"a": Interval(0, 1, False, False, ""), "kind": ["x", "y"]}
    # random.Random(1).random() begins with these, which Python promises to keep.
    assert sample(Method.RANDOM, 1, 1, axes).rows == [(0.134364, "y")]


# Seeds.


def test_goals() -> None:
    until = Until.parse("ci(q) < 0.5 and ci(jain()) <= 2%", {"q": "queue_packets()"})
    assert [(goal.metric, goal.bound, goal.is_relative) for goal in until.goals] == [
        ("queue_packets()", 0.5, False),
        ("jain()", 0.02, True),
    ]
    # Of 1, 2, 3 the mean is 2, and the half-width t(0.975, 2) s / sqrt(3) = 4.303 x 1 / 1.732 = 2.484.
    values = {"queue_packets()": [1.0, 2.0, 3.0], "jain()": [1.0, 1.0, 1.0]}
    assert not until.is_met(values)
    assert Until.parse("ci(queue_packets()) < 2.49", {}).is_met(values)
    assert not Until.parse("ci(queue_packets()) < 2.48", {}).is_met(values)
    assert Until.parse("ci(queue_packets()) < 125%", {}).is_met(values)
    # (2.484 / 1.242)^2 = 4 times as many, but at most as many again at once.
    assert Until.parse("ci(queue_packets()) < 1.242", {}).missing(values) == 3
    assert until.is_met({"queue_packets()": [None, 1.0, 9.0], "jain()": [1.0, 1.0, 1.0]})  # more seeds tell nothing


@pytest.mark.parametrize(
    "text", ["", "utilisation() < 1", "ci(utilisation()) > 1", "ci(utilisation()) < 0", "ci(u)<1 or 2"]
)
def test_wrong_goals(text: str) -> None:
    with pytest.raises(shoal.UsageError, match="narrow enough"):
        Until.parse(text, {})


def test_seeds_until_the_interval_is_narrow() -> None:
    until = Until.parse("ci(q) < 0.4", {"q": "queue_packets()"})
    plan = plan_of(["5 packets", "10 packets", "20 packets"], seeds=3, until=until, max_seeds=40)
    rows = run_plan(plan, workers=1)
    counts = [len(rows.seeds(place)) for place in range(3)]
    assert len(set(counts)) > 1
    for place, values in enumerate(numbers(rows)):
        known = [value for value in values if value is not None]
        widths = [estimate(known[:count]) for count in range(3, len(known) + 1)]
        half = [width.half_width for width in widths if width is not None and width.half_width is not None]
        # The first number of seeds at which it is narrow enough, or all that are allowed.
        assert all(width >= 0.4 for width in half[:-1]), place
        assert half[-1] < 0.4 or counts[place] == 40, place
    again = run_plan(plan, workers=3)
    assert numbers(again) == numbers(rows)


# The store.


def some_record(value: float) -> Record:
    said = (Said("starved", ("reno",), "reno is starved"),)
    return Record({"a": value, "b": None, "c": Undefined("1/x", "division by zero")}, said, 2**63 + 5, b"body")


EVERYTHING = [bytes([number]) * 32 for number in range(3)]


def read_all(folder: Path) -> list[Record]:
    with closing(store.Store(folder)) as opened:
        return [kept for _, _, kept in opened.read(EVERYTHING)]


def filled(folder: Path) -> Path:
    """A store with three records, and the file that holds them."""
    with closing(store.Store(folder)) as one:
        for number, digest in enumerate(EVERYTHING):
            one.put([(digest, number, some_record(number / 3))])
    (path,) = folder.glob("*.sqlite")
    return path


def test_records_are_read_again(tmp_path: Path) -> None:
    with closing(store.Store(tmp_path)) as first, closing(store.Store(tmp_path)) as second:
        for number, one in enumerate((first, second, first)):
            one.put([(EVERYTHING[number], 2**64 - 1 - number, some_record(number / 3))])
        found = {digest[0]: (seed, kept) for digest, seed, kept in second.read([EVERYTHING[0], EVERYTHING[2]])}
        assert found == {0: (2**64 - 1, some_record(0.0)), 2: (2**64 - 3, some_record(2 / 3))}
        assert [seed for _, seed, _ in first.read(EVERYTHING, seeds=[2**64 - 2])] == [2**64 - 2]
    assert [path.suffix for path in tmp_path.iterdir()] == [".sqlite"]  # a file a host


def test_what_is_known_of_a_run_stays_known(tmp_path: Path) -> None:
    # Two callers ask for different metrics, one for tables: none of them makes the other run again.
    with closing(store.Store(tmp_path)) as one:
        one.put([(EVERYTHING[0], 1, Record({"a": 1.0}, (), 7, b"body", tables=b"tables"))])
        one.put([(EVERYTHING[0], 1, Record({"b": 2.0}, (), 7, b"body"))])
        ((_, _, kept),) = one.read([EVERYTHING[0]], tables=True)
        assert kept == Record({"a": 1.0, "b": 2.0}, (), 7, b"body", tables=b"tables")
        ((_, _, lean),) = one.read([EVERYTHING[0]])
        assert lean.tables == b""


def test_files_of_other_hosts_are_read_and_not_written(tmp_path: Path) -> None:
    other = filled(tmp_path).rename(tmp_path / "other-host.sqlite")
    before = other.read_bytes()
    with closing(store.Store(tmp_path)) as one:
        one.put([(EVERYTHING[0], 9, some_record(9.0))])
    assert sorted(record.values["a"] for record in read_all(tmp_path)) == [0.0, 1 / 3, 2 / 3, 9.0]
    assert other.read_bytes() == before


def test_a_file_that_was_cut_is_never_read_wrong(tmp_path: Path) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()
    right = [some_record(number / 3) for number in range(3)]
    for length in range(0, len(whole), 512):
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(whole[:length])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", shoal.errors.StoreWarning)
            assert [record for record in read_all(tmp_path) if record not in right] == [], length
            with closing(store.Store(tmp_path)) as one:
                one.put([(EVERYTHING[0], 0, right[0])])
        assert right[0] in read_all(tmp_path), length


def test_what_is_damaged_is_said_and_left_out(tmp_path: Path) -> None:
    path = filled(tmp_path)
    content = path.read_bytes()
    # The body of the second record, which an SQLite file does not check.
    place = [match.start() for match in re.finditer(b"body", content)][-2]
    path.write_bytes(content[:place] + b"B" + content[place + 1 :])
    with pytest.warns(shoal.errors.StoreWarning, match="1 runs do not agree with their checksums"):
        assert read_all(tmp_path) == [some_record(0), some_record(2 / 3)]
    # What is no database goes out of the way, and another one is begun.
    path.write_bytes(b"\0" * 4096)
    with pytest.warns(shoal.errors.StoreWarning, match="is damaged .* and now"):
        assert read_all(tmp_path) == []
    with closing(store.Store(tmp_path)) as one:
        one.put([(EVERYTHING[1], 1, some_record(1.0))])
    assert read_all(tmp_path) == [some_record(1.0)]
    assert path.with_suffix(".damaged").read_bytes() == b"\0" * 4096


def test_other_builds_and_seeds_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(["5 packets"], seeds=2)
    ran: list[int] = []
    own = record.perform

    def counted(recipe: Recipe, scenario: shoal.Scenario, seed: int, cancel: Cancel) -> Run | Record:
        ran.append(seed)
        return own(recipe, scenario, seed, cancel)

    monkeypatch.setattr(execute, "perform", counted)
    first = numbers(run_plan(plan, cache=tmp_path))
    assert (numbers(run_plan(plan, cache=tmp_path)), sorted(ran)) == (first, [1, 2])
    run_plan(plan_of(["5 packets"], seeds=3), cache=tmp_path)
    assert sorted(ran) == [1, 2, 3]
    monkeypatch.setattr(store, "simulator_hash", lambda: "f" * 64)
    run_plan(plan, cache=tmp_path)
    assert sorted(ran) == [1, 1, 2, 2, 3]


def test_another_metric_runs_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(["5 packets", "9 packets"])
    run_plan(plan, cache=tmp_path)
    other = Plan(plan.template, plan.design, {"q": "queue_packets()", "u": "utilisation() * 2"})
    fresh = run_plan(other)
    monkeypatch.setattr(execute, "perform", None)
    kept = run_plan(other, cache=tmp_path)
    assert [kept.cell(p, "utilisation() * 2") for p in range(2)] == [
        fresh.cell(p, "utilisation() * 2") for p in range(2)
    ]


def test_equal_points_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(["15000 B", "10 packets", "5 packets"])  # 10 packets are 15,000 bytes, but not the same text
    design = Design((axis(K, ["5 packets", "9 packets"]), axis("k", [1, 2])))
    template = Template(plan.template.scenario, design.keys, {"title": "{k - k} times"})
    seen: list[int] = []
    own = record.perform
    monkeypatch.setattr(execute, "perform", lambda *given: (seen.append(1), own(*given))[1])
    rows = run_plan(Plan(template, design, {"q": "queue_packets()"}), workers=2)
    assert len(seen) == 2
    found = numbers(rows)
    assert found[0] == found[1] != found[2] == found[3]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a small file system")
def test_a_full_disk_loses_nothing_that_is_finished(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)], check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        plan = plan_of([f"{number} packets" for number in range(5, 45)])
        with pytest.warns(shoal.CacheWarning, match="disk is full"):
            rows = run_plan(plan, cache=place)
        assert numbers(rows) == numbers(run_plan(plan))
        kept = store.contents(place).runs
        assert 2 <= kept < 40
        # What fitted is whole: it is used again.
        digests = check(plan).digests
        with closing(store.Store(store.folder_of_build(place))) as one:
            assert len(list(one.read(digests))) == kept
    finally:
        subprocess.run(["umount", str(place)], check=True)


# Failing points.


def test_points_that_fail_are_told_and_the_others_go_on(
    inside: Cli, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = record.perform

    def broken(recipe: Recipe, scenario: shoal.Scenario, seed: int, cancel: Cancel) -> Run | Record:
        if scenario.resolved["bottleneck"]["aqm"]["threshold"] == "10 packets" and seed == 2:
            return record.failure(MemoryError("too many packets"))
        return own(recipe, scenario, seed, cancel)

    whole = inside("sweep", "sweep.toml", "--fresh", "--json")
    with monkeypatch.context() as changed:
        changed.setattr(execute, "perform", broken)
        done = inside("sweep", "sweep.toml", "--out", "out")
    assert done.code == 7
    assert [line.split()[-2:] for line in done.out.splitlines() if line.startswith("10 packets")] == [
        ["failed"] * 2
    ] * 2
    assert "seed 2: MemoryError: too many packets" in done.err
    assert "error: runs failed at 2 of 6 points; the other numbers are right\n" in done.err
    data = json.loads((tiny / "out" / "sweep.json").read_text(encoding="utf-8"))
    right = json.loads(whole.out)
    assert [point == other for point, other in zip(data["points"], right["points"], strict=True)] == [
        *(True, True, False, False, True, True)
    ]
    assert data["points"][2]["error"] == {"seed": 2, "message": "MemoryError: too many packets"}
    assert pl.read_csv(tiny / "out" / "points.csv")["error"].null_count() == 4
    # Errors are not kept: the same command runs these points again, and only these.
    again = inside("sweep", "sweep.toml", "--json")
    assert (again.code, again.out) == (0, whole.out)


def test_a_panic_is_a_failed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        pass

    class Native:
        def run(self, **_: object) -> None:
            raise Panic("index out of bounds")

    scenario = shoal.Scenario.from_toml(TINY)
    scenario.__dict__["native"] = Native()
    found = record.run(plan_of(["5 packets"]).recipe, scenario, 1, Cancel())
    assert found.error == "Panic: index out of bounds"


def test_a_point_that_is_wrong_is_found_before_anything_runs(inside: Cli, tiny: Path) -> None:
    done = inside("sweep", "tiny.toml", "--axis", f"{K}=5 packets,6 packets,7 packts", "--out", "out")
    assert done.code == 3
    assert "unknown unit" in done.err or "packts" in done.err
    assert f"note: at point 3 of 3: {K} = 7 packts" in done.err
    assert not (tiny / "cache").exists()
    assert not (tiny / "out").exists()


# Files, shards, and what is told before a sweep runs.


def test_a_file_and_options_are_the_same(inside: Cli, tiny: Path) -> None:
    options = ["--axis", f"{K}=5 packets,10 packets,20 packets", "--axis", "flows.dctcp.count=1,2", "--seeds", "2"]
    metrics = ["--metric", "u=utilisation()", "--metric", "q=queue_packets()"]
    first = inside("sweep", "tiny.toml", *options, *metrics, "--json")
    second = inside("sweep", "sweep.toml", "--json", "--fresh", "--workers", "1")
    assert (first.code, second.out) == (0, first.out)


def test_all_that_a_file_can_say(inside: Cli, tiny: Path) -> None:
    (tiny / "all.toml").write_text(
        """\
scenario = "tiny.toml"
until = "ci(u) < 50%"
max-seeds = 4
[set]
bottleneck.aqm.threshold = "{K} packets"
[axes]
K = "5:20:log:2"
[[pairs]]
bottleneck.rate = ["10 Mbit/s", "20 Mbit/s"]
flows.dctcp.rtt = ["25 ms", "12.5 ms"]
[sample]
method = "random"
points = 2
axes = { "bottleneck.buffer" = "50:100:whole packets" }
[metrics]
u = "utilisation()"
""",
        encoding="utf-8",
    )
    done = inside("sweep", "all.toml", "--json")
    assert done.code == 0, done.err
    data = json.loads(done.out)
    values = [tuple(point["values"].values()) for point in data["points"]]
    assert len(values) == 8
    assert {value[:3] for value in values} == set(
        itertools.chain(*[[(k, "10 Mbit/s", "25 ms"), (k, "20 Mbit/s", "12.5 ms")] for k in (5, 20)])
    )
    assert data["until"] == "ci(u) < 50%"
    assert all(point["seeds"] == 3 for point in data["points"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds = 2", "seed = 2"), "sweep.toml: unknown key `seed`"),
        (("seeds = 2", "seeds = 0"), "`seeds` is 0, expected how many or a list of seeds"),
        (('scenario = "tiny.toml"', 'scenario = "tinny.toml"'), "there is no file `tinny.toml`"),
        (("[metrics]", "[metrcs]"), "unknown key `metrcs`"),
        (("queue_packets()", "queue_pckets()"), "there is no function `queue_pckets`"),
        (("= [1, 2]", "= []"), "`flows.dctcp.count` has no values"),
        (("= [1, 2]", "= [1, 1]"), "the axis `flows.dctcp.count` has a value twice"),
        (("seeds = 2", "max-seeds = 2"), "`max-seeds` bounds what `until` asks for"),
        (("seeds = 2", 'seeds = 2\nuntil = "ci(u) < 1"'), "an interval of 2 seeds"),
    ],
)
def test_wrong_files(inside: Cli, tiny: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in SWEEP
    (tiny / "sweep.toml").write_text(SWEEP.replace(*change), encoding="utf-8")
    done = inside("sweep", "sweep.toml", "--out", "out")
    assert done.code in (2, 4)
    assert message in done.err
    assert "hint: " in done.err
    assert not (tiny / "out").exists()


def test_parts_are_merged_to_the_bytes_of_one_run(inside: Cli, tiny: Path) -> None:
    assert inside("sweep", "sweep.toml", "--out", "whole", "--fresh").code == 0
    for part in (1, 2, 3, 4):
        done = inside("sweep", "sweep.toml", "--shard", f"{part}/4", "--out", f"part-{part}", "--fresh")
        assert (done.code, done.out) == (0, ""), done.err
    parts = [f"part-{part}" for part in (3, 1, 4, 2)]
    merged = inside("merge", *parts, "--out", "merged")
    assert (merged.code, merged.out) == (0, inside("sweep", "sweep.toml").out)
    assert same_files(tiny / "whole", tiny / "merged") == []
    # The plan that stands beside the results makes them again, without any other file.
    (tiny / "tiny.toml").unlink()
    assert inside("sweep", "merged/plan.json", "--out", "again", "--fresh").code == 0
    assert [
        name
        for name in same_files(tiny / "whole", tiny / "again")
        if name not in ("again.json", "source.toml", "sweep.toml")
    ] == []


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["part-1"], 2, "part 2 of 2 is missing"),
        (["part-1", "part-1b"], 2, "are both part 1"),
        (["part-1", "other"], 2, "is a part of another sweep"),
        (["part-1", "build"], 2, "was run by another build of shoal"),
        (["part-1", "torn"], 4, "it does not agree with its checksum"),
        (["part-1", "."], 4, "is no part of a sweep"),
    ],
)
def test_parts_that_do_not_fit(inside: Cli, tiny: Path, given: list[str], code: int, message: str) -> None:
    import shutil

    for part in (1, 2):
        assert inside("sweep", "sweep.toml", "--shard", f"{part}/2", "--out", f"part-{part}").code == 0
    shutil.copytree(tiny / "part-1", tiny / "part-1b")
    for name in ("build", "torn"):
        shutil.copytree(tiny / "part-2", tiny / name)
    about = json.loads((tiny / "build" / "part.json").read_text())
    (tiny / "build" / "part.json").write_text(json.dumps(about | {"simulator": "f" * 64}))
    records = tiny / "torn" / "records.sqlite"
    records.write_bytes(records.read_bytes()[:-3])
    (tiny / "tiny.toml").write_text(TINY.replace("2 s", "3 s"), encoding="utf-8")
    assert inside("sweep", "sweep.toml", "--shard", "2/2", "--out", "other").code == 0
    done = inside("merge", *given, "--out", "merged")
    assert done.code == code
    assert message in done.err
    assert not (tiny / "merged").exists()


def test_a_dry_run_counts_and_estimates(inside: Cli, tiny: Path) -> None:
    done = inside("sweep", "sweep.toml", "--dry-run")
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    # Five runs were timed, and kept.
    assert (lines["Points"], lines["Runs"], lines["Finished"]) == ("6", "12", "5")
    assert "an estimate from 5 timed runs" in lines["CPU"]
    assert inside("sweep", "sweep.toml").code == 0
    done = inside("sweep", "sweep.toml", "--dry-run")
    assert [line.split()[-1] for line in done.out.splitlines()] == ["6", "12", "12"]


def test_a_killed_sweep_goes_on(tiny: Path, environment: dict[str, str], inside: Cli) -> None:
    axis_ = f"{K}=" + ",".join(f"{number} packets" for number in range(2, 42))
    command = ["sweep", "tiny.toml", "--axis", axis_, "--set", "duration=200 s", "--workers", "2"]
    with subprocess.Popen([sys.executable, "-m", "shoal", *command], cwd=tiny, env=environment) as process:
        deadline = time.monotonic() + 60
        while store.contents(tiny / "cache").runs < 3 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = store.contents(tiny / "cache").runs
    assert 3 <= before < 40
    done = inside(*command, "--json")
    assert done.code == 0
    assert store.contents(tiny / "cache").runs == 40
    assert inside(*command, "--json", "--fresh").out == done.out


def test_two_sweeps_share_a_store(tiny: Path, environment: dict[str, str], inside: Cli) -> None:
    command = [sys.executable, "-m", "shoal", "sweep", "sweep.toml", "--json"]
    both = [subprocess.Popen(command, cwd=tiny, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    found = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert found[0] == found[1] == inside("sweep", "sweep.toml", "--json").out


# Views.


def test_the_front() -> None:
    points = [(1.0, 1.0), (2.0, 3.0), (2.0, 2.0), (3.0, 3.0), (4.0, 5.0), (0.5, 0.0)]
    # (2, 2) and (3, 3) have less, or more than (2, 3) for nothing.
    assert front(points) == [5, 0, 1, 4]


def test_views_of_a_sweep(inside: Cli, tiny: Path) -> None:
    grid = ["--axis", f"{K}=5 packets,10 packets,20 packets", "--axis", "flows.dctcp.rtt=10 ms,20 ms,40 ms"]
    metrics = ["--metric", "u=utilisation()", "--metric", "d=delay_ms('all', 'p99')"]
    assert inside("sweep", "tiny.toml", *grid, *metrics, "--seeds", "2", "--out", "grid").code == 0
    names = {path.stem for path in (tiny / "grid" / "figures").iterdir()}
    assert names == {"sweep", "sweep-heat", "sweep-pareto"}
    heat = pl.read_csv(tiny / "grid" / "figures" / "sweep-heat.csv").filter(pl.col("metric") == "u")
    points = pl.read_csv(tiny / "grid" / "points.csv")
    assert sorted(heat["mean"]) == pytest.approx(sorted(points["u"]))
    choice = ["--axis", f"{K}=5 packets,10 packets,20 packets", "--axis", "flows.dctcp.cc=dctcp,cubic"]
    assert inside("sweep", "tiny.toml", *choice, *metrics, "--seeds", "3", "--out", "choice").code == 0
    ratios = pl.read_csv(tiny / "choice" / "figures" / "sweep-ratios.csv").filter(pl.col("metric") == "u")
    runs = pl.read_csv(tiny / "choice" / "runs.csv").filter(pl.col(K) == "5 packets")
    first, second = (runs.filter(pl.col("flows.dctcp.cc") == name)["u"].to_list() for name in ("dctcp", "cubic"))
    # The axis says what is drawn, and not a metric with its unit.
    svg = (tiny / "choice" / "figures" / "sweep-ratios.svg").read_text(encoding="utf-8")
    assert svg.count("over that at cc = dctcp") == 2
    # A ratio a seed, then the mean.
    assert ratios["mean"][0] == pytest.approx(sum(b / a for a, b in zip(first, second, strict=True)) / 3)


def test_axes_in_units_that_compare_are_ordered_by_value(inside: Cli, tiny: Path) -> None:
    grid = [
        "--axis",
        "flows.dctcp.rtt=0.04 s,20 ms,10000 us",
        "--axis",
        "bottleneck.rate=0.03 Gbit/s,10 Mbit/s,20000 kbit/s",
    ]
    assert inside("sweep", "tiny.toml", *grid, "--metric", "u=utilisation()", "--out", "grid").code == 0
    heat = pl.read_csv(tiny / "grid" / "figures" / "sweep-heat.csv")
    assert heat["x"].unique().to_list() == [10_000.0, 20_000.0, 40_000.0]
    assert heat["y"].unique().to_list() == [10_000.0, 20_000.0, 30_000.0]
    svg = (tiny / "grid" / "figures" / "sweep-heat.svg").read_text(encoding="utf-8")
    assert "rtt [us]" in svg
    assert "rate [kbit/s]" in svg
    points = pl.read_csv(tiny / "grid" / "points.csv")
    slow = points.filter((pl.col("flows.dctcp.rtt") == "0.04 s") & (pl.col("bottleneck.rate") == "10 Mbit/s"))
    assert heat.filter((pl.col("x") == 40_000) & (pl.col("y") == 10_000))["mean"].to_list() == slow["u"].to_list()


@pytest.mark.parametrize(
    ("units", "common"),
    [
        ({"s", "ms"}, ("ms", {"ms": 1, "s": 1000})),
        ({"Mbit/s", "kbit/s"}, ("kbit/s", {"kbit/s": 1, "Mbit/s": 1000})),
        ({"packet", "packets"}, ("packets", {"packet": 1, "packets": 1})),
        ({"ms", "packets"}, None),
        ({"B", "BDP"}, None),
        ({"", "ms"}, None),
        (set(), None),
    ],
)
def test_units_that_compare(units: set[str], common: tuple[str, dict[str, int]] | None) -> None:
    assert common_unit(units) == common


def test_units_of_scenarios_are_those_of_the_scenario_room() -> None:
    text = (Path(__file__).parents[2] / "crates/lab/scenario/src/quantity/unit.rs").read_text(encoding="utf-8")
    rows = re.findall(r'\w+ = "([^"]+)", (\w+), ([0-9_]+);', text)
    assert len(rows) > 15
    for name, dimension, base in rows:
        for other, other_dimension, other_base in rows:
            common = common_unit({name, other})
            assert (common is not None) == (dimension == other_dimension), (name, other)
            if common is not None:
                assert common[1][name] / common[1][other] == Fraction(
                    int(base.replace("_", "")), int(other_base.replace("_", ""))
                ), (name, other)


def test_points_at_one_place_make_no_map(inside: Cli, tiny: Path) -> None:
    grid = ["--axis", f"{K}=5 packets,10 packets,20 packets", "--axis", "flows.dctcp.rtt=10 ms,20 ms,0.02 s"]
    assert inside("sweep", "tiny.toml", *grid, "--metric", "u=utilisation()", "--out", "grid").code == 0
    assert "sweep-heat" not in {path.stem for path in (tiny / "grid" / "figures").iterdir()}


def test_cells_of_a_map_lead_to_their_scenarios(inside: Cli, tiny: Path) -> None:
    grid = ["--axis", f"{K}=5 packets,10 packets,20 packets", "--axis", "flows.dctcp.rtt=10 ms,20 ms,40 ms"]
    assert inside("sweep", "tiny.toml", *grid, "--metric", "u=utilisation()", "--out", "grid").code == 0
    out = tiny / "grid"
    names = [f"points/{number}.toml" for number in range(1, 10)]
    for file, prefix in (("report.html", ""), ("figures/sweep-heat.svg", "../")):
        links = re.findall(r'<a xlink:href="([^"]*)"', (out / file).read_text(encoding="utf-8"))
        assert sorted(links) == [prefix + name for name in names], file
    points = pl.read_csv(out / "points.csv")
    for number, name in enumerate(names):
        result = shoal.run(shoal.Scenario.from_file(out / name))
        assert result.bottlenecks[0]["utilisation"] == pytest.approx(points["u"][number], rel=1e-12), name


@pytest.mark.parametrize(
    ("options", "what", "hint"),
    [
        (["--pair", "K=1,2"], "says that itself: --pair", "--axis, --set, --metric, --seeds"),
        (["--set", f"{K}=7 packets"], f"the axis `{K}`", f"--axis {K}='7 packets'"),
        (["--set", "flows.dctcp.rtt=1 ms"], "the axis `flows.*.rtt`", "--axis flows.*.rtt=..."),
    ],
)
def test_what_options_cannot_change_of_a_sweep_file(
    inside: Cli, tiny: Path, options: list[str], what: str, hint: str
) -> None:
    axes = f'"{K}" = ["5 packets", "10 packets"]\n"flows.*.rtt" = ["10 ms"]\n'
    (tiny / "file.toml").write_text(f'scenario = "tiny.toml"\n[axes]\n{axes}', encoding="utf-8")
    done = inside("sweep", "file.toml", *options)
    assert done.code == 2
    assert what in done.err
    assert hint in done.err


def test_options_change_a_sweep_file_for_one_command(inside: Cli, tiny: Path) -> None:
    text = f'scenario = "tiny.toml"\nseeds = 2\n[set]\nduration = "3 s"\n[axes]\n{K} = ["5 packets", "10 packets"]\n'
    (tiny / "file.toml").write_text(text, encoding="utf-8")
    changed = ["--axis", f"{K}=5 packets,20 packets", "--axis", "flows.dctcp.count=1,2", "--set", "duration=2 s"]
    metric = ["--metric", "u=utilisation()"]
    of_file = inside("sweep", "file.toml", *changed, *metric, "--seeds", "1", "--json")
    of_options = inside("sweep", "tiny.toml", *changed, *metric, "--seeds", "1", "--json")
    assert of_file.code == 0
    assert json.loads(of_file.out)["points"] == json.loads(of_options.out)["points"]
    until = inside(
        "sweep", "file.toml", *metric, "--until", "ci(u) < 2%", "--seeds", "3", "--max-seeds", "4", "--dry-run"
    )
    assert "as --until decides" in until.out
    assert (tiny / "file.toml").read_text(encoding="utf-8") == text


def test_a_ready_made_sweep_has_a_name(inside: Cli) -> None:
    done = inside("sweep", "safety-map", "--dry-run")
    assert (done.code, done.out.split()[:2]) == (0, ["Points", "300"])
    # Options change it for one command.
    few = [
        "--axis",
        "bottleneck.rate=4 Mbit/s",
        "--axis",
        "flows.*.rtt=10 ms",
        "--set",
        "duration=1 s",
        "--set",
        "warmup=0 s",
    ]
    done = inside("sweep", "safety-map", *few, "--seeds", "1", "--metric", "u=utilisation()", "--json")
    assert done.code == 0
    content = json.loads(done.out)
    assert (len(content["points"]), content["seeds"], list(content["metrics"])) == (12, [1], ["u"])
    assert content["scenario"]["duration"] == "1 s"
    assert content["axes"]["bottleneck.rate"] == ["4 Mbit/s"]
    done = inside("sweep", "safety-mop")
    assert done.code == 4
    assert "did you mean `safety-map`?" in done.err


def test_a_map_of_ratios_takes_a_flow_that_sends_nothing(inside: Cli, tiny: Path) -> None:
    short = ["--set", "duration=2 s", "--set", "warmup=1 s", "--set", "flows.classic.start=0 s"]
    grid = ["--axis", "bottleneck.rate=4:20:3 Mbit/s", "--axis", "flows.scalable.start=0 s,1 s,1.9999 s"]
    done = inside("sweep", "l4s", *short, *grid, "--metric", "rate_ratio('scalable', 'classic')", "--out", "map")
    assert done.code == 0, done.err
    means = pl.read_csv(tiny / "map" / "figures" / "sweep-heat.csv")["mean"].to_list()
    assert 0.0 in means
    assert max(means) > 0.0


def test_a_map_says_what_it_leaves_out_and_how_to_repeat_it(inside: Cli, tiny: Path) -> None:
    grid = ["--axis", f"{K}=5 packets,10 packets,20 packets", "--axis", "flows.dctcp.rtt=10 ms,20 ms,40 ms"]
    groups = ["--axis", "title=a,b,c,d,e,f,g,h,i,j,k,l,m"]
    metrics = ["--metric", "u=utilisation()", "--metric", "j=jain()"]
    assert inside("sweep", "tiny.toml", *grid, *groups, *metrics, "--seeds", "2", "--out", "map").code == 0
    page = (tiny / "map" / "report.html").read_text(encoding="utf-8")
    for words in ("Not shown: j.", "Not shown: the last 1 combination of", "shoal run points/NUMBER.toml --seeds 2"):
        assert words in page, words


def test_a_sweep_is_no_scenario(inside: Cli, tiny: Path) -> None:
    for command in ("run", "check"):
        done = inside(command, "safety-map")
        assert (done.code, "hint: shoal sweep safety-map" in done.err) == (4, True), done.err
        done = inside(command, "sweep.toml")
        assert (done.code, "hint: shoal sweep sweep.toml" in done.err) == (2, True), done.err
    # A folder of results does not hide a ready-made scenario.
    (tiny / "l4s").mkdir()
    assert inside("check", "l4s").code == 0
