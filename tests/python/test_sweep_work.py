"""What is left to do of a sweep, its records, and clusters: runs, databases and schedulers are made by hand."""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_scenario import tiny_scenario

import shoal
from shoal._native import Cancel
from shoal.errors import ClusterError, OutputError, UsageError
from shoal.linux.errors import LinuxError
from shoal.runs import cluster, cluster_ssh, host_bursts, store, survey
from shoal.runs import plane as planes
from shoal.runs.cluster import Cluster
from shoal.runs.database import Batches, Database
from shoal.runs.design import Design, axis, pairs
from shoal.runs.execute import run_plan
from shoal.runs.parts import copy_sources, read_parts, write_part
from shoal.runs.plan import Plan, check
from shoal.runs.recipe import Recipe
from shoal.runs.record import Record, Said, Undefined, failure, measure, perform, record_of, run
from shoal.runs.rows import Rows
from shoal.runs.until import Until
from shoal.runs.work import Job, Pace, Work
from shoal.template import Template

K = "bottleneck.aqm.threshold"
Q = "queue_packets()"
TINY = shoal.Scenario.from_toml(tiny_scenario("2 s"), name="somewhere/tiny.toml")


def plan_of(*factors: Any, **more: Any) -> Plan:
    design = Design(factors or (axis(K, ["5 packets", "6 packets", "7 packets"]),))
    template = Template(more.pop("scenario", TINY), design.keys, more.pop("set", {}))
    return Plan(template, design, more.pop("metrics", {"q": Q}), **more)


def work_of(plan: Plan, on_record: Callable[[Any], object] | None = None) -> tuple[Work, Rows, list[bytes]]:
    checked = check(plan)
    rows = Rows(plan, range(len(plan.design)), checked)
    return Work(plan, rows, checked, on_record), rows, list(checked.digests)


def record(value: float = 1.0) -> Record:
    return Record({Q: value}, (), 0, b"")


# What is left.


def test_runs_that_are_known_and_missing() -> None:
    plan = plan_of(seeds=2)
    given: list[tuple[int, float | Undefined | None]] = []
    work, rows, digests = work_of(plan, lambda found: given.append((found[1], found[2].values[Q])))
    assert (work.known(), work.missing()) == (0, 6)
    other = b"another scenario"
    # The first is known; seed 3 is none of its, another scenario is none of ours, and what is known twice counts once.
    work.recall(
        [(digests[0], 1, record(3.0)), (digests[0], 3, record()), (other, 1, record()), (digests[0], 1, record(4.0))]
    )
    assert (work.known(), work.missing()) == (1, 5)
    assert rows.series(0, Q, seeds=1) == [3.0]
    assert given == [(1, 3.0)]
    jobs = [work.job(number) for number in range(5)]
    assert [(job.point_index, job.indices, job.seeds) for job in jobs] == [
        (0, (1,), (2,)), (1, (0,), (1,)), (1, (1,), (2,)), (2, (0,), (1,)), (2, (1,), (2,)),
    ]  # fmt: skip
    assert jobs[1].values == {K: "6 packets"}
    with pytest.raises(IndexError):
        work.job(5)


def test_a_record_without_the_metric_is_run_again() -> None:
    work, _, digests = work_of(plan_of())
    # An empty body cannot be measured; a failed run stays one.
    work.recall([(digests[0], 1, Record({}, (), 0, b"")), (digests[1], 1, failure(ValueError("no")))])
    assert (work.known(), work.missing()) == (1, 2)


def test_equal_points_are_run_once() -> None:
    plan = plan_of(axis(K, ["5 packets", "7500 B", "6 packets"]), set={}, seeds=1)
    two = plan_of(pairs({K: ["5 packets", "5 packets", "6 packets"], "k": [1, 2, 1]}), set={"title": "T {1 + 0 * k}"})
    for one, owners in ((plan, None), (two, 2)):
        work, rows, _ = work_of(one)
        if owners is None:
            continue
        assert len(work.owners) == owners
        (block,) = work.blocks(pace(100))
        assert [job.point_index for job in block] == [0, 2]
        found = list(work.take(block, [record(1.0), record(2.0)]))
        assert [(seed, one_record.values[Q]) for _, seed, one_record in found] == [(1, 1.0), (1, 2.0)]
        finished = work.finish()
        assert finished is rows
        assert [rows.series(place, Q) for place in range(3)] == [[1.0], [1.0], [2.0]]
        assert rows.runs == 3


def pace(runs: int) -> Any:
    """A pace that gives so many runs a block."""
    return SimpleNamespace(runs=runs, left=100)


@pytest.mark.parametrize(
    ("size", "blocks"),
    [
        (
            1,
            [
                [(0, (0,))],
                [(0, (1,))],
                [(0, (2,))],
                [(1, (0,))],
                [(1, (1,))],
                [(1, (2,))],
                [(2, (0,))],
                [(2, (1,))],
                [(2, (2,))],
            ],
        ),
        (2, [[(0, (0, 1))], [(0, (2,)), (1, (0,))], [(1, (1, 2))], [(2, (0, 1))], [(2, (2,))]]),
        (4, [[(0, (0, 1, 2)), (1, (0,))], [(1, (1, 2)), (2, (0, 1))], [(2, (2,))]]),
        (9, [[(0, (0, 1, 2)), (1, (0, 1, 2)), (2, (0, 1, 2))]]),
        (50, [[(0, (0, 1, 2)), (1, (0, 1, 2)), (2, (0, 1, 2))]]),
    ],
)
def test_blocks_by_hand(size: int, blocks: list[list[tuple[int, tuple[int, ...]]]]) -> None:
    work, _, _ = work_of(plan_of(seeds=3))
    one = pace(size)
    made = list(work.blocks(one))
    assert [[(job.point_index, job.indices) for job in block] for block in made] == blocks
    assert all(job.seeds == tuple(index + 1 for index in job.indices) for block in made for job in block)
    # Blocks that are full are counted when they have been handed out.
    assert one.left == 100 - size * sum(1 for block in blocks if sum(len(part) for _, part in block) == size)


def test_the_pace_of_blocks() -> None:
    one = Pace(1.0, workers=2, runs=1000)
    assert one.runs == 1
    # Ten runs in 0.5 s: 20 in a second. Then 0.7 x 0.05 + 0.3 x 0.15 = 0.08 s each: 12.
    one.took(10, 0.5)
    assert one.runs == 20
    one.took(2, 0.3)
    assert one.runs == 12
    # At the end an eighth of what is left, but one at least.
    one.left = 40
    assert one.runs == 5
    one.left = 7
    assert one.runs == 1
    fast = Pace(1.0, workers=1, runs=10**6)
    fast.took(1, 0.0)
    assert fast.runs == 1024
    fast.left = 4 * 1000
    assert fast.runs == 1000
    slow = Pace(1.0, workers=1, runs=1000)
    slow.took(1, 3.0)
    assert slow.runs == 1


def test_seeds_are_added_one_after_the_other() -> None:
    # The half-width of 1, 2, 3 is 2.484; of 1, 2, 3, 2 it is 1.299, below 1.3.
    plan = plan_of(axis(K, ["5 packets", "6 packets"]), until=Until.parse(f"ci({Q}) < 1.3", {}), seeds=3, max_seeds=6)
    work, rows, digests = work_of(plan)
    assert work.missing() == 6
    work.extend()
    assert work.missing() == 6
    values = [1.0, 2.0, 3.0, 2.0, 9.0]
    work.recall([(digests[0], seed, record(values[seed - 1])) for seed in (1, 2, 3)])
    # 3 x (2.484 / 1.3)^2 is 10.95, but only as many again as there are: six, which is the most, too.
    assert work.missing() == 3 + 3
    work.recall([(digests[0], seed, record(values[seed - 1])) for seed in (4, 5)])
    assert (work.missing(), work.known()) == (3, 4)
    # The other one has a failure: it has seeds enough.
    work.recall([(digests[1], seed, failure(ValueError("no"))) for seed in (1, 2, 3)])
    assert work.missing() == 0
    work.finish()
    assert (rows.seeds(0), rows.seeds(1)) == ([1, 2, 3, 4], [1, 2, 3])


def test_seeds_end_at_the_most() -> None:
    plan = plan_of(axis(K, ["5 packets"]), until=Until.parse(f"ci({Q}) < 1e-9", {}), seeds=3, max_seeds=4)
    work, rows, digests = work_of(plan)
    work.recall([(digests[0], seed, record(float(seed))) for seed in (1, 2, 3)])
    assert work.missing() == 1
    # Seeds beyond the most are nobody's.
    work.recall([(digests[0], seed, record(float(seed))) for seed in (4, 5)])
    assert (work.missing(), work.known()) == (0, 4)
    assert work.finish().seeds(0) == [1, 2, 3, 4]
    assert not rows.has(0, 4)


def test_records_of_listed_seeds_are_found_by_their_place() -> None:
    work, rows, digests = work_of(plan_of(seeds=(7, 3)))
    work.recall([(digests[0], seed, record(float(seed))) for seed in (3, 4, 7)])
    assert rows.series(0, Q, seeds=2) == [7.0, 3.0]


# Recipes and records.


def test_a_recipe_is_the_same_after_reading_and_has_no_place() -> None:
    one = Recipe(Template(TINY.override({"duration": "3 s"}), (K,), {}), (Q,))
    again = Recipe.from_json(one.json)
    assert json.loads(one.json)["name"] == "tiny.toml"
    assert (again.json, again.metrics, again.kernel) == (one.json, (Q,), "")
    assert again.at({K: "5 packets"}).resolved == one.at({K: "5 packets"}).resolved
    assert one.at({K: "5 packets"}).resolved["duration"] == "3 s"


@pytest.mark.parametrize(
    ("keys", "values", "series"),
    [
        ((K,), {K: "5 packets"}, "off"),
        (("trace.series",), {"trace.series": "1 s"}, "off"),
        (("flows.dctcp.count",), {"flows.dctcp.count": 2}, "off"),
    ],
)
def test_a_recipe_records_only_what_metrics_need(keys: tuple[str, ...], values: dict[str, object], series: str) -> None:
    one = Recipe(Template(TINY, keys, {}), (Q,))
    assert one.at(values).resolved["trace"]["series"] == series
    needed = Recipe(Template(TINY, keys, {}), ("oscillation_ms()",))
    assert needed.at(values).resolved["trace"]["series"] != "off"
    many = Recipe(Template(TINY, keys, {}), ("cuts_in_step()",))
    flows = int(str(values.get("flows.dctcp.count", 1)))
    assert many.at(values).resolved["trace"]["controller_flows"] == flows
    assert one.sets_a_threshold == (keys == (K,))


def test_records_are_packed_and_read_again() -> None:
    one = Record(
        {Q: 0.1, "a": None, "b": Undefined("1 / 0", "division by zero")},
        (Said("k", ("g", "h"), "t"),),
        2**63,
        b"x",
        None,
    )
    head, body = one.packed()
    assert Record.unpacked(head, body) == one
    assert Record.unpacked(head, body, b"tables").tables == b"tables"
    for damaged in (b"", b"{}", b"[]", b'{"values": 1, "said": [], "fingerprint": 0, "error": null}'):
        with pytest.raises(OutputError, match="a record cannot be read"):
            Record.unpacked(damaged, b"")
    assert failure(ValueError("  why ")).error == "ValueError: why"
    assert failure(ValueError()).error == "ValueError: no message"
    numbers = one.numbers([Q, "a", "b"])
    assert list(numbers) == [Q, "a"]
    assert (numbers[Q], math.isnan(numbers["a"])) == (0.1, True)
    later = Record({Q: 2.0}, (), 1, b"y", tables=b"")
    beside = later.beside(Record({Q: 1.0, "c": 3.0}, (), 0, b"", tables=b"known"))
    assert (beside.values, beside.tables, beside.body) == ({Q: 2.0, "c": 3.0}, b"known", b"y")
    assert Record({}, (), 0, b"", tables=b"own").beside(Record({}, (), 0, b"", tables=b"known")).tables == b"own"


def test_the_record_of_a_run_knows_more_when_it_is_asked() -> None:
    recipe = Recipe(Template(TINY, (K,), {}), (Q, "fct_ms('dctcp')", "1 / (jain() - jain())"))
    scenario = recipe.at({K: "5 packets"})
    one = run(recipe, scenario, 3, Cancel())
    result = shoal.run(scenario, seed=3)
    assert one.values[Q] == result.bottlenecks[0]["queue_packets"]["mean"]
    assert one.values["fct_ms('dctcp')"] is None
    assert one.values["1 / (jain() - jain())"] == Undefined("1 / (jain() - jain())", "division by zero")
    assert (one.error, one.tables) == (None, b"")
    assert one.with_metrics([Q]) is one
    more = one.with_metrics([Q, "jain()"])
    assert more is not None
    assert (more.values["jain()"], more.values[Q]) == (1.0, one.values[Q])
    # A time series is not kept, and nobody knows this group.
    assert one.with_metrics(["oscillation_ms()"]) is None
    assert one.with_metrics(["share('reno')"]) is None
    finished = perform(recipe, scenario, 3, Cancel())
    assert not isinstance(finished, Record)
    assert record_of(finished, 3, [Q], tables=True).tables
    assert measure(recipe, 3, failure(ValueError("x"))).error == "ValueError: x"


def test_runs_that_fail_leave_a_record_and_those_that_are_ended_do_not() -> None:
    def made(error: BaseException) -> Any:
        def fails(*_: object) -> None:
            raise error

        return SimpleNamespace(plane=SimpleNamespace(run=fails), metrics=())

    assert run(made(RuntimeError("broken")), TINY, 1, Cancel()).error == "RuntimeError: broken"
    for error in (KeyboardInterrupt(), SystemExit(), ClusterError("no kernel")):
        with pytest.raises(type(error)):
            perform(made(error), TINY, 1, Cancel())


# Files of records.


def test_records_of_a_database(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    database = Database.writable(path)
    large = 2**64 - 1
    database.put([(b"a", 2, record(2.0)), (b"a", 1, record(1.0)), (b"b", large, record(3.0))])
    assert (database.count(), sorted(database.digests())) == (3, [b"a", b"b"])
    assert [(seed, one.values[Q]) for seed, one in database.read(b"a")] == [(1, 1.0), (2, 2.0)]
    assert [seed for seed, _ in database.read(b"b")] == [large]
    assert [seed for seed, _ in database.read(b"a", seeds=[2, 7])] == [2]
    # What was known stays known.
    database.put([(b"a", 1, Record({"jain()": 0.5}, (), 0, b"", tables=b"t"))])
    ((_, one),) = database.read(b"a", seeds=[1], tables=True)
    assert (one.values, one.tables) == ({Q: 1.0, "jain()": 0.5}, b"t")
    ((_, bare),) = database.read(b"a", seeds=[1])
    assert bare.tables == b""
    database.put([(b"a", 1, record(9.0))])
    assert [each.tables for _, each in database.read(b"a", seeds=[1], tables=True)] == [b"t"]
    # One whose bytes were changed is passed over.
    database._connection.execute("UPDATE records SET head = ? WHERE digest = ? AND seed = 2", (b"{}", b"a"))
    assert [seed for seed, _ in database.read(b"a")] == [1]
    assert database.damaged == 1
    with pytest.raises(RuntimeError):
        database.put(chained([(b"c", 1, record())], RuntimeError()))
    assert b"c" not in database.digests()
    kept_s = database._connection.execute("SELECT kept_s FROM records WHERE digest = ?", (b"b",)).fetchone()[0]
    assert database.forget(kept_s) == 0
    assert database.forget(kept_s + 3600) == 3
    assert database.count() == 0
    database.close()
    with pytest.raises(sqlite3.Error):
        Database.writable(tmp_path)


@pytest.mark.parametrize("is_foreign", [False, True])
def test_a_database_is_used_by_several_threads(tmp_path: Path, is_foreign: bool) -> None:
    path = tmp_path / "records.sqlite"
    with closing(Database.writable(path)) as database:
        database.put([(b"a", 1, record(1.0))])
    with (
        closing((Database.foreign if is_foreign else Database.writable)(path)) as database,
        ThreadPoolExecutor(1) as pool,
    ):
        assert pool.submit(database.digests).result() == [b"a"]
        assert pool.submit(lambda: [seed for seed, _ in database.read(b"a")]).result() == [1]


def test_records_of_others_are_forgotten_by_the_age_of_their_file(tmp_path: Path) -> None:
    plan = plan_of()
    run_plan(plan, cache=tmp_path, workers=1)
    (path,) = (file for file in tmp_path.rglob("*") if file.suffix == ".sqlite")
    other = path.with_name(f"another-host{path.suffix}")
    path.rename(other)
    now_s = other.stat().st_mtime
    os.utime(other, (now_s, now_s - 0.5 * 86_400))
    # It was kept half a day ago.
    assert store.clear(tmp_path, older_than_days=1).runs == 0
    assert (other.exists(), store.contents(tmp_path).runs) == (True, 3)
    os.utime(other, (now_s, now_s - 2 * 86_400))
    found = store.clear(tmp_path, older_than_days=1)
    assert (found.runs, found.bytes > 0, found.older_bytes, other.exists()) == (3, True, 0, False)
    # Without an age everything goes, however new it is.
    run_plan(plan, cache=tmp_path, workers=1)
    assert store.clear(tmp_path).runs == 3
    assert store.contents(tmp_path).runs == 0


def test_a_cache_that_cannot_be_written_says_why_in_words(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("x", encoding="utf-8")
    with pytest.warns(shoal.CacheWarning, match=r"finished runs are not kept: cannot write `.*`: Not a directory$"):
        run_plan(plan_of(), cache=place, workers=1)


def chained(first: Sequence[Any], error: Exception) -> Iterator[Any]:
    """Some things, and then an error."""
    yield from first
    raise error


def test_records_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.runs import database

    now_s = 0.0
    monkeypatch.setattr(database, "time", SimpleNamespace(monotonic=lambda: now_s))
    written: list[int] = []
    found = (b"a", 1, record())
    with Batches(lambda some: written.append(len(some))) as batches:
        for _ in range(3):
            batches.add(found)
        assert written == []
        now_s = 0.4
        batches.add(found)
        assert written == []
        now_s = 0.41
        batches.add(found)
        assert written == [5]
        for _ in range(1023):
            batches.add(found)
        assert written == [5]
        batches.add(found)
        assert written == [5, 1024]
        batches.add(found)
    assert written == [5, 1024, 1]


def test_parts_have_every_nth_point(tmp_path: Path) -> None:
    plan = plan_of()
    folders = [tmp_path / str(number) for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        folder.mkdir()
        rows = write_part(plan, (number, 2), folder, workers=1)
        assert [rows[place][K] for place in range(len(rows))] == [["5 packets", "7 packets"], ["6 packets"]][number - 1]
        about = json.loads((folder / "part.json").read_text(encoding="utf-8"))
        assert (about["part"], about["of"], about["plan"]) == (number, 2, plan.digest)
    together = read_parts(folders[::-1])
    assert [together.name(place) for place in range(3)] == [plan.design.name(number) for number in range(3)]
    assert together.runs == 3
    with pytest.raises(UsageError, match="part 2 of 2 is missing") as caught:
        read_parts(folders[:1])
    assert caught.value.hint == "run it with --shard 2/2"
    folders[0].rename(tmp_path / "moved")
    with pytest.raises(UsageError, match="are both part 1"):
        read_parts([tmp_path / "moved", Path(shutil.copytree(tmp_path / "moved", tmp_path / "copied"))])
    (tmp_path / "moved" / "sweep.toml").write_text("x", encoding="utf-8")
    (tmp_path / "target").mkdir()
    copy_sources(tmp_path / "moved", tmp_path / "target")
    assert {path.name for path in (tmp_path / "target").iterdir() if path.is_file()} - {".shoal"} == {"sweep.toml"}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"simulator": "another"}, UsageError, "was run by another build of shoal"),
        ({"plan": "another"}, UsageError, "is a part of another sweep"),
        ({"of": 3}, UsageError, "is a part of another sweep"),
        ({"records": None}, OutputError, "is damaged: it does not agree with its checksum"),
    ],
)
def test_parts_that_do_not_belong_together(
    tmp_path: Path, change: dict[str, object], error: type[Exception], message: str
) -> None:
    plan = plan_of(axis(K, ["5 packets", "6 packets"]))
    folders = [tmp_path / str(number) for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        folder.mkdir()
        write_part(plan, (number, 2), folder, workers=1)
    about = folders[1] / "part.json"
    about.write_text(json.dumps(json.loads(about.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(error, match=message):
        read_parts(folders)
    for text in ("{}", "[", "[1]"):
        about.write_text(text, encoding="utf-8")
        with pytest.raises(OutputError, match="does not describe a part of a sweep"):
            read_parts(folders)
    about.unlink()
    with pytest.raises(OutputError, match="is no part of a sweep"):
        read_parts(folders)


# What a sweep would take.


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5, "0.5 s"), (9.99, "10 s"), (9.94, "9.9 s"), (10, "10 s"), (10.6, "11 s"), (119.4, "119 s"), (120, "2 min"),
        (7199, "120 min"), (7200, "2.0 h"), (9000, "2.5 h"),
    ],
)  # fmt: skip
def test_durations_as_people_read_them(seconds: float, words: str) -> None:
    assert survey._duration(seconds) == words


def test_what_a_survey_says() -> None:
    known = survey.Survey(10, 30, 30, 10, 5, 3.0, 4)
    # Twenty runs of 3 s; on four cores a quarter of that.
    assert known.pairs == [
        ("Points", "10"),
        ("Runs", "30"),
        ("Finished", "10"),
        ("CPU time", "about 60 s: an estimate from 5 timed runs at points far apart"),
        ("Wall time", "about 15 s on 4 free cores"),
    ]
    more = survey.Survey(1000, 3000, 9000, 0, 5, 1.0, 1).pairs
    assert more[1] == ("Runs", "3,000 to 9,000, as --until decides")
    assert more[3][1].startswith("about 50 min to 2.5 h: an estimate")
    assert len(survey.Survey(1, 1, 1, 1, 0, None, 1).pairs) == 3


def test_a_survey_times_five_runs_at_points_far_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    timed: list[tuple[int, int]] = []
    now_s = [0.0]

    def fake(recipe: Recipe, scenario: shoal.Scenario, seed: int, _: Cancel) -> Record:
        law: Any = scenario.resolved["bottleneck"]["aqm"]
        timed.append((int(law["threshold"].split()[0]), seed))
        now_s[0] += step_s
        return record()

    monkeypatch.setattr(survey, "run", fake)
    monkeypatch.setattr(survey, "time", SimpleNamespace(thread_time=lambda: now_s[0], monotonic=lambda: -1.0))
    plan = plan_of(axis(K, [f"{k} packets" for k in range(1, 10)]))
    step_s = 0.25
    one = survey.survey(plan, workers=3)
    # Of nine runs the first, third, fifth, seventh and last.
    assert timed == [(k, 1) for k in (1, 3, 5, 7, 9)]
    assert one == survey.Survey(9, 9, 9, 0, 5, 0.25, 3)
    # After 2 s no further one begins: with 1 s each, three are timed.
    timed.clear()
    step_s = 1.0
    assert survey.survey(plan, workers=1).timed == len(timed) == 3
    # What is timed is kept where there is a cache, and then finished.
    timed.clear()
    step_s = 0.25
    assert survey.survey(plan, workers=1, cache=tmp_path).finished == 5
    assert survey.survey(plan, workers=1, cache=tmp_path).finished == 9
    timed.clear()
    last = survey.survey(plan, workers=1, cache=tmp_path)
    assert (last.finished, last.timed, last.run_s, timed) == (9, 0, None, [])
    until = plan_of(until=Until.parse(f"ci({Q}) < 1", {}), seeds=3, max_seeds=20)
    assert survey.survey(until, numbers=[0, 2], workers=1).most_runs == 40
    assert survey.survey(until, numbers=[0, 2], workers=1).runs == 6


@pytest.mark.parametrize(
    ("keys", "is_one"),
    [
        ([K], True),
        (["bottleneck.buffer"], True),
        (["topology.links[0].buffer"], True),
        (["flows.dctcp.count", "bottleneck.rate"], False),
        (["flows.dctcp.count", "bottleneck.aqm"], True),
        ([], False),
    ],
)
def test_keys_that_set_a_threshold(keys: list[str], is_one: bool) -> None:
    assert host_bursts.sets_a_threshold(keys) is is_one


@pytest.mark.parametrize(
    ("rates", "flows", "is_warned"),
    [
        ([1e9], [("dctcp", "ideal")], False),
        ([1.001e9], [("dctcp", "ideal")], True),
        ([1e8, 1e10], [("dctcp", "ideal")], True),
        ([1e10, 1e8], [("dctcp", "ideal")], True),
        ([], [("dctcp", "ideal")], False),
        ([1e10], [("none", "ideal")], False),
        ([1e10], [("dctcp", "linux-6-10g")], False),
        ([1e10], [("dctcp", {"preset": "ideal", "gro": True})], True),
        ([1e10], [("dctcp", {"preset": "linux-6-10g"})], False),
        ([1e10], [("none", "ideal"), ("dctcp", "linux-6-10g"), ("reno", "ideal")], True),
    ],
)
def test_one_fast_link_and_one_flow_of_ideal_hosts_make_the_warning(
    rates: list[float], flows: list[tuple[str, object]], is_warned: bool
) -> None:
    one: Any = SimpleNamespace(
        facts={"bottlenecks": [{"rate_bps": rate} for rate in rates]},
        resolved={"flows": [{"cc": controller, "host": host} for controller, host in flows]},
    )
    slow: Any = SimpleNamespace(facts={"bottlenecks": []}, resolved={"flows": []})
    assert host_bursts.warning([slow, one]) == (host_bursts.text if is_warned else None)
    assert host_bursts.warning([]) is None


def test_planes_of_this_machine_and_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    here = planes.Kernel(
        SimpleNamespace(folder=Path("a/linux-7"), helpers=Path("b/tools-1"), iperf3=None)  # type: ignore[arg-type]
    )
    assert here.identity == "linux linux-7 tools-1"
    image = SimpleNamespace(folder=Path("linux-7"), helpers=Path("tools-1"), iperf3=SimpleNamespace(version="3.18"))
    assert planes.Kernel(image).identity == "linux linux-7 tools-1 3.18"  # type: ignore[arg-type]
    known = planes.plane_of.__wrapped__
    monkeypatch.setattr(planes, "kernel_here", lambda: here)
    assert known("") is planes.simulator
    assert known(here.identity) is here
    with pytest.raises(ClusterError, match="their bytes may differ"):
        known("linux linux-8 tools-1")

    def missing() -> None:
        raise LinuxError("there is no kernel", hint="build it")

    monkeypatch.setattr(planes, "kernel_here", missing)
    with pytest.raises(ClusterError, match="and here: there is no kernel") as caught:
        known("linux linux-7 tools-1")
    assert caught.value.hint == "build it"
    assert planes.simulator.refusal(TINY) == ""


# Arguments of runs.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": 2, "threads": 2}, "threads are for one run"),
        ({"seeds": 2, "seed": 1}, "seeds excludes seed"),
        ({"seeds": 2, "packets": "a.parquet"}, "seeds excludes seed"),
        ({"seeds": 2, "pcap": "a.pcapng"}, "seeds excludes seed"),
        ({"pcap_payload": True}, "pcap_payload says what a capture keeps"),
        ({"threads": 0}, "0 threads"),
        ({"threads": 257}, "257 threads"),
        ({"threads": 2, "packets": "a.parquet"}, "order of all events"),
        ({"threads": 2, "pcap": "a.pcapng"}, "order of all events"),
        ({"seed": -1}, "-1 is not a seed"),
    ],
)
def test_arguments_of_runs_that_do_not_go_together(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shoal.run(TINY, **arguments)
    assert shoal.run(TINY, seed=5).seed == 5
    assert shoal.run(TINY, seeds=[5, 2]).seeds == [5, 2]


# Clusters.


class Future:
    """A block that was handed out."""

    count = 0

    def __init__(self, outcome: Any, status: str = "finished") -> None:
        Future.count += 1
        self.key, self.status, self._outcome, self.is_released = f"f{Future.count}", status, outcome, False

    def add_done_callback(self, call: Callable[[Future], object]) -> None:
        call(self)

    def result(self) -> Any:
        return self._outcome

    def exception(self, timeout: float) -> Any:
        assert timeout > 0
        return self._outcome

    def release(self) -> None:
        self.is_released = True


class Client:
    """A client of a scheduler with two threads, which runs nothing."""

    def __init__(self, *, status: str = "running", builds: dict[str, Any] | None = None) -> None:
        self.status, self.closed = status, 0
        self.handed: list[Any] = []
        self._builds = builds
        self.outcome: Callable[[Any], Future] = lambda block: Future((0.5, [record() for _ in block]))

    def nthreads(self) -> dict[str, int]:
        return {"a": 1, "b": 1}

    def submit(self, _: Any, text: str, block: Any, expected: str, *, pure: bool) -> Future:
        assert (bool(text), bool(expected), pure) == (True, True, False)
        self.handed.append(block)
        return self.outcome(block)

    def run(self, _: Any, *, on_error: str) -> dict[str, Any]:
        assert on_error == "return"
        return {"worker": cluster.build()} if self._builds is None else self._builds

    def wait_for_workers(self, count: int, timeout: float) -> None:
        assert (count, timeout) == (1, 1.0)

    def close(self) -> None:
        self.closed += 1


def blocks_of(count: int) -> list[list[Job]]:
    return [[Job(number, {K: "5 packets"}, (0,), (1,))] for number in range(count)]


RECIPE = Recipe(Template(TINY, (K,), {}), (Q,))


def test_blocks_are_handed_out_ahead_and_come_back() -> None:
    client = Client()
    one = Cluster("tcp://x:1", lambda: [client], wait_s=1.0)
    pace_ = Pace(1.0, workers=1, runs=100)
    given = one.run(RECIPE, iter(blocks_of(9)), pace_)
    first, records = next(given)
    assert (first[0].point_index, len(records)) == (0, 1)
    # Two for each of two threads are out.
    assert len(client.handed) == 4
    assert [block[0].point_index for block, _ in given] == list(range(1, 9))
    # A run takes 0.5 s, so two are a block.
    assert pace_.runs == 2
    assert (one.opened, client.closed) == ([client], 0)
    # Further rounds find the client again, unless it has gone.
    assert list(one.run(RECIPE, iter([]), pace_)) == []
    client.status = "closed"
    other = Client()
    object.__setattr__(one, "start", lambda: [other])
    assert len(list(one.run(RECIPE, iter(blocks_of(2)), pace_))) == 2
    assert (client.closed, one.opened) == (1, [other])
    one.close()
    assert (other.closed, one.opened) == (1, [])


@pytest.mark.parametrize(
    ("future", "message"),
    [
        (lambda _: Future(UsageError("no such group"), "error"), "no such group"),
        (lambda _: Future(ClusterError("another build"), "error"), "another build"),
        (lambda _: Future(RuntimeError("broken"), "error"), "the cluster failed: RuntimeError: broken"),
    ],
)
def test_blocks_that_fail_end_the_sweep(future: Callable[[Any], Future], message: str) -> None:
    pytest.importorskip("distributed")
    client = Client()
    client.outcome = future
    one = Cluster("tcp://x:1", lambda: [client], wait_s=1.0)
    with pytest.raises((UsageError, ClusterError), match=message):
        list(one.run(RECIPE, iter(blocks_of(1)), Pace(1.0, 1, 1)))
    assert (client.closed, one.opened) == (1, [])


def test_a_scheduler_that_is_lost_gets_its_blocks_again() -> None:
    clients = [Client(), Client(), Client(), Client()]
    clients[0].outcome = lambda block: Future(
        (0.5, [record()]) if len(clients[0].handed) < 3 else None, "finished" if len(clients[0].handed) < 3 else "lost"
    )
    left = iter(clients)
    one = Cluster("tcp://x:1", lambda: [next(left)], wait_s=1.0)
    given = [block[0].point_index for block, _ in one.run(RECIPE, iter(blocks_of(5)), Pace(1.0, 1, 5))]
    assert sorted(given) == [0, 1, 2, 3, 4]
    assert given[:2] == [0, 1]
    assert clients[0].closed == 1
    # Blocks that were out go first.
    assert [block[0].point_index for block in clients[1].handed] == [2, 3, 4]
    # Without any block in between, three more attempts are made.
    lost = [Client() for _ in range(9)]
    for client in lost:
        client.outcome = lambda _: Future(None, "cancelled")
    more = iter(lost)
    two = Cluster("tcp://x:1", lambda: [next(more)], wait_s=1.0)
    with pytest.raises(ClusterError, match="the scheduler at `tcp://x:1` was lost"):
        list(two.run(RECIPE, iter(blocks_of(1)), Pace(1.0, 1, 1)))
    assert [bool(client.handed) for client in lost] == [True] * 4 + [False] * 5
    # What was started here is not started again.
    own = Client()
    own.outcome = lambda _: Future(None, "lost")
    started = Client()
    three = Cluster("local:2", lambda: [own, started], wait_s=1.0)
    with pytest.raises(ClusterError, match="was lost"):
        list(three.run(RECIPE, iter(blocks_of(1)), Pace(1.0, 1, 1)))
    assert (own.closed, started.closed) == (1, 1)


def test_a_scheduler_is_waited_for_only_if_it_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now_s[0], sleep=lambda seconds: now_s.append(now_s.pop() + seconds))
    monkeypatch.setattr(cluster, "time", clock)
    tried: list[float] = []
    lost = Client()
    lost.outcome = lambda _: Future(None, "lost")
    answers: list[Client | None] = []

    def start() -> list[Any]:
        tried.append(now_s[0])
        client = answers.pop(0) if answers else None
        if client is None:
            raise ClusterError("no scheduler answers")
        return [client]

    # The first time it is said at once.
    with pytest.raises(ClusterError, match="no scheduler answers"):
        list(Cluster("tcp://x:1", start, wait_s=1.0).run(RECIPE, iter(blocks_of(1)), Pace(1.0, 1, 1)))
    assert tried == [0.0]
    # After it was lost it is looked for again, twice a second.
    tried.clear()
    answers[:] = [lost, None, None, Client()]
    one = Cluster("tcp://x:1", start, wait_s=1.0)
    assert len(list(one.run(RECIPE, iter(blocks_of(1)), Pace(1.0, 1, 1)))) == 1
    assert tried == [0.0, 0.0, 0.5, 1.0]
    # It is given up after more than half a minute.
    tried.clear()
    now_s[0] = 0.0
    answers[:] = [lost]
    with pytest.raises(ClusterError, match="was lost"):
        list(Cluster("tcp://x:1", start, wait_s=1.0).run(RECIPE, iter(blocks_of(1)), Pace(1.0, 1, 1)))
    assert tried[-1] == 30.5
    assert len(tried) == 1 + 62


def test_workers_of_other_builds_are_refused() -> None:
    hash_, version = cluster.build()
    for builds, message in (
        (
            {"a": (hash_, version), "b": ("other", "0.0")},
            r"1 worker has another build of shoal, first b \(version 0.0",
        ),
        (
            {"a": ImportError("no shoal"), "b": (hash_, version)},
            "shoal does not run on 1 of 2 workers, first a: no shoal",
        ),
    ):
        client = Client(builds=builds)
        with pytest.raises(ClusterError, match=message):
            list(Cluster("tcp://x:1", lambda c=client: [c], wait_s=1.0).run(RECIPE, iter([]), Pace(1.0, 1, 1)))
    with pytest.raises(ClusterError, match="1 worker has another build"):
        cluster.work_off(RECIPE.json, [], "other")
    seconds, records = cluster.work_off(RECIPE.json, blocks_of(1)[0], hash_)
    assert seconds > 0
    assert [one.error for one in records] == [None]


def test_how_long_a_cluster_may_have_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=lambda _: None))
    said: list[float] = []

    class Idle(Client):
        def wait_for_workers(self, count: int, timeout: float) -> None:
            now_s[0] += 1.0
            assert now_s[0] < 1000, "it is waited for ever"
            raise TimeoutError

    kept: list[Any] = []
    one = Cluster("slurm:2", list, 130.0, note=lambda _: said.append(now_s[0]), keep=kept.append)
    with pytest.raises(ClusterError, match=r"has no worker after 130 s") as caught:
        one._wait_for_workers(Idle(), ["jobs"])  # type: ignore[arg-type]
    # It is given up after more than 130 s, and said every minute.
    assert (now_s[0], said) == (131.0, [61.0, 122.0])
    assert kept == ["jobs"] * 130
    assert "firewall" in str(caught.value.hint)
    now_s[0] = 0.0
    with pytest.raises(ClusterError) as caught:
        one._wait_for_workers(Idle(), [])  # type: ignore[arg-type]
    assert "start some, as in: dask worker" in str(caught.value.hint)


def test_jobs_that_have_ended_are_submitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    asked: list[Any] = []
    workers: dict[str, int] = {}
    jobs = SimpleNamespace(
        scheduler_info={"workers": workers}, scale=lambda count=None, jobs=None: asked.append((count, jobs))
    )
    keep = cluster._Jobs(3)
    # There were no workers yet: jobs wait, and none is given up.
    now_s[0] = 100.0
    keep(jobs)
    workers["a"] = 1
    keep(jobs)
    workers.clear()
    now_s[0] = 120.0
    keep(jobs)
    assert asked == [(None, 3)] * 3
    # After more than 20 s without any all are given up, once.
    now_s[0] = 120.1
    keep(jobs)
    keep(jobs)
    assert asked[3:] == [(0, None), (None, 3), (None, 3)]


@pytest.mark.parametrize(
    ("where", "workers", "wait_s"),
    [("local:1", 1, 60.0), ("local:1024", 1024, 60.0), ("tcp://host:1", 16, 30.0), ("tls://host:1", 16, 30.0)],
)
def test_clusters_as_they_are_written(where: str, workers: int, wait_s: float) -> None:
    pytest.importorskip("distributed")
    one = Cluster.at(where)
    assert (one.where, one.workers, one.wait_s, one.block_s, one.opened) == (where, workers, wait_s, 1.0, [])


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("local:0", "is no cluster"),
        ("local:1025", "is no cluster"),
        ("local", "is no cluster"),
        ("local:x", "is no cluster"),
        ("tcp://", "is no cluster"),
        ("nothing.json", "there is no such file"),
        ("slurm", "is no cluster"),
        ("slurm:", "is no cluster"),
        ("slurm:0", "does not say how many workers"),
        ("slurm:x", "does not say how many workers"),
        ("slurm:2", "needs the command `sbatch`"),
        ("ssh:a,,b", "has a host without a name"),
    ],
)
def test_clusters_that_are_none(monkeypatch: pytest.MonkeyPatch, where: str, message: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(UsageError, match=message) as caught:
        Cluster.at(where)
    assert caught.value.hint


def test_clusters_of_batch_systems_and_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    monkeypatch.setattr("shutil.which", lambda command: command)
    for where, workers, wait_s in (("slurm:4", 16, 86_400.0), ("pbs:40", 40, 86_400.0), ("ssh:a,b", 16, 60.0)):
        one = Cluster.at(where)
        assert (one.workers, one.wait_s) == (workers, wait_s)
        assert isinstance(one.keep, cluster._Jobs) == (where[:3] != "ssh")
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None if package == "asyncssh" else object())
    with pytest.raises(UsageError, match="needs `asyncssh`") as caught:
        Cluster.at("ssh:a")
    assert "shoal[cluster-ssh]" in str(caught.value.hint)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="needs `distributed`"):
        Cluster.at("local:2")


class Connection:
    """A host that was reached, and what its Python says."""

    def __init__(self, code: int, text: str) -> None:
        self._done = SimpleNamespace(exit_status=code, stderr=text)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def run(self, command: str, timeout: float) -> Any:
        assert (command, timeout) == ("/bin/python -c 'import distributed, shoal'", 60.0)
        return self._done


class SshError(Exception):
    """An error of asyncssh, with its reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnknownKeyError(SshError):
    """The key of a host is not known."""


class LoginError(SshError):
    """A host lets nobody in."""


@pytest.fixture
def ssh(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Hosts that answer as their names say, and what Dask is asked to start."""
    asked: dict[str, Any] = {"hosts": []}
    answers: dict[str, Any] = {
        "unknown": UnknownKeyError("key"),
        "closed": LoginError("no such user"),
        "slow": TimeoutError(),
        "away": OSError("no route"),
        "odd": SshError("protocol"),
        "old": Connection(1, "Traceback\nno module shoal\n"),
        "mute": Connection(1, ""),
    }

    def connect(host: str, **options: Any) -> Connection:
        asked["hosts"].append(host)
        asked["connect"] = options
        answer = answers.get(host, Connection(0, ""))
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def start(hosts: list[str], **options: Any) -> str:
        asked["started"] = (hosts, options)
        return "cluster"

    settings = {"shoal.ssh.python": "/bin/python", "shoal.ssh.worker": {"nthreads": 2}}
    config = SimpleNamespace(get=settings.get)
    fakes = {
        "asyncssh": SimpleNamespace(
            connect=connect, HostKeyNotVerifiable=UnknownKeyError, PermissionDenied=LoginError, Error=SshError
        ),
        "dask": SimpleNamespace(config=config),
        "distributed": SimpleNamespace(SSHCluster=start),
    }
    for name, fake in fakes.items():
        monkeypatch.setitem(sys.modules, name, fake)
    return asked


def test_workers_by_ssh_begin_once_each_host_was_looked_at(ssh: dict[str, Any]) -> None:
    assert cluster_ssh.start("ssh:a,b,a", ["a", "b", "a"]) == "cluster"
    assert ssh["hosts"] == ["a", "b"]
    connect = {"connect_timeout": 8.0, "login_timeout": 8.0}
    assert ssh["connect"] == connect
    # The first host has the scheduler, too.
    hosts, options = ssh["started"]
    assert hosts == ["a", "a", "b", "a"]
    assert options == {
        "connect_options": connect,
        "worker_options": {"death_timeout": "60s", "nthreads": 2},
        "scheduler_options": {"idle_timeout": "300s"},
        "remote_python": "/bin/python",
    }


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("unknown", "the key of the host unknown is not known here"),
        ("closed", "the host closed refuses the login: no such user"),
        ("slow", "the host slow cannot be reached: it does not answer in time"),
        ("away", "the host away cannot be reached: no route"),
        ("odd", "the host odd cannot be reached: protocol"),
        ("old", "on the host old, /bin/python does not run shoal: no module shoal"),
        ("mute", "on the host mute, /bin/python does not run shoal: no reason given"),
    ],
)
def test_hosts_that_cannot_be_used(ssh: dict[str, Any], host: str, message: str) -> None:
    with pytest.raises(ClusterError) as caught:
        cluster_ssh.start(f"ssh:a,{host}", ["a", host])
    assert str(caught.value) == f"`ssh:a,{host}`: {message}"
    assert caught.value.hint
    assert "started" not in ssh


def test_threads_of_a_cluster() -> None:
    assert cluster._threads(Client()) == 2  # type: ignore[arg-type]
    assert cluster._threads(SimpleNamespace(nthreads=dict)) == 1  # type: ignore[arg-type]
    assert cluster._threads(SimpleNamespace()) == 1  # type: ignore[arg-type]
