"""Hunts: where they look, how they climb, what they call a find, and how they make it small."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.hunting import Find, targets
from shoal.hunting.axes import Axis, Point, new_axis
from shoal.hunting.bench import Bench, Measured
from shoal.hunting.causes import Cause, cause_of
from shoal.hunting.goals import own_target
from shoal.hunting.law import read_law
from shoal.hunting.searching import Search
from shoal.hunting.shrinking import shrink
from shoal.hunting.space import axes_of, keys_of
from shoal.metrics import metric
from shoal.metrics.fair_share import Demand, max_min, shares
from shoal.runs.cases import run_cases
from shoal.search import FreeParameter

SIMPLE = {"path.kind": "still", "flows.load.kind": "none", "bottleneck.aqm.kind": "fifo,step"}
FIXED = {key: value for key, value in SIMPLE.items() if "," not in value}
VARIED = {key: value for key, value in SIMPLE.items() if "," in value}


def small_hunt(**more: object) -> shoal.Hunted:
    return shoal.hunt("dctcp", fix=FIXED, vary=VARIED, runs=128, finds=3, seed=3, **more)  # type: ignore[arg-type]


def test_rates_are_divided_as_the_notices_do() -> None:
    # The long flow shares the link of 10 with one flow, 5 each; the other flow has 30 - 5 on the wide link.
    endless = math.inf
    long = Demand(1, endless, (0, 1))
    assert max_min([10, 30], [long, Demand(1, endless, (0,)), Demand(1, endless, (1,))]) == [5, 5, 25]
    # 12 - 2 x 1 = 10 remain for two flows.
    assert max_min([12], [Demand(2, 1, (0,)), Demand(2, endless, (0,))]) == [1, 5]
    # Nothing limits a flow without a demand that passes no link.
    assert max_min([], [Demand(1, endless, ())]) == [endless]


def test_the_metric_is_the_share_of_the_notice() -> None:
    result = shoal.run(shoal.Scenario.named("parking-lot").override({"duration": "20 s"}))
    # Two flows on each link of 100 Mbit/s: a fair share is 50 Mbit/s.
    rate_bps = result.groups[0]["wire_bps"]["mean"]
    assert rate_bps is not None
    assert shares(result)["through"] == pytest.approx(rate_bps / 50e6, rel=1e-12)
    assert metric(result, "least_share()") == shares(result)["through"] < 0.5
    said = next(notice for notice in result.notices if notice.groups == ("through",))
    assert f"{100 * shares(result)['through']:.1f} % of a fair share of 50.000 Mbit/s" in said.text


def test_capacity_left_unused_counts_rates_that_change() -> None:
    still = shoal.Scenario.from_toml(
        'duration = "4 s"\nbottleneck = { rate = "10 Mbit/s", buffer = "50 packets" }\n'
        'flows = [{ cc = "none", rtt = "10 ms", app = { unresponsive = "2 Mbit/s" } }]\n'
    )
    moving = still.override({"bottleneck.schedule": {"rates": [["0 s", "4 Mbit/s"]]}})
    assert metric(shoal.run(still), "unused()") == pytest.approx(0.8, abs=0.01)
    # At 4 Mbit/s half of the link is used.
    assert metric(shoal.run(moving), "unused()") == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("law", ["dctcp", "reno", "pie", '{ cc = "dctcp", cc_options = { gain = { shift = 2 } } }'])
def test_nearly_all_points_are_scenarios(law: str) -> None:
    read = read_law(law)
    axes = tuple(axes_of(read))
    assert all(axis.range is not None or axis.words for axis in axes)
    import numpy as np

    random = np.random.RandomState(4)
    refusals = []
    for _ in range(300):
        point = {
            axis.key: axis.words[int(random.random_sample() * len(axis.words))]
            if axis.words
            else axis.parameter.at(float(random.random_sample()))
            for axis in axes
        }
        try:
            scenario = shoal.Scenario.from_keys(keys_of(point, read, axes, 2.0))  # type: ignore[arg-type]
        except shoal.ScenarioError as error:
            refusals.append(str(error))
        else:
            assert scenario.simulator_refuses == ""
    # A threshold above the buffer is all that cannot be.
    assert [text for text in refusals if "is above the buffer" not in text] == []
    assert len(refusals) < 30


def test_no_axis_is_told_an_answer() -> None:
    """Where the search begins is drawn: the first scenarios do not depend on the goal."""
    law = read_law("dctcp")
    axes = tuple(axes_of(law))
    asked: dict[str, list[Point]] = {}
    for name, target in targets.items():
        points = asked.setdefault(name, [])

        def make(point: Point, full: bool, points: list[Point] = points) -> shoal.Scenario:
            points.append(point)
            return shoal.Scenario.from_keys(keys_of(point, law, axes, 2.0))  # type: ignore[arg-type]

        Search(Bench(axes, make, target, partial(run_cases, workers=1)), 7, 64).carry_out()
    assert len({json.dumps(points[:25]) for points in asked.values()}) == 1


class Fake(Bench):
    """A bench whose answers are a formula."""

    def measure(self, points, seeds, label, *, full=False):  # type: ignore[no-untyped-def]
        return [Measured((self.formula(point),), (Cause("starved", ("law",), "formula"),)) for point in points]

    @staticmethod
    def formula(point: Point) -> float:
        """Least at (0.3, 0.7), where it is 0."""
        return min(1.0, (float(point["a"]) - 0.3) ** 2 + (float(point["b"]) - 0.7) ** 2)


def fake_bench() -> Bench:
    axes = tuple(Axis(key, range=FreeParameter(key, 0, 1)) for key in "ab")
    return Fake(axes, lambda point, full: None, targets["starve"], lambda cases, label: [])  # type: ignore[arg-type, return-value]


def test_climbs_end_at_the_worst() -> None:
    search = Search(fake_bench(), 1, 1500)
    search.carry_out()
    assert search.best is not None
    # 600 scouts leave a mean distance of 0.5 / sqrt(600) = 0.02 to the nearest, a value of 4e-4; climbs go below.
    assert search.best.value < 1e-5


def test_a_shrinker_takes_away_what_does_not_matter() -> None:
    # The effect is 0.8 while `kind` is bad and `rate` is below 5; nothing else matters.
    axes = [
        Axis("kind", ("good", "bad")),
        Axis("other", ("none", "some")),
        Axis("rate", range=FreeParameter("rate", 1, 50, "Mbit/s"), plain=10),
        Axis("count", range=FreeParameter("count", 1, 4), plain=1, needs=(("other", ("some",)),)),
        Axis("delay", range=FreeParameter("delay", 1, 50, "ms"), plain=20),
    ]
    start: Point = {"kind": "bad", "other": "some", "rate": 3.217, "count": 3.0, "delay": 33.3}

    def answer(point: Point) -> Measured:
        is_bad = point["kind"] == "bad" and float(point["rate"]) < 5
        return Measured((0.2 if is_bad else 1.0,), (Cause("starved", ("law",), "x"),))

    asked = shrink(axes, targets["starve"], start, answer(start), 0.8)
    try:
        point = next(asked)
        while True:
            point = asked.send(answer(point))
    except StopIteration as end:
        small = end.value
    # The rate cannot be plain, and loses its digits.
    assert (small["kind"], small["other"], small["rate"], small["delay"]) == ("bad", "none", 3.0, 20)


def test_a_shrinker_takes_the_simplest_word_that_does() -> None:
    # Only `a` has no effect: `b` is simpler than `d`, and `c` is not tried for `b` again.
    axes = [Axis("kind", ("a", "b", "c", "d"))]

    def answer(point: Point) -> Measured:
        return Measured((1.0 if point["kind"] == "a" else 0.2,), (Cause("starved", ("law",), "x"),))

    asked = shrink(axes, targets["starve"], {"kind": "d"}, answer({"kind": "d"}), 0.8)
    tried = [next(asked)]
    tried.append(asked.send(answer(tried[0])))
    with pytest.raises(StopIteration) as end:
        asked.send(answer(tried[1]))
    assert end.value.value == {"kind": "b"}
    assert [point["kind"] for point in tried] == ["a", "b"]


def test_a_shrinker_keeps_the_mechanism() -> None:
    axes = [Axis("kind", ("good", "bad"))]

    def measured(mechanism: str) -> Measured:
        return Measured((0.1,), (Cause("starved", ("law",), mechanism),))

    asked = shrink(axes, targets["starve"], {"kind": "bad"}, measured("first"), 0.8)
    assert next(asked) == {"kind": "good"}
    with pytest.raises(StopIteration) as end:
        asked.send(measured("second"))
    assert end.value.value == {"kind": "bad"}


def test_a_hunt_finds_confirms_and_shrinks() -> None:
    hunted = small_hunt(workers=1)
    assert hunted.finds
    for find in hunted.finds:
        assert find.is_confirmed
        assert find.estimate.mean < 0.5
        # Searched with seed 3, confirmed with 4 to 8, shrunk with 9 to 11.
        assert find.seeds == tuple(range(12, 22))
        again = shoal.run(find.scenario, seeds=find.seeds, workers=1)
        assert [result.metric("least_share()") for result in again] == list(find.values)
    assert hunted.verdict.startswith(f"{len(hunted.finds)} scenario")
    assert json.loads(hunted.json)["finds"][0]["values"] == list(hunted.finds[0].values)
    assert list(hunted.to_polars()["mean"]) == [find.estimate.mean for find in hunted.finds]


def test_workers_make_no_difference() -> None:
    assert small_hunt(workers=1).json == small_hunt(workers=3).json


def test_an_interrupt_keeps_the_worst_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupted(*arguments: object, **keywords: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_cases(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr("shoal.hunting.running.run_cases", interrupted)
    hunted = small_hunt(workers=1)
    assert not hunted.is_complete
    assert hunted.runs == 51  # 40 % of 128 are drawn everywhere first
    assert hunted.finds
    assert not any(find.is_confirmed for find in hunted.finds)


def test_a_base_and_what_varies_in_it() -> None:
    base = shoal.Scenario.named("parking-lot").override({"duration": "4 s"})
    hunted = shoal.hunt(base=base, vary={"topology.bottlenecks": "2..3:whole"}, runs=64, finds=1, workers=1)
    (find,) = hunted.finds
    assert find.scenario.resolved["topology"]["kind"] == "parking-lot"
    assert find.cause.mechanism == "several-queues"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"law": "dctpc"}, "there is no law `dctpc`"),
        ({"law": "dctcp", "goal": "hunger"}, "there is no goal `hunger`"),
        ({"law": "dctcp", "vary": {"bottleneck.rate": "2..50 ms"}}, "is in Mbit/s"),
        ({"law": "dctcp", "vary": {"bottleneck.rate": "2-50"}}, "is no range"),
        ({"law": "dctcp", "fix": {"path.kind": "bumpy"}}, "has no `bumpy`"),
        ({"law": "dctcp", "fix": {"path.kind": "still"}, "vary": {"path.kind": "still"}}, "varied and fixed"),
        ({"law": "dctcp", "maximise": "delay_ms()"}, "from where on"),
        ({"law": "dctcp", "maximise": "delay_ms()", "minimise": "jain()"}, "one goal"),
        ({"law": "dctcp", "goal": "planes", "unlike": "reno"}, "one goal"),
        ({"law": "dctcp", "unlike": "pie"}, "a queue and a congestion control"),
        (
            {"base": "parking-lot", "unlike": "reno", "vary": {"topology.bottlenecks": "2..3:whole"}},
            "no law that could",
        ),
        ({"base": "parking-lot"}, "nothing varies"),
        ({}, "nothing is hunted"),
        ({"law": "dctcp", "runs": 3}, "no search"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(shoal.UsageError, match=message):
        shoal.hunt(**arguments)  # type: ignore[arg-type]


def test_the_causes_of_delay_swings_and_idleness_are_numbers_of_the_run() -> None:
    def why(goal: str, changes: dict[str, object]) -> Cause:
        return cause_of(targets[goal], shoal.run(STANDING.override(changes)))

    # A window that nothing limits but the buffer; 50 packets of 1500 B at 2 Mbit/s take 50 x 12000 / 2e6 = 0.3 s,
    # less a part of the one that is being sent.
    full = why("delay", {"flows.law.cc": "cubic", "bottleneck.buffer": "50 packets"})
    assert full.mechanism == "deep-buffer"
    assert "wait for 298 ms or more at bottleneck, where for 1 % of the time 50 packets or more of at most" in full.text
    assert why("delay", {"bottleneck.aqm": {"kind": "codel"}}).mechanism == "codel-holds-more"
    steps = {"bottleneck.schedule": {"rates": [["0 s", "2 Mbit/s"], ["1 s", "0.5 Mbit/s"]], "repeat": "2 s"}}
    assert "while its rate changes from 0.5 to 2 Mbit/s" in why("delay", steps).text
    swing = why("oscillate", steps)
    assert swing.mechanism == "changing-path"
    assert "its rate changes from 0.5 to 2 Mbit/s" in swing.text
    assert why("oscillate", {}).mechanism == "windows"
    # A delayed ACK lets two packets go; the second waits for 1.2 ms at 10 Mbit/s, and is marked beyond 1 ms.
    short = {"bottleneck.rate": "10 Mbit/s", "bottleneck.aqm": {"kind": "dualpi2", "ecn_mask": "any-ect"}}
    small = why("idle", short | {"flows.law.cc": "dctcp", "flows.law.rtt": "100 ms"})
    assert small.mechanism == "signals-at-short-queues"
    assert "dualpi2 marks" in small.text


STANDING = shoal.Scenario.from_toml(
    'duration = "20 s"\nwarmup = "5 s"\nbottleneck = { rate = "2 Mbit/s", buffer = "100 packets" }\n'
    'flows = [{ name = "law", cc = "reno", rtt = "20 ms" }]\n'
)


def test_seeds_that_part_are_told_from_scatter() -> None:
    """Three bottlenecks in a row lock into one of two rhythms (docs/linux.md), by when the long flow starts."""
    base = shoal.Scenario.named("parking-lot").override({"flows.through.start": {"uniform": ["0 s", "0.1 s"]}})
    shares = tuple(run.metric("least_share()") for run in shoal.run(base, seeds=range(1, 11)))
    find = Find(base, shares, tuple(range(1, 11)), Cause(text="why"), 1)
    assert find.sentence.startswith("why. Seeds fall into two groups, ")
    import numpy as np

    random = np.random.RandomState(1)
    finds = (Find(base, tuple(map(float, random.normal(size=10))), (1,), Cause(), 1) for _ in range(4000))
    assert sum("two groups" in find.sentence for find in finds) < 12  # two in a thousand
    assert "groups" not in Find(base, (0.5,) * 10, (1,), Cause(), 1).sentence


def test_own_goals_and_axes() -> None:
    target = own_target("jain()", maximise=False, beyond=0.8)
    assert target.counts(0.7)
    assert not target.counts(0.9)
    assert target.effect(0.4) > target.effect(0.6) > 0
    axis = new_axis("bottleneck.aqm.threshold", "5..50:whole packets")
    assert axis.text(7.0) == "7 packets"
    with pytest.raises(shoal.UsageError, match="nothing to vary"):
        new_axis("bottleneck.aqm.kind", "fifo")


def test_the_command_writes_what_it_finds(cli: Cli, folder: Path) -> None:
    room = ["--fix", "path.kind=still", "--fix", "flows.load.kind=none", "--vary", "bottleneck.aqm.kind=fifo,step"]
    command = ["hunt", "--law", "dctcp", "--starve", *room, "--runs", "128", "--finds", "2", "--no-kernel"]
    done = cli(*command, "--out", "finds")
    assert done.code == 0
    assert "with least_share() < 0.5, the worst" in done.out
    hunted = json.loads((folder / "finds" / "hunt.json").read_text(encoding="utf-8"))
    text = (folder / "finds" / "find-1.toml").read_text(encoding="utf-8")
    assert text.startswith(f"# {hunted['finds'][0]['sentence']}\n")
    result = json.loads(cli("run", "finds/find-1.toml", "--json").out)
    assert result["seed"] == hunted["finds"][0]["seeds"][0]
    # Runs are kept: the same hunt again gives the same, as JSON too.
    assert json.loads(cli(*command, "--json").out) == hunted


def test_the_command_says_what_is_wrong(cli: Cli) -> None:
    assert "say what is hunted for" in cli("hunt", "--law", "dctcp").err
    assert "is not KEY=VALUE" in cli("hunt", "--law", "dctcp", "--idle", "--fix", "path.kind").err
    nothing = cli("hunt", "--law", "reno", "--delay", "--beyond", "1e9", "--runs", "64", "--no-kernel")
    assert (nothing.code, nothing.out.splitlines()[1][:14]) == (5, "Nothing found:")
