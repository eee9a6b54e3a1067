"""Hunts: search, confirm with fresh seeds, shrink, confirm again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.hunting.axes import Point
from shoal.hunting.bench import Bench, Measured
from shoal.hunting.goals import Target, own_target, targets
from shoal.hunting.hunted import Find, Hunted
from shoal.hunting.law import Law, read_law
from shoal.hunting.noise import beside_noise
from shoal.hunting.pairs import PairBench, Side, differ_from
from shoal.hunting.room import Room, room_of
from shoal.hunting.searching import Search, Tried, require_library
from shoal.hunting.shrinking import Shrinker, shrink
from shoal.parallel import Progress
from shoal.runs.cases import RunCases, run_cases
from shoal.runs.plane import kernel_here
from shoal.scenario import Scenario
from shoal.seeds import checked_seed
from shoal.stats import estimate

#: Seeds of each step, counted from that of the search on: none has a part in two steps.
_confirm_seeds, _shrink_seeds, _final_seeds = 5, 3, 10
#: Scenarios that are confirmed for each find that is wanted: fresh seeds refute some, and some shrink to the same.
_candidates_each = 3
#: Part of the effect that a smaller scenario must keep.
_kept_part = 0.8
_least_runs = 64
# Scenarios of the simulator, and of the kernel, which takes seconds for each.
_usual_runs = (4000, 256)
# The goal that is no metric of a run.
_planes = "planes"


@explained
def hunt(
    law: str = "",
    *,
    goal: str = "starve",
    maximise: str = "",
    minimise: str = "",
    unlike: str = "",
    beyond: float | None = None,
    base: Scenario | str | Path | None = None,
    vary: Mapping[str, str] | None = None,
    fix: Mapping[str, str] | None = None,
    runs: int | None = None,
    finds: int = 8,
    seed: int = 1,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
) -> Hunted:
    """Search for scenarios in which a law does worst, confirm them with fresh seeds, and make them small.

    Scenarios are drawn everywhere first; then CMA-ES climbs from the worst of each kind of trouble, told apart by whom
    it hits and by what mechanism. What vanishes beside a little random traffic is counted, and is no find: packets that
    keep a common beat on a path without noise. Results depend on nothing but the arguments and the version.

    Parameters
    ----------
    law
        A controller, a kind of queue, or a table with ``cc`` or ``kind``; may be left out with ``base``.
    goal
        ``starve``, ``delay``, ``idle``, ``oscillate``, or ``planes``: where simulator and real kernel differ most.
    maximise, minimise
        In the place of ``goal``, a metric of which large, or small, values are bad.
    unlike
        In the place of ``goal``, another law: where both have the most different outcome in the same scenario.
    beyond
        The value from which on a scenario counts; that of the goal if not given. Of differences it is in margins.
    base
        A scenario, whose keys in ``vary`` are all that differs.
    vary
        Ranges of axes, or of keys of the scenario: ``"2..50 Mbit/s"``, ``"0.1..1:log"``, ``"1..8:whole"``, or words
        such as ``"fifo,red"``.
    fix
        Values of axes, or of keys of the scenario.
    runs
        Scenarios that the search asks for; confirming and shrinking come on top. 4000, or 256 on the kernel, if not
        given.
    finds
        Scenarios to give, at most.
    seed
        Seed of the search and of its runs.
    workers, cache, progress
        As for :func:`shoal.sweep`. With a cache, an interrupted hunt goes on where it was.

    Examples
    --------
    >>> import shoal
    >>> fixed = {"path.kind": "still", "flows.load.kind": "none"}
    >>> hunted = shoal.hunt("dctcp", goal="starve", fix=fixed, runs=200, finds=1)
    >>> hunted.finds[0].estimate.mean < 0.5
    True
    """
    target = _target(goal, maximise, minimise, unlike, beyond)
    runs = runs if runs is not None else _usual_runs[goal == _planes]
    _check(runs, finds, seed)
    run = partial(run_cases, workers=workers, cache=cache)
    room, bench = _bench(law, base, vary or {}, fix or {}, unlike, target, run)
    watch = _Watch(progress, runs)
    return _hunt(room, bench, Search(bench, seed, runs, watch.on_progress), law, finds, watch)


def _bench(
    law: str,
    base: Scenario | str | Path | None,
    vary: Mapping[str, str],
    fix: Mapping[str, str],
    unlike: str,
    target: Target,
    run: RunCases,
) -> tuple[Room, Bench]:
    """Where the hunt looks, and what runs there: a scenario, or two of each point side by side."""
    read = read_law(law) if law else None
    other = _reference(read, unlike) if unlike else None
    room = room_of(read, base, vary, fix, other)
    if target.name == _planes:
        sides = Side("on the simulator", room.make), Side("on Linux", room.make, kernel_here())
    elif read is not None and other is not None and room.unlike is not None:
        names = (read.short, other.short if other.short != read.short else "the other law")
        sides = Side(f"with {names[0]}", room.make), Side(f"with {names[1]}", room.unlike)
    else:
        return room, Bench(room.axes, room.make, target, run)
    return room, PairBench(room.axes, room.make, target, run, sides)


def _check(runs: int, finds: int, seed: int) -> None:
    if not isinstance(runs, int) or runs < _least_runs:
        raise UsageError(f"{runs} scenarios are no search", hint=f"at least {_least_runs}; thousands are usual")
    if finds < 1:
        raise UsageError(f"{finds} finds", hint="at least 1")
    checked_seed(seed)
    checked_seed(seed + _confirm_seeds + _shrink_seeds + _final_seeds)
    require_library()


def _hunt(room: Room, bench: Bench, search: Search, law: str, finds: int, watch: _Watch) -> Hunted:
    """All steps; what is known stays known after an interrupt."""
    seed = search.seed
    with watch:
        try:
            search.carry_out()
            confirmed, refuted = _confirm(bench, search, finds, seed, watch)
            small = _shrink(bench, confirmed, seed, watch)
            return _final(room, bench, small, law, search, refuted, finds, seed, watch)
        except KeyboardInterrupt:
            return _so_far(room, search, law, finds, seed)


def _reference(law: Law | None, text: str) -> Law:
    """The law beside which another one is hunted."""
    if law is None:
        raise UsageError(f"there is no law that could be unlike `{text}`", hint="name the law that is hunted")
    reference = read_law(text)
    if reference.is_controller is not law.is_controller:
        raise UsageError(f"`{law.name}` and `{text}` are a queue and a congestion control", hint="name two of a kind")
    return reference


def _target(goal: str, maximise: str, minimise: str, unlike: str, beyond: float | None) -> Target:
    if sum(map(bool, (maximise, minimise, unlike, goal == _planes))) > 1:
        raise UsageError("a hunt has one goal, and there are two", hint="leave one out")
    if unlike or goal == _planes:
        target = differ_from("Linux", _planes) if goal == _planes else differ_from(unlike, "unlike")
        return target.from_value(beyond)
    if maximise or minimise:
        return own_target(maximise or minimise, maximise=bool(maximise), beyond=beyond)
    if goal not in targets:
        raise UsageError(
            f"there is no goal `{goal}`", hint=f"one of {', '.join([*targets, _planes])}, or a metric to maximise"
        )
    return targets[goal].from_value(beyond)


def _seeds(seed: int, before: int, count: int) -> list[int]:
    return list(range(seed + 1 + before, seed + 1 + before + count))


def _confirm(
    bench: Bench, search: Search, finds: int, seed: int, watch: _Watch
) -> tuple[list[tuple[Tried, Measured]], int]:
    """The worst of each kind of trouble that fresh seeds and long runs call bad, too."""
    leaders = search.leaders()[: _candidates_each * finds]
    watch.say("Confirming")
    answers = bench.measure(
        [tried.point for tried in leaders], _seeds(seed, 0, _confirm_seeds), "Confirming", full=True
    )
    kept = [
        (tried, measured)
        for tried, measured in zip(leaders, answers, strict=True)
        if measured is not None and _is_clear(bench.target, measured)
    ]
    return kept, len(leaders) - len(kept)


def _is_clear(target: Target, measured: Measured) -> bool:
    """Whether the 95 % confidence interval of the mean lies beyond where trouble begins."""
    mean = estimate(measured.values)
    width = 0.0 if mean is None or mean.half_width is None else mean.half_width
    return target.loss(measured.mean) + width < target.loss(target.beyond)


def _shrink(
    bench: Bench, confirmed: Sequence[tuple[Tried, Measured]], seed: int, watch: _Watch
) -> list[tuple[Tried, Point]]:
    """Shrink all side by side: what they ask for runs together."""
    watch.say("Shrinking")
    seeds = _seeds(seed, _confirm_seeds, _shrink_seeds)
    open_: dict[int, Shrinker] = {}
    asked: dict[int, Point] = {}
    done: dict[int, Point] = {}

    def go_on(number: int, answer: Measured | None) -> None:
        try:
            asked[number] = open_[number].send(answer)
        except StopIteration as end:
            done[number] = end.value
            del open_[number]

    for number, (tried, measured) in enumerate(confirmed):
        open_[number] = shrink(bench.axes, bench.target, tried.point, measured, _kept_part)
        go_on(number, None)
    while open_:
        numbers = list(open_)
        answers = bench.measure([asked[number] for number in numbers], seeds, "Shrinking", full=True)
        for number, answer in zip(numbers, answers, strict=True):
            go_on(number, answer)
    return [(tried, done[number]) for number, (tried, _) in enumerate(confirmed)]


def _final(
    room: Room,
    bench: Bench,
    small: Sequence[tuple[Tried, Point]],
    law: str,
    search: Search,
    refuted: int,
    finds: int,
    seed: int,
    watch: _Watch,
) -> Hunted:
    """Judge the small scenarios by seeds that had no part in anything before."""
    watch.say("Confirming the small ones")
    seeds = _seeds(seed, _confirm_seeds + _shrink_seeds, _final_seeds)
    judged, vanish, bad = _judge(bench, [point for _, point in small], seeds)
    # What is left of a scenario may need a beat where all of it did not.
    whole, still_vanish, still_bad = _judge(bench, [small[at][0].point for at in vanish], seeds)
    judged |= {vanish[at]: answer for at, answer in whole.items()}
    ranked: list[tuple[float, Find, tuple[Any, ...]]] = []
    for at, (point, measured) in judged.items():
        number = small[at][0].number
        scenario = Scenario.from_toml(room.file(point, True, seeds[0]), name=f"find {number}")
        find = Find(scenario, measured.values, tuple(seeds), measured.cause, number)
        words = tuple(str(point[axis.key]) for axis in bench.axes if axis.words and axis.applies(point))
        ranked.append((bench.target.loss(measured.mean), find, (measured.cause.name, words)))
    kinds: dict[tuple[Any, ...], Find] = {}
    for _, find, kind in sorted(ranked, key=lambda entry: (entry[0], entry[1].asked)):
        kinds.setdefault(kind, find)
    refuted += len(bad) + len(still_bad)
    return Hunted(
        law, bench.target, list(kinds.values())[:finds], search.runs, refuted, seed, vanished=len(still_vanish)
    )


def _judge(
    bench: Bench, points: Sequence[Point], seeds: Sequence[int]
) -> tuple[dict[int, tuple[Point, Measured]], list[int], list[int]]:
    """Which points are bad whatever keeps time, which only without noise, and which are not, by their indices."""
    plain = bench.measure(points, seeds, "Confirming", full=True)
    bad = {at: answer for at, answer in enumerate(plain) if answer is not None and _is_clear(bench.target, answer)}
    noisy = bad
    if not isinstance(bench, PairBench):
        beside = replace(bench, make=beside_noise(bench.make))
        answers = beside.measure([points[at] for at in bad], seeds, "Confirming", full=True)
        # Where there is no such scenario, or no such number in it, nothing speaks against the find.
        noisy = {
            at: bad[at]
            for at, answer in zip(bad, answers, strict=True)
            if answer is None or _is_clear(bench.target, answer)
        }
    steady = {at: (points[at], answer) for at, answer in bad.items() if at in noisy}
    return steady, [at for at in bad if at not in noisy], [at for at in range(len(points)) if at not in bad]


def _so_far(room: Room, search: Search, law: str, finds: int, seed: int) -> Hunted:
    """What an interrupted hunt knows: the worst of each kind, which nobody has confirmed."""
    target = search.bench.target
    kept = []
    for tried in search.leaders()[:finds]:
        scenario = Scenario.from_toml(room.file(tried.point, False, seed), name=f"find {tried.number}")
        kept.append(Find(scenario, (tried.value,), (seed,), tried.cause, tried.number, is_confirmed=False))
    kept.sort(key=lambda find: (target.loss(find.values[0]), find.asked))
    return Hunted(law, target, kept, search.runs, 0, seed, is_complete=False)


class _Watch:
    """Shows how far a hunt is."""

    def __init__(self, progress: Progress, runs: int) -> None:
        self._progress, self._runs = progress, runs
        self._bar: Any = None

    def __enter__(self) -> _Watch:
        if self._progress is True:
            from shoal.progress import Bar

            self._bar = Bar("Looking around")
            self._bar.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)

    def say(self, text: str) -> None:
        """What is being done from now on."""
        if self._bar is not None:
            self._bar.describe(text)

    def on_progress(self, search: Search) -> None:
        """How many scenarios were run, and what the worst of them has."""
        best = search.best
        if best is not None:
            self.say(f"{search.runs:,} scenarios, worst {best.value:.3g}")
        # The last climbs go on to the end of their generation.
        fraction = min(1.0, search.runs / self._runs)
        if self._bar is not None:
            self._bar.update(fraction)
        elif callable(self._progress):
            self._progress(fraction)
